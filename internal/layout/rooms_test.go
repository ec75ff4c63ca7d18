package layout

import (
	"slices"
	"strings"
	"testing"
)

// picture defines the allowed imports, from top to bottom: a room may import the rooms listed after its arrow, and
// anything within itself. A room is a folder with everything below it; if rooms below it are listed, too, it is only
// that one folder. All other imports are forbidden.
//
// "lower" means every room further down, for packages that wire others together. A test may also import any lower
// room, the folders above its own, and internal/testutil.
//
// The linter's copy in .golangci.yml is generated from the picture; see depguard_test.go.
const picture = `
cmd/service       → lower

packaging         → cli
cli               → mcp internal/linereader internal/regularfile cli/contexts cli/print client engine/check engine/judge/reading/crossencoder engine/judge/reading engine/report/workbook api internal/lazyregexp internal/editdistance internal/prose
tui               → internal/regularfile cli/print client api internal/itemfilter internal/lazyregexp internal/prose
mcp               → internal/linereader client api
daemon            → web engine engine/identity engine/idempotency api internal/tracing internal/lazyregexp
web               → cli/print client api internal/prose internal/lazyregexp
cli/contexts      → internal/regularfile internal/lazyregexp
cli/print         → api internal/prose

engine/enginetest → engine engine/notify/mail engine/notify store internal/testutil internal/secretbox
internal/testutil → client store engine/evidence/parse internal/secretbox engine/evidence/parse/cfb engine/evidence/parse/document internal/tracing
client            → api internal/lazyregexp
engine            → lower

engine/background → engine/agent engine/workflowrun engine/alert engine/notify engine/notify/integration engine/notify/mail
                  + engine/backupschedule engine/evidence engine/identity engine/idempotency store
engine/agent      → engine/llm engine/agent/analysis engine/report engine/assessment engine/judge engine/judge/text engine/evidence engine/catalog engine/catalog/scf engine/audit store api internal/tracing internal/lazyregexp internal/prose

engine/sync       → engine/report engine/assessment engine/assessment/merge engine/judge engine/evidence engine/catalog engine/catalog/scf engine/audit store api internal/prose
engine/workflowrun → engine/report engine/assessment engine/judge engine/evidence engine/catalog engine/catalog/scf engine/audit store api internal/tracing
engine/alert      → engine/notify/mail engine/catalog/scf engine/audit store api
engine/notify     → engine/notify/integration engine/notify/delivery engine/audit store api internal/netguard internal/secretbox internal/tracing internal/lazyregexp internal/editdistance
engine/notify/integration → engine/notify/delivery engine/audit store api internal/netguard internal/secretbox internal/tracing internal/lazyregexp internal/editdistance internal/prose
engine/notify/mail → engine/notify/delivery engine/catalog/scf engine/audit store api internal/tracing internal/lazyregexp internal/prose
engine/notify/delivery → engine/audit store api internal/netguard internal/secretbox internal/tracing internal/lazyregexp
engine/backupschedule → engine/audit store internal/regularfile internal/prose
engine/archive → engine/assessment engine/audit store api internal/prose
engine/report     → engine/report/render engine/report/content engine/report/wording engine/assessment engine/judge engine/evidence engine/catalog engine/catalog/scf engine/audit store api internal/tracing internal/lazyregexp internal/prose
engine/report/render → engine/report/content engine/report/block engine/report/workbook engine/report/drawing engine/report/wording engine/catalog/oscal engine/catalog/custom api internal/lazyregexp internal/editdistance internal/opc internal/prose
engine/report/reporttest → engine/report/content api
engine/report/content → engine/report/block engine/report/workbook engine/report/drawing engine/report/wording
                  + engine/judge engine/plan engine/risk engine/catalog/scf api internal/lazyregexp internal/prose
engine/report/block → engine/report/drawing engine/report/wording internal/prose
engine/report/workbook → engine/report/drawing engine/report/wording api internal/lazyregexp internal/prose
engine/report/wording → api internal/prose
engine/report/drawing →

internal/bench/judgement → engine/assessment engine/judge engine/judge/modelreader engine/judge/reading engine/evidence engine/evidence/embed engine/catalog/starter engine/catalog/scf api examples internal/prose
engine/assessment → engine/assessment/merge engine/plan engine/maturity engine/gap engine/judge engine/judge/modelreader
                  + engine/judge/reading engine/judge/reading/crossencoder engine/llm engine/evidence engine/evidence/dedup engine/catalog engine/catalog/scf engine/audit
                  + store api internal/itemfilter internal/sampling internal/prose
                  + internal/leangc
engine/assessment/merge → engine/catalog/scf api internal/prose
engine/check      → engine/gap engine/judge engine/catalog/oscal api internal/lazyregexp internal/editdistance internal/prose
engine/plan       → engine/maturity engine/judge engine/judge/text api internal/lazyregexp internal/prose
engine/maturity   → engine/judge api internal/lazyregexp
engine/gap        → engine/risk engine/judge engine/judge/text engine/catalog/scf api internal/prose
engine/judge      → engine/judge/text engine/judge/reading engine/judge/criteria api internal/lazyregexp internal/vecmath internal/prose
engine/judge/text → internal/language internal/lazyregexp internal/prose internal/questionnaire
engine/judge/modelreader → engine/llm engine/judge/reading
engine/judge/reading/builtin → engine/judge/reading/crossencoder
engine/judge/reading/crossencoder → engine/judge/reading internal/regularfile
engine/judge/reading → internal/prose
engine/risk       →
engine/agent/analysis → api internal/language internal/lazyregexp
engine/llm        → api internal/tracing

engine/evidence   → engine/evidence/search engine/evidence/embed engine/evidence/chunk engine/evidence/parse engine/evidence/parse/document engine/evidence/ocr engine/evidence/dedup engine/judge/criteria engine/catalog engine/catalog/scf engine/audit store api internal/language internal/regularfile internal/tracing internal/vecmath internal/prose
internal/bench/retrieval → engine/evidence/search engine/evidence/embed engine/judge/criteria
engine/evidence/embed/remote →
engine/evidence/search → engine/evidence/embed engine/evidence/embed/words internal/vecmath internal/bytereader
engine/evidence/embed → engine/evidence/embed/words engine/evidence/embed/phrasebook
engine/evidence/embed/phrasebook → engine/evidence/embed/words internal/controltext
engine/evidence/embed/words → internal/language
engine/evidence/chunk → engine/evidence/parse/document api internal/questionnaire internal/prose
engine/evidence/parse → engine/evidence/parse/mail engine/evidence/parse/office engine/evidence/parse/pdf engine/evidence/parse/text engine/evidence/parse/facts engine/evidence/parse/zipfile engine/evidence/parse/cfb engine/evidence/parse/document api internal/regularfile internal/lazyregexp internal/charset
engine/evidence/parse/mail → engine/evidence/parse/text engine/evidence/parse/cfb engine/evidence/parse/document api internal/lazyregexp internal/charset
engine/evidence/parse/office → engine/evidence/parse/text engine/evidence/parse/zipfile engine/evidence/parse/document api internal/charset internal/opc
engine/evidence/parse/pdf → engine/evidence/parse/text engine/evidence/parse/document api internal/lazyregexp internal/questionnaire internal/charset
engine/evidence/parse/text → engine/evidence/parse/document api internal/lazyregexp
engine/evidence/parse/facts → engine/evidence/parse/document internal/language internal/lazyregexp
engine/evidence/parse/zipfile → engine/evidence/parse/document
engine/evidence/parse/cfb →
engine/evidence/parse/document → api internal/lazyregexp internal/questionnaire
engine/evidence/ocr → internal/lazyregexp
engine/evidence/dedup →

engine/judge/criteria → engine/catalog/starter internal/controltext
engine/catalog    → engine/catalog/starter engine/catalog/workbook engine/catalog/strm engine/catalog/custom engine/catalog/oscal engine/catalog/scf engine/audit store api internal/lazyregexp
                  + internal/leangc
engine/catalog/oscal → engine/catalog/custom engine/catalog/scf api internal/lazyregexp
engine/catalog/custom → engine/catalog/scf api internal/lazyregexp internal/charset
engine/catalog/starter → engine/catalog/scf api
engine/catalog/workbook → engine/catalog/scf api internal/lazyregexp
engine/catalog/strm → engine/catalog/scf api internal/lazyregexp internal/prose
engine/catalog/scf → api internal/lazyregexp internal/editdistance
engine/identity   → engine/audit store api internal/secretbox internal/lazyregexp
engine/idempotency → store api
engine/audit      → store api

store             → api internal/filelock internal/regularfile internal/tracing internal/lazyregexp internal/bytereader

internal/itemfilter → api internal/editdistance
internal/netguard → api
internal/secretbox → api
internal/questionnaire → internal/lazyregexp

api               →
internal/controltext →
internal/filelock →
internal/leangc    →
internal/linereader →
internal/bytereader →
internal/charset  → internal/lazyregexp
internal/opc      →
internal/regularfile →
internal/prose    → internal/lazyregexp
internal/lazyregexp →
internal/editdistance →
internal/sampling →
internal/vecmath  →
internal/language →
internal/tracing  →

examples          →
docs              →
internal/layout   →
`

