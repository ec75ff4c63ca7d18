package content

import (
	"fmt"
	"slices"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/block"
)

// TestGapAnalysisShowsEachFindingOnce checks that a gap analysis shows each finding once: the worst and all that people
// touched in full, the others in tables.
func TestGapAnalysisShowsEachFindingOnce(t *testing.T) {
	src := &Source{Gap: &api.GapVersion{}}
	note, decided := "Seen on site.", map[string]bool{}
	for i := range 200 {
		f := api.Finding{
			Item: api.Item{ControlCode: fmt.Sprintf("AST-%02d", i)}, InCatalog: true, Source: "analysis", Severity: api.Severities[i%5],
			Result: api.PartiallyMet, MissingElements: []string{"One.", "Two.", "Three.", "Four."},
		}
		switch i % 8 {
		case 1, 2, 3:
			f.Result = api.ResultNoEvid
		case 4:
			f.Note, decided[f.ControlCode] = &note, true
		}
		src.Findings = append(src.Findings, f)
	}
	v := New(src, TemplateGapAnalysis, "", false)
	cards, seen := 0, map[string]int{}
	for _, s := range v.Document().Sections {
		for _, b := range s.Blocks {
			switch b := b.(type) {
			case block.Card:
				cards++
				seen[b.ID]++
			case block.Table:
				for _, r := range b.Rows {
					if r.ID != "" {
						seen[r.ID]++
					}
				}
			}
		}
	}
	if want := maxFindingsInFull + len(decided); cards != want {
		t.Errorf("%d findings in full, want %d", cards, want)
	}
	for i, id := range v.ids.findings {
		if seen[id] != 1 {
			t.Errorf("the finding of %s is shown %d times", v.Findings[i].ControlCode, seen[id])
		}
		if form := v.findingForms()[i]; decided[v.Findings[i].ControlCode] && form != inFull {
			t.Errorf("the finding of %s, which has a note, is not shown in full", v.Findings[i].ControlCode)
		}
	}
}

// TestOpenElementsKeepTheirParentheses checks that only the note is removed from a requirement, not its own parentheses.
func TestOpenElementsKeepTheirParentheses(t *testing.T) {
	it := api.SoAItem{MissingElements: []string{
		"Mobile devices (laptops, phones) are encrypted.",
		"Keys (all of them) are rotated (in part: covers part of the requirement, but doesn't mention: rotated)",
	}}
	got := openElements([]*api.SoAItem{&it})
	want := []string{"Mobile devices (laptops, phones) are encrypted", "Keys (all of them) are rotated"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// A finding says which others rest on the same single passage; it says nothing if it has passages of its own.
func TestSharedProofIsNamed(t *testing.T) {
	row := api.Evidence{SHA256: "1", Quote: "Settings will be written in Q3 2027.", Stance: "plans"}
	other := api.Evidence{SHA256: "2", Quote: "Cloud rules will be written.", Stance: "plans"}
	finding := func(code string, evidence ...api.Evidence) api.Finding {
		return api.Finding{Item: api.Item{ControlCode: code}, Evidence: evidence, Status: api.Planned}
	}
	v := &Report{Source: &Source{Findings: []api.Finding{
		finding("CFG-02", row), finding("CLD-02", row), finding("CLD-01", row, other),
	}}}
	if got := v.describeSharedProof(&v.Findings[0]); got != "The only passage that shows this status is also the only one for CLD-02." {
		t.Errorf("CFG-02: %q", got)
	}
	if got := v.describeSharedProof(&v.Findings[2]); got != "" {
		t.Errorf("CLD-01: %q", got)
	}
}
