package criteria

import (
	"embed"
	"io/fs"
	"strings"
	"sync"

	"github.com/scf-service/service/book"
)

//go:embed anchors/*.txt
var anchorFiles embed.FS

// Anchors are groups of words: what says a thing can hardly do without one of each group.
// There are none where the book has none.
type Anchors [][]string

// AnchorsOf are what evidence of a code has to name.
func AnchorsOf(code string) Anchors {
	e, _ := anchorBook().Of(code)
	return groups(e.Topic)
}

// AnchorsFor are what a criterion of a code has to be said with, beyond those of the code. ok is
// false where the text is none of the code's criteria.
func AnchorsFor(code, criterion string) (of Anchors, ok bool) {
	i := indexOf(code, criterion)
	if i < 0 {
		return nil, false
	}
	if e, known := anchorBook().Of(code); known && i < len(e.Sentences) {
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

var anchorBook = sync.OnceValue(func() *book.Book {
	folder, err := fs.Sub(anchorFiles, "anchors")
	if err != nil {
		panic(err) // embedded
	}
	return book.MustRead(folder)
})

// groups reads "a, b & c, d"; "-" is none.
func groups(text string) Anchors {
	if text == "" || text == "-" {
		return nil
	}
	var out Anchors
	for group := range strings.SplitSeq(text, "&") {
		words := strings.Split(group, ",")
		for i := range words {
			words[i] = strings.TrimSpace(words[i])
		}
		out = append(out, words)
	}
	return out
}
