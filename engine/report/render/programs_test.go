package render

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/officelayout"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// pythonPath is where tools/setup installs Python modules that open reports, in the user's cache folder.
const pythonPath = "service-tools/python/bin/python3"

// openWithPython opens each file with the module for its format, and reads all of it.
const openWithPython = `
import pathlib, sys
import docx, openpyxl, pptx
from trestle.oscal.assessment_plan import AssessmentPlan
from trestle.oscal.assessment_results import AssessmentResults
from trestle.oscal.component import ComponentDefinition
from trestle.oscal.poam import PlanOfActionAndMilestones
models = {"full": AssessmentResults, "gap_analysis": AssessmentResults, "poam": PlanOfActionAndMilestones,
	"soa": ComponentDefinition, "assessment_plan": AssessmentPlan}
for f in map(pathlib.Path, sys.argv[1:]):
	if f.suffix == ".docx":
		d = docx.Document(f)
		n = sum(len(t.rows) for t in d.tables) + len([p.style.name for p in d.paragraphs])
	elif f.suffix == ".pptx":
		n = 0
		for s in pptx.Presentation(f).slides:
			for shape in s.shapes:
				n += 1
				if shape.has_chart:
					n += len(list(shape.chart.plots[0].categories))
	elif f.suffix == ".xlsx":
		n = sum(len(list(s.iter_rows(values_only=True))) for s in openpyxl.load_workbook(f))
	elif f.suffix == ".oscal":
		json = f.with_suffix(".json")
		json.write_bytes(f.read_bytes())
		n = len(models[f.stem].oscal_read(json).oscal_serialize_json())
	else:
		continue
	assert n > 3, f"{f.name}: only {n} parts"
`

// TestOtherProgramsOpenReports checks that other programs open every report without complaint: qpdf, LibreOffice,
// python-docx, python-pptx, openpyxl and compliance-trestle.
func TestOtherProgramsOpenReports(t *testing.T) {
	qpdf, soffice := programtest.FindOrSkip(t, "qpdf"), programtest.FindOrSkip(t, "soffice")
	folder := t.TempDir()
	var files, documents []string
	source := reporttest.SampleSource(3)
	save := func(name string, r Request) {
		t.Helper()
		var b bytes.Buffer
		if err := Write(t.Context(), &b, source, r); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(folder, name+"."+r.Format)
		if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
			t.Fatal(err)
		}
		files = append(files, path)
		switch r.Format {
		case FormatDOCX, FormatPPTX, FormatXLSX:
			documents = append(documents, path)
		case FormatPDF:
			if out, err := exec.CommandContext(t.Context(), qpdf, "--check", path).CombinedOutput(); err != nil {
				t.Errorf("qpdf, %s: %v\n%s", name, err, out)
			}
		}
	}
	eachFormat(func(template, format string) { save(template, Request{Template: template, Format: format}) })
	save("bound", Request{Template: content.TemplateClient, Format: FormatPDF, WithAppendices: true})
	for _, format := range []string{FormatDOCX, FormatPPTX} {
		layout, err := officelayout.Example(format)
		if err != nil {
			t.Fatal(err)
		}
		save("layout", Request{Template: content.TemplateClient, Format: format, Layout: layout})
	}

	source = allBanners(195)
	for _, paper := range []string{"a4", "letter"} {
		save("two-pages-"+paper, Request{Template: content.TemplateExecutiveSummary, Format: FormatDOCX, Paper: paper})
	}

	t.Run("LibreOffice", func(t *testing.T) {
		converted := t.TempDir()
		args := append([]string{
			"-env:UserInstallation=file://" + filepath.Join(folder, "profile"), "--headless", "--convert-to", "pdf", "--outdir", converted,
		}, documents...)
		out, err := exec.CommandContext(t.Context(), soffice, args...).CombinedOutput()
		if n := strings.Count(string(out), "convert "); err != nil || n != len(documents) || strings.Contains(string(out), "Error") {
			t.Errorf("%d of %d documents were opened: %v\n%s", n, len(documents), err, out)
		}
		for _, paper := range []string{"a4", "letter"} {
			pages, err := exec.CommandContext(
				t.Context(), qpdf, "--show-npages", filepath.Join(converted, "two-pages-"+paper+".pdf"),
			).CombinedOutput()
			if err != nil || strings.TrimSpace(string(pages)) != "2" {
				t.Errorf("the executive summary on %s has %s pages, want 2: %v", paper, pages, err)
			}
		}
	})
	t.Run("Python", func(t *testing.T) {
		cache, err := os.UserCacheDir()
		if err != nil {
			t.Fatal(err)
		}
		python := filepath.Join(cache, filepath.FromSlash(pythonPath))
		if _, err := os.Stat(python); err != nil {
			t.Skip("python-docx, python-pptx, openpyxl and compliance-trestle are not installed: run tools/setup")
		}
		out, err := exec.CommandContext(t.Context(), python, append([]string{"-c", openWithPython}, files...)...).CombinedOutput()
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
	})
}
