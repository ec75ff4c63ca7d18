package render

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
)

// results tell the assessment: an observation for each control that was looked at, with
// the passages that were found; a finding for each gap, and for each control that is met;
// a risk for each gap, with what the plan does about it in the full report.
func (w *oscalWriter) results() (*models.AssessmentResults, error) {
	version := w.deliverable(api.GateGapAnalysis)
	if w.kind.name == Full && version == nil {
		version = w.deliverable(api.GateSoA)
	}
	if version == nil {
		return nil, nothing("the gap analysis has not been drafted")
	}
	controls := w.reviewed()
	if len(controls) == 0 {
		return nil, nothing("no control has been assessed")
	}
	r := models.Result{UUID: w.uuidOf("result", version.ID), Title: oneLine(w.title, "Results"), Start: w.at(version.CreatedAt),
		Description: w.Assessment.Description, ReviewedControls: controls.selection(), LocalDefinitions: &models.LocalDefinitions{Components: &[]models.SystemComponent{w.tool()}}}
	if r.Description == "" {
		r.Description = "What the assessment “" + w.Assessment.Name + "” found."
	}
	end := w.at(w.AsOf)
	if end.Before(r.Start) {
		end = r.Start
	}
	r.End = &end
	var observed []models.Observation
	var found []models.Finding
	var risks []models.Risk
	has := map[string]bool{}
	for i := range w.Findings {
		f := &w.Findings[i]
		has[f.ControlCode] = true
		what := "the finding on " + or(f.ControlCode, "no control")
		for _, list := range []string{"observations", "findings", "risks"} {
			w.row(list, what)
		}
		observed = append(observed, w.observation(&f.Item, "finding", f.Condition, f.Evidence))
		found = append(found, w.findingOf(f))
		risks = append(risks, w.risk(f))
	}
	if w.kind.name == Full {
		levels := map[string]*api.MaturityScore{}
		for i := range w.Scores {
			levels[w.Scores[i].ControlCode] = &w.Scores[i]
		}
		for i := range w.SoAItems {
			it := &w.SoAItems[i]
			if !it.Applicability.In() || has[it.ControlCode] {
				continue
			}
			w.row("observations", "the line of "+it.ControlCode)
			observed = append(observed, w.observation(&it.Item, "control-objective", it.Reason, it.Evidence))
			if it.ImplementationStatus == api.Implemented {
				w.row("findings", "the line of "+it.ControlCode)
				found = append(found, w.met(it))
			}
		}
		for i := range found {
			w.addLevel(&found[i], levels[controlOf(found[i].Props)])
		}
	}
	r.Observations, r.Findings, r.Risks, r.Attestations = listOf(observed), listOf(found), listOf(risks), w.attestations()
	plan, err := w.carriedPlan(controls)
	if err != nil {
		return nil, err
	}
	doc := &models.AssessmentResults{UUID: w.uuidOf("results", w.kind.name, version.ID), ImportAp: models.ImportAp{Href: "#" + plan.UUID}, Results: []models.Result{r}}
	doc.BackMatter = w.resources(plan)
	doc.Metadata = w.metadata(w.Assessment.Name + ": " + w.title)
	return doc, nil
}

func controlOf(p *[]models.Property) string {
	if p != nil {
		for _, one := range *p {
			if one.Name == "control-code" {
				return or(one.Remarks, one.Value)
			}
		}
	}
	return ""
}

// reviewedControls are ids of controls, in the order of the report.
type reviewedControls []string

