package text

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const maxNestingDepth = 100

// ReadJSON writes the scalar values of each object as one row ("key: value; …"), under the path of keys that
// leads to the object. If several documents follow each other (JSON Lines), all of them are read.
func ReadJSON(b *document.Builder, text string) error {
	j := &jsonReader{b: b, dec: json.NewDecoder(strings.NewReader(text)), newlines: findNewlines(text)}
	j.dec.UseNumber()
	for b.Err() == nil {
		tok, err := j.dec.Token()
		if errors.Is(err, io.EOF) {
			return b.Err()
		}
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		if err := j.readValue(tok, nil, 0, j.b.NextTableNumber()); err != nil {
			return err
		}
	}
	return b.Err()
}

type jsonReader struct {
	b        *document.Builder
	dec      *json.Decoder
	newlines newlines
}

// currentLine returns the number of the line that the decoder has reached, counted from 1.
func (j *jsonReader) currentLine() int {
	return 1 + j.newlines.countBefore(int(j.dec.InputOffset()))
}

// readValue reads the value that begins with tok. path is the list of keys that lead to it.
func (j *jsonReader) readValue(tok json.Token, path []string, depth, table int) error {
	if depth > maxNestingDepth {
		return document.NewError(document.ErrDamaged, fmt.Sprintf("line %d", j.currentLine()), "nested deeper than %d", maxNestingDepth)
	}
	start := j.currentLine()
	switch tok {
	case json.Delim('{'):
		return j.readObject(path, depth, table, start)
	case json.Delim('['):
		return j.readArray(path, depth, start)
	}
	j.addRow([]string{""}, []string{formatScalar(tok)}, path, table, start)
	return j.b.Err()
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
		if j.b.Err() != nil {
			return j.b.Err()
		}
		key, err := j.dec.Token()
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		name := document.CleanLine(fmt.Sprint(key))
		tok, err := j.dec.Token()
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", j.currentLine()), err)
		}
		if _, nested := tok.(json.Delim); !nested {
			if s := formatScalar(tok); s != "" {
				keys, values = append(keys, name), append(values, s)
			}
			continue
		}
		// Write the preceding values first to keep the order.
		flush()
		if err := j.readValue(tok, append(path[:len(path):len(path)], name), depth+1, j.b.NextTableNumber()); err != nil {
			return err
		}
		start = j.currentLine()
	}
	flush()
	return j.readClosing()
}

func (j *jsonReader) readArray(path []string, depth, start int) error {
	var plain []string
	table := j.b.NextTableNumber()
	for j.dec.More() {
		if j.b.Err() != nil {
			return j.b.Err()
		}
		tok, err := j.dec.Token()
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", j.currentLine()), err)
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
		j.b.AddBlockWithPath(
			document.Block{
				Kind:        document.ListItem,
				Level:       1,
				Text:        p,
				HeadingPath: path,
				Locator:     api.Locator{LineStart: start, LineEnd: j.currentLine()},
			},
		)
	}
	return j.readClosing()
}

func (j *jsonReader) readClosing() error {
	if _, err := j.dec.Token(); err != nil {
		return document.DamagedError(fmt.Sprintf("line %d", j.currentLine()), err)
	}
	return j.b.Err()
}

func (j *jsonReader) addRow(keys, values, path []string, table, start int) {
	addFields(j.b, keys, values, path, table, lineRange(start, j.currentLine()))
}

// addFields writes the scalar values of an object as one row, under the path of keys that leads to the object.
// Values at the top level are also added as facts.
func addFields(b *document.Builder, keys, values, path []string, table int, locator api.Locator) {
	for i := range values {
		values[i] = document.CleanLine(values[i])
		if len(path) == 0 {
			b.AddFact(keys[i], values[i])
		}
	}
	b.AddBlockWithPath(document.Block{
		Kind: document.TableRow, Text: document.RenderRow(keys, values), Header: keys, Cells: values, Table: table, HeadingPath: path,
		Locator: locator,
	})
}

func formatScalar(tok json.Token) string {
	if tok == nil {
		return ""
	}
	return strings.TrimSpace(fmt.Sprint(tok))
}
