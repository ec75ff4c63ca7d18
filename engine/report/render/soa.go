package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

func (v *reportData) coverageSection() []block {
	if len(v.coverage) == 0 {
		return []block{
			newPara(
				"empty",
				"No framework was selected, so there is no coverage to report; the catalog's controls are assessed on their own.",
			),
		}
	}
	out := []block{v.coverageTable()}
	if v.SoA == nil {
		return append(out, newPara("empty", "No Statement of Applicability has been drafted yet, so no requirement was assessed."))
	}
	if !v.template.hasSection(sectionSoA) {
		return out
	}
	out = append(out, v.flowBlocks()...)
	annex, isISO := annexAControls(v.coverage)
	if isISO {
		out = append(
			out,
			heading{ID: v.anchors.assign("coverage", "annex a"), Text: "ISO 27001: all controls of Annex A"},
			v.annexTable(annex),
		)
	}
	for i := range v.coverage {
		fc := &v.coverage[i]
		name := orDefault(fc.framework.Name, fc.framework.Code)
		out = append(
			out,
			heading{ID: v.anchors.assign("coverage", fc.framework.Code), Text: name + ": all requirements"},
			v.requirementTable(fc),
		)
	}
	return out
}

// coverageTable counts each framework's requirements by status.
func (v *reportData) coverageTable() table {
	t := newStatusTable("Requirements by framework and status", "Framework")
	for _, fc := range v.coverage {
		t.Rows = append(
			t.Rows,
			newStatusRow(
				userCell(orDefault(fc.framework.Name, fc.framework.Code)),
				orDefault(fc.framework.Name, fc.framework.Code),
				fc.counts,
			),
		)
	}
	return t
}

// newStatusTable returns an empty table of counts by status, with a bar.
func newStatusTable(caption, first string) table {
	t := table{Caption: caption, Columns: []column{{Name: first, Width: 5}, {Name: "All", Width: 2, Number: true}}}
	for _, o := range coverageStatuses {
		t.Columns = append(t.Columns, column{Name: o.displayName(), Width: 4, Number: true, Swatch: string(o)})
	}
	t.Columns = append(t.Columns, column{Name: "Picture", Width: 5, Picture: true})
	return t
}

func newStatusRow(name cell, title string, counts map[coverageStatus]int) row {
	sum := 0
	b := &bar{Mark: -1}
	var descriptions []string
	cells := []cell{name, nil}
	for _, o := range coverageStatuses {
		n := counts[o]
		sum += n
		cells = append(cells, numberCell(n))
		if n > 0 {
			b.Parts = append(b.Parts, barPart{string(o), float64(n)})
			descriptions = append(descriptions, fmt.Sprintf("%s %d", strings.ToLower(o.displayName()), n))
		}
	}
	cells[1] = numberCell(sum)
	b.Max, b.Label = float64(max(sum, 1)), title+": "+orDefault(strings.Join(descriptions, ", "), "nothing")
	return row{Cells: append(cells, cell{{Bar: b}})}
}

// annexTable lists the Annex A controls as ISO 27001 6.1.3 d requires: each with its inclusion, the
// justification, and whether it is implemented.
func (v *reportData) annexTable(rows []requirementCoverage) table {
	t := table{Caption: "Annex A in order, with reasons and status", Empty: "The catalog has no Annex A controls.", Columns: []column{
		{Name: "Annex A", Width: 5},
		{Name: "Included", Width: 3},
		{Name: "Reason for inclusion or exclusion", Width: 12},
		{Name: "Status", Width: 4},
		{Name: "Controls", Width: 5},
		{Name: "Evidence", Width: 3, Number: true},
	}}
	for _, r := range rows {
		included, passages := "No", 0
		var reasons, why []string
		controlsByRationale := map[string][]string{} // controls by rationale
		for _, it := range r.items {
			passages += len(it.Evidence)
			if it.Applicability.IsApplicable() {
				included = "Yes"
				for _, x := range it.InclusionReasons {
					if w := humanize(x); !slices.Contains(reasons, w) {
						reasons = append(reasons, w)
					}
				}
			}
		}
		for _, it := range r.items {
			if it.Rationale != "" && it.Applicability.IsApplicable() == (included == "Yes") {
				if controlsByRationale[it.Rationale] == nil {
					why = append(why, it.Rationale)
				}
				controlsByRationale[it.Rationale] = append(controlsByRationale[it.Rationale], it.ControlCode)
			}
		}
		for i, w := range why {
			why[i] = strings.Join(controlsByRationale[w], ", ") + ": " + w
		}
		reason := cell{}
		switch {
		case len(r.items) == 0:
			included = "Undecided"
			reason = plainCell("Not assessed because no catalog control is mapped to it.")
		case included == "No" && r.status != statusExcluded:
			included = "Undecided"
		case len(reasons) > 0:
			reason = plainCell(capitalize(strings.Join(reasons, ", ")) + ".")
		}
		if len(why) > 0 {
			reason = reason.with(span{Text: strings.Join(why, "\n"), Prose: true})
		}
		if len(reason) == 0 {
			reason = plainCell("No reason was given.")
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			requirementCell(
				r,
			), plainCell(included), reason, badgeCell(string(r.status), r.status.displayName()), v.controlLinks(r.items), numberCell(passages),
		}})
	}
	return t
}

func requirementCell(r requirementCoverage) cell {
	c := cell{{Text: r.code, Strong: true}}
	if r.title != "" {
		c = append(c, span{Text: " "}, span{Text: r.title, UserText: true})
	}
	return c
}

func (v *reportData) controlLinks(items []*api.SoAItem) cell {
	if len(items) == 0 {
		return plainCell("none")
	}
	var c cell
	for i, it := range items {
		if i > 0 {
			c = append(c, span{Text: ", "})
		}
		c = append(c, v.anchors.link("soa", it.ControlCode))
	}
	return c
}

