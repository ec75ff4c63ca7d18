package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// writeXLSX writes a workbook: a cover, a sheet for each section, and the figures with charts.
// Edits to it can be imported again; see package workbook.
func writeXLSX(w io.Writer, v *reportData) error {
	mark := ""
	if len(v.draftNotices) > 0 {
		mark = "DRAFT"
	}
	about := workbook.Properties{
		Title:      v.title,
		Subject:    v.Assessment.Name,
		Creator:    v.Tool,
		Assessment: v.Assessment.ID,
		AsOf:       v.AsOf,
		DraftMark:  mark,
		Theme:      v.theme,
		Footer:     v.Brand.Footer,
	}
	if w, h := fitLogo(v.Brand.Logo, 240, 90); w > 0 {
		about.Logo, about.LogoWidth, about.LogoHeight = v.Brand.Logo, w, h
	}
	b, err := workbook.NewWriter(about)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := v.writeSheets(b); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

// writeSheets writes the sheets in the order of the template. A prescribed layout starts with its
// own sheets.
func (v *reportData) writeSheets(b *workbook.Writer) error {
	if l, ok := v.template.prescribedLayout(); ok {
		if err := v.writeItems(b, l); err != nil {
			return err
		}
		return v.writeCover(b)
	}
	if err := v.writeCover(b); err != nil {
		return err
	}
	if figures := v.charts(); len(figures) > 0 {
		if err := b.AddCharts("Figures", figures); err != nil {
			return err
		}
	}
	for _, p := range v.template.sections {
		if l, ok := workbook.FindLayout(sectionLayouts[p]); ok {
			if err := v.writeItems(b, l); err != nil {
				return err
			}
			continue
		}
		s := v.buildSection(p)
		name := s.Title
		if p == sectionCoverage {
			name = "Coverage"
		}
		if err := v.writePage(b, name, s); err != nil {
			return err
		}
	}
	return nil
}

// sectionLayouts maps sections that list items to their layouts.
var sectionLayouts = map[sectionID]string{
	sectionSoA:      TemplateSoA,
	sectionGap:      TemplateGapAnalysis,
	sectionMaturity: TemplateMaturity,
	sectionPOAM:     TemplatePOAM,
}

func (v *reportData) writeItems(b *workbook.Writer, l workbook.Layout) error {
	items, _ := v.itemFields(l.Name)
	return b.AddItems(
		l,
		items,
		map[string]string{"organization": v.Organization.Name, "assessment": v.Assessment.Name, "as_of": asOfDate(v)},
	)
}

func asOfDate(v *reportData) string { return formatDate(&v.AsOf) }

// itemFields returns the items of a layout and the gate of their deliverable.
func (v *reportData) itemFields(layout string) (out []workbook.Fields, g api.Gate) {
	switch layout {
	case TemplateSoA:
		for i := range v.SoAItems {
			it := &v.SoAItems[i]
			out = append(out, v.addItemContext(workbook.SoAFields(it), &it.Item, api.GateSoA, it.Evidence))
		}
		return out, api.GateSoA
	case TemplateGapAnalysis:
		for i := range v.Findings {
			it := &v.Findings[i]
			out = append(out, v.addItemContext(workbook.FindingFields(it), &it.Item, api.GateGapAnalysis, it.Evidence))
		}
		return out, api.GateGapAnalysis
	case TemplateMaturity:
		for i := range v.Scores {
			it := &v.Scores[i]
			out = append(out, v.addItemContext(workbook.ScoreFields(it), &it.Item, api.GateMaturity, it.Evidence))
		}
		return out, api.GateMaturity
	}
	found := map[string]*api.Finding{}
	for i := range v.Findings {
		found[v.Findings[i].ID] = &v.Findings[i]
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		out = append(
			out,
			v.addPlanContext(v.addItemContext(workbook.RemediationFields(it), &it.Item, api.GatePOAM, nil), it, found[it.FindingID]),
		)
	}
	return out, api.GatePOAM
}

// addItemContext adds fields that are derived from other items.
func (v *reportData) addItemContext(f workbook.Fields, it *api.Item, g api.Gate, found []api.Evidence) workbook.Fields {
	return f.WithOverride(func(field string) (string, bool) {
		switch field {
		case "domain":
			return v.domainLabel(it.DomainCode), true
		case "requirements":
			return formatRequirements(it.RequirementCodes), true
		case "evidence":
			return formatEvidence(found), true
		case "edited_by":
			return v.optionalPersonName(it.EditedBy), true
		case "version", "version_status":
			d := v.deliverable(g)
			if d == nil {
				return "", true
			}
			if field == "version" {
				return strconv.Itoa(d.VersionNumber), true
			}
			return displayLabel(string(d.Status)), true
		}
		return "", false
	})
}

// addPlanContext adds fields that a plan item takes from its finding.
func (v *reportData) addPlanContext(f workbook.Fields, it *api.POAMItem, from *api.Finding) workbook.Fields {
	return f.WithOverride(func(field string) (string, bool) {
		switch field {
		case "overdue":
			return map[bool]string{true: "yes", false: "no"}[v.isOverdue(it)], true
		case "status_date":
			return formatDate(&it.UpdatedAt), true
		case "detected_on":
			if from != nil {
				return formatDate(&from.CreatedAt), true
			}
			return formatDate(&it.CreatedAt), true
		case "detector":
			if from != nil {
				return from.Source, true
			}
			return "", true
		case "documents":
			return joinLines(findingDocuments(from)), true
		}
		return "", false
	})
}

// findingDocuments returns the document names of a finding's evidence, without duplicates.
func findingDocuments(f *api.Finding) (out []string) {
	if f == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range f.Evidence {
		if name := orDefault(e.Filename, e.DocumentTitle); name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// writeCover writes what the workbook is, what it is based on and how it may be edited.
func (v *reportData) writeCover(b *workbook.Writer) error {
	p := sheetBuilder{widths: make([]float64, 8)}
	p.addMergedLine(workbook.StyleTitle, v.title)
	if v.Brand.Line != "" {
		p.addMergedLine(workbook.StyleLead, v.Brand.Line)
	}
	if len(v.draftNotices) > 0 {
		p.addMergedLine(workbook.StyleMark, "DRAFT. "+strings.Join(v.draftNotices, " "))
	} else {
		p.addMergedLine(workbook.StyleStrong, "Everything in this workbook has been approved; approvers and dates are listed below.")
	}
	if old := v.outdatedMessages(); len(old) > 0 {
		p.addMergedLine(workbook.StyleMark, outdatedPrefix+strings.Join(old, " "))
	}
	if v.Catalog.IsStarter {
		p.addMergedLine(workbook.StyleStrong, "STARTER CATALOG. "+starterNotice)
	}
	p.addBlankLine()
	p.addBlock(v.mastheadFacts())
	p.addBlankLine()
	p.addBlock(v.versionsTable())
	p.addMergedLine(workbook.StyleHeading, "How to edit this workbook")
	for _, l := range v.editableLayouts() {
		p.addMergedLine(workbook.StyleLead, editingInstructions(l))
	}
	if len(v.editableLayouts()) == 0 {
		p.addMergedLine(workbook.StyleLead, "This workbook is read-only: changes to it can't be imported.")
	}
	p.addBlankLine()
	s := v.buildSection(sectionBasis)
	p.addMergedLine(workbook.StyleHeading, s.Title)
	p.addBlocks(s.Blocks)
	return b.AddCover("Cover", p.widths, p.lines)
}

// editableLayouts returns the layouts of the template's sheets.
func (v *reportData) editableLayouts() (out []workbook.Layout) {
	if l, ok := v.template.prescribedLayout(); ok {
		return []workbook.Layout{l}
	}
	for _, p := range v.template.sections {
		if l, ok := workbook.FindLayout(sectionLayouts[p]); ok {
			out = append(out, l)
		}
	}
	return out
}

// editingInstructions states which columns may be edited and how to import the changes.
func editingInstructions(l workbook.Layout) string {
	var may, moves []string
	for _, c := range l.Columns {
		if c.Editable {
			may = append(may, c.Header)
		}
	}
	for _, p := range l.Pages {
		if p.StatusOnMove != "" {
			moves = append(moves, fmt.Sprintf("a row moved to %q gets the status %s", p.Name, humanize(p.StatusOnMove)))
		}
	}
	noun := map[string]string{TemplateSoA: "soa", TemplateGapAnalysis: "gap", TemplateMaturity: "maturity"}[l.Name]
	s := fmt.Sprintf("%s: edit the columns with blue headers (%s)", l.Title, strings.Join(may, ", "))
	if len(moves) > 0 {
		s += "; " + strings.Join(moves, "; ")
	}
	s += fmt.Sprintf(
		". `service %s import FILE --dry-run` previews the changes; without --dry-run they are applied.",
		orDefault(noun, "poam"),
	)
	if none := l.HeadersWithoutField(); len(none) > 0 {
		s += " Not recorded by this program and therefore empty: " + strings.Join(none, ", ") + "."
	}
	return s
}

// writePage writes a section that lists no items.
func (v *reportData) writePage(b *workbook.Writer, name string, s section) error {
	if s.ID == string(sectionBasis) {
		return nil // shown on the cover
	}
	p := sheetBuilder{widths: make([]float64, 6)}
	p.addMergedLine(workbook.StyleTitle, s.Title)
	if s.Draft != "" {
		p.addMergedLine(workbook.StyleMark, "DRAFT. "+s.Draft)
	}
	if s.Approved != "" {
		p.addMergedLine(workbook.StyleStrong, s.Approved)
	}
	p.addBlankLine()
	p.addBlocks(s.Blocks)
	return b.AddPage(name, p.widths, p.lines)
}
