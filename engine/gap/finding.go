// Package gap derives the findings of a gap analysis from a Statement of Applicability: what is missing, its likely cause
// and effect, the severity, and a recommendation. It also compares the findings of two versions.
//
// Its functions only compute: the caller assigns IDs and saves the results.
package gap

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/engine/risk"
	"github.com/scf-service/service/internal/prose"
)

// DraftFinding drafts the finding for an SoA item. It returns false if there is no gap because the control is
// not assessed, or is implemented with strong evidence. "Not evidenced" is reported as such, never as "not
// implemented". The caller sets IDs, version and due date. implementationByCode holds the status of the controls
// in scope, and frameworkNames the names of frameworks by code.
func DraftFinding(
	c api.Control,
	item api.SoAItem,
	implementationByCode map[string]api.Implementation,
	frameworkNames map[string]string,
) (finding api.Finding, hasGap bool) {
	if !judge.IsAssessed(&item) || item.ImplementationStatus == api.Implemented && item.EvidenceCoverage == api.CoverageStrong {
		return api.Finding{}, false
	}
	f := api.Finding{
		Item:            judge.NewItem(c, item.RequirementCodes),
		InCatalog:       true,
		Status:          item.ImplementationStatus,
		Result:          resultFromStatus(item.ImplementationStatus),
		GapType:         classifyGap(c, item),
		Weight:          judge.ControlWeight(c),
		Criteria:        describeCriteria(c, item, frameworkNames),
		MissingElements: append([]string{}, item.MissingElements...),
		Evidence:        orderQuotes(item),
		Confidence:      item.Confidence,
		Owner:           item.Owner,
		Source:          "analysis",
	}
	if f.StatusSetBy = judge.UserWhoSetStatus(item); f.StatusSetBy != "" {
		f.MissingElements = stripNotes(f.MissingElements)
	}
	setFindingSeverity(&f, item)
	f.Condition = describeCondition(item)
	f.Cause = describeCause(item)
	f.Effect = describeEffect(c, item)
	f.Recommendation = draftRecommendation(c, f, judge.CommonContradictionKind(item.Statements), implementationByCode)
	return f, true
}

// setFindingSeverity sets a finding's severity points according to what its item lacks, and also its severity unless a
// user has set it.
func setFindingSeverity(f *api.Finding, item api.SoAItem) {
	missing, who := 1-item.CoverageRatio, judge.UserWhoSetStatus(item)
	if who != "" {
		missing = missingShareByStatus(item)
	}
	severity, points, reason := RateSeverity(f.Weight, missing, item.RequirementCodes.Count(), f.Status)
	f.SeverityPoints = points
	if f.IsManual("severity") {
		return
	}
	if missing != 1-item.CoverageRatio {
		reason += " Because " + who + " set the status, the whole control is rated as missing."
	}
	f.Severity, f.SeverityReason = severity, reason
}

// RewriteForStatusOverride updates a finding whose status was changed by a user, so that it differs from the
// status of the SoA item. The condition, cause and severity reason of the finding then refer to the user instead
// of giving the automatic reason. Fields edited by users are kept.
func RewriteForStatusOverride(f *api.Finding, item api.SoAItem, userName string) {
	f.MissingElements = append([]string{}, item.MissingElements...)
	if f.Status != item.ImplementationStatus {
		item.ImplementationStatus, item.Reason = f.Status, judge.StatusSetByReason(userName)
		item.EditedFields, item.EditedBy = []string{"implementation_status"}, &userName
	}
	if judge.UserWhoSetStatus(item) != "" {
		f.MissingElements = stripNotes(f.MissingElements)
	}
	setFindingSeverity(f, item)
	if !f.IsManual("condition") {
		f.Condition = describeCondition(item)
	}
	if !f.IsManual("cause") {
		f.Cause = describeCause(item)
	}
}

