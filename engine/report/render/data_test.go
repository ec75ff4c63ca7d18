package render

import (
	"fmt"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
)

// TestReportDataIsDocumented checks the documentation of the template data against the types.
func TestReportDataIsDocumented(t *testing.T) {
	const path = "../../../docs/report-data.md"
	want := renderReportDataDoc()
	if *update {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(path)
	if err != nil || string(got) != want {
		t.Errorf("%s is not what the types say (%v); run go test ./engine/report/render -run ReportData -update", path, err)
	}
}

func renderReportDataDoc() string {
	var b strings.Builder
	b.WriteString(
		"# Report data\n\nWhat `report create --format json` writes. A [layout of your own](layouts.md) receives the same and the " +
			"fields [for layouts only](#for-layouts-only).\nLists are never null; a part that the report's template does not contain is absent; " +
			"one that was not drafted yet has a null version\nand no items. Made from the program's types.\n",
	)
	seen, queue := map[reflect.Type]bool{}, []reflect.Type{reflect.TypeFor[content.Data](), reflect.TypeFor[content.LayoutData]()}
	for len(queue) > 0 {
		r := queue[0]
		queue = queue[1:]
		if seen[r] {
			continue
		}
		seen[r] = true
		fmt.Fprintf(&b, "\n## %s\n\n| field | holds | |\n|---|---|---|\n", heading2(r))
		var fields func(r reflect.Type)
		fields = func(r reflect.Type) {
			for i := range r.NumField() {
				f := r.Field(i)
				name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
				if f.Anonymous && name == "" {
					if f.Type.Kind() == reflect.Struct { // the rest of a layout's data is the report's
						fields(f.Type)
					}
					continue
				}
				if name == "-" || name == "" || !f.IsExported() {
					continue
				}
				said, next := describeField(f.Type)
				if next != nil {
					queue = append(queue, next)
				}
				var notes []string
				if values := f.Tag.Get("enum"); values != "" {
					notes = append(notes, strings.ReplaceAll(values, ",", ", ")+".")
				}
				if doc := f.Tag.Get("doc"); doc != "" {
					notes = append(notes, doc)
				}
				if strings.Contains(options, "omitempty") {
					notes = append(notes, "Absent if there is none.")
				}
				fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, said, strings.ReplaceAll(strings.Join(notes, " "), "|", "\\|"))
			}
		}
		fields(r)
	}
	return b.String()
}

func heading2(r reflect.Type) string {
	if r == reflect.TypeFor[content.Data]() {
		return "The report"
	}
	if r == reflect.TypeFor[content.LayoutData]() {
		return "For layouts only"
	}
	return typeName(r)
}

// typeName returns a type's name without package names.
func typeName(r reflect.Type) string {
	name := strings.TrimPrefix(r.Name(), "json")
	if at := strings.IndexByte(name, '['); at >= 0 {
		parts := strings.Split(strings.TrimSuffix(name[at+1:], "]"), ",")
		last := parts[len(parts)-1]
		name = "Part of " + last[strings.LastIndexByte(last, '.')+1:]
	}
	return name
}

// describeField describes a field's type, and returns the record type that needs a table of its own.
func describeField(f reflect.Type) (said string, next reflect.Type) {
	switch {
	case f == reflect.TypeFor[time.Time]():
		return "moment", nil
	case f == reflect.TypeFor[api.Date]():
		return "date", nil
	}
	switch f.Kind() {
	case reflect.Pointer:
		said, next = describeField(f.Elem())
		return said + " or null", next
	case reflect.Slice:
		said, next = describeField(f.Elem())
		return "list of " + said, next
	case reflect.Map:
		said, next = describeField(f.Elem())
		return said + " by name", next
	case reflect.Struct:
		name := typeName(f)
		if f == reflect.TypeFor[content.LayoutImage]() {
			return "picture, with title and description", nil
		}
		return fmt.Sprintf("[%s](#%s)", name, strings.ReplaceAll(strings.ToLower(name), " ", "-")), f
	case reflect.Bool:
		return "true or false", nil
	case reflect.Int, reflect.Int64, reflect.Uint64:
		return "whole number", nil
	case reflect.Float64:
		return "number", nil
	case reflect.Interface:
		return "anything", nil
	}
	return "text", nil
}
