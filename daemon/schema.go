package daemon

import (
	"reflect"
	"time"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
)

// newSchemas returns a registry that includes the API's string types, for validation and OpenAPI.
func newSchemas() huma.Registry {
	schemas := huma.NewMapRegistry(schemaPrefix, huma.DefaultSchemaNamer)
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Opt[string]](), reflect.TypeFor[*string]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Opt[api.Date]](), reflect.TypeFor[*dateSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Date](), reflect.TypeFor[dateSchema]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.TraitSettings](), reflect.TypeFor[map[string]traitSettingSchema]())
	registerEnum[api.State](schemas)
	registerEnum[api.Gate](schemas)
	registerEnum[api.VersionStatus](schemas)
	registerEnum[api.ApprovalStatus](schemas)
	registerEnum[api.DocumentState](schemas)
	registerEnum[api.Applicability](schemas)
	registerEnum[api.Implementation](schemas)
	registerEnum[api.EvidenceCoverage](schemas)
	registerEnum[api.Severity](schemas)
	registerEnum[api.Result](schemas)
	registerEnum[api.Role](schemas)
	registerEnum[api.ActorType](schemas)
	registerEnum[api.CorrectionDecision](schemas)
	registerEnum[api.CorrectionSource](schemas)
	registerEnum[api.ErrorCode](schemas)
	return schemas
}

// dateSchema is the schema of api.Date.
type dateSchema string

// Schema returns the schema of a date.
func (dateSchema) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date"}
}

// traitSettingSchema is the schema of api.TraitSetting.
type traitSettingSchema struct{}

// Schema returns the schema of a trait setting.
func (traitSettingSchema) Schema(huma.Registry) *huma.Schema {
	word := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: []any{"true", "false", "unknown"}}
	}
	valueSchemas := func() []*huma.Schema { return []*huma.Schema{{Type: huma.TypeBoolean}, word(), {Type: "null"}} }
	return &huma.Schema{AnyOf: append(valueSchemas(), &huma.Schema{
		Type: huma.TypeObject, Required: []string{"value"},
		Properties: map[string]*huma.Schema{"value": {AnyOf: valueSchemas()}}, AdditionalProperties: true,
	})}
}

// stringEnum is a string type that lists its values.
type stringEnum[T any] interface {
	~string
	Values() []T
}

// enumSchema is the schema of the enumerated type T.
type enumSchema[T stringEnum[T]] string

// Schema returns the schema of an enumerated type.
func (enumSchema[T]) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range T("").Values() {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

// registerEnum makes schemas of the enumerated type T list its values.
func registerEnum[T stringEnum[T]](schemas huma.Registry) {
	schemas.RegisterTypeAlias(reflect.TypeFor[T](), reflect.TypeFor[enumSchema[T]]())
}

// markPointersNullable marks properties as nullable if they are pointers in Go and always present; huma
// does so only for basic types.
func markPointersNullable(schemas huma.Registry) {
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef(schemaRef(name))
		for _, f := range reflect.VisibleFields(t) {
			if !f.Anonymous && isNullable(f.Type) {
				markNullable(s, jsonName(f))
			}
		}
		s.PrecomputeMessages()
	}
}

// markNullable marks a property as nullable, if the schema has it.
func markNullable(s *huma.Schema, name string) {
	switch p := s.Properties[name]; {
	case p == nil:
	case p.Ref != "":
		s.Properties[name] = &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
	case p.Type != "":
		p.Nullable = true
	}
}

// markAddedFields marks the properties that api.AddAbsentFields adds to responses: they are nullable if null is added
// and, in types that occur only in responses, required.
func markAddedFields(schemas huma.Registry) {
	requests, responses := map[reflect.Type]bool{}, map[reflect.Type]bool{}
	for _, op := range api.Operations() {
		collectStructs(op.In, requests)
		if returnsJSON(op) {
			collectStructs(op.Out, responses)
		}
	}
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef(schemaRef(name))
		if !responses[t] {
			continue
		}
		for _, f := range reflect.VisibleFields(t) {
			if f.Anonymous || !api.OmitsIfEmpty(f) {
				continue
			}
			if api.AbsentValue(f.Type) == "null" && f.Type != reflect.TypeFor[time.Time]() {
				markNullable(s, jsonName(f))
			}
			if !requests[t] {
				s.Required = append(s.Required, jsonName(f))
			}
		}
	}
}

// collectStructs adds the struct types that a value of type t can contain.
func collectStructs(t reflect.Type, to map[reflect.Type]bool) {
	switch t.Kind() {
	case reflect.Pointer, reflect.Slice, reflect.Map:
		collectStructs(t.Elem(), to)
	case reflect.Struct:
		if to[t] {
			return
		}
		to[t] = true
		for _, f := range reflect.VisibleFields(t) {
			collectStructs(f.Type, to)
		}
	}
}

func isNullable(t reflect.Type) bool { return t.Kind() == reflect.Pointer || isOptType(t) }

// isOptType reports whether t is an api.Opt.
func isOptType(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "Set" && t.Field(1).Name == "Value"
}

const schemaPrefix = "#/components/schemas/"

func schemaRef(name string) string { return schemaPrefix + name }
