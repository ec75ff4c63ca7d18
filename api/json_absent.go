package api

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"sync"
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
// because they are empty. It returns body itself if the type has no such fields.
func AddAbsentFields(body []byte, t reflect.Type) []byte {
	s := jsonShapeOf(t, nil)
	if s == nil {
		return body
	}
	a := absentAdder{in: body, out: make([]byte, 0, len(body)+len(body)/4)}
	a.value(s)
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

// absentAdder copies JSON without whitespace from in to out.
type absentAdder struct {
	in, out []byte
	at      int // in in
	copied  int // bytes of in that are in out
}

// next returns the next byte, or 0 at the end.
func (a *absentAdder) next() byte {
	if a.at < len(a.in) {
		return a.in[a.at]
	}
	return 0
}

// value reads a value and adds the fields that it lacks. Nothing is added if s is nil.
func (a *absentAdder) value(s *jsonShape) {
	if s == nil {
		s = &jsonShape{}
	}
	switch a.next() {
	case '"':
		a.text()
	case '{':
		a.object(s)
	case '[':
		for a.at++; a.next() != ']' && a.next() != 0; {
			a.value(s.element)
			a.comma()
		}
		a.at++
	default:
		for a.at++; !strings.ContainsRune(",]}\n\x00", rune(a.next())); {
			a.at++
		}
	}
}

// object reads an object and adds the fields that it lacks.
func (a *absentAdder) object(s *jsonShape) {
	var found uint64
	begin := a.at
	for a.at++; a.next() == '"'; {
		name := a.text()
		field, known := s.fields[string(name)]
		if !known {
			field.shape = s.element
		}
		found |= field.omitted
		a.at++ // the colon
		a.value(field.shape)
		a.comma()
	}
	for i, absent := range s.omitted {
		if found&(1<<i) != 0 {
			continue
		}
		a.out = append(a.out, a.in[a.copied:a.at]...)
		if a.copied = a.at; a.out[len(a.out)-1] == '{' && a.at == begin+1 {
			absent = absent[1:] // the object's first field needs no comma
		}
		a.out = append(a.out, absent...)
	}
	a.at++
}

// comma reads a comma, if one is next.
func (a *absentAdder) comma() {
	if a.next() == ',' {
		a.at++
	}
}

// text reads a text and returns it without its quotes.
func (a *absentAdder) text() []byte {
	begin := a.at + 1
	for a.at++; a.next() != '"' && a.next() != 0; a.at++ {
		if a.next() == '\\' {
			a.at++
		}
	}
	a.at++
	return a.in[begin : a.at-1]
}
