package judge

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
)

// documentStatus holds what a document states about itself anywhere in its text.
type documentStatus struct {
	draftWords       string    // the words stating that it is not in force
	reviewDue        time.Time // when the document's next review is due
	placeholderCount int       // blanks that a template leaves to be filled in
	firstPlaceholder string    // the first one in alphabetical order, so that passage order doesn't matter
	sampleWords      string    // the words stating that it is an example to be adapted
	repealed         bool      // draftWords state that it is no longer in force
	disclaimers      []sectionDisclaimer
	organizations    []string // the companies that it names
}

// sectionDisclaimer is a sentence that negates what follows it in its section: "None of the
// following is in place:".
type sectionDisclaimer struct {
	section string // heading path
	line    int    // 0 if unknown
	list    bool   // it introduces a list
	outside bool   // if set, what follows isn't about the organization or isn't fact; otherwise, it isn't done
}

// disclaimer reports whether a disclaimer in another passage applies to this one. outside is set if
// it says that the passage isn't about the organization or isn't fact.
func (c *foundPassage) disclaimer() (applies, outside bool) {
	for _, d := range c.status.disclaimers {
		if d.line < c.Locator.LineStart && d.section == strings.Join(c.HeadingPath, "\n") &&
			(!d.list || c.startsWithItem) {
			applies, outside = true, outside || d.outside
		}
	}
	return applies, outside
}

// minTemplatePlaceholders is the minimum number of blanks that makes a document a template.
const minTemplatePlaceholders = 3

var draftPattern = lazyregexp.NewPrefiltered(
	`(?i)(?:(?m:^\W{0,4}draft(?:\W{0,3}$|\W{1,3}(?:v?\d[\d.]*|for\b|not\b)))|\bdraft (?:v|version )?\d[\d.]*\b|\bstatus\s*[:=|]\s*(?:draft|not approved|proposed|pending approval|superseded|withdrawn|obsolete|retired|repealed|rescinded|no longer in force)\b|\b(?:draft (?:version|document|policy|for (?:review|comment|discussion))|not yet approved|awaiting approval|this (?:document|policy|version|standard|procedure|guideline|plan|edition) (?:is|has been|was) (?:hereby )?(?:a draft|superseded|withdrawn|replaced|repealed|rescinded|retired|obsolete|no longer (?:in force|valid)))|(?m:^\W{0,4}(?:superseded|withdrawn|repealed|rescinded|obsolete|no longer in force)\b(?:\W{0,3}$|\W{1,3}(?:by|on|as of|since|from|with effect)\b)))`,
)

// repealedPattern matches words that say that a document is no longer in force. A draft may still
// show what is done; a repealed document shows nothing.
var repealedPattern = lazyregexp.NewPrefiltered(
	`(?i)\bstatus\s*[:=|]\s*(?:superseded|withdrawn|obsolete|retired|repealed|rescinded|no longer in force)\b|` +
		`\bthis (?:document|policy|version|standard|procedure|guideline|plan|edition) (?:is|has been|was) (?:hereby )?(?:superseded|withdrawn|replaced|repealed|rescinded|retired|obsolete|no longer (?:in force|valid))|` +
		`(?m:^\W{0,4}(?:superseded|withdrawn|repealed|rescinded|obsolete|no longer in force)\b(?:\W{0,3}$|\W{1,3}(?:by|on|as of|since|from|with effect)\b))`,
)

// draftFilenamePattern matches the file names of drafts, such as "DRAFT-crypto.md" or "retention (draft).docx".
var draftFilenamePattern = lazyregexp.NewPrefiltered(`(?i)(?:^|[^a-z])draft(?:[^a-z]|$)`)

