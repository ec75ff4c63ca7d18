// Package phrasebook says in our own sentences what each control of a catalog with the
// usual codes asks for, as policies, procedures, tickets, laws and interviews put it. It holds
// codes, short names of topics and sentences, nothing of any catalog, and must not know
// who learns from them.
package phrasebook

import (
	"embed"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/scf-service/service/evidence/embed/words"
)

//go:embed *.txt
var files embed.FS

// An Entry is what the book has of one control.
type Entry struct {
	Code  string
	Topic string   // short, in our own words
	Ways  []string // sentences that say what is asked for, or that it is done
}

// Book returns the entries in the order of their files' names, then of their lines.
func Book() []Entry { return book().entries }

// Of returns the entry of a control: the one of its code, if its title has a word of
// the topic. Codes are given anew in some versions of a catalog, so that the code
// alone proves nothing.
func Of(code, title string) (Entry, bool) {
	b := book()
	i, ok := b.at[code]
	if !ok {
		return Entry{}, false
	}
	e := b.entries[i]
	topic := make(map[string]bool)
	for _, s := range words.Stems(e.Topic) {
		topic[s] = true
	}
	for _, s := range words.Stems(title) {
		if topic[s] && !words.IsStop(s) {
			return e, true
		}
	}
	return Entry{}, false
}

type index struct {
	entries []Entry
	at      map[string]int
}

var book = sync.OnceValue(func() index {
	b := index{at: make(map[string]int)}
	names, err := fs.Glob(files, "*.txt")
	if err != nil {
		panic(err) // a pattern that can't be read
	}
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			panic(err) // embedded
		}
		entries, err := parse(string(text))
		if err != nil {
			panic(fmt.Sprintf("%s: %v", name, err))
		}
		for _, e := range entries {
			if _, twice := b.at[e.Code]; twice {
				panic(fmt.Sprintf("%s: %s stands in the book twice", name, e.Code))
			}
			b.at[e.Code] = len(b.entries)
			b.entries = append(b.entries, e)
		}
	}
	return b
})

// parse reads "CODE | topic | sentence | sentence" by the line; # begins a comment.
func parse(text string) ([]Entry, error) {
	var out []Entry
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(line)
		if line == "" || line[0] == '#' {
			continue
		}
		fields := strings.Split(line, "|")
		for i := range fields {
			fields[i] = strings.TrimSpace(fields[i])
			if fields[i] == "" {
				return nil, fmt.Errorf("line %d: field %d is empty", n, i+1)
			}
		}
		if len(fields) < 3 {
			return nil, fmt.Errorf("line %d: code, topic and at least one sentence are needed", n)
		}
		out = append(out, Entry{Code: fields[0], Topic: fields[1], Ways: fields[2:]})
	}
	return out, nil
}
