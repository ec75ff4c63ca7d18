package merge

import (
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// Catalog is a catalog version as used by one assessment.
type Catalog struct {
	Snapshot *scf.Snapshot
	// Controls are the controls of the assessment's frameworks; Codes maps each control code to the
	// requirements that the control covers.
	Controls []api.Control
	Codes    map[string]api.RequirementCodes
}

// MatchFrameworks finds the frameworks of an assessment in another catalog version by their codes.
// newFrameworkIDs contains the IDs of the frameworks that were found and are not to be dropped.
func MatchFrameworks(
	from, to *scf.Snapshot,
	a *api.Assessment,
	dropped []string,
) (frameworks []api.MigratedFramework, newFrameworkIDs []string) {
	for n, code := range a.Frameworks {
		f := api.MigratedFramework{Code: code, Status: "kept"}
		old, err := from.Framework(a.FrameworkIDs[n])
		found, notFound := findFramework(to, code, err == nil && old.IsCustom)
		switch {
		case slices.Contains(dropped, code):
			f.Status = "dropped"
		case notFound != nil:
			why := notFound.Error()
			f.Status, f.Message = "missing", &why
		default:
			f.ToCode = &found.Code
			if found.Code != code {
				f.Status = "renamed"
			}
			newFrameworkIDs = append(newFrameworkIDs, found.ID)
		}
		frameworks = append(frameworks, f)
	}
	return frameworks, newFrameworkIDs
}

// findFramework looks up a framework by code. It finds a custom framework only among the custom ones,
// even if the catalog contains one with the same code.
func findFramework(in *scf.Snapshot, code string, custom bool) (api.Framework, error) {
	f, err := in.Framework(code)
	if custom && (err != nil || !f.IsCustom) {
		if f, err := in.Framework(code + "-custom"); err == nil && f.IsCustom {
			return f, nil
		}
		return f, &scf.NotFoundError{Kind: "framework", Ref: code}
	}
	return f, err
}

// CompareCatalogs compares an assessment's controls in two catalog versions and adds two things to
// m: the controls to review, and the consequences for users' decisions on the controls in
// userEdited. m.Frameworks must already be set.
func CompareCatalogs(m *api.Migration, from, to *Catalog, userEdited map[string]bool) {
	m.ControlsBefore, m.ControlsAfter = len(from.Controls), len(to.Controls)
	changed := map[string]api.ControlChange{}
	for _, c := range scf.Diff(from.Snapshot, to.Snapshot).Changed {
		changed[c.Code] = c
	}
	before := map[string]bool{}
	for _, c := range from.Controls {
		before[c.Code] = true
	}
	remains := map[string]bool{}
	for _, c := range to.Controls {
		remains[c.Code] = true
		r := api.MigrationReview{ControlCode: c.Code, Title: c.Title, Decided: userEdited[c.Code]}
		if !before[c.Code] {
			r.Reasons, r.Gained = []string{api.ReviewNew}, to.Codes[c.Code]
		} else {
			r.Reasons = reviewReasons(changed[c.Code])
			codesBefore := renameFrameworks(from.Codes[c.Code], m.Frameworks)
			r.Gained, r.Lost = missingCodes(to.Codes[c.Code], codesBefore), missingCodes(codesBefore, to.Codes[c.Code])
			if len(r.Gained)+len(r.Lost) > 0 {
				r.Reasons = append(r.Reasons, api.ReviewRequirements)
			}
		}
		if len(r.Reasons) == 0 {
			m.ControlsUnchanged++
			continue
		}
		m.Review = append(m.Review, r)
	}
	for _, c := range from.Controls {
		if remains[c.Code] {
			continue
		}
		reason := api.ReviewRemoved
		if _, err := to.Snapshot.Control(c.Code); err == nil {
			reason = api.ReviewUnmapped
		}
		m.Review = append(m.Review, api.MigrationReview{
			ControlCode: c.Code, Title: c.Title, Reasons: []string{reason}, Lost: from.Codes[c.Code], Decided: userEdited[c.Code],
		})
	}
	slices.SortFunc(m.Review, func(a, b api.MigrationReview) int { return scf.CompareNatural(a.ControlCode, b.ControlCode) })
	for code := range userEdited {
		if remains[code] {
			m.DecisionsKept = append(m.DecisionsKept, code)
		} else {
			m.DecisionsDropped = append(m.DecisionsDropped, code)
		}
	}
	slices.SortFunc(m.DecisionsKept, scf.CompareNatural)
	slices.SortFunc(m.DecisionsDropped, scf.CompareNatural)
}

func reviewReasons(c api.ControlChange) (reasons []string) {
	for _, r := range []struct {
		applies bool
		reason  string
	}{
		{c.Renamed, api.ReviewRenamed},
		{c.Reworded, api.ReviewReworded},
		{c.Reweighted, api.ReviewReweighted},
		{c.Deprecated, api.ReviewDeprecated},
	} {
		if r.applies {
			reasons = append(reasons, r.reason)
		}
	}
	return reasons
}

// renameFrameworks returns the requirement codes with the codes of renamed frameworks replaced.
func renameFrameworks(codes api.RequirementCodes, frameworks []api.MigratedFramework) api.RequirementCodes {
	renamed := api.RequirementCodes{}
	for code, requirements := range codes {
		for _, f := range frameworks {
			if f.Code == code && f.ToCode != nil {
				code = *f.ToCode
				break
			}
		}
		renamed[code] = append(renamed[code], requirements...)
	}
	return renamed
}

// missingCodes returns the codes in wanted that are not in present, or nil if there are none. Differences in spelling
// don't count.
func missingCodes(wanted, present api.RequirementCodes) api.RequirementCodes {
	var missing api.RequirementCodes
	for framework, codes := range wanted {
		has := map[string]bool{}
		for _, c := range present[framework] {
			has[scf.NormalizeRequirementCode(c)] = true
		}
		for _, c := range codes {
			if has[scf.NormalizeRequirementCode(c)] {
				continue
			}
			if missing == nil {
				missing = api.RequirementCodes{}
			}
			missing[framework] = append(missing[framework], c)
		}
	}
	return missing
}
