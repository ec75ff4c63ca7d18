package oscal

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/wording"
)

// buildAssessmentResults returns the assessment results as an OSCAL document. It contains an observation with
// passages for each assessed control, a finding for each gap and each implemented control, and a risk for
// each gap. In a full report, the risks include the planned response.
func (w *oscalWriter) buildAssessmentResults() (*models.AssessmentResults, error) {
	version := w.Deliverable(api.GateGapAnalysis)
	if w.Template.Name == content.TemplateFull && version == nil {
		version = w.Deliverable(api.GateSoA)
	}
	if version == nil {
		return nil, emptyDocumentError("the gap analysis has not been drafted")
	}
	controls := w.reviewedControlIDs()
	if len(controls) == 0 {
		return nil, emptyDocumentError("no control has been assessed")
	}
	r := models.Result{
		UUID:             w.uuidFor("result", version.ID),
		Title:            oneLine(w.Title, "Results"),
		Start:            w.timeOrReportDate(version.CreatedAt),
		Description:      w.Assessment.Description,
		ReviewedControls: controls.toReviewedControls(),
		LocalDefinitions: &models.LocalDefinitions{Components: &[]models.SystemComponent{w.toolComponent()}},
	}
	if r.Description == "" {
		r.Description = "Results of the assessment “" + w.Assessment.Name + "”."
	}
	end := w.timeOrReportDate(w.AsOf)
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
		what := "the finding on " + wording.OrDefault(f.ControlCode, "no control")
		for _, list := range []string{"observations", "findings", "risks"} {
			w.recordRowName(list, what)
		}
		observed = append(observed, w.toObservation(&f.Item, "finding", f.Condition, f.Evidence))
		found = append(found, w.toFinding(f))
		risks = append(risks, w.findingRisk(f))
	}
	if w.Template.Name == content.TemplateFull {
		levels := map[string]*api.MaturityScore{}
		for i := range w.Scores {
			levels[w.Scores[i].ControlCode] = &w.Scores[i]
		}
		for i := range w.SoAItems {
			it := &w.SoAItems[i]
			if !it.Applicability.IsApplicable() || has[it.ControlCode] {
				continue
			}
			w.recordRowName("observations", "the item for "+it.ControlCode)
			observed = append(observed, w.toObservation(&it.Item, "control-objective", it.Reason, it.Evidence))
			if it.ImplementationStatus == api.Implemented {
				w.recordRowName("findings", "the item for "+it.ControlCode)
				found = append(found, w.metControlFinding(it))
			}
		}
		for i := range found {
			w.addMaturity(&found[i], levels[findControlCode(found[i].Props)])
		}
	}
	r.Observations, r.Findings, r.Risks, r.Attestations = nilIfEmptyList(
		observed,
	), nilIfEmptyList(
		found,
	), nilIfEmptyList(
		risks,
	), w.approvalAttestations()
	plan, err := w.embedPlan(controls)
	if err != nil {
		return nil, err
	}
	doc := &models.AssessmentResults{
		UUID:     w.uuidFor("results", w.Template.Name, version.ID),
		ImportAp: models.ImportAp{Href: "#" + plan.UUID},
		Results:  []models.Result{r},
	}
	doc.BackMatter = w.backMatterWithEvidence(plan)
	doc.Metadata = w.metadataWithParties(w.Assessment.Name + ": " + w.Title)
	return doc, nil
}

func findControlCode(p *[]models.Property) string {
	if p != nil {
		for _, one := range *p {
			if one.Name == "control-code" {
				return wording.OrDefault(one.Remarks, one.Value)
			}
		}
	}
	return ""
}

// controlIDs is a list of control IDs, in the order of the report.
type controlIDs []string

func (w *oscalWriter) reviewedControlIDs() (ids controlIDs) {
	seen := map[string]bool{}
	add := func(code string) {
		if id := oscal.ControlID(code); code != "" && !seen[id] {
			seen[id] = true
			ids = append(ids, id)
		}
	}
	for i := range w.SoAItems {
		if w.SoAItems[i].Applicability.IsApplicable() {
			add(w.SoAItems[i].ControlCode)
		}
	}
	for i := range w.Findings {
		add(w.Findings[i].ControlCode)
	}
	return ids
}

