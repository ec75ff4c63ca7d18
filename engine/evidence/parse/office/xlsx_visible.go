package office

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"html"
	"io"
	"math"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

// workbook holds the properties that determine whether cells are visible, read from parts that excelize doesn't expose.
type workbook struct {
	b       *document.Builder
	z       *zip.Reader
	sheets  map[string]workbookSheet // by name
	looks   []cellLook               // by cell format
	strings map[int][]stringRun      // shared strings with formatted pieces, by index
	theme   []string                 // colors, by index
	changes []lookChange             // by conditional formats, by index

	conditionalWork int // see maxConditionalWork
}

type workbookSheet struct {
	part     string
	isHidden bool
}

// cellLook describes the appearance of values in a cell format.
type cellLook struct {
	isStruck                bool
	hidesText, hidesNumbers bool
	color, fill             string // RGB; empty if unknown
	symbolFont              string
	hasNoFill               bool // there is no fill, so the background is white unless a table has its own colors

	// The color, or the strike-through, is that of a conditional format, which applies to formatted pieces too.
	hasConditionalColor, hasConditionalStrike bool
}

// stringRun is a piece of a formatted string.
type stringRun struct {
	text     string
	isStyled bool // it has its own format, which replaces the cell's
	isStruck bool
	isTiny   bool
	color    string
}

// unreadKind returns the api.Unread constant that says why a text or number in the cell isn't visible, or "" if it is
// visible.
func (l cellLook) unreadKind(isNumber bool) string {
	switch {
	case isNumber && l.hidesNumbers, !isNumber && l.hidesText, isSameColor(l.color, l.fill):
		return api.UnreadHiddenText
	case l.isStruck:
		return api.UnreadStruckText
	}
	return ""
}

func openWorkbook(b *document.Builder, z *zip.Reader) (*workbook, error) {
	w := &workbook{b: b, z: z, sheets: map[string]workbookSheet{}, strings: map[int][]stringRun{}}
	main := "xl/workbook.xml"
	for _, r := range readRelations(z, "") {
		if strings.HasSuffix(r.Type, relDocument) {
			main = r.resolveTarget("")
		}
	}
	targets, styles, texts := map[string]string{}, "", ""
	for _, r := range readRelations(z, main) {
		switch target := r.resolveTarget(main); {
		case r.TargetMode == "External":
		case strings.HasSuffix(r.Type, relStyles):
			styles = target
		case strings.HasSuffix(r.Type, "/sharedStrings"):
			texts = target
		case strings.HasSuffix(r.Type, "/theme"):
			if err := w.readTheme(target); err != nil {
				return nil, err
			}
		default:
			targets[r.ID] = target
		}
	}
	err := scanTags(b, z, main, func(s *tagScanner) bool {
		if name, begins, _ := s.name(); name == "sheet" && begins {
			state := s.attr("state")
			w.sheets[s.attr("name")] = workbookSheet{part: targets[s.attr(":id")], isHidden: state == "hidden" || state == "veryHidden"}
		}
		return true
	})
	if err != nil {
		return nil, err
	}
	if err := w.readStyles(styles); err != nil {
		return nil, err
	}
	return w, w.readStrings(texts)
}

// readTheme reads the colors of the theme. Cells number the first four colors with light and dark swapped in each
// pair.
func (w *workbook) readTheme(part string) error {
	in := false
	err := scanTags(w.b, w.z, part, func(s *tagScanner) bool {
		switch name, begins, _ := s.name(); name {
		case "clrScheme":
			in = begins
			return begins
		case "srgbClr":
			if in && begins {
				w.theme = append(w.theme, strings.ToUpper(s.attr("val")))
			}
		case "sysClr":
			if in && begins {
				w.theme = append(w.theme, strings.ToUpper(s.attr("lastClr")))
			}
		}
		return true
	})
	if len(w.theme) >= 4 {
		w.theme[0], w.theme[1], w.theme[2], w.theme[3] = w.theme[1], w.theme[0], w.theme[3], w.theme[2]
	}
	return err
}

type xlsxColor struct {
	RGB     string `xml:"rgb,attr"`
	Theme   string `xml:"theme,attr"`
	Indexed string `xml:"indexed,attr"`
	Tint    string `xml:"tint,attr"`
}

// indexedColors are the first colors of the fixed palette; colors from 8 on repeat them.
var indexedColors = []string{"000000", "FFFFFF", "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF"}

