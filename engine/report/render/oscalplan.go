package render

import (
	"strconv"
	"strings"

	models "github.com/defenseunicorns/go-oscal/src/types/oscal-1-2-2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
)

// plan is the plan of action and milestones: its items, a risk for each, and the findings
// and observations that they rest on.
func (w *oscalWriter) plan() (*models.PlanOfActionAndMilestones, error) {
	switch {
	case w.POAM == nil:
		return nil, nothing("the plan of action and milestones has not been drafted")
	case len(w.POAMItems) == 0:
		return nil, nothing("the plan of action and milestones has no items")
	}
	doc := &models.PlanOfActionAndMilestones{UUID: w.uuidOf("poam", w.POAM.ID),
		SystemId:         &models.SystemId{ID: w.uuidOf("system"), IdentifierType: "http://ietf.org/rfc/rfc4122"},
		LocalDefinitions: &models.PlanOfActionAndMilestonesLocalDefinitions{AssessmentAssets: w.assets()}}
	var items []models.PoamItem
	var risks []models.Risk
	var found []models.Finding
	var observed []models.Observation
	by := map[string]*api.Finding{}
	for i := range w.Findings {
		by[w.Findings[i].ID] = &w.Findings[i]
	}
	told := map[string]bool{}
	for i := range w.POAMItems {
		it := &w.POAMItems[i]
		what := "the plan's item " + it.POAMCode
		w.row("poam-items", what)
		one := w.planItem(it)
		if f := by[it.FindingID]; f != nil {
			one.RelatedFindings = &[]models.RelatedFinding{{FindingUuid: w.findingUUID(f.ID)}}
			one.RelatedObservations = &[]models.RelatedObservation{{ObservationUuid: w.uuidOf("observation", f.ID)}}
			if !told[f.ID] {
				told[f.ID] = true
				w.row("findings", "the finding on "+f.ControlCode)
				w.row("observations", "the finding on "+f.ControlCode)
				finding := w.findingOf(f)
				finding.RelatedRisks = &[]models.AssociatedRisk{{RiskUuid: w.planRisk(it)}}
				found = append(found, finding)
				observed = append(observed, w.observation(&f.Item, "finding", f.Condition, f.Evidence))
			}
		}
		items = append(items, one)
		w.row("risks", what)
		risks = append(risks, w.riskOf(it))
	}
	doc.PoamItems, doc.Risks, doc.Findings, doc.Observations = items, listOf(risks), listOf(found), listOf(observed)
	doc.BackMatter = w.resources()
	doc.Metadata = w.metadata(w.Assessment.Name + ": " + w.title)
	return doc, nil
}

func (w *oscalWriter) planRisk(it *api.POAMItem) string { return w.uuidOf("plan-risk", it.ID) }

func (w *oscalWriter) planItem(it *api.POAMItem) models.PoamItem {
	var p props
	p.own("poam-id", oneLine(it.POAMCode, "none"))
	p.item(&it.Item)
	p.add("priority", strconv.Itoa(it.Priority))
	p.add("severity", string(it.Severity))
	p.add("effort", it.Effort)
	p.add("status", it.Status)
	p.add("action-type", it.ActionType)
	p.add("owner", text(it.Owner))
	p.add("owner-role", it.OwnerRole)
	p.add("resources", text(it.Resources))
	p.add("due-date", string(it.DueDate))
	p.add("risk-accepted-until", date(it.RiskAcceptedUntil))
	p.add("vendor-dependency", text(it.VendorDependency))
	p.each("depends-on", it.Dependencies)
	p.each("also-closes", it.AlsoCloses)
	p.each("acceptance-criterion", it.AcceptanceCriteria)
	p.each("expected-evidence", it.ExpectedEvidence)
	if it.TargetLevel > 0 {
		p.add("target-level", strconv.Itoa(it.TargetLevel))
	}
	return models.PoamItem{UUID: w.uuidOf("poam-item", it.ID), Title: itemTitle(&it.Item), Description: or(it.Weakness, "The weakness is not stated."), Props: listOf(p), Remarks: text(it.Comments),
		RelatedRisks: &[]models.AssociatedRisk{{RiskUuid: w.planRisk(it)}}}
}

// riskStatus is the state of a remediation as that of its risk.
func riskStatus(status string) string {
	switch status {
	case "in_progress", "blocked":
		return "remediating"
	case "completed", "cancelled":
		return "closed"
	case "risk_accepted":
		return "deviation-approved"
	}
	return "open"
}

