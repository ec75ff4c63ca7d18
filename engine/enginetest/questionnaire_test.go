package enginetest_test

import (
	"context"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// allPassages finds all passages of a document.
type allPassages []judge.Passage

func (f allPassages) Find(context.Context, string, int) ([]judge.Passage, error) { return f, nil }

// judgeDocument returns the verdict on a statement by the passages of one document, and their text.
func judgeDocument(t *testing.T, file string, raw []byte, title, statement string) (api.Statement, string) {
	t.Helper()
	doc := parsetest.Read(t, file, raw)
	var found allPassages
	var read strings.Builder
	for _, c := range chunk.Split(doc, chunk.Options{}) {
		found = append(found, judge.Passage{
			ChunkID: c.SHA256, DocumentID: "d", DocumentTitle: doc.Title, Filename: file, HeadingPath: c.HeadingPath, Kind: string(c.Kind),
			Locator: c.Locator, Text: c.Text, SHA256: c.SHA256, Score: 0.9,
		})
		read.WriteString(c.Text + "\n")
	}
	c := api.Control{Code: "OWN-1", Title: title, Description: statement}
	j, err := judge.Evaluate(t.Context(), c, found, judge.Options{Today: "2026-11-27"})
	if err != nil {
		t.Fatal(err)
	}
	return j.Statements[0], read.String()
}

// A questionnaire in any layout and format is evidence only where its answer affirms the question.
func TestQuestionnairesAreEvidenceOnlyIfAffirmed(t *testing.T) {
	const (
		title     = "Multi-factor authentication"
		statement = "Multi-factor authentication is required for all remote access."
		question  = "Is multi-factor authentication required for all remote access?"
	)
	p := func(texts ...string) string {
		var sb strings.Builder
		for _, text := range texts {
			sb.WriteString(`<w:p><w:r><w:t xml:space="preserve">` + text + `</w:t></w:r></w:p>`)
		}
		return sb.String()
	}
	wordTable := func(rows ...[]string) string {
		out := `<w:tbl>`
		for _, row := range rows {
			out += `<w:tr>`
			for _, cell := range row {
				if !strings.HasPrefix(cell, "<") {
					cell = p(cell)
				}
				out += `<w:tc>` + cell + `</w:tc>`
			}
			out += `</w:tr>`
		}
		return out + `</w:tbl>`
	}
	wordBox := func(ticked bool) string {
		if ticked {
			return `<w:r><w:fldChar w:fldCharType="begin"><w:ffData><w:checkBox><w:checked/></w:checkBox></w:ffData></w:fldChar></w:r>`
		}
		return `<w:r><w:sym w:font="Wingdings" w:char="F0A8"/></w:r>`
	}
	box := func(ticked bool) string {
		if ticked {
			return "☒"
		}
		return "☐"
	}
	checked := func(ticked bool, tag string) string {
		if ticked {
			return strings.Replace(tag, ">", " checked>", 1)
		}
		return tag
	}
	header := []string{"Question", "Answer", "Comment"}
	other := []string{"Are backups made every night?", "Yes", "by the provider"}
	// By file and layout: the document with an answer in words, or with the boxes "Yes", "No" and "N/A" ticked.
	words := map[string]func(answer string) []byte{
		"table.docx": func(a string) []byte {
			return documenttest.Docx(t, wordTable(header, []string{question, a, "see policy"}, other), nil)
		},
		"list.docx": func(a string) []byte {
			return documenttest.Docx(t, p("Q: "+question, "A: "+a, "Q: "+other[0], "A: Yes"), nil)
		},
		"plain.docx": func(a string) []byte { return documenttest.Docx(t, p(question+" "+a), nil) },
		"row.docx":   func(a string) []byte { return documenttest.Docx(t, wordTable([]string{question, a}, other[:2]), nil) },
		"control.docx": func(a string) []byte {
			return documenttest.Docx(t, p(question)+`<w:sdt><w:sdtPr><w:dropDownList/></w:sdtPr><w:sdtContent>`+p(a)+`</w:sdtContent></w:sdt>`, nil)
		},
		"table.xlsx": func(a string) []byte {
			return documenttest.Workbook(t, func(x *excelize.File) {
				for i, row := range [][]any{{"No.", "Question", "Answer"}, {1, question, a}, {2, other[0], "Yes"}} {
					cell, _ := excelize.CoordinatesToCellName(1, i+1)
					if err := x.SetSheetRow("Sheet1", cell, &row); err != nil {
						t.Fatal(err)
					}
				}
			})
		},
		"table.html": func(a string) []byte {
			return []byte("<!doctype html><table><tr><th>Question<th>Response</tr><tr><td>" + question + "<td>" + a + "</tr></table>")
		},
		"list.html": func(a string) []byte { return []byte("<!doctype html><ol><li>" + question + "<br>" + a + "</ol>") },
		"input.html": func(a string) []byte {
			return []byte(`<!doctype html><p>` + question + ` <input value="` + a + `"></p>`)
		},
		"select.html": func(a string) []byte {
			return []byte(`<!doctype html><p>` + question + ` <select><option>Other<option selected>` + a + `</select></p>`)
		},
		"table.csv": func(a string) []byte {
			return []byte("Question,Supplier response,Comment\n" + question + "," + a + ",see policy\n" + strings.Join(other, ",") + "\n")
		},
		"table.md": func(a string) []byte {
			return []byte("| Question | Answer |\n|---|---|\n| " + question + " | " + a + " |\n| " + other[0] + " | Yes |\n")
		},
		"list.md": func(a string) []byte { return []byte("# Form\n\n**Q: " + question + "**\n\nA: " + a + "\n") },
		"list.txt": func(a string) []byte {
			return []byte("1. " + question + "\n   " + a + "\n\n2. " + other[0] + "\n   Yes\n")
		},
		"heading.md": func(a string) []byte { return []byte("# Form\n\n## " + question + "\n\n" + a + "\n") },
		"list.rtf":   func(a string) []byte { return []byte(`{\rtf1\ansi Q: ` + question + `\par A: ` + a + `\par}`) },
		"list.odt": func(a string) []byte {
			return documenttest.ODF(t, "text", `<text:p>`+question+`</text:p><text:p>`+a+`</text:p>`, nil)
		},
		"table.ods": func(a string) []byte {
			row := func(cells ...string) string {
				return `<table:table-row><table:table-cell><text:p>` + strings.Join(cells, `</text:p></table:table-cell><table:table-cell><text:p>`) +
					`</text:p></table:table-cell></table:table-row>`
			}
			return documenttest.ODF(
				t,
				"spreadsheet",
				`<table:table table:name="S">`+row(header...)+row(question, a, "see policy")+row(other...)+`</table:table>`,
				nil,
			)
		},
		"list.eml": func(a string) []byte { return []byte("Subject: Form\r\n\r\n" + question + "\r\n" + a + "\r\n") },
	}
	boxes := map[string]func(yes, no, open bool) []byte{
		"boxes.docx": func(yes, no, open bool) []byte {
			r := func(text string) string { return `<w:r><w:t xml:space="preserve">` + text + `</w:t></w:r>` }
			return documenttest.Docx(t, `<w:p>`+r(question+" ")+wordBox(yes)+r(" Yes ")+wordBox(no)+r(" No ")+wordBox(open)+r(" N/A")+`</w:p>`, nil)
		},
		"columns.docx": func(yes, no, open bool) []byte {
			mark := func(ticked bool) string { return `<w:p>` + wordBox(ticked) + `</w:p>` }
			return documenttest.Docx(t, wordTable([]string{"Question", "Yes", "No", "N/A"}, []string{question, mark(yes), mark(no), mark(open)},
				[]string{other[0], mark(true), mark(false), mark(false)}), nil)
		},
		"after.docx": func(yes, no, open bool) []byte {
			return documenttest.Docx(
				t,
				p("Multi-factor authentication is required for all remote access", "Yes "+box(yes)+" No "+box(no)+" N/A "+box(open)),
				nil,
			)
		},
		"radio.html": func(yes, no, open bool) []byte {
			return []byte(
				"<!doctype html><p>" + question + " " + checked(yes, "<input type=radio>") + "Yes " + checked(no, "<input type=radio>") + "No " +
					checked(open, "<input type=radio>") + "N/A</p>",
			)
		},
		"columns.html": func(yes, no, open bool) []byte {
			return []byte(
				"<!doctype html><table><tr><th>Question<th>Yes<th>No<th>N/A</tr><tr><td>" + question + "<td>" + checked(yes, "<input type=radio>") +
					"<td>" + checked(no, "<input type=radio>") + "<td>" + checked(open, "<input type=radio>") + "</tr></table>",
			)
		},
		"lines.md": func(yes, no, open bool) []byte {
			x := func(ticked bool) string { return strings.NewReplacer("☒", "[x]", "☐", "[ ]").Replace(box(ticked)) }
			return []byte("# Form\n\n" + question + "\n\n- " + x(yes) + " Yes\n- " + x(no) + " No\n- " + x(open) + " N/A\n")
		},
		"columns.csv": func(yes, no, open bool) []byte {
			x := func(ticked bool) string { return strings.Trim(strings.ReplaceAll(box(ticked), "☒", "x"), "☐") }
			return []byte("Question,Yes,No,N/A\n" + question + "," + x(yes) + "," + x(no) + "," + x(open) + "\n" + other[0] + ",x,,\n")
		},
		"line.txt": func(yes, no, open bool) []byte {
			return []byte("3. " + question + "\n   Yes " + box(yes) + "  No " + box(no) + "  N/A " + box(open) + "\n")
		},
		"boxes.odt": func(yes, no, open bool) []byte {
			state := func(ticked bool) string {
				return strings.NewReplacer("☒", ` form:current-state="checked"`, "☐", "").Replace(box(ticked))
			}
			return documenttest.ODF(
				t,
				"text",
				`<office:forms><form:checkbox form:id="y" form:label="Yes"`+state(yes)+`/><form:checkbox form:id="n" form:label="No"`+
					state(no)+`/><form:checkbox form:id="o" form:label="N/A"`+state(open)+`/></office:forms><text:p>`+question+
					` <draw:control draw:control="y"/><draw:control draw:control="n"/><draw:control draw:control="o"/></text:p>`,
				nil,
			)
		},
	}
	check := func(file, answer string, raw []byte, supports bool) {
		t.Helper()
		s, read := judgeDocument(t, file, raw, title, statement)
		if is := s.Verdict == judge.VerdictCovered || s.Verdict == judge.VerdictPartial; is != supports {
			t.Errorf("%s, %s: %s (%s) from %q", file, answer, s.Verdict, s.Reason, read)
		}
	}
	for file, make := range words {
		for _, answer := range []string{"No", "N/A", "Not applicable", "Planned", "Planned for Q3 2027", "Not yet", "TBD"} {
			check(file, answer, make(answer), false)
		}
		for _, answer := range []string{"Yes", "Yes, for all users"} {
			if file != "table.csv" || answer == "Yes" {
				check(file, answer, make(answer), true)
			}
		}
		if !strings.HasPrefix(file, "plain") {
			check(file, "none", make(""), false)
		}
	}
	for file, make := range boxes {
		check(file, "no", make(false, true, false), false)
		check(file, "not applicable", make(false, false, true), false)
		check(file, "none", make(false, false, false), false)
		check(file, "yes", make(true, false, false), true)
	}
}