// ParseOverridingUser returns the user named in the cause of an overridden status, or "" for any other cause.
func ParseOverridingUser(cause string) string {
	rest, is := strings.CutPrefix(cause, overrideCausePrefix)
	who, _, set := strings.Cut(rest, overrideCauseMiddle)
	if !is || !set {
		return ""
	}
	return who
}

// overrideCausePrefix and overrideCauseMiddle surround the user's name in the cause of an
// overridden status.
const (
	overrideCausePrefix = "Not based on the evidence: "
	overrideCauseMiddle = " set the status to "
)

// stripNotes returns missing elements without their notes in parentheses.
func stripNotes(missing []string) []string {
	out := make([]string, len(missing))
	for i, m := range missing {
		out[i] = judge.StripNote(m)
	}
	return out
}

// missingShareByStatus returns the missing share that follows from a status set by a user. If the user states that the
// control isn't in place, the share is 1, whatever the evidence.
func missingShareByStatus(item api.SoAItem) float64 {
	switch item.ImplementationStatus {
	case api.NotImplemented, api.NotEvidenced, api.Planned:
		return 1
	}
	return 1 - item.CoverageRatio
}

func resultFromStatus(s api.Implementation) api.Result {
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

func countVerdicts(item api.SoAItem) map[string]int {
	n := make(map[string]int)
	for _, s := range item.Statements {
		n[s.Verdict]++
	}
	return n
}

// classifyGap returns the type of a gap: what kind of thing is missing, such as documentation or evidence.
func classifyGap(c api.Control, item api.SoAItem) string {
	n := countVerdicts(item)
	technical := false
	for _, a := range c.Applicability {
		technical = technical || a == "technology"
	}
	switch {
	case item.ImplementationStatus == api.NotEvidenced:
		return "evidence"
	case item.ImplementationStatus == api.Implemented:
		return "evidence"
	case judge.CommonContradictionKind(item.Statements) == judge.RuleNotFollowed:
		return "effectiveness"
	case n[judge.VerdictConflicting] > 0:
		return "governance"
	case item.ImplementationStatus == api.NotImplemented || item.ImplementationStatus == api.Planned || n[judge.VerdictDenied] > 0 ||
		n[judge.VerdictPlanned] > 0:
		switch {
		case c.DomainCode == "TPM":
			return "contractual"
		case technical:
			return "technical"
		}
		return "implementation"
	case strings.HasPrefix(item.Reason, "Records show"):
		return "documentation"
	case strings.HasPrefix(item.Reason, "Policies require"):
		return "evidence"
	case c.DomainCode == "MON":
		return "monitoring"
	case item.CoverageRatio >= judge.MinStrongRatio:
		return "effectiveness"
	}
	return "documentation"
}

func describeCondition(item api.SoAItem) string {
	var b strings.Builder
	b.WriteString(describeStanding(item))
	if item.Note != nil && strings.TrimSpace(*item.Note) != "" {
		fmt.Fprintf(&b, " Note: “%s”.", text.Shorten(strings.TrimRight(*item.Note, ". "), 240))
	}
	for _, e := range quotesForCondition(item) {
		fmt.Fprintf(&b, " %s: %s.", citationWithVerb(e), judge.QuoteEvidence(&e))
	}
	return strings.TrimSpace(b.String())
}

// describeStanding describes to what extent the control is in place, without assuming that the reader knows the
// method. The item's reason contains the underlying figures.
func describeStanding(item api.SoAItem) string {
	n := countVerdicts(item)
	if judge.UserWhoSetStatus(item) != "" {
		return "This status was set by a person: " + prose.Humanize(item.ImplementationStatus) + "."
	}
	switch item.ImplementationStatus {
	case api.NotEvidenced:
		switch {
		case n[judge.VerdictTemplate] > 0:
			return "The control can't be judged: only a template with unfilled blanks covers it."
		case len(item.Evidence) > 0:
			return "The documents mention the control but contain too little to judge it. It may still be in place."
		}
		return "The control can't be judged because no document provided covers it. It may still be in place."
	case api.Implemented:
		return fmt.Sprintf("The control is in place, but the evidence for it is %s.", item.EvidenceCoverage)
	case api.Planned:
		return "The control is planned but not implemented."
	case api.NotImplemented:
		return "The documents state that the control is not implemented."
	}
	switch {
	case judge.CommonContradictionKind(item.Statements) == judge.RuleNotFollowed:
		return "The rule exists, but records show that it isn't always followed."
	case n[judge.VerdictConflicting] > 0:
		return "Part of the control is in place; on another part, the documents contradict each other."
	case n[judge.VerdictDenied] > 0:
		return "Part of the control is in place; the documents state that another part is not."
	case n[judge.VerdictPlanned] > 0:
		return "Part of the control is in place; another part is only planned."
	}
	return "Part of the control is in place; the documents don't cover the other parts."
}

// citationWithVerb returns the location of a piece of evidence followed by a verb for its stance, such as
// "states".
func citationWithVerb(e api.Evidence) string {
	verb := map[string]string{
		"supports":  "states",
		"plans":     "plans",
		"denies":    "states",
		"template":  "contains the blank",
		"limits":    "states",
		"conflicts": "states the opposite",
	}[e.Stance]
	if verb == "" {
		verb = "states"
	}
	return judge.FormatEvidenceLocation(&e) + " " + verb
}

func describeCriteria(c api.Control, item api.SoAItem, frameworkNames map[string]string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s: %s", c.Code, c.Title, strings.TrimSpace(cmp.Or(c.Description, c.Title)))
	for i, f := range judge.FrameworkCodes(item.RequirementCodes) {
		if i == 0 {
			b.WriteString(" Required by")
		} else {
			b.WriteString(";")
		}
		codes := item.RequirementCodes[f]
		fmt.Fprintf(&b, " %s %s", cmp.Or(frameworkNames[f], f), strings.Join(codes[:min(len(codes), 12)], ", "))
		if len(codes) > 12 {
			fmt.Fprintf(&b, " and %d more", len(codes)-12)
		}
	}
	return strings.TrimRight(b.String(), ".; ") + "."
}

// contradictionAdvice holds the likely cause of each kind of contradiction and the recommended action.
var contradictionAdvice = map[judge.Contradiction]struct{ cause, advice string }{
	judge.BetweenPassages: {
		"Cause unknown. One document may have been updated and another not, or they may cover different things; see the quotes.",
		"Review the conflicting passages. If they really conflict, decide which one is correct and fix the other.",
	},
	judge.WithinDocument: {
		"Cause unknown. The document may be inconsistent; see the quotes.",
		"Review the conflicting passages. If they really conflict, decide which one is correct and fix the other.",
	},
	judge.RuleNotFollowed: {
		"The rule is documented but not followed consistently, or not at all. The records don't show why; ask the owner.",
		"Find out why the control failed in the recorded cases, fix the cause, and use new records to show that it works.",
	},
}

func describeCause(item api.SoAItem) string {
	n := countVerdicts(item)
	if who := judge.UserWhoSetStatus(item); who != "" && item.ImplementationStatus != api.Implemented {
		set := overrideCausePrefix + who + overrideCauseMiddle + prose.Humanize(item.ImplementationStatus)
		if note := item.Note; note != nil && strings.TrimSpace(*note) != "" {
			return set + ". Their note: “" + text.Shorten(strings.TrimRight(text.CollapseSpace(*note), "."), 300) + "”."
		}
		return set + "."
	}
	switch {
	case item.ImplementationStatus == api.NotEvidenced && n[judge.VerdictTemplate] > 0:
		return "A template was adopted, but its blanks were never filled in."
	case item.ImplementationStatus == api.NotEvidenced:
		return "Cause unknown. The control may not be in place, or the documents provided may not cover it; ask the control's owner."
	case n[judge.VerdictConflicting] > 0:
		return contradictionAdvice[judge.CommonContradictionKind(item.Statements)].cause
	case item.ImplementationStatus == api.Planned:
		return "The measure has been decided but not implemented."
	case item.ImplementationStatus == api.NotImplemented:
		return "The evidence states that the control is not implemented but gives no reason; ask the owner."
	case strings.HasPrefix(item.Reason, "Records show"):
		return "The control is performed in practice but not documented as a rule."
	case strings.HasPrefix(item.Reason, "Policies require"):
		return "The rule is documented, but no records of it were provided, or none are kept."
	case n[judge.VerdictPlanned] > 0 || n[judge.VerdictDenied] > 0:
		return "The measure has been started but not completed everywhere."
	case n[judge.VerdictPartial] > 0:
		return "The documents cover the control only in general terms or only in part."
	}
	return "The documents don't cover all parts of the control."
}

func uppercaseFirst(s string) string { return strings.ToUpper(s[:1]) + s[1:] }

func describeEffect(c api.Control, item api.SoAItem) string {
	effect := risk.EffectForControl(c.Code)
	consequence := " Then " + risk.ForControl(c.Code).Consequence + "."
	text := uppercaseFirst(effect) + "." + consequence
	if item.ImplementationStatus == api.NotEvidenced {
		text = "If the control isn't in place, " + effect + "." + consequence +
			" Until evidence is provided, assessors can't rely on the control."
	}
	if len(c.Risks) > 0 {
		text += " Catalog risks: " + strings.Join(c.Risks[:min(len(c.Risks), 8)], ", ") + "."
	}
	if judge.ControlWeight(c) == 10 {
		text += " This is a material control: a deficiency in it may amount to a material weakness for the whole organization."
	}
	return text
}

func draftRecommendation(
	c api.Control,
	f api.Finding,
	contradiction judge.Contradiction,
	implementationByCode map[string]api.Implementation,
) string {
	var b strings.Builder
	switch {
	case f.Status == api.NotEvidenced:
		b.WriteString("Ask the owner for evidence. If there is none, implement the control.")
	case f.Status == api.Planned:
		b.WriteString("Implement the planned control, assign an owner and a date, and keep evidence.")
	case f.Status == api.NotImplemented:
		b.WriteString("Implement the control.")
	case f.GapType == "documentation":
		b.WriteString("Document the missing elements in an approved policy or procedure.")
	case f.GapType == "evidence":
		b.WriteString("Collect records showing that the control is performed.")
	case contradiction != judge.NoContradiction:
		b.WriteString(contradictionAdvice[contradiction].advice)
	default:
		b.WriteString("Complete the parts of the control that fall short.")
	}
	if len(f.MissingElements) > 0 {
		b.WriteString(" Evidence must show: ")
		for i, m := range f.MissingElements {
			if i > 0 {
				b.WriteString("; ")
			}
			b.WriteString(strings.TrimRight(judge.StripNote(m), "."))
		}
		b.WriteString(".")
	}
	switch {
	case judge.ControlWeight(c) == 10:
		b.WriteString(" A material control can't be replaced by a compensating control.")
	case len(c.CompensatingControls) > 0:
		b.WriteString(" Until then, possible compensating controls: " + prose.JoinOr(describeCompensatingControls(c, implementationByCode)) + ".")
	}
	return b.String()
}

// describeCompensatingControls lists a control's compensating controls with their status. It lists those that are
// part of the assessment or, if there are none, those in the catalog.
func describeCompensatingControls(c api.Control, implementationByCode map[string]api.Implementation) []string {
	var inside, outside []string
	for _, k := range c.CompensatingControls {
		about := make([]string, 0, 2)
		if k.Name != nil && *k.Name != "" {
			about = append(about, *k.Name)
		}
		list, status := &inside, implementationByCode[k.ControlCode]
		if status == "" {
			list, status = &outside, "not part of this assessment"
		}
		name := k.ControlCode + " (" + strings.Join(append(about, prose.Humanize(status)), "; ") + ")"
		if !slices.Contains(*list, name) {
			*list = append(*list, name)
		}
	}
	if len(inside) > 0 {
		return inside
	}
	return outside
}
