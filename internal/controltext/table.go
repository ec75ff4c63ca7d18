// Package controltext reads the product's own books about controls: for each code a line with a
// topic and sentences. It must not know what they are for.
package controltext

import (
	"fmt"
	"io/fs"
	"strings"
)

// An Entry is what a book has of one control.
type Entry struct {
	Code      string
	Topic     string // short, in our own words
	Sentences []string
}

// AllTexts are the topic and the sentences.
func (e Entry) AllTexts() []string { return append([]string{e.Topic}, e.Sentences...) }

// Table is all entries, in the order of their files' names, then of their lines.
type Table struct {
	Entries     []Entry
	indexByCode map[string]int
}

// Lookup returns the entry of a code.
func (b *Table) Lookup(code string) (Entry, bool) {
	i, ok := b.indexByCode[code]
	if !ok {
		return Entry{}, false
	}
	return b.Entries[i], true
}

// ReadTable reads all *.txt of a folder. An error names the file and the line.
func ReadTable(folder fs.FS) (*Table, error) {
	b := &Table{indexByCode: make(map[string]int)}
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		if err := b.addLines(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, nil
}

// MustReadTable reads a book that is part of the program.
func MustReadTable(folder fs.FS) *Table {
	b, err := ReadTable(folder)
	if err != nil {
		panic(err)
	}
	return b
}

// addLines takes "CODE | topic | sentence | sentence" by the line; # begins a comment.
func (b *Table) addLines(text string) error {
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
				return fmt.Errorf("line %d: field %d is empty", n, i+1)
			}
		}
		if len(fields) < 3 {
			return fmt.Errorf("line %d: code, topic and at least one sentence are needed", n)
		}
		if err := b.Add(Entry{Code: fields[0], Topic: fields[1], Sentences: fields[2:]}); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// Add adds an entry whose code isn't there yet.
func (b *Table) Add(e Entry) error {
	if _, twice := b.indexByCode[e.Code]; twice {
		return fmt.Errorf("%s occurs twice in the table", e.Code)
	}
	b.indexByCode[e.Code] = len(b.Entries)
	b.Entries = append(b.Entries, e)
	return nil
}
