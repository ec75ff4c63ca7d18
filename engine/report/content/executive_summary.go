package content

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// ExecutiveText returns about a page of plain text for executives, with blank lines between
// paragraphs. It only describes the figures in the source, without adding judgments.
func ExecutiveText(src *Source) string {
	v := New(src, TemplateExecutiveSummary, "", false)
	return strings.Join(v.executiveParagraphs(), "\n\n")
}

// executiveParagraphs returns the paragraphs of the executive text.
func (v *Report) executiveParagraphs() []string {
	out := []string{v.describeSubject()}
	for _, describe := range []func() string{
		v.describeControls, v.describeFindings, v.describeMaturity, v.describePlan, v.describeApprovalAndLimits,
	} {
		if s := describe(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (v *Report) frameworkNames() []string {
	names := make([]string, len(v.Frameworks))
	for i, f := range v.Frameworks {
		names[i] = wording.OrDefault(f.Name, f.Code)
	}
	return names
}

// CatalogName returns the name of the catalog. The starter catalog is named as such, because it isn't the SCF.
func (v *Report) CatalogName() string {
	if v.Catalog.IsStarter {
		return "the built-in starter catalog " + v.Catalog.Label
	}
	return "the Secure Controls Framework " + wording.OrDefault(v.Catalog.Label, "(version not specified)")
}

func (v *Report) describeSubject() string {
	against := prose.JoinAnd(v.frameworkNames())
	if against == "" {
		against = "no specific framework"
	}
	read, unread := v.partitionDocuments()
	// Name the assessment, not the organization, which may be the consultant's own.
	subject := "This assessment"
	if v.Assessment.Name != "" {
		subject = "The assessment “" + v.Assessment.Name + "”"
	}
	s := fmt.Sprintf("%s examines compliance with %s using the controls of %s, as of %s.",
		subject, against, v.CatalogName(), wording.FormatDate(v.AsOf))
	switch {
	case read+len(unread) == 0 && len(v.removedCitedDocuments()) == 0:
		s += " No documents have been provided as evidence."
	case read+len(unread) == 0:
	case len(unread) == 0:
		s += fmt.Sprintf(" The evidence comes from %s.", prose.Count(read, "document", "documents"))
	default:
		s += fmt.Sprintf(
			" The evidence comes from %s; %s could not be considered.",
			prose.Count(read, "document", "documents"),
			prose.Count(len(unread), "more", "more"),
		)
	}
	return s + v.evidenceLimits()
}

// evidenceLimits returns sentences about evidence that was removed or not read, or "" if there is none. Each
// sentence is preceded by a space.
func (v *Report) evidenceLimits() (s string) {
	if removed := v.removedCitedDocuments(); len(removed) > 0 {
		s += fmt.Sprintf(" It relies on %s been removed in the meantime.", prose.Count(len(removed), "document that has", "documents that have"))
	}
	if note := v.Summary.UnreadEvidence.Note(); note != "" {
		s += " " + note
	}
	return s
}

func (v *Report) describeControls() string {
	if v.SoA == nil {
		return "The Statement of Applicability has not been drafted yet, so the applicable controls have not been determined."
	}
	all, _ := countControlStatuses(v.SoAItems)
	excluded := all[statusExcluded]
	undecided := 0
	for i := range v.SoAItems {
		if a := v.SoAItems[i].Applicability; !a.IsApplicable() && a != api.NotApplicable && a != api.OutOfScope {
			undecided++
		}
	}
	in := len(v.SoAItems) - excluded - undecided
	s := "Of " + prose.Count(len(v.SoAItems), "control", "controls") + ", " + prose.Count(in, "applies", "apply")
	if in > 1 && in == len(v.SoAItems) {
		s = fmt.Sprintf("All %s controls apply", prose.GroupThousands(in))
	}
	if excluded > 0 {
		join := ", "
		if undecided == 0 {
			join = " and "
		}
		s += join + prose.Count(excluded, "is excluded with a reason", "are excluded with a reason")
	}
	if undecided > 0 {
		s += " and " + prose.Count(undecided, "is undecided", "are undecided")
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
					prose.GroupThousands(all[o]),
					wording.FormatPercent(all[o], in),
					strings.ToLower(o.displayName())+map[bool]string{true: " implemented"}[o == statusPartly],
				),
			)
		}
	}
	if len(shares) > 0 {
		s += " Status of the applicable controls, based on the evidence: " + prose.JoinAnd(shares) + "."
	}
	if n := all[statusNotEvidenced]; n > 0 {
		s += fmt.Sprintf(
			" There was too little evidence to judge %s (%s) of them; this does not mean that they are not implemented.",
			prose.GroupThousands(n),
			wording.FormatPercent(n, in),
		)
	}
	if v.Summary.CompliancePct != nil {
		s += fmt.Sprintf(" Overall compliance is %s%%", prose.Decimal(*v.Summary.CompliancePct))
		if v.Summary.ComplianceFormula != "" {
			s += ", calculated as " + strings.TrimSuffix(v.Summary.ComplianceFormula, ".")
		}
		s += "."
	}
	return s
}

