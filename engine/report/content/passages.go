package content

import (
	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// quotedPassages are the passages that a report quotes, in the order in which they are first quoted. Quotes show
// the number of their passage; a table at the end of the report lists the hash of each.
type quotedPassages struct {
	all     []api.Evidence
	numbers map[string]int // by document and hash
}

// number returns the number of a passage, counted from 1. It returns 0 if the passage's hash is not known.
func (q *quotedPassages) number(e *api.Evidence) int {
	if e.SHA256 == "" {
		return 0
	}
	key := e.DocumentID + "\x00" + e.SHA256
	n, known := q.numbers[key]
	if !known {
		if q.numbers == nil {
			q.numbers = map[string]int{}
		}
		q.all = append(q.all, *e)
		n = len(q.all)
		q.numbers[key] = n
	}
	return n
}

// passageReference returns a reference to the row of a passage in the table of quoted passages.
func (v *Report) passageReference(e *api.Evidence) string {
	n := v.quoted.number(e)
	if n == 0 {
		return ""
	}
	return "passage " + prose.GroupThousands(n)
}

// PassagesTable returns a table of the passages quoted so far, with their hashes.
func (v *Report) PassagesTable() block.Table {
	t := block.Table{Caption: "Quoted passages", Columns: []block.Column{
		{Name: "Passage", Width: 3, Number: true},
		{Name: "Document", Width: 10},
		{Name: "SHA-256 of its text", Width: 20},
	}}
	for i := range v.quoted.all {
		e := &v.quoted.all[i]
		t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{
			block.Number(i + 1), block.UserText(wording.OrDefault(e.DocumentTitle, e.Filename)), block.Mono(e.SHA256),
		}})
	}
	return t
}
