package officelayout

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/editdistance"
	"github.com/scf-service/service/internal/prose"
)

// filter changes a value before it is printed.
type filter struct {
	takesArgument, needsArgument bool
	example                      string
	// accepts is the kind of value that the filter accepts: any, list, number, moment or text.
	accepts string
	result  reflect.Type
	apply   func(v reflect.Value, arg string) any
}

// filters maps the names of the filters to the filters. They are described in docs/layouts.md.
var filters = map[string]filter{
	"label": {accepts: "text", result: textType, apply: func(v reflect.Value, _ string) any { return wording.Label(formatValue(v)) }},
	"upper": {accepts: "text", result: textType, apply: func(v reflect.Value, _ string) any { return strings.ToUpper(formatValue(v)) }},
	"lower": {accepts: "text", result: textType, apply: func(v reflect.Value, _ string) any { return strings.ToLower(formatValue(v)) }},
	"date": {accepts: "moment", result: textType, apply: func(v reflect.Value, _ string) any {
		return formatMoment(v, "2 January 2006")
	}},
	"isodate": {accepts: "moment", result: textType, apply: func(v reflect.Value, _ string) any { return formatMoment(v, time.DateOnly) }},
	"month":   {accepts: "moment", result: textType, apply: func(v reflect.Value, _ string) any { return formatMoment(v, "January 2006") }},
	"round": {
		accepts: "number", takesArgument: true, example: "{{x | round 1}}", result: textType,
		apply: func(v reflect.Value, arg string) any {
			digits, _ := strconv.Atoi(arg) // valid, because it is checked when the layout is read
			n, ok := toNumber(v)
			if !ok {
				return ""
			}
			return strconv.FormatFloat(n, 'f', digits, 64) // as in reports without a layout
		},
	},
	"percent": {accepts: "number", result: textType, apply: func(v reflect.Value, _ string) any {
		n, ok := toNumber(v)
		if !ok {
			return ""
		}
		return strconv.FormatFloat(math.Round(n), 'f', 0, 64) + "%"
	}},
	"count": {accepts: "list", result: countType, apply: func(v reflect.Value, _ string) any { return lengthOf(v) }},
	"join": {
		accepts: "list", takesArgument: true, example: `{{x | join ", "}}`, result: textType,
		apply: func(v reflect.Value, arg string) any { return joinList(v, arg) },
	},
	"first_sentence": {accepts: "text", result: textType, apply: func(v reflect.Value, _ string) any {
		return content.FirstSentence(formatValue(v))
	}},
	"default": {
		accepts: "text", takesArgument: true, needsArgument: true, example: `{{owner | default "open"}}`, result: textType,
		apply: func(v reflect.Value, arg string) any { return wording.OrDefault(formatValue(v), arg) },
	},
}

func suggestFilter(name string) string {
	all := slices.Sorted(maps.Keys(filters))
	for _, n := range all {
		if editdistance.Distance([]byte(n), []byte(name[:min(len(name), 40)])) <= 2 {
			return "did you mean " + n + "?"
		}
	}
	return "there are " + prose.JoinAnd(all)
}

// check returns the reason why the filter can't be applied to a value of type t with the given argument, or "" if it
// can.
func (f filter) check(t reflect.Type, arg string) string {
	t = dereferenceType(t)
	is := describeType(t)
	switch f.accepts {
	case "list":
		if t.Kind() != reflect.Slice && t.Kind() != reflect.Map {
			return "this filter only works on lists, but the value is " + is
		}
		if f.takesArgument && t.Kind() == reflect.Slice && describeType(t.Elem()) != "a value" {
			return "only lists of strings and numbers can be joined; use {{#each}}"
		}
	case "number":
		if t.Kind() != reflect.Int && t.Kind() != reflect.Int64 && t.Kind() != reflect.Uint64 && t.Kind() != reflect.Float64 {
			return "this filter only works on numbers"
		}
		if n, err := strconv.Atoi(arg); arg != "" && (err != nil || n < 0 || n > 6) {
			return "the number of digits must be between 0 and 6"
		}
	case "moment":
		if t != timeType && t != dateType {
			return "this filter only works on dates"
		}
	default:
		if is != "a value" {
			return fmt.Sprintf("%s can't be printed; use {{#each}}, or choose one of its fields", is)
		}
	}
	return ""
}

