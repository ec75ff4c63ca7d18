package scf

import (
	"errors"
	"strings"
)

// IdentifyFramework returns the index of the framework that a document covers. It first tries the names of the
// document and its file. If no name is known, it looks for a framework whose requirements match the codes in the
// document clearly better than those of any other framework. If there is no such framework, it returns a
// *NotFoundError with suggestions.
func (s *Snapshot) IdentifyFramework(names, codes []string) (int, error) {
	hyphens := make(map[string]int, len(s.src.Frameworks))
	for i := range s.src.Frameworks {
		code := strings.ReplaceAll(s.src.Frameworks[i].Code, ".", "-")
		if _, taken := hyphens[code]; !taken {
			hyphens[code] = i
		}
	}
	ref := ""
	for _, name := range names {
		if name == "" {
			continue
		}
		ref = name
		if i, ok := s.frameworks[name]; ok {
			return i, nil
		}
		for _, region := range []string{"", "general-", "usa-federal-", "usa-state-", "emea-", "apac-", "americas-"} {
			slug := FrameworkCode(strings.TrimPrefix(name, region))
			if i, ok := s.frameworks[slug]; ok {
				return i, nil
			}
			if i, ok := hyphens[strings.ReplaceAll(slug, ".", "-")]; ok {
				return i, nil
			}
		}
	}
	if i, ok := s.frameworkByRequirements(codes); ok {
		return i, nil
	}
	if ref == "" {
		return 0, errNoFrameworkHint
	}
	return 0, &NotFoundError{Kind: "framework", Ref: ref, Suggestions: s.SuggestFrameworks(ref, 5)}
}

var errNoFrameworkHint = errors.New("the framework can't be identified from the document's name or content")

// FrameworkIndex returns the index of a framework in the source. ref can be anything that the method
// Framework accepts.
func (s *Snapshot) FrameworkIndex(ref string) (int, error) { return s.findFramework(ref) }

// frameworkByRequirements returns the framework whose requirements best match the codes, if they match clearly
// better than those of any other framework.
func (s *Snapshot) frameworkByRequirements(codes []string) (index int, found bool) {
	const fewest, enough, ahead = 5, 0.6, 0.1
	wanted := make(map[string]bool, len(codes))
	for _, c := range codes {
		wanted[NormalizeRequirementCode(c)] = true
	}
	if len(wanted) < fewest {
		return 0, false
	}
	best, first, second := -1, 0.0, 0.0
	for i := range s.src.Frameworks {
		shared := 0
		for _, q := range s.src.Frameworks[i].Requirements {
			if wanted[NormalizeRequirementCode(q.Code)] {
				shared++
			}
		}
		like := float64(shared) / float64(len(wanted)+len(s.src.Frameworks[i].Requirements)-shared)
		if like > first {
			best, first, second = i, like, first
		} else {
			second = max(second, like)
		}
	}
	return best, first >= enough && first-second >= ahead
}
