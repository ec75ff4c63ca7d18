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

// element is one thing that a requirement asks for.
type element struct {
	text  string
	terms []string
	terse bool // a part without a verb of its own, read with the subject
	span  *span
}

// span is a figure with its unit: "14 days".
type span struct {
	n     float64
	unit  string
	least bool // at least so much is asked for, else at most
}

var (
	conjunction = lazyregexp.Of(`(?i),\s+(?:and\s+)?|;\s+|\s+and\s+`)
	participle  = lazyregexp.Of(`(?i)^(?:(?:are|is|be|have|has|lock|checked|names?|run|retained)\b|\w+(?:ed|en|ised|ized)\b)`)
	figure      = compile(`(?i)\b(\d+(?:[.,]\d+)?)\s*(minutes?|hours?|days?|weeks?|months?|years?|characters?)\b`)
	lengthOf    = compile(`(?i)password\s*_?length\D{0,12}(\d+)`)
	each        = compile(`(?i)\b(daily|nightly|weekly|monthly|quarterly|annual(?:ly)?|yearly|(?:each|every|per|once a) (?:day|night|week|month|quarter|year|six months))\b`)
	of          = lazyregexp.Of(`\b(\d+) of (\d+)\b`)
)

// rhythm is how many times a year.
var rhythm = map[string]float64{"day": 365, "daily": 365, "night": 365, "nightly": 365, "week": 52, "weekly": 52, "month": 12, "monthly": 12,
	"quarter": 4, "quarterly": 4, "six months": 2, "year": 1, "annual": 1, "annually": 1, "yearly": 1}

// inHours are units of time.
var inHours = map[string]float64{"minute": 1.0 / 60, "hour": 1, "day": 24, "week": 168, "month": 730, "year": 8760}

// same are words that stand for another in evidence.
var same = sync.OnceValue(func() map[string]string {
	same := map[string]string{}
	for _, group := range []string{
		"multi-factor mfa 2fa second-factor factor multifactor totp fido", "enforced required mandatory requires refuses must", "remote vpn", "access login", "authentication token authenticator", "characters length",
		"install installed applied deployed", "review recertify sign-off reviewed", "remove disabled revoked withdrawn deleted", "employee staff personnel people",
		"exercise tabletop drill exercised", "log logging event", "retain kept retention stored keep", "restore recovered recovery",
		"central centrally siem collector", "independent external third-party", "party firm", "production live prod", "approve authorise approval reviewer",
		"supplier vendor processor", "sign signed executed", "encrypt encryption ciphered bitlocker filevault luks aes", "delete erase deletion destroy", "collect forward ship",
		"perform take run conduct done ran performed", "visitor guest", "escort accompany", "critical severe", "annual year yearly annually", "exist exists v3", "complete completed finished",
	} {
		fields := strings.Fields(group)
		for _, w := range fields {
			same[stem(w)] = stem(fields[0])
		}
	}
	return same
})

func stem(w string) string {
	env := snowballstem.NewEnv(strings.ToLower(w))
	english.Stem(env)
	return env.Current()
}

var (
	wordOf   = lazyregexp.Of(`[A-Za-z0-9][A-Za-z0-9'-]*`)
	fillers  = lazyregexp.Of(`(?i)^(?:a|an|the|is|are|be|been|and|or|of|to|in|on|at|by|for|with|all|any|each|every|it|they|their|its|that|this|which|as|least|most|within|from|before|after|how|long|has|have|exists?|new|last|own|per|against|must|shall|should|can)$`)
	camel    = lazyregexp.Of(`([a-z])([A-Z])`)
	noFigure = lazyregexp.Of(`^\d+$`)
)

func termsOf(s string) []string { return lexer{}.terms(s) }

// lexer remembers what each word counts as; "" for those that say nothing.
type lexer map[string]string

