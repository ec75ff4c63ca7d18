package strm

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// MergeIntoFramework merges a mapping document into a copy of base, as details of the framework with the
// given index. It returns the copy, the record with its remaining fields filled in, and warnings. There is a
// warning for every disagreement between the document and the catalog, up to a limit.
func MergeIntoFramework(
	base *scf.Source,
	frameworkIndex int,
	doc *Document,
	record api.MappingDocument,
) (merged *scf.Source, completed api.MappingDocument, warnings []api.ImportWarning) {
	o := &overlay{base: base, framework: frameworkIndex, doc: doc, record: record, warnings: slices.Clone(doc.Warnings)}
	o.record.FrameworkCode = base.Frameworks[frameworkIndex].Code
	o.record.FocalDocument, o.record.Release = doc.FocalDocument, doc.Release
	o.record.Rows, o.record.Elements = doc.Rows, len(doc.Elements)
	if !matchesRelease(doc.Release, base.Label) {
		o.warn("", "", "the document was written for release %s, but the catalog is release %s", doc.Release, base.Label)
	}
	o.mergeRequirements()
	o.mergeMappings()
	if o.droppedWarnings > 0 {
		o.warnings = append(o.warnings,
			api.ImportWarning{Message: fmt.Sprintf("%d more disagreements between the document and the workbook are not listed", o.droppedWarnings)})
	}
	out := *base
	out.Frameworks = slices.Clone(base.Frameworks)
	out.Frameworks[frameworkIndex].Requirements = o.newRequirements
	out.Mappings = o.newMappings
	return &out, o.record, o.warnings
}

// matchesRelease reports whether a document was written for the release of a catalog, or for the release that
// this one corrects, as 2026.1.1 corrects 2026.1.
func matchesRelease(documentRelease, catalogLabel string) bool {
	catalogLabel, _, _ = strings.Cut(catalogLabel, "+") // a revision
	return documentRelease == "" || documentRelease == catalogLabel || strings.HasPrefix(catalogLabel, documentRelease+".")
}

// overlay holds the state of merging one document into a framework.
type overlay struct {
	base            *scf.Source
	framework       int
	doc             *Document
	record          api.MappingDocument
	warnings        []api.ImportWarning
	droppedWarnings int

	newRequirements     []scf.Requirement
	newPosition         []int // new index of each old requirement
	elementRequirements []int // index of each element's requirement
	newMappings         []scf.Mapping
}

func (o *overlay) warn(sheet, cell, message string, args ...any) {
	if len(o.warnings) >= 2*maxWarnings {
		o.droppedWarnings++
		return
	}
	o.warnings = append(o.warnings, api.ImportWarning{Sheet: sheet, Cell: cell, Message: fmt.Sprintf(message, args...)})
}

// mergeRequirements merges the document's elements into the requirements of the framework. An element that
// matches a requirement sets its title and text. Any other element becomes a new requirement.
func (o *overlay) mergeRequirements() {
	old := o.base.Frameworks[o.framework].Requirements
	exact, loose := make(map[string]int, len(old)), make(map[string]int, len(old))
	for i, q := range old {
		exact[q.Code] = i
		if _, duplicate := loose[scf.NormalizeRequirementCode(q.Code)]; duplicate {
			loose[scf.NormalizeRequirementCode(q.Code)] = -1 // ambiguous
		} else {
			loose[scf.NormalizeRequirementCode(q.Code)] = i
		}
	}
	all := slices.Clone(old)
	o.elementRequirements = make([]int, len(o.doc.Elements))
	var added []string
	for i := range o.doc.Elements {
		e := &o.doc.Elements[i]
		at, known := exact[e.Code]
		if !known {
			at, known = loose[scf.NormalizeRequirementCode(e.Code)]
			known = known && at >= 0
		}
		if !known {
			at = len(all)
			exact[e.Code] = at
			all = append(all, scf.Requirement{Code: e.Code})
			added = append(added, e.Code)
		}
		o.elementRequirements[i] = at
		if e.Name != "" || e.Text != "" {
			all[at].Title, all[at].Text = cmp.Or(e.Name, all[at].Title), cmp.Or(e.Text, all[at].Text)
			o.record.RequirementsWorded++
		}
	}
	if o.record.RequirementsAdded = len(added); len(added) > 0 {
		o.warn("", "", "the workbook doesn't list %d elements as requirements; they were added: %s", len(added), joinFirst(added))
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(scf.CompareNatural(all[a].Code, all[b].Code), a-b) })
	place := make([]int, len(all))
	for to, from := range order {
		place[from] = to
		o.newRequirements = append(o.newRequirements, all[from])
	}
	o.newPosition = place[:len(old)]
	for i, at := range o.elementRequirements {
		o.elementRequirements[i] = place[at]
	}
}

