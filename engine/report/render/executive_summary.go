package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// ExecutiveText is about a page of plain words for a board, paragraphs apart by a blank
// line. It is made from the source's numbers alone: nothing in it is a judgement.
func ExecutiveText(src *Source) string {
	v := newReportData(src, Request{Template: TemplateExecutiveSummary})
	return strings.Join(v.executiveParagraphs(), "\n\n")
}

// executiveParagraphs is the executive text by paragraph.
func (v *reportData) executiveParagraphs() []string {
	out := []string{v.describeSubject()}
	for _, say := range []func() string{v.describeControls, v.describeFindings, v.describeMaturity, v.describePlan, v.describeReliance} {
		if s := say(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (v *reportData) frameworkNames() []string {
	names := make([]string, len(v.Frameworks))
	for i, f := range v.Frameworks {
		names[i] = orDefault(f.Name, f.Code)
	}
	return names
}

// catalogName says which catalog, and never calls the starter the SCF.
func (v *reportData) catalogName() string {
	if v.Catalog.IsStarter {
		return "the built-in starter catalog " + v.Catalog.Label
	}
	return "the Secure Controls Framework " + orDefault(v.Catalog.Label, "(version not stated)")
}

func (v *reportData) describeSubject() string {
	against := joinWithAnd(v.frameworkNames())
	if against == "" {
		against = "no framework in particular"
	}
	read, unread := v.partitionDocuments()
	// The name of the assessment says what was assessed; the organization may be the consultant's own.
	s := fmt.Sprintf("%s: an assessment against %s by the controls of %s. This is how things stood on %s.",
		orDefault(v.Assessment.Name, "This assessment"), against, v.catalogName(), formatLongDate(v.AsOf))
	switch {
	case read+len(unread) == 0 && len(v.removedDocuments()) == 0:
		s += " No document has been given as evidence."
	case read+len(unread) == 0:
	case len(unread) == 0:
		s += fmt.Sprintf(" The evidence is what %s say.", pluralize(read, "document", "documents"))
	default:
		s += fmt.Sprintf(
			" The evidence is what %s say; %s could not be taken into account.",
			pluralize(read, "document", "documents"),
			pluralize(len(unread), "more", "more"),
		)
	}
	if gone := v.removedDocuments(); len(gone) > 0 {
		s += fmt.Sprintf(" It rests on %s been taken away since.", pluralize(len(gone), "document that has", "documents that have"))
	}
	return s
}

func (v *reportData) describeControls() string {
	if v.SoA == nil {
		return "The Statement of Applicability has not been drafted yet, so it is not decided which controls apply."
	}
	all, _ := countStatuses(v.SoAItems)
	excluded := all[statusExcluded]
	undecided := 0
	for i := range v.SoAItems {
		if a := v.SoAItems[i].Applicability; !a.IsApplicable() && a != api.NotApplicable && a != api.OutOfScope {
			undecided++
		}
	}
	in := len(v.SoAItems) - excluded - undecided
	s := fmt.Sprintf("Of %s, %s", pluralize(len(v.SoAItems), "control", "controls"), formatCount(in))
	s += map[bool]string{true: " applies", false: " apply"}[in == 1]
	if excluded > 0 {
		s += fmt.Sprintf(", %s left out with a reason", formatCount(excluded))
	}
	if undecided > 0 {
		s += fmt.Sprintf(" and %s not decided yet", formatCount(undecided))
	}
	s += "."
	if in == 0 {
		return s
	}
	var shares []string
	for _, o := range []coverageStatus{statusImplemented, statusPartly, statusPlanned, statusMissing} {
		if all[o] > 0 {
			shares = append(
				shares,
				fmt.Sprintf(
					"%s (%s) %s",
					formatCount(all[o]),
					formatPercent(all[o], in),
					strings.ToLower(o.displayName())+map[bool]string{true: " implemented"}[o == statusPartly],
				),
			)
		}
	}
	if len(shares) > 0 {
		s += " As far as the evidence shows, of those that apply: " + joinWithAnd(shares) + "."
	}
	if n := all[statusNotEvidenced]; n > 0 {
		s += fmt.Sprintf(
			" For %s (%s), too little was found to tell; that is not the same as not implemented.",
			formatCount(n),
			formatPercent(n, in),
		)
	}
	if v.Summary.CompliancePct != nil {
		s += fmt.Sprintf(" Taken together, compliance is %.1f%%", *v.Summary.CompliancePct)
		if v.Summary.ComplianceFormula != "" {
			s += " (" + strings.TrimSuffix(v.Summary.ComplianceFormula, ".") + ")"
		}
		s += "."
	}
	return s
}

func (v *reportData) describeFindings() string {
	if v.Gap == nil {
		return "No gap analysis has been drafted yet."
	}
	if len(v.Findings) == 0 {
		return "The gap analysis has no findings."
	}
	by, domains := map[api.Severity]int{}, map[string]int{}
	for _, f := range v.Findings {
		by[f.Severity]++
		domains[f.DomainCode]++
	}
	var parts []string
	for _, s := range api.Severities {
		if by[s] > 0 {
			parts = append(parts, formatCount(by[s])+" "+humanize(string(s)))
		}
	}
	s := fmt.Sprintf("The gap analysis has %s: %s.", pluralize(len(v.Findings), "finding", "findings"), joinWithAnd(parts))
	top := v.Findings[:min(3, len(v.Findings))]
	names := make([]string, len(top))
	for i, f := range top {
		names[i] = strings.TrimSpace(f.ControlCode + " " + f.ControlTitle)
	}
	s += " What weighs most: " + strings.Join(names, "; ") + "."
	if len(domains) > 1 {
		codes := sortedKeys(domains)
		slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(domains[b], domains[a]) })
		s += fmt.Sprintf(" Most are in %s (%s).", v.domainLabel(codes[0]), formatCount(domains[codes[0]]))
	}
	return s
}

func (v *reportData) describeMaturity() string {
	if v.Maturity == nil {
		return "Maturity has not been rated yet."
	}
	m := v.MaturitySummary
	if m == nil || m.Overall.Mean == nil {
		return "Maturity could not be rated: no control has evidence to rate it by."
	}
	s := fmt.Sprintf("Maturity is %.1f of 5 on average, over the %s of %s that there is evidence for",
		*m.Overall.Mean, formatCount(m.Overall.Assessed), pluralize(m.Overall.Controls, "control", "controls"))
	if m.Overall.TargetMean != nil {
		s += fmt.Sprintf("; the target is %.1f", *m.Overall.TargetMean)
	}
	s += "."
	if weak := weakestDomains(m.Domains, 3); len(weak) > 0 && len(m.Domains) > 1 {
		names := make([]string, len(weak))
		for i, d := range weak {
			names[i] = fmt.Sprintf("%s (%.1f)", orDefault(d.DomainName, v.domainLabel(d.DomainCode)), *d.Mean)
		}
		s += " It is lowest in " + joinWithAnd(names) + "."
	}
	return s
}

// weakestDomains are the n assessed domains with the lowest means.
func weakestDomains(domains []api.DomainMaturity, n int) []api.DomainMaturity {
	var out []api.DomainMaturity
	for _, d := range domains {
		if d.Mean != nil {
			out = append(out, d)
		}
	}
	slices.SortStableFunc(out, func(a, b api.DomainMaturity) int {
		return cmp.Or(cmp.Compare(*a.Mean, *b.Mean), cmp.Compare(a.DomainCode, b.DomainCode))
	})
	return out[:min(n, len(out))]
}

func (v *reportData) describePlan() string {
	if v.POAM == nil {
		return "No plan of action has been drafted yet."
	}
	if len(v.POAMItems) == 0 {
		return "The plan of action has no items."
	}
	open, overdue := 0, 0
	var first, last api.Date
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		if !it.IsOpen() {
			continue
		}
		open++
		if v.isOverdue(it) {
			overdue++
		}
		if it.CurrentDueDate() != "" && (first == "" || it.CurrentDueDate() < first) {
			first = it.CurrentDueDate()
		}
		last = max(last, it.CurrentDueDate())
	}
	s := fmt.Sprintf(
		"The plan of action has %s, of which %s open",
		pluralize(len(v.POAMItems), "item", "items"),
		formatCount(open)+map[bool]string{true: " is", false: " are"}[open == 1],
	)
	if overdue > 0 {
		s += fmt.Sprintf(" and %s overdue", formatCount(overdue))
	}
	s += "."
	if first != "" {
		s += fmt.Sprintf(" The first is due on %s, the last on %s.", formatDueDate(first), formatDueDate(last))
	}
	return s
}

