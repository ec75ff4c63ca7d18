package content

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
)

// TestReportNamesModels checks that method and limits name each language model that read, and say that it isn't bound by the rules.
func TestReportNamesModels(t *testing.T) {
	const (
		lenient = "can be more lenient"
		second  = "second reader"
		small   = "ollama/small (q4), digest 5f0c1a2b3c4d, prompt reader/1"
	)
	for method, want := range map[string][]string{
		"builtin/21":                    nil,
		"builtin/21 with reader ada":    nil,
		"manual":                        nil,
		"builtin/21; second reader ada": nil,
		"builtin/24; second reader builtin.1f2e3d4c":                                                  {second, "comes with the program"},
		"builtin/21 with reader model.small.1f2e (model " + small + ")":                               {lenient, small},
		"builtin/21; second reader model.small.1f2e (model " + small + ")":                            {second, small},
		"builtin/21 with reader model.a.1 (model ollama/a); second reader model.b.1 (model ollama/b)": {lenient, "ollama/a,", second, "ollama/b,"},
	} {
		v := New(&Source{SoA: &api.SoAVersion{DeliverableVersion: api.DeliverableVersion{Method: method}}}, TemplateFull, "", false)
		blocks := v.methodSection()
		for _, l := range []block.List{blocks[len(blocks)-1].(block.List), v.limitsList()} {
			var all strings.Builder
			for _, i := range l.Items {
				all.WriteString(i.Text() + "\n")
			}
			text := all.String()
			for _, w := range want {
				if !strings.Contains(text, w) {
					t.Errorf("%s: %q is not in %s", method, w, text)
				}
			}
			if strings.Contains(text, lenient) != (len(want) > 0 && want[0] == lenient) ||
				len(want) == 0 && strings.Contains(text, "language model") {
				t.Errorf("%s: %s", method, text)
			}
		}
	}
}