func (w *oscalWriter) reviewed() (ids reviewedControls) {
	seen := map[string]bool{}
	add := func(code string) {
		if id := oscal.ControlID(code); code != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for i := range w.SoAItems {
		if w.SoAItems[i].Applicability.In() {
			add(w.SoAItems[i].ControlCode)
		}
	}
	for i := range w.Findings {
		add(w.Findings[i].ControlCode)
	}
	return ids
}

func (ids reviewedControls) selection() models.ReviewedControls {
	var all []models.AssessedControlsSelectControlById
	for _, id := range ids {
		all = append(all, models.AssessedControlsSelectControlById{ControlId: id})
	}
	return models.ReviewedControls{ControlSelections: []models.AssessedControls{{IncludeControls: &all}}}
}

// assessmentPlan is the plan by itself.
func (w *oscalWriter) assessmentPlan() (*models.AssessmentPlan, error) {
	if w.SoA == nil {
		return nil, nothing("the Statement of Applicability has not been drafted, so it is not decided what is assessed")
	}
	controls := w.reviewed()
	if len(controls) == 0 {
		return nil, nothing("no control applies")
	}
	return w.planOf(controls), nil
}

// planOf is the plan of an assessment: what is looked at and how.
func (w *oscalWriter) planOf(controls reviewedControls) *models.AssessmentPlan {
	system := models.Resource{UUID: w.uuidOf("scope"), Title: "Scope of the assessment", Description: "What is assessed is described by the scope of the assessment; there is no system security plan."}
	if w.Scope != nil {
		var p props
		p.add("scope-version", strconv.Itoa(w.Scope.VersionNumber))
		p.add("status", string(w.Scope.Status))
		for _, l := range []struct {
			name   string
			values []string
		}{{"business-unit", w.Scope.BusinessUnits}, {"location", w.Scope.Locations}, {"system", w.Scope.Systems}, {"exclusion", w.Scope.Exclusions}} {
			p.each(l.name, l.values)
		}
		system.Title, system.Props = oneLine(w.Scope.Title, system.Title), listOf(p)
		system.Description = or(w.Scope.Description, system.Description)
	}
	return &models.AssessmentPlan{UUID: w.uuidOf("assessment-plan"), ImportSsp: models.ImportSsp{Href: "#" + system.UUID, Remarks: "The scope of the assessment stands in for a system security plan."},
		ReviewedControls: controls.selection(), AssessmentAssets: w.assets(),
		AssessmentSubjects: &[]models.AssessmentSubject{{Type: "component", IncludeAll: &models.IncludeAll{}, Description: "The documents that were given as evidence."}},
		BackMatter:         &models.BackMatter{Resources: &[]models.Resource{w.catalogResource(), system}},
		Metadata:           w.metadata(w.Assessment.Name + ": assessment plan")}
}

// carriedPlan is the plan that results have to refer to, inside them.
func (w *oscalWriter) carriedPlan(controls reviewedControls) (models.Resource, error) {
	text, err := w.checked("assessment-plan", &models.OscalModels{AssessmentPlan: w.planOf(controls)})
	if err != nil {
		return models.Resource{}, err
	}
	return models.Resource{UUID: w.uuidOf("assessment-plan-resource"), Title: "Assessment plan", Description: "The assessment plan of these results, as OSCAL JSON.",
		Base64: &models.Base64{Filename: "assessment-plan.json", MediaType: "application/oscal+json", Value: base64.StdEncoding.EncodeToString(text)}}, nil
}

// observation is what was found on a control, each passage quoted with its place.
func (w *oscalWriter) observation(it *api.Item, kind, said string, evidence []api.Evidence) models.Observation {
	o := models.Observation{UUID: w.uuidOf("observation", it.ID), Title: itemTitle(it), Description: or(said, "No passage of evidence was found for it."),
		Methods: []string{"EXAMINE"}, Types: &[]string{kind}, Origins: w.byTool(), Collected: w.at(it.CreatedAt)}
	var p props
	p.item(it)
	o.Props = listOf(p)
	var quoted []models.RelevantEvidence
	for i := range evidence {
		e := &evidence[i]
		var p props
		p.add("document", or(e.DocumentTitle, e.Filename))
		p.add("place", place(e.Locator))
		p.add("headings", strings.Join(e.HeadingPath, " › "))
		p.add("reading", words(e.Stance))
		p.add("supports", e.Supports)
		p.add("passage-sha256", e.SHA256)
		p.add("score", fmt.Sprintf("%.2f", e.Score))
		one := models.RelevantEvidence{Description: e.Quote, Props: listOf(p)}
		if slices.ContainsFunc(w.Documents, func(d api.Document) bool { return d.ID == e.DocumentID }) {
			one.Href = "#" + w.documentUUID(e.DocumentID)
		}
		quoted = append(quoted, one)
	}
	o.RelevantEvidence = listOf(quoted)
	return o
}

func itemTitle(it *api.Item) string {
	return oneLine(it.ControlCode+" "+it.ControlTitle, "No control")
}

// implemented is a state of implementation in OSCAL's words; nil where it has none.
func implemented(s api.Implementation) *models.ImplementationStatus {
	state := map[api.Implementation]string{api.Implemented: "implemented", api.PartiallyImplemented: "partial", api.Planned: "planned"}[s]
	if state == "" {
		return nil
	}
	return &models.ImplementationStatus{State: state}
}

func (w *oscalWriter) findingOf(f *api.Finding) models.Finding {
	var p props
	p.item(&f.Item)
	p.add("severity", string(f.Severity))
	p.add("severity-reason", f.SeverityReason)
	p.add("result", string(f.Result))
	p.add("status", string(f.Status))
	p.add("gap-type", f.GapType)
	p.add("criteria", f.Criteria)
	p.add("cause", f.Cause)
	p.each("missing", f.MissingElements)
	p.add("owner", text(f.Owner))
	p.add("source", f.Source)
	state := models.ObjectiveStatus{State: "not-satisfied", Reason: "fail"}
	switch f.Result {
	case api.Met:
		state = models.ObjectiveStatus{State: "satisfied", Reason: "pass"}
	case api.ResultNoEvid:
		state.Reason, state.Remarks = "other", "Too little was found to tell: the evidence does not speak of it, or only touches on it."
	}
	return models.Finding{UUID: w.findingUUID(f.ID), Title: itemTitle(&f.Item), Description: or(f.Condition, "The control has a gap."), Props: listOf(p), Origins: w.byTool(), Remarks: text(f.Note),
		Target: models.FindingTarget{Type: "statement-id", TargetId: oscal.StatementID(f.ControlCode), Title: oneLine(f.ControlTitle, "not stated"), Status: state,
			ImplementationStatus: implemented(f.Status)},
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidOf("observation", f.ID)}},
		RelatedRisks:        &[]models.AssociatedRisk{{RiskUuid: w.riskUUID(f.ID)}}}
}

