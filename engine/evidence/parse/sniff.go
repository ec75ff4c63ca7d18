package parse

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/cfb"
	"github.com/scf-service/service/engine/evidence/parse/mail"
	"github.com/scf-service/service/engine/evidence/parse/office"
	"github.com/scf-service/service/internal/charset"
	"github.com/scf-service/service/internal/lazyregexp"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

// format is a supported file format.
type format struct {
	mime       string
	label      string                                // in a sentence: "a PDF"
	extensions []string                              // its file name extensions
	reader     string                                // the key of its reader in readerVersions
	read       func(*document.Builder, string) error // set for text formats only
	isPicture  bool                                  // its text must be recognized
}

func newFormat(mime, label, reader string, extensions ...string) *format {
	return &format{mime: mime, label: label, reader: reader, extensions: extensions}
}

func newTextFormat(mime, label, reader string, read func(*document.Builder, string) error, extensions ...string) *format {
	return &format{mime: mime, label: label, reader: reader, read: read, extensions: extensions}
}

// The supported formats.
var (
	formatPDF  = newFormat("application/pdf", "a PDF", "pdf", ".pdf")
	formatDocx = newFormat(
		"application/vnd.openxmlformats-officedocument.wordprocessingml.document",
		"a Word document", "docx", ".docx", ".docm", ".dotx", ".dotm",
	)
	formatXlsx = newFormat(
		"application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
		"an Excel workbook", "xlsx", ".xlsx", ".xlsm", ".xltx", ".xltm",
	)
	formatPptx = newFormat(
		"application/vnd.openxmlformats-officedocument.presentationml.presentation",
		"a PowerPoint presentation", "pptx", ".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm",
	)
	formatODT       = newFormat(office.MIMEODT, "an OpenDocument text", "odf", ".odt", ".ott")
	formatODS       = newFormat(office.MIMEODS, "an OpenDocument spreadsheet", "odf", ".ods", ".ots")
	formatODP       = newFormat(office.MIMEODP, "an OpenDocument presentation", "odf", ".odp", ".otp")
	formatRTF       = newFormat("application/rtf", "RTF", "rtf", ".rtf")
	formatMail      = newFormat("message/rfc822", "an email", "mail", ".eml", ".mbox")
	formatMHTML     = newFormat("multipart/related", "a saved web page (MHTML)", "mail", ".mht", ".mhtml")
	formatMsg       = newFormat("application/vnd.ms-outlook", "an Outlook message", "mail", ".msg")
	formatTNEF      = newFormat("application/vnd.ms-tnef", "an Outlook message (TNEF)", "mail", ".dat", ".tnef")
	formatSigned    = newFormat("application/pkcs7-mime", "signed data", "mail", ".p7m", ".p7s")
	formatZip       = newFormat("application/zip", "a zip archive", "zip", ".zip")
	formatTar       = newFormat("application/x-tar", "a tar archive", "zip", ".tar")
	formatGzip      = newFormat("application/gzip", "a gzip archive", "zip", ".gz", ".tgz")
	formatFlatODF   = newFormat("application/vnd.oasis.opendocument", "an OpenDocument file in XML", "odf", ".fodt", ".fods", ".fodp")
	formatFlatOPC   = newFormat("application/vnd.ms-package", "an Office document in XML (Flat OPC)", "zip")
	formatSheet2003 = newTextFormat("application/vnd.ms-excel+xml", "an Excel 2003 XML workbook", "xlsx",
		office.ReadSheet2003, ".xml", ".xls")
	formatWord2003 = newFormat("application/vnd.ms-word+xml", "a Word 2003 XML document", "docx", ".xml", ".doc")
	formatHTML     = newTextFormat("text/html", "HTML", "html", text.ReadHTML, ".html", ".htm", ".xhtml")
	formatXML      = newTextFormat("application/xml", "XML", "xml", text.ReadXML, ".xml")
	formatJSON     = newTextFormat("application/json", "JSON", "json", text.ReadJSON, ".json", ".jsonl", ".ndjson")
	formatCSV      = newTextFormat("text/csv", "CSV", "csv", text.ReadCSV, ".csv")
	formatTSV      = newTextFormat(text.MIMETSV, "TSV", "csv", text.ReadCSV, ".tsv", ".tab")
	formatMarkdown = newTextFormat("text/markdown", "Markdown", "markdown", text.ReadMarkdown, ".md", ".markdown")
	formatRST      = newTextFormat("text/x-rst", "reStructuredText", "rst", text.ReadRST, ".rst", ".rest")
	formatYAML     = newTextFormat("application/yaml", "YAML", "yaml", text.ReadYAML, ".yaml", ".yml")
	formatPlain    = newTextFormat("text/plain", "plain text", "plain", text.ReadPlain)
)

