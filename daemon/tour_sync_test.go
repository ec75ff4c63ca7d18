package daemon_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/scf-service/service/api"
)

// clones syncs the assessment with another server, with a change made on both sides.
func (r *tour) clones() {
	away := newTour(r.t)
	away.done = r.done
	id := r.path["assessmentId"]
	away.path["assessmentId"] = id
	r.expectError(api.GetSyncChanges.Operation, "?replica_id=none", "", api.CodeNotFound)
	joined := r.call(api.JoinSync.Operation, "", fmt.Sprintf(`{"assessment_id": %q, "name": "laptop"}`, id))
	catalog := r.send(api.GetSyncCatalog.Operation, "", "", http.NoBody)
	r.decodeSuccess(api.GetSyncCatalog.Operation, catalog)
	away.upload(api.UploadSyncCatalog.Operation, "catalog", catalog.Body.Bytes())
	away.importCustom(r)
	away.call(
		api.AttachSync.Operation,
		"",
		fmt.Sprintf(`{"assessment_id": %q, "server": "https://home.example", "replica_id": %q, "catalog_sha256": %q}`,
			id, joined["replica_id"], joined["catalog_sha256"]),
	)

	came := r.call(api.GetSyncChanges.Operation, fmt.Sprintf("?replica_id=%s&since=0", joined["replica_id"]), "")
	files, _ := json.Marshal(map[string]any{"sha256": came["files"]})
	away.call(api.MissingSyncFiles.Operation, "", string(files))
	tar := r.send(api.DownloadSyncFiles.Operation, "", "application/json", strings.NewReader(string(files)))
	r.decodeSuccess(api.DownloadSyncFiles.Operation, tar)
	away.upload(api.UploadSyncFiles.Operation, "files.tar", tar.Body.Bytes())
	data := func(parcel node) []byte {
		b, err := base64.StdEncoding.DecodeString(parcel["data"].(string))
		if err != nil {
			r.t.Fatal(err)
		}
		return b
	}
	away.upload(api.ApplySync.Operation, "changes", data(came))

	away.call(api.UpdateAssessment.Operation, "", `{"description": "from the plane"}`)
	r.call(api.UpdateAssessment.Operation, "", `{"description": "from the office"}`)
	batch := away.call(api.PrepareSync.Operation, "", "")
	if out := r.upload(api.PushSync.Operation, "batch", data(batch), "dry_run", "true"); out["conflicts"] != 1.0 {
		r.t.Errorf("a dry run tells of %v", out)
	}
	r.upload(api.PushSync.Operation, "batch", data(batch))
	away.call(api.AcknowledgeSync.Operation, "", fmt.Sprintf(`{"counter": %v}`, batch["counter"]))
	r.call(api.GetSyncStatus.Operation, "", "")
	conflict := r.saveID("conflictId", r.firstRecord(r.call(api.ListSyncConflicts.Operation, "?status=open&assessment_id="+id, "")))
	if conflict["field"] != "description" {
		r.t.Errorf("the conflict is %v", conflict)
	}
	r.call(api.GetSyncConflict.Operation, "", "")
	r.call(api.ResolveSyncConflict.Operation, "", `{"choice": "value", "value": "from both"}`)
	r.expectError(api.ResolveSyncConflict.Operation, "", `{"choice": "remote"}`, api.CodeInvalidState)
	r.bundles()
	r.call(api.DetachSync.Operation, "", "")
	r.expectError(api.DetachSync.Operation, "", "", api.CodeNotFound)
}

// bundles transfers the assessment to another organization by bundle, and a bundle back.
func (r *tour) bundles() {
	r.expectError(api.WriteSyncBundle.Operation, "", `{}`, api.CodeInvalidState)
	here, there := r.call(api.GetOrCreateSyncKey.Operation, "", `{}`), newTour(r.t)
	there.done, there.path["assessmentId"] = r.done, r.path["assessmentId"]
	key := there.call(api.GetOrCreateSyncKey.Operation, "", `{"replace": true}`)
	r.expectError(api.TrustSyncPeer.Operation, "", `{"key": "service-key-1.none"}`, api.CodeValidation)
	r.saveID("peerId", r.call(api.TrustSyncPeer.Operation, "", fmt.Sprintf(`{"key": %q, "name": "on site"}`, key["key"])))
	there.call(api.TrustSyncPeer.Operation, "", fmt.Sprintf(`{"key": %q, "name": "office"}`, here["key"]))
	if all := r.call(api.ListSyncPeers.Operation, "", ""); r.firstRecord(all)["fingerprint"] != key["fingerprint"] {
		r.t.Errorf("the peers are %v", all)
	}
	bundle := r.send(api.WriteSyncBundle.Operation, "", "application/json", strings.NewReader(`{"include_catalog": true}`))
	r.decodeSuccess(api.WriteSyncBundle.Operation, bundle)
	if got := there.upload(api.ImportSyncBundle.Operation, "begin.bundle", bundle.Body.Bytes()); got["imported"] == 0.0 ||
		got["role"] != "clone" {
		r.t.Errorf("a bundle was taken as %v", got)
	}
	there.call(api.UpdateAssessment.Operation, "", `{"name": "named on site"}`)
	answer := there.send(api.WriteSyncBundle.Operation, "", "application/json", strings.NewReader(`{}`))
	if got := r.upload(api.ImportSyncBundle.Operation, "answer.bundle", answer.Body.Bytes(), "dry_run", "true"); got["applied"] != 1.0 {
		r.t.Errorf("a dry run tells of %v", got)
	}
	if got := r.upload(api.ImportSyncBundle.Operation, "answer.bundle", answer.Body.Bytes()); got["applied"] != 1.0 ||
		got["role"] != "remote" {
		r.t.Errorf("an answer was taken as %v", got)
	}
	r.call(api.DistrustSyncPeer.Operation, "", "")
	r.expectError(api.DistrustSyncPeer.Operation, "", "", api.CodeNotFound)
}

// importCustom transfers a custom framework to another organization for an assessment that uses it.
func (r *tour) importCustom(other *tour) {
	before := r.path["assessmentId"]
	r.call(
		api.CreateCustomFramework.Operation,
		"",
		`{"code": "away-rules", "name": "Rules away", "requirements": [{"code": "A-1", "title": "Doors are locked", "controls": ["IAC-06"]}]}`,
	)
	r.path["assessmentId"] = r.call(api.CreateAssessment.Operation, "", `{"name": "Away", "framework_id": "away-rules"}`)["id"].(string)
	joined := r.call(api.JoinSync.Operation, "", fmt.Sprintf(`{"assessment_id": %q}`, r.path["assessmentId"]))
	own := r.send(api.GetSyncFrameworks.Operation, "", "", http.NoBody)
	r.decodeSuccess(api.GetSyncFrameworks.Operation, own)
	if got := other.upload(
		api.UploadSyncFrameworks.Operation,
		"frameworks",
		own.Body.Bytes(),
	); got["sha256"].([]any)[0] != joined["custom_sha256"] {
		r.t.Errorf("brought %v of %v", got, joined)
	}
	r.path["assessmentId"] = before
}
