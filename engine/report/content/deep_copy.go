package content

import (
	"reflect"
	"time"
)

// deepCopy returns a deep copy of v. In the copy, nil slices and maps are replaced with empty ones,
// and every string is replaced with the result of edit. Nil pointers stay nil, and values in
// interfaces are shared with the original. v must not contain cycles; API types never do.
func deepCopy[T any](v T, edit func(string) string) T {
	out := reflect.New(reflect.TypeFor[T]()).Elem()
	deepCopyInto(out, reflect.ValueOf(&v).Elem(), edit)
	return out.Interface().(T)
}

var timeType = reflect.TypeFor[time.Time]()

func deepCopyInto(dst, src reflect.Value, edit func(string) string) {
	switch src.Kind() {
	case reflect.String:
		dst.SetString(edit(src.String()))
	case reflect.Pointer:
		if !src.IsNil() {
			dst.Set(reflect.New(src.Type().Elem()))
			deepCopyInto(dst.Elem(), src.Elem(), edit)
		}
	case reflect.Struct:
		dst.Set(src) // unexported fields, and time.Time
		if src.Type() == timeType {
			return
		}
		for i := range src.NumField() {
			if dst.Field(i).CanSet() {
				deepCopyInto(dst.Field(i), src.Field(i), edit)
			}
		}
	case reflect.Slice:
		dst.Set(reflect.MakeSlice(src.Type(), src.Len(), src.Len()))
		for i := range src.Len() {
			deepCopyInto(dst.Index(i), src.Index(i), edit)
		}
	case reflect.Map:
		dst.Set(reflect.MakeMapWithSize(src.Type(), src.Len()))
		for it := src.MapRange(); it.Next(); {
			value := reflect.New(src.Type().Elem()).Elem()
			deepCopyInto(value, it.Value(), edit)
			dst.SetMapIndex(it.Key(), value)
		}
	default:
		dst.Set(src)
	}
}
