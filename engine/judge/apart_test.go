package judge

import "testing"

// Rules on who does what, limits and what is kept from people are written with a "no", and deny nothing.
func TestNoThatRules(t *testing.T) {
	for text, want := range map[string]bool{
		"Data is kept no longer than the retention list says.":               false,
		"Nobody approves a request for themselves.":                          false,
		"No one approves their own request.":                                 false,
		"Nobody who runs production has rights in the backup account.":       false,
		"A new account has no rights beyond the base role.":                  false,
		"An account without an owner is disabled.":                           false,
		"Servers without an agent are automatically blocked.":                false,
		"Backups are encrypted with keys that the provider does not hold.":   false,
		"Backups are encrypted with keys that Northpier does not hold.":      false,
		"A laptop that leaves does not get encrypted.":                       true,
		"Physical access to offices is not covered here.":                    false,
		"Nobody approves requests.":                                          true,
		"No one reviews the logs.":                                           true,
		"Accounts are created without approval and disabled by chance.":      true,
		"Servers run without an agent.":                                      true,
		"Backups of the office are not covered by any plan.":                 true,
		"The service is no longer in use.":                                   true,
		"We found that the provider does not hold keys.":                     true,
		"Laptops that consultants bring are not encrypted.":                  true,
		"Systems that staff use do not have backups.":                        true,
		"Nobody who joined this year was trained.":                           true,
		"Nobody who works here has been trained.":                            true,
		"Servers without an agent are ignored.":                              true,
		"Backups are not covered this year.":                                 true,
		"Backups have no encryption.":                                        true,
		"There are no exercises beyond those that the provider talks about.": false,
	} {
		s := analyzeText(text, 2026).sentences[0]
		if got := s.denied != 0; got != want {
			t.Errorf("%q: denied %v", text, got)
		}
	}
}

// What is not yet introduced, live or rolled out isn't there, whatever the word for it.
func TestNotYetDeniesAll(t *testing.T) {
	d := newPreparedStatement("Backups of all data are taken.", requiredConcepts("backup of data", splitWords("backup of data")))
	for _, text := range []string{
		"Backups of the servers are not yet rolled out in the branches.",
		"Backups of laptops are not yet introduced.",
		"A backup of the branch is not yet live.",
		"Backups are not currently enabled.",
	} {
		if s := analyzeText(text, 2026).sentences[0]; s.denied == 0 || !d.isTargetOfDenial(&s, text, true) {
			t.Errorf("%q denies nothing", text)
		}
	}
}

// A rule that keeps people out is taken back like any other.
func TestNoAccessYet(t *testing.T) {
	c := candidateOf(policy("Guests are kept apart and have no access to production. This is not yet enforced."))
	d := newPreparedStatement("Production runs apart from the network of guests.", requiredConcepts("production", splitWords("production")))
	if _, is := deniesMatch(d, c, 0, d.matchWindow([]*sentence{&c.sentences[0]}, nil, c.surroundings)); !is {
		t.Error("the next sentence was not heard")
	}
}
