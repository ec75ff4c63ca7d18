package daemon_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine"
	"github.com/scf-service/service/engine/llm"
	"github.com/scf-service/service/examples/harbor"
	"github.com/scf-service/service/internal/testutil/modeltest"
	"github.com/scf-service/service/store"
)

// tour calls operations one after another, validates each call against the OpenAPI document, and records which
// operations were called.
type tour struct {
	t    *testing.T
	h    http.Handler
	net  http.Handler // the same server, accessed over the network
	org  string
	path map[string]string // parameters by name
	done map[string]bool
	took map[string]operationCost // the total by operation
	// countsReads makes the tour count what operations read from the store, without reading ahead.
	countsReads bool
}

// operationCost is the time that an operation took, the processor time that this process needed meanwhile, and the
// number of values and pairs that were read from the store.
type operationCost struct {
	elapsed, cpu time.Duration
	reads        int64
}

func newTour(t *testing.T) *tour {
	return tourOf(t, tourServer(t), func(h http.Handler) http.Handler { return validateExchanges(t, h) })
}

// tourServer returns a daemon with a small language model.
func tourServer(t *testing.T, change ...func(*engine.Options)) *daemon.Server {
	t.Helper()
	small := modeltest.Start(modeltest.ReadFor("", "states", "is required"))
	t.Cleanup(small.Close)
	m, err := llm.New(llm.Options{Name: "ollama/small", Server: small.URL})
	if err != nil {
		t.Fatal(err)
	}
	return newServer(t, append(change, func(o *engine.Options) {
		o.Model = m
		o.NewTicker = func(every time.Duration) (<-chan time.Time, func()) {
			if every == 10*time.Second { // a sync with issues in the background would resolve the tour's conflict
				return nil, func() {}
			}
			ticks := time.NewTicker(every)
			return ticks.C, ticks.Stop
		}
	})...)
}

// tourOf returns a tour of a daemon, whose handlers are wrapped.
func tourOf(t *testing.T, s *daemon.Server, wrap func(http.Handler) http.Handler) *tour {
	h := wrap(s.LocalHandler())
	return &tour{
		t:    t,
		h:    h,
		net:  wrap(s.Handler()),
		org:  localOrganization(t, h),
		path: map[string]string{},
		done: map[string]bool{},
		took: map[string]operationCost{},
	}
}

// send calls an operation and returns its response; query begins with "?" or is empty.
func (r *tour) send(op *api.Operation, query, kind string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	path := parameter.ReplaceAllStringFunc(op.Path, func(p string) string {
		v := r.path[strings.Trim(p, "{}")]
		if v == "" {
			r.t.Fatalf("%s: the tour knows no %s", op.ID, p)
		}
		return url.PathEscape(v)
	})
	ctx := r.t.Context()
	var reads atomic.Int64
	if r.countsReads {
		ctx = store.WithReadCounter(ctx, &reads)
	}
	req := httptest.NewRequestWithContext(ctx, op.Method, path+query, body)
	req.Header.Set(api.TenantHeader, r.org)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	began, cpu := time.Now(), cpuTime(r.t)
	r.h.ServeHTTP(w, req)
	total := r.took[op.ID]
	r.took[op.ID] = operationCost{total.elapsed + time.Since(began), total.cpu + cpuTime(r.t) - cpu, total.reads + reads.Load()}
	return w
}

// call calls an operation that must succeed, and returns its response.
func (r *tour) call(op *api.Operation, query, body string, header ...string) node {
	r.t.Helper()
	kind := ""
	if body != "" {
		kind = "application/json"
	}
	w := r.send(op, query, kind, strings.NewReader(body), header...)
	return r.decodeSuccess(op, w)
}

