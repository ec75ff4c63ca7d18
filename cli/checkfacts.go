package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/check"
)

// assessmentFacts reads what an assessment found, wherever it is.
func (a *app) assessmentFacts(ctx context.Context, ref string) (*check.Facts, error) {
	one, err := a.assessmentNamed(ctx, ref)
	if err != nil {
		return nil, err
	}
	a.progress.Start("read the assessment")
	r, err := a.checkRecords(ctx, one)
	a.progress.Done("")
	if err != nil {
		return nil, err
	}
	return check.Gather(r), nil
}

// checkRecords reads an assessment's records, of the newest versions.
func (a *app) checkRecords(ctx context.Context, one *api.Assessment) (*check.Records, error) {
	r := &check.Records{Assessment: *one, Versions: map[api.Gate]*api.DeliverableVersion{}}
	catalog, err := call(ctx, a, api.GetVersion, &api.VersionInput{SCFVersionID: one.SCFVersionID})
	if err != nil {
		return nil, err
	}
	r.Catalog = *catalog
	newest := api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: one.ID}, Paging: api.Paging{Limit: 1}}
	if l, err := call(ctx, a, api.ListSoA, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateSoA] = &l.Data[0].DeliverableVersion
		items, err := a.soaItemsOf(ctx, api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: l.Data[0].ID}}, limits{})
		if err != nil {
			return nil, err
		}
		r.Items = items.Data
	}
	if l, err := call(ctx, a, api.ListGap, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateGapAnalysis] = &l.Data[0].DeliverableVersion
		found, err := a.findings(ctx, l.Data[0].ID, api.FindingFilter{}, limits{})
		if err != nil {
			return nil, err
		}
		r.Findings = found.Data
	}
	if l, err := call(ctx, a, api.ListMaturity, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateMaturity] = &l.Data[0].DeliverableVersion
		scores, err := a.scores(ctx, api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: l.Data[0].ID}}, limits{})
		if err != nil {
			return nil, err
		}
		r.Scores = scores.Data
	}
	if l, err := call(ctx, a, api.ListPOAM, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GatePOAM] = &l.Data[0].DeliverableVersion
	}
	approvals, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.Approval], error) {
		return call(ctx, a, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: newest.AssessmentInput, Paging: p})
	})
	if err != nil {
		return nil, err
	}
	r.Approvals = approvals.Data
	r.Documents, err = a.documents(ctx, one.ID)
	return r, err
}

// checkedAs is the folder's name where a folder is assessed apart: what is found must not
// depend on where the folder lies.
const checkedAs = "evidence"

// folderFacts assesses a folder apart, or takes what was found of the same content before.
func (a *app) folderFacts(ctx context.Context, dir string, frameworks []string, fresh bool, own []string) (*check.Facts, error) {
	files, left, err := gather([]string{dir})
	if err != nil {
		return nil, err
	}
	label := folderLabel(dir)
	inside := func(p string) string { return strings.TrimPrefix(p, label+"/") }
	files = slices.DeleteFunc(files, func(s source) bool {
		abs, err := filepath.Abs(s.Name)
		return err == nil && slices.Contains(own, abs)
	})
	key := sha256.New()
	fmt.Fprintf(key, "service-facts/1\n%s\n%s\n%s\n%q\n", a.Version, a.Build, a.today(), frameworks)
	var taken []source
	for _, f := range files {
		sum, err := f.hash()
		if err != nil {
			left = append(left, skipped{f.Name, reason(err).Error(), f.Path})
			continue
		}
		f.Path = path.Join(checkedAs, inside(f.Path))
		fmt.Fprintf(key, "%q %s\n", f.Path, sum)
		taken = append(taken, f)
	}
	if len(taken) == 0 {
		return nil, advise(stopped("the folder %s holds no file that could be evidence", dir), "hidden files and links are left out; `service help check` tells what is read")
	}
	keep := ""
	if a.CacheDir != "" {
		keep = filepath.Join(a.CacheDir, "check", hex.EncodeToString(key.Sum(nil))+".json")
	}
	var facts *check.Facts
	if !fresh && keep != "" {
		facts = recall(keep)
	}
	if facts == nil {
		if facts, err = a.assessApart(ctx, taken, frameworks); err != nil {
			return nil, err
		}
		keepFacts(keep, facts)
	}
	if facts.Read() == 0 {
		why := ""
		if len(facts.Documents) > 0 {
			why = ": " + facts.Documents[0].Path + ": " + facts.Documents[0].Unread
		}
		return nil, stopped("no document of the folder %s could be read%s", dir, why)
	}
	facts.Move(checkedAs, shownFolder(dir))
	for _, l := range left {
		facts.LeaveOut(path.Join(shownFolder(dir), inside(l.path)), l.Reason)
	}
	return facts, nil
}

