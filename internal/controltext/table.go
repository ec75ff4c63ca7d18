// Package controltext reads the product's own texts about controls. Each line holds a control code, a topic and
// sentences.
package controltext

import (
	"fmt"
	"io/fs"
	"strings"
)

// Entry is the text about one control.
type Entry struct {
	Code      string
	Topic     string // short, in our own words
	Sentences []string
}

// AllTexts returns the entry's topic, followed by its sentences.
func (e Entry) AllTexts() []string { return append([]string{e.Topic}, e.Sentences...) }

// Table holds entries, ordered by file name and then by line.
type Table struct {
	Entries     []Entry
	indexByCode map[string]int
}

// Lookup returns the entry for a control code.
func (t *Table) Lookup(code string) (Entry, bool) {
	i, ok := t.indexByCode[code]
	if !ok {
		return Entry{}, false
	}
	return t.Entries[i], true
}

// ReadTable reads all *.txt files in a folder. Errors name the file and the line.
func ReadTable(folder fs.FS) (*Table, error) {
	t := &Table{indexByCode: make(map[string]int)}
	names, err := fs.Glob(folder, "*.txt")
	if err != nil {
		return nil, err
	}
	for _, name := range names {
		text, err := fs.ReadFile(folder, name)
		if err != nil {
			return nil, err
		}
		if err := t.addLines(string(text)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return t, nil
}

// MustReadTable reads a table embedded in the program; it panics if the table is invalid.
func MustReadTable(folder fs.FS) *Table {
	t, err := ReadTable(folder)
	if err != nil {
		panic(err)
	}
	return t
}

// addLines adds the lines of a file in the form "CODE | topic | sentence | sentence". Lines that
// begin with # are comments.
func (t *Table) addLines(text string) error {
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
			return fmt.Errorf("line %d: a code, a topic and at least one sentence are required", n)
		}
		if err := t.Add(Entry{Code: fields[0], Topic: fields[1], Sentences: fields[2:]}); err != nil {
			return fmt.Errorf("line %d: %w", n, err)
		}
	}
	return nil
}

// Add adds an entry. It returns an error if the table already has an entry with the same code.
func (t *Table) Add(e Entry) error {
	if _, exists := t.indexByCode[e.Code]; exists {
		return fmt.Errorf("%s occurs twice in the table", e.Code)
	}
	t.indexByCode[e.Code] = len(t.Entries)
	t.Entries = append(t.Entries, e)
	return nil
}
