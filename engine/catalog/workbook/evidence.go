package workbook

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

var evidenceCode = lazyregexp.New(`^E-[A-Z]{2,4}-\d+$`)

// readEvidenceCell records the codes in a main-sheet cell that lists the evidence requests of a control.
func (im *importer) readEvidenceCell(control, text, where string) {
	for _, code := range splitItems(text) {
		if scf.IsControlCode(code) {
			im.warn(im.main.name, where, "%s is a control, not an evidence request; skipped", code)
			continue
		}
		im.evidenceCodesByControl[control] = appendNew(im.evidenceCodesByControl[control], code)
	}
}

// readEvidence reads the sheet that lists the evidence requests, each with the controls that it concerns.
func (im *importer) readEvidence(t *auxiliaryTable) {
	code, area, artifact := t.findColumn("erl #"), t.findColumn("area of focus"), t.findColumn("documentation artifact")
	text, controls := t.findColumn("artifact description"), t.findColumn("scf control mappings")
	im.evidenceByCode, im.evidenceEntriesByControl = map[string]int{}, map[string][]int{}
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		e := scf.EvidenceRequest{
			Code: t.trimmedCell(row, code), Area: scf.CollapseSpaces(t.cell(row, area)),
			Artifact: scf.CollapseSpaces(t.cell(row, artifact)), Description: t.trimmedCell(row, text),
		}
		where := cellName(row+1, code+1)
		if e.Code == "" {
			continue
		}
		if !evidenceCode.MatchString(e.Code) {
			im.warn(t.name, where, "%q doesn't have the form E-ABC-01", scf.Shorten(e.Code))
		}
		entry := len(im.src.Evidence)
		im.src.Evidence = append(im.src.Evidence, e)
		if _, duplicate := im.evidenceByCode[e.Code]; duplicate {
			im.warn(t.name, where, "evidence request %s is listed twice; controls are linked to the first", e.Code)
		} else {
			im.evidenceByCode[e.Code] = entry
		}
		for _, control := range splitItems(t.cell(row, controls)) {
			if _, known := im.byCode[control]; !known {
				im.warn(t.name, cellName(row+1, controls+1), "%q is not a control in the catalog", scf.Shorten(control))
				continue
			}
			im.evidenceEntriesByControl[control] = append(im.evidenceEntriesByControl[control], entry)
		}
	}
}

// linkEvidenceToControls assigns evidence requests to each control. It combines the links in the main sheet,
// which come first, with those in the list of evidence requests, and warns if the two disagree.
func (im *importer) linkEvidenceToControls() {
	listed := im.evidenceByCode != nil
	if !listed {
		im.evidenceByCode = map[string]int{}
	}
	col, _ := im.columnByRole(roleEvidence)
	for i := range im.src.Controls {
		c := &im.src.Controls[i]
		where := cellName(im.controlRows[i]+1, col.index+1)
		for _, code := range im.evidenceCodesByControl[c.Code] {
			e, known := im.evidenceByCode[code]
			if !known {
				if listed {
					im.warn(im.main.name, where, "the list of evidence requests doesn't contain %q", scf.Shorten(code))
				}
				e = len(im.src.Evidence)
				im.evidenceByCode[code] = e
				im.src.Evidence = append(im.src.Evidence, scf.EvidenceRequest{Code: code})
			}
			c.Evidence = append(c.Evidence, e)
		}
		if !listed {
			continue
		}
		var theirs []string
		for _, e := range im.evidenceEntriesByControl[c.Code] {
			theirs = append(theirs, im.src.Evidence[e].Code)
			if !slices.Contains(c.Evidence, e) {
				c.Evidence = append(c.Evidence, e)
			}
		}
		if only := difference(im.evidenceCodesByControl[c.Code], theirs); len(only) > 0 {
			im.warn(
				im.main.name,
				where,
				"%s refers to %s, but the list of evidence requests doesn't include this control there",
				c.Code,
				strings.Join(only, ", "),
			)
		}
		if only := difference(theirs, im.evidenceCodesByControl[c.Code]); len(only) > 0 {
			im.warn(
				im.main.name,
				where,
				"the list of evidence requests links %s to %s, but that control doesn't request it",
				strings.Join(only, ", "),
				c.Code,
			)
		}
	}
}

// difference returns the elements of a that are not in b, without duplicates.
func difference(a, b []string) []string {
	var out []string
	for _, e := range a {
		if !slices.Contains(b, e) {
			out = appendNew(out, e)
		}
	}
	return out
}
