package reading

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// StatementLine is a line of an export: a statement with the passages that search finds for it.
type StatementLine struct {
	StatementID string        `json:"statement_id"`
	ControlCode string        `json:"control_code"`
	Topic       string        `json:"topic"`
	Statement   string        `json:"statement"`
	Passages    []PassageLine `json:"passages"`
}

// PassageLine is a passage of a StatementLine.
type PassageLine struct {
	PassageHash string   `json:"passage_hash"`
	ChunkID     string   `json:"chunk_id"`
	DocumentID  string   `json:"document_id"`
	Title       string   `json:"title"`
	Kind        string   `json:"kind"`
	Date        string   `json:"date"`
	Headings    []string `json:"headings"`
	Text        string   `json:"text"`
	Score       float64  `json:"score"`
}

// Line is one line of a readings file: a reader's result for one passage and one statement.
type Line struct {
	Reader      string `json:"reader"`
	StatementID string `json:"statement_id"`
	PassageHash string `json:"passage_hash"`
	Reading
}

// Limits on files of readings.
const (
	maxLineBytes = 64 << 10
	maxLines     = 500_000
	maxFileBytes = 128 << 20
)

const maxNameBytes = 64

// IsValidName reports whether name is valid as the name of the reader in a readings file.
func IsValidName(name string) bool {
	const lettersAndDigits = "abcdefghijklmnopqrstuvwxyz0123456789"
	return name != "" && len(name) <= maxNameBytes && strings.Trim(name, lettersAndDigits+"._-") == "" &&
		strings.Contains(lettersAndDigits, name[:1])
}

// ParseLines calls use with each line of a readings file and its line number, starting at 1. It stops at the first
// error, which names the line.
func ParseLines(r io.Reader, use func(number int, l Line) error) error {
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 0, 4096), maxLineBytes)
	number, size, found := 0, 0, false
	for lines.Scan() {
		number++
		size += len(lines.Bytes()) + 1
		if number > maxLines || size > maxFileBytes {
			return fmt.Errorf("the file has more than %d lines or %d MiB; leave out readings with the label silent", maxLines, maxFileBytes>>20)
		}
		if len(bytes.TrimSpace(lines.Bytes())) == 0 {
			continue
		}
		found = true
		l, err := parseLine(lines.Bytes())
		if err == nil {
			err = use(number, l)
		}
		if err != nil {
			return fmt.Errorf("line %d: %w", number, err)
		}
	}
	switch err := lines.Err(); {
	case errors.Is(err, bufio.ErrTooLong):
		return fmt.Errorf("line %d is longer than %d KiB; write only one reading per line", number+1, maxLineBytes>>10)
	case err != nil:
		return fmt.Errorf("reading the file after line %d: %w", number, err)
	case !found:
		return errors.New("the file contains no readings")
	}
	return nil
}

func parseLine(b []byte) (l Line, err error) {
	if !utf8.Valid(b) {
		return l, errors.New("the line is not valid UTF-8; save the file as UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(b))
	d.DisallowUnknownFields()
	err = d.Decode(&l)
	if err == nil {
		if _, more := d.Token(); !errors.Is(more, io.EOF) {
			err = errors.New("there is more text after the JSON object; write one reading per line")
		}
	}
	switch {
	case errors.Is(err, io.ErrUnexpectedEOF):
		return l, errors.New("the line is truncated; check whether the file is complete")
	case err != nil:
		return l, fmt.Errorf("the line is not a valid JSON reading: %w", err)
	}
	return l, nil
}
