package workbook

import (
	"bytes"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/catalog/scf"
)

func TestNamesCodesAndWeights(t *testing.T) {
	src := importGrids(t, Options{Label: "2031.1"}, mainGrid("SCF 2031.1"))
	var got []string
	for _, c := range src.Controls {
		got = append(got, fmt.Sprintf("%s|%s|%d", c.Code, c.Title, c.Weight))
	}
	want := []string{"IAC-01|Who is who|9", "IAC-06|Second factor|10", "NET-03|Edges|0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(src.Domains) != 2 || src.Domains[0] != (scf.Domain{Code: "IAC", Name: "Access"}) {
		t.Errorf("%+v", src.Domains)
	}
	if !src.Controls[2].IsDeprecated() {
		t.Error("weight 0 is not deprecated")
	}
}

func TestLabel(t *testing.T) {
	for _, test := range []struct{ sheet, file, label, want, warning string }{
		{"SCF 2022.2", "scf-2022.3.xlsx", "2022.2.1", "2022.2.1", "release 2022.2"},
		{"SCF 2026.1", "secure-controls-framework-scf-2026-1-1.xlsx", "", "2026.1.1", "release 2026.1"},
		{"SCF v2018.1.1", "", "", "2018.1.1", ""},
		{"Secure Controls Framework", `C:\books\Mine.xlsx`, "", "Mine", "specify a label"},
		{"SCF 2022.2", "/tmp/scf-2022.2.xlsx", "", "2022.2", ""},
		{"SCF 2022.2", "/tmp/download 2024-11-20.xlsx", "", "2022.2", ""},
	} {
		src := importGrids(t, Options{Label: test.label, Filename: test.file}, mainGrid(test.sheet))
		if src.Label != test.want {
			t.Errorf("%+v: label %q", test, src.Label)
		}
		if test.warning != "" {
			wantWarning(t, src, "", test.warning)
		} else if len(src.Warnings) != 0 {
			t.Errorf("%+v: %v", test, src.Warnings)
		}
	}
}

func TestMainSheetMayStandAnywhere(t *testing.T) {
	extract := grid{"EU GDPR Compliance Criteria", [][]any{
		{"SCF Domain", "SCF Control", "SCF #", "Secure Controls Framework (SCF)\nControl Description"},
		{"Access", "Who is who", "IAC-01", "We know people."},
	}}
	notes := grid{"Read me", [][]any{{"Hello"}}}
	src := importGrids(t, Options{Label: "1"}, notes, extract, mainGrid("SCF 2020.3"))
	if len(src.Controls) != 3 {
		t.Errorf("%d controls", len(src.Controls))
	}
	wantWarning(t, src, "", "the sheet is unknown")
}

func TestCrosswalkCells(t *testing.T) {
	src := importGrids(t, Options{Label: "1"}, mainGrid("SCF 2020.3",
		[]any{"ISO \n27002\nv2022", "5.1 \n5.10\n5.1\n\n 5.2\u00a0", 5.0999999999999996, rich{"8.1", "\n8.2"}},
		[]any{"US\nFedRAMP\n[moderate]", "AC-1", "", nil},
		[]any{"US\nFedRAMP\n[moderate]", "AC-2 (1)\nA&A-03; B", "", nil},
		[]any{"PCI DSS\nv3.2", nil, "11.2, 11.2.2 11.2.3", "NFO - CM-2(7)"},
		[]any{"NIST\nCSF\nv1.1", nil, nil, nil},
	))
	_, codes := framework(t, src, "iso-27002-2022")
	if !slices.Equal(codes, []string{"5.1", "5.2", "5.10", "8.1", "8.2"}) {
		t.Errorf("%q", codes)
	}
	if _, codes := framework(t, src, "fedramp-moderate"); !slices.Equal(codes, []string{"AC-1"}) {
		t.Errorf("%q", codes)
	}
	if _, codes := framework(t, src, "fedramp-moderate-2"); !slices.Equal(codes, []string{"A&A-03; B", "AC-2 (1)"}) {
		t.Errorf("%q", codes)
	}
	if _, codes := framework(t, src, "pci-dss-3.2"); !slices.Equal(codes, []string{"11.2, 11.2.2 11.2.3", "NFO - CM-2(7)"}) {
		t.Errorf("%q", codes)
	}
	if _, codes := framework(t, src, "nist-csf-1.1"); len(codes) != 0 {
		t.Errorf("%q", codes)
	}
	wantWarning(t, src, "I3", "by commas")
	st := src.Statistics
	if st.NumericCells != 1 || st.BlankCells != 1 || st.DuplicateCodes != 1 || st.CrosswalkCells != 7 || st.Mappings != 11 {
		t.Errorf("%+v", st)
	}
}

