// Package text analyzes English prose sentence by sentence: which concepts a sentence names, what
// it denies, plans, limits or leaves blank, which quantities and dates it states, and how the
// sentences around it change its meaning. It knows nothing about controls; package judge compares
// its results with what controls require.
//
// Analyze splits a text into sentences, list items and table rows. Each has a Stance, whose masks
// hold a bit for each clause, and Terms, the concepts of its words according to the lexicon.
package text
