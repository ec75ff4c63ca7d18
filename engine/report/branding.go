package report

import (
	"context"
	"encoding/base64"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/report/render"
	"github.com/scf-service/service/store"
)

// Branding is how the organization's reports look.
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

// PutBranding sets it. A logo is decoded and written anew, so nothing but its pixels is kept.
func (s *Service) PutBranding(ctx context.Context, by api.Caller, in *api.PutBrandingInput) (*api.Branding, error) {
	b := in.Body
	brand := render.Brand{Accent: b.Accent, Band: b.Band, Line: b.Line, Footer: b.Footer}
	if b.Logo != "" {
		file, err := base64.StdEncoding.DecodeString(b.Logo)
		if err != nil {
			return nil, api.Invalid("logo", "the logo is not in base64; encode the image's file")
		}
		if brand.Logo, err = render.NormalizeLogo(file); err != nil {
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
		now := tx.Now()
		out.UpdatedAt = &now
		return errors.Join(store.Brandings.Put(tx, by.OrganizationID, out), audit.PublishEvent(tx, by, audit.Event{
			Type: "branding.updated", Summary: "set how reports look",
			ResourceType: "organization", ResourceID: by.OrganizationID, Data: map[string]any{"branding_sha256": brand.SHA256()},
		}))
	})
	return out, err
}

// DeleteBranding goes back to the program's own look.
func (s *Service) DeleteBranding(ctx context.Context, by api.Caller, _ *api.OrgInput) (*api.None, error) {
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		if _, err := store.Brandings.Get(tx, by.OrganizationID, "branding"); err != nil {
			if errors.Is(err, store.ErrNotFound) {
				return nil
			}
			return err
		}
		return errors.Join(
			store.Brandings.Delete(tx, by.OrganizationID, "branding"),
			audit.PublishEvent(
				tx,
				by,
				audit.Event{
					Type:         "branding.deleted",
					Summary:      "set reports back to the program's own look",
					ResourceType: "organization",
					ResourceID:   by.OrganizationID,
				},
			),
		)
	})
	return &api.None{}, err
}

// loadBrand is the branding as reports take it.
func (s *Service) loadBrand(ctx context.Context, by api.Caller) (render.Brand, error) {
	b, err := s.Branding(ctx, by, nil)
	if err != nil {
		return render.Brand{}, err
	}
	out := render.Brand{Accent: b.Accent, Band: b.Band, Line: b.Line, Footer: b.Footer}
	out.Logo, err = base64.StdEncoding.DecodeString(b.Logo)
	return out, err
}
