package facts_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestFacts(t *testing.T) {
	type facts struct {
		effective              *time.Time
		version, owner, approv string
	}
	for name, tt := range map[string]struct {
		file, text string
		want       facts
	}{
		"a rule is nobody": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nApproved by: the CIO must approve the change plan\n\nText.",
			facts{nil, "1.2", "", ""},
		},
		"lines": {
			"p.txt",
			"Policy\n\nVersion: 1.2\n\nEffective Date: January 5th, 2026\n\nOwner: Jane Doe, CISO\n\nApproved by: The Board\n\nText.",
			facts{documenttest.Date(2026, 1, 5), "1.2", "Jane Doe, CISO", "The Board"},
		},
		"one line": {
			"p.txt",
			"Version: v2.0 Owner: CISO Effective Date: 2026-02-03\n\nText follows here.",
			facts{documenttest.Date(2026, 2, 3), "2.0", "CISO", ""},
		},
		"bars": {
			"p.txt",
			"Version 3.1 | Effective 1 May 2026 | Owner: IT\n\nText follows.",
			facts{documenttest.Date(2026, 5, 1), "3.1", "IT", ""},
		},
		"bold markdown": {"p.md", "# P\n\n**Version:** 4\n\n**Policy owner:** Head of IT\n", facts{nil, "4", "Head of IT", ""}},
		"table": {
			"p.md",
			"# P\n\n| Document owner | CIO |\n|---|---|\n| Version | 1.0 |\n| Approved by | CEO |\n| Effective date | 12.01.2026 |\n",
			facts{documenttest.Date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"wide table": {
			"p.md",
			"# P\n\n| Version | 1.0 | Owner | CIO |\n|---|---|---|---|\n| Approver | CEO | Effective date | 2026/01/12 |\n",
			facts{documenttest.Date(2026, 1, 12), "1.0", "CIO", "CEO"},
		},
		"history": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.0 | 2024-01-01 | first |\n| 1.1 | 2025-06-30 | second |\n",
			facts{documenttest.Date(2025, 6, 30), "1.1", "", ""},
		},
		"history upward": {
			"p.md",
			"# P\n\n| Version | Date | Change |\n|---|---|---|\n| 1.1 | 2025-06-30 | second |\n| 1.0 | 2024-01-01 | first |\n",
			facts{documenttest.Date(2025, 6, 30), "1.1", "", ""},
		},
		"german": {
			"p.txt",
			"Gültig ab: 3. März 2026\n\nVersion: 2\n\nVerantwortlich: Frau Weber\n\nFreigegeben durch: Herr Klein\n\nText.",
			facts{documenttest.Date(2026, 3, 3), "2", "Frau Weber", "Herr Klein"},
		},
		"french": {
			"p.txt",
			"Date d'entrée en vigueur : 1er août 2025\n\nPropriétaire : DSI\n\nTexte.",
			facts{documenttest.Date(2025, 8, 1), "", "DSI", ""},
		},
		"effective wins": {
			"p.txt",
			"Last updated: 2026-05-05\n\nEffective date: 2026-04-04\n\nText.",
			facts{documenttest.Date(2026, 4, 4), "", "", ""},
		},
		"us date":     {"p.txt", "Effective date: 3/27/2026\n\nText.", facts{documenttest.Date(2026, 3, 27), "", "", ""}},
		"ambiguous":   {"p.txt", "Effective date: 3/4/2026\n\nText.", facts{}},
		"template":    {"p.txt", "Version: [x.y]\n\nOwner: TBD\n\nEffective date: <date>\n\nText.", facts{}},
		"no such day": {"p.txt", "Effective date: 2026-02-30\n\nText.", facts{}},
		"sentence": {
			"p.md",
			"# P\n\nVersion 3.1, in force since 2 March 2026. Approved by Odile Fenwright, managing director. Next review: March 2027.\n",
			facts{documenttest.Date(2026, 3, 2), "3.1", "", "Odile Fenwright, managing director"},
		},
		"code and version": {
			"p.md",
			"# P\n\nProcedure OPS-12, version 2, in force, 8 June 2026. Written by Bram Oyelaran.\n",
			facts{documenttest.Date(2026, 6, 8), "2", "", ""},
		},
		"code and date": {
			"p.md",
			"# P\n\nPolicy VH-1, in force since 16 November 2026. Approved by Dr. O. Fenwright on 3 November 2026.\n",
			facts{documenttest.Date(2026, 11, 16), "", "", "Dr. O. Fenwright"},
		},
		"validity": {
			"p.txt",
			"HOUSE RULES\nReference TH-4. Valid from 11 May 2026. Owner: Bram Oyelaran\n\n1. Getting in\nThe gate is shut.",
			facts{documenttest.Date(2026, 5, 11), "", "Bram Oyelaran", ""},
		},
		"draft": {"p.md", "# Plan\n\nDRAFT 0.4 – not yet approved – for discussion in the circle\n", facts{nil, "0.4", "", ""}},
		"owner's sentence": {
			"p.md",
			"# P\n\nVersion 1.3. Owner: Plant Manager. Approved by the works council.\n",
			facts{nil, "1.3", "Plant Manager", "the works council"},
		},
		"owner with a title":    {"p.txt", "Owner: Dr. J. Roe, M. Eng. Klein\n\nText.", facts{nil, "", "Dr. J. Roe, M. Eng. Klein", ""}},
		"owner in capitals":     {"p.txt", "Owner: CISO. To be reviewed in May\n\nText.", facts{nil, "", "CISO", ""}},
		"owner and a dot":       {"p.txt", "Owner: Head of IT · Approved: Board\n\nText.", facts{nil, "", "Head of IT", "Board"}},
		"approval alone":        {"p.md", "# P\n\nApproved by the board on 3 May 2026.\n", facts{documenttest.Date(2026, 5, 3), "", "", "the board"}},
		"end of validity":       {"p.md", "# P\n\nVersion 2, valid until 3 May 2027.\n", facts{nil, "2", "", ""}},
		"keys before sentences": {"p.md", "# P\n\nVersion 2, in force since 2 March 2026.\n\nVersion: 3\n", facts{documenttest.Date(2026, 3, 2), "3", "", ""}},
		"sentences of others": {
			"p.md",
			"# P\n\nEvery supplier sends us version 2 of its report, in force since 2 March 2024, which is approved by Ann Roe.\n\n" +
				"Policy exceptions are in force, 3 May 2025 being the last.\n",
			facts{},
		},
		"prose is no key": {"p.txt", "The owner: whoever made it. Version control is used.\n\nText.", facts{}},
	} {
		d := parsetest.Read(t, tt.file, []byte(tt.text))
		if got := (facts{d.EffectiveDate, d.Version, d.Owner, d.ApprovedBy}); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("%s: %v %q %q %q", name, got.effective, got.version, got.owner, got.approv)
		}
	}
}
