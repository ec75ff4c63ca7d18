package render

import (
	"bytes"
	"errors"
	"testing"

	docparse "github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/testdir"
)

// TestReportsAreNoEvidence checks that reports added as evidence are recognized in every format; they would
// confirm their own conclusions.
func TestReportsAreNoEvidence(t *testing.T) {
	r, err := docparse.New(docparse.Options{CacheDir: testdir.CacheFolder(t.TempDir())})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	s := reporttest.SampleSource(1)
	s.Tool = "service 1.2.3-rc.1"
	eachFormat(func(template, format string) {
		if template != content.TemplateExecutiveSummary && template != content.TemplateSoA {
			return // the other templates contain it in the same places
		}
		f, _ := findFormat(format)
		raw := write(t, s, template, format)
		_, err := r.Read(t.Context(), "file"+f.extension, bytes.NewReader(raw), int64(len(raw)))
		if !errors.Is(err, document.ErrOwnReport) {
			t.Errorf("%s as %s: %v", template, format, err)
		}
	})
}
