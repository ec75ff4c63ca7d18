// Package office reads the files of word processors, spreadsheets and presentations: Word, Excel,
// PowerPoint, OpenDocument and RTF. It must not compute formulas, run macros or follow links.
package office

import (
	"archive/zip"
	"cmp"
	"encoding/xml"
	"errors"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const (
	maxXMLDepth  = 400
	maxSidePart  = 32 << 20 // styles, notes, headers, properties
	relDocument  = "/officeDocument"
	relHeader    = "/header"
	relFooter    = "/footer"
	relFootnotes = "/footnotes"
	relEndnotes  = "/endnotes"
	relStyles    = "/styles"
	relNumbering = "/numbering"
)

// docxReader reads a Word document, which consists of several parts.
type docxReader struct {
	b         *document.Builder
	z         *zip.Reader
	styles    map[string]docxStyle
	notes     map[string]string // by reference, such as "footnote 3"
	numbering numbering
	looks     wordStyles
	targets   map[string]string // parts, by the ID of the main part's relation to them
	pageColor string
	main      string     // the main part
	pages     *wordPages // set once a drawing has needed them

	hasPageBreaks bool // the document records the page breaks of its last layout
	page          int
}

// docxStyle is the formatting that a paragraph style applies.
type docxStyle struct {
	level    int // heading level; 0 if none
	title    bool
	toc      bool
	list     bool
	numID    string // the list that its paragraphs belong to, at level numLevel
	numLevel int
	basedOn  string
}

func ReadDocx(b *document.Builder, content io.ReaderAt, size int64) error {
	z, err := zipfile.OpenOfficeDocument(b, content, size)
	if err != nil {
		return err
	}
	d := &docxReader{
		b: b, z: z, page: 1, notes: map[string]string{}, styles: map[string]docxStyle{},
		numbering: numbering{lists: map[string]*numberList{}, counters: map[string]*[9]int{}}, targets: map[string]string{},
	}
	main := "word/document.xml"
	for _, r := range readRelations(z, "") {
		if strings.HasSuffix(r.Type, relDocument) {
			main = r.resolveTarget("")
		}
	}
	d.main = main
	if zipfile.FindPart(z, main) == nil {
		return document.NewError(document.ErrDamaged, main, "the main document part is missing")
	}
	var headers []string
	relations := readRelations(z, main)
	for _, r := range relations { // notes have already been read, together with the styles
		if r.TargetMode != "External" && strings.HasSuffix(r.Type, relStyles) {
			if err := d.readStyles(r.resolveTarget(main)); err != nil {
				return err
			}
		}
	}
	for _, r := range relations {
		target := r.resolveTarget(main)
		switch {
		case r.TargetMode == "External": // never followed
		case strings.HasSuffix(r.Type, relNumbering):
			err = d.readNumbering(target)
		case strings.HasSuffix(r.Type, relFootnotes):
			err = d.readNotes(target, "footnote")
		case strings.HasSuffix(r.Type, relEndnotes):
			err = d.readNotes(target, "endnote")
		case strings.HasSuffix(r.Type, relHeader), strings.HasSuffix(r.Type, relFooter):
			headers = append(headers, target)
		case strings.HasSuffix(r.Type, "/comments"):
			err = countElements(b, z, target, api.Locator{}, map[string]string{"comment": api.UnreadComment})
		default:
			d.targets[r.ID] = target
		}
		if err != nil {
			return err
		}
	}
	readCoreProperties(b, z)
	if err := d.readBody(main); err != nil {
		return err
	}
	for _, h := range headers {
		if err := d.readHeaderFooter(h); err != nil {
			return err
		}
	}
	b.PromoteBoldHeadings()
	if !d.hasPageBreaks {
		for i := range b.Doc.Blocks {
			b.Doc.Blocks[i].Locator.Page = 0
		}
		for i := range b.Doc.NotRead {
			b.Doc.NotRead[i].Locator.Page = 0
		}
	} else {
		b.Doc.PageCount = d.page
	}
	return b.Err()
}

type xmlValue struct {
	Val string `xml:"val,attr"`
}

type wordShade struct {
	Val   string `xml:"val,attr"`
	Fill  string `xml:"fill,attr"`
	Color string `xml:"color,attr"`
}

func (s wordShade) color() string { return shadeColor("shd", s.Val, s.Fill, s.Color) }

func (d *docxReader) readStyles(name string) error {
	raw, err := zipfile.ReadPart(d.z, name, maxSidePart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil
	}
	if err != nil {
		return err
	}
	var sheet struct {
		Defaults wordProperties `xml:"docDefaults>rPrDefault>rPr"`
		Style    []struct {
			ID      string   `xml:"styleId,attr"`
			Type    string   `xml:"type,attr"`
			Default string   `xml:"default,attr"`
			Name    xmlValue `xml:"name"`
			BasedOn xmlValue `xml:"basedOn"`
			PPr     struct {
				OutlineLvl *xmlValue `xml:"outlineLvl"`
				NumPr      *struct {
					Level xmlValue `xml:"ilvl"`
					ID    xmlValue `xml:"numId"`
				} `xml:"numPr"`
				Shade wordShade `xml:"shd"`
			} `xml:"pPr"`
			RPr         wordProperties `xml:"rPr"`
			TableShade  wordShade      `xml:"tblPr>shd"`
			CellShade   wordShade      `xml:"tcPr>shd"`
			RowBand     xmlValue       `xml:"tblPr>tblStyleRowBandSize"`
			ColumnBand  xmlValue       `xml:"tblPr>tblStyleColBandSize"`
			Conditional []struct {
				Type       string         `xml:"type,attr"`
				RPr        wordProperties `xml:"rPr"`
				Shade      wordShade      `xml:"pPr>shd"`
				TableShade wordShade      `xml:"tblPr>shd"`
				CellShade  wordShade      `xml:"tcPr>shd"`
			} `xml:"tblStylePr"`
		} `xml:"style"`
	}
	if err := xml.Unmarshal(raw, &sheet); err != nil {
		d.b.Warn("The styles of the document could not be read; headings may be missing.")
		return nil
	}
	d.looks = wordStyles{
		defaults: sheet.Defaults.format(), formats: map[string]wordFormat{}, basedOn: map[string]string{},
		conditional: map[string]map[string]wordFormat{}, defaultByType: map[string]string{}, resolved: map[string]bool{},
	}
	for _, s := range sheet.Style {
		f := s.RPr.format()
		f.paragraphShade = cmp.Or(s.PPr.Shade.color(), s.CellShade.color(), s.TableShade.color())
		if s.RowBand.Val != "" {
			f.rowBand = document.ParsePositiveOrOne(s.RowBand.Val, 100)
		}
		if s.ColumnBand.Val != "" {
			f.columnBand = document.ParsePositiveOrOne(s.ColumnBand.Val, 100)
		}
		if len(s.Conditional) > 0 {
			f.hasConditionalFormats, d.looks.conditional[s.ID] = true, map[string]wordFormat{}
		}
		for _, c := range s.Conditional {
			look := c.RPr.format()
			look.paragraphShade = cmp.Or(c.Shade.color(), c.CellShade.color(), c.TableShade.color())
			d.looks.conditional[s.ID][c.Type] = look
		}
		d.looks.formats[s.ID], d.looks.basedOn[s.ID] = f, s.BasedOn.Val
		if s.Default == "1" || s.Default == "true" {
			d.looks.defaultByType[s.Type] = s.ID
		}
		if s.Type != "paragraph" {
			continue
		}
		st := builtInStyleFor(s.Name.Val)
		st.basedOn = s.BasedOn.Val
		if s.PPr.OutlineLvl != nil && st.level == 0 && !st.toc {
			if n, err := strconv.Atoi(s.PPr.OutlineLvl.Val); err == nil && n >= 0 && n < 9 {
				st.level = n + 1
			}
		}
		if p := s.PPr.NumPr; p != nil {
			st.list, st.numID = p.ID.Val != "0", p.ID.Val
			st.numLevel, _ = parseLevel(p.Level.Val)
		}
		d.styles[s.ID] = st
	}
	return nil
}

// builtInStyleFor returns the formatting of one of Word's built-in styles. Their names are the same in every
// language of Word.
func builtInStyleFor(name string) docxStyle {
	lower := strings.ToLower(name)
	if rest, ok := strings.CutPrefix(lower, "heading "); ok {
		if n, err := strconv.Atoi(rest); err == nil && n >= 1 && n <= 9 {
			return docxStyle{level: n}
		}
	}
	switch {
	case lower == "title":
		return docxStyle{title: true}
	case strings.HasPrefix(lower, "toc ") || lower == "table of figures":
		return docxStyle{toc: true}
	case strings.HasPrefix(lower, "list"):
		return docxStyle{list: true}
	}
	return docxStyle{}
}

// resolveStyle returns a style together with the properties that it inherits.
func (d *docxReader) resolveStyle(id string) docxStyle {
	st, ok := d.styles[id]
	if !ok {
		return builtInStyleFor(strings.Replace(id, "Heading", "heading ", 1))
	}
	for range 20 { // limited because styles may be circular
		base, ok := d.styles[st.basedOn]
		if !ok || st.level > 0 || st.title || st.toc {
			break
		}
		st.level, st.title, st.toc, st.list, st.basedOn = base.level, base.title, base.toc, st.list || base.list, base.basedOn
		if st.numID == "" {
			st.numID, st.numLevel = base.numID, base.numLevel
		}
	}
	return st
}

func (d *docxReader) readNotes(name, kind string) error {
	var id string
	var paras []string
	w := &wordWalker{d: d, name: name}
	w.onStart = func(e xml.StartElement) {
		if e.Name.Local == kind {
			id, paras = attrValue(e, "id"), nil
		}
	}
	w.onParagraph = func(p *wordPara) {
		paras = append(append(paras, p.text.String()), p.beside...)
		d.countMedia(p)
	}
	w.onEnd = func(e xml.EndElement) {
		if e.Name.Local == kind {
			d.notes[kind+" "+id] = strings.Join(paras, " ")
		}
	}
	return w.walk()
}

// countMedia counts the unread content of a note or running header other than text.
func (d *docxReader) countMedia(p *wordPara) {
	d.b.Doc.AddNotRead(api.UnreadPicture, len(p.pictures), api.Locator{})
	d.b.Doc.AddNotRead(api.UnreadDiagram, len(p.links), api.Locator{})
	d.b.Doc.AddNotRead(api.UnreadEmbeddedFile, len(p.embedded), api.Locator{})
}

// readHeaderFooter reads a running header or footer, which often contains the document's version and owner.
func (d *docxReader) readHeaderFooter(name string) error {
	w := &wordWalker{d: d, name: name}
	w.onParagraph = func(p *wordPara) {
		d.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: p.text.String()})
		for _, text := range p.beside {
			d.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text})
		}
		d.countMedia(p)
	}
	return w.walk()
}

