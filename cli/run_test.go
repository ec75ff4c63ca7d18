package cli

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
)

func evidenceDir(t *testing.T) string {
	dir := filepath.Join(t.TempDir(), "evidence")
	put(t, filepath.Join(dir, "policy.md"), "# Policy")
	put(t, filepath.Join(dir, "sub", "record.csv"), "a,b")
	put(t, filepath.Join(dir, "copy.md"), "# Policy")
	put(t, filepath.Join(dir, "empty.txt"), "")
	put(t, filepath.Join(dir, ".hidden"), "x")
	put(t, filepath.Join(dir, ".git", "config"), "x")
	if err := os.Symlink("/etc/passwd", filepath.Join(dir, "link.txt")); err != nil {
		t.Skip(err)
	}
	return dir
}

func TestRunStopsAtEachGateAndGoesOn(t *testing.T) {
	w := newWorld(t)
	dir := evidenceDir(t)
	w.want(
		w.run("assess", "run", dir, "-f", "iso-27001-2022", "--name", "Acme 2026"),
		4,
		`created assessment "Acme 2026"`,
		"the draft of the Statement of Applicability is ready for review (8 controls, of which 8 apply",
		"service soa submit",
	)
	if len(w.fake.approvals) != 0 {
		t.Error("a draft was submitted unseen")
	}
	if up := strings.Join(w.fake.uploads, " "); up != "copy.md empty.txt record.csv" {
		t.Errorf("uploaded %s; the same bytes go once, hidden files and links never", up)
	}
	got := w.run("assess", "run", dir, "--submit")
	w.want(
		got,
		4,
		"the Statement of Applicability awaits a decision by an owner or admin",
		"8 controls, of which 8 apply",
		"service soa show",
		"service soa approve",
		"service soa reject --reason",
		"service assess run",
		"link.txt: this is a symbolic link",
		"empty.txt is empty",
		"12.5%: 1 ÷ 8",
		"built-in starter",
	)
	for _, gate := range []string{"soa", "gap", "maturity", "poam"} {
		w.want(w.run(gate, "approve"), 0, "was approved by Ada", "service assess run")
		code := 4
		if gate == "poam" {
			code = 0
		}
		w.want(w.run("assess", "run", "--submit"), code, `continuing assessment "Acme 2026"`)
	}
	if st := w.fake.assessments[0].State; st != api.StateReportGenerated {
		t.Errorf("it ended %s", st)
	}
	w.want(w.run("assess", "status"), 0, "▶ report_generated", "service assess close")
}

// TestInterruptedWhileFilesAreTaken checks that a user who interrupts an upload is told to name the folder again.
// Otherwise, the remaining files would silently be left out of the assessment.
func TestInterruptedWhileFilesAreTaken(t *testing.T) {
	w := newWorld(t)
	dir := filepath.Join(t.TempDir(), "my docs")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(dir, "a.md"), "# A")
	put(t, filepath.Join(dir, "b.md"), "# B")
	ctx, stop := context.WithCancel(t.Context())
	w.fake.on = map[string]func(http.ResponseWriter, *http.Request) bool{}
	w.fake.on["POST /assessments/"+idOf(1)+"/documents"] = func(http.ResponseWriter, *http.Request) bool { stop(); return false }
	w.want(
		w.runIn(ctx, "assess", "run", dir, "--name", "Half"),
		130,
		`progress is saved in the assessment "Half"`,
		"service assess run '"+dir+"' --name Half",
	)
	w.want(w.run("assess", "run"), 4, "was interrupted: 2 of the 2 files in "+dir+" were not added",
		"service assess run '"+dir+"' --name Half")
	if r := w.run("assess", "run", dir); strings.Contains(r.errOut, "was interrupted") || len(w.fake.documents) != 2 {
		t.Errorf("%d documents: %s", len(w.fake.documents), r.errOut)
	}
	if r := w.run("assess", "run"); strings.Contains(r.errOut, "was interrupted") {
		t.Errorf("after all files were added: %s", r.errOut)
	}
}

