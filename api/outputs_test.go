package api_test

import (
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

// eachOutput calls f once for the type of each object in a response.
func eachOutput(f func(op *api.Operation, t reflect.Type)) {
	seen := map[reflect.Type]bool{}
	for _, op := range api.Operations() {
		var walk func(t reflect.Type)
		walk = func(t reflect.Type) {
			for t.Kind() == reflect.Pointer || t.Kind() == reflect.Slice || t.Kind() == reflect.Map {
				t = t.Elem()
			}
			if t.Kind() != reflect.Struct || seen[t] || t == reflect.TypeFor[time.Time]() || t == reflect.TypeFor[api.File]() {
				return
			}
			seen[t] = true
			f(op, t)
			for _, field := range reflect.VisibleFields(t) {
				if field.IsExported() && !field.Anonymous {
					walk(field.Type)
				}
			}
		}
		walk(op.Out)
	}
}

// jsonFields returns the tag options of a type's JSON fields by name.
func jsonFields(t reflect.Type) map[string]string {
	out := map[string]string{}
	for _, f := range reflect.VisibleFields(t) {
		name, options, _ := strings.Cut(f.Tag.Get("json"), ",")
		if f.IsExported() && !f.Anonymous && name != "-" {
			out[name] = options
		}
	}
	return out
}

// keptForms are the types whose stored form is hashed, signed or sent to clones unchanged. Fields added to them later
// are therefore omitted if empty, and only responses have them (AddAbsentFields).
var keptForms = map[reflect.Type]bool{
	reflect.TypeFor[api.Locator](): true, reflect.TypeFor[api.SoAItem](): true, reflect.TypeFor[api.Statement](): true,
	reflect.TypeFor[api.Finding]():       true,
	reflect.TypeFor[api.MaturityScore](): true, reflect.TypeFor[api.POAMItem](): true, reflect.TypeFor[api.Milestone](): true,
	reflect.TypeFor[api.CustomControl](): true, reflect.TypeFor[api.CustomFramework](): true,
	reflect.TypeFor[api.CustomRequirement](): true, reflect.TypeFor[api.CustomRelation](): true,
}

// filledWhenRead lists fields that are not stored, but included in every response.
var filledWhenRead = []string{
	"api.Chunk.created_at", "api.Chunk.updated_at",
	"api.TimelineEvent.created_at", "api.TimelineEvent.updated_at",
}

// TestAbsentValuesAreNull checks that no field is omitted except in forms that are kept. The tour of the daemon's tests
// checks that each operation's responses have all fields.
func TestAbsentValuesAreNull(t *testing.T) {
	eachOutput(func(op *api.Operation, of reflect.Type) {
		for name, options := range jsonFields(of) {
			if strings.Contains(options, "omit") && !keptForms[of] && !slices.Contains(filledWhenRead, fmt.Sprintf("%s.%s", of, name)) {
				t.Errorf("%s: %s.%s is left out if it is empty", op.ID, of, name)
			}
		}
	})
}

// notRecords have an ID, but are parts of the program or of a record, or refer to another record.
var notRecords = map[reflect.Type]bool{
	reflect.TypeFor[api.Agent](): true, reflect.TypeFor[api.Actor](): true, reflect.TypeFor[api.MigratedVersion](): true,
	reflect.TypeFor[api.OrganizationVerification](): true, reflect.TypeFor[api.SyncReplica](): true,
	reflect.TypeFor[api.AuditEvent](): true, // never changes, because its fields are hashed
}

// TestRecordsHaveTimes checks that every record has created_at and updated_at.
func TestRecordsHaveTimes(t *testing.T) {
	eachOutput(func(op *api.Operation, of reflect.Type) {
		fields := jsonFields(of)
		if _, isRecord := fields["id"]; !isRecord || notRecords[of] {
			return
		}
		for _, name := range []string{"created_at", "updated_at"} {
			if _, has := fields[name]; !has {
				t.Errorf("%s: %s has no %s", op.ID, of, name)
			}
		}
	})
}

// TestChangesAreConditional checks that every record that can be changed has a revision, and that changes to it honor
// If-Match.
func TestChangesAreConditional(t *testing.T) {
	for _, op := range api.Operations() {
		if op.Method != http.MethodPatch && op.Method != http.MethodPut {
			continue
		}
		fields := reflect.VisibleFields(op.In)
		if !slices.ContainsFunc(fields, func(f reflect.StructField) bool { return f.Tag.Get("header") == "If-Match" }) {
			t.Errorf("%s doesn't read If-Match", op.ID)
		}
		if _, has := jsonFields(op.Out)["revision"]; !has {
			t.Errorf("%s: the record has no revision", op.ID)
		}
	}
}

// TestListsHaveALimit checks that every list is paginated.
func TestListsHaveALimit(t *testing.T) {
	for _, op := range api.Operations() {
		if _, isList := op.Out.FieldByName("Pagination"); op.Out.Kind() == reflect.Struct && isList && op.Method == http.MethodGet {
			if _, paged := op.In.FieldByName("Limit"); !paged {
				t.Errorf("%s has no limit", op.ID)
			}
		}
	}
}
