package engine

import (
	"context"
	"fmt"
	"io"

	"github.com/scf-service/service/engine/catalog/strm"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// readPDFLines extracts the lines of a PDF for the catalog, which has no document reader of its own.
func (e *Engine) readPDFLines(ctx context.Context, name string, content io.ReaderAt, size int64) ([]strm.Line, error) {
	doc, err := e.Evidence.Parse(ctx, name, content, size)
	if err != nil {
		return nil, err
	}
	var lines []strm.Line
	table := 0
	for i := range doc.Blocks {
		b := &doc.Blocks[i]
		place := ""
		if b.Locator.Page > 0 {
			place = fmt.Sprintf("page %d", b.Locator.Page)
		}
		if b.Kind != document.TableRow {
			lines = append(lines, strm.Line{Sheet: place, Cells: []string{b.DisplayText()}})
			continue
		}
		if b.Table != table && len(b.Header) > 0 { // once per table, before its first row
			lines = append(lines, strm.Line{Sheet: place, Cells: b.Header})
			table = b.Table
		}
		lines = append(lines, strm.Line{Sheet: place, Cells: b.Cells})
	}
	return lines, nil
}
