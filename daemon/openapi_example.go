package daemon

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

var errorEnvelope = reflect.TypeFor[api.ErrorEnvelope]()

// An example is a Go value of the operation's own type, filled field by field and encoded like any
// response, so that it always has the shape of a real one. The value of a field is looked up in
// this order: exampleFields under "Type.field"; the first value of its enum tag; exampleFields
// under "field"; exampleTypes under its type; exampleSuffixes under the end of its name. All counts
// share one value, and so do all flags. A text field without a value is an error, so that no
// example contains a placeholder.

// exampleResponse returns an example response of op as JSON.
func exampleResponse(op *api.Operation) (json.RawMessage, error) {
	v := reflect.New(op.Out)
	if err := fillExample(v.Elem(), op.Out.Name()); err != nil {
		return nil, err
	}
	api.ReplaceNilCollections(v.Interface())
	b, err := json.Marshal(v.Interface())
	return api.AddAbsentFields(b, op.Out), err
}

// exampleRequest returns an example body of op as JSON. For an upload, it returns the form as an object.
func exampleRequest(op *api.Operation) (json.RawMessage, error) {
	if op.Form == api.Upload {
		form := map[string]string{}
		for i := range op.In.NumField() {
			if name := op.In.Field(i).Tag.Get("form"); name != "" {
				form[name] = fmt.Sprint(exampleFields[op.In.Name()+"."+name])
			}
		}
		return json.Marshal(form)
	}
	body, _ := op.In.FieldByName("Body")
	v := reflect.New(body.Type)
	if err := fillExample(v.Elem(), op.In.Name()); err != nil {
		return nil, err
	}
	return json.Marshal(v.Interface())
}

// exampleParameter returns an example value of a path or query parameter, or nil if there is none.
func exampleParameter(op *api.Operation, name string) any {
	for _, key := range []string{op.In.Name() + "." + name, name} {
		if v, ok := exampleParameters[key]; ok {
			return v
		}
	}
	if strings.HasSuffix(name, "Id") {
		return exampleID
	}
	return nil
}

// exampleError returns an example error response with a code.
func exampleError(code api.ErrorCode) api.ErrorEnvelope {
	e := exampleErrors[code]
	e.Code, e.TraceID = code, exampleTraceID
	if e.Details == nil {
		e.Details = []api.ErrorDetail{}
	}
	return api.ErrorEnvelope{Error: &e}
}

// fillExample fills v with example values. v is part of a struct type with the name ownerTypeName.
func fillExample(v reflect.Value, ownerTypeName string) error {
	t := v.Type()
	if whole, ok := exampleTypes[t]; ok {
		v.Set(reflect.ValueOf(whole))
		return nil
	}
	if isOptType(t) {
		v.Field(0).SetBool(true)
		return fillExample(v.Field(1), ownerTypeName)
	}
	switch t.Kind() {
	case reflect.Pointer:
		v.Set(reflect.New(t.Elem()))
		return fillExample(v.Elem(), ownerTypeName)
	case reflect.Struct:
		if t.Name() != "" && !strings.Contains(t.Name(), "[") {
			ownerTypeName = t.Name()
		}
		return fillFields(v, []string{ownerTypeName})
	case reflect.Slice:
		v.Set(reflect.MakeSlice(t, 1, 1))
		return fillExample(v.Index(0), ownerTypeName)
	}
	return fmt.Errorf("no example for %s in %s", t, ownerTypeName)
}

// fillFields fills a struct. ownerTypeNames are the type names used for lookups: the type's own, preceded
// by that of the type it is embedded in.
func fillFields(v reflect.Value, ownerTypeNames []string) error {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if !f.IsExported() || f.Tag.Get("json") == "-" {
			continue
		}
		fill := fillField
		if f.Anonymous {
			fill = func(v reflect.Value, f reflect.StructField, ownerTypeNames []string) error {
				return fillFields(v, append(slices.Clone(ownerTypeNames), f.Type.Name()))
			}
		}
		if err := fill(v.Field(i), f, ownerTypeNames); err != nil {
			return err
		}
	}
	return nil
}

