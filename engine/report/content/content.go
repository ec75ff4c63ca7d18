// Package content decides what a report says. From a Source, the data of an assessment at one moment,
// it builds what each template shows, in the shapes that the formats need:
//
//	Source ──► Report (sorted, indexed) ──► Document (sections of blocks)   PDF, HTML, DOCX, Markdown
//	                       ├─────────────► Section, ItemFields, Charts      XLSX
//	                       ├─────────────► Rows                             CSV
//	                       ├─────────────► Data                             JSON, users' templates
//	                       └─────────────► the items themselves             OSCAL
//
// To add a template, add an entry to Templates; to add a section, add a SectionID and a case in
// Report.Section.
//
// The package makes no judgments: figures are counted from the items given or supplied by the caller.
// All dates come from the data, so the same Source always gives the same report. Free text is shown
// in full and never interpreted.
package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// Report is a source that has been prepared for one report. It has its own copy of the data, sorted into reading
// order, with names, anchors and indexes.
type Report struct {
	*Source
	Template     Template
	Title        string
	Paper        block.Paper
	DraftReasons []string
	// client is the name of the organization that the report is about, or "" if it isn't known. In
	// data, the assessment's name is used instead.
	client string
	theme  drawing.Theme
	// people maps IDs to names, for the people named in approvals.
	people map[string]string
	// coverage holds the requirements of each framework with their controls.
	coverage []frameworkCoverage
	anchors  anchors
	story    *Story // computed by Story
	// soleProofs lists the controls by the only passage that shows their status; computed by describeSharedProof.
	soleProofs map[string][]string
	// unreadDocuments is the number of documents that were not read, or whose text in another language was not.
	unreadDocuments int
	// planByControl maps controls to the plan item that closes them.
	planByControl map[string]*api.POAMItem
	// passages maps controls to the passages that a section quotes.
	passages map[SectionID]map[string][]api.Evidence
	quoted   quotedPassages
	// ids holds the anchors of the items that the template shows, in order.
	ids struct{ soa, findings, scores, plan []string }
}

// New prepares a report with the given template from a copy of the source. If title is empty, the report has
// the template's title. Unless verbatim is set, control characters in all texts are replaced with visible
// symbols.
func New(src *Source, template, title string, verbatim bool) *Report {
	edit := wording.ReplaceControlCharacters
	if account := src.machineAccount(); account != "" {
		edit = func(s string) string { return nameAssessor(wording.ReplaceControlCharacters(s), account) }
	}
	if verbatim {
		edit = func(s string) string { return s }
	}
	copied := deepCopy(*src, edit)
	v := &Report{Source: &copied, anchors: newAnchors()}
	v.client = src.Client()
	copied.Organization.Name = wording.OrDefault(v.client, src.Assessment.Name)
	v.Template, _ = FindTemplate(template)
	v.Title = wording.OrDefault(edit(title), v.Template.Title)
	v.DraftReasons = copied.draftReasons(v.Template)
	v.theme, _ = copied.Brand.newTheme() // Write reports invalid colors
	if !verbatim {
		maskPeople(&copied)
	}
	v.sortItems()
	v.people = map[string]string{}
	for _, a := range copied.Approvals {
		v.people[a.RequestedBy.ID] = a.RequestedBy.Name
		if a.DecidedBy != nil {
			v.people[a.DecidedBy.ID] = a.DecidedBy.Name
		}
	}
	v.coverage = computeCoverage(&copied)
	_, unread := v.partitionDocuments()
	v.unreadDocuments = len(unread) + v.Summary.UnreadEvidence.DocumentsInOtherLanguages
	v.planByControl = planItemsByControl(v.POAMItems)
	return v
}

// machineAccounts are account names that don't identify a person.
var machineAccounts = []string{"root", "Administrator", "SYSTEM", "local user"}

// machineAccount returns the name of the generic account that created the assessment, or "" if the
// author has a personal name.
func (s *Source) machineAccount() string {
	name := s.Assessment.CreatedBy
	if slices.Contains(machineAccounts, name[strings.LastIndexByte(name, '\\')+1:]) {
		return name
	}
	return ""
}

// nameAssessor returns s with a generic account name replaced by a role. s is either the account name itself or a
// generated sentence that contains it.
func nameAssessor(s, account string) string {
	if s == account {
		return "Assessor"
	}
	for _, words := range []string{"Set by %s.", "by %s.", " %s set the status"} {
		s = strings.ReplaceAll(s, fmt.Sprintf(words, account), fmt.Sprintf(words, "the assessor"))
	}
	return s
}

