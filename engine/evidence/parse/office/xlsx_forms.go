package office

import (
	"cmp"
	"html"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// sheetControl is a form control on top of the cells of a sheet.
type sheetControl struct {
	id          string // of its shape
	kind, label string
	isTicked    bool
	chosen      string // number of the chosen entry, from 1
	entries     string // the cell range of the entries
	anchor      string // column, offset, row and offset of the top left corner, followed by those of the bottom right corner
	row, column int    // from 1
}

// text returns the text that the control shows.
func (c sheetControl) text(x *excelize.File, sheet string) string {
	switch strings.ToLower(c.kind) {
	case "checkbox", "radio":
		return strings.TrimSpace(document.FormBox(c.isTicked) + " " + c.label)
	case "drop", "list":
		return entryAt(x, sheet, c.entries, c.chosen)
	case "label", "gbox":
		return c.label
	}
	return ""
}

// entryAt returns the nth cell of a range such as "Lists!$A$1:$A$5".
func entryAt(x *excelize.File, sheet, cells, n string) string {
	if name, rest, ok := strings.Cut(cells, "!"); ok {
		sheet, cells = strings.Trim(name, "'"), rest
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(cells, "$", ""), ":")
	index, err := strconv.Atoi(n)
	column, row, errCell := excelize.CellNameToCoordinates(first)
	if err != nil || errCell != nil || index < 1 || index > excelize.TotalRows-row {
		return ""
	}
	cell, err := excelize.CoordinatesToCellName(column, row+index-1)
	if err != nil {
		return ""
	}
	value, err := x.GetCellValue(sheet, cell)
	if err != nil {
		return ""
	}
	return value
}

// setPlace determines the cell from the anchor. A control that extends into the next row belongs to the row that
// contains most of it, assuming rows of the usual height.
func (c *sheetControl) setPlace() bool {
	const rowHeight = 20
	var v [8]int
	for i, field := range strings.Split(c.anchor, ",") {
		n, err := strconv.Atoi(strings.TrimSpace(field))
		if err != nil || i >= len(v) || n < 0 {
			return false
		}
		v[i] = n
	}
	c.column, c.row = v[0]+1, v[2]+1
	if v[6] == v[2]+1 && v[7] > rowHeight-v[3] {
		c.row++
	}
	return c.column <= document.MaxColumns && c.row <= excelize.TotalRows
}

// readControls finds the form controls of the sheet in the legacy drawing. Their values are read from separate parts
// if there are any.
func (c *sheetCells) readControls(x *excelize.File) error {
	values := map[string]sheetControl{} // by ID of the part, then by ID of the shape
	shapes, hasValues, activeX := "", false, map[string]bool{}
	for _, r := range c.relations {
		target := r.resolveTarget(c.sheet.part)
		switch kind := path.Base(r.Type); {
		case r.TargetMode == "External":
		case kind == "vmlDrawing":
			shapes = target
		case kind == "ctrlProp":
			hasValues = true
			err := scanTags(c.w.b, c.w.z, target, func(s *tagScanner) bool {
				values[r.ID] = sheetControl{
					kind: s.attr("objectType"), isTicked: s.attr("checked") == "Checked", chosen: s.attr("sel"), entries: s.attr("fmlaRange"),
				}
				return false
			})
			if err != nil {
				return err
			}
		case kind == "control":
			activeX[r.ID] = true
		}
	}
	if hasValues || len(activeX) > 0 {
		err := scanTags(c.w.b, c.w.z, c.sheet.part, func(s *tagScanner) bool {
			if name, begins, _ := s.name(); begins && name == "control" {
				id := s.attr(":id")
				values["s"+s.attr("shapeId")] = values[id]
				if activeX[id] {
					countControl(c.w.b, s.attr("name"), api.Locator{Sheet: c.name})
					delete(activeX, id)
				}
			}
			return true
		})
		if err != nil {
			return err
		}
		c.w.b.Doc.AddNotRead(api.UnreadFormField, len(activeX), api.Locator{Sheet: c.name})
	}
	if shapes == "" {
		return nil
	}
	controls, err := c.readShapes(shapes)
	for _, control := range controls {
		if v, ok := values["s"+control.id[strings.LastIndexByte(control.id, 's')+1:]]; ok && v.kind != "" {
			control.isTicked, control.chosen = v.isTicked, cmp.Or(v.chosen, control.chosen)
			control.entries = cmp.Or(v.entries, control.entries)
		}
		if text := control.text(x, c.name); text != "" && control.setPlace() {
			c.controls[control.row] = append(c.controls[control.row], placedText{control.column, text})
		}
	}
	for _, list := range c.controls {
		slices.SortStableFunc(list, func(a, b placedText) int { return cmp.Compare(a.column, b.column) })
	}
	return err
}

// placedText is the text of a control placed over a cell in a row.
type placedText struct {
	column int
	text   string
}

// readShapes reads the controls of a legacy drawing.
func (c *sheetCells) readShapes(part string) (out []sheetControl, err error) {
	var open sheetControl
	inLabel := false
	err = scanTags(c.w.b, c.w.z, part, func(s *tagScanner) bool {
		name, begins, _ := s.name()
		if inLabel {
			open.label += html.UnescapeString(string(s.text)) + " "
		}
		text := strings.TrimSpace(string(s.text))
		switch {
		case name == "shape" && begins:
			open = sheetControl{id: s.attr("id")}
		case name == "textbox":
			inLabel = begins
		case name == "ClientData" && begins:
			open.kind = s.attr("ObjectType")
		case begins && name == "Checked":
			open.isTicked = true
		case begins:
		case name == "Checked":
			open.isTicked = text != "0"
		case name == "Sel":
			open.chosen = text
		case name == "FmlaRange":
			open.entries = text
		case name == "Anchor":
			open.anchor = text
		case name == "shape":
			open.label = document.CleanLine(open.label)
			out = append(out, open)
		}
		return len(out) < maxControls
	})
	return out, err
}

// addControls adds the texts of the controls placed over a row to the row's cells.
func (c *sheetCells) addControls(row int, cells []string) []string {
	for _, p := range c.controls[row] {
		for len(cells) < p.column {
			cells = append(cells, "")
		}
		cells[p.column-1] = strings.TrimSpace(cells[p.column-1] + " " + p.text)
	}
	delete(c.controls, row)
	return cells
}

// addOtherControls adds a row for controls that are placed over rows without cells.
func (c *sheetCells) addOtherControls(t *document.TableWriter) {
	rows := make([]int, 0, len(c.controls))
	for row := range c.controls {
		rows = append(rows, row)
	}
	slices.Sort(rows)
	for _, row := range rows {
		cells := c.addControls(row, nil)
		t.AddRow(cells, api.Locator{Sheet: c.name, CellRange: document.FormatCellRange(cells, 0, row)})
	}
}
