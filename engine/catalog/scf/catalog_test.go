package scf

import (
	"encoding/json"
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

const (
	versionA = "01930000-0000-7000-8000-000000000001"
	versionB = "01930000-1111-7000-8000-000000000002"
)

var imported = time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)

// sample returns a small catalog with every kind of record.
func sample() *Source {
	return &Source{
		Label: "9.1", Filename: "sample.xlsx", SHA256: strings.Repeat("ab", 32),
		Domains: []Domain{{Code: "IAC", Name: "Access", Principle: "Let in who should be."}, {Code: "NET", Name: "Networks"}},
		Evidence: []EvidenceRequest{
			{Code: "E-IAM-01", Area: "Access", Artifact: "Access list", Description: "Who may do what"},
			{Code: "E-NET-01", Artifact: "Diagram"},
		},
		Risks:      []Hazard{{Code: "R-AC-1", Group: "Access", Title: "Nobody answers"}},
		Threats:    []Hazard{{Code: "NT-1", Group: "Nature", Title: "Drought", Description: "Too dry"}},
		Principles: []Principle{{Number: "1.10", Name: "Notice", Controls: []string{"IAC-01"}}},
		Controls: []Control{
			{
				Code: "IAC-01", Title: "Identity management", Description: "Manage who people are.", Question: "Are identities managed?",
				Weight: 9, Applicability: []string{"process"}, CSFFunction: "protect", Cadence: "annual", Evidence: []int{0},
				Maturity: [6]string{1: "Ad hoc.", 3: "Standard."}, Risks: []string{"R-AC-1"}, Baselines: []string{"scf-core-fundamentals"},
			},
			{
				Code: "IAC-06", Title: "Multi-factor authentication", Description: "Ask for a second factor at sign-in.", Weight: 10,
				Solutions:  []Pair{{"any", "Tokens"}},
				Objectives: []Objective{{Code: "IAC-06_A01", Text: "A second factor is asked for.", Rigor: 2, Origins: []string{"NIST"}}},
				Extra:      []Pair{{"My column", "mine"}}, Traits: []string{"uses_cloud"}, Tags: []string{"authentication"},
			},
			{
				Code: "NET-03", Title: "Boundary protection", Description: "Guard the edges of networks.", Weight: 5,
				Evidence: []int{1}, Threats: []string{"NT-1"}, Errata: []string{"- renamed"},
				Compensating: []CompensatingControl{
					{Control: "IAC-06", Name: "Multi-factor authentication", Justification: "Fewer get in."},
				},
			},
			{Code: "NET-03.1", Title: "Old thing [deprecated - incorporated into NET-03]", Weight: 0},
		},
		Frameworks: []Framework{
			{
				Code: "iso-27001-2022", Name: "ISO 27001 2022", Column: "ISO 27001 2022", Includes: []string{"iso-27002-2022"},
				Requirements: []Requirement{{Code: "5.1"}, {Code: "5.2"}},
			},
			{
				Code: "iso-27002-2022", Name: "ISO 27002 2022", Column: "ISO 27002 2022",
				Requirements: []Requirement{{Code: "5.1"}, {Code: "5.17"}, {Code: "8.5"}},
			},
			{Code: "empty-law", Name: "Empty law"},
			{Code: "gdpr", Name: "EU GDPR", Requirements: []Requirement{
				{Code: "Article 32.1(b)", Title: "Lasting confidentiality"}, {Code: "Article 99"},
			}},
		},
		Mappings: []Mapping{ // out of order on purpose
			{Control: 2, Framework: 1, Requirement: 2},
			{Control: 0, Framework: 0, Requirement: 0},
			{Control: 0, Framework: 1, Requirement: 1},
			{Control: 1, Framework: 1, Requirement: 1, Detail: &MappingDetail{
				Relationship: "intersects", Strength: 5, Rationale: "Functional", Source: "strm.pdf", Official: true,
			}},
			{Control: 1, Framework: 1, Requirement: 2},
			{Control: 1, Framework: 3, Requirement: 0},
		},
	}
}

