package analysis

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/blevesearch/snowballstem"
	"github.com/blevesearch/snowballstem/english"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// element is one of the elements of a requirement, each of which the evidence must state.
type element struct {
	text           string
	terms          []string
	borrowsSubject bool // a part without its own subject, evaluated together with that of the preceding part
	quantity       *quantity
}

// quantity is a figure with its unit, such as "14 days".
type quantity struct {
	value     float64
	unit      string
	isMinimum bool // a required minimum rather than a maximum
}

var (
	conjunctionPattern    = lazyregexp.New(`(?i),\s+(?:and\s+)?|;\s+|\s+and\s+`)
	participlePattern     = lazyregexp.New(`(?i)^(?:(?:are|is|be|have|has|lock|checked|names?|run|retained)\b|\w+(?:ed|en|ised|ized)\b)`)
	quantityPattern       = compilePattern(`(?i)\b(\d+(?:[.,]\d+)?)\s*(minutes?|hours?|days?|weeks?|months?|years?|characters?)\b`)
	passwordLengthPattern = compilePattern(`(?i)password\s*_?length\D{0,12}(\d+)`)
	intervalPattern       = compilePattern(
		`(?i)\b(daily|nightly|weekly|monthly|quarterly|annual(?:ly)?|yearly|(?:each|every|per|once a) (?:day|night|week|month|quarter|year|six months))\b`,
	)
	ratioPattern = lazyregexp.New(`\b(\d+) of (\d+)\b`)
)

// timesPerYear maps frequencies to times per year.
var timesPerYear = map[string]float64{
	"day": 365, "daily": 365, "night": 365, "nightly": 365, "week": 52, "weekly": 52, "month": 12, "monthly": 12,
	"quarter": 4, "quarterly": 4, "six months": 2, "year": 1, "annual": 1, "annually": 1, "yearly": 1,
}

// hoursPerUnit maps time units to hours.
var hoursPerUnit = map[string]float64{"minute": 1.0 / 60, "hour": 1, "day": 24, "week": 168, "month": 730, "year": 8760}

// synonyms maps each word's stem to that of the first word in its group of synonyms.
var synonyms = sync.OnceValue(func() map[string]string {
	same := map[string]string{}
	for _, group := range []string{
		"multi-factor mfa 2fa second-factor factor multifactor totp fido",
		"enforced required mandatory requires refuses must", "remote vpn", "access login",
		"authentication token authenticator", "characters length",
		"install installed applied deployed", "review recertify sign-off reviewed",
		"remove disabled revoked withdrawn deleted", "employee staff personnel people",
		"exercise tabletop drill exercised", "log logging event", "retain kept retention stored keep", "restore recovered recovery",
		"central centrally siem collector", "independent external third-party", "party firm",
		"production live prod", "approve authorise approval reviewer",
		"supplier vendor processor", "sign signed executed",
		"encrypt encryption ciphered bitlocker filevault luks aes", "delete erase deletion destroy",
		"collect forward ship",
		"perform take run conduct done ran performed", "visitor guest", "escort accompany", "critical severe",
		"annual year yearly annually", "exist exists v3", "complete completed finished",
	} {
		fields := strings.Fields(group)
		for _, w := range fields {
			same[stemWord(w)] = stemWord(fields[0])
		}
	}
	return same
})

func stemWord(w string) string {
	env := snowballstem.NewEnv(strings.ToLower(w))
	english.Stem(env)
	return env.Current()
}

var (
	wordPattern   = lazyregexp.New(`[A-Za-z0-9][A-Za-z0-9'-]*`)
	fillerPattern = lazyregexp.New(
		`(?i)^(?:a|an|the|is|are|be|been|and|or|of|to|in|on|at|by|for|with|all|any|each|every|it|they|their|its|that|this|which|as|least|most|within|from|before|after|how|long|has|have|exists?|new|last|own|per|against|must|shall|should|can)$`,
	)
	camelCasePattern = lazyregexp.New(`([a-z])([A-Z])`)
	numberPattern    = lazyregexp.New(`^\d+$`)
)

func extractTerms(s string) []string { return termCache{}.extractTermsCached(s) }

// termCache maps words to terms; "" marks filler words.
type termCache map[string]string

