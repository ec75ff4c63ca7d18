package daemon

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"mime"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/scf-service/service/api"
)

const (
	// bodyTimeout is the maximum time for receiving a JSON body.
	bodyTimeout = 30 * time.Second
	// maxJSONDepth is the maximum nesting of JSON; the contract's deepest body has seven levels.
	maxJSONDepth = 64
)

// bodyLimit returns the maximum size of the operation's JSON body.
func bodyLimit(op *api.Operation) int64 { return cmp.Or(op.MaxBody, api.MaxBodyBytes) }

// readJSON reads the whole request body, limited in size and time, and returns an error if it is
// not plain JSON.
func readJSON(w http.ResponseWriter, r *http.Request, limit int64) ([]byte, error) {
	if r.Body == nil || r.Body == http.NoBody || r.Method == http.MethodGet {
		return nil, nil
	}
	tooLarge := api.Invalid("", "the request body exceeds the limit of %d KiB", limit>>10)
	if r.ContentLength > limit {
		return nil, tooLarge
	}
	conn := http.NewResponseController(w)
	setReadTimeout(conn, bodyTimeout)
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	if err == nil {
		clearReadDeadline(conn)
	}
	var over *http.MaxBytesError
	switch {
	case errors.As(err, &over):
		return nil, tooLarge
	case errors.Is(err, os.ErrDeadlineExceeded):
		return nil, api.Invalid("", "the request body did not arrive within %d seconds", int(bodyTimeout/time.Second))
	case err != nil:
		return nil, api.Invalid("", "the request body ended early").WithCause(err)
	}
	if len(body) == 0 {
		return body, nil
	}
	kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type"))
	if err != nil || (kind != "application/json" && !strings.HasSuffix(kind, "+json")) {
		return nil, api.UnsupportedMediaType("send JSON, with Content-Type: application/json")
	}
	return body, rejectAmbiguousJSON(body)
}

// rejectAmbiguousJSON rejects JSON that parsers interpret differently: duplicate names in an object,
// invalid UTF-8, NUL characters, a second value after the first, deep nesting.
func rejectAmbiguousJSON(body []byte) error {
	d := jsontext.NewDecoder(bytes.NewBuffer(body)) // which it reads in place
	for {
		tok, err := d.ReadToken()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return jsonSyntaxError(body, d, err)
		}
		switch {
		case d.StackDepth() > maxJSONDepth:
			return api.Invalid(fieldPath(d.StackPointer()), "the JSON is nested more than %d levels deep", maxJSONDepth)
		case tok.Kind() == '"' && strings.ContainsRune(tok.String(), 0):
			return api.Invalid(fieldPath(d.StackPointer()), "the string contains a NUL character")
		case tok.Kind() == '0' && overflowsFloat(tok):
			return api.Invalid(fieldPath(d.StackPointer()), "%s: the number is too large", lineAndColumn(body, d.InputOffset()))
		}
		if d.StackDepth() == 0 && len(bytes.TrimSpace(body[d.InputOffset():])) > 0 {
			return api.Invalid("", "%s: unexpected data after the JSON value", lineAndColumn(body, d.InputOffset()))
		}
	}
}

// overflowsFloat reports whether a JSON number is too large for a float64.
func overflowsFloat(number jsontext.Token) bool {
	_, err := strconv.ParseFloat(number.String(), 64)
	return err != nil
}

// jsonSyntaxError returns a validation error with the position and the field at which the JSON is invalid.
func jsonSyntaxError(body []byte, d *jsontext.Decoder, err error) error {
	at, field := d.InputOffset(), d.StackPointer()
	var syntax *jsontext.SyntacticError
	if errors.As(err, &syntax) {
		at, field = syntax.ByteOffset, syntax.JSONPointer
	}
	switch {
	case errors.Is(err, jsontext.ErrDuplicateName):
		return api.Invalid(fieldPath(field), "%s: the name %q appears twice in one object", lineAndColumn(body, at), field.LastToken())
	case errors.Is(err, io.ErrUnexpectedEOF):
		return api.Invalid(fieldPath(field), "%s: the JSON is incomplete", lineAndColumn(body, int64(len(body))))
	case syntax != nil && syntax.Err != nil:
		return api.Invalid(fieldPath(field), "%s: invalid JSON: %v", lineAndColumn(body, at), syntax.Err)
	}
	return api.Invalid(fieldPath(field), "%s: invalid JSON", lineAndColumn(body, at)).WithCause(err)
}

// fieldPath converts a JSON pointer to the field path used in the API: /owner/email becomes
// owner.email, and /scopes/0 becomes scopes.0.
func fieldPath(p jsontext.Pointer) string {
	return strings.ReplaceAll(strings.TrimPrefix(string(p), "/"), "/", ".")
}

// lineAndColumn describes the position of a byte offset in the body as a line and column.
func lineAndColumn(body []byte, offset int64) string {
	before := body[:min(max(offset, 0), int64(len(body)))]
	line := 1 + bytes.Count(before, []byte{'\n'})
	column := len(before) - bytes.LastIndexByte(before, '\n')
	return "line " + strconv.Itoa(line) + ", column " + strconv.Itoa(column)
}

// hashParts returns a SHA-256 in hex of several parts. It also covers the lengths of the parts, so that moving bytes
// between them changes it.
func hashParts(parts ...[]byte) string {
	h := sha256.New()
	for _, p := range parts {
		_, _ = h.Write([]byte(strconv.Itoa(len(p)) + ":"))
		_, _ = h.Write(p)
	}
	return hex.EncodeToString(h.Sum(nil))
}