func snapshot(t testing.TB, src *Source, id string) *Snapshot {
	t.Helper()
	s, err := NewSnapshot(src, Version{ID: id, ImportedAt: imported})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestNewRefusesContradictions(t *testing.T) {
	for name, spoil := range map[string]func(*Source){
		"used twice":                      func(s *Source) { s.Controls[1].Code = "IAC-01" },
		"must have the form":              func(s *Source) { s.Controls[1].Code = "IAC6" },
		"unknown domain":                  func(s *Source) { s.Controls[1].Code = "ZZZ-01" },
		"evidence request":                func(s *Source) { s.Controls[1].Evidence = []int{7} },
		"weight":                          func(s *Source) { s.Controls[1].Weight = 11 },
		"framework code":                  func(s *Source) { s.Frameworks[2].Code = "gdpr" },
		"requirement":                     func(s *Source) { s.Frameworks[0].Requirements[1].Code = "5.1" },
		"refers to a missing requirement": func(s *Source) { s.Mappings[0].Requirement = 3 },
		"requirement 8.5":                 func(s *Source) { s.Mappings = append(s.Mappings, s.Mappings[0]) },
		"domain code \"IAC\"":             func(s *Source) { s.Domains[1].Code = "IAC" },
	} {
		src := sample()
		spoil(src)
		if _, err := NewSnapshot(src, Version{ID: versionA}); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: got %v", name, err)
		}
	}
	if _, err := NewSnapshot(sample(), Version{ID: "not an id"}); err == nil {
		t.Error("a version id that is no UUIDv7 was taken")
	}
}

func TestRecordsAreWhole(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	c, err := s.Control("iac-06")
	if err != nil {
		t.Fatal(err)
	}
	if !c.IsMaterial || *c.Weight != 10 || c.Question != nil || c.Solutions["any"] != "Tokens" || c.Extra["My column"] != "mine" {
		t.Errorf("control: %+v", c)
	}
	if old, _ := s.Control("NET-03.1"); !old.IsDeprecated || old.Weight == nil || *old.Weight != 0 {
		t.Errorf("weight 0 is a value: %+v", old)
	}
	v := s.Version()
	if v.Counts != (api.CatalogCounts{Controls: 4, Domains: 2, Frameworks: 4, Requirements: 7, Mappings: 6}) ||
		v.Status != api.CatalogActive {
		t.Errorf("version: %+v", v)
	}
	frameworks := s.Frameworks()
	if frameworks[1].MappingCount != 4 || frameworks[2].MappingCount != 0 || frameworks[0].MappingCount != 1 {
		t.Errorf("mapping counts: %+v", frameworks)
	}
	walk, err := s.Crosswalk("gdpr", "iso-27002-2022")
	if err != nil {
		t.Fatal(err)
	}
	coverage, _ := s.Coverage("gdpr")
	for _, record := range []any{c, s.Domains(), frameworks, v, walk, coverage, Diff(s, s)} {
		raw, err := json.Marshal(record)
		if err != nil {
			t.Fatal(err)
		}
		noNullLists(t, reflect.ValueOf(record), string(raw))
	}
}

// noNullLists fails if a slice or map of a record would be null in JSON.
func noNullLists(t *testing.T, v reflect.Value, where string) {
	t.Helper()
	switch v.Kind() {
	case reflect.Slice, reflect.Map:
		if v.IsNil() {
			t.Errorf("a null list in %.200s", where)
		}
		if v.Kind() == reflect.Slice {
			for i := range v.Len() {
				noNullLists(t, v.Index(i), where)
			}
		}
	case reflect.Pointer:
		if !v.IsNil() {
			noNullLists(t, v.Elem(), where)
		}
	case reflect.Struct:
		if _, isTime := v.Interface().(time.Time); isTime {
			return
		}
		for i := range v.NumField() {
			noNullLists(t, v.Field(i), where)
		}
	}
}

func TestIDsAreStableAndFindTheirRecord(t *testing.T) {
	a, b := snapshot(t, sample(), versionA), snapshot(t, sample(), versionB)
	again := snapshot(t, sample(), versionA)
	mappings, err := a.ControlMappings("IAC-06")
	if err != nil || len(mappings) != 3 {
		t.Fatal(mappings, err)
	}
	m := mappings[0]
	if *m.Relationship != "intersects" || *m.Strength != 5 || m.Source != "strm.pdf" || mappings[1].Relationship != nil {
		t.Errorf("mapping: %+v", mappings)
	}
	for kind, find := range map[string]func(s *Snapshot) (string, error){
		"control":     func(s *Snapshot) (string, error) { r, err := s.Control(m.ControlID); return r.ID, err },
		"framework":   func(s *Snapshot) (string, error) { r, err := s.Framework(m.FrameworkID); return r.ID, err },
		"requirement": func(s *Snapshot) (string, error) { r, err := s.Requirement(m.RequirementID); return r.ID, err },
		"mapping":     func(s *Snapshot) (string, error) { r, err := s.Mapping(m.ID); return r.ID, err },
		"domain":      func(s *Snapshot) (string, error) { r, err := s.Domain(s.Domains()[0].ID); return r.ID, err },
	} {
		id, err := find(a)
		if err != nil || len(id) != 36 || id[14] != '7' || !strings.HasPrefix(id, versionA[:14]) {
			t.Errorf("%s: %q, %v", kind, id, err)
		}
		if same, _ := find(again); same != id {
			t.Errorf("%s: %s and %s in two snapshots of one version", kind, id, same)
		}
		if kind == "domain" {
			continue
		}
		var missing *NotFoundError
		if _, err := find(b); !errors.As(err, &missing) {
			t.Errorf("%s of another version: %v", kind, err)
		}
	}
	if _, err := a.Control(m.FrameworkID); err == nil {
		t.Error("a framework's id found a control")
	}
}

