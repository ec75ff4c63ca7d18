package dedup

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

const clause = "All privileged accounts are reviewed every quarter by the owner of the system, who confirms in writing " +
	"that each account is still needed and removes those that are not within five working days of the review."

func TestEarliest(t *testing.T) {
	edited := strings.Replace(clause, "five working days", "ten working days", 1)
	texts := []Text{
		{0, clause},
		{0, clause}, // a repetition within the same document is not a copy
		{1, "Scope. " + edited},
		{
			1,
			"Backups are written to a second site each night and restored once a month by the operations team, which keeps a " +
				"record of each restore and of what failed.",
		},
		{2, strings.ToUpper(clause)},
		{2, "Short words that are the same."},
		{3, "Short words that are the same."},
	}
	if got, want := EarliestMatches(texts), []int{-1, -1, 0, -1, 0, -1, -1}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestEarliestIsSteady(t *testing.T) {
	texts := many(300)
	first := EarliestMatches(texts)
	for range 5 {
		if !slices.Equal(EarliestMatches(texts), first) {
			t.Fatal("another answer for the same texts")
		}
	}
	copies := 0
	for _, at := range first {
		if at >= 0 {
			copies++
		}
	}
	if copies != 30 {
		t.Errorf("%d copies found, 30 are there", copies)
	}
}

func TestIndex(t *testing.T) {
	x := NewIndex([]string{"Backups are made each night.", clause, "Scope. " + strings.Repeat(clause, 3)})
	for text, want := range map[string]bool{
		clause:                         true,
		strings.ToUpper(clause) + "\n": true,
		strings.Replace(clause, "five working days", "ten working days", 1): true,
		"backups are made, each night":                                      true,
		"Backups are made each week.":                                       false,
		clause[:len(clause)/2]:                                              false,
		"":                                                                  false,
	} {
		if x.Contains(NewIndex([]string{text}), 0) != want {
			t.Errorf("%q: %v", text, !want)
		}
	}
	repeated := NewIndex(slices.Repeat([]string{clause[:len(clause)*3/5]}, 5000))
	if repeated.Contains(NewIndex([]string{clause}), 0) {
		t.Error("a part of a text is not a near-duplicate of it")
	}
}

// many returns n texts, every tenth of which is an edited copy of the one before it.
func many(n int) []Text {
	out := make([]Text, n)
	for i := range out {
		var sb strings.Builder
		for w := range 100 {
			fmt.Fprintf(&sb, "word%d ", mixBits(uint64(i*1000+w))%5000)
		}
		out[i] = Text{i, sb.String()}
		if i%10 == 9 {
			out[i].Text = strings.Replace(out[i-1].Text, "word", "other", 3)
		}
	}
	return out
}

func BenchmarkEarliest(b *testing.B) {
	texts := many(10_000)
	for b.Loop() {
		EarliestMatches(texts)
	}
}
