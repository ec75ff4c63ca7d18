package content

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// TestTrendExplainsChanges checks that the comparison names the document whose words changed, also if documents were only
// saved again, and lists what people decided apart from what improved or slipped.
func TestTrendExplainsChanges(t *testing.T) {
	item := func(code string, status api.Implementation, edited []string, quotes ...[2]string) api.SoAItem {
		i := api.SoAItem{Item: api.Item{ControlCode: code, EditedFields: edited}, Applicability: api.Applicable, ImplementationStatus: status}
		for _, q := range quotes {
			i.Evidence = append(i.Evidence, api.Evidence{DocumentID: q[0], Quote: q[1]})
		}
		return i
	}
	status := []string{"implementation_status"}
	document := func(id, name string) (d api.Document) {
		d.ID, d.Filename, d.SHA256 = id, name, id
		return d
	}
	earlier := &Source{
		SoA: &api.SoAVersion{}, Documents: []api.Document{document("minutes-1", "minutes.docx"), document("policy-1", "policy.docx")},
		SoAItems: []api.SoAItem{
			item("MON-10", api.Implemented, nil, [2]string{"minutes-1", "Logs are kept."}, [2]string{"policy-1", "Rights  are logged."}),
			item("BCD-11", api.NotEvidenced, nil),
			item("IAC-06", api.Implemented, nil),
			item("NET-04", api.PartiallyImplemented, status),
			item("CRY-03", api.Implemented, nil, [2]string{"minutes-1", "Logs are kept."}),
		},
	}
	src := &Source{
		SoA: &api.SoAVersion{}, Documents: []api.Document{document("minutes-2", "minutes.docx"), document("log-2", "restore.csv")},
		SoAItems: []api.SoAItem{
			item("MON-10", api.PartiallyImplemented, nil, [2]string{"minutes-2", "Logs are kept."}),
			item("BCD-11", api.Implemented, nil, [2]string{"log-2", "Restored in May."}),
			item("IAC-06", api.NotImplemented, status),
			item("NET-04", api.Implemented, nil),
			item("CRY-03", api.PartiallyImplemented, nil, [2]string{"minutes-2", "Logs are kept."}),
		},
		Earlier: earlier,
	}
	trend := New(src, TemplateClient, "", false).newTrend()
	var got []string
	for name, list := range map[string][]Change{"improved": trend.Improved, "slipped": trend.Slipped, "decided": trend.Decided} {
		for _, c := range list {
			got = append(got, name+" "+c.ControlCode+": "+c.Why)
		}
	}
	for _, want := range []string{
		"improved BCD-11: New evidence: restore.csv.",
		"slipped MON-10: No longer found: a passage of policy.docx.",
		"slipped CRY-03: The same passages were cited, but other documents of the assessment changed.",
		"decided IAC-06: The status was set by a person.",
		"decided NET-04: The status was previously set by a person and now follows from the evidence.",
	} {
		if !strings.Contains(strings.Join(got, "\n"), want) {
			t.Errorf("%q is missing from %q", want, got)
		}
	}
	if want := "1 measure improved, 2 got worse and 2 changed by a person's decision"; !strings.Contains(trend.Summary, want) {
		t.Errorf("%q doesn't say %q", trend.Summary, want)
	}
}
