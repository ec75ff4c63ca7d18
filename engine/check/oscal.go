package check

import (
	"strings"
	"time"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"
	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
)

// oscalUUID returns the UUID of an object in the check. It is the same in each run.
func (r *Result) oscalUUID(kind string, parts ...string) string {
	key := strings.Join(append([]string{"check", kind, r.Subject.Kind, firstNonEmpty(r.Subject.ID, r.Subject.Name)}, parts...), "\x00")
	return uuid.NewSHA1(uuid.NameSpaceURL, []byte(oscal.Namespace+"\x00"+key)).String()
}

func addOSCALProp(to *[]models.Property, name, value string) {
	if value = sanitizeLine(value); value != "" {
		*to = append(*to, models.Property{Name: name, Ns: oscal.Namespace, Value: value})
	}
}

// nilIfEmpty returns nil for an empty list, because OSCAL does not allow empty lists.
func nilIfEmpty[T any](all []T) *[]T {
	if len(all) == 0 {
		return nil
	}
	return &all
}

// writeOSCAL writes the check as assessment results. Each gap becomes a finding, a risk and an observation; a waiver
// becomes the response to a risk, and a rule becomes a property. The policy, described in the back matter, serves as
// the assessment plan. If the output doesn't conform to NIST's schema, an error is returned.
func writeOSCAL(r *Result, _ Style) ([]byte, error) {
	at, err := time.Parse(time.DateOnly, string(r.AsOf))
	if err != nil {
		return nil, err
	}
	tool := r.oscalUUID("tool")
	origin := []models.Origin{{Actors: []models.OriginActor{{Type: "tool", ActorUuid: tool}}}}
	result := models.Result{
		UUID: r.oscalUUID(
			"result",
		), Title: "service check", Description: r.verdictSentence() + ". " + r.describeScope() + ".", Start: at, End: &at,
		LocalDefinitions: &models.LocalDefinitions{Components: &[]models.SystemComponent{{
			UUID:        tool,
			Type:        "software",
			Title:       firstNonEmpty(r.Tool, "service"),
			Description: "The program that read the evidence and checked the results against the policy.",
			Status:      models.SystemComponentStatus{State: "operational"},
		}}},
	}
	var props []models.Property
	addOSCALProp(&props, "verdict", string(r.Verdict))
	if r.Figures.Coverage != nil {
		addOSCALProp(&props, "coverage", formatNumber(*r.Figures.Coverage))
	}
	if r.Figures.Maturity != nil {
		addOSCALProp(&props, "maturity", formatNumber(*r.Figures.Maturity))
	}
	for _, one := range r.Rules {
		addOSCALProp(&props, "rule-"+string(one.Outcome), one.Rule+": "+one.Message)
	}
	result.Props = nilIfEmpty(props)
	var ids []models.AssessedControlsSelectControlById
	listed := map[string]bool{}
	add := func(code string) {
		if id := oscal.ControlID(code); code != "" && !listed[id] {
			listed[id] = true
			ids = append(ids, models.AssessedControlsSelectControlById{ControlId: id})
		}
	}
	for _, c := range r.controls {
		if c.Applicability.IsApplicable() {
			add(c.Code)
		}
	}
	var observed []models.Observation
	var found []models.Finding
	var risks []models.Risk
	for i := range r.Issues {
		one := &r.Issues[i]
		if one.Rule != ruleGap {
			continue
		}
		add(one.Control)
		observed, found, risks = append(
			observed,
			r.oscalObservation(one, at, origin),
		), append(
			found,
			r.oscalFinding(one, origin),
		), append(
			risks,
			r.oscalRisk(one, origin),
		)
	}
	selection := models.AssessedControls{IncludeControls: nilIfEmpty(ids)}
	if len(ids) == 0 {
		selection.IncludeAll = &models.IncludeAll{}
	}
	result.ReviewedControls = models.ReviewedControls{ControlSelections: []models.AssessedControls{selection}}
	result.Observations, result.Findings, result.Risks = nilIfEmpty(observed), nilIfEmpty(found), nilIfEmpty(risks)
	plan := models.Resource{
		UUID:        r.oscalUUID("policy"),
		Title:       "Policy",
		Description: "Policy file: " + r.describePolicy() + ". The policy is used instead of an assessment plan.",
	}
	doc := models.OscalModels{AssessmentResults: &models.AssessmentResults{
		UUID: r.oscalUUID("results", string(r.AsOf), string(r.Verdict)), ImportAp: models.ImportAp{Href: "#" + plan.UUID},
		Results: []models.Result{result}, BackMatter: &models.BackMatter{Resources: &[]models.Resource{plan}},
		Metadata: models.Metadata{
			Title:        "service check of " + r.Subject.describe(),
			LastModified: at,
			Version:      string(r.AsOf),
			OscalVersion: oscal.Version,
		},
	}}
	text, err := encodeIndented(&doc)
	if err != nil {
		return nil, err
	}
	return text, oscal.Validate(text, "assessment-results")
}

