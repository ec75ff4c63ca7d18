package content

import (
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
)

// ItemFields returns the fields of each item that a workbook with the given layout lists.
func (v *Report) ItemFields(layoutName string) (out []workbook.Fields) {
	switch layoutName {
	case TemplateSoA:
		return v.soaItemFields()
	case TemplateGapAnalysis:
		for i := range v.Findings {
			it := &v.Findings[i]
			out = append(out, v.withDerivedItemFields(workbook.FindingFields(it), &it.Item, api.GateGapAnalysis, it.Evidence))
		}
		return out
	case TemplateMaturity:
		for i := range v.Scores {
			it := &v.Scores[i]
			out = append(out, v.withDerivedItemFields(workbook.ScoreFields(it), &it.Item, api.GateMaturity, it.Evidence))
		}
		return out
	}
	found := map[string]*api.Finding{}
	for i := range v.Findings {
		found[v.Findings[i].ID] = &v.Findings[i]
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		out = append(
			out,
			v.withFindingDerivedFields(v.withDerivedItemFields(workbook.POAMItemFields(it), &it.Item, api.GatePOAM, nil), it, found[it.FindingID]),
		)
	}
	return out
}

// soaItemFields returns the fields of the items of the Statement of Applicability, in the order of
// the Annex A controls that they implement if ISO 27001 is assessed. Items that implement none of
// these come last.
func (v *Report) soaItemFields() (out []workbook.Fields) {
	controls := map[*api.SoAItem][]string{}
	var order []*api.SoAItem
	rows, _ := annexAControls(v.coverage)
	for _, r := range rows {
		for _, it := range r.items {
			if controls[it] == nil {
				order = append(order, it)
			}
			controls[it] = append(controls[it], r.code)
		}
	}
	for i := range v.SoAItems {
		if it := &v.SoAItems[i]; controls[it] == nil {
			order = append(order, it)
		}
	}
	for _, it := range order {
		f := v.withDerivedItemFields(workbook.SoAFields(it), &it.Item, api.GateSoA, it.Evidence)
		out = append(out, f.WithOverride(func(field string) (string, bool) { return joinLines(controls[it]), field == "annex_a" }))
	}
	return out
}

// withDerivedItemFields adds to f the derived fields that all items have in common. These fields
// depend on the item's codes, its evidence, its editor or the deliverable.
func (v *Report) withDerivedItemFields(f workbook.Fields, it *api.Item, g api.Gate, evidence []api.Evidence) workbook.Fields {
	return f.WithOverride(func(field string) (string, bool) {
		switch field {
		case "domain":
			return v.domainLabel(it.DomainCode), true
		case "requirements":
			return wording.FormatRequirements(it.RequirementCodes), true
		case "evidence":
			return formatEvidence(evidence, v.passageReference), true
		case "edited_by":
			return v.optionalPersonName(it.EditedBy), true
		case "version", "version_status":
			d := v.Deliverable(g)
			if d == nil {
				return "", true
			}
			if field == "version" {
				return strconv.Itoa(d.VersionNumber), true
			}
			return wording.Label(string(d.Status)), true
		}
		return "", false
	})
}

// withFindingDerivedFields adds to f the fields of a plan item that are derived from its finding or its
// dates.
func (v *Report) withFindingDerivedFields(f workbook.Fields, it *api.POAMItem, finding *api.Finding) workbook.Fields {
	return f.WithOverride(func(field string) (string, bool) {
		switch field {
		case "overdue":
			return map[bool]string{true: "yes", false: "no"}[v.isOverdue(it)], true
		case "status_date":
			return wording.ISODateOrEmpty(&it.UpdatedAt), true
		case "detected_on":
			if finding != nil {
				return wording.ISODateOrEmpty(&finding.CreatedAt), true
			}
			return wording.ISODateOrEmpty(&it.CreatedAt), true
		case "detector":
			if finding != nil {
				return finding.Source, true
			}
			return "", true
		case "documents":
			return joinLines(findingDocuments(finding)), true
		}
		return "", false
	})
}

// findingDocuments returns the names of the documents that a finding's evidence comes from, without
// duplicates.
func findingDocuments(f *api.Finding) (out []string) {
	if f == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range f.Evidence {
		if name := wording.OrDefault(e.Filename, e.DocumentTitle); name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}