func TestReferences(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	for ref, want := range map[string]string{
		"gdpr": "gdpr", "EU GDPR": "gdpr", "ISO 27001:2022": "iso-27001-2022", "ISO/IEC 27002:2022": "iso-27002-2022", "empty": "empty-law",
	} {
		if f, err := s.Framework(ref); err != nil || f.Code != want {
			t.Errorf("framework %q: %s, %v", ref, f.Code, err)
		}
	}
	for ref, want := range map[string]string{
		"iso-27002-2022:5.1": "iso-27002-2022:5.1", "8.5": "iso-27002-2022:8.5", "gdpr:Art 32(1)(b)": "gdpr:Article 32.1(b)",
		"A.5.17": "iso-27002-2022:5.17", "iso-27001-2022:A.8.5": "iso-27002-2022:8.5", "Art 99": "gdpr:Article 99",
	} {
		q, err := s.Requirement(ref)
		if got := q.FrameworkCode + ":" + q.Code; err != nil || got != want {
			t.Errorf("requirement %q: %s, %v", ref, got, err)
		}
	}
	var twice *AmbiguousError
	if _, err := s.Requirement("5.1"); !errors.As(err, &twice) ||
		!slices.Equal(twice.Matches, []string{"iso-27001-2022:5.1", "iso-27002-2022:5.1"}) {
		t.Errorf("5.1: %v", err)
	}
	if _, err := s.Framework("iso"); !errors.As(err, &twice) || len(twice.Matches) != 2 {
		t.Errorf("iso: %v", err)
	}
	_, err := s.Framework("gdrp")
	if err == nil || !strings.Contains(err.Error(), "did you mean gdpr?") {
		t.Errorf("gdrp: %v", err)
	}
	if _, err := s.Framework("iso-27001-2013"); err == nil || !strings.Contains(err.Error(), "iso-27001-2022") {
		t.Errorf("a neighbour is not offered: %v", err)
	}
	if _, err := s.Control("IAC-66"); err == nil || !strings.Contains(err.Error(), "IAC-06") {
		t.Errorf("IAC-66: %v", err)
	}
	scope, err := s.FrameworkWithIncluded("iso-27001-2022")
	if err != nil || len(scope) != 2 || scope[1].Code != "iso-27002-2022" {
		t.Errorf("scope: %v %v", scope, err)
	}
}

func TestAnnexAlone(t *testing.T) {
	frameworks := []Framework{{Name: "ISO⏎27002⏎v2022", Column: "ISO 27002 v2022", Requirements: []Requirement{{Code: "5.1"}}}}
	AssignFrameworkCodes(frameworks, nil)
	src := &Source{Frameworks: frameworks}
	s := snapshot(t, src, versionA)
	f, err := s.Framework("iso-27001-2022")
	if err != nil || f.Code != "iso-27002-2022" {
		t.Fatalf("%+v, %v", f, err)
	}
	if q, err := s.Requirement("iso-27001-2022:A.5.1"); err != nil || q.Code != "5.1" {
		t.Errorf("annex code: %+v, %v", q, err)
	}
}

func TestFilters(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	for _, test := range []struct {
		filter ControlFilter
		want   string
	}{
		{ControlFilter{}, "IAC-01 IAC-06 NET-03 NET-03.1"},
		{ControlFilter{Code: "iac-06"}, "IAC-06"},
		{ControlFilter{Code: "ZZZ-01"}, ""},
		{ControlFilter{Domain: "net"}, "NET-03 NET-03.1"},
		{ControlFilter{Framework: "iso-27002-2022"}, "IAC-01 IAC-06 NET-03"},
		{ControlFilter{Framework: "iso-27002-2022", Domain: "IAC"}, "IAC-01 IAC-06"},
		{ControlFilter{Query: "factors authenticate"}, "IAC-06"},
		{ControlFilter{Query: "net-03"}, "NET-03 NET-03.1"},
		{ControlFilter{Query: "factor boundary"}, ""},
		{ControlFilter{Tags: []string{"Authentication", "uses_cloud"}}, "IAC-06"},
		{ControlFilter{Tags: []string{"scf-core-fundamentals"}}, "IAC-01"},
	} {
		list, err := s.Controls(test.filter)
		var codes []string
		for _, c := range list {
			codes = append(codes, c.Code)
		}
		if got := strings.Join(codes, " "); err != nil || got != test.want || list == nil {
			t.Errorf("%+v: %q, %v", test.filter, got, err)
		}
	}
	if _, err := s.Controls(ControlFilter{Framework: "nothing-like-it"}); err == nil {
		t.Error("an unknown framework is an error")
	}
	if _, err := s.Controls(ControlFilter{Domain: "XYZ"}); err == nil {
		t.Error("an unknown domain is an error")
	}
}

