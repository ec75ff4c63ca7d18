package custom

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// ReadCatalog reads a catalog document. Errors in the document are of type *PathError. The SHA256 field of
// the result is the hash that CheckAndHashJSON returns.
func ReadCatalog(data []byte) (*scf.Source, error) {
	sum, err := CheckAndHashJSON(data)
	if err != nil {
		return nil, err
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(data))
	if err != nil {
		return nil, pathErrorf("", "the document is not valid JSON: %v", err)
	}
	if err := checkSchema(tree); err != nil {
		return nil, err
	}
	var doc catalogDocument
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, pathErrorf("", "%v", err)
	}
	r := catalogReader{doc: &doc, src: &scf.Source{Label: doc.Label, SHA256: sum}}
	return r.readAll()
}

// catalogReader converts a document that matches the schema into an scf.Source.
type catalogReader struct {
	doc *catalogDocument
	src *scf.Source

	domains, controls, evidence, frameworks map[string]int
	// requirements maps each framework's requirement codes to indexes.
	requirements []map[string]int
}

func (r *catalogReader) readAll() (*scf.Source, error) {
	if r.doc.Origin != nil {
		r.src.IsStarter = r.doc.Origin.IsStarter
	}
	for _, step := range []func() error{r.readDomains, r.readEvidence, r.readFrameworks, r.readControls, r.readPrinciples} {
		if err := step(); err != nil {
			return nil, err
		}
	}
	r.src.Risks, r.src.Threats = r.doc.Risks, r.doc.Threats
	slices.SortFunc(r.src.Mappings, scf.CompareMappings)
	r.src.SetContentStatistics()
	r.src.Statistics.Warnings = len(r.src.Warnings)
	return r.src, nil
}

func (r *catalogReader) warn(place, format string, args ...any) {
	r.src.Warnings = append(r.src.Warnings, api.ImportWarning{Cell: place, Message: fmt.Sprintf(format, args...)})
}

// recordUniqueCode records the index of a code, or returns an error if seen already contains the code.
func recordUniqueCode(seen map[string]int, code string, index int, place, noun string) error {
	if first, duplicate := seen[code]; duplicate {
		return pathErrorf(place, "the %s %q is listed twice; it first appears at position %d", noun, scf.Shorten(code), first+1)
	}
	seen[code] = index
	return nil
}

func (r *catalogReader) readDomains() error {
	r.domains = make(map[string]int, len(r.doc.Domains))
	for i, d := range r.doc.Domains {
		if err := recordUniqueCode(r.domains, d.Code, i, fmt.Sprintf("domains[%d].code", i), "domain"); err != nil {
			return err
		}
	}
	r.src.Domains = r.doc.Domains
	return nil
}

func (r *catalogReader) readEvidence() error {
	r.evidence = make(map[string]int, len(r.doc.Evidence))
	for i, e := range r.doc.Evidence {
		if err := recordUniqueCode(r.evidence, e.ID, i, fmt.Sprintf("evidence_requests[%d].id", i), "evidence request"); err != nil {
			return err
		}
		r.src.Evidence = append(
			r.src.Evidence,
			scf.EvidenceRequest{Code: e.Code, Area: e.Area, Artifact: e.Artifact, Description: e.Description},
		)
	}
	return nil
}

func (r *catalogReader) readFrameworks() error {
	r.frameworks = make(map[string]int, len(r.doc.Frameworks))
	for i, f := range r.doc.Frameworks {
		place := fmt.Sprintf("frameworks[%d]", i)
		if err := recordUniqueCode(r.frameworks, f.Code, i, place+".code", "framework"); err != nil {
			return err
		}
		codes := make(map[string]int, len(f.Requirements))
		for n, q := range f.Requirements {
			if err := recordUniqueCode(codes, q.Code, n, fmt.Sprintf("%s.requirements[%d].code", place, n), "requirement"); err != nil {
				return err
			}
		}
		r.requirements = append(r.requirements, codes)
	}
	r.src.Frameworks = r.doc.Frameworks
	for i := range r.doc.Frameworks {
		for n, code := range r.doc.Frameworks[i].Includes {
			if _, known := r.frameworks[code]; !known {
				r.warn(fmt.Sprintf("frameworks[%d].includes[%d]", i, n), "the document has no framework %q", scf.Shorten(code))
			}
		}
	}
	return nil
}

