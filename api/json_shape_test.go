package api_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestNeverNull checks that lists and maps are never null, however deeply nested, while optional values can be null.
func TestNeverNull(t *testing.T) {
	v := &api.List[api.SoAItem]{Data: []api.SoAItem{{Evidence: []api.Evidence{{}}}}}
	api.ReplaceNilCollections(v)
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`"heading_path":[]`, `"inclusion_reasons":[]`, `"requirement_codes":{}`, `"owner":null`} {
		if !strings.Contains(string(b), want) {
			t.Errorf("no %s in %s", want, b)
		}
	}
}

// TestNeverNullInMaps checks the same for the values of a map.
func TestNeverNullInMaps(t *testing.T) {
	v := &api.Scope{Traits: map[string]api.Trait{"uses_cloud": {Value: "true"}}}
	api.ReplaceNilCollections(v)
	if v.Traits["uses_cloud"].Evidence == nil || v.Traits["uses_cloud"].Value != "true" {
		t.Errorf("%+v", v.Traits)
	}
}

// TestOpt checks that a PATCH distinguishes an absent field from a null one.
func TestOpt(t *testing.T) {
	var in struct {
		A, B, C api.Opt[string]
	}
	if err := json.Unmarshal([]byte(`{"A": null, "B": "x"}`), &in); err != nil {
		t.Fatal(err)
	}
	if !in.A.Set || in.A.Value != nil || !in.B.Set || *in.B.Value != "x" || in.C.Set {
		t.Errorf("%+v", in)
	}
	b, err := json.Marshal(struct {
		A api.Opt[string] `json:"a,omitzero"`
		B api.Opt[string] `json:"b,omitzero"`
	}{B: api.Some("y")})
	if err != nil || string(b) != `{"b":"y"}` {
		t.Errorf("%s, %v", b, err)
	}
}
