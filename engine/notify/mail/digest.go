package mail

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

const digestHour = 7 // of the day, UTC

// maxDigestLines is the maximum number of lines in a digest; users find further items in the plan.
const maxDigestLines = 50

// queueDigestsIfDue queues the daily digest of overdue plan items. In each organization, it goes to the
// members who may edit the plan and want to receive it.
func (s *Service) queueDigestsIfDue(ctx context.Context) error {
	now := s.Clock().UTC()
	if s.OverdueLines == nil || now.Hour() < digestHour {
		return nil
	}
	day := now.Format(time.DateOnly)
	alreadyQueued := false
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		last, err := store.Settings.Get(tx, digestSetting)
		alreadyQueued = err == nil && last.Value >= day
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		return err
	})
	if err != nil || alreadyQueued {
		return err
	}
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		for o, err := range store.Organizations.Scan(tx) {
			if err != nil {
				return err
			}
			if o.Status != statusActive {
				continue
			}
			if err := s.queueOrgDigest(tx, o.ID, day); err != nil {
				return err
			}
		}
		return store.Settings.Put(tx, &store.Setting{Name: digestSetting, Value: day})
	})
}

const digestSetting = "mail_digest_day"

func (s *Service) queueOrgDigest(tx *store.Tx, org, day string) error {
	lines, err := s.OverdueLines(tx, org, api.Date(day))
	if err != nil || len(lines) == 0 {
		return err
	}
	shown := lines[:min(len(lines), maxDigestLines)]
	for len(strings.Join(shown, "\n")) > maxValue/2 { // escaping may lengthen the text
		shown = shown[:len(shown)-1]
	}
	items := strings.Join(shown, "\n")
	if more := len(lines) - len(shown); more > 0 {
		items += fmt.Sprintf("\nand %d more", more)
	}
	people, err := s.activeMembersWithRole(tx, org, func(r api.Role) bool { return r.May("poam:write") })
	if err != nil {
		return err
	}
	for _, u := range people {
		preferences, err := loadPreferences(tx, u.ID)
		if err != nil {
			return err
		}
		if _, bad := parseAddress(u.Email); bad != nil || !preferences.Digest {
			continue
		}
		unsubscribe, err := s.unsubscribeLink(u.ID)
		if err != nil {
			return err
		}
		if _, err := s.Queue(tx, org, Mail{
			To: []string{u.Email}, TemplateID: digestTemplate.id, DedupKey: "digest/" + u.ID + "/" + day, UnsubscribeUserID: u.ID,
			Values: map[string]any{"count": fmt.Sprint(len(lines)), "items": items, "unsubscribe": unsubscribe},
		}); err != nil {
			return err
		}
	}
	return nil
}

// loadPreferences returns which emails a user wants to receive. The default is all.
func loadPreferences(tx *store.Tx, user string) (api.EmailPreferences, error) {
	p, err := store.EmailPreferences.Get(tx, user)
	if errors.Is(err, store.ErrNotFound) {
		err = nil
	}
	return api.EmailPreferences{
		Revised: api.Revised{Revision: p.Revision}, Digest: !p.NoDigest, Approvals: !p.NoApprovals, Mentions: !p.NoMentions,
	}, err
}

// GetPreferences returns the caller's email preferences.
func (s *Service) GetPreferences(ctx context.Context, by api.Caller, _ *api.None) (*api.EmailPreferences, error) {
	var out api.EmailPreferences
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		out, err = loadPreferences(tx, by.UserID)
		return err
	})
	return &out, err
}

// PutPreferences stores the caller's email preferences.
func (s *Service) PutPreferences(ctx context.Context, by api.Caller, in *api.PutEmailPreferencesInput) (*api.EmailPreferences, error) {
	var out api.EmailPreferences
	err := s.DB.Update(ctx, func(tx *store.Tx) (err error) {
		if out, err = loadPreferences(tx, by.UserID); err != nil {
			return err
		}
		if err := in.Match.Check(out.Revision); err != nil {
			return err
		}
		out.Revision++
		if in.Body.Digest != nil {
			out.Digest = *in.Body.Digest
		}
		if in.Body.Approvals != nil {
			out.Approvals = *in.Body.Approvals
		}
		if in.Body.Mentions != nil {
			out.Mentions = *in.Body.Mentions
		}
		if by.OrganizationID != "" {
			if err := audit.Append(tx, by, audit.Entry{
				Action: "email_preferences.updated", ResourceType: "user", ResourceID: by.UserID,
				Changes: map[string]any{"digest": out.Digest, "approvals": out.Approvals, "mentions": out.Mentions},
			}); err != nil {
				return err
			}
		}
		return store.EmailPreferences.Put(tx, &store.EmailPreference{
			UserID: by.UserID, NoDigest: !out.Digest, NoApprovals: !out.Approvals, NoMentions: !out.Mentions,
			Revision: out.Revision,
		})
	})
	return &out, err
}

const unsubscribePurpose = "unsubscribe from digests:"

// unsubscribeLink returns a URL that stops a user's digests without a sign-in. It returns "" if the
// service has no public URL.
func (s *Service) unsubscribeLink(user string) (string, error) {
	if s.PublicURL == "" {
		return "", nil
	}
	sealed, err := s.Seal(unsubscribePurpose + user)
	if err != nil {
		return "", err
	}
	return s.PublicURL + "/unsubscribe?token=" + url.QueryEscape(base64.RawURLEncoding.EncodeToString(sealed)), nil
}

// Unsubscribe stops the digests for the user to whom the token was issued.
func (s *Service) Unsubscribe(ctx context.Context, token string) error {
	refused := api.Unauthorized("this link is not valid; sign in and run `service email preferences --no-digest`")
	if len(token) > 1000 {
		return refused
	}
	sealed, err := base64.RawURLEncoding.DecodeString(token)
	if err != nil {
		return refused
	}
	text, err := s.Open(sealed)
	if err != nil {
		return refused
	}
	user, ok := strings.CutPrefix(text, unsubscribePurpose)
	if !ok {
		return refused
	}
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		if _, err := store.Users.Get(tx, user); errors.Is(err, store.ErrNotFound) {
			return refused
		} else if err != nil {
			return err
		}
		p, err := store.EmailPreferences.Get(tx, user)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		p.UserID, p.NoDigest = user, true
		return store.EmailPreferences.Put(tx, &p)
	})
}
