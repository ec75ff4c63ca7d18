package embed

import (
	_ "embed"
	"strings"
)

//go:embed lexicon.txt
var lexiconText string

//go:embed phrases.txt
var phrasesText string

// readLexicon returns the built-in security concepts, which apply to every catalog. Each is a list of synonyms
// that begins with its name. Lines with the same name are merged.
func readLexicon() [][]string {
	var out [][]string
	number := make(map[string]int)
	for line := range strings.Lines(lexiconText + "\n" + phrasesText) {
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		name := strings.TrimSpace(line[:strings.IndexByte(line+"|", '|')])
		n, there := number[name]
		if !there {
			n = len(out)
			number[name] = n
			out = append(out, nil)
		}
		for i, way := range strings.Split(line, "|") {
			if way = strings.TrimSpace(way); way != "" && (i > 0 || !there) {
				out[n] = append(out[n], way)
			}
		}
	}
	return out
}
