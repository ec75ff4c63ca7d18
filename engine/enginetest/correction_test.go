package enginetest_test

import (
	"archive/zip"
	"bytes"
	"io"
	"io/fs"
	"os"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

const correctedPolicy = "# Access policy\n\nAccess rights are reviewed every quarter by the owners of the systems. " +
	"The operations team writes down the result of each review and keeps it together with the list of the accounts that were removed.\n\n" +
	"# Identities\n\nIdentity and authentication systems are inventoried every month by the head of IT. Identities of persons, devices and " +
	"services have a managed life cycle. Owners decide who may use their information and systems.\n\n" +
	"# Laptops\n\nPersonal data is encrypted on laptops.\n"

// anyWords selects any quote of an item, unless the item is not evidenced.
const anyWords = ""

// quoted returns the first item whose n-th statement is covered or partly covered, with the quoted passage.
func (b *bench) quoted(t *testing.T, assessment, words string) (i api.SoAItem, number int, quote api.Evidence) {
	t.Helper()
	for _, i := range b.soaItems(t, assessment) {
		for n, st := range i.Statements {
			if words == anyWords && i.ImplementationStatus == api.NotEvidenced {
				continue
			}
			for _, e := range i.Evidence {
				if e.RelatesTo(st.Text) && strings.Contains(e.Quote, words) && (e.Stance == "supports" || e.Stance == "limits") &&
					(st.Verdict == "covered" || st.Verdict == "partial") {
					return i, n + 1, e
				}
			}
		}
	}
	t.Fatalf("nothing is quoted for %q", words)
	return i, 0, quote
}

func (b *bench) statement(t *testing.T, assessment, code string, number int) (api.SoAItem, api.Statement) {
	t.Helper()
	for _, i := range b.soaItems(t, assessment) {
		if i.ControlCode == code {
			return i, i.Statements[number-1]
		}
	}
	t.Fatalf("there is no item %s", code)
	return api.SoAItem{}, api.Statement{}
}

func (b *bench) redraft(t *testing.T, assessment string) {
	t.Helper()
	if _, err := b.Assessments.RegenerateSoA(
		t.Context(), b.by, &api.SoAInput{SoAVersionID: b.latestSoA(t, assessment).ID},
	); err != nil {
		t.Fatal(err)
	}
}

func (b *bench) corrections(t *testing.T, by api.Caller) []api.Correction {
	t.Helper()
	l, err := b.Assessments.ListCorrections(t.Context(), by, &api.CorrectionsInput{})
	if err != nil {
		t.Fatal(err)
	}
	return l.Data
}

// TestCorrections rejects a passage: the next draft omits it, and so do drafts of other assessments for
// near-identical passages, but not those of other organizations. Without the correction, the first draft is restored.
func TestCorrections(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(correctedPolicy)}}, api.StateSoADrafted)
	item, number, quote := b.quoted(t, a.ID, "Access rights are reviewed")
	code := item.ControlCode
	in := &api.AddCorrectionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	in.Body.ControlCode, in.Body.StatementNumber, in.Body.ChunkID, in.Body.Decision = code, number, quote.ChunkID, api.CorrectionRefused
	for what, change := range map[string]func(*api.AddCorrectionInput){
		"no such line":      func(in *api.AddCorrectionInput) { in.Body.ControlCode = "XYZ-01" },
		"no such statement": func(in *api.AddCorrectionInput) { in.Body.StatementNumber = 99 },
		"no such passage":   func(in *api.AddCorrectionInput) { in.Body.ChunkID = a.ID },
		"a label":           func(in *api.AddCorrectionInput) { in.Body.Label = "part" },
		"other words":       func(in *api.AddCorrectionInput) { in.Body.Quote = "never said" },
	} {
		wrong := *in
		change(&wrong)
		if c, err := b.Assessments.AddCorrection(ctx, b.by, &wrong); err == nil {
			t.Errorf("%s: %+v", what, c)
		}
	}
	agent := b.by
	agent.AgentRunID = "run"
	if _, err := b.Assessments.AddCorrection(ctx, agent, in); !api.IsCode(err, api.CodeForbidden) {
		t.Errorf("an agent decides: %v", err)
	}
	c, err := b.Assessments.AddCorrection(ctx, b.by, in)
	if err != nil || c.Label != "silent" || c.DraftedLabel == "silent" || c.Quote != quote.Quote || c.DecidedBy.Name != b.by.Actor.Name {
		t.Fatalf("%+v, %v", c, err)
	}
	b.redraft(t, a.ID)
	now, st := b.statement(t, a.ID, code, number)
	if len(st.Corrections) != 1 || st.Corrections[0].CorrectionID != c.ID || st.Corrections[0].NearIdentical || st.ChunkID == quote.ChunkID ||
		!strings.Contains(st.Reason, "Not counted, as "+b.by.Actor.Name+" decided on ") {
		t.Fatalf("%+v", st)
	}
	for _, e := range now.Evidence {
		if e.ChunkID == quote.ChunkID && e.RelatesTo(st.Text) {
			t.Errorf("the refused passage is quoted: %+v", e)
		}
	}

	// Create an assessment with a policy that differs slightly, and one with a policy that states the opposite.
	for name, tc := range map[string]struct {
		old, with string
		near      bool
	}{
		"near-identical": {"keeps it together with", "files it together with", true},
		"a negation":     {"writes down the result", "never writes down the result", false},
		"another number": {"every quarter", "every year", false},
	} {
		text := strings.Replace(correctedPolicy, tc.old, tc.with, 1)
		other := b.assess(t, "lgpd", fstest.MapFS{"renamed.md": {Data: []byte(text)}}, api.StateSoADrafted)
		_, st := b.statement(t, other.ID, code, number)
		is := len(st.Corrections) == 1 && st.Corrections[0].NearIdentical && strings.Contains(st.Reason, ", near-identical passage")
		if is != tc.near {
			t.Errorf("%s: %+v", name, st)
		}
	}
	org := &api.NewOrganizationInput{}
	org.Body.Name, org.Body.Owner.Email, org.Body.Owner.Password = "Other", "eve@other.example", "four words make one"
	o, err := b.Identity.CreateOrganization(ctx, api.Caller{PlatformAdmin: true}, org)
	if err != nil {
		t.Fatal(err)
	}
	stranger := api.Caller{
		OrganizationID: o.ID, UserID: "eve", Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, ID: "eve", Name: "Eve"},
	}
	there := &bench{b.Engine, stranger}
	theirs := there.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(correctedPolicy)}}, api.StateSoADrafted)
	if _, st := there.statement(t, theirs.ID, code, number); len(st.Corrections) > 0 || st.Verdict == now.Statements[number-1].Verdict {
		t.Errorf("a correction of another organization is applied: %+v", st)
	}
	carry := &api.CreateAssessmentInput{}
	carry.Body.Name, carry.Body.From = "Next year", a.ID
	if _, err := b.Assessments.Create(ctx, stranger, carry); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("another organization carries from it: %v", err)
	}
	if l := b.corrections(t, stranger); len(l) > 0 {
		t.Errorf("another organization sees %+v", l)
	}
	id := &api.CorrectionInput{CorrectionID: c.ID}
	if _, err := b.Assessments.GetCorrection(ctx, stranger, id); !api.IsCode(err, api.CodeNotFound) {
		t.Error(err)
	}
	if _, err := b.Assessments.RemoveCorrection(ctx, stranger, id); !api.IsCode(err, api.CodeNotFound) {
		t.Error(err)
	}

	// The correction isn't in the archive. The agreement compares users' decisions with the rules.
	if r, err := b.Assessments.GetCorrectionAgreement(ctx, b.by, nil); err != nil || r.Refused != 1 || len(r.Readers) != 1 ||
		r.Readers[0].All.Passages != 1 || r.Readers[0].All.Agreed != 0 || *r.Readers[0].All.High != 0.975 {
		t.Errorf("%+v, %v", r, err)
	}
	z := b.export(t, a.ID)
	r, err := zip.NewReader(bytes.NewReader(z), int64(len(z)))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range r.File {
		content, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		if text, _ := io.ReadAll(content); bytes.Contains(text, []byte(`"drafted_label"`)) {
			t.Errorf("%s contains corrections", f.Name)
		}
	}

	if _, err := b.Assessments.RemoveCorrection(ctx, b.by, id); err != nil {
		t.Fatal(err)
	}
	b.redraft(t, a.ID)
	if after, _ := b.statement(t, a.ID, code, number); !reflect.DeepEqual(after.Statements, item.Statements) {
		t.Errorf("without the correction: %+v, before: %+v", after.Statements, item.Statements)
	}
}

