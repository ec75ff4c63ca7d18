package oscal

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// locatedControl is a control with its path in the document and the label of the group that contains it.
type locatedControl struct {
	*control
	path, domain string
}

// displayCode returns the code by which people know a control: its label, or its ID if it has no label.
func (c *locatedControl) displayCode() string {
	return cmp.Or(strings.TrimSpace(propValue(c.Props, "label")), c.ID)
}

// listControls returns all controls of a catalog, including nested ones, in document order.
func listControls(doc *catalogDocument) (out []locatedControl) {
	var walk func(list []control, place, domain string)
	walk = func(list []control, place, domain string) {
		for i := range list {
			at := fmt.Sprintf("%s.controls[%d]", place, i)
			out = append(out, locatedControl{control: &list[i], path: at, domain: domain})
			walk(list[i].Controls, at, domain)
		}
	}
	var groups func(list []group, place string)
	groups = func(list []group, place string) {
		for i := range list {
			at := fmt.Sprintf("%s.groups[%d]", place, i)
			walk(list[i].Controls, at, propValue(list[i].Props, "label"))
			groups(list[i].Groups, at)
		}
	}
	walk(doc.Controls, "catalog", "")
	groups(doc.Groups, "catalog")
	return out
}

// readCatalog reads an OSCAL catalog. If it has SCF controls, it is read as a whole catalog, and otherwise as
// the requirements of a framework.
func readCatalog(doc *catalogDocument, base *scf.Source) (*scf.Source, error) {
	controls := listControls(doc)
	if len(controls) == 0 {
		return nil, pathErrorf("catalog", "the catalog contains no controls")
	}
	ours := 0
	for i := range controls {
		if scf.IsControlCode(strings.ToUpper(controls[i].displayCode())) {
			ours++
		}
	}
	if ours == 0 {
		return mergeCatalogAsFramework(doc, controls, base)
	}
	r := &catalogReader{
		src:      &scf.Source{Label: doc.Metadata.Version, IsStarter: propValue(doc.Metadata.Props, "starter") == "true"},
		evidence: map[string]int{}, frameworks: map[string]int{}, seen: map[[3]int]bool{},
	}
	if doc.BackMatter != nil {
		if err := r.readResources(doc.BackMatter.Resources); err != nil {
			return nil, err
		}
	}
	r.readDomains(doc.Groups)
	slices.SortStableFunc(controls, func(a, b locatedControl) int {
		return cmp.Compare(propValue(a.Props, "sort-id"), propValue(b.Props, "sort-id"))
	})
	codes := map[string]bool{}
	for i := range controls {
		c := &controls[i]
		code := strings.ToUpper(c.displayCode())
		if !scf.IsControlCode(code) {
			return nil, pathErrorf(
				c.path+".id",
				"%q is not an SCF code, but other controls have SCF codes; a catalog can't mix SCF controls with others",
				scf.Shorten(code),
			)
		}
		if codes[code] {
			return nil, pathErrorf(c.path+".id", "control %s is listed twice", code)
		}
		codes[code] = true
		if err := r.readControl(c, code); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(r.src.Mappings, scf.CompareMappings)
	return r.src, nil
}

type catalogReader struct {
	src *scf.Source
	// evidence and frameworks hold indexes in the source by the UUIDs of resources.
	evidence, frameworks map[string]int
	requirements         []map[string]int // by framework: index by code
	seen                 map[[3]int]bool  // control, framework, requirement
}

func (r *catalogReader) readResources(list []resource) error {
	uuids, codes := map[string]bool{}, map[string]bool{}
	for i := range list {
		x := &list[i]
		place := fmt.Sprintf("catalog.back-matter.resources[%d]", i)
		if uuids[x.UUID] {
			return pathErrorf(place+".uuid", "the resource is listed twice")
		}
		uuids[x.UUID] = true
		switch propValue(x.Props, "type") {
		case typeFramework:
			code := cmp.Or(propValue(x.Props, "code"), scf.FrameworkCode(x.Title))
			if code == "" || codes[code] {
				return pathErrorf(place, "the framework code %q is empty or used twice", scf.Shorten(code))
			}
			codes[code] = true
			if err := r.readFramework(x, code, place); err != nil {
				return err
			}
		case typeEvidence:
			r.evidence[x.UUID] = len(r.src.Evidence)
			r.src.Evidence = append(
				r.src.Evidence,
				scf.EvidenceRequest{
					Code:        propValue(x.Props, "code"),
					Area:        propValue(x.Props, "area"),
					Artifact:    x.Title,
					Description: x.Description,
				},
			)
		case typeRisk:
			r.src.Risks = append(r.src.Risks, toHazard(x))
		case typeThreat:
			r.src.Threats = append(r.src.Threats, toHazard(x))
		case typePrinciple:
			r.src.Principles = append(
				r.src.Principles,
				scf.Principle{
					Number:      propValue(x.Props, "number"),
					Name:        x.Title,
					Description: x.Description,
					Controls:    propValues(x.Props, "control"),
				},
			)
		}
	}
	return nil
}

func toHazard(x *resource) scf.Hazard {
	return scf.Hazard{
		Code:        propValue(x.Props, "code"),
		Group:       propValue(x.Props, "group"),
		Title:       x.Title,
		Description: x.Description,
		CSFFunction: propValue(x.Props, "csf-function"),
	}
}

func (r *catalogReader) readFramework(x *resource, code, place string) error {
	f := scf.Framework{
		Code: code, Name: cmp.Or(x.Title, code), Publisher: propValue(x.Props, "publisher"), Jurisdiction: propValue(x.Props, "jurisdiction"),
		Title: propValue(x.Props, "official-title"), SourceURL: propValue(x.Props, "source-url"), Column: propValue(x.Props, "column"),
		Aliases: propValues(x.Props, "alias"), Includes: propValues(x.Props, "includes"),
	}
	at, groups := map[string]int{}, map[string]int{}
	for i, p := range x.Props {
		switch p.Name {
		case "requirement":
			q := p.value()
			if _, duplicate := at[q]; duplicate {
				return pathErrorf(fmt.Sprintf("%s.props[%d]", place, i), "requirement %q is listed twice", scf.Shorten(q))
			}
			at[q] = len(f.Requirements)
			groups[p.Group] = len(f.Requirements)
			f.Requirements = append(f.Requirements, scf.Requirement{Code: q})
		case "requirement-title", "requirement-text":
			n, known := groups[p.Group]
			if !known {
				return pathErrorf(
					fmt.Sprintf("%s.props[%d]", place, i),
					"no requirement of the group %q precedes this property",
					scf.Shorten(p.Group),
				)
			}
			if p.Name == "requirement-title" {
				f.Requirements[n].Title = p.value()
			} else {
				f.Requirements[n].Text = p.value()
			}
		}
	}
	r.frameworks[x.UUID] = len(r.src.Frameworks)
	r.requirements = append(r.requirements, at)
	r.src.Frameworks = append(r.src.Frameworks, f)
	return nil
}

// readDomains adds a domain for each group that has class "domain" and a label. Controls outside these groups
// belong to the domain that their code indicates.
func (r *catalogReader) readDomains(groups []group) {
	for _, g := range groups {
		if code := propValue(g.Props, "label"); g.Class == "domain" && code != "" && !r.hasDomain(code) {
			d := scf.Domain{Code: code, Name: g.Title}
			for i := range g.Parts {
				switch p := &g.Parts[i]; p.Name {
				case "principle":
					d.Principle = p.Prose
				case "intent":
					d.Intent = p.Prose
				}
			}
			r.src.Domains = append(r.src.Domains, d)
		}
		r.readDomains(g.Groups)
	}
}

func (r *catalogReader) hasDomain(code string) bool {
	return slices.ContainsFunc(r.src.Domains, func(d scf.Domain) bool { return d.Code == code })
}

func (r *catalogReader) readControl(x *locatedControl, code string) error {
	c := scf.Control{
		Code:        code,
		Title:       x.Title,
		Weight:      scf.NoWeight,
		CSFFunction: propValue(x.Props, "csf-function"),
		Cadence:     propValue(x.Props, "cadence"),
	}
	if !r.hasDomain(c.DomainCode()) {
		r.src.Domains = append(r.src.Domains, scf.Domain{Code: c.DomainCode(), Name: c.DomainCode()})
	}
	if w := propValue(x.Props, "weight"); w != "" {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 10 {
			return pathErrorf(x.path+".props", "the weight %q is not a number from 0 to 10", scf.Shorten(w))
		}
		c.Weight = n
	}
	for _, l := range controlLists(&c) {
		*l.values = propValues(x.Props, l.name)
	}
	if x.isWithdrawn() {
		c.Weight, c.Errata = 0, append(c.Errata, scf.CollapseSpaces(x.withdrawal()))
	}
	number := len(r.src.Controls)
	for i := range x.Parts {
		if err := r.readPart(&c, number, &x.Parts[i], fmt.Sprintf("%s.parts[%d]", x.path, i)); err != nil {
			return err
		}
	}
	for i, l := range x.Links {
		place := fmt.Sprintf("%s.links[%d]", x.path, i)
		switch l.Rel {
		case typeEvidence:
			e, known := r.evidence[strings.TrimPrefix(l.Href, "#")]
			if !known {
				return pathErrorf(place, "the back matter contains no evidence request %s", scf.Shorten(l.Href))
			}
			c.Evidence = append(c.Evidence, e)
		case "maps-to":
			if err := r.addMapping(number, strings.TrimPrefix(l.Href, "#"), l.Fragment, nil, place); err != nil {
				return err
			}
		}
	}
	r.src.Controls = append(r.src.Controls, c)
	return nil
}

// readPart reads a part of a control. Parts with unknown names belong to other tools and are ignored.
func (r *catalogReader) readPart(c *scf.Control, number int, p *part, place string) error {
	switch p.Name {
	case "statement":
		c.Description = p.fullText()
		if len(p.Parts) == 0 {
			c.Description = p.Prose
		}
	case "question":
		c.Question = p.Prose
	case "maturity":
		level, err := strconv.Atoi(propValue(p.Props, "level"))
		if err != nil || level < 0 || level > 5 {
			return pathErrorf(place, "the maturity level %q is not a number from 0 to 5", scf.Shorten(propValue(p.Props, "level")))
		}
		c.Maturity[level] = p.Prose
	case "solution":
		c.Solutions = append(c.Solutions, scf.Pair{Name: propValue(p.Props, "size"), Text: p.Prose})
	case "extra":
		c.Extra = append(c.Extra, scf.Pair{Name: propValue(p.Props, "column"), Text: p.Prose})
	case "compensating-control":
		c.Compensating = append(
			c.Compensating,
			scf.CompensatingControl{Control: propValue(p.Props, "control"), Name: propValue(p.Props, "name"), Justification: p.Prose},
		)
	case "assessment-objective":
		o := scf.Objective{
			Code:          propValue(p.Props, "label"),
			Text:          cmp.Or(p.Prose, p.fullText()),
			Applicability: propValues(p.Props, "applicability"),
			Origins:       propValues(p.Props, "origin"),
		}
		if rigor := propValue(p.Props, "rigor"); rigor != "" {
			n, err := strconv.Atoi(rigor)
			if err != nil || n < 1 || n > 3 {
				return pathErrorf(place, "the rigor %q is not a number from 1 to 3", scf.Shorten(rigor))
			}
			o.Rigor = n
		}
		c.Objectives = append(c.Objectives, o)
	case "mapping":
		var d *scf.MappingDetail
		if strength := propValue(p.Props, "strength"); strength != "" {
			n, err := strconv.Atoi(strength)
			if err != nil || n < -1 || n > 10 {
				return pathErrorf(place, "the strength %q is not a number from 0 to 10", scf.Shorten(strength))
			}
			d = &scf.MappingDetail{
				Relationship: propValue(p.Props, "relationship"),
				Strength:     n,
				Rationale:    p.Prose,
				Source:       propValue(p.Props, "source"),
				Official:     propValue(p.Props, "official") == "true",
			}
			if !slices.Contains([]string{"", "equal", "subset", "superset", "intersects", "none"}, d.Relationship) {
				return pathErrorf(place, "unknown relationship %q", scf.Shorten(d.Relationship))
			}
		}
		return r.addMapping(number, propValue(p.Props, "framework"), propValue(p.Props, "requirement"), d, place)
	}
	return nil
}

func (r *catalogReader) addMapping(control int, framework, requirement string, d *scf.MappingDetail, place string) error {
	f, known := r.frameworks[framework]
	if !known {
		return pathErrorf(place, "the back matter contains no framework %s", scf.Shorten(framework))
	}
	q, known := r.requirements[f][requirement]
	if !known {
		return pathErrorf(place, "framework %s has no requirement %q", r.src.Frameworks[f].Code, scf.Shorten(requirement))
	}
	if r.seen[[3]int{control, f, q}] {
		return pathErrorf(place, "the control is mapped twice to requirement %q of %s", scf.Shorten(requirement), r.src.Frameworks[f].Code)
	}
	r.seen[[3]int{control, f, q}] = true
	r.src.Mappings = append(r.src.Mappings, scf.Mapping{Control: control, Framework: f, Requirement: q, Detail: d})
	return nil
}

// mergeCatalogAsFramework reads a catalog of other controls as the requirements of a framework. If base has a
// framework with the catalog's title, the titles and texts of that framework's requirements are filled in.
// Otherwise, a framework without mappings is added.
func mergeCatalogAsFramework(doc *catalogDocument, controls []locatedControl, base *scf.Source) (*scf.Source, error) {
	src := copyForOverlay(base)
	at, known := findFrameworkByCodeOrName(src, doc.Metadata.Title)
	if !known {
		code := scf.FrameworkCode(doc.Metadata.Title)
		if code == "" {
			return nil, pathErrorf("catalog.metadata.title", "no framework code can be derived from the title")
		}
		at = len(src.Frameworks)
		src.Frameworks = append(src.Frameworks, scf.Framework{Code: code, Name: scf.CollapseSpaces(doc.Metadata.Title)})
	}
	f := &src.Frameworks[at]
	f.Requirements = slices.Clone(f.Requirements)
	place := map[string]int{}
	for i, q := range f.Requirements {
		place[scf.NormalizeRequirementCode(q.Code)] = i
	}
	seen, parameters := map[int]string{}, listParameters(doc, controls)
	for i := range controls {
		c := &controls[i]
		code := scf.CollapseSpaces(c.displayCode())
		n, found := place[scf.NormalizeRequirementCode(code)]
		if !found {
			n = len(f.Requirements)
			place[scf.NormalizeRequirementCode(code)] = n
			f.Requirements = append(f.Requirements, scf.Requirement{Code: code})
			if known && !c.isWithdrawn() {
				src.Warnings = append(
					src.Warnings,
					api.ImportWarning{
						Cell:    c.path,
						Message: fmt.Sprintf("added requirement %[2]q to %[1]s; no control maps to it", f.Code, scf.Shorten(code)),
					},
				)
			}
		}
		if first, duplicate := seen[n]; duplicate {
			return nil, pathErrorf(c.path+".id", "control %q is listed twice, first at %s", scf.Shorten(code), first)
		}
		seen[n] = c.path
		f.Requirements[n].Title = scf.CollapseSpaces(c.Title)
		if c.isWithdrawn() {
			f.Requirements[n].Title += " [" + scf.CollapseSpaces(c.withdrawal()) + "]"
		}
		for p := range c.Parts {
			if c.Parts[p].Name == "statement" {
				f.Requirements[n].Text = fillParameters(c.Parts[p].fullText(), parameters, 0)
			}
		}
	}
	return src, nil
}

// findFrameworkByCodeOrName returns the index of the framework that has ref as its code, alias, name or
// title.
func findFrameworkByCodeOrName(src *scf.Source, ref string) (int, bool) {
	ref = scf.CollapseSpaces(ref)
	slug := scf.FrameworkCode(ref)
	for i := range src.Frameworks {
		f := &src.Frameworks[i]
		if ref != "" &&
			(f.Code == ref || f.Code == slug || strings.EqualFold(f.Name, ref) || strings.EqualFold(f.Title, ref) ||
				slices.Contains(f.Aliases, slug)) {
			return i, true
		}
	}
	return 0, false
}
