package daemon_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"

	"github.com/scf-service/service/api"
)

// queryFields returns the query parameters of an input.
func queryFields(in reflect.Type) map[string]reflect.StructField {
	out := map[string]reflect.StructField{}
	for _, f := range reflect.VisibleFields(in) {
		if name := f.Tag.Get("query"); name != "" {
			out[name] = f
		}
	}
	return out
}

// checkLists checks that every list accepts each sort order in both directions and each filter
// value, and rejects unknown values with the valid ones.
func (r *tour) checkLists() {
	lists := 0
	for _, op := range api.Operations() {
		fields := queryFields(op.In)
		if _, paged := fields["cursor"]; !paged || op.Method != http.MethodGet || !r.done[op.ID] {
			continue
		}
		lists++
		first := r.call(op, "?limit=1", "")
		if data, p := first["data"].([]any), first.at("pagination"); len(data) > 1 || p["limit"] != 1.0 ||
			(p["total"].(float64) > 1) != (p["has_more"] == true) {
			r.t.Errorf("%s with limit=1 returns %d records and %v", op.ID, len(data), p)
		} else if next, more := p["next_cursor"].(string); more {
			if other := r.call(op, "?limit=1&cursor="+next, "")["data"].([]any); len(other) != 1 || reflect.DeepEqual(other, data) {
				r.t.Errorf("%s: the second page is %v", op.ID, other)
			}
		}
		for name, f := range fields {
			values := strings.Split(f.Tag.Get("enum"), ",")
			if list := reflect.Zero(f.Type).MethodByName("Values"); list.IsValid() {
				all := list.Call(nil)[0]
				values = nil
				for i := range all.Len() {
					values = append(values, all.Index(i).String())
				}
			}
			if name == "sort" {
				values = strings.Split(f.Tag.Get("sort"), ",")
			}
			if values[0] == "" {
				continue
			}
			for _, v := range values {
				r.call(op, "?limit=2&"+name+"="+v, "")
				if name == "sort" {
					r.checkPages(op, "-"+v)
				}
			}
			r.checkRejected(op, name, values)
		}
		for _, bad := range []string{"?limit=0", "?limit=201", "?limit=many", "?cursor=nonsense"} {
			r.expectError(op, bad, "", api.CodeValidation)
		}
	}
	if lists < 20 {
		r.t.Errorf("only %d lists were looked at", lists)
	}
}

// checkRejected checks that an invalid parameter value is rejected with the valid values.
func (r *tour) checkRejected(op *api.Operation, name string, values []string) {
	r.t.Helper()
	w := r.send(op, "?"+name+"=colour", "", nil)
	var out node
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	e := out.at("error")
	message, _ := e["message"].(string)
	if e["code"] != string(api.CodeValidation) || !strings.Contains(message, name) {
		r.t.Errorf("%s with %s=colour answers %d %v", op.ID, name, w.Code, e)
	}
	for _, v := range values {
		if !strings.Contains(message, v) {
			r.t.Errorf("%s with %s=colour doesn't name %s: %s", op.ID, name, v, message)
		}
	}
}

// checkPages reads a list page by page and compares it with the whole list.
func (r *tour) checkPages(op *api.Operation, sort string) {
	r.t.Helper()
	ids := func(l node) (out []string) {
		for _, one := range l["data"].([]any) {
			out = append(out, one.(map[string]any)["id"].(string))
		}
		return out
	}
	whole := r.call(op, "?limit=200&sort="+sort, "")
	want := ids(whole)
	var got []string
	query := "?limit=70&sort=" + sort
	for next := query; ; {
		l := r.call(op, next, "")
		got = append(got, ids(l)...)
		p := l.at("pagination")
		if p["total"] != whole.at("pagination")["total"] {
			r.t.Errorf("%s by %s: a total of %v on one page", op.ID, sort, p["total"])
		}
		if p["has_more"] != true || len(got) >= 200 {
			break
		}
		next = query + "&cursor=" + p["next_cursor"].(string)
	}
	if n := min(len(got), len(want)); n == 0 || !reflect.DeepEqual(got[:n], want[:n]) {
		r.t.Errorf("%s by %s: the pages hold other records than the whole, or in another order", op.ID, sort)
	}
}
