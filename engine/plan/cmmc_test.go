package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func bearing(code string, status api.Implementation) api.SoAItem {
	return api.SoAItem{
		Item:                 api.Item{ControlCode: "C-" + code, RequirementCodes: api.RequirementCodes{"nist-800-171-r2": {code}}},
		Applicability:        api.Applicable,
		ImplementationStatus: status,
	}
}

func TestCMMC(t *testing.T) {
	for _, tc := range []struct {
		name     string
		missing  []api.SoAItem
		points   int
		eligible bool
		blocking string
	}{
		{"all met", nil, 110, true, ""},
		{"one point waits", []api.SoAItem{bearing("3.1.3", api.NotImplemented)}, 109, true, ""},
		{"five points", []api.SoAItem{bearing("3.5.3", api.PartiallyImplemented)}, 105, false, "only one-point requirements can be deferred"},
		{"encryption that wasn't validated", []api.SoAItem{bearing("3.13.11", api.PartiallyImplemented)}, 107, true, ""},
		{"no encryption", []api.SoAItem{bearing("3.13.11", api.NotImplemented)}, 105, false, "worth 5 points"},
		{"named exclusion", []api.SoAItem{bearing("3.10.3", api.NotEvidenced)}, 109, false, "can't be deferred to a plan"},
		{"a score below 80%", some(23, api.NotImplemented), 87, false, "the score is 87 of 110"},
		{"a score of 80%", some(22, api.NotImplemented), 88, true, ""},
		{"no system security plan", []api.SoAItem{bearing("3.12.4", api.NotEvidenced)}, 110, false, "requires a system security plan"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			items := append(allMet(), tc.missing...)
			for i := range len(items) - len(tc.missing) {
				for _, m := range tc.missing {
					if items[i].RequirementCodes["nist-800-171-r2"][0] == m.RequirementCodes["nist-800-171-r2"][0] {
						items[i].ImplementationStatus = m.ImplementationStatus
					}
				}
			}
			e := CheckCMMCEligibility(items, planned(tc.missing), "2026-11-20")
			if e == nil || e.Points != tc.points || e.Eligible != tc.eligible {
				t.Fatalf("%+v, want %d points, eligible %v", e, tc.points, tc.eligible)
			}
			if !slices.ContainsFunc(append(e.Blocking, ""), func(s string) bool { return strings.Contains(s, tc.blocking) }) {
				t.Errorf("blocking %q lacks %q", e.Blocking, tc.blocking)
			}
		})
	}
	if CheckCMMCEligibility([]api.SoAItem{{Applicability: api.Applicable}}, nil, "2026-11-20") != nil {
		t.Error("no requirement of 800-171, and yet a score")
	}
}

// planned returns a plan item for each of the items, due in time.
func planned(missing []api.SoAItem) (out []api.POAMItem) {
	for n, it := range missing {
		out = append(out, api.POAMItem{Item: it.Item, POAMCode: fmt.Sprintf("POAM-%03d", n+1), DueDate: "2027-02-26", Status: "open"})
	}
	return out
}

// Every unmet requirement must be on a plan that closes it; controls out of scope do not meet a requirement.
func TestCMMCRequiresAPlanForUnmetRequirements(t *testing.T) {
	lacking := []api.SoAItem{bearing("3.1.3", api.NotImplemented)}
	items := append(lacking, slices.DeleteFunc(allMet(), func(i api.SoAItem) bool { return i.ControlCode == "C-3.1.3" })...)
	as := func(applicability api.Applicability, codes ...string) []api.SoAItem {
		all := allMet()
		for n := range all {
			if slices.Contains(codes, all[n].RequirementCodes["nist-800-171-r2"][0]) {
				all[n].Applicability, all[n].ImplementationStatus = applicability, api.NotAssessed
			}
		}
		return all
	}
	status := func(s string) []api.POAMItem {
		plan := planned(lacking)
		plan[0].Status = s
		return plan
	}
	for _, tc := range []struct {
		name     string
		items    []api.SoAItem
		plan     []api.POAMItem
		blocking string
	}{
		{"planned", items, status("in_progress"), ""},
		{"no item", items, nil, "3.1.3: C-3.1.3 is not implemented, and no open plan item closes it"},
		{"cancelled", items, status("cancelled"), "closes it; POAM-001 is cancelled"},
		{"completed, and not implemented", items, status("completed"), "closes it; POAM-001 is completed"},
		{"accepted", items, status("risk_accepted"), "closes it; POAM-001 is risk accepted"},
		{"out of scope", as(api.OutOfScope, "3.1.3", "3.1.4"), nil, "2 of 110 requirements have no control in the scope"},
		{"undecided", as(api.Undecided, "3.1.3"), nil, "1 of 110 requirements"},
		{"not applicable", as(api.NotApplicable, "3.1.3"), nil, ""},
		{"no system security plan", as(api.NotApplicable, "3.12.4"), nil, "must be assessed first: 3.12.4"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e := CheckCMMCEligibility(tc.items, tc.plan, "2026-11-20")
			if e.Eligible != (tc.blocking == "") || !strings.Contains(strings.Join(e.Blocking, "\n"), tc.blocking) {
				t.Errorf("eligible %v, blocking %q, want %q", e.Eligible, e.Blocking, tc.blocking)
			}
		})
	}
	if e := CheckCMMCEligibility(as(api.OutOfScope, strings.Fields("3.1.1 3.1.2")...)[:2], nil, "2026-11-20"); e == nil || e.Eligible {
		t.Errorf("all that bears it is out of scope: %+v", e)
	}
}

