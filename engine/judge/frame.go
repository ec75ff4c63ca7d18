package judge

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// What stands around a sentence can turn it: a mark of failure, a heading of what is lacking, a supposition,
// somebody's question.
var (
	// failMark opens what a check found not to be so; capitals, as people write it.
	failMark = lazyregexp.Of(`^\W*(?:(?:FAIL(?:ED)?|Fail(?:ed)?|NOT (?:MET|OK|DONE|IMPLEMENTED)|Not (?:met|done|implemented)|MISSING|Missing) ?[:–—] |[❌✗✘])`)
	// lackList leads to what is lacking on the same line: "we lack the following: …".
	lackList = lazyregexp.Guard(`(?i)^[^:.]{0,60}\b(?:lacks?|do(?:es)? not have|(?:is|are) missing|no evidence (?:was found )?of)\b[^:.]{0,40}: `)
	// gaveUp takes back the sentence before: "This was abolished."
	gaveUp = lazyregexp.Guard(`(?i)^\W*(?:this|that|it|these|both|all this|all of this) (?:was|were|is|are|has been|have been) (?:since |then |later |now )?(?:abolished|discontinued|stopped|given up|dropped|withdrawn|repealed|abandoned|scrapped)(?: (?:in|since|at|on|last|this|because)\b.*)?\W*$`)
	// hadIt supposes what is not: "if we had the budget, …".
	hadIt = lazyregexp.Of(`(?i)^\W*if (?:we|they|i|it|there|the \w+) (?:only )?(?:had|were)\b`)
	// imagined is a world that is not this one; ofOthers tells of somebody else's.
	imagined = lazyregexp.Guard(`(?i)^\W*(?:imagine|pretend|suppose|assume|let(?:'s| us) (?:assume|suppose|imagine))\b|\bin (?:a|an) (?:perfect|ideal|better) world\b|^\W*(?:as an example|for example|for instance), (?:an?|the|any) (?:\w+ )?(?:company|organi[sz]ation|firm|business) (?:would|might|could)\b`)
	ofOthers = lazyregexp.Guard(`(?i)\b(?:our|a|the|some) competitors?\b`)
	// wondering reports a question: "the auditor asked whether …".
	wondering = lazyregexp.Guard(`(?i)^\W*(?:\w+ ){1,4}(?:asked|asks|wondered|wonders|wants? to know|wanted to know) (?:us |them |him |her )?(?:whether|if)\b`)
)

// readFrame finds what turns a sentence as a whole.
func readFrame(s *stance, text string, words []word) {
	if s.row {
		return
	}
	whole := uint64(1)<<s.clauses - 1
	first := words[0].text
	switch {
	case strings.ContainsAny(text, ":–—❌✗✘") && failMark.MatchString(text), strings.Contains(text, ":") && lackList.MatchString(text):
		s.denied |= whole
	case pronouns[first] || first == "all":
		if gaveUp.MatchString(text) {
			s.denied, s.backward = s.denied|1, true
		}
	case imagined.MatchString(text), ofOthers.MatchString(text):
		s.unreal, s.denied = whole, 0
	case first == "if" && hadIt.MatchString(text):
		s.unreal, s.denied = whole, 0
	case wondering.MatchString(text):
		s.question = true
	}
}
