package text

import (
	"slices"
	"testing"
)

func TestPronounsAreNoConcepts(t *testing.T) {
	names := func(text string) (out []string) {
		for _, a := range Concepts(text) {
			out = append(out, a.Name)
		}
		return out
	}
	if got := names("Whoever finds malware reports it."); slices.Contains(got, "it") {
		t.Errorf("%q", got)
	}
	if got := names("Malware is reported to IT."); !slices.Contains(got, "IT") {
		t.Errorf("%q", got)
	}
	if got := names("Staff have accounts of their own."); slices.Contains(got, "their own") {
		t.Errorf("%q", got)
	}
}
