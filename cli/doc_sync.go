package cli

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// docSyncResult is the result of syncing folders with an assessment's documents.
type docSyncResult struct {
	Added           []api.Document `json:"added"`
	Replaced        []api.Document `json:"replaced"`
	Renamed         []api.Document `json:"renamed"`
	Missing         []api.Document `json:"missing"`
	Removed         []api.Document `json:"removed"`
	Unchanged       int            `json:"unchanged"`
	Skipped         []skippedFile  `json:"skipped"`
	ChangedEvidence []string       `json:"evidence_changed"`
}

// changedCount returns the number of documents with new content.
func (s *docSyncResult) changedCount() int { return len(s.Added) + len(s.Replaced) }

// documentCount returns the number of files that correspond to documents of the assessment after the sync.
func (s *docSyncResult) documentCount() int { return s.changedCount() + len(s.Renamed) + s.Unchanged }

// folderPrefixes returns, for each folder in paths, the prefix of its documents' paths.
func folderPrefixes(paths []string) []string {
	var out []string
	for _, p := range paths {
		if label := folderName(p); label != "" {
			out = append(out, label+"/")
		}
	}
	return out
}

// fileMatcher finds the existing document that corresponds to each file in the folders.
type fileMatcher struct {
	docs       []api.Document
	byPath     map[string][]int // several if names only differ in characters that are removed
	bySHA      map[string]int
	filePaths  map[string]int  // number of files by path
	nameCounts map[string]int  // number of files by name
	matchedIDs map[string]bool // ids of documents with a matching file
}

// newFileMatcher returns a matcher for the given documents and files.
func newFileMatcher(docs []api.Document, files []sourceFile) *fileMatcher {
	m := &fileMatcher{
		docs:       docs,
		byPath:     map[string][]int{},
		bySHA:      map[string]int{},
		filePaths:  map[string]int{},
		nameCounts: map[string]int{},
		matchedIDs: map[string]bool{},
	}
	for i, d := range docs {
		m.bySHA[d.SHA256] = i
		if d.Path != "" {
			m.byPath[d.Path] = append(m.byPath[d.Path], i)
		}
	}
	for _, f := range files {
		m.filePaths[f.Path]++
		m.nameCounts[api.CleanFilename(f.Name)]++
	}
	return m
}

// fileStatus is the state of a file relative to the existing documents.
type fileStatus int

const (
	fileNew fileStatus = iota
	fileUnchanged
	fileRenamed
	fileChanged
)

// classify returns the status of a file, and the document that matches it, if any. A file without a document at its
// path is treated as a new version of a document with the same name if both names are unique and the document did not
// come from a folder.
func (m *fileMatcher) classify(f sourceFile, sha256Sum string) (status fileStatus, matching *api.Document) {
	if i, ok := m.bySHA[sha256Sum]; ok {
		d := &m.docs[i]
		if d.Path == f.Path || d.Path != "" && m.filePaths[d.Path] >= max(1, len(m.byPath[d.Path])) {
			return fileUnchanged, d
		}
		return fileRenamed, d
	}
	same := m.byPath[f.Path]
	for _, i := range same {
		if !m.matchedIDs[m.docs[i].ID] {
			return fileChanged, &m.docs[i]
		}
	}
	if len(same) == 1 && m.filePaths[f.Path] == 1 { // another file has the document's previous content
		return fileChanged, &m.docs[same[0]]
	}
	base, found := api.CleanFilename(f.Name), -1
	for i := range m.docs {
		d := &m.docs[i]
		if d.Path != "" || !strings.EqualFold(d.Filename, base) || m.matchedIDs[d.ID] {
			continue
		}
		if found >= 0 {
			return fileNew, nil
		}
		found = i
	}
	if found < 0 || m.nameCounts[base] > 1 {
		return fileNew, nil
	}
	return fileChanged, &m.docs[found]
}