func TestColumnsByWhatTheyAre(t *testing.T) {
	src := importGrids(t, Options{Label: "1"}, mainGrid("SCF 2025.3.1",
		[]any{"NIST\nCSF\n2.0", "GV.OC-01", nil, nil},
		[]any{"PPTDF\nPeople", "x", nil, nil},
		[]any{"PPTDF\nTechnology", "X", "IAC-06", "maybe"},
		[]any{"C|P-CMM 3\nWell Defined", "Defined.", nil, nil},
		[]any{"SCR-CMM Level 5\nContinuously Improving", "Improving.", nil, nil},
		[]any{"SCF\nCORE\nFundamentals", nil, "IAC-06", "x"},
		[]any{"SCRM Focus\n\nTIER 2\nOPERATIONAL", "x", nil, nil},
		[]any{"Possible Solutions & Considerations\nSmall Business (10-49 staff)\nBLS Firm Size Classes 3-4", "Tokens", nil, nil},
		[]any{"Conformity Validation\nCadence", "Semi-Annual", "Annual", "Weekly"},
		[]any{"NIST CSF\nFunction Grouping", "Govern", nil, nil},
		[]any{"Risk\nR-AC-1", "R-AC-1", "x", nil},
		[]any{"Threat\nNT-10", nil, "NT-10", "MT-2"},
		[]any{"Risk Threat Summary", formula("1+1"), nil, nil},
		[]any{"SCF Errata\n2025.2", "- renamed", nil, nil},
		[]any{"Errata\n2025.3", "- wordsmithed", nil, nil},
		[]any{"Our notes", "keep me", nil, nil},
		[]any{"Our notes", "me too", nil, nil},
		[]any{"EMEA\nEU\nGDPR", "Article 5", nil, nil}, // the block is not contiguous
		[]any{"Brand New Act\n2031", "Sec. 1", "Sec. 2\nSec. 3", nil},
		[]any{"Americas\nBrazil\nLGPD", "46", nil, nil},
		[]any{"NIST remarks", strings.Repeat("a whole sentence about it ", 9), nil, nil},
	))
	c := src.Controls[0]
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{"applicability", c.Applicability, []string{"people", "technology"}},
		{"its own code is a mark", src.Controls[1].Applicability, []string{"technology"}},
		{"maturity", c.Maturity, [6]string{3: "Defined.", 5: "Improving."}},
		{"baselines", src.Controls[2].Baselines, []string{"scf-core-fundamentals"}},
		{"tiers", c.SCRMTiers, []string{"operational"}},
		{"solutions", c.Solutions, []scf.Pair{{Name: "small", Text: "Tokens"}}},
		{"cadence", c.Cadence, "semi_annual"},
		{"function", c.CSFFunction, "govern"},
		{"risks", src.Controls[1].Risks, []string{"R-AC-1"}},
		{"threat at its word", src.Controls[2].Threats, []string{"MT-2"}},
		{"errata", c.Errata, []string{"- renamed", "- wordsmithed"}},
		{"extra", c.Extra[:2], []scf.Pair{{Name: "Our notes (U)", Text: "keep me"}, {Name: "Our notes (V)", Text: "me too"}}},
		{"prose is kept", c.Extra[2].Name, "NIST remarks"},
		{"unknown columns", src.Statistics.UnknownColumns, 3},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: %q, want %q", check.what, check.got, check.want)
		}
	}
	var codes []string
	for _, f := range src.Frameworks {
		codes = append(codes, f.Code)
	}
	if !slices.Equal(codes, []string{"nist-csf-2.0", "gdpr", "brand-new-act-2031", "lgpd"}) {
		t.Errorf("%q", codes)
	}
	wantWarning(t, src, "H4", "neither x nor a code")
	wantWarning(t, src, "N4", "kept unchanged")
	wantWarning(t, src, "Q4", "accepted as is")
	wantWarning(t, src, "U1", "unknown column")
	wantWarning(t, src, "X1", "treated as a framework")
	wantWarning(t, src, "Z1", "contains prose")
}

