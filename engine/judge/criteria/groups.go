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

// Groups of words: what says a thing has a word of each. There are none where the book has none.
type Groups [][]string

// AnchorsOf are what evidence of a code can hardly do without.
func AnchorsOf(code string) Groups {
	e, _ := anchorBook().Of(code)
	return groups(e.Topic)
}

// AnchorsFor are what evidence of one criterion of a code can hardly do without, beyond those of the
// code. ok is false where the text is none of the code's criteria.
func AnchorsFor(code, criterion string) (of Groups, ok bool) {
	return groupsFor(anchorBook(), code, criterion)
}

// WordingFor is how a criterion of a code is said: one sentence that says it has a word of each group,
// or nearly. It has the many words there are for a deed, a thing and a condition, where anchors are the
// few that a passage must have.
func WordingFor(code, criterion string) Groups {
	of, _ := groupsFor(wordingBook(), code, criterion)
	return of
}

func groupsFor(b *controltext.Book, code, criterion string) (of Groups, ok bool) {
	i := indexOf(code, criterion)
	if i < 0 {
		return nil, false
	}
	if e, known := b.Of(code); known && i < len(e.Sentences) {
		of = groups(e.Sentences[i])
	}
	return of, true
}

func indexOf(code, criterion string) int {
	e, _ := Of(code)
	for i, s := range e.Sentences {
		if strings.TrimRight(s, ". ") == strings.TrimRight(criterion, ". ") {
			return i
		}
	}
	return -1
}

var (
	anchorBook  = sync.OnceValue(func() *controltext.Book { return wordBook("anchors") })
	wordingBook = sync.OnceValue(func() *controltext.Book { return wordBook("wordings") })
)

func wordBook(name string) *controltext.Book {
	folder, err := fs.Sub(wordFiles, name)
	if err != nil {
		panic(err) // embedded
	}
	return controltext.MustRead(folder)
}

// groups reads "a, b & c, d"; "-" is none.
func groups(text string) Groups {
	if text == "" || text == "-" {
		return nil
	}
	var out Groups
	for group := range strings.SplitSeq(text, "&") {
		words := strings.Split(group, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		out = append(out, words)
	}
	return out
}
