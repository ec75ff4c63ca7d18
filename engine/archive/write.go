package archive

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// Options are the dependencies of the service.
type Options struct {
	DB          *store.DB
	Assessments *assessment.Service
	// Tool is the program and its version, as named in manifests.
	Tool string
}

// Service writes archives.
type Service struct{ Options }

// New returns a Service.
func New(o Options) *Service { return &Service{o} }

// archiveFile is one file to write: either bytes in memory or a blob in the store.
type archiveFile struct {
	path string
	data []byte
	blob string
	// record names the record that a blob belongs to.
	record string
}

// archiveContents is the content of an archive, read in one transaction.
type archiveContents struct {
	manifest Manifest
	parts    []archiveFile
	// auditPackages are the paths of reports that are audit packages.
	auditPackages map[string]bool
	err           error
}

// Export returns an assessment as an archive, which is generated while it is being read.
func (s *Service) Export(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.File, error) {
	c, signer, err := s.auditAndReadContents(ctx, by, in.AssessmentID, "assessment.exported")
	if err != nil {
		return nil, err
	}
	for _, p := range c.parts {
		if p.blob == "" {
			continue
		}
		if err := s.DB.Blobs().VerifyFileOf(ctx, p.record, p.blob); err != nil {
			return nil, err
		}
	}
	return api.StreamFile(
		ctx,
		safeFilename(c.manifest.Assessment)+".zip",
		"application/zip",
		func(ctx context.Context, w io.Writer) error { return s.writeArchive(ctx, c, signer, w) },
	), nil
}

// WritePackage writes an archive with additional files, keyed by path. Reports that are such packages
// themselves are listed but not included, because each would contain all earlier ones.
func (s *Service) WritePackage(ctx context.Context, by api.Caller, assessmentID string, w io.Writer, extraFiles map[string][]byte) error {
	c, signer, err := s.auditAndReadContents(ctx, by, assessmentID, "assessment.packaged")
	if err != nil {
		return err
	}
	c.parts = slices.DeleteFunc(c.parts, func(p archiveFile) bool { return c.auditPackages[p.path] })
	for _, path := range slices.Sorted(maps.Keys(extraFiles)) {
		c.parts = append(c.parts, archiveFile{path: path, data: extraFiles[path]})
	}
	return s.writeArchive(ctx, c, signer, w)
}

// auditAndReadContents records the export in the audit chain and then reads the content of the archive,
// which includes that record.
func (s *Service) auditAndReadContents(
	ctx context.Context,
	by api.Caller,
	assessmentID, action string,
) (contents *archiveContents, archiveSigner *audit.Signer, _ error) {
	signer, err := audit.LoadSigner(ctx, s.DB)
	if err != nil {
		return nil, nil, err
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		a, err := store.Assessments.Get(tx, by.OrganizationID, assessmentID)
		if err != nil {
			return store.ToNotFound(err, "assessment", assessmentID)
		}
		return audit.Append(tx, by, audit.Entry{Action: action, ResourceType: "assessment", ResourceID: a.ID})
	})
	if err != nil {
		return nil, nil, err
	}
	var c archiveContents
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		c = archiveContents{auditPackages: map[string]bool{}}
		return s.collectContents(tx, by, assessmentID, signer, &c)
	})
	return &c, signer, err
}

// safeFilename returns a name that is valid on any file system.
func safeFilename(name string) string {
	out := strings.Trim(strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}, name), ".-")
	if r := []rune(out); len(r) > 80 {
		out = string(r[len(r)-80:])
	}
	if out == "" {
		return "file"
	}
	return out
}

