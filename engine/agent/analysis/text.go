package analysis

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/internal/lazyregexp"
)

// maxText is the maximum number of bytes read from a text.
const maxText = 1 << 20

// parsedText is a text split into sentences and clauses.
type parsedText struct {
	body         string
	clauses      []string
	instructions []string // sentences that instruct the reader how to answer
}

var (
	sentenceEndPattern = lazyregexp.New(`[.!?]["')]*(?:\s+|$)|;\s*|\n+|•`)
	clauseEndPattern   = lazyregexp.New(`,\s+|\s+(?:but|while|whereas|although|however)\s+|:\s+`)
	// instructionPattern matches sentences addressed to whoever judges the text.
	instructionPattern = compilePattern(
		`(?i)\b(?:ignore|disregard|forget|override|bypass)\b.{0,40}\b(?:instruction|prompt|rule|above|previous|prior|policy|guideline)|` +
			`\b(?:set|mark|rate|report|return|answer|output|respond|classify|score|declare|conclude|grade|treat|consider|accept)\b,? (?:that|this|it|the|all|every\w*|as|with|is_\w+|them|our|only|a|any|him|severity|us)\b.{0,60}\b(?:is_\w+|compliant|fully|true|false.positive|low|100|approved|satisfied|implemented|benign|met|conform\w*|no (?:risk|gaps?|findings?))\b|` +
			`\byou (?:are|must|should|will|shall) (?:now |always )?(?:a |an |the )?(?:assistant|auditor|ai|model|evaluator|answer|respond|approve|accept|mark|rate|report|conclude)|` +
			`\b(?:dear|attention|note to|message to|hey) (?:ai|assistant|auditor|assessor|reviewer|model|llm|evaluator)|^\W*(?:system|assistant|developer)\s*(?:prompt)?\s*[:>\]]|<\|?/?(?:im_start|im_end|system|inst|assistant)|\bas an ai\b|\bthe (?:auditor|assessor|reviewer|evaluator|model|assistant) (?:must|shall|should|has to|will|is to)\b|\bjailbreak|\bdeveloper mode\b|` +
			`\bis_compliant\b|\bconfidence_score\b|\bis_false_positive\b|\bsystem prompt\b|\bend of (?:evidence|data|document)\b|\bnew (?:instructions?|task|rules?)\s*:`,
	)
	negationPattern = compilePattern(
		`(?i)\b(?:no|not|never|without|none|neither|nor|nobody|lacks?|lacking|missing|absent|unknown|undefined|isn't|aren't|wasn't|weren't|doesn't|don't|didn't|cannot|can't|instead of|rather than|fails? to|failed to|free of|keine?n?r?)\b`,
	)
	announcementPattern = compilePattern(
		`(?i)\b(?:will be|to be (?:defined|decided|done|introduced|implemented)|planned|plans? to|planning|intend\w*|roadmap|next (?:year|quarter|month)|in q[1-4] 20\d\d|not yet|upcoming|scheduled to|going to|future)\b`,
	)
	placeholderPattern = compilePattern(`\[[A-Za-z][A-Za-z _-]{0,40}\]|<[a-z][a-z _-]{1,40}>|\bTBD\b|\bTODO\b|lorem ipsum`)
)

// parseText splits a text into sentences and clauses, and separates the sentences that instruct the
// reader.
func parseText(s string) parsedText {
	if len(s) > maxText {
		s = s[:maxText]
	}
	if !utf8.ValidString(s) {
		s = strings.ToValidUTF8(s, " ")
	}
	t := parsedText{}
	var kept []string
	for _, sentence := range splitTrimmed(s, sentenceEndPattern) {
		if instructionPattern.MatchString(sentence) {
			t.instructions = append(t.instructions, sentence)
			continue
		}
		kept = append(kept, sentence)
		t.clauses = append(t.clauses, splitTrimmed(sentence, clauseEndPattern)...)
	}
	t.body = strings.Join(kept, ". ")
	return t
}

// splitTrimmed splits and trims a text, dropping empty parts.
func splitTrimmed(s string, at *lazyregexp.Regexp) []string {
	var out []string
	for _, p := range at.Split(s, -1) {
		if p = strings.TrimSpace(p); p != "" {
			out = append(out, p)
		}
	}
	return out
}

// findAffirmedClause returns the first clause that contains a match and neither denies nor merely announces it.
func (t parsedText) findAffirmedClause(p *pattern) (clause string, found bool) {
	for _, c := range t.clauses {
		if at := p.FindStringIndex(c); at != nil && !isNegated(c, at) && !announcementPattern.MatchString(c) {
			return c, true
		}
	}
	return "", false
}

// findMention returns the first match in the text, even if the text denies what it mentions.
func (t parsedText) findMention(p *pattern) (mention string, found bool) {
	m := p.FindString(t.body)
	return m, m != ""
}

// isNegated reports whether a clause negates a match: within it, shortly before it, or directly
// after it.
func isNegated(clause string, match []int) bool {
	if negationPattern.MatchString(clause[match[0]:match[1]]) {
		return true
	}
	for _, n := range negationPattern.FindAllStringIndex(clause, -1) {
		switch {
		case n[1] <= match[0] && countWords(clause[n[1]:match[0]]) <= 6:
			return true
		case n[0] >= match[1] && countWords(clause[match[1]:n[0]]) <= 2 && !strings.EqualFold(clause[n[0]:n[1]], "without"):
			return true
		}
	}
	return false
}

func countWords(s string) int { return len(strings.Fields(s)) }

// truncate returns a text on one line, cut at a character boundary to at most the given number of bytes.
// If anything was cut, "…" is appended to it.
func truncate(s string, maxBytes int) string {
	s = strings.Join(strings.Fields(s), " ")
	if len(s) <= maxBytes {
		return s
	}
	s = s[:maxBytes]
	for !utf8.ValidString(s) {
		s = s[:len(s)-1]
	}
	return s + "…"
}

// firstUnique removes duplicates and returns at most limit values.
func firstUnique(values []string, limit int) []string {
	out := []string{}
	for _, s := range values {
		if s != "" && !slices.Contains(out, s) && len(out) < limit {
			out = append(out, s)
		}
	}
	return out
}

// CountInstructions returns the number of sentences that instruct the reader how to answer.
func CountInstructions(s string) int { return len(parseText(s).instructions) }