// syncDocumentsWithFolders uploads new and changed files from folders and recognizes renamed files. It reports
// documents whose files are missing, and deletes them only if removeMissing is set.
func (a *app) syncDocumentsWithFolders(
	ctx context.Context,
	assessment string,
	paths []string,
	files []sourceFile,
	skippedFiles []skippedFile,
	category string,
	removeMissing bool,
) (*docSyncResult, error) {
	out := &docSyncResult{
		Added:           []api.Document{},
		Replaced:        []api.Document{},
		Renamed:         []api.Document{},
		Missing:         []api.Document{},
		Removed:         []api.Document{},
		Skipped:         skippedFiles,
		ChangedEvidence: []string{},
	}
	docs, err := a.listDocuments(ctx, assessment)
	if err != nil {
		return nil, err
	}
	finished := a.rememberImport(assessment, paths)
	m := newFileMatcher(docs, files)
	sums := make([]string, len(files))
	a.progress.Start("scan the files")
	for i, f := range files {
		a.progress.Update("scan %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		if sums[i], err = f.hash(); ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			out.Skipped = append(out.Skipped, skippedFile{Name: f.Name, Reason: errorWithoutPath(err).Error(), path: f.Path})
			continue
		}
		if at, ok := m.bySHA[sums[i]]; ok {
			m.matchedIDs[m.docs[at].ID] = true
		}
	}
	for i, f := range files {
		if sums[i] == "" {
			continue
		}
		a.progress.Update("upload %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		if err := a.syncDocumentWithFile(ctx, assessment, m, f, sums[i], category, len(files)-i, out); err != nil {
			return nil, err
		}
	}
	if err := a.listOrRemoveMissing(ctx, m, folderPrefixes(paths), removeMissing, out); err != nil {
		return nil, err
	}
	a.progress.Done(
		"%d added, %d changed, %d renamed, %d missing, %d unchanged, %d skipped",
		len(out.Added),
		len(out.Replaced),
		len(out.Renamed),
		len(out.Missing)+len(out.Removed),
		out.Unchanged,
		len(out.Skipped),
	)
	finished()
	return out, nil
}

// syncDocumentWithFile uploads, replaces or renames the document that corresponds to a file, and records the result
// in out.
func (a *app) syncDocumentWithFile(
	ctx context.Context,
	assessment string,
	m *fileMatcher,
	f sourceFile,
	sum, category string,
	remaining int,
	out *docSyncResult,
) error {
	status, d := m.classify(f, sum)
	if d != nil {
		m.matchedIDs[d.ID] = true
	}
	if status == fileUnchanged {
		out.Unchanged++
		return nil
	}
	replaces := ""
	if d != nil {
		replaces = d.ID
	}
	doc, err := a.uploadFile(ctx, assessment, f, category, replaces, remaining)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case api.IsCode(err, api.CodeValidation) || api.IsCode(err, api.CodeInvalidState):
		out.Skipped = append(out.Skipped, skippedFile{Name: f.Name, Reason: err.Error(), path: f.Path})
		return nil
	case err != nil:
		return err
	}
	m.matchedIDs[doc.ID] = true
	if d != nil {
		*d = *doc // so that a second file with this content counts as unchanged
	} else {
		m.docs = append(m.docs, *doc)
		m.bySHA[sum] = len(m.docs) - 1
	}
	switch status {
	case fileRenamed:
		out.Renamed = append(out.Renamed, *doc)
	case fileChanged:
		out.Replaced = append(out.Replaced, *doc)
	case fileNew, fileUnchanged:
		out.Added = append(out.Added, *doc)
	}
	return nil
}

// listOrRemoveMissing finds documents whose files no longer exist in the folders, and deletes them
// if removeMissing is set. Documents under a skipped path do not count as missing.
func (a *app) listOrRemoveMissing(ctx context.Context, m *fileMatcher, prefixes []string, removeMissing bool, out *docSyncResult) error {
	for _, d := range m.docs {
		inFolders := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(d.Path, p) })
		isSkipped := slices.ContainsFunc(out.Skipped, func(s skippedFile) bool {
			return s.path != "" && (d.Path == s.path || strings.HasPrefix(d.Path, s.path+"/"))
		})
		if !inFolders || isSkipped || m.matchedIDs[d.ID] || m.filePaths[d.Path] > 0 {
			continue
		}
		if !removeMissing {
			out.Missing = append(out.Missing, d)
			continue
		}
		if _, err := call(ctx, a, api.DeleteDocument, &api.DocumentInput{DocumentID: d.ID}); err != nil {
			return err
		}
		out.Removed = append(out.Removed, d)
	}
	return nil
}

// printMissingNotices prints a notice for each document whose file is missing.
func (a *app) printMissingNotices(s *docSyncResult) {
	for _, d := range s.Missing {
		a.progress.Notice("the file is missing from the folder, but the document is kept as evidence: %s", d.Path)
	}
	if len(s.Missing) > 0 {
		a.progress.Notice("`%s` removes missing documents", a.suggestedCommandLine("doc sync DIR --remove"))
	}
}

