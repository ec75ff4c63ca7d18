package editdistance_test

import (
	"testing"

	"github.com/scf-service/service/internal/editdistance"
)

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"status", "status", 0},
		{"status", "staus", 1},
		{"status", "statuus", 1},
		{"status", "statis", 1},
		{"status", "sttaus", 1},
		{"ab", "ba", 1},
		{"kitten", "sitting", 3},
		{"für", "fur", 1},
	} {
		if got := editdistance.Distance([]rune(tc.a), []rune(tc.b)); got != tc.want {
			t.Errorf("%q and %q: %d, want %d", tc.a, tc.b, got, tc.want)
		}
		if got := editdistance.Distance([]rune(tc.b), []rune(tc.a)); got != tc.want {
			t.Errorf("%q and %q: %d, want %d", tc.b, tc.a, got, tc.want)
		}
	}
	if got := editdistance.Distance([]byte("für"), []byte("fur")); got != 2 {
		t.Errorf("by bytes: %d", got)
	}
}
