package content

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/prose"
)

func (v *Report) coverageSection() []block.Block {
	if len(v.coverage) == 0 {
		return nil
	}
	out := []block.Block{v.coverageTable()}
	if v.SoA == nil {
		return append(out, block.NewPara("empty", "No Statement of Applicability has been drafted yet, so no requirement was assessed."))
	}
	if note := v.Summary.UnreadEvidence.Note(); note != "" {
		out = append(out, block.NewPara("", note+" Requirements covered by unread evidence may be implemented nevertheless."))
	}
	if v.hasAnnex() {
		out[0] = withoutEmptyStatuses(v.coverageTable())
		return append(out, v.uncoveredNote("control")...)
	}
	if !v.Template.hasSection(SectionSoA) {
		return out
	}
	out = append(out, v.coverageFlowBlocks()...)
	if annex, isISO := annexAControls(v.coverage); isISO && !v.Template.hasSection(SectionAnnex) {
		out = append(
			out,
			block.Heading{ID: v.anchors.assign("coverage", "annex a"), Text: "ISO 27001: all Annex A controls"},
			v.annexATable(annex),
		)
	}
	for i := range v.coverage {
		fc := &v.coverage[i]
		name := wording.OrDefault(fc.framework.Name, fc.framework.Code)
		out = append(
			out,
			block.Heading{ID: v.anchors.assign("coverage", fc.framework.Code), Text: name + ": all requirements"},
			v.requirementTable(fc),
		)
	}
	return out
}

// coverageTable returns a table with the number of requirements in each status, by framework.
func (v *Report) coverageTable() block.Table {
	t := newStatusTable("Requirements by framework and status", "Framework")
	for _, fc := range v.coverage {
		t.Rows = append(
			t.Rows,
			newStatusRow(
				block.UserText(wording.OrDefault(fc.framework.Name, fc.framework.Code)),
				wording.OrDefault(fc.framework.Name, fc.framework.Code),
				fc.counts,
			),
		)
	}
	return t
}

// standardsTable returns the coverage table with the names that a client's report uses for statuses.
func (v *Report) standardsTable() block.Table {
	t := withoutEmptyStatuses(v.coverageTable())
	t.Caption, t.Columns[0].Name = "Requirements by standard and status", "Standard"
	for i := range t.Columns {
		if c := &t.Columns[i]; c.Swatch != "" {
			c.Name = plainStatusName(coverageStatus(c.Swatch))
		}
	}
	return t
}

// uncoveredNote returns a paragraph about the requirements that no control of the catalog is mapped to, or nothing
// if there are none. control is the word that the report uses for a control.
func (v *Report) uncoveredNote(control string) []block.Block {
	n := 0
	for i := range v.coverage {
		n += v.coverage[i].counts[statusUnmapped]
	}
	if n == 0 {
		return nil
	}
	return []block.Block{block.NewPara("", fmt.Sprintf("No %s in the catalog covers %s. These must be examined separately.",
		control, prose.Count(n, "requirement", "of the requirements")))}
}

// withoutEmptyStatuses returns a table of status counts without the columns that contain 0 in every row.
func withoutEmptyStatuses(t block.Table) block.Table {
	out := t
	out.Columns, out.Rows = nil, make([]block.Row, len(t.Rows))
	for j, r := range t.Rows {
		out.Rows[j] = r
		out.Rows[j].Cells = nil
	}
	for i, c := range t.Columns {
		if c.Swatch != "" && !slices.ContainsFunc(t.Rows, func(r block.Row) bool { return r.Cells[i].Text() != "0" }) {
			continue
		}
		out.Columns = append(out.Columns, c)
		for j, r := range t.Rows {
			out.Rows[j].Cells = append(out.Rows[j].Cells, r.Cells[i])
		}
	}
	return out
}

// newStatusTable returns a table without rows that has a column for each status count and a column for a bar.
func newStatusTable(caption, firstHeader string) block.Table {
	t := block.Table{Caption: caption, Columns: []block.Column{{Name: firstHeader, Width: 5}, {Name: "All", Width: 2, Number: true}}}
	for _, o := range coverageStatuses {
		t.Columns = append(t.Columns, block.Column{Name: o.displayName(), Width: 4, Number: true, Swatch: string(o)})
	}
	t.Columns = append(t.Columns, block.Column{Name: "Chart", Width: 5, Picture: true})
	return t
}