// collectContents collects the manifest and the files of an assessment's archive.
func (s *Service) collectContents(tx *store.Tx, by api.Caller, assessmentID string, signer *audit.Signer, c *archiveContents) error {
	org := by.OrganizationID
	a, err := store.Assessments.Get(tx, org, assessmentID)
	if err != nil {
		return store.ToNotFound(err, "assessment", assessmentID)
	}
	owner, err := store.Organizations.Get(tx, org)
	if err != nil {
		return err
	}
	head, err := audit.SignedHead(tx, signer, org)
	if err != nil {
		return err
	}
	c.manifest = Manifest{
		Format:         Format,
		Tool:           s.Tool,
		CreatedAt:      tx.Now().UTC().Truncate(time.Second),
		OrganizationID: org,
		Organization:   owner.Name,
		AssessmentID:   assessmentID,
		Assessment:     a.Name,
		State:          a.State,
		AuditHead:      *head,
		PublicKey:      signer.PublicKey(),
	}
	c.addJSON("assessment.json", a)
	scope, err := store.Scopes.By("assessment").Get(tx, org, assessmentID)
	if err == nil {
		c.addJSON("scope.json", scope)
	} else if !errors.Is(err, store.ErrNotFound) {
		return err
	}
	addJSONLines(c, "readers.jsonl", store.Readers.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "readings.jsonl", store.Readings.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "model-answers.jsonl", store.ModelAnswers.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "scopes.jsonl", store.ScopeVersions.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "lifecycle.jsonl", store.LifecycleEvents.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "timeline.jsonl", store.Timeline.Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, approvalsFile, store.Approvals.By("assessment").Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, commentsFile, store.Comments.By("assessment").Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "artifacts.jsonl", store.Artifacts.By("assessment").Scan(tx, org, store.Prefix(assessmentID)))
	addJSONLines(c, "workflows.jsonl", toAPIRuns(store.WorkflowRuns.By("assessment").Scan(tx, org, store.Prefix(assessmentID))))
	addVersions(
		c,
		tx,
		"soa",
		store.SoAVersions,
		store.SoAItems,
		org,
		assessmentID,
		func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	)
	addVersions(
		c,
		tx,
		"gap_analysis",
		store.GapVersions,
		store.Findings,
		org,
		assessmentID,
		func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	)
	addVersions(
		c,
		tx,
		"maturity",
		store.MaturityVersions,
		store.MaturityScores,
		org,
		assessmentID,
		func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	)
	addVersions(
		c,
		tx,
		"poam",
		store.POAMVersions,
		store.POAMItems,
		org,
		assessmentID,
		func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
	)
	addJSONLines(c, "documents.jsonl", addDocumentFiles(c, store.Documents.By("assessment").Scan(tx, org, store.Prefix(assessmentID))))
	addJSONLines(c, "reports.jsonl", addReportFiles(c, store.Reports.By("assessment").Scan(tx, org, store.Prefix(assessmentID))))
	addJSONLines(c, auditFile, store.Audit.Scan(tx, org))
	return c.err
}

// addJSON adds a record to the archive as a JSON file.
func (c *archiveContents) addJSON(path string, record any) {
	b, err := json.MarshalIndent(record, "", "  ")
	c.err = errors.Join(c.err, err)
	c.parts = append(c.parts, archiveFile{path: path, data: append(b, '\n')})
}

// addJSONLines adds records to the archive as a file with one JSON record per line.
func addJSONLines[R any](c *archiveContents, path string, records iter.Seq2[R, error]) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for r, err := range records {
		if err == nil {
			err = enc.Encode(r)
		}
		if err != nil {
			c.err = errors.Join(c.err, fmt.Errorf("%s: %w", path, err))
			return
		}
	}
	c.parts = append(c.parts, archiveFile{path: path, data: b.Bytes()})
}

func toAPIRuns(all iter.Seq2[store.WorkflowRun, error]) iter.Seq2[api.WorkflowRun, error] {
	return func(yield func(api.WorkflowRun, error) bool) {
		for r, err := range all {
			if !yield(r.WorkflowRun, err) {
				return
			}
		}
	}
}

