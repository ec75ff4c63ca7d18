package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// A denial of one statement among several makes the control partly implemented, and the reason names it.
func TestOneDenialDoesNotDenyTheControl(t *testing.T) {
	c := control(
		"Device encryption",
		"Laptops are encrypted.",
		"Recovery keys are stored by the IT team.",
		"Phones are locked after five minutes.",
	)
	lock := policy("Phones are locked by the MDM tool after five minutes.")
	keys := policy("Recovery keys are stored by the IT team in the vault.")
	noKeys := policy("Recovery keys are not stored by the IT team.")
	noLock := policy("Phones are not locked after five minutes.")
	yes := policy("All laptops must be encrypted by the IT team with BitLocker.")
	no := policy("Laptops are not encrypted.")
	for _, tc := range []struct {
		name string
		ps   []Passage
		want api.Implementation
	}{
		{"one of three", []Passage{yes, keys, noLock}, api.PartiallyImplemented},
		{"two of three", []Passage{no, noKeys, lock}, api.NotImplemented},
		{"all", []Passage{no, noKeys, noLock}, api.NotImplemented},
		{"the only one spoken of", []Passage{no}, api.NotImplemented},
	} {
		j := judge(t, c, tc.ps...)
		if j.Implementation != tc.want {
			t.Errorf("%s: %s, want %s: %s\n%+v", tc.name, j.Implementation, tc.want, j.Reason, j.Statements)
		}
		if tc.name == "one of three" && !strings.Contains(j.Reason, "Phones are locked") {
			t.Errorf("the reason doesn't name what is denied: %s", j.Reason)
		}
	}
}

// A control with more than a third of its statements missing is not implemented.
func TestHalfMissingIsNotImplemented(t *testing.T) {
	asked := []string{
		"Laptops are encrypted.", "Recovery keys are stored by the IT team.", "Phones are locked after five minutes.",
		"Visitors wear badges.", "Water pipes are drained in winter.",
	}
	ps := []Passage{
		policy(
			"All laptops must be encrypted by the IT team with BitLocker.",
		), policy("Recovery keys are stored by the IT team in the vault."),
		policy("Phones are locked by the MDM tool after five minutes."),
	}
	for n, want := range map[int]api.Implementation{3: api.Implemented, 4: api.Implemented, 5: api.PartiallyImplemented} {
		if j := judge(t, control("Device encryption", asked[:n]...), ps...); j.Implementation != want {
			t.Errorf("3 of %d: %s, want %s: %s", n, j.Implementation, want, j.Reason)
		}
	}
}

// One deviating row among many is a limitation to review, not a denial.
func TestOutlierRowIsNoDenial(t *testing.T) {
	c := control("Security awareness", "Personnel complete security awareness training.")
	row := func(name, rest string) string {
		return "Personnel: " + name + "; Course: Security awareness training; " + rest
	}
	good := row("Ida Brandt", "Result: completed") + "\n" + row("Olu Obi", "Result: completed")
	bad := row("Per Lund", "Result: not completed - overdue")
	j := judge(t, c, passage("record", good+"\n"+bad))
	if v := j.Statements[0]; v.Verdict != VerdictPartial || !j.Exception || j.Implementation == api.NotImplemented {
		t.Errorf("%s, %s: %s", j.Implementation, v.Verdict, v.Reason)
	}
	shown := false
	for _, e := range j.Evidence {
		shown = shown || strings.Contains(e.Quote, "Per Lund")
	}
	if !shown {
		t.Errorf("the row isn't quoted: %+v", j.Evidence)
	}
	if j := judge(t, c, passage("record", bad)); j.Statements[0].Verdict != VerdictDenied || j.Exception {
		t.Errorf("alone: %+v", j.Statements[0])
	}
	if item := DraftSoAItem(c, nil, j, Inclusion{Applicability: api.Applicable}); !item.NeedsReview {
		t.Error("nobody is asked to look at it")
	}
}

func TestQuoteIsListedOnce(t *testing.T) {
	c := control(
		"Device encryption",
		"Laptops are encrypted.",
		"Laptops of all staff are encrypted.",
		"Laptops are encrypted by the IT team.",
	)
	j := judge(t, c, policy("All laptops of all staff must be encrypted by the IT team with BitLocker."))
	if len(j.Evidence) != 1 || !strings.Contains(j.Evidence[0].Statement, "of all staff") || j.Evidence[0].Stance != "supports" {
		t.Errorf("%+v", j.Evidence)
	}
}

// A cell that denies something unrelated does not deny the control, whatever else its row contains.
func TestCellDenialIsLimitedToItsSubject(t *testing.T) {
	c := control("Contacts with authorities", "The list of contacts with authorities is reviewed at least annually.")
	rule := policy("The list of contacts with authorities is reviewed by the general counsel every six months.")
	row := func(cause, notes string) Passage {
		p := policy("Incident: INC-14; Summary: Mailbox of accounts read; Root cause: " + cause + "; Notes: " + notes)
		p.Filename, p.DocumentID, p.DocumentTitle = "incident-log.csv", "log", "Incident log"
		return p
	}
	for _, tc := range []struct {
		cause, notes string
		verdict      string
	}{
		{"exception list not reviewed", "no notice to authorities needed", VerdictCovered},
		{"relayed sign-in", "list of contacts with authorities not reviewed since 2024", VerdictConflicting},
	} {
		j := judge(t, c, rule, row(tc.cause, tc.notes))
		if j.Statements[0].Verdict != tc.verdict {
			t.Errorf("%s; %s: %+v", tc.cause, tc.notes, j.Statements[0])
		}
	}
}

// The subjects of unanswered questions are no evidence.
func TestUnansweredQuestions(t *testing.T) {
	c := control("Penetration tests", "Penetration tests are performed by independent testers.")
	for text, want := range map[string]api.Implementation{
		"The most frequent questions we could not answer: results of penetration tests by independent testers.": api.NotEvidenced,
		"Open questions: results of penetration tests performed by independent testers.":                        api.NotEvidenced,
		"Penetration tests are performed by independent testers every year; questions go to the CISO.":          api.Implemented,
	} {
		if j := judge(t, c, policy(text)); j.Implementation != want {
			t.Errorf("%s: %s: %s", text, j.Implementation, j.Reason)
		}
	}
}

// A denial of one use or group of people concerns only the statements of the control that name it, whereas a denial of the control's
// subject concerns all.
func TestNarrowDenialDoesNotDenyTheControl(t *testing.T) {
	c := control("Awareness training", "All employees complete awareness training every year.", "Training covers phishing.",
		"Seasonal workers complete awareness training on their first day.")
	for sentence, want := range map[string][3]string{
		"There is no awareness training.":                                {VerdictDenied, VerdictDenied, VerdictDenied},
		"Awareness training is not done.":                                {VerdictDenied, VerdictDenied, VerdictDenied},
		"Seasonal workers do not complete awareness training this year.": {VerdictDenied, VerdictMissing, VerdictDenied},
	} {
		j := judge(t, c, policy(sentence))
		for i, st := range j.Statements {
			if st.Verdict != want[i] {
				t.Errorf("%q says of %q: %s (%s), want %s", sentence, st.Text, st.Verdict, st.Reason, want[i])
			}
		}
	}
}
