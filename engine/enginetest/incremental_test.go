package enginetest_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// drafts drafts each deliverable and returns each as text, without IDs, versions and earlier
// levels.
func (b *bench) drafts(t *testing.T, a string) (map[api.Gate]string, *assessment.Snapshot) {
	t.Helper()
	ctx, in := t.Context(), &api.AssessmentInput{AssessmentID: a}
	before := map[string]api.MaturityScore{}
	was, err := b.Assessments.Snapshot(ctx, b.by, a)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range was.Scores {
		before[s.ControlCode] = s
	}
	for _, draft := range []func() error{
		func() error {
			_, err := b.Assessments.DraftSoA(ctx, b.by, &api.DraftSoAInput{AssessmentInput: *in})
			return err
		},
		func() error { _, err := b.Assessments.DraftGap(ctx, b.by, in); return err },
		func() error { _, err := b.Assessments.DraftMaturity(ctx, b.by, in); return err },
		func() error { _, err := b.Assessments.DraftPOAM(ctx, b.by, in); return err },
	} {
		if err := draft(); err != nil {
			t.Fatal(err)
		}
	}
	d, err := b.Assessments.Snapshot(ctx, b.by, a)
	if err != nil {
		t.Fatal(err)
	}
	out := map[api.Gate]string{}
	put := func(gate api.Gate, head api.DeliverableVersion, items any) []byte {
		text, err := json.Marshal(items)
		if err != nil {
			t.Fatal(err)
		}
		if hash, err := assessment.ContentHash(gate, text, ""); err != nil || hash != head.ContentSHA256 || head.ItemCount == 0 {
			t.Fatalf("%s: the hash of what is stored is %s, not %s: %v", gate, hash, head.ContentSHA256, err)
		}
		return fmt.Appendf(nil, "%s %d kept %q by %q\n", head.Method, head.ItemCount, head.Kept, head.AuthorIDs)
	}
	// whichOne clears the fields that identify a line and its version.
	whichOne := func(i *api.Item) {
		i.TenantRecord, i.AssessmentID, i.VersionID, i.Revision = api.TenantRecord{}, "", "", 0
	}
	finding := map[string]string{}
	for _, f := range d.Findings {
		finding[f.ID] = f.ControlCode
	}
	soa, gap, maturity, poam := put(
		api.GateSoA,
		d.SoA.DeliverableVersion,
		d.SoAItems,
	), put(
		api.GateGapAnalysis,
		d.Gap.DeliverableVersion,
		d.Findings,
	),
		put(
			api.GateMaturity,
			d.Maturity.DeliverableVersion,
			d.Scores,
		), put(
			api.GatePOAM,
			d.POAM.DeliverableVersion,
			d.POAMItems,
		)
	say := func(to []byte, line any) []byte {
		text, err := json.Marshal(line)
		if err != nil {
			t.Fatal(err)
		}
		return append(append(to, text...), '\n')
	}
	for _, i := range d.SoAItems {
		whichOne(&i.Item)
		soa = say(soa, i)
	}
	for _, i := range d.Findings {
		whichOne(&i.Item)
		gap = say(gap, i)
	}
	moved := len(d.Scores) != len(was.Scores) || slices.ContainsFunc(d.Scores, func(i api.MaturityScore) bool {
		s, had := before[i.ControlCode]
		return !had || s.Assessed != i.Assessed || s.Level != i.Level
	})
	for _, i := range d.Scores {
		s := before[i.ControlCode]
		want := s.PreviousLevel // while no level differs
		if moved && s.Assessed {
			want = &s.Level
		} else if moved {
			want = nil
		}
		if (want == nil) != (i.PreviousLevel == nil) || want != nil && *i.PreviousLevel != *want {
			t.Fatalf("%s was at level %v before, not %v", i.ControlCode, want, i.PreviousLevel)
		}
		whichOne(&i.Item)
		i.PreviousLevel = nil
		maturity = say(maturity, i)
	}
	for _, i := range d.POAMItems {
		if finding[i.FindingID] != i.ControlCode {
			t.Fatalf("%s is for the finding %q of the version before or of none", i.POAMCode, i.FindingID)
		}
		whichOne(&i.Item)
		i.FindingID = ""
		poam = say(poam, i)
	}
	out[api.GateSoA], out[api.GateGapAnalysis], out[api.GateMaturity], out[api.GatePOAM] = string(
		soa,
	), string(
		gap,
	), string(
		maturity,
	), string(
		poam,
	)
	return out, d
}

