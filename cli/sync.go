package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

// synced is what came of holding folders against the documents of an assessment.
type synced struct {
	Added     []api.Document `json:"added"`
	Replaced  []api.Document `json:"replaced"`
	Renamed   []api.Document `json:"renamed"`
	Vanished  []api.Document `json:"vanished"`
	Removed   []api.Document `json:"removed"`
	Unchanged int            `json:"unchanged"`
	Left      []skipped      `json:"left_out"`
	Evidence  []string       `json:"evidence_changed"`
}

// changes are the documents whose content is new.
func (s *synced) changes() int { return len(s.Added) + len(s.Replaced) }

// taken is how many files are documents now.
func (s *synced) taken() int { return s.changes() + len(s.Renamed) + s.Unchanged }

// folders are the first parts of the paths that the files of folders have.
func folders(paths []string) []string {
	var out []string
	for _, p := range paths {
		if label := folderLabel(p); label != "" {
			out = append(out, label+"/")
		}
	}
	return out
}

// match pairs the files of folders with the documents that came from them.
type match struct {
	docs     []api.Document
	byPath   map[string]int
	bySHA    map[string]int
	there    map[string]bool // paths of the files
	named    map[string]int  // how many files have a name
	followed map[string]bool // ids of documents that a file was found for
}

func matching(docs []api.Document, files []source) *match {
	m := &match{docs: docs, byPath: map[string]int{}, bySHA: map[string]int{}, there: map[string]bool{}, named: map[string]int{}, followed: map[string]bool{}}
	for i, d := range docs {
		m.bySHA[d.SHA256] = i
		if d.Path != "" {
			m.byPath[d.Path] = i
		}
	}
	for _, f := range files {
		m.there[f.Path] = true
		m.named[filepath.Base(f.Name)]++
	}
	return m
}

// what a file is to the documents there are.
type verdict int

const (
	isNew verdict = iota
	isSame
	isRenamed
	isChanged
)

// judge tells what a file is, and of which document. A file without a document at its
// path is the new version of one of its name, where there is but one of either and it did
// not come from a folder.
func (m *match) judge(f source, sum string) (verdict, *api.Document) {
	if i, ok := m.bySHA[sum]; ok {
		d := &m.docs[i]
		if d.Path == f.Path || d.Path != "" && m.there[d.Path] {
			return isSame, d
		}
		return isRenamed, d
	}
	if i, ok := m.byPath[f.Path]; ok {
		return isChanged, &m.docs[i]
	}
	base, found := filepath.Base(f.Name), -1
	for i := range m.docs {
		d := &m.docs[i]
		if d.Path != "" || !strings.EqualFold(d.Filename, base) || m.followed[d.ID] {
			continue
		}
		if found >= 0 {
			return isNew, nil
		}
		found = i
	}
	if found < 0 || m.named[base] > 1 {
		return isNew, nil
	}
	return isChanged, &m.docs[found]
}

// sync takes in what is new or changed in folders and follows renames. What vanished from
// a folder is told of, and deleted only where the caller asked for it.
func (a *app) sync(ctx context.Context, assessment string, paths []string, files []source, left []skipped, category string, remove bool) (*synced, error) {
	out := &synced{Added: []api.Document{}, Replaced: []api.Document{}, Renamed: []api.Document{}, Vanished: []api.Document{}, Removed: []api.Document{}, Left: left, Evidence: []string{}}
	docs, err := a.documents(ctx, assessment)
	if err != nil {
		return nil, err
	}
	m := matching(docs, files)
	sums := make([]string, len(files))
	a.progress.Start("look at the files")
	for i, f := range files {
		a.progress.Update("look at %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		if sums[i], err = f.hash(); err != nil {
			out.Left = append(out.Left, skipped{Name: f.Name, Reason: reason(err).Error(), path: f.Path})
			continue
		}
		if at, ok := m.bySHA[sums[i]]; ok {
			m.followed[m.docs[at].ID] = true
		}
	}
	for i, f := range files {
		if sums[i] == "" {
			continue
		}
		a.progress.Update("upload %d of %d: %s", i+1, len(files), filepath.Base(f.Name))
		if err := a.syncFile(ctx, assessment, m, f, sums[i], category, len(files)-i, out); err != nil {
			return nil, err
		}
	}
	if err := a.vanished(ctx, m, folders(paths), remove, out); err != nil {
		return nil, err
	}
	a.progress.Done("%d new, %d changed, %d renamed, %d vanished, %d as they were, %d left out", len(out.Added), len(out.Replaced), len(out.Renamed),
		len(out.Vanished)+len(out.Removed), out.Unchanged, len(out.Left))
	return out, nil
}

