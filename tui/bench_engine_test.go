package tui

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// wide imports a catalog of n controls, in our own words.
func wide(b *testing.B, c Caller, n int) {
	b.Helper()
	type object map[string]any
	var domains, controls []object
	for d := range 20 {
		domains = append(domains, object{"code": fmt.Sprintf("D%c%c", 'A'+d/5, 'A'+d%5), "name": fmt.Sprintf("Domain %d", d)})
	}
	things := []string{"access rights", "backups", "changes", "suppliers", "keys", "logs", "assets"}
	for i := range n {
		thing := things[i%len(things)]
		controls = append(controls, object{
			"code": fmt.Sprintf(
				"%s-%02d",
				domains[i%20]["code"],
				i/20+1,
			), "title": fmt.Sprintf("Review of %s, part-%d", thing, i), "weight": 1 + i%10,
			"description": fmt.Sprintf(
				"The review of %s is written down and kept current in part %d.",
				thing,
				i,
			), "mappings": object{"rules": []string{"R.1"}},
		})
	}
	source, err := json.Marshal(object{
		"format": "service-catalog", "format_version": 1, "label": "wide-1", "domains": domains, "controls": controls,
		"frameworks": []object{{"code": "rules", "name": "Rules", "requirements": []object{{"code": "R.1", "title": "The rule"}}}},
	})
	if err != nil {
		b.Fatal(err)
	}
	asked(b, c, api.ImportStructured, &api.ImportSourceInput{Body: api.ImportSource{Source: source}})
}

// BenchmarkOpenFromEngine opens an assessment of a real engine in memory: the overview until the
// complete frame, and a Statement of Applicability until the frame with its first items and until
// the frame with all items.
func BenchmarkOpenFromEngine(b *testing.B) {
	c := clientOf(b, client.Options{Transport: client.InMemoryTransport(newHome(b).local)})
	wide(b, c, 1468)
	a := drafted(b, c, "", "wide-1")
	fresh := func() *stage {
		s := stageOn(b, c, nil)
		s.size(160, 48)
		return s
	}
	b.Run("overview", func(b *testing.B) {
		begin := cpuTime(b)
		for b.Loop() {
			b.StopTimer()
			s := fresh()
			b.StartTimer()
			s.run(s.app.push(newOverviewScreen(s.app, *a)))
			if s.app.View() == "" || s.app.topScreen().(*overview).data == nil {
				b.Fatal("nothing read")
			}
		}
		processor(b, begin)
	})
	for _, all := range []bool{false, true} {
		b.Run(map[bool]string{false: "first items", true: "all items"}[all], func(b *testing.B) {
			begin := cpuTime(b)
			for b.Loop() {
				b.StopTimer()
				s := fresh()
				v := s.app.reviewFor(*a, api.GateSoA)
				b.StartTimer()
				cmd := s.app.push(v)
				for range 2 { // the version, then its first page
					_, cmd = s.app.Update(cmd())
				}
				if s.app.View() == "" || len(v.rows) != api.MaxListLimit {
					b.Fatalf("%d items", len(v.rows))
				}
				if all {
					s.run(cmd)
					if s.app.View() == "" || len(v.rows) != 1468 {
						b.Fatalf("%d items", len(v.rows))
					}
				}
			}
			processor(b, begin)
		})
	}
}