func (l termCache) extractTermsCached(s string) []string {
	var out []string
	seen := map[string]bool{}
	s = camelCasePattern.ReplaceAllString(s, "$1 $2")
	for _, w := range wordPattern.FindAllString(s, -1) {
		parts := []string{w}
		if strings.Contains(w, "-") {
			parts = append(parts, strings.Split(w, "-")...)
		}
		for _, p := range parts {
			k, known := l[p]
			if !known {
				k = canonicalStem(p)
				l[p] = k
			}
			if k != "" && !seen[k] {
				seen[k] = true
				out = append(out, k)
			}
		}
	}
	return out
}

func canonicalStem(part string) string {
	if part == "" || fillerPattern.MatchString(part) || numberPattern.MatchString(part) || isTimeUnit(part) ||
		intervalPattern.MatchString(part) {
		return ""
	}
	k := stemWord(part)
	if s, ok := synonyms()[k]; ok {
		k = s
	}
	return k
}

// toSet returns the terms as a set.
func toSet(terms []string) map[string]bool {
	out := make(map[string]bool, len(terms))
	for _, t := range terms {
		out[t] = true
	}
	return out
}

// preparedText is a description preprocessed for matching many elements.
type preparedText struct {
	body              string
	terms             map[string]bool
	clauses           []clause
	timesPerYear      float64
	quantities        []*quantity
	hasRatio          bool // contains a ratio such as "3 of 4"
	passwordLength    float64
	hasPasswordLength bool // states a password length, held in passwordLength
}

// clause is a clause of the evidence, with the terms that it contains.
type clause struct {
	text string
	// terms are the clause's own terms. contextTerms also include those of the preceding clause,
	// because a subject is often named only once.
	terms, contextTerms                  map[string]bool
	isAnnounced, isPlaceholder, isDenied bool
}

func extractTextFeatures(t parsedText) *preparedText {
	l := termCache{}
	out := &preparedText{
		body:         t.body,
		terms:        toSet(l.extractTermsCached(t.body)),
		timesPerYear: highestTimesPerYear(t.body),
		hasRatio:     ratioPattern.MatchString(t.body),
	}
	for i, c := range t.clauses {
		one := clause{
			text:          c,
			terms:         toSet(l.extractTermsCached(c)),
			isAnnounced:   announcementPattern.MatchString(c),
			isPlaceholder: placeholderPattern.MatchString(c),
			isDenied:      negationPattern.MatchString(c) && !harmlessNegation.MatchString(c),
		}
		one.contextTerms = one.terms
		if i > 0 {
			one.contextTerms = maps.Clone(out.clauses[i-1].terms)
			maps.Copy(one.contextTerms, one.terms)
		}
		out.clauses = append(out.clauses, one)
	}
	for _, m := range quantityPattern.FindAllString(t.body, -1) {
		if s := parseQuantity(m, m); s != nil {
			out.quantities = append(out.quantities, s)
		}
	}
	if m := passwordLengthPattern.FindStringSubmatch(t.body); m != nil {
		out.hasPasswordLength = true
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			out.passwordLength = n
		}
	}
	return out
}

func isTimeUnit(w string) bool {
	_, ok := hoursPerUnit[strings.TrimSuffix(strings.ToLower(w), "s")]
	return ok
}

// splitElements returns the elements of a requirement: its clauses, and the parts of clauses that
// list several verbs for one subject.
func splitElements(requirement string) []element {
	var out []element
	for _, s := range splitTrimmed(requirement, sentenceEndPattern) {
		parts := splitTrimmed(s, conjunctionPattern)
		subject := extractTerms(subjectBeforeVerb(parts))
		for i, p := range parts {
			e := element{text: strings.TrimRight(p, " ."), terms: extractTerms(p), quantity: parseQuantity(p, p)}
			if i > 0 && !participlePattern.MatchString(p) && len(out) > 0 && len(e.terms) < 2 && !intervalPattern.MatchString(p) {
				last := &out[len(out)-1] // "hosts and networks" is one element
				last.text += " and " + e.text
				last.terms = append(last.terms, e.terms...)
				continue
			}
			if i > 0 && len(subject) > 0 {
				e.borrowsSubject = true
			}
			out = append(out, e)
		}
	}
	return out
}

var minimumPattern = compileIgnoringCase(`at least|minimum|retain|kept|keep|retention`)