func TestCellsWithoutValues(t *testing.T) {
	data := build(t, mainGrid("SCF 2021.1", []any{"EMEA\nEU\nGDPR", formula(`"a"&"b"`), "Art 1", nil}))
	src, err := readBytes(data, Options{Label: "1"})
	must(t, err)
	wantWarning(t, src, "F2", "no stored value")
	// The same cell as an error value, and as inline text.
	for kind, cell := range map[string]string{
		"error":  `<c r="F2" t="e"><v>#N/A</v></c>`,
		"inline": `<c r="F2" t="inlineStr"><is><r><t>Art </t></r><r><t xml:space="preserve">7&#13;&#10;Art 8</t></r></is></c>`,
		"cached": `<c r="F2" t="str"><f>1+1</f><v>Art 7&#10;Art 8</v></c>`,
		"cdata":  `<!-- <c r="F2" t="e"> --><c r="F2" t="inlineStr"><is><t><![CDATA[Art 7]]>&#10;Art 8</t></is></c>`,
	} {
		changed := rezip(t, data, func(name string, body []byte) []byte {
			if !strings.HasSuffix(name, "sheet1.xml") {
				return body
			}
			from := bytes.Index(body, []byte(`<c r="F2"`))
			to := from + bytes.Index(body[from:], []byte("</c>")) + len("</c>")
			return slices.Concat(body[:from], []byte(cell), body[to:])
		})
		src, err := readBytes(changed, Options{Label: "1"})
		must(t, err)
		_, codes := framework(t, src, "gdpr")
		if kind == "error" {
			wantWarning(t, src, "F2", "an error value")
			continue
		}
		if !slices.Equal(codes, []string{"Art 1", "Art 7", "Art 8"}) || len(src.Warnings) != 1 { // one warning, for the label
			t.Errorf("%s: %q, %v", kind, codes, src.Warnings)
		}
	}
}

func TestNotesAmongRows(t *testing.T) {
	g := mainGrid("SCF 2022.3")
	g.rows = slices.Insert(g.rows, 2, []any{"", "", "", ""}, []any{"A note", nil, nil, "that is not a control"})
	src := importGrids(t, Options{Label: "2022.3"}, g)
	if len(src.Controls) != 3 {
		t.Errorf("%+v", src.Controls)
	}
	wantWarning(t, src, "C4", "no control code")
}

