package daemon

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/danielgtaylor/huma/v2"
	"github.com/go-chi/chi/v5"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/scf-service/service/api"
)

// inputReader reads an operation's input from a request according to its struct tags. The package huma creates
// the schemas and validates against them. What huma would compile for each pair of types is done here only
// once, with reflection.
type inputReader struct {
	schemas     huma.Registry
	params      []parameter
	queryParams map[string]bool // the allowed query parameters, and whether they are lists

	bodyField        []int // index of the field Body; nil if there is none
	schema           *huma.Schema
	validated        bool // the body is validated against the schema
	bodyOptional     bool
	defaults         []defaultValue
	notNullable      []string          // fields that an update cannot set to null
	enumChoices      map[string]string // by field: the allowed values, for messages
	changeableFields string            // the fields that an update can change, for messages
	recordFields     map[string]bool   // the fields of the updated record
}

// parameter is a field read from the path, the query, a header or a cookie.
type parameter struct {
	in, name    string
	required    bool
	defaultText string
	isList      bool
	field       []int
	schema      *huma.Schema
}

// defaultValue is the value of a body field that the body omits.
type defaultValue struct {
	field []int
	value reflect.Value
}

// nameKeys are the fields that contain a name, in addition to those that end with _name or _email.
var nameKeys = []string{"name", "email", "title", "label", "machine", "account"}

// checkNames reports the names in v that contain control characters or invisible characters.
func checkNames(v reflect.Value, path []string, report func(path []string, name string, err error)) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			checkNames(v.Elem(), path, report)
		}
	case reflect.Slice:
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice: // only the fields of structs are checked
			for i := range v.Len() {
				checkNames(v.Index(i), append(slices.Clone(path), strconv.Itoa(i)), report)
			}
		}
	case reflect.Struct:
		for _, f := range reflect.VisibleFields(v.Type()) {
			key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
			if f.Anonymous || key == "" || key == "-" {
				continue
			}
			field, at := v.FieldByIndex(f.Index), append(slices.Clone(path), key)
			if isOptType(field.Type()) {
				field = field.Field(1)
			}
			if text := reflect.Indirect(field); text.Kind() != reflect.String {
				checkNames(field, at, report)
			} else if isNameKey(key) {
				if err := api.CheckName(key, text.String()); err != nil {
					report(at, text.String(), err)
				}
			}
		}
	}
}

// isNameKey reports whether the field with this JSON key contains a name.
func isNameKey(key string) bool {
	return slices.Contains(nameKeys, key) || strings.HasSuffix(key, "_name") || strings.HasSuffix(key, "_email")
}

// newInputReader returns the reader of op's input, built from the tags of op.In. It adds the schemas of
// the fields to schemas, and panics if a type cannot be a parameter.
func newInputReader(schemas huma.Registry, op *api.Operation) *inputReader {
	in := &inputReader{schemas: schemas, queryParams: map[string]bool{}, validated: op.MaxBody <= api.MaxValidatedBody || op.LargeText}
	t := op.In
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || (len(f.Index) > 1 && t.Field(f.Index[0]).Name == "Body") {
			continue
		}
		if f.Name == "Body" {
			in.declareBody(op, f)
			continue
		}
		for _, where := range []string{"path", "query", "header", "cookie"} {
			if name := f.Tag.Get(where); name != "" {
				in.declareParameter(op, f, parameter{
					in:          where,
					name:        name,
					required:    where == "path" || f.Tag.Get("required") == "true",
					defaultText: f.Tag.Get("default"),
					field:       f.Index,
				})
			}
		}
	}
	if in.validated && in.bodyField != nil {
		in.collectFieldHints(op.Method, op.Out)
	}
	return in
}

// collectFieldHints collects the hints on fields for error messages.
func (in *inputReader) collectFieldHints(method string, record reflect.Type) {
	schema := in.schema
	if schema.Ref != "" {
		schema = in.schemas.SchemaFromRef(schema.Ref)
	}
	in.enumChoices, in.recordFields = map[string]string{}, map[string]bool{}
	for name, p := range schema.Properties {
		var words []string
		for _, v := range p.Enum {
			words = append(words, fmt.Sprint(v))
		}
		in.enumChoices[name] = strings.Join(words, ", ")
	}
	if method == http.MethodPatch && record.Kind() == reflect.Struct {
		in.changeableFields = strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
		for _, f := range reflect.VisibleFields(record) {
			in.recordFields[jsonName(f)] = !f.Anonymous
		}
	}
}

// declareParameter adds a field of the input as a parameter, with its schema.
func (in *inputReader) declareParameter(op *api.Operation, f reflect.StructField, p parameter) {
	switch {
	case f.Type.Kind() == reflect.String, f.Type.Kind() == reflect.Int, f.Type == reflect.TypeFor[[]string]():
	default:
		panic(fmt.Sprintf("daemon: %s: the parameter %s can't be a %s", op.ID, p.name, f.Type))
	}
	p.schema, p.isList = huma.SchemaFromField(in.schemas, f, ""), f.Type.Kind() == reflect.Slice
	if p.in == "query" {
		in.queryParams[p.name] = p.isList
	}
	in.params = append(in.params, p)
}

