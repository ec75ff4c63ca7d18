package workbook

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// release describes a published release: the sheet's name and the main sheet's headers in order,
// with their line breaks. Very long lists of headers, such as 2022.3's, are reduced to one of each
// kind.
type release struct {
	name, sheet string
	headers     []string
	frameworks  string // codes, in order
	rest        int    // columns that are not frameworks
	unknown     int
}

// Columns shared by several releases.
var (
	oldFront = []string{
		"SCF Domain",
		"SCF Control",
		"SCF #",
		"Secure Controls Framework (SCF)\nControl Description",
		"Methods To Comply With SCF Controls",
	}
	msr = []string{
		"SCF-B\nBusiness Mergers & Acquisitions",
		"SCF-E\nEmbedded Technology",
		"SCF-G\nGovernment",
		"SCF-H\nHealthcare",
		"SCF-M",
		"SCF-P\nPrivacy",
		"SCF-T",
	}
	spCMM  = levels("SP-CMM %d\n%s")
	cpCMM  = levels("C|P-CMM %d\n%s")
	scrCMM = levels("SCR-CMM Level %d\n%s")
	mcc    = []string{
		"Minimum Security Requirements \nMCC + DSR",
		"Identify\nMinimum Compliance Controls (MCC)",
		"Identify\nDiscretionary Security Requirements (DSR)",
	}
	risks = []string{"Risk Threat Summary", "Risk\nR-AC-1", "Risk\nR-SA-2", "Control Threat Summary", "Threat\nNT-1", "Threat\nMT-13"}
	sizes = []string{
		"Possible Solutions & Considerations\nMicro-Small Business (<10 staff)\nBLS Firm Size Classes 1-2",
		"Possible Solutions & Considerations\nSmall Business (10-49 staff)\nBLS Firm Size Classes 3-4",
		"Possible Solutions & Considerations\nMedium Business (50-249 staff)\nBLS Firm Size Classes 5-6",
		"Possible Solutions & Considerations\nLarge Business (250-999 staff)\nBLS Firm Size Classes 7-8",
		"Possible Solutions & Considerations\nEnterprise (> 1,000 staff)\nBLS Firm Size Class 9",
	}
	core = []string{
		"SCF\nCommunity Derived",
		"SCF\nSCRMS",
		"SCF\nCORE\nAI Model Deployment",
		"SCF\nCORE\nESP Level 1\nFoundational",
		"SCF\nCORE\nFundamentals",
	}
)

func levels(format string) []string {
	var out []string
	for i, name := range []string{
		"Not Performed",
		"Performed Informally",
		"Planned & Tracked",
		"Well Defined",
		"Quantitatively Controlled",
		"Continuously Improving",
	} {
		out = append(out, fmt.Sprintf(format, i, name))
	}
	return out
}

func concat(parts ...any) []string {
	var out []string
	for _, p := range parts {
		switch p := p.(type) {
		case string:
			out = append(out, p)
		case []string:
			out = append(out, p...)
		}
	}
	return out
}

