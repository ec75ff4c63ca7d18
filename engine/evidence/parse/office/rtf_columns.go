package office

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	maxRTFRows       = 1000 // maximum number of rows held back to determine a table's columns
	rtfEdgeTolerance = 40   // maximum distance, in twips, between the edges of the same column in different rows
)

// rtfRow is a row of a table: its cells and their right edges.
type rtfRow struct {
	cells []string
	edges []int
}

// writeRows writes the rows held back. A cell that is as wide as several columns of other rows
// covers all of them, because that is how Word and LibreOffice store merged cells.
func (r *rtfReader) writeRows() {
	columns := rtfColumnEdges(r.rows)
	for _, row := range r.rows {
		r.table.AddRow(row.spread(columns), api.Locator{})
	}
	r.rows = nil
}

// rtfColumnEdges returns the right edges of the columns of rows.
func rtfColumnEdges(rows []rtfRow) []int {
	var edges []int
	for i, row := range rows {
		if i == 0 || !slices.Equal(row.edges, rows[i-1].edges) {
			edges = append(edges, row.edges...)
		}
	}
	slices.Sort(edges)
	columns := edges[:0]
	for _, e := range edges {
		if n := len(columns); n == 0 || e-columns[n-1] > rtfEdgeTolerance {
			columns = append(columns, e)
		}
	}
	return columns
}

// spread returns the cells of a row by column. Cells without an edge of their own are placed one after the other, and
// so are all cells of a row if its edges don't distinguish the columns.
func (row rtfRow) spread(columns []int) []string {
	if len(row.cells) > len(row.edges) || len(columns) > document.MaxColumns {
		return row.cells
	}
	out := make([]string, 0, len(columns))
	for i, cell := range row.cells {
		end, found := slices.BinarySearch(columns, row.edges[i])
		if !found {
			end-- // the edge is slightly to the right of the column's edge
		}
		if end < len(out) {
			return row.cells
		}
		for out = append(out, cell); len(out) <= end; {
			out = append(out, document.MergedLeft)
		}
	}
	return out
}
