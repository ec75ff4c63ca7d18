package office

import (
	"archive/zip"
	"encoding/xml"
	"html"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/text"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const (
	maxChartTexts = 200
	maxPicture    = 64 << 20 // bytes
)

// addChart adds the text in a chart as paragraphs.
func addChart(b *document.Builder, z *zip.Reader, part string, at api.Locator) error {
	texts, err := chartTexts(b, z, part)
	for _, text := range texts {
		b.AddBlock(document.Block{Kind: document.Paragraph, Text: text, Locator: at})
	}
	return err
}

// chartTexts returns the texts in a chart: its titles, and the names of its series and categories. Its figures are
// shown only graphically, so the caller must count the chart as unread.
func chartTexts(b *document.Builder, z *zip.Reader, part string) (titles []string, err error) {
	var labels []string
	var open strings.Builder
	inLabels := false
	err = scanTags(b, z, part, func(s *tagScanner) bool {
		switch name, begins, ends := s.name(); {
		case name == "strCache" || name == "strLit":
			inLabels = begins && !ends
		case name == "t" && !begins:
			open.WriteString(html.UnescapeString(string(s.text)))
		case name == "v" && !begins && inLabels:
			if text := document.CleanLine(html.UnescapeString(string(s.text))); text != "" && !slices.Contains(labels, text) {
				labels = append(labels, text)
			}
		case name == "p" && !begins:
			if text := document.CleanLine(open.String()); text != "" {
				titles = append(titles, text)
			}
			open.Reset()
		}
		return len(titles)+len(labels) < maxChartTexts
	})
	if len(labels) > 0 {
		titles = append(titles, strings.Join(labels, ", "))
	}
	return titles, err
}

// addRelatedCharts adds the text in the charts of a drawing or slide.
func addRelatedCharts(b *document.Builder, z *zip.Reader, part string, at api.Locator) error {
	for _, r := range readRelations(z, part) {
		if r.TargetMode != "External" && strings.HasSuffix(r.Type, "/chart") {
			if err := addChart(b, z, r.resolveTarget(part), at); err != nil {
				return err
			}
		}
	}
	return nil
}

// pictureTexts returns the text in a picture, as paragraphs. A picture that can't be read is counted as unread.
func pictureTexts(b *document.Builder, z *zip.Reader, part string, at api.Locator) []string {
	var picture []byte
	if b.HasOCR() {
		picture, _ = zipfile.ReadPart(z, part, maxPicture) // if that fails, the picture is counted as unread
	}
	return text.ReadPicture(b, picture, at)
}

// relationAttr returns the ID of the relation that an element refers to, which is in an attribute
// with a namespace.
func relationAttr(e xml.StartElement) string {
	for _, a := range e.Attr {
		if a.Name.Local == "id" && a.Name.Space != "" {
			return a.Value
		}
	}
	return ""
}

// relatedByID returns the part that the relation with the given ID refers to, or "" if there is none.
func relatedByID(part, id string, relations []relation) string {
	for _, r := range relations {
		if r.ID == id && r.TargetMode != "External" {
			return r.resolveTarget(part)
		}
	}
	return ""
}

// addEmbedded reads a document that is embedded in this one as an object, if its kind is supported.
// Otherwise, it counts the object as unread.
func addEmbedded(b *document.Builder, z *zip.Reader, part string, at api.Locator) {
	switch strings.ToLower(path.Ext(part)) {
	case ".docx", ".xlsx", ".pptx", ".docm", ".xlsm", ".pptm", ".odt", ".ods", ".odp", ".pdf", ".rtf":
		raw, err := zipfile.ReadPart(z, part, b.MaxTextBytes())
		if err == nil && b.AppendDocument(path.Base(part), raw) == nil {
			return
		}
	}
	b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, at)
}

// countControl counts a form control whose value can't be read (ActiveX) as unread, and adds a
// warning that names it.
func countControl(b *document.Builder, name string, at api.Locator) {
	b.Doc.AddNotRead(api.UnreadFormField, 1, at)
	if name = document.CleanLine(name); name != "" && len(name) < 100 {
		b.Warn("The value of the ActiveX form control %q can't be read.", name)
	}
}

// sheetHeader parses the codes in a sheet's header or footer.
type sheetHeader struct {
	text                    strings.Builder
	struck, white, tiny     bool
	struckTexts, otherTexts int  // pieces that aren't visible
	isCounted               bool // the current piece, which isn't visible, has been counted
}

// readSheetHeader returns the visible texts of a sheet's header or footer, and counts the others as unread.
func readSheetHeader(b *document.Builder, code string, at api.Locator) (out []string) {
	h := &sheetHeader{}
	for i := 0; i < len(code); i++ {
		if code[i] != '&' || i+1 == len(code) {
			h.addByte(code[i])
			continue
		}
		i++
		switch c := code[i]; {
		case c == '&':
			h.addByte('&')
		case c == 'L' || c == 'C' || c == 'R': // the left, middle or right part
			h.text.WriteByte('\n')
			h.struck, h.white, h.tiny, h.isCounted = false, false, false, false
		case c == 'S':
			h.struck, h.isCounted = !h.struck, false
		case c == '"': // a font
			if n := strings.IndexByte(code[i+1:], '"'); n >= 0 {
				i += n + 1
			}
		case c == 'K': // a color: red, green and blue, or one of the theme
			end := min(i+7, len(code))
			h.white, h.isCounted = strings.EqualFold(code[i+1:end], "FFFFFF") || code[i+1:end] == "00+000", false
			i = end - 1
		case c >= '0' && c <= '9': // a size
			from := i
			for i+1 < len(code) && code[i+1] >= '0' && code[i+1] <= '9' {
				i++
			}
			h.tiny, h.isCounted = isTinySize(code[from:i+1]), false
		}
	}
	b.Doc.AddNotRead(api.UnreadStruckText, h.struckTexts, at)
	b.Doc.AddNotRead(api.UnreadHiddenText, h.otherTexts, at)
	for line := range strings.SplitSeq(h.text.String(), "\n") {
		if line = document.CleanLine(line); line != "" {
			out = append(out, line)
		}
	}
	return out
}

// addByte adds a byte to the text or, if the current piece isn't visible, counts that piece once.
func (h *sheetHeader) addByte(c byte) {
	switch {
	case !h.struck && !h.white && !h.tiny:
		h.text.WriteByte(c)
		return
	case c == ' ' || h.isCounted:
		return
	case h.struck:
		h.struckTexts++
	default:
		h.otherTexts++
	}
	h.isCounted = true
}
