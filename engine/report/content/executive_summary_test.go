package content

import (
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

func TestOverdueIsByTheDatasDate(t *testing.T) {
	it := &api.POAMItem{Status: "open", DueDate: "2026-11-19"}
	v := New(&Source{AsOf: time.Date(2026, 11, 20, 9, 30, 0, 0, time.UTC)}, TemplatePOAM, "", false)
	if !v.isOverdue(it) {
		t.Error("an open item of yesterday is not overdue")
	}
	for _, other := range []api.POAMItem{
		{Status: "open", DueDate: "2026-11-20"},
		{Status: "completed", DueDate: "2020-01-01"},
		{Status: "open"},
	} {
		if v.isOverdue(&other) {
			t.Errorf("overdue: %+v", other)
		}
	}
	v.AsOf = time.Time{}
	if v.isOverdue(it) {
		t.Error("overdue without a date")
	}
}
