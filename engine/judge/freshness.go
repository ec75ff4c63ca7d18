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

// documentStatus are what a document says of itself anywhere in it.
type documentStatus struct {
	draftWords       string    // the words that say it is not in force
	reviewDue        time.Time // when its next review was due
	placeholderCount int       // places that a template leaves to be filled in
	firstPlaceholder string    // the first of them in the alphabet, whatever order passages come in
	sampleWords      string    // the words that say it is an example to be adapted
}

// minTemplatePlaceholders make a template of a document, whatever its other sentences say.
const minTemplatePlaceholders = 3

var (
	draftPattern = lazyregexp.NewPrefiltered(
		`(?i)(?:(?m:^\W{0,4}draft(?:\W{0,3}$|\W{1,3}(?:v?\d[\d.]*|for\b|not\b)))|\bdraft (?:v|version )?\d[\d.]*\b|\bstatus\s*[:=|]\s*(?:draft|not approved|proposed|pending approval|superseded|withdrawn|obsolete|retired)\b|\b(?:draft (?:version|document|policy|for (?:review|comment|discussion))|not yet approved|awaiting approval|this (?:document|policy|version) (?:is|has been|was) (?:a draft|superseded|withdrawn|replaced|retired|obsolete)))`,
	)
	reviewPattern = lazyregexp.NewPrefiltered(
		`(?i)\b(?:next (?:scheduled )?(?:review|revision)(?: date)?(?: is)?(?: due)?|(?:to|must|shall) be (?:renewed|reviewed|revised|re-?issued) (?:by|before|not? later than|no later than)|renewal due|review (?:due|by)|valid until|expires?(?: on)?|expiry(?: date)?)\s*(?:on|by|in|is)?\s*[:=|]?\s*(?:\*\*)?\s*((?:\d{4}-\d{2}(?:-\d{2})?)|(?:\d{1,2}\.? )?(?:` + monthNames + `) (?:\d{1,2},? )?\d{4}|\d{1,2}[./]\d{1,2}[./]\d{4})`,
	)
)

// draftFilenamePattern is a name of a file that says so: "DRAFT-crypto.md", "retention (draft).docx".
var draftFilenamePattern = lazyregexp.NewPrefiltered(`(?i)(?:^|[^a-z])draft(?:[^a-z]|$)`)

