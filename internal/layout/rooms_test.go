package layout

import (
	"slices"
	"strings"
	"testing"
)

// picture is the arrows, top to bottom: a room may import what stands behind its
// arrow, and the rest of itself. A room is a folder with everything below it; where
// rooms are drawn below it, it is that one folder. What is not drawn is not allowed.
//
// "lower" is every room further down, for the places that wire others. A test may
// import what its room may, and any lower room besides.
//
// The linter's copy in .golangci.yml is made from it, see depguard_test.go.
const picture = `
cmd/service       → lower

packaging         → cli
cli               → cli/mcp cli/lines cli/contexts cli/print engine/client check report/sheet engine/api expression spelling
tui               → cli/print engine/client engine/api
cli/mcp           → cli/lines engine/client engine/api
cli/lines         →
cli/contexts      → expression
cli/print         → engine/api

daemon            → engine identity replay engine/api trace expression

engine/enginetest → engine mail notify store
engine/client     → engine/api expression
engine            → lower

agent             → model analysis report/desk assessment analyst evidence catalog/shelf catalog audit store engine/api trace expression

sync              → report/desk assessment analyst evidence catalog/shelf catalog audit store engine/api
workflow          → report/desk assessment analyst evidence catalog/shelf catalog audit store engine/api trace
alert             → mail catalog audit store engine/api
notify            → audit store engine/api trace expression spelling
mail              → catalog audit store engine/api trace expression
archive           → assessment audit store engine/api
report/desk       → report assessment analyst evidence catalog/shelf catalog audit store engine/api trace expression
report            → report/sheet report/drawing catalog/oscal catalog/structured catalog engine/api expression
report/sheet      → report/drawing engine/api expression
report/drawing    →

assessment/bench  → assessment analyst evidence evidence/embed catalog/starter catalog engine/api examples
assessment        → analyst evidence catalog/shelf catalog audit store engine/api
check             → analyst catalog/oscal engine/api expression spelling
analyst           → criteria engine/api expression vector
analysis          → engine/api expression
model             → engine/api trace

evidence          → evidence/search evidence/embed evidence/chunk evidence/parse evidence/ocr evidence/similar criteria catalog/shelf catalog audit store engine/api trace
evidence/bench    → evidence/search evidence/embed criteria
evidence/remote   →
evidence/search   → evidence/embed vector
evidence/embed    → book
evidence/chunk    → evidence/parse engine/api
evidence/parse    → engine/api expression
evidence/ocr      → expression
evidence/similar  →

criteria          → catalog/starter book
catalog/shelf     → catalog/starter catalog/workbook catalog/strm catalog/customfile catalog/oscal catalog/structured catalog audit store engine/api expression
catalog/oscal     → catalog/structured catalog engine/api expression
catalog/customfile → catalog/structured catalog engine/api expression
catalog/structured → catalog engine/api
catalog/starter   → catalog engine/api
catalog/workbook  → catalog engine/api expression
catalog/strm      → catalog engine/api expression
catalog           → engine/api expression spelling
identity          → audit store engine/api expression
replay            → store engine/api
audit             → store engine/api

store             → engine/api trace expression

engine/api        →
book              →
expression        →
spelling          →
vector            →
trace             →

examples          →
docs              →
internal          →
`

// A room is a line of the picture.
type room struct {
	path  string
	knows []string
	lone  bool // rooms are drawn below it
}

// rooms reads the picture.
func rooms(t testing.TB) []room {
	t.Helper()
	var out []room
	for line := range strings.Lines(picture) {
		path, knows, drawn := strings.Cut(strings.TrimSpace(line), "→")
		if !drawn {
			continue
		}
		out = append(out, room{path: strings.TrimSpace(path), knows: strings.Fields(knows)})
	}
	for i := range out {
		out[i].lone = slices.ContainsFunc(out, func(r room) bool { return strings.HasPrefix(r.path, out[i].path+"/") })
		if len(out[i].knows) == 1 && out[i].knows[0] == "lower" {
			out[i].knows = nil
			for _, below := range out[i+1:] {
				if below.path != "internal" {
					out[i].knows = append(out[i].knows, below.path)
				}
			}
		}
	}
	return out
}

// roomOf is the index of the room a package lies in, -1 for none.
func roomOf(rooms []room, pkg string) int {
	return slices.IndexFunc(rooms, func(r room) bool {
		return pkg == r.path || !r.lone && within(pkg, r.path)
	})
}

func within(path, folder string) bool {
	return path == folder || strings.HasPrefix(path, folder+"/")
}

