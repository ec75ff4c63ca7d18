package cli

import (
	"context"
	"path/filepath"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// rememberImport remembers that an import of files into an assessment has begun. The caller calls the returned
// function once all files have been imported. Otherwise, later runs report the missing files.
func (a *app) rememberImport(assessment string, paths []string) (finished func()) {
	full := make([]string, len(paths))
	for i, p := range paths {
		full[i], _ = filepath.Abs(p)
	}
	a.updateSavedState(func(m *savedState) {
		if m.UnfinishedImports == nil {
			m.UnfinishedImports = map[string][]string{}
		}
		m.UnfinishedImports[assessment] = full
	})
	return func() { a.updateSavedState(func(m *savedState) { delete(m.UnfinishedImports, assessment) }) }
}

// printUnfinishedImport prints how many files of an interrupted import are not in the assessment, and how to add them.
func (a *app) printUnfinishedImport(ctx context.Context, assessment *api.Assessment) error {
	paths := a.readSavedState().UnfinishedImports[assessment.ID]
	if len(paths) == 0 {
		return nil
	}
	again := a.suggestedCommandLine(importAgain(paths, assessment.Name))
	files, _, err := a.collectFiles(ctx, paths)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err != nil {
		a.printNotice("The last import into %q was interrupted, and its files can't be read now: %v. To repeat the import, run `%s`.",
			assessment.Name, err, again)
		return nil
	}
	docs, err := a.listDocuments(ctx, assessment.ID)
	if err != nil {
		return err
	}
	missing := 0
	for _, f := range files {
		sum, err := f.hash()
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil || !slices.ContainsFunc(docs, func(d api.Document) bool { return d.SHA256 == sum }) {
			missing++
		}
	}
	if missing > 0 {
		a.printNotice("The last import into %q was interrupted: %d of the %d files in %s were not added. To add the missing files, run `%s`.",
			assessment.Name, missing, len(files), strings.Join(paths, ", "), again)
	}
	return nil
}

// importAgain returns the command that continues an import. It names the paths, because without them, files not yet imported
// would be left out.
func importAgain(paths []string, assessment string) string {
	command := "assess run"
	for _, p := range paths {
		command += " " + shellQuote(p)
	}
	return command + " --name " + shellQuote(assessment)
}
