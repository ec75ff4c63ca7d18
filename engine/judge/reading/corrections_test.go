package reading

import (
	"strings"
	"testing"
)

const decidedText = "Access rights to production systems are reviewed every quarter by the owner of the system. The reviewer signs the " +
	"list of accounts and sends it to the security team, which files it together with the tickets for the removals that follow."

const decidedWords = "Access rights to production systems are reviewed every quarter by the owner of the system."

// decided is the statement that users decide about.
var decided = Statement{Topic: "access", Text: "Access rights are reviewed."}

func decidedOn(p Passage, words string) *Corrections {
	return NewCorrections([]Correction{
		{ID: "1", StatementID: decided.ID(), DocumentID: "d", Passage: p, Label: States, Words: words, By: "Ada"},
	})
}

// TestNearIdentical changes a passage in ways that don't affect a decision, and in ways that may reverse its meaning.
func TestNearIdentical(t *testing.T) {
	replace := func(old, with string) Passage { return Passage{Text: strings.Replace(decidedText, old, with, 1)} }
	same, near, other := "same", "near-identical", "other"
	for name, tc := range map[string]struct {
		p    Passage
		want string
	}{
		"the same":                  {replace("", ""), same},
		"other punctuation":         {replace(", which", " - which"), near},
		"other case and spaces":     {replace("The reviewer", "THE  Reviewer"), near},
		"another word":              {replace("files it together", "stores it together"), near},
		"another team":              {replace("security team", "compliance office"), near},
		"a word more":               {replace("signs the", "signs the whole"), near},
		"a sentence more":           {Passage{Text: decidedText + " Contact the help desk for questions about this."}, near},
		"another title":             {Passage{Title: "Access standard", HeadingPath: []string{"4.1 Reviews"}, Text: decidedText}, same},
		"a negation":                {replace("are reviewed", "are not reviewed"), other},
		"a negation elsewhere":      {replace("The reviewer signs", "The reviewer never signs"), other},
		"a contraction":             {replace("The reviewer signs", "The reviewer doesn't sign"), other},
		"another frequency":         {replace("every quarter", "every year"), other},
		"a number":                  {replace("removals that follow", "3 removals that follow"), other},
		"a number in words":         {replace("The reviewer", "One reviewer"), other},
		"may":                       {replace("The reviewer signs", "The reviewer may sign"), other},
		"an exception":              {replace("production systems", "production systems except databases"), other},
		"an exception later":        {replace("that follow.", "that follow, except for administrators."), other},
		"a plan":                    {replace("are reviewed", "will be reviewed"), other},
		"a planned reviewer":        {replace("The reviewer", "The planned reviewer"), other},
		"another subject":           {replace("production systems", "test systems"), other},
		"the opposite word":         {replace("reviewed", "ignored"), other},
		"a condition":               {replace("The reviewer signs", "If asked, the reviewer signs"), other},
		"a draft by its heading":    {Passage{HeadingPath: []string{"Planned measures"}, Text: decidedText}, other},
		"a draft by its title":      {Passage{Title: "Access policy (draft)", Text: decidedText}, other},
		"the quote among others":    {Passage{Text: decidedWords + strings.Repeat(" Something else is described here at length.", 4)}, other},
		"the quote alone":           {Passage{Text: decidedWords}, other},
		"much of it rewritten":      {replace("signs the list of accounts and sends it to", "confirms the register and hands it over to"), other},
		"nothing in common":         {Passage{Text: "Backups are written to another site and restored for a test."}, other},
		"a ticked box in its place": {replace("The reviewer", "☑ The reviewer"), other},
	} {
		found, r, isNear := decidedOn(Passage{Text: decidedText}, decidedWords).For(decided).Find("another", tc.p)
		got := other
		switch {
		case found != nil && isNear:
			got = near
		case found != nil:
			got = same
		}
		if got != tc.want {
			t.Errorf("%s: %s, want %s", name, got, tc.want)
		}
		if found != nil && r.Check(tc.p.Text) != nil {
			t.Errorf("%s: %v", name, r.Check(tc.p.Text))
		}
	}
}

func TestShortPassagesAreRecognizedInTheirDocument(t *testing.T) {
	c := decidedOn(Passage{Text: "Yes, enabled."}, "Yes, enabled.")
	if found, _, _ := c.For(decided).Find("d", Passage{Text: "Yes, enabled."}); found == nil {
		t.Error("it is not found in its own document")
	}
	if found, _, _ := c.For(decided).Find("another", Passage{Text: "Yes, enabled."}); found != nil {
		t.Error("three words are recognized in another document")
	}
	if found, _, _ := c.For(decided).Find("d", Passage{Text: "Yes, enabled.", HeadingPath: []string{"Old"}}); found != nil {
		t.Error("it is found under another heading")
	}
	if found, _, _ := c.For(Statement{Text: "another"}).Find("d", Passage{Text: "Yes, enabled."}); found != nil {
		t.Error("it is found for another statement")
	}
}

func TestTheLatestCorrectionApplies(t *testing.T) {
	p := Passage{Text: decidedText}
	c := NewCorrections([]Correction{
		{ID: "1", StatementID: decided.ID(), Passage: p, Label: States, Words: decidedWords},
		{ID: "2", StatementID: decided.ID(), Passage: p, Label: Silent, Words: decidedWords},
	})
	if found, r, _ := c.For(decided).Find("", p); found.ID != "2" || r.Label != Silent || r.Words != "" {
		t.Errorf("%+v, %+v", found, r)
	}
	if c.For(decided).Revision() != "2 1" || len(c.For(decided).AcceptedTexts()) != 1 || (*Corrections)(nil).For(decided).Revision() != "" {
		t.Error(c.For(decided).Revision(), c.For(decided).AcceptedTexts())
	}
}

func FuzzFindWords(f *testing.F) {
	f.Add("The reviewer’s list, 1.5 % — isn't it?", "list 1.5 %")
	f.Fuzz(func(t *testing.T, text, words string) {
		if got := findWords(text, words); !strings.Contains(text, got) {
			t.Errorf("%q is not in %q", got, text)
		}
		p := Passage{Text: text}.Bounded()
		if f := newFingerprint(p); len(f.words) >= MinWordsElsewhere && !nearIdentical(f, f) {
			t.Errorf("%q is not near-identical to itself", p.Text)
		}
	})
}
