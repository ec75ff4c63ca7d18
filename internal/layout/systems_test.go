package layout

import (
	"os"
	"testing"

	"golang.org/x/tools/go/packages"

	"github.com/scf-service/service/internal/testutil/longtest"
)

// TestOtherSystems type-checks every package and test for the other systems that the program is released for.
// Compiling for one of them would take ten minutes of CPU time and find little more; make cross and make release do
// that. The test reads the source of all dependencies; make check runs it as make types.
func TestOtherSystems(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	for _, of := range []struct{ system, machine string }{{"windows", "amd64"}, {"darwin", "arm64"}} {
		t.Run(of.system, func(t *testing.T) {
			all, err := packages.Load(&packages.Config{
				Mode: packages.NeedName | packages.NeedFiles | packages.NeedCompiledGoFiles | packages.NeedImports | packages.NeedDeps |
					packages.NeedTypes | packages.NeedTypesSizes | packages.NeedSyntax,
				Dir: "../..", Tests: true, Context: t.Context(),
				Env: append(os.Environ(), "GOOS="+of.system, "GOARCH="+of.machine, "CGO_ENABLED=0"),
			}, "./...")
			if err != nil {
				t.Fatal(err)
			}
			if len(all) < 80 {
				t.Fatalf("only %d packages were found", len(all))
			}
			packages.Visit(all, nil, func(p *packages.Package) {
				for _, e := range p.Errors {
					t.Errorf("%s: %v", p.PkgPath, e)
				}
			})
		})
	}
}
