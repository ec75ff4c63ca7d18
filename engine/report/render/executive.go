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
	v := newView(src, Request{Template: ExecutiveSummary})
	return strings.Join(v.executive(), "\n\n")
}

// executive is the executive text by paragraph.
func (v *view) executive() []string {
	out := []string{v.saySubject()}
	for _, say := range []func() string{v.sayControls, v.sayFindings, v.sayMaturity, v.sayPlan, v.sayReliance} {
		if s := say(); s != "" {
			out = append(out, s)
		}
	}
	return out
}

func (v *view) frameworkNames() []string {
	names := make([]string, len(v.Frameworks))
	for i, f := range v.Frameworks {
		names[i] = or(f.Name, f.Code)
	}
	return names
}

// catalogName says which catalog, and never calls the starter the SCF.
func (v *view) catalogName() string {
	if v.Catalog.IsStarter {
		return "the built-in starter catalog " + v.Catalog.Label
	}
	return "the Secure Controls Framework " + or(v.Catalog.Label, "(version not stated)")
}

func (v *view) saySubject() string {
	against := and(v.frameworkNames())
	if against == "" {
		against = "no framework in particular"
	}
	read, unread := v.readDocuments()
	// The name of the assessment says what was assessed; the organization may be the consultant's own.
	s := fmt.Sprintf("%s: an assessment against %s by the controls of %s. This is how things stood on %s.",
		or(v.Assessment.Name, "This assessment"), against, v.catalogName(), longDay(v.AsOf))
	switch {
	case read+len(unread) == 0 && len(v.goneDocuments()) == 0:
		s += " No document has been given as evidence."
	case read+len(unread) == 0:
	case len(unread) == 0:
		s += fmt.Sprintf(" The evidence is what %s say.", some(read, "document", "documents"))
	default:
		s += fmt.Sprintf(" The evidence is what %s say; %s could not be taken into account.", some(read, "document", "documents"), some(len(unread), "more", "more"))
	}
	if gone := v.goneDocuments(); len(gone) > 0 {
		s += fmt.Sprintf(" It rests on %s been taken away since.", some(len(gone), "document that has", "documents that have"))
	}
	return s
}

func (v *view) sayControls() string {
	if v.SoA == nil {
		return "The Statement of Applicability has not been drafted yet, so it is not decided which controls apply."
	}
	all, _ := tally(v.SoAItems)
	excluded := all[outExcluded]
	undecided := 0
	for i := range v.SoAItems {
		if a := v.SoAItems[i].Applicability; !a.In() && a != api.NotApplicable && a != api.OutOfScope {
			undecided++
		}
	}
	in := len(v.SoAItems) - excluded - undecided
	s := fmt.Sprintf("Of %s, %s", some(len(v.SoAItems), "control", "controls"), count(in))
	s += map[bool]string{true: " applies", false: " apply"}[in == 1]
	if excluded > 0 {
		s += fmt.Sprintf(", %s left out with a reason", count(excluded))
	}
	if undecided > 0 {
		s += fmt.Sprintf(" and %s not decided yet", count(undecided))
	}
	s += "."
	if in == 0 {
		return s
	}
	var shares []string
	for _, o := range []outcome{outImplemented, outPartly, outPlanned, outMissing} {
		if all[o] > 0 {
			shares = append(shares, fmt.Sprintf("%s (%s) %s", count(all[o]), percent(all[o], in), strings.ToLower(o.words())+map[bool]string{true: " implemented"}[o == outPartly]))
		}
	}
	if len(shares) > 0 {
		s += " As far as the evidence shows, of those that apply: " + and(shares) + "."
	}
	if n := all[outNotEvid]; n > 0 {
		s += fmt.Sprintf(" For %s (%s), too little was found to tell; that is not the same as not implemented.", count(n), percent(n, in))
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

func (v *view) sayFindings() string {
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
			parts = append(parts, count(by[s])+" "+words(string(s)))
		}
	}
	s := fmt.Sprintf("The gap analysis has %s: %s.", some(len(v.Findings), "finding", "findings"), and(parts))
	top := v.Findings[:min(3, len(v.Findings))]
	names := make([]string, len(top))
	for i, f := range top {
		names[i] = strings.TrimSpace(f.ControlCode + " " + f.ControlTitle)
	}
	s += " What weighs most: " + strings.Join(names, "; ") + "."
	if len(domains) > 1 {
		codes := sortedKeys(domains)
		slices.SortStableFunc(codes, func(a, b string) int { return cmp.Compare(domains[b], domains[a]) })
		s += fmt.Sprintf(" Most are in %s (%s).", v.domain(codes[0]), count(domains[codes[0]]))
	}
	return s
}

