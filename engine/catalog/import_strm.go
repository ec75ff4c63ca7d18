package catalog

import (
	"archive/zip"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/strm"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/store"
)

// Limits of an archive of mapping documents. The complete published bundle has about 200 documents.
const (
	maxArchiveFiles    = 500
	maxUnpackedBytes   = 512 << 20
	maxDocumentBytes   = 64 << 20
	maxWarningsPerFile = 300
)

// mappingFile is an uploaded mapping document.
type mappingFile struct {
	name, sha256 string
	data         []byte
}

// ImportSTRM merges set theory relationship mapping documents into a catalog version. The result is stored as a
// separate version, called a revision. Records keep their IDs in the revision, and assessments can keep using the
// version they started with. Importing the same document again has no effect.
func (s *Service) ImportSTRM(ctx context.Context, by api.Caller, in *api.ImportSTRMInput) (*api.ImportRun, error) {
	return s.importSTRM(ctx, by, in, false)
}

// DryRunSTRM returns what importing mapping documents would change, but doesn't change anything.
func (s *Service) DryRunSTRM(ctx context.Context, by api.Caller, in *api.ImportSTRMInput) (*api.ImportRun, error) {
	return s.importSTRM(ctx, by, in, true)
}

func (s *Service) importSTRM(ctx context.Context, by api.Caller, in *api.ImportSTRMInput, dryRun bool) (*api.ImportRun, error) {
	began := s.clock()
	papers, sum, err := readMappingFiles(in.File)
	if err != nil {
		return nil, err
	}
	if in.Framework != "" && len(papers) > 1 {
		return nil, api.Invalid(
			"framework",
			"the archive contains %d documents; a framework can only be specified for a single document",
			len(papers),
		)
	}
	release, err := s.acquireImportSlot(ctx)
	if err != nil {
		return nil, err
	}
	defer release()
	base, err := s.findVersion(ctx, in.Version)
	if err != nil {
		return nil, err
	}
	snap, err := s.Snapshot(ctx, base.ID)
	if err != nil {
		return nil, err
	}
	run := &api.ImportRun{
		Status: api.ImportSucceeded, DryRun: dryRun, SourceFilename: in.File.Filename, SourceSHA256: sum,
		Warnings: []api.ImportWarning{}, Documents: []api.MappingDocument{}, StartedAt: began,
	}
	src := snap.Source()
	for _, p := range papers {
		if slices.ContainsFunc(
			slices.Concat(base.MappingDocuments, run.Documents),
			func(d api.MappingDocument) bool { return d.SHA256 == p.sha256 },
		) {
			run.Warnings = append(run.Warnings, api.ImportWarning{Message: fmt.Sprintf("%s is already merged into version %s", p.name, base.Label)})
			continue
		}
		if src, err = s.mergeMappingFile(ctx, snap, src, p, in.Framework, run); err != nil {
			return nil, err
		}
	}
	counts := src.Counts()
	run.Statistics = api.ImportStatistics{
		Controls: counts.Controls, Domains: counts.Domains, Frameworks: counts.Frameworks,
		Requirements: counts.Requirements, Mappings: counts.Mappings, Warnings: len(run.Warnings),
	}
	return run, s.saveMappingRevision(ctx, by, base, snap, src, run)
}