func (r *tour) decodeSuccess(op *api.Operation, w *httptest.ResponseRecorder) node {
	r.t.Helper()
	if w.Code >= 300 {
		r.t.Fatalf("%s answers %d %s", op.ID, w.Code, w.Body)
	}
	r.done[op.ID] = true
	var out node
	if strings.HasPrefix(w.Header().Get("Content-Type"), "application/json") && op.Form != api.Download {
		if err := json.Unmarshal(w.Body.Bytes(), &out); err != nil {
			r.t.Fatalf("%s: %v", op.ID, err)
		}
	}
	return out
}

// expectError calls an operation that must fail with the given code.
func (r *tour) expectError(op *api.Operation, query, body string, want api.ErrorCode, header ...string) {
	r.t.Helper()
	w := r.send(op, query, "application/json", strings.NewReader(body), header...)
	var out node
	_ = json.Unmarshal(w.Body.Bytes(), &out)
	if got := out.at("error")["code"]; got != string(want) {
		r.t.Errorf("%s on %s%s answers %d %v, not %s", op.ID, query, body, w.Code, out, want)
	}
}

// upload sends a file.
func (r *tour) upload(op *api.Operation, name string, data []byte, fields ...string) node {
	r.t.Helper()
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for i := 0; i+1 < len(fields); i += 2 {
		if err := form.WriteField(fields[i], fields[i+1]); err != nil {
			r.t.Fatal(err)
		}
	}
	part, err := form.CreateFormFile("file", name)
	if err != nil {
		r.t.Fatal(err)
	}
	_, _ = part.Write(data)
	_ = form.Close()
	return r.decodeSuccess(op, r.send(op, "", form.FormDataContentType(), &b))
}

// saveID stores a record's ID as a path parameter for later calls.
func (r *tour) saveID(name string, record node) node {
	r.path[name] = record["id"].(string)
	return record
}

// firstRecord returns the first record of a list.
func (r *tour) firstRecord(list node) node {
	r.t.Helper()
	data, _ := list["data"].([]any)
	if len(data) == 0 {
		r.t.Fatalf("an empty list: %v", list)
	}
	return data[0].(map[string]any)
}

func (r *tour) moveTo(to api.State) {
	r.t.Helper()
	for {
		st := r.call(api.GetAssessmentStatus.Operation, "", "")
		if st["state"] == string(to) {
			return
		}
		r.call(api.Transition.Operation, "", `{"target_state": "`+st["next_states"].([]any)[0].(string)+`"}`)
	}
}

// TestEveryOperationMatchesOpenAPI checks that every operation succeeds at least once and that all
// requests and responses match the document.
func TestEveryOperationMatchesOpenAPI(t *testing.T) {
	r := newTour(t)
	r.callAll()
	for _, op := range api.Operations() {
		if !r.done[op.ID] {
			t.Errorf("nothing calls %s", op.ID)
		}
	}
}

// callAll calls every operation at least once.
func (r *tour) callAll() {
	r.catalog()
	r.evidence()
	r.clones()
	r.scope()
	r.soa()
	r.gap()
	r.maturity()
	r.poam()
	r.reports()
	r.agents()
	r.analyses()
	r.observe()
	r.checkLists()
	r.people()
	r.sessions()
	r.customFrameworks()
	r.imports()
	r.workflows()
	r.remove()
}