func (l lexer) terms(s string) []string {
	var out []string
	seen := map[string]bool{}
	s = camel.ReplaceAllString(s, "$1 $2")
	for _, w := range wordOf.FindAllString(s, -1) {
		parts := []string{w}
		if strings.Contains(w, "-") {
			parts = append(parts, strings.Split(w, "-")...)
		}
		for _, p := range parts {
			k, known := l[p]
			if !known {
				k = termOf(p)
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

func termOf(p string) string {
	if p == "" || fillers.MatchString(p) || noFigure.MatchString(p) || figureUnit(p) || each.MatchString(p) {
		return ""
	}
	k := stem(p)
	if s, ok := same()[k]; ok {
		k = s
	}
	return k
}

// setOf is terms to be looked up.
func setOf(terms []string) map[string]bool {
	out := make(map[string]bool, len(terms))
	for _, t := range terms {
		out[t] = true
	}
	return out
}

// said is a description made ready to be looked through for many elements.
type said struct {
	whole   string
	all     map[string]bool
	clauses []clause
	rate    float64
	spans   []*span
	parts   bool // it tells "3 of 4"
	length  float64
	lengths bool // it tells how long passwords are, in length
}

type clause struct {
	text string
	// here are its terms, wide those of the one before it too: a subject is named once.
	here, wide              map[string]bool
	announced, open, denies bool
}

func prepare(t text) *said {
	l := lexer{}
	out := &said{whole: t.whole, all: setOf(l.terms(t.whole)), rate: rate(t.whole), parts: of.MatchString(t.whole)}
	for i, c := range t.clauses {
		one := clause{text: c, here: setOf(l.terms(c)), announced: announce.MatchString(c), open: blank.MatchString(c),
			denies: negation.MatchString(c) && !harmless.MatchString(c)}
		one.wide = one.here
		if i > 0 {
			one.wide = maps.Clone(out.clauses[i-1].here)
			maps.Copy(one.wide, one.here)
		}
		out.clauses = append(out.clauses, one)
	}
	for _, m := range figure.FindAllString(t.whole, -1) {
		if s := spanOf(m, m); s != nil {
			out.spans = append(out.spans, s)
		}
	}
	if m := lengthOf.FindStringSubmatch(t.whole); m != nil {
		out.lengths = true
		if n, err := strconv.ParseFloat(m[1], 64); err == nil {
			out.length = n
		}
	}
	return out
}

func figureUnit(w string) bool {
	_, ok := inHours[strings.TrimSuffix(strings.ToLower(w), "s")]
	return ok
}

// elements are what a requirement asks for, one by one: its clauses, and the parts of a
// row of verbs after one subject.
func elements(requirement string) []element {
	var out []element
	for _, s := range cut(requirement, sentenceEnd) {
		parts := cut(s, conjunction)
		subject := termsOf(subjectOf(parts))
		for i, p := range parts {
			e := element{text: strings.TrimRight(p, " ."), terms: termsOf(p), span: spanOf(p, p)}
			if i > 0 && !participle.MatchString(p) && len(out) > 0 && len(e.terms) < 2 && !each.MatchString(p) {
				last := &out[len(out)-1] // "hosts and networks" is one thing
				last.text += " and " + e.text
				last.terms = append(last.terms, e.terms...)
				continue
			}
			if i > 0 && len(subject) > 0 {
				e.terse = true
			}
			out = append(out, e)
		}
	}
	return out
}

var atLeast = re(`at least|minimum|retain|kept|keep|retention`)

var verbOf = compile(`(?i)\b(?:is|are|has|have|must|run|exists?|sign|lose|lock|defines?|complete)\b`)

// subjectOf is what stands before the verb of the first part.
func subjectOf(parts []string) string {
	if len(parts) == 0 {
		return ""
	}
	if at := verbOf.FindStringIndex(parts[0]); at != nil {
		return parts[0][:at[0]]
	}
	return ""
}

func spanOf(s, beside string) *span {
	if m := figure.FindStringSubmatch(s); m != nil {
		n, err := strconv.ParseFloat(strings.Replace(m[1], ",", ".", 1), 64)
		if err != nil {
			return nil
		}
		unit := strings.TrimSuffix(strings.ToLower(m[2]), "s")
		least := atLeast.MatchString(beside) || unit == "character"
		if h, ok := inHours[unit]; ok {
			return &span{n * h, "hour", least}
		}
		return &span{n, unit, least}
	}
	return nil
}

// rate is the most frequent rhythm that a text names, 0 for none.
func rate(s string) float64 {
	best := 0.0
	for _, m := range each.FindAllString(s, -1) {
		m = strings.ToLower(m)
		for _, prefix := range []string{"each ", "every ", "per ", "once a "} {
			m = strings.TrimPrefix(m, prefix)
		}
		best = max(best, rhythm[m])
	}
	return best
}

// Evidence judges whether a description of evidence meets a requirement. Every element
// of the requirement has to be said; what is denied, announced or a blank says nothing.
func Evidence(_ context.Context, requirement, description string) (*api.EvidenceEvaluation, Signs) {
	var signs Signs
	out := &api.EvidenceEvaluation{Analysed: answered()}
	asked := elements(requirement)
	t := read(description)
	ready := prepare(t)
	for _, o := range t.orders {
		signs.add("order", o, "it tells the reader what to answer and is not evidence")
	}
	var met int
	shares := 0.0
	for _, e := range asked {
		full := e
		if e.terse {
			full.terms = append(slices.Clone(asked[0].terms[:min(len(asked[0].terms), 2)]), e.terms...)
		}
		v := weigh(full, e, ready)
		shares += v.share
		if v.met {
			met++
			signs.add("element_met", v.quote, e.text)
			continue
		}
		out.MissingElements = append(out.MissingElements, fmt.Sprintf("%s (%s)", e.text, v.why))
		signs.add("element_missing", e.text, v.why)
	}
	out.MissingElements = list(out.MissingElements)
	out.IsCompliant = len(asked) > 0 && met == len(asked)
	if notRead(&out.Limitations, &signs, requirement, description) && out.IsCompliant {
		out.IsCompliant, met = false, 0
		for _, e := range asked { // a denial would not have been seen
			out.MissingElements = append(out.MissingElements, e.text+" (the rules don't read this language)")
		}
	}
	n := float64(max(1, len(asked)))
	switch {
	case out.IsCompliant:
		out.ConfidenceScore = bounded(60+35*shares/n, 0, 97)
		out.AuditorNotes = fmt.Sprintf("All %d elements of the requirement are borne out by the description. It is a description: look at the records it names before relying on it.", len(asked))
	case strings.TrimSpace(description) == "":
		out.ConfidenceScore = 95
		out.AuditorNotes = "No evidence was given. That says nothing of the practice itself."
	default:
		out.ConfidenceScore = bounded(55+40*(1-shares/n), 0, 95)
		out.AuditorNotes = fmt.Sprintf("%d of %d elements are borne out. Missing: %s.", met, len(asked), clip(strings.Join(out.MissingElements, "; "), 900))
	}
	out.ConfidenceScore = float64(int(out.ConfidenceScore + 0.5))
	if len(t.orders) > 0 {
		out.AuditorNotes += fmt.Sprintf(" %d sentence(s) that tell the reader what to answer were left out.", len(t.orders))
	}
	return out, signs
}

type weighed struct {
	met        bool
	share      float64
	quote, why string
}

const enough = 0.6 // of an element's terms

// weigh looks for an element in the clauses of a text: the sentence has to hold most of
// its terms, and must not deny, announce or leave blank. Words of the whole text help a
// clause, for a subject is named once.
func weigh(full, own element, t *said) weighed {
	if len(own.terms) == 0 && own.span == nil {
		return weighed{met: true, share: 1}
	}
	best := weighed{why: "nothing in the evidence says it"}
	var no, plan, gap string
	near := 0.0
	negated := negation.MatchString(own.text) || strings.Contains(strings.ToLower(own.text), "denied")
	for _, c := range t.clauses {
		have, direct := 0.0, 0
		for _, term := range full.terms {
			switch {
			case c.here[term]:
				have++
				direct++
			case c.wide[term]:
				have += 0.9
			case t.all[term]:
				have += 0.6
			}
		}
		share := have / float64(max(1, len(full.terms)))
		hits := 0
		for _, term := range own.terms {
			if c.here[term] {
				hits++
			}
		}
		if hits == 0 && len(own.terms) > 0 {
			continue
		}
		near = max(near, share)
		switch {
		case c.announced:
			if share >= 0.4 {
				plan = c.text
			}
			continue
		case c.open:
			gap = c.text
			continue
		case c.denies && !negated:
			if share >= 0.4 {
				no = c.text
			}
			continue
		}
		if share > best.share && share >= enough && direct > 0 && ownSaid(own, c) {
			best = weighed{met: true, share: min(1, share), quote: c.text}
		}
	}
	if no != "" && (!best.met || best.share < 0.95) {
		return weighed{why: "the evidence says otherwise: " + clip(no, 120)}
	}
	if !best.met {
		switch {
		case plan != "":
			best.why = "it is only announced: " + clip(plan, 120)
		case gap != "":
			best.why = "it is a template's blank: " + clip(gap, 120)
		case near > 0:
			best.why = "the evidence touches it, but does not say it"
		}
		return best
	}
	if why := figuresDiffer(own, t); why != "" {
		return weighed{share: best.share / 2, why: why}
	}
	return best
}

// ownSaid: of a part that borrows its subject, the words of its own have to be there.
func ownSaid(own element, c clause) bool {
	if !own.terse {
		return true
	}
	said := 0.0
	for _, term := range own.terms {
		switch {
		case c.here[term]:
			said++
		case c.wide[term]:
			said += 0.9
		}
	}
	return said >= enough*float64(len(own.terms))
}

// harmless negations say that a thing is complete, not that it is absent.
var harmless = compile(`(?i)\bwithout (?:it|exception|fail)\b|\bno exceptions?\b|\bnot one\b|\bnone (?:open|overdue|outstanding)\b|\b0 (?:open|overdue)\b`)

// figuresDiffer compares spans and rhythms of what is asked for with those of the evidence.
func figuresDiffer(e element, t *said) string {
	if asked := rate(e.text); asked > 0 {
		if t.rate > 0 && t.rate < asked && !t.parts {
			return "the evidence names a longer interval than is asked for"
		}
	}
	want := e.span
	if want == nil {
		return ""
	}
	var seen bool
	for _, got := range t.spans {
		if got.unit != want.unit {
			continue
		}
		seen = true
		if want.least && got.n >= want.n || !want.least && got.n <= want.n {
			return ""
		}
	}
	if t.lengths && want.unit == "character" {
		seen = true
		if t.length >= want.n {
			return ""
		}
	}
	if !seen {
		return "no figure in the evidence shows it"
	}
	return "the figure in the evidence does not reach what is asked for"
}
