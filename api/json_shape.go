package api

import (
	"reflect"
	"slices"
	"sync"
)

// RecordID returns the record's ID.
func (r Record) RecordID() string { return r.ID }

// RecordID returns the run's ID.
func (r ImportRun) RecordID() string { return r.ID }

// CollectionPath returns the URL path, with a trailing slash, under which records of record's type are
// read. It returns "" if there is none.
func CollectionPath(record any) string {
	switch record.(type) {
	case *Assessment:
		return Prefix + "/assessments/"
	case *Document:
		return Prefix + "/documents/"
	case *Scope:
		return Prefix + "/scopes/"
	case *SoAVersion:
		return Prefix + "/soa/"
	case *GapVersion:
		return Prefix + "/gap-analysis/"
	case *MaturityVersion:
		return Prefix + "/maturity/"
	case *POAMVersion:
		return Prefix + "/poam/"
	case *Finding:
		return Prefix + "/gap-analysis/findings/"
	case *Comment:
		return Prefix + "/comments/"
	case *Delegation:
		return Prefix + "/approval-delegations/"
	case *Report:
		return Prefix + "/reports/"
	case *ImportRun:
		return Prefix + "/admin/scf/import-runs/"
	case *CustomFramework:
		return Prefix + "/custom/frameworks/"
	case *CustomControl:
		return Prefix + "/custom/controls/"
	case *AgentRun:
		return Prefix + "/agent-runs/"
	case *NewOrganization:
		return Prefix + "/organizations/"
	case *NewWebhook:
		return Prefix + "/webhooks/"
	case *AlertRule:
		return Prefix + "/observability/alerts/"
	case *Integration:
		return Prefix + "/integrations/"
	}
	return ""
}

// ReplaceNilCollections replaces nil slices and maps in the value v points to with empty ones, so that
// the JSON contains no null lists. It follows pointers but not interfaces.
func ReplaceNilCollections(v any) {
	rv := reflect.ValueOf(v)
	if rv.Kind() == reflect.Pointer && !rv.IsNil() {
		replaceNils(rv.Elem())
	}
}

// replaceNils replaces the nil slices and maps in v, which must be settable for that.
func replaceNils(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			replaceNils(v.Elem())
		}
	case reflect.Struct:
		for _, i := range collectionFields(v.Type()) {
			replaceNils(v.Field(i))
		}
	case reflect.Slice:
		if v.IsNil() {
			if v.CanSet() {
				v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			}
			return
		}
		if e := v.Type().Elem(); e.Kind() == reflect.Struct && len(collectionFields(e)) > 0 ||
			e.Kind() != reflect.Struct && mayContainCollection(e, nil) {
			for i := range v.Len() {
				replaceNils(v.Index(i))
			}
		}
	case reflect.Map:
		if v.IsNil() {
			if v.CanSet() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			return
		}
		if v.CanSet() && mayContainNils(v) {
			v.Set(copyMapWithoutNils(v))
		}
	}
}

// fieldsByType caches the results of collectionFields, because examining the fields of every response would take as
// long as encoding it.
var fieldsByType sync.Map // reflect.Type → []int

// collectionFields returns the indexes of the exported fields of a struct that are or may contain slices and maps.
func collectionFields(t reflect.Type) []int {
	if cached, ok := fieldsByType.Load(t); ok {
		return cached.([]int)
	}
	fields := []int{}
	if _, isTime := t.MethodByName("UnixNano"); !isTime {
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && mayContainCollection(f.Type, nil) {
				fields = append(fields, i)
			}
		}
	}
	fieldsByType.Store(t, fields)
	return fields
}

// mayContainCollection reports whether a value of the type is or may contain a slice or map. within lists the enclosing
// structs.
func mayContainCollection(t reflect.Type, within []reflect.Type) bool {
	switch t.Kind() {
	case reflect.Slice, reflect.Map:
		return true
	case reflect.Pointer:
		return mayContainCollection(t.Elem(), within)
	case reflect.Struct:
		if _, isTime := t.MethodByName("UnixNano"); isTime || slices.Contains(within, t) {
			return false
		}
		within = append(within, t)
		for i := range t.NumField() {
			if f := t.Field(i); f.IsExported() && mayContainCollection(f.Type, within) {
				return true
			}
		}
	}
	return false
}

// mayContainNils reports whether a map value may contain nil slices or maps.
func mayContainNils(m reflect.Value) bool {
	switch m.Type().Elem().Kind() {
	case reflect.Struct:
		return m.Len() > 0
	case reflect.Slice:
		for all := m.MapRange(); all.Next(); {
			if all.Value().IsNil() {
				return true
			}
		}
	}
	return false
}

// copyMapWithoutNils returns a copy of the map whose values have their nil slices and maps replaced. The original is
// not modified, because others may be using it.
func copyMapWithoutNils(v reflect.Value) reflect.Value {
	out := reflect.MakeMapWithSize(v.Type(), v.Len())
	for _, key := range v.MapKeys() {
		value := reflect.New(v.Type().Elem()).Elem()
		value.Set(v.MapIndex(key))
		replaceNils(value)
		out.SetMapIndex(key, value)
	}
	return out
}
