package judge

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// credit is what a verdict is worth in the ratio.
func (f *found) credit() float64 {
	if !f.about {
		return offTopic * f.full()
	}
	return f.full()
}

func (f *found) full() float64 {
	switch {
	case f.verdict == covered:
		return 1
	case f.verdict == partial && f.strong:
		return 0.75
	case f.verdict == partial || f.verdict == conflicting:
		return 0.5
	}
	return 0
}

// Of a control's statements, so many must be said at least nearly in full for it to
// be implemented, and so many in full; and the ratio must be so high.
const (
	mostOf   = 0.5
	fullOf   = 0.25
	doneFrom = 0.5
	saidFrom = 0.62 // from here, documents in force suffice though nothing shows it being done
	noneOf   = 0.34 // no more than this share of them may be missing outright
)

// atLeast is the least number that is this share of n.
func atLeast(share float64, n int) int { return int(math.Ceil(share*float64(n) - 1e-9)) }

const (
	strongFrom  = 0.8
	partialFrom = 0.4
)

const (
	offTopic   = 0.6 // what a statement is worth that is said by passages about something else
	aboutTopic = 0.34
	aboutCover = 0.68
	wholeCover = 0.75 // of a passage that has a word of each group of the statement's wording, whatever it names
	someFrom   = 0.32 // below this, with less than two statements nearly said, a hit is no evidence of the control
)

func coverageOf(ratio float64) api.EvidenceCoverage {
	switch {
	case ratio >= strongFrom:
		return api.CoverageStrong
	case ratio >= partialFrom:
		return api.CoveragePartial
	case ratio > 0:
		return api.CoverageWeak
	}
	return api.CoverageAbsent
}

// conclude draws the control's judgement from its statements.
func (s *Session) conclude(c api.Control, from api.StatementSource, all []found) Judgement {
	j := Judgement{StatementsFrom: from}
	n := make(map[string]int)
	total, scores := 0.0, 0.0
	intent, foreign := false, 0
	operated, firm, strong, about := 0, 0, 0, 0
	announced, faded := 0, false
	for i := range all {
		f := &all[i]
		n[f.verdict]++
		if f.verdict == plannedOnly && f.best.named {
			announced++
		}
		f.weigh(s)
		total += f.credit()
		if f.credit() > 0 {
			intent = intent || f.intent
			if f.op {
				operated++
			}
			if f.firm {
				firm++
			}
			if f.strong {
				strong++
			}
			if f.about {
				about++
			}
			faded = faded || f.faded
			scores += f.score
		}
		foreign = max(foreign, f.foreign)
		st := api.Statement{Text: f.demand.text, Verdict: f.verdict, Reason: f.reason, Score: f.score}
		if f.best != nil {
			st.ChunkID = f.best.from.ChunkID
		}
		j.Statements = append(j.Statements, st)
		for _, r := range f.shown {
			e := r.evidence(f.demand.text)
			if f.verdict == conflicting && (r.verdict == denied || r.fell) {
				e.Stance = "conflicts"
			}
			j.Evidence = append(j.Evidence, e)
		}
		j.Exception = j.Exception || f.exception
		if m := f.lacking(); m != "" {
			j.Missing = append(j.Missing, m)
		}
	}
	j.Evidence = once(j.Evidence)
	if len(all) > 0 {
		j.Ratio = round(total / float64(len(all)))
	}
	j.Coverage = coverageOf(j.Ratio)
	j.Operation = operated > 0
	asksOperation := asksForOperation(c, all)
	bearing := n[covered] + n[partial] + n[conflicting]
	switch {
	case about > 0 && total >= float64(n[denied]) && (j.Ratio >= someFrom || n[covered] > 0 && strong > 1):
		j.Implementation, j.Reason = api.PartiallyImplemented, ""
		clean := n[denied]+n[conflicting]+n[plannedOnly] == 0
		switch {
		case n[conflicting] > 0:
			j.Reason = fmt.Sprintf(contradictions[disputeOf(j.Statements)].reason, count(n[conflicting], len(all)))
		case !clean:
			j.Reason = "Not all of it is done: " + tally(n, len(all)) + "." + deniedOf(all)
		case n[missing]+n[template] > int(noneOf*float64(len(all))):
			j.Reason = fmt.Sprintf("%s, and nothing of %d; of a control that is implemented, no more than a third may be missing.",
				degrees(n, strong, len(all)), n[missing]+n[template])
		case j.Ratio < doneFrom || strong < atLeast(mostOf, len(all)) || n[covered] < atLeast(fullOf, len(all)):
			j.Reason = fmt.Sprintf("%s: %.0f %% of the control. Implemented needs %.0f %%, with %d said at least nearly in full and %d in full.",
				degrees(n, strong, len(all)), j.Ratio*100, doneFrom*100, atLeast(mostOf, len(all)), atLeast(fullOf, len(all)))
		case !intent:
			j.Reason = "Records show it being done, but no policy or procedure asks for it."
		case asksOperation && operated == 0 && firm == 0 && faded:
			j.Reason = "Policies ask for it, but the records that show it being done are too old, and no procedure says who does it and when."
		case asksOperation && operated == 0 && firm == 0 && j.Ratio < saidFrom:
			j.Reason = "Policies ask for part of it, but no record shows it being done, and no procedure says who does it and when."
		default:
			j.Implementation = api.Implemented
			j.Reason = fmt.Sprintf("The evidence says %s in full", count(n[covered], len(all)))
			if rest := strong - n[covered]; rest > 0 {
				j.Reason += fmt.Sprintf(" and %d nearly so", rest)
			}
			switch {
			case operated > 0:
				j.Reason += ", and records show it being done."
			case asksOperation && firm > 0:
				j.Reason += "; documents say who does it, when or with what, though no record was found."
			case asksOperation:
				j.Reason += ", in documents that nothing marks as a draft; but none says who does it and when, and no record was found: ask for one."
			default:
				j.Reason += "."
			}
		}
	case announced > 0 || 2*n[plannedOnly] >= len(all) && n[plannedOnly] > 0:
		j.Implementation = api.Planned
		j.Reason = "It is announced, not done: " + tally(n, len(all)) + "."
	case n[covered] > 0 && total > float64(n[denied]) && n[denied] > 0:
		// What is denied is outweighed by what is shown.
		j.Implementation = api.PartiallyImplemented
		j.Reason = "Not all of it is done: " + tally(n, len(all)) + "." + deniedOf(all)
	case n[denied] > 0:
		j.Implementation = api.NotImplemented
		j.Reason = "The evidence says that it is not done: " + tally(n, len(all)) + "."
	default:
		j.Implementation = api.NotEvidenced
		switch {
		case n[template] > 0:
			j.Reason = "Only a template with unfilled blanks speaks of it; a template is no evidence."
		case n[plannedOnly] > 0:
			j.Reason = fmt.Sprintf("A plan for something else speaks of %s; nothing says that the control is planned.", count(n[plannedOnly], len(all)))
		case total > 0:
			j.Reason = "A passage touches on it, too little to be evidence of the control."
		case foreign > 0:
			j.Reason = "Nothing was found in English, and passages close by meaning are in another language, which these rules can't read: a person should."
		default:
			j.Reason = "No passage was found that says it. That doesn't say that it isn't done."
		}
	}
	j.Confidence = confidence(j, all, scores, bearing, foreign)
	return j
}