// rgb returns a color as hexadecimal red, green and blue, or "" if it is unknown.
func (w *workbook) rgb(c *xlsxColor) string {
	if c == nil {
		return ""
	}
	out := ""
	index, err := strconv.Atoi(c.Indexed + c.Theme)
	switch {
	case len(c.RGB) == 8:
		out = strings.ToUpper(c.RGB[2:])
	case len(c.RGB) == 6:
		out = strings.ToUpper(c.RGB)
	case err != nil || index < 0:
	case c.Theme != "" && index < len(w.theme):
		out = w.theme[index]
	case c.Theme == "0", c.Theme == "" && index == 65:
		out = "FFFFFF"
	case c.Theme == "1", c.Theme == "" && index == 64:
		out = "000000"
	case c.Theme == "" && index < 16:
		out = indexedColors[index%8]
	}
	tint, err := strconv.ParseFloat(c.Tint, 64)
	v, errRGB := strconv.ParseUint(out, 16, 32)
	if err != nil || errRGB != nil || tint == 0 || math.IsNaN(tint) {
		return out
	}
	tinted := uint64(0)
	for shift := 16; shift >= 0; shift -= 8 {
		channel := float64(v >> shift & 255)
		if tint < 0 {
			channel *= 1 + max(tint, -1)
		} else {
			channel += (255 - channel) * min(tint, 1)
		}
		tinted = tinted<<8 | uint64(channel)
	}
	return strings.ToUpper(strconv.FormatUint(1<<24|tinted, 16)[1:])
}

type xlsxFont struct {
	Strike *xlsxFlag  `xml:"strike"`
	Size   xmlValue   `xml:"sz"`
	Name   xmlValue   `xml:"name"`
	Color  *xlsxColor `xml:"color"`
}

type xlsxFlag struct {
	Val string `xml:"val,attr"`
}

func (f *xlsxFlag) isOn() bool { return f != nil && f.Val != "0" && f.Val != "false" }

func isTinySize(points string) bool {
	v, err := strconv.ParseFloat(points, 64)
	return err == nil && v > 0 && v <= 1
}

type xlsxFormat struct {
	Number    string `xml:"numFmtId,attr"`
	Font      *int   `xml:"fontId,attr"`
	Fill      *int   `xml:"fillId,attr"`
	Parent    *int   `xml:"xfId,attr"`
	ApplyFont string `xml:"applyFont,attr"`
}

// readStyles reads the appearance of the cell formats. Values in a format that can't be read count as visible.
func (w *workbook) readStyles(part string) error {
	if part == "" || zipfile.FindPart(w.z, part) == nil {
		return nil
	}
	raw, err := zipfile.ReadPart(w.z, part, maxSidePart)
	if err != nil {
		return err
	}
	var sheet struct {
		Numbers []struct {
			ID   string `xml:"numFmtId,attr"`
			Code string `xml:"formatCode,attr"`
		} `xml:"numFmts>numFmt"`
		Fonts []xlsxFont `xml:"fonts>font"`
		Fills []struct {
			Pattern struct {
				Type  string     `xml:"patternType,attr"`
				Color *xlsxColor `xml:"fgColor"`
			} `xml:"patternFill"`
			Gradient *xlsxFlag `xml:"gradientFill"`
		} `xml:"fills>fill"`
		Parents []xlsxFormat `xml:"cellStyleXfs>xf"`
		Formats []xlsxFormat `xml:"cellXfs>xf"`

		Differences []xlsxDifference `xml:"dxfs>dxf"`
	}
	if xml.Unmarshal(raw, &sheet) != nil {
		w.b.Warn("The styles of the workbook could not be read, so struck-through and hidden cells may have been included.")
		return nil
	}
	for _, d := range sheet.Differences {
		w.changes = append(w.changes, w.lookChange(d))
	}
	codes := map[string]string{}
	for _, n := range sheet.Numbers {
		codes[n.ID] = n.Code
	}
	at := func(index *int, length int) int {
		if index == nil || *index < 0 || *index >= length {
			return -1
		}
		return *index
	}
	for _, f := range sheet.Formats {
		var look cellLook
		parent := at(f.Parent, len(sheet.Parents))
		inherits := f.Font == nil || f.ApplyFont == "0" || f.ApplyFont == "false"
		if parent >= 0 && inherits {
			if i := at(sheet.Parents[parent].Font, len(sheet.Fonts)); i >= 0 {
				look.isStruck = sheet.Fonts[i].Strike.isOn()
			}
		}
		if parent >= 0 && f.Font == nil {
			f.Font = sheet.Parents[parent].Font
		}
		if parent >= 0 && f.Fill == nil {
			f.Fill = sheet.Parents[parent].Fill
		}
		if i := at(f.Font, len(sheet.Fonts)); i >= 0 {
			font := sheet.Fonts[i]
			look.isStruck = look.isStruck || font.Strike.isOn()
			look.color = w.rgb(font.Color)
			if document.IsSymbolFont(font.Name.Val) {
				look.symbolFont = font.Name.Val
			}
			look.hidesText, look.hidesNumbers = isTinySize(font.Size.Val), isTinySize(font.Size.Val)
		}
		look.fill, look.hasNoFill = "FFFFFF", true
		if i := at(f.Fill, len(sheet.Fills)); i >= 0 {
			switch fill := sheet.Fills[i]; {
			case fill.Gradient != nil:
				look.fill, look.hasNoFill = "", false
			case fill.Pattern.Type == "solid":
				look.fill, look.hasNoFill = w.rgb(fill.Pattern.Color), false
			case fill.Pattern.Type != "" && fill.Pattern.Type != "none":
				look.fill, look.hasNoFill = "", false
			}
		}
		numbers, text := hiddenByCode(codes[f.Number])
		look.hidesNumbers, look.hidesText = look.hidesNumbers || numbers, look.hidesText || text
		w.looks = append(w.looks, look)
	}
	return nil
}

