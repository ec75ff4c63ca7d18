package oscal_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/oscal"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/engine/catalog/workbook"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

var day = time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)

func encoded(t testing.TB, src *scf.Source) []byte {
	t.Helper()
	s, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	b, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func load(t testing.TB) *scf.Source {
	t.Helper()
	src, err := starter.Load()
	if err != nil {
		t.Fatal(err)
	}
	return src
}

// roundTrip checks that the written document matches the schema and is read as the same catalog.
func roundTrip(t *testing.T, src *scf.Source) {
	t.Helper()
	want := encoded(t, src)
	doc, err := oscal.WriteCatalog(src, day)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: %d bytes", src.Label, len(doc))
	got, err := oscal.Read(doc, &scf.Source{})
	if err != nil {
		t.Fatal(err)
	}
	got.Filename, got.SHA256 = src.Filename, src.SHA256
	if bytes.Equal(encoded(t, got), want) {
		return
	}
	a, _ := custom.WriteCatalog(src)
	b, _ := custom.WriteCatalog(got)
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			t.Fatalf(
				"the catalog that was read is another one:\n%s\n%s",
				a[max(0, i-200):min(len(a), i+100)],
				b[max(0, i-200):min(len(b), i+100)],
			)
		}
	}
	t.Error("the catalog that was read is another one")
}

func TestRoundTrip(t *testing.T) { roundTrip(t, load(t)) }

