package enginetest_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// TestDecisionsSurvive checks that after any sequence of edits, confirmations, undos, corrections, drafts, changed
// frameworks, new documents, copies into another assessment, edits and drafts in a clone and syncs, each line has the values
// that a user last gave it, or a conflict lists both values if it was edited on both sides. A new
// draft may ask the user to confirm a decision again, but doesn't change it. A line that a user confirmed as drafted has
// the same status or is asked again.
func TestDecisionsSurvive(t *testing.T) {
	seeds := []uint64{2, 10}
	if longtest.Enabled() {
		seeds = []uint64{2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { checkDecisionsSurvive(t, seed) })
	}
}

func checkDecisionsSurvive(t *testing.T, seed uint64) {
	t.Helper()
	type decision struct {
		status api.Implementation
		note   string
	}
	b, laptop, rng, ctx := newSyncEngine(t), newSyncEngine(t), rand.New(rand.NewPCG(40, seed)), t.Context()
	current := b.assess(
		t,
		"lgpd",
		fstest.MapFS{"policy.md": {Data: []byte("# Policy\n\nBackups are tested every quarter.\n")}},
		api.StateSoADrafted,
	)
	decided, confirmed := map[string]decision{}, map[string]api.Implementation{}
	wasDecided, wasConfirmed, wasUnknown, last := maps.Clone(decided), maps.Clone(confirmed), map[string]bool{}, ""
	// offline holds the clone's decisions since the last sync, before what the remote had then, and unknown the controls
	// whose decisions a sync left to the user.
	known, cloned, offline, before, unknown := 0, "", map[string]decision{}, map[string]decision{}, map[string]bool{}
	sync := func(step int) {
		if cloned != current.ID {
			return
		}
		laptop.sync(t, b, current.ID)
		if here, there := b.latestSoA(t, current.ID), laptop.latestSoA(t, current.ID); here.ContentSHA256 != there.ContentSHA256 {
			t.Fatalf("step %d: after a sync, the remote and the clone differ", step)
		}
		conflicts, err := b.Sync.ListConflicts(ctx, b.by, &api.SyncConflictsInput{AssessmentID: current.ID})
		mustSucceed(t, err)
		news := conflicts.Data[:len(conflicts.Data)-known] // newest first
		there := map[string]bool{}
		for _, i := range b.soaItems(t, current.ID) {
			there[i.ControlCode] = true
		}
		for code, d := range offline {
			delete(confirmed, code)
			switch {
			case there[code] && !unknown[code] && decided[code] == before[code]:
				decided[code] = d
			case there[code] && !unknown[code] && !slices.ContainsFunc(news, func(c api.SyncConflict) bool { return c.Label == code }):
				t.Fatalf("step %d: %s was decided on both sides, and no conflict says so", step, code)
			default: // fields that only one side changed are merged
				delete(decided, code)
				unknown[code] = true
			}
		}
		known, offline, before = len(conflicts.Data), map[string]decision{}, maps.Clone(decided)
	}
	clone := func() {
		if cloned != current.ID {
			laptop.cloneFrom(t, b, current.ID)
			laptop.sync(t, b, current.ID)
			known, cloned, before = 0, current.ID, maps.Clone(decided)
		}
	}
	statuses := []api.Implementation{api.Implemented, api.PartiallyImplemented, api.Planned, api.NotImplemented}
	steps := 16
	if !testing.Short() {
		steps = 24
	}
	for step := range steps {
		a := api.AssessmentInput{AssessmentID: current.ID}
		what := []string{
			"edit", "edit", "confirm", "confirm", "undo", "undo", "correct", "frameworks", "draft", "document", "carry", "approve",
			"offline", "offline", "offline draft", "sync",
		}[rng.IntN(16)]
		if what == "undo" && last != "edit" && last != "confirm" {
			what = "edit"
		}
		if what == "edit" || what == "confirm" {
			wasDecided, wasConfirmed, wasUnknown = maps.Clone(decided), maps.Clone(confirmed), maps.Clone(unknown)
		}
		last = what
		var err error
		switch what {
		case "edit":
			items := b.soaItems(t, current.ID)
			i := items[rng.IntN(len(items))]
			d := decision{statuses[rng.IntN(len(statuses))], fmt.Sprint("note ", step)}
			in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
			in.Body.ImplementationStatus, in.Body.Note = &d.status, api.Some(d.note)
			_, err = b.Assessments.UpdateSoAItem(ctx, b.by, in)
			decided[i.ControlCode] = d
			delete(confirmed, i.ControlCode)
			delete(unknown, i.ControlCode)
		case "offline draft":
			clone()
			_, err = laptop.Assessments.DraftSoA(ctx, laptop.by, &api.DraftSoAInput{AssessmentInput: a})
		case "offline":
			clone()
			items := laptop.soaItems(t, current.ID)
			i := items[rng.IntN(len(items))]
			d := decision{statuses[rng.IntN(len(statuses))], fmt.Sprint("note ", step)}
			in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
			in.Body.ImplementationStatus, in.Body.Note = &d.status, api.Some(d.note)
			_, err = laptop.Assessments.UpdateSoAItem(ctx, laptop.by, in)
			offline[i.ControlCode] = d
		case "sync":
			sync(step)
		case "confirm":
			items := b.soaItems(t, current.ID)
			i := items[rng.IntN(len(items))]
			in := &api.UpdateSoAItemInput{SoAItemID: i.ID}
			in.Body.NeedsReview = new(false)
			_, err = b.Assessments.UpdateSoAItem(ctx, b.by, in)
			if slices.Contains(i.EditedFields, "needs_review") {
				last = "" // it was confirmed before, so there may be nothing to undo
			}
			if _, was := decided[i.ControlCode]; !was && !unknown[i.ControlCode] {
				confirmed[i.ControlCode] = i.ImplementationStatus
			}
		case "undo":
			_, err = b.Assessments.Undo(ctx, b.by, &api.UndoInput{AssessmentInput: a})
			decided, confirmed, unknown = wasDecided, wasConfirmed, wasUnknown
		case "correct":
			for _, i := range b.soaItems(t, current.ID) {
				at := slices.IndexFunc(i.Statements, func(st api.Statement) bool { return st.ChunkID != "" })
				if at < 0 {
					continue
				}
				in := &api.AddCorrectionInput{AssessmentInput: a}
				in.Body.ControlCode, in.Body.StatementNumber, in.Body.ChunkID = i.ControlCode, at+1, i.Statements[at].ChunkID
				in.Body.Decision = []api.CorrectionDecision{api.CorrectionRefused, api.CorrectionAccepted}[rng.IntN(2)]
				_, err = b.Assessments.AddCorrection(ctx, b.by, in)
				break
			}
		case "frameworks":
			in := &api.ChangeFrameworksInput{AssessmentInput: a}
			other := []string{"lgpd", "ccpa"}
			if slices.Contains(current.Frameworks, other[0]) && slices.Contains(current.Frameworks, other[1]) {
				in.Body.Remove = []string{other[rng.IntN(2)]}
			} else {
				in.Body.Add = other
			}
			_, err = b.Assessments.ChangeFrameworks(ctx, b.by, in)
		case "draft":
			_, err = b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: a})
		case "document":
			b.uploadAll(
				t,
				current.ID,
				fstest.MapFS{fmt.Sprint("d", step, ".md"): {Data: fmt.Appendf(nil, "# Rule %d\n\nAccess is reviewed every %d weeks.\n", step, step+2)}},
			)
			_, err = b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: a})
		case "approve":
			v := b.latestSoA(t, current.ID)
			if v.Status == api.VersionDraft {
				b.submitSoA(t, v.ID)
				err = b.approve(t, b.pending(t, current.ID).ID)
			}
		case "carry":
			sync(step)
			in := &api.CreateAssessmentInput{}
			in.Body.Name, in.Body.From = fmt.Sprint("Year ", step), current.ID
			if current, err = b.Assessments.Create(ctx, b.by, in); err == nil {
				_, err = b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: current.ID}})
			}
		}
		if err != nil {
			t.Fatalf("step %d, %s: %v", step, what, err)
		}
		if current, err = b.Assessments.Get(ctx, b.by, &api.AssessmentInput{AssessmentID: current.ID}); err != nil {
			t.Fatal(err)
		}
		for _, i := range b.soaItems(t, current.ID) {
			d, was := decided[i.ControlCode]
			if was && (i.ImplementationStatus != d.status || i.Note == nil || *i.Note != d.note) {
				t.Fatalf(
					"step %d, %s: %s is %s with the note %v, not %s with %q",
					step,
					what,
					i.ControlCode,
					i.ImplementationStatus,
					i.Note,
					d.status,
					d.note,
				)
			}
			status, wasConfirmed := confirmed[i.ControlCode]
			if wasConfirmed && i.ImplementationStatus != status && !i.NeedsReview {
				t.Fatalf("step %d, %s: %s was confirmed as %s, is %s, and isn't asked again", step, what, i.ControlCode, status, i.ImplementationStatus)
			}
			if !was && !wasConfirmed && !unknown[i.ControlCode] && i.EditedBy != nil {
				t.Fatalf("step %d, %s: %s is edited, but nobody did", step, what, i.ControlCode)
			}
			if c := i.Carried; c != nil && c.EvidenceChanged && !i.NeedsReview {
				t.Fatalf("step %d, %s: %s rests on other evidence, but isn't asked again", step, what, i.ControlCode)
			}
		}
	}
}

func (b *bench) latestSoA(t testing.TB, assessment string) *api.SoAVersion {
	t.Helper()
	l, err := b.Assessments.ListSoA(
		t.Context(),
		b.by,
		&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}},
	)
	if err != nil || len(l.Data) == 0 {
		t.Fatal(err)
	}
	return &l.Data[0]
}
