package text

import (
	"testing"
)

func TestBlankEmptyCells(t *testing.T) {
	for text, want := range map[string]string{
		"Incident: Phishing; Root cause: –; State: Closed":    "Incident: Phishing;              ; State: Closed",
		"Incident: Phishing; Root cause: n/a":                 "Incident: Phishing;                ",
		"Incident: Phishing; Root cause: none yet; Cost: TBD": "Incident: Phishing;                     ;          ",
		"Root cause: -":                          "             ",
		"Root cause: expired key; State: Closed": "Root cause: expired key; State: Closed",
		"Owners:":                                "Owners:",
		"These are to be named: -; nothing else is to be done.": "These are to be named: -; nothing else is to be done.",
	} {
		if got := blankEmptyCells(text); CollapseSpace(got) != CollapseSpace(want) || len(got) < len(text) {
			t.Errorf("%q became %q", text, got)
		}
	}
}
