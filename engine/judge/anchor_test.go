package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/criteria"
	"github.com/scf-service/service/engine/judge/text"
)

// controlWithCriteria returns a control whose statements are our criteria for its code.
func controlWithCriteria(t *testing.T, code string) api.Control {
	t.Helper()
	e, ok := criteria.Lookup(code)
	if !ok {
		t.Fatalf("no criteria for %s", code)
	}
	c := control(e.Topic, e.Sentences...)
	c.Code = code
	return c
}

// Evidence must name the control's subject, however similar its other words are.
func TestEvidenceMustNameTheSubject(t *testing.T) {
	c := controlWithCriteria(t, "IAC-10.14") // passkeys
	for text, want := range map[string]bool{
		"Users sign in with passkeys instead of passwords.":                                    true,
		"Users sign in with a FIDO2 key that is bound to their device, instead of a password.": true,
		"Users sign in with tokens instead of passwords, and they are bound to the device.":    false,
		"Passwords are bound to the account of the user and revoked by the procedure if lost.": false,
		"Lost badges are revoked and replaced by a defined procedure of the reception.":        false,
		"A passkey of a user that is lost is revoked, and recovered by the written procedure.": true,
	} {
		j := judge(t, c, policy(text))
		said := false
		for _, s := range j.Statements {
			said = said || s.Verdict == VerdictCovered || s.Verdict == VerdictPartial
		}
		if said != want {
			t.Errorf("%q: said %v: %+v", text, said, j.Statements)
		}
	}
}

// A sentence without a statement's own anchor supports it only in part, and the reason lists the words searched for.
func TestStatementAnchors(t *testing.T) {
	d := newPreparedStatement("Key escrow is approved by the owner.", text.Concepts("key escrow"))
	d.statementAnchors = newAnchorGroups(criteria.WordGroups{{"approve", "sign off"}})
	asksForApproval(t, d)
}

// asksForApproval checks that sentences stating the owner's approval of key escrow cover d and that others support it
// only in part.
func asksForApproval(t *testing.T, d *preparedStatement) {
	t.Helper()
	for text, want := range map[string]string{
		"Key escrow by the owner is approved.": VerdictCovered, "Key escrow by the owner is signed off.": VerdictCovered,
		"Key escrow is signed off by the owner.": VerdictCovered, "Key escrow is released by the owner.": VerdictPartial,
	} {
		got := NewSession(nil, Options{}).judgePassage(d, candidateOf(policy(text)), 0.6)
		if len(got) != 1 || got[0].verdict != want || want == VerdictPartial && !strings.Contains(got[0].reason, "approve, sign off") {
			t.Errorf("%q: %+v, want %s", text, got, want)
		}
	}
}

func candidateOf(p Passage) *analyzedPassage {
	analysis := NewSession(nil, Options{}).analyzePassage(p)
	return &analyzedPassage{newFoundPassage(p, analysis, documentStatus{}), analysis}
}

// An anchor is searched for in a passage's sentences, its headings and its document's title; words that are no concept
// are searched for literally.
func TestMissingAnchor(t *testing.T) {
	p := policy("Doors are locked. Guests wait (before they enter) at the gate.")
	p.HeadingPath, p.DocumentTitle = []string{"Visitor entry"}, "Handbook of the premises"
	c := candidateOf(p)
	for word, want := range map[string]bool{
		"door": true, "visitors": true, "premises": true, "before": true,
		"until": false, "badge": false, "visitor entry": true, "visitor badge": false, "guest gate": true,
		"door gate": false, "visitor door": true,
	} {
		if got := c.firstMissingAnchor(newAnchorGroups(criteria.WordGroups{{word}})) == nil; got != want {
			t.Errorf("%q: %v", word, got)
		}
	}
	if a := c.firstMissingAnchor(newAnchorGroups(criteria.WordGroups{{"door"}, {"badge", "card"}})); a == nil ||
		a.String() != "badge, card or similar" {
		t.Errorf("unnamed: %v", a)
	}
}
