// Package sampling draws stratified samples and bounds the number of errors in the rest of the population.
//
// The bound is exact in the sense of Clopper and Pearson: its confidence holds for every finite population, not only
// for large ones. A sample without replacement from each of several strata finds a number of errors that is a sum of
// independent hypergeometric variables, and so of independent yes-or-no trials (their generating polynomials have
// only real roots). With K errors in the population, at least f·K of them are expected in the sample, where f is the
// smallest sampled fraction of a stratum. Hoeffding (1956) showed that a sum of independent trials falls below its
// mean by one or more at most as often as a binomial variable with the same mean. So, if a binomial variable with n
// trials and mean f·K is at most k with a probability of 1 - confidence or less, finding k rules out K errors. It
// doesn't matter how the errors are distributed over the strata.
package sampling

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"

	"gonum.org/v1/gonum/mathext"
)

// Stratum counts the members of a stratum and how many of them were sampled.
type Stratum struct{ Size, Sampled int }

// Confidence is the confidence level of AtMost.
const Confidence = 0.95

// AtMost returns the largest number of errors in a population that is consistent with finding the given number in a
// sample of its strata.
func AtMost(strata []Stratum, found int) int {
	size, sampled, fraction := 0, 0, 1.0
	for _, s := range strata {
		size += s.Size
		sampled += s.Sampled
		if s.Size > 0 {
			fraction = min(fraction, float64(s.Sampled)/float64(s.Size))
		}
	}
	if sampled == 0 || fraction == 0 {
		return size
	}
	most := size - (sampled - found) // sampled members without an error are not errors
	for k := found; k < most; k++ {
		if probabilityOfAtMost(found, sampled, fraction*float64(k+1)/float64(sampled)) <= 1-Confidence {
			return k
		}
	}
	return most
}

// probabilityOfAtMost returns the probability that a binomial variable with n trials of probability p is at most k.
func probabilityOfAtMost(k, n int, p float64) float64 {
	switch {
	case k >= n || p <= 0:
		return 1
	case p >= 1:
		return 0
	}
	return mathext.RegIncBeta(float64(n-k), float64(k+1), 1-p)
}

// Allocate returns how many members of each stratum to sample, so that the fraction sampled in each stratum is at
// least the given sample size divided by the size of the population.
func Allocate(sizes []int, sample int) []int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	out := make([]int, len(sizes))
	for i, n := range sizes {
		if total > 0 {
			out[i] = min(n, int(math.Ceil(float64(n)*float64(min(sample, total))/float64(total))))
		}
	}
	return out
}

// SizeFor returns the smallest sample size that is sufficient for strata of the given sizes: if the sample contains
// the given number of errors, at most the given share of the population can be wrong.
func SizeFor(sizes []int, found int, share float64) int {
	total := 0
	for _, n := range sizes {
		total += n
	}
	for sample := max(1, found); sample < total; sample++ {
		strata := make([]Stratum, len(sizes))
		for i, n := range Allocate(sizes, sample) {
			strata[i] = Stratum{Size: sizes[i], Sampled: n}
		}
		if float64(AtMost(strata, found)) <= share*float64(total) {
			return sample
		}
	}
	return total
}

// Shuffle orders names randomly. The same seed always results in the same order, and the order of any two names
// relative to each other doesn't depend on which other names there are.
func Shuffle(names []string, seed uint64) {
	rank := func(name string) string {
		sum := sha256.Sum256(fmt.Append(binary.BigEndian.AppendUint64(nil, seed), name))
		return string(sum[:])
	}
	slices.SortFunc(names, func(a, b string) int { return strings.Compare(rank(a), rank(b)) })
}

// Interval returns the range of shares of a population, from 0 to 1, that is consistent with the share found in n
// independent draws. It is the Clopper-Pearson interval with the confidence level Confidence. A share that can't
// result from n draws is rounded outward.
func Interval(share float64, n int) (low, high float64) {
	const tail = (1 - Confidence) / 2
	down, up := int(math.Floor(share*float64(n)+1e-9)), int(math.Ceil(share*float64(n)-1e-9))
	low, high = 0, 1
	if down > 0 {
		low = mathext.InvRegIncBeta(float64(down), float64(n-down+1), tail)
	}
	if up < n {
		high = mathext.InvRegIncBeta(float64(up+1), float64(n-up), 1-tail)
	}
	return low, high
}
