package officelayout

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/internal/editdistance"
	"github.com/scf-service/service/internal/prose"
)

var (
	timeType  = reflect.TypeFor[time.Time]()
	dateType  = reflect.TypeFor[api.Date]()
	imageType = reflect.TypeFor[content.LayoutImage]()
	textType  = reflect.TypeFor[string]()
	countType = reflect.TypeFor[int]()
	boolType  = reflect.TypeFor[bool]()
)

// schema holds the fields of the data types that layouts can use, keyed by their JSON names.
type schema struct {
	fields  map[reflect.Type]map[string]reflect.StructField
	names   map[reflect.Type][]string
	entries map[reflect.Type][]entry // for the data as a whole
}

func newSchema() *schema {
	return &schema{
		map[reflect.Type]map[string]reflect.StructField{}, map[reflect.Type][]string{}, map[reflect.Type][]entry{},
	}
}

// dereferenceType returns the type that a pointer type points to.
func dereferenceType(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}

// isRecord reports whether a type has fields that a placeholder can name.
func isRecord(t reflect.Type) bool {
	return t.Kind() == reflect.Struct && t != timeType && t != imageType
}

// load reads the fields of a record type.
func (s *schema) load(t reflect.Type) {
	if _, known := s.fields[t]; known || !isRecord(t) {
		return
	}
	s.fields[t] = map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(t) {
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		if !f.IsExported() || name == "" || name == "-" {
			continue
		}
		if have, ok := s.fields[t][name]; ok && len(have.Index) <= len(f.Index) {
			continue
		} else if !ok {
			s.names[t] = append(s.names[t], name)
		}
		s.fields[t][name] = f
	}
}

// field returns the field of a type that has the given JSON name. In a map, every name is a valid field.
func (s *schema) field(t reflect.Type, name string) (index []int, fieldType reflect.Type, ok bool) {
	t = dereferenceType(t)
	switch {
	case t.Kind() == reflect.Map:
		return nil, t.Elem(), true
	case t == imageType && (name == "title" || name == "description"):
		return nil, textType, true
	case !isRecord(t):
		return nil, nil, false
	}
	s.load(t)
	f, ok := s.fields[t][name]
	return f.Index, f.Type, ok
}

// namesOf returns the names of a record's fields in declaration order.
func (s *schema) namesOf(t reflect.Type) []string {
	s.load(dereferenceType(t))
	return s.names[dereferenceType(t)]
}

// describeType returns a description of a type for errors.
func describeType(t reflect.Type) string {
	switch t = dereferenceType(t); {
	case t == imageType:
		return "a picture"
	case t.Kind() == reflect.Slice:
		return "a list"
	case t.Kind() == reflect.Map, isRecord(t):
		return "a record"
	}
	return "a value"
}

// suggestion returns a known path similar to an unknown one. at is the index of the path's first
// unknown part, and inScope holds the names known at that point.
func (s *schema) suggestion(scopes []scopeType, inScope, path []string, at int) string {
	name, whole := path[at], strings.Join(path, ".")
	entries := s.entriesOf(scopes[0].typ)
	var out []string
	offer := func(text string) {
		if len(out) < 3 && !slices.Contains(out, text) {
			out = append(out, text)
		}
	}
	if len(name) > 80 || len(whole) > 200 {
		name, whole = "", ""
	}
	// A similar name, or a longer one that contains it.
	for distance := range max(2, len(name)/3+1) {
		for _, n := range inScope {
			d := editdistance.Distance([]rune(strings.ToLower(n)), []rune(strings.ToLower(name)))
			if len(name) >= 4 && strings.Contains(n, name) {
				d = min(d, 2)
			}
			if d != distance {
				continue
			}
			rest := strings.Join(path[at+1:], ".")
			changed := strings.Join(append(slices.Clone(path[:at]), n), ".")
			switch {
			case rest == "":
				offer("{{" + changed + "}}")
			case slices.Contains(entries, entry{rest, changed}):
				offer("{{" + rest + "}} within {{#each " + changed + "}}")
			case slices.Contains(entries, entry{changed + "." + rest, ""}):
				offer("{{" + changed + "." + rest + "}}")
			}
		}
	}
	// The same name elsewhere, or a path with other separators.
	last, found := path[len(path)-1], len(out) > 0
	for _, e := range entries {
		same := e.path[strings.LastIndexByte(e.path, '.')+1:] == last ||
			strings.ReplaceAll(e.path, ".", "_") == strings.ReplaceAll(whole, ".", "_")
		switch {
		case !same || found:
		case e.list != "":
			offer("{{" + e.path + "}} within {{#each " + e.list + "}}")
		default:
			offer("{{" + e.path + "}}")
		}
	}
	if len(out) > 0 {
		return "did you mean " + prose.JoinOr(out) + "?"
	}
	const shown = 12
	var all []string
	for _, n := range inScope {
		if !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	if len(all) > shown {
		return "available fields are " + strings.Join(all[:shown], ", ") + " and more; see docs/layouts.md"
	}
	return "available fields are " + prose.JoinAnd(all)
}

// entry is a field that a placeholder can name. If list is set, the placeholder must be inside a loop over that
// list.
type entry struct{ path, list string }

// entriesOf lists the fields of the data, up to three levels deep. A field of a list item is listed together with
// its list.
func (s *schema) entriesOf(root reflect.Type) []entry {
	if known, ok := s.entries[root]; ok {
		return known
	}
	var out []entry
	var visit func(t reflect.Type, prefix, list string, depth int)
	visit = func(t reflect.Type, prefix, list string, depth int) {
		if t = dereferenceType(t); !isRecord(t) || depth > 3 {
			return
		}
		for _, name := range s.namesOf(t) {
			f := s.fields[t][name]
			out = append(out, entry{prefix + name, list})
			switch e := dereferenceType(f.Type); {
			case e.Kind() == reflect.Slice && list == "":
				visit(e.Elem(), "", prefix+name, depth+1)
			case isRecord(e):
				visit(e, prefix+name+".", list, depth+1)
			}
		}
	}
	visit(root, "", "", 1)
	s.entries[root] = out
	return out
}
