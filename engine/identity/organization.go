package identity

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"golang.org/x/text/unicode/norm"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/store"
)

// ListTenants lists all organizations, for the platform admin.
func (s *Service) ListTenants(ctx context.Context, _ api.Caller, in *api.Paging) (*api.List[api.Organization], error) {
	return store.ListGlobal(ctx, s.db, store.Organizations, *in, store.PageQuery[api.Organization]{})
}

// ListOrganizations lists the organizations the caller belongs to; a platform admin sees all.
func (s *Service) ListOrganizations(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.Organization], error) {
	if by.PlatformAdmin && by.Actor.Type != api.ActorAPIKey {
		return s.ListTenants(ctx, by, in)
	}
	own, err := s.ListMyOrganizations(ctx, by, in)
	if err != nil {
		return nil, err
	}
	return api.MapList(own, func(o *api.MyOrganization) api.Organization { return o.Organization }), nil
}

// GetTenant returns one of the caller's organizations; a platform admin can read any.
func (s *Service) GetTenant(ctx context.Context, by api.Caller, in *api.TenantInput) (*api.Organization, error) {
	return s.getOrganization(ctx, by, in.TenantID)
}

// GetOrganization works like GetTenant.
func (s *Service) GetOrganization(ctx context.Context, by api.Caller, in *api.OrganizationInput) (*api.Organization, error) {
	return s.getOrganization(ctx, by, in.OrganizationID)
}

func (s *Service) getOrganization(ctx context.Context, by api.Caller, id string) (*api.Organization, error) {
	if id != by.OrganizationID && !by.PlatformAdmin {
		return nil, api.NotFound("organization", id)
	}
	var org api.Organization
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		org, err = store.Organizations.Get(tx, id)
		return store.ToNotFound(err, "organization", id)
	})
	return &org, err
}

// maxSettings is the maximum size of an organization's settings as JSON.
const maxSettings = 64 << 10

// UpdateTenant changes an organization. Only a platform admin can change its status.
func (s *Service) UpdateTenant(ctx context.Context, by api.Caller, in *api.UpdateTenantInput) (*api.Organization, error) {
	if in.TenantID != by.OrganizationID && !by.PlatformAdmin {
		return nil, api.NotFound("organization", in.TenantID)
	}
	if in.Body.Status != "" && !by.PlatformAdmin {
		return nil, api.Forbidden("only a platform admin can change an organization's status")
	}
	if b, err := json.Marshal(in.Body.Settings); err != nil || len(b) > maxSettings {
		return nil, api.Invalid("settings", "the settings exceed %d KiB", maxSettings>>10)
	}
	var org api.Organization
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if org, err = store.Organizations.Get(tx, in.TenantID); err != nil {
			return store.ToNotFound(err, "organization", in.TenantID)
		}
		if err := in.Match.Check(org.Revision); err != nil {
			return err
		}
		org.Revision++
		changes := map[string]any{}
		setAndRecordIfChanged(changes, "name", &org.Name, strings.TrimSpace(in.Body.Name))
		setAndRecordIfChanged(changes, "slug", &org.Slug, in.Body.Slug)
		setAndRecordIfChanged(changes, "status", &org.Status, in.Body.Status)
		if org.Name == "" {
			return api.Invalid("name", "an organization needs a name")
		}
		if !slugPattern.MatchString(org.Slug) {
			return api.Invalid("slug", "a slug may contain only lower-case letters, digits and hyphens, e.g. acme-europe")
		}
		settings := in.Body.Settings
		for name, on := range map[string]*bool{
			api.RequireSecondPerson: in.Body.RequireSecondPerson, api.NoRemoteModel: in.Body.NoRemoteModel,
		} {
			if on == nil {
				continue
			}
			if settings == nil {
				settings = maps.Clone(org.Settings)
			}
			if settings == nil {
				settings = map[string]any{}
			}
			settings[name] = *on
		}
		if settings != nil {
			if err := checkSettings(settings, org.Settings); err != nil {
				return err
			}
			for _, name := range knownSettings {
				if isOn(org.Settings, name) && !isOn(settings, name) && by.Role != api.RoleOwner && !by.PlatformAdmin {
					return api.Forbidden("only an owner can turn off %s", name).WithDetails(api.ErrorDetail{Field: name})
				}
			}
			org.Settings, changes["settings"] = settings, settings
		}
		org.UpdatedAt = tx.Now()
		if err := store.Organizations.Update(tx, &org); err != nil {
			return slugError(err, org.Slug)
		}
		by.OrganizationID = org.ID
		return appendAudit(tx, by, "organization.updated", "organization", org.ID, changes)
	})
	return &org, err
}

// knownSettings lists the settings of an organization. Each is either on or off.
var knownSettings = []string{api.NoRemoteModel, api.RequireSecondPerson}

// checkSettings returns an error for values of the wrong type, and for unknown settings that are not already stored.
func checkSettings(settings, stored map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(settings)) {
		_, isOld := stored[name]
		_, isSwitch := settings[name].(bool)
		switch known := slices.Contains(knownSettings, name); {
		case !known && !isOld:
			return api.Invalid(
				"settings."+name, "settings.%s: unknown field; an organization's settings are %s", name, strings.Join(knownSettings, " and "),
			)
		case known && !isSwitch:
			return api.Invalid("settings."+name, "settings.%s must be true or false", name)
		}
	}
	return nil
}

