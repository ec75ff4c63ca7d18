package archive

import (
	"archive/zip"
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/prose"
)

const (
	// maxFiles and maxTextSize limit what is read into memory; documents and reports are hashed
	// without loading them into memory.
	maxFiles    = 200_000
	maxTextSize = 1 << 30
)

// Finding is one check and its result.
type Finding struct {
	OK      bool   `json:"ok"`
	Subject string `json:"subject"`
	Message string `json:"message"`
}

// Report is the result of checking an archive.
type Report struct {
	OK       bool      `json:"ok"`
	Manifest Manifest  `json:"manifest"`
	KeyID    string    `json:"key_id"`
	Findings []Finding `json:"findings"`
}

func (r *Report) addPass(subject, format string, args ...any) {
	r.Findings = append(r.Findings, Finding{OK: true, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

func (r *Report) addFailure(subject, format string, args ...any) {
	r.OK = false
	r.Findings = append(r.Findings, Finding{OK: false, Subject: subject, Message: fmt.Sprintf(format, args...)})
}

// checker verifies one archive.
type checker struct {
	files map[string]*zip.File
	// intact are the files whose bytes match the manifest.
	intact map[string]bool
	report *Report
}

// Verify checks an archive without other data: its signature, hashes and audit chain, and that each
// approval matches the archived content. It returns an error if the file is not an archive.
func Verify(r io.ReaderAt, size int64) (*Report, error) {
	z, err := zip.NewReader(r, size)
	if err != nil {
		return nil, fmt.Errorf("not an archive: %w", err)
	}
	if len(z.File) > maxFiles {
		return nil, fmt.Errorf("the archive has %d files; the maximum is %d", len(z.File), maxFiles)
	}
	c := &checker{files: map[string]*zip.File{}, intact: map[string]bool{}, report: &Report{OK: true}}
	for _, f := range z.File {
		if c.files[f.Name] != nil {
			c.report.addFailure(f.Name, "the file appears twice")
		}
		c.files[f.Name] = f
	}
	text, err := c.readFile(manifestFile)
	if err != nil {
		return nil, fmt.Errorf("not an archive of an assessment: %w", err)
	}
	m := &c.report.Manifest
	if err := json.Unmarshal(text, m); err != nil {
		return nil, fmt.Errorf("reading the manifest: %w", err)
	}
	if m.Format != Format {
		return nil, fmt.Errorf("the archive has the format %q, but this version supports only %q", m.Format, Format)
	}
	c.report.KeyID = audit.Fingerprint(m.PublicKey)
	c.checkSignature(text)
	c.checkFilesAgainstManifest()
	c.checkAuditChain()
	c.checkVersionsAndApprovals()
	return c.report, nil
}

func (c *checker) readFile(name string) ([]byte, error) {
	f := c.files[name]
	if f == nil {
		return nil, fmt.Errorf("%s is missing", name)
	}
	r, err := f.Open()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	defer r.Close()
	b, err := io.ReadAll(io.LimitReader(r, maxTextSize+1))
	if err == nil && len(b) > maxTextSize {
		err = errors.New("the file is too large")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return b, nil
}

func (c *checker) checkSignature(manifest []byte) {
	sig, err := c.readFile(signatureFile)
	if err == nil {
		err = audit.VerifySignature(c.report.Manifest.PublicKey, strings.TrimSpace(string(sig)), manifest)
	}
	if err != nil {
		c.report.addFailure("signature", "%v", err)
		return
	}
	c.report.addPass("signature", "the manifest is signed by the installation's key %s", c.report.KeyID)
}

// checkFilesAgainstManifest checks every file in the archive against the manifest.
func (c *checker) checkFilesAgainstManifest() {
	listed := map[string]bool{manifestFile: true, signatureFile: true}
	for _, want := range c.report.Manifest.Files {
		listed[want.Path] = true
		f := c.files[want.Path]
		if f == nil {
			c.report.addFailure(want.Path, "the file is missing")
			continue
		}
		got, err := hashFile(f, want.Size)
		switch {
		case err != nil:
			c.report.addFailure(want.Path, "%v", err)
		case got != want.SHA256:
			c.report.addFailure(want.Path, "the file was changed: its SHA-256 hash differs from the one in the manifest")
		case c.isMisnamed(want):
			c.report.addFailure(want.Path, "the file's content doesn't match the hash in its name")
		default:
			c.intact[want.Path] = true
		}
	}
	for name := range c.files {
		if !listed[name] {
			c.report.addFailure(name, "the file is not in the manifest")
		}
	}
	if len(c.intact) == len(c.report.Manifest.Files) {
		c.report.addPass("files", "%s the manifest", prose.Count(len(c.intact), "file matches", "files match"))
	}
}

// isMisnamed reports whether the hash in the name of a document or report file differs from the hash of the content.
func (c *checker) isMisnamed(f File) bool {
	folder := path.Dir(f.Path)
	return (folder == "documents" || folder == "reports") && !strings.HasPrefix(path.Base(f.Path), f.SHA256+"-")
}

func hashFile(f *zip.File, size int64) (string, error) {
	r, err := f.Open()
	if err != nil {
		return "", err
	}
	defer r.Close()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(r, size+1))
	if err == nil && n != size {
		err = fmt.Errorf("the file was changed: its size differs from the %d bytes recorded in the manifest", size)
	}
	return hex.EncodeToString(h.Sum(nil)), err
}

// checkAuditChain verifies the audit chain up to the head in the manifest.
func (c *checker) checkAuditChain() {
	text, err := c.readFile(auditFile)
	if err != nil {
		c.report.addFailure("audit chain", "%v", err)
		return
	}
	head := &c.report.Manifest.AuditHead
	n, last, err := audit.VerifyRecords(ReadEvents(bytes.NewReader(text)))
	switch {
	case err != nil:
		c.report.addFailure("audit chain", "%v", err)
	case n != head.Sequence || last != head.Hash:
		c.report.addFailure("audit chain", "the chain ends with record %d, but the manifest says that record %d is the last", n, head.Sequence)
	case audit.VerifyHead(head) != nil:
		c.report.addFailure("audit chain", "the signature of the chain's last record is missing or wrong: %v", audit.VerifyHead(head))
	default:
		c.report.addPass("audit chain", "%s verified, up to %s", prose.Count(int(n), "record", "records"), last)
	}
}

// ReadEvents reads the records of an exported audit chain, one per line.
func ReadEvents(r io.Reader) iter.Seq2[api.AuditEvent, error] {
	return decodeJSONLines[api.AuditEvent](r)
}

// maxLine is the maximum length of a line.
const maxLine = 16 << 20

func decodeJSONLines[R any](r io.Reader) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		s := bufio.NewScanner(r)
		s.Buffer(nil, maxLine)
		for n := 1; s.Scan(); n++ {
			if len(bytes.TrimSpace(s.Bytes())) == 0 {
				continue
			}
			var one R
			if err := json.Unmarshal(s.Bytes(), &one); err != nil {
				yield(one, fmt.Errorf("reading line %d: %w", n, err))
				return
			}
			if !yield(one, nil) {
				return
			}
		}
		if err := s.Err(); err != nil {
			var zero R
			yield(zero, err)
		}
	}
}

// checkVersionsAndApprovals recomputes the hash of each version's items and compares it with the
// version, its approval, and the audit chain.
func (c *checker) checkVersionsAndApprovals() {
	hashes, sound := c.checkVersionHashes()
	text, err := c.readFile(approvalsFile)
	if err != nil {
		c.report.addFailure("approvals", "%v", err)
		return
	}
	audited := c.auditedHashes()
	approved := 0
	for p, err := range decodeJSONLines[api.Approval](bytes.NewReader(text)) {
		if err != nil {
			c.report.addFailure("approvals", "%v", err)
			return
		}
		if p.Status != api.ApprovalApproved {
			continue
		}
		what := fmt.Sprintf("approval of the %s, version %d", p.Gate.Title(), p.VersionNumber)
		switch {
		case hashes[p.TargetID] == "":
			c.report.addFailure(what, "the archive doesn't contain the approved version")
		case hashes[p.TargetID] != p.TargetSHA256:
			c.report.addFailure(what, "the version differs from the approved content")
		case !slices.Contains(audited[p.ID], p.TargetSHA256):
			c.report.addFailure(what, "the audit chain has no record of this decision")
		default:
			approved++
			sound++
		}
	}
	c.checkComments(audited)
	if sound == len(hashes)+approved {
		c.report.addPass(
			"approvals",
			"versions that match their hashes: %d; approvals that match their version: %d",
			len(hashes),
			approved,
		)
	}
}

// checkComments checks that the audit chain has a record of each comment's text. Archives written before comments were
// introduced contain no comments.
func (c *checker) checkComments(auditedHashes map[string][]string) {
	if c.files[commentsFile] == nil {
		return
	}
	text, err := c.readFile(commentsFile)
	if err != nil {
		c.report.addFailure("comments", "%v", err)
		return
	}
	for one, err := range decodeJSONLines[api.Comment](bytes.NewReader(text)) {
		if err != nil {
			c.report.addFailure("comments", "%v", err)
			return
		}
		if !slices.Contains(auditedHashes[one.ID], assessment.TextHash(one.Text)) {
			c.report.addFailure("comment "+one.ID, "the audit chain has no record of the comment's text")
		}
	}
}

// auditedHashes returns the content hashes of decisions and comments recorded in the chain, keyed
// by approval or comment ID.
func (c *checker) auditedHashes() map[string][]string {
	out := map[string][]string{}
	text, err := c.readFile(auditFile)
	if err != nil {
		return out
	}
	for e, err := range ReadEvents(bytes.NewReader(text)) {
		if err != nil {
			return out
		}
		if hash, ok := e.Changes["text_sha256"].(string); ok && e.Action == "comment.added" {
			out[e.ResourceID] = append(out[e.ResourceID], hash)
		}
		if hash, ok := e.Changes["target_sha256"].(string); ok && e.Action == "approval.decided" &&
			e.Changes["decision"] == string(api.ApprovalApproved) {
			out[e.ResourceID] = append(out[e.ResourceID], hash)
		}
	}
	return out
}

// checkVersionHashes computes the content hash of each deliverable version. It returns the hashes by
// version ID, and the number of versions whose stored hash matches.
func (c *checker) checkVersionHashes() (hashes map[string]string, matching int) {
	hashes = map[string]string{}
	for _, f := range c.report.Manifest.Files {
		gate, ok := gateFolders[path.Dir(f.Path)]
		if !ok {
			continue
		}
		var v struct {
			Version api.DeliverableVersion `json:"version"`
			Items   json.RawMessage        `json:"items"`
		}
		text, err := c.readFile(f.Path)
		if err == nil {
			err = json.Unmarshal(text, &v)
		}
		var hash string
		if err == nil {
			hash, err = assessment.ContentHash(gate, v.Items, v.Version.ContentSHA256)
		}
		if err != nil {
			c.report.addFailure(f.Path, "%v", err)
			continue
		}
		hashes[v.Version.ID] = hash
		if hash != v.Version.ContentSHA256 {
			c.report.addFailure(f.Path, "the items in this file don't match the version's hash")
			continue
		}
		matching++
	}
	return hashes, matching
}