var releases = []release{
	{"2018.1.2", "SCF v2018.1.2", concat(oldFront, msr, "Target\nAudience", "Applicability", "Relative Control\nWeighting\n(1-10)",
		"AICPA\nSOC 2\n(2017)", "NIST\n800-53\nrev 4", "EMEA\nEU\nGDPR"), "soc2-tsc nist-800-53-r4 gdpr", 15, 0},
	{"2019.2", "SCF 2019.3", concat(oldFront, "Relative Control\nWeighting (1-10)", "ISO \n27018\nv2014", "US\nHIPAA",
		"Mimimum Security Requirements (MSR)\nFilter", msr), "iso-27018-2014 hipaa", 14, 0},
	{
		"2019.7", "SCF 2019.7", concat(
			oldFront,
			"SCF Control Question",
			"Relative Control\nWeighting (1-10)",
			"Function Grouping",
			spCMM,
			"US\nFedRAMP\n[moderate]",
			"US\nFedRAMP\n[moderate]",
			"Minimum Security Requirements (MSR)\nFilter",
			msr,
			"SCF Errata\n2019.7",
			"SCF Errata\n2019.9",
		),
		"fedramp-moderate fedramp-moderate-2", 24, 0,
	},
	{
		"2021.2", "SCF 2021.2", concat(
			oldFront[:4],
			"Methods To Comply With SCF Controls+P:P",
			"SCF Control Question",
			"Relative Control\nWeighting (1-10)",
			"Function Grouping",
			"SCRM\nTier 1\nStrategic",
			"SCRM\nTier 2\nOperational",
			"SCRM\nTier 3\nTactical",
			spCMM,
			"PCIDSS\nv3.2",
			mcc,
			msr,
			risks,
			"Errata\n2021.2",
		),
		"pci-dss-3.2", 34, 0,
	},
	{
		"2023.2",
		"SCF 2023.2",
		concat(
			oldFront,
			"Evidence Request List (ERL) #",
			"SCF Control Question",
			"Relative Control Weighting",
			"Function Grouping",
			"SCRM\nTier 1\nStrategic",
			"SCRM\nTier 2\nOperational",
			"SCRM\nTier 3\nTactical",
			spCMM,
			"AICPA\nTSC 2017\n(Controls)",
			"AICPA\nTSC 2017\n(Points of Focus)",
			"NIST\nAI RMF\nAI 100-1\nv1.0",
			"US\nITAR Part 120\n(limited)",
			"US\nStateRAMP\nLow+\nCategory 2",
			"EMEA\nSaudi Arabia\nSAMA CSFv1.0",
			"EMEA\nEU\nDORA",
			"APAC\nJapan\nAPPI",
			mcc,
			"SCF-R\n\nRansomware Protection",
			"SCF-I\n\nCyber Insurance",
			risks,
			"Errata\n2023.2",
		),
		"soc2-tsc soc2-tsc-points-of-focus nist-ai-rmf-1.0 itar-part-120-limited govramp-low-plus saudi-arabia-sama-csf-1.0 dora japan-appi",
		30,
		0,
	},
	{
		"2024.2", "SCF 2024.2", concat(
			oldFront,
			"Evidence Request List (ERL) #",
			"SCF Control Question",
			"Relative Control Weighting",
			"PPTDF\nPeople",
			"PPTDF\nProcess",
			"PPTDF\nTechnology",
			"PPTDF\nData",
			"PPTDF\nFacility",
			"NIST CSF\nFunction Grouping",
			"SCRM\nTier 1\nStrategic",
			cpCMM,
			"NIST\n800-53B\nrev5\n(low)",
			"NIST \n800-171\nrev 3",
			"US\nCMMC 2.0\nLevel 2",
			"MITRE\nATT&CK\n10",
			"UN\nECE WP.29",
			mcc,
			risks,
			"Errata\n2024.2",
		),
		"nist-800-53-r5-low nist-800-171-r3 cmmc-2.0-level-2 mitre-att-ck-10 un-ece-wp-29", 31, 0,
	},
	{
		"2025.3.1", "SCF 2025.3.1", concat(
			oldFront[:4],
			"Evidence Request List (ERL) #",
			sizes,
			"SCF Control Question",
			"Relative Control Weighting",
			"PPTDF\nApplicability\nPeople",
			"PPTDF\nApplicability\nData",
			"NIST CSF\nFunction Grouping",
			"SCRM Focus\n\nTIER 1\nSTRATEGIC",
			cpCMM,
			// The block is interrupted by the baselines and continues after the risks.
			"ISO\n27001\n2022",
			"ISO\n27002\n2022",
			core,
			"EMEA\nEU\nNIS2",
			mcc,
			risks,
			"US - TX\nSB 2610",
			"Errata\n2025.3.1",
			"PCI DSS\n4.0.1",
		),
		"iso-27001-2022 iso-27002-2022 nis2 us-tx-sb2610 pci-dss-4.0.1", 37, 0,
	},
	{
		"2025.4",
		"SCF 2025.4",
		concat(
			oldFront[:4],
			"Conformity Validation\nCadence",
			"Evidence Request List (ERL) #",
			sizes,
			"SCF Control Question",
			"Relative Control Weighting",
			"PPTDF\nApplicability",
			"NIST CSF\nFunction Grouping",
			"SCRM Focus\n\nTIER 3\nTACTICAL",
			cpCMM,
			"AICPA\nTSC 2017:2022 (used for SOC 2)",
			"US\nHIPAA Administrative Simplification\n(2013)",
			mcc,
			core,
			risks,
			"Errata\n2025.4",
		),
		"soc2-tsc hipaa",
		37,
		0,
	},
	{
		"2026.2", "SCF 2026.2", concat(
			oldFront[:4],
			"Conformity Validation\nCadence",
			"SCF Control Question",
			"Relative Control Weighting",
			"PPTDF\nApplicability",
			"NIST CSF\nFunction Grouping",
			scrCMM,
			core,
			"NIST\n800-172 R3",
			"EMEA\nEU\nDORA\n2023",
			"EMEA\nEU\nNIS2\n2022",
			"EMEA\nAustria\nFAPPD\n2000",
			"EMEA\nSaudi Arabia\nSAMA CSF 1.0\n2017",
			"EMEA\nUK\nCyber Essentials\n3.3",
			"Americas\nBrazil\nLGPD\n2018",
			"APAC\nJapan\nAPPI\n2020",
			risks,
			"Errata\n2026.2",
		),
		"nist-800-172-r3 dora nis2 austria saudi-arabia-sama-csf-1.0 uk-cyber-essentials-3.3 lgpd japan-appi", 27, 0,
	},
	{
		"2026.3", "SCF 2026.3", concat(
			oldFront[:3],
			"Legacy SCF #",
			oldFront[3],
			"SCF Control Question",
			"Relative Control Weighting",
			"PPTDF Applicability",
			"NIST CSF Function Grouping",
			"Risk if Primary Control\nNot Implemented",
			"Possible Compensating Control #1",
			"Compensating Control #1 Name",
			"Compensating Control # 1 Description",
			"Compensating Control #1 Justification",
			"Orphaned Controls\n(no STRM mappings)",
			"NIST\n800-53 R5.2",
		),
		"nist-800-53-r5.2", 15, 0,
	},
	// A release with unknown headers.
	{
		"2031.1",
		"SCF 2031.1",
		concat(
			oldFront[:4],
			"Relative Control Weighting",
			"Moon Base Act\n2030",
			"Mars\nOrdinance 7",
			"ISO\n27001\n2022",
			"Colony Law",
			"Notes of the reviewer",
		),
		"moon-base-act-2030 mars-ordinance-7 iso-27001-2022 colony-law",
		6,
		1,
	},
}