func (ids controlIDs) toReviewedControls() models.ReviewedControls {
	var all []models.AssessedControlsSelectControlById
	for _, id := range ids {
		all = append(all, models.AssessedControlsSelectControlById{ControlId: id})
	}
	return models.ReviewedControls{ControlSelections: []models.AssessedControls{{IncludeControls: &all}}}
}

// buildAssessmentPlan returns the assessment plan as a separate OSCAL document.
func (w *oscalWriter) buildAssessmentPlan() (*models.AssessmentPlan, error) {
	if w.SoA == nil {
		return nil, emptyDocumentError(
			"the Statement of Applicability has not been drafted, so the controls to assess have not been determined",
		)
	}
	controls := w.reviewedControlIDs()
	if len(controls) == 0 {
		return nil, emptyDocumentError("no control applies")
	}
	return w.newAssessmentPlan(controls), nil
}

// newAssessmentPlan returns an assessment plan, which describes what is assessed and by which method.
func (w *oscalWriter) newAssessmentPlan(controls controlIDs) *models.AssessmentPlan {
	system := models.Resource{
		UUID:        w.uuidFor("scope"),
		Title:       "Scope of the assessment",
		Description: "The assessment scope defines what is assessed. There is no system security plan.",
	}
	if w.Scope != nil {
		var p properties
		p.add("scope-version", strconv.Itoa(w.Scope.VersionNumber))
		p.add("status", string(w.Scope.Status))
		for _, l := range []struct {
			name   string
			values []string
		}{
			{"business-unit", w.Scope.BusinessUnits},
			{"location", w.Scope.Locations},
			{"system", w.Scope.Systems},
			{"exclusion", w.Scope.Exclusions},
		} {
			p.addAll(l.name, l.values)
		}
		system.Title, system.Props = oneLine(w.Scope.Title, system.Title), nilIfEmptyList(p)
		system.Description = wording.OrDefault(w.Scope.Description, system.Description)
	}
	return &models.AssessmentPlan{
		UUID: w.uuidFor(
			"assessment-plan",
		), ImportSsp: models.ImportSsp{Href: "#" + system.UUID, Remarks: "The assessment scope is used in place of a system security plan."},
		ReviewedControls: controls.toReviewedControls(), AssessmentAssets: w.assessmentAssets(),
		AssessmentSubjects: &[]models.AssessmentSubject{
			{Type: "component", IncludeAll: &models.IncludeAll{}, Description: "The documents provided as evidence."},
		},
		BackMatter: &models.BackMatter{Resources: &[]models.Resource{w.catalogResource(), system}},
		Metadata:   w.metadataWithParties(w.Assessment.Name + ": assessment plan"),
	}
}

// embedPlan returns the assessment plan as an embedded resource. OSCAL requires assessment results to refer
// to a plan.
func (w *oscalWriter) embedPlan(controls controlIDs) (models.Resource, error) {
	text, err := w.encodeAndValidate("assessment-plan", &models.OscalModels{AssessmentPlan: w.newAssessmentPlan(controls)})
	if err != nil {
		return models.Resource{}, err
	}
	return models.Resource{
		UUID: w.uuidFor(
			"assessment-plan-resource",
		), Title: "Assessment plan", Description: "The assessment plan for these results, as OSCAL JSON.",
		Base64: &models.Base64{
			Filename:  "assessment-plan.json",
			MediaType: "application/oscal+json",
			Value:     base64.StdEncoding.EncodeToString(text),
		},
	}, nil
}

