package daemon_test

import (
	"bytes"
	"encoding/json"
	"io"
	"io/fs"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/examples/harbor"
)

// tour calls operations one after the other, each judged by the document, and
// notes which were done.
type tour struct {
	t    *testing.T
	h    http.Handler
	net  http.Handler // the same server as seen from the network
	org  string
	path map[string]string // parameters by name
	done map[string]bool
}

func newTour(t *testing.T) *tour {
	s := newServer(t)
	h := judged(t, s.LocalHandler())
	return &tour{t: t, h: h, net: judged(t, s.Handler()), org: localOrganization(t, h), path: map[string]string{}, done: map[string]bool{}}
}

// send calls an operation and returns its answer; query begins with "?" or is empty.
func (r *tour) send(op *api.Operation, query, kind string, body io.Reader, header ...string) *httptest.ResponseRecorder {
	r.t.Helper()
	path := parameter.ReplaceAllStringFunc(op.Path, func(p string) string {
		v := r.path[strings.Trim(p, "{}")]
		if v == "" {
			r.t.Fatalf("%s: the tour knows no %s", op.ID, p)
		}
		return url.PathEscape(v)
	})
	req := httptest.NewRequestWithContext(r.t.Context(), op.Method, path+query, body)
	req.Header.Set(api.TenantHeader, r.org)
	if kind != "" {
		req.Header.Set("Content-Type", kind)
	}
	for i := 0; i+1 < len(header); i += 2 {
		req.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	r.h.ServeHTTP(w, req)
	return w
}

// ask calls an operation that has to go well, and returns what it answers.
func (r *tour) ask(op *api.Operation, query, body string, header ...string) node {
	r.t.Helper()
	kind := ""
	if body != "" {
		kind = "application/json"
	}
	w := r.send(op, query, kind, strings.NewReader(body), header...)
	return r.took(op, w)
}

func (r *tour) took(op *api.Operation, w *httptest.ResponseRecorder) node {
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

// refused calls an operation that has to answer with a code.
func (r *tour) refused(op *api.Operation, query, body string, want api.ErrorCode, header ...string) {
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
	return r.took(op, r.send(op, "", form.FormDataContentType(), &b))
}

// note keeps the id of a record for the paths that follow.
func (r *tour) note(name string, record node) node {
	r.path[name] = record["id"].(string)
	return record
}

// first is the first record of a list.
func (r *tour) first(list node) node {
	r.t.Helper()
	data, _ := list["data"].([]any)
	if len(data) == 0 {
		r.t.Fatalf("an empty list: %v", list)
	}
	return data[0].(map[string]any)
}

func (r *tour) move(to api.State) {
	r.t.Helper()
	for {
		st := r.ask(api.GetAssessmentStatus.Operation, "", "")
		if st["state"] == string(to) {
			return
		}
		r.ask(api.Transition.Operation, "", `{"target_state": "`+st["next_states"].([]any)[0].(string)+`"}`)
	}
}

// Every operation that is in this build goes well at least once, and nothing it
// is sent or answers differs from the document.
func TestEveryOperationAgainstTheDocument(t *testing.T) {
	r := newTour(t)
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
	r.lists()
	r.people()
	r.sessions()
	r.own()
	r.imports()
	r.workflows()
	r.remove()

	for _, op := range api.Operations() {
		if !r.done[op.ID] {
			t.Errorf("nothing calls %s", op.ID)
		}
	}
}

func (r *tour) catalog() {
	version := r.note("scfVersionId", r.ask(api.GetLatestVersion.Operation, "", ""))
	r.path["controlCode"], r.path["controlId"], r.path["frameworkId"] = "IAC-06", "IAC-06", "iso-27001-2022"
	r.ask(api.ListVersions.Operation, "", "")
	r.ask(api.GetVersion.Operation, "", "")
	r.ask(api.ListVersionDomains.Operation, "?limit=3", "")
	r.ask(api.ListVersionControls.Operation, "?limit=3&domain_code=IAC&q=factor", "")
	r.ask(api.ListDomains.Operation, "?limit=200", "")
	r.ask(api.ListControls.Operation, "?domain=IAC&framework=iso-27001-2022&q=factor&version="+version["label"].(string), "")
	r.ask(api.GetControl.Operation, "", "")
	r.ask(api.GetControlByCode.Operation, "", "")
	mapping := r.first(r.ask(api.ListControlMappings.Operation, "", ""))
	r.path["requirementId"] = mapping["requirement_id"].(string)
	r.ask(api.ListRequirementMappings.Operation, "", "")
	r.ask(api.ListFrameworks.Operation, "?q=iso", "")
	r.ask(api.GetFramework.Operation, "", "")
	r.ask(api.ListRequirements.Operation, "?limit=200", "")
	r.ask(api.GetCoverage.Operation, "", "")
	r.ask(api.GetCrosswalk.Operation, "?framework=iso-27001-2022", "")
	r.ask(api.GetCrosswalk.Operation, "?framework=iso-27001-2022&target=nist-csf-2.0", "")
	r.refused(api.GetCrosswalk.Operation, "", "", api.CodeValidation)
	r.path["controlId"] = "NOPE-99"
	r.refused(api.GetControl.Operation, "", "", api.CodeNotFound)
	r.path["controlId"] = "IAC-06"
}

func (r *tour) evidence() {
	a := r.note(
		"assessmentId",
		r.ask(api.CreateAssessment.Operation, "", `{"name": "Harbor", "framework_id": "iso-27001-2022", "due_date": "2027-01-29"}`),
	)
	r.ask(api.GetAssessment.Operation, "", "")
	r.ask(
		api.UpdateAssessment.Operation,
		"",
		`{"description": "All of it", "due_date": null}`,
		"If-Match",
		`"`+strconv.Itoa(int(a["revision"].(float64)))+`"`,
	)
	r.refused(api.UpdateAssessment.Operation, "", `{"name": "Late"}`, api.CodeValidation, "If-Match", `"99"`)
	r.refused(api.Transition.Operation, "", `{"target_state": "closed"}`, api.CodeInvalidState)

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
		r.note("documentId", r.upload(api.UploadDocument.Operation, name, last, "category", "policy"))
	}
	r.upload(api.UploadDocument.Operation, names[len(names)-1], last) // the same again: 200
	r.move(api.StateDocumentsIngested)
	r.ask(api.ListDocuments.Operation, "?limit=2", "")
	r.ask(api.GetDocument.Operation, "", "")
	r.ask(api.GetDocumentStatus.Operation, "", "")
	r.ask(api.DownloadDocument.Operation, "", "")
	r.ask(api.DownloadDocument.Operation, "", "", "Range", "bytes=0-9")
	r.ask(api.ListDocumentChunks.Operation, "", "")
	r.ask(api.ListKBDocumentChunks.Operation, "", "")
	r.note("chunkId", r.first(r.ask(api.ListChunks.Operation, "?limit=5", "")))
	r.ask(api.GetChunk.Operation, "", "")
	r.ask(api.SearchKB.Operation, "", `{"query": "who reviews access rights?", "top_k": 3, "min_score": 0.1}`)
	r.ask(api.GetKBStats.Operation, "", "")
	r.ask(api.GetEmbeddingStatus.Operation, "", "")
	r.ask(api.ReprocessDocument.Operation, "", "")
	r.move(api.StateFrameworkSelected)
}

func (r *tour) scope() {
	r.note(
		"scopeId",
		r.ask(
			api.PutScope.Operation,
			"",
			`{"title": "All of Harbor", "systems": ["Shop"], "traits": {"uses_cloud": true, "has_ot": null}}`,
		),
	)
	r.ask(api.GetAssessmentScope.Operation, "", "")
	r.ask(api.UpdateScope.Operation, "", `{"exclusions": ["The museum shop"]}`)
	r.ask(api.GetScope.Operation, "", "")
	r.move(api.StateScopeDrafted)
	r.ask(api.SubmitScope.Operation, "", "")
	r.ask(api.ApproveScope.Operation, "", "")
}

func (r *tour) soa() {
	r.note("soaVersionId", r.ask(api.DraftSoA.Operation, "", ""))
	r.ask(api.ListSoA.Operation, "", "")
	r.ask(api.GetSoA.Operation, "", "")
	item := r.note("soaItemId", r.first(r.ask(api.ListSoAItems.Operation, "?limit=200", "")))
	r.ask(api.GetSoAItem.Operation, "", "")
	r.ask(
		api.UpdateSoAItem.Operation,
		"",
		`{"rationale": "The board asked for it.", "owner": "Ada", "needs_review": false}`,
		"If-Match",
		`"`+strconv.Itoa(int(item["revision"].(float64)))+`"`,
	)
	r.ask(api.RefreshSoAEvidence.Operation, "", "")
	r.ask(api.ValidateSoA.Operation, "", "")
	r.note("soaVersionId", r.ask(api.RegenerateSoA.Operation, "", ""))
	r.move(api.StateSoAUnderReview)
	r.refused(api.Transition.Operation, "", `{"target_state": "soa_approved"}`, api.CodeApproval)
	r.note("approvalId", r.first(r.ask(api.ListApprovals.Operation, "?status=pending", "")))
	r.ask(api.GetApproval.Operation, "", "")
	r.ask(api.RejectApproval.Operation, "", `{"reason": "Say more about the shop."}`)
	r.refused(api.SubmitSoA.Operation, "", "", api.CodeInvalidState)
	r.note("soaVersionId", r.ask(api.RegenerateSoA.Operation, "", ""))
	r.ask(api.SubmitSoA.Operation, "", "")
	r.ask(api.ApproveSoA.Operation, "", `{"comment": "Good."}`)
	r.refused(api.ApproveSoA.Operation, "", `{"comment": "Again."}`, api.CodeInvalidState)
	r.move(api.StateEvidenceAnalysisReady)
}

func (r *tour) gap() {
	r.note("gapVersionId", r.ask(api.DraftGap.Operation, "", ""))
	r.ask(
		api.CreateGap.Operation,
		"",
		`{"control_id": "XYZ-01", "status": "not_implemented", "severity": "high", "due_date": "2027-03-01"}`,
	)
	r.ask(api.ListGap.Operation, "", "")
	r.ask(api.ListGaps.Operation, "?severity=high", "")
	r.ask(api.GetGap.Operation, "", "")
	r.note("findingId", r.first(r.ask(api.ListFindings.Operation, "?limit=3", "")))
	r.ask(api.GetFinding.Operation, "", "")
	r.ask(api.UpdateFinding.Operation, "", `{"owner": "Ada", "due_date": "2027-02-01", "severity": "medium"}`)
	r.ask(api.GetGapSummary.Operation, "", "")
	r.note("gapVersionId", r.ask(api.RegenerateGap.Operation, "", ""))
	r.ask(api.SubmitGap.Operation, "", "")
	r.ask(api.ApproveGap.Operation, "", "")
	r.move(api.StateGapAnalysisApproved)
}

func (r *tour) maturity() {
	r.note("maturityVersionId", r.ask(api.DraftMaturity.Operation, "", ""))
	r.ask(api.ListMaturity.Operation, "", "")
	r.ask(api.GetMaturity.Operation, "", "")
	r.note("maturityScoreId", r.first(r.ask(api.ListMaturityScores.Operation, "?below_target=true", "")))
	r.ask(api.GetMaturityScore.Operation, "", "")
	r.ask(api.UpdateMaturityScore.Operation, "", `{"level": 2, "note": "Shown in a meeting"}`)
	r.ask(api.GetMaturitySummary.Operation, "", "")
	r.note("maturityVersionId", r.ask(api.RegenerateMaturity.Operation, "", ""))
	r.ask(api.SubmitMaturity.Operation, "", "")
	r.ask(api.ApproveMaturity.Operation, "", "")
	r.move(api.StateMaturityApproved)
}

func (r *tour) poam() {
	r.note("poamVersionId", r.ask(api.DraftPOAM.Operation, "", ""))
	r.ask(api.ListPOAM.Operation, "", "")
	r.ask(api.GetPOAM.Operation, "", "")
	r.note("poamItemId", r.first(r.ask(api.ListPOAMItems.Operation, "?limit=5", "")))
	r.ask(api.GetPOAMItem.Operation, "", "")
	r.ask(
		api.UpdatePOAMItem.Operation,
		"",
		`{"owner": "Ada", "status": "in_progress", "milestones": [{"title": "Ordered", "due_date": "2099-01-15", "status": "open"}]}`,
	)
	r.ask(api.GetPOAMSummary.Operation, "", "")
	r.ask(api.SubmitPOAM.Operation, "", "")
	r.note("approvalId", r.first(r.ask(api.ListApprovals.Operation, "?status=pending&gate=poam", "")))
	r.note("commentId", r.ask(api.AddComment.Operation, "", `{"text": "Ready?", "approval_id": "`+r.path["approvalId"]+`"}`))
	r.ask(api.AddComment.Operation, "", `{"text": "Yes.", "reply_to": "`+r.path["commentId"]+`"}`)
	r.ask(api.ListComments.Operation, "?gate=poam", "")
	r.ask(api.GetComment.Operation, "", "")
	r.ask(api.Approve.Operation, "", `{"comment": "Go."}`)
	r.refused(api.RejectApproval.Operation, "", `{"reason": "Too late."}`, api.CodeInvalidState)
	r.integrations()
	r.note("poamVersionId", r.ask(api.DraftPOAM.Operation, "", ""))
	r.ask(api.SubmitPOAM.Operation, "", "")
	r.ask(api.ApprovePOAM.Operation, "", "")
	r.move(api.StatePOAMApproved)
}

// smallLogo is a PNG of 16 by 16 pixels.
const smallLogo = "iVBORw0KGgoAAAANSUhEUgAAABAAAAAQCAIAAACQkWg2AAAAFklEQVR42mMQMgkjCTGMahjVMHw1AACtApwBsgWS9AAAAABJRU5ErkJggg=="

func (r *tour) reports() {
	r.note("reportId", r.ask(api.CreateReport.Operation, "", `{"format": "html", "template": "executive_summary"}`))
	r.ask(api.GenerateReport.Operation, "", "")
	r.ask(api.ListReports.Operation, "", "")
	r.ask(api.GetReport.Operation, "", "")
	r.ask(api.DownloadReport.Operation, "", "")
	r.ask(api.RenderReport.Operation, "", "")
	r.ask(api.VerifyReport.Operation, "", "")
	r.path["orgId"] = r.org
	r.ask(api.PutBranding.Operation, "", `{"accent": "#123456", "footer": "Prepared by Acme Consulting", "logo": "`+smallLogo+`"}`)
	r.ask(api.GetBranding.Operation, "", "")
	r.ask(api.DeleteBranding.Operation, "", "")
	r.ask(api.GetExecutiveSummary.Operation, "", "")
	r.note("artifactId", r.first(r.ask(api.ListArtifacts.Operation, "", "")))
	r.path["versionNumber"] = "1"
	r.ask(api.GetArtifact.Operation, "", "")
	r.ask(api.ListArtifactVersions.Operation, "", "")
	r.ask(api.GetArtifactVersion.Operation, "", "")
	r.ask(api.DiffArtifact.Operation, "?from=1&to=2", "")
	r.refused(api.DiffArtifact.Operation, "?from=1&to=99", "", api.CodeValidation)
	r.took(api.ExportAssessment.Operation, r.send(api.ExportAssessment.Operation, "", "", nil))
}

func (r *tour) observe() {
	r.path["orgId"] = r.org
	for _, op := range []*api.Operation{
		api.GetHealth.Operation, api.GetHealthV1.Operation, api.GetHealthDetailed.Operation, api.GetServiceHealth.Operation,
		api.ListMyOrganizations.Operation, api.GetDashboard.Operation, api.ListAssessments.Operation, api.GetAssessmentSummary.Operation,
		api.GetTimeline.Operation, api.ListLifecycleEvents.Operation, api.ListAuditEvents.Operation, api.ListImportRuns.Operation,
	} {
		r.ask(op, "", "")
	}
	r.ask(api.ListAuditEvents.Operation, "?action=assessment.&since=2020-01-01T00:00:00Z&until=2099-01-01T00:00:00Z", "")
	r.refused(api.GetTimeline.Operation, "?since=yesterday", "", api.CodeValidation)
	if v := r.ask(api.VerifyAudit.Operation, "", ""); v["ok"] != true {
		r.t.Errorf("the audit chain: %v", v)
	}
	r.ask(api.GetAuditHead.Operation, "", "")
	r.took(api.ExportAudit.Operation, r.send(api.ExportAudit.Operation, "?outcome=denied", "", nil))
}

func (r *tour) imports() {
	f := excelize.NewFile()
	defer f.Close()
	rows := [][]any{{
		"SCF Domain", "SCF Control", "SCF #", "Secure Controls Framework (SCF)\nControl Description", "SCF Control Question",
		"Relative Control Weighting", "NIST\nCSF\nv2.0",
	}, {"Governance", "Steering", "GOV-01", "Someone steers.", "Does someone steer?", 9, "GV.RR-01"}}
	for i := range rows {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow("Sheet1", cell, &rows[i]); err != nil {
			r.t.Fatal(err)
		}
	}
	if err := f.SetSheetName("Sheet1", "SCF 2030.1"); err != nil {
		r.t.Fatal(err)
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		r.t.Fatal(err)
	}
	r.upload(api.DryRunWorkbook.Operation, "scf.xlsx", b.Bytes())
	r.note("importRunId", r.upload(api.ImportWorkbook.Operation, "scf.xlsx", b.Bytes(), "label", "2030.1"))
	r.ask(api.ListImportRuns.Operation, "", "")
	r.ask(api.GetImportRun.Operation, "", "")

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
	b.Reset()
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
		r.ask(op, "?limit=5", "")
	}
	r.ask(api.DiffVersions.Operation, "?from=latest", "")
	w := r.send(api.ExportCatalog.Operation, "", "", nil)
	r.took(api.ExportCatalog.Operation, w)
	r.ask(api.ImportStructured.Operation, "", `{"label": "2030.2", "dry_run": true, "source": `+w.Body.String()+`}`)
	r.refused(api.ImportStructured.Operation, "", `{"source": {"controls": 7}}`, api.CodeValidation)
}

