package oscal

import (
	"strconv"
	"strings"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/report/wording"
)

// buildPOAM returns the plan of action and milestones as an OSCAL document. It contains the plan items, a risk for
// each item, and the findings and observations on which the items are based.
func (w *oscalWriter) buildPOAM() (*models.PlanOfActionAndMilestones, error) {
	switch {
	case w.POAM == nil:
		return nil, emptyDocumentError("the plan of action and milestones has not been drafted")
	case len(w.POAMItems) == 0:
		return nil, emptyDocumentError("the plan of action and milestones has no items")
	}
	doc := &models.PlanOfActionAndMilestones{
		UUID:             w.uuidFor("poam", w.POAM.ID),
		SystemId:         &models.SystemId{ID: w.uuidFor("system"), IdentifierType: "http://ietf.org/rfc/rfc4122"},
		LocalDefinitions: &models.PlanOfActionAndMilestonesLocalDefinitions{AssessmentAssets: w.assessmentAssets()},
	}
	var items []models.PoamItem
	var risks []models.Risk
	var found []models.Finding
	var observed []models.Observation
	by := map[string]*api.Finding{}
	for i := range w.Findings {
		by[w.Findings[i].ID] = &w.Findings[i]
	}
	writtenFindings := map[string]bool{}
	for i := range w.POAMItems {
		it := &w.POAMItems[i]
		what := "plan item " + it.POAMCode
		w.recordRowName("poam-items", what)
		one := w.toPOAMItem(it)
		if f := by[it.FindingID]; f != nil {
			one.RelatedFindings = &[]models.RelatedFinding{{FindingUuid: w.findingUUID(f.ID)}}
			one.RelatedObservations = &[]models.RelatedObservation{{ObservationUuid: w.uuidFor("observation", f.ID)}}
			if !writtenFindings[f.ID] {
				writtenFindings[f.ID] = true
				w.recordRowName("findings", "the finding on "+f.ControlCode)
				w.recordRowName("observations", "the finding on "+f.ControlCode)
				finding := w.toFinding(f)
				finding.RelatedRisks = &[]models.AssociatedRisk{{RiskUuid: w.planRiskUUID(it)}}
				found = append(found, finding)
				observed = append(observed, w.toObservation(&f.Item, "finding", f.Condition, f.Evidence))
			}
		}
		items = append(items, one)
		w.recordRowName("risks", what)
		risks = append(risks, w.planItemRisk(it))
	}
	doc.PoamItems, doc.Risks, doc.Findings, doc.Observations = items, nilIfEmptyList(risks), nilIfEmptyList(found), nilIfEmptyList(observed)
	doc.BackMatter = w.backMatterWithEvidence()
	doc.Metadata = w.metadataWithParties(w.Assessment.Name + ": " + w.Title)
	return doc, nil
}

func (w *oscalWriter) planRiskUUID(it *api.POAMItem) string { return w.uuidFor("plan-risk", it.ID) }

func (w *oscalWriter) toPOAMItem(it *api.POAMItem) models.PoamItem {
	var p properties
	p.addStandard("poam-id", oneLine(it.POAMCode, "none"))
	p.addItemProperties(&it.Item)
	p.add("priority", strconv.Itoa(it.Priority))
	p.add("severity", string(it.Severity))
	p.add("effort", it.Effort)
	p.add("status", it.Status)
	p.add("action-type", it.ActionType)
	p.add("owner", wording.OrEmpty(it.Owner))
	p.add("owner-role", it.OwnerRole)
	p.add("resources", wording.OrEmpty(it.Resources))
	p.add("due-date", string(it.DueDate))
	p.add("risk-accepted-until", wording.OrEmpty(it.RiskAcceptedUntil))
	p.add("vendor-dependency", wording.OrEmpty(it.VendorDependency))
	p.addAll("depends-on", it.Dependencies)
	p.addAll("also-closes", it.AlsoCloses)
	p.addAll("acceptance-criterion", it.AcceptanceCriteria)
	p.addAll("expected-evidence", it.ExpectedEvidence)
	if it.TargetLevel > 0 {
		p.add("target-level", strconv.Itoa(it.TargetLevel))
	}
	return models.PoamItem{
		UUID: w.uuidFor(
			"poam-item",
			it.ID,
		),
		Title:        itemTitle(&it.Item),
		Description:  wording.OrDefault(it.Weakness, "The weakness is not specified."),
		Props:        nilIfEmptyList(p),
		Remarks:      wording.OrEmpty(it.Comments),
		RelatedRisks: &[]models.AssociatedRisk{{RiskUuid: w.planRiskUUID(it)}},
	}
}

// riskStatus returns the status of a risk, given the status of the plan item that addresses it.
func riskStatus(planStatus string) string {
	switch planStatus {
	case "in_progress", "blocked":
		return "remediating"
	case "completed", "cancelled":
		return "closed"
	case "risk_accepted":
		return "deviation-approved"
	}
	return "open"
}

func (w *oscalWriter) planItemRisk(it *api.POAMItem) models.Risk {
	return models.Risk{
		UUID: w.planRiskUUID(
			it,
		),
		Title:       itemTitle(&it.Item),
		Description: wording.OrDefault(it.Weakness, "The weakness is not specified."),
		Statement:   wording.OrDefault(it.Weakness, "The weakness is not specified."),
		Status: riskStatus(
			it.Status,
		),
		Deadline:          parseOptionalDate(it.CurrentDueDate()),
		Characterizations: w.severityCharacterizations(it.Severity),
		Remediations:      &[]models.Response{w.remediationResponse(it)},
	}
}