func TestAuxiliarySheets(t *testing.T) {
	src := importGrids(t, Options{Label: "2026.1"},
		grid{"SCF Domains & Principles", [][]any{
			{
				"# ",
				"SCF Domain",
				"SCF Identifier",
				"Security, Compliance & Resilience (SCR) Principles",
				"Principle Intent",
				"Control Count",
			},
			{"1\u00a0", "Access, formerly", "IAC ", "Let in who should be.", "So that nobody else is in.", 2},
			{"2\u00a0", "Networks", "NET", "Guard.", "Safety.", 1},
			{"3", "Nothing", "NIL", "Nothing.", "Nothing.", 0},
			{nil, nil, "Total Control Count", nil, nil, 3},
		}},
		grid{"Focal Documents", [][]any{
			{
				"Geography",
				"SCF Column Header",
				"Focal Document Identifier (FDI)",
				"Source",
				"Focal Document Name (FDN)",
				"Focal Document Title (FDT)",
				"Focal Document Source (FDS)",
			},
			{"General", "NIST\nCSF \n2.0", "x", "NIST", "CSF", "A framework", "https://example.org/csf"},
			{"General", "Brand New Act", "x", "State", "BNA", "An act", "https://example.org/act"},
			{nil, nil, nil, nil, nil, "Complete"},
		}},
		mainGrid("SCF 2026.1",
			[]any{"Evidence Request List (ERL) #", "E-IAM-01\nE-IAM-09", "E-IAM-02\nNET-03", nil},
			[]any{"NIST\nCSF\n2.0", "GV.OC-01", nil, nil},
			[]any{"Brand New Act", "one", nil, nil}),
		grid{"Evidence Request List 2026.1", [][]any{
			{"#", "ERL #", "Area of Focus", "Documentation Artifact", "Artifact Description", "SCF Control Mappings"},
			{1, "E-IAM-01", "Access", "List", "Who may do what", "IAC-01\nZZZ-01"},
			{2, "E-IAM-02", "Access", "Export", "Of settings", "NET-03"},
			{3, "E-IAM-02", "Access", "Again", "Twice", "IAC-01"},
		}},
		grid{"Assessment Objectives 2026.1", [][]any{
			{
				"SCF #",
				"SCF AO #",
				"SCF Assessment Objective (AO)\nIn addition to relevant policies, look:",
				"PPTDF\nApplicability",
				"SCF Assessment Objective (AO) Origin(s)",
				"Notes / Errata",
				"Assessment\nRigor (AR)",
			},
			{"IAC-06", "IAC-06_A01", "A second factor is asked for.", "Technology", "A\nB", nil, 2},
			{"ZZZ-01", "ZZZ-01_A01", "Nothing.", nil, nil, nil, 9},
		}},
		grid{"Compensating Controls 2026.1", [][]any{
			{
				"SCF Control Name", "SCF Control #", "SCF Control Description", "PPTDF\nApplicability", "Risk if Primary Control\nNot Implemented",
				"Possible Compensating Control #1", "Compensating Control Name", "Compensating Control #", "Compensating Control Justification",
				"Possible Compensating Control #2", "Compensating Control Name", "Compensating Control #", "Compensating Control Justification",
			},
			{
				"Who is who",
				"IAC-01",
				"…",
				"…",
				"…",
				"IAC-06",
				"Second factor",
				"We ask twice.",
				"Fewer get in.",
				"We guard.",
				"Edges",
				"NET-03",
				"Far away.",
			},
		}},
		grid{"Data Privacy Mgmt Principles", [][]any{
			{"#", "Principle Name", "SCF Data Privacy Management Principle (SCF-DPMP) Description", "SCF Control", "SCF #"},
			{"1.10", "Notice", "Tell people.", "Who is who", "IAC-01"},
			{"1.10", "Notice", "Tell people.", "Edges", "NET-03"},
		}},
		grid{"Risk Catalog", [][]any{
			{"RISK CATALOG use case: what for?"},
			{"* Definition of risk"},
			{"noun"},
			{"verb"},
			nil,
			{
				"Risk Grouping",
				"Risk #",
				"Risk*\nNote - some",
				"Description of Possible Risk Due To Control Deficiency",
				"NIST CSF \nFunction",
			},
			{nil, nil, nil, "IF THE CONTROL FAILS"},
			{"Access", "R-AC-1", "Nobody answers", "None.", "Protect"},
			{nil, "R-AC-2", "All answer", "All.", "Detect"},
			{"A note at the end"},
		}},
		grid{"Threat Catalog", [][]any{
			{"THREAT CATALOG"},
			nil, nil, nil, nil,
			{"Threat Grouping", "Threat #", "Threat*", "Threat Description"},
			{"Nature", "NT-1", "Drought", "Too dry"},
			{nil, "MT-1", "People", "Too many"},
		}},
	)
	for _, check := range []struct {
		what      string
		got, want any
	}{
		{
			"domain",
			src.Domains[0],
			scf.Domain{Code: "IAC", Name: "Access", Principle: "Let in who should be.", Intent: "So that nobody else is in."},
		},
		{"domains", len(src.Domains), 2},
		{"evidence both ways", src.Controls[0].Evidence, []int{0, 3, 2}},
		{"evidence of the main sheet", src.Controls[1].Evidence, []int{1}},
		{"evidence of the list", src.Controls[2].Evidence, []int{1}},
		{"objective", src.Controls[1].Objectives, []scf.Objective{{
			Code: "IAC-06_A01", Text: "A second factor is asked for.",
			Rigor: 2, Applicability: []string{"technology"}, Origins: []string{"A", "B"},
		}}},
		{"compensating", src.Controls[0].Compensating, []scf.CompensatingControl{
			{Control: "IAC-06", Name: "Second factor", Justification: "Fewer get in."},
			{Control: "NET-03", Name: "Edges", Justification: "Far away."},
		}},
		{
			"principle",
			src.Principles,
			[]scf.Principle{{Number: "1.10", Name: "Notice", Description: "Tell people.", Controls: []string{"IAC-01", "NET-03"}}},
		},
		{"risks", src.Risks, []scf.Hazard{
			{Code: "R-AC-1", Group: "Access", Title: "Nobody answers", Description: "None.", CSFFunction: "protect"},
			{Code: "R-AC-2", Group: "Access", Title: "All answer", Description: "All.", CSFFunction: "detect"},
		}},
		{"threats", src.Threats, []scf.Hazard{
			{Code: "NT-1", Group: "Nature", Title: "Drought", Description: "Too dry"},
			{Code: "MT-1", Group: "Nature", Title: "People", Description: "Too many"},
		}},
		{"source", src.Frameworks[0].SourceURL + src.Frameworks[0].Title, "https://example.org/csfA framework"},
		{"a header that the list of sources names", src.Frameworks[1].Code, "brand-new-act"},
	} {
		if !reflect.DeepEqual(check.got, check.want) {
			t.Errorf("%s: %+v, want %+v", check.what, check.got, check.want)
		}
	}
	wantWarning(t, src, "", "in the list of domains")
	wantWarning(t, src, "", "domain NIL has no controls")
	wantWarning(t, src, "F3", "NET-03 is a control, not an evidence request")
	wantWarning(t, src, "F2", `doesn't contain "E-IAM-09"`)
	wantWarning(t, src, "F3", "doesn't include this control there")
	wantWarning(t, src, "F4", "doesn't request it")
	wantWarning(t, src, "B4", "listed twice")
	wantWarning(t, src, "F2", `"ZZZ-01" is not a control`)
	wantWarning(t, src, "A3", "doesn't belong to any control")
}

