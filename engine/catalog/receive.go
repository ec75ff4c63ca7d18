package catalog

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// customContent is the content of one revision of an organization's additions, in a form for transfer. The
// same content always has the same bytes.
type customContent struct {
	Frameworks []api.CustomFrameworkBody `json:"frameworks"`
	Controls   []api.CustomControlBody   `json:"controls"`
}

// CustomContent returns the content of a revision of an organization's frameworks and controls, and its
// SHA-256. For revision 0, both are empty.
func CustomContent(tx *store.Tx, organization string, revision int) (content []byte, sha256Hex string, err error) {
	if revision == 0 {
		return nil, "", nil
	}
	rec, err := store.CustomCatalogs.Get(tx, organization, int64(revision))
	if err != nil {
		return nil, "", err
	}
	return encodeCustomContent(&rec)
}

func encodeCustomContent(rec *store.CustomCatalog) (encoded []byte, sha256Hex string, _ error) {
	if len(rec.Frameworks) == 0 && len(rec.Controls) == 0 {
		return nil, "", nil
	}
	b := toCustom(rec)
	content, err := json.Marshal(customContent{Frameworks: b.Frameworks, Controls: b.Controls})
	if err != nil {
		return nil, "", fmt.Errorf("frameworks and controls, revision %d: %w", rec.Revision, err)
	}
	sum := sha256.Sum256(content)
	return content, hex.EncodeToString(sum[:]), nil
}

// FindCustomRevision returns the organization's latest revision that has the given content. If there is none,
// found is false.
func FindCustomRevision(tx *store.Tx, organization, sha256Hex string) (revision int, found bool, err error) {
	if sha256Hex == "" {
		return 0, true, nil
	}
	for rec, err := range store.CustomCatalogs.Scan(tx, organization, store.Reverse) {
		if err != nil {
			return 0, false, err
		}
		if _, have, err := encodeCustomContent(&rec); err != nil || have == sha256Hex {
			return rec.Revision, err == nil, err
		}
	}
	return 0, false, nil
}

// StoreReceivedCustom stores the custom frameworks and controls used by an assessment from another installation.
// They are stored as a separate revision, which doesn't replace the organization's latest revision.
func (s *Service) StoreReceivedCustom(ctx context.Context, by api.Caller, content []byte) error {
	if err := by.Require(api.SCFImport); err != nil {
		return err
	}
	if len(content) > maxCustomCatalog {
		return api.Invalid("file", "the frameworks and controls exceed the total limit of %d MiB", maxCustomCatalog>>20)
	}
	var received customContent
	d := json.NewDecoder(bytes.NewReader(content))
	if err := d.Decode(&received); err != nil {
		return api.Invalid("file", "the custom frameworks and controls can't be read: %v", err)
	}
	org := by.OrganizationID
	carried := customDraft{updatedBy: by.Actor.Name, now: s.clock().UTC()}
	carried.OrganizationID = org
	for _, f := range received.Frameworks {
		carried.putFramework(-1, f)
	}
	for _, k := range received.Controls {
		carried.putControl(-1, k)
	}
	base, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if err := base.CheckCustom(&scf.Custom{OrganizationID: org, Frameworks: received.Frameworks, Controls: received.Controls}); err != nil {
		return customToAPIError(err)
	}
	same, sum, err := encodeCustomContent(&carried.CustomCatalog)
	if err != nil {
		return err
	}
	if !bytes.Equal(bytes.TrimSpace(content), same) {
		return api.Invalid(
			"file",
			"the frameworks and controls were written by a different version of this program; use the same version on both computers",
		)
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		if _, found, err := FindCustomRevision(tx, org, sum); err != nil || found {
			return err
		}
		head, err := store.CustomCatalogHeads.Get(tx, org, "head")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		newest := store.CustomCatalog{OrganizationID: org}
		if head.Revision > 0 {
			if newest, err = store.CustomCatalogs.Get(tx, org, int64(head.Revision)); err != nil {
				return err
			}
		}
		carried.Revision, carried.CreatedAt = head.Revision+1, tx.Now()
		newest.Revision, newest.CreatedAt = head.Revision+2, tx.Now()
		return errors.Join(store.CustomCatalogs.Put(tx, org, &carried.CustomCatalog), store.CustomCatalogs.Put(tx, org, &newest),
			store.CustomCatalogHeads.Put(tx, org, &store.CustomCatalogHead{OrganizationID: org, Revision: newest.Revision}),
			audit.Append(tx, by, audit.Entry{
				Action: "custom_catalog.imported", ResourceType: "custom_catalog", ResourceID: fmt.Sprint(carried.Revision),
				Changes: map[string]any{
					"revision":   carried.Revision,
					"sha256":     sum,
					"frameworks": len(carried.Frameworks),
					"controls":   len(carried.Controls),
				},
			}))
	})
}