func (w *oscalWriter) findingUUID(id string) string { return w.uuidOf("finding", id) }
func (w *oscalWriter) riskUUID(id string) string    { return w.uuidOf("risk", id) }

// met is the finding that a control is implemented.
func (w *oscalWriter) met(it *api.SoAItem) models.Finding {
	var p props
	p.item(&it.Item)
	p.add("status", string(it.ImplementationStatus))
	p.add("owner", text(it.Owner))
	return models.Finding{UUID: w.findingUUID(it.ID), Title: itemTitle(&it.Item), Description: or(it.Reason, "The control is implemented."), Props: listOf(p), Origins: w.byTool(),
		Target: models.FindingTarget{Type: "statement-id", TargetId: oscal.StatementID(it.ControlCode), Title: oneLine(it.ControlTitle, "not stated"),
			Status: models.ObjectiveStatus{State: "satisfied", Reason: "pass"}, ImplementationStatus: implemented(it.ImplementationStatus)},
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidOf("observation", it.ID)}}}
}

// addLevel says a finding's control's maturity.
func (w *oscalWriter) addLevel(f *models.Finding, s *api.MaturityScore) {
	if s == nil || !s.Assessed {
		return
	}
	p := props(*f.Props)
	p.add("maturity-level", strconv.Itoa(s.Level))
	p.add("maturity-target", strconv.Itoa(s.TargetLevel))
	p.add("maturity-rationale", s.Rationale)
	f.Props = listOf(p)
}

func (w *oscalWriter) severityFacet(s api.Severity) *[]models.Characterization {
	return &[]models.Characterization{{Origin: (*w.byTool())[0], Facets: []models.Facet{{Name: "severity", System: oscal.Namespace, Value: oneLine(string(s), "not-stated")}}}}
}

// risk is what a gap may lead to, with what is recommended and, in a full report, planned.
func (w *oscalWriter) risk(f *api.Finding) models.Risk {
	r := models.Risk{UUID: w.riskUUID(f.ID), Title: itemTitle(&f.Item), Description: or(f.Effect, "The effect of the gap is not stated."), Statement: or(f.Condition, "The control has a gap."),
		Status: "open", Origins: w.byTool(), Characterizations: w.severityFacet(f.Severity),
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidOf("observation", f.ID)}}}
	if f.DueDate != nil {
		r.Deadline = dayOf(*f.DueDate)
	}
	var todo []models.Response
	if f.Recommendation != "" {
		todo = append(todo, models.Response{UUID: w.uuidOf("recommendation", f.ID), Lifecycle: "recommendation", Title: "Recommendation", Description: f.Recommendation, Origins: w.byTool()})
	}
	if w.kind.name == Full {
		for i := range w.POAMItems {
			if it := &w.POAMItems[i]; it.FindingID == f.ID && f.ID != "" {
				todo = append(todo, w.response(it))
				r.Status = riskStatus(it.Status)
				r.Deadline = dayOf(it.Due())
			}
		}
	}
	r.Remediations = listOf(todo)
	return r
}

// attestations are the approvals, each with the hash that it is of.
func (w *oscalWriter) attestations() *[]models.AttestationStatements {
	var out []models.AttestationStatements
	for i := range w.Approvals {
		a := &w.Approvals[i]
		if !w.kind.tells(a.Gate) || a.Status != api.ApprovalApproved || a.DecidedBy == nil {
			continue
		}
		var p props
		p.add("gate", string(a.Gate))
		p.add("version", strconv.Itoa(a.VersionNumber))
		p.add("content-sha256", a.TargetSHA256)
		p.add("decided-on", day(a.DecidedAt))
		p.add("reason", text(a.Reason))
		out = append(out, models.AttestationStatements{
			Parts: []models.AssessmentPart{{UUID: w.uuidOf("approval", a.ID), Name: "approval", Ns: oscal.Namespace, Title: oneLine("Approval of the "+a.Gate.Title(), "Approval"), Props: listOf(p),
				Prose: fmt.Sprintf("%s approved the %s, version %d, with the content SHA-256 %s.", actor(*a.DecidedBy), a.Gate.Title(), a.VersionNumber, a.TargetSHA256)}},
			ResponsibleParties: &[]models.ResponsibleParty{{RoleId: "approved-by", PartyUuids: []string{w.party(a.DecidedBy.ID, a.DecidedBy.Name, "person")}}}})
	}
	return listOf(out)
}
