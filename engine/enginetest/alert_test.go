package enginetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/testutil/secretboxtest"
	"github.com/scf-service/service/store"
)

// gapFixture is an engine with an assessment whose gap analyses are written by the test.
type gapFixture struct {
	t  *testing.T
	e  *engine.Engine
	db *store.DB
	c  *clock
	by api.Caller
	n  int
}

const gapAssessment = "018f0000-0000-7000-8000-0000000000a1"

// writeAnalysis writes a version with gaps in the form CODE:SEVERITY, where "-" means met. With
// approved, it is approved.
func (h *gapFixture) writeAnalysis(approved bool, gaps ...string) {
	h.t.Helper()
	h.n++
	v := api.GapVersion{}
	v.ID, v.OrganizationID, v.AssessmentID, v.VersionNumber, v.Status = fmt.Sprintf(
		"version-%d",
		h.n,
	), h.by.OrganizationID, gapAssessment, h.n, api.VersionDraft
	if approved {
		at := h.c.now()
		v.Status, v.ApprovedAt = api.VersionApproved, &at
	}
	err := h.db.Update(h.t.Context(), func(tx *store.Tx) error {
		if err := store.GapVersions.Insert(tx, h.by.OrganizationID, &v); err != nil {
			return err
		}
		for i, g := range gaps {
			text, met := strings.CutSuffix(g, "-")
			code, severity, _ := strings.Cut(text, ":")
			f := api.Finding{Severity: api.Severity(severity), Result: api.NotMet}
			f.ID, f.OrganizationID, f.AssessmentID, f.VersionID, f.ControlCode = fmt.Sprintf(
				"%s-%02d",
				v.ID,
				i,
			), h.by.OrganizationID, gapAssessment, v.ID, code
			if met {
				f.Result = api.Met
			}
			if err := store.Findings.Insert(tx, h.by.OrganizationID, &f); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		h.t.Fatal(err)
	}
}

// newGapCount returns the number of new gaps of a severity according to the metrics.
func (h *gapFixture) newGapCount(severity string) float64 {
	h.t.Helper()
	all, err := h.e.ListMetrics(h.t.Context(), h.by, &api.Paging{Limit: 200}, nil)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range all.Data {
		if m.Name == "organization_new_findings" && m.Labels["severity"] == severity {
			return m.Value
		}
	}
	return 0
}

// TestNewCriticalGaps checks that a gap is new until an approved analysis contains it, also across
// drafts, and that an alert fires once for it, fires again for another one, and resolves when all
// are approved.
func TestNewCriticalGaps(t *testing.T) {
	e, db, c := openEngine(
		t,
		engine.Options{
			Box:       secretboxtest.New(secretbox.Key{}),
			NewTicker: func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} },
		},
	)
	if _, err := e.Identity.EnsureAdminWithEmail(t.Context(), "Acme", "a@acme.example", "four words make one"); err != nil {
		t.Fatal(err)
	}
	h := &gapFixture{t: t, e: e, db: db, c: c}
	err := db.Update(t.Context(), func(tx *store.Tx) error {
		for o, err := range store.Organizations.Scan(tx) {
			if err != nil {
				return err
			}
			h.by = api.Caller{OrganizationID: o.ID, Role: api.RoleOwner, Actor: api.Actor{Type: api.ActorUser, ID: "u", Name: "Ada"}}
		}
		a := api.Assessment{Name: "Harbour"}
		a.ID, a.OrganizationID, a.State = gapAssessment, h.by.OrganizationID, api.StateGapAnalysisDrafted
		return store.Assessments.Insert(tx, h.by.OrganizationID, &a)
	})
	if err != nil {
		t.Fatal(err)
	}
	in := &api.CreateAlertInput{}
	in.Body.Name = "New gaps"
	in.Body.Metric = "organization_new_findings{severity=critical}"
	in.Body.Operator = "gt"
	in.Body.WindowSeconds = 60
	in.Body.Channels = []string{
		"webhook",
	}
	rule, err := e.Alerts.Create(t.Context(), h.by, in)
	if err != nil {
		t.Fatal(err)
	}
	var told []string
	look := func() {
		t.Helper()
		for range 2 {
			if err := e.Alerts.EvaluateAll(t.Context()); err != nil {
				t.Fatal(err)
			}
			c.pass(time.Minute)
		}
		err := db.View(t.Context(), func(tx *store.Tx) error {
			told = nil
			all, err := store.Outbox.Next(tx, "test", 1000)
			for _, ev := range all {
				if strings.HasPrefix(ev.Topic, "alert.") {
					told = append(told, ev.Topic+" "+string(ev.Payload))
				}
			}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	for i, step := range []struct {
		approved bool
		gaps     []string
		critical float64
		told     int
	}{
		{
			false,
			[]string{"IAC-01:critical", "IAC-02:high"},
			0,
			0,
		}, // the first: nothing to compare with
		{false, []string{"IAC-01:critical", "IAC-02:critical"}, 1, 1},                                             // one is worse than before
		{false, []string{"IAC-01:critical", "IAC-02:critical"}, 1, 1},                                             // drafted again: still new
		{false, []string{"IAC-01:critical", "IAC-02:critical", "NET-01:critical"}, 2, 2},                          // a further one
		{false, []string{"IAC-01:critical", "IAC-02:critical", "NET-01:critical-"}, 1, 2},                         // one is fixed
		{true, []string{"IAC-01:critical", "IAC-02:critical"}, 0, 3},                                              // approved: resolved
		{false, []string{"IAC-01:critical", "IAC-02:critical"}, 0, 3},                                             // still known
		{false, []string{"IAC-01:high", "IAC-02:critical-"}, 0, 3},                                                // better
		{false, []string{"IAC-01:high", "IAC-02:critical-", "BCD-01:low", "BCD-02:critical", "BCD-02:low"}, 1, 4}, // another
	} {
		h.writeAnalysis(step.approved, step.gaps...)
		if got := h.newGapCount("critical"); got != step.critical {
			t.Errorf("step %d: %v new critical gaps, not %v", i, got, step.critical)
		}
		look()
		if len(told) != step.told {
			t.Fatalf("step %d: %d tellings, not %d: %q", i, len(told), step.told, told)
		}
	}
	for i, want := range []string{"alert.firing", "alert.firing", "alert.resolved", "alert.firing"} {
		if !strings.HasPrefix(told[i], want) {
			t.Errorf("%d: %s", i, told[i])
		}
	}
	if !strings.Contains(told[0], "IAC-02  critical  Harbour") || strings.Contains(told[0], "IAC-01") ||
		!strings.Contains(told[1], "NET-01") ||
		strings.Contains(told[2], "IAC") ||
		!strings.Contains(told[3], "BCD-02") {
		t.Errorf("%q", told)
	}
	got, err := e.Alerts.Get(t.Context(), h.by, &api.AlertInput{AlertID: rule.ID})
	if err != nil || got.State != api.AlertFiring || slices.Contains(told, "") {
		t.Errorf("%+v, %v", got, err)
	}
}
