package structured

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"
)

// What a document may be at most. The largest real ones stay far below.
const (
	maxDepth  = 48
	maxNumber = 15      // digits: what a float64 holds exactly
	maxText   = 1 << 20 // bytes of one text
)

// A PlaceError says what is wrong at a place of a JSON document.
type PlaceError struct {
	// Place is written as controls[12].code; empty for the whole document.
	Place   string
	Message string
}

func (e *PlaceError) Error() string {
	if e.Place == "" {
		return e.Message
	}
	return e.Place + ": " + e.Message
}

func wrong(place, format string, args ...any) error {
	return &PlaceError{Place: place, Message: fmt.Sprintf(format, args...)}
}

// Place writes a path through a document: keys as they are, indexes in brackets.
func Place(path []string) string {
	var b strings.Builder
	for _, p := range path {
		if _, err := strconv.Atoi(p); err == nil {
			b.WriteString("[" + p + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(shorten(p))
	}
	return b.String()
}

// shorten keeps what an error repeats of hostile input small.
func shorten(s string) string {
	const most = 80
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// Inspect reads a JSON document once, without keeping it, and refuses what no reader
// should meet: more than one document, broken UTF-8, a key twice in one object, nesting,
// numbers and texts beyond all measure. It returns the SHA-256 of the document in
// compact form: without white space, texts escaped as little as JSON allows. So the same
// content has the same hash however it was laid out.
func Inspect(data []byte) (sum string, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", wrong("", "there is nothing in it")
	}
	if !utf8.Valid(data) {
		return "", wrong("", "it is not in UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	in := inspector{hash: sha256.New()}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) && in.begun && len(in.stack) == 0 {
			return hex.EncodeToString(in.hash.Sum(nil)), nil
		}
		if err != nil {
			return "", wrong(in.place(), "this is no JSON: %s", strings.TrimPrefix(syntax(err, data), "json: "))
		}
		if in.begun && len(in.stack) == 0 {
			return "", wrong("", "there is more after the end of the document")
		}
		in.begun = true
		if err := in.take(tok); err != nil {
			return "", err
		}
	}
}

// syntax tells the line of a syntax error.
func syntax(err error, data []byte) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends in the middle"
	}
	var s *json.SyntaxError
	if errors.As(err, &s) && s.Offset <= int64(len(data)) {
		return fmt.Sprintf("line %d: %v", 1+bytes.Count(data[:s.Offset], []byte("\n")), err)
	}
	return err.Error()
}

// level is an object or list that is open.
type level struct {
	keys  map[string]bool // nil for a list
	key   string
	index int
	// value says that a key has been read and its value is due.
	value bool
}

type inspector struct {
	hash  hash.Hash
	stack []level
	begun bool
}

func (in *inspector) write(s string) { _, _ = io.WriteString(in.hash, s) }

func (in *inspector) place() string {
	path := make([]string, 0, len(in.stack))
	for _, l := range in.stack {
		switch {
		case l.keys == nil:
			path = append(path, strconv.Itoa(l.index))
		case l.key != "":
			path = append(path, l.key)
		}
	}
	return Place(path)
}

func (in *inspector) take(tok json.Token) error {
	if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
		in.write(delim.String())
		in.stack = in.stack[:len(in.stack)-1]
		in.done()
		return nil
	}
	if done, err := in.asKey(tok); done || err != nil {
		return err
	}
	if n := len(in.stack); n > 0 && in.stack[n-1].keys == nil && in.stack[n-1].index > 0 {
		in.write(",")
	}
	switch t := tok.(type) {
	case json.Delim:
		if len(in.stack) >= maxDepth {
			return wrong(in.place(), "it is nested more than %d deep", maxDepth)
		}
		l := level{}
		if t == '{' {
			l.keys = map[string]bool{}
		}
		in.stack = append(in.stack, l)
		in.write(t.String())
		return nil
	case string:
		if len(t) > maxText {
			return wrong(in.place(), "the text has %d bytes; %d are the most", len(t), maxText)
		}
		in.write(compact(t))
	case json.Number:
		if len(strings.Trim(t.String(), "-")) > maxNumber || strings.ContainsAny(t.String(), "eE") {
			return wrong(in.place(), "the number %s is written in a way that nothing here needs", shorten(t.String()))
		}
		in.write(t.String())
	case bool:
		in.write(strconv.FormatBool(t))
	case nil:
		in.write("null")
	}
	in.done()
	return nil
}

// asKey takes a token that is an object's key.
func (in *inspector) asKey(tok json.Token) (bool, error) {
	n := len(in.stack)
	if n == 0 || in.stack[n-1].keys == nil || in.stack[n-1].value {
		return false, nil
	}
	l := &in.stack[n-1]
	l.key, l.value = tok.(string), true
	if l.keys[l.key] {
		return true, wrong(in.place(), "the key occurs twice")
	}
	if len(l.key) > maxText {
		return true, wrong(in.place(), "the key is too long")
	}
	if len(l.keys) > 0 {
		in.write(",")
	}
	l.keys[l.key] = true
	in.write(compact(l.key) + ":")
	return true, nil
}

// done notes that a value has ended.
func (in *inspector) done() {
	if n := len(in.stack); n > 0 {
		in.stack[n-1].index++
		in.stack[n-1].value = false
	}
}

// compact is a text as the shortest JSON: only what must be escaped is.
func compact(s string) string {
	b, _ := encode(s)
	return string(b)
}

// encode marshals without escaping what only HTML would mind, and without an end of line.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