func (r *tour) catalog() {
	version := r.saveID("scfVersionId", r.call(api.GetLatestVersion.Operation, "", ""))
	r.path["controlCode"], r.path["controlId"], r.path["frameworkId"] = "IAC-06", "IAC-06", "iso-27001-2022"
	r.call(api.ListVersions.Operation, "", "")
	r.call(api.GetVersion.Operation, "", "")
	r.call(api.ListVersionDomains.Operation, "?limit=3", "")
	r.call(api.ListVersionControls.Operation, "?limit=3&domain_code=IAC&q=factor", "")
	r.call(api.ListDomains.Operation, "?limit=200", "")
	r.call(api.ListControls.Operation, "?domain=IAC&framework=iso-27001-2022&q=factor&version="+version["label"].(string), "")
	r.call(api.GetControl.Operation, "", "")
	r.call(api.GetControlByCode.Operation, "", "")
	mapping := r.firstRecord(r.call(api.ListControlMappings.Operation, "", ""))
	r.path["requirementId"] = mapping["requirement_id"].(string)
	r.call(api.ListRequirementMappings.Operation, "", "")
	r.call(api.ListFrameworks.Operation, "?q=iso", "")
	r.call(api.GetFramework.Operation, "", "")
	r.call(api.ListRequirements.Operation, "?limit=200", "")
	r.call(api.GetCoverage.Operation, "", "")
	r.call(api.GetCrosswalk.Operation, "?framework=iso-27001-2022", "")
	r.call(api.GetCrosswalk.Operation, "?framework=iso-27001-2022&target=nist-csf-2.0", "")
	r.expectError(api.GetCrosswalk.Operation, "", "", api.CodeValidation)
	r.path["controlId"] = "NOPE-99"
	r.expectError(api.GetControl.Operation, "", "", api.CodeNotFound)
	r.path["controlId"] = "IAC-06"
}

func (r *tour) evidence() {
	a := r.saveID(
		"assessmentId",
		r.call(api.CreateAssessment.Operation, "", `{"name": "Harbor", "framework_id": "iso-27001-2022", "due_date": "2027-01-29"}`),
	)
	r.call(api.GetAssessment.Operation, "", "")
	r.call(
		api.UpdateAssessment.Operation,
		"",
		`{"description": "All of it", "due_date": null}`,
		"If-Match",
		`"`+strconv.Itoa(int(a["revision"].(float64)))+`"`,
	)
	r.expectError(api.UpdateAssessment.Operation, "", `{"name": "Late"}`, api.CodeValidation, "If-Match", `"99"`)
	r.expectError(api.Transition.Operation, "", `{"target_state": "closed"}`, api.CodeInvalidState)

	names, err := fs.Glob(harbor.Evidence(), "*")
	if err != nil {
		r.t.Fatal(err)
	}
	var last []byte
	for _, name := range names {
		b, err := harbor.Evidence().Open(name)
		if err != nil {
			r.t.Fatal(err)
		}
		if last, err = io.ReadAll(b); err != nil {
			r.t.Fatal(err)
		}
		b.Close()
		r.saveID("documentId", r.upload(api.UploadDocument.Operation, name, last, "category", "policy"))
	}
	r.upload(api.UploadDocument.Operation, names[len(names)-1], last) // the same file again returns 200
	r.moveTo(api.StateDocumentsIngested)
	r.call(api.ListDocuments.Operation, "?limit=2", "")
	r.call(api.GetDocument.Operation, "", "")
	r.call(api.GetDocumentStatus.Operation, "", "")
	r.call(api.DownloadDocument.Operation, "", "")
	r.call(api.DownloadDocument.Operation, "", "", "Range", "bytes=0-9")
	r.call(api.GetDocumentUses.Operation, "", "")
	r.call(api.ListDocumentChunks.Operation, "", "")
	r.call(api.ListKBDocumentChunks.Operation, "", "")
	r.saveID("chunkId", r.firstRecord(r.call(api.ListChunks.Operation, "?limit=5", "")))
	r.call(api.GetChunk.Operation, "", "")
	r.call(api.SearchKB.Operation, "", `{"query": "who reviews access rights?", "top_k": 3, "min_score": 0.1}`)
	r.call(api.GetKBStats.Operation, "", "")
	r.call(api.GetEmbeddingStatus.Operation, "", "")
	r.call(api.ReprocessDocument.Operation, "", "")
	r.moveTo(api.StateFrameworkSelected)
}

func (r *tour) scope() {
	r.saveID(
		"scopeId",
		r.call(
			api.PutScope.Operation,
			"",
			`{"title": "All of Harbor", "systems": ["Shop"], "traits": {"uses_cloud": true, "has_ot": null}}`,
		),
	)
	r.call(api.GetAssessmentScope.Operation, "", "")
	r.call(api.UpdateScope.Operation, "", `{"exclusions": ["The museum shop"]}`)
	r.call(api.GetScope.Operation, "", "")
	r.moveTo(api.StateScopeDrafted)
	r.call(api.SubmitScope.Operation, "", "")
	r.call(api.ApproveScope.Operation, "", "")
}

