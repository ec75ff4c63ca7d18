package office

import (
	"bytes"
	"cmp"
	"errors"
	"html"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const (
	maxMerged = 100_000
	maxMark   = 40 // maximum bytes of the tag that ends the cells, and of the other marks searched for
)

// cellRange is a range of cells of a sheet. Columns and rows are counted from 1.
type cellRange struct{ firstColumn, firstRow, lastColumn, lastRow int }

// parseRange parses a range, or the name of a single cell, in A1 notation.
func parseRange(ref string) (r cellRange, ok bool) {
	from, to, _ := strings.Cut(ref, ":")
	var errFrom, errTo error
	r.firstColumn, r.firstRow, errFrom = excelize.CellNameToCoordinates(from)
	r.lastColumn, r.lastRow, errTo = excelize.CellNameToCoordinates(cmp.Or(to, from))
	return r, errFrom == nil && errTo == nil
}

func (r cellRange) containsRow(row int) bool { return r.firstRow <= row && row <= r.lastRow }

func (r cellRange) containsColumn(column int) bool {
	return r.firstColumn <= column && column <= r.lastColumn
}

// readTail reads the data after the cells of a sheet: merged ranges, conditional formats, and the page header and
// footer. It finds their position by searching the part's bytes, which is fast. If no cell can be hidden, it also
// stops c, so that the cells' tags aren't read a second time.
func (c *sheetCells) readTail() error {
	if c.part == nil {
		return nil
	}
	r, err := zipfile.OpenPart(c.w.z, c.sheet.part, zipfile.MaxPart)
	if err != nil {
		return err
	}
	defer r.Close()
	canHide, inCells := c.w.canHideCells(), false
	buffer, n := make([]byte, 1<<14), 0
	for {
		more, err := r.Read(buffer[n:])
		n += more
		from, to, end := 0, n, endOfCells(buffer[:n])
		if end > 0 {
			to = bytes.LastIndexByte(buffer[:end], '<')
		}
		if !inCells {
			if from = bytes.Index(buffer[:to], []byte("sheetData")); from < 0 {
				from = to
			}
			inCells = from < to
		}
		canHide = canHide || containsAny(buffer[:to], hidingMarks) || containsAny(buffer[from:to], cellMarks)
		if end > 0 {
			c.readTailTags(newTagScanner(io.MultiReader(bytes.NewReader(bytes.Clone(buffer[end:n])), r)))
			c.ended = !canHide && len(c.rules) == 0
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n > maxMark {
			n = copy(buffer, buffer[n-maxMark:n])
		}
	}
}

// endOfCells returns the position after the tag that ends the cells of a sheet, or 0 if there is none.
func endOfCells(piece []byte) int {
	mark := []byte("sheetData>")
	for at := 0; ; {
		next := bytes.Index(piece[at:], mark)
		if next < 0 {
			return 0
		}
		at += next + len(mark)
		// The prefix of a namespace may be between the slash and the name.
		if tag := piece[bytes.LastIndexByte(piece[:at], '<')+1 : at]; len(tag) > 0 && tag[0] == '/' {
			return at
		}
	}
}

// hidingMarks contains byte sequences, at least one of which occurs in every sheet with hidden rows, columns or pieces
// of text. cellMarks is the same for sheets with a formula without a value or with cells written in an unusual way.
var (
	hidingMarks = []string{"hidden", "zeroHeight", `ht="0`, "ht='0", `width="0`, "width='0", "rPr"}
	cellMarks   = []string{"f></", "/></", "v></v", "v/>", ":row", ">\n", ">\r", "> "}
)

func containsAny(piece []byte, marks []string) bool {
	return slices.ContainsFunc(marks, func(mark string) bool { return bytes.Contains(piece, []byte(mark)) })
}

func (c *sheetCells) readTailTags(s *tagScanner) {
	formats := conditionReader{c: c}
	for s.next() == nil {
		formats.readTag(s)
		switch name, begins, _ := s.name(); name {
		case "mergeCell":
			if m, ok := parseRange(s.attr("ref")); ok && begins && len(c.merged) < maxMerged {
				c.merged = append(c.merged, m)
			}
		case "oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter":
			if begins {
				break
			}
			for _, text := range readSheetHeader(c.w.b, html.UnescapeString(string(s.text)), api.Locator{Sheet: c.name}) {
				c.w.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text, Locator: api.Locator{Sheet: c.name}})
			}
		}
	}
	formats.finish()
	slices.SortStableFunc(c.merged, func(a, b cellRange) int { return cmp.Compare(a.firstRow, b.firstRow) })
}

// markMerged marks the empty cells of a row that are covered by a merged cell. It drops ranges that end above the row,
// because rows arrive in order.
func (c *sheetCells) markMerged(row int, cells []string) []string {
	kept := c.merged[:0:0]
	for i, m := range c.merged {
		if m.firstRow > row {
			if i == len(kept) { // nothing has to be dropped
				return cells
			}
			kept = append(kept, c.merged[i:]...)
			break
		}
		if m.lastRow < row {
			continue
		}
		kept = append(kept, m)
		for column := m.firstColumn; column <= min(m.lastColumn, document.MaxColumns); column++ {
			for len(cells) < column {
				cells = append(cells, "")
			}
			switch {
			case cells[column-1] != "" || row == m.firstRow && column == m.firstColumn:
			case column > m.firstColumn:
				cells[column-1] = document.MergedLeft
			default:
				cells[column-1] = document.MergedUp
			}
		}
	}
	c.merged = kept
	return cells
}
