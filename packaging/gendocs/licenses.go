package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// mainPackage is the package that is built for releases.
const mainPackage = "./cmd/service"

// platforms lists the platforms for which the program is released.
var platforms = []string{"linux/amd64", "linux/arm64", "darwin/amd64", "darwin/arm64", "windows/amd64", "windows/arm64"}

// linkedPackage is a package of the program, as listed by the go command.
type linkedPackage struct {
	ImportPath, Dir string
	Standard        bool
	Module          *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// linkedPackages returns the program's packages on all platforms.
func linkedPackages(ctx context.Context) ([]linkedPackage, error) {
	seen := map[string]bool{}
	var all []linkedPackage
	for _, s := range platforms {
		system, machine, _ := strings.Cut(s, "/")
		cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Dir,Standard,Module", mainPackage)
		cmd.Env = append(os.Environ(), "GOOS="+system, "GOARCH="+machine, "CGO_ENABLED=0")
		out, err := cmd.Output()
		if err != nil {
			var exit *exec.ExitError
			if errors.As(err, &exit) {
				err = fmt.Errorf("%w: %s", err, exit.Stderr)
			}
			return nil, fmt.Errorf("go list for %s: %w", s, err)
		}
		for d := json.NewDecoder(bytes.NewReader(out)); ; {
			var p linkedPackage
			if err := d.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return nil, err
			}
			if !seen[p.ImportPath] {
				seen[p.ImportPath] = true
				all = append(all, p)
			}
		}
	}
	return all, nil
}

// licenseFileName matches the names of license and notice files.
var licenseFileName = regexp.MustCompile(`(?i)^(licen[cs]es?|copying|copyright|notice|patents|unlicense)([-._].*)?$`)

// extraLicenseFiles maps modules to license files outside the folders of linked packages.
var extraLicenseFiles = map[string][]string{
	"golang.org/x/image": {"font/gofont/ttfs/README"},
	// It has no license file; its README names the license (MIT) and the author.
	"github.com/mattn/go-localereader": {"README.md"},
}

// licenseText is the text of a license or notice, with the module to which it applies.
type licenseText struct {
	module, file string
	content      []byte
}

// collectModuleLicenses returns the licenses and notices of modules: those in a module's root folder, and
// those in the folders of linked packages and their parents, because parts of a module can have their own
// terms.
func collectModuleLicenses(packages []linkedPackage) ([]licenseText, error) {
	var out []licenseText
	taken := map[string]bool{}
	take := func(module, root, path string) error {
		if taken[path] {
			return nil
		}
		taken[path] = true
		b, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		out = append(
			out,
			licenseText{
				module:  module,
				file:    filepath.ToSlash(file),
				content: bytes.TrimSpace(bytes.ReplaceAll(b, []byte("\r\n"), []byte("\n"))),
			},
		)
		return nil
	}
	for _, p := range packages {
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		module := p.Module.Path + " " + p.Module.Version
		for dir := p.Dir; ; dir = filepath.Dir(dir) {
			entries, err := os.ReadDir(dir)
			if err != nil {
				return nil, err
			}
			for _, e := range entries {
				if e.Type().IsRegular() && licenseFileName.MatchString(e.Name()) && !strings.HasSuffix(e.Name(), ".go") {
					if err := take(module, p.Module.Dir, filepath.Join(dir, e.Name())); err != nil {
						return nil, err
					}
				}
			}
			if dir == p.Module.Dir || len(dir) < len(p.Module.Dir) {
				break
			}
		}
		for _, file := range extraLicenseFiles[p.Module.Path] {
			if err := take(module, p.Module.Dir, filepath.Join(p.Module.Dir, filepath.FromSlash(file))); err != nil {
				return nil, err
			}
		}
	}
	slices.SortFunc(out, func(a, b licenseText) int {
		return cmp.Or(cmp.Compare(a.module, b.module), cmp.Compare(a.file, b.file))
	})
	return out, nil
}

// goLicense returns the license of Go, because the program contains Go's library and runtime.
func goLicense(ctx context.Context) (licenseText, error) {
	out, err := exec.CommandContext(ctx, "go", "env", "GOROOT", "GOVERSION").Output()
	if err != nil {
		return licenseText{}, err
	}
	words := strings.Fields(string(out))
	if len(words) != 2 {
		return licenseText{}, fmt.Errorf("go env returned %q", out)
	}
	// Some systems keep the license beside the folder, not in it.
	for _, dir := range []string{words[0], filepath.Join(words[0], "..", "doc", "go"), "/usr/share/doc/" + filepath.Base(words[0])} {
		for _, name := range []string{"LICENSE", "copyright"} {
			if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil {
				return licenseText{module: "Go, its library and runtime", file: "LICENSE", content: bytes.TrimSpace(b)}, nil
			}
		}
	}
	return licenseText{}, fmt.Errorf("the Go license was not found in %s", words[0])
}

// writeLicenses writes all licenses to one file.
func writeLicenses(ctx context.Context, dir string) error {
	all, err := linkedPackages(ctx)
	if err != nil {
		return err
	}
	found, err := collectModuleLicenses(all)
	if err != nil {
		return err
	}
	if without := modulesWithoutLicense(all, found); len(without) > 0 {
		return fmt.Errorf("no license found for %s", strings.Join(without, ", "))
	}
	text, err := formatAllLicenses(ctx, found)
	if err != nil {
		return err
	}
	return writeLicenseFile(dir, text)
}

// writeLicenseFile writes the file with all licenses, which packages and images include.
func writeLicenseFile(dir string, text []byte) error {
	return writeFile(filepath.Join(dir, "licences", "THIRD-PARTY-LICENCES.txt"), text)
}

// formatAllLicenses returns the license file: the licenses of Go, of software bundled in modules, and
// of the modules.
func formatAllLicenses(ctx context.Context, modules []licenseText) ([]byte, error) {
	own, err := goLicense(ctx)
	if err != nil {
		return nil, err
	}
	bundled, err := bundledLicenses()
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	b.WriteString("The program `service` contains third-party software. These are its licenses and notices.\n")
	for _, t := range slices.Concat([]licenseText{own}, bundled, modules) {
		fmt.Fprintf(&b, "\n%s\n%s: %s\n%s\n\n%s\n", strings.Repeat("=", 80), t.module, t.file, strings.Repeat("=", 80), t.content)
	}
	return b.Bytes(), nil
}

// modulesWithoutLicense returns the modules without a license text.
func modulesWithoutLicense(all []linkedPackage, found []licenseText) (out []string) {
	for _, p := range all {
		if p.Standard || p.Module == nil || p.Module.Main {
			continue
		}
		name := p.Module.Path + " " + p.Module.Version
		if !slices.ContainsFunc(found, func(t licenseText) bool { return t.module == name }) && !slices.Contains(out, name) {
			out = append(out, name)
		}
	}
	return out
}

// bundledLicenses returns the licenses of software that is bundled in modules without its license text. These licenses
// are stored in this package, in files named after the software.
func bundledLicenses() (out []licenseText, err error) {
	names, err := filepath.Glob("packaging/licences/*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		b, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		out = append(
			out,
			licenseText{module: strings.TrimSuffix(filepath.Base(name), ".txt"), file: "LICENSE", content: bytes.TrimSpace(b)},
		)
	}
	return out, nil
}
