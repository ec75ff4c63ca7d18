package office

import (
	"encoding/xml"
	"html"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxODFNesting = 3 // maximum nesting of embedded documents

// addTextsOfPicture adds texts that belong to a picture, after the open paragraph.
func (w *odfWalker) addTextsOfPicture(texts ...string) {
	if len(w.texts) > 0 {
		w.after = append(w.after, document.NonEmptyCells(texts)...)
		return
	}
	for _, text := range texts {
		w.storeParagraph(text, "", 0)
	}
}

// readOrCountMedia reads the text of a picture, or of an embedded chart or document, and counts unread content.
func (w *odfWalker) readOrCountMedia(kind string, e xml.StartElement) {
	href := strings.TrimPrefix(attrValue(e, "href"), "./")
	switch e.Name.Local {
	case "image":
		if !strings.HasPrefix(href, "ObjectReplacements/") { // otherwise, it is the preview of an object that is read or counted itself
			w.addTextsOfPicture(pictureTexts(w.b, w.z, w.folder+href, w.locator())...)
		}
	case "object":
		w.readEmbeddedObject(w.folder + path.Clean(href) + "/")
	default:
		w.b.Doc.AddNotRead(kind, 1, w.locator())
	}
}

// readEmbeddedObject reads a document or chart that is stored in a folder of the file.
func (w *odfWalker) readEmbeddedObject(folder string) {
	format := ""
	var titles, labels []string
	var open strings.Builder
	inTitle, inLabel := false, false
	err := scanTags(w.b, w.z, folder+odfContent, func(s *tagScanner) bool {
		name, begins, ends := s.name()
		switch name {
		case "text", "spreadsheet", "presentation":
			if format == "" && begins {
				format = map[string]string{"text": MIMEODT, "spreadsheet": MIMEODS, "presentation": MIMEODP}[name]
			}
		case "chart":
			format = name
		case "title", "subtitle":
			inTitle = begins && !ends
		case "table-cell":
			inLabel = begins && !ends && s.attr(":value-type") == "string"
		}
		open.WriteString(html.UnescapeString(string(s.text)))
		if name == "p" && begins {
			open.Reset()
		} else if name == "p" {
			switch text := document.CleanLine(open.String()); {
			case text == "" || len(titles)+len(labels) > maxChartTexts:
			case inTitle:
				titles = append(titles, text)
			case inLabel && !slices.Contains(labels, text):
				labels = append(labels, text)
			}
		}
		return format == "" || format == "chart"
	})
	switch {
	case err != nil:
		w.b.Fail(err)
	case format == "chart":
		w.b.Doc.AddNotRead(api.UnreadChart, 1, w.locator())
		if len(labels) > 0 {
			titles = append(titles, strings.Join(labels, ", "))
		}
		w.addTextsOfPicture(titles...)
	case format == "" || w.nesting >= maxODFNesting:
		w.b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, w.locator())
	default:
		part := w.b.NewPart()
		if err := readODFContent(part, w.z, folder, format, w.nesting+1); err != nil {
			w.b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, w.locator())
			return
		}
		w.objects = append(w.objects, part)
	}
}

// addObjects adds embedded documents at the end of the paragraph, table or slide that contains them.
func (w *odfWalker) addObjects(ended string) {
	if len(w.objects) == 0 || len(w.tables) > 0 || len(w.texts) > 0 || w.format == MIMEODP && ended != "page" {
		return
	}
	for _, part := range w.objects {
		w.b.AppendPart(part)
	}
	w.objects = nil
}