type controlRequirement struct{ control, requirement int }

// mergeMappings adds the details in the document to the mappings from the workbook, and adds the mappings
// that only the document has.
func (o *overlay) mergeMappings() {
	byCode := make(map[string]int, len(o.base.Controls))
	for i := range o.base.Controls {
		byCode[o.base.Controls[i].Code] = i
	}
	o.newMappings = slices.Clone(o.base.Mappings)
	at := map[controlRequirement]int{}
	for i := range o.newMappings {
		if m := &o.newMappings[i]; m.Framework == o.framework {
			m.Requirement = o.newPosition[m.Requirement]
			at[controlRequirement{m.Control, m.Requirement}] = i
		}
	}
	named := map[controlRequirement]bool{}
	for i := range o.doc.Elements {
		e := &o.doc.Elements[i]
		for _, rel := range e.Relations {
			c, known := byCode[rel.Control]
			if !known {
				o.warn(rel.sheet, rel.cell, "%s: %s is not a control in this catalog; skipped", e.Code, rel.Control)
				continue
			}
			p := controlRequirement{c, o.elementRequirements[i]}
			m, mapped := at[p]
			if rel.Relationship == "none" {
				if mapped {
					o.warn(
						rel.sheet,
						rel.cell,
						"the workbook maps %s to %s, but the document doesn't relate them; the mapping was kept",
						e.Code,
						rel.Control,
					)
				}
				continue
			}
			o.record.Related++
			named[p] = true
			detail := &scf.MappingDetail{
				Relationship: rel.Relationship, Strength: rel.Strength,
				Rationale: formatRationale(rel), Source: o.record.Filename, Official: true,
			}
			if mapped {
				o.record.MappingsConfirmed++
				o.newMappings[m].Detail = detail
				continue
			}
			o.record.MappingsAdded++
			o.warn(rel.sheet, rel.cell, "the document relates %s to %s, but the workbook doesn't; the mapping was added", e.Code, rel.Control)
			at[p] = len(o.newMappings)
			o.newMappings = append(
				o.newMappings,
				scf.Mapping{Control: c, Framework: o.framework, Requirement: p.requirement, Detail: detail},
			)
		}
	}
	o.warnUnconfirmed(named)
	slices.SortFunc(o.newMappings, scf.CompareMappings)
}

// warnUnconfirmed adds a warning for each requirement with mappings that are in the workbook but not in the
// document.
func (o *overlay) warnUnconfirmed(confirmed map[controlRequirement]bool) {
	left := map[int][]string{}
	for _, m := range o.newMappings {
		if m.Framework == o.framework && !confirmed[controlRequirement{m.Control, m.Requirement}] {
			o.record.MappingsUnnamed++
			left[m.Requirement] = append(left[m.Requirement], o.base.Controls[m.Control].Code)
		}
	}
	for r, q := range o.newRequirements {
		if controls := left[r]; len(controls) > 0 {
			o.warn("", "", "the workbook maps %s to %s, but the document doesn't; the mapping was kept", q.Code, joinFirst(controls))
		}
	}
}

func formatRationale(rel Relation) string {
	if rel.Notes == "" || strings.EqualFold(rel.Notes, "none") {
		return rel.Rationale
	}
	if rel.Rationale == "" {
		return rel.Notes
	}
	return rel.Rationale + ": " + rel.Notes
}

// joinFirst joins at most eight of the codes, followed by the number of omitted codes.
func joinFirst(codes []string) string {
	const shown = 8
	if more := len(codes) - shown; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(codes[:shown], ", "), more)
	}
	return strings.Join(codes, ", ")
}
