package starter

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/engine/catalog/scf"
)

// catalogBuilder builds the source of the starter catalog from the embedded files.
type catalogBuilder struct {
	src                *scf.Source
	controlCodes       map[string]bool
	frameworks         map[string]int
	hasRequirementList []bool // frameworks whose requirements are listed in full
	pendingMappings    []pendingMapping
}

// pendingMapping is a mapping to a requirement whose index is not known yet.
type pendingMapping struct {
	control, framework int
	code               string
}

func (b *catalogBuilder) readFrameworks(data []byte) error {
	var file frameworksFile
	if err := decodeStrict(data, &file); err != nil {
		return err
	}
	for _, f := range file.Frameworks {
		if _, duplicate := b.frameworks[f.Code]; duplicate || f.Code == "" {
			return fmt.Errorf("framework %q is empty or listed twice", f.Code)
		}
		fw := scf.Framework{
			Code: f.Code, Name: f.Name, Publisher: f.Publisher, Jurisdiction: f.Jurisdiction, Title: f.Title, SourceURL: f.SourceURL,
		}
		if f.Requirements.Kind != 0 && f.Requirements.Kind != yaml.MappingNode {
			return fmt.Errorf("line %d: the requirements of %s must be pairs of the form code: title", f.Requirements.Line, f.Code)
		}
		nodes := f.Requirements.Content
		for i := 0; i+1 < len(nodes); i += 2 {
			fw.Requirements = append(fw.Requirements, scf.Requirement{Code: nodes[i].Value, Title: nodes[i+1].Value})
		}
		b.frameworks[f.Code] = len(b.src.Frameworks)
		b.src.Frameworks = append(b.src.Frameworks, fw)
		b.hasRequirementList = append(b.hasRequirementList, len(nodes) > 0)
	}
	return nil
}

func (b *catalogBuilder) readDomain(data []byte, name string) error {
	var file domainFile
	if err := decodeStrict(data, &file); err != nil {
		return err
	}
	d := file.Domain
	if strings.ToLower(d.Code) != name || d.Name == "" {
		return fmt.Errorf("the file of domain %q must be named after its code, and the domain must have a name", d.Code)
	}
	b.src.Domains = append(b.src.Domains, scf.Domain{
		Code: d.Code, Name: d.Name, Principle: strings.TrimSpace(d.Principle), Intent: strings.TrimSpace(d.Intent),
	})
	for i := range file.Controls {
		c := &file.Controls[i]
		if !scf.IsControlCode(c.Code) || scf.DomainCodeOf(c.Code) != d.Code {
			return fmt.Errorf("control code %q does not belong to domain %s", c.Code, d.Code)
		}
		if b.controlCodes[c.Code] {
			return fmt.Errorf("control %s is listed twice", c.Code)
		}
		b.controlCodes[c.Code] = true
		if err := b.addControl(c); err != nil {
			return fmt.Errorf("control %s: %w", c.Code, err)
		}
	}
	return nil
}

var (
	knownApplicability = []string{"people", "process", "technology", "data", "facility"}
	knownFunctions     = []string{"govern", "identify", "protect", "detect", "respond", "recover"}
	knownCadences      = []string{"annual", "semi_annual", "quarterly"}
	knownTraits        = []string{
		"develops_software", "uses_cloud", "processes_personal_data", "handles_cards", "has_ot", "has_facilities",
		"uses_ai", "outsources_it", "has_mobile_devices", "has_remote_workers",
	}
)