func fillField(v reflect.Value, f reflect.StructField, ownerTypeNames []string) error {
	var keys []string
	for _, o := range ownerTypeNames {
		keys = append(keys, o+"."+jsonName(f))
	}
	if f.Tag.Get("enum") == "" {
		keys = append(keys, jsonName(f))
	}
	for _, k := range keys {
		value, ok := exampleFields[k]
		if !ok {
			continue
		}
		if value == nil || assignValue(v, reflect.ValueOf(value)) {
			return nil
		}
		if strings.Contains(k, ".") {
			return fmt.Errorf("the example of %s is a %T, not a %s", k, value, f.Type)
		}
	}
	if enum, _, _ := strings.Cut(f.Tag.Get("enum"), ","); enum != "" && assignValue(v, reflect.ValueOf(enum)) {
		return nil
	}
	if first, ok := firstEnumValue(f.Type); ok && assignValue(v, first) {
		return nil
	}
	for suffix, value := range exampleSuffixes {
		if strings.HasSuffix(jsonName(f), suffix) && assignValue(v, reflect.ValueOf(value)) {
			return nil
		}
	}
	if _, whole := exampleTypes[f.Type]; whole {
		return fillExample(v, keys[0])
	}
	switch f.Type.Kind() {
	case reflect.Struct, reflect.Pointer, reflect.Slice:
		return fillExample(v, keys[0])
	case reflect.Bool:
		v.SetBool(true)
		return nil
	case reflect.Int:
		v.SetInt(exampleCount)
		return nil
	}
	return fmt.Errorf("no example for %s (%s): add one to exampleFields", strings.Join(keys, " or "), f.Type)
}

// firstEnumValue returns the first possible value of a named string type.
func firstEnumValue(t reflect.Type) (reflect.Value, bool) {
	for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice {
		t = t.Elem()
	}
	if t.Kind() != reflect.String {
		return reflect.Value{}, false
	}
	list := reflect.Zero(t).MethodByName("Values")
	if !list.IsValid() {
		return reflect.Value{}, false
	}
	return list.Call(nil)[0].Index(0), true
}

// assignValue sets dst to src if their kinds allow it. If dst is a pointer, an api.Opt or a list, it sets
// what dst contains.
func assignValue(dst, src reflect.Value) (assigned bool) {
	t := dst.Type()
	switch {
	case src.Type().AssignableTo(t):
		dst.Set(src)
		return true
	case isOptType(t):
		dst.Field(0).SetBool(true)
		return assignValue(dst.Field(1), src)
	case t.Kind() == reflect.Pointer:
		p := reflect.New(t.Elem())
		if !assignValue(p.Elem(), src) {
			return false
		}
		dst.Set(p)
		return true
	case t.Kind() == reflect.Slice && src.Kind() != reflect.Slice:
		s := reflect.MakeSlice(t, 1, 1)
		if !assignValue(s.Index(0), src) {
			return false
		}
		dst.Set(s)
		return true
	case src.Kind() == reflect.String && t.Kind() == reflect.Int:
		n, err := strconv.Atoi(src.String())
		dst.SetInt(int64(n))
		return err == nil
	case kindClass(src.Kind()) == kindClass(t.Kind()) && kindClass(t.Kind()) != 0 && src.CanConvert(t):
		dst.Set(src.Convert(t))
		return true
	}
	return false
}

// kindClass returns a number for a kind. Kinds with the same number other than 0 can be converted to each
// other without a change of meaning.
func kindClass(k reflect.Kind) int {
	switch k {
	case reflect.String:
		return 1
	case reflect.Bool:
		return 2
	case reflect.Int, reflect.Int64, reflect.Uint64, reflect.Float64:
		return 3
	case reflect.Map:
		return 4
	}
	return 0
}

func jsonName(f reflect.StructField) string {
	name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
	if name == "" {
		return f.Name
	}
	return name
}

func mustParseTime(s string) time.Time {
	t, err := time.Parse(time.RFC3339, s)
	if err != nil {
		panic("daemon: " + err.Error())
	}
	return t
}