// formatMoment formats a time or date. It returns "" if there is no value, and returns an invalid date unchanged.
func formatMoment(v reflect.Value, layout string) string {
	v = dereference(v)
	switch {
	case !v.IsValid():
		return ""
	case v.Type() == timeType:
		t := v.Interface().(time.Time)
		if t.IsZero() {
			return ""
		}
		return t.UTC().Format(layout)
	case v.Type() == dateType:
		t, err := time.Parse(time.DateOnly, v.String())
		if err != nil {
			return v.String()
		}
		return t.Format(layout)
	}
	return ""
}

// dereference follows pointers. For nil, the result is the invalid value.
func dereference(v reflect.Value) reflect.Value {
	for v.IsValid() && (v.Kind() == reflect.Pointer || v.Kind() == reflect.Interface) {
		v = v.Elem()
	}
	return v
}

// toNumber returns a value as a number, or false if it isn't one.
func toNumber(v reflect.Value) (float64, bool) {
	switch v = dereference(v); {
	case !v.IsValid():
	case v.CanInt():
		return float64(v.Int()), true
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanFloat():
		return v.Float(), true
	}
	return 0, false
}

// lengthOf returns the length of a list, map or text, and 0 for other values.
func lengthOf(v reflect.Value) int {
	switch v = dereference(v); v.Kind() {
	case reflect.Slice, reflect.Map, reflect.String:
		return v.Len()
	}
	return 0
}

func joinList(v reflect.Value, between string) string {
	if between == "" {
		between = ", "
	}
	v = dereference(v)
	var out []string
	for i := range lengthOf(v) {
		out = append(out, formatValue(v.Index(i)))
	}
	return strings.Join(out, between)
}

// formatValue returns the text that a document shows for a value, or "" if there is no value.
func formatValue(v reflect.Value) string {
	v = dereference(v)
	switch {
	case !v.IsValid():
		return ""
	case v.Type() == timeType:
		return formatMoment(v, "2 January 2006")
	case v.Type() == dateType:
		return string(v.Interface().(api.Date))
	case v.Kind() == reflect.Bool:
		if v.Bool() {
			return "yes"
		}
		return "no"
	case v.CanInt():
		return prose.GroupThousands(int(v.Int()))
	case v.CanUint():
		return prose.GroupThousands(int(v.Uint()))
	case v.CanFloat():
		return strconv.FormatFloat(math.Round(v.Float()*100)/100, 'f', -1, 64)
	case v.Kind() == reflect.String:
		return v.String()
	}
	return ""
}

// isTrue reports whether a value counts as true in a condition, that is, whether it is present, not empty and not
// zero.
func isTrue(v reflect.Value) bool {
	v = dereference(v)
	switch {
	case !v.IsValid():
		return false
	case v.Kind() == reflect.Slice, v.Kind() == reflect.Map:
		return v.Len() > 0
	case isRecord(v.Type()):
		return true
	}
	return !v.IsZero()
}

// compare compares two values as numbers if both are numbers, and otherwise as text, ignoring case.
func compare(a, b reflect.Value) int {
	x, isNumber := toNumber(a)
	y, alsoNumber := toNumber(b)
	if isNumber && alsoNumber {
		return cmp.Compare(x, y)
	}
	return strings.Compare(strings.ToLower(textToCompare(a)), strings.ToLower(textToCompare(b)))
}

// textToCompare returns the text that is used to compare a value.
func textToCompare(v reflect.Value) string {
	v = dereference(v)
	switch {
	case v.IsValid() && v.Kind() == reflect.Bool:
		return strconv.FormatBool(v.Bool())
	case v.IsValid() && v.Type() == timeType:
		return formatMoment(v, time.DateOnly)
	}
	if n, ok := toNumber(v); ok {
		return strconv.FormatFloat(n, 'f', -1, 64)
	}
	return formatValue(v)
}