// shownFolder is a folder as results name it: from where the command runs, which in a
// pipeline is the repository, so that files are found there.
func shownFolder(dir string) string {
	dir = filepath.Clean(dir)
	if filepath.IsAbs(dir) {
		if here, err := os.Getwd(); err == nil {
			if rel, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(rel) {
				dir = rel
			}
		}
	}
	return filepath.ToSlash(dir)
}

// assessApart assesses files in a data folder of their own, which is gone afterwards.
func (a *app) assessApart(ctx context.Context, files []source, frameworks []string) (facts *check.Facts, err error) {
	data, err := os.MkdirTemp("", "service-check-")
	if err != nil {
		return nil, advise(stopped("the evidence is read in a temporary folder, and none can be made: %w", err), "set TMPDIR to a folder that can be written")
	}
	before, context, lost, engine, disconnect, quiet := a.flags.Target, a.context, a.lost, a.engine, a.disconnect, a.progress.Quiet
	a.progress.Start("assess the evidence")
	a.flags.Target, a.context, a.lost, a.engine, a.disconnect, a.progress.Quiet = Target{Data: data}, nil, nil, nil, nil, true
	defer func() {
		if a.disconnect != nil {
			err = errors.Join(err, a.disconnect())
		}
		err = errors.Join(err, os.RemoveAll(data))
		a.flags.Target, a.context, a.lost, a.engine, a.disconnect, a.progress.Quiet = before, context, lost, engine, disconnect, quiet
		a.progress.Done("")
	}()
	o := runOptions{frameworks: frameworks, approve: []api.Gate{api.GateSoA, api.GateGapAnalysis}, until: api.StateMaturityAssessed,
		comment: "no person's decision: this data folder is for a check, and thrown away"}
	one, err := a.create(ctx, "check", o)
	if err != nil {
		return nil, err
	}
	got, err := a.add(ctx, one.ID, files, "")
	if err != nil {
		return nil, err
	}
	if len(got.Added) > 0 {
		if err := a.moveOn(ctx, one.ID, o); err != nil {
			return nil, &failure{code: exitRuntime, err: err} // no decision of a person is missing here
		}
	}
	r, err := a.checkRecords(ctx, one)
	if err != nil {
		return nil, err
	}
	facts = check.Gather(r)
	for _, l := range got.Left {
		facts.LeaveOut(l.path, l.Reason)
	}
	return facts, nil
}

// kept is how many results are kept of folders that were checked.
const kept = 32

// recall reads what was found of a content before; nil where nothing can be had.
func recall(file string) *check.Facts {
	data, err := readBounded(file, check.MaxRecorded)
	if err != nil {
		return nil
	}
	facts, err := check.Load(data)
	if err != nil {
		return nil
	}
	return facts
}

// keepFacts keeps what was found. Where that can't be, as in a container that may not
// write, the next check just takes as long again.
func keepFacts(file string, facts *check.Facts) {
	data, err := facts.Save()
	if err != nil || file == "" || os.MkdirAll(filepath.Dir(file), 0o700) != nil {
		return
	}
	if replaceFile(file, 0o600, func(w io.Writer) error { _, err := w.Write(data); return err }) != nil {
		return
	}
	all, err := os.ReadDir(filepath.Dir(file))
	if err != nil || len(all) <= kept {
		return
	}
	age := func(e fs.DirEntry) int64 {
		if info, err := e.Info(); err == nil {
			return info.ModTime().UnixNano()
		}
		return 0
	}
	slices.SortFunc(all, func(x, y fs.DirEntry) int { return int(min(1, max(-1, age(y)-age(x)))) })
	for _, old := range all[kept:] {
		_ = os.Remove(filepath.Join(filepath.Dir(file), old.Name()))
	}
}
