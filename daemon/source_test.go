package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestImportSourceSizeLimit checks that a catalog may be larger than other bodies up to its own
// limit, and that the JSON around it is validated strictly.
func TestImportSourceSizeLimit(t *testing.T) {
	h := newServer(t).LocalHandler()
	catalog := `{"format": "service-catalog", "format_version": 1, "label": "big", "domains": [{"code": "GOV", "name": "Governance", "intent": "` + strings.Repeat(
		"x",
		900_000,
	) + `"},
		{"code": "IAC", "name": "Access", "intent": "` + strings.Repeat(
		"y",
		900_000,
	) + `"}], "frameworks": [], "controls": [{"code": "GOV-01", "title": "Programme"}]}`
	status, header, body := operationFunc(t, h, "POST", api.ImportStructured.Path, `{"source": `+catalog+`}`, nil)
	if status != http.StatusCreated || body["status"] != "succeeded" || header.Get("Location") == "" {
		t.Fatalf("%d %.300s", status, fmt.Sprint(body))
	}
	for what, c := range map[string]struct{ body, says string }{
		"too large":         {`{"source": "` + strings.Repeat("x", api.MaxSourceBytes) + `"}`, ""},
		"an unknown field":  {`{"source": {}, "colour": "red"}`, "colour"},
		"no source":         {`{"label": "x"}`, "source"},
		"a source of null":  {`{"source": null}`, "source"},
		"no such format":    {`{"source": {}, "format": "xml"}`, "xml"},
		"two lines":         {`{"source": {}, "label": "a\nb"}`, "label"},
		"a label of fields": {`{"source": {}, "label": {}}`, "label: can't be an object"},
		"10,000 deep":       {`{"source": ` + strings.Repeat(`{"a":`, 9000) + "1" + strings.Repeat("}", 9000) + `}`, "nested"},
		"deeper than Go":    {`{"source": ` + strings.Repeat(`[`, 20000), ""},
		"the place of it":   {`{"source": ` + strings.Replace(catalog, `"GOV-01"`, `"GOV-1"`, 1) + `}`, "controls[0].code"},
		"OSCAL, no catalog": {`{"source": {"catalog": 7}}`, "oscal-version"},
	} {
		status, _, out := operationFunc(t, h, "POST", api.ImportStructured.Path, c.body, nil)
		wantError(t, what, status, out, api.CodeValidation)
		if b, _ := json.Marshal(out); !strings.Contains(string(b), c.says) || len(b) > 4000 {
			t.Errorf("%s: %.500s", what, b)
		}
	}
}
