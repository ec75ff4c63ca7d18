package mail

import (
	"cmp"
	"context"
	"errors"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// Send queues an email requested by a user.
func (s *Service) Send(ctx context.Context, by api.Caller, in *api.SendEmailInput) (*api.Email, error) {
	to, err := parseAddresses(in.Body.To)
	if err != nil {
		return nil, err
	}
	m := Mail{To: to, TemplateID: in.Body.TemplateID, Values: in.Body.Variables}
	var k templateType
	l := &mailContent{Subject: in.Body.Subject, Text: in.Body.Text, HTML: in.Body.HTML}
	if m.TemplateID != "" {
		if k, err = findTemplateType(m.TemplateID); err != nil {
			return nil, err
		}
		if l.Subject != "" || l.Text != "" || l.HTML != "" {
			return nil, api.Invalid("template_id", "use either a template with variables or a subject and text, not both")
		}
	} else if err := validateAndCleanUntemplatedContent(l, in.Body.Variables); err != nil {
		return nil, err
	}
	var e *store.Email
	err = s.DB.Update(ctx, func(tx *store.Tx) (err error) {
		if can, err := s.hasServerFor(tx, by.OrganizationID); err != nil {
			return err
		} else if !can {
			return noServerError()
		}
		if m.TemplateID != "" {
			if l, err = s.renderTemplate(tx, by.OrganizationID, k, m.Values); err != nil {
				return err
			}
		}
		if e, err = s.enqueue(tx, by.OrganizationID, m, l); err != nil {
			return err
		}
		return audit.Append(tx, by, audit.Entry{
			Action: "email.queued", ResourceType: "email", ResourceID: e.ID,
			Changes: map[string]any{"recipients": len(to), "template_id": m.TemplateID},
		})
	})
	if err != nil {
		return nil, err
	}
	return &e.Email, nil
}

// parseAddresses parses recipients and returns them without duplicates.
func parseAddresses(given []string) (out []string, err error) {
	seen := map[string]bool{}
	for _, text := range given {
		a, err := parseAddress(text)
		if err != nil {
			return nil, err
		}
		if key := strings.ToLower(a.Address); !seen[key] {
			seen[key] = true
			out = append(out, a.Address)
		}
	}
	return out, nil
}

// validateAndCleanUntemplatedContent validates and cleans up the content of an email that is sent
// without a template.
func validateAndCleanUntemplatedContent(l *mailContent, variables map[string]any) error {
	switch {
	case strings.TrimSpace(l.Subject) == "":
		return api.Invalid("subject", "an email without a template needs a subject")
	case strings.ContainsFunc(l.Subject, unicode.IsControl):
		return api.Invalid("subject", "a subject must be one line without control characters")
	case strings.TrimSpace(l.Text) == "":
		return api.Invalid("text", "an email without a template needs plain text; HTML is optional")
	case len(variables) > 0:
		return api.Invalid("variables", "variables require a template; set template_id")
	case !utf8.ValidString(l.Subject + l.Text + l.HTML):
		return api.Invalid("text", "the text is not valid UTF-8")
	case activeHTML.MatchString(l.HTML):
		return api.Invalid(
			"html",
			"email clients don't support scripts, frames or forms; remove <script>, <iframe>, <object>, <embed> and <form>",
		)
	}
	l.Subject, l.Text = toSubjectLine(l.Subject), stripControls(l.Text)
	return nil
}

// List lists emails, newest first.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.EmailsInput) (*api.List[api.Email], error) {
	q := store.PageQuery[store.Email]{Reverse: true}
	if in.Status != "" {
		q.Index, q.Prefix = "status", store.K(in.Status)
	}
	all, err := store.List(ctx, s.DB, store.Emails, by.OrganizationID, in.Paging, q)
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(e *store.Email) api.Email { return e.Email }), nil
}

// Get returns an email.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.EmailInput) (*api.Email, error) {
	var e store.Email
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		e, err = store.Emails.Get(tx, by.OrganizationID, in.EmailID)
		return store.ToNotFound(err, "mail", in.EmailID)
	})
	return &e.Email, err
}

// templateRecord is a template's text and metadata.
type templateRecord struct {
	templateText
	record api.EmailTemplate
}

// loadTemplateText returns a template's text as the organization has set it, or the built-in one.
func (s *Service) loadTemplateText(tx *store.Tx, org string, k templateType) (templateRecord, error) {
	t, err := store.EmailTemplates.Get(tx, org, k.id)
	if errors.Is(err, store.ErrNotFound) {
		w := builtInTemplateText(k.id)
		return templateRecord{
			w,
			api.EmailTemplate{ID: k.id, Subject: w.subject, Text: w.text, HTML: w.html, Variables: k.variableNames()},
		}, nil
	}
	t.Variables = k.variableNames() // the current version's variables
	return templateRecord{templateText{subject: t.Subject, text: t.Text, html: t.HTML}, t.EmailTemplate}, err
}