// deniedOf names the statements that are denied, for a reason; empty where none is.
func deniedOf(all []found) string {
	var names []string
	for i := range all {
		if all[i].verdict == denied {
			names = append(names, quoteWords(strings.TrimRight(all[i].demand.text, ".")))
		}
	}
	if len(names) == 0 {
		return ""
	}
	return " The evidence denies " + list(names) + "."
}

// standing orders stances by what a reader has to see first.
var standing = map[string]int{"conflicts": 6, "denies": 5, "supports": 4, "limits": 3, "plans": 2, "template": 1}

// once lists each quote a single time, with all the statements it bears on and the
// stance that weighs most.
func once(all []api.Evidence) []api.Evidence {
	at := make(map[string]int)
	var out []api.Evidence
	for _, e := range all {
		key := e.DocumentID + "\n" + e.Quote
		i, seen := at[key]
		if !seen {
			at[key] = len(out)
			out = append(out, e)
			continue
		}
		first := &out[i]
		first.Supports += " " + e.Supports
		first.Score = max(first.Score, e.Score)
		if standing[e.Stance] > standing[first.Stance] {
			first.Stance = e.Stance
		}
	}
	return out
}

// weigh notes what kinds of documents bear a statement.
func (f *found) weigh(s *Session) {
	for _, r := range f.shown {
		if r.verdict != covered && r.verdict != partial {
			continue
		}
		f.strong = f.strong || f.verdict == covered || f.verdict == partial && r.strong
		f.about = f.about || r.match.topic >= aboutTopic && r.cover >= aboutCover || r.match.worded.whole() && r.cover >= wholeCover
		cur := &r.from.sentences[r.at]
		// "Access that has been granted is reviewed" tells of nothing that was done: what a rule tells of has a date.
		record := r.from.isRecord() || r.happened && !cur.strong && (!intends(r.from.category) || len(cur.years) > 0)
		if record && s.fresh(r.from, cur) {
			f.op = true
		}
		if !r.from.isRecord() {
			f.intent = true
		}
		if !r.from.isRecord() && (r.concrete >= 2 || r.concrete >= 1 && (r.from.category == "procedure" || r.from.category == "standard" || r.from.category == "plan")) {
			f.firm = true
		}
	}
}