// mergeMappingFile reads a mapping document and returns src with the document merged into it.
func (s *Service) mergeMappingFile(
	ctx context.Context,
	snap *scf.Snapshot,
	src *scf.Source,
	file mappingFile,
	framework string,
	run *api.ImportRun,
) (*scf.Source, error) {
	doc, err := s.readSTRM(ctx, file)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, api.Invalid("file", "%s: %v", file.name, err).WithCause(err)
	}
	var f int
	if framework != "" {
		f, err = snap.FrameworkIndex(framework)
	} else {
		var codes []string
		for _, e := range doc.Elements {
			codes = append(codes, e.Code)
		}
		f, err = snap.IdentifyFramework([]string{strm.IdentifierFromFilename(path.Base(file.name)), doc.Identifier}, codes)
	}
	if err != nil {
		return nil, api.Invalid("framework", "%s: %v; specify the code of the framework", file.name, err).WithCause(err)
	}
	out, record, warnings := strm.MergeIntoFramework(src, f, doc, api.MappingDocument{Filename: file.name, SHA256: file.sha256})
	run.Documents = append(run.Documents, record)
	for _, w := range warnings[:min(len(warnings), maxWarningsPerFile)] {
		w.Sheet = strings.TrimSpace(file.name + " " + w.Sheet)
		run.Warnings = append(run.Warnings, w)
	}
	if more := len(warnings) - maxWarningsPerFile; more > 0 {
		run.Warnings = append(
			run.Warnings,
			api.ImportWarning{Sheet: file.name, Message: fmt.Sprintf("%d more warnings are not listed", more)},
		)
	}
	return out, nil
}

// readSTRM reads a mapping document. It determines the file's format by the content, not by the name.
func (s *Service) readSTRM(ctx context.Context, p mappingFile) (*strm.Document, error) {
	if bytes.HasPrefix(bytes.TrimLeft(p.data[:min(len(p.data), 1024)], "\x00\t\r\n \xef\xbb\xbf"), []byte("%PDF")) {
		if s.readPDF == nil {
			return nil, errors.New("this installation can't read PDFs; use the .xlsx version of the document")
		}
		lines, err := s.readPDF(ctx, p.name, bytes.NewReader(p.data), int64(len(p.data)))
		if err != nil {
			return nil, err
		}
		return strm.Read([][]strm.Line{lines})
	}
	sheets, _, err := workbook.ReadSheets(ctx, bytes.NewReader(p.data), int64(len(p.data)), workbook.Limits{})
	if err != nil {
		return nil, err
	}
	var tables [][]strm.Line
	for _, sheet := range sheets {
		var lines []strm.Line
		for i, cells := range sheet.Rows {
			lines = append(lines, strm.Line{Sheet: sheet.Name, Cell: workbook.CellName(i+1, 1), Cells: cells})
		}
		tables = append(tables, lines)
	}
	return strm.Read(tables)
}

// saveMappingRevision stores the revised version and the import run in a single transaction.
func (s *Service) saveMappingRevision(
	ctx context.Context,
	by api.Caller,
	base store.CatalogVersion,
	snap *scf.Snapshot,
	src *scf.Source,
	run *api.ImportRun,
) error {
	root := base.RootID
	if root == "" {
		root = base.ID
	}
	documents := slices.Concat(base.MappingDocuments, run.Documents)
	all, err := s.allVersions(ctx)
	if err != nil {
		return err
	}
	label, revisions := base.Label, 0
	for _, v := range all {
		if v.ID == root {
			label = v.Label
		}
		if v.ID == root || v.RootID == root {
			if v.RootID == root {
				revisions++
			}
			if areSameDocuments(v.MappingDocuments, documents) {
				run.VersionID = &v.ID
			}
		}
	}
	if run.VersionID != nil || run.DryRun {
		if run.VersionID == nil {
			if err := setRunDiff(snap, src, run.StartedAt, run); err != nil {
				return err
			}
		}
		if run.DryRun {
			run.VersionID = nil
		}
		return s.db.Update(ctx, func(tx *store.Tx) error { return s.recordRun(tx, by, run) })
	}
	revised := *src
	revised.Label = fmt.Sprintf("%s+strm.%d", label, revisions+1)
	if err := setRunDiff(snap, &revised, run.StartedAt, run); err != nil {
		return err
	}
	_, err = s.saveAndActivateVersion(ctx, versionEntry{
		src: &revised, rootID: root, supersedes: base.ID,
		fillRecord: func(rec *store.CatalogVersion) {
			rec.BasedOnID, rec.MappingDocuments = &base.ID, documents
			rec.FrameworkAliases, rec.Variant = base.FrameworkAliases, base.Variant
		},
		recordRun: func(tx *store.Tx, snap *scf.Snapshot) error {
			id := snap.Version().ID
			run.VersionID = &id
			return s.recordRun(tx, by, run)
		},
	})
	return err
}

