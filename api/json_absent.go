package api

import (
	"bytes"
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-json-experiment/json/jsontext"
)

// Types whose stored form is hashed, signed or sent to clones omit the fields that were added to them later if these
// are empty. In a response, no field is absent: AddAbsentFields adds them.

// AbsentValue returns the JSON value that stands in a response for a field that its type omits if it is empty: false,
// [], {} or null.
func AbsentValue(field reflect.Type) string {
	switch field.Kind() {
	case reflect.Bool:
		return "false"
	case reflect.Slice:
		return "[]"
	case reflect.Map:
		return "{}"
	default:
		return "null"
	}
}

// OmitsIfEmpty reports whether a field of a JSON object is omitted if it is empty.
func OmitsIfEmpty(f reflect.StructField) bool {
	_, options, _ := strings.Cut(f.Tag.Get("json"), ",")
	return strings.Contains(options, "omit")
}

// AddAbsentFields returns body, which encoding/json made of a value of type t, together with the fields that are omitted
// because they are empty. It returns body itself if the type has no such fields, or if body is not JSON.
func AddAbsentFields(body []byte, t reflect.Type) []byte {
	s := jsonShapeOf(t, nil)
	if s == nil {
		return body
	}
	a := absentAdder{in: body, decoder: jsontext.NewDecoder(bytes.NewBuffer(body)), out: make([]byte, 0, len(body)+len(body)/4)}
	if err := a.value(s); err != nil {
		return body
	}
	return append(a.out, body[a.copied:]...)
}

// jsonShape says where the JSON of a type may lack fields.
type jsonShape struct {
	element *jsonShape           // of a list or a map
	fields  map[string]jsonField // of an object
	omitted []string             // of an object: the fields that may be absent, as `,"name":value`
}

// jsonField is a field of an object.
type jsonField struct {
	shape   *jsonShape // nil if its value lacks no fields
	omitted uint64     // the bit of its index in omitted; 0 if the field is always present
}

// jsonShapes caches the results of jsonShapeOf for struct types.
var jsonShapes sync.Map // reflect.Type → *jsonShape

// jsonShapeOf returns the shape of a type, or nil if its JSON lacks no fields. within lists the enclosing structs: a
// type that contains itself is copied as it is from there on.
func jsonShapeOf(t reflect.Type, within []reflect.Type) *jsonShape {
	if marshaler := reflect.TypeFor[json.Marshaler](); t.Implements(marshaler) || reflect.PointerTo(t).Implements(marshaler) {
		return nil
	}
	switch t.Kind() {
	case reflect.Pointer:
		return jsonShapeOf(t.Elem(), within)
	case reflect.Slice, reflect.Map:
		if e := jsonShapeOf(t.Elem(), within); e != nil {
			return &jsonShape{element: e}
		}
	case reflect.Struct:
		if cached, ok := jsonShapes.Load(t); ok {
			return cached.(*jsonShape)
		}
		if slices.Contains(within, t) {
			return nil
		}
		s := objectShape(t, append(slices.Clone(within), t))
		if len(within) == 0 {
			jsonShapes.Store(t, s)
		}
		return s
	}
	return nil
}

// objectShape returns the shape of a struct type, or nil if its JSON lacks no fields. At most 64 fields of a type may be
// omitted.
func objectShape(t reflect.Type, within []reflect.Type) *jsonShape {
	s, needed := &jsonShape{fields: map[string]jsonField{}}, false
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.Anonymous || !f.IsExported() || name == "" || name == "-" {
			continue
		}
		field := jsonField{shape: jsonShapeOf(f.Type, within)}
		if OmitsIfEmpty(f) {
			field.omitted = 1 << len(s.omitted)
			s.omitted = append(s.omitted, `,"`+name+`":`+AbsentValue(f.Type))
		}
		s.fields[name] = field
		needed = needed || field.shape != nil || field.omitted != 0
	}
	if !needed {
		return nil
	}
	return s
}

// absentAdder copies JSON from in to out.
type absentAdder struct {
	in      []byte
	decoder *jsontext.Decoder // of in
	out     []byte
	copied  int64 // bytes of in that are in out
}

// value reads a value and adds the fields that it lacks. Nothing is added if s is nil.
func (a *absentAdder) value(s *jsonShape) error {
	begin := a.decoder.PeekKind()
	if s == nil || begin != jsontext.KindBeginObject && begin != jsontext.KindBeginArray {
		return a.decoder.SkipValue()
	}
	if _, err := a.decoder.ReadToken(); err != nil {
		return err
	}
	var found uint64
	for first := true; ; first = false {
		switch a.decoder.PeekKind() {
		case jsontext.KindEndObject:
			a.addFields(s.omitted, found, first)
			fallthrough
		case jsontext.KindEndArray:
			_, err := a.decoder.ReadToken()
			return err
		}
		shape := s.element
		if begin == jsontext.KindBeginObject {
			name, err := a.decoder.ReadToken()
			if err != nil {
				return err
			}
			if field, known := s.fields[name.String()]; known {
				shape = field.shape
				found |= field.omitted
			}
		}
		if err := a.value(shape); err != nil {
			return err
		}
	}
}

// addFields adds those of the omitted fields that were not found to an object that has been read up to its closing brace.
func (a *absentAdder) addFields(omitted []string, found uint64, isEmpty bool) {
	for i, absent := range omitted {
		if found&(1<<i) != 0 {
			continue
		}
		at := a.decoder.InputOffset()
		a.out = append(a.out, a.in[a.copied:at]...)
		a.copied = at
		if isEmpty {
			absent, isEmpty = absent[1:], false // the object's first field needs no comma
		}
		a.out = append(a.out, absent...)
	}
}