func (r *tour) workflows() {
	r.note("assessmentId", r.ask(api.CreateAssessment.Operation, "", `{"name": "Flow", "framework_ids": ["nist-csf-2.0"]}`))
	r.refused(api.GetLifecycleWorkflow.Operation, "", "", api.CodeNotFound)
	r.refused(api.StartWorkflow.Operation, "", `{"workflow_type": "gap_refresh"}`, api.CodeInvalidState)
	r.note("workflowRunId", r.ask(api.StartWorkflow.Operation, "", `{"workflow_type": "report", "start_at": "2099-01-01T00:00:00Z"}`))
	r.ask(api.CancelWorkflow.Operation, "", "")
	r.refused(api.ResumeWorkflow.Operation, "", "", api.CodeInvalidState)
	if events := r.send(api.WatchWorkflow.Operation, "", "", nil, "Last-Event-ID", "1"); !strings.HasSuffix(events.Body.String(), "\n\n") ||
		!strings.Contains(events.Body.String(), "event: end\n") || events.Header().Get("Content-Type") != "text/event-stream" {
		r.t.Errorf("the events are %v %s", events.Header(), events.Body)
	} else {
		r.took(api.WatchWorkflow.Operation, events)
	}
	r.note("workflowRunId", r.ask(api.StartLifecycle.Operation, "", ""))
	r.ask(api.GetWorkflow.Operation, "", "")
	r.ask(api.GetLifecycleWorkflow.Operation, "", "")
	r.ask(api.ListWorkflows.Operation, "?workflow_type=full_assessment", "")
	r.ask(api.SignalWorkflow.Operation, "", `{"name": "go_on", "payload": {"by": "the tour"}}`)
	r.ask(api.ResumeWorkflow.Operation, "", "")
	r.ask(api.CancelWorkflow.Operation, "", "")
	r.refused(api.SignalWorkflow.Operation, "", `{"name": "go_on"}`, api.CodeInvalidState)
}

func (r *tour) remove() {
	other := r.ask(api.CreateAssessment.Operation, "", `{"name": "Short", "framework_ids": ["nist-csf-2.0"]}`)
	r.note("assessmentId", other)
	r.note("documentId", r.upload(api.UploadDocument.Operation, "note.txt", []byte("Access is reviewed every quarter.\n")))
	r.ask(api.DeleteDocument.Operation, "", "")
	r.refused(api.GetDocument.Operation, "", "", api.CodeNotFound)
	r.ask(api.MigrateAssessment.Operation, "", `{"to": "2030.1", "dry_run": true}`)
	r.ask(api.DeleteAssessment.Operation, "", "")
	r.refused(api.GetAssessment.Operation, "", "", api.CodeNotFound)
}