func (v *Report) describeFindings() string {
	if v.Gap == nil {
		return "No gap analysis has been drafted yet."
	}
	if len(v.Findings) == 0 {
		return "The gap analysis has no findings."
	}
	by, domains, met := map[api.Severity]int{}, map[string]int{}, 0
	for _, f := range v.Findings {
		if f.Result == api.Met {
			met++
		}
		by[f.Severity]++
		domains[f.DomainCode]++
	}
	var parts []string
	for _, s := range api.Severities {
		if by[s] > 0 {
			parts = append(parts, prose.GroupThousands(by[s])+" "+wording.Humanize(string(s)))
		}
	}
	s := "The gap analysis has " + prose.Count(len(v.Findings), "finding", "findings")
	if met > 0 {
		s += ", " + prose.GroupThousands(met) + " of them on controls with the status implemented"
	}
	s += ": " + prose.JoinAnd(parts) + "."
	top := v.Findings[:min(3, len(v.Findings))]
	names := make([]string, len(top))
	for i, f := range top {
		names[i] = strings.TrimSpace(f.ControlCode + " " + f.ControlTitle)
	}
	s += " Top findings: " + strings.Join(names, "; ") + "."
	if len(domains) > 1 {
		codes := slices.Sorted(maps.Keys(domains))
		slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(domains[b], domains[a]) })
		s += fmt.Sprintf(" The domain with the most findings is %s (%s).", v.domainLabel(codes[0]), prose.GroupThousands(domains[codes[0]]))
	}
	return s
}

func (v *Report) describeMaturity() string { return v.describeMaturityOf("control", "controls") }

// describeMaturityOf describes the maturity in a few sentences. one and many are the singular and the plural of the
// word that they use for a control.
func (v *Report) describeMaturityOf(one, many string) string {
	if v.Maturity == nil {
		return "Maturity has not been assessed yet."
	}
	m := v.MaturitySummary
	if m == nil || m.Overall.Mean == nil {
		return "Maturity could not be rated because there is not enough evidence for any " + one + "."
	}
	s := fmt.Sprintf("Average maturity is %s out of 5, based on the %s of %s with evidence",
		prose.Decimal(*m.Overall.Mean), prose.GroupThousands(m.Overall.Assessed), prose.Count(m.Overall.Controls, one, many))
	if m.Overall.Assessed == 1 {
		s = fmt.Sprintf("Maturity is %s out of 5, based on the only one of %s with evidence",
			prose.Decimal(*m.Overall.Mean), prose.Count(m.Overall.Controls, one, many))
	}
	if m.Overall.TargetMean != nil {
		s += "; the target is " + prose.Decimal(*m.Overall.TargetMean)
	}
	s += "."
	if weak := weakestDomains(m.Domains, 4); len(weak) > 3 {
		weak = weak[:3]
		names := make([]string, len(weak))
		for i, d := range weak {
			names[i] = fmt.Sprintf("%s (%s)", wording.OrDefault(d.DomainName, v.domainLabel(d.DomainCode)), prose.Decimal(*d.Mean))
		}
		s += " The lowest averages are in " + prose.JoinAnd(names) + "."
	}
	return s
}

// weakestDomains returns up to n assessed domains with the lowest average maturity.
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

func (v *Report) describePlan() string {
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
	s := "The plan of action has " + prose.Count(len(v.POAMItems), "item", "items") + "; "
	if open == len(v.POAMItems) && open > 1 {
		s += "all are open"
	} else {
		s += prose.Count(open, "is open", "are open")
	}
	switch {
	case overdue > 0 && open == 1:
		s += " and overdue"
	case overdue > 0:
		s += fmt.Sprintf(", %s of them overdue", prose.GroupThousands(overdue))
	}
	s += "."
	if first != "" {
		s += fmt.Sprintf(" The first is due on %s, the last on %s.", first, last)
	}
	return s
}

// isOverdue reports whether an item is open and its due date is before the as-of date of the report.
func (v *Report) isOverdue(it *api.POAMItem) bool {
	return it.IsOpen() && it.CurrentDueDate() != "" && !v.AsOf.IsZero() && it.CurrentDueDate() < api.DateOf(v.AsOf)
}

func (v *Report) describeApprovalAndLimits() string {
	var s []string
	if len(v.DraftReasons) > 0 {
		s = append(s, "This is a draft. "+strings.Join(v.DraftReasons, " "))
	} else {
		s = append(s, "The Statement of Applicability, the gap analysis, the maturity assessment and the plan have each been approved.")
		if unseen := v.approvedInAdvance(); len(unseen) > 0 {
			s[0] = strings.TrimSuffix(s[0], ".") + "; approved in advance, before anyone had seen the content: " + prose.JoinAnd(unseen) + "."
		}
	}
	s = append(s, v.outdatedMessages()...)
	if v.Catalog.IsStarter {
		s = append(s, StarterNotice)
	}
	s = append(s, "This report is based on documents only; nothing else was examined.")
	return strings.Join(s, " ")
}

const StarterNotice = "The controls come from the starter catalog included with the program. " +
	"It is not the Secure Controls Framework, and its framework mappings are not official."

// partitionDocuments returns the number of documents that were read, and a list of the documents that were
// not.
func (v *Report) partitionDocuments() (read int, unread []api.Document) {
	for _, d := range v.Documents {
		if d.Status == api.DocumentIngested {
			read++
		} else {
			unread = append(unread, d)
		}
	}
	return read, unread
}
