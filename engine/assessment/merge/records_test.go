package merge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestDiffRecordsListsChangesByControlAndField(t *testing.T) {
	ann := "Ann"
	item := func(status api.Implementation, owner *string, quotes ...string) api.SoAItem {
		i := api.SoAItem{Applicability: api.Applicable, ImplementationStatus: status, Owner: owner}
		i.ID, i.ControlCode, i.Revision = "id", "ignored", 7
		for _, q := range quotes {
			i.Evidence = append(i.Evidence, api.Evidence{Quote: q, Filename: "policy.md"})
		}
		return i
	}
	from, to := Records{}, Records{}
	add := func(r Records, code string, i api.SoAItem) {
		if err := r.Add(code, i); err != nil {
			t.Fatal(err)
		}
	}
	add(from, "IAC-2", item(api.Planned, nil))
	add(from, "IAC-10", item(api.Planned, nil))
	add(from, "OLD-1", item(api.Implemented, nil))
	add(to, "IAC-10", item(api.Implemented, &ann, "We do."))
	add(to, "IAC-2", item(api.Planned, nil))
	add(to, "NEW-1", item(api.NotImplemented, nil))
	add(to, "NEW-1", item(api.Planned, nil))

	var d api.ArtifactDiff
	DiffRecords(&d, from, to)
	var got []string
	for _, l := range d.Lines {
		got = append(got, l.Text)
	}
	want := []string{
		`~ IAC-10 evidence: (nothing) → "We do." (policy.md)`,
		"~ IAC-10 implementation status: planned → implemented",
		"~ IAC-10 owner: (nothing) → Ann",
		"+ NEW-1 applicable, not_implemented",
		"+ NEW-1 (2) applicable, planned",
		"- OLD-1 applicable, implemented",
	}
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	if d.Added != 2 || d.Removed != 1 || d.Changed != 1 {
		t.Errorf("%d added, %d removed, %d changed", d.Added, d.Removed, d.Changed)
	}
}