// TestRunTellsOfDocumentsThatCameLate checks that a run reports documents added after the draft, which the draft
// doesn't include.
func TestRunTellsOfDocumentsThatCameLate(t *testing.T) {
	w := newWorld(t)
	dir := evidenceDir(t)
	if r := w.run("assess", "run", dir); strings.Contains(r.out, "Drafts out of date") {
		t.Errorf("nothing came late:\n%s", r.out)
	}
	put(t, filepath.Join(dir, "new.md"), "# New")
	w.want(w.run("assess", "run", dir), 4, "Drafts out of date", "1 document added after", "service soa refresh")
	w.run("assess", "run", "--approve")
	put(t, filepath.Join(dir, "newer.md"), "# Newer")
	w.want(
		w.run("assess", "run", dir),
		0,
		"service workflow start gap_refresh",
		"Next: export the report; when the assessment is finished, close the assessment.",
		"service assess close",
	)
}

func TestRunAgainAddsOnlyWhatIsNew(t *testing.T) {
	w := newWorld(t)
	dir := evidenceDir(t)
	w.run("assess", "run", dir)
	before := len(w.fake.documents)
	put(t, filepath.Join(dir, "new.md"), "# New")
	w.want(w.run("assess", "run", dir), 4, "1 added, 0 changed, 0 renamed, 0 missing")
	if len(w.fake.documents) != before+1 || len(w.fake.assessments) != 1 {
		t.Errorf("%d documents, %d assessments", len(w.fake.documents), len(w.fake.assessments))
	}
	// A closed assessment of that folder is not continued.
	w.fake.assessments[0].State = api.StateClosed
	w.run("assess", "run", dir)
	if len(w.fake.assessments) != 2 {
		t.Error("a closed assessment was gone on with")
	}
}

func TestApprovalInAdvance(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("assess", "run", evidenceDir(t), "--approve"), 0, "version 1: approved by Ada")
	if len(w.fake.approvals) != 4 || w.fake.assessments[0].State != api.StateReportGenerated {
		t.Errorf("%d approvals, %s", len(w.fake.approvals), w.fake.assessments[0].State)
	}
	w = newWorld(t)
	w.want(w.run("assess", "run", evidenceDir(t), "--approve=soa,maturity"), 4, "the draft of the gap analysis is ready for review")
	w.want(w.run("assess", "run", "--approve=sao"), 2, `did you mean "soa"?`)
}

func TestRunUntil(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("assess", "run", evidenceDir(t), "--until", "scope_drafted"), 0, "scope drafted")
	if st := w.fake.assessments[0].State; st != api.StateScopeDrafted {
		t.Errorf("it ended %s", st)
	}
}

func TestAnotherProcessMovesItMeanwhile(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateDraft)
	moved := false
	w.fake.beforeMove = func(a *api.Assessment) {
		if !moved && a.State == api.StateDocumentsIngested {
			moved = true
			a.State = api.StateFrameworkSelected
		}
	}
	w.want(w.run("assess", "run", "--until", "soa_drafted"), 0, "SoA drafted")
	if !moved {
		t.Error("nobody moved it")
	}
}

func TestWhatStandsInTheWayIsTold(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateGapAnalysisDrafted)
	w.fake.on["POST /assessments/"+idOf(1)+"/lifecycle/transition"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(rw, 0, api.Conflict("version 1 of the gap analysis was rejected: change an item"))
		return true
	}
	w.want(w.run("assess", "run", "--submit"), 3, "was rejected: change an item", "`service gap edit`")
	w.fake.on["POST /assessments/"+idOf(1)+"/lifecycle/transition"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(rw, 0, api.Invalid("items", "3 items are undecided"))
		return true
	}
	w.want(w.run("assess", "run", "--submit"), 3, "3 items are undecided")
}

func TestVoidApprovalAtTheGate(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateSoAUnderReview)
	w.want(w.run("assess", "run", "--approve"), 4, "version 1 is under review", "`service soa submit`")
}