// hiddenByCode reports which values a number format hides. A format has sections for positive numbers, negative
// numbers, zero and text; an empty section displays nothing.
func hiddenByCode(code string) (numbers, text bool) {
	if strings.Trim(code, "; ") != "" {
		return false, false
	}
	return strings.Count(code, ";") >= 2, strings.Count(code, ";") >= 3
}

// look returns the appearance of values in the cell format with the given index.
func (w *workbook) look(format int) cellLook {
	if format >= 0 && format < len(w.looks) {
		return w.looks[format]
	}
	return cellLook{fill: "FFFFFF"}
}

// canHideCells reports whether a cell format or a formatted piece of a string may hide text.
func (w *workbook) canHideCells() bool {
	return len(w.strings) > 0 || slices.ContainsFunc(w.looks, func(l cellLook) bool {
		return l.symbolFont != "" || l.unreadKind(true) != "" || l.unreadKind(false) != ""
	})
}

// runReader collects the pieces of a formatted string.
type runReader struct {
	w          *workbook
	runs       []stringRun
	inRun      bool
	inPhonetic bool
}

func (r *runReader) readTag(s *tagScanner) {
	name, begins, ends := s.name()
	switch {
	case name == "rPh":
		r.inPhonetic = begins && !ends
	case r.inPhonetic:
	case name == "r" && begins && !ends:
		r.runs, r.inRun = append(r.runs, stringRun{}), true
	case name == "r":
		r.inRun = false
	case name == "t" && !begins:
		if !r.inRun {
			r.runs = append(r.runs, stringRun{})
		}
		r.runs[len(r.runs)-1].text += html.UnescapeString(string(s.text))
	case !r.inRun || !begins:
	case name == "rPr":
		r.runs[len(r.runs)-1].isStyled = true
	case name == "strike":
		r.runs[len(r.runs)-1].isStruck = s.attr("val") == "" || s.isAttrOn("val")
	case name == "sz":
		r.runs[len(r.runs)-1].isTiny = isTinySize(s.attr("val"))
	case name == "color":
		c := xlsxColor{RGB: s.attr("rgb"), Theme: s.attr("theme"), Indexed: s.attr("indexed"), Tint: s.attr("tint")}
		r.runs[len(r.runs)-1].color = r.w.rgb(&c)
	}
}

// runsIfFormatted returns the pieces if one of them has a format that may hide it. Otherwise, it
// returns nil, because the cell's format applies to the whole string.
func (r *runReader) runsIfFormatted() []stringRun {
	for _, run := range r.runs {
		if run.isStyled {
			return r.runs
		}
	}
	return nil
}

