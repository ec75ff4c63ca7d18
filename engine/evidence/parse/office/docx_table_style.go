package office

import (
	"encoding/xml"
	"strconv"
)

// The parts of a table's style that apply to the table, as bits of w:tblLook.
const (
	lookFirstRow    = 0x020
	lookLastRow     = 0x040
	lookFirstColumn = 0x080
	lookLastColumn  = 0x100
	lookNoRowBands  = 0x200
	lookNoColBands  = 0x400
)

// tablePlace is the position of the open cell in its table. It determines which conditional formats of the table's
// style apply to the cell.
type tablePlace struct {
	number      int // of the table in its part, from 1
	look        int
	row, column int // from 1
}

// tableSize holds the number of cells in each row of a table.
type tableSize []int

// readLook reads a w:tblLook.
func (p *tablePlace) readLook(e xml.StartElement) {
	if v, err := strconv.ParseInt(attrValue(e, "val"), 16, 32); err == nil {
		p.look = int(v)
	}
	for name, bit := range map[string]int{
		"firstRow": lookFirstRow, "lastRow": lookLastRow, "firstColumn": lookFirstColumn, "lastColumn": lookLastColumn,
		"noHBand": lookNoRowBands, "noVBand": lookNoColBands,
	} {
		switch attrValue(e, name) {
		case "1", "true", "on":
			p.look |= bit
		case "0", "false", "off":
			p.look &^= bit
		}
	}
}

// conditions returns the names of the conditional formats that apply to a cell, the strongest first.
func (p tablePlace) conditions(size tableSize, rowBand, columnBand int) (out []string) {
	add := func(name string, applies bool) {
		if applies {
			out = append(out, name)
		}
	}
	has := func(bit int) bool { return p.look&bit != 0 }
	firstRow, lastRow := has(lookFirstRow) && p.row == 1, has(lookLastRow) && p.row == len(size)
	firstColumn := has(lookFirstColumn) && p.column == 1
	lastColumn := has(lookLastColumn) && p.row <= len(size) && p.row > 0 && p.column == size[p.row-1]
	add("nwCell", firstRow && firstColumn)
	add("neCell", firstRow && lastColumn)
	add("swCell", lastRow && firstColumn)
	add("seCell", lastRow && lastColumn)
	add("firstCol", firstColumn)
	add("lastCol", lastColumn)
	add("firstRow", firstRow)
	add("lastRow", lastRow)
	band := func(at, skipped, size int) int { return (at-skipped-1)/max(size, 1)%2 + 1 }
	if !has(lookNoRowBands) && !firstRow && !lastRow {
		add("band"+strconv.Itoa(band(p.row, (p.look&lookFirstRow)/lookFirstRow, rowBand))+"Horz", true)
	}
	if !has(lookNoColBands) && !firstColumn && !lastColumn {
		add("band"+strconv.Itoa(band(p.column, (p.look&lookFirstColumn)/lookFirstColumn, columnBand))+"Vert", true)
	}
	return append(out, "wholeTable")
}

// tableFormat returns the format that the table's style gives to the open cell, and the part of the format that
// depends on the cell's position.
func (w *wordWalker) tableFormat(b *wordBox, style string) (all, conditional wordFormat) {
	s := &w.d.looks
	all = s.get(style)
	if !all.hasConditionalFormats {
		return all, conditional
	}
	var size tableSize
	if b.place.look&(lookLastRow|lookLastColumn) != 0 {
		size = w.tableSize(b.place.number)
	}
	for _, name := range b.place.conditions(size, all.rowBand, all.columnBand) {
		for id, n := style, 0; id != "" && n < 50; id, n = s.basedOn[id], n+1 { // limited because styles may be circular
			conditional.inherit(s.conditional[id][name])
		}
	}
	all, base := conditional, all
	all.inherit(base)
	return all, conditional
}

// tableSize returns the size of a table in the part. It reads the table once more for this.
func (w *wordWalker) tableSize(number int) tableSize {
	if w.sizes == nil {
		c := tableCounter{sizes: []tableSize{}}
		if err := walkXML(w.d.b, w.d.z, w.name, &c); err != nil {
			w.d.b.Fail(err)
		}
		w.sizes = c.sizes
	}
	if number < 1 || number > len(w.sizes) {
		return nil
	}
	return w.sizes[number-1]
}

// tableCounter counts the rows and cells of the tables in a part.
type tableCounter struct {
	sizes []tableSize
	open  []int
}

func (*tableCounter) isSkipped(e xml.StartElement) bool {
	_, isSkipped := isSkippedInWord(e)
	return isSkipped
}

func (c *tableCounter) startElement(e xml.StartElement, _ int) {
	if e.Name.Local == "tbl" {
		c.open, c.sizes = append(c.open, len(c.sizes)), append(c.sizes, nil)
		return
	}
	if len(c.open) == 0 {
		return
	}
	size := &c.sizes[c.open[len(c.open)-1]]
	switch e.Name.Local {
	case "tr":
		*size = append(*size, 0)
	case "tc":
		if n := len(*size); n > 0 {
			(*size)[n-1]++
		}
	}
}

func (c *tableCounter) endElement(e xml.EndElement, _ int) {
	if n := len(c.open); n > 0 && e.Name.Local == "tbl" {
		c.open = c.open[:n-1]
	}
}

func (*tableCounter) appendCharData([]byte) error { return nil }
