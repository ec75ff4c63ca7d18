package api

import "reflect"

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

func replaceNils(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			replaceNils(v.Elem())
		}
	case reflect.Struct:
		if _, ok := v.Interface().(interface{ UnixNano() int64 }); ok {
			return
		}
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				replaceNils(v.Field(i))
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			if v.CanSet() {
				v.Set(reflect.MakeSlice(v.Type(), 0, 0))
			}
			return
		}
		switch v.Type().Elem().Kind() {
		case reflect.Struct, reflect.Pointer, reflect.Slice, reflect.Map:
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

// copyMapWithoutNils returns a copy of the map whose values have their nil slices and maps replaced. The
// original is left alone because others may be using it.
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
