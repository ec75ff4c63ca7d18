package office

import (
	"archive/zip"
	"bytes"
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
	maxSlides  = 5000
	relSlide   = "/slide"
	relNotes   = "/notesSlide"
	relDiagram = "/diagramData"
)

// pptxReader reads the slides of a presentation in display order.
type pptxReader struct {
	b             *document.Builder
	z             *zip.Reader
	main          string
	width, height float64 // of a slide
	masters       map[string]*slideMaster
	masterOf      map[string]string // the master of each layout
}

// ReadPptx reads each slide under its title: its text, its tables row by row, the text of its diagrams, and its
// speaker notes. Images, sounds and macros are ignored.
func ReadPptx(b *document.Builder, content io.ReaderAt, size int64) error {
	z, err := zipfile.OpenOfficeDocument(b, content, size)
	if err != nil {
		return err
	}
	p := &pptxReader{b: b, z: z, masters: map[string]*slideMaster{}, masterOf: map[string]string{}}
	main := "ppt/presentation.xml"
	for _, r := range readRelations(z, "") {
		if strings.HasSuffix(r.Type, relDocument) {
			main = r.resolveTarget("")
		}
	}
	p.main = main
	slides, err := p.slidePartNames(main)
	if err != nil {
		return err
	}
	if len(slides) == 0 {
		return document.NewError(document.ErrEmpty, "", "the presentation has no slides")
	}
	if len(slides) > maxSlides {
		return document.NewError(document.ErrTooLarge, "", "the presentation has %d slides (the limit is %d)", len(slides), maxSlides)
	}
	b.Doc.PageCount = len(slides)
	readCoreProperties(b, z)
	for i, s := range slides {
		if err := p.readSlide(s, i+1); err != nil {
			return err
		}
	}
	return b.Err()
}

// slidePartNames returns the names of the parts that contain slides, in display order.
func (p *pptxReader) slidePartNames(main string) ([]string, error) {
	raw, err := zipfile.ReadPart(p.z, main, maxSidePart)
	if errors.Is(err, zipfile.ErrNoPart) {
		return nil, document.NewError(document.ErrDamaged, main, "the main presentation part is missing")
	}
	if err != nil {
		return nil, err
	}
	var list struct {
		Slide []struct {
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sldIdLst>sldId"`
	}
	if err := xml.Unmarshal(raw, &list); err != nil {
		return nil, document.DamagedError(main, err)
	}
	target := map[string]string{}
	for _, r := range readRelations(p.z, main) {
		if r.TargetMode != "External" && strings.HasSuffix(r.Type, relSlide) {
			target[r.ID] = r.resolveTarget(main)
		}
	}
	var out []string
	for _, s := range list.Slide {
		id := ""
		for _, a := range s.Attrs {
			if a.Name.Local == "id" && a.Name.Space != "" { // the slide's own id has no namespace
				id = a.Value
			}
		}
		if t, ok := target[id]; ok {
			out = append(out, t)
		} else {
			p.b.Warn("A slide of the presentation is missing from the file.")
		}
	}
	return out, nil
}

func (p *pptxReader) readSlide(name string, number int) error {
	at := api.Locator{Slide: number}
	relations := readRelations(p.z, name)
	s := &slideWalker{p: p, name: name, at: at, parents: p.parentsOf(name, relations), countsMedia: true, relations: relations}
	if err := s.walk(); err != nil {
		return err
	}
	if s.isHidden {
		p.b.Doc.AddNotRead(api.UnreadHiddenSlide, 1, at)
		return nil
	}
	p.b.CloseHeadings()
	p.b.AddHeading(1, s.title, at)
	addSlideBlocks(p.b, s.blocks, at)
	for _, text := range s.aside {
		p.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text, Locator: at})
	}
	if err := addRelatedCharts(p.b, p.z, name, at); err != nil {
		return err
	}
	for _, part := range s.embedded {
		addEmbedded(p.b, p.z, relatedByID(name, part, relations), at)
	}
	for _, kind := range []string{relDiagram, relNotes} {
		for _, r := range relations {
			if r.TargetMode == "External" || !strings.HasSuffix(r.Type, kind) {
				continue
			}
			if err := p.readRelatedPart(r.resolveTarget(name), kind == relNotes, at); err != nil {
				return err
			}
		}
	}
	for _, r := range relations {
		if r.TargetMode != "External" && strings.HasSuffix(r.Type, "/comments") {
			if err := countElements(p.b, p.z, r.resolveTarget(name), at, map[string]string{"cm": api.UnreadComment}); err != nil {
				return err
			}
		}
	}
	return p.b.Err()
}