func (v *view) sayMaturity() string {
	if v.Maturity == nil {
		return "Maturity has not been rated yet."
	}
	m := v.MaturitySummary
	if m == nil || m.Overall.Mean == nil {
		return "Maturity could not be rated: no control has evidence to rate it by."
	}
	s := fmt.Sprintf("Maturity is %.1f of 5 on average, over the %s of %s that there is evidence for",
		*m.Overall.Mean, count(m.Overall.Assessed), some(m.Overall.Controls, "control", "controls"))
	if m.Overall.TargetMean != nil {
		s += fmt.Sprintf("; the target is %.1f", *m.Overall.TargetMean)
	}
	s += "."
	if weak := weakest(m.Domains, 3); len(weak) > 0 && len(m.Domains) > 1 {
		names := make([]string, len(weak))
		for i, d := range weak {
			names[i] = fmt.Sprintf("%s (%.1f)", or(d.DomainName, v.domain(d.DomainCode)), *d.Mean)
		}
		s += " It is lowest in " + and(names) + "."
	}
	return s
}

// weakest are the n assessed domains with the lowest means.
func weakest(domains []api.DomainMaturity, n int) []api.DomainMaturity {
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

func (v *view) sayPlan() string {
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
		if !it.Open() {
			continue
		}
		open++
		if v.overdue(it) {
			overdue++
		}
		if it.Due() != "" && (first == "" || it.Due() < first) {
			first = it.Due()
		}
		last = max(last, it.Due())
	}
	s := fmt.Sprintf("The plan of action has %s, of which %s open", some(len(v.POAMItems), "item", "items"), count(open)+map[bool]string{true: " is", false: " are"}[open == 1])
	if overdue > 0 {
		s += fmt.Sprintf(" and %s overdue", count(overdue))
	}
	s += "."
	if first != "" {
		s += fmt.Sprintf(" The first is due on %s, the last on %s.", dueDay(first), dueDay(last))
	}
	return s
}

// dueDay is a date in words, for running text.
func dueDay(d api.Date) string {
	if t, ok := parsedDay(d); ok {
		return longDay(t)
	}
	return string(d)
}

// overdue is by the data's date.
func (v *view) overdue(it *api.POAMItem) bool {
	return it.Open() && it.Due() != "" && !v.AsOf.IsZero() && it.Due() < api.DateOf(v.AsOf)
}

func (v *view) sayReliance() string {
	var s []string
	if len(v.draft) > 0 {
		s = append(s, "This is a draft. "+strings.Join(v.draft, " "))
	} else {
		s = append(s, "The Statement of Applicability, the gap analysis, the maturity assessment and the plan were each approved by a person.")
	}
	s = append(s, v.outdated()...)
	if v.Catalog.IsStarter {
		s = append(s, starterNotice)
	}
	s = append(s, "It rests on documents: what they do not show was not looked at.")
	return strings.Join(s, " ")
}

const starterNotice = "The controls are those of the starter catalog that comes with the program, in its own words. It is not the Secure Controls Framework, and its mappings to frameworks are not official."

// readDocuments counts the documents that were read, and returns the rest.
func (v *view) readDocuments() (read int, unread []api.Document) {
	for _, d := range v.Documents {
		if d.Status == api.DocumentIngested {
			read++
		} else {
			unread = append(unread, d)
		}
	}
	return read, unread
}