func TestRoundTripOfficial(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	for _, name := range []string{"scf-2022.3.xlsx", "scf-2026.1.1-like.xlsx"} {
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

const head = `"uuid": "3f2b1c1e-6a54-4c5e-9d1f-0c8e6a1b2c3d", "metadata": {"title": "TITLE", "last-modified": "2026-11-20T09:00:00Z", "version": "1", "oscal-version": "1.2.2"}`

func titled(title string) string { return strings.Replace(head, "TITLE", title, 1) }

// TestFrameworkTexts checks that a catalog of another standard provides the texts of a framework.
func TestFrameworkTexts(t *testing.T) {
	doc := `{"catalog": {` + titled("NIST CSF v2.0") + `, "groups": [{"title": "Govern", "controls": [
		{"id": "gv.oc-01", "title": "Mission", "props": [{"name": "label", "value": "GV.OC-01"}], "parts": [
			{"name": "statement", "prose": "The mission is known.", "parts": [{"name": "item", "prose": "It is written down.", "props": [{"name": "label", "value": "a."}]}]}]},
		{"id": "zz-99", "title": "New"}]}]}}`
	base := load(t)
	before := len(base.Frameworks)
	src, err := oscal.Read([]byte(doc), base)
	if err != nil {
		t.Fatal(err)
	}
	s, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	q, err := s.Requirement("nist-csf-2.0:GV.OC-01")
	if err != nil || q.Text == nil || *q.Text != "The mission is known.\na. It is written down." || *q.Title != "Mission" {
		t.Errorf("%+v, %v", q, err)
	}
	if len(src.Frameworks) != before || len(src.Warnings) != 1 || src.Label != "" {
		t.Errorf("%d frameworks, %+v", len(src.Frameworks), src.Warnings)
	}
	for _, f := range base.Frameworks {
		for _, r := range f.Requirements {
			if r.Code == "zz-99" || r.Text == "The mission is known.\na. It is written down." {
				t.Fatal("the base was changed")
			}
		}
	}
}

// TestParameters checks that parameters are filled, or shown as what has to be assigned, and that withdrawn controls are
// kept with a mark, but don't count as uncovered.
func TestParameters(t *testing.T) {
	doc := `{"catalog": {` + titled("Yard Rules") + `, "controls": [
		{"id": "ya-1", "title": "Walls", "params": [
			{"id": "p1", "label": "time"}, {"id": "p2", "values": ["two", "three"]}, {"id": "p4"},
			{"id": "p3", "select": {"how-many": "one-or-more", "choice": ["by day", "every {{ insert: param, p1 }}"]}},
			{"id": "p5", "select": {"choice": ["{{ p5 }}"]}}, {"id": "p6", "values": ["{{ insert: param, p6 }}"]}],
		 "parts": [{"name": "statement", "prose": "{{ insert: param, p1 }} {{insert: param,p2}} {{ p3 }} {{ p4 }} {{ p9 }} { x } {{ p5 }} {{ p6 }} {{ g1 }} {{ c1 }}"}]},
		{"id": "ya-2", "title": "Moat", "props": [{"name": "status", "value": "withdrawn"}], "links": [
			{"href": "#ya-1", "rel": "incorporated-into"}, {"href": "#ya-3", "rel": "incorporated-into"}, {"href": "#ya-4", "rel": "moved-to"}]}],
		"params": [{"id": "c1", "values": ["daily"]}],
		"groups": [{"title": "Yard", "params": [{"id": "g1", "values": ["yearly"]}], "controls": [{"id": "ya-3", "title": "Gate"}]}]}}`
	src, err := oscal.Read([]byte(doc), load(t))
	if err != nil {
		t.Fatal(err)
	}
	f := src.Frameworks[len(src.Frameworks)-1]
	want := "[time] two, three [one or more: by day; every [time]] [p4] [p9] { x } " +
		"[one of: [one of: [one of: [one of: [one of: [p5]]]]]] [p6] yearly daily"
	if len(f.Requirements) != 3 || f.Requirements[0].Text != want ||
		f.Requirements[1] != (scf.Requirement{Code: "ya-2", Title: "Moat [withdrawn: incorporated into ya-1, ya-3; moved to ya-4]"}) {
		t.Errorf("%+v", f.Requirements)
	}
	snapshot, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"})
	if err != nil {
		t.Fatal(err)
	}
	if c, err := snapshot.Coverage(f.Code); err != nil || c.RequirementCount != 2 {
		t.Errorf("%+v %v", c, err)
	}
}

// TestProfile checks that a profile becomes a framework, of SCF controls or of another framework's
// requirements.
func TestProfile(t *testing.T) {
	for name, c := range map[string]struct {
		imports      string
		requirements string
	}{
		"SCF controls": {`[{"href": "catalog.json", "include-controls": [{"with-ids": ["iac-06", "GOV-01"]}]}]`, "GOV-01 IAC-06"},
		"by pattern": {
			`[{"href": "scf.json", "include-controls": [{"matching": [{"pattern": "iac-0[67]"}]}], "exclude-controls": [{"with-ids": ["iac-07"]}]}]`,
			"IAC-06",
		},
		"of a framework":     {`[{"href": "#iso-27001-2022", "include-controls": [{"with-ids": ["A.5.1", "A.8.5"]}]}]`, "A.5.1 A.8.5"},
		"through a resource": {`[{"href": "#11111111-1111-4111-8111-111111111111", "include-controls": [{"with-ids": ["A.5.1"]}]}]`, "A.5.1"},
	} {
		doc := `{"profile": {` + titled("Yard baseline") + `, "imports": ` + c.imports + `, "back-matter": {"resources": [
			{"uuid": "11111111-1111-4111-8111-111111111111", "title": "ISO", "rlinks": [{"href": "https://example.com/iso-27001-2022.json"}]}]}}}`
		src, err := oscal.Read([]byte(doc), load(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"})
		if err != nil {
			t.Fatal(err)
		}
		all, err := s.Requirements("yard-baseline")
		var codes []string
		for _, q := range all {
			codes = append(codes, q.Code)
		}
		if got := strings.Join(codes, " "); got != c.requirements || err != nil {
			t.Errorf("%s: %s, %v", name, got, err)
		}
		if cover, err := s.Coverage("yard-baseline"); err != nil || cover.CoveragePct != 100 {
			t.Errorf("%s: %+v, %v", name, cover, err)
		}
	}
}

const maps = `{"mapping-collection": {HEAD, "provenance": {"method": "human", "matching-rationale": "semantic", "status": "complete", "mapping-description": "By hand."},
	"mappings": [{"uuid": "22222222-2222-4222-8222-222222222222", "source-resource": {"type": "catalog", "href": "iso-27001-2022.json"}, "target-resource": {"type": "catalog", "href": "scf.json"},
	"maps": [{"uuid": "33333333-3333-4333-8333-333333333333", "relationship": "subset-of", "remarks": "Because.", "sources": [{"type": "control", "id-ref": "A.8.5"}], "targets": [{"type": "control", "id-ref": "iac-06"}]}]}]}}`

// TestMappings checks that a mapping collection adds details to existing mappings and adds missing
// ones.
func TestMappings(t *testing.T) {
	doc := strings.Replace(maps, "HEAD", titled("Our mapping"), 1)
	for name, c := range map[string]struct{ doc, relationship string }{
		"from the framework": {doc, "subset"},
		"from the SCF": {strings.NewReplacer(`"iso-27001-2022.json"`, `"scf.json"`, `"scf.json"`, `"iso-27001-2022.json"`,
			`"A.8.5"`, `"iac-06"`, `"iac-06"`, `"A.8.5"`).Replace(doc), "superset"},
	} {
		src, err := oscal.Read([]byte(c.doc), load(t))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		s, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"})
		if err != nil {
			t.Fatal(err)
		}
		found := false
		list, _ := s.ControlMappings("IAC-06")
		for _, m := range list {
			if m.FrameworkCode == "iso-27001-2022" && m.RequirementCode == "A.8.5" {
				found = m.Relationship != nil && *m.Relationship == c.relationship && *m.Rationale == "Because." &&
					m.Source == "Our mapping"
			}
		}
		if !found {
			t.Errorf("%s: the mapping is not there as the document says", name)
		}
	}
}

func TestRejected(t *testing.T) {
	base := load(t)
	mapping := strings.Replace(maps, "HEAD", titled("Our mapping"), 1)
	profile := func(imports string) string {
		return `{"profile": {` + titled("Yard baseline") + `, "imports": ` + imports + `, "back-matter": {"resources": [
			{"uuid": "11111111-1111-4111-8111-111111111111", "rlinks": [{"href": "#44444444-4444-4444-8444-444444444444"}]},
			{"uuid": "44444444-4444-4444-8444-444444444444", "rlinks": [{"href": "#11111111-1111-4111-8111-111111111111"}]}]}}}`
	}
	for name, c := range map[string]struct{ doc, place, says string }{
		"it is empty":   {"", "", "the document is empty"},
		"a list":        {"[]", "", "not an OSCAL document"},
		"another model": {`{"system-security-plan": {}}`, "", "not an OSCAL catalog"},
		"10,000 deep":   {`{"catalog":` + strings.Repeat(`{"groups":[`, 10000), "catalog", "nested"},
		"no metadata":   {`{"catalog": {}}`, "catalog.metadata.oscal-version", "OSCAL version is missing"},
		"no such version": {
			strings.Replace(`{"catalog": {`+head+`}}`, "1.2.2", "9.9.9", 1),
			"catalog.metadata.oscal-version",
			"9.9.9",
		},
		"against the schema": {`{"catalog": {` + head + `, "controls": [{"id": "gov-01"}]}}`, "catalog.controls[0]", "title"},
		"an unknown field":   {`{"catalog": {` + head + `, "kontrols": []}}`, "catalog", "kontrols"},
		"a bad token": {
			`{"catalog": {` + head + `, "controls": [{"id": "1 2", "title": "x"}]}}`,
			"catalog.controls[0].id",
			"match",
		},
		"no control": {`{"catalog": {` + head + `}}`, "catalog", "no control"},
		"a control twice": {
			`{"catalog": {` + head + `, "controls": [{"id": "gov-01", "title": "x"}, {"id": "GOV-01", "title": "x"}]}}`,
			"catalog.controls[1].id",
			"twice",
		},
		"two kinds": {
			`{"catalog": {` + head + `, "controls": [{"id": "gov-01", "title": "x"}, {"id": "ac-1", "title": "x"}]}}`,
			"catalog.controls[1].id",
			"can't mix",
		},
		"a link to nothing": {
			`{"catalog": {` + head + `, "controls": [{"id": "gov-01", "title": "x", "links": [{"href": "#x", "rel": "maps-to"}]}]}}`,
			"catalog.controls[0].links[0]",
			"the back matter contains no framework x",
		},
		"imports itself": {
			profile(`[{"href": "#3f2b1c1e-6a54-4c5e-9d1f-0c8e6a1b2c3d", "include-all": {}}]`),
			"profile.imports[0].href",
			"refers to itself",
		},
		"a cycle": {
			profile(`[{"href": "#11111111-1111-4111-8111-111111111111", "include-all": {}}]`),
			"profile.imports[0].href",
			"refers to itself",
		},
		"imports what is not there": {profile(`[{"href": "moon.json", "include-all": {}}]`), "profile.imports[0].href", "no framework"},
		"selects what is not there": {
			profile(`[{"href": "#iso-27001-2022", "include-controls": [{"with-ids": ["A.5.1", "A.99"]}]}]`),
			"profile.imports[0].include-controls[0].with-ids[1]",
			`"A.99"`,
		},
		"selects nothing": {
			profile(`[{"href": "scf.json", "include-controls": [{"matching": [{"pattern": "zzz*"}]}]}]`),
			"profile.imports",
			"the profile selects no controls",
		},
		"a name that is taken": {
			strings.Replace(profile(`[{"href": "scf.json", "include-all": {}}]`), "Yard baseline", "NIST CSF v2.0", 1),
			"profile.metadata.title",
			"nist-csf-2.0",
		},
		"maps to unknown controls": {
			strings.Replace(mapping, `"iac-06"`, `"iac-99"`, 1),
			"mapping-collection.mappings[0].maps[0].targets[0].id-ref",
			"iac-99",
		},
		"maps no SCF control": {strings.Replace(mapping, `"iac-06"`, `"x-1"`, 1), "mapping-collection.mappings[0]", "no SCF controls"},
		"an unknown relationship": {
			strings.Replace(mapping, `subset-of`, `cousin-of`, 1),
			"mapping-collection.mappings[0].maps[0].relationship",
			"cousin-of",
		},
		"a requirement's text alone": {
			`{"catalog": {` + head + `, "controls": [{"id": "gov-01", "title": "x"}], "back-matter": {"resources": [{"uuid": "11111111-1111-4111-8111-111111111111", "title": "F", "props": [{"name": "type", "value": "framework"}, {"name": "requirement-title", "value": "x", "group": "r9"}]}]}}}`,
			"catalog.back-matter.resources[0].props[1]",
			"no requirement",
		},
	} {
		_, err := oscal.Read([]byte(c.doc), base)
		var at *custom.PathError
		if !errors.As(err, &at) || !strings.HasPrefix(at.Path, c.place) || !strings.Contains(err.Error(), c.says) ||
			len(err.Error()) > 900 {
			t.Errorf("%s: %v; want %q at %q", name, err, c.says, c.place)
		}
	}
}

func FuzzRead(f *testing.F) {
	base := load(f)
	f.Add([]byte(`{"catalog": {` + head + `, "controls": [{"id": "gov-01", "title": "x"}]}}`))
	f.Add([]byte(`{"profile": {` + titled("Yard") + `, "imports": [{"href": "#iso-27001-2022", "include-all": {}}]}}`))
	f.Add([]byte(strings.Replace(maps, "HEAD", titled("Our mapping"), 1)))
	f.Fuzz(func(t *testing.T, data []byte) {
		src, err := oscal.Read(data, base)
		if err != nil || !json.Valid(data) {
			return
		}
		if _, err := scf.NewSnapshot(src, scf.Version{ID: "01890000-0000-7000-8000-000000000000"}); err != nil {
			t.Fatalf("what was read contradicts itself: %v", err)
		}
	})
}