// lacking says in plain words what is missing of a statement.
func (f *found) lacking() string {
	ended := strings.TrimRight(f.demand.text, ".")
	switch f.verdict {
	case covered:
		return ""
	case missing:
		return f.demand.text
	case partial:
		why := strings.TrimRight(f.reason, ".")
		if f.best == nil || !strings.HasPrefix(why, f.best.name()) {
			why = lowerFirst(why)
		}
		return ended + " (in part: " + why + ")"
	case conflicting:
		return ended + " (" + contradictions[disputeIn(f.reason)].note + ")"
	case plannedOnly:
		return ended + " (announced only)"
	case denied:
		return ended + " (the evidence says it is not so)"
	}
	return ended + " (only in a template)"
}

// lowerFirst lets a sentence go on after a colon. An acronym and a name with capitals inside ("eIDAS",
// "NetBox") stay, and so does what begins with a quote or a figure.
func lowerFirst(s string) string {
	first, _, _ := strings.Cut(s, " ")
	if first == "" || first[0] < 'A' || first[0] > 'Z' || strings.IndexFunc(first[1:], func(r rune) bool { return unicode.IsUpper(r) || unicode.IsDigit(r) }) >= 0 {
		return s
	}
	return strings.ToLower(s[:1]) + s[1:]
}

// counted is so many of a thing.
func counted(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

func count(n, of int) string {
	if n == of {
		if of == 1 {
			return "its one statement"
		}
		return fmt.Sprintf("all %d statements", of)
	}
	return fmt.Sprintf("%d of %d statements", n, of)
}

// degrees tells how far statements are said, strong of them at least nearly in full.
func degrees(n map[string]int, strong, of int) string {
	return fmt.Sprintf("Of %s the evidence says %s", counted(of, "statement"),
		amounts([]amount{{n[covered], "in full"}, {strong - n[covered], "nearly in full"}, {n[partial] - strong + n[covered], "in part"}}))
}

func tally(n map[string]int, of int) string {
	return fmt.Sprintf("of %s %s", counted(of, "statement"), amounts([]amount{
		{n[covered], "said in full"}, {n[partial], "said in part"}, {n[conflicting], "contradicted"}, {n[plannedOnly], "announced"},
		{n[denied], "denied"}, {n[template], "only in a template"}, {n[missing], "not found"},
	}))
}

type amount struct {
	n     int
	words string
}

// amounts lists those that there are.
func amounts(all []amount) string {
	var parts []string
	for _, a := range all {
		if a.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", a.n, a.words))
		}
	}
	return list(parts)
}

var (
	recordWords  = lazyregexp.Of(`(?i)\b(?:logs?|records?|exports?|screenshots?|reports?|minutes|tickets?|results?|configuration|samples?|scans?|register|inventory|list of|evidence of)\b`)
	paperActions = []string{"document", "define", "policy", "procedure", "plan", "approve", "communicate", "assign", "update", "review", "standard", "state"}
)

// asksForOperation: does the control want something to be done, beyond being written down?
func asksForOperation(c api.Control, all []found) bool {
	for _, a := range c.Applicability {
		if a == "technology" || a == "facility" {
			return true
		}
	}
	for _, e := range c.EvidenceRequests {
		if recordWords.MatchString(e.Artifact) {
			return true
		}
	}
	var paper []uint64
	for _, w := range paperActions {
		paper = append(paper, conceptID(w))
	}
	for i := range all {
		for _, t := range all[i].demand.terms {
			if t.action && !slices.Contains(paper, t.id) {
				return true
			}
		}
	}
	return false
}

// confidence says how sure the rules are. Evidence that speaks clearly and agrees
// makes sure; nothing found makes half sure, since it may be there in other words.
func confidence(j Judgement, all []found, scores float64, bearing, foreign int) float64 {
	near := 0.0
	for _, f := range all {
		near = max(near, f.near)
	}
	switch j.Implementation {
	case api.NotEvidenced:
		v := 0.75 - 0.4*near
		if foreign > 0 {
			v = min(v, 0.3)
		}
		return round(max(0.2, v))
	case api.Planned, api.NotImplemented:
		v := 0.0
		for _, f := range all {
			v = max(v, f.score)
		}
		return round(min(0.9, 0.3+0.55*v))
	}
	mean := scores / float64(max(1, bearing))
	v := 0.2 + 0.6*mean
	documents := make(map[string]bool)
	for _, e := range j.Evidence {
		documents[e.DocumentID] = true
		if e.Stance == "conflicts" {
			v -= 0.25
		}
	}
	if len(documents) > 1 {
		v += 0.05
	}
	if j.Operation {
		v += 0.1
	}
	if j.Implementation == api.PartiallyImplemented {
		v -= 0.1
	}
	return round(min(0.95, max(0.15, v)))
}