func (a *app) syncFile(ctx context.Context, assessment string, m *match, f source, sum, category string, left int, out *synced) error {
	what, d := m.judge(f, sum)
	if d != nil {
		m.followed[d.ID] = true
	}
	if what == isSame {
		out.Unchanged++
		return nil
	}
	replaces := ""
	if d != nil {
		replaces = d.ID
	}
	doc, err := a.upload(ctx, assessment, f, category, replaces, left)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case api.IsCode(err, api.CodeValidation) || api.IsCode(err, api.CodeInvalidState):
		out.Left = append(out.Left, skipped{Name: f.Name, Reason: err.Error(), path: f.Path})
		return nil
	case err != nil:
		return err
	}
	m.followed[doc.ID] = true
	if d != nil {
		*d = *doc // a second file of the same content is then one that is there
	} else {
		m.docs = append(m.docs, *doc)
		m.bySHA[sum] = len(m.docs) - 1
	}
	switch what {
	case isRenamed:
		out.Renamed = append(out.Renamed, *doc)
	case isChanged:
		out.Replaced = append(out.Replaced, *doc)
	case isNew, isSame:
		out.Added = append(out.Added, *doc)
	}
	return nil
}

// vanished finds the documents of the folders whose files are not there any more. What
// lies where nobody could look is not known to be gone.
func (a *app) vanished(ctx context.Context, m *match, prefixes []string, remove bool, out *synced) error {
	for _, d := range m.docs {
		ours := slices.ContainsFunc(prefixes, func(p string) bool { return strings.HasPrefix(d.Path, p) })
		hidden := slices.ContainsFunc(out.Left, func(s skipped) bool {
			return s.path != "" && (d.Path == s.path || strings.HasPrefix(d.Path, s.path+"/"))
		})
		if !ours || hidden || m.followed[d.ID] || m.there[d.Path] {
			continue
		}
		if !remove {
			out.Vanished = append(out.Vanished, d)
			continue
		}
		if _, err := call(ctx, a, api.DeleteDocument, &api.DocumentInput{DocumentID: d.ID}); err != nil {
			return err
		}
		out.Removed = append(out.Removed, d)
	}
	return nil
}

// sayVanished tells of documents whose files are gone.
func (a *app) sayVanished(s *synced) {
	for _, d := range s.Vanished {
		a.progress.Say("gone from the folder, kept as evidence: %s", d.Path)
	}
	if len(s.Vanished) > 0 {
		a.progress.Say("`%s` removes what is gone", a.command("doc sync DIR --remove"))
	}
}