// unsupportedFormats lists the signatures of well-known unsupported formats, with error messages.
var unsupportedFormats = []struct {
	magic string
	kind  error
	say   string
}{
	{"MZ", document.ErrUnsupported, "this is a Windows program"},
	{"\x7fELF", document.ErrUnsupported, "this is a program"},
	{"\xcf\xfa\xed\xfe", document.ErrUnsupported, "this is a program"},
	{"\xca\xfe\xba\xbe", document.ErrUnsupported, "this is a program"},
	{"BZh", document.ErrUnsupported, "this is a bzip2 archive; unpack it and add its files"},
	{"7z\xbc\xaf\x27\x1c", document.ErrUnsupported, "this is a 7z archive; unpack it and add its files"},
	{"Rar!\x1a\x07", document.ErrUnsupported, "this is a RAR archive; unpack it and add its files"},
	{"SQLite format 3\x00", document.ErrUnsupported, "this is a database"},
	{"\x4c\x00\x00\x00\x01\x14\x02\x00", document.ErrUnsupported, "this is a Windows shortcut; add the file it points to"},
}

// pictureFormats lists the image formats supported by OCR, with their signatures.
var pictureFormats = []struct {
	magic  string
	format *format
}{
	{"\x89PNG\r\n\x1a\n", newPictureFormat("png", "a PNG picture", ".png")},
	{"\xff\xd8\xff", newPictureFormat("jpeg", "a JPEG picture", ".jpg", ".jpeg", ".jpe")},
	{"GIF8", newPictureFormat("gif", "a GIF picture", ".gif")},
	{"II*\x00", newPictureFormat("tiff", "a TIFF picture", ".tif", ".tiff")},
	{"MM\x00*", newPictureFormat("tiff", "a TIFF picture", ".tif", ".tiff")},
	{"BM", newPictureFormat("bmp", "a BMP picture", ".bmp")},
	{"RIFF", newPictureFormat("webp", "a WebP picture", ".webp")},
}

func newPictureFormat(kind, label string, extensions ...string) *format {
	return &format{mime: "image/" + kind, label: label, extensions: extensions, reader: "picture", isPicture: true}
}

// sniffPicture detects an image format by its signature. It returns nil if there is none.
func sniffPicture(head []byte) *format {
	for _, p := range pictureFormats {
		switch {
		case !bytes.HasPrefix(head, []byte(p.magic)):
		case p.magic == "BM" && !looksBinary(head): // text may also begin with BM
		case p.magic == "RIFF" && !bytes.HasPrefix(head[min(len(head), 8):], []byte("WEBP")):
		default:
			return p.format
		}
	}
	return nil
}

const (
	sniffBytes   = 64 << 10
	maxTypesPart = 4 << 20 // maximum size in bytes of the part that lists an archive's types or contents
)

// sniff detects the format of a file from its content. The name is used only to choose between text
// formats that can't be distinguished by their content.
func sniff(name string, content io.ReaderAt, size int64) (*format, error) {
	head := make([]byte, min(size, sniffBytes))
	if n, err := content.ReadAt(head, 0); err != nil && (err != io.EOF || n < len(head)) {
		return nil, document.NewError(document.ErrDamaged, "", "the file is truncated or unreadable: %v", err)
	}
	switch {
	case bytes.Contains(head[:min(len(head), 1024)], []byte("%PDF-")):
		return formatPDF, nil
	case bytes.HasPrefix(head, []byte("PK\x03\x04")) || bytes.HasPrefix(head, []byte("PK\x05\x06")):
		return sniffZip(content, size)
	case bytes.HasPrefix(head, []byte("\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1")):
		return sniffOLE(content, size)
	case bytes.HasPrefix(bytes.TrimLeft(head, "\ufeff \t\r\n"), []byte(`{\rtf`)):
		return formatRTF, nil
	case bytes.HasPrefix(head, []byte("\x78\x9f\x3e\x22")):
		return formatTNEF, nil
	case mail.IsCMS(head):
		return formatSigned, nil
	}
	if f := sniffPicture(head); f != nil {
		return f, nil
	}
	for _, b := range unsupportedFormats {
		if bytes.HasPrefix(head, []byte(b.magic)) && (b.magic != "MZ" || looksBinary(head)) {
			return nil, document.NewError(b.kind, "", "%s", b.say)
		}
	}
	switch {
	case len(head) > 262 && bytes.Equal(head[257:262], []byte("ustar")):
		return formatTar, nil
	case bytes.HasPrefix(head, []byte("\x1f\x8b")):
		return formatGzip, nil
	}
	if looksBinary(head) {
		return nil, document.NewError(document.ErrUnsupported, "", "the file contains bytes that are not text")
	}
	sample, _ := charset.Decode(head)
	if d := sniffXMLDialect(sample); d != nil {
		if d.format == nil {
			return nil, document.NewError(document.ErrUnsupported, "", "%s", d.say)
		}
		return d.format, nil
	}
	return sniffText(name, sample, int64(len(head)) == size), nil
}

