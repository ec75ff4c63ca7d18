package sampling_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/scf-service/service/internal/sampling"
)

// TestAtMost compares the results with published Clopper-Pearson bounds: none of 59 excludes 5%, one of 93 excludes
// 5%.
func TestAtMost(t *testing.T) {
	for _, tc := range []struct {
		strata      []sampling.Stratum
		found, want int
	}{
		{[]sampling.Stratum{{1000, 59}}, 0, 49},
		{[]sampling.Stratum{{1000, 58}}, 0, 50},
		{[]sampling.Stratum{{1000, 93}}, 1, 49},
		{[]sampling.Stratum{{1000, 92}}, 1, 50},
		{[]sampling.Stratum{{500, 30}, {500, 30}}, 0, 48},
		{[]sampling.Stratum{{10, 10}}, 3, 3},
		{[]sampling.Stratum{{10, 9}}, 0, 1},
		{[]sampling.Stratum{{10, 0}, {10, 10}}, 0, 20},
		{nil, 0, 0},
	} {
		if got := sampling.AtMost(tc.strata, tc.found); got != tc.want {
			t.Errorf("%v, %d: %d, not %d", tc.strata, tc.found, got, tc.want)
		}
	}
}

// TestConfidence draws samples from populations with errors distributed over strata in the worst ways, and counts how
// often the bound is too small. That must be at most 5% of the time.
func TestConfidence(t *testing.T) {
	sizes := []int{120, 60, 20}
	random := rand.New(rand.NewPCG(1, 2))
	for _, errors := range [][]int{{10, 0, 0}, {0, 10, 0}, {0, 0, 10}, {4, 4, 2}, {30, 0, 0}, {1, 0, 0}} {
		const rounds = 4000
		tooSmall := 0
		for range rounds {
			strata, found, wrong := []sampling.Stratum{}, 0, 0
			for s, n := range sampling.Allocate(sizes, 59) {
				for _, member := range random.Perm(sizes[s])[:n] {
					if member < errors[s] {
						found++
					}
				}
				wrong += errors[s]
				strata = append(strata, sampling.Stratum{Size: sizes[s], Sampled: n})
			}
			if sampling.AtMost(strata, found) < wrong {
				tooSmall++
			}
		}
		if share := float64(tooSmall) / rounds; share > 0.05 {
			t.Errorf("errors %v: the bound is too small in %.1f %% of samples", errors, 100*share)
		}
	}
}

func TestSizeFor(t *testing.T) {
	if got := sampling.SizeFor([]int{1000}, 0, 0.05); got < 58 || got > 59 {
		t.Errorf("%d for 5 %% of 1000", got)
	}
	if got := sampling.SizeFor([]int{20}, 2, 0.05); got != 20 {
		t.Errorf("%d of 20 with two errors", got)
	}
}

func TestShuffleIsNested(t *testing.T) {
	all := []string{"A", "B", "C", "D", "E", "F"}
	some := []string{"B", "D", "F"}
	sampling.Shuffle(all, 7)
	sampling.Shuffle(some, 7)
	if got := slices.DeleteFunc(slices.Clone(all), func(s string) bool { return !slices.Contains(some, s) }); !slices.Equal(got, some) {
		t.Errorf("%v and %v", all, some)
	}
	other := slices.Clone(all)
	sampling.Shuffle(other, 8)
	if slices.Equal(all, other) {
		t.Error("another seed gives the same order")
	}
}

// TestInterval compares the results with published Clopper-Pearson intervals.
func TestInterval(t *testing.T) {
	for _, tc := range []struct {
		share     float64
		n         int
		low, high float64
	}{
		{1, 10, 0.692, 1}, {0, 10, 0, 0.308}, {0.5, 10, 0.187, 0.813}, {0.9, 20, 0.683, 0.988}, {0.95, 10, 0.555, 1}, {1, 1, 0.025, 1},
	} {
		low, high := sampling.Interval(tc.share, tc.n)
		if math.Abs(low-tc.low) > 0.001 || math.Abs(high-tc.high) > 0.001 {
			t.Errorf("%g of %d: %.3f to %.3f, want %.3f to %.3f", tc.share, tc.n, low, high, tc.low, tc.high)
		}
	}
}
