package content

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// basisSection returns the section that describes what the report is based on and what its limitations are.
func (v *Report) basisSection() []block.Block {
	var f block.Facts
	f.Add("Catalog", block.Text(fmt.Sprintf(
		"%s: %s in %s",
		prose.Capitalize(v.CatalogName()),
		prose.Count(
			v.Catalog.Counts.Controls,
			"control",
			"controls",
		),
		prose.Count(v.Catalog.Counts.Domains, "domain", "domains"),
	)))
	f.Add("Catalog SHA-256", v.catalogHashCell())
	if file := wording.OrEmpty(v.Catalog.SourceFilename); file != "" {
		f.Add("Catalog file", block.UserText(file))
	}
	if v.Catalog.IsStarter {
		f.Add("Official", block.Text("No. "+StarterNotice))
	} else {
		f.Add("Official", block.Text("Yes; the catalog was imported from the workbook with the hash above."))
	}
	if names := v.frameworkNames(); len(names) > 0 {
		f.AddList("Frameworks", names)
	}
	for _, g := range v.Template.Gates {
		if d := v.Deliverable(g); d != nil {
			f.Add("Method: "+wording.Humanize(string(g)), block.Prose(wording.OrDefault(d.Method, "not specified")+v.agentRunSuffix(d)))
			if len(d.Kept) > 0 {
				f.Add("Edits kept: "+wording.Humanize(string(g)), block.UserText(strings.Join(d.Kept, ", ")))
			}
		}
	}
	if h := v.AuditHead; h != nil && h.Sequence > 0 {
		f.Add(
			"Audit trail",
			block.Text(fmt.Sprintf("record %d, SHA-256 %s, signed with the installation's key %s", h.Sequence, h.Hash, h.KeyID)),
		)
		f.Add("Audit signature", block.Text(h.Signature))
	}
	if v.Summary.ComplianceFormula != "" {
		f.AddText("Compliance", v.Summary.ComplianceFormula)
	}
	if v.Template.hasSection(SectionCoverage) {
		f.Add("Coverage", block.Text(coverageRule))
	}
	if m := v.MaturitySummary; m != nil && m.Formula != "" && v.Template.HasDeliverable(api.GateMaturity) {
		f.AddText("Maturity averages", m.Formula)
	}
	out := []block.Block{f, block.Heading{ID: v.anchors.assign("basis", "limits"), Text: "Limits"}, v.limitsList()}
	if inputs := v.inputsTable(); len(inputs.Rows) > 0 {
		out = append(out, block.Heading{ID: v.anchors.assign("basis", "inputs"), Text: "Inputs to each version"}, inputs)
	}
	return out
}

// agentRunSuffix returns a note that names the agent run that produced a draft, or "" if none did.
func (v *Report) agentRunSuffix(d *api.DeliverableVersion) string {
	if d.GeneratedByAgentRunID == nil {
		return ""
	}
	return " (agent run " + *d.GeneratedByAgentRunID + ")"
}

func (v *Report) limitsList() block.List {
	var l block.List
	add := func(format string, args ...any) {
		l.Items = append(l.Items, block.UserText(fmt.Sprintf(format, args...)))
	}
	for _, why := range v.DraftReasons {
		add("%s", why)
	}
	add("The assessment is based on the documents in its register. No systems were tested.")
	for _, note := range v.modelReaderNotes() {
		add("%s", note)
	}
	add("“Not evidenced” means there was too little evidence to judge. It does not mean that a control is not implemented.")
	if _, unread := v.partitionDocuments(); len(unread) > 0 {
		names := make([]string, len(unread))
		for i, d := range unread {
			names[i] = d.Filename
			if d.Error != nil {
				names[i] += " (" + strings.TrimSuffix(*d.Error, ".") + ")"
			}
		}
		add("Documents that could not be read: %s.", strings.Join(names, "; "))
	}
	if unread := v.describeNotRead(); unread != "" {
		add("Content of the documents that was not read: %s.", unread)
	}
	if note := v.Summary.UnreadEvidence.Note(); note != "" {
		add("%s The rules only understand English, so controls covered by these passages may be rated too low.", note)
	}
	if v.Template.HasDeliverable(api.GateSoA) && v.SoA != nil {
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
			add("Applicable but not assessed (%s): %s.", prose.GroupThousands(len(unseen)), strings.Join(unseen, ", "))
		}
		if len(open) > 0 {
			add("Applicability undecided (%s): %s.", prose.GroupThousands(len(open)), strings.Join(open, ", "))
		}
		for _, w := range v.SoA.Reliance.Warnings() {
			add("%s", w)
		}
	}
	if v.Template.HasDeliverable(api.GateMaturity) && v.Maturity != nil {
		n := 0
		for i := range v.Scores {
			if !v.Scores[i].Assessed {
				n++
			}
		}
		if n > 0 {
			add(
				"%s no maturity level because there is no evidence to rate, and no effect on averages.",
				prose.Count(n, "control has", "controls have"),
			)
		}
	}
	add("Confidence expresses how certain the assessment method is of its own result. It does not predict the outcome of an audit.")
	return l
}

// inputsTable returns a table that shows the IDs and hashes of the inputs from which each version was made.
func (v *Report) inputsTable() block.Table {
	t := block.Table{
		Caption: "Inputs by version",
		Columns: []block.Column{{Name: "Deliverable", Width: 4}, {Name: "Input", Width: 4}, {Name: "ID or hash", Width: 9}},
	}
	for _, g := range v.Template.Gates {
		d := v.Deliverable(g)
		if d == nil {
			continue
		}
		for _, k := range slices.Sorted(maps.Keys(d.Inputs)) {
			if k == "document_keys" { // meant for the program; "documents" has the hash of their content
				continue
			}
			t.Rows = append(
				t.Rows,
				block.Row{
					Cells: []block.Cell{
						block.Text(prose.Capitalize(g.Title())),
						block.UserText(wording.Label(k)),
						block.Mono(d.Inputs[k]),
					},
				},
			)
		}
	}
	return t
}
