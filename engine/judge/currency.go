package judge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// docFacts are what a document says of itself anywhere in it.
type docFacts struct {
	draft  string    // the words that say it is not in force
	review time.Time // when its next review was due
	blanks int       // places that a template leaves to be filled in
	blank  string    // the first of them in the alphabet, whatever order passages come in
	sample string    // the words that say it is an example to be adapted
}

// manyBlanks make a template of a document, whatever its other sentences say.
const manyBlanks = 3

var (
	draftPattern  = lazyregexp.Guard(`(?i)(?:(?m:^\W{0,4}draft(?:\W{0,3}$|\W{1,3}(?:v?\d[\d.]*|for\b|not\b)))|\bdraft (?:v|version )?\d[\d.]*\b|\bstatus\s*[:=|]\s*(?:draft|not approved|proposed|pending approval|superseded|withdrawn|obsolete|retired)\b|\b(?:draft (?:version|document|policy|for (?:review|comment|discussion))|not yet approved|awaiting approval|this (?:document|policy|version) (?:is|has been|was) (?:a draft|superseded|withdrawn|replaced|retired|obsolete)))`)
	reviewPattern = lazyregexp.Guard(`(?i)\b(?:next (?:scheduled )?(?:review|revision)(?: date)?(?: is)?(?: due)?|(?:to|must|shall) be (?:renewed|reviewed|revised|re-?issued) (?:by|before|not? later than|no later than)|renewal due|review (?:due|by)|valid until|expires?(?: on)?|expiry(?: date)?)\s*(?:on|by|in|is)?\s*[:=|]?\s*(?:\*\*)?\s*((?:\d{4}-\d{2}(?:-\d{2})?)|(?:\d{1,2}\.? )?(?:` + months + `) (?:\d{1,2},? )?\d{4}|\d{1,2}[./]\d{1,2}[./]\d{4})`)
)

// draftName is a name of a file that says so: "DRAFT-crypto.md", "retention (draft).docx".
var draftName = lazyregexp.Guard(`(?i)(?:^|[^a-z])draft(?:[^a-z]|$)`)

// samplePattern is what an example says of itself that nobody has made their own yet.
var samplePattern = lazyregexp.Guard(`(?i)\b(?:(?:example|sample|specimen|placeholder|boilerplate|model|template) (?:text|wording|content|document|policy|procedure|clauses?)\b[^.\n]{0,60}\b(?:replace|adapt|adjust|customi[sz]e|tailor|delete|remove|edit|fill (?:in|out)|before (?:use|publishing|issuing)|not (?:in force|approved|valid)|for (?:illustration|demonstration|training))\b|(?:replace|adapt|customi[sz]e|tailor) (?:this|the) (?:text|wording|template|sample|document|policy) (?:to|for|before|with)\b|for illustration(?: purposes)? only|this (?:document|policy|text) is (?:a|an) (?:sample|example|specimen|template)\b)`)

// praisePattern is a name of a file, or a title, of what wants to sell, or tells of somebody else.
var praisePattern = lazyregexp.Guard(`(?i)(?:^|[^a-z])(?:brochure|data ?sheet|advertisement|press[ _-]?release|white[ _-]?paper|sales[ _-]?deck|competitors?)(?:[^a-z]|$)`)

// praise is the name that says so; empty where none does.
func (c *candidate) praise() string {
	for _, name := range []string{c.Filename, c.DocumentTitle} {
		if praisePattern.MatchString(name) {
			return name
		}
	}
	return ""
}

// notInForce are the words that say that the document is a draft or was replaced; empty where none does.
func (c *candidate) notInForce() string {
	if c.facts.draft == "" && draftName.MatchString(c.Filename) {
		return c.Filename
	}
	return c.facts.draft
}

const factsTopK = 200

