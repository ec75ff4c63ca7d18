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

// placed is a control of a document with where it stands and its groups' code.
type placed struct {
	*control
	place, domain string
}

// code is what people call a control: its label, else its id.
func (c *placed) code() string { return cmp.Or(strings.TrimSpace(get(c.Props, "label")), c.ID) }

// flatten lists all controls of a catalog, in their order.
func flatten(doc *document) (out []placed) {
	var walk func(list []control, place, domain string)
	walk = func(list []control, place, domain string) {
		for i := range list {
			at := fmt.Sprintf("%s.controls[%d]", place, i)
			out = append(out, placed{&list[i], at, domain})
			walk(list[i].Controls, at, domain)
		}
	}
	var groups func(list []group, place string)
	groups = func(list []group, place string) {
		for i := range list {
			at := fmt.Sprintf("%s.groups[%d]", place, i)
			walk(list[i].Controls, at, get(list[i].Props, "label"))
			groups(list[i].Groups, at)
		}
	}
	walk(doc.Controls, "catalog", "")
	groups(doc.Groups, "catalog")
	return out
}

// readCatalog takes a catalog of SCF controls as a whole catalog, any other as the texts
// of a framework.
func readCatalog(doc *document, base *scf.Source) (*scf.Source, error) {
	controls := flatten(doc)
	if len(controls) == 0 {
		return nil, wrong("catalog", "there is no control in it")
	}
	ours := 0
	for i := range controls {
		if scf.ValidCode(strings.ToUpper(controls[i].code())) {
			ours++
		}
	}
	if ours == 0 {
		return readFramework(doc, controls, base)
	}
	r := &reader{src: &scf.Source{Label: doc.Metadata.Version, IsStarter: get(doc.Metadata.Props, "starter") == "true"},
		evidence: map[string]int{}, frameworks: map[string]int{}, seen: map[[3]int]bool{}}
	if doc.BackMatter != nil {
		if err := r.resources(doc.BackMatter.Resources); err != nil {
			return nil, err
		}
	}
	r.domains(doc.Groups)
	slices.SortStableFunc(controls, func(a, b placed) int {
		return cmp.Compare(get(a.Props, "sort-id"), get(b.Props, "sort-id"))
	})
	codes := map[string]bool{}
	for i := range controls {
		c := &controls[i]
		code := strings.ToUpper(c.code())
		if !scf.ValidCode(code) {
			return nil, wrong(c.place+".id", "%q is no code of the SCF as the other controls have; a catalog holds one kind", short(code))
		}
		if codes[code] {
			return nil, wrong(c.place+".id", "the control %s occurs twice", code)
		}
		codes[code] = true
		if err := r.control(c, code); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(r.src.Mappings, func(a, b scf.Mapping) int {
		return cmp.Or(a.Control-b.Control, a.Framework-b.Framework, a.Requirement-b.Requirement)
	})
	return r.src, nil
}

func short(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

type reader struct {
	src *scf.Source
	// evidence and frameworks are places in the source by the UUIDs of resources.
	evidence, frameworks map[string]int
	requirements         []map[string]int
	seen                 map[[3]int]bool
}

func (r *reader) resources(list []resource) error {
	uuids, codes := map[string]bool{}, map[string]bool{}
	for i := range list {
		x := &list[i]
		place := fmt.Sprintf("catalog.back-matter.resources[%d]", i)
		if uuids[x.UUID] {
			return wrong(place+".uuid", "the resource occurs twice")
		}
		uuids[x.UUID] = true
		switch get(x.Props, "type") {
		case isFramework:
			code := cmp.Or(get(x.Props, "code"), scf.Slug(x.Title))
			if code == "" || codes[code] {
				return wrong(place, "the framework code %q is empty or occurs twice", short(code))
			}
			codes[code] = true
			if err := r.framework(x, code, place); err != nil {
				return err
			}
		case isEvidence:
			r.evidence[x.UUID] = len(r.src.Evidence)
			r.src.Evidence = append(r.src.Evidence, scf.EvidenceRequest{Code: get(x.Props, "code"), Area: get(x.Props, "area"), Artifact: x.Title, Description: x.Description})
		case isRisk:
			r.src.Risks = append(r.src.Risks, hazard(x))
		case isThreat:
			r.src.Threats = append(r.src.Threats, hazard(x))
		case isPrinciple:
			r.src.Principles = append(r.src.Principles, scf.Principle{Number: get(x.Props, "number"), Name: x.Title, Description: x.Description, Controls: all(x.Props, "control")})
		}
	}
	return nil
}

func hazard(x *resource) scf.Hazard {
	return scf.Hazard{Code: get(x.Props, "code"), Group: get(x.Props, "group"), Title: x.Title, Description: x.Description, CSFFunction: get(x.Props, "csf-function")}
}

func (r *reader) framework(x *resource, code, place string) error {
	f := scf.Framework{Code: code, Name: cmp.Or(x.Title, code), Publisher: get(x.Props, "publisher"), Jurisdiction: get(x.Props, "jurisdiction"),
		Title: get(x.Props, "official-title"), SourceURL: get(x.Props, "source-url"), Column: get(x.Props, "column"),
		Aliases: all(x.Props, "alias"), Includes: all(x.Props, "includes")}
	at, groups := map[string]int{}, map[string]int{}
	for i, p := range x.Props {
		switch p.Name {
		case "requirement":
			q := p.text()
			if _, twice := at[q]; twice {
				return wrong(fmt.Sprintf("%s.props[%d]", place, i), "the requirement %q occurs twice", short(q))
			}
			at[q] = len(f.Requirements)
			groups[p.Group] = len(f.Requirements)
			f.Requirements = append(f.Requirements, scf.Requirement{Code: q})
		case "requirement-title", "requirement-text":
			n, known := groups[p.Group]
			if !known {
				return wrong(fmt.Sprintf("%s.props[%d]", place, i), "there is no requirement of the group %q before it", short(p.Group))
			}
			if p.Name == "requirement-title" {
				f.Requirements[n].Title = p.text()
			} else {
				f.Requirements[n].Text = p.text()
			}
		}
	}
	r.frameworks[x.UUID] = len(r.src.Frameworks)
	r.requirements = append(r.requirements, at)
	r.src.Frameworks = append(r.src.Frameworks, f)
	return nil
}

// domains are the groups that say which they are; a control of another has the domain of its code.
func (r *reader) domains(groups []group) {
	for _, g := range groups {
		if code := get(g.Props, "label"); g.Class == "domain" && code != "" && !r.hasDomain(code) {
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
		r.domains(g.Groups)
	}
}

func (r *reader) hasDomain(code string) bool {
	return slices.ContainsFunc(r.src.Domains, func(d scf.Domain) bool { return d.Code == code })
}

func (r *reader) control(x *placed, code string) error {
	c := scf.Control{Code: code, Title: x.Title, Weight: scf.NoWeight, CSFFunction: get(x.Props, "csf-function"), Cadence: get(x.Props, "cadence")}
	if !r.hasDomain(c.Domain()) {
		r.src.Domains = append(r.src.Domains, scf.Domain{Code: c.Domain(), Name: c.Domain()})
	}
	if w := get(x.Props, "weight"); w != "" {
		n, err := strconv.Atoi(w)
		if err != nil || n < 0 || n > 10 {
			return wrong(x.place+".props", "the weight %q is no number from 0 to 10", short(w))
		}
		c.Weight = n
	}
	for _, l := range lists(&c) {
		*l.values = all(x.Props, l.name)
	}
	number := len(r.src.Controls)
	for i := range x.Parts {
		if err := r.part(&c, number, &x.Parts[i], fmt.Sprintf("%s.parts[%d]", x.place, i)); err != nil {
			return err
		}
	}
	for i, l := range x.Links {
		place := fmt.Sprintf("%s.links[%d]", x.place, i)
		switch l.Rel {
		case isEvidence:
			e, known := r.evidence[strings.TrimPrefix(l.Href, "#")]
			if !known {
				return wrong(place, "there is no evidence request %s in the back matter", short(l.Href))
			}
			c.Evidence = append(c.Evidence, e)
		case "maps-to":
			if err := r.mapping(number, strings.TrimPrefix(l.Href, "#"), l.Fragment, nil, place); err != nil {
				return err
			}
		}
	}
	r.src.Controls = append(r.src.Controls, c)
	return nil
}

// part takes one part of a control; those of other names belong to other tools.
func (r *reader) part(c *scf.Control, number int, p *part, place string) error {
	switch p.Name {
	case "statement":
		c.Description = p.prose()
		if len(p.Parts) == 0 {
			c.Description = p.Prose
		}
	case "question":
		c.Question = p.Prose
	case "maturity":
		level, err := strconv.Atoi(get(p.Props, "level"))
		if err != nil || level < 0 || level > 5 {
			return wrong(place, "the maturity level %q is none of 0 to 5", short(get(p.Props, "level")))
		}
		c.Maturity[level] = p.Prose
	case "solution":
		c.Solutions = append(c.Solutions, scf.Pair{Name: get(p.Props, "size"), Text: p.Prose})
	case "extra":
		c.Extra = append(c.Extra, scf.Pair{Name: get(p.Props, "column"), Text: p.Prose})
	case "compensating-control":
		c.Compensating = append(c.Compensating, scf.Compensating{Control: get(p.Props, "control"), Name: get(p.Props, "name"), Justification: p.Prose})
	case "assessment-objective":
		o := scf.Objective{Code: get(p.Props, "label"), Text: cmp.Or(p.Prose, p.prose()), Applicability: all(p.Props, "applicability"), Origins: all(p.Props, "origin")}
		if rigor := get(p.Props, "rigor"); rigor != "" {
			n, err := strconv.Atoi(rigor)
			if err != nil || n < 1 || n > 3 {
				return wrong(place, "the rigor %q is none of 1 to 3", short(rigor))
			}
			o.Rigor = n
		}
		c.Objectives = append(c.Objectives, o)
	case "mapping":
		var d *scf.MappingDetail
		if strength := get(p.Props, "strength"); strength != "" {
			n, err := strconv.Atoi(strength)
			if err != nil || n < -1 || n > 10 {
				return wrong(place, "the strength %q is no number from 0 to 10", short(strength))
			}
			d = &scf.MappingDetail{Relationship: get(p.Props, "relationship"), Strength: n, Rationale: p.Prose, Source: get(p.Props, "source"), Official: get(p.Props, "official") == "true"}
			if !slices.Contains([]string{"", "equal", "subset", "superset", "intersects", "none"}, d.Relationship) {
				return wrong(place, "there is no relationship %q", short(d.Relationship))
			}
		}
		return r.mapping(number, get(p.Props, "framework"), get(p.Props, "requirement"), d, place)
	}
	return nil
}

func (r *reader) mapping(control int, framework, requirement string, d *scf.MappingDetail, place string) error {
	f, known := r.frameworks[framework]
	if !known {
		return wrong(place, "there is no framework %s in the back matter", short(framework))
	}
	q, known := r.requirements[f][requirement]
	if !known {
		return wrong(place, "the framework %s has no requirement %q", r.src.Frameworks[f].Code, short(requirement))
	}
	if r.seen[[3]int{control, f, q}] {
		return wrong(place, "the control maps to %q of %s twice", short(requirement), r.src.Frameworks[f].Code)
	}
	r.seen[[3]int{control, f, q}] = true
	r.src.Mappings = append(r.src.Mappings, scf.Mapping{Control: control, Framework: f, Requirement: q, Detail: d})
	return nil
}

// readFramework lays the texts of another catalog onto a framework: one that is there,
// whose requirements it fills, or a new one that nothing maps to yet.
func readFramework(doc *document, controls []placed, base *scf.Source) (*scf.Source, error) {
	src := extend(base)
	at, known := find(src, doc.Metadata.Title)
	if !known {
		code := scf.Slug(doc.Metadata.Title)
		if code == "" {
			return nil, wrong("catalog.metadata.title", "the title gives no code for the framework")
		}
		at = len(src.Frameworks)
		src.Frameworks = append(src.Frameworks, scf.Framework{Code: code, Name: scf.Collapse(doc.Metadata.Title)})
	}
	f := &src.Frameworks[at]
	f.Requirements = slices.Clone(f.Requirements)
	place := map[string]int{}
	for i, q := range f.Requirements {
		place[scf.LooseCode(q.Code)] = i
	}
	seen := map[int]string{}
	for i := range controls {
		c := &controls[i]
		code := scf.Collapse(c.code())
		n, there := place[scf.LooseCode(code)]
		if !there {
			n = len(f.Requirements)
			place[scf.LooseCode(code)] = n
			f.Requirements = append(f.Requirements, scf.Requirement{Code: code})
			if known {
				src.Warnings = append(src.Warnings, api.ImportWarning{Cell: c.place, Message: fmt.Sprintf("%s had no requirement %q; it was added, and no control maps to it", f.Code, short(code))})
			}
		}
		if first, twice := seen[n]; twice {
			return nil, wrong(c.place+".id", "the control %q occurs twice, first at %s", short(code), first)
		}
		seen[n] = c.place
		f.Requirements[n].Title = scf.Collapse(c.Title)
		for p := range c.Parts {
			if c.Parts[p].Name == "statement" {
				f.Requirements[n].Text = c.Parts[p].prose()
			}
		}
	}
	return src, nil
}

// find is the framework of a catalog that a title or reference means.
func find(src *scf.Source, ref string) (int, bool) {
	ref = scf.Collapse(ref)
	slug := scf.Slug(ref)
	for i := range src.Frameworks {
		f := &src.Frameworks[i]
		if ref != "" && (f.Code == ref || f.Code == slug || strings.EqualFold(f.Name, ref) || strings.EqualFold(f.Title, ref) || slices.Contains(f.Aliases, slug)) {
			return i, true
		}
	}
	return 0, false
}