func (r *tour) soa() {
	r.saveID("soaVersionId", r.call(api.DraftSoA.Operation, "", ""))
	r.call(api.PreviewSoADraft.Operation, "", "")
	r.readers()
	r.corrections()
	r.call(api.ListSoA.Operation, "", "")
	r.call(api.GetSoA.Operation, "", "")
	item := r.saveID("soaItemId", r.firstRecord(r.call(api.ListSoAItems.Operation, "?limit=200", "")))
	r.call(api.GetSoAItem.Operation, "", "")
	r.call(
		api.UpdateSoAItem.Operation,
		"",
		`{"rationale": "The board asked for it.", "owner": "Ada", "needs_review": false}`,
		"If-Match",
		`"`+strconv.Itoa(int(item["revision"].(float64)))+`"`,
	)
	r.call(api.EditSoAItems.Operation, "", `{"where": "domain == '`+item["domain_code"].(string)+`'", "set": {"owner": "Ben"}}`)
	r.expectError(api.EditSoAItems.Operation, "", `{"where": "domane == 'IAC'", "set": {"owner": "Ben"}}`, api.CodeValidation)
	r.call(api.Undo.Operation, "", `{}`)
	r.call(api.DrawReview.Operation, "", `{"size": 3}`)
	r.call(api.GetReview.Operation, "", "")
	r.call(api.RefreshSoAEvidence.Operation, "", "")
	r.call(api.ValidateSoA.Operation, "", "")
	r.saveID("soaVersionId", r.call(api.RegenerateSoA.Operation, "", ""))
	r.moveTo(api.StateSoAUnderReview)
	r.expectError(api.Transition.Operation, "", `{"target_state": "soa_approved"}`, api.CodeApproval)
	r.saveID("approvalId", r.firstRecord(r.call(api.ListApprovals.Operation, "?status=pending", "")))
	r.call(api.GetApproval.Operation, "", "")
	r.call(api.RejectApproval.Operation, "", `{"reason": "Say more about the shop."}`)
	r.expectError(api.SubmitSoA.Operation, "", "", api.CodeInvalidState)
	r.saveID("soaVersionId", r.call(api.RegenerateSoA.Operation, "", ""))
	r.call(api.SubmitSoA.Operation, "", "")
	r.call(api.ApproveSoA.Operation, "", `{"comment": "Good."}`)
	r.expectError(api.ApproveSoA.Operation, "", `{"comment": "Again."}`, api.CodeInvalidState)
	r.moveTo(api.StateEvidenceAnalysisReady)
}

func (r *tour) corrections() {
	w := r.send(api.ListSoAItems.Operation, "?where="+url.QueryEscape("quotes > 0")+"&limit=1", "", nil)
	r.decodeSuccess(api.ListSoAItems.Operation, w)
	var items api.List[api.SoAItem]
	if err := json.Unmarshal(w.Body.Bytes(), &items); err != nil || len(items.Data) == 0 {
		r.t.Fatal(err, w.Body)
	}
	i := items.Data[0]
	r.saveID("correctionId", r.call(api.AddCorrection.Operation, "", fmt.Sprintf(
		`{"control_code": %q, "statement_number": 1, "chunk_id": %q, "decision": "refused"}`, i.ControlCode, i.Evidence[0].ChunkID)))
	r.call(api.ListCorrections.Operation, "?decision=refused", "")
	r.call(api.GetCorrection.Operation, "", "")
	r.call(api.GetCorrectionAgreement.Operation, "", "")
	r.call(api.RemoveCorrection.Operation, "", "")
}

