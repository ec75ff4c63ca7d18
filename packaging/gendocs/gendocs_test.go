package main

import (
	"bytes"
	"compress/gzip"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/cli"
)

var day = time.Date(2026, 11, 22, 0, 0, 0, 0, time.UTC)

// tree reads all files below a folder.
func tree(t *testing.T, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	if err := filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[strings.TrimPrefix(path, dir+"/")] = string(b)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	return out
}

func TestEveryCommandHasAPage(t *testing.T) {
	a, b := t.TempDir(), t.TempDir()
	for _, dir := range []string{a, b} {
		if err := writeMan(dir, "1.2.3", day); err != nil {
			t.Fatal(err)
		}
		if err := writeCompletions(dir, "1.2.3"); err != nil {
			t.Fatal(err)
		}
	}
	first, second := tree(t, a), tree(t, b)
	for name, text := range first {
		if second[name] != text {
			t.Errorf("%s differs between runs", name)
		}
		if plain, ok := first[strings.TrimSuffix(strings.Replace(name, "man.gz/", "man/", 1), ".gz")]; ok &&
			strings.HasSuffix(name, ".gz") {
			z, err := gzip.NewReader(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(z); err != nil || string(got) != plain {
				t.Errorf("%s does not unpack to its page: %v", name, err)
			}
		}
	}
	n := 0
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, sub := range c.Commands() {
			visit(sub)
		}
		if !c.IsAvailableCommand() || c.IsAdditionalHelpTopicCommand() {
			return
		}
		n++
		page, ok := first["man/"+strings.ReplaceAll(c.CommandPath(), " ", "-")+".1"]
		switch {
		case !ok:
			t.Errorf("%s has no page", c.CommandPath())
		case !strings.Contains(page, `"Nov 2026"`) || !strings.Contains(page, "service 1.2.3"):
			t.Errorf("the page of %s lacks the date or version of the release:\n%.200s", c.CommandPath(), page)
		case !strings.Contains(page, ".SH EXAMPLE") && c.Runnable() && !c.HasSubCommands() && c.Example != "":
			t.Errorf("the page of %s has no example", c.CommandPath())
		}
	}
	visit(cli.CommandTree("1.2.3"))
	if n < 100 {
		t.Errorf("only %d commands were checked", n)
	}
	// Tables on a help page keep their lines, and text that looks like markup is unchanged.
	if page := first["man/service-daemon.1"]; !strings.Contains(page, `SERVICE_ADMIN_PASSWORD_FILE`) &&
		!strings.Contains(page, `SERVICE\_ADMIN\_PASSWORD\_FILE`) {
		t.Errorf("the underscores of variables are interpreted as markup:\n%s", page)
	}
	for name, want := range map[string]string{
		"completions/service.bash":     "__start_service service",
		"completions/scf-service.bash": "__start_scf-service scf-service",
		"completions/_scf-service":     "#compdef scf-service",
	} {
		if !strings.Contains(first[name], want) {
			t.Errorf("%s does not contain %q", name, want)
		}
	}
}

func TestLicensesOfAllLinkedModules(t *testing.T) {
	t.Chdir("../..")
	all, err := linkedPackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := collectModuleLicenses(all)
	if err != nil {
		t.Fatal(err)
	}
	if without := modulesWithoutLicense(all, found); len(without) > 0 {
		t.Errorf("no license was found for %v", without)
	}
	formatted, err := formatAllLicenses(t.Context(), found)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	if err := writeLicenseFile(dir, formatted); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(dir, "licences", "THIRD-PARTY-LICENCES.txt"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"Go, its library and runtime", "PDFium Authors",
		"END OF TERMS AND CONDITIONS", "FreeType Project LICENSE", "Independent JPEG Group",
		"Professor Benoit Macq", "Bigelow & Holmes", "github.com/danieljoos/wincred ",
		"github.com/spf13/cobra ",
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("%q is missing", want)
		}
	}
	if bytes.Contains(text, []byte("go-md2man")) || bytes.Contains(text, []byte("unidoc")) {
		t.Error("it has licenses of modules that are not in the program")
	}
	if missing := modulesWithoutLicense(all, found[:len(found)/2]); len(missing) == 0 {
		t.Error("half of the texts are left out, and none is reported missing")
	}
}

func TestCollectsNoticesOfSubfolders(t *testing.T) {
	root := t.TempDir()
	for name, text := range map[string]string{
		"LICENSE":                 "MIT",
		"inner/NOTICE.txt":        "of a part",
		"inner/deep/LICENSE-font": "of a font",
		"inner/deep/license.go":   "package deep",
		"other/LICENSE":           "not linked",
	} {
		if err := writeFile(filepath.Join(root, name), []byte(text)); err != nil {
			t.Fatal(err)
		}
	}
	p := linkedPackage{ImportPath: "m/inner/deep", Dir: filepath.Join(root, "inner", "deep")}
	p.Module = &struct {
		Path, Version, Dir string
		Main               bool
	}{Path: "m", Version: "v1.0.0", Dir: root}
	got, err := collectModuleLicenses([]linkedPackage{p, p})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, one := range got {
		names = append(names, one.file)
	}
	if strings.Join(names, " ") != "LICENSE inner/NOTICE.txt inner/deep/LICENSE-font" {
		t.Errorf("%v", names)
	}
}

func TestProvenanceNamesItsSource(t *testing.T) {
	out := filepath.Join(t.TempDir(), "provenance.json")
	whole := buildInfo{"1.2.3", "abc", "https://example.com/r", "https://example.com/b"}
	if err := writeProvenance(whole, out); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(out)
	if err != nil || !bytes.Contains(text, []byte(`"git+https://example.com/r"`)) || !bytes.Contains(text, []byte(`"gitCommit": "abc"`)) {
		t.Errorf("%v\n%s", err, text)
	}
	for _, lacks := range []buildInfo{{"1", "", "s", "b"}, {"1", "c", "", "b"}, {"1", "c", "s", ""}} {
		if writeProvenance(lacks, out) == nil {
			t.Errorf("%+v was accepted", lacks)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{
		nil,
		{"write"},
		{"write", "-version", "1"},
		{"nothing", "-version", "1", "x"},
		{"write", "x"},
		{"provenance", "-version", "1"},
	} {
		if run(t.Context(), args) == nil {
			t.Errorf("%v is accepted", args)
		}
	}
}
