package assessment

import (
	"slices"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

func TestDelegationIsActiveOnlyInItsTime(t *testing.T) {
	begin := time.Date(2030, 6, 15, 9, 0, 0, 0, time.UTC)
	d := api.Delegation{Status: api.DelegationActive, ExpiresAt: begin.Add(time.Hour)}
	d.CreatedAt = begin
	for after, want := range map[time.Duration]api.DelegationStatus{
		-time.Second:  api.DelegationExpired, // the clock was set back
		0:             api.DelegationActive,
		time.Hour - 1: api.DelegationActive,
		time.Hour:     api.DelegationExpired,
	} {
		if got := delegationStatus(&d, begin.Add(after)); got != want {
			t.Errorf("%s after it was given, it is %s, want %s", after, got, want)
		}
	}
	d.Status = api.DelegationRevoked
	if got := delegationStatus(&d, begin.Add(2*time.Hour)); got != api.DelegationRevoked {
		t.Errorf("revoked, then expired: %s", got)
	}
}

func TestDelegationCoversItsGatesAndAssessment(t *testing.T) {
	one := "a1"
	everywhere := api.Delegation{Gates: normalizeGates([]api.Gate{api.GatePOAM, api.GateSoA, api.GatePOAM})}
	if want := []api.Gate{api.GateSoA, api.GatePOAM}; !slices.Equal(everywhere.Gates, want) {
		t.Errorf("gates %v, want %v", everywhere.Gates, want)
	}
	here := api.Delegation{AssessmentID: &one, Gates: normalizeGates(nil)}
	for _, c := range []struct {
		d          *api.Delegation
		assessment string
		gate       api.Gate
		want       bool
	}{
		{&everywhere, "a1", api.GateSoA, true},
		{&everywhere, "a2", api.GatePOAM, true},
		{&everywhere, "a1", api.GateMaturity, false},
		{&here, "a1", api.GateMaturity, true},
		{&here, "a2", api.GateMaturity, false},
	} {
		if got := delegationCovers(c.d, c.assessment, c.gate); got != c.want {
			t.Errorf(
				"%v of %v covers %s of %s: %t, want %t",
				c.d.Gates,
				c.d.AssessmentID,
				c.gate,
				c.assessment,
				got,
				c.want,
			)
		}
	}
}
