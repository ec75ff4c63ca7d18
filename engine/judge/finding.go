package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// Finding drafts the gap of an item; false where there is none: the control is not
// to be assessed, or is implemented with strong evidence. "Not evidenced" is told
// as what it is, and never as "not implemented". Ids, version and due date are the caller's.
// others are the controls in scope, by code, with how far they are implemented.
func Finding(c api.Control, item api.SoAItem, others map[string]api.Implementation) (api.Finding, bool) {
	if !Assessed(&item) || item.ImplementationStatus == api.Implemented && item.EvidenceCoverage == api.CoverageStrong {
		return api.Finding{}, false
	}
	f := api.Finding{
		Item:            itemOf(c, item.RequirementCodes),
		InCatalog:       true,
		Status:          item.ImplementationStatus,
		Result:          resultOf(item.ImplementationStatus),
		GapType:         gapType(c, item),
		Weight:          weightOf(c),
		Criteria:        criteriaFor(c, item),
		MissingElements: append([]string{}, item.MissingElements...),
		Evidence:        append([]api.Evidence{}, item.Evidence...),
		Confidence:      item.Confidence,
		Owner:           item.Owner,
		Source:          "analysis",
	}
	if f.StatusSetBy = setBy(item); f.StatusSetBy != "" {
		f.MissingElements = withoutNotes(f.MissingElements)
	}
	rate(&f, item)
	f.Condition = condition(item)
	f.Cause = cause(item)
	f.Effect = effect(c, item)
	f.Recommendation = recommendation(c, f, disputeOf(item.Statements), others)
	return f, true
}

// rate gives a finding its severity by what its item lacks; one that a person set stays.
func rate(f *api.Finding, item api.SoAItem) {
	missing, who := 1-item.CoverageRatio, setBy(item)
	if who != "" {
		missing = missingBy(item)
	}
	severity, points, reason := Severity(f.Weight, missing, item.RequirementCodes.Count(), f.Status)
	f.SeverityPoints = points
	if f.SetByHand("severity") {
		return
	}
	if missing != 1-item.CoverageRatio {
		reason += " All of it counts as missing, because " + who + " set the status."
	}
	f.Severity, f.SeverityReason = severity, reason
}

// Overrule tells in a finding that a person set its status against what its line of the SoA says, where
// it would tell why the line says so, and rates it anew. What people wrote and set stays.
func Overrule(f *api.Finding, item api.SoAItem, who string) {
	f.MissingElements = append([]string{}, item.MissingElements...)
	if f.Status != item.ImplementationStatus {
		item.ImplementationStatus, item.Reason = f.Status, ByPerson(who)
		item.EditedFields, item.EditedBy = []string{"implementation_status"}, &who
	}
	if setBy(item) != "" {
		f.MissingElements = withoutNotes(f.MissingElements)
	}
	rate(f, item)
	if !f.SetByHand("condition") {
		f.Condition = condition(item)
	}
	if !f.SetByHand("cause") {
		f.Cause = cause(item)
	}
}

// OverruledBy is who set a status, by the cause that tells it; empty where it doesn't.
func OverruledBy(cause string) string {
	rest, is := strings.CutPrefix(cause, notRead)
	who, _, set := strings.Cut(rest, setTo)
	if !is || !set {
		return ""
	}
	return who
}

// notRead and setTo stand around the name in the cause of a status that a person set.
const (
	notRead = "Not read from the evidence: "
	setTo   = " set the status to "
)

// withoutNotes are missing elements without what the evidence says of them.
func withoutNotes(missing []string) []string {
	out := make([]string, len(missing))
	for i, m := range missing {
		out[i] = withoutNote(m)
	}
	return out
}

// byPerson begins the reason of a line whose status a person set; the name follows.
const byPerson = "Set by "

// ByPerson is the reason of a line whose status a person set.
func ByPerson(name string) string { return byPerson + name + "." }

// setBy is who set the status, against what was read; empty where the rules did.
func setBy(item api.SoAItem) string {
	if !item.Overruled() {
		return ""
	}
	if name, is := strings.CutPrefix(item.Reason, byPerson); is {
		return strings.TrimSuffix(name, ".")
	}
	if item.EditedBy != nil && *item.EditedBy != "" {
		return *item.EditedBy
	}
	return "a person"
}

