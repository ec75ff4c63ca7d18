package alert

import (
	"reflect"
	"testing"
)

// FuzzMetric checks that a parsed metric stays the same when formatted and parsed again.
func FuzzMetric(f *testing.F) {
	for _, s := range []string{"a", "a{b=c}", `a{b="c",d=e}`, "a{", "{}", "a{b=c,b=c}", "a{b=c,}", "a {b = \" c\"}"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		one, err := parseSelector(text)
		if err != nil {
			return
		}
		two, err := parseSelector(one.String())
		if err != nil || !reflect.DeepEqual(one, two) {
			t.Errorf("%q is %+v, then %+v, %v", text, one, two, err)
		}
	})
}