// toObservation returns an observation about an item's control. It quotes each passage of evidence with its
// location.
func (w *oscalWriter) toObservation(it *api.Item, kind, description string, evidence []api.Evidence) models.Observation {
	o := models.Observation{
		UUID: w.uuidFor(
			"observation",
			it.ID,
		), Title: itemTitle(it), Description: wording.OrDefault(description, "No supporting passage was found."),
		Methods: []string{"EXAMINE"}, Types: &[]string{kind}, Origins: w.toolOrigins(), Collected: w.timeOrReportDate(it.CreatedAt),
	}
	var p properties
	p.addItemProperties(it)
	o.Props = nilIfEmptyList(p)
	var quoted []models.RelevantEvidence
	for i := range evidence {
		e := &evidence[i]
		var p properties
		p.add("document", wording.OrDefault(e.DocumentTitle, e.Filename))
		p.add("place", wording.FormatLocator(e.Locator))
		p.add("headings", strings.Join(e.HeadingPath, " › "))
		p.add("reading", wording.Humanize(e.Stance))
		p.add("supports", e.Statement)
		p.add("passage-sha256", e.SHA256)
		p.add("score", fmt.Sprintf("%.2f", e.Score))
		one := models.RelevantEvidence{Description: e.Quote, Props: nilIfEmptyList(p)}
		if slices.ContainsFunc(w.Documents, func(d api.Document) bool { return d.ID == e.DocumentID }) {
			one.Href = "#" + w.documentUUID(e.DocumentID)
		}
		quoted = append(quoted, one)
	}
	o.RelevantEvidence = nilIfEmptyList(quoted)
	return o
}

func itemTitle(it *api.Item) string {
	return oneLine(it.ControlCode+" "+it.ControlTitle, "No control")
}

// toImplementationStatus converts an implementation status to its OSCAL equivalent, or returns nil if there is none.
func toImplementationStatus(s api.Implementation) *models.ImplementationStatus {
	state := map[api.Implementation]string{api.Implemented: "implemented", api.PartiallyImplemented: "partial", api.Planned: "planned"}[s]
	if state == "" {
		return nil
	}
	return &models.ImplementationStatus{State: state}
}

func (w *oscalWriter) toFinding(f *api.Finding) models.Finding {
	var p properties
	p.addItemProperties(&f.Item)
	p.add("severity", string(f.Severity))
	p.add("severity-reason", f.SeverityReason)
	p.add("result", string(f.Result))
	p.add("status", string(f.Status))
	p.add("gap-type", f.GapType)
	p.add("criteria", f.Criteria)
	p.add("cause", f.Cause)
	p.addAll("missing", f.MissingElements)
	p.add("owner", wording.OrEmpty(f.Owner))
	p.add("source", f.Source)
	state := models.ObjectiveStatus{State: "not-satisfied", Reason: "fail"}
	switch f.Result {
	case api.Met:
		state = models.ObjectiveStatus{State: "satisfied", Reason: "pass"}
	case api.ResultNoEvid:
		state.Reason, state.Remarks = "other", "There is too little evidence to judge: the documents do not cover the control or only mention it."
	}
	return models.Finding{
		UUID: w.findingUUID(
			f.ID,
		),
		Title:       itemTitle(&f.Item),
		Description: wording.OrDefault(f.Condition, "The control has a gap."),
		Props:       nilIfEmptyList(p),
		Origins:     w.toolOrigins(),
		Remarks:     wording.OrEmpty(f.Note),
		Target: models.FindingTarget{
			Type: "statement-id", TargetId: oscal.StatementID(f.ControlCode), Title: oneLine(f.ControlTitle, "not specified"), Status: state,
			ImplementationStatus: toImplementationStatus(f.Status),
		},
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidFor("observation", f.ID)}},
		RelatedRisks:        &[]models.AssociatedRisk{{RiskUuid: w.riskUUID(f.ID)}},
	}
}

func (w *oscalWriter) findingUUID(id string) string { return w.uuidFor("finding", id) }
func (w *oscalWriter) riskUUID(id string) string    { return w.uuidFor("risk", id) }

// metControlFinding returns a finding stating that a control is implemented.
func (w *oscalWriter) metControlFinding(it *api.SoAItem) models.Finding {
	var p properties
	p.addItemProperties(&it.Item)
	p.add("status", string(it.ImplementationStatus))
	p.add("owner", wording.OrEmpty(it.Owner))
	return models.Finding{
		UUID: w.findingUUID(
			it.ID,
		),
		Title:       itemTitle(&it.Item),
		Description: wording.OrDefault(it.Reason, "The control is implemented."),
		Props:       nilIfEmptyList(p),
		Origins:     w.toolOrigins(),
		Target: models.FindingTarget{
			Type: "statement-id", TargetId: oscal.StatementID(it.ControlCode), Title: oneLine(it.ControlTitle, "not specified"),
			Status: models.ObjectiveStatus{
				State:  "satisfied",
				Reason: "pass",
			}, ImplementationStatus: toImplementationStatus(it.ImplementationStatus),
		},
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidFor("observation", it.ID)}},
	}
}

