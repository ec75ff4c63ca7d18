// Sample draws a random sample of the source for a reader who judges its readability.
//
//	cd tools && go run ./sample -seed $(git rev-parse HEAD) functions
//
// It prints functions (name and signature), comments (doc comments with the declaration below them), messages (texts
// for users) or behaviors (sentences to be assigned to folders; -answers adds the folders). The same seed and tree
// result in the same sample.
package main

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	_ "embed"
	"flag"
	"fmt"
	"go/ast"
	"go/parser"
	"go/printer"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

//go:embed behaviors.txt
var behaviors string

// item is something that can be drawn. Its key makes the draw independent of the order of files.
type item struct {
	key, text string
}

func main() {
	root := flag.String("root", "..", "the `folder` of the module")
	seed := flag.String("seed", "", "any text, by custom the hash of the commit")
	count := flag.Uint("n", 40, "how many to draw")
	answers := flag.Bool("answers", false, "print the folder after each behavior")
	flag.Parse()
	if *seed == "" || flag.NArg() != 1 {
		fmt.Fprintln(os.Stderr, "usage: sample -seed TEXT [-n COUNT] functions|comments|messages|behaviors")
		os.Exit(2)
	}
	var items []item
	var err error
	if flag.Arg(0) == "behaviors" {
		items = readBehaviors(*answers)
	} else {
		items, err = readTree(*root, flag.Arg(0))
	}
	if err == nil && len(items) == 0 {
		err = fmt.Errorf("nothing to draw for %q", flag.Arg(0))
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "sample:", err)
		os.Exit(1)
	}
	fmt.Printf("%d of %d %s, seed %s\n", min(int(*count), len(items)), len(items), flag.Arg(0), *seed)
	for i, it := range draw(items, *seed, int(*count)) {
		fmt.Printf("\n%d. %s\n", i+1, it.text)
	}
}

// draw returns the n items whose keys have the smallest hashes when combined with the seed.
func draw(items []item, seed string, n int) []item {
	hash := func(it item) string {
		sum := sha256.Sum256([]byte(seed + "\x00" + it.key))
		return string(sum[:])
	}
	slices.SortFunc(items, func(a, b item) int { return cmp.Compare(hash(a), hash(b)) })
	return items[:min(n, len(items))]
}

func readBehaviors(answers bool) []item {
	var items []item
	for line := range strings.Lines(behaviors) {
		behavior, folder, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			continue
		}
		text := behavior
		if answers {
			text += " → " + folder
		}
		items = append(items, item{behavior, text})
	}
	return items
}

// readTree collects the declarations in Go files other than tests. Generated files, test helpers and this tool are
// left out.
func readTree(root, what string) ([]item, error) {
	var items []item
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name := d.Name()
		if d.IsDir() {
			if path != root &&
				(strings.HasPrefix(name, ".") && name != ".." || slices.Contains([]string{"testdata", "tools", "testutil", "examples"}, name)) {
				return filepath.SkipDir
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") {
			return nil
		}
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, path, nil, parser.ParseComments)
		if err != nil || ast.IsGenerated(file) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		switch what {
		case "functions":
			items = append(items, functions(fset, file, rel)...)
		case "comments":
			items = append(items, comments(fset, file, rel)...)
		case "messages":
			items = append(items, messages(file, rel)...)
		}
		return nil
	})
	return items, err
}

func functions(fset *token.FileSet, file *ast.File, path string) []item {
	var items []item
	for _, decl := range file.Decls {
		if f, ok := decl.(*ast.FuncDecl); ok && f.Name.Name != "init" && f.Name.Name != "main" {
			text := filepath.Dir(path) + ": " + source(fset, withoutBody(f))
			items = append(items, item{text, text})
		}
	}
	return items
}

func comments(fset *token.FileSet, file *ast.File, path string) []item {
	var items []item
	add := func(doc *ast.CommentGroup, declaration string) {
		if doc.Text() == "" {
			return
		}
		first, _, _ := strings.Cut(declaration, "\n")
		text := fmt.Sprintf("%s\n%s\n    %s", path, strings.TrimSpace(doc.Text()), first)
		items = append(items, item{text, text})
	}
	for _, decl := range file.Decls {
		switch d := decl.(type) {
		case *ast.FuncDecl:
			add(d.Doc, source(fset, withoutBody(d)))
		case *ast.GenDecl:
			add(d.Doc, source(fset, &ast.GenDecl{Tok: d.Tok, Lparen: d.Lparen, Specs: d.Specs, Rparen: d.Rparen}))
			for _, spec := range d.Specs {
				switch s := spec.(type) {
				case *ast.TypeSpec:
					add(s.Doc, "type "+s.Name.Name)
				case *ast.ValueSpec:
					add(s.Doc, d.Tok.String()+" "+s.Names[0].Name)
				}
			}
		}
	}
	return items
}

var (
	word = regexp.MustCompile(`[A-Za-z]{2,}`)
	// Word lists contain none of these.
	sentence = regexp.MustCompile(`(?i)\b(the|an?|is|are|be|to|of|in|for|and|or|not|no|with|by|from|this|that|it|can't|on|at|its)\b`)
	notProse = regexp.MustCompile(`^(?:SELECT|INSERT|UPDATE|DELETE|CREATE) |\(\?|\[\^|\\[bsdw]|\)\?|\$\{|</|/>|xmlns|^\W*$`)
)

// messages returns literals of at least four words that are not patterns, markup, SQL, lists of words or struct tags. Concatenated literals
// count as one.
func messages(file *ast.File, path string) []item {
	var items []item
	skip := map[ast.Node]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.ImportSpec:
			return false
		case *ast.Field:
			skip[n.Tag] = true
		case *ast.CallExpr:
			// Patterns and word lists are data, not messages.
			if called := name(n.Fun); strings.Contains(strings.ToLower(called), "compile") || called == "Fields" ||
				strings.HasSuffix(called, "Set") {
				return false
			}
		case ast.Expr:
			text, ok := literal(n)
			if !ok || skip[n] {
				return true
			}
			words := len(word.FindAllString(text, -1))
			isList := words >= 15 && !strings.ContainsAny(text, ".,:;%") // of words
			if words >= 4 && !isList && sentence.MatchString(text) && !notProse.MatchString(text) {
				items = append(items, item{path + text, path + "\n" + text})
			}
			return false
		}
		return true
	})
	return items
}

// literal returns the text of a string literal or of literals joined by +.
func literal(e ast.Expr) (string, bool) {
	switch e := e.(type) {
	case *ast.BasicLit:
		if e == nil || e.Kind != token.STRING {
			return "", false
		}
		text, err := strconv.Unquote(e.Value)
		return text, err == nil
	case *ast.BinaryExpr:
		left, ok := literal(e.X)
		if !ok || e.Op != token.ADD {
			return "", false
		}
		right, ok := literal(e.Y)
		return left + right, ok
	}
	return "", false
}

func name(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.SelectorExpr:
		return e.Sel.Name
	}
	return ""
}

func withoutBody(f *ast.FuncDecl) *ast.FuncDecl {
	return &ast.FuncDecl{Recv: f.Recv, Name: f.Name, Type: f.Type}
}

func source(fset *token.FileSet, node any) string {
	var b bytes.Buffer
	if err := printer.Fprint(&b, fset, node); err != nil {
		return err.Error()
	}
	return b.String()
}