func (r *catalogReader) readControls() error {
	r.controls = make(map[string]int, len(r.doc.Controls))
	for i := range r.doc.Controls {
		c := &r.doc.Controls[i]
		place := fmt.Sprintf("controls[%d]", i)
		if err := recordUniqueCode(r.controls, c.Code, i, place+".code", "control"); err != nil {
			return err
		}
		if _, known := r.domains[scf.DomainCodeOf(c.Code)]; !known {
			return pathErrorf(place+".code", "%s belongs to domain %s, which is not in the document", c.Code, scf.DomainCodeOf(c.Code))
		}
		out, err := r.toControl(c, place)
		if err != nil {
			return err
		}
		r.src.Controls = append(r.src.Controls, out)
		if err := r.addMappings(c, i, place); err != nil {
			return err
		}
	}
	for i := range r.doc.Controls {
		for n, k := range r.doc.Controls[i].Compensating {
			if _, known := r.controls[k.Control]; !known {
				r.warn(
					fmt.Sprintf("controls[%d].compensating_controls[%d]", i, n),
					"the document has no control %q",
					scf.Shorten(k.Control),
				)
			}
		}
	}
	return nil
}

func (r *catalogReader) toControl(c *control, place string) (scf.Control, error) {
	out := scf.Control{
		Code:          c.Code,
		Title:         c.Title,
		Description:   c.Description,
		Question:      c.Question,
		Weight:        scf.NoWeight,
		Applicability: c.Applicability,
		CSFFunction:   c.CSFFunction,
		Cadence:       c.Cadence,
		Solutions:     c.Solutions,
		Risks:         c.Risks,
		Threats:       c.Threats,
		Baselines:     c.Baselines,
		SCRMTiers:     c.SCRMTiers,
		Traits:        c.Traits,
		Tags:          c.Tags,
		Errata:        c.Errata,
		Extra:         c.Extra,
		Objectives:    c.Objectives,
		Compensating:  c.Compensating,
	}
	if c.Weight != nil {
		out.Weight = *c.Weight
	}
	for n, id := range c.Evidence {
		e, known := r.evidence[id]
		if !known {
			return out, pathErrorf(
				fmt.Sprintf("%s.evidence_requests[%d]", place, n),
				"the document has no evidence request with the ID %q",
				scf.Shorten(id),
			)
		}
		out.Evidence = append(out.Evidence, e)
	}
	for level, text := range c.Maturity {
		n, _ := strconv.Atoi(level) // the schema allows only 0 to 5
		out.Maturity[n] = text
	}
	return out, nil
}

// addMappings adds a control's mappings to requirements. It returns an error if the control maps to the same
// requirement twice.
func (r *catalogReader) addMappings(c *control, number int, place string) error {
	seen := map[[2]int]bool{}
	add := func(framework, code, at string, detail *scf.MappingDetail) error {
		f, known := r.frameworks[framework]
		if !known {
			return pathErrorf(at, "the document has no framework %q", scf.Shorten(framework))
		}
		q, known := r.requirements[f][code]
		if !known {
			return pathErrorf(at, "framework %s has no requirement %q", framework, scf.Shorten(code))
		}
		if seen[[2]int{f, q}] {
			return pathErrorf(at, "%s is mapped twice to requirement %s of %s", c.Code, scf.Shorten(code), framework)
		}
		seen[[2]int{f, q}] = true
		r.src.Mappings = append(r.src.Mappings, scf.Mapping{Control: number, Framework: f, Requirement: q, Detail: detail})
		return nil
	}
	for _, framework := range slices.Sorted(maps.Keys(c.Mappings)) {
		for n, code := range c.Mappings[framework] {
			if err := add(framework, code, fmt.Sprintf("%s.mappings.%s[%d]", place, scf.Shorten(framework), n), nil); err != nil {
				return err
			}
		}
	}
	for n, rel := range c.Relations {
		d := scf.MappingDetail{
			Relationship: rel.Relationship,
			Strength:     -1,
			Rationale:    rel.Rationale,
			Source:       rel.Source,
			Official:     rel.IsOfficial,
		}
		if rel.Strength != nil {
			d.Strength = *rel.Strength
		}
		if err := add(rel.Framework, rel.Requirement, fmt.Sprintf("%s.relations[%d]", place, n), &d); err != nil {
			return err
		}
	}
	return nil
}

func (r *catalogReader) readPrinciples() error {
	for i, p := range r.doc.Principles {
		for n, code := range p.Controls {
			if _, known := r.controls[code]; !known {
				r.warn(fmt.Sprintf("principles[%d].controls[%d]", i, n), "the document has no control %q", scf.Shorten(code))
			}
		}
	}
	r.src.Principles = r.doc.Principles
	return nil
}