// samplePattern is what an example says of itself that nobody has made their own yet.
var samplePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:(?:example|sample|specimen|placeholder|boilerplate|model|template) (?:text|wording|content|document|policy|procedure|clauses?)\b[^.\n]{0,60}\b(?:replace|adapt|adjust|customi[sz]e|tailor|delete|remove|edit|fill (?:in|out)|before (?:use|publishing|issuing)|not (?:in force|approved|valid)|for (?:illustration|demonstration|training))\b|(?:replace|adapt|customi[sz]e|tailor) (?:this|the) (?:text|wording|template|sample|document|policy) (?:to|for|before|with)\b|for illustration(?: purposes)? only|this (?:document|policy|text) is (?:a|an) (?:sample|example|specimen|template)\b)`,
)

// marketingNamePattern is a name of a file, or a title, of what wants to sell, or tells of somebody else.
var marketingNamePattern = lazyregexp.NewPrefiltered(
	`(?i)(?:^|[^a-z])(?:brochure|data ?sheet|advertisement|press[ _-]?release|white[ _-]?paper|sales[ _-]?deck|competitors?)(?:[^a-z]|$)`,
)

// marketingName is the name that says so; empty where none does.
func (c *analyzedPassage) marketingName() string {
	for _, name := range []string{c.Filename, c.DocumentTitle} {
		if marketingNamePattern.MatchString(name) {
			return name
		}
	}
	return ""
}

// notInForceWords are the words that say that the document is a draft or was replaced; empty where none does.
func (c *analyzedPassage) notInForceWords() string {
	if c.status.draftWords == "" && draftFilenamePattern.MatchString(c.Filename) {
		return c.Filename
	}
	return c.status.draftWords
}

const statusTopK = 200

// loadDocumentStatus looks once for what documents say of themselves: a status of draft,
// a review that is long due.
func (s *Session) loadDocumentStatus(ctx context.Context) error {
	s.statusOnce.Do(func() {
		s.statuses = make(map[string]documentStatus)
		seen := make(map[string]bool) // a blank counts once
		for _, q := range []string{"next review date valid until", "status draft superseded not yet approved", "[insert name] [company name] [date] example text, template or illustration: adapt, replace before use"} {
			found, err := s.finder.Find(ctx, q, statusTopK)
			if err != nil {
				s.statusErr = fmt.Errorf("reading the documents' status: %w", err)
				return
			}
			for _, p := range found {
				if seen[p.ChunkID] {
					continue
				}
				seen[p.ChunkID] = true
				f := s.statuses[p.DocumentID]
				f.addPassage(p)
				s.statuses[p.DocumentID] = f
			}
		}
	})
	return s.statusErr
}

// formHeadingPattern opens a part of a document that is there to be copied and filled in: its blanks make no template of the rest.
var formHeadingPattern = lazyregexp.NewPrefiltered(
	`(?im)^\W*(?:[\d.]+\W+)?(?:(?:annex|appendix|attachment|part|section|schedule) \w+\W+)?(?:[\w-]+ ){0,3}(?:templates?|forms?|work ?sheets?|letters?|specimens?)\b[^.\n]{0,60}$`,
)

// isInForm: a blank at this place of a passage stands in a form.
func isInForm(p Passage, at int) bool {
	return slices.ContainsFunc(p.HeadingPath[min(1, len(p.HeadingPath)):], formHeadingPattern.MatchString) ||
		formHeadingPattern.MatchString(p.Text[:at])
}

// addPassage takes in what a passage says of its document.
func (f *documentStatus) addPassage(p Passage) {
	p.Text = p.Text[:min(len(p.Text), maxPassageBytes)]
	text := p.Text
	if m := draftPattern.FindString(text); m != "" && (f.draftWords == "" || m < f.draftWords) {
		f.draftWords = m
	}
	if m := samplePattern.FindString(text); m != "" && (f.sampleWords == "" || m < f.sampleWords) {
		f.sampleWords = m
	}
	const brackets = "[<{$"
	var asked [][]int
	if strings.ContainsAny(text, brackets) {
		asked = templatePattern.FindAllStringIndex(text, -1)
	}
	for _, at := range asked {
		// Dots, words and links may be anything; brackets that ask for something are a template's.
		if m := text[at[0]:at[1]]; strings.ContainsAny(m[:1], brackets) && len(m) > 4 && !(at[1] < len(text) && text[at[1]] == '(') &&
			!isInForm(p, at[0]) {
			f.placeholderCount++
			if f.firstPlaceholder == "" || m < f.firstPlaceholder {
				f.firstPlaceholder = m
			}
		}
	}
	if m := reviewPattern.FindStringSubmatch(text); m != nil {
		if at, ok := parseLooseDate(m[1]); ok && at.After(f.reviewDue) {
			f.reviewDue = at
		}
	}
}

var datePunctuation = strings.NewReplacer(",", "", ".", " ", "/", " ")

// parseLooseDate reads the ways dates are written in documents.
func parseLooseDate(text string) (time.Time, bool) {
	text = datePunctuation.Replace(text)
	text = collapseSpace(text)
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

// staleReason says why a passage is too old to count; empty where it isn't or no date is known.
func (s *Session) staleReason(c *analyzedPassage, cur *sentence) string {
	today, err := s.options.Today.Time()
	if err != nil {
		return ""
	}
	if at, ok := parseDate(c.EffectiveDate); ok && today.Sub(at) > StaleDays*24*time.Hour {
		return fmt.Sprintf("The document dates from %s, more than three years ago.", *c.EffectiveDate)
	}
	if !c.status.reviewDue.IsZero() && today.Sub(c.status.reviewDue) > 183*24*time.Hour {
		return fmt.Sprintf("The document was due for review on %s.", api.DateOf(c.status.reviewDue))
	}
	if n := len(cur.years); n > 0 && cur.reportsPast && s.currentYear-cur.years[n-1] > 2 &&
		!ongoingPattern.MatchString(c.text[cur.start:cur.end]) {
		return fmt.Sprintf("It describes something that happened in %d.", cur.years[n-1])
	}
	return ""
}

// expiryPattern is the day up to which something holds that was allowed, agreed or bought.
var expiryPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:r[ua]ns? out|expire[sd]?|lapse[sd]?|(?:is |was )?valid (?:until|to|through|till))(?: on| in| at the end of)? (\d{4}-\d{2}-\d{2}|(?:\d{1,2}\.? )?(?:` + monthNames + `) (?:\d{1,2},? )?20\d\d)\b`,
)