// addMaturity adds the maturity of a finding's control to the finding.
func (w *oscalWriter) addMaturity(f *models.Finding, s *api.MaturityScore) {
	if s == nil || !s.Assessed {
		return
	}
	p := properties(*f.Props)
	p.add("maturity-level", strconv.Itoa(s.Level))
	p.add("maturity-target", strconv.Itoa(s.TargetLevel))
	p.add("maturity-rationale", s.Rationale)
	f.Props = nilIfEmptyList(p)
}

func (w *oscalWriter) severityCharacterizations(s api.Severity) *[]models.Characterization {
	return &[]models.Characterization{
		{
			Origin: (*w.toolOrigins())[0],
			Facets: []models.Facet{{Name: "severity", System: oscal.Namespace, Value: oneLine(string(s), "not-stated")}},
		},
	}
}

// findingRisk returns the risk that a gap poses, with the recommendation. In a full report, it includes the
// planned response.
func (w *oscalWriter) findingRisk(f *api.Finding) models.Risk {
	r := models.Risk{
		UUID: w.riskUUID(
			f.ID,
		),
		Title:               itemTitle(&f.Item),
		Description:         wording.OrDefault(f.Effect, "The effect of the gap is not specified."),
		Statement:           wording.OrDefault(f.Condition, "The control has a gap."),
		Status:              "open",
		Origins:             w.toolOrigins(),
		Characterizations:   w.severityCharacterizations(f.Severity),
		RelatedObservations: &[]models.RelatedObservation{{ObservationUuid: w.uuidFor("observation", f.ID)}},
	}
	if f.DueDate != nil {
		r.Deadline = parseOptionalDate(*f.DueDate)
	}
	var todo []models.Response
	if f.Recommendation != "" {
		todo = append(
			todo,
			models.Response{
				UUID:        w.uuidFor("recommendation", f.ID),
				Lifecycle:   "recommendation",
				Title:       "Recommendation",
				Description: f.Recommendation,
				Origins:     w.toolOrigins(),
			},
		)
	}
	if w.Template.Name == content.TemplateFull {
		for i := range w.POAMItems {
			if it := &w.POAMItems[i]; it.FindingID == f.ID && f.ID != "" {
				todo = append(todo, w.remediationResponse(it))
				r.Status = riskStatus(it.Status)
				r.Deadline = parseOptionalDate(it.CurrentDueDate())
			}
		}
	}
	r.Remediations = nilIfEmptyList(todo)
	return r
}

// approvalAttestations returns the approvals as attestations. Each contains the hash of the content that was
// approved.
func (w *oscalWriter) approvalAttestations() *[]models.AttestationStatements {
	var out []models.AttestationStatements
	for i := range w.Approvals {
		a := &w.Approvals[i]
		if !w.Template.HasDeliverable(a.Gate) || a.Status != api.ApprovalApproved || a.DecidedBy == nil {
			continue
		}
		var p properties
		p.add("gate", string(a.Gate))
		p.add("version", strconv.Itoa(a.VersionNumber))
		p.add("content-sha256", a.TargetSHA256)
		p.add("decided-on", wording.ISODateOrEmpty(a.DecidedAt))
		p.add("reason", wording.OrEmpty(a.Reason))
		out = append(out, models.AttestationStatements{
			Parts: []models.AssessmentPart{{
				UUID: w.uuidFor(
					"approval",
					a.ID,
				), Name: "approval", Ns: oscal.Namespace, Title: oneLine("Approval of the "+a.Gate.Title(), "Approval"), Props: nilIfEmptyList(p),
				Prose: fmt.Sprintf(
					"%s approved version %[3]d of the %[2]s, whose content has the SHA-256 hash %[4]s.",
					content.ActorNameWithType(*a.DecidedBy)+a.DeciderSuffix(),
					a.Gate.Title(),
					a.VersionNumber,
					a.TargetSHA256,
				),
			}},
			ResponsibleParties: &[]models.ResponsibleParty{
				{RoleId: "approved-by", PartyUuids: []string{w.addParty(a.DecidedBy.ID, a.DecidedBy.Name, "person")}},
			},
		})
	}
	return nilIfEmptyList(out)
}