// isOn reports whether the named setting is true.
func isOn(settings map[string]any, name string) bool {
	on, _ := settings[name].(bool)
	return on
}

// setAndRecordIfChanged sets *dst to value and records the change, unless value is empty or unchanged.
func setAndRecordIfChanged(changes map[string]any, name string, dst *string, value string) {
	if value != "" && value != *dst {
		changes[name] = map[string]any{"from": *dst, "to": value}
		*dst = value
	}
}

func slugError(err error, slug string) error {
	if errors.Is(err, store.ErrExists) {
		return api.Invalid("slug", "another organization has the slug %q", slug)
	}
	return err
}

var slugPattern = lazyregexp.New(`^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$`)

// slugFromName derives a slug from a name, or "organization" if the name has no letters.
func slugFromName(name string) string {
	var b strings.Builder
	for _, r := range norm.NFKD.String(strings.ToLower(name)) {
		switch {
		case r >= 'a' && r <= 'z', r >= '0' && r <= '9':
			b.WriteRune(r)
		case unicode.Is(unicode.Mn, r):
		case !strings.HasSuffix(b.String(), "-"):
			b.WriteByte('-')
		}
	}
	slug := strings.Trim(b.String(), "-")
	if len(slug) > 50 {
		slug = strings.Trim(slug[:50], "-")
	}
	if slug == "" {
		return "organization"
	}
	return slug
}

// CreateOrganization creates an organization with its owner, who may be a new user.
func (s *Service) CreateOrganization(ctx context.Context, by api.Caller, in *api.NewOrganizationInput) (*api.NewOrganization, error) {
	name, email := strings.TrimSpace(in.Body.Name), normalizeEmail(in.Body.Owner.Email)
	if name == "" {
		return nil, api.Invalid("name", "an organization needs a name")
	}
	if in.Body.Slug != "" && !slugPattern.MatchString(in.Body.Slug) {
		return nil, api.Invalid("slug", "a slug may contain only lower-case letters, digits and hyphens, e.g. acme-europe")
	}
	scopes := []string{api.AnyScope}
	if len(in.Body.APIKeyScopes) > 0 {
		var err error
		if scopes, err = api.ParseScopes(in.Body.APIKeyScopes); err != nil {
			return nil, err
		}
	}
	password, made := in.Body.Owner.Password, false
	if password == "" {
		password, made = generatePassword(), true
	}
	hash, err := s.passwords.validateAndHash(ctx, "owner.password", password)
	if err != nil {
		return nil, err
	}
	out := &api.NewOrganization{}
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		slug, err := wantedOrFreeSlug(tx, in.Body.Slug, name)
		if err != nil {
			return err
		}
		out.Organization = api.Organization{
			Record:   newRecord(tx, tx.NewID()),
			Name:     name,
			Slug:     slug,
			Status:   statusActive,
			Settings: map[string]any{},
		}
		if err := store.Organizations.Insert(tx, &out.Organization); err != nil {
			return slugError(err, slug)
		}
		owner, isNew, err := findOrCreateUser(tx, email, strings.TrimSpace(in.Body.Owner.Name))
		if err != nil {
			return err
		}
		if isNew {
			owner.Status = statusActive
			if err := store.Passwords.Put(tx, &store.Password{UserID: owner.ID, Hash: hash, ChangedAt: tx.Now()}); err != nil {
				return err
			}
			if made {
				out.OwnerPassword = &password
			}
		}
		owner.PlatformAdmin = owner.PlatformAdmin || in.Body.Owner.PlatformAdmin
		if err := errors.Join(store.Users.Update(tx, &owner), addMember(tx, out.ID, owner.ID, api.RoleOwner, statusActive)); err != nil {
			return err
		}
		m, err := store.Memberships.Get(tx, owner.ID, out.ID)
		if err != nil {
			return err
		}
		out.Owner = toMember(m, owner)
		here := by
		here.OrganizationID = out.ID
		if in.Body.APIKeyName != "" {
			if out.APIKey, err = insertKey(tx, here, owner.ID, api.APIKeyBody{Name: in.Body.APIKeyName, Scopes: scopes}); err != nil {
				return err
			}
		}
		return appendAudit(tx, here, "organization.created", "organization", out.ID, map[string]any{"name": name, "owner": email})
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// wantedOrFreeSlug returns wanted as the slug if it is given, or an unused one derived from the name.
func wantedOrFreeSlug(tx *store.Tx, wanted, name string) (string, error) {
	if wanted != "" {
		return wanted, nil
	}
	base := slugFromName(name)
	for n := 1; ; n++ {
		slug := base
		if n > 1 {
			slug = fmt.Sprintf("%s-%d", base, n)
		}
		_, err := store.Organizations.By("slug").Get(tx, slug)
		if ok, err := foundFromError(err); err != nil || !ok {
			return slug, err
		}
	}
}

// findOrCreateUser finds a user by email address, or creates one with the status invited.
func findOrCreateUser(tx *store.Tx, email, name string) (u api.User, isNew bool, err error) {
	u, err = userByEmail(tx, email)
	if ok, err := foundFromError(err); err != nil || ok {
		return u, false, err
	}
	u = api.User{Record: newRecord(tx, tx.NewID()), Email: email, Name: name, Status: statusInvited}
	return u, true, store.Users.Insert(tx, &u)
}
