// Package questionnaire recognizes the answers in questionnaires and forms: "No", ticked boxes, and the table columns
// that contain answers. The document readers, the splitter and the judge all use it, so that an answer stays with its
// question and is taken at its word.
package questionnaire

import (
	"strings"
	"unicode"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Answer is the meaning of an answer.
type Answer int

// The possible answers. Unanswered includes "not applicable" and "unknown", which don't say whether something is done.
const (
	None Answer = iota // not an answer
	Yes
	Other // another choice, such as "every quarter" or "partly"
	Unanswered
	Planned
	No
)

const (
	boxCharacters = "☐□❏❑⬜▢○◯⚪☑☒✓✔✅✗✘✖⊠●◉⦿🗹🗷[("

	yesWords  = `yes|y|true`
	openWords = `n\.? ?/? ?a\.?|not (?:applicable|relevant|known|answered|assessed|sure)|unknown|` +
		`unanswered|(?:i |we )?(?:don't|don’t|do not) know|no (?:answer|response|information)|` +
		`tb[dac]|to be (?:determined|confirmed|clarified|answered|completed|decided)|pending|out of scope`
	plannedWords = `planned|in (?:progress|planning|preparation|development)|(?:work|rollout|roll-out) in progress|` +
		`under (?:way|development|construction)|underway|` +
		`to be (?:done|implemented|introduced|rolled out|established|started)|to ?do|scheduled|on (?:the|our) roadmap|next (?:year|quarter)`
	noPhrases = `not (?:yet|done|met|tested|in place|compliant|enabled|enforced|implemented|available|` +
		`performed|started|used|in use|established|documented)|` +
		`non-?complian(?:t|ce)|not at all|no,? not`
	partlyWords = `partly|partially(?: implemented)?|in part|some(?:times|what)?`
	endOfAnswer = `\s*(?:$|[.,;:!)\]–—/-]|\(|because\b)`
)

var (
	// answerPatterns match the beginning of an answer with the given meaning. A word such as "no" must be the whole
	// answer or be followed by punctuation, because "No laptop is encrypted" is a statement of its own.
	answerPatterns = []struct {
		answer  Answer
		pattern *lazyregexp.Regexp
	}{
		{Unanswered, lazyregexp.New(`(?i)^(?:` + openWords + `)(?:` + endOfAnswer + `|\s+(?:to|for|at|in|as|yet)\b)`)},
		{Planned, lazyregexp.New(`(?i)^(?:` + plannedWords + `)(?:` + endOfAnswer + `|\s+(?:for|in|by|to|as|from|until|q[1-4]|20\d\d)\b)`)},
		{No, lazyregexp.New(`(?i)^(?:` + noPhrases + `)\b`)},
		{No, lazyregexp.New(`(?i)^(?:(?:no|n|nope|false|none|never)` + endOfAnswer + `|no,? (?:we|they|it|this|there|i)\b|[✗✘❌]\s*$)`)},
		{Yes, lazyregexp.New(`(?i)^(?:(?:` + yesWords + `)` + endOfAnswer + `|yes,? (?:we|they|it|this|there|i)\b|[✓✔✅]\s*$)`)},
		{Other, lazyregexp.New(`(?i)^(?:` + partlyWords + `)` + endOfAnswer)},
	}
	// blankPattern matches a missing answer, or the prompt of a form.
	blankPattern = lazyregexp.New(
		`(?i)^(?:[-–—_.…?\s]*|(?:please )?(?:choose|select)(?: an?| one)?(?: (?:item|option|answer|value))?[ .…]*|` +
			`(?:click|tap)(?: or (?:tap|click))? (?:here )?to enter .*)$`,
	)
	labelPattern = lazyregexp.New(`(?i)^\W*(?:(?:your|vendor|supplier|provider)(?:'s)? )?(?:answer|response|reply|ans|a)\s*(?:\d+\s*)?[:.)]\s+`)
	boxPattern   = lazyregexp.New(
		`[☐□❏❑⬜▢○◯⚪☑☒✓✔✅✗✘✖⊠●◉⦿🗹🗷]|\[[ _]*\]|\([ _]+\)|\[ ?[xX✓✔*•] ?\]|\( ?[xX✓✔*•] ?\)`,
	)
	// lastOptionPattern matches an answer option at the end of the text before a box, as in "Is it done? Yes".
	lastOptionPattern = lazyregexp.New(`(?i)(?:^|[\s/?:.,;])(` + yesWords + `|no|n|false|` + openWords +
		`|planned|in progress|` + partlyWords + `)[:\s]*$`)
	markPattern = lazyregexp.New(`(?i)^(?:[x✓✔✅☑☒✗✘✖⊠●◉⦿•*]|\[ ?[x✓✔*] ?\]|\( ?[x✓✔*] ?\)|yes|true|y)$`)

	columnPattern = lazyregexp.New(
		`(?i)^\W*(?:(?:your|our|vendor|supplier|provider|client|customer|company|auditee|respondent|contractor)(?:'s)? )?` +
			`(?:answers?|responses?|repl(?:y|ies))\W*(?:\([^)]*\)\W*)?$|^\W*(?:yes ?/ ?no|y ?/ ?n)\b[^a-z]*` +
			`(?:n ?/? ?a|partial(?:ly)?|partly|planned)?\W*$|` +
			`\((?:yes ?/ ?no|y ?/ ?n)\b[^)]*\)\W*$|` +
			`^\W*(?:(?:is|are) (?:it|this|they) )?(?:implemented|in place|in use|compliant|complied with|met|fulfilled|done)\s*\?\W*$`,
	)
)

// IsUnticked reports whether a text ends in a box that isn't ticked and contains no other box.
func IsUnticked(text string) bool {
	text = strings.TrimRight(text, " \t.;")
	if !strings.ContainsAny(text, boxCharacters) {
		return false
	}
	boxes := boxPattern.FindAllStringIndex(text, -1)
	return len(boxes) == 1 && boxes[0][1] == len(text) && !isTicked(text[boxes[0][0]:])
}

// IsColumn reports whether a column with this name contains answers.
func IsColumn(name string) bool {
	if len(name) > 80 {
		return false
	}
	lower := strings.ToLower(name)
	may := func(part string) bool { return strings.Contains(lower, part) }
	return (may("?") || may("/") || may("answer") || may("respon") || may("repl")) && columnPattern.MatchString(name)
}

var options = map[string]Answer{
	"yes": Yes, "y": Yes, "true": Yes, "no": No, "n": No, "false": No, "not yet": No, "n/a": Unanswered, "na": Unanswered,
	"not applicable": Unanswered, "not relevant": Unanswered, "unknown": Unanswered, "don't know": Unanswered, "planned": Planned,
	"in progress": Planned, "partly": Other, "partial": Other, "partially": Other, "in part": Other,
}

// AnswerOfColumn returns the answer that a column with this name stands for, such as "No" in a table with one column
// per answer, or None.
func AnswerOfColumn(name string) Answer {
	if len(name) > 30 {
		return None
	}
	return options[strings.ToLower(strings.Trim(name, " ?:*_"))]
}

// IsMark reports whether a cell's value selects the answer option that the cell's column stands for.
func IsMark(value string) bool { return markPattern.MatchString(strings.TrimSpace(value)) }

// WithoutLabel returns an answer without its label, such as "A:", and whether it had one.
func WithoutLabel(text string) (rest string, hadLabel bool) {
	if m := labelPattern.FindStringIndex(text + " "); m != nil {
		return text[min(m[1], len(text)):], true
	}
	return text, false
}

// Parse returns the meaning of a text as an answer, or None if it isn't recognized as an answer. The text may contain a
// label and check boxes.
func Parse(text string) Answer {
	text, labelled := WithoutLabel(text)
	if subject, a := ParseChoice(text); a != None {
		if strings.ContainsFunc(text[:subject], unicode.IsLetter) {
			return None
		}
		return a
	}
	text = strings.Trim(text, " \t\n*_\"'“”")
	if blankPattern.MatchString(text) {
		if text == "" && !labelled {
			return None
		}
		return Unanswered
	}
	return parseWords(text)
}

// parseWords returns the answer with which a text begins, or None.
func parseWords(text string) Answer {
	text = strings.TrimLeft(text, " \t\n*_\"'“”([:")
	for _, p := range answerPatterns {
		if p.pattern.MatchString(text) {
			return p.answer
		}
	}
	return None
}

// ParseChoice returns the answer that is ticked in a text such as "Is it tested? Yes ☐ No ☒", and the length of the
// text before the choices. It returns None if the text offers no choice between answers.
func ParseChoice(text string) (subject int, answer Answer) {
	if !strings.ContainsAny(text, boxCharacters) {
		return 0, None
	}
	boxes := boxPattern.FindAllStringIndex(text, -1)
	if boxes == nil {
		return 0, None
	}
	subject = boxes[0][0]
	boxIsFirst := true
	if m := lastOptionPattern.FindStringSubmatchIndex(text[:subject]); m != nil {
		subject, boxIsFirst = m[2], false
	}
	var chosen [No + 1]bool
	offered, ticked := false, false
	for i, box := range boxes {
		from, to := box[1], len(text)
		switch {
		case !boxIsFirst && i == 0:
			from, to = subject, box[0]
		case !boxIsFirst:
			from, to = boxes[i-1][1], box[0]
		case i+1 < len(boxes):
			to = boxes[i+1][0]
		}
		a := parseWords(strings.Trim(text[from:to], " \t\n,;/|:"))
		offered = offered || a != None
		if isTicked(text[box[0]:box[1]]) {
			ticked = true
			if a == None {
				a = Other
			}
			chosen[a] = true
		}
	}
	switch {
	case !offered:
		return 0, None
	case !ticked, chosen[Unanswered], chosen[Yes] && chosen[No]:
		return subject, Unanswered
	case chosen[No]:
		return subject, No
	case chosen[Planned]:
		return subject, Planned
	case chosen[Other]:
		return subject, Other
	}
	return subject, Yes
}

// isTicked reports whether a box is ticked.
func isTicked(box string) bool {
	switch box {
	case "☐", "□", "❏", "❑", "⬜", "▢", "○", "◯", "⚪":
		return false
	}
	return strings.Trim(box, "[]()_ ") != ""
}

var questionPattern = lazyregexp.New(`(?i)^\W*(?:q(?:uestion)?\s*\d*\s*[:.)]|` +
	`(?:\d[\d.]*\s+)?(?:is|are|was|were|has|have|does|do|did|can|will)\s+\S+\s.*[?:]\W*$)`)

// EndsInQuestion reports whether a text ends in a question, so that an answer can follow.
func EndsInQuestion(text string) bool {
	text = strings.TrimRight(text, " *_\"'”)")
	return strings.HasSuffix(text, "?") || questionPattern.MatchString(text)
}