func TestPictureDrawsArrowsDown(t *testing.T) {
	rs := rooms(t)
	at := map[string]int{}
	for i, r := range rs {
		if _, twice := at[r.path]; twice {
			t.Errorf("%s is drawn twice", r.path)
		}
		at[r.path] = i
	}
	for i, r := range rs {
		for _, k := range r.knows {
			if j, drawn := at[k]; !drawn {
				t.Errorf("%s → %s: no such room", r.path, k)
			} else if j <= i {
				t.Errorf("%s → %s points up", r.path, k)
			}
		}
	}
}

func TestArrows(t *testing.T) {
	rs := rooms(t)
	for _, f := range sources(t) {
		from := roomOf(rs, f.pkg)
		if from < 0 {
			t.Errorf("%s: package %s is in no room; draw it in internal/layout/rooms_test.go and ARCHITECTURE.md", f.path, f.pkg)
			continue
		}
		for _, imported := range f.imports {
			target, ours := strings.CutPrefix(imported, modulePath+"/")
			if !ours {
				continue
			}
			if to := roomOf(rs, target); !allowed(rs, from, to, f.test) {
				t.Errorf("%s imports %s: %s may import [%s]. Move the code to the lowest room that knows all it needs",
					f.path, target, rs[from].path, strings.Join(rs[from].knows, " "))
			}
		}
	}
}

func allowed(rs []room, from, to int, test bool) bool {
	if to < 0 {
		return false
	}
	if to == from || test && to > from {
		return true
	}
	return slices.Contains(rs[from].knows, rs[to].path)
}

// homes are the libraries that belong to one part of the product, and where.
// A second home is a decision; it is made here.
var homes = map[string][]string{
	"codeberg.org/go-pdf/fpdf":              {"report", "examples/harbor/make"},
	"github.com/charmbracelet":              {"tui", "cli"},
	"github.com/danielgtaylor/huma/v2":      {"daemon"},
	"github.com/go-chi/chi/v5":              {"daemon"},
	"github.com/defenseunicorns/go-oscal":   {"catalog/oscal", "check", "report"},
	"github.com/itchyny/gojq":               {"cli"},
	"github.com/jackc/pgx/v5":               {"store/postgres"},
	"github.com/klippa-app/go-pdfium":       {"evidence/parse"},
	"github.com/jhillyerd/enmime/v2":        {"evidence/parse"},
	"github.com/minio/minio-go/v7":          {"store", "notify/integration"},
	"github.com/ollama/ollama":              {"model", "evidence/remote", "internal/ollamatest"},
	"github.com/owenrumney/go-sarif/v3":     {"check"},
	"github.com/philippgille/chromem-go":    {"evidence/search"},
	"github.com/prometheus/client_golang":   {"daemon", "cmd/service"},
	"github.com/santhosh-tekuri/jsonschema": {"catalog/structured", "catalog/oscal", "daemon", "agent"},
	"github.com/spf13/cobra":                {"cli", "cmd/service", "packaging"},
	"github.com/spf13/viper":                {"cli", "cmd/service"},
	"github.com/tetratelabs/wazero":         {"evidence/parse"},
	"github.com/wneessen/go-mail":           {"mail", "notify/integration"},
	"github.com/unidoc/unipdf/v3":           {"evidence/parse"},
	"github.com/viterin/vek":                {"vector"},
	"github.com/xuri/excelize/v2":           {"catalog/workbook", "evidence/parse", "report", "examples/harbor/make"},
	"github.com/yuin/goldmark":              {"evidence/parse", "report"},
	"github.com/zalando/go-keyring":         {"cli/contexts"},
	"go.etcd.io/bbolt":                      {"store/bolt"},
	"go.opentelemetry.io/otel":              {"trace"},
	"gonum.org/v1/gonum":                    {"evidence/embed"},
}

func TestLibrariesLiveInOneRoom(t *testing.T) {
	for _, f := range sources(t) {
		if f.test {
			continue
		}
		for _, imported := range f.imports {
			for library, places := range homes {
				if within(imported, library) && !slices.ContainsFunc(places, func(p string) bool { return within(f.pkg, p) }) {
					t.Errorf("%s imports %s, which is for %v and tests only; ask that room, or add a home in internal/layout/rooms_test.go",
						f.path, imported, places)
				}
			}
		}
	}
}

// Packages that help tests end in "test", as the standard library's do, and never
// come into the program.
func TestHelpersOfTestsStayInTests(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasSuffix(f.name, "test") {
			continue
		}
		for _, imported := range f.imports {
			if imported == "testing" || strings.HasPrefix(imported, modulePath) && strings.HasSuffix(imported, "test") {
				t.Errorf("%s imports %s, which is for tests", f.path, imported)
			}
		}
	}
}