func TestRunMisuse(t *testing.T) {
	w := newWorld(t)
	w.want(w.run("assess", "run", filepath.Join(t.TempDir(), "nowhere")), 3, "no such file or folder")
	w.want(w.run("assess", "run"), 3, "there are no assessments yet")
	w.want(w.run("assess", "run", "--name", "Acme"), 3, `no open assessment named "Acme"`, "service assess run DIR --name Acme")
	w.want(w.run("assess", "run", evidenceDir(t), "-f", "iso-27001"), 2, `no framework "iso-27001"`, "service catalog frameworks")
	w.want(w.run("assess", "run", evidenceDir(t), "--report", "x.exe"), 2, `the extension of "x.exe" is not a report format`)
	w.want(w.run("assess", "run", "--until", "soa_aproved"), 2, `did you mean "soa_approved"`)
	if len(w.fake.assessments) != 0 {
		t.Error("misuse left an assessment behind")
	}
}

func TestUnreadableFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("root reads everything")
	}
	dir := evidenceDir(t)
	if err := os.Chmod(filepath.Join(dir, "sub"), 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(filepath.Join(dir, "sub"), 0o755) })
	w := newWorld(t)
	w.want(w.run("assess", "run", dir), 4, "sub: permission denied")
	if err := os.Chmod(dir, 0); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o755) })
	w.want(w.run("assess", "run", dir), 3, "permission denied")
}

func TestRunAsJSON(t *testing.T) {
	w := newWorld(t)
	w.fake.findings = []api.Finding{
		{Item: api.Item{ControlCode: "BCD-11"}, Severity: api.SeverityHigh, MissingElements: []string{}, Evidence: []api.Evidence{}},
	}
	got := w.run("assess", "run", evidenceDir(t), "-o", "json")
	var out runResult
	if err := json.Unmarshal([]byte(got.out), &out); err != nil {
		t.Fatalf("%v in %s", err, got.out)
	}
	if got.code != 4 || out.Status.State != api.StateSoADrafted || len(out.Documents) != 2 || len(out.Skipped) != 2 {
		t.Errorf("exit %d, %+v", got.code, out)
	}
}

// demoWorld returns a world whose server can write reports, with an example to assess.
func demoWorld(t *testing.T) *world {
	w := newWorld(t)
	w.example = fstest.MapFS{"policy.md": {Data: []byte("# Policy")}, "broken.txt": {Data: nil}}
	w.fake.findings = []api.Finding{
		{
			Item: api.Item{ControlCode: "BCD-11", ControlTitle: "Backup"}, Severity: api.SeverityHigh, MissingElements: []string{"a test"},
			Evidence: []api.Evidence{{Filename: "policy.md", Quote: "We back up.", Locator: api.Locator{LineStart: 3, LineEnd: 4}}},
		},
		{Item: api.Item{ControlCode: "IAC-06", ControlTitle: "MFA"}, Severity: api.SeverityLow},
	}
	w.fake.on["GET /reports/"+someID+"/download"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		rw.Header().Set("Content-Type", "text/html")
		_, _ = rw.Write([]byte("<p>a report"))
		return true
	}
	for i := range 3 {
		id := idOf(i + 1)
		one := api.Report{
			TenantRecord: api.TenantRecord{Record: api.Record{ID: someID}},
			AssessmentID: id,
			Template:     "full",
			Format:       "html",
			Status:       "ready",
			Filename:     "../../etc/report.html",
		}
		w.fake.on["GET /assessments/"+id+"/reports"] = func(rw http.ResponseWriter, _ *http.Request) bool {
			write(rw, 200, list([]api.Report{one})) // there is no JSON report, so one must be created
			return true
		}
		w.fake.on["POST /assessments/"+id+"/reports"] = func(rw http.ResponseWriter, _ *http.Request) bool {
			write(rw, 201, one)
			return true
		}
		w.fake.on["GET /assessments/"+id] = func(rw http.ResponseWriter, _ *http.Request) bool {
			a := *w.fake.find(id)
			a.Counts.Findings = len(w.fake.findings)
			write(rw, 200, a)
			return true
		}
	}
	return w
}

