package parse

import (
	"archive/zip"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"io"
	"path"
	"regexp"
	"strings"
)

// format is a kind of file that can be read.
type format struct {
	mime    string
	called  string   // in a sentence: "a PDF"
	endings []string // names that suit it
	read    func(*builder, string) error
}

// The formats. Those with a read function are text.
var (
	formatPDF      = &format{mime: "application/pdf", called: "a PDF", endings: []string{".pdf"}}
	formatDocx     = &format{mime: "application/vnd.openxmlformats-officedocument.wordprocessingml.document", called: "a Word document", endings: []string{".docx", ".docm", ".dotx", ".dotm"}}
	formatXlsx     = &format{mime: "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", called: "an Excel workbook", endings: []string{".xlsx", ".xlsm", ".xltx", ".xltm"}}
	formatHTML     = &format{mime: "text/html", called: "HTML", read: readHTML, endings: []string{".html", ".htm", ".xhtml"}}
	formatJSON     = &format{mime: "application/json", called: "JSON", read: readJSON, endings: []string{".json", ".jsonl", ".ndjson"}}
	formatCSV      = &format{mime: "text/csv", called: "CSV", read: readCSV, endings: []string{".csv"}}
	formatTSV      = &format{mime: mimeTSV, called: "TSV", read: readCSV, endings: []string{".tsv", ".tab"}}
	formatMarkdown = &format{mime: "text/markdown", called: "Markdown", read: readMarkdown, endings: []string{".md", ".markdown"}}
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
	{"\x89PNG\r\n\x1a\n", ErrNoTextLayer, "it is a PNG picture"},
	{"\xff\xd8\xff", ErrNoTextLayer, "it is a JPEG picture"},
	{"GIF8", ErrNoTextLayer, "it is a GIF picture"},
	{"II*\x00", ErrNoTextLayer, "it is a TIFF picture"},
	{"MM\x00*", ErrNoTextLayer, "it is a TIFF picture"},
	{"\x1f\x8b", ErrUnsupported, "it is a gzip archive; unpack it and add what is in it"},
	{"BZh", ErrUnsupported, "it is a bzip2 archive; unpack it and add what is in it"},
	{"7z\xbc\xaf\x27\x1c", ErrUnsupported, "it is a 7z archive; unpack it and add what is in it"},
	{"Rar!\x1a\x07", ErrUnsupported, "it is a RAR archive; unpack it and add what is in it"},
	{"SQLite format 3\x00", ErrUnsupported, "it is a database"},
	{`{\rtf`, ErrUnsupported, "it is RTF; save it as .docx or PDF"},
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
		return nil, sniffOLE(content, size)
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

// sniffZip looks for the main part of an Office document.
func sniffZip(content io.ReaderAt, size int64) (*format, error) {
	z, err := openZip(content, size)
	if err != nil {
		return nil, err
	}
	types, err := contentTypes(z)
	if err != nil {
		return nil, err
	}
	switch {
	case strings.Contains(types, "wordprocessingml.document.main") || strings.Contains(types, "ms-word.document.macroEnabled.main") ||
		strings.Contains(types, "wordprocessingml.template.main") || strings.Contains(types, "ms-word.template.macroEnabledTemplate.main"):
		return formatDocx, nil
	case strings.Contains(types, "spreadsheetml.sheet.main") || strings.Contains(types, "ms-excel.sheet.macroEnabled.main") ||
		strings.Contains(types, "spreadsheetml.template.main") || strings.Contains(types, "ms-excel.template.macroEnabled.main"):
		return formatXlsx, nil
	case strings.Contains(types, "presentationml"):
		return nil, fail(ErrUnsupported, "", "it is a presentation; save it as PDF")
	case types != "":
		return nil, fail(ErrUnsupported, "", "it is an Office document of another kind")
	case zipHas(z, "mimetype"):
		return nil, fail(ErrUnsupported, "", "it is an OpenDocument file; save it as .docx, .xlsx or PDF")
	}
	return nil, fail(ErrUnsupported, "", "it is a zip archive; unpack it and add what is in it")
}

func zipHas(z *zip.Reader, name string) bool {
	for _, f := range z.File {
		if f.Name == name {
			return true
		}
	}
	return false
}

// sniffOLE tells a password-protected Office document from an old one.
func sniffOLE(content io.ReaderAt, size int64) error {
	// The name of a stream stands in UTF-16 in a directory sector anywhere in the file.
	var mark []byte
	for _, c := range "EncryptedPackage" {
		mark = append(mark, byte(c), 0)
	}
	buf := make([]byte, 256<<10)
	for off := int64(0); off < size; off += int64(len(buf) - len(mark)) {
		n, err := content.ReadAt(buf, off)
		if bytes.Contains(buf[:n], mark) {
			return fail(ErrEncrypted, "", "an Office document")
		}
		if err != nil {
			break
		}
	}
	return fail(ErrUnsupported, "", "it is an Office file of before 2007 or a mail; save it as .docx, .xlsx or PDF")
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
	htmlStart = regexp.MustCompile(`(?is)^\s*(<\?xml[^>]*>\s*)?(<!--.*?-->\s*)*(<!doctype\s+html|<html[\s>])`)
	htmlTags  = regexp.MustCompile(`(?i)<(p|div|h[1-6]|table|tr|td|ul|ol|li|body|head)(\s[^>]*)?>`)
	mdMarks   = regexp.MustCompile("(?m)^(#{1,6} \\S|```|[-*+] \\S|\\|.*\\|.*\\||> \\S)|\\]\\([^)\\s]+\\)|\\*\\*\\S")
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
	case strings.HasPrefix(trimmed, "<") && len(htmlTags.FindAllStringIndex(text, 3)) == 3 && !formatMarkdown.named(ending):
		return formatHTML
	}
	// From here on only the name can be the judge, as long as the content doesn't object.
	for _, f := range []*format{formatMarkdown, formatHTML, formatTSV, formatCSV} {
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

// nameWarning says so when the ending promises another format than the content is.
func nameWarning(name string, is *format) string {
	ending := strings.ToLower(path.Ext(name))
	if is.named(ending) || is.read != nil && is != formatHTML && is != formatJSON {
		if is.named(ending) || !formatPDF.named(ending) && !formatDocx.named(ending) && !formatXlsx.named(ending) {
			return ""
		}
	}
	for _, f := range []*format{formatPDF, formatDocx, formatXlsx, formatHTML, formatJSON, formatCSV, formatTSV, formatMarkdown} {
		if f.named(ending) {
			return "The name ends in " + ending + " but the content is " + is.called + "; it was read as that."
		}
	}
	return ""
}
