package assessment

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// DiffArtifact compares two versions of an artifact: item by item for a deliverable, line by line for a
// report.
func (s *Service) DiffArtifact(ctx context.Context, by api.Caller, in *api.ArtifactDiffInput) (*api.ArtifactDiff, error) {
	var out *api.ArtifactDiff
	var written [2]string // the reports to compare, rendered outside of the transaction
	err := s.db.View(ctx, func(tx *store.Tx) error {
		art, err := store.Artifacts.Get(tx, by.OrganizationID, in.ArtifactID)
		if err != nil {
			return store.ToNotFound(err, "artifact", in.ArtifactID)
		}
		if in.To == 0 {
			in.To = art.CurrentVersion
		}
		if in.From == 0 {
			in.From = max(1, min(in.To, art.CurrentVersion+1)-1)
		}
		out = &api.ArtifactDiff{ArtifactID: art.ID, Type: art.Type, FromVersion: in.From, ToVersion: in.To}
		if art.Type == "report" {
			if written[0], err = artifactRecordID(tx, &art, in.From, "from", &out.FromSHA256); err == nil {
				written[1], err = artifactRecordID(tx, &art, in.To, "to", &out.ToSHA256)
			}
			return err
		}
		from, err := readVersionRecords(tx, &art, in.From, "from", &out.FromSHA256)
		if err != nil {
			return err
		}
		to, err := readVersionRecords(tx, &art, in.To, "to", &out.ToSHA256)
		if err != nil {
			return err
		}
		merge.DiffRecords(out, from, to)
		return nil
	})
	if err == nil && written[0] != "" {
		err = s.diffReports(ctx, by, out, written[0], written[1])
	}
	return out, err
}

// artifactRecordID returns the ID of the deliverable version or report that a version of an artifact
// refers to.
func artifactRecordID(tx *store.Tx, art *api.Artifact, versionNumber int, inputField string, hashOut *string) (string, error) {
	v, err := store.ArtifactVersions.Get(tx, art.OrganizationID, art.ID, versionNumber)
	if err != nil {
		if versionNumber < 1 || versionNumber > art.CurrentVersion {
			return "", api.Invalid(inputField, "the %s has versions 1 to %d, not %d", art.Title, art.CurrentVersion, versionNumber)
		}
		return "", err
	}
	*hashOut = v.ContentSHA256
	return v.RecordID, nil
}

// readVersionRecords reads the content of a version of an artifact.
func readVersionRecords(tx *store.Tx, art *api.Artifact, versionNumber int, inputField string, hashOut *string) (merge.Records, error) {
	record, err := artifactRecordID(tx, art, versionNumber, inputField, hashOut)
	if err != nil {
		return nil, err
	}
	if k, ok := deliverables[api.Gate(art.Type)]; ok {
		return k.readItemRecords(tx, art.OrganizationID, record)
	}
	sc, err := store.ScopeVersions.Get(tx, art.OrganizationID, art.AssessmentID, versionNumber)
	if err != nil {
		return nil, store.ToNotFound(err, "content of scope version", fmt.Sprint(versionNumber))
	}
	out := merge.Records{}
	return out, out.Add("", sc)
}

func (k deliverableType[V, I]) readItemRecords(tx *store.Tx, org, version string) (merge.Records, error) {
	items, err := k.readItems(tx, org, version)
	if err != nil {
		return nil, err
	}
	return k.toRecords(items)
}

// toRecords returns the content of items by control code. It clears IDs in the items.
func (k deliverableType[V, I]) toRecords(items []I) (merge.Records, error) {
	out := merge.Records{}
	for n := range items {
		code := k.item(&items[n]).ControlCode
		k.clearIDs(&items[n])
		if err := out.Add(code, items[n]); err != nil {
			return nil, err
		}
	}
	return out, nil
}

const maxDiffText = 8 << 20 // maximum size of each compared report, in bytes

// textFormats lists the text-based report formats.
var textFormats = []string{"html", "md", "csv", "json", "oscal"}

// diffReports compares two reports line by line.
func (s *Service) diffReports(ctx context.Context, by api.Caller, out *api.ArtifactDiff, fromID, toID string) error {
	var texts [2]string
	for n, id := range []string{fromID, toID} {
		var r api.Report
		err := s.db.View(ctx, func(tx *store.Tx) (err error) {
			r, err = store.Reports.Get(tx, by.OrganizationID, id)
			return store.ToNotFound(err, "report", id)
		})
		if err != nil {
			return err
		}
		if r.Template == "audit_package" {
			return api.Conflict("an audit package is a ZIP archive and can't be compared line by line; compare the reports in it")
		}
		if !slices.Contains(textFormats, r.Format) {
			return api.Conflict("%s reports are binary and can't be compared; choose one of %s", r.Format, strings.Join(textFormats, ", "))
		}
		if r.SizeBytes > maxDiffText {
			return api.Conflict("%s is too large to compare: %d bytes; the maximum is %d", r.Filename, r.SizeBytes, maxDiffText)
		}
		if texts[n], err = s.readBlobText(ctx, r.SHA256); err != nil {
			return fmt.Errorf("reading %s: %w", r.Filename, err)
		}
	}
	merge.DiffText(out, texts[0], texts[1])
	return nil
}

func (s *Service) readBlobText(ctx context.Context, blobSHA256 string) (string, error) {
	f, _, err := s.db.Blobs().Open(ctx, blobSHA256)
	if err != nil {
		return "", err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxDiffText))
	return string(text), err
}

// ContentHash returns the content hash of exported items: a JSON list, sorted by control code, of the
// items of the gate's deliverable. If recorded is their hash in the form of an earlier version of the program, it returns
// recorded.
func ContentHash(gate api.Gate, itemsJSON []byte, recorded string) (string, error) {
	k, ok := deliverables[gate]
	if !ok {
		return "", fmt.Errorf("there is no gate %q", gate)
	}
	return k.hashItemsJSON(itemsJSON, recorded)
}

func (k deliverableType[V, I]) hashItemsJSON(itemsJSON []byte, recorded string) (string, error) {
	var items []I
	if err := json.Unmarshal(itemsJSON, &items); err != nil {
		return "", fmt.Errorf("the items of the %s can't be read: %w", k.gate.Title(), err)
	}
	return k.contentHashLike(items, recorded)
}
