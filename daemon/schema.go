package daemon

import (
	"reflect"

	"github.com/danielgtaylor/huma/v2"

	"github.com/scf-service/service/api"
)

// teach tells huma what the contract's own kinds of text may hold. What it knows
// from here is both what requests are checked against and what OpenAPI says.
func teach(schemas huma.Registry) {
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Opt[string]](), reflect.TypeFor[*string]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Opt[api.Date]](), reflect.TypeFor[*day]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.Date](), reflect.TypeFor[day]())
	schemas.RegisterTypeAlias(reflect.TypeFor[api.TraitSettings](), reflect.TypeFor[map[string]traitSetting]())
	oneOf[api.State](schemas)
	oneOf[api.Gate](schemas)
	oneOf[api.VersionStatus](schemas)
	oneOf[api.ApprovalStatus](schemas)
	oneOf[api.DocumentState](schemas)
	oneOf[api.Applicability](schemas)
	oneOf[api.Implementation](schemas)
	oneOf[api.EvidenceCoverage](schemas)
	oneOf[api.Severity](schemas)
	oneOf[api.Result](schemas)
	oneOf[api.Role](schemas)
	oneOf[api.ActorType](schemas)
	oneOf[api.ErrorCode](schemas)
}

type day string

// Schema is what huma takes for a day.
func (day) Schema(huma.Registry) *huma.Schema {
	return &huma.Schema{Type: huma.TypeString, Format: "date"}
}

type traitSetting struct{}

// Schema is what huma takes for what a person says of a trait.
func (traitSetting) Schema(huma.Registry) *huma.Schema {
	word := func() *huma.Schema {
		return &huma.Schema{Type: huma.TypeString, Enum: []any{"true", "false", "unknown"}}
	}
	plain := func() []*huma.Schema { return []*huma.Schema{{Type: huma.TypeBoolean}, word(), {Type: "null"}} }
	return &huma.Schema{AnyOf: append(plain(), &huma.Schema{Type: huma.TypeObject, Required: []string{"value"},
		Properties: map[string]*huma.Schema{"value": {AnyOf: plain()}}, AdditionalProperties: true})}
}

type enumerated[T any] interface {
	~string
	Values() []T
}

type choice[T enumerated[T]] string

// Schema is what huma takes for one of T's values.
func (choice[T]) Schema(huma.Registry) *huma.Schema {
	s := &huma.Schema{Type: huma.TypeString}
	for _, v := range T("").Values() {
		s.Enum = append(s.Enum, string(v))
	}
	return s
}

func oneOf[T enumerated[T]](schemas huma.Registry) {
	schemas.RegisterTypeAlias(reflect.TypeFor[T](), reflect.TypeFor[choice[T]]())
}

// allowNull marks the properties that are pointers in Go and always present as
// ones that may be null, which huma does by itself for plain types only.
func allowNull(schemas huma.Registry) {
	for name, s := range schemas.Map() {
		t := schemas.TypeFromRef(refTo(name))
		for _, f := range reflect.VisibleFields(t) {
			p := s.Properties[jsonName(f)]
			if p == nil || f.Anonymous || !mayBeNull(f.Type) {
				continue
			}
			switch {
			case p.Ref != "":
				s.Properties[jsonName(f)] = &huma.Schema{Description: p.Description, AnyOf: []*huma.Schema{{Ref: p.Ref}, {Type: "null"}}}
			case p.Type != "":
				p.Nullable = true
			}
		}
		s.PrecomputeMessages()
	}
}

func mayBeNull(t reflect.Type) bool { return t.Kind() == reflect.Pointer || isOptional(t) }

// isOptional tells whether t is an api.Opt of anything.
func isOptional(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t.NumField() == 2 && t.Field(0).Name == "Set" && t.Field(1).Name == "Value"
}

const schemaPrefix = "#/components/schemas/"

func refTo(name string) string { return schemaPrefix + name }