// setRunDiff sets run.Diff to the differences between a source and the catalog version that it revises.
func setRunDiff(snap *scf.Snapshot, src *scf.Source, at time.Time, run *api.ImportRun) error {
	candidate, err := scf.NewSnapshot(src, scf.Version{ID: snap.Version().ID, ImportedAt: at})
	if err != nil {
		return err
	}
	diff := scf.Diff(snap, candidate)
	run.Diff = &diff
	return nil
}

// areSameDocuments reports whether two versions include the same mapping documents for the same frameworks,
// in any order.
func areSameDocuments(a, b []api.MappingDocument) bool {
	if len(a) != len(b) {
		return false
	}
	for _, d := range a {
		if !slices.ContainsFunc(b, func(o api.MappingDocument) bool { return o.SHA256 == d.SHA256 && o.FrameworkCode == d.FrameworkCode }) {
			return false
		}
	}
	return true
}

// readMappingFiles reads an upload, which is either one mapping document or an archive of several.
func readMappingFiles(file api.UploadFile) (files []mappingFile, uploadSHA256 string, err error) {
	data, err := io.ReadAll(io.LimitReader(file.Content, maxWorkbookBytes+1))
	if err != nil {
		return nil, "", fmt.Errorf("reading the document: %w", err)
	}
	if len(data) > maxWorkbookBytes {
		return nil, "", api.Invalid("file", "the file exceeds the limit of %d MiB", maxWorkbookBytes>>20)
	}
	single := newMappingFile(file.Filename, data)
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil || slices.ContainsFunc(z.File, func(f *zip.File) bool { return strings.EqualFold(f.Name, "xl/workbook.xml") }) {
		return []mappingFile{single}, single.sha256, nil // a PDF, a workbook, or a file the reader will reject
	}
	total := int64(0)
	for _, f := range z.File {
		name := path.Base(strings.ReplaceAll(f.Name, `\`, "/"))
		ext := strings.ToLower(path.Ext(name))
		if f.FileInfo().IsDir() || ext != ".pdf" && ext != ".xlsx" || strings.HasPrefix(name, ".") {
			continue
		}
		if len(files) == maxArchiveFiles {
			return nil, "", api.Invalid("file", "the archive contains more than %d documents", maxArchiveFiles)
		}
		content, err := readZipFile(f)
		if err != nil {
			return nil, "", api.Invalid("file", "%s in the archive can't be unpacked: %v", name, err)
		}
		if total += int64(len(content)); total > maxUnpackedBytes {
			return nil, "", api.Invalid("file", "the archive unpacks to more than %d MiB", maxUnpackedBytes>>20)
		}
		files = append(files, newMappingFile(name, content))
	}
	if len(files) == 0 {
		return nil, "", api.Invalid("file", "the archive contains no .pdf or .xlsx files")
	}
	slices.SortFunc(files, func(a, b mappingFile) int { return strings.Compare(a.name, b.name) })
	return files, single.sha256, nil
}

func readZipFile(f *zip.File) ([]byte, error) {
	r, err := f.Open()
	if err != nil {
		return nil, err
	}
	defer r.Close()
	content, err := io.ReadAll(io.LimitReader(r, maxDocumentBytes+1))
	if err == nil && len(content) > maxDocumentBytes {
		err = fmt.Errorf("the file is larger than %d MiB", maxDocumentBytes>>20)
	}
	return content, err
}

func newMappingFile(name string, data []byte) mappingFile {
	sum := sha256.Sum256(data)
	return mappingFile{name: path.Base(strings.ReplaceAll(name, `\`, "/")), sha256: hex.EncodeToString(sum[:]), data: data}
}