func (r *tour) readers() {
	w := r.send(api.ExportReaderStatements.Operation, "", "", nil)
	r.decodeSuccess(api.ExportReaderStatements.Operation, w)
	var st struct {
		ID       string `json:"statement_id"`
		Passages []struct {
			Hash string `json:"passage_hash"`
		} `json:"passages"`
	}
	for line := range strings.Lines(w.Body.String()) {
		if err := json.Unmarshal([]byte(line), &st); err != nil {
			r.t.Fatal(err)
		}
		if len(st.Passages) > 0 {
			break
		}
	}
	if len(st.Passages) == 0 {
		r.t.Fatal("no passage to read")
	}
	line := `{"reader": "ada", "statement_id": "` + st.ID + `", "passage_hash": "` + st.Passages[0].Hash + `", "label": "silent"}`
	r.upload(api.ImportReadings.Operation, "readings.jsonl", []byte(line), "name", "ada")
	r.call(api.ListReaders.Operation, "", "")
	r.path["readerName"] = "ada"
	w = r.send(api.ExportReadings.Operation, "", "", nil)
	if r.decodeSuccess(api.ExportReadings.Operation, w); !strings.Contains(w.Body.String(), st.Passages[0].Hash) {
		r.t.Errorf("%s", w.Body)
	}
	r.saveID("soaVersionId", r.call(api.DraftSoA.Operation, "?reader=ada", ""))
	r.decodeSuccess(api.ExportReaderDecisions.Operation, r.send(api.ExportReaderDecisions.Operation, "", "", nil))
	r.expectError(api.DraftSoA.Operation, "?reader=nobody", "", api.CodeValidation)
	if left := r.call(api.GetModelReading.Operation, "", "")["statements_left"]; left == 0.0 {
		r.t.Error("nothing is left to read")
	}
	read := r.call(api.ReadWithModel.Operation, "", `{"seconds": 60}`)
	if read["statements_left"] != 0.0 {
		r.t.Errorf("%v", read)
	}
	r.saveID("soaVersionId", r.call(api.DraftSoA.Operation, "?reader=model", ""))
	r.saveID("soaVersionId", r.call(api.DraftSoA.Operation, "?reader=rules", ""))
}

func (r *tour) gap() {
	r.saveID("gapVersionId", r.call(api.DraftGap.Operation, "", ""))
	r.call(
		api.CreateGap.Operation,
		"",
		`{"control_id": "XYZ-01", "status": "not_implemented", "severity": "high", "due_date": "2027-03-01"}`,
	)
	r.call(api.ListGap.Operation, "", "")
	r.call(api.ListGaps.Operation, "?severity=high", "")
	r.call(api.GetGap.Operation, "", "")
	r.saveID("findingId", r.firstRecord(r.call(api.ListFindings.Operation, "?limit=3", "")))
	r.call(api.GetFinding.Operation, "", "")
	r.call(api.UpdateFinding.Operation, "", `{"owner": "Ada", "due_date": "2027-02-01", "severity": "medium"}`)
	r.call(api.EditFindings.Operation, "", `{"item_ids": ["`+r.path["findingId"]+`"], "set": {"status": "planned"}, "dry_run": true}`)
	r.call(api.GetGapSummary.Operation, "", "")
	r.saveID("gapVersionId", r.call(api.RegenerateGap.Operation, "", ""))
	r.call(api.SubmitGap.Operation, "", "")
	r.call(api.ApproveGap.Operation, "", "")
	r.moveTo(api.StateGapAnalysisApproved)
}