// declareBody adds the field of the input that holds the JSON body, with its schema and defaults.
func (in *inputReader) declareBody(op *api.Operation, f reflect.StructField) {
	hint := op.In.Name() + f.Name
	if op.In.Name() == "" {
		hint = op.ID + "Request"
	}
	in.bodyField, in.bodyOptional = f.Index, f.Type.Kind() == reflect.Pointer
	in.schema = huma.SchemaFromField(in.schemas, f, hint)
	in.schema.PrecomputeMessages()
	t := f.Type
	if in.bodyOptional {
		t = t.Elem()
	}
	if t.Kind() != reflect.Struct {
		return
	}
	// A null is treated as absent when a record is created. In an update, null would be ambiguous. A null hash
	// is a mistake of the caller: without a hash, whatever version is current would be decided on.
	update := op.Method == http.MethodPatch || t == reflect.TypeFor[api.ScopeBody]()
	for _, b := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(b.Tag.Get("json"), ",")
		if update && key != "" && !isOptType(b.Type) || strings.HasSuffix(key, "_sha256") {
			in.notNullable = append(in.notNullable, key)
		}
	}
	if in.bodyOptional {
		return
	}
	for _, b := range reflect.VisibleFields(f.Type) {
		if text, ok := b.Tag.Lookup("default"); ok {
			v := reflect.New(b.Type)
			if err := json.Unmarshal([]byte(text), v.Interface()); err != nil {
				panic(fmt.Sprintf("daemon: %s: the default of %s is invalid: %v", op.ID, b.Name, err))
			}
			in.defaults = append(in.defaults, defaultValue{append(slices.Clone(f.Index), b.Index...), v.Elem()})
		}
	}
}

// decode fills v, a struct of the input's type. The error lists all problems.
func (in *inputReader) decode(r *http.Request, body []byte, v reflect.Value) error {
	var problems huma.ValidateResult
	path := huma.NewPathBuffer(make([]byte, 0, 64), 0)
	at := func(parts ...string) *huma.PathBuffer {
		path.Reset()
		for _, p := range parts {
			path.Push(p)
		}
		return path
	}
	query := r.URL.Query()
	for _, name := range slices.Sorted(maps.Keys(query)) {
		if list, known := in.queryParams[name]; !known {
			problems.Add(at("query", name), "", "unknown query parameter")
		} else if n := len(query[name]); n > 1 && !list {
			problems.Add(at("query", name), query[name][n-1], fmt.Sprintf("given %d times; give one value", n))
		}
	}
	for _, p := range in.params {
		text := p.textFrom(r, query)
		if text == "" && p.mustRejectIfEmpty(r, query) {
			problems.Add(at(p.in, p.name), "", "can't be empty; omit the parameter instead")
			continue
		}
		if text == "" {
			text = p.defaultText
		}
		if text == "" {
			if p.required {
				problems.Add(at(p.in, p.name), "", "required "+p.in+" parameter is missing")
			}
			continue
		}
		value, err := setParameter(v.FieldByIndex(p.field), text)
		if err != nil {
			problems.Add(at(p.in, p.name), text, err.Error())
			continue
		}
		huma.Validate(in.schemas, p.schema, at(p.in, p.name), huma.ModeWriteToServer, value, &problems)
	}
	if in.bodyField != nil {
		if err := in.decodeBody(body, v, at, &problems); err != nil {
			return err
		}
	} else if err := rejectNonEmptyBody(body, at, &problems); err != nil {
		return err
	}
	if len(problems.Errors) > 0 {
		return in.validationErrorWithHints(problems.Errors)
	}
	return nil
}

// validationErrorWithHints converts validation errors as validationError does, and adds the allowed values
// or the changeable fields to the messages.
func (in *inputReader) validationErrorWithHints(errs []error) *api.Error {
	e := validationError(errs)
	for n := range e.Details {
		d := &e.Details[n]
		was := d.Message
		switch {
		case was == fieldRequired && in.enumChoices[d.Field] != "":
			d.Message += ": one of " + in.enumChoices[d.Field]
		case was == fieldUnknown && in.recordFields[d.Field]:
			d.Message = "this field can't be changed by this operation; fields that can be changed: " + in.changeableFields
		default:
			continue
		}
		if n == 0 {
			e.Message = strings.Replace(e.Message, was, d.Message, 1)
		}
	}
	return e
}

// rejectNonEmptyBody rejects a body sent to an operation that reads none; an empty object is allowed.
func rejectNonEmptyBody(body []byte, at func(...string) *huma.PathBuffer, problems *huma.ValidateResult) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return api.Invalid("", "this operation takes no request body")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		problems.Add(at("body", name), fields[name], "unknown field")
	}
	return nil
}

