package analyst

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
		"Physical access to offices is not covered here.":                    false,
		"Nobody approves requests.":                                          true,
		"No one reviews the logs.":                                           true,
		"Accounts are created without approval and disabled by chance.":      true,
		"Servers run without an agent.":                                      true,
		"Backups of the office are not covered by any plan.":                 true,
		"The service is no longer in use.":                                   true,
		"We found that the provider does not hold keys.":                     true,
		"Backups have no encryption.":                                        true,
		"There are no exercises beyond those that the provider talks about.": false,
	} {
		s := analyse(text, 2026).sentences[0]
		if got := s.denied != 0; got != want {
			t.Errorf("%q: denied %v", text, got)
		}
	}
}

// What is not yet regulated is denied, not what is named beside it.
func TestNotYetIsOfItsVerb(t *testing.T) {
	const text = "What data may be used in the test account is not yet regulated."
	for statement, want := range map[string]bool{"Changes are tested in a test account.": false, "The use of test data is regulated.": true} {
		s := analyse(text, 2026).sentences[0]
		if got := newDemand(statement, "tests").targeted(&s, text); got != want {
			t.Errorf("%q: %v", statement, got)
		}
	}
}
