package text

import (
	"testing"
)

func TestStances(t *testing.T) {
	for _, tc := range []struct {
		text                                  string
		hedged, limited, wished, plan, denied bool
	}{
		{text: "Staff may use only the encrypted sticks that IT hands out."},
		{text: "No visitor may enter the server room alone."},
		{text: "Whoever breaks this policy may be subject to disciplinary action."},
		{text: "Staff may report incidents by mail.", hedged: true},
		{text: "Supplier: Acme; We may audit or get a report: yes; Owner: IT"},
		{text: "Supplier: Acme; Audits: we may audit them; Owner: IT", hedged: true},
		{text: "Anti-malware runs on laptops only.", limited: true},
		{text: "Anti-malware runs on all laptops; old analysers have none.", limited: true},
		{text: "A phone that has none is refused."},
		{text: "Handheld scanners are outside of this policy.", limited: true},
		{text: "An external test would be desirable, but budget has not been granted.", wished: true},
		{text: "We recommend that you run a continuity exercise each year.", wished: true},
		{text: "The owner signed a waiver until 31 August 2027."},
		{text: "Until 31 August 2027 logs are to be kept by hand.", plan: true},
		{text: "By Easter 2028 forty roles are to be described.", plan: true},
		{text: "Staff who are going to see patients are vetted."},
		{text: "Shared accounts are no longer permitted."},
		{text: "What is no longer needed is taken away."},
		{text: "Shared accounts are no longer checked.", denied: true},
		{text: "Laws are kept in a register; there is none yet.", denied: true},
	} {
		s := Analyze(tc.text, 2026).Sentences[0]
		for _, is := range []struct {
			what      string
			got, want bool
		}{
			{"hedged", s.Hedge != "", tc.hedged},
			{"limited", s.Limit != "", tc.limited},
			{"wished", s.Hypothetical != 0, tc.wished},
			{"a plan", s.PlanWords != "", tc.plan},
			{"denied", s.Denied&1 != 0, tc.denied},
		} {
			if is.got != is.want {
				t.Errorf("%q: %s %v", tc.text, is.what, is.got)
			}
		}
	}
}

func TestSentencesWithUnlistedVerbsAreNoFragments(t *testing.T) {
	for text, fragment := range map[string]bool{
		"The Chief Executive answers to the Board for information security.": false,
		"A second copy goes to the vault every night.":                       false,
		"Set up a web application firewall in front of the app (H1).":        false,
		"Network switches get new firmware once a year.":                     false,
		"Responsibilities of the board":                                      true,
		"4 Access to systems ........ 12":                                    true,
	} {
		if got := Analyze(text, 2026).Sentences[0].Fragment; got != fragment {
			t.Errorf("%q: fragment %v", text, got)
		}
	}
}
