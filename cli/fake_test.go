package cli

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/http"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// fake is a minimal server that responds with the data that a test puts into it. It has the data types of the real
// server, but not its rules.
type fake struct {
	t  *testing.T
	mu sync.Mutex

	assessments []api.Assessment
	documents   []api.Document
	findings    []api.Finding
	approvals   []api.Approval
	uploads     []string
	// said lists the requests received, as "METHOD path".
	said []string
	// on maps "METHOD path" to a handler. If the handler returns false, the default response is sent instead.
	on map[string]func(http.ResponseWriter, *http.Request) bool
	// beforeMove runs before each transition, to simulate another process.
	beforeMove func(*api.Assessment)
}

const (
	orgID  = "0190a000-0000-7000-8000-000000000001"
	gapID  = "0190a000-0000-7000-8000-0000000000a1"
	someID = "0190a000-0000-7000-8000-0000000000ff"
)

func newFake(t *testing.T) *fake {
	return &fake{t: t, on: map[string]func(http.ResponseWriter, *http.Request) bool{}}
}

func idOf(n int) string { return fmt.Sprintf("0190a000-0000-7000-8000-%012d", n) }

func (f *fake) assessment(name string, state api.State) *api.Assessment {
	a := api.Assessment{Name: name, State: state, Progress: state.ProgressPercent(), FrameworkIDs: []string{}, Frameworks: []string{}}
	a.ID, a.OrganizationID = idOf(len(f.assessments)+1), orgID
	f.assessments = append([]api.Assessment{a}, f.assessments...)
	return &f.assessments[0]
}

func list[T any](all []T) *api.List[T] {
	l := &api.List[T]{Data: all, Pagination: api.Pagination{Total: len(all), Limit: 50}}
	api.ReplaceNilCollections(l)
	return l
}

func (f *fake) find(id string) *api.Assessment {
	for i := range f.assessments {
		if f.assessments[i].ID == id {
			return &f.assessments[i]
		}
	}
	return nil
}

func (f *fake) pending(assessment string, g api.Gate) *api.Approval {
	for i := range f.approvals {
		if p := &f.approvals[i]; p.AssessmentID == assessment && p.Gate == g && p.Status == api.ApprovalPending {
			return p
		}
	}
	return nil
}

func (f *fake) approved(assessment string, g api.Gate) bool {
	for _, p := range f.approvals {
		if p.AssessmentID == assessment && p.Gate == g && p.Status == api.ApprovalApproved {
			return true
		}
	}
	return false
}

func (f *fake) status(a *api.Assessment) *api.AssessmentStatus {
	st := &api.AssessmentStatus{
		AssessmentID: a.ID,
		State:        a.State,
		Progress:     a.State.ProgressPercent(),
		NextStates:   []api.State{},
		BlockedBy:    []string{},
	}
	m, ok := a.State.NextMove()
	if !ok {
		return st
	}
	st.NextStates = []api.State{m.To}
	if g, _, ok := m.To.ReviewGate(); ok {
		st.ReadyForReview = &g
	}
	st.NextStep = st.DescribeNextStep()
	if m.Gate != "" && !f.approved(a.ID, m.Gate) {
		st.BlockedBy = []string{"version 1 is under review"}
		if p := f.pending(a.ID, m.Gate); p != nil {
			st.PendingApprovalID = &p.ID
		}
	}
	return st
}

func (f *fake) move(a *api.Assessment, to api.State) error {
	if f.beforeMove != nil {
		f.beforeMove(a)
	}
	if err := api.CheckMove(a.State, to); err != nil {
		return err
	}
	m, _ := a.State.NextMove()
	if m.Gate != "" && !f.approved(a.ID, m.Gate) {
		return api.ApprovalRequired(m.Gate, "", "it has to be approved")
	}
	a.State, a.Progress = to, to.ProgressPercent()
	if g, _, ok := to.ReviewGate(); ok {
		f.approvals = append(f.approvals, api.Approval{
			TenantRecord: api.TenantRecord{Record: api.Record{ID: idOf(500 + len(f.approvals))}},
			AssessmentID: a.ID, Gate: g, Status: api.ApprovalPending, VersionNumber: 1,
		})
	}
	return nil
}

