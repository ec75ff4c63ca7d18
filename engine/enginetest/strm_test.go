package enginetest_test

import (
	"bytes"
	"os"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// TestPublishedMappings imports published mapping documents (PDF) through the document reader; an
// assessment keeps the catalog it started with.
func TestPublishedMappings(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	workbook, err := os.ReadFile(shareddata.PathOrSkip(t, "scf", "scf-2026.1.1-like.xlsx"))
	if err != nil {
		t.Fatal(err)
	}
	b, ctx := newBench(t), t.Context()
	if _, err := b.Catalog.ImportWorkbook(
		ctx,
		b.by,
		&api.ImportWorkbookInput{File: api.UploadFile{Filename: "scf-2026.1.1.xlsx", Content: bytes.NewReader(workbook)}},
	); err != nil {
		t.Fatal(err)
	}
	in := &api.CreateAssessmentInput{}
	in.Body.Name, in.Body.FrameworkID = "Before", "nis2"
	before, err := b.Assessments.Create(ctx, b.by, in)
	if err != nil {
		t.Fatal(err)
	}
	for n, doc := range []struct {
		file, framework                     string
		elements, related, confirmed, texts int
	}{
		{"scf-strm-emea-eu-nis2-2022.pdf", "nis2", 37, 146, 146, 37},
		{"scf-strm-general-cis-csc-8-1-ig1.pdf", "cis-8.1-ig1", 56, 140, 140, 56},
		{"scf-strm-emea-eu-ai-act-2024.pdf", "eu-ai-act", 973, 350, 350, 973},
		{"scf-strm-apac-aus-ism-2024-june.pdf", "australia-ism-june-2024", 912, 1370, 1370, 912},
	} {
		if n > 0 && !longtest.Enabled() {
			break
		}
		data, err := os.ReadFile(shareddata.PathOrSkip(t, "strm", doc.file))
		if err != nil {
			t.Fatal(err)
		}
		run, err := b.Catalog.ImportSTRM(
			ctx,
			b.by,
			&api.ImportSTRMInput{File: api.UploadFile{Filename: doc.file, Content: bytes.NewReader(data)}},
		)
		if err != nil {
			t.Fatalf("%s: %v", doc.file, err)
		}
		got := run.Documents[0]
		if got.FrameworkCode != doc.framework || got.Elements != doc.elements || got.Related != doc.related ||
			got.MappingsConfirmed != doc.confirmed ||
			got.RequirementsWorded != doc.texts {
			t.Errorf("%s: %+v", doc.file, got)
		}
	}
	m, err := b.Catalog.ListRequirementMappings(ctx, b.by, &api.RequirementMappingsInput{RequirementID: "nis2:Article 21.2(a)"})
	if err != nil || len(m.Data) == 0 || m.Data[0].Relationship == nil || m.Data[0].Strength == nil ||
		m.Data[0].Source != "scf-strm-emea-eu-nis2-2022.pdf" {
		t.Errorf("%+v, %v", m, err)
	}
	after, err := b.Assessments.Get(ctx, b.by, &api.AssessmentInput{AssessmentID: before.ID})
	if err != nil || after.SCFVersionID != before.SCFVersionID {
		t.Fatalf("%+v, %v", after, err)
	}
	old, err := b.Catalog.ListRequirementMappings(
		ctx,
		b.by,
		&api.RequirementMappingsInput{RequirementID: "nis2:Article 21.2(a)", Version: before.SCFVersionID},
	)
	if err != nil || len(old.Data) != len(m.Data) || old.Data[0].Relationship != nil || old.Data[0].ID != m.Data[0].ID {
		t.Errorf("the version the assessment began with: %+v, %v", old, err)
	}
}