// documentFacts looks once for what documents say of themselves: a status of draft,
// a review that is long due.
func (s *Session) documentFacts(ctx context.Context) error {
	s.once.Do(func() {
		s.facts = make(map[string]docFacts)
		seen := make(map[string]bool) // a blank counts once
		for _, q := range []string{"next review date valid until", "status draft superseded not yet approved", "[insert name] [company name] [date] example text, template or illustration: adapt, replace before use"} {
			found, err := s.finder.Find(ctx, q, factsTopK)
			if err != nil {
				s.factsErr = fmt.Errorf("looking for the documents' status: %w", err)
				return
			}
			for _, p := range found {
				if seen[p.ChunkID] {
					continue
				}
				seen[p.ChunkID] = true
				f := s.facts[p.DocumentID]
				f.read(p)
				s.facts[p.DocumentID] = f
			}
		}
	})
	return s.factsErr
}

// formHead opens a part of a document that is there to be copied and filled in: its blanks make no template of the rest.
var formHead = lazyregexp.Guard(`(?im)^\W*(?:[\d.]+\W+)?(?:(?:annex|appendix|attachment|part|section|schedule) \w+\W+)?(?:[\w-]+ ){0,3}(?:templates?|forms?|work ?sheets?|letters?|specimens?)\b[^.\n]{0,60}$`)

// inForm: a blank at this place of a passage stands in a form.
func inForm(p Passage, at int) bool {
	return slices.ContainsFunc(p.HeadingPath[min(1, len(p.HeadingPath)):], formHead.MatchString) || formHead.MatchString(p.Text[:at])
}

// read takes in what a passage says of its document.
func (f *docFacts) read(p Passage) {
	p.Text = p.Text[:min(len(p.Text), maxRead)]
	text := p.Text
	if m := draftPattern.FindString(text); m != "" && (f.draft == "" || m < f.draft) {
		f.draft = m
	}
	if m := samplePattern.FindString(text); m != "" && (f.sample == "" || m < f.sample) {
		f.sample = m
	}
	const brackets = "[<{$"
	var asked [][]int
	if strings.ContainsAny(text, brackets) {
		asked = templatePattern.FindAllStringIndex(text, -1)
	}
	for _, at := range asked {
		// Dots, words and links may be anything; brackets that ask for something are a template's.
		if m := text[at[0]:at[1]]; strings.ContainsAny(m[:1], brackets) && len(m) > 4 && !(at[1] < len(text) && text[at[1]] == '(') && !inForm(p, at[0]) {
			f.blanks++
			if f.blank == "" || m < f.blank {
				f.blank = m
			}
		}
	}
	if m := reviewPattern.FindStringSubmatch(text); m != nil {
		if at, ok := looseDate(m[1]); ok && at.After(f.review) {
			f.review = at
		}
	}
}

var dateMarks = strings.NewReplacer(",", "", ".", " ", "/", " ")

// looseDate reads the ways dates are written in documents.
func looseDate(text string) (time.Time, bool) {
	text = dateMarks.Replace(text)
	text = fold(text)
	if text != "" {
		words := strings.Fields(strings.ToLower(text))
		for i, w := range words {
			if w[0] >= 'a' && w[0] <= 'z' {
				words[i] = strings.ToUpper(w[:1]) + w[1:]
			}
		}
		text = strings.Join(words, " ")
	}
	for _, layout := range []string{"2006-01-02", "2006-01", "January 2006", "January 2 2006", "2 January 2006", "2 1 2006"} {
		if t, err := time.Parse(layout, text); err == nil {
			return t, true
		}
	}
	return time.Time{}, false
}

// stale says why a passage is too old to count; empty where it isn't or no date is known.
func (s *Session) stale(c *candidate, cur *sentence) string {
	today, err := s.options.Today.Time()
	if err != nil {
		return ""
	}
	if at, ok := dateOf(c.Effective); ok && today.Sub(at) > StaleDays*24*time.Hour {
		return fmt.Sprintf("The document dates from %s, more than three years ago.", *c.Effective)
	}
	if !c.facts.review.IsZero() && today.Sub(c.facts.review) > 183*24*time.Hour {
		return fmt.Sprintf("The document's own review was due on %s.", api.DateOf(c.facts.review))
	}
	if n := len(cur.years); n > 0 && cur.happened && s.year-cur.years[n-1] > 2 && !otherYear.MatchString(c.text[cur.start:cur.end]) {
		return fmt.Sprintf("What it tells of happened in %d.", cur.years[n-1])
	}
	return ""
}