func (f *fake) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.mu.Lock()
	defer f.mu.Unlock()
	path := strings.TrimPrefix(r.URL.Path, api.Prefix)
	f.said = append(f.said, r.Method+" "+path)
	if h := f.on[r.Method+" "+path]; h != nil && h(w, r) {
		return
	}
	status, out := f.answer(r, path)
	write(w, status, out)
}

func write(w http.ResponseWriter, status int, out any) {
	w.Header().Set("Content-Type", "application/json")
	if err, ok := out.(error); ok {
		e := api.AsError(err)
		e.TraceID = "trace-1"
		w.WriteHeader(e.HTTPStatus())
		_ = json.NewEncoder(w).Encode(api.ErrorEnvelope{Error: e})
		return
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

func (f *fake) answer(r *http.Request, path string) (int, any) {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch parts[0] {
	case "users":
		return 200, list([]api.MyOrganization{{Organization: api.Organization{Record: api.Record{ID: orgID}}, Active: true}})
	case "assessments":
		if len(parts) == 1 {
			return f.all(r)
		}
		a := f.find(parts[1])
		if a == nil {
			return 0, api.NotFound("assessment", parts[1])
		}
		return f.one(r, a, strings.Join(parts[2:], "/"))
	case "gap-analysis":
		return 200, list(f.findings)
	case "approvals":
		return f.decide(parts)
	}
	return 0, api.NotFound("route", r.Method+" "+r.URL.Path)
}

func (f *fake) all(r *http.Request) (int, any) {
	if r.Method == http.MethodPost {
		var in api.CreateAssessmentInput
		if err := json.NewDecoder(r.Body).Decode(&in.Body); err != nil {
			return 0, api.Invalid("", "%v", err)
		}
		for _, code := range in.Body.FrameworkIDs {
			if code != "iso-27001-2022" {
				return 0, api.Invalid("framework_id", "the catalog has no framework %q", code)
			}
		}
		a := f.assessment(in.Body.Name, api.StateDraft)
		a.Frameworks = in.Body.FrameworkIDs
		return 201, a
	}
	var out []api.Assessment
	for _, a := range f.assessments {
		if strings.Contains(strings.ToLower(a.Name), strings.ToLower(r.URL.Query().Get("q"))) {
			out = append(out, a)
		}
	}
	return 200, list(out)
}

func (f *fake) one(r *http.Request, a *api.Assessment, what string) (int, any) {
	switch what {
	case "":
		return 200, a
	case "status":
		return 200, f.status(a)
	case "summary":
		pct := 12.5
		return 200, &api.AssessmentSummary{
			AssessmentID: a.ID, Controls: 8, Applicable: 8, CompliancePct: &pct, ComplianceFormula: "1 ÷ 8 = 12.5%",
			FindingsBySeverity: map[api.Severity]int{api.SeverityHigh: 1}, IsStarter: true,
		}
	case "lifecycle/transition":
		var in api.TransitionInput
		if err := json.NewDecoder(r.Body).Decode(&in.Body); err != nil {
			return 0, api.Invalid("", "%v", err)
		}
		if err := f.move(a, in.Body.TargetState); err != nil {
			return 0, err
		}
		return 200, f.status(a)
	case "documents":
		if r.Method == http.MethodPost {
			return f.upload(r, a)
		}
		return 200, list(f.documents)
	case "gap-analysis":
		return 200, list(
			[]api.GapVersion{
				{
					DeliverableVersion: api.DeliverableVersion{
						TenantRecord:  api.TenantRecord{Record: api.Record{ID: gapID}},
						VersionNumber: 1,
					},
				},
			},
		)
	case "comments":
		return 200, list([]api.Comment{})
	case "approvals":
		var out []api.Approval
		for _, p := range f.approvals {
			if p.Status == api.ApprovalPending && string(p.Gate) == r.URL.Query().Get("gate") {
				out = append(out, p)
			}
		}
		return 200, list(out)
	}
	return 0, api.NotFound("route", what)
}

func (f *fake) upload(r *http.Request, a *api.Assessment) (int, any) {
	file, head, err := r.FormFile("file")
	if err != nil {
		return 0, api.Invalid("file", "%v", err)
	}
	b, err := io.ReadAll(file)
	if err != nil {
		return 0, err
	}
	f.uploads = append(f.uploads, head.Filename)
	if len(b) == 0 {
		return 0, api.Invalid("file", "%s is empty", head.Filename)
	}
	sum := sha256.Sum256(b)
	d := api.Document{
		AssessmentID: a.ID,
		Filename:     head.Filename,
		Path:         r.FormValue("path"),
		Status:       api.DocumentIngested,
		SHA256:       hex.EncodeToString(sum[:]),
	}
	d.ID = idOf(100 + len(f.documents))
	f.documents = append(f.documents, d)
	return 201, d
}

func (f *fake) decide(parts []string) (int, any) {
	for i := range f.approvals {
		if p := &f.approvals[i]; p.ID == parts[1] {
			now := time.Unix(0, 0)
			p.Status, p.DecidedBy, p.DecidedAt = api.ApprovalApproved, &api.Actor{Name: "Ada"}, &now
			if parts[2] == "reject" {
				p.Status = api.ApprovalRejected
			}
			return 200, p
		}
	}
	return 0, api.NotFound("approval", parts[1])
}

// world is a command line connected to a fake server.
type world struct {
	t       *testing.T
	fake    *fake
	env     map[string]string
	state   string
	width   int
	example fs.FS
	connect error
	stdin   string
	target  Target
	version string
	// options changes the Options that the command line is created with.
	options func(*Options)
}

func newWorld(t *testing.T) *world {
	t.Helper()
	return &world{t: t, fake: newFake(t), env: map[string]string{}, state: filepath.Join(t.TempDir(), "state"), version: "1.2.3"}
}

type result struct {
	code        int
	out, errOut string
}

func (w *world) run(args ...string) result { return w.runIn(context.Background(), args...) }

func (w *world) runIn(ctx context.Context, args ...string) result {
	var out, errOut bytes.Buffer
	var lock sync.Mutex
	o := Options{
		Connect: func(_ context.Context, target Target) (*client.Client, func() error, error) {
			w.target = target
			if w.connect != nil {
				return nil, nil, w.connect
			}
			c, err := client.New(client.Options{Transport: client.InMemoryTransport(w.fake)})
			return c, func() error { return nil }, err
		},
		Stdin: strings.NewReader(
			w.stdin,
		),
		Stdout:       &out,
		Stderr:       &locked{w: &errOut, mu: &lock},
		Env:          func(k string) string { return w.env[k] },
		StdoutWidth:  w.width,
		Version:      w.version,
		Clock:        func() time.Time { return time.Unix(1_800_000_000, 0) },
		StateDir:     w.state,
		DemoEvidence: w.example,
	}
	if w.options != nil {
		w.options(&o)
	}
	code := Main(ctx, args, o)
	lock.Lock()
	defer lock.Unlock()
	return result{code, out.String(), errOut.String()}
}

type locked struct {
	w  io.Writer
	mu *sync.Mutex
}

func (l *locked) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.w.Write(b)
}

// want checks a result's exit code, and that stdout or stderr contains each of the words.
func (w *world) want(got result, code int, words ...string) {
	w.t.Helper()
	if got.code != code {
		w.t.Errorf("exit code %d, want %d\nstdout: %s\nstderr: %s", got.code, code, got.out, got.errOut)
	}
	for _, word := range words {
		if !strings.Contains(got.out+got.errOut, word) {
			w.t.Errorf("nothing says %q\nstdout: %s\nstderr: %s", word, got.out, got.errOut)
		}
	}
}

var errRefused = fmt.Errorf("%w from grc.example: %w", client.ErrUnreachable, errors.New("connection refused"))
