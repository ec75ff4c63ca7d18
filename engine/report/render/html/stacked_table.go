package html

import (
	"fmt"
	"hash/fnv"
	"strings"

	"github.com/scf-service/service/engine/report/block"
)

// widestPhoneTable is the minimum width of a table, in rem, up to which it is shown as a table on a phone. Of wider
// tables, a phone shows the cells of each row one below the other, labeled with the names of their columns.
const widestPhoneTable = 22

// tableClass returns the classes of a table element. Wide tables with the same columns share a class, which
// labelRules refers to.
func tableClass(t block.Table) string {
	var classes []string
	if t.HasDetails() {
		classes = append(classes, "items")
	}
	if t.MinWidth() > widestPhoneTable {
		classes = append(classes, "stack", columnsClass(t))
	}
	return strings.Join(classes, " ")
}

func columnsClass(t block.Table) string {
	h := fnv.New32a()
	for _, c := range t.Columns {
		_, _ = h.Write([]byte(c.Name + "\x00"))
	}
	return fmt.Sprintf("c%x", h.Sum32())
}

// labelRules returns the style rules that label the cells of all wide tables of a document with the names of their
// columns.
func labelRules(d *block.Document) string {
	var b strings.Builder
	written := map[string]bool{}
	var add func(all []block.Block)
	add = func(all []block.Block) {
		for _, one := range all {
			switch one := one.(type) {
			case block.Card:
				add(one.Blocks)
			case block.Table:
				class := columnsClass(one)
				if one.MinWidth() > widestPhoneTable && !written[class] {
					written[class] = true
					for i, c := range one.Columns {
						fmt.Fprintf(&b, ".%s>tbody>tr>:nth-child(%d)::before{content:%s}\n", class, i+1, cssString(c.Name))
					}
				}
				for _, r := range one.Rows {
					add(r.Detail)
				}
			}
		}
	}
	add(d.Front)
	for _, s := range d.Sections {
		add(s.Blocks)
	}
	add(d.AboutBlocks())
	return "@media screen and (max-width:37.5rem){\n" + b.String() + "}\n"
}

// cssString returns a text as a quoted string for a style sheet within HTML.
func cssString(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		if r == ' ' || r >= '0' && r <= '9' || r >= 'A' && r <= 'Z' || r >= 'a' && r <= 'z' {
			b.WriteRune(r)
		} else {
			fmt.Fprintf(&b, "\\%06x", r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
