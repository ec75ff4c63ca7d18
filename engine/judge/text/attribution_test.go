package text

import (
	"strings"
	"testing"
)

// A sentence counts only if the organization asserts it about itself in the present.
func TestUnassertedSentences(t *testing.T) {
	const rule = "backups are tested each quarter"
	for _, passage := range []string{
		"The auditor of another firm alleged that " + rule + ".",
		"Nobody can prove that " + rule + ".",
		"The board hopes that " + rule + ".",
		"A magazine reports that " + rule + ".",
		"The regulation demands that " + rule + ".",
		"Tenderers shall prove that " + rule + ".",
		"At our competitor, " + rule + ".",
		"In many companies, " + rule + ".",
		"At Contoso GmbH, " + rule + ".",
		"Prior to 2015, " + rule + ".",
		"In the old days, " + rule + ".",
		"Allegedly, " + rule + ".",
		"If the grant is approved, " + rule + ".",
		"In the second variant, " + rule + ".",
		"Misconception: Backups are tested each quarter.\n\nMyth: " + rule + ".",
		"“Backups are tested each quarter,” said the salesman.",
		"Backups are tested each quarter – in reality nobody does it.",
		"Backups are tested each quarter, or so they say.",
		"Backups are tested each quarter. That is a lie.",
		"Backups are tested each quarter. Logs are kept. None of the above is true.",
		"Common misconceptions\n\nBackups are tested each quarter.",
		"Quoted message\n\nBackups are tested each quarter.",
		"What follows is fictional. Backups are tested each quarter.",
		"Measures that other firms have and we do not have:\n\n- Backups are tested each quarter.",
		"are backups each quarter the by tested our and",
		"a are backups by each quarter tested the",
		"#backups #tested #quarter #servers #copies #encrypted",
		"Statement: Backups are tested each quarter; Assessment: false",
	} {
		for _, s := range Analyze(passage, 2026).Sentences {
			if strings.Contains(strings.ToLower(s.Text), "backups") && !s.IsUnasserted() && s.Denied != 1<<s.ClauseCount-1 &&
				s.Organization == "" {
				t.Errorf("%q: %q is asserted", passage, s.Text)
			}
		}
	}
}

// Sentences that resemble frames, but are the organization's own.
func TestAssertedSentences(t *testing.T) {
	for _, text := range []string{
		"This policy states that backups are tested each quarter.",
		"The proxy denies all uploads that contain card numbers.",
		"The sign at the door states that visitors must be escorted.",
		"Vendors confirm each year that they delete our data on request.",
		"It is highly recommended that backups be tested each quarter.",
		"The auditor confirmed that backups are tested each quarter.",
		"We reject the claim that tests are a burden; backups are tested each quarter.",
		"As ISO 27001 requires, backups are tested each quarter.",
		"According to our policy, backups are tested each quarter.",
		"At Contoso GmbH, we test our backups each quarter.",
		"Until then, backups are tested each quarter.",
		"Staff must report any concern that the policy is not followed.",
		"Our supplier must prove that backups are tested each quarter.",
		"If we suspect that a key has been exposed, backups are tested.",
		"Systems that store personal data are tested each quarter.",
		"Before the release, backups are tested each quarter.",
		"Backups are tested each quarter. Nothing is left to chance.",
		"Backups are tested each quarter. All of the above is reviewed yearly.",
		"Measure: Backups are tested each quarter; Exceptions: none",
		"Tell the service desk if something is lost or stolen.",
	} {
		if s := Analyze(text, 2026).Sentences[0]; s.IsUnasserted() || s.Disclaimed || s.Denied&1 != 0 {
			t.Errorf("%q is not asserted", text)
		}
	}
}

// The introduction to a list that continues in the next passage.
func TestOpenList(t *testing.T) {
	for text, want := range map[string][2]bool{
		"None of the following is in place:\n\n- Backups are tested.\n- Logs are kept.":    {false, true},
		"The rumors say the following about us:\n\n- Backups are tested.":                  {false, false},
		"The following rules apply:\n\n- Backups are tested.":                              {false, false},
		"No exception is made to the following rules:\n\n- Backups are tested.":            {false, false},
		"None of the following is in place:\n\n- Backups are tested.\n\nThis is the rest.": {false, false},
	} {
		if outside, undone := ReadOpenList(text); outside != want[0] || undone != want[1] {
			t.Errorf("%q: %v %v, want %v", text, outside, undone, want)
		}
	}
}
