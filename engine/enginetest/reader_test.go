package enginetest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
)

// readLines decodes the lines of a download.
func readLines[L any](t *testing.T, f *api.File, err error) (out []L) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	defer f.Content.Close()
	b, err := io.ReadAll(f.Content)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(b) {
		var l L
		if err := json.Unmarshal(line, &l); err != nil {
			t.Fatal(err)
		}
		out = append(out, l)
	}
	return out
}

func (b *bench) importReadings(t *testing.T, a, name string, lines []reading.Line) (*api.Reader, error) {
	t.Helper()
	var file bytes.Buffer
	for _, l := range lines {
		l.Reader = name
		if err := json.NewEncoder(&file).Encode(l); err != nil {
			t.Fatal(err)
		}
	}
	return b.Assessments.ImportReadings(t.Context(), b.by, &api.ImportReadingsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a}, Name: name, File: api.UploadFile{Filename: "r.jsonl", Content: &file},
	})
}

// TestReadersAreFiles labels every exported pair, and drafts with these labels. It checks that the verdicts follow
// them, that other documents are not read, that an invalid import changes nothing, and that no other organization can
// access any of it.
func TestReadersAreFiles(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	const policy = "# Access policy\n\nAll staff sign in with a second factor.\n\n## Backups\n\nBackups are tested each month.\n"
	a := b.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(policy)}}, api.StateSoADrafted)
	in := api.AssessmentInput{AssessmentID: a.ID}
	f, err := b.Assessments.ExportReaderStatements(ctx, b.by, &in)
	statements := readLines[reading.StatementLine](t, f, err)
	var lines []reading.Line
	for n, st := range statements {
		for _, p := range st.Passages {
			l := reading.Line{StatementID: st.StatementID, PassageHash: p.PassageHash, Reading: reading.Reading{Label: reading.Silent}}
			if n%2 == 0 {
				l.Reading = reading.Reading{Label: reading.States, Words: strings.Fields(p.Text)[0]}
			}
			lines = append(lines, l)
		}
	}
	r, err := b.importReadings(t, a.ID, "ada", lines)
	if err != nil || r.Readings != len(lines) || r.Statements == 0 || r.OfStatements != r.Statements {
		t.Fatalf("%+v, %v", r, err)
	}
	draft := func(reader string) (*api.SoAVersion, error) {
		return b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: in, Reader: reader})
	}
	v, err := draft("ada")
	if err != nil || v.Inputs["reader"] != "ada" || v.Inputs["readings_sha256"] != r.SHA256 || v.Inputs["statements_not_read"] != "" {
		t.Fatalf("%v, %v", v, err)
	}
	covered := map[string]bool{} // by control and statement
	for n, st := range statements {
		covered[st.ControlCode+st.Statement] = n%2 == 0 && len(st.Passages) > 0
	}
	for _, i := range b.soaItems(t, a.ID) {
		for _, st := range i.Statements {
			if is := st.Verdict == "covered"; is != covered[i.ControlCode+st.Text] {
				t.Errorf("%s, %s: %s", i.ControlCode, st.Text, st.Verdict)
			}
		}
	}

	// An invalid last line causes the whole file to be rejected, and the earlier readings remain.
	bad := append(lines[:len(lines):len(lines)], lines[0])
	if _, err := b.importReadings(t, a.ID, "ada", bad); !api.IsCode(err, api.CodeValidation) ||
		!strings.Contains(err.Error(), fmt.Sprintf("line %d: line 1 already has", len(bad))) {
		t.Errorf("imported twice: %v", err)
	}
	if v, err := draft(""); err != nil || v.Inputs["readings_sha256"] != r.SHA256 {
		t.Errorf("after a refused import: %+v, %v", v, err)
	}

	// A new draft keeps the reader, and the passages of another document are not read.
	b.uploadAll(t, a.ID, fstest.MapFS{"other.md": {Data: []byte(strings.ReplaceAll(policy, "Access", "Other"))}})
	if v, err := draft(""); err != nil || v.Inputs["reader"] != "ada" {
		t.Errorf("after another document: %+v, %v", v, err)
	}
	for _, i := range b.soaItems(t, a.ID) {
		for _, e := range i.Evidence {
			if e.Filename == "other.md" {
				t.Errorf("%s quotes a passage that was not read: %+v", i.ControlCode, e)
			}
		}
	}

	// Users' decisions are exported with the status before and after.
	item := b.soaItems(t, a.ID)[0]
	want := api.Implemented
	if item.ImplementationStatus == want {
		want = api.Planned
	}
	edit := &api.UpdateSoAItemInput{SoAItemID: item.ID}
	edit.Body.ImplementationStatus = &want
	if _, err := b.Assessments.UpdateSoAItem(ctx, b.by, edit); err != nil {
		t.Fatal(err)
	}
	f, err = b.Assessments.ExportReaderDecisions(ctx, b.by, &in)
	type decision struct {
		ControlCode  string             `json:"control_code"`
		Decision     string             `json:"decision"`
		StatusBefore api.Implementation `json:"status_before"`
		StatusAfter  api.Implementation `json:"status_after"`
		Statements   []struct {
			ID string `json:"statement_id"`
		} `json:"statements"`
	}
	decisions := readLines[decision](t, f, err)
	if len(decisions) != 1 || decisions[0].ControlCode != item.ControlCode || decisions[0].Decision != "changed" ||
		decisions[0].StatusBefore != item.ImplementationStatus || decisions[0].StatusAfter != want || decisions[0].Statements[0].ID == "" {
		t.Errorf("%+v", decisions)
	}

	// Another organization sees none of it.
	stranger := b.by
	stranger.OrganizationID = "018f0000-0000-7000-8000-00000000ffff"
	for name, call := range map[string]func() error{
		"statements": func() error { _, err := b.Assessments.ExportReaderStatements(ctx, stranger, &in); return err },
		"decisions":  func() error { _, err := b.Assessments.ExportReaderDecisions(ctx, stranger, &in); return err },
		"readings": func() error {
			_, err := b.Assessments.ExportReadings(ctx, stranger, &api.ReaderInput{AssessmentInput: in, Name: "ada"})
			return err
		},
		"readers": func() error {
			_, err := b.Assessments.ListReaders(ctx, stranger, &api.ReaderListInput{AssessmentInput: in})
			return err
		},
		"import": func() error {
			_, err := b.Assessments.ImportReadings(ctx, stranger, &api.ImportReadingsInput{
				AssessmentInput: in, Name: "ada", File: api.UploadFile{Content: strings.NewReader("{}")},
			})
			return err
		},
	} {
		if err := call(); !api.IsCode(err, api.CodeNotFound) {
			t.Errorf("%s for another organization: %v", name, err)
		}
	}

	// Drafts by different readers share the results of search and analysis, without affecting each other.
	var shared, alone []string
	for _, drafts := range []*[]string{&shared, &alone} {
		for _, readers := range [][2]string{{"rules", "ada"}, {"ada", ""}, {"rules", ""}} {
			if drafts == &alone {
				b.Assessments.DropCaches(a.ID)
			}
			if _, err := b.Assessments.DraftSoA(
				ctx, b.by, &api.DraftSoAInput{AssessmentInput: in, Reader: readers[0], SecondReader: readers[1]},
			); err != nil {
				t.Fatal(err)
			}
			text := strings.Join(readers[:], " ")
			for _, i := range b.soaItems(t, a.ID) {
				line, err := json.Marshal([]any{
					i.ControlCode, i.ImplementationStatus, i.Reason, i.Confidence, i.Statements, i.Evidence, i.SecondReading,
				})
				if err != nil {
					t.Fatal(err)
				}
				text += "\n" + string(line)
			}
			*drafts = append(*drafts, text)
		}
	}
	for n := range alone {
		if shared[n] != alone[n] {
			t.Errorf("another draft after drafts by other readers:\n%s", firstDifference(shared[n], alone[n]))
		}
	}
	if !strings.Contains(shared[0], `"reader":"ada"`) || shared[1][4:] == shared[2][6:] {
		t.Error("the readers agree in everything: the drafts test nothing")
	}
}