// addDocumentFiles yields the document records unchanged and, while doing so, adds each document's
// file to the archive.
func addDocumentFiles(c *archiveContents, all iter.Seq2[store.Document, error]) iter.Seq2[api.Document, error] {
	return func(yield func(api.Document, error) bool) {
		for d, err := range all {
			if err == nil {
				c.parts = append(c.parts, archiveFile{
					path: "documents/" + d.SHA256 + "-" + safeFilename(d.Filename), blob: d.SHA256,
					record: fmt.Sprintf("document %q", d.Filename),
				})
			}
			if !yield(d.Document, err) {
				return
			}
		}
	}
}

// addReportFiles yields the report records unchanged and, while doing so, adds each report's file to the archive.
func addReportFiles(c *archiveContents, all iter.Seq2[api.Report, error]) iter.Seq2[api.Report, error] {
	return func(yield func(api.Report, error) bool) {
		seen := map[string]bool{}
		for r, err := range all {
			if err == nil && r.SHA256 != "" && !seen[r.SHA256] {
				seen[r.SHA256] = true
				path := "reports/" + r.SHA256 + "-" + safeFilename(r.Filename)
				c.auditPackages[path] = r.Template == "audit_package"
				c.parts = append(c.parts, archiveFile{path: path, blob: r.SHA256, record: fmt.Sprintf("report %q", r.Filename)})
			}
			if !yield(r, err) {
				return
			}
		}
	}
}

// addVersions adds a file for each version of a deliverable, with its items.
func addVersions[V, I any](
	c *archiveContents,
	tx *store.Tx,
	folder string,
	all *store.TenantTable[V],
	items *store.TenantTable[I],
	org, id string,
	head func(*V) *api.DeliverableVersion,
) {
	for v, err := range all.By("assessment").Scan(tx, org, store.Prefix(id)) {
		one := versionWithItems[V, I]{Version: v, Items: []I{}}
		if err == nil {
			for i, failed := range items.By("version").Scan(tx, org, store.Prefix(head(&v).ID)) {
				if failed != nil {
					err = failed
					break
				}
				one.Items = append(one.Items, i)
			}
		}
		if err != nil {
			c.err = errors.Join(c.err, err)
			return
		}
		c.addJSON(fmt.Sprintf("%s/v%d.json", folder, head(&v).VersionNumber), one)
	}
}

// writeArchive writes the archive: the files, then the manifest and its signature.
func (s *Service) writeArchive(ctx context.Context, c *archiveContents, signer *audit.Signer, w io.Writer) error {
	z := zip.NewWriter(w)
	add := func(path string, content io.Reader) (File, error) {
		f, err := z.CreateHeader(&zip.FileHeader{Name: path, Method: zip.Deflate, Modified: c.manifest.CreatedAt})
		if err != nil {
			return File{}, err
		}
		h := sha256.New()
		n, err := io.Copy(io.MultiWriter(f, h), content)
		return File{Path: path, Size: n, SHA256: hex.EncodeToString(h.Sum(nil))}, err
	}
	for _, p := range c.parts {
		if err := ctx.Err(); err != nil {
			return err
		}
		var content io.Reader = bytes.NewReader(p.data)
		var blob io.Closer
		if p.blob != "" {
			f, _, err := s.DB.Blobs().OpenFileOf(ctx, p.record, p.blob)
			if err != nil {
				return err
			}
			content, blob = f, f
		}
		file, err := add(p.path, content)
		if blob != nil {
			err = errors.Join(err, blob.Close())
		}
		if err != nil {
			return fmt.Errorf("writing %s: %w", p.path, err)
		}
		c.manifest.Files = append(c.manifest.Files, file)
	}
	text, err := json.MarshalIndent(c.manifest, "", "  ")
	if err != nil {
		return err
	}
	if _, err := add(manifestFile, bytes.NewReader(text)); err != nil {
		return err
	}
	if _, err := add(signatureFile, strings.NewReader(signer.Sign(text)+"\n")); err != nil {
		return err
	}
	return z.Close()
}
