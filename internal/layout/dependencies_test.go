package layout

import (
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// permissive lists the licenses that require at most a notice. The Unlicense requires nothing.
var permissive = []string{
	"Apache-2.0",
	"Apache-2.0 AND BSD-3-Clause",
	"BSD-2-Clause",
	"BSD-3-Clause",
	"ISC",
	"MIT",
	"MIT AND Apache-2.0",
	"Unlicense",
}

// tagged lists modules with further requirements. They are only part of a program that is built with a tag.
var tagged = []string{"github.com/unidoc/unipdf/v3"}

// excepted lists modules with other licenses, for the reasons in docs/dependencies.md.
var excepted = map[string]string{"github.com/philippgille/chromem-go": "MPL-2.0"}

// module is a module of the build, as listed by the go command.
type module struct {
	Path, Dir string
	Main      bool
}

// modules returns the modules that go list returns for the given arguments, in path order.
func modules(t *testing.T, args ...string) []module {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", append([]string{"list"}, args...)...)
	cmd.Dir = root(t)
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Fatalf("%v: %s", err, exit.Stderr)
		}
		t.Fatal(err)
	}
	var all []module
	for d := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p struct{ Module *module }
		if err := d.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if p.Module != nil && !p.Module.Main && !slices.ContainsFunc(all, func(m module) bool { return m.Path == p.Module.Path }) {
			all = append(all, *p.Module)
		}
	}
	slices.SortFunc(all, func(a, b module) int { return strings.Compare(a.Path, b.Path) })
	return all
}

// licenceOf returns the license of a module, or "" if it can't be recognized.
func licenceOf(dir string) string {
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	var text string
	for _, f := range files {
		name := strings.ToUpper(filepath.Base(f))
		if strings.HasPrefix(name, "LICENSE") || strings.HasPrefix(name, "LICENCE") || strings.HasPrefix(name, "COPYING") {
			if b, err := os.ReadFile(f); err == nil {
				text += string(b)
			}
		}
	}
	text = strings.Join(strings.Fields(text), " ")
	mit := strings.Contains(text, "Permission is hereby granted, free of charge")
	apache := strings.Contains(text, "Apache License")
	switch {
	case strings.Contains(text, "GNU GENERAL PUBLIC LICENSE") || strings.Contains(text, "GNU AFFERO GENERAL PUBLIC LICENSE") ||
		strings.Contains(text, "GNU LESSER GENERAL PUBLIC LICENSE"):
		return "GPL"
	case strings.Contains(text, "This software package is a commercial product"):
		return "commercial"
	case strings.Contains(text, "Mozilla Public License"):
		return "MPL-2.0"
	case strings.Contains(text, "Redistribution and use in source and binary forms") && strings.Contains(text, "Apache License Version 2.0"):
		return "Apache-2.0 AND BSD-3-Clause"
	case strings.Contains(text, "Redistribution and use in source and binary forms"):
		if strings.Contains(strings.ToLower(text), "neither the name") || strings.Contains(text, "name of the copyright holder nor") {
			return "BSD-3-Clause"
		}
		return "BSD-2-Clause"
	case mit && apache:
		return "MIT AND Apache-2.0"
	case mit:
		return "MIT"
	case apache:
		return "Apache-2.0"
	case strings.Contains(text, "Permission to use, copy, modify, and/or distribute"):
		return "ISC"
	case strings.Contains(text, "This is free and unencumbered software released into the public domain."):
		return "Unlicense"
	}
	return ""
}

// documentedModules returns the rows of docs/dependencies.md as a map from each module to its other columns.
func documentedModules(t *testing.T) map[string][]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root(t), "docs", "dependencies.md"))
	if err != nil {
		t.Fatal(err)
	}
	row := regexp.MustCompile(`(?m)^\| *([a-z0-9.-]+\.[a-z]+/[^ |]+) *\|(.*)\|$`)
	rows := map[string][]string{}
	for _, m := range row.FindAllStringSubmatch(string(text), -1) {
		if rows[m[1]] != nil {
			t.Errorf("docs/dependencies.md has two rows for %s", m[1])
		}
		for cell := range strings.SplitSeq(m[2], "|") {
			rows[m[1]] = append(rows[m[1]], strings.TrimSpace(cell))
		}
	}
	return rows
}

func TestDependenciesAreDescribed(t *testing.T) {
	// A module is a direct dependency if our files import it, whatever the comment in go.mod says.
	direct := map[string]bool{}
	all := modules(t, "-deps", "-test", "-tags", "unipdf", "-json=Module", "./...")
	for _, f := range sources(t) {
		for _, imported := range f.imports {
			best := ""
			for _, m := range all {
				if within(imported, m.Path) && len(m.Path) > len(best) {
					best = m.Path
				}
			}
			if best != "" {
				direct[best] = true
			}
		}
	}
	rows := documentedModules(t)
	for _, m := range all {
		cells := rows[m.Path]
		switch {
		case !direct[m.Path]:
			continue
		case cells == nil:
			t.Errorf("docs/dependencies.md says nothing of %s: why this one, and instead of what", m.Path)
		case len(cells) != 3 || cells[1] == "" || cells[2] == "":
			t.Errorf("docs/dependencies.md: the row of %s wants a licence, a reason and what was considered", m.Path)
		case cells[0] != licenceOf(m.Dir):
			t.Errorf("docs/dependencies.md has %s for %s, its files say %q", cells[0], m.Path, licenceOf(m.Dir))
		}
	}
	for path := range rows {
		if !direct[path] {
			t.Errorf("docs/dependencies.md has a row for %s, which nothing imports", path)
		}
	}
}

func TestLicencesArePermissive(t *testing.T) {
	linked := modules(t, "-deps", "-json=Module", "./cmd/service")
	if len(linked) < 10 {
		t.Fatalf("only %d modules in the program: the list can't be whole", len(linked))
	}
	for _, path := range tagged {
		has := func(m module) bool { return m.Path == path }
		if slices.ContainsFunc(linked, has) ||
			!slices.ContainsFunc(modules(t, "-deps", "-tags", "unipdf", "-json=Module", "./cmd/service"), has) {
			t.Errorf("%s must be in the program with its tag, and only then", path)
		}
	}
	for _, m := range linked {
		licence := licenceOf(m.Dir)
		if !slices.Contains(permissive, licence) && (licence == "" || excepted[m.Path] != licence) {
			t.Errorf("%s is under %q: only %s may be linked", m.Path, licence, strings.Join(permissive, ", "))
		}
	}
}
