package assessment

import (
	"context"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// itemFilter holds the names by which items are filtered. A nil or empty field means no filter.
type itemFilter struct{ domain, control, framework, requirement *string }

// normalizeItemFilter changes the names in f to the spelling that items use. It returns an error
// for an unknown domain, framework or requirement, but accepts a control that is not in the
// catalog. The returned function reports whether an item's codes match the requirement.
func normalizeItemFilter[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	version string,
	f itemFilter,
) (matchesRequirement func(api.RequirementCodes) bool, err error) {
	matchesRequirement = func(api.RequirementCodes) bool { return true }
	if stringOrEmpty(f.domain)+stringOrEmpty(f.control)+stringOrEmpty(f.framework)+stringOrEmpty(f.requirement) == "" {
		return matchesRequirement, nil
	}
	v, err := getVersion(ctx, s, by, k, version)
	if err != nil {
		return nil, err
	}
	a, err := s.readAssessment(ctx, by, k.version(v).AssessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.catalogSnapshot(ctx, &a)
	if err != nil {
		return nil, err
	}
	anyItem := func(has func(*api.Item) bool) (found bool, err error) { // items may be from an older catalog
		err = s.db.View(ctx, func(tx *store.Tx) error {
			items, err := k.readItems(tx, by.OrganizationID, version)
			found = slices.ContainsFunc(items, func(i I) bool { return has(k.item(&i)) })
			return err
		})
		return found, err
	}
	if ref := stringOrEmpty(f.control); ref != "" {
		if c, err := snap.Control(ref); err == nil {
			*f.control = c.Code
		}
	}
	if ref := stringOrEmpty(f.domain); ref != "" {
		d, wrong := snap.Domain(ref)
		if wrong == nil {
			*f.domain = d.Code
		} else if has, err := anyItem(func(i *api.Item) bool { return strings.EqualFold(i.DomainCode, ref) }); err != nil || !has {
			return nil, firstError(err, api.Invalid("domain", "%s", wrong))
		}
	}
	if ref := stringOrEmpty(f.framework); ref != "" {
		fw, wrong := snap.Framework(ref)
		if wrong == nil {
			*f.framework = fw.Code
		} else if has, err := anyItem(func(i *api.Item) bool { return len(i.RequirementCodes[ref]) > 0 }); err != nil || !has {
			return nil, firstError(err, api.Invalid("framework", "%s", wrong))
		}
	}
	if stringOrEmpty(f.requirement) == "" {
		return matchesRequirement, nil
	}
	return requirementMatcher(snap, a.Frameworks, stringOrEmpty(f.framework), *f.requirement)
}

// requirementMatcher returns a function that reports whether an item's requirement codes include the
// requirement ref. It returns an error if the assessment's frameworks have no such requirement.
func requirementMatcher(snap *scf.Snapshot, frameworks []string, framework, ref string) (func(api.RequirementCodes) bool, error) {
	if name, code, ok := strings.Cut(ref, ":"); ok {
		if fw, err := snap.Framework(name); err == nil {
			framework, ref = fw.Code, strings.TrimSpace(code)
		}
	}
	if framework != "" {
		frameworks = slices.DeleteFunc(slices.Clone(frameworks), func(f string) bool { return f != framework })
	}
	if len(frameworks) == 0 {
		return nil, api.Invalid("requirement", "%q is not a requirement of any framework of the assessment", ref)
	}
	codes := map[string]string{}
	for _, f := range frameworks {
		if r, err := snap.Requirement(f + ":" + ref); err == nil {
			codes[f] = r.Code
		}
	}
	if len(codes) == 0 {
		return nil, api.Invalid("requirement", "there is no requirement %q in %s", ref, strings.Join(frameworks, " or "))
	}
	return func(has api.RequirementCodes) bool {
		for f, code := range codes {
			if slices.ContainsFunc(has[f], func(c string) bool {
				return c == code || scf.NormalizeRequirementCode(c) == scf.NormalizeRequirementCode(ref)
			}) {
				return true
			}
		}
		return false
	}, nil
}