// missingBy is the share that is missing where a person set the status: what they say is not
// there is missing whole, whatever was read of it.
func missingBy(item api.SoAItem) float64 {
	switch item.ImplementationStatus {
	case api.NotImplemented, api.NotEvidenced, api.Planned:
		return 1
	}
	return 1 - item.CoverageRatio
}

func resultOf(s api.Implementation) api.Result {
	switch s {
	case api.Implemented:
		return api.Met
	case api.PartiallyImplemented:
		return api.PartiallyMet
	case api.NotEvidenced:
		return api.ResultNoEvid
	}
	return api.NotMet
}

func verdicts(item api.SoAItem) map[string]int {
	n := make(map[string]int)
	for _, s := range item.Statements {
		n[s.Verdict]++
	}
	return n
}

// gapType names what kind of thing is missing.
func gapType(c api.Control, item api.SoAItem) string {
	n := verdicts(item)
	technical := false
	for _, a := range c.Applicability {
		technical = technical || a == "technology"
	}
	switch {
	case item.ImplementationStatus == api.NotEvidenced:
		return "evidence"
	case item.ImplementationStatus == api.Implemented:
		return "evidence"
	case disputeOf(item.Statements) == ofRecords:
		return "effectiveness"
	case n[conflicting] > 0:
		return "governance"
	case item.ImplementationStatus == api.NotImplemented || item.ImplementationStatus == api.Planned || n[denied] > 0 || n[plannedOnly] > 0:
		switch {
		case c.DomainCode == "TPM":
			return "contractual"
		case technical:
			return "technical"
		}
		return "implementation"
	case strings.HasPrefix(item.Reason, "Records show"):
		return "documentation"
	case strings.HasPrefix(item.Reason, "Policies ask"):
		return "evidence"
	case c.DomainCode == "MON":
		return "monitoring"
	case item.CoverageRatio >= strongFrom:
		return "effectiveness"
	}
	return "documentation"
}

func condition(item api.SoAItem) string {
	var b strings.Builder
	switch item.ImplementationStatus {
	case api.NotEvidenced:
		b.WriteString("No sufficient evidence was found, either way. ")
	case api.Implemented:
		fmt.Fprintf(&b, "The control counts as implemented, but the evidence for it is %s. ", item.EvidenceCoverage)
	}
	b.WriteString(item.Reason)
	if item.Note != nil && strings.TrimSpace(*item.Note) != "" {
		fmt.Fprintf(&b, " Note: “%s”.", shorten(strings.TrimRight(*item.Note, ". "), 240))
	}
	shown := make(map[string]bool)
	for _, e := range item.Evidence {
		if len(shown) == 3 {
			break
		}
		key := e.ChunkID + "\n" + e.Quote
		if shown[key] {
			continue
		}
		shown[key] = true
		fmt.Fprintf(&b, " %s: “%s”.", citation(e), shorten(strings.TrimRight(e.Quote, "."), 240))
	}
	return strings.TrimSpace(b.String())
}

// citation names the place of a piece of evidence.
func citation(e api.Evidence) string {
	r := reading{from: &candidate{Passage: Passage{DocumentTitle: e.DocumentTitle, Filename: e.Filename, Locator: e.Locator, HeadingPath: e.HeadingPath}}}
	verb := map[string]string{"supports": "says", "plans": "announces", "denies": "says", "template": "holds the blank", "limits": "says", "conflicts": "says, against it"}[e.Stance]
	if verb == "" {
		verb = "says"
	}
	return r.where() + " " + verb
}

func criteriaFor(c api.Control, item api.SoAItem) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", c.Code, c.Title, strings.TrimSpace(firstOf(c.Description, c.Title)))
	for i, f := range frameworksOf(item.RequirementCodes) {
		if i == 0 {
			b.WriteString(" Asked for by")
		} else {
			b.WriteString(";")
		}
		codes := item.RequirementCodes[f]
		fmt.Fprintf(&b, " %s %s", f, strings.Join(codes[:min(len(codes), 12)], ", "))
		if len(codes) > 12 {
			fmt.Fprintf(&b, " and %d more", len(codes)-12)
		}
	}
	return strings.TrimRight(b.String(), ".; ") + "."
}

