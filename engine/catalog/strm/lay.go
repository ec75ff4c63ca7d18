package strm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// Lay puts a document over the framework of a source, by its index. The source is left as
// it is; the new one shares with it what does not change. What was counted is added to the
// document's record, which brings filename and hash along; the warnings say where the
// document and the catalog disagree.
func Lay(base *scf.Source, framework int, doc *Document, record api.MappingDocument) (*scf.Source, api.MappingDocument, []api.ImportWarning) {
	o := &overlay{base: base, f: framework, doc: doc, record: record, warnings: slices.Clone(doc.Warnings)}
	o.record.FrameworkCode = base.Frameworks[framework].Code
	o.record.FocalDocument, o.record.Release = doc.Focal, doc.Release
	o.record.Rows, o.record.Elements = doc.Rows, len(doc.Elements)
	if !sameRelease(doc.Release, base.Label) {
		o.warn("", "", "the document was written for release %s, the catalog is %s", doc.Release, base.Label)
	}
	o.requirements()
	o.mappings()
	if o.unnoted > 0 {
		o.warnings = append(o.warnings, api.ImportWarning{Message: fmt.Sprintf("%d more disagreements are not listed", o.unnoted)})
	}
	out := *base
	out.Frameworks = slices.Clone(base.Frameworks)
	out.Frameworks[framework].Requirements = o.reqs
	out.Mappings = o.maps
	return &out, o.record, o.warnings
}

// sameRelease reports that a document was written for a catalog's release or the one that
// it mends: 2026.1 and 2026.1.1.
func sameRelease(document, label string) bool {
	label, _, _ = strings.Cut(label, "+") // a revision
	return document == "" || document == label || strings.HasPrefix(label, document+".")
}

type overlay struct {
	base     *scf.Source
	f        int
	doc      *Document
	record   api.MappingDocument
	warnings []api.ImportWarning
	unnoted  int

	reqs  []scf.Requirement
	moved []int // new index of each requirement that was there
	means []int // requirement of each element
	maps  []scf.Mapping
}

func (o *overlay) warn(sheet, cell, message string, args ...any) {
	if len(o.warnings) >= 2*maxWarnings {
		o.unnoted++
		return
	}
	o.warnings = append(o.warnings, api.ImportWarning{Sheet: sheet, Cell: cell, Message: fmt.Sprintf(message, args...)})
}

// requirements finds each element among the framework's requirements, gives it its title
// and text, and adds those that no control of the workbook names.
func (o *overlay) requirements() {
	old := o.base.Frameworks[o.f].Requirements
	exact, loose := make(map[string]int, len(old)), make(map[string]int, len(old))
	for i, q := range old {
		exact[q.Code] = i
		if _, twice := loose[scf.LooseCode(q.Code)]; twice {
			loose[scf.LooseCode(q.Code)] = -1 // says too little
		} else {
			loose[scf.LooseCode(q.Code)] = i
		}
	}
	all := slices.Clone(old)
	o.means = make([]int, len(o.doc.Elements))
	var added []string
	for i := range o.doc.Elements {
		e := &o.doc.Elements[i]
		at, known := exact[e.Code]
		if !known {
			at, known = loose[scf.LooseCode(e.Code)]
			known = known && at >= 0
		}
		if !known {
			at = len(all)
			exact[e.Code] = at
			all = append(all, scf.Requirement{Code: e.Code})
			added = append(added, e.Code)
		}
		o.means[i] = at
		if e.Name != "" || e.Text != "" {
			all[at].Title, all[at].Text = cmp.Or(e.Name, all[at].Title), cmp.Or(e.Text, all[at].Text)
			o.record.RequirementsWorded++
		}
	}
	if o.record.RequirementsAdded = len(added); len(added) > 0 {
		o.warn("", "", "%d elements are no requirements in the workbook and were added: %s", len(added), some(added))
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(scf.Natural(all[a].Code, all[b].Code), a-b) })
	place := make([]int, len(all))
	for to, from := range order {
		place[from] = to
		o.reqs = append(o.reqs, all[from])
	}
	o.moved = place[:len(old)]
	for i, at := range o.means {
		o.means[i] = place[at]
	}
}

type pair struct{ control, requirement int }

// mappings gives the workbook's mappings what the document says of them, and adds those
// that only the document has.
func (o *overlay) mappings() {
	byCode := make(map[string]int, len(o.base.Controls))
	for i := range o.base.Controls {
		byCode[o.base.Controls[i].Code] = i
	}
	o.maps = slices.Clone(o.base.Mappings)
	at := map[pair]int{}
	for i := range o.maps {
		if m := &o.maps[i]; m.Framework == o.f {
			m.Requirement = o.moved[m.Requirement]
			at[pair{m.Control, m.Requirement}] = i
		}
	}
	named := map[pair]bool{}
	for i := range o.doc.Elements {
		e := &o.doc.Elements[i]
		for _, rel := range e.Relations {
			c, known := byCode[rel.Control]
			if !known {
				o.warn(rel.sheet, rel.cell, "%s: %s is no control of this catalog: left out", e.Code, rel.Control)
				continue
			}
			p := pair{c, o.means[i]}
			m, mapped := at[p]
			if rel.Relationship == "none" {
				if mapped {
					o.warn(rel.sheet, rel.cell, "%s and %s are not related by the document, but mapped by the workbook: kept", e.Code, rel.Control)
				}
				continue
			}
			o.record.Related++
			named[p] = true
			detail := &scf.MappingDetail{Relationship: rel.Relationship, Strength: rel.Strength,
				Rationale: rationaleOf(rel), Source: o.record.Filename, Official: true}
			if mapped {
				o.record.MappingsConfirmed++
				o.maps[m].Detail = detail
				continue
			}
			o.record.MappingsAdded++
			o.warn(rel.sheet, rel.cell, "%s: the document relates it to %s, the workbook does not: added", e.Code, rel.Control)
			at[p] = len(o.maps)
			o.maps = append(o.maps, scf.Mapping{Control: c, Framework: o.f, Requirement: p.requirement, Detail: detail})
		}
	}
	o.unnamed(named)
	slices.SortFunc(o.maps, func(a, b scf.Mapping) int {
		return cmp.Or(a.Control-b.Control, a.Framework-b.Framework, a.Requirement-b.Requirement)
	})
}

// unnamed tells which mappings of the workbook the document does not have, by requirement.
func (o *overlay) unnamed(named map[pair]bool) {
	left := map[int][]string{}
	for _, m := range o.maps {
		if m.Framework == o.f && !named[pair{m.Control, m.Requirement}] {
			o.record.MappingsUnnamed++
			left[m.Requirement] = append(left[m.Requirement], o.base.Controls[m.Control].Code)
		}
	}
	for r, q := range o.reqs {
		if controls := left[r]; len(controls) > 0 {
			o.warn("", "", "%s: the workbook maps it to %s, the document does not: kept", q.Code, some(controls))
		}
	}
}

func rationaleOf(rel Relation) string {
	if rel.Notes == "" || strings.EqualFold(rel.Notes, "none") {
		return rel.Rationale
	}
	if rel.Rationale == "" {
		return rel.Notes
	}
	return rel.Rationale + ": " + rel.Notes
}

// some lists the first few.
func some(codes []string) string {
	const shown = 8
	if more := len(codes) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(codes[:shown], ", "), more)
	}
	return strings.Join(codes, ", ")
}
