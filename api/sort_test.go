package api_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestParseSort(t *testing.T) {
	got, err := api.ParseSort("-severity, name", []string{"name", "severity"})
	if want := []api.SortField{{Name: "severity", Descending: true}, {Name: "name"}}; err != nil || !slices.Equal(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, bad := range []string{"colour", "name,name", "name,-name", "--name", "name,", "-"} {
		if got, err := api.ParseSort(bad, []string{"name", "severity"}); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q is %+v, %v", bad, got, err)
		}
	}
	if _, err := api.ParseSort("colour", []string{"name", "severity"}); !strings.Contains(err.Error(), "name, severity") {
		t.Errorf("%v does not name what is allowed", err)
	}
}
