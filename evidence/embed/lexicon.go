package embed

import (
	_ "embed"
	"strings"
)

//go:embed lexicon.txt
var lexiconText string

// lexicon returns the concepts of the security field that every catalog shares,
// in our own words: each a list of ways to say the same thing.
func lexicon() [][]string {
	var out [][]string
	for line := range strings.Lines(lexiconText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		var ways []string
		for way := range strings.SplitSeq(line, "|") {
			if way = strings.TrimSpace(way); way != "" {
				ways = append(ways, way)
			}
		}
		out = append(out, ways)
	}
	return out
}
