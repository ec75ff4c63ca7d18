package report

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/store"
)

// Names of the entries in a report's sources for the time of its data and the version of the program that wrote
// it. These entries make it possible to reproduce the report byte for byte.
const (
	sourceAsOf          = "as_of"
	sourceAuditSequence = "audit_sequence"
	sourceWrittenBy     = "written_by"
)

// uncomparedSources lists the names of the sources that diffSources ignores, because they describe how and when a
// report was written rather than the data in it.
var uncomparedSources = []string{sourceAsOf, sourceAuditSequence, sourceWrittenBy, sourceTemplateHash, sourceStyleHash}

// reportSources returns, by name, the IDs and hashes of the data that a report is made from, as well as the time of
// the data and the version of the program that writes the report.
func reportSources(src *content.Source, template string) map[string]string {
	out := content.Provenance(src, template)
	out[sourceAsOf] = src.AsOf.UTC().Format(time.RFC3339Nano)
	out[sourceWrittenBy] = src.Tool
	if src.AuditHead != nil {
		out[sourceAuditSequence] = strconv.FormatUint(src.AuditHead.Sequence, 10)
	}
	return out
}

// diffSources returns the differences between the sources of two reports, sorted by name.
func diffSources(before, after map[string]string) []api.SourceChange {
	out := []api.SourceChange{}
	names := map[string]bool{}
	for _, m := range []map[string]string{before, after} {
		for name := range m {
			names[name] = !slices.Contains(uncomparedSources, name)
		}
	}
	for name, counts := range names {
		if a, b := before[name], after[name]; counts && a != b {
			out = append(out, api.SourceChange{Name: name, Previous: nilIfEmpty(a), Current: nilIfEmpty(b)})
		}
	}
	slices.SortFunc(out, func(a, b api.SourceChange) int { return strings.Compare(a.Name, b.Name) })
	return out
}

func nilIfEmpty(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

var sha256Pattern = lazyregexp.New(`^[0-9A-Fa-f]{64}$`)

// findReportByIDOrSHA256 returns the report with the given ID, or the newest report whose file has the given
// SHA-256.
func (s *Service) findReportByIDOrSHA256(ctx context.Context, by api.Caller, idOrSHA256 string) (*api.Report, error) {
	if !sha256Pattern.MatchString(idOrSHA256) {
		return s.Get(ctx, by, &api.ReportInput{ReportID: idOrSHA256})
	}
	var found *api.Report
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		for r, err := range store.Reports.Scan(tx, by.OrganizationID) {
			if err != nil {
				return err
			}
			if strings.EqualFold(r.SHA256, idOrSHA256) {
				found = &r
			}
		}
		return nil
	})
	if err == nil && found == nil {
		err = api.NotFound("report", idOrSHA256).WithCause(fmt.Errorf("this organization has no report with the SHA-256 hash %s", idOrSHA256))
	}
	return found, err
}