func cause(item api.SoAItem) string {
	n := verdicts(item)
	if who := setBy(item); who != "" && item.ImplementationStatus != api.Implemented {
		return notRead + who + setTo + words(item.ImplementationStatus) + ", and can tell why."
	}
	switch {
	case item.ImplementationStatus == api.NotEvidenced && n[template] > 0:
		return "A template was taken over, and its blanks were never filled in."
	case item.ImplementationStatus == api.NotEvidenced:
		return "Not known. The documents given may not hold it, or it may not be done; the control's owner can tell."
	case n[conflicting] > 0:
		return contradictions[disputeOf(item.Statements)].cause
	case item.ImplementationStatus == api.Planned:
		return "The measure has been decided, but not carried out."
	case item.ImplementationStatus == api.NotImplemented:
		return "The evidence itself says that it is not done; why, it doesn't say. To be asked of the owner."
	case strings.HasPrefix(item.Reason, "Records show"):
		return "It is done by habit; nobody wrote it down as a rule."
	case strings.HasPrefix(item.Reason, "Policies ask"):
		return "The rule was written, but its practice leaves no record, or the record was not given."
	case n[plannedOnly] > 0 || n[denied] > 0:
		return "The measure has been begun, and not carried through everywhere."
	case n[partial] > 0:
		return "Documents speak of it in general or limited words, and leave parts open."
	}
	return "The documents leave parts of the control out."
}

func effect(c api.Control, item api.SoAItem) string {
	d := domainOf(c.Code)
	text := "The risk is that " + d.effect + "."
	if item.ImplementationStatus == api.NotEvidenced {
		text = "If it is indeed not done, the risk is that " + d.effect + ". Until it is shown, an assessor can't rely on it."
	}
	if len(c.Risks) > 0 {
		text += " Risks of the catalog: " + strings.Join(c.Risks[:min(len(c.Risks), 8)], ", ") + "."
	}
	if weightOf(c) == 10 {
		text += " The control is material: a deficiency in it is a material weakness of the whole."
	}
	return text
}

func recommendation(c api.Control, f api.Finding, over dispute, others map[string]api.Implementation) string {
	var b strings.Builder
	switch {
	case f.Status == api.NotEvidenced:
		b.WriteString("Ask the owner for evidence; where there is none, put the control in place.")
	case f.Status == api.Planned:
		b.WriteString("Carry out what was announced, with an owner and a date, and keep the proof.")
	case f.Status == api.NotImplemented:
		b.WriteString("Put the control in place.")
	case f.GapType == "documentation":
		b.WriteString("Write down what is missing in an approved policy or procedure.")
	case f.GapType == "evidence":
		b.WriteString("Collect records that show it being done.")
	case over != noDispute:
		b.WriteString(contradictions[over].advice)
	default:
		b.WriteString("Complete the control where it falls short.")
	}
	if len(f.MissingElements) > 0 {
		b.WriteString(" To be shown: ")
		for i, m := range f.MissingElements {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(strings.TrimRight(withoutNote(m), "."))
		}
		b.WriteString(".")
	}
	switch {
	case weightOf(c) == 10:
		b.WriteString(" No compensating control can stand in for a material control.")
	case len(c.CompensatingControls) > 0:
		b.WriteString(" Until then, these may compensate: " + or(compensating(c, others)) + ".")
	}
	return b.String()
}

// compensating names the controls that may stand in for one, with how far they are implemented:
// those of the assessment, or those of the catalog where none of them is in it.
func compensating(c api.Control, others map[string]api.Implementation) []string {
	var inside, outside []string
	for _, k := range c.CompensatingControls {
		about := make([]string, 0, 2)
		if k.Name != nil && *k.Name != "" {
			about = append(about, *k.Name)
		}
		list, status := &inside, others[k.ControlCode]
		if status == "" {
			list, status = &outside, "not in this assessment"
		}
		name := k.ControlCode + " (" + strings.Join(append(about, strings.ReplaceAll(string(status), "_", " ")), "; ") + ")"
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	if len(inside) > 0 {
		return inside
	}
	return outside
}
