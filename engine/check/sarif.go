package check

import (
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// Limits of SARIF readers: GitHub shows 5,000 results per run, rejects more than 25,000, and shows
// 10 tags per rule. Issues are sorted, so the worst are kept.
const (
	maxSARIFResults = 5000
	maxSARIFTags    = 10
	maxSARIFText    = 1000
)

// informationURI must be an absolute URI according to the schema.
const informationURI = "https://github.com/scf-service/service"

// securityScores maps severities to the scores from which SARIF readers derive their own severities.
var securityScores = map[api.Severity]string{
	api.SeverityCritical:      "9.5",
	api.SeverityHigh:          "8.0",
	api.SeverityMedium:        "5.5",
	api.SeverityLow:           "2.5",
	api.SeverityInformational: "0.5",
}

// sarifLevel returns the level of a result. Only failures become errors, so that tools that count
// errors reach the same verdict.
func (i *Issue) sarifLevel() string {
	switch {
	case i.Outcome == Failed:
		return sarif.LevelError
	case i.Outcome == Warned, i.Outcome != Waived && isAtLeast(i.Severity, api.SeverityHigh):
		return sarif.LevelWarning
	}
	return sarif.LevelNote
}

func writeSARIF(r *Result, _ Style) ([]byte, error) {
	run := sarif.NewRunWithInformationURI("service", informationURI)
	run.Tool.Driver.WithFullName(r.Tool)
	run.WithColumnKind("unicodeCodePoints")
	run.WithAutomationDetails(sarif.NewRunAutomationDetails().WithID("service/check/"))
	props := sarif.NewPropertyBag()
	props.Add("verdict", string(r.Verdict))
	props.Add("catalog", r.Catalog)
	props.Add("policy", r.describePolicy())
	if n := len(r.Issues) - maxSARIFResults; n > 0 {
		props.Add("leftOut", n)
	}
	run.WithProperties(props)
	at := map[string]int{}
	for i := range r.Issues {
		if i == maxSARIFResults {
			break
		}
		one := &r.Issues[i]
		id := one.RuleID()
		n, listed := at[id]
		if !listed {
			n = len(run.Tool.Driver.Rules)
			at[id] = n
			run.Tool.Driver.Rules = append(run.Tool.Driver.Rules, sarifRule(id, one))
		}
		run.AddResult(r.sarifResult(id, n, one))
	}
	report := sarif.NewReport()
	report.AddRun(run)
	return encodeIndented(report)
}

func sarifText(text string) *sarif.MultiformatMessageString {
	return sarif.NewMultiformatMessageString().WithText(firstNonEmpty(prose.Truncate(text, maxSARIFText), "-"))
}

// sarifRule returns the rule of an issue. A control's rule is described by its constant title, not
// by what was found.
func sarifRule(id string, i *Issue) *sarif.ReportingDescriptor {
	base := findRule(i.Rule)
	rule := sarif.NewRule(id).WithShortDescription(sarifText(firstNonEmpty(i.heading(), base.Title)))
	rule.WithFullDescription(sarifText(base.Why)).WithHelp(sarifText(base.Fix))
	tags := []string{"compliance"}
	props := sarif.NewPropertyBag()
	if i.Rule == ruleGap {
		tags = append(tags, "security", "domain/"+i.Domain)
		props.Add("security-severity", securityScores[i.Severity])
	}
	props.Add("precision", "medium")
	level := sarif.LevelWarning
	if i.Rule == ruleUnused || i.Rule == ruleUndated {
		level = sarif.LevelNote
	}
	rule.WithDefaultConfiguration(sarif.NewReportingConfiguration().WithLevel(level))
	return rule.WithProperties(props.WithTags(tags[:min(len(tags), maxSARIFTags)]))
}

func (r *Result) sarifResult(id string, index int, i *Issue) *sarif.Result {
	text := i.Message
	if i.Place.Quote != "" {
		text += " “" + i.Place.Quote + "”"
	}
	if i.Fix != "" {
		text += " To do: " + i.Fix
	}
	one := sarif.NewRuleResult(
		id,
	).WithRuleIndex(
		index,
	).WithLevel(
		i.sarifLevel(),
	).WithMessage(
		sarif.NewTextMessage(prose.Truncate(text, maxSARIFText)),
	)
	// Fingerprints depend on the problem, not on its line, so that an alert isn't opened again when
	// lines are added to the document. GitHub uses the second fingerprint.
	one.WithPartialFingerprints(map[string]string{"serviceCheck/v1": i.Fingerprint, "primaryLocationLineHash": i.Fingerprint + ":1"})
	region := sarif.NewSimpleRegion(max(1, i.Place.Line), max(1, i.Place.Line, i.Place.End))
	place := sarif.NewPhysicalLocation().WithArtifactLocation(sarif.NewSimpleArtifactLocation(pathToURI(r.issuePath(i)))).WithRegion(region)
	location := sarif.NewLocation().WithPhysicalLocation(place)
	if i.Control != "" {
		location.AddLogicalLocation(sarif.NewLogicalLocation().WithName(i.Control).WithFullyQualifiedName(r.Catalog + "/" + i.Control))
	}
	one.AddLocation(location)
	if r.Policy.Baseline != "" && i.Rule == ruleGap {
		state := map[api.GapChangeKind]string{"": "unchanged", api.GapOpened: "new", api.GapWorse: "updated", api.GapBetter: "updated"}[i.Change]
		one.WithBaselineState(state)
	}
	if w := i.Waiver; w != nil {
		one.AddSuppression(sarif.NewSuppression().WithKind("external").WithStatus("accepted").
			WithJustification(prose.Truncate("Waived until "+string(w.Expiry)+" by "+w.Approver+": "+w.Reason, maxSARIFText)))
	}
	props := sarif.NewPropertyBag()
	props.Add("outcome", string(i.Outcome))
	if i.Severity != "" {
		props.Add("severity", string(i.Severity))
		props.Add("status", string(i.Status))
	}
	if i.Place.Page > 0 {
		props.Add("page", i.Place.Page)
	}
	return one.WithProperties(props)
}
