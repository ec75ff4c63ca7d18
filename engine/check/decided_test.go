package check

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestCorrectionsAreNoRegressions checks that gaps about which a user made a decision on one side only are listed
// separately and don't fail a check.
func TestCorrectionsAreNoRegressions(t *testing.T) {
	before := NewBaseline(&Facts{Controls: []Control{{Code: "BCD-11", Decided: true}, {Code: "IAC-06"}}})
	after := NewBaseline(&Facts{Findings: []Finding{
		{Control: "BCD-11", Severity: api.SeverityHigh, Status: api.NotImplemented},
		{Control: "GOV-01", Severity: api.SeverityCritical, Status: api.NotImplemented, Decided: true},
	}})
	d, err := CompareBaselines(before, after, "2026", "2027")
	if err != nil || d.Opened != 0 || len(d.Decided) != 2 || d.Same != 0 || d.HasRegressions(api.SeverityLow) {
		t.Fatalf("%+v, %v", d, err)
	}
	for _, format := range DiffFormats {
		text, err := d.Render(format)
		if err != nil || !strings.Contains(string(text), "BCD-11") {
			t.Errorf("%s: %s, %v", format, text, err)
		}
	}
	after.Gaps = append(after.Gaps, KnownGap{Control: "IAC-06", Severity: api.SeverityHigh})
	if d, err = CompareBaselines(before, after, "2026", "2027"); err != nil || d.Opened != 1 || !d.HasRegressions(api.SeverityHigh) {
		t.Errorf("%+v, %v", d, err)
	}
	if !slices.Equal(after.Decided, []string{"GOV-01"}) {
		t.Errorf("%v", after.Decided)
	}
}

// TestCatalogsDiffer checks that gaps are compared for the controls of both catalogs only, and that each change names what differs.
func TestCatalogsDiffer(t *testing.T) {
	side := func(catalog, method string, controls []Control, gaps ...string) *Baseline {
		f := &Facts{Catalog: Catalog{Label: catalog}, Basis: Basis{Method: method}, Controls: controls}
		for _, code := range gaps {
			f.Findings = append(f.Findings, Finding{Control: code, Severity: api.SeverityHigh, Status: api.NotImplemented})
		}
		return NewBaseline(f).WithControls(f)
	}
	before := side("2026", "builtin/1", []Control{
		{Code: "AAA-01", Title: "Old", Wording: "a"}, {Code: "AAA-02", Evidence: "x"}, {Code: "AAA-03"}, {Code: "AAA-04"},
	}, "AAA-04")
	after := side("2027", "builtin/1", []Control{
		{Code: "AAA-01", Title: "New", Wording: "b"}, {Code: "AAA-02", Evidence: "y"}, {Code: "AAA-03"}, {Code: "AAA-05", Title: "Added"},
	}, "AAA-01", "AAA-02", "AAA-03", "AAA-05")
	d, err := CompareBaselines(before, after, "a", "b")
	if err != nil || d.Opened != 3 || d.Closed != 0 || d.Catalogs.Compared != 3 || len(d.Catalogs.Added) != 1 || len(d.Catalogs.Removed) != 1 {
		t.Fatalf("%+v, %v", d, err)
	}
	for i, want := range []string{"the catalog's wording has changed", "other quotes", "learned from the catalog"} {
		if c := d.Changes[i]; !strings.Contains(c.Why, want) || len(c.Causes) != 1 {
			t.Errorf("%+v doesn't say %q", c, want)
		}
	}
	for _, format := range []string{"text", "markdown"} {
		text := string(must[[]byte](t)(d.Render(format)))
		if !strings.Contains(text, "AAA-05") || !strings.Contains(text, "AAA-04") || !strings.Contains(text, "was Old") {
			t.Errorf("%s: %s", format, text)
		}
	}
	same := side("2026", "builtin/2", after.allControls(), "AAA-02")
	same.basis.Documents = "other"
	if d, err = CompareBaselines(side("2026", "builtin/1", after.allControls()), same, "a", "b"); err != nil || d.Catalogs != nil ||
		d.Changes[0].Why != "read by builtin/2, previously by builtin/1" {
		t.Errorf("%+v, %v", d, err)
	}
	if _, err = CompareBaselines(NewBaseline(&Facts{Catalog: Catalog{Label: "2026"}}), after, "known.json", "b"); err == nil ||
		!strings.Contains(err.Error(), "this file doesn't list the controls") {
		t.Error(err)
	}

	// A baseline file is compared with another catalog too; it doesn't record why gaps changed.
	file, err := ParseBaseline(must[[]byte](t)(before.Encode()), "known.json")
	if err != nil {
		t.Fatal(err)
	}
	d, err = CompareBaselines(file, after, "known.json", "b")
	if err != nil || d.Opened != 3 || d.Closed != 0 || d.Catalogs.Compared != 3 || d.Catalogs.Renamed[0].Before != "Old" ||
		d.Changes[0].Why != "" {
		t.Errorf("%+v, %v", d, err)
	}
}

func (b *Baseline) allControls() (out []Control) {
	for _, code := range slices.Sorted(maps.Keys(b.controls)) {
		out = append(out, *b.controls[code])
	}
	return out
}
