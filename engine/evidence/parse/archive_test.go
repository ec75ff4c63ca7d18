package parse

import (
	"archive/zip"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// packed makes an archive of entries in their order: name, content, name, content …
func packed(t testing.TB, entries ...string) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := zip.NewWriter(&buf)
	for i := 0; i < len(entries); i += 2 {
		p, err := w.Create(entries[i])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(p, entries[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestArchive(t *testing.T) {
	inner := packed(t, "deep.txt", "Deep text.")
	doc := read(t, "evidence.zip", packed(t,
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
	same(t, outline(doc.Blocks), `
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
		"tool.exe: skipped: the file type can't be read: it is a Windows program",
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

// An archive of one document speaks for it.
func TestArchiveOfOne(t *testing.T) {
	doc := read(t, "a.zip", packed(t, "p.md", "---\ntitle: Access policy\nversion: 3.1\n---\n\n# Rules\n\nText.\n"))
	if doc.Version != "3.1" || doc.Title != "Access policy" {
		t.Errorf("version %q, title %q", doc.Version, doc.Title)
	}
}

func TestArchiveRefuses(t *testing.T) {
	many := make([]string, 0, 2*maxMembers+2)
	for i := range maxMembers + 1 {
		many = append(many, fmt.Sprintf("%d.txt", i), "x")
	}
	nested := packed(t, "a.txt", "found me")
	for range maxNesting + 1 {
		nested = packed(t, "a.zip", string(nested))
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"empty":        {packed(t), ErrEmpty},
		"folders only": {packed(t, "a/", "", "b/", ""), ErrEmpty},
		"nothing read": {packed(t, "a.exe", "MZ\x90\x00\x03", "b.exe", "MZ\x90\x00\x03"), ErrUnsupported},
		"too many":     {packed(t, many...), ErrTooLarge},
		"nested":       {nested, ErrTooLarge},
		"protected":    {encryptedZip(t), ErrEncrypted},
		"bomb":         {packed(t, "a.txt", strings.Repeat("a", 40<<20)), ErrTooLarge},
		"two bombs":    {packed(t, "b.md", "fine", "a.txt", strings.Repeat("a", 40<<20)), ErrTooLarge},
		"too much text": {
			packed(t, "a.txt", strings.Repeat("word and\n\n", 2<<20), "b.txt", strings.Repeat("and word\n\n", 2<<20)),
			ErrTooLarge,
		},
		"directory lies": {bytes.Replace(packed(t, "a.txt", "x"), []byte("PK\x01\x02"), []byte("PK\x01\x09"), 1), ErrDamaged},
	} {
		t.Run(name, func(t *testing.T) {
			if err := readErr(t, Options{}, "a.zip", tt.raw); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
		})
	}
}

// encryptedZip has an entry that says of itself that it is protected.
func encryptedZip(t testing.TB) []byte {
	raw := packed(t, "secret.txt", "hidden words")
	at := bytes.Index(raw, []byte("PK\x01\x02"))
	raw[at+8] |= zipEncrypted
	raw[6] |= zipEncrypted
	return raw
}

// One member that can't be read leaves the others, in whichever way it is bad.
func TestArchiveGoesOn(t *testing.T) {
	locked := packed(
		t,
		"doc.md",
		"# Fine",
		"locked.zip",
		string(encryptedZip(t)),
		"ring.pdf",
		string(ringPDF()),
		"half.docx",
		string(docx(t, para("", "x"), nil)[:300]),
	)
	doc := read(t, "a.zip", locked)
	if len(doc.Blocks) != 2 || len(doc.Warnings) != 3 {
		t.Errorf("%s%q", outline(doc.Blocks), doc.Warnings)
	}
}

func FuzzArchive(f *testing.F) {
	f.Add(packed(f, "a.md", "# A\n\nb", "c/d.csv", "x,y\n1,2\n"))
	f.Add(packed(f, "a.zip", string(packed(f, "../b.txt", "c"))))
	f.Add(encryptedZip(f))
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, "a.zip", raw) })
}
