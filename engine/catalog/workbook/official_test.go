package workbook

import (
	"bytes"
	"context"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

const versionID = "01930000-0000-7000-8000-000000000001"

var read struct {
	sync.Mutex
	sources map[string]*scf.Source
}

// official reads an official workbook, once for all tests.
func official(t testing.TB, name string) *scf.Source {
	t.Helper()
	path := shareddata.PathOrSkip(t, "scf", name)
	read.Lock()
	defer read.Unlock()
	if src, ok := read.sources[name]; ok {
		return src
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src, err := Read(context.Background(), bytes.NewReader(data), int64(len(data)), Options{Filename: name})
	if err != nil {
		t.Fatal(err)
	}
	if read.sources == nil {
		read.sources = map[string]*scf.Source{}
	}
	read.sources[name] = src
	return src
}

// TestOfficialCounts compares with the counts in the README beside the workbooks.
func TestOfficialCounts(t *testing.T) {
	for _, test := range []struct {
		file, label string
		want        api.ImportStatistics
	}{
		{"scf-2018.1.xlsx", "2018.1", api.ImportStatistics{
			Controls: 747, Domains: 32, Frameworks: 102, Requirements: 5841, Mappings: 10945,
			CrosswalkCells: 5831, NumericCells: 102, BlankCells: 885, Columns: 117, Sheets: 1,
		}},
		{"scf-2020.3.xlsx", "2020.3", api.ImportStatistics{
			Controls: 874, Domains: 32, Frameworks: 139, Requirements: 10696, Mappings: 19848,
			CrosswalkCells: 11184, NumericCells: 155, BlankCells: 1583, Columns: 165, Sheets: 5,
		}},
		{"scf-2022.3.xlsx", "2022.3", api.ImportStatistics{
			Controls: 1090, Domains: 32, Frameworks: 192, Requirements: 22678, Mappings: 42756,
			CrosswalkCells: 22561, NumericCells: 74, BlankCells: 1701, Columns: 277, Sheets: 7,
			FormulaCells: 3176, EvidenceRequests: 177, Risks: 32, Threats: 25,
		}},
		{"scf-2026.1.1-like.xlsx", "2026.1.1", api.ImportStatistics{
			Controls: 1468, Domains: 33, Frameworks: 250, Requirements: 33808, Mappings: 67524,
			CrosswalkCells: 30421, Columns: 369, Sheets: 9,
			EvidenceRequests: 303, AssessmentObjectives: 5776, Risks: 39, Threats: 41, Sources: 250,
		}},
	} {
		t.Run(test.label, func(t *testing.T) {
			src := official(t, test.file)
			got := src.Statistics
			if src.Label != test.label {
				t.Errorf("label %s", src.Label)
			}
			if got.UnknownColumns != 0 {
				t.Errorf("%d unknown columns: %v", got.UnknownColumns, src.Warnings)
			}
			// Only the counts given in the table are compared.
			got.DuplicateCodes, got.Principles, got.Warnings, got.CompensatingControls = 0, 0, 0, 0
			if test.want.Sources == 0 {
				got.Sources = 0
			}
			if got != test.want {
				t.Errorf("got  %+v\nwant %+v", got, test.want)
			}
			if _, err := scf.NewSnapshot(src, scf.Version{ID: versionID}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestFrameworksKeepTheirCodes(t *testing.T) {
	for file, codes := range map[string]string{
		"scf-2018.1.xlsx": "soc2-tsc soc2-tsc-2016 cis-7 iso-27001-2013 iso-27002-2013 nist-800-53-r4 nist-csf-1.1 " +
			"pci-dss-3.2 gdpr hipaa fedramp-moderate",
		"scf-2020.3.xlsx": "soc2-tsc cis-7.1 nist-csf-1.1 pci-dss-3.2 gdpr hipaa ccpa cmmc-1.0 lgpd fedramp-moderate fedramp-moderate-2",
		"scf-2022.3.xlsx": "soc2-tsc cis-8.0 iso-27001-2013 iso-27001-2022 iso-27002-2022 nist-csf-1.1 nist-800-53-r4 nist-800-53-r5 " +
			"nist-800-53-r5-low nist-800-171-r2 pci-dss-3.2 pci-dss-4.0 gdpr uk-gdpr hipaa ccpa lgpd cmmc-2.0-level-1 cmmc-2.0-level-2",
		"scf-2026.1.1-like.xlsx": "soc2-tsc cis-8.1 cis-8.1-ig1 iso-27001-2022 iso-27002-2022 iso-42001 nist-csf-2.0 " +
			"nist-800-53-r4 nist-800-53-r5 " +
			"nist-800-53-r5-low nist-800-171-r2 nist-800-171-r3 pci-dss-4.0.1 gdpr hipaa dora nis2 lgpd cmmc-2.0-level-2 ccpa " +
			"nist-ai-rmf-1.0 eu-ai-act",
	} {
		src := official(t, file)
		for _, code := range strings.Fields(codes) {
			if !slices.ContainsFunc(src.Frameworks, func(f scf.Framework) bool { return f.Code == code }) {
				t.Errorf("%s has no %s", file, code)
			}
		}
	}
}

func TestOfficialDetails(t *testing.T) {
	src := official(t, "scf-2022.3.xlsx")
	s, err := scf.NewSnapshot(src, scf.Version{ID: versionID})
	if err != nil {
		t.Fatal(err)
	}
	mfa, err := s.Control("IAC-06")
	if err != nil || mfa.DomainCode != "IAC" || mfa.Weight == nil || mfa.CSFFunction == nil || mfa.Question == nil ||
		len(mfa.Maturity) != 6 || len(mfa.Risks) == 0 || len(mfa.Threats) == 0 {
		t.Errorf("IAC-06 is not whole: %+v, %v", mfa, err)
	}
	// ISO 27001's clauses and controls are in two columns.
	scope, err := s.FrameworkWithIncluded("iso-27001-2022")
	if err != nil || len(scope) != 2 {
		t.Errorf("scope: %v, %v", scope, err)
	}
	if q, err := s.Requirement("iso-27001-2022:A.5.1"); err != nil || q.FrameworkCode != "iso-27002-2022" {
		t.Errorf("A.5.1: %+v, %v", q, err)
	}
	// The raw file contains numbers such as 5.0999999999999996.
	for f := range src.Frameworks {
		for _, q := range src.Frameworks[f].Requirements {
			if strings.Contains(q.Code, "99999") || strings.Contains(q.Code, "00000") || q.Code != strings.TrimSpace(q.Code) {
				t.Errorf("%s: code %q", src.Frameworks[f].Code, q.Code)
			}
		}
	}
	like := official(t, "scf-2026.1.1-like.xlsx")
	for i := range like.Controls {
		c := &like.Controls[i]
		if c.Code == "TDA-11.2" && (!c.IsDeprecated() || c.Weight != 0 || len(c.Applicability) != 0) {
			t.Errorf("TDA-11.2: %+v", c)
		}
		if c.Weight == scf.NoWeight || c.Cadence == "" || c.Description == "" {
			t.Errorf("%s lost a field", c.Code)
		}
	}
	if !slices.ContainsFunc(like.Warnings, func(w api.ImportWarning) bool { return strings.Contains(w.Message, "release 2026.1") }) {
		t.Error("no warning of a sheet named after another release")
	}
	if i := slices.IndexFunc(like.Principles, func(p scf.Principle) bool { return p.Number == "1.10" }); i < 0 {
		t.Error("principle 1.10 became 1.1")
	}
	old := official(t, "scf-2020.3.xlsx")
	moderate := 0
	for _, f := range old.Frameworks {
		if strings.HasPrefix(f.Code, "fedramp-moderate") {
			moderate++
			if len(f.Requirements) == 0 {
				t.Errorf("%s is empty", f.Code)
			}
		}
	}
	if moderate != 2 {
		t.Errorf("%d FedRAMP moderate columns", moderate)
	}
	commas := 0
	for _, w := range old.Warnings {
		if strings.Contains(w.Message, "by commas") {
			commas++
		}
	}
	if commas != 2 {
		t.Errorf("%d cells with commas: %v", commas, old.Warnings)
	}
}

func TestEveryCodeStaysKnown(t *testing.T) {
	newest := map[string]bool{}
	for _, c := range official(t, "scf-2026.1.1-like.xlsx").Controls {
		newest[c.Code] = true
	}
	for _, c := range official(t, "scf-2022.3.xlsx").Controls {
		if !newest[c.Code] {
			t.Errorf("%s is gone", c.Code)
		}
	}
}

func TestOfficialDiff(t *testing.T) {
	open := func(file, id string) *scf.Snapshot {
		s, err := scf.NewSnapshot(official(t, file), scf.Version{ID: id})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	d := scf.Diff(open("scf-2022.3.xlsx", versionID), open("scf-2026.1.1-like.xlsx", "01930000-1111-7000-8000-000000000002"))
	if d.Summary.Added != 1468-1090 || d.Summary.Removed != 0 || d.Summary.Renamed == 0 || d.Summary.Reworded == 0 ||
		d.Summary.Reweighted == 0 || d.Summary.MappingsGained == 0 {
		t.Errorf("%+v", d.Summary)
	}
}

// TestFrameworksMeetOverReleases checks how many of 2022.3's frameworks have the same code in the
// 2026.1.1-like file; docs/catalog.md states the number.
func TestFrameworksMeetOverReleases(t *testing.T) {
	newer := map[string]bool{}
	for _, f := range official(t, "scf-2026.1.1-like.xlsx").Frameworks {
		newer[f.Code] = true
	}
	same, edition, gone := 0, 0, []string{}
	for _, f := range official(t, "scf-2022.3.xlsx").Frameworks {
		switch {
		case newer[f.Code]:
			same++
		case slices.ContainsFunc(scf.BuiltinAliases().NewerEditions(f.Code), func(c string) bool { return newer[c] }):
			edition++
		default:
			gone = append(gone, f.Code)
		}
	}
	if same != 126 || edition != 34 || len(gone) != 32 {
		t.Errorf("%d are the same, %d have a newer edition, %d are gone: %q", same, edition, len(gone), gone)
	}
}

// TestSearchByCode checks that codes are found as people write them, whatever the release's
// spelling.
func TestSearchByCode(t *testing.T) {
	for file, asks := range map[string]map[string]string{
		"scf-2022.3.xlsx": {
			"A.5.17": "iso-27002-2022 5.17", "iso 27002 2022 5.17": "iso-27002-2022 5.17", "iso-27001-2022:A.5.17": "iso-27002-2022 5.17",
			"nist 800-53 r5 ac-02": "nist-800-53-r5 AC-2", "gdpr article 32.1": "gdpr Art 32.1",
			"iso 27001 2022 5.17": "iso-27002-2022 5.17", "A.9.2.1": "iso-27002-2013 9.2.1",
		},
		"scf-2026.1.1-like.xlsx": {
			"A.5.17":          "iso-27002-2022 5.17",
			"nis2 21.2(a)":    "nis2 Article 21.2(a)",
			"NIS2 art 21.2.a": "nis2 Article 21.2(a)",
			"pci dss 8.3.1":   "pci-dss-4.0.1 8.3.1",
		},
	} {
		s := open(t, file)
		for ask, want := range asks {
			hits := s.Search(ask, 10)
			if len(hits) == 0 || !slices.ContainsFunc(hits, func(h api.CatalogHit) bool {
				return h.FrameworkCode != nil && *h.FrameworkCode+" "+h.Code == want && h.Score == 1
			}) {
				t.Errorf("%s: %q finds %+v", file, ask, hits[:min(3, len(hits))])
			}
		}
	}
}