// readStrings reads the shared strings that have formatted pieces.
func (w *workbook) readStrings(part string) error {
	if part == "" {
		return nil
	}
	r, index := runReader{w: w}, 0
	return scanTags(w.b, w.z, part, func(s *tagScanner) bool {
		switch name, begins, ends := s.name(); {
		case name != "si":
			r.readTag(s)
		case begins && !ends:
			r.runs = r.runs[:0:0]
		default:
			if runs := r.runsIfFormatted(); runs != nil {
				w.strings[index] = runs
			}
			index++
		}
		return true
	})
}

// sheetCells finds the invisible cells of a sheet. It reads the sheet's part in parallel with the
// reader of the values.
type sheetCells struct {
	w         *workbook
	sheet     workbookSheet
	name      string
	relations []relation
	part      io.ReadCloser
	tags      *tagScanner
	row       int // number of the row that was begun, from 1
	rowHidden bool
	ended     bool
	columns   []columnRange // the hidden columns
	counted   map[int]bool  // hidden columns that have been counted
	filters   [][2]int      // first and last row of each filter's range
	known     bool          // filters have been searched for
	hasTables bool          // the sheet has tables, whose styles color their cells
	controls  map[int][]placedText
	merged    []cellRange // by first row
	rules     []*conditionalRule
}

type columnRange struct{ first, last int }

func (w *workbook) openCells(name string) (*sheetCells, error) {
	c := &sheetCells{w: w, sheet: w.sheets[name], name: name, counted: map[int]bool{}, ended: true, controls: map[int][]placedText{}}
	if c.sheet.part == "" || zipfile.FindPart(w.z, c.sheet.part) == nil {
		return c, nil
	}
	c.relations = readRelations(w.z, c.sheet.part)
	for _, r := range c.relations {
		c.hasTables = c.hasTables || strings.HasSuffix(r.Type, "/table")
	}
	part, err := zipfile.OpenPart(w.z, c.sheet.part, zipfile.MaxPart)
	if err != nil {
		return nil, err
	}
	c.part, c.tags, c.ended = part, newTagScanner(part), false
	return c, nil
}

func (c *sheetCells) close() error {
	if c.part == nil {
		return nil
	}
	return c.part.Close()
}

// nextRow advances to the next row.
func (c *sheetCells) nextRow() {
	for !c.ended {
		if c.tags.next() != nil {
			c.ended = true
			return
		}
		switch name, begins, _ := c.tags.name(); {
		case name == "col" && begins && (c.tags.isAttrOn("hidden") || c.tags.attr("width") == "0"):
			first, errFirst := strconv.Atoi(c.tags.attr("min"))
			last, errLast := strconv.Atoi(c.tags.attr("max"))
			if errFirst == nil && errLast == nil && len(c.columns) < document.MaxColumns {
				c.columns = append(c.columns, columnRange{first, last})
			}
		case name == "row" && begins:
			if n, err := strconv.Atoi(c.tags.attr("r")); err == nil {
				c.row = n
			} else {
				c.row++
			}
			c.rowHidden = c.tags.isAttrOn("hidden") || c.tags.attr("ht") == "0"
			return
		case name == "sheetData" && !begins:
			c.ended = true
		}
	}
}

// removeAndCountUnread clears the cells of row n that aren't visible, and counts them. isRowVisible
// is false if the whole row is hidden.
func (c *sheetCells) removeAndCountUnread(n int, cells []string) (isRowVisible bool, _ error) {
	visible, filled := true, document.CountFilled(cells) > 0
	for !c.ended {
		if c.row == 0 {
			c.nextRow()
			continue
		}
		if c.row > n {
			break
		}
		if c.rowHidden {
			filtered, err := c.isFiltered(c.row)
			if err != nil {
				return false, err
			}
			visible = visible && filtered
		}
		c.readRow(n, cells, visible)
		c.nextRow()
	}
	if !visible {
		if filled {
			c.w.b.Doc.AddNotRead(api.UnreadHiddenRow, 1, c.locator(strconv.Itoa(n)+":"+strconv.Itoa(n)))
		}
		return false, nil
	}
	for _, hidden := range c.columns {
		for i := max(hidden.first, 1); i <= min(hidden.last, len(cells)); i++ {
			if cells[i-1] == "" {
				continue
			}
			if cells[i-1] = ""; !c.counted[i] {
				c.counted[i] = true
				column, _ := excelize.ColumnNumberToName(i) // up to the length of a row
				c.w.b.Doc.AddNotRead(api.UnreadHiddenColumn, 1, c.locator(column+":"+column))
			}
		}
	}
	return true, nil
}