// formatDueDate is a date in words, for running text.
func formatDueDate(d api.Date) string {
	if t, ok := parseDate(d); ok {
		return formatLongDate(t)
	}
	return string(d)
}

// isOverdue is by the data's date.
func (v *reportData) isOverdue(it *api.POAMItem) bool {
	return it.IsOpen() && it.CurrentDueDate() != "" && !v.AsOf.IsZero() && it.CurrentDueDate() < api.DateOf(v.AsOf)
}

func (v *reportData) describeReliance() string {
	var s []string
	if len(v.draftNotices) > 0 {
		s = append(s, "This is a draft. "+strings.Join(v.draftNotices, " "))
	} else {
		s = append(s, "The Statement of Applicability, the gap analysis, the maturity assessment and the plan were each approved by a person.")
	}
	s = append(s, v.outdatedMessages()...)
	if v.Catalog.IsStarter {
		s = append(s, starterNotice)
	}
	s = append(s, "It rests on documents: what they do not show was not looked at.")
	return strings.Join(s, " ")
}

const starterNotice = "The controls are those of the starter catalog that comes with the program, in its own words. It is not the Secure Controls Framework, and its mappings to frameworks are not official."

// partitionDocuments counts the documents that were read, and returns the rest.
func (v *reportData) partitionDocuments() (read int, unread []api.Document) {
	for _, d := range v.Documents {
		if d.Status == api.DocumentIngested {
			read++
		} else {
			unread = append(unread, d)
		}
	}
	return read, unread
}
