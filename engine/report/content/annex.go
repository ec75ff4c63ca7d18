package content

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

// annexSection returns the Statement of Applicability in the order of ISO 27001's Annex A, as certification auditors
// expect it, or nothing if ISO 27001 is not assessed.
func (v *Report) annexSection() []block.Block {
	rows, ok := annexAControls(v.coverage)
	if !ok || v.SoA == nil {
		return nil
	}
	var f block.Facts
	f.Add("Organization", block.UserText(wording.OrDefault(v.client, "not specified")))
	if s := v.Scope; s != nil {
		f.AddText("Scope", strings.TrimSpace(wording.OrDefault(s.Description, s.Title)))
		f.AddList("Locations", s.Locations)
	}
	f.AddList("Standards", v.frameworkNames())
	st := v.approvalStatus(api.GateSoA)
	f.Add("Version", block.Text(fmt.Sprintf("%d of %s", v.SoA.VersionNumber, wording.FormatDate(v.SoA.CreatedAt))))
	if st.approved {
		f.Add("Approved", block.UserText(v.describeApproval(st)))
	} else {
		f.Add("Approved", block.Badge("draft", st.reason))
	}
	applies, excluded, done := 0, 0, 0
	for _, r := range rows {
		switch included, _ := annexInclusion(r); included {
		case "Yes":
			applies++
		case "No":
			excluded++
		}
		if r.status == statusImplemented {
			done++
		}
	}
	f.Add("Result", block.Text(fmt.Sprintf("%s apply, %d are excluded and %d are undecided; %d of the applicable controls are implemented.",
		prose.Count(applies, "control", "controls"), excluded, len(rows)-applies-excluded, done)))
	note := "Reasons for inclusion. Law: a law or regulation among the frameworks requires the control. " +
		"Contract: a contractual standard requires it. Best practice: a standard or baseline chosen by the organization requires it. " +
		"Risk: the control treats a risk named by the catalog or the organization. A dash means that the reason is not recorded."
	if !slices.ContainsFunc(v.SoAItems, func(it api.SoAItem) bool { return slices.Contains(it.InclusionReasons, "risk") }) {
		note += " No control is linked to a risk yet. Before using this statement for certification, compare the controls with the " +
			"risk treatment plan (ISO 27001, 6.1.3)."
	}
	return []block.Block{f, v.annexATable(rows), block.NewPara("", note)}
}

// inclusionReasonColumns lists the four reasons for including a control, with the headers of their columns. In older
// items, the reason "framework" refers to a standard that the organization chose.
var inclusionReasonColumns = []struct {
	header string
	width  int
	values []string
}{
	{"Law", 3, []string{"legal"}},
	{"Contract", 4, []string{"contractual"}},
	{"Best practice", 4, []string{"best_practice", "framework"}},
	{"Risk", 3, []string{"risk"}},
}

// describeInclusion returns the reasons for including a control, such as "law, risk".
func describeInclusion(reasons []string) string {
	var out []string
	for _, c := range inclusionReasonColumns {
		if slices.ContainsFunc(reasons, func(x string) bool { return slices.Contains(c.values, x) }) {
			out = append(out, strings.ToLower(c.header))
		}
	}
	return strings.Join(out, ", ")
}

// annexInclusion returns whether the controls of a requirement apply ("Yes", "No" or "Undecided"), and which of them
// do.
func annexInclusion(r requirementCoverage) (included string, applicable []*api.SoAItem) {
	for _, it := range r.items {
		if it.Applicability.IsApplicable() {
			applicable = append(applicable, it)
		}
	}
	switch {
	case len(applicable) > 0:
		return "Yes", applicable
	case len(r.items) > 0 && r.status == statusExcluded:
		return "No", nil
	}
	return "Undecided", nil
}

