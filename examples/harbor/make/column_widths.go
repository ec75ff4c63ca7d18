package main

import (
	"math"
	"strings"
	"unicode/utf8"
)

// columnWidths shares total among a table's columns: by the square root of the
// longest cell, so that long texts get more without starving the others, and
// never less than the longest word needs.
func columnWidths(rows [][]string, total float64) []float64 {
	widths := make([]float64, len(rows[0]))
	sum := 0.0
	for col := range widths {
		longest, word := 0, 0
		for _, cells := range rows {
			text := stripMarks(cells[col])
			longest = max(longest, utf8.RuneCountInString(text))
			for _, w := range strings.Fields(text) {
				word = max(word, utf8.RuneCountInString(w))
			}
		}
		widths[col] = math.Max(math.Sqrt(float64(longest))*2.4, float64(word)+2)
		sum += widths[col]
	}
	for col := range widths {
		widths[col] *= total / sum
	}
	return widths
}
