package layout

import (
	"bytes"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
)

const modulePath = "github.com/scf-service/service"

// source is a Go file of the module.
type source struct {
	path      string // relative to the module's root, with slashes
	pkg       string // its folder
	name      string // name of its package
	test      bool
	generated bool
	lines     int
	doc       string
	imports   []string
	inits     int
	eager     []int // lines that compile a regular expression before main runs
	declared  []declaration
}

// declaration is a function, method or type, and the line of its name.
type declaration struct {
	name string
	line int
}

// root returns the module's folder.
func root(t testing.TB) string {
	t.Helper()
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var parsed = sync.OnceValues(func() ([]source, error) {
	dir := filepath.FromSlash("../..")
	var out []source
	err := filepath.WalkDir(dir, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			return enter(dir, file, d.Name())
		}
		if filepath.Ext(file) != ".go" {
			return nil
		}
		rel, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		s, err := read(file, filepath.ToSlash(rel))
		if err == nil {
			out = append(out, s)
		}
		return err
	})
	return out, err
})

// enter skips folders that are not part of the module: hidden folders, test data and other modules.
func enter(root, dir, name string) error {
	if dir == root {
		return nil
	}
	if strings.HasPrefix(name, ".") || strings.HasPrefix(name, "_") || name == "testdata" || name == "node_modules" {
		return filepath.SkipDir
	}
	if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
		return filepath.SkipDir
	}
	return nil
}

func read(file, rel string) (source, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return source{}, err
	}
	set := token.NewFileSet()
	tree, err := parser.ParseFile(set, rel, text, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return source{}, err
	}
	s := source{
		path: rel, pkg: path.Dir(rel), name: tree.Name.Name, test: strings.HasSuffix(rel, "_test.go"),
		generated: ast.IsGenerated(tree), lines: bytes.Count(text, []byte{'\n'}), doc: tree.Doc.Text(),
	}
	for _, i := range tree.Imports {
		imported, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			return source{}, err
		}
		s.imports = append(s.imports, imported)
	}
	declare := func(n *ast.Ident) {
		s.declared = append(s.declared, declaration{n.Name, set.Position(n.Pos()).Line})
	}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			declare(d.Name)
			if d.Recv == nil && d.Name.Name == "init" {
				s.inits++
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				if t, ok := spec.(*ast.TypeSpec); ok {
					declare(t.Name)
				}
			}
			for _, at := range compiles(d) {
				s.eager = append(s.eager, set.Position(at).Line)
			}
		}
	}
	return s, nil
}

// compiles returns the positions at which a declaration compiles regular expressions, except within function
// literals.
func compiles(in ast.Node) []token.Pos {
	var out []token.Pos
	ast.Inspect(in, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if x, ok := n.X.(*ast.Ident); ok && x.Name == "regexp" && strings.HasPrefix(n.Sel.Name, "MustCompile") {
				out = append(out, n.Pos())
			}
		}
		return true
	})
	return out
}

// sources returns the module's Go files in path order.
func sources(t testing.TB) []source {
	t.Helper()
	all, err := parsed()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) < 50 || !slices.ContainsFunc(all, func(s source) bool { return s.path == "cmd/service/main.go" }) {
		t.Fatalf("found only %d Go files under %s: the walk has lost its way", len(all), root(t))
	}
	return all
}