func isDisputed(st api.Statement) bool { return st.Verdict == "denied" || st.Verdict == "conflicting" }

// TestAcceptedPassages accepts a passage that search doesn't find for a requirement, in a document that is deleted
// later.
func TestAcceptedPassages(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	const text = "# Notes\n\nThe museum shop opens at nine, and its keeper feeds the ducks in the pond before that.\n"
	a := b.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(correctedPolicy)}, "notes.md": {Data: []byte(text)}}, api.StateSoADrafted)
	item, number, _ := b.quoted(t, a.ID, "Access rights are reviewed")
	docs, err := b.Evidence.List(ctx, b.by, &api.DocumentsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
	if err != nil {
		t.Fatal(err)
	}
	in := &api.AddCorrectionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	var notes string
	for _, d := range docs.Data {
		if d.Filename != "notes.md" {
			continue
		}
		notes = d.ID
		chunks, err := b.Evidence.ListDocumentChunks(ctx, b.by, &api.DocumentChunksInput{DocumentInput: api.DocumentInput{DocumentID: d.ID}})
		if err != nil {
			t.Fatal(err)
		}
		in.Body.ChunkID = chunks.Data[0].ID
	}
	in.Body.ControlCode, in.Body.StatementNumber, in.Body.Decision = item.ControlCode, number, api.CorrectionAccepted
	in.Body.Label, in.Body.Quote = "contradicts", "its keeper feeds the ducks"
	c, err := b.Assessments.AddCorrection(ctx, b.by, in)
	if err != nil || c.DraftedLabel != "silent" {
		t.Fatalf("%+v, %v", c, err)
	}
	b.redraft(t, a.ID)
	now, st := b.statement(t, a.ID, item.ControlCode, number)
	if !isDisputed(st) || len(st.Corrections) != 1 || !now.IsCorrected() {
		t.Fatalf("%+v", st)
	}
	if _, err := b.Evidence.Delete(ctx, b.by, &api.DocumentInput{DocumentID: notes}); err != nil {
		t.Fatal(err)
	}
	b.redraft(t, a.ID)
	if _, st := b.statement(t, a.ID, item.ControlCode, number); len(st.Corrections) > 0 || isDisputed(st) {
		t.Errorf("the passage was deleted: %+v", st)
	}
	if l := b.corrections(t, b.by); len(l) != 1 || !l[0].IsDocumentDeleted {
		t.Errorf("%+v", l)
	}
	b.upload(t, a.ID, "again.md", text)
	b.redraft(t, a.ID)
	if _, st := b.statement(t, a.ID, item.ControlCode, number); !isDisputed(st) {
		t.Errorf("the passage is back: %+v", st)
	}
	gone := api.DeleteAssessmentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	if _, err := b.Assessments.Delete(ctx, b.by, &gone); err != nil {
		t.Fatal(err)
	}
	if l := b.corrections(t, b.by); len(l) > 0 {
		t.Errorf("the assessment was deleted: %+v", l)
	}
}