// sniffZip detects the kind of Office document in a zip file. Other zip files are treated as archives.
func sniffZip(content io.ReaderAt, size int64) (*format, error) {
	z, err := zipfile.OpenWithPartLimit(content, size)
	if err != nil {
		return nil, err
	}
	types, err := contentTypes(z)
	if err != nil {
		return nil, err
	}
	has := func(kinds ...string) bool {
		return slices.ContainsFunc(kinds, func(k string) bool { return strings.Contains(types, k) })
	}
	switch {
	case has(
		"wordprocessingml.document.main",
		"ms-word.document.macroEnabled.main",
		"wordprocessingml.template.main",
		"ms-word.template.macroEnabledTemplate.main",
	):
		return formatDocx, nil
	case has(
		"spreadsheetml.sheet.main",
		"ms-excel.sheet.macroEnabled.main",
		"spreadsheetml.template.main",
		"ms-excel.template.macroEnabled.main",
	):
		return formatXlsx, nil
	case has("presentationml.presentation.main", "presentationml.slideshow.main", "presentationml.template.main",
		"ms-powerpoint.presentation.macroEnabled.main", "ms-powerpoint.slideshow.macroEnabled.main", "ms-powerpoint.template.macroEnabled.main"):
		return formatPptx, nil
	case has("ms-excel.sheet.binary"):
		return nil, document.NewError(document.ErrUnsupported, "", "this is a binary Excel workbook (.xlsb); save it as .xlsx")
	case types != "":
		return nil, document.NewError(document.ErrUnsupported, "",
			"this is an unsupported Office document; save it as .docx, .xlsx, .pptx or PDF")
	}
	if f, err := sniffODF(z); f != nil || err != nil {
		return f, err
	}
	if slices.ContainsFunc(z.File, func(f *zip.File) bool { return f.Name == "Index/Document.iwa" || f.Name == "Index.zip" }) {
		return nil, document.NewError(document.ErrUnsupported, "",
			"this is an Apple Pages, Numbers or Keynote document; export it to PDF, Word, Excel or PowerPoint")
	}
	return formatZip, nil
}

// xmlDialect describes a kind of document that is saved as a single XML file. It has either a
// format or an error message.
type xmlDialect struct {
	namespace string
	format    *format
	say       string
}

// xmlDialects lists the known dialects, which are detected by their namespaces.
var xmlDialects = []xmlDialect{
	{"http://schemas.microsoft.com/office/2006/xmlPackage", formatFlatOPC, ""},
	{"urn:oasis:names:tc:opendocument:xmlns:office:1.0", formatFlatODF, ""},
	{"urn:schemas-microsoft-com:office:spreadsheet", formatSheet2003, ""},
	{"http://schemas.microsoft.com/office/word/2003/wordml", formatWord2003, ""},
	{"http://www.w3.org/2000/svg", nil, "this is an SVG drawing; save it as PDF"},
}

// sniffXMLDialect returns the XML dialect of a text, or nil if it has none.
func sniffXMLDialect(sample string) *xmlDialect {
	if !strings.HasPrefix(strings.TrimSpace(sample), "<") {
		return nil
	}
	for dec := text.NewXMLDecoder(sample); ; {
		tok, err := dec.Token()
		if err != nil {
			return nil
		}
		if root, ok := tok.(xml.StartElement); ok {
			at := slices.IndexFunc(xmlDialects, func(d xmlDialect) bool { return d.namespace == root.Name.Space })
			if at < 0 {
				return nil
			}
			return &xmlDialects[at]
		}
	}
}

