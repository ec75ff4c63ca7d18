package main

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/scf-service/service/examples/harbor"
	"github.com/scf-service/service/examples/judged"
)

// checkDocuments is the number of documents in the benchmarks of `service check`.
const checkDocuments = 50

// manyDocuments writes checkDocuments of the examples' documents into a folder.
func manyDocuments(tb testing.TB, dir string) {
	tb.Helper()
	n := 0
	for _, tree := range []fs.FS{harbor.Evidence(), judged.Folder()} {
		err := fs.WalkDir(tree, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || filepath.Base(path) == "labels.csv" || n == checkDocuments {
				return err
			}
			text, err := fs.ReadFile(tree, path)
			if err != nil {
				return err
			}
			n++
			return os.WriteFile(filepath.Join(dir, fmt.Sprintf("%02d %s", n, filepath.Base(path))), text, 0o644)
		})
		if err != nil {
			tb.Fatal(err)
		}
	}
	if n != checkDocuments {
		tb.Fatalf("the examples have %d documents", n)
	}
}

// BenchmarkCheck includes the start of the program. The cold benchmark measures the first check of some content, and
// the warm one the next check.
func BenchmarkCheck(b *testing.B) {
	home := b.TempDir()
	evidence := filepath.Join(home, "evidence")
	if err := os.Mkdir(evidence, 0o755); err != nil {
		b.Fatal(err)
	}
	manyDocuments(b, evidence)
	run := func(b *testing.B, args ...string) {
		cmd := exec.CommandContext(
			b.Context(),
			"service",
			append([]string{"check", evidence, "-f", "iso-27001-2022", "--min-coverage", "1", "-q"}, args...)...)
		cmd.Dir, cmd.Env = home, append(os.Environ(), "HOME="+home, "XDG_CACHE_HOME="+filepath.Join(home, "cache"))
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
	}
	run(b) // compile and cache the PDF reader
	b.Run("Cold", func(b *testing.B) {
		for b.Loop() {
			run(b, "--no-cache")
		}
	})
	b.Run("Warm", func(b *testing.B) {
		for b.Loop() {
			run(b)
		}
	})
}
