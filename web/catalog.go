package web

import (
	"cmp"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// catalogPages are the tabs of the catalog.
var catalogPages = []link{
	{Text: "Controls", Href: "catalog"},
	{Text: "Frameworks", Href: "catalog/frameworks"},
	{Text: "Crosswalk", Href: "catalog/crosswalk"},
	{Text: "Coverage", Href: "catalog/coverage"},
}

func formatLocation(headings []string, l api.Locator) string {
	return print.FormatLocation(headings, l)
}

func controlLink(code string) string { return "catalog/controls/" + url.PathEscape(code) }

func frameworkLink(code string) string { return "catalog/frameworks/" + url.PathEscape(code) }

func controlTable(title string, controls []api.Control) section {
	x := section{Title: title, Columns: []string{"Control", "Title", "Domain"}, Empty: "No matching controls."}
	for i := range controls {
		c := &controls[i]
		x.Rows = append(x.Rows, line{Cells: []value{linkValue(c.Code, controlLink(c.Code)), textValue(c.Title), textValue(c.DomainCode)}})
	}
	return x
}

// frameworkField returns a field for choosing one of the catalog's frameworks.
func (v *visit) frameworkField(name, label, given, none string) (field, error) {
	f := field{Name: name, Label: label, Kind: "select", Value: given, Options: choices(option{"", none})}
	list, err := all(v, api.ListFrameworks, &api.FrameworksInput{Sort: "name"})
	for i := range list {
		f.Options = append(f.Options, option{list[i].Code, list[i].Name})
	}
	return f, err
}

var controlsPanel = panel{
	path: "catalog", title: "Catalog", group: &catalogPages,
	show: func(v *visit, s *sheet) error {
		version, err := do(v, api.GetLatestVersion, &api.None{})
		if err != nil {
			return err
		}
		s.Lead = version.Label + ": " + prose.Count(version.Counts.Controls, "control", "controls") + ", " +
			prose.Count(version.Counts.Frameworks, "framework", "frameworks") + ", " +
			prose.Count(version.Counts.Requirements, "requirement", "requirements")
		in := api.ControlsInput{Paging: v.paging(100), Q: v.queryParam("q"), Domain: v.queryParam("domain"), Framework: v.queryParam("framework")}
		l, err := do(v, api.ListControls, &in)
		if err != nil {
			return err
		}
		domains, err := all(v, api.ListDomains, &api.DomainsInput{})
		if err != nil {
			return err
		}
		domain := field{Name: "domain", Label: "Domain", Kind: "select", Value: in.Domain, Options: choices(option{"", "Any"})}
		for _, d := range domains {
			domain.Options = append(domain.Options, option{d.Code, d.Name})
		}
		framework, err := v.frameworkField("framework", "Framework", in.Framework, "Any")
		if err != nil {
			return err
		}
		x := controlTable("", l.Data)
		x.Links = v.nextPageLinks(l.Pagination)
		x.Forms = []form{{Get: true, Button: "Filter", Style: "second", Fields: []field{
			textField("q", "Contains").withValue(in.Q).withKind("search"), domain, framework,
		}}}
		s.add(x)
		return nil
	},
}

var controlPanel = panel{
	path: "catalog/controls/{code}", title: "Control",
	show: func(v *visit, s *sheet) error {
		code := v.r.PathValue("code")
		c, err := do(v, api.GetControlByCode, &api.ControlByCodeInput{ControlCode: code})
		if err != nil {
			return err
		}
		v.title = c.Code + " " + c.Title
		s.Crumbs = []link{{Text: "Home"}, {Text: "Catalog", Href: "catalog"}}
		facts := []value{
			textValue(c.Description).labeled("Description"),
			textValue(orEmpty(c.Question)).labeled("Question"), textValue(c.DomainCode).labeled("Domain"),
			textValue(orEmpty(c.CSFFunction)).labeled("Function"), textValue(strings.Join(c.Applicability, ", ")).labeled("Concerns"),
			textValue(label(orEmpty(c.Cadence))).labeled("Cadence"),
		}
		if c.Weight != nil {
			facts = append(facts, textValue(fmt.Sprintf("%d of 10", *c.Weight)).labeled("Weight"))
		}
		for _, e := range c.EvidenceRequests {
			facts = append(facts, textValue(e.Artifact).labeled("Evidence"))
		}
		s.add(section{Facts: facts})
		if len(c.Maturity) > 0 {
			x := section{Title: "Maturity"}
			for _, n := range slices.Sorted(maps.Keys(c.Maturity)) {
				x.Facts = append(x.Facts, textValue(c.Maturity[n]).labeled("Level "+n))
			}
			s.add(x)
		}
		mappings, err := all(v, api.ListControlMappings, &api.ControlMappingsInput{ControlInput: api.ControlInput{ControlID: c.ID}})
		if err != nil {
			return err
		}
		s.add(mappingTable("Requirements that this control covers", mappings, true))
		return nil
	},
}

// mappingTable lists mappings, with their requirements if ofControl is set, and with their controls otherwise.
func mappingTable(title string, mappings []api.Mapping, ofControl bool) section {
	x := section{Title: title, Columns: []string{"Requirement", "Framework", "Relationship", "Source"}, Empty: "There are no mappings."}
	if !ofControl {
		x.Columns = []string{"Control", "Relationship", "Source"}
	}
	for i := range mappings {
		m := &mappings[i]
		relation := label(orEmpty(m.Relationship))
		if m.Strength != nil {
			relation += fmt.Sprintf(" (%d of 10)", *m.Strength)
		}
		rest := []value{textValue(relation), textValue(m.Source)}
		if ofControl {
			x.Rows = append(x.Rows, line{Cells: append([]value{
				linkValue(m.RequirementCode, "catalog/requirements/"+m.RequirementID), linkValue(m.FrameworkCode, frameworkLink(m.FrameworkCode)),
			}, rest...)})
		} else {
			x.Rows = append(x.Rows, line{Cells: append([]value{linkValue(m.ControlCode, controlLink(m.ControlCode))}, rest...)})
		}
	}
	return x
}

var frameworksPanel = panel{
	path: "catalog/frameworks", title: "Frameworks", group: &catalogPages,
	show: func(v *visit, s *sheet) error {
		in := api.FrameworksInput{Paging: v.paging(100), Q: v.queryParam("q"), Sort: "name"}
		l, err := do(v, api.ListFrameworks, &in)
		if err != nil {
			return err
		}
		x := section{
			Columns: []string{
				"Framework", "Code", "Publisher", "Requirements", "Mappings",
			}, Empty: "No matching frameworks.", Links: v.nextPageLinks(l.Pagination),
			Forms: []form{{
				Get: true, Button: "Filter", Style: "second",
				Fields: []field{textField("q", "Name or code").withValue(in.Q).withKind("search")},
			}},
		}
		for i := range l.Data {
			f := &l.Data[i]
			x.Rows = append(x.Rows, line{Cells: []value{
				linkValue(f.Name, frameworkLink(f.Code)), textValue(f.Code),
				textValue(orEmpty(f.Publisher)), countValue(f.RequirementCount), countValue(f.MappingCount),
			}})
		}
		s.add(x)
		return nil
	},
}

var frameworkPanel = panel{
	path: "catalog/frameworks/{code}", title: "Framework",
	show: func(v *visit, s *sheet) error {
		in := api.FrameworkInput{FrameworkID: v.r.PathValue("code")}
		f, err := do(v, api.GetFramework, &in)
		if err != nil {
			return err
		}
		v.title = f.Name
		s.Crumbs = []link{{Text: "Home"}, {Text: "Catalog", Href: "catalog"}, {Text: "Frameworks", Href: "catalog/frameworks"}}
		covered, err := do(v, api.GetCoverage, &api.CoverageInput{FrameworkID: f.ID})
		if err != nil {
			return err
		}
		code := url.QueryEscape(f.Code)
		s.add(section{
			Facts: []value{
				textValue(orEmpty(f.Title)).labeled("Title"), textValue(orEmpty(f.Publisher)).labeled("Publisher"),
				textValue(orEmpty(f.Jurisdiction)).labeled("Jurisdiction"),
				textValue(fmt.Sprintf("%d of %d requirements have controls",
					covered.MappedRequirementCount, covered.RequirementCount)).labeled("Covered"),
				linkValue(prose.Count(covered.ControlCount, "control", "controls"), "catalog?framework="+code).labeled("Controls"),
			},
			Links: []link{
				{Text: "Crosswalk to another framework", Href: "catalog/crosswalk?framework=" + code},
				{Text: "What this framework adds to others", Href: "catalog/coverage?framework=" + code},
			},
		})
		l, err := do(v, api.ListRequirements, &api.RequirementsInput{FrameworkInput: in, Paging: v.paging(200), Q: v.queryParam("q")})
		if err != nil {
			return err
		}
		x := section{
			Title: "Requirements", Columns: []string{"Requirement", "Title"},
			Empty: "No matching requirements.", Links: v.nextPageLinks(l.Pagination),
			Forms: []form{{
				Get: true, Button: "Filter", Style: "second",
				Fields: []field{textField("q", "Contains").withValue(v.queryParam("q")).withKind("search")},
			}},
		}
		for i := range l.Data {
			r := &l.Data[i]
			x.Rows = append(x.Rows, line{Cells: []value{
				linkValue(r.Code, "catalog/requirements/"+r.ID), textValue(cmp.Or(orEmpty(r.Title), orEmpty(r.Text))),
			}})
		}
		s.add(x)
		return nil
	},
}

var requirementPanel = panel{
	path: "catalog/requirements/{id}", title: "Requirement",
	show: func(v *visit, s *sheet) error {
		mappings, err := all(v, api.ListRequirementMappings, &api.RequirementMappingsInput{RequirementID: v.r.PathValue("id")})
		if err != nil {
			return err
		}
		s.Crumbs = []link{{Text: "Home"}, {Text: "Catalog", Href: "catalog"}, {Text: "Frameworks", Href: "catalog/frameworks"}}
		if len(mappings) > 0 {
			m := &mappings[0]
			v.title = m.RequirementCode
			s.Crumbs = append(s.Crumbs, link{Text: m.FrameworkCode, Href: frameworkLink(m.FrameworkCode)})
			l, err := do(v, api.ListRequirements, &api.RequirementsInput{
				FrameworkInput: api.FrameworkInput{FrameworkID: m.FrameworkID}, Paging: api.Paging{Limit: 100}, Q: m.RequirementCode,
			})
			if err != nil {
				return err
			}
			if i := slices.IndexFunc(l.Data, func(r api.Requirement) bool { return r.ID == m.RequirementID }); i >= 0 {
				s.add(section{Facts: []value{
					textValue(orEmpty(l.Data[i].Title)).labeled("Title"), textValue(orEmpty(l.Data[i].Text)).labeled("Text"),
				}})
			}
		}
		s.add(mappingTable("Controls that cover this requirement", mappings, false))
		return nil
	},
}

var crosswalkPanel = panel{
	path: "catalog/crosswalk", title: "Crosswalk", group: &catalogPages,
	show: func(v *visit, s *sheet) error {
		framework, target := v.queryParam("framework"), v.queryParam("target")
		from, err := v.frameworkField("framework", "From", framework, "Choose…")
		if err != nil {
			return err
		}
		to := from
		to.Name, to.Label, to.Value = "target", "To", target
		x := section{
			Text:  "Shows which requirements of two frameworks are covered by the same controls.",
			Forms: []form{{Get: true, Button: "Show", Fields: []field{from, to}}},
		}
		if framework == "" || target == "" {
			s.add(x)
			return nil
		}
		w, err := do(v, api.GetCrosswalk, &api.CrosswalkInput{Framework: framework, Target: target})
		if err != nil {
			return err
		}
		x.Links = []link{{
			Text: "The other way",
			Href: "catalog/crosswalk?" + url.Values{"framework": {target}, "target": {framework}}.Encode(),
		}}
		if w.Target == nil {
			s.add(x)
			return nil
		}
		x.Columns, x.Empty = []string{w.Framework.Name, w.Target.Name, "Shared controls"}, "The two frameworks share no controls."
		for _, pair := range w.Pairs {
			x.Rows = append(x.Rows, line{Cells: []value{
				textValue(pair.RequirementCode), textValue(pair.TargetRequirementCode), textValue(strings.Join(pair.ControlCodes, ", ")),
			}})
		}
		s.Lead = prose.Count(len(w.Pairs), "pair", "pairs") + " of requirements, through " + prose.Count(len(w.Controls), "control", "controls")
		s.add(x)
		return nil
	},
}

var coveragePanel = panel{
	path: "catalog/coverage", title: "Coverage", group: &catalogPages,
	show: func(v *visit, s *sheet) error {
		framework, have := v.queryParam("framework"), v.queryParam("have")
		goal, err := v.frameworkField("framework", "Framework to meet", framework, "Choose…")
		if err != nil {
			return err
		}
		met := goal
		met.Name, met.Label, met.Value = "have", "Framework already met", have
		s.add(section{
			Text:  "Shows how much of a framework is covered if you already meet another framework, and which controls it adds.",
			Forms: []form{{Get: true, Button: "Show", Fields: []field{goal, met}}},
		})
		if framework == "" || have == "" {
			return nil
		}
		c, err := do(v, api.GetCoverage, &api.CoverageInput{FrameworkID: framework, Have: []string{have}})
		if err != nil || c.Addition == nil {
			return err
		}
		a := c.Addition
		s.Sections[0].Links = []link{{
			Text: "The other way",
			Href: "catalog/coverage?" + url.Values{"framework": {have}, "have": {framework}}.Encode(),
		}}
		s.Sections[0].Facts = []value{
			countValue(a.RequirementsCovered).labeled("Requirements met"), countValue(a.RequirementsPartly).labeled("Partly met"),
			countValue(a.RequirementsNew).labeled("New"), countValue(a.SharedControls).labeled("Shared controls"),
			countValue(len(a.NewControls)).labeled("New controls"),
		}
		x := section{
			Title: "Controls it adds", Columns: []string{"Control", "Title"},
			Empty: "None, because all of its controls are already required.",
		}
		for _, n := range a.NewControls {
			x.Rows = append(x.Rows, line{Cells: []value{linkValue(n.ControlCode, controlLink(n.ControlCode)), textValue(n.ControlTitle)}})
		}
		s.add(x)
		return nil
	},
}
