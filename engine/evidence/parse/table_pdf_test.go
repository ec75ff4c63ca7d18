package parse_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// A pdfCell is a cell of a ruled table, which extends from one column and row to another.
type pdfCell struct {
	x0, y0, x1, y1 int
	text           string
}

// pdfTable draws a table whose columns are 120 points wide and whose rows are 30 high.
func pdfTable(cells ...pdfCell) string {
	var sb strings.Builder
	for _, c := range cells {
		x, y := 60+120*c.x0, 700-30*c.y1
		fmt.Fprintf(&sb, "%d %d %d %d re S BT /F1 12 Tf %d %d Td (%s) Tj ET ", x, y, 120*(c.x1-c.x0), 30*(c.y1-c.y0), x+5, 700-30*c.y0-18, c.text)
	}
	return sb.String()
}

func tableRows(doc *document.Document) string {
	var sb strings.Builder
	for _, b := range doc.Blocks {
		if b.Kind == document.TableRow {
			sb.WriteString(b.Text + "\n")
		}
	}
	return sb.String()
}

// TestPDFTableHeaders checks that the rows of a table have the names of its columns: in merged header cells, in two
// header rows, and on later pages.
func TestPDFTableHeaders(t *testing.T) {
	head := []pdfCell{{0, 0, 1, 2, "System"}, {1, 0, 3, 1, "Reviewer"}, {3, 0, 4, 2, "Result"}, {1, 1, 2, 2, "Name"}, {2, 1, 3, 2, "Role"}}
	row := func(y int, texts ...string) []pdfCell {
		var out []pdfCell
		for x, text := range texts {
			out = append(out, pdfCell{x, y, x + 1, y + 1, text})
		}
		return out
	}
	join := func(parts ...[]pdfCell) string {
		var all []pdfCell
		for _, p := range parts {
			all = append(all, p...)
		}
		return pdfTable(all...)
	}
	const payroll, crm = "System: Payroll; Reviewer Name: Bo Lind; Reviewer Role: IT lead; Result: none removed\n",
		"System: CRM; Reviewer Name: Ann Roe; Reviewer Role: CISO; Result: two removed\n"
	first, second := row(2, "Payroll", "Bo Lind", "IT lead", "none removed"), row(3, "CRM", "Ann Roe", "CISO", "two removed")
	for name, tt := range map[string]struct {
		pages []string
		want  string
	}{
		"two rows":     {[]string{join(head, first, second)}, payroll + crm},
		"one row":      {[]string{join(row(0, "System", "Owner"), row(1, "CRM", "Ann Roe"))}, "System: CRM; Owner: Ann Roe\n"},
		"repeated":     {[]string{join(head, first), join(head, row(2, "CRM", "Ann Roe", "CISO", "two removed"))}, payroll + crm},
		"not repeated": {[]string{join(head, first), join(row(0, "CRM", "Ann Roe", "CISO", "two removed"))}, payroll + crm},
		"over all": {
			[]string{join([]pdfCell{{0, 0, 2, 1, "Reviews of 2026"}}, row(1, "System", "Owner"), row(2, "CRM", "Ann Roe"))},
			"System: CRM; Owner: Ann Roe\n",
		},
		"merged down": {
			[]string{join(row(0, "System", "Owner"), []pdfCell{{0, 1, 1, 3, "CRM"}, {1, 1, 2, 2, "Ann Roe"}, {1, 2, 2, 3, "Bo Lind"}})},
			"System: CRM; Owner: Ann Roe\nSystem: CRM; Owner: Bo Lind\n",
		},
		"key and value": {[]string{join(row(0, "Version", "1.2"), row(1, "Owner", "CISO"))}, "Version: 1.2\nOwner: CISO\n"},
	} {
		var pages []pdfPage
		for _, content := range tt.pages {
			pages = append(pages, pdfPage{content: content})
		}
		addExample(kindTables, "a.pdf", name)
		if got := tableRows(parsetest.Read(t, "a.pdf", pdfOf(pages...))); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestPDFUnruledTables checks that tables without rules carry the names of their columns, also those that the first line doesn't separate.
func TestPDFUnruledTables(t *testing.T) {
	draw := func(pitch int, columns []int, rows ...[]string) []byte {
		content := pdfText("60", "760", "A heading")
		for r, row := range rows {
			for c, text := range row {
				if text != "" {
					content += pdfText(fmt.Sprint(columns[c]), fmt.Sprint(700-pitch*r), text)
				}
			}
		}
		return pdfOf(pdfPage{content: content})
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want string
	}{
		"name over two": {
			draw(26, []int{60, 160, 260, 360}, []string{"Risk", "Treatment", "", "Owner"}, []string{"", "Measure", "Due", ""},
				[]string{"Phishing", "Training", "2026-05", "Ann"}, []string{"", "Filter", "2026-06", "Bob"},
				[]string{"Fire", "Sensors", "2026-07", "Cy"}),
			"Risk: Phishing; Treatment Measure: Training; Treatment Due: 2026-05; Owner: Ann\n" +
				"Treatment Measure: Filter; Treatment Due: 2026-06; Owner: Bob\nRisk: Fire; Treatment Measure: Sensors; Treatment Due: 2026-07; Owner: Cy\n",
		},
		"names over figures": {
			draw(14, []int{60, 160, 240, 300}, []string{"", "Backup", "", "Restore"}, []string{"System", "Day", "Size (GB)", "Day"},
				[]string{"CRM", "2026-05-01", "           120", "2026-05-20"}, []string{"ERP", "2026-05-02", "           300", "2026-05-21"}),
			"System: CRM; Backup Day: 2026-05-01; Backup Size (GB): 120; Restore: 2026-05-20\n" +
				"System: ERP; Backup Day: 2026-05-02; Backup Size (GB): 300; Restore: 2026-05-21\n",
		},
		"figures": { // end at the right of their column
			draw(14, []int{60, 160, 240}, []string{"System", "Hours", "Owner"}, []string{"CRM", "           4", "Ann Roe"},
				[]string{"ERP", "           8", "Bo Lind"}, []string{"PIM", "           2", "Cy Moe"}),
			"System: CRM; Hours: 4; Owner: Ann Roe\nSystem: ERP; Hours: 8; Owner: Bo Lind\nSystem: PIM; Hours: 2; Owner: Cy Moe\n",
		},
		"narrow": { // the longest question ends where the answer begins
			draw(14, []int{60, 168, 230}, []string{"Question", "Answer", "Comment"}, []string{"Is access reviewed", "No", "planned for May"},
				[]string{"Are backups made", "Yes", "each day"}, []string{"", "Partly", "of laptops"}, []string{"Are logs kept", "No", ""}),
			"Question: Is access reviewed; Answer: No; Comment: planned for May\nQuestion: Are backups made; Answer: Yes; Comment: each day\n" +
				"Answer: Partly; Comment: of laptops\nQuestion: Are logs kept; Answer: No\n",
		},
		"two lines": {draw(14, []int{60, 160}, []string{"Sensor", "Place"}, []string{"smoke", "hall"}), "Sensor: smoke; Place: hall\n"},
		"lines above": {
			draw(14, []int{60, 160, 260}, []string{"Report:", "User access"}, []string{"Generated:", "Monday"}, nil,
				[]string{"User", "Role", "MFA"}, []string{"ann", "admin", "on"}, []string{"bo", "reader", "off"}),
			"Report: User access\nGenerated: Monday\nUser: ann; Role: admin; MFA: on\nUser: bo; Role: reader; MFA: off\n",
		},
		"wrapped": {
			draw(14, []int{60, 160, 300}, []string{"System", "Use", "Owner"}, []string{"Payroll", "Salaries of all people", "Ann Roe"},
				[]string{"", "and their expenses", ""}, []string{"CRM", "Customers", "Bo Lind"}),
			"System: Payroll; Use: Salaries of all people and their expenses; Owner: Ann Roe\nSystem: CRM; Use: Customers; Owner: Bo Lind\n",
		},
	} {
		addExample(kindTables, "a.pdf", name)
		if got := tableRows(parsetest.Read(t, "a.pdf", tt.raw)); got != tt.want {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// TestPDFShortColumns checks that short texts side by side are read one after the other, and that short rows of words
// remain a table or lines.
func TestPDFShortColumns(t *testing.T) {
	draw := func(columns ...[]string) []byte {
		content := pdfText("60", "760", "A heading")
		for c, lines := range columns {
			for l, text := range lines {
				content += pdfText(fmt.Sprint(60+200*c), fmt.Sprint(700-14*l), text)
			}
		}
		return pdfOf(pdfPage{content: content})
	}
	for name, tt := range map[string]struct {
		raw  []byte
		want []string
	}{
		"two lines": {
			draw([]string{"All keys are changed each", "year by the security team."},
				[]string{"Backups are kept in another", "building for three months."}),
			[]string{
				"All keys are changed each year by the security team.",
				"Backups are kept in another building for three months.",
			},
		},
		"three lines": {
			draw([]string{"All keys are changed each", "year by the security team,", "and the change is logged."},
				[]string{"Backups are kept in another", "building for three months,", "and then they are deleted."}),
			[]string{
				"All keys are changed each year by the security team, and the change is logged.",
				"Backups are kept in another building for three months, and then they are deleted.",
			},
		},
		"four lines": {
			draw([]string{"Visitors sign in at the", "desk and wear a badge.", "Doors are locked after", "six in the evening."},
				[]string{"Cameras cover every", "entrance of the site.", "Records are kept for", "ninety days at most."}),
			[]string{
				"Visitors sign in at the desk and wear a badge. Doors are locked after six in the evening.",
				"Cameras cover every entrance of the site. Records are kept for ninety days at most.",
			},
		},
		"three columns": {
			draw([]string{"All keys are changed", "each year by the team."},
				[]string{"Backups are kept in", "another town for a year."},
				[]string{"Visitors are met by", "the person they visit."}),
			[]string{
				"All keys are changed each year by the team.",
				"Backups are kept in another town for a year.",
				"Visitors are met by the person they visit.",
			},
		},
		"unequal": {
			draw([]string{"All keys are changed each", "year by the security team."},
				[]string{"Backups are kept in another", "building for three months,", "and then they are deleted."}),
			[]string{
				"All keys are changed each year by the security team.",
				"Backups are kept in another building for three months, and then they are deleted.",
			},
		},
		"table": {
			draw([]string{"System", "Mail server one", "Payroll server two"},
				[]string{"Owner", "Ann Roe of operations", "Bo Lind of finance"}),
			[]string{"System: Mail server one; Owner: Ann Roe of operations", "System: Payroll server two; Owner: Bo Lind of finance"},
		},
	} {
		got := allText(parsetest.Read(t, "a.pdf", tt.raw))
		for _, want := range tt.want {
			if !strings.Contains(got, want) {
				t.Errorf("%s: no %q in %q", name, want, got)
			}
		}
	}
}
