package scf

import (
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// NotFoundError reports that a catalog version has no record with the given ID or code.
type NotFoundError struct {
	Kind, Ref   string   // Kind: domain, control, framework, requirement, mapping
	Suggestions []string // similar codes, best first
}

func (e *NotFoundError) Error() string {
	if len(e.Suggestions) == 0 {
		return fmt.Sprintf("the catalog has no %s %q", e.Kind, e.Ref)
	}
	return fmt.Sprintf("the catalog has no %s %q; did you mean %s?", e.Kind, e.Ref, joinOr(e.Suggestions))
}

// AmbiguousError is returned if a code could mean several records.
type AmbiguousError struct {
	Kind, Ref string
	// Matches identify the records unambiguously.
	Matches []string
}

func (e *AmbiguousError) Error() string {
	const shown = 6
	if more := len(e.Matches) - shown; more > 0 {
		return fmt.Sprintf("%s %q could mean %s and %d more; be more specific", e.Kind, e.Ref, strings.Join(e.Matches[:shown], ", "), more)
	}
	return fmt.Sprintf("%s %q could mean %s; be more specific", e.Kind, e.Ref, joinOr(e.Matches))
}

func joinOr(s []string) string {
	if len(s) < 2 {
		return strings.Join(s, "")
	}
	return strings.Join(s[:len(s)-1], ", ") + " or " + s[len(s)-1]
}

// parseID parses an ID in canonical form. It returns false if ref is not an ID and so must be a code.
func parseID(ref string) (uuid.UUID, bool) {
	if len(ref) != 36 {
		return uuid.UUID{}, false
	}
	id, err := uuid.Parse(ref)
	return id, err == nil
}

// findControl returns the index of the control with the given ID or code. Other spellings of a code are accepted,
// such as iac-6 for IAC-06.
func (s *Snapshot) findControl(ref string) (int, error) {
	ref = strings.TrimSpace(ref)
	if id, ok := parseID(ref); ok {
		if k, ours := s.parseIDKind(id); ours && k == kindControl {
			want := id.String()
			for i := range s.controlIDs {
				if s.controlIDs[i] == want {
					return i, nil
				}
			}
		}
		return 0, &NotFoundError{Kind: "control", Ref: ref}
	}
	if i, ok := s.controls[strings.ToUpper(ref)]; ok {
		return i, nil
	}
	if i, ok := s.controls[normalizeControlCode(ref)]; ok {
		return i, nil
	}
	return 0, &NotFoundError{Kind: "control", Ref: ref, Suggestions: s.suggestControls(ref)}
}

// findFramework returns the index of the framework with the given ID, code, alias, name or workbook header. A
// unique prefix of a code is accepted too.
func (s *Snapshot) findFramework(ref string) (int, error) {
	ref = strings.TrimSpace(ref)
	if id, ok := parseID(ref); ok {
		if k, ours := s.parseIDKind(id); ours && k == kindFramework {
			want := id.String()
			for i := range s.frameworkIDs {
				if s.frameworkIDs[i] == want {
					return i, nil
				}
			}
		}
		return 0, &NotFoundError{Kind: "framework", Ref: ref}
	}
	for _, code := range []string{ref, strings.ToLower(ref), FrameworkCode(ref)} {
		if i, ok := s.frameworks[code]; ok {
			return i, nil
		}
	}
	var matches []int
	name := CollapseSpaces(ref)
	for i := range s.src.Frameworks {
		f := &s.src.Frameworks[i]
		if strings.EqualFold(f.Name, name) || strings.EqualFold(f.Column, name) {
			matches = append(matches, i)
		}
	}
	if stem := FrameworkCode(ref) + "-"; len(matches) == 0 && len(stem) > 3 {
		matches = s.frameworksWithStem(stem)
	}
	if apart := joinedNumber.ReplaceAllString(FrameworkCode(ref), "$1-$2"); len(matches) == 0 { // iso27001, nist80053
		if i, ok := s.frameworks[apart]; ok {
			return i, nil
		}
		matches = s.frameworksWithStem(apart + "-")
	}
	switch len(matches) {
	case 0:
		return 0, &NotFoundError{Kind: "framework", Ref: ref, Suggestions: s.SuggestFrameworks(ref, 5)}
	case 1:
		return matches[0], nil
	}
	err := &AmbiguousError{Kind: "framework", Ref: ref}
	for _, i := range matches {
		err.Matches = append(err.Matches, s.src.Frameworks[i].Code)
	}
	return 0, err
}

// findRequirement returns the number of the requirement with the given ID, code or reference. A reference has the
// form "framework:code".
func (s *Snapshot) findRequirement(ref string) (int32, error) {
	ref = strings.TrimSpace(ref)
	if id, ok := parseID(ref); ok {
		if k, ours := s.parseIDKind(id); ours && k == kindRequirement {
			if n, ok := s.requirementByID()[id]; ok {
				return n, nil
			}
		}
		return 0, &NotFoundError{Kind: "requirement", Ref: ref}
	}
	if fw, code, ok := strings.Cut(ref, ":"); ok {
		if f, err := s.findFramework(fw); err == nil {
			return s.findRequirementIn(f, strings.TrimSpace(code))
		}
	}
	found := s.requirementRefs().exact[ref]
	if len(found) == 0 {
		found = slices.Concat(s.requirementRefs().loose[NormalizeRequirementCode(ref)], s.findISO27001AnnexRequirements(ref))
	}
	switch len(found) {
	case 0:
		return 0, &NotFoundError{Kind: "requirement", Ref: ref}
	case 1:
		return found[0], nil
	}
	err := &AmbiguousError{Kind: "requirement", Ref: ref}
	for _, n := range found {
		f, r := s.locateRequirement(n)
		fw := &s.src.Frameworks[f]
		err.Matches = append(err.Matches, fw.Code+":"+fw.Requirements[r].Code)
	}
	return 0, err
}

// findRequirementIn returns the number of a framework's requirement with the given code. It tries the exact
// code first and the normalized code second. For ISO 27001, it then looks for a control of Annex A, with or
// without the prefix "A.", in the framework that contains the annex.
func (s *Snapshot) findRequirementIn(f int, code string) (int32, error) {
	for _, found := range [][]int32{s.requirementRefs().exact[code], s.requirementRefs().loose[NormalizeRequirementCode(code)]} {
		if in := s.filterRequirementsByFramework(f, found); len(in) > 0 {
			return in[0], nil
		}
	}
	fw := &s.src.Frameworks[f]
	for clauses := range annexFrameworks {
		if fw.Code != clauses && !slices.Contains(fw.Aliases, clauses) {
			continue
		}
		for _, found := range [][]int32{
			s.findISO27001AnnexRequirementsIn(clauses, code), s.findISO27001AnnexRequirementsIn(clauses, "A."+code),
			s.filterRequirementsByFramework(f, s.requirementRefs().loose["a."+NormalizeRequirementCode(code)]), // the starter includes the annex
		} {
			if len(found) > 0 {
				return found[0], nil
			}
		}
	}
	return 0, &NotFoundError{Kind: "requirement", Ref: fw.Code + ":" + code}
}

// findISO27001AnnexRequirements returns the controls of ISO 27001's Annex A that ref refers to. The catalog may list
// control A.5.1 of the annex as 5.1 of ISO 27002.
func (s *Snapshot) findISO27001AnnexRequirements(ref string) []int32 {
	return slices.Concat(s.findISO27001AnnexRequirementsIn(iso27001, ref), s.findISO27001AnnexRequirementsIn(iso27001Edition2013, ref))
}

func (s *Snapshot) findISO27001AnnexRequirementsIn(framework, ref string) []int32 {
	f, ok := s.frameworks[annexFrameworks[framework]]
	number, annex := strings.CutPrefix(strings.ToUpper(ref), "A.")
	if !ok || !annex {
		return nil
	}
	return s.filterRequirementsByFramework(f, s.requirementRefs().exact[number])
}

// Control returns the control with the given ID or code.
func (s *Snapshot) Control(ref string) (api.Control, error) {
	i, err := s.findControl(ref)
	if err != nil {
		return api.Control{}, err
	}
	return s.controlList()[i], nil
}

// ControlID returns the ID of the control with exactly this code, or "" if there is none. It is faster than
// Control, because it makes no suggestions.
func (s *Snapshot) ControlID(code string) string {
	i, ok := s.controls[strings.ToUpper(strings.TrimSpace(code))]
	if !ok {
		return ""
	}
	return s.controlIDs[i]
}

// Framework returns the framework with the given ID, code, alias, name or workbook header. A unique prefix of
// a code is accepted too.
func (s *Snapshot) Framework(ref string) (api.Framework, error) {
	i, err := s.findFramework(ref)
	if err != nil {
		return api.Framework{}, err
	}
	return s.frameworkList()[i], nil
}

// Requirement returns the requirement with the given ID, code or reference. A reference has the form
// "framework:code".
func (s *Snapshot) Requirement(ref string) (api.Requirement, error) {
	n, err := s.findRequirement(ref)
	if err != nil {
		return api.Requirement{}, err
	}
	return s.requirementRecord(n), nil
}

// Domain returns the domain with the given ID or code.
func (s *Snapshot) Domain(ref string) (api.Domain, error) {
	for _, d := range s.domainList() {
		if d.ID == ref || strings.EqualFold(d.Code, strings.TrimSpace(ref)) {
			return d, nil
		}
	}
	var codes []string
	for _, d := range s.domainList() {
		codes = append(codes, d.Code)
	}
	return api.Domain{}, &NotFoundError{Kind: "domain", Ref: ref, Suggestions: Suggest(ref, codes)}
}

// Mapping returns the mapping with the given ID.
func (s *Snapshot) Mapping(id string) (api.Mapping, error) {
	if u, ok := parseID(id); ok {
		if i, ok := s.mappingByID()[u]; ok {
			return s.mappingRecord(i), nil
		}
	}
	return api.Mapping{}, &NotFoundError{Kind: "mapping", Ref: id}
}

// joinedNumber matches the start of a code whose name and number are written together, such as iso27001.
var joinedNumber = lazyregexp.New(`^([a-z]+)(\d)`)

// yearPattern matches the year of an edition.
var yearPattern = lazyregexp.New(`^\d{4}$`)

// frameworksWithStem returns the frameworks whose codes begin with a stem. If the stem is followed only by a year in
// each of these codes, they are editions of the same framework, and only the newest one is returned.
func (s *Snapshot) frameworksWithStem(stem string) (found []int) {
	editions := true
	for i := range s.src.Frameworks {
		if rest, ok := strings.CutPrefix(s.src.Frameworks[i].Code, stem); ok {
			found, editions = append(found, i), editions && yearPattern.MatchString(rest)
		}
	}
	if editions && len(found) > 1 {
		return []int{slices.MaxFunc(found, func(a, b int) int { return strings.Compare(s.src.Frameworks[a].Code, s.src.Frameworks[b].Code) })}
	}
	return found
}