func (r *tour) maturity() {
	r.saveID("maturityVersionId", r.call(api.DraftMaturity.Operation, "", ""))
	r.call(api.ListMaturity.Operation, "", "")
	r.call(api.GetMaturity.Operation, "", "")
	r.saveID("maturityScoreId", r.firstRecord(r.call(api.ListMaturityScores.Operation, "?below_target=true", "")))
	r.call(api.GetMaturityScore.Operation, "", "")
	r.call(api.UpdateMaturityScore.Operation, "", `{"level": 2, "note": "Shown in a meeting"}`)
	r.call(api.EditMaturityScores.Operation, "", `{"where": "level == 2", "set": {"target_level": 3}}`)
	r.call(api.GetMaturitySummary.Operation, "", "")
	r.saveID("maturityVersionId", r.call(api.RegenerateMaturity.Operation, "", ""))
	r.call(api.SubmitMaturity.Operation, "", "")
	r.call(api.ApproveMaturity.Operation, "", "")
	r.moveTo(api.StateMaturityApproved)
}

func (r *tour) poam() {
	r.saveID("poamVersionId", r.call(api.DraftPOAM.Operation, "", ""))
	r.call(api.ListPOAM.Operation, "", "")
	r.call(api.GetPOAM.Operation, "", "")
	r.saveID("poamItemId", r.firstRecord(r.call(api.ListPOAMItems.Operation, "?limit=5", "")))
	r.call(api.GetPOAMItem.Operation, "", "")
	r.call(
		api.UpdatePOAMItem.Operation,
		"",
		`{"owner": "Ada", "status": "in_progress", "milestones": [{"title": "Ordered", "due_date": "2099-01-15", "status": "open"}]}`,
	)
	r.call(api.EditPOAMItems.Operation, "", `{"where": "status == 'in_progress'", "set": {"owner": "Ben"}}`)
	r.call(api.GetPOAMSummary.Operation, "", "")
	r.call(api.SubmitPOAM.Operation, "", "")
	r.saveID("approvalId", r.firstRecord(r.call(api.ListApprovals.Operation, "?status=pending&gate=poam", "")))
	r.saveID("commentId", r.call(api.AddComment.Operation, "", `{"text": "Ready?", "approval_id": "`+r.path["approvalId"]+`"}`))
	r.call(api.AddComment.Operation, "", `{"text": "Yes.", "reply_to": "`+r.path["commentId"]+`"}`)
	r.call(api.ListComments.Operation, "?gate=poam", "")
	r.call(api.GetComment.Operation, "", "")
	r.call(api.Approve.Operation, "", `{"comment": "Go."}`)
	r.expectError(api.RejectApproval.Operation, "", `{"reason": "Too late."}`, api.CodeInvalidState)
	r.integrations()
	r.saveID("poamVersionId", r.call(api.DraftPOAM.Operation, "", ""))
	r.call(api.SubmitPOAM.Operation, "", "")
	r.call(api.ApprovePOAM.Operation, "", "")
	r.moveTo(api.StatePOAMApproved)
}

// smallLogo is a PNG of 16 by 16 pixels.
const smallLogo = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mMQMgkjCTGMahjVMHw1AACtApwBsgWS9AAAAABJRU5ErkJggg=="

func (r *tour) reports() {
	r.saveID("reportId", r.call(api.CreateReport.Operation, "", `{"format": "html", "template": "executive_summary"}`))
	r.call(api.GenerateReport.Operation, "", "")
	r.call(api.ListReports.Operation, "", "")
	r.call(api.GetReport.Operation, "", "")
	r.call(api.DownloadReport.Operation, "", "")
	r.call(api.RenderReport.Operation, "", "")
	r.call(api.VerifyReport.Operation, "", "")
	r.call(api.LintLayout.Operation, "", `{"format": "md", "layout": "{{.title}}"}`)
	r.call(api.GetExampleLayout.Operation, "", "")
	r.path["orgId"] = r.org
	r.call(api.PutBranding.Operation, "", `{"accent": "#123456", "footer": "Prepared by Acme Consulting", "logo": "`+smallLogo+`"}`)
	r.call(api.GetBranding.Operation, "", "")
	r.call(api.DeleteBranding.Operation, "", "")
	r.call(api.GetExecutiveSummary.Operation, "", "")
	r.saveID("artifactId", r.firstRecord(r.call(api.ListArtifacts.Operation, "", "")))
	r.path["versionNumber"] = "1"
	r.call(api.GetArtifact.Operation, "", "")
	r.call(api.ListArtifactVersions.Operation, "", "")
	r.call(api.GetArtifactVersion.Operation, "", "")
	r.call(api.DiffArtifact.Operation, "?from=1&to=2", "")
	r.expectError(api.DiffArtifact.Operation, "?from=1&to=99", "", api.CodeValidation)
	r.decodeSuccess(api.ExportAssessment.Operation, r.send(api.ExportAssessment.Operation, "", "", nil))
}

