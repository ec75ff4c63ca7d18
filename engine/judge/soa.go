package judge

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/scf-service/service/api"
)

// Inclusion is why a control is in the Statement of Applicability, and what is
// known beside the evidence.
type Inclusion struct {
	Applicability api.Applicability
	Rationale     string
	// Baseline and Picked: the control came in by a baseline, or by hand.
	Baseline, ChosenManually bool
	// Owners are the owners that documents name, by document id.
	Owners map[string]string
	// DocumentCount is how many there are, Foreign how many of them in another language than English.
	DocumentCount, ForeignDocuments int
}

// IncludeManually has a control in that a person brought in, whatever the scope says of it.
func (in *Inclusion) IncludeManually(applicability api.Applicability, name string) {
	if !in.Applicability.IsApplicable() {
		in.Rationale = ManualInclusionReason(name)
	}
	in.Applicability = applicability
}

// ManualInclusionReason is the rationale of a control that a person has in where it was left out.
func ManualInclusionReason(name string) string { return "Included manually by " + name + "." }

// Below this confidence a person must look, whatever the status.
const minUnreviewedConfidence = 0.6

// maxUnreadableConfidence is how sure the rules are that nothing is said where they could not read all.
const maxUnreadableConfidence = 0.3

// DraftSoAItem drafts a control's line. Ids, version and revision are the caller's.
func DraftSoAItem(c api.Control, codes api.RequirementCodes, j Judgement, in Inclusion) api.SoAItem {
	item := api.SoAItem{
		Item:             newItem(c, codes),
		Applicability:    in.Applicability,
		InclusionReasons: inclusionReasons(c, codes, in),
		Evidence:         []api.Evidence{},
		Statements:       []api.Statement{},
		MissingElements:  []string{},
	}
	if item.Applicability == "" {
		item.Applicability = api.Undecided
	}
	item.Rationale = formatRationale(in, codes)
	if !item.Applicability.IsApplicable() {
		item.ImplementationStatus = api.NotAssessed
		item.EvidenceCoverage = api.CoverageAbsent
		item.Reason = "Not assessed: the control is " + strings.ReplaceAll(string(item.Applicability), "_", " ") + "."
		item.NeedsReview = true // leaving a control out is a person's decision
		item.Confidence = 0.9
		if item.Applicability == api.Undecided {
			item.Confidence = 0
		}
		return item
	}
	item.ImplementationStatus = j.Implementation
	item.Evidence = append(item.Evidence, j.Evidence...)
	item.EvidenceCoverage = j.Coverage
	item.CoverageRatio = j.Ratio
	item.Statements = append(item.Statements, j.Statements...)
	item.StatementsFrom = j.StatementsFrom
	item.InOperation = j.Operation
	item.MissingElements = append(item.MissingElements, j.Missing...)
	item.Owner = mainOwner(j.Evidence, in.Owners)
	item.Confidence = j.Confidence
	item.Reason = j.Reason
	if in.ForeignDocuments > 0 && j.Implementation == api.NotEvidenced {
		item.Reason += fmt.Sprintf(
			" %d of %s could not be analyzed (not in English); review manually.",
			in.ForeignDocuments,
			formatCount(in.DocumentCount, "document"),
		)
		item.Confidence = min(item.Confidence, maxUnreadableConfidence)
	}
	item.NeedsReview = j.Confidence < minUnreviewedConfidence || j.Implementation != api.Implemented || j.Coverage != api.CoverageStrong ||
		c.IsMaterial ||
		j.Exception ||
		slices.ContainsFunc(j.Statements, func(s api.Statement) bool { return s.Verdict == verdictConflicting })
	return item
}

func newItem(c api.Control, codes api.RequirementCodes) api.Item {
	if codes == nil {
		codes = api.RequirementCodes{}
	}
	return api.Item{
		ControlID:        c.ID,
		ControlCode:      c.Code,
		ControlTitle:     c.Title,
		DomainCode:       c.DomainCode,
		RequirementCodes: codes,
		EditedFields:     []string{},
	}
}

