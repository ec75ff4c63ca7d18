package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// found is what the evidence says of one statement.
type found struct {
	demand    *demand
	verdict   string
	reason    string
	score     float64
	best      *reading  // what the verdict rests on
	shown     []reading // the evidence to quote
	near      float64   // the best cover, where nothing was said
	foreign   int       // passages close by meaning in another language
	intent    bool
	op        bool
	faded     bool // a record shows it, too old a one
	strong    bool // said in full, or most of it
	about     bool // said by a passage that speaks of what the control is about
	exception bool // a row denies it, beside rows that affirm it
	firm      bool // a concrete procedure: who, when, with what
}

// Judge says what the evidence says of one control: of each of its statements, and of all.
func (s *Session) Judge(ctx context.Context, c api.Control) (Judgement, error) {
	if s.finder == nil {
		return Judgement{}, fmt.Errorf("judging %s: no finder was given to look for evidence with", c.Code)
	}
	if err := s.documentFacts(ctx); err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
	}
	w := wantsOf(c)
	all := make([]found, 0, len(w.statements))
	for _, d := range w.demands(c) {
		if err := ctx.Err(); err != nil {
			return Judgement{}, err
		}
		f, err := s.judgeStatement(ctx, d)
		if err != nil {
			return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
		}
		all = append(all, f)
	}
	no, plan, err := s.subject(ctx, c, w)
	if err != nil {
		return Judgement{}, fmt.Errorf("judging %s: %w", c.Code, err)
	}
	applySubject(all, no, plan)
	return s.conclude(c, w.from, all), nil
}

func (s *Session) judgeStatement(ctx context.Context, d *demand) (found, error) {
	query := d.question()
	if err := s.embedDemand(ctx, d, query); err != nil {
		return found{}, err
	}
	candidates, err := s.find(ctx, query)
	if err != nil {
		return found{}, err
	}
	var readings []reading
	for _, h := range candidates {
		readings = append(readings, s.readPassage(d, h)...)
	}
	return s.weighed(d, candidates, readings), nil
}

// weighed is what passages say of a statement, by all that was read of it in them.
func (s *Session) weighed(d *demand, hits []hit, readings []reading) found {
	f := found{demand: d}
	for _, h := range hits {
		if !h.english && h.score >= 0.5 {
			f.foreign++
		}
	}
	for i := range readings {
		r := &readings[i]
		f.near = max(f.near, r.cover)
		f.faded = f.faded || r.cover >= saysIt && r.from.isRecord() && !s.fresh(r.from, &r.from.sentences[r.at])
	}
	s.oddRows(d, hits, readings)
	s.decide(&f, readings)
	return f
}

// oddRows turns the denial of one row into a limit where another row of its document
// says as much of the statement and doesn't deny it: one person who is late among
// many who were trained denies nothing of the rule.
func (s *Session) oddRows(d *demand, hits []hit, readings []reading) {
	for i := range readings {
		r := &readings[i]
		if r.verdict != denied || !r.from.sentences[r.at].row {
			continue
		}
		if slices.ContainsFunc(hits, func(h hit) bool {
			return h.DocumentID == r.from.DocumentID && affirmsLike(d, h.candidate, r)
		}) {
			r.verdict, r.odd = partial, true
			r.reason = "A row of " + r.where() + " says otherwise than those beside it: " + quoteWords(r.quote) + ". A person has to look at it."
		}
	}
}

// affirmsLike: does a row of c say about as much of d as r's, without denying or announcing it?
func affirmsLike(d *demand, c *candidate, r *reading) bool {
	for i := range c.sentences {
		cur := &c.sentences[i]
		if !cur.row || cur.plan != "" || cur.template != "" || cur.question || cur.instruction {
			continue
		}
		m := d.against([]*sentence{cur}, c.near[i], c.around)
		if _, no := negates(d, c, i, m); !no && m.cover >= r.match.cover-0.1 {
			return true
		}
	}
	return false
}

func titleOf(d *demand) string {
	var names []string
	for _, t := range d.topic {
		names = append(names, t.name)
	}
	return strings.Join(names, " ")
}

// best is the reading of a verdict that says most; the earlier one where two say the same.
func best(readings []reading, verdict string) *reading {
	var b *reading
	for i := range readings {
		if r := &readings[i]; r.verdict == verdict && !r.sunk && (b == nil || r.cover > b.cover) {
			b = r
		}
	}
	return b
}

// shareOnly: a record says the statement of a share of all.
func (r *reading) shareOnly() bool {
	return r.verdict == partial && r.cover >= saysIt && r.happened && r.from.sentences[r.at].fewer
}

// failed: a record tells that what the statement asks for failed.
func (r *reading) failed() bool { return r.fell }

// telling is the reading of a kind that says most of the statement; nil where none is.
func telling(readings []reading, kind func(*reading) bool) *reading {
	var out *reading
	for i := range readings {
		if kind(&readings[i]) {
			out = better(out, &readings[i])
		}
	}
	return out
}

const maxQuotes = 3 // for each statement and verdict

