package cli

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/check"
	"github.com/scf-service/service/internal/regularfile"
)

// gatherAssessmentFacts returns the facts of an assessment, local or on a server.
func (a *app) gatherAssessmentFacts(ctx context.Context, ref string) (*check.Facts, error) {
	one, err := a.findAssessment(ctx, ref)
	if err != nil {
		return nil, err
	}
	a.progress.Start("read the assessment")
	r, err := a.readCheckRecords(ctx, one)
	a.progress.Done("")
	if err != nil {
		return nil, err
	}
	return check.NewFacts(r), nil
}

// readCheckRecords reads the records of an assessment that a check needs, including the newest version of
// each deliverable.
func (a *app) readCheckRecords(ctx context.Context, assessment *api.Assessment) (*check.Records, error) {
	r := &check.Records{Assessment: *assessment, Versions: map[api.Gate]*api.DeliverableVersion{}}
	catalog, err := call(ctx, a, api.GetVersion, &api.VersionInput{SCFVersionID: assessment.SCFVersionID})
	if err != nil {
		return nil, err
	}
	r.Catalog = catalog.CatalogVersion
	newest := api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment.ID}, Paging: api.Paging{Limit: 1}}
	if l, err := call(ctx, a, api.ListSoA, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateSoA] = &l.Data[0].DeliverableVersion
		items, err := fetchAll(ctx, a, api.ListSoAItems, &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: l.Data[0].ID}})
		if err != nil {
			return nil, err
		}
		r.Items = items.Data
	}
	if l, err := call(ctx, a, api.ListGap, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateGapAnalysis] = &l.Data[0].DeliverableVersion
		found, err := a.listFindings(ctx, l.Data[0].ID, api.FindingFilter{}, listFlags{})
		if err != nil {
			return nil, err
		}
		r.Findings = found.Data
	}
	if l, err := call(ctx, a, api.ListMaturity, &newest); err != nil {
		return nil, err
	} else if len(l.Data) > 0 {
		r.Versions[api.GateMaturity] = &l.Data[0].DeliverableVersion
		scores, err := fetchAll(
			ctx,
			a,
			api.ListMaturityScores,
			&api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: l.Data[0].ID}},
		)
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
	approvals, err := fetchAll(ctx, a, api.ListApprovals, &api.ApprovalsInput{AssessmentInput: newest.AssessmentInput})
	if err != nil {
		return nil, err
	}
	r.Approvals = approvals.Data
	r.Documents, err = a.listDocuments(ctx, assessment.ID)
	return r, err
}

// canonicalFolder is the name under which every folder is assessed, so that results do not depend on the folder's
// location.
const canonicalFolder = "evidence"

// gatherFolderFacts assesses a folder in a temporary data folder. If the folder's content, the frameworks, the
// program and the date are unchanged since a previous check, it returns the cached facts instead. Files in excluded
// are skipped.
func (a *app) gatherFolderFacts(
	ctx context.Context,
	dir string,
	frameworks []string,
	noCache bool,
	excluded []string,
) (*check.Facts, error) {
	files, skipped, err := a.collectFiles(ctx, []string{dir})
	if err != nil {
		return nil, err
	}
	label := folderName(dir)
	relativePath := func(p string) string { return strings.TrimPrefix(p, label+"/") }
	files = slices.DeleteFunc(files, func(s sourceFile) bool {
		abs, err := filepath.Abs(s.Name)
		return err == nil && slices.Contains(excluded, abs)
	})
	key := sha256.New()
	fmt.Fprintf(key, "service-facts/1\n%s\n%s\n%s\n%q\n", a.Version, a.BuildID, a.today(), frameworks)
	var accepted []sourceFile
	for _, f := range files {
		sum, err := f.hash()
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		if err != nil {
			skipped = append(skipped, skippedFile{Name: f.Name, Reason: errorWithoutPath(err).Error(), path: f.Path})
			continue
		}
		f.Path = path.Join(canonicalFolder, relativePath(f.Path))
		fmt.Fprintf(key, "%q %s\n", f.Path, sum)
		accepted = append(accepted, f)
	}
	if len(accepted) == 0 {
		return nil, withHint(
			runtimeError("the folder %s contains no evidence files", dir),
			"hidden files and symbolic links are skipped; see `service help check`",
		)
	}
	cacheFile := ""
	if a.CacheDir != "" {
		cacheFile = filepath.Join(a.CacheDir, "check", hex.EncodeToString(key.Sum(nil))+".json")
	}
	var facts *check.Facts
	if !noCache && cacheFile != "" {
		facts = loadCachedFacts(cacheFile)
	}
	if facts == nil {
		if facts, err = a.assessInTempStore(ctx, accepted, frameworks); err != nil {
			return nil, err
		}
		saveCachedFacts(cacheFile, facts)
	}
	if facts.CountReadDocuments() == 0 {
		why := ""
		if len(facts.Documents) > 0 {
			why = ": " + facts.Documents[0].Path + ": " + facts.Documents[0].ReadError
		}
		return nil, runtimeError("no document in the folder %s could be read%s", dir, why)
	}
	facts.ReplaceFolderPath(canonicalFolder, toDisplayFolder(dir))
	for _, l := range skipped {
		facts.AddUnreadFile(path.Join(toDisplayFolder(dir), relativePath(l.path)), l.Reason)
	}
	return facts, nil
}

