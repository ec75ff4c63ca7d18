package judge

import (
	"reflect"
	"testing"

	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/engine/judge/text"
)

// A criterion is recognized by a word of each group in any of its spellings; words in headings count half.
func TestWordings(t *testing.T) {
	w := text.NewWording(criteria.WordGroups{{"wipe", "factory reset"}, {"laptop", "usb stick"}, {"before", "re-issue"}})
	for _, tc := range []struct {
		sentence, heading string
		own, all          float64
		lacks             []string
	}{
		{"Laptops are wiped before the next colleague gets them.", "Equipment", 1, 1, nil},
		{"We factory-reset every USB stick ahead of reissue.", "", 2.0 / 3, 2.0 / 3, []string{"before", "re-issue"}},
		{"A reset in the factory precedes re-issuing.", "Laptops", 2.0 / 3, 1, nil},
		{"They are wiped.", "Laptops", 1.0 / 3, 2.0 / 3, []string{"before", "re-issue"}},
		{"Sticks of butter are counted.", "", 0, 0, []string{"wipe", "factory reset"}},
	} {
		p := policy(tc.sentence)
		p.HeadingPath = []string{tc.heading}
		c := candidateOf(p)
		window := []*text.Sentence{&c.Sentences[len(c.Sentences)-1]}
		want := text.WordingMatch{HasWording: true, OwnShare: tc.own, TotalShare: tc.all, MissingGroup: tc.lacks}
		if h := w.MatchIn(window, c.headingStems); !reflect.DeepEqual(h, want) {
			t.Errorf("%q under %q: %+v", tc.sentence, tc.heading, h)
		}
	}
	if h := text.Wording(nil).MatchIn(nil, text.Stems{}); h.HasWording || h.IsComplete() {
		t.Errorf("no wording: %+v", h)
	}
}

// A partly denied sentence counts for the share of its wording that is not denied.
func TestScaleDown(t *testing.T) {
	h := text.WordingMatch{HasWording: true, OwnShare: 1, TotalShare: 1}
	if !scaleDown(h, 1).IsComplete() || scaleDown(h, 1).AverageShare() != 1 {
		t.Errorf("nothing is denied: %+v", scaleDown(h, 1))
	}
	if half := scaleDown(h, 0.5); half.IsComplete() || half.AverageShare() != 0.5 {
		t.Errorf("half is denied: %+v", half)
	}
}

// A sentence in the statement's own words supports it only in part if a group of its wording is missing, and the reason
// names the group.
func TestMissingWordingGroupIsPartial(t *testing.T) {
	d := newPreparedStatement("Key escrow is approved by the owner.", text.Concepts("key escrow"))
	d.wording = text.NewWording(criteria.WordGroups{{"approve", "sign off"}, {"escrow"}})
	asksForApproval(t, d)
}

// A sentence that someone has no access denies statements that require their access, and nothing else.
func TestNoAccessDeniesAccessOnly(t *testing.T) {
	for statement, want := range map[string]bool{
		"Production runs apart from test.":         false,
		"Engineers have access to production.":     true,
		"Access of engineers to tests is limited.": false,
	} {
		c := candidateOf(policy("Engineers have no access to production."))
		d := newPreparedStatement(statement, text.Concepts("production"))
		if _, is := deniesMatch(d, c, 0, d.matchWindow([]*text.Sentence{&c.Sentences[0]}, nil, c.surroundings)); is != want {
			t.Errorf("%q: denied %v", statement, is)
		}
	}
}
