package sync

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/store"
)

// Dump writes the synced records of an assessment.
func Dump(tx *store.Tx, org, id string, w io.Writer) error {
	for _, t := range tables {
		var out []string // a clone's copies of corrections come in another order
		for key, err := range t.keys(tx, org, id) {
			if err != nil {
				return err
			}
			f, _, err := t.read(tx, org, key)
			if err != nil {
				return err
			}
			b, err := encodeFields(t.withoutLocalFields(f))
			if err != nil {
				return err
			}
			out = append(out, fmt.Sprintf("%s %x %s\n", t.name, key, b))
		}
		slices.Sort(out)
		if _, err := io.WriteString(w, strings.Join(out, "")); err != nil {
			return err
		}
	}
	return nil
}

// RewriteFile decodes a file of the protocol, passes it to change and encodes the result. A line is
// a JSON object.
func RewriteFile(data []byte, kind string, change func(header map[string]any, lines []map[string]any) []map[string]any) ([]byte, error) {
	f, err := decodeFile(bytes.NewReader(data), kind)
	if err != nil {
		return nil, err
	}
	var head map[string]any
	var lines []map[string]any
	if err := recode(f.fileHeader, &head); err != nil {
		return nil, err
	}
	if err := recode(f.lines, &lines); err != nil {
		return nil, err
	}
	lines = change(head, lines)
	f.fileHeader, f.lines = fileHeader{}, nil
	if err := recode(head, &f.fileHeader); err != nil {
		return nil, err
	}
	if err := recode(lines, &f.lines); err != nil {
		return nil, err
	}
	return f.encode()
}

func recode(from, to any) error {
	b, err := json.Marshal(from)
	if err != nil {
		return err
	}
	return json.Unmarshal(b, to)
}

// CountChanges returns the number of changes in a file.
func CountChanges(data []byte, kind string) (int, error) {
	f, err := decodeFile(bytes.NewReader(data), kind)
	if err != nil {
		return 0, err
	}
	again, err := f.encode()
	if err != nil {
		return len(f.lines), nil //nolint:nilerr // a time that has no form: it is refused where it is used
	}
	g, err := decodeFile(bytes.NewReader(again), kind)
	if err != nil || len(g.lines) != len(f.lines) {
		return 0, fmt.Errorf("written again it has %d changes, not %d: %w", len(g.lines), len(f.lines), err)
	}
	return len(f.lines), nil
}