// toDisplayFolder returns the path by which results refer to a folder. It is relative if the folder is inside
// the working directory, so that CI annotations match repository paths.
func toDisplayFolder(dir string) string {
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

// assessInTempStore assesses files in a temporary data folder and removes it afterwards.
func (a *app) assessInTempStore(ctx context.Context, files []sourceFile, frameworks []string) (facts *check.Facts, err error) {
	data, err := os.MkdirTemp("", "service-check-")
	if err != nil {
		return nil, withHint(
			runtimeError("can't create a temporary folder: %w", err),
			"set TMPDIR to a writable folder",
		)
	}
	target, context, targetErr := a.flags.Target, a.context, a.targetErr
	engine, disconnect, quiet := a.engine, a.disconnect, a.progress.Quiet
	a.progress.Start("assess the evidence")
	a.flags.Target, a.context, a.targetErr = Target{Data: data}, nil, nil
	a.engine, a.disconnect, a.progress.Quiet = nil, nil, true
	defer func() {
		if a.disconnect != nil {
			err = errors.Join(err, a.disconnect())
		}
		err = errors.Join(err, os.RemoveAll(data))
		a.flags.Target, a.context, a.targetErr = target, context, targetErr
		a.engine, a.disconnect, a.progress.Quiet = engine, disconnect, quiet
		a.progress.Done("")
	}()
	o := runOptions{
		frameworks: frameworks, approve: []api.Gate{api.GateSoA, api.GateGapAnalysis}, until: api.StateMaturityAssessed,
		comment: "automatic approval in the temporary data folder of a check; no person decided",
	}
	one, err := a.createAssessment(ctx, "check", o)
	if err != nil {
		return nil, err
	}
	got, err := a.uploadNewFiles(ctx, one.ID, files, "")
	if err != nil {
		return nil, err
	}
	if len(got.Added) > 0 {
		if err := a.advanceAssessment(ctx, one.ID, o); err != nil {
			return nil, &exitError{code: exitRuntime, err: err} // must not have the exit code for a missing approval
		}
	}
	r, err := a.readCheckRecords(ctx, one)
	if err != nil {
		return nil, err
	}
	facts = check.NewFacts(r)
	for _, l := range got.Skipped {
		facts.AddUnreadFile(l.path, l.Reason)
	}
	return facts, nil
}

// maxCachedFacts is the maximum number of cached results.
const maxCachedFacts = 32

// loadCachedFacts returns the cached facts in file, or nil if they are missing or unreadable.
func loadCachedFacts(file string) *check.Facts {
	data, err := regularfile.Read(file, check.MaxRecordBytes)
	if err != nil {
		return nil
	}
	facts, err := check.DecodeFacts(data)
	if err != nil {
		return nil
	}
	return facts
}

// saveCachedFacts caches facts. It ignores errors, whose only effect is that the next check runs in full.
func saveCachedFacts(file string, facts *check.Facts) {
	if data, err := facts.Encode(); err == nil {
		saveInLimitedFolder(file, data, maxCachedFacts)
	}
}