func newStatusRow(name block.Cell, title string, counts map[coverageStatus]int) block.Row {
	sum := 0
	b := &block.Bar{Mark: -1}
	var descriptions []string
	cells := []block.Cell{name, nil}
	for _, o := range coverageStatuses {
		n := counts[o]
		sum += n
		cells = append(cells, block.Number(n))
		if n > 0 {
			b.Parts = append(b.Parts, block.BarPart{Fill: string(o), Value: float64(n)})
			descriptions = append(descriptions, fmt.Sprintf("%s %d", strings.ToLower(o.displayName()), n))
		}
	}
	cells[1] = block.Number(sum)
	b.Max, b.Label = float64(max(sum, 1)), title+": "+wording.OrDefault(strings.Join(descriptions, ", "), "nothing")
	return block.Row{Cells: append(cells, block.Cell{{Bar: b}})}
}

// hasAnnex reports whether the report lists the controls of Annex A first, as auditors expect in a Statement of
// Applicability. In that case, the catalog controls follow with one line each, and only workbooks and the full
// report quote the evidence.
func (v *Report) hasAnnex() bool {
	if !v.Template.hasSection(SectionAnnex) {
		return false
	}
	_, ok := annexAControls(v.coverage)
	return ok
}

func requirementCell(r requirementCoverage) block.Cell {
	c := block.Cell{{Text: r.code, Strong: true}}
	if r.title != "" {
		c = append(c, block.Span{Text: " "}, block.Span{Text: r.title, UserText: true})
	}
	return c
}

func (v *Report) controlLinks(items []*api.SoAItem) block.Cell {
	if len(items) == 0 {
		return block.Text("none")
	}
	var c block.Cell
	for i, it := range items {
		if i > 0 {
			c = append(c, block.Span{Text: ", "})
		}
		c = append(c, v.anchors.link("soa", it.ControlCode))
	}
	return c
}

func (v *Report) requirementTable(fc *frameworkCoverage) block.Table {
	t := block.Table{
		Caption: "Requirements of " + wording.OrDefault(fc.framework.Name, fc.framework.Code),
		Empty:   "The catalog has no requirements for this framework.",
		Columns: []block.Column{
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
			block.Row{
				Cells: []block.Cell{
					requirementCell(r),
					block.Badge(string(r.status), r.status.displayName()),
					v.controlLinks(r.items),
					block.Number(passages),
				},
			},
		)
	}
	return t
}

func (v *Report) soaSection() []block.Block {
	if v.SoA == nil {
		return []block.Block{block.NewPara("empty", "No Statement of Applicability has been drafted yet.")}
	}
	if len(v.SoAItems) == 0 {
		return []block.Block{block.NewPara("empty", "The Statement of Applicability has no items.")}
	}
	_, domains := countControlStatuses(v.SoAItems)
	codes := slices.Sorted(maps.Keys(domains))
	slices.SortFunc(codes, scf.CompareNatural)
	by := newStatusTable("Controls by domain and status", "Domain")
	by.Columns[0].Width = 8
	by.Columns = slices.DeleteFunc(by.Columns, func(c block.Column) bool { return c.Swatch == string(statusUnmapped) })
	links := block.LinkList{Label: "Domains of the Statement of Applicability"}
	for _, d := range codes {
		r := newStatusRow(block.Cell{{Text: v.domainLabel(d), UserText: true}}, v.domainLabel(d), domains[d])
		r.Cells = slices.Delete(r.Cells, len(r.Cells)-2, len(r.Cells)-1) // a control is never unmapped
		by.Rows = append(by.Rows, r)
		id := v.anchors.assign("soa-domain", d)
		links.Items = append(links.Items, block.Cell{{Text: wording.OrDefault(d, "none"), Ref: id}})
	}
	if v.isForClients() {
		by = withoutEmptyStatuses(by)
	}
	out := []block.Block{block.NewPara("", v.soaIntroduction()), by}
	if len(v.SoA.DecisiveDocuments) > 0 {
		out = append(out, v.decisiveDocumentsTable())
	}
	out = append(out, links)
	for i := 0; i < len(v.SoAItems); {
		j := i
		for j < len(v.SoAItems) && v.SoAItems[j].DomainCode == v.SoAItems[i].DomainCode {
			j++
		}
		d := v.SoAItems[i].DomainCode
		out = append(out, block.Heading{ID: v.anchors.byKey["soa-domain\x00"+d], Text: v.domainLabel(d), Minor: true}, v.soaTable(d, i, j))
		i = j
	}
	return out
}

