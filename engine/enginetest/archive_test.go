package enginetest_test

import (
	"archive/zip"
	"bytes"
	"io"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/archive"
)

// completeAssessment runs an assessment with a workflow through all gates to its reports.
func (b *bench) completeAssessment(t *testing.T, assessment string) {
	t.Helper()
	run := b.begin(t, assessment, api.WorkflowFull)
	for _, gate := range api.Gates {
		if err := b.approve(t, *b.waitForRun(t, run.ID, api.RunApproval, gate.Title()).ApprovalID); err != nil {
			t.Fatal(err)
		}
	}
	b.waitForRun(t, run.ID, api.RunCompleted, "")
}

func (b *bench) export(t *testing.T, assessment string) []byte {
	t.Helper()
	f, err := b.Archives.Export(t.Context(), b.by, &api.AssessmentInput{AssessmentID: assessment})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Content.Close()
	text, err := io.ReadAll(f.Content)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestArchive checks that an archive can be verified on its own, and that any change in it is found
// and named.
func TestArchive(t *testing.T) {
	b := newBench(t)
	a := b.newAssessment(t)
	b.completeAssessment(t, a.ID)
	if err := b.move(t, a.ID, api.StateClosed); err != nil {
		t.Fatal(err)
	}
	_, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Zoë", api.Match{})
	wantCode(t, "an edit of what is closed", err, api.CodeInvalidState)
	next := &api.CreateAssessmentInput{}
	next.Body.Name, next.Body.From = "Next year", a.ID
	if n, err := b.Assessments.Create(t.Context(), b.by, next); err != nil || n.State != api.StateDraft || n.CarriedFrom == nil {
		t.Errorf("carried from a closed assessment: %+v, %v", n, err)
	}
	whole := b.export(t, a.ID)
	r, err := archive.Verify(bytes.NewReader(whole), int64(len(whole)))
	if err != nil || !r.OK || len(r.Findings) != 4 || r.Manifest.State != api.StateClosed {
		t.Fatalf("%+v, %v", r, err)
	}
	for name, change := range map[string]func(path, text string) (string, bool){
		"soa/v1.json": func(_, text string) (string, bool) {
			return strings.Replace(text, "applicable", "out_of_scope", 1), true
		},
		"approvals.jsonl": func(_, text string) (string, bool) { return strings.Replace(text, `"approved"`, `"rejected"`, 1), true },
		"audit.jsonl": func(_, text string) (string, bool) {
			return text[:strings.LastIndexByte(text[:len(text)-1], '\n')+1], true
		},
		"manifest.json": func(_, text string) (string, bool) { return strings.Replace(text, "Test", "Best", 1), true },
		"reports.jsonl": func(string, string) (string, bool) { return "", false },
		"documents/":    func(_, text string) (string, bool) { return text + "!", true },
	} {
		got, err := archive.Verify(rewriteArchive(t, whole, name, change))
		if err != nil || got.OK {
			t.Errorf("a change of %s: %+v, %v", name, got, err)
		}
	}
	if _, err := archive.Verify(strings.NewReader("no zip"), 6); err == nil {
		t.Error("what is no archive passes")
	}
}

// rewriteArchive returns an archive with one file changed or removed.
func rewriteArchive(t *testing.T, whole []byte, name string, change func(path, text string) (string, bool)) (*bytes.Reader, int64) {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(whole), int64(len(whole)))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	met := false
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		text, keep := string(b), true
		if strings.HasPrefix(f.Name, name) {
			met = true
			text, keep = change(f.Name, text)
			if keep && text == string(b) {
				t.Fatalf("%s was not changed", f.Name)
			}
		}
		if keep {
			part, err := w.Create(f.Name)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.WriteString(part, text)
		}
	}
	if !met {
		t.Fatalf("there is no %s", name)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(out.Bytes()), int64(out.Len())
}

