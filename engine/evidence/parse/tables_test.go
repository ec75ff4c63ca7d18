package parse_test

import (
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// tableFormats has a function for each format that writes the rows of a table. The cell "<" is merged with the one on
// its left, and "^" with the one above.
var tableFormats = map[string]func(t *testing.T, rows [][]string) []byte{
	"a.xlsx": func(t *testing.T, rows [][]string) []byte {
		return documenttest.Workbook(t, func(x *excelize.File) {
			for r, row := range rows {
				for c, text := range row {
					name := func(column, row int) string {
						name, err := excelize.CoordinatesToCellName(column+1, row+1)
						if err != nil {
							t.Fatal(err)
						}
						return name
					}
					if text == "<" || text == "^" {
						continue
					}
					if text != "" {
						if err := x.SetCellStr("Sheet1", name(c, r), text); err != nil {
							t.Fatal(err)
						}
					}
					if across, down := extent(rows, r, c); across+down > 0 {
						if err := x.MergeCell("Sheet1", name(c, r), name(c+across, r+down)); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		})
	},
	"a.docx": func(t *testing.T, rows [][]string) []byte {
		body := `<w:tbl>`
		for r, row := range rows {
			body += `<w:tr>`
			for c, text := range row {
				if text == "<" {
					continue
				}
				properties := ""
				across, down := extent(rows, r, c)
				if across > 0 {
					properties += `<w:gridSpan w:val="` + string(rune('1'+across)) + `"/>`
				}
				switch {
				case text == "^":
					properties, text = properties+`<w:vMerge/>`, ""
				case down > 0:
					properties += `<w:vMerge w:val="restart"/>`
				}
				body += `<w:tc><w:tcPr>` + properties + `</w:tcPr>` + documenttest.DocxParagraph("", text) + `</w:tc>`
			}
			body += `</w:tr>`
		}
		return documenttest.Docx(t, body+`</w:tbl>`, nil)
	},
	"a.html": func(_ *testing.T, rows [][]string) []byte {
		page := `<!doctype html><table>`
		for r, row := range rows {
			page += `<tr>`
			for c, text := range row {
				if text == "<" || text == "^" {
					continue
				}
				across, down := extent(rows, r, c)
				page += `<td colspan=` + string(rune('1'+across)) + ` rowspan=` + string(rune('1'+down)) + `>` + text
			}
			page += `</tr>`
		}
		return []byte(page + `</table>`)
	},
	"a.ods": func(t *testing.T, rows [][]string) []byte {
		body := `<table:table table:name="Sheet1">`
		for r, row := range rows {
			body += `<table:table-row>`
			for c, text := range row {
				if text == "<" || text == "^" {
					body += `<table:covered-table-cell/>`
					continue
				}
				across, down := extent(rows, r, c)
				body += `<table:table-cell table:number-columns-spanned="` + string(rune('1'+across)) + `" table:number-rows-spanned="` +
					string(rune('1'+down)) + `"><text:p>` + text + `</text:p></table:table-cell>`
			}
			body += `</table:table-row>`
		}
		return documenttest.ODF(t, "spreadsheet", body+`</table:table>`, nil)
	},
	"a.pptx": func(t *testing.T, rows [][]string) []byte {
		body := `<p:graphicFrame><a:tbl>`
		for _, row := range rows {
			body += `<a:tr>`
			for _, text := range row {
				merge := map[string]string{"<": ` hMerge="1"`, "^": ` vMerge="1"`}[text]
				if merge != "" {
					text = ""
				}
				body += `<a:tc` + merge + `><a:txBody><a:p><a:r><a:t>` + text + `</a:t></a:r></a:p></a:txBody></a:tc>`
			}
			body += `</a:tr>`
		}
		return presentation(t, body+`</a:tbl></p:graphicFrame>`, nil)
	},
	"a.rtf": func(_ *testing.T, rows [][]string) []byte {
		body := `{\rtf1\ansi `
		for _, row := range rows {
			body += `\trowd`
			for c, text := range row {
				body += map[string]string{"<": `\clmrg`, "^": `\clvmrg`}[text] + `\cellx` + string(rune('1'+c)) + `000`
			}
			for _, text := range row {
				body += `\pard\intbl ` + strings.Trim(text, "<^") + `\cell`
			}
			body += `\row`
		}
		return []byte(body + `}`)
	},
	"a.csv": func(_ *testing.T, rows [][]string) []byte { // which has no merged cells
		var sb strings.Builder
		for _, row := range rows {
			line := strings.Join(row, ",")
			if strings.ContainsAny(line, "<^") {
				return nil
			}
			sb.WriteString(line + "\n")
		}
		return []byte(sb.String())
	},
}

// TestRTFWideCells checks cells that Word and LibreOffice merge in RTF by making them wider.
func TestRTFWideCells(t *testing.T) {
	raw := `{\rtf1\ansi \trowd\cellx1000\cellx3010\clvmgf\cellx4000 System\intbl\cell Reviewer\cell Result\cell\row` +
		`\trowd\clvmrg\cellx1000\cellx2000\cellx3000\clvmrg\cellx4000 \intbl\cell Name\cell Role\cell\cell\row` +
		`\trowd\cellx1000\cellx2000\cellx3000\cellx4000 CRM\intbl\cell Ann Roe\cell IT lead\cell none\cell\row}`
	want := "System: CRM; Reviewer Name: Ann Roe; Reviewer Role: IT lead; Result: none"
	if blocks := parsetest.Read(t, "a.rtf", []byte(raw)).Blocks; len(blocks) != 1 || blocks[0].Text != want {
		t.Errorf("got %v", blocks)
	}
}

// extent returns how many columns and rows a cell spans.
func extent(rows [][]string, r, c int) (across, down int) {
	for c+across+1 < len(rows[r]) && rows[r][c+across+1] == "<" {
		across++
	}
	for r+down+1 < len(rows) && rows[r+down+1][c] == "^" {
		down++
	}
	return across, down
}

// TestTables checks that each row of a table has the names of its columns, in all formats.
func TestTables(t *testing.T) {
	for name, tt := range map[string]struct {
		rows [][]string
		want string   // the rows, separated by "|"
		not  []string // formats that can't have it
	}{
		"plain":        {[][]string{{"System", "Reviewer"}, {"CRM", "Ann Roe"}}, "System: CRM; Reviewer: Ann Roe", nil},
		"merged down":  {[][]string{{"System", "Reviewer", "Since"}, {"CRM", "Ann Roe", "2020"}, {"^", "Bo Lind", "2021"}, {"^", "Cy Moe", "2022"}}, "System: CRM; Reviewer: Ann Roe; Since: 2020|System: CRM; Reviewer: Bo Lind; Since: 2021|System: CRM; Reviewer: Cy Moe; Since: 2022", nil},
		"two rows":     {[][]string{{"System", "Reviewer", "<", "Result"}, {"^", "Name", "Role", "^"}, {"CRM", "Ann Roe", "IT lead", "none"}}, "System: CRM; Reviewer Name: Ann Roe; Reviewer Role: IT lead; Result: none", nil},
		"groups":       {[][]string{{"System", "First half", "<", "Second half", "<"}, {"^", "Done", "By", "Done", "By"}, {"CRM", "yes", "Ann", "no", "Bo"}}, "System: CRM; First half Done: yes; First half By: Ann; Second half Done: no; Second half By: Bo", nil},
		"wide groups":  {[][]string{{"System", "First half", "<", "<", "Second half", "<", "<"}, {"^", "Done", "By", "Day", "Done", "By", "Day"}, {"CRM", "yes", "Ann", "Monday", "no", "Bo", "Friday"}}, "System: CRM; First half Done: yes; First half By: Ann; First half Day: Monday; Second half Done: no; Second half By: Bo; Second half Day: Friday", nil},
		"wide title":   {[][]string{{"Access review", "<", "<", "<", "Internal", "<"}, {"System", "Account", "Role", "Reviewer", "Result", "Day"}, {"CRM", "ann", "admin", "Bo", "keep", "Friday"}}, "Access review: Internal|System: CRM; Account: ann; Role: admin; Reviewer: Bo; Result: keep; Day: Friday", nil},
		"names beside": {[][]string{{"System", "Reviewer", "<", "Result"}, {"", "Name", "Role", "Outcome"}, {"CRM", "Ann Roe", "IT lead", "none"}}, "System: CRM; Reviewer Name: Ann Roe; Reviewer Role: IT lead; Result: none", nil},
		"not merged":   {[][]string{{"System", "Reviewer", "", "Result"}, {"", "Name", "Role", ""}, {"CRM", "Ann Roe", "IT lead", "none"}}, "System: CRM; Reviewer Name: Ann Roe; Reviewer Role: IT lead; Result: none", nil},
		"repeated":     {[][]string{{"", "Backup", "", "Restore", ""}, {"System", "Day", "Result", "Day", "Result"}, {"CRM", "Monday", "ok", "Friday", "failed"}}, "System: CRM; Backup Day: Monday; Backup Result: ok; Restore Day: Friday; Restore Result: failed", nil},
		"data below":   {[][]string{{"System", "Reviewer", "Result"}, {"CRM", "Ann Roe", ""}, {"ERP", "", "none"}}, "System: CRM; Reviewer: Ann Roe|System: ERP; Result: none", nil},
		"merged data":  {[][]string{{"System", "Name", "Role"}, {"CRM", "none", "<"}, {"ERP", "Bo Lind", "IT lead"}}, "System: CRM; Name: none|System: ERP; Name: Bo Lind; Role: IT lead", nil},
		"header again": {[][]string{{"System", "Reviewer"}, {"CRM", "Ann Roe"}, {"System", "Reviewer"}, {"ERP", "Bo Lind"}}, "System: CRM; Reviewer: Ann Roe|System: ERP; Reviewer: Bo Lind", nil},
		"title":        {[][]string{{"Access review", "<", "<"}, {"System", "Reviewer", "Result"}, {"CRM", "Ann Roe", "none"}}, "Access review|System: CRM; Reviewer: Ann Roe; Result: none", nil},
		"subtotals":    {[][]string{{"System", "Accounts"}, {"CRM", "12"}, {"Total", "12"}, {"ERP", "7"}, {"Total", "7"}}, "System: CRM; Accounts: 12|System: Total; Accounts: 12|System: ERP; Accounts: 7|System: Total; Accounts: 7", nil},
		"stacked":      {[][]string{{"Risk", "Owner", ""}, {"Flood", "Ann Roe", ""}, {"", "", ""}, {"Closed risks", "", ""}, {"Risk", "Closed on", "By"}, {"Fire", "2027-03-31", "Bo Lind"}}, "Risk: Flood; Owner: Ann Roe|Closed risks|Risk: Fire; Closed on: 2027-03-31; By: Bo Lind", []string{"a.csv"}},
		"figures":      {[][]string{{"System", "Owner"}, {"CRM", "Ann Roe"}, {"", ""}, {"Month", "Tickets"}, {"May", "12"}, {"June", "9"}}, "System: CRM; Owner: Ann Roe|Month: May; Tickets: 12|Month: June; Tickets: 9", nil},
		"gap":          {[][]string{{"System", "Owner"}, {"CRM", "Ann Roe"}, {"", ""}, {"ERP", "Bo Lind"}, {"PIM", "Cy Moe"}}, "System: CRM; Owner: Ann Roe|System: ERP; Owner: Bo Lind|System: PIM; Owner: Cy Moe", nil},
		"key value":    {[][]string{{"System", "CRM"}, {"Owner", "Ann Roe"}, {"Recovery time", "4 hours"}, {"MFA", "yes"}}, "System: CRM|Owner: Ann Roe|Recovery time: 4 hours|MFA: yes", nil},
		"pairs":        {[][]string{{"Name of the system", "Harbor CRM"}, {"Business owner", "Ann Roe"}, {"Number of users", "250"}, {"MFA enforced", "Yes"}}, "Name of the system: Harbor CRM|Business owner: Ann Roe|Number of users: 250|MFA enforced: Yes", nil},
		"many kinds":   {[][]string{{"Codename", "Gull"}, {"Headcount", "12"}, {"Outsourced", "No"}, {"Begun", "2026-03-01"}}, "Codename: Gull|Headcount: 12|Outsourced: No|Begun: 2026-03-01", nil},
		"some colons":  {[][]string{{"Codename:", "Gull"}, {"Patron:", "Bo Lind"}, {"Motto", "Soar"}}, "Codename: Gull|Patron: Bo Lind|Motto: Soar", nil},
		"pair groups":  {[][]string{{"System", "Payroll"}, {"Owner", "Ann Roe"}, {"", ""}, {"Recovery time", "4 hours"}, {"Last test", "2026-03-01"}}, "System: Payroll|Owner: Ann Roe|Recovery time: 4 hours|Last test: 2026-03-01", nil},
		"double pairs": {[][]string{{"System", "CRM", "Owner", "Ann Roe"}, {"RTO", "4 hours", "RPO", "1 hour"}}, "System: CRM; Owner: Ann Roe|RTO: 4 hours; RPO: 1 hour", nil},
		"two columns":  {[][]string{{"Backup type", "Frequency"}, {"Full backup", "weekly"}, {"Log backup", "hourly"}}, "Backup type: Full backup; Frequency: weekly|Backup type: Log backup; Frequency: hourly", nil},
		"facts above":  {[][]string{{"Version", "1.2", ""}, {"Owner", "CISO", ""}, {"", "", ""}, {"System", "Reviewer", "Result"}, {"CRM", "Ann Roe", "none"}}, "Version: 1.2|Owner: CISO|System: CRM; Reviewer: Ann Roe; Result: none", nil},
		"cover":        {[][]string{{"Ordered by", "Ann Roe", "", ""}, {"Scope", "Both depots", "", ""}, {"", "", "", ""}, {"Signed by", "Bo Lind", "", ""}, {"Sent to", "Board", "", ""}, {"", "", "", ""}, {"System", "Reviewer", "Result", "Day"}, {"CRM", "Cy Moe", "none", "Monday"}}, "Ordered by: Ann Roe|Scope: Both depots|Signed by: Bo Lind|Sent to: Board|System: CRM; Reviewer: Cy Moe; Result: none; Day: Monday", nil},
		"narrow first": {[][]string{{"System", "Owner", "", ""}, {"CRM", "Ann Roe", "", ""}, {"", "", "", ""}, {"Server", "Patch", "Result", "Day"}, {"web1", "kernel", "done", "Monday"}}, "System: CRM; Owner: Ann Roe|Server: web1; Patch: kernel; Result: done; Day: Monday", nil},
		"footnote":     {[][]string{{"System", "Owner"}, {"CRM", "Ann Roe"}, {"", ""}, {"Prepared by the IT team", ""}}, "System: CRM; Owner: Ann Roe|Prepared by the IT team", nil},
		"questions":    {[][]string{{"Is access reviewed?", "No"}, {"Are backups tested?", "Yes"}}, "Is access reviewed? No|Are backups tested? Yes", nil},
		"hyphenated":   {[][]string{{"Go-live", "May"}, {"Sponsor", "Ann Roe"}}, "Go-live: May|Sponsor: Ann Roe", nil},
		"side by side": {[][]string{{"System", "RPO", "", "Role", "Person"}, {"CRM", "4h", "", "Lead", "Sam"}, {"ERP", "1h", "", "Deputy", "Kim"}}, "System: CRM; RPO: 4h|System: ERP; RPO: 1h|Role: Lead; Person: Sam|Role: Deputy; Person: Kim", nil},
		"three beside": {[][]string{{"Systems", "", "", "", "", "", "", ""}, {"Name", "RPO", "", "Role", "Name", "", "Site", "Name"}, {"CRM", "4h", "", "Lead", "Sam", "", "Kiel", "North"}, {"ERP", "1h", "", "", "", "", "Bonn", "South"}, {"", "", "", "", "", "", "", ""}, {"PIM", "2h", "", "", "", "", "", ""}}, "Systems|Name: CRM; RPO: 4h|Name: ERP; RPO: 1h|Name: PIM; RPO: 2h|Role: Lead; Name: Sam|Site: Kiel; Name: North|Site: Bonn; Name: South", nil},
		"lower beside": {[][]string{{"System", "RPO", "", "", ""}, {"CRM", "4h", "", "", ""}, {"ERP", "1h", "", "Role", "Person"}, {"PIM", "2h", "", "Lead", "Sam"}, {"", "", "", "", ""}, {"Site", "Address", "Use", "Owner", "Since"}, {"North", "Pier 4", "office", "Ann", "2020"}}, "System: CRM; RPO: 4h|System: ERP; RPO: 1h|System: PIM; RPO: 2h|Role: Lead; Person: Sam|Site: North; Address: Pier 4; Use: office; Owner: Ann; Since: 2020", nil},
		"spacer":       {[][]string{{"Control", "Text", "", "Status", "Owner"}, {"AC-1", "Access", "", "Done", "Ann"}, {"AC-2", "Review", "", "", ""}}, "Control: AC-1; Text: Access; Status: Done; Owner: Ann|Control: AC-2; Text: Review", nil},
		"no answers":   {[][]string{{"Question", "Answer", "Comment"}, {"Is access reviewed?", "", "open"}}, "Question: Is access reviewed?; Answer:; Comment: open", nil},
	} {
		for file, write := range tableFormats {
			raw := write(t, tt.rows)
			if raw == nil {
				continue
			}
			addExample(kindTables, file, name)
			var got []string
			for _, b := range parsetest.Read(t, file, raw).Blocks {
				if b.Kind != document.Heading {
					got = append(got, b.Text)
				}
			}
			if got := strings.Join(got, "|"); got != tt.want {
				t.Errorf("%s, %s:\n%s\nwant\n%s", file, name, got, tt.want)
			}
		}
	}
}

// TestNestedTables checks that a table within a cell keeps the names of its columns.
func TestNestedTables(t *testing.T) {
	cell := func(content string) string { return `<w:tc>` + content + `</w:tc>` }
	p := func(text string) string { return documenttest.DocxParagraph("", text) }
	row := func(cells ...string) string { return `<w:tr>` + strings.Join(cells, "") + `</w:tr>` }
	inner := `<w:tbl>` + row(cell(p("Name")), cell(p("Role"))) + row(cell(p("Ann")), cell(p("admin"))) +
		row(cell(p("Bo")), cell(p("user"))) + `</w:tbl>`
	odfCell := func(text string) string { return `<table:table-cell>` + text + `</table:table-cell>` }
	odfRow := func(cells ...string) string {
		return `<table:table-row>` + strings.Join(cells, "") + `</table:table-row>`
	}
	rtfRow := func(cells ...string) string {
		return `\pard\intbl\itap2 ` + strings.Join(cells, `\nestcell `) + `\nestcell{\*\nesttableprops\trowd\cellx1\nestrow}{\nonesttables\par}`
	}
	q := func(text string) string { return odfCell(`<text:p>` + text + `</text:p>`) }
	for file, raw := range map[string][]byte{
		"a.docx": documenttest.Docx(t, `<w:tbl>`+row(cell(p("System")), cell(p("Users")))+row(cell(p("CRM")), cell(inner+p("")))+`</w:tbl>`, nil),
		"a.html": []byte(`<!doctype html><table><tr><th>System<th>Users</tr><tr><td>CRM<td><table><tr><th>Name<th>Role</tr><tr><td>Ann<td>admin</tr>` +
			`<tr><td>Bo<td>user</tr></table></tr></table>`),
		"a.odt": documenttest.ODF(t, "text", `<table:table>`+odfRow(q("System"), q("Users"))+odfRow(q("CRM"), odfCell(`<table:table>`+
			odfRow(q("Name"), q("Role"))+odfRow(q("Ann"), q("admin"))+odfRow(q("Bo"), q("user"))+`</table:table>`))+`</table:table>`, nil),
		"a.rtf": []byte(`{\rtf1\trowd\cellx1\cellx2\pard\intbl System\cell Users\cell\row\trowd\cellx1\cellx2\pard\intbl CRM\cell` + rtfRow("Name", "Role") +
			rtfRow("Ann", "admin") + rtfRow("Bo", "user") + `\pard\intbl\cell\row}`),
	} {
		if got, want := allText(
			parsetest.Read(t, file, raw),
		), "System: CRM; Users: Name: Ann, Role: admin / Name: Bo, Role: user\n"; got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}