func (c *sheetCells) locator(cells string) api.Locator {
	return api.Locator{Sheet: c.name, CellRange: cells}
}

// readRow reads the cells of the row whose start tag has just been read.
func (c *sheetCells) readRow(n int, cells []string, count bool) {
	if _, _, ends := c.tags.name(); ends {
		return
	}
	column := 0
	var cell sheetCell
	runs := runReader{w: c.w}
	rules, texts := c.rulesInRow(n), cells
	if len(rules) > 0 {
		texts = slices.Clone(cells)
	}
	for c.tags.next() == nil {
		name, begins, ends := c.tags.name()
		switch {
		case name == "row" && !begins:
			return
		case name == "sheetData":
			c.ended = true
			return
		case name == "c" && begins:
			column++
			cell.begin(c.tags, &column)
			runs.runs = runs.runs[:0:0]
		case name == "f" && begins:
			cell.hasFormula = true
		case name == "v" && !begins:
			cell.hasValue = len(c.tags.text) > 0 || cell.isText
			if cell.isShared {
				cell.shared = parseDigits(bytes.TrimSpace(c.tags.text))
			}
			if len(rules) > 0 && cell.isNumber {
				cell.number, _ = strconv.ParseFloat(string(bytes.TrimSpace(c.tags.text)), 64) // 0 if it is damaged
			}
		case name != "c" && name != "v" && name != "f":
			runs.readTag(c.tags)
		}
		if name != "c" || !ends {
			continue
		}
		at := func() api.Locator {
			cellName, _ := excelize.CoordinatesToCellName(max(column, 1), n) // valid, because both numbers were parsed
			return c.locator(cellName)
		}
		if cell.hasFormula && !cell.hasValue && count {
			c.w.b.Doc.AddNotRead(api.UnreadFormula, 1, at())
		}
		if column < 1 || column > len(cells) || cells[column-1] == "" {
			continue
		}
		formatted := runs.runsIfFormatted()
		if cell.isShared {
			formatted = c.w.strings[cell.shared]
		}
		look := c.w.look(cell.format)
		if c.hasTables && look.hasNoFill {
			look.fill = ""
		}
		if len(rules) > 0 {
			look = c.applyRules(rules, look, texts, n, column, cellValue{cells[column-1], cell.number, cell.isNumber, cell.isError})
		}
		text, kind := visibleText(cells[column-1], formatted, look, cell.isNumber)
		if cells[column-1] = text; kind != "" && count {
			c.w.b.Doc.AddNotRead(kind, 1, at())
		}
	}
	c.ended = true
}

// sheetCell holds the information in the tags of a cell.
type sheetCell struct {
	format               int // index of its cell format
	isNumber, isText     bool
	isError              bool
	number               float64 // read only if there are conditional formats
	isShared             bool    // its text is a shared string
	shared               int     // index of the shared string; -1 if unknown
	hasFormula, hasValue bool
}

// begin reads the attributes of the cell that the current tag begins. It sets *column if the tag contains the column.
func (c *sheetCell) begin(s *tagScanner, column *int) {
	*c = sheetCell{isNumber: true, shared: -1}
	s.eachAttr(func(key, raw []byte) bool {
		switch string(key) {
		case "r":
			if n := columnOf(raw); n > 0 {
				*column = n
			}
		case "t":
			kind := string(raw)
			c.isNumber, c.isText, c.isShared = kind == "n" || kind == "", kind == "str", kind == "s"
			c.isError = kind == "e"
		case "s":
			c.format = parseDigits(raw)
		}
		return true
	})
}

// columnOf returns the number of the column of a cell such as "AB12", from 1, or 0 if it isn't a cell reference.
func columnOf(cell []byte) int {
	n := 0
	for i, c := range cell {
		switch {
		case c >= 'a' && c <= 'z':
			c -= 'a' - 'A'
		case c >= '0' && c <= '9' && i > 0:
			if n > excelize.MaxColumns {
				return 0
			}
			return n
		}
		if c < 'A' || c > 'Z' || i >= 3 {
			return 0
		}
		n = n*26 + int(c-'A') + 1
	}
	return 0
}

