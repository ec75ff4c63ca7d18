package daemon_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"

	"github.com/scf-service/service/engine/api"
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
	away.upload(api.BringSyncCatalog.Operation, "catalog", catalog.Body.Bytes())
	away.ask(api.AttachSync.Operation, "", fmt.Sprintf(`{"assessment_id": %q, "server": "https://home.example", "replica_id": %q, "catalog_sha256": %q}`,
		id, joined["replica_id"], joined["catalog_sha256"]))

	came := r.ask(api.GetSyncChanges.Operation, fmt.Sprintf("?replica_id=%s&since=0", joined["replica_id"]), "")
	files, _ := json.Marshal(map[string]any{"sha256": came["files"]})
	away.ask(api.MissingSyncFiles.Operation, "", string(files))
	tar := r.send(api.FetchSyncFiles.Operation, "", "application/json", strings.NewReader(string(files)))
	r.took(api.FetchSyncFiles.Operation, tar)
	away.upload(api.BringSyncFiles.Operation, "files.tar", tar.Body.Bytes())
	data := func(parcel node) []byte {
		b, err := base64.StdEncoding.DecodeString(parcel["data"].(string))
		if err != nil {
			r.t.Fatal(err)
		}
		return b
	}
	away.upload(api.TakeSync.Operation, "changes", data(came))

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
	r.refused(api.ResolveSyncConflict.Operation, "", `{"choice": "home"}`, api.CodeInvalidState)
	r.ask(api.DetachSync.Operation, "", "")
	r.refused(api.DetachSync.Operation, "", "", api.CodeNotFound)
}