func (w *oscalWriter) riskOf(it *api.POAMItem) models.Risk {
	return models.Risk{UUID: w.planRisk(it), Title: itemTitle(&it.Item), Description: or(it.Weakness, "The weakness is not stated."), Statement: or(it.Weakness, "The weakness is not stated."),
		Status: riskStatus(it.Status), Deadline: dayOf(it.Due()), Characterizations: w.severityFacet(it.Severity), Remediations: &[]models.Response{w.response(it)}}
}

// response is what is done about a gap, with its milestones.
func (w *oscalWriter) response(it *api.POAMItem) models.Response {
	r := models.Response{UUID: w.uuidOf("response", it.ID), Lifecycle: "planned", Title: oneLine(it.POAMCode, "Remediation"), Description: or(it.CorrectiveAction, "No action is stated.")}
	if it.Status == "completed" {
		r.Lifecycle = "completed"
	}
	var tasks []models.Task
	for i, m := range it.Milestones {
		t := models.Task{UUID: w.uuidOf("milestone", it.ID, strconv.Itoa(i)), Type: "milestone", Title: oneLine(m.Title, "Milestone")}
		if at := dayOf(m.DueDate); at != nil {
			t.Timing = &models.EventTiming{OnDate: &models.OnDateCondition{Date: *at}}
		}
		var p props
		p.add("status", m.Status)
		p.add("due-date", string(m.DueDate))
		if m.CompletedAt != nil {
			p.add("completed-date", string(*m.CompletedAt))
		}
		for _, c := range m.Changes {
			p.add("change", strings.TrimSpace("moved to "+string(c.DueDate)+" on "+c.At+" by "+or(w.person(c.By), "someone")+": "+or(c.Reason, "no reason given")))
		}
		t.Props = listOf(p)
		tasks = append(tasks, t)
	}
	r.Tasks = listOf(tasks)
	return r
}

// component tells the Statement of Applicability as what the organization does about each
// control, those that are left out too, with the reason.
func (w *oscalWriter) component() (*models.ComponentDefinition, error) {
	switch {
	case w.SoA == nil:
		return nil, nothing("the Statement of Applicability has not been drafted")
	case len(w.SoAItems) == 0:
		return nil, nothing("the Statement of Applicability has no items")
	}
	var all []models.ImplementedRequirementControlImplementation
	for i := range w.SoAItems {
		w.row("implemented-requirements", "the line of "+w.SoAItems[i].ControlCode)
		all = append(all, w.requirementOf(&w.SoAItems[i]))
	}
	doc := &models.ComponentDefinition{UUID: w.uuidOf("component-definition", w.SoA.ID), Components: &[]models.DefinedComponent{{
		UUID: w.uuidOf("component"), Type: "process-procedure", Title: oneLine(w.Organization.Name, "The organization"),
		Description: "What the organization does about each control, as its Statement of Applicability says.",
		ControlImplementations: &[]models.ControlImplementationSet{{UUID: w.uuidOf("control-implementation", w.SoA.ID), Source: w.catalogRef(),
			Description: w.title, ImplementedRequirements: all}}}}}
	doc.BackMatter = w.resources()
	doc.Metadata = w.metadata(w.Assessment.Name + ": " + w.title)
	return doc, nil
}

func (w *oscalWriter) requirementOf(it *api.SoAItem) models.ImplementedRequirementControlImplementation {
	var p props
	if s := implemented(it.ImplementationStatus); s != nil {
		p.own("implementation-status", s.State)
	} else if it.Applicability == api.NotApplicable || it.Applicability == api.OutOfScope {
		p.own("implementation-status", "not-applicable")
	}
	p.item(&it.Item)
	p.add("applicability", string(it.Applicability))
	p.add("status", string(it.ImplementationStatus))
	p.each("inclusion-reason", it.InclusionReasons)
	p.add("rationale", it.Rationale)
	p.add("evidence-coverage", string(it.EvidenceCoverage))
	p.each("missing", it.MissingElements)
	p.add("owner", text(it.Owner))
	var links []models.Link
	seen := map[string]bool{}
	for j := range it.Evidence {
		e := &it.Evidence[j]
		p.add("evidence", strings.Join(strings.Fields("“"+e.Quote+"” "+or(e.DocumentTitle, e.Filename)+" "+place(e.Locator)+" SHA-256 "+e.SHA256), " "))
		for i := range w.Documents {
			if id := w.Documents[i].ID; id == e.DocumentID && !seen[id] {
				seen[id] = true
				links = append(links, models.Link{Href: "#" + w.documentUUID(id), Rel: "reference"})
			}
		}
	}
	return models.ImplementedRequirementControlImplementation{UUID: w.uuidOf("implemented", it.ID), ControlId: oscal.ControlID(it.ControlCode),
		Description: or(it.Reason, or(it.Rationale, "Nothing is said of it.")), Props: listOf(p), Links: listOf(links), Remarks: text(it.Note)}
}