// runsOut is the day up to which something holds that was allowed, agreed or bought.
var runsOut = lazyregexp.Guard(`(?i)\b(?:r[ua]ns? out|expire[sd]?|lapse[sd]?|(?:is |was )?valid (?:until|to|through|till))(?: on| in| at the end of)? (\d{4}-\d{2}-\d{2}|(?:\d{1,2}\.? )?(?:` + months + `) (?:\d{1,2},? )?20\d\d)\b`)

// ranOut is the day in a sentence up to which something held, where that has passed.
func (s *Session) ranOut(text string) string {
	today, err := s.options.Today.Time()
	if m := runsOut.FindStringSubmatch(text); err == nil && m != nil {
		if end, ok := endOf(m[1]); ok && !today.Before(end) {
			return m[1]
		}
	}
	return ""
}

// planDay is a day, month or quarter that something was announced for.
var planDay = lazyregexp.Guard(`(?i)\b(?:by|until|before|for|in|during|end of|later than)(?: the)?(?: end of)? (\d{4}-\d{2}(?:-\d{2})?|q[1-4][ /-]?20\d\d|(?:\d{1,2}\.? )?(?:` + months + `) (?:\d{1,2},? )?20\d\d)\b`)

// overdue tells whether what a sentence announces should have been done by now.
func (s *Session) overdue(text string) bool {
	today, err := s.options.Today.Time()
	if err != nil {
		return false
	}
	m := planDay.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	end, ok := endOf(m[1])
	return ok && !today.Before(end)
}

// endOf is when a day, month or quarter is over.
func endOf(span string) (time.Time, bool) {
	if q, year, is := quarterOf(span); is {
		return time.Date(year, time.Month(3*q+1), 1, 0, 0, 0, 0, time.UTC), true
	}
	at, ok := looseDate(span)
	if monthOnly.MatchString(span) {
		return at.AddDate(0, 1, 0), ok
	}
	return at.AddDate(0, 0, 1), ok
}

// monthOnly is a month without a day: "2026-09", "September 2026".
var monthOnly = lazyregexp.Of(`^(?:\d{4}-\d{2}|[A-Za-z]+ 20\d\d)$`)

// quarterOf reads "Q3 2026".
func quarterOf(day string) (q, year int, is bool) {
	if day[0]|0x20 != 'q' {
		return 0, 0, false
	}
	year, err := strconv.Atoi(day[len(day)-4:])
	return int(day[1] - '0'), year, err == nil
}

// otherYear: "since 2019" goes on, as does what somebody was appointed to or was taken away then, and a standard has a
// year in its name.
var otherYear = lazyregexp.Guard(`(?i)\b(?:was|were|has been|have been) (?:\w+ ){0,3}(?:appointed|designated|disabled|abolished|decommissioned|retired|(?:switched|turned) off)\b|\bsince\b[^.]{0,12}\b20\d\d|\b(?:iso|iec|nist|sp)\b[^.]{0,16}\b20\d\d`)

// fresh tells whether a record is recent enough to show operation today. Records
// without a date count.
func (s *Session) fresh(c *candidate, cur *sentence) bool {
	today, err := s.options.Today.Time()
	if err != nil {
		return true
	}
	if at, ok := dateOf(c.Effective); ok {
		return today.Sub(at) <= oldRecord*24*time.Hour
	}
	if n := len(cur.years); n > 0 {
		return s.year-cur.years[n-1] <= 1
	}
	return true
}

func dateOf(d *api.Date) (time.Time, bool) {
	if d == nil {
		return time.Time{}, false
	}
	t, err := d.Time()
	return t, err == nil
}