// evidenceChangesSince returns the summaries of the evidence changes in the assessment's timeline since the given
// time.
func (a *app) evidenceChangesSince(ctx context.Context, assessment string, since time.Time) ([]string, error) {
	l, err := fetchAll(
		ctx,
		a,
		api.GetTimeline,
		&api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Type: "evidence.changed"},
	)
	if err != nil {
		return nil, err
	}
	out := []string{}
	for _, e := range slices.Backward(l.Data) {
		if !e.At.Before(since) {
			out = append(out, e.Summary)
		}
	}
	return out, nil
}

func (a *app) docSync() *cobra.Command {
	var category string
	var remove, sure bool
	cmd := &cobra.Command{
		Use: "sync DIR…", Short: "Import the changes in a folder",
		Long: `Compares a folder with the documents imported from it: new files are added, changed files
become new versions of their documents, and renamed or moved files are recognized.
Unchanged passages keep their IDs, so drafts based on these passages remain valid. Items
based on changed passages are listed and, in drafts, marked for review.

Missing files are listed; their documents are kept unless --remove is given.`,
		Example: "  service doc sync ./evidence\n  service doc sync ./evidence --remove --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			files, skipped, err := a.collectFiles(ctx, args)
			if err != nil {
				return err
			}
			one, err := a.currentAssessment(ctx)
			if err != nil {
				return err
			}
			if remove {
				if err := a.confirm(sure, fmt.Sprintf("delete the documents whose files are missing from %s", strings.Join(args, ", "))); err != nil {
					return err
				}
			}
			before, err := a.timeAfterNewestEvent(ctx, one.ID)
			if err != nil {
				return err
			}
			got, err := a.syncDocumentsWithFolders(ctx, one.ID, args, files, skipped, category, remove)
			if err != nil {
				return err
			}
			if got.changedCount() > 0 {
				all, err := a.waitUntilDocumentsRead(ctx, one.ID)
				if err != nil {
					return err
				}
				replaceWithCurrent(got.Added, all)
				replaceWithCurrent(got.Replaced, all)
			}
			if got.ChangedEvidence, err = a.evidenceChangesSince(ctx, one.ID, before); err != nil {
				return err
			}
			if err := a.out.Print(got, func(p *print.Page) {
				a.renderDocSync(p, got)
				a.renderLateDocuments(p, one.State, got.changedCount())
			}); err != nil {
				return err
			}
			return a.reportUnreadFiles(got.Skipped, slices.Concat(got.Added, got.Replaced))
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "category of new files: policy, procedure, record, … (default: detected)")
	cmd.Flags().BoolVar(&remove, "remove", false, "delete documents whose files are missing")
	addYesFlag(cmd, &sure)
	return cmd
}

// timeAfterNewestEvent returns a time just after the assessment's newest event, by the server's clock. It
// returns the zero time if there are no events.
func (a *app) timeAfterNewestEvent(ctx context.Context, assessment string) (time.Time, error) {
	l, err := call(
		ctx,
		a,
		api.GetTimeline,
		&api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}},
	)
	if err != nil || len(l.Data) == 0 {
		return time.Time{}, err
	}
	return l.Data[0].At.Add(time.Nanosecond), nil
}

// replaceWithCurrent replaces each element of docs with the document in current that has the same ID, if there
// is one.
func replaceWithCurrent(docs, current []api.Document) {
	for i, d := range docs {
		if at := slices.IndexFunc(current, func(x api.Document) bool { return x.ID == d.ID }); at >= 0 {
			docs[i] = current[at]
		}
	}
}

func (a *app) renderDocSync(p *print.Page, s *docSyncResult) {
	var rows [][]string
	for _, part := range []struct {
		what string
		docs []api.Document
	}{{"new", s.Added}, {"changed", s.Replaced}, {"renamed", s.Renamed}, {"missing", s.Missing}, {"removed", s.Removed}} {
		for _, d := range part.docs {
			status := prose.Humanize(d.Status)
			if d.Error != nil {
				status += ": " + *d.Error
			}
			name := d.Path
			if name == "" {
				name = d.Filename
			}
			rows = append(rows, []string{part.what, name, status, d.ID})
		}
	}
	if len(rows) > 0 {
		p.Table([]print.Column{column("change"), column("file"), column("status"), idColumn()}, rows)
	} else {
		p.Text("Nothing changed.")
	}
	if len(s.ChangedEvidence) > 0 {
		p.Title("Changed evidence")
		for _, e := range s.ChangedEvidence {
			p.Text("- %s", e)
		}
		p.Text("The affected draft items are marked for review; `%s` lists them. To assess the new text, create a new draft.",
			a.suggestedCommandLine("soa items --needs-review"))
	}
	if len(s.Missing) > 0 {
		p.Text("Documents with missing files are kept; `%s` removes them.", a.suggestedCommandLine("doc sync DIR --remove"))
	}
}