var verbPattern = compilePattern(`(?i)\b(?:is|are|has|have|must|run|exists?|sign|lose|lock|defines?|complete)\b`)

// subjectBeforeVerb returns the text before the verb in the first of the parts, or "" if it has no verb.
func subjectBeforeVerb(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	if at := verbPattern.FindStringIndex(parts[0]); at != nil {
		return parts[0][:at[0]]
	}
	return ""
}

func parseQuantity(s, surrounding string) *quantity {
	if m := quantityPattern.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		if err != nil {
			return nil
		}
		unit := strings.TrimSuffix(strings.ToLower(m[2]), "s")
		least := minimumPattern.MatchString(surrounding) || unit == "character"
		if h, ok := hoursPerUnit[unit]; ok {
			return &quantity{value: n * h, unit: "hour", isMinimum: least}
		}
		return &quantity{value: n, unit: unit, isMinimum: least}
	}
	return nil
}

// highestTimesPerYear returns the highest frequency in a text, in times per year, or 0 if there is
// none.
func highestTimesPerYear(s string) float64 {
	best := 0.0
	for _, m := range intervalPattern.FindAllString(s, -1) {
		m = strings.ToLower(m)
		for _, prefix := range []string{"each ", "every ", "per ", "once a "} {
			m = strings.TrimPrefix(m, prefix)
		}
		best = max(best, timesPerYear[m])
	}
	return best
}

// EvaluateEvidence judges whether a description of evidence meets a requirement. The description must
// confirm every element of the requirement; statements that are negated, only planned or left blank do not
// count.
func EvaluateEvidence(_ context.Context, requirement, description string) (evaluation *api.EvidenceEvaluation, indicators Indicators) {
	var signs Indicators
	out := &api.EvidenceEvaluation{AnalysisMetadata: newAnalysisMetadata()}
	required := splitElements(requirement)
	t := parseText(description)
	prepared := extractTextFeatures(t)
	for _, o := range t.instructions {
		signs.add("order", o, "ignored: an instruction to the reader, not evidence")
	}
	var met int
	shares := 0.0
	for _, e := range required {
		full := e
		if e.borrowsSubject {
			full.terms = append(slices.Clone(required[0].terms[:min(len(required[0].terms), 2)]), e.terms...)
		}
		v := evaluateElement(full, e, prepared)
		shares += v.share
		if v.met {
			met++
			signs.add("element_met", v.quote, e.text)
			continue
		}
		out.MissingElements = append(out.MissingElements, fmt.Sprintf("%s (%s)", e.text, v.reason))
		signs.add("element_missing", e.text, v.reason)
	}
	out.MissingElements = emptyIfNil(out.MissingElements)
	out.IsCompliant = len(required) > 0 && met == len(required)
	if addNonEnglishLimitation(&out.Limitations, &signs, requirement, description) && out.IsCompliant {
		out.IsCompliant, met = false, 0
		for _, e := range required { // a denial of the elements would not have been recognized
			out.MissingElements = append(out.MissingElements, e.text+" (the built-in rules can read only English)")
		}
	}
	n := float64(max(1, len(required)))
	switch {
	case out.IsCompliant:
		out.ConfidenceScore = clamp(60+35*shares/n, 0, 97)
		out.AuditorNotes = fmt.Sprintf(
			"The description supports all %d elements of the requirement. It is only a description: check the records it "+
				"mentions before relying on it.",
			len(required),
		)
	case strings.TrimSpace(description) == "":
		out.ConfidenceScore = 95
		out.AuditorNotes = "No evidence was given. The practice may still be in place."
	default:
		out.ConfidenceScore = clamp(55+40*(1-shares/n), 0, 95)
		out.AuditorNotes = fmt.Sprintf(
			"%d of %d elements are supported. Missing: %s.",
			met,
			len(required),
			truncate(strings.Join(out.MissingElements, "; "), 900),
		)
	}
	out.ConfidenceScore = float64(int(out.ConfidenceScore + 0.5))
	switch n := len(t.instructions); n {
	case 0:
	case 1:
		out.AuditorNotes += " 1 sentence was ignored because it instructs the reader."
	default:
		out.AuditorNotes += fmt.Sprintf(" %d sentences were ignored because they instruct the reader.", n)
	}
	return out, signs
}