// contentTypes returns the content type list of an Office document, or "" if it has none.
func contentTypes(z *zip.Reader) (string, error) {
	raw, err := zipfile.ReadPart(z, "[Content_Types].xml", maxTypesPart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return "", nil
	}
	return string(raw), err
}

// sniffODF returns the OpenDocument format named in an archive's mimetype entry.
func sniffODF(z *zip.Reader) (*format, error) {
	raw, err := zipfile.ReadPart(z, "mimetype", 1024)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kind := strings.TrimSuffix(strings.TrimSpace(string(raw)), "-template")
	for _, f := range []*format{formatODT, formatODS, formatODP} {
		if variant, ok := strings.CutPrefix(kind, f.mime); !ok || !slices.Contains([]string{"", "-web", "-master"}, variant) {
			continue
		}
		if manifest, err := zipfile.ReadPart(z, "META-INF/manifest.xml", maxTypesPart); err == nil &&
			strings.Contains(string(manifest), "encryption-data") {
			return nil, document.NewError(document.ErrEncrypted, "", "%s", f.label)
		}
		return f, nil
	}
	if strings.HasPrefix(kind, "application/vnd.oasis.opendocument") {
		return nil, document.NewError(document.ErrUnsupported, "", "this is an OpenDocument file without text, tables or slides; save it as PDF")
	}
	if kind == "application/epub+zip" {
		return nil, document.NewError(document.ErrUnsupported, "", "this is an e-book; save it as .docx or PDF")
	}
	return nil, nil
}

// oleStreams lists the streams that identify unsupported kinds of OLE2 files, with error messages.
var oleStreams = []struct {
	stream string
	kind   error
	say    string
}{
	{"EncryptedPackage", document.ErrEncrypted, "an Office document"},
	{"WordDocument", document.ErrUnsupported, "this is a Word 97–2003 document (.doc); save it as .docx"},
	{"Workbook", document.ErrUnsupported, "this is an Excel 97–2003 workbook (.xls); save it as .xlsx"},
	{"Book", document.ErrUnsupported, "this is an Excel 97–2003 workbook (.xls); save it as .xlsx"},
	{"PowerPoint Document", document.ErrUnsupported, "this is a PowerPoint 97–2003 presentation (.ppt); save it as .pptx"},
	{"VisioDocument", document.ErrUnsupported, "this is a Visio drawing; save it as PDF"},
}

// sniffOLE detects what an OLE2 file contains by the names of its streams.
func sniffOLE(content io.ReaderAt, size int64) (*format, error) {
	f, err := cfb.Open(content, size)
	if err != nil {
		return nil, document.DamagedError("", err)
	}
	for _, old := range oleStreams {
		if f.Root.Child(old.stream) != nil {
			return nil, document.NewError(old.kind, "", "%s", old.say)
		}
	}
	if f.Root.Child("__properties_version1.0") != nil {
		return formatMsg, nil
	}
	return nil, document.NewError(document.ErrUnsupported, "", "this is an OLE2 file from an unknown program; save it as .docx, .xlsx or PDF")
}

// looksBinary reports whether control characters make up more than a sixteenth of the data. It returns false for
// UTF-16.
func looksBinary(head []byte) bool {
	if cs := charset.Guess(head); cs == charset.UTF16LE || cs == charset.UTF16BE {
		return false
	}
	odd := 0
	for _, c := range head {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' && c != '\f' && c != '\v' && c != 0x1b || c == 0x7f {
			odd++
		}
	}
	return odd*16 > len(head)
}

var (
	htmlStartPattern = lazyregexp.New(`(?is)^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype\s+html|<html[\s>])`)
	htmlTagPattern   = lazyregexp.New(`(?i)<(p|div|h[1-6]|table|tr|td|ul|ol|li|body|head)(\s[^>]*)?>`)
	markdownPattern  = lazyregexp.New("(?m)^(#{1,6} \\S|```|[-*+] \\S|\\|.*\\|.*\\||> \\S)|\\]\\([^)\\s]+\\)|\\*\\*\\S")
)

