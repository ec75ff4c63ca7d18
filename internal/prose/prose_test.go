package prose

import "testing"

func TestCount(t *testing.T) {
	for n, want := range map[int]string{0: "0 gaps", 1: "1 gap", 2: "2 gaps", 999: "999 gaps", 1468: "1,468 gaps", 1234567: "1,234,567 gaps"} {
		if got := Count(n, "gap", "gaps"); got != want {
			t.Errorf("Count(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestGroupThousandsOfNegativeNumbers(t *testing.T) {
	for n, want := range map[int]string{-5: "-5", -100: "-100", -1000: "-1,000"} {
		if got := GroupThousands(n); got != want {
			t.Errorf("GroupThousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestJoin(t *testing.T) {
	words := []string{"a", "b", "c"}
	for n, want := range []string{"", "a", "a and b", "a, b and c"} {
		if got := JoinAnd(words[:n]); got != want {
			t.Errorf("JoinAnd(%q) = %q, want %q", words[:n], got, want)
		}
	}
	if got := JoinOr(words); got != "a, b or c" {
		t.Errorf("JoinOr = %q", got)
	}
}

func TestLabel(t *testing.T) {
	for value, want := range map[string]string{
		"": "", "partially_implemented": "Partially implemented", "soa_drafted": "SoA drafted", "drafted_poam": "Drafted POA&M", "été": "Été",
	} {
		if got := Label(value); got != want {
			t.Errorf("Label(%q) = %q, want %q", value, got, want)
		}
	}
}

func TestTruncate(t *testing.T) {
	for s, want := range map[string]string{"": "", "čtyři": "čtyři", "čtyřicet": "čtyř…", "one two": "one…"} {
		if got := Truncate(s, 5); got != want {
			t.Errorf("Truncate(%q) = %q, want %q", s, got, want)
		}
	}
}
