package assessment

import (
	"context"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// narrowing are the names that a list of items is narrowed to; nil or empty where it isn't.
type narrowing struct{ domain, control, framework, requirement *string }

// narrow understands names as paths do, whatever their spelling, and writes them as the items
// have them. It refuses a domain, framework or requirement that nothing has; a control may be
// one that the catalog lacks. answers tells of an item whether it is of the requirement.
func narrow[V, I any](ctx context.Context, s *Service, by api.Caller, k kind[V, I], version string, f narrowing) (answers func(api.RequirementCodes) bool, err error) {
	answers = func(api.RequirementCodes) bool { return true }
	if text(f.domain)+text(f.control)+text(f.framework)+text(f.requirement) == "" {
		return answers, nil
	}
	v, err := getVersion(ctx, s, by, k, version)
	if err != nil {
		return nil, err
	}
	a, err := s.read(ctx, by, k.version(v).AssessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.snapshot(ctx, &a)
	if err != nil {
		return nil, err
	}
	some := func(has func(*api.Item) bool) (found bool, err error) { // of another catalog, before a migration
		err = s.db.View(ctx, func(tx *store.Tx) error {
			items, err := k.itemsOf(tx, by.OrganizationID, version)
			found = slices.ContainsFunc(items, func(i I) bool { return has(k.item(&i)) })
			return err
		})
		return found, err
	}
	if ref := text(f.control); ref != "" {
		if c, err := snap.Control(ref); err == nil {
			*f.control = c.Code
		}
	}
	if ref := text(f.domain); ref != "" {
		d, wrong := snap.Domain(ref)
		if wrong == nil {
			*f.domain = d.Code
		} else if has, err := some(func(i *api.Item) bool { return strings.EqualFold(i.DomainCode, ref) }); err != nil || !has {
			return nil, firstError(err, api.Invalid("domain", "%s", wrong))
		}
	}
	if ref := text(f.framework); ref != "" {
		fw, wrong := snap.Framework(ref)
		if wrong == nil {
			*f.framework = fw.Code
		} else if has, err := some(func(i *api.Item) bool { return len(i.RequirementCodes[ref]) > 0 }); err != nil || !has {
			return nil, firstError(err, api.Invalid("framework", "%s", wrong))
		}
	}
	if text(f.requirement) == "" {
		return answers, nil
	}
	return requirementOf(snap, a.Frameworks, text(f.framework), *f.requirement)
}

// requirementOf tells which items answer to a requirement of an assessment's frameworks.
func requirementOf(snap *scf.Snapshot, frameworks []string, framework, ref string) (func(api.RequirementCodes) bool, error) {
	if name, code, ok := strings.Cut(ref, ":"); ok {
		if fw, err := snap.Framework(name); err == nil {
			framework, ref = fw.Code, strings.TrimSpace(code)
		}
	}
	if framework != "" {
		frameworks = slices.DeleteFunc(slices.Clone(frameworks), func(f string) bool { return f != framework })
	}
	if len(frameworks) == 0 {
		return nil, api.Invalid("requirement", "the assessment has no framework of which %q could be a requirement", ref)
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
			if slices.ContainsFunc(has[f], func(c string) bool { return c == code || scf.LooseCode(c) == scf.LooseCode(ref) }) {
				return true
			}
		}
		return false
	}, nil
}