// readRelatedPart reads a diagram or the speaker notes of a slide, which are stored in a separate
// part of the file.
func (p *pptxReader) readRelatedPart(name string, notes bool, at api.Locator) error {
	s := &slideWalker{p: p, name: name, notes: notes, at: at}
	if err := s.walk(); err != nil {
		return err
	}
	if notes && len(s.blocks) > 0 {
		p.b.AddHeading(2, "Speaker notes", at)
	}
	addSlideBlocks(p.b, s.blocks, at)
	return nil
}

// slideBlock is a block of a slide, or a table with its rows.
type slideBlock struct {
	document.Block
	rows [][]string
}

// addSlideBlocks adds the blocks of a slide to the document.
func addSlideBlocks(b *document.Builder, blocks []slideBlock, locator api.Locator) {
	for _, blk := range blocks {
		if blk.rows == nil {
			blk.Locator = locator
			b.AddBlock(blk.Block)
			continue
		}
		t := b.NewTableWriter()
		for _, row := range blk.rows {
			t.AddRow(row, locator)
		}
		t.Finish()
	}
}

// slideWalker collects the text of one slide, diagram or notes page.
type slideWalker struct {
	p     *pptxReader
	name  string
	notes bool

	title  string
	blocks []slideBlock
	aside  []string

	// State that determines the visibility of text; see unreadKind.
	isHidden      bool // the whole slide
	at            api.Locator
	master        *slideMaster // the master being read; nil for slides and other parts with text
	parents       []*slideMaster
	path          []string // open elements
	shapes        []slideShape
	run           slideFormat
	lastColor     *string // the color set last, by an element that is still open
	background    string
	hasPaint      bool
	slideHasPaint bool // if paintKnown
	paintKnown    bool
	countsMedia   bool
	isSheet       bool     // the part is a drawing in a sheet
	embedded      []string // relations of embedded documents
	relations     []relation
	font          string // of the open run
	place         int    // counts the text bodies
	look          slideLook
	isLookKnown   bool
	kind          string // the kind of unread content of text with this appearance

	shape   string // the kind of placeholder of the open shape; "" for a text box
	inShape int
	para    strings.Builder
	level   int
	bullet  int // of the open paragraph: 1 if it has one, -1 if not, 0 if unspecified
	table   *slideBlock
	cell    []string
	inCell  bool
	merged  string // how the open cell is covered; empty if it isn't
	inText  bool
}

func (s *slideWalker) walk() error { return walkXML(s.p.b, s.p.z, s.name, s) }

func (s *slideWalker) appendCharData(text []byte) error {
	if !s.inText || s.master != nil {
		return nil
	}
	if look := (slideLook{s.run, s.level, s.place}); !s.isLookKnown || look != s.look {
		s.look, s.isLookKnown, s.kind = look, true, s.unreadKind()
	}
	if s.kind != "" {
		if len(bytes.TrimSpace(text)) > 0 {
			s.countUnread(s.kind)
		}
		return nil
	}
	if document.IsSymbolFont(s.font) || bytes.IndexByte(text, '\xEF') >= 0 {
		text = []byte(document.DecodeSymbols(s.font, string(text)))
	}
	return appendText(&s.para, text, s.name)
}

func (s *slideWalker) isSkipped(e xml.StartElement) bool {
	// Excel stores a second drawing of form controls, for programs that don't support them.
	return s.isHidden || e.Name.Local == "Fallback" || s.isSheet && e.Name.Local == "Choice" && attrValue(e, "Requires") == "a14"
}

