package judge

import (
	"reflect"
	"testing"

	"github.com/scf-service/service/engine/judge/criteria"
)

// A criterion is recognised by a word of each group, in any of the ways there are to say it; what
// stands above a sentence counts half.
func TestWordings(t *testing.T) {
	w := newWording(criteria.WordGroups{{"wipe", "factory reset"}, {"laptop", "usb stick"}, {"before", "re-issue"}})
	for _, tc := range []struct {
		text, heading string
		own, all      float64
		lacks         []string
	}{
		{"Laptops are wiped before the next colleague gets them.", "Equipment", 1, 1, nil},
		{"We factory-reset every USB stick ahead of reissue.", "", 2.0 / 3, 2.0 / 3, []string{"before", "re-issue"}},
		{"A reset in the factory precedes re-issuing.", "Laptops", 2.0 / 3, 1, nil},
		{"They are wiped.", "Laptops", 1.0 / 3, 2.0 / 3, []string{"before", "re-issue"}},
		{"Sticks of butter are counted.", "", 0, 0, []string{"wipe", "factory reset"}},
	} {
		p := policy(tc.text)
		p.HeadingPath = []string{tc.heading}
		c := candidateOf(p)
		window := []*sentence{&c.sentences[len(c.sentences)-1]}
		if h := w.matchIn(window, c.headingStems); !reflect.DeepEqual(h, wordingMatch{true, tc.own, tc.all, tc.lacks}) {
			t.Errorf("%q under %q: %+v", tc.text, tc.heading, h)
		}
	}
	if h := wording(nil).matchIn(nil, stemHashes{}); h.hasWording || h.isComplete() {
		t.Errorf("no wording: %+v", h)
	}
}

// Of a sentence of which one clause denies, a wording counts for what is left.
func TestWordingsOfDenials(t *testing.T) {
	h := wordingMatch{hasWording: true, ownShare: 1, totalShare: 1}
	if !h.scaleDown(1).isComplete() || h.scaleDown(1).averageShare() != 1 {
		t.Errorf("nothing is denied: %+v", h.scaleDown(1))
	}
	if half := h.scaleDown(0.5); half.isComplete() || half.averageShare() != 0.5 {
		t.Errorf("half is denied: %+v", half)
	}
}

// A sentence of the statement's own words says it in part at most where a group of its wording is
// missing, and the reason names the group.
func TestWordingsGate(t *testing.T) {
	d := newPreparedStatement("Key escrow is approved by the owner.", requiredConcepts("key escrow", splitWords("key escrow")))
	d.wording = newWording(criteria.WordGroups{{"approve", "sign off"}, {"escrow"}})
	asksForApproval(t, d)
}

// A blank for a number and one for words leave a sentence a template, whichever comes first.
func TestBlanksForNumbers(t *testing.T) {
	for text, want := range map[string]string{
		"Passwords have at least [x] characters.":                                  "[x]",
		"Passwords have at least [x] characters and are checked on [insert list].": "[x]",
		"[x] Passwords are checked on [insert list].":                              "[insert list]",
		"[x] Passwords are checked.":                                               "",
	} {
		if got := analyzeText(text, 2026).sentences[0].placeholder; got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

// What somebody has no access to is kept from them: that denies what asks for their access, and nothing else.
func TestNoAccessDeniesAccessOnly(t *testing.T) {
	for statement, want := range map[string]bool{
		"Production runs apart from test.":         false,
		"Engineers have access to production.":     true,
		"Access of engineers to tests is limited.": false,
	} {
		c := candidateOf(policy("Engineers have no access to production."))
		d := newPreparedStatement(statement, requiredConcepts("production", splitWords("production")))
		if _, is := deniesMatch(d, c, 0, d.matchWindow([]*sentence{&c.sentences[0]}, nil, c.surroundings)); is != want {
			t.Errorf("%q: denied %v", statement, is)
		}
	}
}