func (v *reportData) requirementTable(fc *frameworkCoverage) table {
	t := table{
		Caption: "Requirements of " + orDefault(fc.framework.Name, fc.framework.Code),
		Empty:   "The catalog has no requirements for this framework.",
		Columns: []column{
			{
				Name:  "Requirement",
				Width: 7,
			}, {Name: "Status", Width: 5}, {Name: "Controls", Width: 8}, {Name: "Evidence", Width: 3, Number: true},
		},
	}
	for _, r := range fc.requirements {
		passages := 0
		for _, it := range r.items {
			passages += len(it.Evidence)
		}
		t.Rows = append(
			t.Rows,
			row{
				Cells: []cell{
					requirementCell(r),
					badgeCell(string(r.status), r.status.displayName()),
					v.controlLinks(r.items),
					numberCell(passages),
				},
			},
		)
	}
	return t
}

func (v *reportData) soaSection() []block {
	if v.SoA == nil {
		return []block{newPara("empty", "No Statement of Applicability has been drafted yet.")}
	}
	if len(v.SoAItems) == 0 {
		return []block{newPara("empty", "The Statement of Applicability has no items.")}
	}
	_, domains := countStatuses(v.SoAItems)
	codes := sortedKeys(domains)
	slices.SortFunc(codes, scf.CompareNatural)
	by := newStatusTable("Controls by domain and status", "Domain")
	by.Columns = slices.DeleteFunc(by.Columns, func(c column) bool { return c.Swatch == string(statusUnmapped) })
	links := linkList{Label: "Domains of the Statement of Applicability"}
	for _, d := range codes {
		r := newStatusRow(cell{{Text: v.domainLabel(d), UserText: true}}, v.domainLabel(d), domains[d])
		r.Cells = slices.Delete(r.Cells, len(r.Cells)-2, len(r.Cells)-1) // a control is never unmapped
		by.Rows = append(by.Rows, r)
		id := v.anchors.assign("soa-domain", d)
		links.Items = append(links.Items, cell{{Text: orDefault(d, "none"), Ref: id}})
	}
	out := []block{
		newPara("", "All catalog controls considered, including excluded ones, each with its reason."),
		by, links,
	}
	for i := 0; i < len(v.SoAItems); {
		j := i
		for j < len(v.SoAItems) && v.SoAItems[j].DomainCode == v.SoAItems[i].DomainCode {
			j++
		}
		d := v.SoAItems[i].DomainCode
		out = append(out, heading{ID: v.anchors.byKey["soa-domain\x00"+d], Text: v.domainLabel(d), Minor: true}, v.soaTable(d, i, j))
		i = j
	}
	return out
}

// soaTable returns the items of one domain in the index range [from, to).
func (v *reportData) soaTable(domain string, from, to int) table {
	t := table{Caption: "Statement of Applicability: " + v.domainLabel(domain), Columns: []column{
		{Name: "Control", Width: 7},
		{Name: "Requirements", Width: 7},
		{Name: "Applicability", Width: 5},
		{Name: "Status", Width: 5},
		{Name: "Evidence", Width: 4},
		{Name: "Owner", Width: 4},
	}}
	for i := from; i < to; i++ {
		it := &v.SoAItems[i]
		applies := plainCell(displayLabel(string(it.Applicability)))
		if len(it.InclusionReasons) > 0 {
			reasons := make([]string, len(it.InclusionReasons))
			for j, r := range it.InclusionReasons {
				reasons[j] = humanize(r)
			}
			applies = applies.with(span{Text: " (" + strings.Join(reasons, ", ") + ")"})
		}
		if it.NeedsReview {
			applies = applies.with(span{Text: " "}, span{Text: "Needs review", Badge: "draft"})
		}
		status := cell{{Text: "–"}}
		coverage := "–"
		if it.Applicability.IsApplicable() {
			o := controlStatus(it)
			status = badgeCell(string(o), displayLabel(string(it.ImplementationStatus)))
			coverage = displayLabel(string(it.EvidenceCoverage))
			if len(it.Statements) > 0 {
				coverage += fmt.Sprintf(" (%.0f%% of the requirements)", it.CoverageRatio*100)
			}
		}
		t.Rows = append(t.Rows, row{
			ID: v.ids.soa[i],
			Cells: []cell{
				v.controlCell(span{Text: it.ControlCode}, it.ControlTitle), v.requirementsCell(it.RequirementCodes),
				applies, status, plainCell(coverage), userCell(orDefault(stringOrEmpty(it.Owner), "–")),
			},
			Detail: v.soaDetail(it),
		})
	}
	return t
}

// soaDetail returns the details not shown in an item's row; missing elements are left to its
// finding if the report contains it.
func (v *reportData) soaDetail(it *api.SoAItem) []block {
	var f facts
	f.addText("Rationale", it.Rationale)
	finding := v.anchors.link("finding", it.ControlCode)
	if it.Applicability.IsApplicable() {
		if finding.Ref == "" || it.ImplementationStatus != api.NotEvidenced {
			f.addText("Why this status", it.Reason)
			f.add("Confidence", plainCell(formatConfidence(it.Confidence, it.IsOverruled())))
		}
		if finding.Ref == "" {
			f.addList("Not found", it.MissingElements)
		} else {
			finding.Text = "what is missing"
			f.add("Gap", cell{finding})
		}
	}
	f.addText("Note", stringOrEmpty(it.Note))
	v.addEdits(&f, &it.Item)
	var out []block
	if len(f.Items) > 0 {
		out = append(out, f)
	}
	return append(out, v.unquotedEvidenceBlocks(it.ControlCode, it.Evidence, sectionGap)...)
}