func (s *slideWalker) startElement(e xml.StartElement, _ int) {
	if e.Name.Local == "sld" {
		show := attrValue(e, "show")
		s.isHidden = show == "0" || show == "false" // nothing in it is read
	}
	s.startVisibility(e)
	s.countMedia(e)
	s.path = append(s.path, e.Name.Local)
	if e.Name.Local == "txBody" || e.Name.Local == "tbl" {
		s.place++
	}
	switch e.Name.Local {
	case "sp":
		if s.inShape++; s.inShape == 1 {
			s.shape = ""
		}
	case "ph":
		if s.shape = attrValue(e, "type"); s.shape == "" {
			s.shape = "body"
		}
	case "tbl":
		s.table = &slideBlock{}
	case "tr":
		if s.table != nil {
			s.table.rows = append(s.table.rows, nil)
		}
	case "tc":
		s.cell, s.inCell, s.merged = nil, true, ""
		switch {
		case isOn(attrValue(e, "hMerge")):
			s.inCell, s.merged = false, document.MergedLeft
		case isOn(attrValue(e, "vMerge")):
			s.inCell, s.merged = false, document.MergedUp
		}
	case "p":
		s.para.Reset()
		s.level, s.bullet = 0, 0
	case "pPr":
		if n, err := strconv.Atoi(attrValue(e, "lvl")); err == nil && n > 0 {
			s.level = min(n, 8)
		}
	case "buNone":
		s.bullet = -1
	case "buChar", "buAutoNum", "buBlip":
		s.bullet = 1
	case "t":
		s.inText = true
	case "br", "tab":
		s.para.WriteByte(' ')
	}
}

func isOn(value string) bool { return value == "1" || value == "true" }

func (s *slideWalker) tableRows() [][]string {
	if s.table == nil {
		return nil
	}
	return s.table.rows
}

func (s *slideWalker) endElement(e xml.EndElement, _ int) {
	s.path = s.path[:max(0, len(s.path)-1)]
	s.endVisibility(e.Name.Local)
	switch e.Name.Local {
	case "t":
		s.inText = false
	case "p":
		s.storeParagraph(document.CleanLine(s.para.String()))
		s.para.Reset()
	case "tc":
		if rows := s.tableRows(); len(rows) > 0 && len(rows[len(rows)-1]) < document.MaxColumns {
			rows[len(rows)-1] = append(rows[len(rows)-1], strings.Join(s.cell, " ")+s.merged)
		}
		s.cell, s.inCell = nil, false
	case "tbl":
		if s.table != nil {
			s.blocks = append(s.blocks, *s.table)
		}
		s.table = nil
	case "sp":
		if s.inShape--; s.inShape <= 0 {
			s.inShape, s.shape = 0, ""
		}
	}
}

func (s *slideWalker) storeParagraph(text string) {
	if text == "" {
		return
	}
	if s.table != nil {
		if s.inCell {
			s.cell = append(s.cell, text)
		}
		return
	}
	switch s.shape {
	case "title", "ctrTitle":
		s.title = strings.TrimSpace(s.title + " " + text)
	case "ftr", "dt", "hdr":
		s.aside = append(s.aside, text)
	case "sldNum", "sldImg":
	case "body", "obj":
		if s.notes {
			s.addBlock(document.Block{Kind: document.Paragraph, Text: text})
			return
		}
		// In a body, paragraphs have the master's bullets unless they specify otherwise.
		if s.bullet >= 0 {
			s.addBlock(document.Block{Kind: document.ListItem, Level: s.level + 1, Text: text})
			return
		}
		s.addBlock(document.Block{Kind: document.Paragraph, Text: text})
	default:
		if s.bullet > 0 {
			s.addBlock(document.Block{Kind: document.ListItem, Level: s.level + 1, Text: text})
			return
		}
		s.addBlock(document.Block{Kind: document.Paragraph, Text: text})
	}
}

func (s *slideWalker) addBlock(b document.Block) { s.blocks = append(s.blocks, slideBlock{Block: b}) }