// allMet returns an implemented control for each requirement.
func allMet() (out []api.SoAItem) {
	for family, n := range requirementCounts {
		for i := range n {
			out = append(out, bearing(fmt.Sprintf("3.%d.%d", family+1, i+1), api.Implemented))
		}
	}
	return out
}

// some returns items for n one-point requirements that may be deferred.
func some(n int, status api.Implementation) (out []api.SoAItem) {
	for _, it := range allMet() {
		code := it.RequirementCodes["nist-800-171-r2"][0]
		if len(out) < n && CMMCRequirementCost(code, false) == 1 && !neverDeferrable[code] {
			it.ImplementationStatus = status
			out = append(out, it)
		}
	}
	return out
}

// Each framework writes the 110 requirements in its own way; other codes are not requirements.
func TestCMMCRequirements(t *testing.T) {
	for _, tc := range []struct{ framework, code, want string }{
		{"nist-800-171-r2", "3.1.1", "3.1.1"},
		{"nist-800-171", "3.14.7", "3.14.7"},
		{"nist-800-171a", "3.1.1[a]", "3.1.1"},
		{"cmmc-2.0-level-2", "AC.L2-3.1.20", "3.1.20"},
		{"cmmc-2.0-level-2", "ACL2.-3.1.1", "3.1.1"},
		{"nist-800-171-r2", "NFO–PL-8", ""},
		{"nist-800-171-r2", "3.1.23", ""},
		{"nist-800-171-r3", "03.01.01.a", ""},
		{"nist-800-171-r3", "3.1.1", ""},
		{"cmmc-2.0-level-3", "AC.L3-3.1.2E", ""},
		{"cmmc-2.0-level-1", "AC.L1-3.1.1", ""},
		{"iso-27001-2022", "3.1.1", ""},
	} {
		if got := parseCMMCLevel2Requirement(tc.framework, tc.code); got != tc.want {
			t.Errorf("%s %s is %q, want %q", tc.framework, tc.code, got, tc.want)
		}
	}
	if e := CheckCMMCEligibility([]api.SoAItem{bearing("3.1.1", api.Implemented)}, nil, "2026-11-20"); e.Eligible ||
		len(e.NotAssessed) != 109 {
		t.Errorf("109 requirements that nothing bears: %+v", e)
	}
}

// The lowest score of the method is −203.
func TestCMMCPointsAddUp(t *testing.T) {
	total := 0
	for family, n := range map[string]int{
		"3.1": 22, "3.2": 3, "3.3": 9, "3.4": 9, "3.5": 11, "3.6": 3,
		"3.7": 6, "3.8": 9, "3.9": 2, "3.10": 6, "3.11": 3, "3.12": 4, "3.13": 16, "3.14": 7,
	} {
		for i := 1; i <= n; i++ {
			total += CMMCRequirementCost(family+"."+string(rune('0' + i/10))[:min(1, i/10)]+string(rune('0'+i%10)), false)
		}
	}
	if 110-total != -203 {
		t.Errorf("nothing met is %d points, want -203", 110-total)
	}
}

func TestCMMCPlanTakesAtMostHalfAYear(t *testing.T) {
	items := append([]api.SoAItem{bearing("3.1.3", api.NotImplemented)}, allMet()...)
	plan := []api.POAMItem{{Item: items[0].Item, POAMCode: "POAM-001", DueDate: "2027-06-30", Status: "open"}}
	if e := CheckCMMCEligibility(items, plan, "2026-11-20"); e.Eligible {
		t.Errorf("a plan of more than 180 days is eligible: %+v", e)
	}
}
