// Package book reads the product's own books about controls: for each code a line with a
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

// Texts are the topic and the sentences.
func (e Entry) Texts() []string { return append([]string{e.Topic}, e.Sentences...) }

// Book is all entries, in the order of their files' names, then of their lines.
type Book struct {
	Entries []Entry
	at      map[string]int
}

// Of returns the entry of a code.
func (b *Book) Of(code string) (Entry, bool) {
	i, ok := b.at[code]
	if !ok {
		return Entry{}, false
	}
	return b.Entries[i], true
}

// Read reads all *.txt of a folder. An error names the file and the line.
func Read(folder fs.FS) (*Book, error) {
	b := &Book{at: make(map[string]int)}
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		if err := b.read(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return b, nil
}

// MustRead reads a book that is part of the program.
func MustRead(folder fs.FS) *Book {
	b, err := Read(folder)
	if err != nil {
		panic(err)
	}
	return b
}

// read takes "CODE | topic | sentence | sentence" by the line; # begins a comment.
func (b *Book) read(text string) error {
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
func (b *Book) Add(e Entry) error {
	if _, twice := b.at[e.Code]; twice {
		return fmt.Errorf("%s stands in the book twice", e.Code)
	}
	b.at[e.Code] = len(b.Entries)
	b.Entries = append(b.Entries, e)
	return nil
}