// elementVerdict is the verdict on whether the evidence has a required element.
type elementVerdict struct {
	met           bool
	share         float64
	quote, reason string
}

const minTermShare = 0.6 // of an element's terms

// evaluateElement looks for an element in the clauses of a text. A sentence supports the element if
// it contains most of its terms and does not deny it, merely plan it, or leave it blank. Words from
// elsewhere in the text also count, because a subject is often named only once.
func evaluateElement(full, own element, t *preparedText) elementVerdict {
	if len(own.terms) == 0 && own.quantity == nil {
		return elementVerdict{met: true, share: 1}
	}
	best := elementVerdict{reason: "not mentioned in the evidence"}
	var no, plan, gap string
	near := 0.0
	negated := negationPattern.MatchString(own.text) || strings.Contains(strings.ToLower(own.text), "denied")
	for _, c := range t.clauses {
		have, direct := 0.0, 0
		for _, term := range full.terms {
			switch {
			case c.terms[term]:
				have++
				direct++
			case c.contextTerms[term]:
				have += 0.9
			case t.terms[term]:
				have += 0.6
			}
		}
		share := have / float64(max(1, len(full.terms)))
		hits := 0
		for _, term := range own.terms {
			if c.terms[term] {
				hits++
			}
		}
		if hits == 0 && len(own.terms) > 0 {
			continue
		}
		near = max(near, share)
		switch {
		case c.isAnnounced:
			if share >= 0.4 {
				plan = c.text
			}
			continue
		case c.isPlaceholder:
			gap = c.text
			continue
		case c.isDenied && !negated:
			if share >= 0.4 {
				no = c.text
			}
			continue
		}
		if share > best.share && share >= minTermShare && direct > 0 && coversOwnTerms(own, c) {
			best = elementVerdict{met: true, share: min(1, share), quote: c.text}
		}
	}
	if no != "" && (!best.met || best.share < 0.95) {
		return elementVerdict{reason: "contradicted by the evidence: " + truncate(no, 120)}
	}
	if !best.met {
		switch {
		case plan != "":
			best.reason = "only planned: " + truncate(plan, 120)
		case gap != "":
			best.reason = "an unfilled template placeholder: " + truncate(gap, 120)
		case near > 0:
			best.reason = "related, but not stated in the evidence"
		}
		return best
	}
	if why := quantityMismatch(own, t); why != "" {
		return elementVerdict{share: best.share / 2, reason: why}
	}
	return best
}

// coversOwnTerms reports whether a clause contains enough of an element's own words. It matters for
// an element that borrows its subject from the preceding part, because the words of the subject
// alone are not enough.
func coversOwnTerms(own element, c clause) bool {
	if !own.borrowsSubject {
		return true
	}
	covered := 0.0
	for _, term := range own.terms {
		switch {
		case c.terms[term]:
			covered++
		case c.contextTerms[term]:
			covered += 0.9
		}
	}
	return covered >= minTermShare*float64(len(own.terms))
}

// harmlessNegation matches negations that express completeness rather than absence.
var harmlessNegation = compilePattern(
	`(?i)\bwithout (?:it|exception|fail)\b|\bno exceptions?\b|\bnot one\b|\bnone (?:open|overdue|outstanding)\b|\b0 (?:open|overdue)\b`,
)

// quantityMismatch compares the periods and frequencies of a requirement with those of the evidence. It
// describes the mismatch, or returns "" if there is none.
func quantityMismatch(e element, t *preparedText) string {
	if required := highestTimesPerYear(e.text); required > 0 {
		if t.timesPerYear > 0 && t.timesPerYear < required && !t.hasRatio {
			return "the interval in the evidence is longer than required"
		}
	}
	want := e.quantity
	if want == nil {
		return ""
	}
	var seen bool
	for _, got := range t.quantities {
		if got.unit != want.unit {
			continue
		}
		seen = true
		if want.isMinimum && got.value >= want.value || !want.isMinimum && got.value <= want.value {
			return ""
		}
	}
	if t.hasPasswordLength && want.unit == "character" {
		seen = true
		if t.passwordLength >= want.value {
			return ""
		}
	}
	if !seen {
		return "no figure in the evidence"
	}
	return "the figure in the evidence falls short of the requirement"
}
