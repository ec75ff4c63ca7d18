package parse

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sort"
	"strings"

	"github.com/scf-service/service/api"
)

const maxNestingDepth = 100

// readJSON writes each object's scalar values as one row ("key: value; …") under the path of keys
// that leads to it. Several consecutive documents (JSON lines) are read one by one.
func readJSON(b *builder, text string) error {
	j := &jsonReader{b: b, text: text, dec: json.NewDecoder(strings.NewReader(text))}
	j.dec.UseNumber()
	for i, c := range []byte(text) {
		if c == '\n' {
			j.newlines = append(j.newlines, i)
		}
	}
	for b.err == nil {
		tok, err := j.dec.Token()
		if errors.Is(err, io.EOF) {
			return b.err
		}
		if err != nil {
			return damagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		if err := j.readValue(tok, nil, 0, j.b.nextTableNumber()); err != nil {
			return err
		}
	}
	return b.err
}

type jsonReader struct {
	b        *builder
	text     string
	dec      *json.Decoder
	newlines []int
}

// currentLine returns the decoder's current line, from 1.
func (j *jsonReader) currentLine() int {
	return 1 + sort.SearchInts(j.newlines, int(j.dec.InputOffset()))
}

// readValue reads the value that begins with tok; path is the keys above it.
func (j *jsonReader) readValue(tok json.Token, path []string, depth, table int) error {
	if depth > maxNestingDepth {
		return newError(ErrDamaged, fmt.Sprintf("line %d", j.currentLine()), "nested deeper than %d", maxNestingDepth)
	}
	start := j.currentLine()
	switch tok {
	case json.Delim('{'):
		return j.readObject(path, depth, table, start)
	case json.Delim('['):
		return j.readArray(path, depth, start)
	}
	j.addRow([]string{""}, []string{formatScalar(tok)}, path, table, start)
	return j.b.err
}

func (j *jsonReader) readObject(path []string, depth, table, start int) error {
	var keys, values []string
	flush := func() {
		if len(keys) > 0 {
			j.addRow(keys, values, path, table, start)
			keys, values = nil, nil
		}
	}
	for j.dec.More() {
		if j.b.err != nil {
			return j.b.err
		}
		key, err := j.dec.Token()
		if err != nil {
			return damagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		name := cleanText(fmt.Sprint(key))
		tok, err := j.dec.Token()
		if err != nil {
			return damagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		if _, nested := tok.(json.Delim); !nested {
			if s := formatScalar(tok); s != "" {
				keys, values = append(keys, name), append(values, s)
			}
			continue
		}
		// Write the preceding values first, to keep the order.
		flush()
		if err := j.readValue(tok, append(path[:len(path):len(path)], name), depth+1, j.b.nextTableNumber()); err != nil {
			return err
		}
		start = j.currentLine()
	}
	flush()
	return j.readClosing()
}

func (j *jsonReader) readArray(path []string, depth, start int) error {
	var plain []string
	table := j.b.nextTableNumber()
	for j.dec.More() {
		if j.b.err != nil {
			return j.b.err
		}
		tok, err := j.dec.Token()
		if err != nil {
			return damagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		if _, nested := tok.(json.Delim); !nested {
			if s := formatScalar(tok); s != "" {
				plain = append(plain, s)
			}
			continue
		}
		if err := j.readValue(tok, path, depth+1, table); err != nil {
			return err
		}
	}
	for _, p := range plain {
		j.b.addBlockAt(
			Block{Kind: ListItem, Level: 1, Text: p, HeadingPath: path, Locator: api.Locator{LineStart: start, LineEnd: j.currentLine()}},
		)
	}
	return j.readClosing()
}

func (j *jsonReader) readClosing() error {
	if _, err := j.dec.Token(); err != nil {
		return damagedError(fmt.Sprintf("line %d", j.currentLine()), err)
	}
	return j.b.err
}

func (j *jsonReader) addRow(keys, values, path []string, table, start int) {
	for i := range values {
		values[i] = cleanText(values[i])
	}
	if len(path) == 0 {
		for i, k := range keys {
			j.b.facts = append(j.b.facts, fact{k, values[i]})
		}
	}
	j.b.addBlockAt(Block{
		Kind: TableRow, Text: renderRow(keys, values), Header: keys, Cells: values, Table: table, HeadingPath: path,
		Locator: api.Locator{LineStart: start, LineEnd: j.currentLine()},
	})
}

func formatScalar(tok json.Token) string {
	if tok == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(tok))
}