// decodeBody decodes the body into v's body field, and adds validation errors to problems.
func (in *inputReader) decodeBody(body []byte, v reflect.Value, at func(...string) *huma.PathBuffer, problems *huma.ValidateResult) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if !in.bodyOptional {
			return api.Invalid("", "a request body is required")
		}
		return nil
	}
	into := v.FieldByIndex(in.bodyField).Addr().Interface()
	decode := in.decodeValidated
	if !in.validated {
		decode = decodeStrictly
	}
	if err := decode(body, into, at, problems); err != nil {
		return err
	}
	checkNames(v.FieldByIndex(in.bodyField), []string{"body"}, func(path []string, name string, err error) {
		problems.Add(at(path...), name, err.Error())
	})
	for _, d := range in.defaults {
		if f := v.FieldByIndex(d.field); f.IsZero() {
			f.Set(d.value)
		}
	}
	return nil
}

// decodeValidated decodes a body and validates it against its schema.
func (in *inputReader) decodeValidated(body []byte, into any, at func(...string) *huma.PathBuffer, problems *huma.ValidateResult) error {
	before := len(problems.Errors)
	if len(body) > api.MaxValidatedBody { // what isn't a large text must not take memory
		if err := decodeStrictly(body, into, at, problems); err != nil || len(problems.Errors) > before {
			return err
		}
	}
	var parsed any
	if err := json.Unmarshal(body, &parsed); err != nil {
		return api.Invalid("", "%v", err)
	}
	huma.Validate(in.schemas, in.schema, at("body"), huma.ModeWriteToServer, parsed, problems)
	fields, _ := parsed.(map[string]any)
	for _, name := range in.notNullable {
		if v, given := fields[name]; given && v == nil {
			problems.Add(at("body", name), nil, "can't be null; omit the field instead")
		}
	}
	err := json.Unmarshal(body, into)
	if typeErr, is := errors.AsType[*json.UnmarshalTypeError](err); is && len(problems.Errors) == before {
		normalized, marshalErr := json.Marshal(parsed) // 3.0 and 1e1 are integers
		if marshalErr == nil && json.Unmarshal(normalized, into) == nil {
			err = nil
		} else {
			problems.Add(at("body", typeErr.Field), nil, "can't be "+typeErr.Value)
		}
	}
	if apiErr, is := errors.AsType[*api.Error](err); is {
		return apiErr
	}
	if err != nil && len(problems.Errors) == before {
		problems.Errors = append(problems.Errors, &huma.ErrorDetail{Location: "body", Message: err.Error()})
	}
	return nil
}

// decodeStrictly decodes a body that is too large to be validated against a schema. It rejects unknown
// field names, including known ones with different capitalization.
func decodeStrictly(body []byte, into any, at func(...string) *huma.PathBuffer, problems *huma.ValidateResult) error {
	err := jsonv2.Unmarshal(body, into, jsonv2.RejectUnknownMembers(true))
	if err == nil {
		return nil
	}
	semantic, is := errors.AsType[*jsonv2.SemanticError](err)
	if !is {
		return api.Invalid("", "%v", err)
	}
	message := fieldUnknown
	if !errors.Is(err, jsonv2.ErrUnknownName) {
		message = "can't be " + jsonKindNames[semantic.JSONKind]
	}
	problems.Add(at(append([]string{"body"}, slices.Collect(semantic.JSONPointer.Tokens())...)...), nil, message)
	return nil
}

// jsonKindNames names the kinds of JSON values in messages.
var jsonKindNames = map[jsontext.Kind]string{
	'n': "null", 't': "a boolean", 'f': "a boolean", '"': "a string", '0': "a number", '{': "an object", '[': "an array",
}

// textFrom returns the parameter's text in a request, or "" if it is absent.
func (p *parameter) textFrom(r *http.Request, query url.Values) string {
	switch p.in {
	case "path":
		text := chi.URLParam(r, p.name)
		if r.URL.RawPath == "" {
			return text // nothing was escaped
		}
		if unescaped, err := url.PathUnescape(text); err == nil {
			return unescaped
		}
		return text
	case "query":
		if p.isList {
			return strings.Join(query[p.name], ",")
		}
		return query.Get(p.name)
	case "header":
		return r.Header.Get(p.name)
	default:
		if c, err := r.Cookie(p.name); err == nil {
			return c.Value
		}
		return ""
	}
}

// mustRejectIfEmpty reports whether a parameter with an empty value must be rejected, because the request contains
// the parameter and it is an ID or a condition. Treating such a value as absent would select everything, or lift the
// condition.
func (p *parameter) mustRejectIfEmpty(r *http.Request, query url.Values) bool {
	switch p.in {
	case "query":
		return query.Has(p.name) && strings.HasSuffix(p.name, "_id")
	case "header":
		return len(r.Header.Values(p.name)) > 0 && p.name == "If-Match"
	}
	return false
}

// setParameter sets a parameter's field and returns its value in the form used for validation.
func setParameter(f reflect.Value, text string) (any, error) {
	switch f.Kind() {
	case reflect.Int:
		n, err := strconv.Atoi(text)
		if err != nil {
			return nil, fmt.Errorf("invalid integer")
		}
		f.SetInt(int64(n))
		return n, nil
	case reflect.Slice:
		list := strings.Split(text, ",")
		f.Set(reflect.ValueOf(list))
		return list, nil
	default:
		f.SetString(text)
		return text, nil
	}
}