func (v *Report) soaIntroduction() string {
	s := "This section lists all controls of the catalog that were considered, including excluded controls, and the reason for each decision."
	if v.hasAnnex() || v.leavesOutQuotes() {
		s += " The Statement of Applicability workbook quotes the evidence for each control."
	}
	if !v.isForClients() {
		return s
	}
	one, unreviewed := 0, 0
	for i := range v.SoAItems {
		if v.SoAItems[i].RelianceNote() != "" {
			one++
		}
		if v.SoAItems[i].NeedsReview {
			unreviewed++
		}
	}
	s += " “Criteria shown” is the share of what an assessor looks for in a control that the evidence shows."
	if one > 0 {
		s += fmt.Sprintf(" The status of %s only on a single document.", prose.Count(one, "control rests", "controls rests"))
	}
	if unreviewed > 0 {
		s += fmt.Sprintf(" %s marked for review by a person but not reviewed yet.", prose.Count(unreviewed, "control is", "controls are"))
	}
	return s
}

// decisiveDocumentsTable returns a table of the documents that are the sole basis of the most verdicts. For each
// document, it shows how many verdicts the document changed and how many are based on it alone.
func (v *Report) decisiveDocumentsTable() block.Table {
	documents := v.SoA.DecisiveDocuments
	if v.isForClients() {
		t := block.Table{Caption: "Documents that are the only basis for the status of controls", Columns: []block.Column{
			{Name: "Document", Width: 8}, {Name: "Controls", Width: 4, Number: true},
		}}
		for _, d := range documents {
			if d.LinesAlone > 0 {
				t.Rows = append(t.Rows, block.Row{Cells: []block.Cell{block.UserText(d.Filename), block.Number(d.LinesAlone)}})
			}
		}
		return t
	}
	t := block.Table{Caption: "Verdicts that depend on a single document", Columns: []block.Column{
		{Name: "Document", Width: 8},
		{Name: "Lines it changed", Width: 4, Number: true},
		{Name: "Items that depend only on this document", Width: 4, Number: true},
	}}
	for _, d := range documents {
		cells := []block.Cell{block.UserText(d.Filename), block.Number(d.LinesChanged), block.Number(d.LinesAlone)}
		t.Rows = append(t.Rows, block.Row{Cells: cells})
	}
	return t
}

