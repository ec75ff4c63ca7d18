package maturity

import (
	"io/fs"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/examples/judged"
)

// Prefiltering the patterns does not change what they match.
func TestMaturityPatternsMatchWithoutPrefilter(t *testing.T) {
	figures := regexp.MustCompile(
		`(?i)\b(?:metrics?|kpis?|kris?|measured|measurements?|dashboards?|percentage|mean time|average|trend|scorecard|target value|threshold|statistics|service level)\b|\d ?%`,
	)
	texts := []string{
		"",
		"95 % of",
		"95%of",
		"a95%b",
		"in 95 %x",
		"%",
		"METRIC",
		"asymmetrical",
		"\u212apis",
		"Statiſtics",
		"Mean  time",
		"mean time",
	}
	err := fs.WalkDir(judged.Folder(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := fs.ReadFile(judged.Folder(), path)
		texts = append(texts, strings.Split(string(data), "\n")...)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, s := range texts {
		if figures.MatchString(s) {
			found++
		}
		if got := mentionsMetrics(s); got != figures.MatchString(s) {
			t.Errorf("%q: figures %v", s, got)
		}
		for _, one := range []interface {
			MatchString(string) bool
			String() string
		}{oversightPattern, improvementPattern} {
			if got := one.MatchString(s); got != regexp.MustCompile(one.String()).MatchString(s) {
				t.Errorf("%q: %s %v", s, one, got)
			}
		}
	}
	if !mentionsMetrics("Management saw that 97 % of staff took the course.") {
		t.Error("a percentage is no figure")
	}
	if found < 5 {
		t.Errorf("only %d texts of %d speak of figures", found, len(texts))
	}
}

func TestMaturity(t *testing.T) {
	with := func(it api.SoAItem, quotes ...string) api.SoAItem {
		for _, q := range quotes {
			it.Evidence = append(it.Evidence, api.Evidence{Quote: q, Stance: "supports"})
		}
		return it
	}
	figures := "The dashboard with the percentage of accounts with MFA is reviewed by the board each month."
	better := "Root causes are analysed and the process is continuously improved."
	for _, tc := range []struct {
		name     string
		item     api.SoAItem
		level    int
		assessed bool
	}{
		{"nothing", soaItem(api.NotEvidenced, 0), 0, false},
		{"out", api.SoAItem{Applicability: api.NotApplicable, ImplementationStatus: api.NotAssessed}, 0, false},
		{"denied", soaItem(api.NotImplemented, 0), 0, true},
		{"planned", soaItem(api.Planned, 0), 0, true},
		{"some", soaItem(api.PartiallyImplemented, 0.3), 1, true},
		{"half", soaItem(api.PartiallyImplemented, 0.6), 2, true},
		{"half with figures", with(soaItem(api.PartiallyImplemented, 0.6), figures, better), 2, true},
		{"whole", soaItem(api.Implemented, 1), 3, true},
		{"set by hand", soaItem(api.Implemented, 0), 2, true},
		{"improved without figures", with(soaItem(api.Implemented, 1), better), 3, true},
		{"figures", with(soaItem(api.Implemented, 1), figures), 4, true},
		{"both", with(soaItem(api.Implemented, 1), figures, better), 5, true},
	} {
		m := Rate(weighted(9), tc.item, 3)
		if m.Level != tc.level || m.Assessed != tc.assessed || m.Rationale == "" || m.Criteria == "" ||
			(m.NextCriteria == "") != (m.Level == 5) {
			t.Errorf("%s: %+v", tc.name, m)
		}
	}
	c := weighted(9)
	c.Maturity = map[string]string{"3": "Everyone uses a token.", "4": "Utilize level 3 criteria definitions: none."}
	if m := Rate(c, soaItem(api.Implemented, 1), 9); m.Criteria != "Everyone uses a token." ||
		m.NextCriteria != genericLevelCriteria[4] ||
		m.TargetLevel != 5 {
		t.Errorf("criteria %q, %q, target %d", m.Criteria, m.NextCriteria, m.TargetLevel)
	}
}

// A level that follows from a status set by a user has no confidence.
func TestMaturityOfOverriddenStatus(t *testing.T) {
	c := api.Control{Code: "END-04", DomainCode: "END"}
	item := api.SoAItem{
		Applicability:        api.Applicable,
		ImplementationStatus: api.Implemented,
		EvidenceCoverage:     api.CoverageAbsent,
		Confidence:           0.75,
		Reason:               judge.StatusSetByReason("Ann"),
	}
	if m := Rate(c, item, 3); m.Confidence != 0.75 || strings.Contains(m.Rationale, "Ann") {
		t.Errorf("by the rules: %v, %s", m.Confidence, m.Rationale)
	}
	item.EditedFields = []string{"implementation_status"}
	if m := Rate(c, item, 3); m.Confidence != 0 || !strings.Contains(m.Rationale, "The status was set by Ann.") {
		t.Errorf("by a person: %v, %s", m.Confidence, m.Rationale)
	}
}

func soaItem(status api.Implementation, ratio float64) api.SoAItem {
	coverage := api.CoverageWeak
	if ratio >= judge.MinStrongRatio {
		coverage = api.CoverageStrong
	}
	return api.SoAItem{
		Item:                 api.Item{ControlCode: "IAC-06", RequirementCodes: api.RequirementCodes{"iso-27001-2022": {"A.8.5"}}},
		Applicability:        api.Applicable,
		ImplementationStatus: status,
		CoverageRatio:        ratio,
		EvidenceCoverage:     coverage,
		Reason:               "Because.",
	}
}

func weighted(w int) api.Control {
	c := api.Control{
		Code:                 "OWN-01",
		Title:                "Multi-factor authentication",
		DomainCode:           "IAC",
		AssessmentObjectives: []api.AssessmentObjective{{Text: "MFA is required."}},
	}
	c.Weight = &w
	c.IsMaterial = w == 10
	return c
}