// decide weighs all readings of a statement.
//
//	says it        and denied by the same document, of a part or of something near → partial
//	says it        and denied elsewhere → conflicting
//	says it        and a record tells that it failed → conflicting
//	says it        and a record tells that it took longer → conflicting
//	says it        and a record tells for which share only → partial
//	says it        and said by a plan elsewhere → partial
//	says it                             → covered
//	partly         and denied elsewhere → conflicting
//	denied, planned, partly, template, nothing, in this order
func (s *Session) decide(f *found, readings []reading) {
	yes, part := best(readings, covered), best(readings, partial)
	no, plan, blank := best(readings, denied), best(readings, plannedOnly), best(readings, template)
	var odd *reading
	if i := slices.IndexFunc(readings, func(r reading) bool { return r.odd }); i >= 0 {
		odd, f.exception = &readings[i], true
	}
	set := func(verdict string, on *reading, reason string) {
		f.verdict, f.best, f.reason, f.score = verdict, on, reason, round(on.cover)
	}
	switch {
	case yes != nil && no != nil && f.demand.sideline(no, yes):
		yes.strong = true
		set(partial, yes, fmt.Sprintf("%s says it, and of a part, or of something near, that it is not so: %s", yes.where(), quoteWords(no.quote)))
	case yes != nil && no != nil:
		set(conflicting, yes, disagree(yes, no, "it", "it"))
	case yes != nil && s.differing(f.demand, readings, yes) != "":
		set(conflicting, yes, s.differing(f.demand, readings, yes))
	case yes != nil && odd != nil:
		set(partial, yes, yes.where()+" says it. "+odd.reason)
	case yes != nil && telling(readings, (*reading).failed) != nil:
		fell := telling(readings, (*reading).failed)
		set(conflicting, yes, fmt.Sprintf(notKept+"%s says it, and %s tells that it failed: %s", yes.where(), fell.where(), quoteWords(fell.quote)))
	case yes != nil && s.slower(readings, yes) != nil:
		slow := s.slower(readings, yes)
		slow.fell = true
		set(conflicting, yes, fmt.Sprintf(notKept+"%s says %s, and %s tells that it took longer: %s", yes.where(), quoteWords(yes.quote), slow.where(), quoteWords(slow.quote)))
	case yes != nil && telling(readings, (*reading).shareOnly) != nil:
		few := telling(readings, (*reading).shareOnly)
		set(partial, yes, fmt.Sprintf("%s says it, and %s tells for how many it is so: %s", yes.where(), few.where(), quoteWords(few.quote)))
	case yes != nil && plan != nil && plan.cover >= saysIt:
		set(partial, yes, fmt.Sprintf("%s says it, but %s only announces it: %s", yes.where(), plan.where(), quoteWords(plan.quote)))
	case yes != nil:
		set(covered, yes, yes.reason)
	case no != nil && part != nil && part.cover >= saysIt && f.demand.sideline(no, part):
		set(partial, part, fmt.Sprintf("%s says a part of it, and of another, or of something near, that it is not so: %s", part.where(), quoteWords(no.quote)))
	case no != nil && part != nil && part.cover >= saysIt:
		set(conflicting, part, disagree(part, no, "part of it", "another"))
	case no != nil && plan != nil:
		set(plannedOnly, plan, "It is not done yet, but announced. "+plan.reason)
	case no != nil:
		set(denied, no, no.reason)
	case plan != nil && (part == nil || plan.cover >= part.cover-0.1):
		set(plannedOnly, plan, plan.reason)
	case part != nil:
		set(partial, part, part.reason)
	case blank != nil:
		set(template, blank, blank.reason)
	default:
		f.verdict = missing
		f.reason = f.whyMissing()
		return
	}
	f.show(readings)
}

// byItself begins the reason of a statement that one document both says and denies.
const byItself = "One document contradicts itself: "

// notKept begins the reason of a statement that documents say and a record shows failing.
const notKept = "It isn't kept: "

// disagree tells where what is said and what denies it stand: in two documents, or in one. A record that
// denies what a rule says disagrees with nobody: it tells that the rule isn't kept.
func disagree(says, no *reading, what, other string) string {
	quote, at := quoteWords(no.quote), no.where()
	switch {
	case says.from.DocumentID != no.from.DocumentID && no.from.isRecord() && !says.from.isRecord():
		return fmt.Sprintf(notKept+"%s says %s, and %s denies %s: %s", says.where(), what, at, other, quote)
	case says.from.DocumentID != no.from.DocumentID:
		return fmt.Sprintf("Passages disagree: %s says %s, %s denies it: %s", says.where(), what, at, quote)
	case says.from.ChunkID == no.from.ChunkID || says.where() == at && at != no.name():
		return fmt.Sprintf(byItself+"%s says %s and in the same passage denies %s: %s", says.where(), what, other, quote)
	}
	return fmt.Sprintf(byItself+"%s says %s and elsewhere%s denies %s: %s", says.where(), what, strings.TrimPrefix(at, no.name()), other, quote)
}

