// Package xlsx writes a report as a workbook whose edits can be imported again.
package xlsx

import (
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/engine/report/block"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/prose"
)

// Write writes a report as a workbook with a cover, a sheet of figures with charts, and a sheet for each
// section. Edits to the items can be imported again, as described in package workbook.
func Write(w io.Writer, v *content.Report) error {
	d, mark := v.DocumentWithoutSections(), ""
	if len(d.Draft) > 0 {
		mark = "DRAFT"
	}
	properties := workbook.Properties{
		Title:      d.Title,
		Subject:    d.Assessment,
		Creator:    d.Tool,
		Provenance: d.Provenance,
		Letter:     d.Paper == block.Letter,
		Assessment: v.Assessment.ID,
		AsOf:       d.Time,
		DraftMark:  mark,
		Theme:      d.Theme,
		Footer:     d.Footer,
	}
	if w, h := d.FitLogo(240, 90); w > 0 {
		properties.Logo, properties.LogoWidth, properties.LogoHeight = d.Logo, w, h
	}
	b, err := workbook.NewWriter(properties)
	if err != nil {
		return err
	}
	defer b.Close()
	x := xlsxWriter{b, v, d}
	if err := x.writeSheets(); err != nil {
		return err
	}
	_, err = b.WriteTo(w)
	return err
}

// xlsxWriter writes the sheets of a report's workbook.
type xlsxWriter struct {
	*workbook.Writer
	report *content.Report
	cover  block.Document
}

// writeSheets writes the sheets in the order of the template. If the template has a prescribed layout, the
// sheets of that layout come first.
func (x *xlsxWriter) writeSheets() error {
	if l, ok := x.report.Template.PrescribedLayout(); ok {
		if err := x.writeItemSheets(l); err != nil {
			return err
		}
		return x.writeCover()
	}
	if err := x.writeCover(); err != nil {
		return err
	}
	if figures := x.report.Charts(); len(figures) > 0 {
		if err := x.AddChartsSheet("Figures", figures); err != nil {
			return err
		}
	}
	for _, p := range x.report.Template.Sections {
		if l, ok := p.Layout(); ok {
			if err := x.writeItemSheets(l); err != nil {
				return err
			}
			continue
		}
		if p == content.SectionBasis {
			continue // shown on the cover
		}
		s := x.report.Section(p)
		if len(s.Blocks) == 0 {
			continue
		}
		name := s.Title
		switch p {
		case content.SectionCoverage:
			name = "Coverage"
		case content.SectionAnnex:
			name = "Annex A"
		case content.SectionTrend:
			name = "What changed"
		case content.SectionPosture:
			name = "Posture"
		}
		if err := x.writeSectionSheet(name, s); err != nil {
			return err
		}
	}
	if passages := x.report.PassagesTable(); len(passages.Rows) > 0 {
		return x.writeSectionSheet("Passages", block.Section{Title: passages.Caption, Blocks: []block.Block{passages}})
	}
	return nil
}

func (x *xlsxWriter) writeItemSheets(l workbook.Layout) error {
	return x.AddItemSheets(l, x.report.ItemFields(l.Name), map[string]string{
		"organization": x.cover.Organization, "assessment": x.cover.Assessment, "as_of": wording.ISODateOrEmpty(&x.cover.Time),
	})
}

// writeCover writes the cover sheet: a description of the workbook, the versions it is based on, and how to
// edit it.
func (x *xlsxWriter) writeCover() error {
	p := sheetBuilder{widths: make([]float64, 8)}
	p.addMergedLine(workbook.StyleTitle, x.cover.Title)
	if x.cover.Line != "" {
		p.addMergedLine(workbook.StyleLead, x.cover.Line)
	}
	if len(x.cover.Draft) > 0 {
		p.addMergedLine(workbook.StyleMark, "DRAFT. "+strings.Join(x.cover.Draft, " "))
	} else {
		note := "Everything in this workbook has been approved. The approvers and dates are listed below."
		if len(x.cover.Unseen) > 0 {
			note = "Approved in advance, before anyone had seen the content: " + prose.JoinAnd(x.cover.Unseen) + "."
		}
		p.addMergedLine(workbook.StyleStrong, note)
	}
	for _, n := range x.cover.Notices {
		p.addMergedLine(workbook.StyleMark, n)
	}
	p.addBlankLine()
	p.addBlock(x.cover.Facts)
	p.addBlankLine()
	p.addBlock(x.cover.Versions)
	p.addMergedLine(workbook.StyleHeading, "How to edit this workbook")
	layouts := x.report.Template.Layouts()
	for _, l := range layouts {
		p.addMergedLine(workbook.StyleLead, editingInstructions(l))
	}
	if len(layouts) == 0 {
		p.addMergedLine(workbook.StyleLead, "This workbook is read-only; changes can't be imported.")
	}
	p.addBlankLine()
	s := x.report.Section(content.SectionBasis)
	p.addMergedLine(workbook.StyleHeading, s.Title)
	p.addBlocks(s.Blocks)
	return x.AddCoverSheet("Cover", p.widths, p.lines)
}

// editingInstructions returns a text that explains which columns can be edited and how to import the changes.
func editingInstructions(l workbook.Layout) string {
	var may, moves []string
	for _, c := range l.Columns {
		if c.Editable {
			may = append(may, c.Header)
		}
	}
	for _, p := range l.Pages {
		if p.StatusOnMove != "" {
			moves = append(moves, fmt.Sprintf("rows moved to %q get the status %s", p.Name, wording.Humanize(p.StatusOnMove)))
		}
	}
	noun := map[string]string{content.TemplateSoA: "soa", content.TemplateGapAnalysis: "gap", content.TemplateMaturity: "maturity"}[l.Name]
	s := fmt.Sprintf("%s: edit the columns with blue headers (%s)", l.Title, strings.Join(may, ", "))
	if len(moves) > 0 {
		s += "; " + strings.Join(moves, "; ")
	}
	s += fmt.Sprintf(
		". To preview the changes, run `service %s import FILE --dry-run`; to apply them, omit --dry-run.",
		wording.OrDefault(noun, "poam"),
	)
	if none := l.HeadersWithoutField(); len(none) > 0 {
		s += " These columns are empty because this program doesn't record their content: " + strings.Join(none, ", ") + "."
	}
	return s
}

// writeSectionSheet writes a sheet for a section that does not list items.
func (x *xlsxWriter) writeSectionSheet(name string, s block.Section) error {
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
	return x.AddLinesSheet(name, p.widths, p.lines)
}
