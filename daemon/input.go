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

	"github.com/scf-service/service/api"
)

// input is how an operation's input is read from a request, as the tags of its
// struct say it. huma makes the schemas and checks values by them; what it would
// compile for each pair of types is done here once, by reflection.
type input struct {
	schemas huma.Registry
	params  []parameter
	query   map[string]bool // the names that a query may hold: whether as a list

	body     []int // the field Body; nil where there is none
	schema   *huma.Schema
	checked  bool // against the schema
	optional bool
	defaults []preset
	names    []named
	solid    []string          // fields that a change can't set to null
	choices  map[string]string // of the body's fields that are one of a few values: those, in words
	fixed    string            // in words: what a change can change
	record   map[string]bool   // the fields of the record that it changes
}

// parameter is a field that comes from the path, the query, a header or a cookie.
type parameter struct {
	in, name string
	required bool
	preset   string
	list     bool
	field    []int
	schema   *huma.Schema
}

// preset is what a field of the body is where the body does not name it.
type preset struct {
	field []int
	value reflect.Value
}

// named is a field of the body that holds somebody's or something's name.
type named struct {
	path  []string
	field []int
}

// names finds the fields of t that are called name, also in structs within.
func names(t reflect.Type, path []string, index []int) (out []named) {
	if t.Kind() != reflect.Struct {
		return nil
	}
	for _, f := range reflect.VisibleFields(t) {
		key, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || key == "" {
			continue
		}
		at, field := append(slices.Clone(path), key), append(slices.Clone(index), f.Index...)
		switch {
		case key == "name" && (f.Type.Kind() == reflect.String || f.Type == reflect.TypeFor[*string]()):
			out = append(out, named{at, field})
		case f.Type.Kind() == reflect.Struct:
			out = append(out, names(f.Type, at, field)...)
		}
	}
	return out
}

// newInput reads the tags and adds to desc what they mean. Types that no parameter can
// have stop the start.
func newInput(schemas huma.Registry, desc *huma.Operation, t, record reflect.Type) *input {
	in := &input{schemas: schemas, query: map[string]bool{}, checked: !desc.SkipValidateBody}
	for _, f := range reflect.VisibleFields(t) {
		if f.Anonymous || (len(f.Index) > 1 && t.Field(f.Index[0]).Name == "Body") {
			continue
		}
		if f.Name == "Body" {
			in.takeBody(desc, t, f)
			continue
		}
		for _, where := range []string{"path", "query", "header", "cookie"} {
			if name := f.Tag.Get(where); name != "" {
				in.takeParameter(desc, f, parameter{in: where, name: name, required: where == "path" || f.Tag.Get("required") == "true", preset: f.Tag.Get("default"), field: f.Index})
			}
		}
	}
	if in.checked && in.body != nil {
		in.learn(desc.Method, record)
	}
	return in
}

// learn notes what the answer to a wrong body says of its fields.
func (in *input) learn(method string, record reflect.Type) {
	schema := in.schema
	if schema.Ref != "" {
		schema = in.schemas.SchemaFromRef(schema.Ref)
	}
	in.choices, in.record = map[string]string{}, map[string]bool{}
	for name, p := range schema.Properties {
		var words []string
		for _, v := range p.Enum {
			words = append(words, fmt.Sprint(v))
		}
		in.choices[name] = strings.Join(words, ", ")
	}
	if method == http.MethodPatch && record.Kind() == reflect.Struct {
		in.fixed = strings.Join(slices.Sorted(maps.Keys(schema.Properties)), ", ")
		for _, f := range reflect.VisibleFields(record) {
			in.record[jsonName(f)] = !f.Anonymous
		}
	}
}

func (in *input) takeParameter(desc *huma.Operation, f reflect.StructField, p parameter) {
	switch {
	case f.Type.Kind() == reflect.String, f.Type.Kind() == reflect.Int, f.Type == reflect.TypeFor[[]string]():
	default:
		panic(fmt.Sprintf("daemon: %s: the parameter %s can't be a %s", desc.OperationID, p.name, f.Type))
	}
	p.schema, p.list = huma.SchemaFromField(in.schemas, f, ""), f.Type.Kind() == reflect.Slice
	described := &huma.Param{Name: p.name, In: p.in, Description: p.schema.Description, Required: p.required, Schema: p.schema}
	if p.in == "query" {
		in.query[p.name] = p.list
		described.Explode = new(bool) // a list is one value, with commas
	}
	in.params = append(in.params, p)
	desc.Parameters = append(desc.Parameters, described)
}

func (in *input) takeBody(desc *huma.Operation, t reflect.Type, f reflect.StructField) {
	hint := t.Name() + f.Name
	if t.Name() == "" {
		hint = desc.OperationID + "Request"
	}
	in.body, in.optional = f.Index, f.Type.Kind() == reflect.Pointer
	in.schema = huma.SchemaFromField(in.schemas, f, hint)
	in.schema.PrecomputeMessages()
	desc.RequestBody = &huma.RequestBody{Required: !in.optional, Content: map[string]*huma.MediaType{"application/json": {Schema: in.schema}}}
	if f.Type.Kind() != reflect.Struct {
		return
	}
	in.names = names(f.Type, []string{"body"}, f.Index)
	// Where a record is made, null is no value. In a change it would say something that it can't mean.
	if desc.Method == http.MethodPatch || f.Type == reflect.TypeFor[api.ScopeBody]() {
		for _, b := range reflect.VisibleFields(f.Type) {
			if key, _, _ := strings.Cut(b.Tag.Get("json"), ","); key != "" && !isOptional(b.Type) {
				in.solid = append(in.solid, key)
			}
		}
	}
	for _, b := range reflect.VisibleFields(f.Type) {
		if text, ok := b.Tag.Lookup("default"); ok {
			v := reflect.New(b.Type)
			if err := json.Unmarshal([]byte(text), v.Interface()); err != nil {
				panic(fmt.Sprintf("daemon: %s: the default of %s: %v", desc.OperationID, b.Name, err))
			}
			in.defaults = append(in.defaults, preset{append(slices.Clone(f.Index), b.Index...), v.Elem()})
		}
	}
}

