package parse_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestArchive(t *testing.T) {
	inner := documenttest.ZipInOrder(t, "deep.txt", "Deep text.")
	doc := parsetest.Read(t, "evidence.zip", documenttest.ZipInOrder(t,
		"policies/", "",
		"policies/access.md", "# Access\n\nVersion: 3.1\n\nBy role.\n",
		"../../etc/passwd", "root is locked",
		"/etc/passwd", "root is locked, says another",
		"..\\..\\evil.txt", "windows says hello",
		"list.csv", "name,owner\nmail,IT\nbilling,Finance\n",
		"inner.zip", string(inner),
		"tool.exe", "MZ\x90\x00\x03\x00\x00\x00\x04\x00",
		"__MACOSX/._access.md", "\x00\x05\x16\x07",
		".DS_Store", "x",
		"empty.txt", "",
	))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# policies/access.md
	## Access  {policies/access.md}
	¶ Version: 3.1  {policies/access.md > Access}
	¶ By role.  {policies/access.md > Access}
	# etc/passwd
	¶ root is locked  {etc/passwd}
	# etc/passwd (2)
	¶ root is locked, says another  {etc/passwd (2)}
	# evil.txt
	¶ windows says hello  {evil.txt}
	# list.csv
	| name: mail; owner: IT  {list.csv}
	| name: billing; owner: Finance  {list.csv}
	# inner.zip
	## deep.txt  {inner.zip}
	¶ Deep text.  {inner.zip > deep.txt}
	`)
	if doc.MIME != "application/zip" || doc.Version != "" || doc.Title != "evidence" {
		t.Errorf("%s %q %q: what one file says of itself is not the archive's", doc.MIME, doc.Version, doc.Title)
	}
	warned := strings.Join(doc.Warnings, "\n")
	for _, want := range []string{
		"tool.exe: skipped: this file type is not supported: this is a Windows program",
		"empty.txt: skipped: the document is empty",
	} {
		if !strings.Contains(warned, want) {
			t.Errorf("no warning %q in\n%s", want, warned)
		}
	}
	if strings.Contains(warned, "DS_Store") {
		t.Errorf("warnings of litter: %s", warned)
	}
	if doc.Blocks[1].Locator.LineStart != 1 {
		t.Errorf("the place in the file is lost: %+v", doc.Blocks[1].Locator)
	}
}

// The metadata of the only document in an archive applies to the archive.
func TestArchiveOfOne(t *testing.T) {
	doc := parsetest.Read(
		t,
		"a.zip",
		documenttest.ZipInOrder(t, "p.md", "---\ntitle: Access policy\nversion: 3.1\n---\n\n# Rules\n\nText.\n"),
	)
	if doc.Version != "3.1" || doc.Title != "Access policy" {
		t.Errorf("version %q, title %q", doc.Version, doc.Title)
	}
}

func TestArchiveRefuses(t *testing.T) {
	many := make([]string, 0, 2*document.MaxMembers+2)
	for i := range document.MaxMembers + 1 {
		many = append(many, fmt.Sprintf("%d.txt", i), "x")
	}
	nested := documenttest.ZipInOrder(t, "a.txt", "found me")
	for range document.MaxNesting + 1 {
		nested = documenttest.ZipInOrder(t, "a.zip", string(nested))
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty":        {documenttest.ZipInOrder(t), document.ErrEmpty},
		"folders only": {documenttest.ZipInOrder(t, "a/", "", "b/", ""), document.ErrEmpty},
		"nothing read": {documenttest.ZipInOrder(t, "a.exe", "MZ\x90\x00\x03", "b.exe", "MZ\x90\x00\x03"), document.ErrUnsupported},
		"too many":     {documenttest.ZipInOrder(t, many...), document.ErrTooLarge},
		"nested":       {nested, document.ErrTooLarge},
		"protected":    {encryptedZip(t), document.ErrEncrypted},
		"bomb":         {documenttest.ZipInOrder(t, "a.txt", strings.Repeat("a", 40<<20)), document.ErrTooLarge},
		"two bombs":    {documenttest.ZipInOrder(t, "b.md", "fine", "a.txt", strings.Repeat("a", 40<<20)), document.ErrTooLarge},
		"too much text": {
			documenttest.ZipInOrder(t, "a.txt", strings.Repeat("word and\n\n", 60_000), "b.txt", strings.Repeat("and word\n\n", 60_000)),
			document.ErrTooLarge,
		},
		"directory lies": {bytes.Replace(documenttest.ZipInOrder(t, "a.txt", "x"), []byte("PK\x01\x02"), []byte("PK\x01\x09"), 1), document.ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if err := parsetest.ReadError(t, parse.Options{MaxText: 1 << 20}, "a.zip", tt.raw); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// encryptedZip returns an archive with an entry marked as encrypted.
func encryptedZip(t testing.TB) []byte {
	raw := documenttest.ZipInOrder(t, "secret.txt", "hidden words")
	at := bytes.Index(raw, []byte("PK\x01\x02"))
	raw[at+8] |= 0x1
	raw[6] |= 0x1
	return raw
}

// A member that can't be read, for whatever reason, doesn't prevent reading the others.
func TestArchiveGoesOn(t *testing.T) {
	locked := documenttest.ZipInOrder(
		t,
		"doc.md",
		"# Fine",
		"locked.zip",
		string(encryptedZip(t)),
		"ring.pdf",
		string(documenttest.CyclicPDF()),
		"half.docx",
		string(documenttest.Docx(t, documenttest.DocxParagraph("", "x"), nil)[:300]),
	)
	doc := parsetest.Read(t, "a.zip", locked)
	if len(doc.Blocks) != 2 || len(doc.Warnings) != 3 {
		t.Errorf("%s%q", documenttest.Outline(doc.Blocks), doc.Warnings)
	}
}

// tarOf makes a tar archive of files: name, content, name, content …
func tarOf(t testing.TB, namesAndContents ...string) string {
	var buf bytes.Buffer
	w := tar.NewWriter(&buf)
	for i := 0; i < len(namesAndContents); i += 2 {
		content := namesAndContents[i+1]
		if err := w.WriteHeader(&tar.Header{Name: namesAndContents[i], Size: int64(len(content)), Mode: 0o600}); err != nil {
			t.Fatal(err)
		}
		if _, err := w.Write([]byte(content)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func gzipOf(t testing.TB, content string) string {
	var buf bytes.Buffer
	w := gzip.NewWriter(&buf)
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.String()
}

func TestTarAndGzip(t *testing.T) {
	archive := tarOf(t, "../p/a.md", "# Doors\n\nDoors are locked.", "p/._a.md", "x", "b.csv", "System,Owner\nCRM,Ann Roe\n",
		"c.exe", "\x7fELF")
	for name, tt := range map[string]struct{ raw, want string }{
		"a.tar":    {archive, "p/a.md\nDoors\nDoors are locked.\nb.csv\nSystem: CRM; Owner: Ann Roe\n"},
		"a.tgz":    {gzipOf(t, archive), "a.tar\np/a.md\nDoors\nDoors are locked.\nb.csv\nSystem: CRM; Owner: Ann Roe\n"},
		"a.log.gz": {gzipOf(t, "Doors are locked."), "a.log\nDoors are locked.\n"},
	} {
		doc := parsetest.Read(t, name, []byte(tt.raw))
		if got := allText(doc); got != tt.want {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
		if warned := strings.Contains(strings.Join(doc.Warnings, " "), "c.exe: skipped"); warned != (name != "a.log.gz") {
			t.Errorf("%s: warnings %q", name, doc.Warnings)
		}
	}
	for name, tt := range map[string]struct {
		raw  string
		want error
	}{
		"cut.tar":   {archive[:530], document.ErrDamaged},
		"cut.gz":    {gzipOf(t, archive)[:200], document.ErrDamaged},
		"empty.tar": {tarOf(t, "a/.x", ""), document.ErrEmpty},
		"bomb.gz":   {gzipOf(t, strings.Repeat("a", 2<<20)), document.ErrTooLarge},
	} {
		if err := parsetest.ReadError(t, parse.Options{MaxBytes: 1 << 20}, name, []byte(tt.raw)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", name, err, tt.want)
		}
	}
}

// Office documents that are saved as one XML file are read as those that are packed.
func TestFlatDocuments(t *testing.T) {
	odf := func(kind, body string) string {
		return `<?xml version="1.0"?><office:document xmlns:office="urn:oasis:names:tc:opendocument:xmlns:office:1.0" xmlns:text="t" xmlns:table="ta" ` +
			`xmlns:style="s" xmlns:draw="d" office:mimetype="application/vnd.oasis.opendocument.` + kind + `"><office:automatic-styles>` +
			`<style:style style:name="x" style:family="text"><style:text-properties style:text-line-through-style="solid"/></style:style>` +
			`</office:automatic-styles><office:master-styles><style:header><text:p>Version: 2.1</text:p></style:header></office:master-styles>` +
			`<office:body><office:` + kind + `>` + body + `</office:` + kind + `></office:body></office:document>`
	}
	docx := `<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part pkg:name="/_rels/.rels" pkg:contentType="r"><pkg:xmlData>` +
		`<Relationships><Relationship Id="r1" Type="x/officeDocument" Target="word/document.xml"/></Relationships></pkg:xmlData></pkg:part>` +
		`<pkg:part pkg:name="/word/document.xml" pkg:contentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml">` +
		`<pkg:xmlData><w:document xmlns:w="w"><w:body><w:p><w:r><w:t>Doors are locked.</w:t></w:r><w:r><w:rPr><w:strike/></w:rPr><w:t>quagga</w:t>` +
		`</w:r></w:p></w:body></w:document></pkg:xmlData></pkg:part><pkg:part pkg:name="/word/a.png" pkg:contentType="p"><pkg:binaryData>aGVs
bG8=</pkg:binaryData></pkg:part></pkg:package>`
	word := `<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml" ` +
		`xmlns:aml="a" xmlns:wx="x"><w:styles><w:style w:type="paragraph" w:styleId="S"><w:name w:val="old"/><w:rPr><w:strike/></w:rPr></w:style></w:styles>` +
		`<w:body><wx:sect><w:p><w:r><w:t>Doors are locked.</w:t></w:r><aml:annotation w:type="Word.Comment"><aml:content><w:p><w:r><w:t>quagga</w:t></w:r></w:p>` +
		`</aml:content></aml:annotation><aml:annotation w:type="Word.Deletion"><aml:content><w:r><w:delText>quagga</w:delText></w:r></aml:content></aml:annotation>` +
		`</w:p><w:p><w:pPr><w:pStyle w:val="S"/></w:pPr><w:r><w:t>quagga</w:t></w:r></w:p></wx:sect></w:body></w:wordDocument>`
	excel := `<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet" ` +
		`xmlns:ss="urn:schemas-microsoft-com:office:spreadsheet" xmlns:x="x"><Styles><Style ss:ID="s"><Font ss:StrikeThrough="1"/></Style><Style ss:ID="t" ` +
		`ss:Parent="s"/></Styles><Worksheet ss:Name="Keys"><Table><Column/><Column ss:Index="3" ss:Hidden="1"/><Row><Cell><Data ss:Type="String">Key</Data></Cell>` +
		`<Cell><Data>Holder</Data></Cell><Cell><Data>quagga</Data></Cell><Cell><Data>Since</Data></Cell></Row><Row ss:Index="4"><Cell><Data>K-7</Data></Cell><Cell ` +
		`ss:Index="2"><ss:Data><B>Night</B> &amp; day<S> quagga</S></ss:Data><Comment><Data>quagga</Data></Comment></Cell><Cell ss:Index="4" ss:Formula="=1"/></Row>` +
		`<Row ss:Hidden="1"><Cell><Data>quagga</Data></Cell></Row><Row><Cell ss:StyleID="t"><Data>quagga</Data></Cell><Cell><Data>Ann</Data></Cell></Row></Table>` +
		`</Worksheet><Worksheet ss:Name="Off"><Table><Row><Cell><Data>quagga</Data></Cell></Row></Table><x:WorksheetOptions><x:Visible>SheetHidden</x:Visible>` +
		`</x:WorksheetOptions></Worksheet></Workbook>`
	for name, tt := range map[string]struct{ raw, want, unread string }{
		"a.doc": {word, "Doors are locked.\n", "1 comment, 1 deleted text, 1 struck-through text"},
		"a.xls": {
			excel, "Keys\nKey: K-7; Holder: Night & day\nHolder: Ann\n",
			"1 hidden column, 1 comment, 1 formula without a stored value, 1 hidden row, 1 struck-through text, 1 hidden sheet",
		},
		"a.fodt": {
			odf("text", `<text:p>Doors are locked. <text:span text:style-name="x">quagga</text:span><draw:frame><draw:image><office:binary-data>aGVsbG8=`+
				`</office:binary-data></draw:image></draw:frame></text:p>`), "Doors are locked.\nVersion: 2.1\n", "1 struck-through text, 1 picture",
		},
		"a.fods": {
			odf("spreadsheet", `<table:table table:name="S"><table:table-row><table:table-cell><text:p>Doors</text:p></table:table-cell></table:table-row></table:table>`),
			"S\nDoors\nVersion: 2.1\n", "",
		},
		"a.xml": {docx, "Doors are locked.\n", "1 struck-through text"},
	} {
		doc := parsetest.Read(t, name, []byte(tt.raw))
		if got := allText(doc); got != tt.want {
			t.Errorf("%s: read %q, want %q", name, got, tt.want)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != tt.unread {
			t.Errorf("%s: not read %q, want %q", name, got, tt.unread)
		}
		if err := parsetest.ReadError(t, parse.Options{}, name, []byte(tt.raw[:len(tt.raw)-20])); !errors.Is(err, document.ErrDamaged) {
			t.Errorf("%s, cut off: %v", name, err)
		}
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(documenttest.ZipInOrder(f, "a.md", "# A\n\nb", "c/d.csv", "x,y\n1,2\n"))
	f.Add(documenttest.ZipInOrder(f, "a.zip", string(documenttest.ZipInOrder(f, "../b.txt", "c"))))
	f.Add(encryptedZip(f))
	f.Add([]byte(tarOf(f, "a.txt", "b", "c.gz", gzipOf(f, "d"))))
	f.Add([]byte(`<pkg:package xmlns:pkg="http://schemas.microsoft.com/office/2006/xmlPackage"><pkg:part pkg:name="/mimetype"><pkg:binaryData>eA==`))
	f.Add([]byte(`<Workbook xmlns="urn:schemas-microsoft-com:office:spreadsheet"><Worksheet><Table><Row Index="2"><Cell Index="3"><Data>x<B>y</B></Data></Cell>`))
	f.Add([]byte(`<w:wordDocument xmlns:w="http://schemas.microsoft.com/office/word/2003/wordml"><w:body><w:p><w:r><w:t>x</w:t></w:r></w:p></w:body></w:wordDocument>`))
	f.Add([]byte(`<o:document xmlns:o="urn:oasis:names:tc:opendocument:xmlns:office:1.0" o:mimetype="application/vnd.oasis.opendocument.text">x</o:document>`))
	f.Fuzz(func(t *testing.T, raw []byte) { parsetest.CheckReadInvariants(t, "a.zip", raw) })
}
