package parse

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/cfb"
	"github.com/scf-service/service/internal/lazyregexp"
)

// format is a kind of file that can be read.
type format struct {
	mime    string
	called  string   // in a sentence: "a PDF"
	endings []string // names that suit it
	read    func(*builder, string) error
	picture bool // its text has to be recognised
}

// The formats. Those with a read function are text.
var (
	formatPDF      = &format{mime: "application/pdf", called: "a PDF", endings: []string{".pdf"}}
	formatDocx     = &format{mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", called: "a Word document", endings: []string{".docx", ".docm", ".dotx", ".dotm"}}
	formatXlsx     = &format{mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", called: "an Excel workbook", endings: []string{".xlsx", ".xlsm", ".xltx", ".xltm"}}
	formatPptx     = &format{mime: "application/vnd.openxmlformats-officedocument.presentationml.presentation", called: "a PowerPoint presentation", endings: []string{".pptx", ".pptm", ".ppsx", ".ppsm", ".potx", ".potm"}}
	formatODT      = &format{mime: "application/vnd.oasis.opendocument.text", called: "an OpenDocument text", endings: []string{".odt", ".ott"}}
	formatODS      = &format{mime: "application/vnd.oasis.opendocument.spreadsheet", called: "an OpenDocument spreadsheet", endings: []string{".ods", ".ots"}}
	formatODP      = &format{mime: "application/vnd.oasis.opendocument.presentation", called: "an OpenDocument presentation", endings: []string{".odp", ".otp"}}
	formatRTF      = &format{mime: "application/rtf", called: "RTF", endings: []string{".rtf"}}
	formatMail     = &format{mime: "message/rfc822", called: "a mail", endings: []string{".eml"}}
	formatMsg      = &format{mime: "application/vnd.ms-outlook", called: "an Outlook message", endings: []string{".msg"}}
	formatZip      = &format{mime: "application/zip", called: "a zip archive", endings: []string{".zip"}}
	formatHTML     = &format{mime: "text/html", called: "HTML", read: readHTML, endings: []string{".html", ".htm", ".xhtml"}}
	formatJSON     = &format{mime: "application/json", called: "JSON", read: readJSON, endings: []string{".json", ".jsonl", ".ndjson"}}
	formatCSV      = &format{mime: "text/csv", called: "CSV", read: readCSV, endings: []string{".csv"}}
	formatTSV      = &format{mime: mimeTSV, called: "TSV", read: readCSV, endings: []string{".tsv", ".tab"}}
	formatMarkdown = &format{mime: "text/markdown", called: "Markdown", read: readMarkdown, endings: []string{".md", ".markdown"}}
	formatRST      = &format{mime: "text/x-rst", called: "reStructuredText", read: readRST, endings: []string{".rst", ".rest"}}
	formatYAML     = &format{mime: "application/yaml", called: "YAML", read: readYAML, endings: []string{".yaml", ".yml"}}
	formatPlain    = &format{mime: "text/plain", called: "plain text", read: readPlain}
)

// binaries are well-known starts of files that hold no text for us, and what to say.
var binaries = []struct {
	magic string
	kind  error
	say   string
}{
	{"MZ", ErrUnsupported, "it is a Windows program"},
	{"\x7fELF", ErrUnsupported, "it is a program"},
	{"\xcf\xfa\xed\xfe", ErrUnsupported, "it is a program"},
	{"\xca\xfe\xba\xbe", ErrUnsupported, "it is a program"},
	{"\x1f\x8b", ErrUnsupported, "it is a gzip archive; unpack it and add what is in it"},
	{"BZh", ErrUnsupported, "it is a bzip2 archive; unpack it and add what is in it"},
	{"7z\xbc\xaf\x27\x1c", ErrUnsupported, "it is a 7z archive; unpack it and add what is in it"},
	{"Rar!\x1a\x07", ErrUnsupported, "it is a RAR archive; unpack it and add what is in it"},
	{"SQLite format 3\x00", ErrUnsupported, "it is a database"},
}

// pictures are the pictures whose text can be recognised, and what they begin with.
var pictures = []struct {
	magic  string
	format *format
}{
	{"\x89PNG\r\n\x1a\n", picture("png", "a PNG picture", ".png")},
	{"\xff\xd8\xff", picture("jpeg", "a JPEG picture", ".jpg", ".jpeg", ".jpe")},
	{"GIF8", picture("gif", "a GIF picture", ".gif")},
	{"II*\x00", picture("tiff", "a TIFF picture", ".tif", ".tiff")},
	{"MM\x00*", picture("tiff", "a TIFF picture", ".tif", ".tiff")},
	{"BM", picture("bmp", "a BMP picture", ".bmp")},
	{"RIFF", picture("webp", "a WebP picture", ".webp")},
}

func picture(kind, called string, endings ...string) *format {
	return &format{mime: "image/" + kind, called: called, endings: endings, picture: true}
}

// sniffPicture tells a picture by its beginning; nil where it is none.
func sniffPicture(head []byte) *format {
	for _, p := range pictures {
		switch {
		case !bytes.HasPrefix(head, []byte(p.magic)):
		case p.magic == "BM" && !looksBinary(head): // words begin so too
		case p.magic == "RIFF" && !bytes.HasPrefix(head[min(len(head), 8):], []byte("WEBP")):
		default:
			return p.format
		}
	}
	return nil
}

const (
	sniffBytes = 64 << 10
	mimeTSV    = "text/tab-separated-values"
)

// sniff tells the format from the content. The name only decides between formats that
// are all text, which no byte can tell apart.
func sniff(name string, content io.ReaderAt, size int64) (*format, error) {
	head := make([]byte, min(size, sniffBytes))
	if n, err := content.ReadAt(head, 0); err != nil && (err != io.EOF || n < len(head)) {
		return nil, fail(ErrDamaged, "", "it can't be read to its end: %v", err)
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
	}
	if f := sniffPicture(head); f != nil {
		return f, nil
	}
	for _, b := range binaries {
		if bytes.HasPrefix(head, []byte(b.magic)) && (b.magic != "MZ" || looksBinary(head)) {
			return nil, fail(b.kind, "", "%s", b.say)
		}
	}
	if looksBinary(head) {
		return nil, fail(ErrUnsupported, "", "it holds bytes that are not text")
	}
	return sniffText(name, head, int64(len(head)) == size), nil
}

// sniffZip looks for the main part of an Office document. What is none is an archive.
func sniffZip(content io.ReaderAt, size int64) (*format, error) {
	z, err := zipDirectory(content, size)
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
	case has("wordprocessingml.document.main", "ms-word.document.macroEnabled.main", "wordprocessingml.template.main", "ms-word.template.macroEnabledTemplate.main"):
		return formatDocx, nil
	case has("spreadsheetml.sheet.main", "ms-excel.sheet.macroEnabled.main", "spreadsheetml.template.main", "ms-excel.template.macroEnabled.main"):
		return formatXlsx, nil
	case has("presentationml.presentation.main", "presentationml.slideshow.main", "presentationml.template.main",
		"ms-powerpoint.presentation.macroEnabled.main", "ms-powerpoint.slideshow.macroEnabled.main", "ms-powerpoint.template.macroEnabled.main"):
		return formatPptx, nil
	case has("ms-excel.sheet.binary"):
		return nil, fail(ErrUnsupported, "", "it is a binary Excel workbook (.xlsb); save it as .xlsx")
	case types != "":
		return nil, fail(ErrUnsupported, "", "it is an Office document of another kind; save it as .docx, .xlsx, .pptx or PDF")
	}
	if f, err := sniffODF(z); f != nil || err != nil {
		return f, err
	}
	return formatZip, nil
}

// oldOffice are the streams that tell what an OLE2 file is, and what to say.
var oldOffice = []struct {
	stream string
	kind   error
	say    string
}{
	{"EncryptedPackage", ErrEncrypted, "an Office document"},
	{"WordDocument", ErrUnsupported, "it is a Word document of before 2007 (.doc); save it as .docx"},
	{"Workbook", ErrUnsupported, "it is an Excel workbook of before 2007 (.xls); save it as .xlsx"},
	{"Book", ErrUnsupported, "it is an Excel workbook of before 2007 (.xls); save it as .xlsx"},
	{"PowerPoint Document", ErrUnsupported, "it is a PowerPoint presentation of before 2007 (.ppt); save it as .pptx"},
	{"VisioDocument", ErrUnsupported, "it is a Visio drawing; save it as PDF"},
}

// sniffOLE tells what lies in an OLE2 file by the names of its streams.
func sniffOLE(content io.ReaderAt, size int64) (*format, error) {
	f, err := cfb.Open(content, size)
	if err != nil {
		return nil, damaged("", err)
	}
	for _, old := range oldOffice {
		if f.Root.Child(old.stream) != nil {
			return nil, fail(old.kind, "", "%s", old.say)
		}
	}
	if f.Root.Child("__properties_version1.0") != nil {
		return formatMsg, nil
	}
	return nil, fail(ErrUnsupported, "", "it is an OLE2 file of a program that is not known here; save it as .docx, .xlsx or PDF")
}

// looksBinary reports whether control characters make up more than a sixteenth of a
// text that is not UTF-16.
func looksBinary(head []byte) bool {
	if cs := guessCharset(head); cs == utf16LE || cs == utf16BE {
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
	htmlStart = lazyregexp.Of(`(?is)^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype\s+html|<html[\s>])`)
	htmlTags  = lazyregexp.Of(`(?i)<(p|div|h[1-6]|table|tr|td|ul|ol|li|body|head)(\s[^>]*)?>`)
	mdMarks   = lazyregexp.Of("(?m)^(#{1,6} \\S|```|[-*+] \\S|\\|.*\\|.*\\||> \\S)|\\]\\([^)\\s]+\\)|\\*\\*\\S")
)

func sniffText(name string, head []byte, whole bool) *format {
	text, _ := decode(head)
	ending := strings.ToLower(path.Ext(name))
	trimmed := strings.TrimSpace(text)
	switch {
	case htmlStart.MatchString(text):
		return formatHTML
	case looksJSON(trimmed, whole):
		return formatJSON
	case looksMail(text):
		return formatMail
	case strings.HasPrefix(trimmed, "%YAML "):
		return formatYAML
	case strings.HasPrefix(trimmed, "<") && len(htmlTags.FindAllStringIndex(text, 3)) == 3 && !formatMarkdown.named(ending):
		return formatHTML
	}
	// From here on only the name can be the judge, as long as the content doesn't object.
	for _, f := range []*format{formatMarkdown, formatRST, formatYAML, formatHTML, formatTSV, formatCSV} {
		if !f.named(ending) {
			continue
		}
		if f == formatHTML && !htmlTags.MatchString(text) {
			break
		}
		return f
	}
	if ending == ".txt" || ending == ".log" {
		return formatPlain
	}
	if d := delimiter(text); d != 0 {
		if d == '\t' {
			return formatTSV
		}
		return formatCSV
	}
	if len(mdMarks.FindAllStringIndex(text, 3)) == 3 {
		return formatMarkdown
	}
	return formatPlain
}

// mailFields are those of which a mail has some in its head.
var mailFields = map[string]bool{"from": true, "to": true, "subject": true, "date": true, "message-id": true, "received": true, "mime-version": true, "return-path": true, "content-type": true, "delivered-to": true, "x-mailer": true, "reply-to": true}

// looksMail reports whether a text begins with the head of a mail: fields only, four of
// which are those of mails, and who it is from among them.
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

// delimiter returns what parts the columns of a table written as text, or 0.
func delimiter(text string) rune {
	if len(text) > 16<<10 {
		text = text[:16<<10]
		if i := strings.LastIndexByte(text, '\n'); i > 0 {
			text = text[:i]
		}
	}
	best, bestCols := rune(0), 1
	for _, d := range []rune{',', ';', '\t', '|'} {
		r := csv.NewReader(strings.NewReader(text))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = d, true, -1
		first, rows, same := 0, 0, 0
		for rows < 50 {
			rec, err := r.Read()
			if err != nil {
				break
			}
			if rows++; first == 0 {
				first = len(rec)
			}
			if len(rec) == first {
				same++
			}
		}
		if rows >= 2 && first > bestCols && same*10 >= rows*8 {
			best, bestCols = d, first
		}
	}
	return best
}

func (f *format) named(ending string) bool {
	for _, e := range f.endings {
		if e == ending {
			return true
		}
	}
	return false
}

// formats are all that can be read.
var formats = []*format{formatPDF, formatDocx, formatXlsx, formatPptx, formatODT, formatODS, formatODP, formatRTF, formatMail, formatMsg, formatZip,
	formatHTML, formatJSON, formatCSV, formatTSV, formatMarkdown, formatRST, formatYAML}

// nameWarning says so when the ending promises another format than the content is. Among
// texts names are taken lightly: a .yaml may hold notes.
func nameWarning(name string, is *format) string {
	ending := strings.ToLower(path.Ext(name))
	if is.named(ending) {
		return ""
	}
	for _, f := range formats {
		if !f.named(ending) {
			continue
		}
		if f.read != nil && is.read != nil && is != formatHTML && is != formatJSON {
			return ""
		}
		return "The name ends in " + ending + " but the content is " + is.called + "; it was read as that."
	}
	return ""
}
