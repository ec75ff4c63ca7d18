package custom

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

	"github.com/scf-service/service/engine/catalog/scf"
)

// Limits of a document. They are far above what the largest real one needs.
const (
	maxNesting      = 48
	maxNumberDigits = 15      // a float64 holds as many exactly
	maxTextBytes    = 1 << 20 // of one string
)

// A PathError is an error at a certain location in a JSON document.
type PathError struct {
	// Path is the place, such as controls[12].code; empty for the whole document.
	Path    string
	Message string
}

func (e *PathError) Error() string {
	if e.Path == "" {
		return e.Message
	}
	return e.Path + ": " + e.Message
}

func pathErrorf(place, format string, args ...any) error {
	return &PathError{Path: place, Message: fmt.Sprintf(format, args...)}
}

// FormatPath formats the path to a value in a document, with list indexes in brackets, as in
// controls[12].code.
func FormatPath(path []string) string {
	var b strings.Builder
	for _, p := range path {
		if _, err := strconv.Atoi(p); err == nil {
			b.WriteString("[" + p + "]")
			continue
		}
		if b.Len() > 0 {
			b.WriteByte('.')
		}
		b.WriteString(scf.Shorten(p))
	}
	return b.String()
}

// CheckAndHashJSON checks a JSON document before it is decoded. It returns an error if data
// contains more than one document, invalid UTF-8 or duplicate keys, or if its nesting, numbers or
// strings exceed the limits. Otherwise it returns the SHA-256 of the compact form of the document
// (no whitespace, strings escaped as little as JSON allows), so that the hash does not depend on
// the layout.
func CheckAndHashJSON(data []byte) (sum string, err error) {
	if len(bytes.TrimSpace(data)) == 0 {
		return "", pathErrorf("", "the document is empty")
	}
	if !utf8.Valid(data) {
		return "", pathErrorf("", "the document is not valid UTF-8")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	in := inspector{hash: sha256.New()}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) && in.started && len(in.stack) == 0 {
			return hex.EncodeToString(in.hash.Sum(nil)), nil
		}
		if err != nil {
			return "", pathErrorf(in.path(), "the document is not valid JSON: %s", strings.TrimPrefix(describeSyntaxError(err, data), "json: "))
		}
		if in.started && len(in.stack) == 0 {
			return "", pathErrorf("", "unexpected data after the end of the document")
		}
		in.started = true
		if err := in.visit(tok); err != nil {
			return "", err
		}
	}
}

// describeSyntaxError returns the message of a syntax error, with the line number if it is known.
func describeSyntaxError(err error, data []byte) string {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return "it ends unexpectedly"
	}
	var s *json.SyntaxError
	if errors.As(err, &s) && s.Offset <= int64(len(data)) {
		return fmt.Sprintf("line %d: %v", 1+bytes.Count(data[:s.Offset], []byte("\n")), err)
	}
	return err.Error()
}

// openValue is an object or list whose end has not been read yet.
type openValue struct {
	keys         map[string]bool // nil if the value is a list
	key          string
	index        int
	expectsValue bool // a key has been read, but not its value
}

// inspector checks a JSON document token by token. At the same time, it hashes the document's compact form.
type inspector struct {
	hash    hash.Hash
	stack   []openValue
	started bool
}

func (in *inspector) writeHash(s string) { _, _ = io.WriteString(in.hash, s) }

func (in *inspector) path() string {
	path := make([]string, 0, len(in.stack))
	for _, l := range in.stack {
		switch {
		case l.keys == nil:
			path = append(path, strconv.Itoa(l.index))
		case l.key != "":
			path = append(path, l.key)
		}
	}
	return FormatPath(path)
}

// visit processes a token: it checks names and nesting, and hashes the content.
func (in *inspector) visit(tok json.Token) error {
	if delim, ok := tok.(json.Delim); ok && (delim == '}' || delim == ']') {
		in.writeHash(delim.String())
		in.stack = in.stack[:len(in.stack)-1]
		in.endValue()
		return nil
	}
	if done, err := in.visitKey(tok); done || err != nil {
		return err
	}
	if n := len(in.stack); n > 0 && in.stack[n-1].keys == nil && in.stack[n-1].index > 0 {
		in.writeHash(",")
	}
	switch t := tok.(type) {
	case json.Delim:
		if len(in.stack) >= maxNesting {
			return pathErrorf(in.path(), "the document is nested more than %d levels deep", maxNesting)
		}
		l := openValue{}
		if t == '{' {
			l.keys = map[string]bool{}
		}
		in.stack = append(in.stack, l)
		in.writeHash(t.String())
		return nil
	case string:
		if len(t) > maxTextBytes {
			return pathErrorf(in.path(), "the text is %d bytes long; the maximum is %d", len(t), maxTextBytes)
		}
		in.writeHash(compactJSONString(t))
	case json.Number:
		if len(strings.Trim(t.String(), "-")) > maxNumberDigits || strings.ContainsAny(t.String(), "eE") {
			return pathErrorf(in.path(), "the number %s has too many digits or an exponent", scf.Shorten(t.String()))
		}
		in.writeHash(t.String())
	case bool:
		in.writeHash(strconv.FormatBool(t))
	case nil:
		in.writeHash("null")
	}
	in.endValue()
	return nil
}

// visitKey processes tok if it is the key of an object, or returns false if it isn't.
func (in *inspector) visitKey(tok json.Token) (isKey bool, _ error) {
	n := len(in.stack)
	if n == 0 || in.stack[n-1].keys == nil || in.stack[n-1].expectsValue {
		return false, nil
	}
	l := &in.stack[n-1]
	l.key, l.expectsValue = tok.(string), true
	if l.keys[l.key] {
		return true, pathErrorf(in.path(), "the key appears twice in the same object")
	}
	if len(l.key) > maxTextBytes {
		return true, pathErrorf(in.path(), "the key is too long")
	}
	if len(l.keys) > 0 {
		in.writeHash(",")
	}
	l.keys[l.key] = true
	in.writeHash(compactJSONString(l.key) + ":")
	return true, nil
}

// endValue records that a value has ended, in the object or list that contains the value.
func (in *inspector) endValue() {
	if n := len(in.stack); n > 0 {
		in.stack[n-1].index++
		in.stack[n-1].expectsValue = false
	}
}

// compactJSONString encodes a string as JSON in the shortest possible way.
func compactJSONString(s string) string {
	b, _ := encodeJSON(s)
	return string(b)
}

// encodeJSON encodes v without HTML escaping or a trailing newline.
func encodeJSON(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
