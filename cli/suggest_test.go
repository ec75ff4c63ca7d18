package cli

import (
	"slices"
	"strings"
	"testing"
)

func TestNearest(t *testing.T) {
	known := []string{"soa", "gap", "scope", "assess", "assess", "report", "status", "severity", "doc"}
	for word, want := range map[string]string{
		"sao": "soa", "so": "soa", "asess": "assess", "ASSESS": "assess", "rpeort": "report", "reprot": "report",
		"sverety": "severity", "docs": "doc", "import": "", "nope": "", "sc": "scope", "": "", "ß": "",
	} {
		if got := strings.Join(nearestWords(word, known), " "); got != want {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
}

func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"soa", "soa", 0},
		{"sao", "soa", 1},
		{"soa", "soas", 1},
		{"soa", "sa", 1},
		{"soa", "sob", 1},
		{"abcd", "badc", 2},
		{"über", "uber", 1},
		{"", "abc", 3},
		{strings.Repeat("x", 1000), "x", maxComparedLength},
	} {
		if got := editDistance(c.a, c.b); got != c.want {
			t.Errorf("%q to %q: %d, want %d", c.a, c.b, got, c.want)
		}
		if editDistance(c.a, c.b) != editDistance(c.b, c.a) {
			t.Errorf("%q and %q are not as far from each other both ways", c.a, c.b)
		}
	}
}

// TestCommandsElsewhere checks that a command given without its group is suggested together with its group.
func TestCommandsElsewhere(t *testing.T) {
	root := CommandTree("1")
	for word, want := range map[string][]string{
		"run": {"assess run", "agent run", "reader run"}, "status": {"assess status", "doc status"}, "rnu": nil, "sao": {"soa"},
	} {
		if got := similarCommands(root, word); !slices.Equal(got, want) {
			t.Errorf("%q: %q, want %q", word, got, want)
		}
	}
	soa, _, err := root.Find([]string{"soa"})
	if err != nil {
		t.Fatal(err)
	}
	if got := similarCommands(soa, "demo"); !slices.Equal(got, []string{"demo"}) {
		t.Errorf("below soa: %q", got)
	}
}
