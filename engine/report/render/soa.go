package render

import (
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

func (v *view) coverageSection() []block {
	if len(v.coverage) == 0 {
		return []block{say("empty", "No framework was chosen, so there is no coverage to tell: the controls of the catalog are assessed for themselves.")}
	}
	out := []block{v.coverageTable()}
	if v.SoA == nil {
		return append(out, say("empty", "No Statement of Applicability has been drafted yet, so no requirement was assessed."))
	}
	if !v.kind.shows(partSoA) {
		return out
	}
	out = append(out, v.flowBlocks()...)
	annex, isISO := annexA(v.coverage)
	if isISO {
		out = append(out, heading{ID: v.anchors.add("coverage", "annex a"), Text: "ISO 27001: every control of Annex A"}, v.annexTable(annex))
	}
	for i := range v.coverage {
		fc := &v.coverage[i]
		name := or(fc.framework.Name, fc.framework.Code)
		out = append(out, heading{ID: v.anchors.add("coverage", fc.framework.Code), Text: name + ": every requirement"}, v.requirementTable(fc))
	}
	return out
}

// coverageTable counts each framework's requirements by outcome.
func (v *view) coverageTable() table {
	t := outcomeTable("Requirements by framework and where they stand", "Framework")
	for _, fc := range v.coverage {
		t.Rows = append(t.Rows, outcomeRow(free(or(fc.framework.Name, fc.framework.Code)), or(fc.framework.Name, fc.framework.Code), fc.counts))
	}
	return t
}

// outcomeTable counts things by outcome, with a bar.
func outcomeTable(caption, first string) table {
	t := table{Caption: caption, Columns: []column{{Name: first, Width: 5}, {Name: "All", Width: 2, Number: true}}}
	for _, o := range outcomes {
		t.Columns = append(t.Columns, column{Name: o.words(), Width: 4, Number: true, Swatch: string(o)})
	}
	t.Columns = append(t.Columns, column{Name: "Picture", Width: 5, Picture: true})
	return t
}

func outcomeRow(name cell, title string, counts map[outcome]int) row {
	sum := 0
	b := &bar{Mark: -1}
	var said []string
	cells := []cell{name, nil}
	for _, o := range outcomes {
		n := counts[o]
		sum += n
		cells = append(cells, number(n))
		if n > 0 {
			b.Parts = append(b.Parts, barPart{string(o), float64(n)})
			said = append(said, fmt.Sprintf("%s %d", strings.ToLower(o.words()), n))
		}
	}
	cells[1] = number(sum)
	b.Max, b.Label = float64(max(sum, 1)), title+": "+or(strings.Join(said, ", "), "nothing")
	return row{Cells: append(cells, cell{{Bar: b}})}
}

// annexTable is what 6.1.3 d of ISO 27001 asks for: each control of Annex A, whether it
// is taken, why or why not, and whether it is implemented.
func (v *view) annexTable(rows []requirementCoverage) table {
	t := table{Caption: "Annex A in order, with reasons and status", Empty: "The catalog has no control of Annex A.", Columns: []column{
		{Name: "Annex A", Width: 5}, {Name: "Included", Width: 3}, {Name: "Reason for inclusion or exclusion", Width: 12},
		{Name: "Status", Width: 4}, {Name: "Controls", Width: 5}, {Name: "Evidence", Width: 3, Number: true},
	}}
	for _, r := range rows {
		included, passages := "No", 0
		var reasons, why []string
		saying := map[string][]string{} // controls by what is said of them
		for _, it := range r.items {
			passages += len(it.Evidence)
			if it.Applicability.In() {
				included = "Yes"
				for _, x := range it.InclusionReasons {
					if w := words(x); !slices.Contains(reasons, w) {
						reasons = append(reasons, w)
					}
				}
			}
		}
		for _, it := range r.items {
			if it.Rationale != "" && it.Applicability.In() == (included == "Yes") {
				if saying[it.Rationale] == nil {
					why = append(why, it.Rationale)
				}
				saying[it.Rationale] = append(saying[it.Rationale], it.ControlCode)
			}
		}
		for i, w := range why {
			why[i] = strings.Join(saying[w], ", ") + ": " + w
		}
		reason := cell{}
		switch {
		case len(r.items) == 0:
			included = "Undecided"
			reason = plain("No control of the catalog is mapped to it, so it was not assessed.")
		case included == "No" && r.outcome != outExcluded:
			included = "Undecided"
		case len(reasons) > 0:
			reason = plain(sentence(strings.Join(reasons, ", ")) + ".")
		}
		if len(why) > 0 {
			reason = reason.and(span{Text: strings.Join(why, "\n"), Prose: true})
		}
		if len(reason) == 0 {
			reason = plain("No reason was given.")
		}
		t.Rows = append(t.Rows, row{Cells: []cell{
			requirementCell(r), plain(included), reason, badge(string(r.outcome), r.outcome.words()), v.controlLinks(r.items), number(passages),
		}})
	}
	return t
}

func requirementCell(r requirementCoverage) cell {
	c := cell{{Text: r.code, Strong: true}}
	if r.title != "" {
		c = append(c, span{Text: " "}, span{Text: r.title, Free: true})
	}
	return c
}

func (v *view) controlLinks(items []*api.SoAItem) cell {
	if len(items) == 0 {
		return plain("none")
	}
	var c cell
	for i, it := range items {
		if i > 0 {
			c = append(c, span{Text: ", "})
		}
		c = append(c, v.anchors.ref("soa", it.ControlCode))
	}
	return c
}

func (v *view) requirementTable(fc *frameworkCoverage) table {
	t := table{Caption: "Requirements of " + or(fc.framework.Name, fc.framework.Code), Empty: "The catalog has no requirements of this framework.", Columns: []column{
		{Name: "Requirement", Width: 7}, {Name: "Status", Width: 5}, {Name: "Controls", Width: 8}, {Name: "Evidence", Width: 3, Number: true},
	}}
	for _, r := range fc.requirements {
		passages := 0
		for _, it := range r.items {
			passages += len(it.Evidence)
		}
		t.Rows = append(t.Rows, row{Cells: []cell{requirementCell(r), badge(string(r.outcome), r.outcome.words()), v.controlLinks(r.items), number(passages)}})
	}
	return t
}

func (v *view) soaSection() []block {
	if v.SoA == nil {
		return []block{say("empty", "No Statement of Applicability has been drafted yet.")}
	}
	if len(v.SoAItems) == 0 {
		return []block{say("empty", "The Statement of Applicability has no items.")}
	}
	_, domains := tally(v.SoAItems)
	codes := sortedKeys(domains)
	slices.SortFunc(codes, scf.Natural)
	by := outcomeTable("Controls by domain and where they stand", "Domain")
	by.Columns = slices.DeleteFunc(by.Columns, func(c column) bool { return c.Swatch == string(outUnmapped) })
	links := jumps{Label: "Domains of the Statement of Applicability"}
	for _, d := range codes {
		r := outcomeRow(cell{{Text: v.domain(d), Free: true}}, v.domain(d), domains[d])
		r.Cells = slices.Delete(r.Cells, len(r.Cells)-2, len(r.Cells)-1) // no control is unmapped
		by.Rows = append(by.Rows, r)
		id := v.anchors.add("soa-domain", d)
		links.Items = append(links.Items, cell{{Text: or(d, "none"), Ref: id}})
	}
	out := []block{
		say("", "Every control of the catalog that was looked at, those left out too, each with its reason."),
		by, links,
	}
	for i := 0; i < len(v.SoAItems); {
		j := i
		for j < len(v.SoAItems) && v.SoAItems[j].DomainCode == v.SoAItems[i].DomainCode {
			j++
		}
		d := v.SoAItems[i].DomainCode
		out = append(out, heading{ID: v.anchors.of["soa-domain\x00"+d], Text: v.domain(d), Minor: true}, v.soaTable(d, i, j))
		i = j
	}
	return out
}

// soaTable is the items of one domain, from one index up to another.
func (v *view) soaTable(domain string, from, to int) table {
	t := table{Caption: "Statement of Applicability: " + v.domain(domain), Columns: []column{
		{Name: "Control", Width: 7}, {Name: "Requirements", Width: 7}, {Name: "Applicability", Width: 5}, {Name: "Status", Width: 5},
		{Name: "Evidence", Width: 4}, {Name: "Owner", Width: 4},
	}}
	for i := from; i < to; i++ {
		it := &v.SoAItems[i]
		applies := plain(label(string(it.Applicability)))
		if len(it.InclusionReasons) > 0 {
			reasons := make([]string, len(it.InclusionReasons))
			for j, r := range it.InclusionReasons {
				reasons[j] = words(r)
			}
			applies = applies.and(span{Text: " (" + strings.Join(reasons, ", ") + ")"})
		}
		if it.NeedsReview {
			applies = applies.and(span{Text: " "}, span{Text: "Needs review", Badge: "draft"})
		}
		status := cell{{Text: "–"}}
		coverage := "–"
		if it.Applicability.In() {
			o := outcomeOf(it)
			status = badge(string(o), label(string(it.ImplementationStatus)))
			coverage = label(string(it.EvidenceCoverage))
			if len(it.Statements) > 0 {
				coverage += fmt.Sprintf(" (%.0f%% of what is asked)", it.CoverageRatio*100)
			}
		}
		t.Rows = append(t.Rows, row{
			ID: v.ids.soa[i],
			Cells: []cell{
				v.controlCell(span{Text: it.ControlCode}, it.ControlTitle), v.requirements(it.RequirementCodes),
				applies, status, plain(coverage), free(or(text(it.Owner), "–")),
			},
			Detail: v.soaDetail(it),
		})
	}
	return t
}

// soaDetail says what an item's row doesn't; what is missing is told by its finding, where the
// report has one.
func (v *view) soaDetail(it *api.SoAItem) []block {
	var f facts
	f.addText("Rationale", it.Rationale)
	finding := v.anchors.ref("finding", it.ControlCode)
	if it.Applicability.In() {
		if finding.Ref == "" || it.ImplementationStatus != api.NotEvidenced {
			f.addText("Why this status", it.Reason)
			f.add("Confidence", plain(sureness(it.Confidence, it.Overruled())))
		}
		if finding.Ref == "" {
			f.addList("Not found", it.MissingElements)
		} else {
			finding.Text = "what is missing"
			f.add("Gap", cell{finding})
		}
	}
	f.addText("Note", text(it.Note))
	v.edited(&f, &it.Item)
	var out []block
	if len(f.Items) > 0 {
		out = append(out, f)
	}
	return append(out, v.untold(it.ControlCode, it.Evidence, partGap)...)
}
