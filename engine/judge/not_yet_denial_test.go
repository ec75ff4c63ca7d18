package judge

import (
	"testing"

	"github.com/scf-service/service/engine/judge/text"
)

// "Not yet" before any word for introduction is a denial.
func TestNotYetIsDenial(t *testing.T) {
	d := newPreparedStatement("Backups of all data are taken.", text.Concepts("backup of data"))
	for _, sentence := range []string{
		"Backups of the servers are not yet rolled out in the branches.",
		"Backups of laptops are not yet introduced.",
		"A backup of the branch is not yet live.",
		"Backups are not currently enabled.",
	} {
		if s := text.Analyze(sentence, 2026).Sentences[0]; s.Denied == 0 || !s.DeniesAny(true, d.concepts, d.topic) {
			t.Errorf("%q denies nothing", sentence)
		}
	}
}

// A denial in the next sentence also retracts a rule that restricts access.
func TestNextSentenceRetractsRule(t *testing.T) {
	c := candidateOf(policy("Guests are kept apart and have no access to production. This is not yet enforced."))
	d := newPreparedStatement("Production runs apart from the network of guests.", text.Concepts("production"))
	if _, is := deniesMatch(d, c, 0, d.matchWindow([]*text.Sentence{&c.Sentences[0]}, nil, c.surroundings)); !is {
		t.Error("the next sentence was ignored")
	}
}