// annexATable returns a table of the Annex A controls, as required by ISO 27001, 6.1.3 d. For each control, it shows
// whether it is included, the reason for including or excluding it, and whether it is implemented.
func (v *Report) annexATable(rows []requirementCoverage) block.Table {
	t := block.Table{
		Caption: "Annex A controls in order, with reasons and status", Empty: "The catalog has no Annex A controls.",
		Columns: []block.Column{{Name: "Control of Annex A", Width: 9}, {Name: "Applies", Width: 3}},
	}
	for _, c := range inclusionReasonColumns {
		t.Columns = append(t.Columns, block.Column{Name: c.header, Width: c.width})
	}
	t.Columns = append(t.Columns, block.Column{Name: "Status", Width: 6}, block.Column{Name: "Justification and evidence", Width: 16})
	for _, r := range rows {
		included, applicable := annexInclusion(r)
		cells := []block.Cell{requirementCell(r), block.Text(included)}
		for _, c := range inclusionReasonColumns {
			mark := "–"
			for _, it := range applicable {
				if slices.ContainsFunc(it.InclusionReasons, func(x string) bool { return slices.Contains(c.values, x) }) {
					mark = "Yes"
				}
			}
			cells = append(cells, block.Text(mark))
		}
		cells = append(cells, block.Badge(string(r.status), r.status.displayName()), v.annexJustification(r, included, applicable))
		t.Rows = append(t.Rows, block.Row{Cells: cells})
	}
	return t
}

// maxAnnexDocuments is the maximum number of documents named as evidence for a control of Annex A.
const maxAnnexDocuments = 3

// annexJustification returns the reason why a requirement is excluded or, if it is included, the documents and
// controls that support it.
func (v *Report) annexJustification(r requirementCoverage, included string, applicable []*api.SoAItem) block.Cell {
	if included != "Yes" {
		var why []string
		for _, it := range r.items {
			if it.Rationale != "" && !slices.Contains(why, it.Rationale) {
				why = append(why, it.Rationale)
			}
		}
		switch {
		case len(r.items) == 0:
			return block.Text("Not assessed, because no control in the catalog is mapped to this Annex A control.")
		case len(why) == 0:
			return block.Text("No reason was given.")
		}
		return block.Prose(strings.Join(why, "\n"))
	}
	text := v.describeSupport(r.status == statusNotEvidenced, applicable)
	if open := openElements(applicable); len(open) > 0 && r.status != statusImplemented && r.status != statusNotEvidenced {
		text += fmt.Sprintf(" Open: %s%s.", prose.Truncate(open[0], 120), formatMore(len(open)-1))
	}
	c := block.UserText(text).With(block.Span{Text: " Controls: "})
	return c.With(v.controlLinks(r.items)...)
}

// describeSupport names the documents that support the items, or states that there are none and how many documents
// were not read.
func (v *Report) describeSupport(notEvidenced bool, items []*api.SoAItem) string {
	var documents []string
	for _, it := range items {
		for _, e := range it.Evidence {
			if name := wording.OrDefault(e.DocumentTitle, e.Filename); !slices.Contains(documents, name) {
				documents = append(documents, name)
			}
		}
	}
	shown := documents[:min(len(documents), maxAnnexDocuments)]
	list := strings.Join(shown, "; ") + formatMore(len(documents)-len(shown)) + "."
	if len(documents) > 0 && !notEvidenced {
		return list
	}
	text := "None of the documents read shows that the control is in place."
	if n := v.unreadDocuments; n > 0 {
		text += fmt.Sprintf(" %s not read completely; see Documents.", prose.Count(n, "document was", "documents were"))
	}
	if len(documents) > 0 {
		text += " Related: " + list
	}
	return text
}

// openElements returns what the items that are not implemented lack.
func openElements(items []*api.SoAItem) (open []string) {
	for _, it := range items {
		if it.ImplementationStatus == api.Implemented {
			continue
		}
		for _, m := range it.MissingElements {
			open = append(open, strings.TrimRight(judge.StripNote(m), "."))
		}
	}
	return open
}