func sniffText(name, sample string, whole bool) *format {
	ending := strings.ToLower(path.Ext(name))
	trimmed := strings.TrimSpace(sample)
	switch {
	case htmlStartPattern.MatchString(sample):
		return formatHTML
	case looksJSON(trimmed, whole):
		return formatJSON
	case looksMail(sample):
		return formatMail
	case looksWebArchive(sample):
		return formatMHTML
	case strings.HasPrefix(trimmed, "%YAML "):
		return formatYAML
	case strings.HasPrefix(trimmed, "<?xml ") || formatXML.hasExtension(ending) && strings.HasPrefix(trimmed, "<"):
		return formatXML
	case strings.HasPrefix(trimmed, "<") && len(htmlTagPattern.FindAllStringIndex(sample, 3)) == 3 && !formatMarkdown.hasExtension(ending):
		return formatHTML
	}
	// From here on the name decides, unless the content contradicts it.
	for _, f := range []*format{formatMarkdown, formatRST, formatYAML, formatHTML, formatTSV, formatCSV} {
		if !f.hasExtension(ending) {
			continue
		}
		if f == formatHTML && !htmlTagPattern.MatchString(sample) {
			break
		}
		return f
	}
	if ending == ".txt" || ending == ".log" {
		return formatPlain
	}
	if d := text.GuessDelimiter(sample); d != 0 {
		if d == '\t' {
			return formatTSV
		}
		return formatCSV
	}
	if len(markdownPattern.FindAllStringIndex(sample, 3)) == 3 {
		return formatMarkdown
	}
	return formatPlain
}

// mailFields lists well-known fields of email headers.
var mailFields = map[string]bool{
	"from":         true,
	"to":           true,
	"subject":      true,
	"date":         true,
	"message-id":   true,
	"received":     true,
	"mime-version": true,
	"return-path":  true,
	"content-type": true,
	"delivered-to": true,
	"x-mailer":     true,
	"reply-to":     true,
}

// looksMail reports whether text begins with an email header: nothing but header fields, at least four of them
// well-known and one naming a sender.
func looksMail(text string) bool {
	known, from := map[string]bool{}, false
	for n, line := range strings.SplitN(text, "\n", 200) {
		line = strings.TrimRight(line, "\r")
		if line == "" {
			break
		}
		if n == 0 && strings.HasPrefix(line, "From ") || n > 0 && (line[0] == ' ' || line[0] == '\t') {
			continue
		}
		key, _, ok := strings.Cut(line, ":")
		if !ok || key == "" || len(key) > 70 || strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' }) {
			return false
		}
		if key = strings.ToLower(key); mailFields[key] {
			known[key] = true
		}
		from = from || key == "from" || key == "return-path"
	}
	return from && len(known) >= 4
}

// webArchivePattern matches the type of a page that is saved with its pictures.
var webArchivePattern = lazyregexp.New(`(?im)^content-type:\s*multipart/related\b`)

// looksWebArchive reports whether text begins with the header of a MIME document that holds a page and its pictures.
func looksWebArchive(text string) bool {
	header, _, found := strings.Cut(strings.ReplaceAll(text, "\r\n", "\n"), "\n\n")
	first, _, _ := strings.Cut(header, ":")
	return found && len(first) < 70 && !strings.ContainsAny(first, " \t<") && webArchivePattern.MatchString(header)
}

func looksJSON(s string, whole bool) bool {
	if s == "" || s[0] != '{' && s[0] != '[' {
		return false
	}
	dec := json.NewDecoder(strings.NewReader(s))
	for {
		if _, err := dec.Token(); err == io.EOF {
			return true
		} else if err != nil {
			// A head that is cut off ends in the middle of a token; a bracketed line of text fails at once.
			return !whole && dec.InputOffset() > int64(len(s))/2
		}
	}
}

func (f *format) hasExtension(ending string) bool { return slices.Contains(f.extensions, ending) }

// formats lists all supported formats.
var formats = []*format{
	formatPDF, formatDocx, formatXlsx, formatPptx, formatODT, formatODS, formatODP, formatRTF, formatMail, formatMsg, formatSigned,
	formatZip, formatTar, formatGzip, formatFlatODF, formatMHTML, formatHTML, formatXML, formatJSON, formatCSV, formatTSV,
	formatMarkdown, formatRST, formatYAML,
}

// extensionWarning returns a warning if a file's extension doesn't match its detected format. Text formats are
// treated leniently: a .yaml file may contain notes.
func extensionWarning(name string, actual *format) string {
	ending := strings.ToLower(path.Ext(name))
	if actual.hasExtension(ending) {
		return ""
	}
	for _, f := range formats {
		if !f.hasExtension(ending) {
			continue
		}
		if f.read != nil && actual.read != nil && actual != formatHTML && actual != formatJSON {
			return ""
		}
		return "The file name ends in " + ending + ", but the content is " + actual.label + ", so the file was read as such."
	}
	return ""
}
