package criteria

import (
	"embed"
	"io/fs"
	"strings"
	"sync"

	"github.com/scf-service/service/internal/controltext"
)

//go:embed anchors/*.txt wordings/*.txt
var wordFiles embed.FS

// WordGroups is a list of groups of words. A matching text contains a word from each group. The list is empty if
// nothing is known about a criterion.
type WordGroups [][]string

// ControlAnchors returns words that evidence for a control almost always contains.
func ControlAnchors(code string) WordGroups {
	e, _ := anchorTable().Lookup(code)
	return parseGroups(e.Topic)
}

// CriterionAnchors returns words that evidence for one criterion of a control almost always
// contains, in addition to those for the whole control. ok is false if criterion is not one of the
// control's criteria.
func CriterionAnchors(code, criterion string) (groups WordGroups, ok bool) {
	return criterionGroups(anchorTable(), code, criterion)
}

// CriterionWording returns the groups of words in which a criterion is usually expressed. A sentence that states the
// criterion contains a word from nearly every group. Each group lists the many words that can express one action, thing
// or condition. Anchors, by contrast, are the few words that a passage must contain.
func CriterionWording(code, criterion string) WordGroups {
	groups, _ := criterionGroups(wordingTable(), code, criterion)
	return groups
}

func criterionGroups(b *controltext.Table, code, criterion string) (result WordGroups, ok bool) {
	i := criterionIndex(code, criterion)
	if i < 0 {
		return nil, false
	}
	if e, known := b.Lookup(code); known && i < len(e.Sentences) {
		result = parseGroups(e.Sentences[i])
	}
	return result, true
}

func criterionIndex(code, criterion string) int {
	e, _ := Lookup(code)
	for i, s := range e.Sentences {
		if strings.TrimRight(s, ". ") == strings.TrimRight(criterion, ". ") {
			return i
		}
	}
	return -1
}

var (
	anchorTable  = sync.OnceValue(func() *controltext.Table { return readWordTable("anchors") })
	wordingTable = sync.OnceValue(func() *controltext.Table { return readWordTable("wordings") })
)

func readWordTable(name string) *controltext.Table {
	folder, err := fs.Sub(wordFiles, name)
	if err != nil {
		panic(err) // embedded, so it is always valid
	}
	return controltext.MustReadTable(folder)
}

// parseGroups parses groups of words in the form "a, b & c, d". "-" means that there are none.
func parseGroups(text string) WordGroups {
	if text == "" || text == "-" {
		return nil
	}
	var out WordGroups
	for group := range strings.SplitSeq(text, "&") {
		words := strings.Split(group, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		out = append(out, words)
	}
	return out
}