// soaTable returns a table of those items of the Statement of Applicability whose indexes are in the range
// [from, to). They must all be in the given domain.
func (v *Report) soaTable(domain string, from, to int) block.Table {
	t := block.Table{Caption: "Statement of Applicability: " + v.domainLabel(domain), Columns: []block.Column{
		{Name: "Control", Width: 7},
		{Name: "Requirements", Width: 7},
		{Name: "Applicability", Width: 5},
		{Name: "Status", Width: 5},
		{Name: "Evidence", Width: 4},
		{Name: "Owner", Width: 4},
	}}
	clients, detail := v.isForClients(), v.soaDetail
	if clients {
		t.Columns[4].Name = "Criteria shown"
	}
	switch {
	case v.hasAnnex():
		detail = soaDetailAfterAnnex
	case v.leavesOutQuotes():
		detail = v.soaDetailWithoutQuotes
	}
	for i := from; i < to; i++ {
		it := &v.SoAItems[i]
		applies := block.Text(wording.Label(string(it.Applicability)))
		if len(it.InclusionReasons) > 0 {
			applies = applies.With(block.Span{Text: " (" + describeInclusion(it.InclusionReasons) + ")"})
		}
		if it.NeedsReview && !clients {
			applies = applies.With(block.Span{Text: " "}, block.Span{Text: "Needs review", Badge: "draft"})
		}
		if it.RelianceNote() != "" && !clients {
			applies = applies.With(block.Span{Text: " "}, block.Span{Text: "One document", Badge: "draft"})
		}
		status := block.Cell{{Text: "–"}}
		coverage := "–"
		if it.Applicability.IsApplicable() {
			o := controlStatus(it)
			status = block.Badge(string(o), wording.Label(string(it.ImplementationStatus)))
			coverage = wording.Label(string(it.EvidenceCoverage))
			switch {
			case len(it.Statements) == 0:
			case clients:
				coverage = fmt.Sprintf("%.0f%%", it.CoverageRatio*100)
			default:
				coverage += fmt.Sprintf(" (%.0f%% of the requirements)", it.CoverageRatio*100)
			}
		}
		t.Rows = append(t.Rows, block.Row{
			ID: v.ids.soa[i],
			Cells: []block.Cell{
				v.controlCell(block.Span{Text: it.ControlCode}, it.ControlTitle), v.requirementsCell(it.RequirementCodes),
				applies, status, block.Text(coverage), block.UserText(wording.OrDefault(wording.OrEmpty(it.Owner), "–")),
			},
			Detail: detail(it),
		})
	}
	if len(v.Frameworks) == 0 {
		return t.WithoutEmptyColumn("Requirements")
	}
	return t
}

// maxQuotedItems is the maximum number of items for which a Statement of Applicability for clients quotes the
// evidence.
const maxQuotedItems = 300

// leavesOutQuotes reports whether the Statement of Applicability is for clients and too long to include quotes.
func (v *Report) leavesOutQuotes() bool { return v.isForClients() && len(v.SoAItems) > maxQuotedItems }

// soaDetailWithoutQuotes returns the details of an item in a long Statement of Applicability, which names the
// documents but doesn't quote them.
func (v *Report) soaDetailWithoutQuotes(it *api.SoAItem) []block.Block {
	var f block.Facts
	if it.Applicability.IsApplicable() {
		f.AddText("Documents", v.describeSupport(it.ImplementationStatus == api.NotEvidenced, []*api.SoAItem{it}))
	} else {
		f.AddText("Why excluded", it.Rationale)
	}
	f.AddText("Note", wording.OrEmpty(it.Note))
	return []block.Block{f}
}

// soaDetailAfterAnnex returns the details of an item whose reasons and evidence are shown in the table of Annex A.
func soaDetailAfterAnnex(it *api.SoAItem) []block.Block {
	var f block.Facts
	if !it.Applicability.IsApplicable() {
		f.AddText("Why excluded", it.Rationale)
	}
	f.AddText("Note", wording.OrEmpty(it.Note))
	if len(f.Items) == 0 {
		return nil
	}
	return []block.Block{f}
}

// soaDetail returns the details of an item that its table row does not show. If the report contains the
// finding for the item, a link to it replaces the missing elements.
func (v *Report) soaDetail(it *api.SoAItem) []block.Block {
	var f block.Facts
	f.AddText("Rationale", it.Rationale)
	finding := v.anchors.link("finding", it.ControlCode)
	if it.Applicability.IsApplicable() {
		if finding.Ref == "" || it.ImplementationStatus != api.NotEvidenced {
			f.AddText("Why this status", it.Reason)
			if !v.isForClients() || it.IsStatusOverruled() {
				f.Add("Confidence", block.Text(formatConfidence(it.Confidence, it.IsStatusOverruled())))
			}
		}
		f.AddText("Check", prose.Capitalize(it.RelianceNote()))
		if finding.Ref == "" {
			f.AddList("Not found", v.missingElements(it.MissingElements))
		} else {
			finding.Text = "See the finding for " + it.ControlCode
			f.Add("Gap", block.Cell{finding, {Text: ", which lists what is missing."}})
		}
	}
	f.AddText("Note", wording.OrEmpty(it.Note))
	v.addEditFact(&f, &it.Item)
	var out []block.Block
	if len(f.Items) > 0 {
		out = append(out, f)
	}
	return append(out, v.unquotedEvidenceBlocks(it.ControlCode, it.Evidence, SectionGap)...)
}
