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
	maxEndTag = 40 // bytes of the tag that ends the cells
)

// mergedRange is a range of cells that are merged into its first one.
type mergedRange struct{ firstColumn, firstRow, lastColumn, lastRow int }

// readTail reads what a file has after the cells of the sheet: merged ranges, and the header and footer of its pages.
// The part is searched for it as bytes, which takes little time.
func (c *sheetCells) readTail() error {
	if c.part == nil {
		return nil
	}
	r, err := zipfile.OpenPart(c.w.z, c.sheet.part, zipfile.MaxPart)
	if err != nil {
		return err
	}
	defer r.Close()
	mark := []byte("sheetData>")
	buffer, n := make([]byte, 1<<16), 0
	for {
		more, err := r.Read(buffer[n:])
		n += more
		for at := 0; at < n; {
			next := bytes.Index(buffer[at:n], mark)
			if next < 0 {
				break
			}
			at += next + len(mark)
			// The prefix of a namespace may be between the slash and the name.
			if tag := buffer[bytes.LastIndexByte(buffer[:at], '<')+1 : at]; len(tag) > 0 && tag[0] == '/' {
				c.readTailTags(newTagScanner(io.MultiReader(bytes.NewReader(bytes.Clone(buffer[at:n])), r)))
				return nil
			}
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n > maxEndTag {
			n = copy(buffer, buffer[n-maxEndTag:n])
		}
	}
}

func (c *sheetCells) readTailTags(s *tagScanner) {
	for s.next() == nil {
		switch name, begins, _ := s.name(); name {
		case "mergeCell":
			from, to, _ := strings.Cut(s.attr("ref"), ":")
			m := mergedRange{}
			var errFrom, errTo error
			m.firstColumn, m.firstRow, errFrom = excelize.CellNameToCoordinates(from)
			m.lastColumn, m.lastRow, errTo = excelize.CellNameToCoordinates(to)
			if begins && errFrom == nil && errTo == nil && len(c.merged) < maxMerged {
				c.merged = append(c.merged, m)
			}
		case "oddHeader", "oddFooter", "evenHeader", "evenFooter", "firstHeader", "firstFooter":
			if begins {
				break
			}
			for _, text := range sheetHeaderTexts(html.UnescapeString(string(s.text))) {
				c.w.b.AddPageFurniture(document.Block{Kind: document.Paragraph, Text: text, Locator: api.Locator{Sheet: c.name}})
			}
		}
	}
	slices.SortStableFunc(c.merged, func(a, b mergedRange) int { return cmp.Compare(a.firstRow, b.firstRow) })
}

// markMerged marks the empty cells of a row that a merged cell covers. Rows come in order, so ranges that end above are
// forgotten.
func (c *sheetCells) markMerged(row int, cells []string) []string {
	kept := c.merged[:0:0]
	for i, m := range c.merged {
		if m.firstRow > row {
			if i == len(kept) { // nothing is forgotten
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