// TestCorrectionsFromLines checks which corrections follow from decisions on lines, and that these don't cause a
// carried-over decision to be confirmed again.
func TestCorrectionsFromLines(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(correctedPolicy)}}, api.StateSoADrafted)
	item, number, _ := b.quoted(t, a.ID, anyWords)
	edit := func(by api.Caller, set func(*api.UpdateSoAItemInput)) {
		t.Helper()
		in := &api.UpdateSoAItemInput{SoAItemID: item.ID}
		set(in)
		if _, err := b.Assessments.UpdateSoAItem(ctx, by, in); err != nil {
			t.Fatal(err)
		}
	}
	no, status := false, api.NotEvidenced
	confirm := func(in *api.UpdateSoAItemInput) { in.Body.NeedsReview = &no }
	refuse := func(in *api.UpdateSoAItemInput) { in.Body.ImplementationStatus = &status }
	undo := func() {
		t.Helper()
		if _, err := b.Assessments.Undo(ctx, b.by, &api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}); err != nil {
			t.Fatal(err)
		}
	}
	edit(b.by, confirm)
	accepted := b.corrections(t, b.by)
	if len(accepted) == 0 || accepted[0].Decision != api.CorrectionAccepted || accepted[0].Source != api.LineCorrected {
		t.Fatalf("%+v", accepted)
	}
	b.redraft(t, a.ID)
	if now, _ := b.statement(t, a.ID, item.ControlCode, number); !reflect.DeepEqual(now.Statements, item.Statements) {
		t.Errorf("a confirmed line has changed: %+v, before: %+v", now.Statements, item.Statements)
	}
	item, _ = b.statement(t, a.ID, item.ControlCode, number)
	edit(b.by, refuse)
	refused := b.corrections(t, b.by)
	if len(refused) == 0 || refused[0].Decision != api.CorrectionRefused || refused[len(refused)-1].Decision != api.CorrectionRefused {
		t.Fatalf("%+v", refused)
	}
	undo()
	if l := b.corrections(t, b.by); !reflect.DeepEqual(l, accepted) {
		t.Errorf("after the undo: %+v, before: %+v", l, accepted)
	}
	edit(b.by, func(in *api.UpdateSoAItemInput) { in.Body.Owner = api.Opt[string]{Set: true, Value: new("Ann")} })
	agent := b.by
	agent.AgentRunID = "run"
	edit(agent, refuse)
	if l := b.corrections(t, b.by); !reflect.DeepEqual(l, accepted) {
		t.Errorf("an agent decided: %+v", l)
	}
	edit(b.by, func(in *api.UpdateSoAItemInput) { in.Body.Reset = []string{"all"} })
	edit(b.by, refuse)
	edit(b.by, func(in *api.UpdateSoAItemInput) { in.Body.Reset = []string{"implementation_status"} })
	if l := b.corrections(t, b.by); len(l) > 0 {
		t.Errorf("after the reset: %+v", l)
	}
	edit(b.by, refuse)

	next := &api.CreateAssessmentInput{}
	next.Body.Name, next.Body.From = "Next year", a.ID
	n, err := b.Assessments.Create(ctx, b.by, next)
	if err != nil {
		t.Fatal(err)
	}
	b.upload(t, n.ID, "policy.md", correctedPolicy)
	if _, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: n.ID}}); err != nil {
		t.Fatal(err)
	}
	carried, st := b.statement(t, n.ID, item.ControlCode, number)
	if carried.ImplementationStatus != api.NotEvidenced || carried.Carried == nil || carried.Carried.EvidenceChanged || carried.NeedsReview ||
		len(st.Corrections) == 0 {
		t.Errorf("%+v, %+v", carried.Statements, carried.Carried)
	}
}

