package main

import (
	"bytes"
	"compress/gzip"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"runtime/debug"
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
			t.Errorf("%s differs from one time to the next", name)
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
			t.Errorf("the page of %s has not the date and version of the release:\n%.200s", c.CommandPath(), page)
		case !strings.Contains(page, ".SH EXAMPLE") && c.Runnable() && !c.HasSubCommands() && c.Example != "":
			t.Errorf("the page of %s has no example", c.CommandPath())
		}
	}
	visit(cli.CommandTree("1.2.3"))
	if n < 100 {
		t.Errorf("only %d commands were looked at", n)
	}
	// Tables of a help page keep their lines, and what looks like markup stays.
	if page := first["man/service-daemon.1"]; !strings.Contains(page, `SERVICE_ADMIN_PASSWORD_FILE`) &&
		!strings.Contains(page, `SERVICE\_ADMIN\_PASSWORD\_FILE`) {
		t.Errorf("the underscores of variables are taken for markup:\n%s", page)
	}
	for name, want := range map[string]string{
		"completions/service.bash":     "__start_service service",
		"completions/scf-service.bash": "__start_scf-service scf-service",
		"completions/_scf-service":     "#compdef scf-service",
	} {
		if !strings.Contains(first[name], want) {
			t.Errorf("%s does not say %q", name, want)
		}
	}
}

func TestLicencesOfAllThatIsLinked(t *testing.T) {
	t.Chdir("../..")
	all, err := linkedPackages(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	found, err := collectLicenses(all)
	if err != nil {
		t.Fatal(err)
	}
	if without := missingLicenses(all, found); len(without) > 0 {
		t.Errorf("nothing was found of %v", without)
	}
	dir := t.TempDir()
	if err := writeLicenses(t.Context(), dir); err != nil {
		t.Fatal(err)
	}
	text := tree(t, dir)["licences/THIRD-PARTY-LICENCES.txt"]
	for _, want := range []string{
		"Go, its library and runtime", "PDFium Authors",
		"END OF TERMS AND CONDITIONS", "FreeType Project LICENSE", "Independent JPEG Group",
		"Professor Benoit Macq", "Bigelow & Holmes", "github.com/danieljoos/wincred ",
		"github.com/spf13/cobra ",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("it has nothing of %q", want)
		}
	}
	if strings.Contains(text, "go-md2man") || strings.Contains(text, "unidoc") {
		t.Error("it has licences of what is not in the program")
	}
	if missing := missingLicenses(all, found[:len(found)/2]); len(missing) == 0 {
		t.Error("where half the texts are taken away, nothing is missed")
	}
}

func TestNoticesOfPartsAreTaken(t *testing.T) {
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
	got, err := collectLicenses([]linkedPackage{p, p})
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

func TestListOfParts(t *testing.T) {
	info := &buildinfo.BuildInfo{
		GoVersion: "go1.26.8", Main: debug.Module{Path: "github.com/scf-service/service"},
		Deps: []*debug.Module{
			{Path: "z.example/z", Version: "v1.0.0+incompatible", Sum: "h1:z"},
			{Path: "a.example/a", Version: "v1", Replace: &debug.Module{Path: "b.example/b", Version: "v2", Sum: "h1:b"}},
		},
		Settings: []debug.BuildSetting{{Key: "GOOS", Value: "linux"}, {Key: "vcs.time", Value: "now"}},
	}
	b, err := newBOM(info, "1.2.3")
	if err != nil {
		t.Fatal(err)
	}
	again, err := newBOM(info, "1.2.3")
	if err != nil || b.Serial != again.Serial {
		t.Errorf("%s, then %s, %v", b.Serial, again.Serial, err)
	}
	if other, err := newBOM(info, "1.2.4"); err != nil || other.Serial == b.Serial {
		t.Errorf("another version has the same serial number, %v", err)
	}
	text, err := json.Marshal(b)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`"bomFormat":"CycloneDX"`,
		`"pkg:golang/b.example/b@v2"`,
		`"pkg:golang/stdlib@1.26.8"`,
		`"pkg:golang/z.example/z@v1.0.0%2Bincompatible"`,
		`"h1:z"`,
		`"go:build:GOOS"`,
	} {
		if !bytes.Contains(text, []byte(want)) {
			t.Errorf("it lacks %s:\n%s", want, text)
		}
	}
	if bytes.Contains(text, []byte("a.example")) || bytes.Contains(text, []byte("vcs.time")) {
		t.Errorf("it has what is not in the program, or what changes:\n%s", text)
	}
	if len(b.Dependencies[0].On) != len(b.Components) {
		t.Error("not every part is told to be one of the program")
	}
	if _, err := newBOM(&buildinfo.BuildInfo{}, "1"); err == nil {
		t.Error("a program without modules has a list")
	}
	// And of a real program: this one.
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "parts.json")
	if err := writeSBOM(self, "1.2.3", out); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(out); err != nil || !bytes.Contains(b, []byte("pkg:golang/github.com/spf13/cobra@")) {
		t.Errorf("%v\n%s", err, b)
	}
}

func TestOriginNamesItsSource(t *testing.T) {
	out := filepath.Join(t.TempDir(), "origin.json")
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
			t.Errorf("%+v gave a provenance", lacks)
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
		{"parts", "-version", "1", "x"},
	} {
		if run(t.Context(), args) == nil {
			t.Errorf("%v is taken", args)
		}
	}
}
