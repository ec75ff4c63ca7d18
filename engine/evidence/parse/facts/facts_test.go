package facts_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/facts"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestFacts(t *testing.T) {
	type wanted struct {
		effective              *time.Time
		version, owner, approv string
	}
	for name, tt := range map[string]struct {
		file, text string
		want       wanted
	}{
		"a rule is nobody": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nApproved by: the CIO must approve the change plan\n\nApproval: the CIO must approve it\n\nText.",
			wanted{nil, "1.2", "", ""},
		},
		"lines": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nEffective Date: January 5th, 2026\n\nOwner: Jane Doe, CISO\n\nApproved by: The Board\n\nText.",
			wanted{documenttest.Date(2026, 1, 5), "1.2", "Jane Doe, CISO", "The Board"},
		},
		"one line": {
			"p.txt",
			"Version: v2.0 Owner: CISO Effective Date: 2026-02-03\n\nText follows here.",
			wanted{documenttest.Date(2026, 2, 3), "2.0", "CISO", ""},
		},
		"inner version": {
			"p.txt",
			"Effective date: 1 March 2026 Version 2.1 – Approved by: Dana Holt (CIO)\n\nText follows.",
			wanted{documenttest.Date(2026, 3, 1), "2.1", "", "Dana Holt (CIO)"},
		},
		"bars": {
			"p.txt",
			"Version 3.1 | Effective 1 May 2026 | Owner: IT\n\nText follows.",
			wanted{documenttest.Date(2026, 5, 1), "3.1", "IT", ""},
		},
		"bold markdown": {"p.md", "# P\n\n**Version:** 4\n\n**Policy owner:** Head of IT\n", wanted{nil, "4", "Head of IT", ""}},
		"table": {
			"p.md",
			"# P\n\n| Document owner | CIO |\n|---|---|\n| Version | 1.0 |\n| Approved by | CEO |\n| Effective date | 12.01.2026 |\n",
			wanted{documenttest.Date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"wide table": {
			"p.md",
			"# P\n\n| Version | 1.0 | Owner | CIO |\n|---|---|---|---|\n| Approver | CEO | Effective date | 2026/01/12 |\n",
			wanted{documenttest.Date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"history": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.0 | 2024-01-01 | first |\n| 1.1 | 2025-06-30 | second |\n",
			wanted{documenttest.Date(2025, 6, 30), "1.1", "", ""},
		},
		"history upward": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.1 | 2025-06-30 | second |\n| 1.0 | 2024-01-01 | first |\n",
			wanted{documenttest.Date(2025, 6, 30), "1.1", "", ""},
		},
		"german": {
			"p.txt",
			"Gültig ab: 3. März 2026\n\nVersion: 2\n\nVerantwortlich: Frau Weber\n\nFreigegeben durch: Herr Klein\n\nText.",
			wanted{documenttest.Date(2026, 3, 3), "2", "Frau Weber", "Herr Klein"},
		},
		"french": {
			"p.txt",
			"Date d'entrée en vigueur : 1er août 2025\n\nPropriétaire : DSI\n\nTexte.",
			wanted{documenttest.Date(2025, 8, 1), "", "DSI", ""},
		},
		"effective wins": {
			"p.txt",
			"Last updated: 2026-05-05\n\nEffective date: 2026-04-04\n\nText.",
			wanted{documenttest.Date(2026, 4, 4), "", "", ""},
		},
		"us date":     {"p.txt", "Effective date: 3/27/2026\n\nText.", wanted{documenttest.Date(2026, 3, 27), "", "", ""}},
		"ambiguous":   {"p.txt", "Effective date: 3/4/2026\n\nText.", wanted{}},
		"template":    {"p.txt", "Version: [x.y]\n\nOwner: TBD\n\nEffective date: <date>\n\nText.", wanted{}},
		"no such day": {"p.txt", "Effective date: 2026-02-30\n\nText.", wanted{}},
		"sentence": {
			"p.md",
			"# P\n\nVersion 3.1, in force since 2 March 2026. Approved by Odile Fenwright, managing director. Next review: March 2027.\n",
			wanted{documenttest.Date(2026, 3, 2), "3.1", "", "Odile Fenwright, managing director"},
		},
		"code and version": {
			"p.md",
			"# P\n\nProcedure OPS-12, version 2, in force, 8 June 2026. Written by Bram Oyelaran.\n",
			wanted{documenttest.Date(2026, 6, 8), "2", "", ""},
		},
		"code and date": {
			"p.md",
			"# P\n\nPolicy VH-1, in force since 16 November 2026. Approved by Dr. O. Fenwright on 3 November 2026.\n",
			wanted{documenttest.Date(2026, 11, 16), "", "", "Dr. O. Fenwright"},
		},
		"validity": {
			"p.txt",
			"HOUSE RULES\nReference TH-4. Valid from 11 May 2026. Owner: Bram Oyelaran\n\n1. Getting in\nThe gate is shut.",
			wanted{documenttest.Date(2026, 5, 11), "", "Bram Oyelaran", ""},
		},
		"draft": {"p.md", "# Plan\n\nDRAFT 0.4 – not yet approved – for discussion in the circle\n", wanted{nil, "0.4", "", ""}},
		"owner's sentence": {
			"p.md",
			"# P\n\nVersion 1.3. Owner: Plant Manager. Approved by the works council.\n",
			wanted{nil, "1.3", "Plant Manager", "works council"},
		},
		"title with version":    {"p.txt", "Harbor Quay\n\nSupplier Access Standard version 4.2\n\nText.", wanted{nil, "4.2", "", ""}},
		"version in brackets":   {"p.md", "# Access Policy (v2.3)\n\nText.", wanted{nil, "2.3", "", ""}},
		"another version":       {"p.md", "# TLS version 1.3\n\nWe follow the standard. Use SSH version 2\n", wanted{}},
		"owner after a dash":    {"p.md", "# P\n\nDocument owner – Head of IT\n\nApproved - see the minutes\n", wanted{nil, "", "Head of IT", ""}},
		"owner with a title":    {"p.txt", "Owner: Dr. J. Roe, M. Eng. Klein\n\nText.", wanted{nil, "", "Dr. J. Roe, M. Eng. Klein", ""}},
		"owner in capitals":     {"p.txt", "Owner: CISO. To be reviewed in May\n\nText.", wanted{nil, "", "CISO", ""}},
		"owner and a dot":       {"p.txt", "Owner: Head of IT · Approved: Board\n\nText.", wanted{nil, "", "Head of IT", "Board"}},
		"approval alone":        {"p.md", "# P\n\nApproved by the board on 3 May 2026.\n", wanted{documenttest.Date(2026, 5, 3), "", "", "board"}},
		"end of validity":       {"p.md", "# P\n\nVersion 2, valid until 3 May 2027.\n", wanted{nil, "2", "", ""}},
		"keys before sentences": {"p.md", "# P\n\nVersion 2, in force since 2 March 2026.\n\nVersion: 3\n", wanted{documenttest.Date(2026, 3, 2), "3", "", ""}},
		"sentences of others": {
			"p.md",
			"# P\n\nEvery supplier sends us version 2 of its report, in force since 2 March 2024, which is approved by Ann Roe.\n\n" +
				"Policy exceptions are in force, 3 May 2025 being the last.\n",
			wanted{},
		},
		"reference, version and date": {
			"p.md",
			"# P\n\nReference HB/IT-7, version 1.4, in force since 20 May 2026. Approved by Mara Lindqvist, CTO\n",
			wanted{documenttest.Date(2026, 5, 20), "1.4", "", "Mara Lindqvist, CTO"},
		},
		"version and date": {"p.md", "# P\n\nVersion 1.4, 2 March 2026\n\nText.\n", wanted{documenttest.Date(2026, 3, 2), "1.4", "", ""}},
		"table of fields": {
			"p.md",
			"# P\n\n| Field | Value |\n|---|---|\n| Version | 1.4 |\n| Owner | CISO |\n| Approved by | Board |\n",
			wanted{nil, "1.4", "CISO", "Board"},
		},
		"first pair as a header": {
			"p.html",
			"<table><tr><th>Version</th><th>7.3</th></tr><tr><td>Owner</td><td>Head of Platform</td></tr></table>",
			wanted{nil, "7.3", "Head of Platform", ""},
		},
		"header of a list": {"p.md", "# P\n\n| Owner | State |\n|---|---|\n| IT | open |\n| HR | done |\n", wanted{}},
		"glossary":         {"p.md", "# P\n\n| Term | Meaning |\n|---|---|\n| Owner | the person who is accountable |\n", wanted{}},
		"ends at the next key": {
			"p.txt",
			"Approved by: Chief Information Officer. Classification: Restricted\n\nText.",
			wanted{nil, "", "", "Chief Information Officer"},
		},
		"list of pairs": {
			"p.html", "<h1>P</h1><dl><dt>Version</dt><dd>2.3</dd><dt>Owner</dt><dd>Ann Roe</dd></dl>", wanted{nil, "2.3", "Ann Roe", ""},
		},
		"ends before a noun": {"p.txt", "Owner: Head of Operations   Classification: Internal\n\nText.", wanted{nil, "", "Head of Operations", ""}},
		"ends before a key of two words": {
			"p.txt", "Owner: Ann Roe Document Classification: Internal\n\nText.", wanted{nil, "", "Ann Roe", ""},
		},
		"ends at a page number": {"p.txt", "Owner: Head of IT Page 3 of 12\n\nText.", wanted{nil, "", "Head of IT", ""}},
		"prompts": {
			"p.txt",
			"Approved by: Click or tap here to enter text.\n\nOwner: Insert name\n\nVersion: [x]\n\nEffective date: DD/MM/YYYY\n\nText.",
			wanted{},
		},
		"sentences about the policy": {
			"p.md",
			"# P\n\nThis is version 2.3 of the policy. It has been in force since 1 February 2026 and is owned by the Head of IT. The Board approved it " +
				"on 20 January 2026.\n",
			wanted{documenttest.Date(2026, 2, 1), "2.3", "Head of IT", "Board"},
		},
		"approved on and by": {
			"p.md",
			"# P\n\nThis policy was approved by the Board of Directors on 12 December 2025 and applies from 1 January 2026. The CISO is responsible for " +
				"this policy. Version 6.0.\n",
			wanted{documenttest.Date(2026, 1, 1), "6.0", "CISO", "Board of Directors"},
		},
		"came into force": {
			"p.md",
			"# P\n\nVersion 5 came into force on 2026-02-28. Document owner is Lena Brandt, CISO. It was approved by the Steering Group.\n",
			wanted{documenttest.Date(2026, 2, 28), "5", "Lena Brandt, CISO", "Steering Group"},
		},
		"owns and enters": {
			"p.md",
			"# P\n\nThe HR Director owns this procedure. It entered into force on 3 February 2026.\n",
			wanted{documenttest.Date(2026, 2, 3), "", "HR Director", ""},
		},
		"sentences about other things": {
			"p.md",
			"# P\n\nThis policy describes how exceptions are approved by the risk owner, and which laptops are owned by the company.\n\n" +
				"This plan takes effect on any failure of 3 hours. Changes are logged and approved by the CAB.\n\nThe CTO is responsible for this server.\n",
			wanted{},
		},
		"edition": {
			"p.md",
			"# P\n\nReference SP-9, edition 3, dated 4 May 2026. Responsible: Head of IT. Signed off by the Board.\n",
			wanted{documenttest.Date(2026, 5, 4), "3", "Head of IT", "Board"},
		},
		"version alone":           {"p.md", "# P\n\nv3.2 | In force from 1 July 2026 | Owner: CISO\n", wanted{documenttest.Date(2026, 7, 1), "3.2", "CISO", ""}},
		"slashes":                 {"p.md", "# P\n\nNo. DRP-01 / Version 1.4 / 12 May 2026\n\nApproved by: CEO / COO\n", wanted{documenttest.Date(2026, 5, 12), "1.4", "", "CEO / COO"}},
		"version with its date":   {"p.md", "# P\n\nCurrent version: 2.4 of 17 March 2026. Owner – Head of IT.\n", wanted{documenttest.Date(2026, 3, 17), "2.4", "Head of IT", ""}},
		"approver with a date":    {"p.txt", "Approved by: Risk Committee, 10 March 2026\n\nText.", wanted{documenttest.Date(2026, 3, 10), "", "", "Risk Committee"}},
		"status with a date":      {"p.txt", "Status: approved 11.05.2026 by the ISMS board\n\nText.", wanted{documenttest.Date(2026, 5, 11), "", "", "ISMS board"}},
		"leader dots":             {"p.txt", "Document control\nVersion ...... 1.2\nOwner ........ Head of IT\nDate ......... 2 February 2026\n", wanted{documenttest.Date(2026, 2, 2), "1.2", "Head of IT", ""}},
		"labels on their lines":   {"p.md", "# P\n\nVersion\n\n2.5\n\nOwner\n\nCISO\n\nDate\n\n3 March 2026\n", wanted{documenttest.Date(2026, 3, 3), "2.5", "CISO", ""}},
		"labels of an empty form": {"p.md", "# P\n\nReported by:\n\nOwner:\n\nDescription\n\nApproved by: ____\n\nEffective date: pending\n", wanted{}},
		"front matter": {
			"p.md", "---\nversion: 1.8\napproved_by: CHRO\neffective_date: 2026-02-20\n---\n# P\n\nText.\n",
			wanted{documenttest.Date(2026, 2, 20), "1.8", "", "CHRO"},
		},
		"keys with more": {
			"p.md", "# P\n\n| | |\n|---|---|\n| Version / date | 3.1 / 4 May 2026 |\n| Owner (role) | CISO |\n| Approved by / on | CEO, 2 May 2026 |\n",
			wanted{documenttest.Date(2026, 5, 2), "3.1", "CISO", "CEO"},
		},
		"roles": {
			"p.md", "# P\n\n| Role | Name | Date |\n|---|---|---|\n| Owner | Dana Wu | 2 May 2026 |\n| Approver | Omar Haddad | 5 May 2026 |\n",
			wanted{documenttest.Date(2026, 5, 5), "", "Dana Wu", "Omar Haddad"},
		},
		"who signed": {
			"p.md", "# P\n\n| Prepared by | Reviewed by | Approved by |\n|---|---|---|\n| A. Lind | B. Moe | C. Roe |\n| 12 May 2026 | 13 May 2026 | 14 May 2026 |\n",
			wanted{documenttest.Date(2026, 5, 14), "", "", "C. Roe"},
		},
		"letters as revisions": {
			"p.md", "# P\n\n| Rev. | Date | Change |\n|---|---|---|\n| C | 4 May 2026 | final |\n| B | 3 April 2026 | comments |\n",
			wanted{documenttest.Date(2026, 5, 4), "C", "", ""},
		},
		"prose is no key": {"p.txt", "The owner: whoever made it. Version control is used.\n\nText.", wanted{}},
	} {
		d := parsetest.Read(t, tt.file, []byte(tt.text))
		if got := (wanted{d.EffectiveDate, d.Version, d.Owner, d.ApprovedBy}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v %q %q %q", name, got.effective, got.version, got.owner, got.approv)
		}
	}
}

