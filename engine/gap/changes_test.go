package gap

import (
	"slices"
	"testing"

	"github.com/scf-service/service/api"
)

func TestChanges(t *testing.T) {
	finding := func(code string, severity api.Severity, result api.Result) api.Finding {
		return api.Finding{Item: api.Item{ControlCode: code}, Severity: severity, Result: result, Source: "analysis"}
	}
	before := []api.Finding{
		finding("IAC-06", api.SeverityHigh, api.NotMet),
		finding("BCD-11", api.SeverityLow, api.PartiallyMet),
		finding("CFG-02", api.SeverityHigh, api.NotMet),
		finding("MON-01", api.SeverityLow, api.PartiallyMet),
	}
	after := []api.Finding{
		finding("IAC-06", api.SeverityLow, api.PartiallyMet),
		finding("BCD-11", api.SeverityHigh, api.ResultNoEvid),
		finding("NET-04", api.SeverityMedium, api.NotMet),
		finding("MON-01", api.SeverityLow, api.PartiallyMet),
	}
	got := CompareFindings(before, after, []string{"evidence"})
	var short []string
	for _, c := range got {
		short = append(short, string(c.Change)+" "+c.ControlCode)
		if !slices.Equal(c.Causes, []string{"evidence"}) {
			t.Errorf("%s: why %v", c.ControlCode, c.Causes)
		}
	}
	if want := []string{"opened NET-04", "worse BCD-11", "better IAC-06", "closed CFG-02"}; !slices.Equal(short, want) {
		t.Errorf("%v, want %v", short, want)
	}
	edited := finding("IAC-06", api.SeverityLow, api.PartiallyMet)
	edited.EditedFields = []string{"severity"}
	if got := CompareFindings(before[:1], []api.Finding{edited}, nil); !slices.Equal(got[0].Causes, []string{"user"}) {
		t.Errorf("an edit is told as %v", got[0].Causes)
	}
	if len(CompareFindings(before, before, nil)) != 0 {
		t.Error("the same findings have changes")
	}
}