// samplePattern matches text that occurs in examples that haven't been adapted, such as "replace this text".
var samplePattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:(?:example|sample|specimen|placeholder|boilerplate|model|template) (?:text|wording|content|document|policy|procedure|clauses?)\b[^.\n]{0,60}\b(?:replace|adapt|adjust|customi[sz]e|tailor|delete|remove|edit|fill (?:in|out)|before (?:use|publishing|issuing)|not (?:in force|approved|valid)|for (?:illustration|demonstration|training))\b|(?:replace|adapt|customi[sz]e|tailor) (?:this|the) (?:text|wording|template|sample|document|policy) (?:to|for|before|with)\b|for illustration(?: purposes)? only|this (?:document|policy|text) is (?:a|an) (?:sample|example|specimen|template)\b)`,
)

// marketingNamePattern matches the file names and titles of marketing material and of documents about
// competitors.
var marketingNamePattern = lazyregexp.NewPrefiltered(
	`(?i)(?:^|[^a-z])(?:brochure|data ?sheet|advertisement|press[ _-]?release|white[ _-]?paper|sales[ _-]?deck|competitors?)(?:[^a-z]|$)`,
)

// nameIfMarketing returns the document's file name or title if that shows that it is marketing material, or ""
// otherwise.
func (c *foundPassage) nameIfMarketing() string {
	for _, name := range []string{c.Filename, c.DocumentTitle} {
		if marketingNamePattern.MatchString(name) {
			return name
		}
	}
	return ""
}

// notInForceWords returns the words, or the file name, showing that the document is a draft or
// superseded. It returns "" if there are none.
func (c *foundPassage) notInForceWords() string {
	if c.status.draftWords == "" && draftFilenamePattern.MatchString(c.Filename) {
		return c.Filename
	}
	return c.status.draftWords
}

const statusTopK = 200

// loadDocumentStatus searches the documents for what they state about themselves, such as that they are drafts
// or when they are due for review. It does so only once.
func (s *Session) loadDocumentStatus(ctx context.Context) error {
	s.statusOnce.Do(func() {
		s.statuses = make(map[string]documentStatus)
		seen := make(map[string]bool) // repeated blanks count only once
		for _, q := range []string{
			"next review date valid until",
			"status draft superseded not yet approved",
			"Ltd Limited Inc GmbH AG plc company organization about us, this policy applies to",
			"none of the following is in place; what follows is not our practice; these statements are false or about another company",
			"[insert name] [company name] [date] example text, template or illustration: adapt, replace before use",
		} {
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
		s.ownOrganizations = findOwnOrganizations(s.statuses)
	})
	return s.statusErr
}

// formHeadingPattern matches the heading of a form that is to be copied and filled in. The blanks in a form
// don't make the whole document a template.
var formHeadingPattern = lazyregexp.NewPrefiltered(
	`(?im)^\W*(?:[\d.]+\W+)?(?:(?:annex|appendix|attachment|part|section|schedule) \w+\W+)?(?:[\w-]+ ){0,3}(?:templates?|forms?|work ?sheets?|letters?|specimens?)\b[^.\n]{0,60}$`,
)

// isBlankInForm reports whether the blank at an offset of the passage is part of a form.
func isBlankInForm(p Passage, at int) bool {
	return slices.ContainsFunc(p.HeadingPath[min(1, len(p.HeadingPath)):], formHeadingPattern.MatchString) ||
		formHeadingPattern.MatchString(p.Text[:at])
}

// addPassage adds what a passage states about its document's status.
func (f *documentStatus) addPassage(p Passage) {
	p.Text = p.Text[:min(len(p.Text), text.MaxBytes)]
	if m := draftPattern.FindString(p.Text); m != "" && (f.draftWords == "" || m < f.draftWords) {
		f.draftWords = m
	}
	f.repealed = f.repealed || repealedPattern.MatchString(p.Text)
	if m := samplePattern.FindString(p.Text); m != "" && (f.sampleWords == "" || m < f.sampleWords) {
		f.sampleWords = m
	}
	for _, name := range text.Organizations(p.DocumentTitle + "\n" + p.Text) {
		if !slices.Contains(f.organizations, name) {
			f.organizations = append(f.organizations, name)
		}
	}
	section := strings.Join(p.HeadingPath, "\n")
	if p.Locator.LineStart > 0 && text.DisclaimsFollowingText(p.Text) {
		f.disclaimers = append(f.disclaimers, sectionDisclaimer{section: section, line: p.Locator.LineStart, outside: true})
	}
	if outside, undone := text.ReadOpenList(p.Text); p.Locator.LineStart > 0 && (outside || undone) {
		f.disclaimers = append(f.disclaimers, sectionDisclaimer{section: section, line: p.Locator.LineStart, list: true, outside: outside})
	}
	const brackets = "[<{$"
	for _, at := range text.FindPlaceholders(p.Text) {
		// Dots, words and links are ambiguous; brackets that request input mark a template.
		if m := p.Text[at[0]:at[1]]; strings.ContainsAny(m[:1], brackets) && len(m) > 4 && !(at[1] < len(p.Text) && p.Text[at[1]] == '(') &&
			!isBlankInForm(p, at[0]) {
			f.placeholderCount++
			if f.firstPlaceholder == "" || m < f.firstPlaceholder {
				f.firstPlaceholder = m
			}
		}
	}
	if at, ok := text.ReviewDue(p.Text); ok && at.After(f.reviewDue) {
		f.reviewDue = at
	}
}

// staleReason returns the reason if a passage is too old to count. It returns "" if the passage is
// recent enough or its date is unknown.
func (s *Session) staleReason(c *foundPassage, cur *text.Sentence) string {
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
	if n := len(cur.Years); n > 0 && cur.ReportsPast && s.currentYear-cur.Years[n-1] > 2 &&
		!ongoingPattern.MatchString(cur.Text) {
		return fmt.Sprintf("The passage describes something that happened in %d.", cur.Years[n-1])
	}
	return ""
}

// expiredDate returns the expiry date stated in a sentence if it has passed, and "" otherwise.
func (s *Session) expiredDate(sentence string) string {
	date, end, ok := text.ExpiryDate(sentence)
	if today, err := s.options.Today.Time(); err != nil || !ok || today.Before(end) {
		return ""
	}
	return date
}

// isPlanOverdue reports whether the planned date in a sentence has passed.
func (s *Session) isPlanOverdue(sentence string) bool {
	end, ok := text.PlannedEnd(sentence)
	today, err := s.options.Today.Time()
	return ok && err == nil && !today.Before(end)
}

// ongoingPattern matches sentences with years that don't date a record: "since 2019", appointments, removals,
// and the years in the names of standards.
var ongoingPattern = lazyregexp.NewPrefiltered(
	`(?i)\b(?:was|were|has been|have been) (?:\w+ ){0,3}(?:appointed|designated|disabled|abolished|decommissioned|retired|(?:switched|turned) off)\b|\bsince\b[^.]{0,12}\b20\d\d|\b(?:iso|iec|nist|sp)\b[^.]{0,16}\b20\d\d`,
)

// isRecentOrUndated reports whether a record is recent enough to show current operation. A record without a date
// counts as recent.
func (s *Session) isRecentOrUndated(c *foundPassage, cur *text.Sentence) bool {
	today, err := s.options.Today.Time()
	if err != nil {
		return true
	}
	if at, ok := parseDate(c.EffectiveDate); ok {
		return today.Sub(at) <= maxRecordAgeDays*24*time.Hour
	}
	if n := len(cur.Years); n > 0 {
		return s.currentYear-cur.Years[n-1] <= 1
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
