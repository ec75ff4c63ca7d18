package check

import (
	"bytes"
	"errors"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// TestResultsAreNoEvidence checks that results are recognized in every format when they are in the evidence folder of
// the next check, because they would confirm their own conclusions.
func TestResultsAreNoEvidence(t *testing.T) {
	r, err := parse.New(parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	extensions := map[string]string{
		"junit": "xml", "markdown": "md", "csv": "csv", "json": "json", "sarif": "sarif", "gitlab": "json", "oscal": "json",
	}
	for name, result := range sampleResults(t) {
		for _, f := range AllFormats {
			if f.Name == "gitlab" && (name == "nothing" || name == "clean") {
				continue // it is an empty list, which concludes nothing
			}
			raw := mustRender(t, result, f.Name)
			_, err := r.Read(t.Context(), "file."+extensions[f.Name], bytes.NewReader(raw), int64(len(raw)))
			if !errors.Is(err, document.ErrOwnReport) {
				t.Errorf("%s as %s: %v", name, f.Name, err)
			}
		}
	}
}