// byHand makes a user's change between two drafts.
func (b *bench) byHand(t *testing.T, a string, d *assessment.Snapshot, rng *rand.Rand, step int) {
	t.Helper()
	ctx, s, note := t.Context(), b.Assessments, api.Some(fmt.Sprintf("noted at step %d", step))
	var err error
	switch rng.IntN(6) {
	case 0:
		in := &api.UpdateSoAItemInput{SoAItemID: d.SoAItems[rng.IntN(len(d.SoAItems))].ID}
		in.Body.Note, in.Body.Owner = note, note
		_, err = s.UpdateSoAItem(ctx, b.by, in)
	case 1:
		in := &api.UpdateFindingInput{FindingID: d.Findings[rng.IntN(len(d.Findings))].ID}
		severity := api.SeverityCritical
		in.Body.Note, in.Body.Severity = note, &severity
		_, err = s.UpdateFinding(ctx, b.by, in)
	case 2:
		in := &api.UpdateMaturityScoreInput{}
		in.MaturityScoreID = d.Scores[rng.IntN(len(d.Scores))].ID
		level := rng.IntN(6)
		in.Body.Level = &level
		_, err = s.UpdateScore(ctx, b.by, in)
	case 3:
		in := &api.UpdatePOAMItemInput{POAMItemID: d.POAMItems[rng.IntN(len(d.POAMItems))].ID}
		in.Body.Owner = note
		_, err = s.UpdatePOAMItem(ctx, b.by, in)
	case 4:
		in := &api.CreateGapInput{AssessmentInput: api.AssessmentInput{AssessmentID: a}}
		in.Body.ControlID = d.SoAItems[rng.IntN(len(d.SoAItems))].ControlCode
		in.Body.Status = api.NotImplemented
		in.Body.Severity = api.SeverityHigh
		in.Body.Condition = fmt.Sprintf("Seen at step %d.", step)
		_, err = s.CreateGap(ctx, b.by, in)
	case 5: // later drafts are based on the approved version, which is then not the newest
		if _, err = s.SubmitSoA(ctx, b.by, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: d.SoA.ID}}); err == nil {
			_, err = s.ApproveSoA(ctx, b.by, &api.DecideSoAInput{SoAInput: api.SoAInput{SoAVersionID: d.SoA.ID}})
		}
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestDraftAfterChangesIsTheWholeDraft checks that incremental drafts equal complete ones, byte for
// byte, after documents were added, replaced and deleted and users made changes.
func TestDraftAfterChangesIsTheWholeDraft(t *testing.T) {
	if testing.Short() {
		t.Skip("long, and of one goroutine")
	}
	b := newBench(t)
	ctx := t.Context()
	a := b.assess(t, "iso-27001-2022", policies(t, 6, 1), api.StateFrameworkSelected)
	in := &api.AssessmentInput{AssessmentID: a.ID}
	rng := rand.New(rand.NewPCG(5, 6))
	_, d := b.drafts(t, a.ID)
	seen := map[string]bool{}
	steps := 6
	if longtest.Enabled() {
		steps = 18
	}
	for step := range steps {
		list := &api.DocumentsInput{AssessmentInput: *in}
		list.Limit = 200
		docs, err := b.Evidence.List(ctx, b.by, list)
		if err != nil {
			t.Fatal(err)
		}
		any := docs.Data[rng.IntN(len(docs.Data))]
		switch what := rng.IntN(3); {
		case what == 0 && len(docs.Data) > 3:
			if _, err := b.Evidence.Delete(ctx, b.by, &api.DocumentInput{DocumentID: any.ID}); err != nil {
				t.Fatal(err)
			}
		case what == 1:
			for _, f := range policies(t, 1, uint64(200+step)) {
				up := &api.UploadDocumentInput{
					AssessmentInput: *in,
					File:            api.UploadFile{Filename: any.Filename, Content: strings.NewReader(string(f.Data))},
					Replaces:        any.ID,
				}
				if _, err := b.Evidence.Upload(ctx, b.by, up); err != nil {
					t.Fatal(err)
				}
			}
		default:
			b.uploadAll(t, a.ID, policies(t, 1+rng.IntN(2), uint64(100+step)))
		}
		b.byHand(t, a.ID, d, rng, step)
		var after map[api.Gate]string
		after, d = b.drafts(t, a.ID)
		for gate, text := range after {
			seen[string(gate)+text] = true
		}
		if step%3 != 2 {
			continue // the caches are updated more than once
		}
		b.Assessments.DropCaches(a.ID)
		var whole map[api.Gate]string
		whole, d = b.drafts(t, a.ID)
		for _, gate := range slices.Sorted(maps.Keys(whole)) {
			if after[gate] != whole[gate] {
				t.Fatalf(
					"step %d: the %s after a change is another than that of everything:\n%s",
					step,
					gate,
					firstDifference(after[gate], whole[gate]),
				)
			}
		}
	}
	if len(seen)*2 < steps*5 {
		t.Errorf("%d changes made only %d different drafts of %d: they test little", steps, len(seen), 4*steps)
	}
}

func firstDifference(a, b string) string {
	n := 0
	for n < min(len(a), len(b)) && a[n] == b[n] {
		n++
	}
	from := max(0, n-300)
	return a[from:min(len(a), n+300)] + "\nwhole:\n" + b[from:min(len(b), n+300)]
}
