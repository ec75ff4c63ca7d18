package enginetest_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/internal/testutil/weightstest"
)

// TestBuiltinReader has the built-in network, here with random weights, read as a second reader. It checks that it reads
// only what is new, keeps what it has read if it is stopped, disputes without changing a status, and names its faults.
func TestBuiltinReader(t *testing.T) {
	var loadError error
	e, _, _ := openEngine(t, engine.Options{Network: func() (*crossencoder.Network, error) {
		if loadError != nil {
			return nil, loadError
		}
		return crossencoder.Parse(weightstest.File(weightstest.Header))
	}})
	b := &bench{Engine: e, by: localUser(t, e)}
	const policy = "# Access policy\n\nAll staff sign in with a second factor.\n\n## Backups\n\nBackups are tested each month.\n"
	a := b.assess(t, "lgpd", fstest.MapFS{"policy.md": {Data: []byte(policy)}}, api.StateSoADrafted)
	rules := b.soaItems(t, a.ID)
	read := &api.ReadWithModelInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
	read.Body.Reader = api.BuiltinReader

	loadError = errors.New("the weights file is truncated")
	_, err := e.Assessments.ReadWithModel(t.Context(), b.by, read)
	if err == nil || !strings.Contains(err.Error(), "can't be used: the weights file is truncated; draft with the rules") {
		t.Error(err)
	}
	loadError = nil
	stopped, stop := context.WithCancel(t.Context())
	stop()
	if _, err := e.Assessments.ReadWithModel(stopped, b.by, read); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	other := b.by
	other.OrganizationID = "other"
	if _, err := e.Assessments.ReadWithModel(t.Context(), other, read); !api.IsCode(err, api.CodeNotFound) {
		t.Error(err)
	}
	first, err := e.Assessments.ReadWithModel(t.Context(), b.by, read)
	if err != nil || first.Left > 0 || first.Used.Calls == 0 || first.Statements == 0 {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := e.Assessments.ReadWithModel(t.Context(), b.by, read)
	if err != nil || again.Used.Calls != 0 || again.Reader != first.Reader {
		t.Fatalf("%+v, %v", again, err)
	}

	draft := func(reader, second string) *api.SoAVersion {
		v, err := e.Assessments.DraftSoA(t.Context(), b.by, &api.DraftSoAInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Reader: reader, SecondReader: second,
		})
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
	if v := draft("rules", api.BuiltinReader); v.Inputs["second_reader"] != first.Reader || v.Inputs["reader"] != "" {
		t.Errorf("%v", v.Inputs)
	}
	disputed := 0
	for i, item := range b.soaItems(t, a.ID) {
		before := rules[i]
		if item.ImplementationStatus != before.ImplementationStatus {
			t.Errorf("%s: the second reader changed the status", item.ControlCode)
		}
		if s := item.SecondReading; s != nil && s.ImplementationStatus != item.ImplementationStatus {
			disputed++
			if !item.NeedsReview || before.Confidence > 0 && item.Confidence >= before.Confidence {
				t.Errorf("%s: disputed, but needs review %v, confidence %g, before %g", item.ControlCode, item.NeedsReview,
					item.Confidence, before.Confidence)
			}
		} else if item.Confidence != before.Confidence {
			t.Errorf("%s: not disputed, but the confidence changed", item.ControlCode)
		}
	}
	if disputed == 0 {
		t.Error("random weights dispute nothing")
	}

	b.uploadAll(t, a.ID, fstest.MapFS{"more.md": {Data: []byte("# Backups\n\nNobody tests backups every week.\n")}})
	v := draft("", "") // the same readers, which read the new document
	after, err := e.Assessments.ReadWithModel(t.Context(), b.by, read)
	if err != nil || v.Inputs["second_reader"] != first.Reader || after.Used.Calls != 0 {
		t.Errorf("%v, %+v, %v", v.Inputs, after, err)
	}
}