// maskPeople replaces the names of people with initials in all quotes, including the quotes in drafted texts. It
// learns the names from the quotes, as described at prose.InitialsFor. The locations and hashes of quotes stay the
// same.
func maskPeople(s *Source) {
	var all []*api.Evidence
	collect := func(evidence []api.Evidence) {
		for i := range evidence {
			all = append(all, &evidence[i])
		}
	}
	for i := range s.SoAItems {
		collect(s.SoAItems[i].Evidence)
	}
	for i := range s.Findings {
		collect(s.Findings[i].Evidence)
	}
	for i := range s.Scores {
		collect(s.Scores[i].Evidence)
	}
	if s.Scope != nil {
		for _, trait := range s.Scope.Traits {
			collect(trait.Evidence)
		}
	}
	quotes := make([]string, len(all))
	for i, e := range all {
		quotes[i] = e.Quote
	}
	slices.Sort(quotes)
	people := prose.InitialsFor(slices.Compact(quotes))
	mask := func(quote string) string { return people.Replace(prose.InitialsInRecord(quote)) }
	for _, e := range all {
		e.Quote = mask(e.Quote)
	}
	for i := range s.SoAItems {
		it := &s.SoAItems[i]
		it.Reason = replaceQuoted(it.Reason, mask)
		for k := range it.Statements {
			it.Statements[k].Reason = replaceQuoted(it.Statements[k].Reason, mask)
		}
		for k := range it.MissingElements {
			it.MissingElements[k] = replaceQuoted(it.MissingElements[k], mask)
		}
	}
	for i := range s.Findings {
		f := &s.Findings[i]
		if !f.IsManual("condition") {
			f.Condition = replaceQuoted(f.Condition, mask)
		}
		for k := range f.MissingElements {
			f.MissingElements[k] = replaceQuoted(f.MissingElements[k], mask)
		}
	}
	for i := range s.POAMItems {
		it := &s.POAMItems[i]
		if !it.IsManual("weakness") {
			it.Weakness = replaceQuoted(it.Weakness, mask)
		}
		if it.Resources != nil && !it.IsManual("resources") {
			*it.Resources = replaceQuoted(*it.Resources, mask)
		}
	}
}

// replaceQuoted returns s with the text between each pair of quotation marks replaced.
func replaceQuoted(s string, replace func(string) string) string {
	var out strings.Builder
	for {
		before, rest, _ := strings.Cut(s, "“")
		quote, after, closed := strings.Cut(rest, "”")
		if !closed {
			return out.String() + s
		}
		out.WriteString(before + "“" + replace(quote) + "”")
		s = after
	}
}

// sortItems sorts the items of each deliverable into reading order: plan items by priority, findings by severity
// with the worst first, and all others by domain and code.
func (v *Report) sortItems() {
	byCode := func(a, b *api.Item) int {
		return cmp.Or(
			scf.CompareNatural(a.DomainCode, b.DomainCode),
			scf.CompareNatural(a.ControlCode, b.ControlCode),
			cmp.Compare(a.ID, b.ID),
		)
	}
	slices.SortStableFunc(v.SoAItems, func(a, b api.SoAItem) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Scores, func(a, b api.MaturityScore) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Findings, func(a, b api.Finding) int {
		return cmp.Or(a.CompareWorstFirst(&b), byCode(&a.Item, &b.Item))
	})
	slices.SortStableFunc(v.POAMItems, func(a, b api.POAMItem) int {
		return cmp.Or(
			a.Priority-b.Priority,
			cmp.Compare(a.CurrentDueDate(), b.CurrentDueDate()),
			scf.CompareNatural(a.POAMCode, b.POAMCode),
			cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortStableFunc(v.Documents, func(a, b api.Document) int {
		return cmp.Or(
			cmp.Compare(strings.ToLower(a.Filename), strings.ToLower(b.Filename)),
			cmp.Compare(a.SHA256, b.SHA256),
			cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortStableFunc(v.Approvals, func(a, b api.Approval) int {
		return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.ID, b.ID))
	})
	if v.MaturitySummary != nil {
		slices.SortStableFunc(
			v.MaturitySummary.Domains,
			func(a, b api.DomainMaturity) int { return scf.CompareNatural(a.DomainCode, b.DomainCode) },
		)
	}
}

// PersonName returns the name of the person with the given ID, or the ID if the name is unknown.
func (v *Report) PersonName(id string) string { return wording.OrDefault(v.people[id], id) }

func (v *Report) optionalPersonName(id *string) string { return v.PersonName(wording.OrEmpty(id)) }

// domainLabel returns the code and name of a domain, such as "AST, Assets".
func (v *Report) domainLabel(code string) string {
	switch name := v.Domains[code]; {
	case code == "":
		return "No domain"
	case name == "":
		return code
	default:
		return code + ", " + name
	}
}

// requirementsCell returns a cell that lists requirement codes, with one line for each framework.
func (v *Report) requirementsCell(codes api.RequirementCodes) block.Cell {
	var lines []string
	for _, code := range slices.Sorted(maps.Keys(codes)) {
		if len(codes[code]) == 0 {
			continue
		}
		name := code
		for _, f := range v.Frameworks {
			if f.Code == code {
				name = wording.OrDefault(f.Name, code)
			}
		}
		lines = append(lines, name+": "+strings.Join(codes[code], ", "))
	}
	if len(lines) == 0 {
		return block.Text("–")
	}
	return block.Prose(strings.Join(lines, "\n"))
}

// anchors assigns IDs that are unique within a report, and looks up the ID of an element by its kind and name.
type anchors struct {
	used  map[string]bool
	byKey map[string]string
}

func newAnchors() anchors { return anchors{used: map[string]bool{}, byKey: map[string]string{}} }

// assign returns a new ID for the element of the given kind (such as a table row) with the given name.
func (a anchors) assign(kind, name string) string {
	var b strings.Builder
	b.WriteString(kind)
	b.WriteByte('-')
	for _, r := range strings.ToLower(name) {
		if b.Len() > 80 {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	id := b.String()
	for n := 2; a.used[id]; n++ {
		id = fmt.Sprintf("%s-%d", b.String(), n)
	}
	a.used[id] = true
	if key := kind + "\x00" + name; a.byKey[key] == "" {
		a.byKey[key] = id
	}
	return id
}

// link returns a link to the first element with the given kind and name. If the report has no such
// element, link returns the name as plain text.
func (a anchors) link(kind, name string) block.Span {
	return block.Span{Text: name, Ref: a.byKey[kind+"\x00"+name]}
}