// Verify checks whether a file is a report that this service wrote, and whether the stored copy is intact. If
// neither the report's sources nor the program version have changed, it writes the report again and compares the
// result with the stored copy byte for byte. It doesn't do so for audit packages or reports with a custom look.
func (s *Service) Verify(ctx context.Context, by api.Caller, in *api.VerifyReportInput) (*api.ReportVerification, error) {
	r, err := s.findReportByIDOrSHA256(ctx, by, in.ReportID)
	if err != nil {
		return nil, err
	}
	out := &api.ReportVerification{OK: true, Report: *r, Changed: []api.SourceChange{}}
	err = s.DB.Blobs().Verify(ctx, r.SHA256)
	if err != nil && !errors.Is(err, store.ErrCorrupt) && !errors.Is(err, store.ErrNotFound) {
		return nil, err
	}
	if err != nil {
		out.OK, out.Outcome = false, "damaged"
		out.Message = "The stored file is damaged or missing. Restore it from a backup, or create the report again."
		return out, nil
	}
	src, err := s.loadSource(ctx, by, r.AssessmentID)
	if err != nil {
		return nil, err
	}
	if r.ComparedWith != nil {
		compared := api.ReportBody{Template: r.Template, ReportAppearance: api.ReportAppearance{Compare: *r.ComparedWith}}
		if err := s.addEarlierAssessment(ctx, by, src, compared); err != nil && !api.IsCode(err, api.CodeNotFound) {
			return nil, err
		}
	}
	if out.Changed = diffSources(r.Sources, content.Provenance(src, contentTemplate(r.Template))); len(out.Changed) > 0 {
		out.Outcome = "sources_changed"
		out.Message = "The file is authentic. Its sources have changed since it was written, so it can't be reproduced " +
			"for comparison. The listed sources are those at the time of writing."
		return out, nil
	}
	if r.Template == auditPackage {
		out.Outcome = "package"
		out.Message = "The file is authentic, and its sources are unchanged. Audit packages contain the audit trail as of their creation, " +
			"so they can't be reproduced; run `service verify FILE` to check the contents."
		return out, nil
	}
	if hasCustomLook(r) {
		out.Outcome = "custom_appearance"
		out.Message = "The file is authentic, and its sources are unchanged. It was created with a custom template or custom styles, " +
			"which are not stored, so it can't be reproduced for comparison."
		return out, nil
	}
	if r.Sources[sourceWrittenBy] != s.ProgramVersion {
		out.Outcome = "program_changed"
		out.Message = fmt.Sprintf(
			"The file is authentic, and its sources are unchanged. It was written by %s, but this is %s, "+
				"so it can't be reproduced for comparison.",
			cmp.Or(r.Sources[sourceWrittenBy], "an earlier version"),
			s.ProgramVersion,
		)
		return out, nil
	}
	if err := s.setReportTimeAndAuditHead(ctx, by, src, r); err != nil {
		return nil, err
	}
	sums, err := s.rerenderedHashes(ctx, src, r)
	if err != nil {
		return nil, err
	}
	out.RegeneratedSHA256 = &sums[0]
	if slices.Contains(sums, r.SHA256) {
		out.RegeneratedSHA256, out.Outcome = &r.SHA256, "reproduced"
		out.Message = "The file is authentic. A copy reproduced from the same sources is identical."
		return out, nil
	}
	out.Outcome = "differs"
	out.Message = "The file is authentic. The listed versions are unchanged, but other content has changed, " +
		"such as a document record, an approval, a name or an installed font, so the reproduced report differs."
	return out, nil
}

// setReportTimeAndAuditHead sets the as-of time and the audit head in src to the values recorded in the report, so
// that the report can be reproduced.
func (s *Service) setReportTimeAndAuditHead(ctx context.Context, by api.Caller, src *content.Source, r *api.Report) error {
	at, err := time.Parse(time.RFC3339Nano, r.Sources[sourceAsOf])
	if err != nil {
		return nil //nolint:nilerr // older reports don't record this, so the current data is used
	}
	src.AsOf, src.Summary.LastActivityAt = at, at
	if n, err := strconv.ParseUint(r.Sources[sourceAuditSequence], 10, 63); err == nil {
		if src.AuditHead, err = s.Audit.SignedHeadAt(ctx, by, n); err != nil {
			return err
		}
	}
	return nil
}

// rerenderedHashes writes the report again and returns the SHA-256 of the result. If the report has the default
// title, it returns two hashes, one for a request with a title and one for a request without, because the original
// request is not known.
func (s *Service) rerenderedHashes(ctx context.Context, src *content.Source, r *api.Report) (sums []string, err error) {
	titles := []string{r.Title}
	if r.Title == defaultTitle(src, r.Template) {
		titles = []string{"", r.Title}
	}
	for _, title := range titles {
		request, err := s.toRenderRequest(api.ReportBody{
			Template: r.Template, Format: r.Format,
			ReportAppearance: api.ReportAppearance{Title: title, WithAppendices: r.WithAppendices, Paper: r.Paper},
		})
		if err != nil {
			return nil, err
		}
		h := sha256.New()
		if err := render.Write(ctx, h, src, request); err != nil {
			return nil, err
		}
		sums = append(sums, hex.EncodeToString(h.Sum(nil)))
	}
	return sums, nil
}