// TestConfirmingChangesNothing confirms all lines of one assessment. A new assessment of the same documents, to which the
// resulting corrections apply, must reach the same statuses.
func TestConfirmingChangesNothing(t *testing.T) {
	b := newBench(t)
	ctx := t.Context()
	patterns := []string{"Internal*", "HQ-PRO-03*", "restore*", "*roadmap*", "post-*"}
	if longtest.Enabled() {
		patterns = []string{"*"}
	}
	folder, evidence := os.DirFS("../../examples/harbor/evidence"), fstest.MapFS{}
	for _, pattern := range patterns {
		names, err := fs.Glob(folder, pattern)
		if err != nil || len(names) == 0 {
			t.Fatal(pattern, err)
		}
		for _, name := range names {
			data, err := fs.ReadFile(folder, name)
			if err != nil {
				t.Fatal(err)
			}
			evidence[name] = &fstest.MapFile{Data: data}
		}
	}
	statuses := func(assessment string) map[string]api.Implementation {
		out := map[string]api.Implementation{}
		for _, i := range b.soaItems(t, assessment) {
			out[i.ControlCode] = i.ImplementationStatus
		}
		return out
	}
	first := b.assess(t, "soc2-tsc", evidence, api.StateSoADrafted)
	no := false
	for _, i := range b.soaItems(t, first.ID) {
		in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
		in.Body.NeedsReview = &no
		if _, err := b.Assessments.UpdateSoAItem(ctx, b.by, in); err != nil {
			t.Fatal(err)
		}
	}
	if len(b.corrections(t, b.by)) == 0 {
		t.Fatal("no corrections were recorded")
	}
	second := b.assess(t, "soc2-tsc", evidence, api.StateSoADrafted)
	want, got := statuses(first.ID), statuses(second.ID)
	for code := range want {
		if got[code] != want[code] {
			t.Errorf("%s was %s, and is %s", code, want[code], got[code])
		}
	}
}
