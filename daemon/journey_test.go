package daemon_test

import (
	"io"
	"io/fs"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/examples/harbor"
)

// newServer serves an engine on an empty folder.
func newServer(t *testing.T, change ...func(*engine.Options)) *daemon.Server {
	t.Helper()
	s, err := daemon.New(daemon.Options{
		Engine: enginetest.New(t, change...), Logger: enginetest.WarningLogger(), Clock: time.Now, NewID: enginetest.NewID, Hosts: testHosts,
	})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestJourney runs a whole assessment over both transports: create, upload, every state, each gate,
// reports.
func TestJourney(t *testing.T) {
	s := newServer(t)
	h := validateExchanges(t, s.LocalHandler())
	web := httptest.NewServer(h)
	defer web.Close()
	for name, o := range map[string]client.Options{
		"in memory": {Transport: client.InMemoryTransport(h)},
		"http":      {BaseURL: web.URL},
	} {
		t.Run(name, func(t *testing.T) {
			c, err := client.New(o)
			if err != nil {
				t.Fatal(err)
			}
			journey(t, c)
		})
	}
}

func createHarbor(t *testing.T, c *client.Client) *api.Assessment {
	t.Helper()
	create := &api.CreateAssessmentInput{}
	create.Body.Name, create.Body.FrameworkID = "Harbor", "iso-27001-2022"
	return do(t, c, api.CreateAssessment, create)
}

func journey(t *testing.T, c *client.Client) {
	ctx := t.Context()
	a := createHarbor(t, c)
	upload(t, c, a.ID)
	for {
		st := do(t, c, api.GetAssessmentStatus, &api.AssessmentInput{AssessmentID: a.ID})
		if len(st.NextStates) == 0 {
			break
		}
		move := &api.TransitionInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		move.Body.TargetState = st.NextStates[0]
		began := time.Now()
		_, err := client.Do(ctx, c, api.Transition, move)
		if api.IsCode(err, api.CodeApproval) {
			do(t, c, api.Approve, &api.ApproveInput{ApprovalInput: api.ApprovalInput{ApprovalID: *st.PendingApprovalID}})
			continue
		}
		if err != nil {
			t.Fatalf("moving to %s: %v", move.Body.TargetState, err)
		}
		t.Logf("%-28s %s", move.Body.TargetState, time.Since(began).Round(time.Millisecond))
	}
	sum := do(t, c, api.GetAssessmentSummary, &api.AssessmentInput{AssessmentID: a.ID})
	if sum.CompliancePct == nil || *sum.CompliancePct <= 0 || *sum.CompliancePct >= 100 || sum.MaturityAvg == nil || !sum.IsStarter {
		t.Errorf("summary of a mixed bag of evidence: %+v", sum)
	}
	t.Logf("%+v compliance %.1f maturity %.2f", sum, *sum.CompliancePct, *sum.MaturityAvg)
	reports := do(t, c, api.ListReports, &api.ReportsInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}})
	if len(reports.Data) != 2 {
		t.Fatalf("the last step writes two reports, not %d", len(reports.Data))
	}
	for _, r := range reports.Data {
		f := do(t, c, api.DownloadReport, &api.ReportInput{ReportID: r.ID})
		b, err := io.ReadAll(f.Content)
		f.Content.Close()
		if err != nil || int64(len(b)) != r.SizeBytes || r.Draft {
			t.Errorf("report %s: %d bytes of %d, draft %v: %v", r.Filename, len(b), r.SizeBytes, r.Draft, err)
		}
	}
}

func upload(t *testing.T, c *client.Client, assessment string) {
	t.Helper()
	err := fs.WalkDir(harbor.Evidence(), ".", func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		f, err := harbor.Evidence().Open(path)
		if err != nil {
			return err
		}
		defer f.Close()
		in := &api.UploadDocumentInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: assessment},
			File:            api.UploadFile{Filename: path, Content: f},
		}
		doc := do(t, c, api.UploadDocument, in)
		if !strings.HasSuffix(path, doc.Filename) {
			t.Errorf("%s became %s", path, doc.Filename)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func do[I, O any](t *testing.T, c *client.Client, op api.Op[I, O], in *I) *O {
	t.Helper()
	out, err := client.Do(t.Context(), c, op, in)
	if err != nil {
		t.Fatalf("%s: %v", op.ID, err)
	}
	return out
}