// changedEvidence is what the timeline says since then of lines whose passages changed.
func (a *app) changedEvidence(ctx context.Context, assessment string, since time.Time) ([]string, error) {
	l, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.TimelineEvent], error) {
		return call(ctx, a, api.GetTimeline, &api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: p, Type: "evidence.changed"})
	})
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
		Use: "sync DIR…", Short: "Take in what changed in a folder", Args: takes(1, -1),
		Long: `Holds a folder against the documents that came from it: new files are added, changed
ones are read again as new versions of their documents, the same file under another
name or in another place of the folder is followed. Passages that say the same keep
their ids, so what was drafted from them stays; lines that rest on passages that
changed are named, and marked for review where they are in draft.

A file that is gone is named; its document stays, unless --remove is given.`,
		Example: "  service doc sync ./evidence\n  service doc sync ./evidence --remove --yes",
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			files, left, err := gather(args)
			if err != nil {
				return err
			}
			one, err := a.assessment(ctx)
			if err != nil {
				return err
			}
			if remove {
				if err := a.confirm(sure, "delete the documents whose files are gone from "+strings.Join(args, ", ")); err != nil {
					return err
				}
			}
			before, err := a.newestEvent(ctx, one.ID)
			if err != nil {
				return err
			}
			got, err := a.sync(ctx, one.ID, args, files, left, category, remove)
			if err != nil {
				return err
			}
			if got.changes() > 0 {
				all, err := a.awaitReading(ctx, one.ID)
				if err != nil {
					return err
				}
				refresh(got.Added, all)
				refresh(got.Replaced, all)
			}
			if got.Evidence, err = a.changedEvidence(ctx, one.ID, before); err != nil {
				return err
			}
			if err := a.out.Print(got, func(p *print.Page) {
				a.syncPage(p, got)
				a.notDrafted(p, one.State, got.changes())
			}); err != nil {
				return err
			}
			return a.unreadable(got)
		},
	}
	cmd.Flags().StringVar(&category, "category", "", "of the new files: policy, procedure, record, … (default: guessed)")
	cmd.Flags().BoolVar(&remove, "remove", false, "delete the documents whose files are gone")
	cmd.Flags().BoolVarP(&sure, "yes", "y", false, "do not ask before removing")
	return cmd
}

// newestEvent is when something last happened, by the clock of who keeps the timeline.
func (a *app) newestEvent(ctx context.Context, assessment string) (time.Time, error) {
	l, err := call(ctx, a, api.GetTimeline, &api.TimelineInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}})
	if err != nil || len(l.Data) == 0 {
		return time.Time{}, err
	}
	return l.Data[0].At.Add(time.Nanosecond), nil
}

// refresh takes over how documents stand now.
func refresh(docs, now []api.Document) {
	for i, d := range docs {
		if at := slices.IndexFunc(now, func(x api.Document) bool { return x.ID == d.ID }); at >= 0 {
			docs[i] = now[at]
		}
	}
}

func (a *app) syncPage(p *print.Page, s *synced) {
	var rows [][]string
	for _, part := range []struct {
		what string
		docs []api.Document
	}{{"new", s.Added}, {"changed", s.Replaced}, {"renamed", s.Renamed}, {"gone", s.Vanished}, {"removed", s.Removed}} {
		for _, d := range part.docs {
			status := plain(d.Status)
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
		p.Table([]print.Column{{Title: "change"}, {Title: "file"}, {Title: "status"}, {Title: "id", Keep: true}}, rows)
	} else {
		p.Text("Nothing changed.")
	}
	if len(s.Evidence) > 0 {
		p.Title("Evidence that changed")
		for _, e := range s.Evidence {
			p.Text("- %s", e)
		}
		p.Text("Lines in draft are marked for review: `%s`. Draft again to judge the new text.", a.command("soa items --needs-review"))
	}
	if len(s.Vanished) > 0 {
		p.Text("Documents whose files are gone stay; `%s` removes them.", a.command("doc sync DIR --remove"))
	}
}

// unreadable is the error of files that could not be taken or read; nil where there are none.
func (a *app) unreadable(s *synced) error {
	for _, l := range s.Left {
		a.progress.Say("left out: %s: %s", l.Name, l.Reason)
	}
	bad := len(s.Left)
	for _, d := range append(slices.Clone(s.Added), s.Replaced...) {
		if d.Status == api.DocumentFailed {
			bad++
		}
	}
	if bad == 0 {
		return nil
	}
	return advise(stopped("%s could not be read; the others were taken", count(bad, "file", "files")), "`%s` lists them", a.command("doc list --status failed"))
}
