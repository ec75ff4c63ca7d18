package oscal_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/catalog/scf"
)

// mappingList returns the details of a catalog's mappings by the codes at both ends.
func mappingList(src *scf.Source) map[string]scf.MappingDetail {
	out := map[string]scf.MappingDetail{}
	for _, m := range src.Mappings {
		d := scf.MappingDetail{Strength: -2}
		if m.Detail != nil {
			d = *m.Detail
			d.Official = false // a reader does not trust the file on this
		}
		f := &src.Frameworks[m.Framework]
		out[src.Controls[m.Control].Code+" "+f.Code+" "+f.Requirements[m.Requirement].Code] = d
	}
	return out
}

// TestCrosswalkRoundTrip checks that a written crosswalk can be read onto a catalog without one.
func TestCrosswalkRoundTrip(t *testing.T) {
	src := load(t)
	src.Mappings[0].Detail = &scf.MappingDetail{
		Relationship: "subset",
		Strength:     7,
		Rationale:    "Both ask for owners.\nThe control asks for more.",
		Source:       "our own reading",
		Official:     true,
	}
	src.Mappings[1].Detail = &scf.MappingDetail{Relationship: "equal", Strength: -1, Source: "our own reading"}
	all := make([]int, len(src.Frameworks))
	for i := range all {
		all[i] = i
	}
	doc, err := oscal.WriteMappings(src, all, day)
	if err != nil {
		t.Fatal(err)
	}
	again, err := oscal.WriteMappings(src, all, day)
	if err != nil || !bytes.Equal(doc, again) {
		t.Error("the same crosswalk gives other bytes")
	}
	bare := *src
	bare.Mappings = nil
	got, err := oscal.Read(doc, &bare)
	if err != nil {
		t.Fatal(err)
	}
	want, have := mappingList(src), mappingList(got)
	if len(want) != len(have) {
		t.Errorf("%d mappings, want %d", len(have), len(want))
	}
	for k, d := range want {
		if have[k] != d {
			t.Errorf("%s: %+v, want %+v", k, have[k], d)
		}
	}
}

func TestProfileOfAFramework(t *testing.T) {
	src := load(t)
	doc, err := oscal.WriteProfile(src, 0, day)
	if err != nil {
		t.Fatal(err)
	}
	got, err := oscal.Read(doc, src)
	if err != nil {
		t.Fatal(err)
	}
	f := got.Frameworks[len(got.Frameworks)-1]
	want := map[string]bool{}
	for _, m := range src.Mappings {
		if m.Framework == 0 {
			want[src.Controls[m.Control].Code] = true
		}
	}
	if len(f.Requirements) != len(want) || len(want) == 0 {
		t.Errorf("%d controls are selected, want %d", len(f.Requirements), len(want))
	}
	for _, r := range f.Requirements {
		if !want[r.Code] {
			t.Errorf("%s is selected", r.Code)
		}
	}
	src.Mappings = nil
	if _, err := oscal.WriteProfile(src, 0, day); err == nil || !strings.Contains(err.Error(), "no control") {
		t.Errorf("a profile of nothing: %v", err)
	}
}

// large returns a catalog as large as the SCF: 1,468 controls in 33 domains, with a crosswalk of
// 80,000 mappings to 200 frameworks.
func large() *scf.Source {
	src := &scf.Source{Label: "large", SHA256: strings.Repeat("a", 64)}
	for d := range 33 {
		src.Domains = append(src.Domains, scf.Domain{Code: fmt.Sprintf("D%c%c", 'A'+d/26, 'A'+d%26), Name: fmt.Sprintf("Domain %d", d)})
	}
	for i := range 1468 {
		src.Controls = append(src.Controls, scf.Control{
			Code: fmt.Sprintf("%s-%02d", src.Domains[i%33].Code, i/33+1), Title: fmt.Sprintf("Control %d", i),
			Description: strings.Repeat("What is to be done is done. ", 8), Question: strings.Repeat("Is it done? ", 10), Weight: 1 + i%10,
		})
	}
	for f := range 200 {
		fw := scf.Framework{Code: fmt.Sprintf("framework-%d", f), Name: fmt.Sprintf("Framework %d", f)}
		for r := range 100 {
			fw.Requirements = append(fw.Requirements, scf.Requirement{Code: fmt.Sprintf("%d.%d", r/10, r%10)})
		}
		src.Frameworks = append(src.Frameworks, fw)
	}
	for i := range 80_000 {
		src.Mappings = append(src.Mappings, scf.Mapping{Control: i % 1468, Framework: i / 400, Requirement: i * 7 % 100})
	}
	return src
}

func BenchmarkWriteLarge(b *testing.B) {
	src := large()
	all := make([]int, len(src.Frameworks))
	for i := range all {
		all[i] = i
	}
	b.Run("catalog", func(b *testing.B) {
		for b.Loop() {
			doc, err := oscal.WriteCatalog(src, day)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc)))
		}
	})
	b.Run("mapping-collection", func(b *testing.B) {
		for b.Loop() {
			doc, err := oscal.WriteMappings(src, all, day)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(len(doc)))
		}
	})
}
