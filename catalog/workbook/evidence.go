package workbook

import (
	"regexp"
	"slices"
	"strings"

	"github.com/scf-service/service/catalog"
)

var evidenceCode = regexp.MustCompile(`^E-[A-Z]{2,4}-\d+$`)

// readEvidence reads the evidence request list: the items, and which controls they say they are for.
func (im *importer) readEvidence(t *table) {
	code, area, artifact := t.col("erl #"), t.col("area of focus"), t.col("documentation artifact")
	text, controls := t.col("artifact description"), t.col("scf control mappings")
	im.evidence, im.otherERL = map[string]int{}, map[string][]string{}
	for row := t.header + 1; row < len(t.rows); row++ {
		e := catalog.EvidenceRequest{
			Code: t.text(row, code), Area: catalog.Collapse(t.cell(row, area)),
			Artifact: catalog.Collapse(t.cell(row, artifact)), Description: t.text(row, text),
		}
		where := place(row+1, code+1)
		if e.Code == "" {
			continue
		}
		if !evidenceCode.MatchString(e.Code) {
			im.warn(t.name, where, "%q is not of the form E-ABC-01", shorten(e.Code))
		}
		if _, twice := im.evidence[e.Code]; twice {
			im.warn(t.name, where, "evidence request %s is listed twice: the first counts", e.Code)
			continue
		}
		im.evidence[e.Code] = len(im.src.Evidence)
		im.src.Evidence = append(im.src.Evidence, e)
		for _, control := range lines(t.cell(row, controls)) {
			if _, known := im.byCode[control]; !known {
				im.warn(t.name, place(row+1, controls+1), "%q is no control of the catalog", shorten(control))
				continue
			}
			im.otherERL[control] = append(im.otherERL[control], e.Code)
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
	for i := range im.src.Controls {
		c := &im.src.Controls[i]
		mine, theirs := im.mainERL[c.Code], im.otherERL[c.Code]
		for _, code := range append(slices.Clone(mine), theirs...) {
			e, known := im.evidence[code]
			if !known {
				if listed {
					at := im.erlPlaces[c.Code]
					im.warn(at.Sheet, at.Cell, "evidence request %q is not in the list of evidence requests", shorten(code))
				}
				e = len(im.src.Evidence)
				im.evidence[code] = e
				im.src.Evidence = append(im.src.Evidence, catalog.EvidenceRequest{Code: code})
			}
			if !slices.Contains(c.Evidence, e) {
				c.Evidence = append(c.Evidence, e)
			}
		}
		if !listed {
			continue
		}
		if only := minus(mine, theirs); len(only) > 0 {
			at := im.erlPlaces[c.Code]
			im.warn(at.Sheet, at.Cell, "%s asks for %s; the list of evidence requests does not link them back", c.Code, strings.Join(only, ", "))
		}
		if only := minus(theirs, mine); len(only) > 0 {
			at := im.erlPlaces[c.Code]
			im.warn(at.Sheet, at.Cell, "the list of evidence requests links %s to %s; the control does not ask for them", strings.Join(only, ", "), c.Code)
		}
	}
}

// minus are the elements of a that b lacks, each once.
func minus(a, b []string) []string {
	var out []string
	for _, e := range a {
		if !slices.Contains(b, e) && !slices.Contains(out, e) {
			out = append(out, e)
		}
	}
	return out
}
