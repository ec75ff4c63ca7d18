package layout

import (
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// vagueNames are words that say too little as the whole name of a function, method or type:
// a reader can't tell what is done, or to what. A verb takes an object (applyChanges,
// notifyOwner), and a boolean is a question (isDraft).
var vagueNames = strings.Fields(`
	ahead alike asked away both bring brought carry drawn drive dropped during fell felt found go goes gone had
	heard held hold home keep keeps kept lacks left let looked made moving near noted odd of once over own plain
	ran rest said say says settle shown standing stands steadily sunk take taken takes taking tell tells told together
	under wants way weighed within wore worth wrote
`)

func TestNamesSayWhatIsDone(t *testing.T) {
	banned := map[string]bool{}
	for _, w := range vagueNames {
		banned[w] = true
	}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		fset := token.NewFileSet()
		tree, err := parser.ParseFile(fset, filepath.Join("..", "..", filepath.FromSlash(s.path)), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range tree.Decls {
			var names []*ast.Ident
			switch d := d.(type) {
			case *ast.FuncDecl:
				names = append(names, d.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					if ts, ok := spec.(*ast.TypeSpec); ok {
						names = append(names, ts.Name)
					}
				}
			}
			for _, n := range names {
				if banned[strings.ToLower(n.Name)] {
					t.Errorf("%s: %s says too little as a name; add what it acts on, or use the usual term", fset.Position(n.Pos()), n.Name)
				}
			}
		}
	}
}