func TestFactsInPageHeader(t *testing.T) {
	b := document.NewBuilder(t.Context(), document.Options{})
	for _, text := range []string{
		"Document", "Key Standard", "Version", "7.3", "Owner", "Approved by", "Board", "Effective date", "14 May 2026",
	} {
		b.Doc.Furniture = append(b.Doc.Furniture, document.Block{Kind: document.Paragraph, Text: text})
	}
	d := facts.Complete(b, "p.docx")
	if d.Version != "7.3" || d.Owner != "" || d.ApprovedBy != "Board" || !reflect.DeepEqual(d.EffectiveDate, documenttest.Date(2026, 5, 14)) {
		t.Errorf("version %q, owner %q, approver %q, date %v", d.Version, d.Owner, d.ApprovedBy, d.EffectiveDate)
	}
}

// TestFactsInPageHeaderColumns checks a table in a page header whose first row has the column names, with the values
// below them.
func TestFactsInPageHeaderColumns(t *testing.T) {
	b := document.NewBuilder(t.Context(), document.Options{})
	for _, text := range []string{
		"Date", "Owner", "Approved by", "2026-04-30", "Security Lead", "CTO", "Printed copies are not controlled. KC-1 Version 3.4 Approval: see minutes",
	} {
		b.Doc.Furniture = append(b.Doc.Furniture, document.Block{Kind: document.Paragraph, Text: text})
	}
	d := facts.Complete(b, "p.docx")
	if d.Version != "3.4" || d.Owner != "Security Lead" || d.ApprovedBy != "CTO" || !reflect.DeepEqual(d.EffectiveDate, documenttest.Date(2026, 4, 30)) {
		t.Errorf("version %q, owner %q, approver %q, date %v", d.Version, d.Owner, d.ApprovedBy, d.EffectiveDate)
	}
}