// remediationResponse returns the planned response to a risk, as described by a plan item and its milestones.
func (w *oscalWriter) remediationResponse(it *api.POAMItem) models.Response {
	r := models.Response{
		UUID:        w.uuidFor("response", it.ID),
		Lifecycle:   "planned",
		Title:       oneLine(it.POAMCode, "Remediation"),
		Description: wording.OrDefault(it.CorrectiveAction, "The corrective action is not specified."),
	}
	if it.Status == "completed" {
		r.Lifecycle = "completed"
	}
	var tasks []models.Task
	for i, m := range it.Milestones {
		t := models.Task{UUID: w.uuidFor("milestone", it.ID, strconv.Itoa(i)), Type: "milestone", Title: oneLine(m.Title, "Milestone")}
		if at := parseOptionalDate(m.DueDate); at != nil {
			t.Timing = &models.EventTiming{OnDate: &models.OnDateCondition{Date: *at}}
		}
		var p properties
		p.add("status", m.Status)
		p.add("due-date", string(m.DueDate))
		if m.CompletedAt != nil {
			p.add("completed-date", string(*m.CompletedAt))
		}
		for _, c := range m.Changes {
			p.add(
				"change",
				strings.TrimSpace(
					"moved to "+string(
						c.DueDate,
					)+" on "+c.At+" by "+wording.OrDefault(
						w.PersonName(c.By),
						"someone",
					)+": "+wording.OrDefault(
						c.Reason,
						"no reason given",
					),
				),
			)
		}
		t.Props = nilIfEmptyList(p)
		tasks = append(tasks, t)
	}
	r.Tasks = nilIfEmptyList(tasks)
	return r
}

// buildComponentDefinition returns the Statement of Applicability as an OSCAL component definition. It states
// how the organization implements each control, or why the control is excluded.
func (w *oscalWriter) buildComponentDefinition() (*models.ComponentDefinition, error) {
	switch {
	case w.SoA == nil:
		return nil, emptyDocumentError("the Statement of Applicability has not been drafted")
	case len(w.SoAItems) == 0:
		return nil, emptyDocumentError("the Statement of Applicability has no items")
	}
	var all []models.ImplementedRequirementControlImplementation
	for i := range w.SoAItems {
		w.recordRowName("implemented-requirements", "the item for "+w.SoAItems[i].ControlCode)
		all = append(all, w.toImplementedRequirement(&w.SoAItems[i]))
	}
	doc := &models.ComponentDefinition{UUID: w.uuidFor("component-definition", w.SoA.ID), Components: &[]models.DefinedComponent{{
		UUID: w.uuidFor("component"), Type: "process-procedure", Title: oneLine(w.Organization.Name, "The organization"),
		Description: "How the organization implements each control, according to its Statement of Applicability.",
		ControlImplementations: &[]models.ControlImplementationSet{{
			UUID: w.uuidFor("control-implementation", w.SoA.ID), Source: w.catalogRef(),
			Description: w.Title, ImplementedRequirements: all,
		}},
	}}}
	doc.BackMatter = w.backMatterWithEvidence()
	doc.Metadata = w.metadataWithParties(w.Assessment.Name + ": " + w.Title)
	return doc, nil
}

func (w *oscalWriter) toImplementedRequirement(it *api.SoAItem) models.ImplementedRequirementControlImplementation {
	var p properties
	if s := toImplementationStatus(it.ImplementationStatus); s != nil {
		p.addStandard("implementation-status", s.State)
	} else if it.Applicability == api.NotApplicable || it.Applicability == api.OutOfScope {
		p.addStandard("implementation-status", "not-applicable")
	}
	p.addItemProperties(&it.Item)
	p.add("applicability", string(it.Applicability))
	p.add("status", string(it.ImplementationStatus))
	p.addAll("inclusion-reason", it.InclusionReasons)
	p.add("rationale", it.Rationale)
	p.add("evidence-coverage", string(it.EvidenceCoverage))
	if it.RestsOnDocuments > 0 {
		p.add("rests-on-documents", strconv.Itoa(it.RestsOnDocuments))
	}
	p.add("only-document", it.OnlyDocument)
	p.add("changed-by-document", it.ChangedByDocument)
	p.addAll("missing", it.MissingElements)
	p.add("owner", wording.OrEmpty(it.Owner))
	var links []models.Link
	seen := map[string]bool{}
	for j := range it.Evidence {
		e := &it.Evidence[j]
		p.add(
			"evidence",
			strings.Join(
				strings.Fields(
					"“"+e.Quote+"” "+wording.OrDefault(e.DocumentTitle, e.Filename)+" "+wording.FormatLocator(e.Locator)+" SHA-256 "+e.SHA256,
				),
				" ",
			),
		)
		for i := range w.Documents {
			if id := w.Documents[i].ID; id == e.DocumentID && !seen[id] {
				seen[id] = true
				links = append(links, models.Link{Href: "#" + w.documentUUID(id), Rel: "reference"})
			}
		}
	}
	return models.ImplementedRequirementControlImplementation{
		UUID: w.uuidFor("implemented", it.ID), ControlId: oscal.ControlID(it.ControlCode),
		Description: wording.OrDefault(
			it.Reason,
			wording.OrDefault(it.Rationale, "No description is given."),
		), Props: nilIfEmptyList(p), Links: nilIfEmptyList(links), Remarks: wording.OrEmpty(it.Note),
	}
}