func TestDemo(t *testing.T) {
	w := demoWorld(t)
	dir := filepath.Join(t.TempDir(), "out")
	got := w.run("demo", "--out", dir)
	w.want(
		got,
		0,
		"approvals were given automatically in your name",
		"broken.txt is empty",
		"1. BCD-11 Backup [high",
		"missing: a test",
		"“We back up”",
		"policy.md, lines 3–4",
		"no passage found",
		"12.5%",
		"service gap show BCD-11",
		"service search",
		"built-in starter",
	)
	for _, name := range []string{"report.html", "report.json"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err != nil || string(b) != "<p>a report" {
			t.Errorf("%s: %v %q", name, err, b)
		}
	}
	// The program's own reports are overwritten, but other files are not.
	put(t, filepath.Join(dir, "report.json"), "mine")
	w.want(w.run("demo", "--out", dir), 0, "report-2.json", "Harborquill Cargo demo 2")
	if b, _ := os.ReadFile(filepath.Join(dir, "report.json")); string(b) != "mine" {
		t.Error("a foreign report was overwritten")
	}
	if _, err := os.Stat(filepath.Join(dir, "report-2.html")); err == nil {
		t.Error("the demo's own report was not overwritten")
	}
}

func TestReportFiles(t *testing.T) {
	w := demoWorld(t)
	w.fake.assessment("Acme", api.StateDraft)
	dir := t.TempDir()
	out := filepath.Join(dir, "r.html")
	w.want(w.run("report", "create", "--out", out), 0, "wrote "+out)
	w.want(w.run("report", "create", "--out", out), 0, "wrote "+out)
	put(t, out, "mine")
	w.want(w.run("report", "create", "--out", out), 3, "already exists", "--force")
	w.want(w.run("report", "create", "--out", out, "--force"), 0)
	w.want(w.run("report", "create"), 2, "no report format given")
	w.want(w.run("report", "create", "--format", "pfd"), 2, `did you mean "pdf"`)
	w.want(
		w.run("report", "create", "--format", "html", "--out", filepath.Join(dir, "no", "r.html")),
		3,
		"can't write "+filepath.Join(dir, "no", "r.html"),
	)
	if got := w.run("report", "create", "--format", "html", "--out", "-"); got.out != "<p>a report" {
		t.Errorf("stdout got %q", got.out)
	}
	// A file name sent by the server can't lead out of this folder.
	t.Chdir(dir)
	w.fake.on["GET /reports/"+someID] = func(rw http.ResponseWriter, _ *http.Request) bool {
		write(rw, 200, api.Report{TenantRecord: api.TenantRecord{Record: api.Record{ID: someID}}, Filename: "../../evil.html"})
		return true
	}
	w.want(w.run("report", "download", someID), 0, "wrote evil.html")
}

// TestManyFilesToAServerThatTakesFew checks that an upload waits as long as a rate-limited server asks. It must tell
// the user once how long the remaining files will take, and how to upload faster.
func TestManyFilesToAServerThatTakesFew(t *testing.T) {
	w := newWorld(t)
	dir := evidenceDir(t)
	put(t, filepath.Join(dir, "more.md"), "# More")
	w.fake.assessment("Acme", api.StateDraft)
	refused := 0
	w.fake.on["POST /assessments/"+idOf(1)+"/documents"] = func(rw http.ResponseWriter, _ *http.Request) bool {
		if refused++; refused > 2 {
			return false
		}
		rw.Header().Set("Retry-After", "1")
		rw.Header().Set(api.RateLimitHeader, "2")
		write(rw, 0, api.RateLimited(1))
		return true
	}
	got := w.run("doc", "add", dir, "--no-wait")
	w.want(got, 3, "accepts 2 files per minute", "uploading the remaining 5 will take about 3 minutes",
		"--rate-limit documents=", "link.txt: this is a symbolic link")
	if n := strings.Count(got.errOut, "files per minute"); n != 1 {
		t.Errorf("it is told %d times:\n%s", n, got.errOut)
	}
	if up := strings.Join(w.fake.uploads, " "); up != "copy.md empty.txt more.md record.csv" {
		t.Errorf("uploaded %s", up)
	}
}
