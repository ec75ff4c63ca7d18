package daemon

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"reflect"
	"strconv"

	"github.com/scf-service/service/api"
)

// writeJSON sends an operation's output, with an ETag if it is a record.
func writeJSON(w http.ResponseWriter, op *api.Operation, out any) {
	api.ReplaceNilCollections(out)
	h := w.Header()
	h.Set("Content-Type", "application/json")
	if l := locationHeader(op, out); l != "" {
		h.Set("Location", l)
	}
	if op.ReturnsSecret() {
		h.Set("Cache-Control", "no-store")
	}
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false) // the response is not HTML, and evidence is easier to read unescaped
	_ = e.Encode(out)
	body := api.AddAbsentFields(buf.Bytes(), op.Out)
	if tag := entityTag(op, out, body); tag != "" {
		h.Set("ETag", tag)
	}
	w.WriteHeader(responseStatus(op, out))
	_, _ = w.Write(body)
}

// revisionIndex returns the index of the field that holds a record's revision, or nil if there is none.
func revisionIndex(record reflect.Type) []int {
	f, ok := record.FieldByName("Revision")
	if !ok || f.Type.Kind() != reflect.Int || jsonName(f) != "revision" {
		return nil
	}
	return f.Index
}

// hasEntityTag reports whether the responses of an operation have an ETag. They do if they are records with a
// revision, or if they are single records returned by GET.
func hasEntityTag(op *api.Operation) bool {
	if op.Form != api.JSON && op.Form != api.Upload || op.Out.Kind() != reflect.Struct || op.Out == reflect.TypeFor[api.None]() {
		return false
	}
	if revisionIndex(op.Out) != nil {
		return true
	}
	_, isList := op.Out.FieldByName("Pagination")
	return op.Method == http.MethodGet && !isList && op.Access != api.Public
}

// entityTag returns the ETag of a response. For a record with a revision, it is the revision, which If-Match
// accepts; for other records, it is a hash of the content. It is empty for lists and results of actions.
func entityTag(op *api.Operation, out any, body []byte) string {
	if !hasEntityTag(op) {
		return ""
	}
	if at := revisionIndex(op.Out); at != nil {
		return `"` + strconv.FormatInt(reflect.Indirect(reflect.ValueOf(out)).FieldByIndex(at).Int(), 10) + `"`
	}
	sum := sha256.Sum256(body)
	return `"` + base64.RawURLEncoding.EncodeToString(sum[:15]) + `"`
}
