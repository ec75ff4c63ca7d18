package workbook

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

var evidenceCode = lazyregexp.Of(`^E-[A-Z]{2,4}-\d+$`)

// evidenceCell notes which evidence requests the main sheet gives a control.
func (im *importer) evidenceCell(control, text, where string) {
	for _, code := range items(text) {
		if scf.ValidCode(code) {
			im.warn(im.main.name, where, "%s is a control, not an evidence request: left out", code)
			continue
		}
		im.mainERL[control] = appendNew(im.mainERL[control], code)
	}
}

// readEvidence reads the list of evidence requests: the items, and which controls they say they are for.
func (im *importer) readEvidence(t *table) {
	code, area, artifact := t.col("erl #"), t.col("area of focus"), t.col("documentation artifact")
	text, controls := t.col("artifact description"), t.col("scf control mappings")
	im.evidence, im.listERL = map[string]int{}, map[string][]int{}
	for row := t.header + 1; row < len(t.rows); row++ {
		e := scf.EvidenceRequest{
			Code: t.text(row, code), Area: scf.Collapse(t.cell(row, area)),
			Artifact: scf.Collapse(t.cell(row, artifact)), Description: t.text(row, text),
		}
		where := place(row+1, code+1)
		if e.Code == "" {
			continue
		}
		if !evidenceCode.MatchString(e.Code) {
			im.warn(t.name, where, "%q is not of the form E-ABC-01", shorten(e.Code))
		}
		entry := len(im.src.Evidence)
		im.src.Evidence = append(im.src.Evidence, e)
		if _, twice := im.evidence[e.Code]; twice {
			im.warn(t.name, where, "evidence request %s is listed twice: controls that name it mean the first", e.Code)
		} else {
			im.evidence[e.Code] = entry
		}
		for _, control := range items(t.cell(row, controls)) {
			if _, known := im.byCode[control]; !known {
				im.warn(t.name, place(row+1, controls+1), "%q is no control of the catalog", shorten(control))
				continue
			}
			im.listERL[control] = append(im.listERL[control], entry)
		}
	}
}

// joinEvidence gives each control the requests that either sheet links to it: the main
// sheet's first, then the list's. Where the two disagree, it says so and keeps both.
func (im *importer) joinEvidence() {
	listed := im.evidence != nil
	if !listed {
		im.evidence = map[string]int{}
	}
	col, _ := im.columnOf(evidence)
	for i := range im.src.Controls {
		c := &im.src.Controls[i]
		where := place(im.rows[i]+1, col.index+1)
		for _, code := range im.mainERL[c.Code] {
			e, known := im.evidence[code]
			if !known {
				if listed {
					im.warn(im.main.name, where, "evidence request %q is not in the list of evidence requests", shorten(code))
				}
				e = len(im.src.Evidence)
				im.evidence[code] = e
				im.src.Evidence = append(im.src.Evidence, scf.EvidenceRequest{Code: code})
			}
			c.Evidence = append(c.Evidence, e)
		}
		if !listed {
			continue
		}
		var theirs []string
		for _, e := range im.listERL[c.Code] {
			theirs = append(theirs, im.src.Evidence[e].Code)
			if !slices.Contains(c.Evidence, e) {
				c.Evidence = append(c.Evidence, e)
			}
		}
		if only := minus(im.mainERL[c.Code], theirs); len(only) > 0 {
			im.warn(im.main.name, where, "%s asks for %s; the list of evidence requests does not link them back", c.Code, strings.Join(only, ", "))
		}
		if only := minus(theirs, im.mainERL[c.Code]); len(only) > 0 {
			im.warn(im.main.name, where, "the list of evidence requests links %s to %s, which does not ask for it", strings.Join(only, ", "), c.Code)
		}
	}
}

// minus are the elements of a that b lacks, each once.
func minus(a, b []string) []string {
	var out []string
	for _, e := range a {
		if !slices.Contains(b, e) {
			out = appendNew(out, e)
		}
	}
	return out
}