func (d *docxReader) readBody(name string) error {
	w := &wordWalker{d: d, name: name}
	w.onParagraph = func(p *wordPara) {
		d.writeParagraphBlock(p)
		for _, text := range d.textsOfMedia(p) {
			d.b.AddBlock(document.Block{Kind: document.Paragraph, Text: text, Locator: api.Locator{Page: d.page}})
		}
		d.addEmbedded(p.embedded)
	}
	w.onStart = func(e xml.StartElement) {
		switch e.Name.Local {
		case "background":
			d.pageColor = strings.ToUpper(attrValue(e, "color"))
		case "altChunk":
			d.readInsertedPart(attrValue(e, "id"))
		}
	}
	w.onRow = func(t *document.TableWriter, cells []string) { t.AddRow(cells, api.Locator{Page: d.page}) }
	return w.walk()
}

func (d *docxReader) writeParagraphBlock(p *wordPara) {
	text := p.text.String()
	st := d.resolveStyle(p.style)
	if p.outline > 0 {
		st.level = p.outline
	}
	here := api.Locator{Page: d.page}
	if strings.TrimSpace(text) == "" {
		return
	}
	mark := d.nextListNumber(p, st)
	switch {
	case st.toc || p.toc:
		d.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text, Locator: here})
	case st.title:
		if d.b.Doc.Title == "" {
			d.b.Doc.Title = document.CleanLine(text)
		}
		d.b.AddHeading(1, text, here)
	case st.level > 0:
		d.b.AddHeading(st.level, mark+" "+text, here)
	case p.list >= 0 || st.list && p.list != listNone:
		d.b.AddBlock(document.Block{Kind: document.ListItem, Level: 1 + max(p.list, st.numLevel), Text: text, Marker: mark, Locator: here})
	default:
		d.b.AddParagraph(text, p.bold, here)
	}
	for _, n := range p.notes {
		d.b.AddBlock(document.Block{Kind: document.Paragraph, Text: d.notes[n], Locator: here})
	}
}

