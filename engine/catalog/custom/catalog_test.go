package custom_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

const small = `{
  "format": "service-catalog", "format_version": 1, "label": "mine",
  "domains": [{"code": "GOV", "name": "Governance"}, {"code": "IAC", "name": "Access"}],
  "evidence_requests": [{"id": "a", "artifact": "A list of who may do what"}],
  "frameworks": [{"code": "house-rules", "name": "House rules", "requirements": [{"code": "1", "title": "One"}, {"code": "2"}]}],
  "controls": [
    {"code": "GOV-01", "title": "Programme", "weight": 10, "mappings": {"house-rules": ["1", "2"]}},
    {"code": "IAC-06", "title": "Second factor", "evidence_requests": ["a"], "maturity": {"3": "Everyone has one."},
     "relations": [{"framework": "house-rules", "requirement": "2", "relationship": "subset", "strength": 0}]}
  ]
}`

// encoded returns the bytes in which a catalog is stored; equal catalogs have equal bytes.
func encoded(t *testing.T, src *scf.Source) []byte {
	t.Helper()
	s, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000", ImportedAt: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// roundTrip checks that a catalog that is written and read again is equal, byte for byte, and that
// writing it again gives the same document.
func roundTrip(t *testing.T, src *scf.Source) {
	t.Helper()
	want := encoded(t, src)
	written, err := custom.WriteCatalog(src)
	if err != nil {
		t.Fatal(err)
	}
	got, err := custom.ReadCatalog(written)
	if err != nil {
		t.Fatal(err)
	}
	if sum, err := custom.CheckAndHashJSON(written); err != nil || got.SHA256 != sum {
		t.Errorf("the hash is %s, %v", sum, err)
	}
	if again, err := custom.WriteCatalog(&scf.Source{
		Label: got.Label, Filename: src.Filename, SHA256: src.SHA256, IsStarter: got.IsStarter, Domains: got.Domains,
		Controls: got.Controls, Frameworks: got.Frameworks, Mappings: got.Mappings, Evidence: got.Evidence,
		Risks: got.Risks, Threats: got.Threats,
		Principles: got.Principles,
	}); err != nil || !bytes.Equal(again, written) {
		t.Errorf("written again it differs, %v", err)
	}
	got.Filename, got.SHA256 = src.Filename, src.SHA256
	if !bytes.Equal(encoded(t, got), want) {
		t.Error("the catalog that was read is another one")
	}
}

func TestRoundTrip(t *testing.T) {
	src, err := starter.Load()
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, src)
	mine, err := custom.ReadCatalog([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	roundTrip(t, mine)
}

func TestRoundTripOfficial(t *testing.T) {
	names := []string{"scf-2018.1.xlsx", "scf-2022.3.xlsx", "scf-2026.1.1-like.xlsx"}
	if !longtest.Enabled() {
		names = names[:1]
	}
	for _, name := range names {
		data, err := os.ReadFile(shareddata.PathOrSkip(t, "scf", name))
		if err != nil {
			t.Fatal(err)
		}
		src, err := workbook.Read(t.Context(), bytes.NewReader(data), int64(len(data)), workbook.Options{Filename: name})
		if err != nil {
			t.Fatal(err)
		}
		roundTrip(t, src)
	}
}

func TestReadCatalog(t *testing.T) {
	src, err := custom.ReadCatalog([]byte(small))
	if err != nil {
		t.Fatal(err)
	}
	if n := src.Counts(); n.Controls != 2 || n.Requirements != 2 || n.Mappings != 3 || src.Statistics.EvidenceRequests != 1 {
		t.Errorf("%+v, %+v", n, src.Statistics)
	}
	if d := src.Mappings[2].Detail; d == nil || d.Strength != 0 || d.Relationship != "subset" {
		t.Errorf("%+v", d)
	}
}

// TestHash checks that the hash depends on a document's content, not on its layout.
func TestHash(t *testing.T) {
	var loose any
	if err := json.Unmarshal([]byte(`{"a":["<b>","\u00e9\n", 1.5, true, null], "c": {}}`), &loose); err != nil {
		t.Fatal(err)
	}
	one, err := custom.CheckAndHashJSON([]byte(`{"a":["\u003cb\u003e","é\n",1.5,true,null],"c":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	pretty, err := json.MarshalIndent(loose, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	if two, err := custom.CheckAndHashJSON(pretty); err != nil || two != one {
		t.Errorf("%s, %v; want %s", two, err, one)
	}
	if other, _ := custom.CheckAndHashJSON([]byte(`{"a":["<b>","é\n",1.5,true,null,[]],"c":{}}`)); other == one {
		t.Error("another document has the same hash")
	}
}

// change returns the small document with a part replaced.
func change(from, to string) string {
	if !strings.Contains(small, from) {
		panic(fmt.Sprintf("%q is not in the document", from))
	}
	return strings.Replace(small, from, to, 1)
}

func TestRejectedCatalogs(t *testing.T) {
	for name, c := range map[string]struct{ doc, place, says string }{
		"nothing":               {"", "", "the document is empty"},
		"not JSON":              {"hello", "", "not valid JSON"},
		"cut off":               {small[:len(small)/2], "frameworks", "ends unexpectedly"},
		"a bad line":            {"{\n\"a\": 1,\n]}", "", "line 3"},
		"two documents":         {small + small, "", "unexpected data after the end"},
		"not UTF-8":             {"\"\xff\"", "", "UTF-8"},
		"10,000 deep":           {strings.Repeat(`{"a":`, 10000), "a.a.a", "nested"},
		"lists 10,000 deep":     {strings.Repeat(`[`, 10000), "[0][0]", "nested"},
		"a huge number":         {change(`"weight": 10`, `"weight": 1e999999999`), "controls[0].weight", "number"},
		"many digits":           {change(`"weight": 10`, `"weight": `+strings.Repeat("9", 400)), "controls[0].weight", "number"},
		"a key twice":           {change(`"weight": 10`, `"weight": 10, "weight": 9`), "controls[0].weight", "twice"},
		"another format":        {change("service-catalog", "something"), "format", "service-catalog"},
		"another version":       {change(`"format_version": 1`, `"format_version": 2`), "format_version", "1"},
		"an unknown field":      {change(`"weight": 10`, `"wieght": 10`), "controls[0]", "wieght"},
		"a weight of 11":        {change(`"weight": 10`, `"weight": 11`), "controls[0].weight", "10"},
		"a number for a title":  {change(`"Programme"`, `7`), "controls[0].title", "string"},
		"no title":              {change(`"title": "Programme", `, ``), "controls[0]", "title"},
		"no label":              {change(`"label": "mine",`, ``), "", "label"},
		"a bad code":            {change(`"GOV-01"`, `"GOV-1"`), "controls[0].code", "match"},
		"a control twice":       {change(`"IAC-06"`, `"GOV-01"`), "controls[1].code", "twice"},
		"a domain twice":        {change(`"code": "IAC", "name"`, `"code": "GOV", "name"`), "domains[1].code", "twice"},
		"a requirement twice":   {change(`{"code": "2"}`, `{"code": "1"}`), "frameworks[0].requirements[1].code", "twice"},
		"no such domain":        {change(`"IAC-06"`, `"NET-06"`), "controls[1].code", "domain NET"},
		"no such framework":     {change(`{"house-rules": ["1", "2"]}`, `{"rules": ["1"]}`), "controls[0].mappings.rules[0]", "no framework"},
		"no such requirement":   {change(`["1", "2"]`, `["1", "3"]`), "controls[0].mappings.house-rules[1]", `no requirement "3"`},
		"a mapping twice":       {change(`["1", "2"]`, `["1", "1"]`), "controls[0].mappings.house-rules[1]", "twice"},
		"no such evidence":      {change(`"evidence_requests": ["a"]`, `"evidence_requests": ["b"]`), "controls[1].evidence_requests[0]", `"b"`},
		"no such relationship":  {change(`"subset"`, `"cousin"`), "controls[1].relations[0].relationship", "one of"},
		"maturity beyond level": {change(`{"3"`, `{"6"`), "controls[1].maturity", "6"},
	} {
		_, err := custom.ReadCatalog([]byte(c.doc))
		var at *custom.PathError
		if !errors.As(err, &at) || !strings.HasPrefix(at.Path, c.place) || !strings.Contains(err.Error(), c.says) {
			t.Errorf("%s: %v; want %q at %q", name, err, c.says, c.place)
		}
		if err != nil && len(err.Error()) > 700 {
			t.Errorf("%s: the error has %d bytes", name, len(err.Error()))
		}
	}
}

func TestWarnings(t *testing.T) {
	src, err := custom.ReadCatalog([]byte(change(`"weight": 10`, `"compensating_controls": [{"control_code": "ZZZ-01"}]`)))
	if err != nil || len(src.Warnings) != 1 || src.Warnings[0].Cell != "controls[0].compensating_controls[0]" {
		t.Errorf("%+v, %v", src, err)
	}
}

// FuzzReadCatalog checks that any accepted catalog can be indexed, written and read again.
func FuzzReadCatalog(f *testing.F) {
	f.Add([]byte(small))
	f.Add([]byte(strings.Repeat(`{"a":`, 100)))
	f.Add(
		[]byte(
			`{"format":"service-catalog","format_version":1,"label":"x","domains":[{"code":"A","name":""}],"frameworks":[],"controls":[]}`,
		),
	)
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := custom.ReadCatalog(data)
		if err != nil {
			return
		}
		if _, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"}); err != nil {
			t.Fatalf("what was read contradicts itself: %v", err)
		}
		written, err := custom.WriteCatalog(src)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := custom.ReadCatalog(written); err != nil {
			t.Fatalf("what was written can't be read: %v", err)
		}
	})
}

func BenchmarkRead(b *testing.B) {
	src, err := starter.Load()
	if err != nil {
		b.Fatal(err)
	}
	data, err := custom.WriteCatalog(src)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := custom.ReadCatalog(data); err != nil {
			b.Fatal(err)
		}
	}
}
