package text

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Patterns for expressions that reverse the meaning of a sentence, such as a failure mark, an
// introduction to missing things, a supposition or an indirect question.
var (
	// failureMarkPattern matches the mark of a failed check at the start of a line, such as "FAIL:" or "✗".
	failureMarkPattern = lazyregexp.New(
		`^\W*(?:(?:FAIL(?:ED)?|Fail(?:ed)?|NOT (?:MET|OK|DONE|IMPLEMENTED)|Not (?:met|done|implemented)|MISSING|Missing) ?[:–—] |[❌✗✘])`,
	)
	// lackListPattern matches a lead-in to a list of missing things that follows on the same line: "we lack the
	// following: …".
	lackListPattern = lazyregexp.NewPrefiltered(
		`(?i)^[^:.]{0,60}\b(?:lacks?|do(?:es)? not have|(?:is|are) missing|no evidence (?:was found )?of)\b[^:.]{0,40}: `,
	)
	// abandonedPattern matches a sentence that retracts the previous one: "This was abolished."
	abandonedPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:this|that|it|these|both|all this|all of this) (?:was|were|is|are|has been|have been) (?:since |then |later |now )?(?:abolished|discontinued|stopped|given up|dropped|withdrawn|repealed|abandoned|scrapped)(?: (?:in|since|at|on|last|this|because)\b.*)?\W*$`,
	)
	// counterfactualPattern matches a condition that isn't fulfilled: "if we had the budget, …".
	counterfactualPattern = lazyregexp.New(`(?i)^\W*if (?:we|they|i|it|there|the \w+) (?:only )?(?:had|were)\b`)
	// imaginedPattern matches sentences about imagined situations. competitorPattern matches sentences about
	// competitors.
	imaginedPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:imagine|pretend|suppose|assume|let(?:'s| us) (?:assume|suppose|imagine))\b|\bin (?:a|an) (?:perfect|ideal|better) world\b|^\W*(?:as an example|for example|for instance), (?:an?|the|any) (?:\w+ )?(?:company|organi[sz]ation|firm|business) (?:would|might|could)\b`,
	)
	competitorPattern = lazyregexp.NewPrefiltered(`(?i)\b(?:our|a|the|some) competitors?\b`)
	// reportedQuestionPattern matches a question in indirect speech: "the auditor asked whether …".
	reportedQuestionPattern = lazyregexp.NewPrefiltered(
		`(?i)^\W*(?:\w+ ){1,4}(?:asked|asks|wondered|wonders|wants? to know|wanted to know) (?:us |them |him |her )?(?:whether|if)\b`,
	)
)

// markReversedMeaning detects expressions that reverse the meaning of a whole sentence.
func markReversedMeaning(s *Stance, text string, words []word) {
	if s.IsTableRow {
		return
	}
	whole := uint64(1)<<s.ClauseCount - 1
	first := words[0].text
	switch {
	case strings.ContainsAny(text, ":–—❌✗✘") && failureMarkPattern.MatchString(text),
		strings.Contains(text, ":") && lackListPattern.MatchString(text):
		s.Denied |= whole
	case pronouns[first] || first == "all":
		if abandonedPattern.MatchString(text) {
			s.Denied, s.RefersBack = s.Denied|1, true
		}
	case imaginedPattern.MatchString(text), competitorPattern.MatchString(text):
		s.Hypothetical, s.Denied = whole, 0
	case first == "if" && counterfactualPattern.MatchString(text):
		s.Hypothetical, s.Denied = whole, 0
	case reportedQuestionPattern.MatchString(text):
		s.Question = true
	}
}
