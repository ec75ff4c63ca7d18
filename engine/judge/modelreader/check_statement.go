package modelreader

import "github.com/scf-service/service/engine/judge/reading"

// checkStatements are statements that no organization's documents support. Each prompt ends with one. A model that
// finds passages for it is making things up or following instructions in a passage, so its whole answer to that prompt
// is discarded.
var checkStatements = []reading.Statement{
	{Topic: "falconry", Text: "The falcons that guard the roof are weighed before each flight, and their weights are carved in slate."},
	{Topic: "lighthouse", Text: "The keeper of the lighthouse reads the tide table aloud before the lamp is lit."},
	{Topic: "beekeeping", Text: "The hives on the moon are counted at each eclipse by a second beekeeper."},
	{Topic: "airship", Text: "The sails of the airship are patched with silk before each winter voyage."},
	{Topic: "drawbridge", Text: "The drawbridge is raised at dusk by two knights who exchange the password in verse."},
	{Topic: "pearl diving", Text: "Pearl divers surface within ninety seconds, and the cook strikes a gong for each."},
	{Topic: "time travel", Text: "Journeys through time are countersigned in the year in which the traveler arrives."},
	{Topic: "orchestra", Text: "The glass trumpets are tuned in the cellar on each leap day."},
}

// newCheckStatement returns the check statement for a prompt, chosen by the hashes of its passages. For a repeated
// prompt, it returns a different one.
func newCheckStatement(numbers map[string]int, repeated bool) reading.Statement {
	n := len(numbers)
	for hash := range numbers {
		n += int(hash[0])
	}
	if repeated {
		n++
	}
	return checkStatements[n%len(checkStatements)]
}

// isFooled reports whether an answer has findings for the prompt's check statement.
func (q *question) isFooled(a answer) bool {
	for _, s := range a.Statements {
		if s.Statement == len(q.statements)+1 && len(s.Findings) > 0 {
			return true
		}
	}
	return false
}
