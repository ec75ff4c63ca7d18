package report

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/store"
)

// Branding returns the branding of the organization's reports. It is empty if none is set.
func (s *Service) Branding(ctx context.Context, by api.Caller, _ *api.OrgInput) (*api.Branding, error) {
	out := &api.Branding{OrganizationID: by.OrganizationID}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		got, err := store.Brandings.Get(tx, by.OrganizationID, "branding")
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		*out = got
		return err
	})
	return out, err
}

// PutBranding stores the branding of the organization's reports. It decodes the logo and encodes it
// again, so that only its pixels are stored.
func (s *Service) PutBranding(ctx context.Context, by api.Caller, in *api.PutBrandingInput) (*api.Branding, error) {
	b := in.Body
	brand := content.Brand{Accent: b.Accent, Band: b.Band, Line: b.Line, Footer: b.Footer}
	if b.Logo != "" {
		file, err := base64.StdEncoding.DecodeString(b.Logo)
		if err != nil {
			return nil, api.Invalid("logo", "the logo is not valid Base64; encode the image file as Base64")
		}
		if brand.Logo, err = content.NormalizeLogo(file); err != nil {
			return nil, err
		}
	}
	if err := brand.Validate(); err != nil {
		return nil, err
	}
	out := &api.Branding{
		OrganizationID: by.OrganizationID, Accent: b.Accent, Band: b.Band, Line: b.Line, Footer: b.Footer,
		Logo: base64.StdEncoding.EncodeToString(brand.Logo), UpdatedBy: by.Actor.Name,
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		old, err := store.Brandings.Get(tx, by.OrganizationID, "branding")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := in.Match.Check(old.Revision); err != nil {
			return err
		}
		now := tx.Now()
		out.UpdatedAt, out.Revision = &now, old.Revision+1
		return errors.Join(store.Brandings.Put(tx, by.OrganizationID, out), audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: "branding.updated", Summary: "updated the report branding",
			ResourceType: "organization", ResourceID: by.OrganizationID, Data: map[string]any{"branding_sha256": brand.SHA256()},
		}))
	})
	return out, err
}

// DeleteBranding restores the default look of reports.
func (s *Service) DeleteBranding(ctx context.Context, by api.Caller, in *api.DeleteBrandingInput) (*api.None, error) {
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		old, err := store.Brandings.Get(tx, by.OrganizationID, "branding")
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = in.Match.Check(old.Revision)
		}
		if err != nil {
			return err
		}
		return errors.Join(
			store.Brandings.Delete(tx, by.OrganizationID, "branding"),
			audit.RecordAndPublishEvent(
				tx,
				by,
				audit.Event{
					Type:         "branding.deleted",
					Summary:      "reset the report branding to the default",
					ResourceType: "organization",
					ResourceID:   by.OrganizationID,
				},
			),
		)
	})
	return &api.None{}, err
}

// loadBrand returns the organization's branding in the form that package content uses.
func (s *Service) loadBrand(ctx context.Context, by api.Caller) (content.Brand, error) {
	b, err := s.Branding(ctx, by, nil)
	if err != nil {
		return content.Brand{}, err
	}
	out := content.Brand{Accent: b.Accent, Band: b.Band, Line: b.Line, Footer: b.Footer}
	out.Logo, err = base64.StdEncoding.DecodeString(b.Logo)
	return out, err
}