// expiredDate is the day in a sentence up to which something held, where that has passed.
func (s *Session) expiredDate(text string) string {
	today, err := s.options.Today.Time()
	if m := expiryPattern.FindStringSubmatch(text); err == nil && m != nil {
		if end, ok := endOfPeriod(m[1]); ok && !today.Before(end) {
			return m[1]
		}
	}
	return ""
}

// planDatePattern is a day, month or quarter that something was announced for.
var planDatePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:by|until|before|for|in|during|end of|later than)(?: the)?(?: end of)? (\d{4}-\d{2}(?:-\d{2})?|q[1-4][ /-]?20\d\d|(?:\d{1,2}\.? )?(?:` + monthNames + `) (?:\d{1,2},? )?20\d\d)\b`,
)

// isOverdue tells whether what a sentence announces should have been done by now.
func (s *Session) isOverdue(text string) bool {
	today, err := s.options.Today.Time()
	if err != nil {
		return false
	}
	m := planDatePattern.FindStringSubmatch(text)
	if m == nil {
		return false
	}
	end, ok := endOfPeriod(m[1])
	return ok && !today.Before(end)
}

// endOfPeriod is when a day, month or quarter is over.
func endOfPeriod(period string) (time.Time, bool) {
	if q, year, is := parseQuarter(period); is {
		return time.Date(year, time.Month(3*q+1), 1, 0, 0, 0, 0, time.UTC), true
	}
	at, ok := parseLooseDate(period)
	if monthPattern.MatchString(period) {
		return at.AddDate(0, 1, 0), ok
	}
	return at.AddDate(0, 0, 1), ok
}

// monthPattern is a month without a day: "2026-09", "September 2026".
var monthPattern = lazyregexp.New(`^(?:\d{4}-\d{2}|[A-Za-z]+ 20\d\d)$`)

// parseQuarter reads "Q3 2026".
func parseQuarter(day string) (q, year int, is bool) {
	if day[0]|0x20 != 'q' {
		return 0, 0, false
	}
	year, err := strconv.Atoi(day[len(day)-4:])
	return int(day[1] - '0'), year, err == nil
}

// ongoingPattern: "since 2019" goes on, as does what somebody was appointed to or was taken away then, and a standard has a
// year in its name.
var ongoingPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:was|were|has been|have been) (?:\w+ ){0,3}(?:appointed|designated|disabled|abolished|decommissioned|retired|(?:switched|turned) off)\b|\bsince\b[^.]{0,12}\b20\d\d|\b(?:iso|iec|nist|sp)\b[^.]{0,16}\b20\d\d`,
)

// isRecent tells whether a record is recent enough to show operation today. Records
// without a date count.
func (s *Session) isRecent(c *analyzedPassage, cur *sentence) bool {
	today, err := s.options.Today.Time()
	if err != nil {
		return true
	}
	if at, ok := parseDate(c.EffectiveDate); ok {
		return today.Sub(at) <= maxRecordAgeDays*24*time.Hour
	}
	if n := len(cur.years); n > 0 {
		return s.currentYear-cur.years[n-1] <= 1
	}
	return true
}

func parseDate(d *api.Date) (time.Time, bool) {
	if d == nil {
		return time.Time{}, false
	}
	t, err := d.Time()
	return t, err == nil
}