// ListTemplates lists the templates, in the order of the API specification by default.
func (s *Service) ListTemplates(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.EmailTemplate], error) {
	var all []api.EmailTemplate
	place := map[string]string{}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		all = nil
		for i, k := range templateTypes {
			w, err := s.loadTemplateText(tx, by.OrganizationID, k)
			if err != nil {
				return err
			}
			all, place[k.id] = append(all, w.record), string(rune('a'+i))
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return store.PageSlice(all, *in, func(t *api.EmailTemplate) string { return place[t.ID] })
}

// GetTemplate returns a template.
func (s *Service) GetTemplate(ctx context.Context, by api.Caller, in *api.TemplateInput) (*api.EmailTemplate, error) {
	k, err := findTemplateType(in.TemplateID)
	if err != nil {
		return nil, err
	}
	var w templateRecord
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		w, err = s.loadTemplateText(tx, by.OrganizationID, k)
		return err
	})
	return &w.record, err
}

// PutTemplate replaces a template's text for the organization. A template that can't be rendered is
// rejected.
func (s *Service) PutTemplate(ctx context.Context, by api.Caller, in *api.PutTemplateInput) (*api.EmailTemplate, error) {
	k, err := findTemplateType(in.TemplateID)
	if err != nil {
		return nil, err
	}
	if _, err := k.compile(templateText{subject: in.Body.Subject, text: in.Body.Text, html: in.Body.HTML}); err != nil {
		return nil, err
	}
	t := store.EmailTemplate{OrganizationID: by.OrganizationID}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		old, err := store.EmailTemplates.Get(tx, by.OrganizationID, k.id)
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if err := in.Match.Check(old.Revision); err != nil {
			return err
		}
		now := tx.Now()
		t.EmailTemplate = api.EmailTemplate{
			Revised:   api.Revised{Revision: old.Revision + 1},
			ID:        k.id,
			Subject:   in.Body.Subject,
			Text:      in.Body.Text,
			HTML:      in.Body.HTML,
			Variables: k.variableNames(),
			Custom:    true,
			CreatedAt: cmp.Or(old.CreatedAt, old.UpdatedAt, &now),
			UpdatedAt: &now,
		}
		return errors.Join(store.EmailTemplates.Put(tx, by.OrganizationID, &t),
			audit.Append(tx, by, audit.Entry{Action: "email_template.updated", ResourceType: "email_template", ResourceID: k.id}))
	})
	return &t.EmailTemplate, err
}

// ResetTemplate restores a template's built-in text.
func (s *Service) ResetTemplate(ctx context.Context, by api.Caller, in *api.ResetTemplateInput) (*api.None, error) {
	k, err := findTemplateType(in.TemplateID)
	if err != nil {
		return nil, err
	}
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		old, err := store.EmailTemplates.Get(tx, by.OrganizationID, k.id)
		if errors.Is(err, store.ErrNotFound) {
			return nil
		}
		if err == nil {
			err = in.Match.Check(old.Revision)
		}
		if err == nil {
			err = store.EmailTemplates.Delete(tx, by.OrganizationID, k.id)
		}
		if err != nil {
			return err
		}
		return audit.Append(tx, by, audit.Entry{Action: "email_template.reset", ResourceType: "email_template", ResourceID: k.id})
	})
}

// Preview renders a template with its current text or a given one. Variables that are not given are
// filled with examples.
func (s *Service) Preview(ctx context.Context, by api.Caller, in *api.PreviewTemplateInput) (*api.EmailPreview, error) {
	k, err := findTemplateType(in.TemplateID)
	if err != nil {
		return nil, err
	}
	var given map[string]any
	if in.Body != nil {
		given = in.Body.Variables
	}
	values, err := k.resolveValues(given, true)
	if err != nil {
		return nil, err
	}
	var w templateRecord
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		if w, err = s.loadTemplateText(tx, by.OrganizationID, k); err != nil {
			return err
		}
		if _, ok := given[organization.name]; !ok {
			o, err := store.Organizations.Get(tx, by.OrganizationID)
			if err != nil {
				return err
			}
			values[organization.name] = o.Name
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	if b := in.Body; b != nil && b.Subject+b.Text+b.HTML != "" {
		w.templateText = templateText{subject: b.Subject, text: b.Text, html: b.HTML}
	}
	c, err := k.compile(w.templateText)
	if err != nil {
		return nil, err
	}
	l, err := c.render(values)
	if err != nil {
		return nil, err
	}
	return &api.EmailPreview{TemplateID: k.id, Subject: l.Subject, Text: l.Text, HTML: l.HTML}, nil
}
