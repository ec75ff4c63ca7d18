package scf

import (
	"slices"
	"testing"
)

func TestDiff(t *testing.T) {
	from := snapshot(t, sample(), versionA)
	src := sample()
	src.Controls[0].Description = "Manage  who\npeople are." // white space alone
	src.Controls[0].Question = ""                            // nothing to compare
	src.Controls[1].Title, src.Controls[1].Weight = "MFA", 9
	src.Controls[2].Description = "Guard all edges."
	src.Controls[3] = Control{Code: "NET-04", Title: "New", Weight: 1}
	src.Frameworks[2].Code = "new-law"
	src.Frameworks[3].Requirements[0].Code = "Art 32(1)(b)" // only spelled otherwise
	src.Mappings[4].Requirement = 0                         // IAC-06: 8.5 lost, 5.1 gained
	d := Diff(from, snapshot(t, src, versionB))
	s := d.Summary
	if s.Added != 1 || s.Removed != 1 || s.Renamed != 1 || s.Reworded != 1 || s.Reweighted != 1 || s.Unchanged != 1 {
		t.Errorf("%+v", s)
	}
	if d.Added[0].Code != "NET-04" || d.Removed[0].Code != "NET-03.1" {
		t.Errorf("%+v %+v", d.Added, d.Removed)
	}
	if len(d.Changed) != 2 || d.Changed[0].Code != "IAC-06" || *d.Changed[0].FromWeight != 10 || *d.Changed[0].ToWeight != 9 ||
		!d.Changed[1].Reworded {
		t.Errorf("%+v", d.Changed)
	}
	if !slices.Equal(d.FrameworksAdded, []string{"new-law"}) || !slices.Equal(d.FrameworksRemoved, []string{"empty-law"}) {
		t.Errorf("%+v %+v", d.FrameworksAdded, d.FrameworksRemoved)
	}
	if len(d.MappingsGained) != 1 || !slices.Equal(d.MappingsGained[0].RequirementCodes, []string{"5.1"}) || s.MappingsGained != 1 {
		t.Errorf("gained %+v", d.MappingsGained)
	}
	if len(d.MappingsLost) != 1 || !slices.Equal(d.MappingsLost[0].RequirementCodes, []string{"8.5"}) || s.MappingsLost != 1 {
		t.Errorf("lost %+v", d.MappingsLost)
	}
	same := Diff(from, from)
	if same.Summary.Unchanged != 4 || len(same.Changed)+len(same.MappingsGained)+len(same.MappingsLost) != 0 {
		t.Errorf("a catalog differs from itself: %+v", same.Summary)
	}
}