func (r *tour) observe() {
	r.path["orgId"] = r.org
	for _, op := range []*api.Operation{
		api.GetHealth.Operation, api.GetHealthV1.Operation, api.GetHealthDetailed.Operation, api.GetServiceHealth.Operation,
		api.ListMyOrganizations.Operation, api.GetDashboard.Operation, api.ListAssessments.Operation, api.GetAssessmentSummary.Operation,
		api.GetAssessmentTrend.Operation, api.GetTimeline.Operation, api.ListLifecycleEvents.Operation, api.ListAuditEvents.Operation,
		api.ListImportRuns.Operation,
	} {
		r.call(op, "", "")
	}
	r.call(api.ListAuditEvents.Operation, "?action=assessment.&since=2020-01-01T00:00:00Z&until=2099-01-01T00:00:00Z", "")
	r.expectError(api.GetTimeline.Operation, "?since=yesterday", "", api.CodeValidation)
	if v := r.call(api.VerifyAudit.Operation, "", ""); v["ok"] != true {
		r.t.Errorf("the audit chain: %v", v)
	}
	if v := r.call(api.VerifyData.Operation, "", ""); v["ok"] != true {
		r.t.Errorf("the data: %v", v)
	}
	r.call(api.GetAuditHead.Operation, "", "")
	r.decodeSuccess(api.ExportAudit.Operation, r.send(api.ExportAudit.Operation, "?outcome=denied", "", nil))
}

