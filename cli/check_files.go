package cli

import (
	"context"
	"io"
	"os"
	"path/filepath"

	"github.com/scf-service/service/engine/check"
)

// parseOutputs parses output specs. The result always has exactly one output to stdout, or none if a --jq
// filter writes to stdout.
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
				return nil, usageError("two formats can't be written to the same file, %s", o.Path)
			}
		}
		out = append(out, one)
	}
	if a.out.Query != nil {
		stdout++ // the filter's result goes to stdout
	}
	switch {
	case stdout > 1:
		return nil, withHint(usageError("only one format can be written to stdout"),
			"specify a file for every other format, such as -o sarif=check.sarif")
	case stdout == 0:
		format := "text"
		if f := a.out.Format; f == "json" || f == "csv" {
			format = f // the user's default format
		}
		out = append(out, check.Output{Format: format})
	}
	return out, nil
}

// listCheckFiles returns the absolute paths of the files that the check itself reads and writes,
// which are not evidence.
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

// rejectOverlappingFiles returns an error if an output would overwrite another file of the check, or if two
// of those files are the same. A JSON result may overwrite the baseline that the check reads, because it can
// serve as the next baseline.
func rejectOverlappingFiles(p *check.Policy, o checkOptions, outputs []check.Output) error {
	reserved := []struct{ what, file string }{{"policy", p.Name}, {"waivers", p.Waivers}, {"threshold", p.Threshold}}
	if o.writeBaseline {
		reserved = append(reserved, struct{ what, file string }{"baseline", p.Baseline})
	}
	for i, one := range reserved {
		for _, other := range reserved[:i] {
			if isSameFile(one.file, other.file) {
				return usageError("%s can't be both the %s and the %s", one.file, other.what, one.what)
			}
		}
		for _, out := range outputs {
			if isSameFile(one.file, out.Path) {
				return usageError("%s is the %s file; -o %s would overwrite it", out.Path, one.what, out.Format)
			}
		}
	}
	return nil
}

// isSameFile reports whether two paths refer to the same file, which need not exist yet. It returns false for
// devices such as /dev/null.
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

// resolvePath returns the absolute path of a file after resolving symbolic links in its folder. The file itself need
// not exist.
func resolvePath(path string) string {
	if abs, err := filepath.Abs(path); err == nil {
		path = abs
	}
	if dir, err := filepath.EvalSymlinks(filepath.Dir(path)); err == nil {
		path = filepath.Join(dir, filepath.Base(path))
	}
	return path
}

// checkResultPaths returns an error if an output would replace a file that the program did not write. Devices
// and pipes are allowed if outputs are set by flags.
func (a *app) checkResultPaths(outputs []check.Output, o checkOptions) error {
	for _, out := range outputs {
		info, err := os.Stat(out.Path)
		isDevice := err == nil && !info.Mode().IsRegular() && !info.IsDir()
		if out.Path == "" || isDevice && len(o.outputs) > 0 {
			continue
		}
		if err := a.checkReplaceable(out.Path, "", o.force); err != nil {
			return err
		}
	}
	return nil
}

// writeOutputFile writes a file atomically, or directly if path is a device or pipe.
func (a *app) writeOutputFile(ctx context.Context, path string, text []byte) error {
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return runtimeError("can't write to %s: it is a folder", path)
	case err == nil && !info.Mode().IsRegular():
		_, err = interruptible(ctx, func() (int, error) { return 0, os.WriteFile(path, text, 0o644) })
	default:
		if err = writeFileAtomically(path, 0o644, func(w io.Writer) error { _, err := w.Write(text); return err }); err == nil {
			a.rememberWritten(path, "")
		}
	}
	if err != nil {
		return runtimeError("%s can't be written: %w", path, errorWithoutPath(err))
	}
	return nil
}