func (r *Result) oscalObservation(i *Issue, at time.Time, origin []models.Origin) models.Observation {
	o := models.Observation{
		UUID:        r.oscalUUID("observation", i.Fingerprint),
		Title:       firstNonEmpty(i.heading(), "Gap"),
		Description: i.Message,
		Methods:     []string{"EXAMINE"},
		Types:       &[]string{"finding"},
		Origins:     &origin,
		Collected:   at,
	}
	if i.Place.Quote != "" {
		var props []models.Property
		addOSCALProp(&props, "document", i.Place.Path)
		addOSCALProp(&props, "place", i.Place.format())
		o.RelevantEvidence = &[]models.RelevantEvidence{{Description: i.Place.Quote, Props: nilIfEmpty(props)}}
	}
	return o
}

func (r *Result) oscalFinding(i *Issue, origin []models.Origin) models.Finding {
	var props []models.Property
	addOSCALProp(&props, "control-code", i.Control)
	addOSCALProp(&props, "severity", string(i.Severity))
	addOSCALProp(&props, "status", string(i.Status))
	addOSCALProp(&props, "outcome", string(i.Outcome))
	addOSCALProp(&props, "change", string(i.Change))
	for _, m := range i.Missing {
		addOSCALProp(&props, "missing", m)
	}
	status := models.ObjectiveStatus{State: "not-satisfied", Reason: "fail"}
	if i.Result == api.ResultNoEvid {
		status.Reason, status.Remarks = "other", "No conclusion could be drawn because the evidence does not cover the control."
	}
	return models.Finding{
		UUID: r.oscalUUID(
			"finding",
			i.Fingerprint,
		), Title: firstNonEmpty(i.heading(), "Gap"), Description: i.Message, Props: nilIfEmpty(props), Origins: &origin,
		Target: models.FindingTarget{
			Type:     "statement-id",
			TargetId: oscal.StatementID(i.Control),
			Title:    firstNonEmpty(i.Title, "not specified"),
			Status:   status,
		},
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: r.oscalUUID("observation", i.Fingerprint)}},
		RelatedRisks:        &[]models.AssociatedRisk{{RiskUuid: r.oscalUUID("risk", i.Fingerprint)}},
	}
}

func (r *Result) oscalRisk(i *Issue, origin []models.Origin) models.Risk {
	out := models.Risk{
		UUID: r.oscalUUID(
			"risk",
			i.Fingerprint,
		), Title: firstNonEmpty(i.heading(), "Gap"), Description: i.Message, Statement: i.Message, Status: "open", Origins: &origin,
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: r.oscalUUID("observation", i.Fingerprint)}},
	}
	var todo []models.Response
	if i.Fix != "" {
		todo = append(
			todo,
			models.Response{
				UUID:        r.oscalUUID("recommendation", i.Fingerprint),
				Lifecycle:   "recommendation",
				Title:       "Recommendation",
				Description: i.Fix,
				Origins:     &origin,
			},
		)
	}
	if w := i.Waiver; w != nil {
		out.Status = "deviation-approved"
		out.Deadline = parseDate(w.Expiry)
		todo = append(
			todo,
			models.Response{
				UUID:        r.oscalUUID("waiver", i.Fingerprint),
				Lifecycle:   "planned",
				Title:       "Waiver until " + string(w.Expiry),
				Description: w.Reason + " (approved by " + w.Approver + ")",
				Origins:     &origin,
			},
		)
	}
	out.Remediations = nilIfEmpty(todo)
	return out
}

func parseDate(d api.Date) *time.Time {
	t, err := time.Parse(time.DateOnly, string(d))
	if err != nil {
		return nil
	}
	return &t
}
