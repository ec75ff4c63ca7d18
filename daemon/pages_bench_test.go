package daemon_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// wideControls is the number of controls of the largest catalog.
const wideControls = 1468

// newWideAssessment returns a server with an assessment of wideControls controls that is complete up to its
// plan. The controls are worded for the tests, and some sample evidence has been read.
func newWideAssessment(t testing.TB) (*testServer, testCaller, map[string]string) {
	t.Helper()
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Wide", "wide@example.com")
	type object map[string]any
	var domains, controls []object
	for d := range 33 {
		domains = append(domains, object{"code": fmt.Sprintf("D%c%c", 'A'+d/6, 'A'+d%6), "name": fmt.Sprintf("Domain %d", d)})
	}
	things := []string{"access rights", "backups", "changes", "suppliers", "keys", "logs", "assets"}
	for i := range wideControls {
		controls = append(controls, object{
			"code": fmt.Sprintf("%s-%02d", domains[i%len(domains)]["code"], i/len(domains)+1), "weight": 1 + i%10,
			"title":       fmt.Sprintf("Review of %s, part %d", things[i%len(things)], i),
			"description": fmt.Sprintf("The review of %s is written down and kept current in part %d.", things[i%len(things)], i),
			"mappings":    object{"rules": []string{"R.1"}},
		})
	}
	source, err := json.Marshal(object{"source": object{
		"format": "service-catalog", "format_version": 1, "label": "wide-1", "domains": domains, "controls": controls,
		"frameworks": []object{{"code": "rules", "name": "Rules", "requirements": []object{{"code": "R.1", "title": "The rule"}}}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	req := httptest.NewRequest("POST", api.ImportStructured.Path, strings.NewReader(string(source)))
	req.Header.Set("Content-Type", "application/json")
	rec := httptest.NewRecorder()
	if w.local.ServeHTTP(rec, req); rec.Code != 201 {
		t.Fatalf("the import answers %d %.300s", rec.Code, rec.Body)
	}
	ids := map[string]string{}
	ids["assessmentId"] = owner.must("POST", assessments, map[string]any{"name": "Wide", "scf_version_id": "wide-1"}).str("id")
	base := assessments + "/" + ids["assessmentId"]
	files, err := filepath.Glob("../examples/harbor/evidence/*.md")
	if err != nil || len(files) == 0 {
		t.Fatalf("no sample evidence: %v", err)
	}
	for _, name := range files[:min(len(files), 12)] {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		owner.must("POST", base+"/documents", form{filename: filepath.Base(name), content: string(text)})
	}
	for {
		st := owner.must("GET", base+"/status", nil)
		next := st.body["next_states"].([]any)
		if len(next) == 0 || next[0] == string(api.StateReportGenerated) {
			break
		}
		got := owner.do("POST", base+"/lifecycle/transition", map[string]any{"target_state": next[0]})
		if got.code() == "APPROVAL_REQUIRED" {
			owner.must("POST", "/api/v1/approvals/"+st.str("pending_approval_id")+"/approve", nil)
		} else if got.status != 200 {
			t.Fatalf("to %v: %s", next[0], got.text)
		}
	}
	for name, path := range map[string]string{
		"soa": base + "/soa", "gap": base + "/gap-analysis", "maturity": base + "/maturity", "poam": base + "/poam",
		"approval": base + "/approvals", "document": base + "/documents",
	} {
		ids[name] = owner.must("GET", path, nil).body["data"].([]any)[0].(map[string]any)["id"].(string)
	}
	ids["item"] = owner.must("GET", "/api/v1/soa/"+ids["soa"]+"/items?limit=1", nil).body["data"].([]any)[0].(map[string]any)["id"].(string)
	return w, owner, ids
}

// widePages returns the pages of a wide assessment, and the operations that each page calls.
func widePages(ids map[string]string) []struct {
	name, path string
	calls      []string
} {
	base, at := "/assessments/"+ids["assessmentId"], assessments+"/"+ids["assessmentId"]
	all := func(path string) (out []string) {
		for n := 0; n < wideControls; n += api.MaxListLimit {
			out = append(out, path+"?limit="+fmt.Sprint(api.MaxListLimit))
		}
		return out
	}
	me := []string{api.GetMe.Path, api.ListMyOrganizations.Path}
	return []struct {
		name, path string
		calls      []string
	}{
		{"home", "/", append(me, api.ListAssessments.Path, at+"/summary")},
		{"assessment", base, append(me, at, at+"/summary", at+"/status", at+"/approvals")},
		{"documents", base + "/documents", append(me, at, at+"/documents")},
		{"document", base + "/documents/" + ids["document"], append(me, at, "/api/v1/documents/"+ids["document"]+"/chunks")},
		{"soa", base + "/soa", append(append(me, at, at+"/soa?limit=1"), all("/api/v1/soa/"+ids["soa"]+"/items")...)},
		{"gap", base + "/gap", append(me, at, at+"/gap-analysis?limit=1")},
		{"maturity", base + "/maturity", append(me, at, at+"/maturity?limit=1")},
		{"poam", base + "/poam", append(me, at, at+"/poam?limit=1")},
		{"soa filtered", base + "/soa?q=backups&sort=6", nil},
		{"soa by expression", base + "/soa?q=" + url.QueryEscape("=confidence < 0.5"), nil},
		{"item", base + "/soa/" + ids["item"], append(me, at, "/api/v1/soa/items/"+ids["item"], at+"/soa?limit=1", at+"/comments")},
		{"decision", "/approvals/" + ids["approval"], append(me, "/api/v1/approvals/"+ids["approval"], at)},
		{"reports", base + "/reports", nil},
		{"scope", base + "/scope", nil},
		{"timeline", base + "/activity", nil},
		{"search", "/search?q=backups", nil},
		{"catalog", "/catalog?q=backup", nil},
		{"frameworks", "/catalog/frameworks", nil},
		{"activity", "/activity", nil},
		{"jobs", "/jobs", nil},
		{"settings", "/settings/members", nil},
	}
}

// BenchmarkPages measures the server time of each page for wideControls controls, and of the operations that
// the page calls.
func BenchmarkPages(b *testing.B) {
	w, owner, ids := newWideAssessment(b)
	v := w.visitorAs(owner)
	get := func(path string) {
		req := httptest.NewRequest("GET", origin+path, nil)
		if !strings.HasPrefix(path, "/api/") {
			req.Header.Set("Accept", "text/html")
			req.Header.Set("Accept-Encoding", "gzip")
		}
		req.Header.Set("Cookie", api.SessionCookie+"="+v.cookies[api.SessionCookie])
		req.Header.Set(api.TenantHeader, owner.org)
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		if rec.Code != 200 {
			b.Fatalf("%s answers %d %.300s", path, rec.Code, rec.Body)
		}
	}
	for _, page := range widePages(ids) {
		b.Run(page.name+"/page", func(b *testing.B) {
			began := cpuTime(b)
			for b.Loop() {
				get(page.path)
			}
			b.ReportMetric(float64(cpuTime(b)-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
		})
		if page.calls == nil {
			continue
		}
		b.Run(page.name+"/calls", func(b *testing.B) {
			began := cpuTime(b)
			for b.Loop() {
				for _, call := range page.calls {
					get(call)
				}
			}
			b.ReportMetric(float64(cpuTime(b)-began)/float64(time.Millisecond)/float64(b.N), "cpu-ms/op")
		})
	}
}

// TestWidePages opens the table of a wide assessment in a browser. It checks that little is loaded at first,
// that the table can be used within a second, and that typing in its filter doesn't block.
func TestWidePages(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	b := chromiumtest.Start(t)
	w, owner, ids := newWideAssessment(t)
	s := httptest.NewServer(w.net)
	defer s.Close()
	defer s.CloseClientConnections()
	h := &hands{b, false, s.URL}
	h.signIn(owner)
	b.Call("Performance.enable", map[string]any{"timeDomain": "threadTicks"}, nil)
	// cpu returns the processor time of the page's thread, which does not depend on the machine's load.
	cpu := func() float64 {
		var out struct {
			Metrics []struct {
				Name  string  `json:"name"`
				Value float64 `json:"value"`
			} `json:"metrics"`
		}
		b.Call("Performance.getMetrics", nil, &out)
		for _, m := range out.Metrics {
			if m.Name == "TaskDuration" {
				return m.Value * 1000
			}
		}
		return 0
	}
	for _, page := range widePages(ids) {
		b.Emulate("screen", 360, "light")
		b.Open(s.URL + page.path)
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("%s at 360 pixels: %s", page.name, bad)
		}
		b.Emulate("screen", 1440, "light")
		b.Open("about:blank")
		began := cpu()
		b.Open(s.URL + page.path)
		b.EvaluateText(`new Promise(r => requestAnimationFrame(() => requestAnimationFrame(r)))`)
		if took := cpu() - began; took > 1000 {
			t.Errorf("%s takes %.0f ms of processor time until it is shown", page.name, took)
		} else {
			t.Logf("%s takes %.0f ms of processor time until it is shown", page.name, took)
		}
		bytes := b.EvaluateText(`performance.getEntries().reduce((n, e) => n + (e.transferSize || 0), 0)`)
		usable := b.EvaluateText(`Math.round(performance.getEntriesByType("navigation")[0].domContentLoadedEventEnd)`)
		t.Logf("%s: %s bytes, usable after %s ms", page.name, bytes, usable)
		var n int
		if _, err := fmt.Sscan(bytes, &n); err != nil || n > 200_000 {
			t.Errorf("%s loads %s bytes", page.name, bytes)
		}
	}
	b.Open(s.URL + "/assessments/" + ids["assessmentId"] + "/soa")
	b.WaitFor(`document.querySelectorAll("table.items tbody tr").length === ` + fmt.Sprint(wideControls))
	var took []float64
	for _, letter := range "backups" {
		began := cpu()
		b.EvaluateText(fmt.Sprintf(`new Promise(r => { const q = document.getElementById("q"); q.value += "%c";
			q.dispatchEvent(new Event("input")); requestAnimationFrame(() => requestAnimationFrame(r)); })`, letter))
		took = append(took, cpu()-began)
	}
	if slices.Max(took) > 200 {
		t.Errorf("typing blocks: letters in the filter take %.0f ms of processor time", took)
	}
	t.Logf("letters in the filter take %.0f ms of processor time", took)
	opened := time.Now()
	b.EvaluateText(`document.querySelector("table.items tbody tr:not([hidden]) a").click()`)
	b.WaitFor(`document.querySelector(".beside .pager")`)
	t.Logf("an item beside the table takes %v", time.Since(opened))
}