// room is a line in the picture.
type room struct {
	path  string
	knows []string
	lone  bool // whether rooms below it are listed
}

// rooms parses the picture.
func rooms(t testing.TB) []room {
	t.Helper()
	var out []room
	for line := range strings.Lines(picture) {
		path, knows, drawn := strings.Cut(strings.TrimSpace(line), "→")
		if more, continued := strings.CutPrefix(path, "+ "); continued { // continues the line above
			last := &out[len(out)-1]
			last.knows = append(last.knows, strings.Fields(more)...)
		}
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
				if !strings.HasPrefix(below.path, "internal/testutil") {
					out[i].knows = append(out[i].knows, below.path)
				}
			}
		}
	}
	return out
}

// roomOf returns the index of the room that contains a package, or -1.
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
	if to == from || test && (to > from || rs[to].path == "internal/testutil" || within(rs[from].path, rs[to].path)) {
		return true
	}
	return slices.Contains(rs[from].knows, rs[to].path)
}

// homes lists the libraries that only one part of the product may import, and that part. Adding a second place is a
// deliberate decision.
var homes = map[string][]string{
	"codeberg.org/go-pdf/fpdf":              {"engine/report/render", "examples/harbor/make", "internal/testutil/documenttest"},
	"github.com/charmbracelet":              {"tui", "cli"},
	"github.com/danielgtaylor/huma/v2":      {"daemon"},
	"github.com/expr-lang/expr":             {"internal/itemfilter"},
	"github.com/go-chi/chi/v5":              {"daemon"},
	"github.com/defenseunicorns/go-oscal":   {"engine/catalog/oscal", "engine/check", "engine/report/render"},
	"github.com/itchyny/gojq":               {"cli"},
	"github.com/jackc/pgx/v5":               {"store/postgres"},
	"github.com/klippa-app/go-pdfium":       {"engine/evidence/parse/pdf"},
	"github.com/jhillyerd/enmime/v2":        {"engine/evidence/parse/mail"},
	"github.com/minio/minio-go/v7":          {"store/s3", "engine/notify/integration"},
	"github.com/ollama/ollama":              {"engine/llm", "engine/evidence/embed/remote", "internal/testutil/ollamatest"},
	"github.com/owenrumney/go-sarif/v3":     {"engine/check"},
	"github.com/philippgille/chromem-go":    {"engine/evidence/search"},
	"github.com/prometheus/client_golang":   {"daemon", "cmd/service"},
	"github.com/santhosh-tekuri/jsonschema": {"engine/catalog/custom", "engine/catalog/oscal", "daemon", "engine/agent"},
	"github.com/spf13/cobra":                {"cli", "cmd/service", "packaging"},
	"github.com/spf13/viper":                {"cli", "cmd/service"},
	"github.com/tetratelabs/wazero":         {"engine/evidence/parse/pdf"},
	"github.com/wneessen/go-mail":           {"engine/notify/mail", "engine/notify/integration"},
	"github.com/unidoc/unipdf/v3":           {"engine/evidence/parse/pdf"},
	"github.com/viterin/vek":                {"internal/vecmath"},
	"github.com/xuri/excelize/v2": {
		"engine/catalog/workbook",
		"engine/evidence/parse/office",
		"engine/report/render",
		"engine/report/workbook",
		"examples/harbor/make",
		"internal/testutil/documenttest",
	},
	"github.com/yuin/goldmark":      {"engine/evidence/parse/text", "engine/report/render"},
	"github.com/zalando/go-keyring": {"cli/contexts"},
	"go.etcd.io/bbolt":              {"store/bolt"},
	"go.opentelemetry.io/otel":      {"internal/tracing"},
	"gonum.org/v1/gonum":            {"engine/evidence/embed", "internal/sampling"},
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

// TestHelpersOfTestsStayInTests checks that the names of packages with test helpers end in "test", as in the standard
// library, and that they are not part of the program.
func TestHelpersOfTestsStayInTests(t *testing.T) {
	for _, f := range sources(t) {
		if f.test || strings.HasSuffix(f.name, "test") || within(f.pkg, "internal/testutil") {
			continue
		}
		for _, imported := range f.imports {
			if imported == "testing" || strings.HasPrefix(imported, modulePath) && strings.HasSuffix(imported, "test") {
				t.Errorf("%s imports %s, which is for tests", f.path, imported)
			}
		}
	}
}
