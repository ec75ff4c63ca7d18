package assessment

import (
	"testing"

	"github.com/scf-service/service/api"
)

func score(domain string, level, target, weight int, assessed bool) api.MaturityScore {
	s := api.MaturityScore{Level: level, TargetLevel: target, Weight: weight, Assessed: assessed}
	s.DomainCode = domain
	return s
}

func TestMaturityMeansCountAssessedControlsOnly(t *testing.T) {
	out := summarizeMaturity([]api.MaturityScore{
		score(
			"NET",
			1,
			3,
			10,
			true,
		), score("NET", 4, 3, 2, true), score("NET", 0, 4, 9, false), score("IAC", 0, 3, 5, false),
	}, map[string]string{"NET": "Network Security"})
	if len(out.Domains) != 2 || out.Domains[0].DomainCode != "IAC" || out.Domains[1].DomainName != "Network Security" {
		t.Fatalf("domains %+v", out.Domains)
	}
	if iac := out.Domains[0]; iac.Mean != nil || iac.WeightedMean != nil || iac.Minimum != nil ||
		iac.AssessedPct != 0 ||
		*iac.TargetMean != 3 {
		t.Errorf("without assessed controls: %+v", iac)
	}
	if net := out.Domains[1]; *net.Mean != 2.5 || *net.WeightedMean != 1.5 || *net.Minimum != 1 ||
		net.AssessedPct != 66.7 ||
		*net.TargetMean != 3.33 {
		t.Errorf(
			"mean %v, weighted %v, minimum %v, %v%% assessed, target %v",
			*net.Mean,
			*net.WeightedMean,
			*net.Minimum,
			net.AssessedPct,
			*net.TargetMean,
		)
	}
	if out.Overall.Controls != 4 || out.ByLevel["1"] != 1 || out.ByLevel["4"] != 1 || out.ByLevel["not_assessed"] != 2 {
		t.Errorf("overall %+v, by level %v", out.Overall, out.ByLevel)
	}
}

// A redraft with the same levels keeps the previous levels; otherwise, the levels just replaced become the
// previous ones.
func TestPreviousLevels(t *testing.T) {
	two, three := 2, 3
	item := func(control string, level int, previous *int) api.MaturityScore {
		s := api.MaturityScore{Level: level, Assessed: true, PreviousLevel: previous}
		s.ControlCode = control
		return s
	}
	before := previousVersion[api.MaturityScore]{items: []api.MaturityScore{item("A-1", 3, &two), item("A-2", 1, nil)}}
	same := draft[api.MaturityScore]{items: []api.MaturityScore{item("A-1", 3, nil), item("A-2", 1, nil)}}
	mergeScoreEditsAndPreviousLevels(&same, &before, nil)
	if p := same.items[0].PreviousLevel; p == nil || *p != two || same.items[1].PreviousLevel != nil {
		t.Errorf("same levels: previous level %v", p)
	}
	other := draft[api.MaturityScore]{items: []api.MaturityScore{item("A-1", 3, nil), item("A-2", 2, nil)}}
	mergeScoreEditsAndPreviousLevels(&other, &before, nil)
	if p := other.items[0].PreviousLevel; p == nil || *p != three || *other.items[1].PreviousLevel != 1 {
		t.Errorf("other levels: previous level %v", p)
	}
}