func (b *catalogBuilder) addControl(c *control) error {
	if err := c.validate(); err != nil {
		return err
	}
	out := scf.Control{
		Code: c.Code, Title: c.Title, Description: strings.TrimSpace(c.Description), Question: strings.TrimSpace(c.Question),
		Weight: c.Weight, Applicability: c.Applicability, CSFFunction: c.CSFFunction, Cadence: c.Cadence,
		Traits: c.Traits, Tags: c.Tags,
	}
	for _, artifact := range c.EvidenceRequests {
		out.Evidence = append(out.Evidence, len(b.src.Evidence))
		b.src.Evidence = append(b.src.Evidence, scf.EvidenceRequest{Artifact: strings.TrimSpace(artifact)})
	}
	for i, text := range c.Objectives {
		out.Objectives = append(out.Objectives, scf.Objective{
			Code: fmt.Sprintf("%s_A%02d", c.Code, i+1), Text: strings.TrimSpace(text), Rigor: 1, Applicability: c.Applicability,
		})
	}
	for level, text := range c.Maturity {
		n, err := strconv.Atoi(level)
		if err != nil || n < 0 || n > 5 {
			return fmt.Errorf("maturity level %q is not a number from 0 to 5", level)
		}
		out.Maturity[n] = strings.TrimSpace(text)
	}
	for _, k := range c.Compensating {
		out.Compensating = append(out.Compensating, scf.CompensatingControl{Control: k.Control, Justification: strings.TrimSpace(k.Why)})
	}
	for f := range b.src.Frameworks {
		fw := &b.src.Frameworks[f]
		for _, code := range c.Mappings[fw.Code] {
			b.pendingMappings = append(
				b.pendingMappings,
				pendingMapping{control: len(b.src.Controls), framework: f, code: strings.TrimSpace(code)},
			)
		}
	}
	for name := range c.Mappings {
		if _, known := b.frameworks[name]; !known {
			return fmt.Errorf("framework %q is not listed in data-frameworks.yaml", name)
		}
	}
	b.src.Controls = append(b.src.Controls, out)
	return nil
}

func (c *control) validate() error {
	switch {
	case c.Title == "" || c.Description == "" || c.Question == "":
		return fmt.Errorf("title, description and question are required")
	case c.Weight < 1 || c.Weight > 10:
		return fmt.Errorf("weight %d is not between 1 and 10", c.Weight)
	case c.Weight == 10 && len(c.Compensating) > 0:
		return fmt.Errorf("a control with weight 10 can't have compensating controls")
	case !slices.Contains(knownFunctions, c.CSFFunction):
		return fmt.Errorf("unknown csf_function %q", c.CSFFunction)
	case !slices.Contains(knownCadences, c.Cadence):
		return fmt.Errorf("unknown cadence %q", c.Cadence)
	}
	for _, a := range c.Applicability {
		if !slices.Contains(knownApplicability, a) {
			return fmt.Errorf("unknown applicability %q", a)
		}
	}
	for _, t := range c.Traits {
		if !slices.Contains(knownTraits, t) {
			return fmt.Errorf("unknown trait %q", t)
		}
	}
	return nil
}

// resolveRequirementsAndMappings completes the lists of requirements, replaces the pending mappings with real
// ones, and counts the records.
func (b *catalogBuilder) resolveRequirementsAndMappings() error {
	src := b.src
	for f := range src.Frameworks {
		fw := &src.Frameworks[f]
		if !b.hasRequirementList[f] {
			for _, l := range b.pendingMappings {
				if l.framework == f {
					fw.Requirements = append(fw.Requirements, scf.Requirement{Code: l.code})
				}
			}
			slices.SortFunc(fw.Requirements, func(x, y scf.Requirement) int { return scf.CompareNatural(x.Code, y.Code) })
			fw.Requirements = slices.CompactFunc(fw.Requirements, func(x, y scf.Requirement) bool { return x.Code == y.Code })
		}
	}
	seen := map[scf.Mapping]bool{}
	for _, l := range b.pendingMappings {
		fw := &src.Frameworks[l.framework]
		at := slices.IndexFunc(fw.Requirements, func(r scf.Requirement) bool { return r.Code == l.code })
		if at < 0 { // for a divided clause, use its first part: 9.2.1 for 9.2
			at = slices.IndexFunc(fw.Requirements, func(r scf.Requirement) bool { return r.Code == l.code+".1" })
		}
		if at < 0 {
			return fmt.Errorf("control %s is mapped to requirement %q, which %s does not have", src.Controls[l.control].Code, l.code, fw.Code)
		}
		m := scf.Mapping{Control: l.control, Framework: l.framework, Requirement: at}
		if !seen[m] {
			seen[m] = true
			src.Mappings = append(src.Mappings, m)
		}
	}
	for i := range src.Controls {
		for j := range src.Controls[i].Compensating {
			k := &src.Controls[i].Compensating[j]
			if !scf.IsControlCode(k.Control) {
				return fmt.Errorf("control %s: compensating control %q is not a control code", src.Controls[i].Code, k.Control)
			}
		}
	}
	src.SetContentStatistics()
	src.Statistics.Warnings = len(src.Warnings)
	return nil
}
