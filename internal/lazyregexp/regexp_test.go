package lazyregexp

import (
	"reflect"
	"regexp"
	"sync"
	"testing"
)

func TestMethodsReturnWhatRegexpReturns(t *testing.T) {
	const text = `(\w)(\d+)`
	lazy, want := reflect.ValueOf(New(text)), reflect.ValueOf(regexp.MustCompile(text))
	upper := func(s string) string { return "<" + s + ">" }
	arguments := map[string][]any{
		"FindAllIndex":     {[]byte("a1 b22"), -1},
		"ReplaceAll":       {[]byte("a1 b22"), []byte("$2$1")},
		"ReplaceAllString": {"a1 b22", "$2$1"}, "ReplaceAllStringFunc": {"a1 b22", upper},
		"ReplaceAllFunc": {[]byte("a1 b22"), func(b []byte) []byte { return append([]byte("-"), b...) }},
	}
	for i := range lazy.NumMethod() {
		name := lazy.Type().Method(i).Name
		for _, s := range []string{"a1 b22 c", "none", ""} {
			var in []reflect.Value
			for at := range lazy.Method(i).Type().NumIn() {
				v := any(s)
				if at == 1 {
					v = -1
				}
				if given := arguments[name]; given != nil {
					v = given[at]
				}
				in = append(in, reflect.ValueOf(v))
			}
			got, same := lazy.Method(i).Call(in)[0].Interface(), want.MethodByName(name).Call(in)[0].Interface()
			if !reflect.DeepEqual(got, same) {
				t.Errorf("%s of %q: %v, package regexp says %v", name, s, got, same)
			}
		}
	}
}

func TestConcurrentFirstUse(t *testing.T) {
	l := New(`x+`)
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !l.MatchString("axe") {
				t.Error("no match")
			}
		})
	}
	all.Wait()
}
