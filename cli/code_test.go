package cli

import "testing"

func TestEqualCode(t *testing.T) {
	for _, same := range [][2]string{
		{"IAC-06", "iac6"},
		{"IAC-06", "IAC-6"},
		{"IAC-06.1", "iac 6.1"},
		{"POAM-001", "poam-1"},
		{"POAM-010", "POAM10"},
		{"X-0", "x00"},
		{"X-0", " x-0 "},
	} {
		if !isSameCode(same[0], same[1]) {
			t.Errorf("%q is not %q", same[0], same[1])
		}
	}
	for _, other := range [][2]string{
		{"IAC-06", "IAC-60"},
		{"IAC-10", "IAC-1"},
		{"IAC-06.1", "IAC-061"},
		{"POAM-001", "POAM-010"},
		{"IAC-06", ""},
	} {
		if isSameCode(other[0], other[1]) {
			t.Errorf("%q is %q", other[0], other[1])
		}
	}
}
