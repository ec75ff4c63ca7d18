package cli

import (
	"io"
	"os"
	"path/filepath"

	"github.com/scf-service/service/engine/check"
)

// parseOutputs are the formats to write: those of the flags, else of the policy; always one
// to stdout, and only one.
func (a *app) parseOutputs(specs []string, parse func(string) (check.Output, error)) (out []check.Output, err error) {
	stdout := 0
	for _, w := range specs {
		one, err := parse(w)
		if err != nil {
			return nil, err
		}
		if one.Path == "" {
			stdout++
		}
		for _, o := range out {
			if isSameFile(o.Path, one.Path) {
				return nil, usageError("two formats can't go to one file, %s", o.Path)
			}
		}
		out = append(out, one)
	}
	if a.out.Query != nil {
		stdout++ // what the filter makes goes there
	}
	switch {
	case stdout > 1:
		return nil, withHint(usageError("only one format can go to stdout"), "name a file for the others, as -o sarif=check.sarif")
	case stdout == 0:
		format := "text"
		if f := a.out.Format; f == "json" || f == "csv" {
			format = f // the person's general choice
		}
		out = append(out, check.Output{Format: format})
	}
	return out, nil
}

// listCheckFiles are the files that the check reads and writes; they are no evidence.
func listCheckFiles(p *check.Policy, outputs []check.Output) (out []string) {
	files := []string{p.Name, p.Baseline, p.Waivers, p.Threshold}
	for _, o := range outputs {
		files = append(files, o.Path)
	}
	for _, f := range files {
		if abs, err := filepath.Abs(f); err == nil && f != "" {
			out = append(out, abs)
		}
	}
	return out
}

// rejectOverlappingFiles refuses to write over a file that the check reads, or two things to one file.
// A baseline may be written over as a result in JSON, which is the next one's baseline.
func rejectOverlappingFiles(p *check.Policy, o checkOptions, outputs []check.Output) error {
	reserved := []struct{ what, file string }{{"policy", p.Name}, {"waivers", p.Waivers}, {"threshold", p.Threshold}}
	if o.writeBaseline {
		reserved = append(reserved, struct{ what, file string }{"baseline", p.Baseline})
	}
	for i, one := range reserved {
		for _, other := range reserved[:i] {
			if isSameFile(one.file, other.file) {
				return usageError("%s can't be the %s and the %s", one.file, other.what, one.what)
			}
		}
		for _, out := range outputs {
			if isSameFile(one.file, out.Path) {
				return usageError("%s is the file of the %s, and -o %s would be written over it", out.Path, one.what, out.Format)
			}
		}
	}
	return nil
}

// isSameFile tells whether two paths are of one file, which need not be there yet. What is no
// file, as /dev/null, takes anything.
func isSameFile(a, b string) bool {
	if a == "" || b == "" {
		return false
	}
	if x, err := os.Stat(a); err == nil {
		y, err := os.Stat(b)
		return err == nil && x.Mode().IsRegular() && os.SameFile(x, y)
	}
	if _, err := os.Stat(b); err == nil {
		return false
	}
	return resolvePath(a) == resolvePath(b)
}

// resolvePath is the path of a file that is not there yet, from the root and without links.
func resolvePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// writeOutputFile writes a file whole or not at all; what is no file, as it is.
func writeOutputFile(path string, text []byte) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return runtimeError("%s is a folder, and a file was to be written", path)
	case err == nil && !info.Mode().IsRegular():
		err = os.WriteFile(path, text, 0o644)
	default:
		err = writeFileAtomically(path, 0o644, func(w io.Writer) error { _, err := w.Write(text); return err })
	}
	if err != nil {
		return runtimeError("%s can't be written: %w", path, errorWithoutPath(err))
	}
	return nil
}