// parseDigits returns a number of up to nine digits, or -1 if raw is not such a number.
func parseDigits(raw []byte) int {
	if len(raw) == 0 || len(raw) > 9 {
		return -1
	}
	n := 0
	for _, c := range raw {
		if c < '0' || c > '9' {
			return -1
		}
		n = n*10 + int(c-'0')
	}
	return n
}

// visibleText returns the visible part of a cell's text, and the api.Unread… kind of the rest, or
// "" if all of it is visible.
func visibleText(text string, runs []stringRun, look cellLook, isNumber bool) (visible, kind string) {
	if runs == nil {
		if kind = look.unreadKind(isNumber); kind != "" {
			return "", kind
		}
		return document.DecodeSymbols(look.symbolFont, text), ""
	}
	var sb strings.Builder
	for _, r := range runs {
		own := look
		if r.isStyled {
			own.isStruck = r.isStruck || look.hasConditionalStrike
			if !look.hasConditionalColor {
				own.color = r.color
			}
			own.hidesText = look.hidesText || r.isTiny
		}
		if k := own.unreadKind(false); k != "" && strings.TrimSpace(r.text) != "" {
			kind = k
			continue
		}
		sb.WriteString(r.text)
	}
	if kind == "" {
		return text, ""
	}
	return sb.String(), kind
}

// isFiltered reports whether a hidden row is in the range of a filter. Such rows belong to a list that was only partly
// displayed when the file was saved.
func (c *sheetCells) isFiltered(row int) (bool, error) {
	if !c.known {
		c.known = true
		addRange := func(ref string) {
			from, to, _ := strings.Cut(strings.ReplaceAll(ref, "$", ""), ":")
			_, first, errFirst := excelize.CellNameToCoordinates(from)
			_, last, errLast := excelize.CellNameToCoordinates(to)
			if errFirst == nil && errLast == nil {
				c.filters = append(c.filters, [2]int{first, last})
			}
		}
		filterMode := false
		visit := func(s *tagScanner) bool {
			switch name, begins, _ := s.name(); {
			case name == "sheetPr" && begins:
				filterMode = filterMode || s.isAttrOn("filterMode")
			case name == "autoFilter" && begins:
				addRange(s.attr("ref"))
			}
			return true
		}
		if err := scanTags(c.w.b, c.w.z, c.sheet.part, visit); err != nil {
			return false, err
		}
		for _, r := range c.relations {
			if strings.HasSuffix(r.Type, "/table") && r.TargetMode != "External" {
				if err := scanTags(c.w.b, c.w.z, r.resolveTarget(c.sheet.part), visit); err != nil {
					return false, err
				}
			}
		}
		if filterMode && len(c.filters) == 0 { // an advanced filter has no stored range
			c.filters = append(c.filters, [2]int{1, excelize.TotalRows})
		}
	}
	for _, f := range c.filters {
		if row > f[0] && row <= f[1] {
			return true, nil
		}
	}
	return false, nil
}

// readDrawingsAndComments counts comments, pictures, charts and embedded files of a sheet, and reads its text boxes.
func (c *sheetCells) readDrawingsAndComments() error {
	b, at := c.w.b, api.Locator{Sheet: c.name}
	for _, r := range c.relations {
		target := r.resolveTarget(c.sheet.part)
		if r.TargetMode == "External" {
			continue
		}
		switch path.Base(r.Type) {
		case "comments":
			if err := countElements(b, c.w.z, target, at, map[string]string{"comment": api.UnreadComment}); err != nil {
				return err
			}
		case "oleObject", "package":
			addEmbedded(b, c.w.z, target, at)
		case "drawing":
			s := &slideWalker{p: &pptxReader{b: b, z: c.w.z}, name: target, at: at, countsMedia: true, isSheet: true}
			if err := s.walk(); err != nil {
				return err
			}
			addSlideBlocks(b, s.blocks, at)
			if err := addRelatedCharts(b, c.w.z, target, at); err != nil {
				return err
			}
		}
	}
	return nil
}

// countElements counts elements of a part, by name.
func countElements(b *document.Builder, z *zip.Reader, part string, at api.Locator, kinds map[string]string) error {
	return scanTags(b, z, part, func(s *tagScanner) bool {
		if name, begins, _ := s.name(); begins && kinds[name] != "" {
			b.Doc.AddNotRead(kinds[name], 1, at)
		}
		return true
	})
}