func (f *found) whyMissing() string {
	switch {
	case f.foreign > 0:
		return fmt.Sprintf("No passage says it in English. Close to it by meaning, in another language, which these rules can't read: %s. A person should read them.", counted(f.foreign, "passage"))
	case f.near > 0:
		return "Passages touch the matter, but none says it."
	}
	return "No passage was found that says it."
}

// show picks the quotes to keep, and notes what kinds of documents bear the statement.
func (f *found) show(readings []reading) {
	wanted := map[string][]string{
		covered: {covered}, partial: {covered, partial, plannedOnly}, conflicting: {covered, partial, denied},
		denied: {denied}, plannedOnly: {plannedOnly, denied}, template: {template},
	}[f.verdict]
	for _, v := range wanted {
		var of []reading
		for _, r := range readings {
			if r.verdict == v {
				of = append(of, r)
			}
		}
		slices.SortStableFunc(of, func(a, b reading) int {
			switch {
			case a.cover > b.cover:
				return -1
			case a.cover < b.cover:
				return 1
			}
			return strings.Compare(a.from.ChunkID, b.from.ChunkID)
		})
		for i, r := range of {
			if i < maxQuotes || r.fell || r.odd && !slices.ContainsFunc(f.shown, func(s reading) bool { return s.odd }) || r.from.isRecord() && !slices.ContainsFunc(f.shown, func(s reading) bool { return s.from.isRecord() }) {
				f.shown = append(f.shown, r)
			}
		}
	}
}

// differing finds two documents that say the statement with different numbers.
func (s *Session) differing(d *demand, readings []reading, yes *reading) string {
	a := &yes.from.sentences[yes.at]
	if len(a.times) == 0 || imprint.MatchString(yes.quote) {
		return ""
	}
	for i := range readings {
		r := &readings[i]
		if r.verdict != covered && r.verdict != partial || r.from.DocumentID == yes.from.DocumentID || r.cover < saysPart {
			continue
		}
		b := &r.from.sentences[r.at]
		if alike(a, b) < 0.6 || r.inTimeOf(yes) || yes.inTimeOf(r) {
			continue
		}
		for _, x := range a.times {
			if y, ok := only(b.times, x); ok && y.value != x.value {
				if _, twice := only(a.times, x); twice {
					return fmt.Sprintf("Documents differ in figures: %s says %s, %s says %s.", yes.where(), quoteWords(yes.quote), r.where(), quoteWords(r.quote))
				}
			}
		}
	}
	return ""
}

// imprint is a line with a document's own version and dates.
var imprint = lazyregexp.Guard(`(?i)\bversion\b.*\b(?:owner|approved|author|effective|review|date)\b`)

// only returns the sole quantity of x's kind.
func only(of []quantity, x quantity) (quantity, bool) {
	var q quantity
	n := 0
	for _, y := range of {
		if y.unit == x.unit && y.every == x.every {
			q = y
			n++
		}
	}
	return q, n == 1
}

// alike is the share of concepts that two sentences have in common.
func alike(a, b *sentence) float64 {
	common := 0
	for _, t := range a.terms {
		if _, ok := lookup(b.terms, t.id); ok {
			common++
		}
	}
	if union := len(a.terms) + len(b.terms) - common; union > 0 {
		return float64(common) / float64(union)
	}
	return 0
}

// name is what the document of a reading is called.
func (r *reading) name() string { return firstOf(r.from.DocumentTitle, r.from.Filename) }

// where names the place of a reading for a person: title, page or lines, heading.
func (r *reading) where() string {
	p, name := r.from.Passage, r.name()
	var at []string
	switch l := p.Locator; {
	case l.Page > 0:
		at = append(at, fmt.Sprintf("page %d", l.Page))
	case l.Sheet != "":
		at = append(at, strings.TrimSpace(l.Sheet+" "+l.CellRange))
	case l.Slide > 0:
		at = append(at, fmt.Sprintf("slide %d", l.Slide))
	case l.LineStart > 0:
		at = append(at, fmt.Sprintf("line %d", l.LineStart))
	}
	if n := len(p.HeadingPath); n > 0 && p.HeadingPath[n-1] != name {
		at = append(at, "“"+p.HeadingPath[n-1]+"”")
	}
	if len(at) == 0 {
		return name
	}
	return name + " (" + strings.Join(at, ", ") + ")"
}

// sideline: what denies is of the same document as what says it, says less of the statement, and does not
// deny the control by name: it tells of a part, or of something near. Of two documents, one may be wrong, but
// for what one denies of certain things alone.
func (d *demand) sideline(no, yes *reading) bool {
	cur := &no.from.sentences[no.at]
	if d.ofPart(cur, no.from.text[cur.start:cur.end]) {
		return true
	}
	byName := denier.MatchString(no.from.text[cur.start:cur.end]) && d.topicIn([]*sentence{cur}) >= 0.9
	return no.from.DocumentID == yes.from.DocumentID && no.cover < yes.cover && !no.match.outright && !byName
}

// denier begins a sentence that denies for everybody.
var denier = lazyregexp.Guard(`(?i)^\W*(?:(?:at present|at this time|currently|so far|today),? )?(?:we|there|no|none|nobody|nothing|neither)\b`)
