package questionnaire

import "testing"

func TestParse(t *testing.T) {
	for text, want := range map[string]Answer{
		"No": No, "no.": No, "N": No, "No, but it is planned for 2027": No, "No – the budget is missing": No, "A: No": No, "Answer: not yet": No,
		"☐ Yes ☒ No": No, "Yes ☐ No ☒": No, "[ ] Yes [x] No": No, "Yes [ ] No [X] N/A [ ]": No, "( ) yes (x) no": No, "○ Yes ● No": No,
		"Yes: ☐ No: ☒": No, "☒ No": No, "☐ Yes / ☒ No, see comment": No, "Not implemented": No, "FALSE": No, "No we do not": No, "**No**": No,
		"Yes": Yes, "yes, every quarter": Yes, "☒ Yes ☐ No": Yes, "Yes ☑ No ☐": Yes, "A: [x] Yes [ ] No": Yes, "☐ N/A ☐ No ☑ Yes": Yes,
		"N/A": Unanswered, "n.a.": Unanswered, "Not applicable (cloud only)": Unanswered, "☐ Yes ☐ No": Unanswered, "Answer:": Unanswered,
		"☐ Yes ☐ No ☒ N/A": Unanswered, "☒ Yes ☒ No": Unanswered, "TBD": Unanswered, "Choose an item.": Unanswered, "A: –": Unanswered,
		"Unknown": Unanswered, "☐ Yes": Unanswered, "Click or tap here to enter text.": Unanswered,
		"Planned for Q3": Planned, "In progress": Planned, "☐ Yes ☐ No ☒ Planned": Planned, "To be implemented by June": Planned,
		"Partly": Other, "☐ Yes ☐ No ☒ Partially": Other, "☒ Every quarter ☐ No": Other,
		"No laptop is encrypted": None, "Not every laptop is encrypted": None, "Yesterday": None, "Every quarter": None, "": None,
		"☒ Laptops ☐ Phones": None, "Is it tested? ☒ Yes ☐ No": None, "Nobody": None, "Planned maintenance is announced": None,
		"A badge is needed": None, "NATO": None,
	} {
		if got := Parse(text); got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}

func TestParseChoice(t *testing.T) {
	for text, want := range map[string]struct {
		subject string
		answer  Answer
	}{
		"Is it tested? Yes ☐ No ☒":             {"Is it tested? ", No},
		"It is tested: ☒ Yes ☐ No":             {"It is tested: ", Yes},
		"It is tested. ☐ Yes ☐ No":             {"It is tested. ", Unanswered},
		"[x] Account disabled [ ] Badge back":  {"", None},
		"Backups are tested":                   {"", None},
		"The function main() returns ○ values": {"", None},
	} {
		if n, got := ParseChoice(text); got != want.answer || text[:n] != want.subject {
			t.Errorf("%q: %q, %d", text, text[:n], got)
		}
	}
}

func TestColumns(t *testing.T) {
	for name, want := range map[string]bool{
		"Answer": true, "Vendor response": true, "Yes/No": true,
		"Y/N": true, "Implemented (Y/N)": true, "In place?": true, "Yes / No / N/A": true,
		"Owner": false, "Question": false, "Response time": false, "Incident response": false, "Status": false, "Met by": false,
	} {
		if got := IsColumn(name); got != want {
			t.Errorf("%q: %v", name, got)
		}
	}
	if AnswerOfColumn("No") != No || AnswerOfColumn("N/A") != Unanswered || AnswerOfColumn("Owner") != None || AnswerOfColumn("No.") != None ||
		AnswerOfColumn("In part?") != Other || AnswerOfColumn("-") != None ||
		!IsMark("x") || !IsMark("☒") || IsMark("12") || IsMark("1") || IsMark("☐") || IsMark("") {
		t.Error("options")
	}
}

func TestAsks(t *testing.T) {
	for text, want := range map[string]bool{
		"Is it tested?": true, "Q: Describe the tests.": true, "Is it tested:": true, "3.1 Are tests done, and how often?": true,
		"It is tested.": false, "Tests are done": false, "Quality is checked.": false,
	} {
		if got := EndsInQuestion(text); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{"", "A:", "☐", "Yes ☐ No ☒", "Is it? [x", "( ) No", "☒☒", "Answer: ", "\xff☐ Yes"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		Parse(text)
		IsColumn(text)
		IsUnticked(text)
		if n, a := ParseChoice(text); n < 0 || n > len(text) || a == None && n != 0 {
			t.Errorf("%q: %d, %d", text, n, a)
		}
	})
}