func formatRationale(in Inclusion, codes api.RequirementCodes) string {
	r := in.Rationale
	if !in.Applicability.IsApplicable() {
		return r
	}
	by := frameworkCodes(codes)
	switch {
	case len(by) > 0:
		r += " Required by " + joinWithAnd(by) + "."
	case in.ChosenManually:
		r += " Added manually."
	case in.Baseline:
		r += " Included by the selected baseline."
	}
	return strings.TrimSpace(r)
}

func frameworkCodes(codes api.RequirementCodes) []string {
	var out []string
	for f, cs := range codes {
		if len(cs) > 0 {
			out = append(out, f)
		}
	}
	sort.Strings(out)
	return out
}

// Beginnings of framework codes that are law, or come by contract.
var (
	legalFrameworkParts = []string{
		"gdpr",
		"hipaa",
		"dora",
		"nis2",
		"nis-2",
		"lgpd",
		"ccpa",
		"cpra",
		"act",
		"law",
		"glba",
		"sox",
		"ferpa",
		"ai-act",
		"pipeda",
		"pipl",
		"popia",
		"emea-",
		"usa-state",
		"us-state",
		"directive",
		"regulation",
		"cfr",
	}
	contractualFrameworkParts = []string{"pci", "soc2", "soc-2", "tsc", "cmmc", "tisax", "swift", "fedramp", "dfars", "800-171", "hitrust"}
)

func inclusionReasons(c api.Control, codes api.RequirementCodes, in Inclusion) []string {
	var legal, contractual, framework bool
	for _, f := range frameworkCodes(codes) {
		switch {
		case matchesAnyPart(f, legalFrameworkParts):
			legal = true
		case matchesAnyPart(f, contractualFrameworkParts):
			contractual = true
		default:
			framework = true
		}
	}
	out := []string{}
	add := func(is bool, reason string) {
		if is {
			out = append(out, reason)
		}
	}
	add(legal, "legal")
	add(contractual, "contractual")
	add(framework, "framework")
	add(len(c.Risks) > 0, "risk")
	add(in.Baseline || in.ChosenManually || len(out) == 0, "best_practice")
	return out
}

func matchesAnyPart(code string, parts []string) bool {
	code = strings.ToLower(code)
	for _, p := range parts {
		if strings.HasPrefix(code, p) || strings.Contains(code, "-"+strings.TrimSuffix(p, "-")) {
			return true
		}
	}
	return false
}

// OwnerName is an owner without what stands behind the name: "Jonas Wexley, Infrastructure Lead" is
// Jonas Wexley.
func OwnerName(owner string) string {
	if at := strings.IndexAny(owner, ",;("); at > 0 {
		return strings.TrimSpace(owner[:at])
	}
	return owner
}

// NormalizeOwners gives one who is named alone here and with more behind the name there the name
// alone. Where different things stand behind it, as "Head of IT, Paris" and "Head of IT, Rome",
// they may be two, and stay.
func NormalizeOwners(owners map[string]string) {
	alone, behind := map[string]bool{}, map[string]string{}
	for _, o := range owners {
		name := OwnerName(o)
		switch rest, seen := behind[name]; {
		case o == name:
			alone[name] = true
		case seen && rest != o:
			behind[name] = "" // two
		default:
			behind[name] = o
		}
	}
	for id, o := range owners {
		if name := OwnerName(o); alone[name] && behind[name] == o {
			owners[id] = name
		}
	}
}

// mainOwner is the owner of the document that bears most of the evidence; the first by
// name where several do.
func mainOwner(evidence []api.Evidence, owners map[string]string) *string {
	votes := make(map[string]int)
	for _, e := range evidence {
		if o := strings.TrimSpace(owners[e.DocumentID]); o != "" && e.Stance != "template" {
			votes[o]++
		}
	}
	best := ""
	for o, n := range votes {
		if best == "" || n > votes[best] || n == votes[best] && o < best {
			best = o
		}
	}
	if best == "" {
		return nil
	}
	return &best
}
