package render

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/workbook"
)

// writeXLSX writes a workbook: a cover, a sheet for each part, the figures with charts.
// What a person may change in it is taken back by an import; see package sheet.
func writeXLSX(w io.Writer, v *view) error {
	mark := ""
	if len(v.draft) > 0 {
		mark = "DRAFT"
	}
	about := workbook.About{Title: v.title, Subject: v.Assessment.Name, Creator: v.Tool, Assessment: v.Assessment.ID, AsOf: v.AsOf, Mark: mark, Theme: v.theme, Footer: v.Brand.Footer}
	if w, h := logoSize(v.Brand.Logo, 240, 90); w > 0 {
		about.Logo, about.LogoWidth, about.LogoHeight = v.Brand.Logo, w, h
	}
	b, err := workbook.New(about)
	if err != nil {
		return err
	}
	defer b.Close()
	if err := v.sheets(b); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

// sheets writes them in the order of the template. A layout that others prescribe begins
// with its own sheets.
func (v *view) sheets(b *workbook.Book) error {
	if l, ok := v.kind.prescribed(); ok {
		if err := v.items(b, l); err != nil {
			return err
		}
		return v.cover(b)
	}
	if err := v.cover(b); err != nil {
		return err
	}
	if figures := v.figures(); len(figures) > 0 {
		if err := b.Figures("Figures", figures); err != nil {
			return err
		}
	}
	for _, p := range v.kind.parts {
		if l, ok := workbook.Named(layoutOf[p]); ok {
			if err := v.items(b, l); err != nil {
				return err
			}
			continue
		}
		s := v.section(p)
		name := s.Title
		if p == partCoverage {
			name = "Coverage"
		}
		if err := v.page(b, name, s); err != nil {
			return err
		}
	}
	return nil
}

// layoutOf is the layout of a part that lists items.
var layoutOf = map[part]string{partSoA: SoA, partGap: GapAnalysis, partMaturity: Maturity, partPOAM: POAM}

func (v *view) items(b *workbook.Book, l workbook.Layout) error {
	items, _ := v.itemFields(l.Name)
	return b.Items(l, items, map[string]string{"organization": v.Organization.Name, "assessment": v.Assessment.Name, "as_of": asOfDay(v)})
}

func asOfDay(v *view) string { return day(&v.AsOf) }

// itemFields are the items that a layout lists, and whose they are.
func (v *view) itemFields(layout string) (out []workbook.Fields, g api.Gate) {
	switch layout {
	case SoA:
		for i := range v.SoAItems {
			it := &v.SoAItems[i]
			out = append(out, v.about(workbook.SoA(it), &it.Item, api.GateSoA, it.Evidence))
		}
		return out, api.GateSoA
	case GapAnalysis:
		for i := range v.Findings {
			it := &v.Findings[i]
			out = append(out, v.about(workbook.Finding(it), &it.Item, api.GateGapAnalysis, it.Evidence))
		}
		return out, api.GateGapAnalysis
	case Maturity:
		for i := range v.Scores {
			it := &v.Scores[i]
			out = append(out, v.about(workbook.Score(it), &it.Item, api.GateMaturity, it.Evidence))
		}
		return out, api.GateMaturity
	}
	found := map[string]*api.Finding{}
	for i := range v.Findings {
		found[v.Findings[i].ID] = &v.Findings[i]
	}
	for i := range v.POAMItems {
		it := &v.POAMItems[i]
		out = append(out, v.planned(v.about(workbook.Remediation(it), &it.Item, api.GatePOAM, nil), it, found[it.FindingID]))
	}
	return out, api.GatePOAM
}

// about adds what an item alone doesn't know.
func (v *view) about(f workbook.Fields, it *api.Item, g api.Gate, found []api.Evidence) workbook.Fields {
	return f.With(func(field string) (string, bool) {
		switch field {
		case "domain":
			return v.domain(it.DomainCode), true
		case "requirements":
			return requirementText(it.RequirementCodes), true
		case "evidence":
			return evidenceLines(found), true
		case "edited_by":
			return v.personOf(it.EditedBy), true
		case "version", "version_status":
			d := v.deliverable(g)
			if d == nil {
				return "", true
			}
			if field == "version" {
				return strconv.Itoa(d.VersionNumber), true
			}
			return label(string(d.Status)), true
		}
		return "", false
	})
}

// planned adds what the plan's item has from its finding.
func (v *view) planned(f workbook.Fields, it *api.POAMItem, from *api.Finding) workbook.Fields {
	return f.With(func(field string) (string, bool) {
		switch field {
		case "overdue":
			return map[bool]string{true: "yes", false: "no"}[v.overdue(it)], true
		case "status_date":
			return day(&it.UpdatedAt), true
		case "detected_on":
			if from != nil {
				return day(&from.CreatedAt), true
			}
			return day(&it.CreatedAt), true
		case "detector":
			if from != nil {
				return from.Source, true
			}
			return "", true
		case "documents":
			return lines(documentsOf(from)), true
		}
		return "", false
	})
}

// documentsOf names the documents of a finding's evidence, each once.
func documentsOf(f *api.Finding) (out []string) {
	if f == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, e := range f.Evidence {
		if name := or(e.Filename, e.DocumentTitle); name != "" && !seen[name] {
			seen[name] = true
			out = append(out, name)
		}
	}
	return out
}

// cover says what the workbook is, what it rests on and what may be done with it.
func (v *view) cover(b *workbook.Book) error {
	p := sheetPage{widths: make([]float64, 8)}
	p.wide(workbook.AsTitle, v.title)
	if v.Brand.Line != "" {
		p.wide(workbook.AsLead, v.Brand.Line)
	}
	if len(v.draft) > 0 {
		p.wide(workbook.AsMark, "DRAFT. "+strings.Join(v.draft, " "))
	} else {
		p.wide(workbook.AsStrong, "Everything this workbook shows was approved by a person; who, and when, stands below.")
	}
	if old := v.outdated(); len(old) > 0 {
		p.wide(workbook.AsMark, outdatedMark+strings.Join(old, " "))
	}
	if v.Catalog.IsStarter {
		p.wide(workbook.AsStrong, "STARTER CATALOG. "+starterNotice)
	}
	p.blank()
	p.block(v.masthead())
	p.blank()
	p.block(v.versions())
	p.wide(workbook.AsHeading, "How to work in it")
	for _, l := range v.layouts() {
		p.wide(workbook.AsLead, howTo(l))
	}
	if len(v.layouts()) == 0 {
		p.wide(workbook.AsLead, "It is for reading: nothing that is changed in it is taken back.")
	}
	p.blank()
	s := v.section(partBasis)
	p.wide(workbook.AsHeading, s.Title)
	p.blocks(s.Blocks)
	return b.Cover("Cover", p.widths, p.lines)
}

// layouts are those that the template's sheets have.
func (v *view) layouts() (out []workbook.Layout) {
	if l, ok := v.kind.prescribed(); ok {
		return []workbook.Layout{l}
	}
	for _, p := range v.kind.parts {
		if l, ok := workbook.Named(layoutOf[p]); ok {
			out = append(out, l)
		}
	}
	return out
}

// howTo says which columns may be changed, and how that gets back.
func howTo(l workbook.Layout) string {
	var may, moves []string
	for _, c := range l.Columns {
		if c.Edit {
			may = append(may, c.Header)
		}
	}
	for _, p := range l.Pages {
		if p.Moved != "" {
			moves = append(moves, fmt.Sprintf("a row moved to %q becomes %s", p.Name, words(p.Moved)))
		}
	}
	noun := map[string]string{SoA: "soa", GapAnalysis: "gap", Maturity: "maturity"}[l.Name]
	s := fmt.Sprintf("%s: change what stands under the blue heads (%s)", l.Title, strings.Join(may, ", "))
	if len(moves) > 0 {
		s += "; " + strings.Join(moves, "; ")
	}
	s += fmt.Sprintf(". `service %s import FILE --dry-run` then tells what would change, and without --dry-run changes it.", or(noun, "poam"))
	if none := l.Unheld(); len(none) > 0 {
		s += " Not held by this program, and therefore empty: " + strings.Join(none, ", ") + "."
	}
	return s
}

// page writes a part that lists no items.
func (v *view) page(b *workbook.Book, name string, s section) error {
	if s.ID == string(partBasis) {
		return nil // on the cover
	}
	p := sheetPage{widths: make([]float64, 6)}
	p.wide(workbook.AsTitle, s.Title)
	if s.Draft != "" {
		p.wide(workbook.AsMark, "DRAFT. "+s.Draft)
	}
	if s.Approved != "" {
		p.wide(workbook.AsStrong, s.Approved)
	}
	p.blank()
	p.blocks(s.Blocks)
	return b.Page(name, p.widths, p.lines)
}