// smallWorkbook returns a workbook of a catalog with one control.
func smallWorkbook(t testing.TB) []byte {
	f := excelize.NewFile()
	defer f.Close()
	rows := [][]any{{
		"SCF Domain", "SCF Control", "SCF #", "Secure Controls Framework (SCF)\nControl Description", "SCF Control Question",
		"Relative Control Weighting", "NIST\nCSF\nv2.0",
	}, {"Governance", "Steering", "GOV-01", "Someone steers.", "Does someone steer?", 9, "GV.RR-01"}}
	for i := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow("Sheet1", cell, &rows[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := f.SetSheetName("Sheet1", "SCF 2030.1"); err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func (r *tour) imports() {
	workbook := smallWorkbook(r.t)
	r.upload(api.DryRunWorkbook.Operation, "scf.xlsx", workbook)
	r.saveID("importRunId", r.upload(api.ImportWorkbook.Operation, "scf.xlsx", workbook, "label", "2030.1"))
	r.call(api.ListImportRuns.Operation, "", "")
	r.call(api.GetImportRun.Operation, "", "")

	strm := excelize.NewFile()
	defer strm.Close()
	for i, row := range [][]any{
		{"Focal Document:", "NIST CSF 2.0"},
		{"Reference Document:", "Secure Controls Framework (SCF) version 2030.1"},
		nil, nil,
		{
			"FDE#", "FDE Name", "Focal Document Element (FDE) Description", "STRM\nRationale", "STRM\nRelationship",
			"SCF Control", "SCF #", "Strength of\nRelationship (optional)", "Notes",
		},
		{"GV.RR-01", "Leaders", "Someone steers.", "Functional", "Subset Of", "Steering", "GOV-01", 10, nil},
	} {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := strm.SetSheetRow("Sheet1", cell, &row); err != nil {
			r.t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := strm.Write(&b); err != nil {
		r.t.Fatal(err)
	}
	r.upload(api.DryRunSTRM.Operation, "scf-strm-general-nist-csf-2-0.xlsx", b.Bytes(), "framework", "nist-csf-2.0")
	r.upload(api.ImportSTRM.Operation, "scf-strm-general-nist-csf-2-0.xlsx", b.Bytes(), "framework", "nist-csf-2.0", "version", "2030.1")
	r.path["scfVersionId"] = "2030.1"
	for _, op := range []*api.Operation{
		api.ListVersionEvidence.Operation,
		api.ListVersionRisks.Operation,
		api.ListVersionThreats.Operation,
		api.ListVersionPrinciples.Operation,
	} {
		r.call(op, "?limit=5", "")
	}
	r.call(api.DiffVersions.Operation, "?from=latest", "")
	w := r.send(api.ExportCatalog.Operation, "", "", nil)
	r.decodeSuccess(api.ExportCatalog.Operation, w)
	r.call(api.ImportStructured.Operation, "", `{"label": "2030.2", "dry_run": true, "source": `+w.Body.String()+`}`)
	r.expectError(api.ImportStructured.Operation, "", `{"source": {"controls": 7}}`, api.CodeValidation)
}

func (r *tour) workflows() {
	r.saveID("assessmentId", r.call(api.CreateAssessment.Operation, "", `{"name": "Flow", "framework_ids": ["nist-csf-2.0"]}`))
	r.expectError(api.GetLifecycleWorkflow.Operation, "", "", api.CodeNotFound)
	r.expectError(api.StartWorkflow.Operation, "", `{"workflow_type": "gap_refresh"}`, api.CodeInvalidState)
	r.saveID("workflowRunId", r.call(api.StartWorkflow.Operation, "", `{"workflow_type": "report", "start_at": "2099-01-01T00:00:00Z"}`))
	r.call(api.CancelWorkflow.Operation, "", "")
	r.expectError(api.ResumeWorkflow.Operation, "", "", api.CodeInvalidState)
	if events := r.send(api.WatchWorkflow.Operation, "", "", nil, "Last-Event-ID", "1"); !strings.HasSuffix(events.Body.String(), "\n\n") ||
		!strings.Contains(events.Body.String(), "event: end\n") || events.Header().Get("Content-Type") != "text/event-stream" {
		r.t.Errorf("the events are %v %s", events.Header(), events.Body)
	} else {
		r.decodeSuccess(api.WatchWorkflow.Operation, events)
	}
	r.saveID("workflowRunId", r.call(api.StartLifecycle.Operation, "", ""))
	r.call(api.GetWorkflow.Operation, "", "")
	r.call(api.GetLifecycleWorkflow.Operation, "", "")
	r.call(api.ListWorkflows.Operation, "?workflow_type=full_assessment", "")
	r.call(api.SignalWorkflow.Operation, "", `{"name": "continue", "payload": {"by": "the tour"}}`)
	r.call(api.ResumeWorkflow.Operation, "", "")
	r.call(api.CancelWorkflow.Operation, "", "")
	r.expectError(api.SignalWorkflow.Operation, "", `{"name": "continue"}`, api.CodeInvalidState)
}

func (r *tour) remove() {
	other := r.call(api.CreateAssessment.Operation, "", `{"name": "Short", "framework_ids": ["nist-csf-2.0"]}`)
	r.saveID("assessmentId", other)
	r.saveID("documentId", r.upload(api.UploadDocument.Operation, "note.txt", []byte("Access is reviewed every quarter.\n")))
	r.call(api.DeleteDocument.Operation, "", "")
	r.expectError(api.GetDocument.Operation, "", "", api.CodeNotFound)
	r.call(api.MigrateAssessment.Operation, "", `{"to": "2030.1", "dry_run": true}`)
	r.call(api.ChangeFrameworks.Operation, "", `{"add": ["nist-csf-2.0"]}`)
	r.call(api.DeleteAssessment.Operation, "", "")
	r.expectError(api.GetAssessment.Operation, "", "", api.CodeNotFound)
}