// nextListNumber returns the number of a paragraph in its list, or "" if it has none. The list may be set by the
// paragraph's style.
func (d *docxReader) nextListNumber(p *wordPara, st docxStyle) string {
	id, level := p.numID, p.list
	if id == "" {
		id = st.numID
	}
	if level < 0 {
		level = st.numLevel
	}
	if p.list == listNone || id == "" {
		return ""
	}
	return d.numbering.nextNumber(id, level)
}

// textsOfMedia returns the texts of a paragraph's pictures, diagrams and charts.
func (d *docxReader) textsOfMedia(p *wordPara) []string {
	here := api.Locator{Page: d.page}
	texts := p.beside
	for _, id := range p.pictures {
		texts = append(texts, pictureTexts(d.b, d.z, d.targets[id], here)...)
	}
	for _, id := range p.links {
		s := &slideWalker{p: &pptxReader{b: d.b, z: d.z}, name: d.targets[id]}
		if s.name == "" || s.walk() != nil || len(s.blocks) == 0 {
			d.b.Doc.AddNotRead(api.UnreadDiagram, 1, here)
			continue
		}
		for _, blk := range s.blocks {
			texts = append(texts, blk.Text)
		}
	}
	for _, id := range p.charts {
		words, err := chartTexts(d.b, d.z, d.targets[id])
		if err != nil {
			d.b.Fail(err)
		}
		texts = append(texts, words...)
	}
	return texts
}

// addEmbedded adds embedded documents under the open headings.
func (d *docxReader) addEmbedded(relations []string) {
	for _, id := range relations {
		addEmbedded(d.b, d.z, d.targets[id], api.Locator{Page: d.page})
	}
}

// readInsertedPart reads a document that Word displays as part of this one.
func (d *docxReader) readInsertedPart(id string) {
	raw, err := zipfile.ReadPart(d.z, d.targets[id], d.b.MaxTextBytes())
	if err == nil {
		err = d.b.AppendDocument(d.targets[id], raw)
	}
	if err != nil {
		d.b.Doc.AddNotRead(api.UnreadInsertedPart, 1, api.Locator{Page: d.page})
	}
}