// TestArtifactDiff checks that two versions are compared line by line and that equal lines are
// omitted.
func TestArtifactDiff(t *testing.T) {
	b := newBench(t)
	b.importCatalog(t, yard1)
	a := b.assess(t, "house-rules", yardDocs, api.StateSoAUnderReview)
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
	items := b.soaItems(t, a.ID)
	if _, err := b.setOwner(t, items[1].ID, "Zoë", api.Match{}); err != nil {
		t.Fatal(err)
	}
	all, err := b.Assessments.ListArtifacts(
		t.Context(),
		b.by,
		&api.ArtifactsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Type: "soa"},
	)
	if err != nil || len(all.Data) != 1 {
		t.Fatalf("%+v, %v", all, err)
	}
	d, err := b.Assessments.DiffArtifact(
		t.Context(),
		b.by,
		&api.ArtifactDiffInput{ArtifactInput: api.ArtifactInput{ArtifactID: all.Data[0].ID}},
	)
	if err != nil || d.FromVersion != 1 || d.ToVersion != 2 || d.Changed != 1 || d.Added+d.Removed != 0 || d.FromSHA256 == d.ToSHA256 {
		t.Fatalf("%+v, %v", d, err)
	}
	if want := "~ " + items[1].ControlCode + " owner: "; !strings.HasPrefix(d.Lines[len(d.Lines)-1].Text, want) &&
		!strings.HasPrefix(d.Lines[0].Text, want) ||
		!strings.Contains(d.Lines[0].Text+d.Lines[len(d.Lines)-1].Text, "→") {
		t.Errorf("%+v", d.Lines)
	}
	same, err := b.Assessments.DiffArtifact(
		t.Context(),
		b.by,
		&api.ArtifactDiffInput{ArtifactInput: api.ArtifactInput{ArtifactID: all.Data[0].ID}, From: 2, To: 2},
	)
	if err != nil || len(same.Lines) != 0 {
		t.Errorf("%+v, %v", same, err)
	}
}

// TestReportsAreArtifacts checks that reports are numbered by template and format, don't change,
// and are compared line by line.
func TestReportsAreArtifacts(t *testing.T) {
	b := newBench(t)
	b.importCatalog(t, yard1)
	a := b.assess(t, "house-rules", yardDocs, api.StateSoADrafted)
	write := func(format string) *api.Report {
		in := &api.CreateReportInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID},
			Body:            api.ReportBody{Format: format, Template: "soa"},
		}
		r, err := b.Reports.Create(t.Context(), b.by, in)
		if err != nil {
			t.Fatal(err)
		}
		return r
	}
	first := write("md")
	write("csv")
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[1].ID, "Zoë Keller", api.Match{}); err != nil {
		t.Fatal(err)
	}
	second := write("md")
	write("csv")
	if err := b.move(t, a.ID, api.StateSoAUnderReview); err != nil {
		t.Fatal(err)
	}
	if err := b.approve(t, b.pending(t, a.ID).ID); err != nil {
		t.Fatal(err)
	}
	if third := write("md"); third.Draft {
		t.Fatalf("%+v", third)
	}
	if _, err := b.setOwner(t, b.soaItems(t, a.ID)[0].ID, "Bo", api.Match{}); err != nil {
		t.Fatal(err)
	}
	write("md")
	all, err := b.Assessments.ListArtifacts(
		t.Context(),
		b.by,
		&api.ArtifactsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Type: "report"},
	)
	if err != nil || len(all.Data) != 2 || *all.Data[0].Variant != "soa/csv" || all.Data[0].CurrentVersion != 2 ||
		all.Data[1].CurrentVersion != 4 {
		t.Fatalf("%+v, %v", all, err)
	}
	versions, err := b.Assessments.ListArtifactVersions(
		t.Context(),
		b.by,
		&api.ArtifactVersionsInput{ArtifactInput: api.ArtifactInput{ArtifactID: all.Data[1].ID}},
	)
	if err != nil {
		t.Fatal(err)
	}
	var stand []string
	for _, v := range versions.Data {
		stand = append(stand, string(v.Status))
	}
	if want := "superseded superseded approved draft"; strings.Join(stand, " ") != want || versions.Data[0].RecordID != first.ID ||
		versions.Data[1].ContentSHA256 != second.SHA256 {
		t.Errorf("%v, not %s", stand, want)
	}
	diff := &api.ArtifactDiffInput{ArtifactInput: api.ArtifactInput{ArtifactID: all.Data[1].ID}, From: 1, To: 2}
	d, err := b.Assessments.DiffArtifact(t.Context(), b.by, diff)
	if err != nil || d.Added == 0 || d.Removed == 0 || d.FromSHA256 != first.SHA256 {
		t.Fatalf("%+v, %v", d, err)
	}
	told := false
	for _, l := range d.Lines {
		told = told || l.Change == "added" && strings.Contains(l.Text, "Zoë Keller")
	}
	if !told || len(d.Lines) > 40 {
		t.Errorf("%d lines: %+v", len(d.Lines), d.Lines)
	}
	diff.To = 9
	_, err = b.Assessments.DiffArtifact(t.Context(), b.by, diff)
	wantCode(t, "a version that is not there", err, api.CodeValidation)
}