// value returns a plausible cell value of a column, in a row with the given control.
func value(header, code string) string {
	c := classifyHeader(header)
	switch c.role {
	case roleDomainName:
		return "A domain"
	case roleControlTitle:
		return "A control"
	case roleControlCode:
		return code
	case roleWeight:
		return "5"
	case roleApplicability:
		return "People"
	case roleCadence:
		return "Annual"
	case roleFunction:
		return "Protect"
	case roleAppliesMark, roleSCRMTier, roleBaseline, roleRisk, roleThreat:
		return "x"
	case roleEvidence:
		return "E-GOV-01, E-GOV-02"
	case roleCrosswalk:
		return "1.1\n1.2"
	case roleCompensating:
		if c.name == "possible" {
			return "IAC-06"
		}
	}
	if strings.HasPrefix(header, "Notes") {
		return "see there"
	}
	if c.role == roleUnknown {
		return "Sec. 1\nSec. 2"
	}
	return "Some words."
}

// TestReleases checks that every release's columns are recognized by their headers, wherever they
// are.
func TestReleases(t *testing.T) {
	for _, r := range releases {
		t.Run(r.name, func(t *testing.T) {
			g := grid{name: r.sheet, rows: [][]any{nil, nil, nil}}
			for _, h := range r.headers {
				g.rows[0] = append(g.rows[0], h)
				g.rows[1] = append(g.rows[1], value(h, "GOV-01"))
				g.rows[2] = append(g.rows[2], value(h, "IAC-06"))
			}
			src := importGrids(t, Options{Label: r.name}, g)
			var frameworks []string
			for _, f := range src.Frameworks {
				frameworks = append(frameworks, f.Code)
				if len(f.Requirements) != 2 {
					t.Errorf("%s has %+v", f.Code, f.Requirements)
				}
			}
			if got := strings.Join(frameworks, " "); got != r.frameworks {
				t.Errorf("frameworks %s\nwant       %s", got, r.frameworks)
			}
			if rest := len(r.headers) - len(frameworks); rest != r.rest {
				t.Errorf("%d columns are no framework, want %d", rest, r.rest)
			}
			if src.Statistics.UnknownColumns != r.unknown || src.Statistics.Columns != len(r.headers) {
				t.Errorf("%+v, %v", src.Statistics, src.Warnings)
			}
			c := src.Controls[0]
			if c.Weight != 5 || c.Description == "" {
				t.Errorf("%+v", c)
			}
			if slices.Contains(r.headers, scrCMM[0]) || slices.Contains(r.headers, cpCMM[0]) || slices.Contains(r.headers, spCMM[0]) {
				if slices.Contains(c.Maturity[:], "") {
					t.Errorf("maturity %q", c.Maturity)
				}
			}
			own := slices.DeleteFunc(
				slices.Clone(c.Baselines),
				func(b string) bool { return !strings.HasPrefix(b, "scf-c") && b != "scf-scrms" },
			)
			if slices.Contains(r.headers, core[0]) && !reflect.DeepEqual(
				own,
				[]string{
					"scf-community-derived",
					"scf-scrms",
					"scf-core-ai-model-deployment",
					"scf-core-esp-level-1-foundational",
					"scf-core-fundamentals",
				},
			) {
				t.Errorf("baselines %q", c.Baselines)
			}
			if slices.Contains(r.headers, "Evidence Request List (ERL) #") && len(c.Evidence) != 2 {
				t.Errorf("evidence %v", c.Evidence)
			}
			if slices.Contains(r.headers, "Possible Compensating Control #1") &&
				(len(c.Compensating) != 1 || c.Compensating[0].Control != "IAC-06" ||
					c.Compensating[0].Name == "" || c.Compensating[0].Justification == "") {
				t.Errorf("compensating %+v", c.Compensating)
			}
		})
	}
}

// TestColumnsThatAreNoFramework checks that a column of SCF control codes or numbers is not taken
// for a framework.
func TestColumnsThatAreNoFramework(t *testing.T) {
	src := importGrids(t, Options{Label: "1"}, mainGrid("SCF 2031.1",
		[]any{"NIST\nCSF\n2.0", "GV.OC-01", nil, nil},
		[]any{"Formerly", "IAC-01", "IAC-02", "NET-01"},
		[]any{"Pages", 12, 13, 14},
		[]any{"ISO\n27001\n2022", "5.1", nil, nil},
	))
	if len(src.Frameworks) != 2 || src.Statistics.UnknownColumns != 2 {
		t.Errorf("%+v", src.Frameworks)
	}
}
