package render

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// basisSection describes what the report is based on and its limitations.
func (v *reportData) basisSection() []block {
	var f facts
	f.add("Catalog", plainCell(fmt.Sprintf("%s: %s in %s", capitalize(v.catalogName()),
		pluralize(v.Catalog.Counts.Controls, "control", "controls"), pluralize(v.Catalog.Counts.Domains, "domain", "domains"))))
	f.add("Catalog SHA-256", v.catalogHashCell())
	if file := stringOrEmpty(v.Catalog.SourceFilename); file != "" {
		f.add("Catalog file", userCell(file))
	}
	if v.Catalog.IsStarter {
		f.add("Official", plainCell("No. "+starterNotice))
	} else {
		f.add("Official", plainCell("Yes: imported from the workbook with the hash above."))
	}
	if names := v.frameworkNames(); len(names) > 0 {
		f.addList("Frameworks", names)
	}
	for _, g := range v.template.gates {
		if d := v.deliverable(g); d != nil {
			f.add("Method: "+humanize(string(g)), proseCell(orDefault(d.Method, "not specified")+v.generatedBySuffix(d)))
			if len(d.Kept) > 0 {
				f.add("Edits kept: "+humanize(string(g)), userCell(strings.Join(d.Kept, ", ")))
			}
		}
	}
	if h := v.AuditHead; h != nil && h.Sequence > 0 {
		f.add(
			"Audit trail",
			plainCell(fmt.Sprintf("record %d, SHA-256 %s, signed by the installation's key %s", h.Sequence, h.Hash, h.KeyID)),
		)
		f.add("Audit signature", plainCell(h.Signature))
	}
	if v.Summary.ComplianceFormula != "" {
		f.addText("Compliance", v.Summary.ComplianceFormula)
	}
	if v.template.hasSection(sectionCoverage) {
		f.add("Coverage", plainCell(coverageRule))
	}
	if m := v.MaturitySummary; m != nil && m.Formula != "" && v.template.hasDeliverable(api.GateMaturity) {
		f.addText("Maturity means", m.Formula)
	}
	out := []block{f, heading{ID: v.anchors.assign("basis", "limits"), Text: "Limits"}, v.limitsList()}
	if inputs := v.inputsTable(); len(inputs.Rows) > 0 {
		out = append(out, heading{ID: v.anchors.assign("basis", "inputs"), Text: "What each version was made from"}, inputs)
	}
	return out
}

// generatedBySuffix returns a note naming the agent run that produced a draft, or "".
func (v *reportData) generatedBySuffix(d *api.DeliverableVersion) string {
	if d.GeneratedByAgentRunID == nil {
		return ""
	}
	return " (agent run " + *d.GeneratedByAgentRunID + ")"
}

func (v *reportData) limitsList() list {
	var l list
	add := func(format string, args ...any) { l.Items = append(l.Items, userCell(fmt.Sprintf(format, args...))) }
	for _, why := range v.draftNotices {
		add("%s", why)
	}
	add("The assessment is based on the documents in its register. No systems were tested.")
	add("“Not evidenced” means there was too little evidence to judge. It does not mean that a control is not implemented.")
	if _, unread := v.partitionDocuments(); len(unread) > 0 {
		names := make([]string, len(unread))
		for i, d := range unread {
			names[i] = d.Filename
			if d.Error != nil {
				names[i] += " (" + strings.TrimSuffix(*d.Error, ".") + ")"
			}
		}
		add("Could not be read: %s.", strings.Join(names, "; "))
	}
	if v.template.hasDeliverable(api.GateSoA) && v.SoA != nil {
		var open, unseen []string
		for i := range v.SoAItems {
			it := &v.SoAItems[i]
			if controlStatus(it) != statusNotAssessed {
				continue
			}
			if it.Applicability.IsApplicable() {
				unseen = append(unseen, it.ControlCode)
			} else {
				open = append(open, it.ControlCode)
			}
		}
		if len(unseen) > 0 {
			add("Applicable but not assessed (%s): %s.", formatCount(len(unseen)), strings.Join(unseen, ", "))
		}
		if len(open) > 0 {
			add("Applicability undecided (%s): %s.", formatCount(len(open)), strings.Join(open, ", "))
		}
	}
	if v.template.hasDeliverable(api.GateMaturity) && v.Maturity != nil {
		n := 0
		for i := range v.Scores {
			if !v.Scores[i].Assessed {
				n++
			}
		}
		if n > 0 {
			add(
				"%s no maturity level because there is no evidence to rate; averages exclude them.",
				pluralize(n, "control has", "controls have"),
			)
		}
	}
	add("Confidence expresses how certain the method is of its own result. It is not the probability of an audit outcome.")
	return l
}

// inputsTable returns a table of the input IDs and hashes of each version.
func (v *reportData) inputsTable() table {
	t := table{
		Caption: "Inputs by version",
		Columns: []column{{Name: "Deliverable", Width: 4}, {Name: "Input", Width: 4}, {Name: "ID or hash", Width: 9}},
	}
	for _, g := range v.template.gates {
		d := v.deliverable(g)
		if d == nil {
			continue
		}
		for _, k := range sortedKeys(d.Inputs) {
			t.Rows = append(t.Rows, row{Cells: []cell{plainCell(capitalize(g.Title())), userCell(displayLabel(k)), monoCell(d.Inputs[k])}})
		}
	}
	return t
}
