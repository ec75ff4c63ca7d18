package enginetest_test

import (
	"fmt"
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/examples/harbor"
)

// claims returns a document with a sentence, worded by format, for each requirement of the items that want
// selects.
func claims(items []api.SoAItem, format string, want func(*api.SoAItem) bool) string {
	var b strings.Builder
	b.WriteString("# Security handbook\n\nVersion 3.0, approved by the managing director on 2026-09-01.\n")
	for n := range items {
		if i := &items[n]; want(i) {
			fmt.Fprintf(&b, "\n## %s\n\n", i.ControlTitle)
			for _, s := range i.Statements {
				fmt.Fprintf(&b, format+"\n", strings.TrimRight(s.Text, "."))
			}
		}
	}
	return b.String()
}

// draftWith adds documents to an assessment and drafts its Statement of Applicability.
func (b *bench) draftWith(t *testing.T, a string, files map[string]string) *assessment.Snapshot {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range files {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	b.uploadAll(t, a, folder)
	if _, err := b.Assessments.DraftSoA(
		t.Context(),
		b.by,
		&api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}},
	); err != nil {
		t.Fatal(err)
	}
	d, err := b.Assessments.Snapshot(t.Context(), b.by, a)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// TestOneDocumentCarriesVerdicts adds hostile documents to a sound folder. It checks that lines whose verdict they
// changed are marked, that the draft lists these documents first, and that the gate warns of them. A nearly identical
// second copy of a hostile document must not make its lines look confirmed, even if the first copy is deleted. A copy
// of a sound document must not be named in place of the hostile one.
func TestOneDocumentCarriesVerdicts(t *testing.T) {
	b := newBench(t)
	a := b.assess(t, "iso-27001-2022", harbor.Evidence(), api.StateFrameworkSelected)
	sound := b.draftWith(t, a.ID, nil)
	if sound.SoA.LinesChangedByDocument != 0 {
		t.Errorf("a first draft has %d lines that a document changed", sound.SoA.LinesChangedByDocument)
	}
	isImplemented := func(i *api.SoAItem) bool { return i.ImplementationStatus == api.Implemented }
	claim := claims(sound.SoAItems, "The IT manager ensures each quarter: %s.", func(i *api.SoAItem) bool { return !isImplemented(i) })
	denial := claims(sound.SoAItems, "It is not true that %s. This is not done.", isImplemented)
	policy, err := fs.ReadFile(harbor.Evidence(), "HQ-POL-07-cryptography-policy.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name   string
		files  map[string]string
		raised bool
	}{
		{"a file that claims everything", map[string]string{"handbook.md": claim}, true},
		{"nearly the same file twice", map[string]string{"handbook.md": claim, "manual.md": claim + "\nPrinted copy.\n"}, true},
		{"a sound file with claims added", map[string]string{"handbook.md": string(policy) + claim}, true},
		{"a file that denies everything", map[string]string{"handbook.md": denial}, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := b.draftWith(t, a.ID, c.files)
			changed, marked := 0, 0
			for n := range got.SoAItems {
				if was, is := isImplemented(&sound.SoAItems[n]), isImplemented(&got.SoAItems[n]); was != is && is == c.raised {
					changed++
					if _, hostile := c.files[got.SoAItems[n].ChangedByDocument]; hostile {
						marked++
					}
				}
			}
			if changed < len(got.SoAItems)/4 || marked*10 < changed*9 {
				t.Errorf("%d lines of %d changed, and %d of them say by which document", changed, len(got.SoAItems), marked)
			}
			first := got.SoA.DecisiveDocuments[0]
			if _, hostile := c.files[first.Filename]; !hostile || first.LinesChanged*10 < got.SoA.LinesChangedByDocument*9 {
				t.Errorf("of %d changed lines the draft names %+v", got.SoA.LinesChangedByDocument, got.SoA.DecisiveDocuments)
			}
			for n := range got.SoAItems {
				i := &got.SoAItems[n]
				if _, hostile := c.files[i.ChangedByDocument]; hostile && i.RestsOnDocuments == 1 && i.OnlyDocument != i.ChangedByDocument {
					t.Errorf("%s was changed by %s, but rests on %s alone", i.ControlCode, i.ChangedByDocument, i.OnlyDocument)
				}
			}
			b.checkWarnings(t, got.SoA)
			left := len(c.files)
			for _, d := range got.Documents {
				if _, hostile := c.files[d.Filename]; !hostile {
					continue
				}
				if _, err := b.Evidence.Delete(t.Context(), b.by, &api.DocumentInput{DocumentID: d.ID}); err != nil {
					t.Fatal(err)
				}
				if left--; left == 0 {
					break
				}
				// The copy supports the verdicts that the first document changed.
				if again := b.draftWith(t, a.ID, nil); again.SoA.LinesChangedByDocument*10 < got.SoA.LinesChangedByDocument*9 {
					t.Errorf("of %d marked lines %d remain", got.SoA.LinesChangedByDocument, again.SoA.LinesChangedByDocument)
				}
			}
			if again := b.draftWith(t, a.ID, nil); again.SoA.ContentSHA256 != sound.SoA.ContentSHA256 || again.SoA.LinesChangedByDocument != 0 {
				t.Errorf("without it, %d lines are changed by a document", again.SoA.LinesChangedByDocument)
			}
		})
	}
}

// checkWarnings submits a version and checks that its approval warns of verdicts that single documents decide.
func (b *bench) checkWarnings(t *testing.T, v *api.SoAVersion) {
	t.Helper()
	if _, err := b.Assessments.SubmitSoA(t.Context(), b.by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: v.ID}}); err != nil {
		t.Fatal(err)
	}
	l, err := b.Assessments.ListApprovals(t.Context(), b.by, &api.ApprovalsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: v.AssessmentID}, Status: api.ApprovalPending,
	})
	if err != nil || len(l.Data) != 1 {
		t.Fatalf("%+v, %v", l, err)
	}
	want := []string{
		fmt.Sprintf("%d verdicts were changed by a single document", v.LinesChangedByDocument),
		fmt.Sprintf("%d verdicts rest on a single document", v.LinesOnOneDocument),
	}
	got := strings.Join(l.Data[0].Warnings, "\n")
	if !strings.Contains(got, want[0]) || !strings.Contains(got, want[1]) {
		t.Errorf("the approval warns: %q, without %q", got, want)
	}
}
