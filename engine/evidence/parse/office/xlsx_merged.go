package office

import (
	"bytes"
	"cmp"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/zipfile"
)

const maxMerged = 100_000

// mergedRange is a range of cells that are merged into its first one.
type mergedRange struct{ firstColumn, firstRow, lastColumn, lastRow int }

// readMerged reads the merged ranges of the sheet. A file has them after the cells, so the part is searched for them
// as bytes, which takes little time.
func (c *sheetCells) readMerged() error {
	if c.part == nil {
		return nil
	}
	r, err := zipfile.OpenPart(c.w.z, c.sheet.part, zipfile.MaxPart)
	if err != nil {
		return err
	}
	defer r.Close()
	mark := []byte("mergeCells")
	buffer, n := make([]byte, 1<<16), 0
	for {
		more, err := r.Read(buffer[n:])
		n += more
		if at := bytes.Index(buffer[:n], mark); at >= 0 {
			c.readMergedTags(newTagScanner(io.MultiReader(bytes.NewReader(buffer[at:n]), r)))
			return nil
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if n > len(mark) {
			n = copy(buffer, buffer[n-len(mark):n])
		}
	}
}

func (c *sheetCells) readMergedTags(s *tagScanner) {
	for s.next() == nil && len(c.merged) < maxMerged {
		name, begins, _ := s.name()
		if name == "mergeCells" && !begins {
			break
		}
		from, to, _ := strings.Cut(s.attr("ref"), ":")
		m := mergedRange{}
		var errFrom, errTo error
		m.firstColumn, m.firstRow, errFrom = excelize.CellNameToCoordinates(from)
		m.lastColumn, m.lastRow, errTo = excelize.CellNameToCoordinates(to)
		if name == "mergeCell" && errFrom == nil && errTo == nil {
			c.merged = append(c.merged, m)
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