// read fills v, a struct of the input's type. It tells everything that is wrong at once.
func (in *input) read(r *http.Request, body []byte, v reflect.Value) error {
	var wrong huma.ValidateResult
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
		if list, known := in.query[name]; !known {
			wrong.Add(at("query", name), "", "unknown query parameter")
		} else if n := len(query[name]); n > 1 && !list {
			wrong.Add(at("query", name), query[name][n-1], fmt.Sprintf("it is given %d times; give one value", n))
		}
	}
	for _, p := range in.params {
		text := p.of(r, query)
		if text == "" {
			text = p.preset
		}
		if text == "" {
			if p.required {
				wrong.Add(at(p.in, p.name), "", "required "+p.in+" parameter is missing")
			}
			continue
		}
		value, err := set(v.FieldByIndex(p.field), text)
		if err != nil {
			wrong.Add(at(p.in, p.name), text, err.Error())
			continue
		}
		huma.Validate(in.schemas, p.schema, at(p.in, p.name), huma.ModeWriteToServer, value, &wrong)
	}
	if in.body != nil {
		if err := in.readBody(body, v, at, &wrong); err != nil {
			return err
		}
	} else if err := noBody(body, at, &wrong); err != nil {
		return err
	}
	if len(wrong.Errors) > 0 {
		return in.refusal(wrong.Errors)
	}
	return nil
}

// refusal adds to what is wrong what of the body's fields would be right.
func (in *input) refusal(errs []error) *api.Error {
	e := refusal(errs)
	for n := range e.Details {
		d := &e.Details[n]
		was := d.Message
		switch {
		case was == fieldRequired && in.choices[d.Field] != "":
			d.Message += ": one of " + in.choices[d.Field]
		case was == fieldUnknown && in.record[d.Field]:
			d.Message = "this can't be changed here; what can: " + in.fixed
		default:
			continue
		}
		if n == 0 {
			e.Message = strings.Replace(e.Message, was, d.Message, 1)
		}
	}
	return e
}

// noBody refuses what is sent to an operation that reads nothing of it; an empty object says nothing.
func noBody(body []byte, at func(...string) *huma.PathBuffer, wrong *huma.ValidateResult) error {
	if len(bytes.TrimSpace(body)) == 0 {
		return nil
	}
	var fields map[string]any
	if err := json.Unmarshal(body, &fields); err != nil {
		return api.Invalid("", "this takes no body")
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		wrong.Add(at("body", name), fields[name], "there is no such field")
	}
	return nil
}

func (in *input) readBody(body []byte, v reflect.Value, at func(...string) *huma.PathBuffer, wrong *huma.ValidateResult) error {
	if len(bytes.TrimSpace(body)) == 0 {
		if !in.optional {
			return api.Invalid("", "request body is required")
		}
		return nil
	}
	before := len(wrong.Errors)
	var parsed any
	if in.checked {
		if err := json.Unmarshal(body, &parsed); err != nil {
			return api.Invalid("", "%v", err)
		}
		huma.Validate(in.schemas, in.schema, at("body"), huma.ModeWriteToServer, parsed, wrong)
		fields, _ := parsed.(map[string]any)
		for _, name := range in.solid {
			if v, given := fields[name]; given && v == nil {
				wrong.Add(at("body", name), nil, "it can't be null; leave it out to keep what it is")
			}
		}
	}
	into := v.FieldByIndex(in.body).Addr().Interface()
	err := json.Unmarshal(body, into)
	if of, is := errors.AsType[*json.UnmarshalTypeError](err); is && in.checked && len(wrong.Errors) == before {
		if plain, again := json.Marshal(parsed); again == nil && json.Unmarshal(plain, into) == nil { // 3.0 and 1e1 are integers
			err = nil
		} else {
			wrong.Add(at("body", of.Field), nil, "it can't be "+of.Value)
		}
	}
	if own, is := errors.AsType[*api.Error](err); is {
		return own
	}
	if err != nil && len(wrong.Errors) == before {
		wrong.Errors = append(wrong.Errors, &huma.ErrorDetail{Location: "body", Message: err.Error()})
	}
	for _, n := range in.names {
		f := v.FieldByIndex(n.field)
		if f.Kind() == reflect.Pointer {
			if f.IsNil() {
				continue
			}
			f = f.Elem()
		}
		if strings.ContainsFunc(f.String(), api.Steers) {
			wrong.Add(at(n.path...), f.String(), "a name is one line, without control characters")
		}
	}
	for _, d := range in.defaults {
		if f := v.FieldByIndex(d.field); f.IsZero() {
			f.Set(d.value)
		}
	}
	return nil
}

// of is the parameter's text in a request; "" where it has none.
func (p *parameter) of(r *http.Request, query url.Values) string {
	switch p.in {
	case "path":
		text := chi.URLParam(r, p.name)
		if r.URL.RawPath == "" {
			return text // nothing was escaped
		}
		if plain, err := url.PathUnescape(text); err == nil {
			return plain
		}
		return text
	case "query":
		if p.list {
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

// set gives a parameter's field its value, and returns that in the form its schema is checked with.
func set(f reflect.Value, text string) (any, error) {
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