func TestTitleLineInAForm(t *testing.T) {
	if d := parsetest.Read(t, "leaver form.txt", []byte("Name: Ann\n\nTitle: Dr.\n\nText.")); d.Title != "leaver form" {
		t.Errorf("the title is %q", d.Title)
	}
}

func TestDocumentNotInForce(t *testing.T) {
	for text, want := range map[string]bool{
		"# Access\n\nWITHDRAWN\n\nAccess is reviewed.":                                        true,
		"# Access\n\nSuperseded by ISP-4 of 2 May 2026.\n\nAccess is reviewed.":               true,
		"# Access\n\nThis standard was repealed on 1 May.\n\nAccess is reviewed.":             true,
		"# Access\n\nStatus: draft\n\nAccess is reviewed.":                                    true,
		"# Access\n\n| Field | Value |\n|---|---|\n| Status | Draft |\n\nAccess is reviewed.": true,
		"# Access\n\nThis policy replaces version 2.\n\nAccess is reviewed.":                  false,
		"# Access\n\nArchived. Do not use.":                                                   true,
		"# Access\n\nNo longer valid from 31 December 2025.":                                  true,
		"# Access\n\nDocument status: In review":                                              true,
		"# Access\n\nFOR REVIEW ONLY – NOT APPROVED":                                          true,
		"# Access\n\nObsolete hardware is destroyed. Expired keys are changed.":               false,
		"# Access\n\nDraft contracts, final and withdrawn ones are kept.":                     false,
		"# Access\n\nThis standard is not applicable to visitors.":                            false,
		"# Access\n\n- granted by the owner\n- revoked by the team":                           false,
		"# Access\n\nWithdrawal of access takes a day.":                                       false,
		"# Access\n\nThis policy is in force. Superseded documents are kept 10 years.":        false,
	} {
		d := parsetest.Read(t, "p.md", []byte(text))
		if got := len(d.Warnings) > 0; got != want {
			t.Errorf("%q: warnings %q", text, d.Warnings)
		}
	}
}
