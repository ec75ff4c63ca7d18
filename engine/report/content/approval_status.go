package content

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
)

// Deliverable returns the version of gate g's deliverable, or nil if that deliverable does not exist yet.
func (s *Source) Deliverable(g api.Gate) *api.DeliverableVersion {
	switch {
	case g == api.GateSoA && s.SoA != nil:
		return &s.SoA.DeliverableVersion
	case g == api.GateGapAnalysis && s.Gap != nil:
		return &s.Gap.DeliverableVersion
	case g == api.GateMaturity && s.Maturity != nil:
		return &s.Maturity.DeliverableVersion
	case g == api.GatePOAM && s.POAM != nil:
		return &s.POAM.DeliverableVersion
	}
	return nil
}

// approvalStatus describes whether a deliverable is approved.
type approvalStatus struct {
	version  *api.DeliverableVersion
	approval *api.Approval // the decision that approved it, if known
	approved bool
	// reason states what is missing; empty if approved.
	reason string
}

// approvalStatus returns the approval status of the deliverable at gate g. A deliverable with status
// "approved" counts as not approved if its content has changed since the approval.
func (s *Source) approvalStatus(g api.Gate) approvalStatus {
	v := s.Deliverable(g)
	if v == nil {
		return approvalStatus{reason: "The " + g.Title() + " has not been drafted yet."}
	}
	st := approvalStatus{version: v, approval: s.latestApproval(g, v)}
	name := fmt.Sprintf("The %s (version %d)", g.Title(), v.VersionNumber)
	switch {
	case v.Status != api.VersionApproved:
		st.reason = name + " is " + describeStatus(v.Status) + ", not approved."
	case st.approval != nil && st.approval.TargetSHA256 != v.ContentSHA256:
		st.reason = name + " has been changed since its approval, so the approval no longer applies."
	default:
		st.approved = true
	}
	return st
}

// wasGivenInAdvance reports whether the approval was given without reviewing the content.
func (st approvalStatus) wasGivenInAdvance() bool {
	return st.approved && st.approval != nil && st.approval.WasGivenInAdvance()
}

// describeStatus returns a version's status in words that can follow "is".
func describeStatus(s api.VersionStatus) string {
	if s == api.VersionDraft {
		return "a draft"
	}
	return wording.Humanize(string(s))
}

// latestApproval returns the most recent approval of a version at gate g, or nil if there is none.
func (s *Source) latestApproval(g api.Gate, v *api.DeliverableVersion) *api.Approval {
	var found *api.Approval
	for i := range s.Approvals {
		a := &s.Approvals[i]
		if a.Gate != g || a.TargetID != v.ID || a.Status != api.ApprovalApproved {
			continue
		}
		if found == nil || a.DecidedAt != nil && (found.DecidedAt == nil || a.DecidedAt.After(*found.DecidedAt)) {
			found = a
		}
	}
	return found
}

// draftReasons returns, for each deliverable in the template that is not approved, a sentence that says why
// the report is a draft.
func (s *Source) draftReasons(t Template) []string {
	var out []string
	for _, g := range t.Gates {
		if st := s.approvalStatus(g); !st.approved {
			out = append(out, st.reason)
		}
	}
	return out
}

// outdatedMessages returns a sentence for each deliverable in the template that is outdated because its
// inputs have changed.
func (v *Report) outdatedMessages() (out []string) {
	for _, o := range v.Outdated {
		if v.Template.HasDeliverable(o.Gate) {
			out = append(out, o.Message)
		}
	}
	return out
}

// outdatedPrefix is the beginning of the notice that is shown on the first page if deliverables are outdated.
const outdatedPrefix = "NOT UP TO DATE. "

// IsDraft reports whether a report with the given template would show a deliverable that is missing
// or not approved. The scope is not checked separately, because approving the Statement of
// Applicability covers it.
func IsDraft(src *Source, template string) bool {
	t, _ := FindTemplate(template)
	return len(src.draftReasons(t)) > 0
}

// Provenance returns, by name, the IDs and hashes of the data from which a report with the given template is
// made.
func Provenance(src *Source, template string) map[string]string {
	t, _ := FindTemplate(template)
	out := map[string]string{
		"assessment_id":       src.Assessment.ID,
		"assessment_revision": strconv.Itoa(src.Assessment.Revision),
		"scf_version_id":      src.Catalog.ID,
	}
	if src.Catalog.SourceSHA256 != nil {
		out["scf_source_sha256"] = *src.Catalog.SourceSHA256
	}
	for _, g := range t.Gates {
		if v := src.Deliverable(g); v != nil {
			out[string(g)+"_version_id"] = v.ID
			out[string(g)+"_content_sha256"] = v.ContentSHA256
		}
	}
	if t.hasSection(SectionScope) && src.Scope != nil {
		out["scope_id"] = src.Scope.ID
		out["scope_revision"] = strconv.Itoa(src.Scope.Revision)
	}
	if e := src.Earlier; e != nil {
		out["compared_soa_content_sha256"] = e.SoA.ContentSHA256
	}
	if sum := src.Brand.SHA256(); sum != "" {
		out["branding_sha256"] = sum
	}
	if len(src.Documents) > 0 {
		out["documents_sha256"] = documentsHash(src.Documents)
	}
	return out
}

// documentsHash returns a single SHA-256 for all documents. It is calculated from their hashes, which are sorted,
// deduplicated and written one per line.
func documentsHash(docs []api.Document) string {
	var sums []string
	for _, d := range docs {
		sums = append(sums, d.SHA256)
	}
	slices.Sort(sums)
	sum := sha256.Sum256([]byte(strings.Join(sums, "\n")))
	return hex.EncodeToString(sum[:])
}

// approvedAt returns the time of the approval, or nil if there is none.
func approvedAt(st approvalStatus) *time.Time {
	switch {
	case !st.approved:
		return nil
	case st.approval != nil && st.approval.DecidedAt != nil:
		return st.approval.DecidedAt
	}
	return st.version.ApprovedAt
}
