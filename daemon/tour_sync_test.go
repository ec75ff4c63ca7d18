package daemon_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/scf-service/service/api"
)

// clones copies the assessment to another server and back, with a change that both made.
func (r *tour) clones() {
	away := newTour(r.t)
	away.done = r.done
	id := r.path["assessmentId"]
	away.path["assessmentId"] = id
	r.refused(api.GetSyncChanges.Operation, "?replica_id=none", "", api.CodeNotFound)
	joined := r.ask(api.JoinSync.Operation, "", fmt.Sprintf(`{"assessment_id": %q, "name": "laptop"}`, id))
	catalog := r.send(api.GetSyncCatalog.Operation, "", "", http.NoBody)
	r.took(api.GetSyncCatalog.Operation, catalog)
	away.upload(api.UploadSyncCatalog.Operation, "catalog", catalog.Body.Bytes())
	away.ownBrought(r)
	away.ask(
		api.AttachSync.Operation,
		"",
		fmt.Sprintf(`{"assessment_id": %q, "server": "https://home.example", "replica_id": %q, "catalog_sha256": %q}`,
			id, joined["replica_id"], joined["catalog_sha256"]),
	)

	came := r.ask(api.GetSyncChanges.Operation, fmt.Sprintf("?replica_id=%s&since=0", joined["replica_id"]), "")
	files, _ := json.Marshal(map[string]any{"sha256": came["files"]})
	away.ask(api.MissingSyncFiles.Operation, "", string(files))
	tar := r.send(api.DownloadSyncFiles.Operation, "", "application/json", strings.NewReader(string(files)))
	r.took(api.DownloadSyncFiles.Operation, tar)
	away.upload(api.UploadSyncFiles.Operation, "files.tar", tar.Body.Bytes())
	data := func(parcel node) []byte {
		b, err := base64.StdEncoding.DecodeString(parcel["data"].(string))
		if err != nil {
			r.t.Fatal(err)
		}
		return b
	}
	away.upload(api.ApplySync.Operation, "changes", data(came))

	away.ask(api.UpdateAssessment.Operation, "", `{"description": "from the plane"}`)
	r.ask(api.UpdateAssessment.Operation, "", `{"description": "from the office"}`)
	batch := away.ask(api.PrepareSync.Operation, "", "")
	if out := r.upload(api.PushSync.Operation, "batch", data(batch), "dry_run", "true"); out["conflicts"] != 1.0 {
		r.t.Errorf("a dry run tells of %v", out)
	}
	r.upload(api.PushSync.Operation, "batch", data(batch))
	away.ask(api.AcknowledgeSync.Operation, "", fmt.Sprintf(`{"counter": %v}`, batch["counter"]))
	r.ask(api.GetSyncStatus.Operation, "", "")
	conflict := r.note("conflictId", r.first(r.ask(api.ListSyncConflicts.Operation, "?status=open&assessment_id="+id, "")))
	if conflict["field"] != "description" {
		r.t.Errorf("the conflict is %v", conflict)
	}
	r.ask(api.GetSyncConflict.Operation, "", "")
	r.ask(api.ResolveSyncConflict.Operation, "", `{"choice": "value", "value": "from both"}`)
	r.refused(api.ResolveSyncConflict.Operation, "", `{"choice": "remote"}`, api.CodeInvalidState)
	r.bundles()
	r.ask(api.DetachSync.Operation, "", "")
	r.refused(api.DetachSync.Operation, "", "", api.CodeNotFound)
}

// bundles carries the assessment to another organization there, and an answer back.
func (r *tour) bundles() {
	r.refused(api.WriteSyncBundle.Operation, "", `{}`, api.CodeInvalidState)
	here, there := r.ask(api.GetOrCreateSyncKey.Operation, "", `{}`), newTour(r.t)
	there.done, there.path["assessmentId"] = r.done, r.path["assessmentId"]
	key := there.ask(api.GetOrCreateSyncKey.Operation, "", `{"replace": true}`)
	r.refused(api.TrustSyncPeer.Operation, "", `{"key": "service-key-1.none"}`, api.CodeValidation)
	r.note("peerId", r.ask(api.TrustSyncPeer.Operation, "", fmt.Sprintf(`{"key": %q, "name": "on site"}`, key["key"])))
	there.ask(api.TrustSyncPeer.Operation, "", fmt.Sprintf(`{"key": %q, "name": "office"}`, here["key"]))
	if all := r.ask(api.ListSyncPeers.Operation, "", ""); r.first(all)["fingerprint"] != key["fingerprint"] {
		r.t.Errorf("the peers are %v", all)
	}
	bundle := r.send(api.WriteSyncBundle.Operation, "", "application/json", strings.NewReader(`{"include_catalog": true}`))
	r.took(api.WriteSyncBundle.Operation, bundle)
	if got := there.upload(api.ImportSyncBundle.Operation, "begin.bundle", bundle.Body.Bytes()); got["imported"] == 0.0 ||
		got["role"] != "clone" {
		r.t.Errorf("a bundle was taken as %v", got)
	}
	there.ask(api.UpdateAssessment.Operation, "", `{"name": "named on site"}`)
	answer := there.send(api.WriteSyncBundle.Operation, "", "application/json", strings.NewReader(`{}`))
	if got := r.upload(api.ImportSyncBundle.Operation, "answer.bundle", answer.Body.Bytes(), "dry_run", "true"); got["applied"] != 1.0 {
		r.t.Errorf("a dry run tells of %v", got)
	}
	if got := r.upload(api.ImportSyncBundle.Operation, "answer.bundle", answer.Body.Bytes()); got["applied"] != 1.0 ||
		got["role"] != "remote" {
		r.t.Errorf("an answer was taken as %v", got)
	}
	r.ask(api.DistrustSyncPeer.Operation, "", "")
	r.refused(api.DistrustSyncPeer.Operation, "", "", api.CodeNotFound)
}

// ownBrought brings a framework of the organization to another, for an assessment that uses it.
func (r *tour) ownBrought(other *tour) {
	before := r.path["assessmentId"]
	r.ask(
		api.CreateCustomFramework.Operation,
		"",
		`{"code": "away-rules", "name": "Rules away", "requirements": [{"code": "A-1", "title": "Doors are locked", "controls": ["IAC-06"]}]}`,
	)
	r.path["assessmentId"] = r.ask(api.CreateAssessment.Operation, "", `{"name": "Away", "framework_id": "away-rules"}`)["id"].(string)
	joined := r.ask(api.JoinSync.Operation, "", fmt.Sprintf(`{"assessment_id": %q}`, r.path["assessmentId"]))
	own := r.send(api.GetSyncFrameworks.Operation, "", "", http.NoBody)
	r.took(api.GetSyncFrameworks.Operation, own)
	if got := other.upload(
		api.UploadSyncFrameworks.Operation,
		"frameworks",
		own.Body.Bytes(),
	); got["sha256"].([]any)[0] != joined["custom_sha256"] {
		r.t.Errorf("brought %v of %v", got, joined)
	}
	r.path["assessmentId"] = before
}
