package text

import (
	"testing"
)

func TestIsImprint(t *testing.T) {
	for text, want := range map[string]bool{
		"Owner: Control Systems Manager.":                               true,
		"Owner: Head of IT · Approved: 2026-03-01 by the board":         true,
		"**Version** 2.1 | Status: Approved | Classification: Internal": true,
		"| Next review | March 2027 |":                                  true,
		"Version 2, approved by the managing director on 2026-02-01.":   true,
		"Owners decide who may use their systems.":                      false,
		"Owner: the owner must approve each right.":                     false,
		"Risk: Fire; Owner: Head of IT; Status: Open":                   false,
		"Approval: Changes are approved by the board.":                  false,
	} {
		if got := IsImprint(text, false); got != want {
			t.Errorf("%q: %v", text, got)
		}
	}
	if IsImprint("Approved by: Ada Lovelace", true) || !IsImprint("Author: Ada; Version: 2", true) {
		t.Error("in a record, only author and version belong to the document, not an approval alone")
	}
}