func TestCoverageAndCrosswalk(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	c, err := s.Coverage("iso-27002-2022")
	if err != nil {
		t.Fatal(err)
	}
	if c.RequirementCount != 3 || c.MappedRequirementCount != 2 || c.CoveragePct != 66.67 || c.ControlCount != 3 || c.MappingCount != 4 {
		t.Errorf("coverage: %+v", c)
	}
	want := []api.DomainCoverage{
		{DomainCode: "IAC", DomainName: "Access", ControlCount: 2, RequirementCount: 2, MappingCount: 3},
		{DomainCode: "NET", DomainName: "Networks", ControlCount: 1, RequirementCount: 1, MappingCount: 1},
	}
	if !slices.Equal(c.ByDomain, want) {
		t.Errorf("by domain: %+v", c.ByDomain)
	}
	if c, err := s.Coverage("empty-law"); err != nil || c.CoveragePct != 0 || c.ByDomain == nil {
		t.Errorf("empty: %+v, %v", c, err)
	}
	w, err := s.Crosswalk("gdpr", "iso-27002-2022")
	if err != nil || len(w.Controls) != 1 || w.Controls[0].ControlCode != "IAC-06" ||
		!slices.Equal(w.Controls[0].TargetRequirementCodes, []string{"5.17", "8.5"}) {
		t.Fatalf("crosswalk: %+v, %v", w, err)
	}
	if len(w.Pairs) != 2 || w.Pairs[1].TargetRequirementCode != "8.5" || !slices.Equal(w.Pairs[1].ControlCodes, []string{"IAC-06"}) {
		t.Errorf("pairs: %+v", w.Pairs)
	}
	if w, err := s.Crosswalk("iso-27002-2022", ""); err != nil || len(w.Controls) != 3 || w.Target != nil || w.Pairs == nil {
		t.Errorf("one sided: %+v, %v", w, err)
	}
}

func TestSearch(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	hits := s.Search("multi-factor authentications", 10)
	if len(hits) == 0 || hits[0].Code != "IAC-06" || hits[0].Score <= 0 || hits[0].Score > 1 {
		t.Errorf("words: %+v", hits)
	}
	for _, text := range []string{"iac-06", "IAC 6", "iac6", " iac-6", "IAC–06"} {
		if hits := s.Search(text, 10); len(hits) == 0 || hits[0].Code != "IAC-06" || hits[0].Score != 1 {
			t.Errorf("code %q: %+v", text, hits)
		}
		if c, err := s.Control(text); err != nil || c.Code != "IAC-06" {
			t.Errorf("control %q: %v", text, err)
		}
	}
	for text, want := range map[string]string{
		"iac 6.4": "IAC-06.4", "AST-02 (11)": "AST-02.11", "net 10": "NET-10", "iac-06.01": "IAC-06.1",
		"iac": "", "iac 123": "", "pr.ac-1": "", "iac-6.4.1": "", "AC-2(1)": "",
	} {
		if got := normalizeControlCode(text); got != want {
			t.Errorf("%q is read as %q", text, got)
		}
	}
	if hits := s.Search("multifactor", 10); len(hits) == 0 || hits[0].Code != "IAC-06" {
		t.Errorf("a compound in one word: %+v", hits)
	}
	if hits := s.Search("Art. 32(1)(b)", 10); len(hits) == 0 || hits[0].Kind != "requirement" || *hits[0].FrameworkCode != "gdpr" {
		t.Errorf("requirement code: %+v", hits)
	}
	if hits := s.Search("confidentiality", 10); len(hits) != 1 || hits[0].Kind != "requirement" {
		t.Errorf("requirement title: %+v", hits)
	}
	for _, text := range []string{"", "  ", "the of and", "\x00\xff", strings.Repeat("ü", 5000)} {
		if hits := s.Search(text, 10); len(hits) != 0 {
			t.Errorf("%.10q finds %+v", text, hits)
		}
	}
}
