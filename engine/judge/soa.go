package judge

import (
	"cmp"
	"slices"
	"sort"
	"strings"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/text"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// Inclusion holds the reasons why a control is in the Statement of Applicability, and facts that don't come from
// the evidence.
type Inclusion struct {
	Applicability api.Applicability
	Rationale     string
	// Baseline is set if a baseline selected the control; ChosenManually is set if a user selected it.
	Baseline, ChosenManually bool
	// Owners maps document IDs to the owners named in the documents.
	Owners map[string]string
	// UnreadLanguages is a sentence about evidence that wasn't read because of its language, or ""
	// if there is no such evidence.
	UnreadLanguages string
	// FrameworkNames maps the codes of frameworks to their names.
	FrameworkNames map[string]string
}

// IncludeManually sets an applicability chosen by the named user, regardless of the scope. If the scope excluded
// the control, the rationale names the user.
func (in *Inclusion) IncludeManually(applicability api.Applicability, userName string) {
	if !in.Applicability.IsApplicable() {
		in.Rationale = ManualInclusionReason(userName)
	}
	in.Applicability = applicability
}

// ManualInclusionReason returns the rationale for a control that the named user included although
// the scope excludes it.
func ManualInclusionReason(userName string) string { return "Included manually by " + userName + "." }

// minUnreviewedConfidence is the confidence below which an SoA line needs review, regardless of its status.
const minUnreviewedConfidence = 0.6

// maxUnreadableConfidence is the maximum confidence in the verdict that there is no evidence when some documents could
// not be analyzed.
const maxUnreadableConfidence = 0.3

// DraftSoAItem drafts the line of the Statement of Applicability (SoA) for a control. The caller sets IDs,
// version and revision.
func DraftSoAItem(c api.Control, codes api.RequirementCodes, j Judgement, in Inclusion) api.SoAItem {
	item := api.SoAItem{
		Item:             NewItem(c, codes),
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
		item.Reason = "Not assessed: the control is " + prose.Humanize(item.Applicability) + "."
		item.NeedsReview = true // excluding a control is a user's decision
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
	item.StatementSource = j.StatementsFrom
	item.InOperation = j.Operation
	item.MissingElements = append(item.MissingElements, j.Missing...)
	item.Owner = mainOwner(j.Evidence, in.Owners)
	item.Confidence = j.Confidence
	item.Reason = j.Reason
	if in.UnreadLanguages != "" && len(j.Missing) > 0 && j.Implementation != api.Implemented {
		item.Reason += " " + in.UnreadLanguages + " Review manually."
		if j.Implementation == api.NotEvidenced {
			item.Confidence = min(item.Confidence, maxUnreadableConfidence)
		}
	}
	item.NeedsReview = j.Confidence < minUnreviewedConfidence || j.Implementation != api.Implemented || j.Coverage != api.CoverageStrong ||
		c.IsMaterial ||
		j.Exception ||
		slices.ContainsFunc(j.Statements, func(s api.Statement) bool { return s.Verdict == VerdictConflicting })
	return item
}

func NewItem(c api.Control, codes api.RequirementCodes) api.Item {
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
	var names []string
	for _, code := range FrameworkCodes(codes) {
		names = append(names, cmp.Or(in.FrameworkNames[code], code))
	}
	switch {
	case len(names) > 0:
		r += " Required by " + text.JoinSome(names) + "."
	case in.ChosenManually:
		r += " Added manually."
	case in.Baseline:
		r += " Included by the selected baseline."
	}
	return strings.TrimSpace(r)
}

func FrameworkCodes(codes api.RequirementCodes) []string {
	var out []string
	for f, cs := range codes {
		if len(cs) > 0 {
			out = append(out, f)
		}
	}
	sort.Strings(out)
	return out
}

// Parts of framework codes that identify legal and contractual frameworks.
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
	for _, f := range FrameworkCodes(codes) {
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

// openOwnerPattern matches placeholders for owners in documents, such as "to be defined".
var openOwnerPattern = lazyregexp.New(
	`(?i)^\W*(?:t\.?b\.?[acd]\b|to be (?:agreed|announced|appointed|assigned|confirmed|decided|defined|determined|named)\b|` +
		`n/?a\b|not (?:applicable|assigned|defined|known|named|yet)\b|none\b|nobody\b|unknown\b|unassigned\b|open$|vacant\b|xxx|` +
		`(?:enter|insert|name)\b)|[\[<{_?]`,
)

// IsNamedOwner reports whether the owner stated in a document is a person or role rather than a placeholder.
func IsNamedOwner(owner string) bool {
	return strings.ContainsFunc(owner, unicode.IsLetter) && !openOwnerPattern.MatchString(owner)
}

// OwnerName returns the name part of an owner: "Jonas Wexley" in "Jonas Wexley, Infrastructure Lead".
func OwnerName(owner string) string {
	if at := strings.IndexAny(owner, ",;("); at > 0 {
		return strings.TrimSpace(owner[:at])
	}
	return owner
}

// ShortenUnambiguousOwners shortens owners to the name alone if the same name also occurs in owners
// without details. Names followed by different details, such as "Head of IT, Paris" and "Head of
// IT, Rome", may belong to two people and are left unchanged.
func ShortenUnambiguousOwners(owners map[string]string) {
	alone, behind := map[string]bool{}, map[string]string{}
	for _, o := range owners {
		name := OwnerName(o)
		switch rest, seen := behind[name]; {
		case o == name:
			alone[name] = true
		case seen && rest != o:
			behind[name] = "" // two different people
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

// mainOwner returns the owner whose documents contribute the most evidence, or nil if no owner is known. If there is a
// tie, it returns the one that comes first alphabetically.
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

// defaultWeight is the weight of a control for which the catalog has no weight.
const defaultWeight = 5

// ControlWeight returns the weight of a control, from 1 to 10, or a medium weight if the catalog doesn't specify one.
func ControlWeight(c api.Control) int {
	if c.Weight == nil {
		return defaultWeight
	}
	return *c.Weight
}
