package layout

import (
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// vague lists names that no package may have, since such packages collect unrelated code.
var vague = []string{"util", "utils", "common", "helper", "helpers", "manager", "misc", "shared", "base", "core", "lib", "pkg"}

func TestPackagesHaveNamesThatSaySomething(t *testing.T) {
	for _, f := range sources(t) {
		name := strings.TrimSuffix(f.name, "_test")
		if slices.Contains(vague, name) {
			t.Errorf("%s: package %s: name it after what it holds", f.path, name)
		}
		if folder := path.Base(f.pkg); name != "main" && name != folder {
			t.Errorf("%s: package %s in folder %s: the two have one name", f.path, name, folder)
		}
	}
}

func TestPackagesOpenWithWhatTheyAreFor(t *testing.T) {
	docs := map[string]string{}
	names := map[string]string{}
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		names[f.pkg] = f.name
		if f.doc != "" {
			if docs[f.pkg] != "" {
				t.Errorf("%s: the package already has a doc comment elsewhere", f.path)
			}
			docs[f.pkg] = f.doc
		}
	}
	for pkg, name := range names {
		opening := "Package " + name + " "
		if name == "main" {
			opening = "Command "
		}
		if !strings.HasPrefix(docs[pkg], opening) {
			t.Errorf("%s: begin one file with a comment %q: what the package is for and what it must not do", pkg, "// "+opening+"…")
		}
	}
}

// longest is the maximum number of lines of a file. Generated code is exempt.
const longest = 800

func TestFilesStayShort(t *testing.T) {
	for _, f := range sources(t) {
		if !f.generated && f.lines > longest {
			t.Errorf("%s has %d lines, more than %d: ask what in it wants to be its own file", f.path, f.lines, longest)
		}
	}
}

// initializers lists the code that may run before main, with the reasons.
var initializers = map[string]string{
	"daemon/errors.go": "huma takes how strictly it checks from package variables",
}

func TestNothingRunsBeforeMain(t *testing.T) {
	used := map[string]bool{}
	for _, f := range sources(t) {
		if f.inits == 0 {
			continue
		}
		used[f.path] = true
		if initializers[f.path] == "" && !f.test {
			t.Errorf("%s has an init function: build it where it is needed, or give the reason in internal/layout/house_test.go", f.path)
		}
	}
	for file := range initializers {
		if !used[file] {
			t.Errorf("%s has no init function any more: take it off the list", file)
		}
	}
}

// outside lists the folders that are not part of the program.
var outside = []string{"packaging", "examples"}

func TestExpressionsWaitForTheirUse(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || slices.ContainsFunc(outside, func(room string) bool { return within(f.pkg, room) }) {
			continue
		}
		for _, line := range f.eager {
			t.Errorf("%s:%d compiles an expression before main, on every start: write expression.Of(…)", f.path, line)
		}
	}
}

func TestModulePath(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root(t), "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	if first, _, _ := strings.Cut(string(text), "\n"); strings.TrimSpace(first) != "module "+modulePath {
		t.Errorf("go.mod begins with %q, want module %s", first, modulePath)
	}
	for _, f := range sources(t) {
		for _, i := range f.imports {
			if strings.HasPrefix(i, ".") {
				t.Errorf("%s imports %s: no relative imports", f.path, i)
			}
		}
	}
}