func TestSameBytesSameSource(t *testing.T) {
	data := build(t, mainGrid("SCF 2020.3", []any{"NIST\nCSF\nv1.1", "a 1\nb 2", "b 2", "c 3"}))
	a, err := readBytes(data, Options{Label: "1"})
	must(t, err)
	b, err := readBytes(data, Options{Label: "1"})
	must(t, err)
	if !reflect.DeepEqual(a, b) {
		t.Error("the same bytes were read in two ways")
	}
}

// TestSpellingsOfTheSource checks that misspelled codes are kept, and that a domain gets the name
// that most of its controls have.
func TestSpellingsOfTheSource(t *testing.T) {
	g := mainGrid("SCF 2026.1", []any{"US\nCMMC 2.0\nLevel 2", "ACL2.-3.1.1\nAC.L1-B.1.Ic]", "AC.L2-3.1.1", nil})
	g.rows[1][0] = "Acess"
	g.rows = append(g.rows, []any{"Access", "Third", "IAC-07", "Third.", 3, nil})
	src := importGrids(t, Options{Label: "2026.1"}, g)
	if _, codes := framework(t, src, "cmmc-2.0-level-2"); !slices.Equal(codes, []string{"AC.L1-B.1.Ic]", "AC.L2-3.1.1", "ACL2.-3.1.1"}) {
		t.Errorf("%q", codes)
	}
	if src.Domains[0].Name != "Access" || len(src.Domains) != 2 {
		t.Errorf("%+v", src.Domains)
	}
	wantWarning(t, src, "", `controls that use "Acess" instead: 1`)
}

// TestWorkedInCopies checks edited copies: a title above the header, renamed columns, lower-case
// codes, and notes in a column without a header.
func TestWorkedInCopies(t *testing.T) {
	g := mainGrid("SCF 2022.3", []any{"NIST\nCSF\nv1.1", "PR.AC-1", nil, nil}, []any{nil, nil, "ask Ann", nil})
	g.rows[0][0], g.rows[0][1], g.rows[0][2], g.rows[0][3] = "Domain", "SCF Control Name", "SCF Control #", "Control Description"
	g.rows[2][2] = "iac-06"
	g.rows = slices.Insert(g.rows, 0, []any{"Our copy of the SCF"}, nil)
	src := importGrids(t, Options{Label: "2022.3"}, g)
	if len(src.Controls) != 3 || src.Controls[1].Code != "IAC-06" || src.Controls[1].Title != "Second factor" ||
		src.Controls[1].Description != "We ask twice." {
		t.Fatalf("%+v", src.Controls)
	}
	if want := []scf.Pair{{Name: "Column G", Text: "ask Ann"}}; !reflect.DeepEqual(src.Controls[1].Extra, want) {
		t.Errorf("%+v", src.Controls[1].Extra)
	}
	if st := src.Statistics; st.Columns != 6 || st.UnknownColumns != 1 || st.Mappings != 1 {
		t.Errorf("%+v", st)
	}
	wantWarning(t, src, "C5", `"iac-06" was read as IAC-06`)
	wantWarning(t, src, "G5", "has no header")
}
