package scf

import (
	"slices"
	"testing"
)

func TestSlug(t *testing.T) {
	for header, want := range map[string]string{
		"0R0R0":                                 "0-r0-r0",
		"AICPA\nTSC 2017\n(SOC 2)":              "soc2-tsc",
		"AICPA\nTSC 2017:2022 (used for SOC 2)": "soc2-tsc",
		"AICPA\nSOC 2\n(2016)":                  "soc2-tsc-2016",
		"SOC 2":                                 "soc2-tsc",
		"CIS\nCSC\nv8.0":                        "cis-8.0",
		"CIS\nCSC 8.1\nIG1":                     "cis-8.1-ig1",
		"CIS Controls v8.1":                     "cis-8.1",
		"ISO\n27001\nv2022":                     "iso-27001-2022",
		"ISO/IEC 27001:2022":                    "iso-27001-2022",
		"ISO\u00a0\n27002\nv2022":               "iso-27002-2022",
		"ISO\n42001\n2023":                      "iso-42001",
		"NIST\n800-53\nrev 5":                   "nist-800-53-r5",
		"NIST\n800-53\nR5":                      "nist-800-53-r5",
		"NIST SP 800-53r5":                      "nist-800-53-r5",
		"NIST\n800-53 rev4\n[low]":              "nist-800-53-r4-low",
		"NIST\n800-53\nrev5\n(low)":             "nist-800-53-r5-low",
		"NIST\n800-53B R5\n(low)":               "nist-800-53-r5-low",
		"NIST \n800-171\nrev 2":                 "nist-800-171-r2",
		"NIST\n800-171\nR3":                     "nist-800-171-r3",
		"NIST\nCSF\nv1.1":                       "nist-csf-1.1",
		"NIST\nCSF\n2.0":                        "nist-csf-2.0",
		"NIST\nAI 100-1 (AI RMF)\n1.0":          "nist-ai-rmf-1.0",
		"PCIDSS\nv4.0":                          "pci-dss-4.0",
		"PCI DSS\n4.0.1\nSAQ A-EP":              "pci-dss-4.0.1-saq-a-ep",
		"PCI DSS\nv3.2":                         "pci-dss-3.2",
		"EMEA\nEU\nGDPR":                        "gdpr",
		"EMEA\nEU\nDORA\n2022":                  "dora",
		"EMEA\nEU\nNIS2":                        "nis2",
		"EMEA\nEU\nNIS2 Annex":                  "eu-nis2-annex",
		"EMEA\nEU\nAI Act":                      "eu-ai-act",
		"EMEA\nUK\nGDPR":                        "uk-gdpr",
		"US\nHIPAA":                             "hipaa",
		"US\nHIPAA Administrative Simplification\n2013": "hipaa",
		"US\nHIPAA\nSecurity Rule / NIST SP 800-66 R2":  "hipaa-security-rule",
		"HIPAA - HICP\nSmall Practice":                  "hipaa-hicp-small-practice",
		"US - CA\nCCPA\n2025":                           "ccpa",
		"US-CA\nCPRA\n(Nov 2022)":                       "ccpa",
		"US\nCMMC 2.0\nLevel 1":                         "cmmc-2.0-level-1",
		"US\nCMMC\nv1.0":                                "cmmc-1.0",
		"US\nFedRAMP\n[moderate]":                       "fedramp-moderate",
		"GovRAMP\nLow+":                                 "govramp-low-plus",
		"Americas\nBrazil":                              "lgpd",
		"Americas\nBrazil\nLGPD":                        "lgpd",
		"US-TX\nSB820":                                  "us-tx-sb820",
		"US - TX\nSB 820":                               "us-tx-sb820",
	} {
		got := FrameworkCode(header)
		if got != want {
			t.Errorf("%q: %s, want %s", header, got, want)
		}
		if again := FrameworkCode(got); again != got {
			t.Errorf("%q: the slug %s gives %s", header, got, again)
		}
	}
}

func TestAssignCodes(t *testing.T) {
	frameworks := []Framework{
		{Column: "US FedRAMP [moderate]"},
		{Column: "US FedRAMP (low)"},
		{Column: "US FedRAMP [moderate]"},
		{Column: "US - CA CCPA"},
		{Column: "US - CA CPRA"},
		{Column: "???"},
		{Column: "ISO 27001 v2022"},
		{Column: "ISO 27002 v2022"},
	}
	AssignFrameworkCodes(frameworks, nil)
	var codes []string
	for _, f := range frameworks {
		codes = append(codes, f.Code)
	}
	want := []string{
		"fedramp-moderate",
		"fedramp-low",
		"fedramp-moderate-2",
		"ccpa",
		"us-ca-cpra",
		"framework",
		"iso-27001-2022",
		"iso-27002-2022",
	}
	if !slices.Equal(codes, want) {
		t.Errorf("%q", codes)
	}
	if !slices.Equal(frameworks[6].Includes, []string{"iso-27002-2022"}) || len(frameworks[7].Aliases) != 0 {
		t.Errorf("%+v", frameworks[6:])
	}
}

func TestNatural(t *testing.T) {
	codes := []string{"A.5.10", "5.10", "5.2", "A.5.2", "AC-2(10)", "AC-2", "AC-10", "AC-2(2)", "5", "5.02"}
	slices.SortFunc(codes, CompareNatural)
	want := []string{"5", "5.02", "5.2", "5.10", "A.5.2", "A.5.10", "AC-2", "AC-2(2)", "AC-2(10)", "AC-10"}
	if !slices.Equal(codes, want) {
		t.Errorf("%q", codes)
	}
}

func TestLooseCode(t *testing.T) {
	for _, same := range [][]string{
		{"Art 32(1)(b)", "Article 32.1(b)", "Art. 32.1 (b)", "article 32(1)(b)"},
		{"PM-1", "PM-01", "pm-1"},
		{"AC-2 (1)", "AC-2(1)", "AC-02(01)"},
		{"46", "Art 46"},
		{"A.5.1", "a.5.1"},
	} {
		for _, code := range same[1:] {
			if NormalizeRequirementCode(code) != NormalizeRequirementCode(same[0]) {
				t.Errorf("%q is %q, %q is %q", code, NormalizeRequirementCode(code), same[0], NormalizeRequirementCode(same[0]))
			}
		}
	}
	for _, pair := range [][2]string{{"5.1", "5.10"}, {"5.11", "5.1.1"}, {"A.5.1", "5.1"}, {"AC-21", "AC-2(1)"}} {
		if NormalizeRequirementCode(pair[0]) == NormalizeRequirementCode(pair[1]) {
			t.Errorf("%q and %q are both %q", pair[0], pair[1], NormalizeRequirementCode(pair[0]))
		}
	}
}

func TestSectionsByAnyName(t *testing.T) {
	for _, same := range [][]string{
		{"§ 164.308(a)(1)", "164.308(a)(1)", "§164.308.a.1"}, {"Section 3(1)(b)", "Sec. 3.1.b", "sec 3(1)(b)"}, {"Security 4", "security 4"},
	} {
		for _, code := range same {
			if NormalizeRequirementCode(code) != NormalizeRequirementCode(same[0]) {
				t.Errorf("%q is %q, %q is %q", same[0], NormalizeRequirementCode(same[0]), code, NormalizeRequirementCode(code))
			}
		}
	}
	if NormalizeRequirementCode("Security 4") == NormalizeRequirementCode("4") {
		t.Error("a word was taken for a section")
	}
}
