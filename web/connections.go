package web

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

var integrationsPanel = panel{
	path: "settings/integrations", title: "Integrations", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		p := v.paging(100)
		l, err := do(v, api.ListIntegrations, &p)
		if err != nil {
			return err
		}
		x := section{
			Columns: []string{"Name", "Type", "Last result", "Sending"}, Empty: "There are no integrations.", Links: v.nextPageLinks(l.Pagination),
		}
		for _, i := range l.Data {
			row := line{Cells: []value{
				linkValue(i.Name, "settings/integrations/"+i.ID), textValue(i.Type), textValue(orEmpty(i.LastStatus)), onOffValue(i.Enabled),
			}}
			if v.may("integration:write") {
				row.Forms = []form{buttonForm("test", "Test", "second", i.ID)}
				if t, _ := api.FindIntegrationType(i.Type); t.Tracks {
					row.Forms = append(row.Forms, buttonForm("sync", "Sync now", "second", i.ID))
				}
				row.Forms = append(row.Forms,
					buttonForm(toggle(i.Enabled), switchName(i.Enabled), "second", i.ID), buttonForm("delete", "Delete", "danger", i.ID))
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if !v.may("integration:write") {
			return nil
		}
		types := section{Title: "Add an integration"}
		chosen, ok := api.FindIntegrationType(v.queryParam("type"))
		for _, t := range api.IntegrationTypes {
			types.Facts = append(types.Facts, value{
				Label: label(t.Type), Text: prose.Capitalize(t.Doc),
				Href: "settings/integrations?type=" + t.Type,
			})
		}
		if ok {
			types.Facts = nil
			types.Title += ": " + label(chosen.Type)
			types.Forms = []form{{
				Do: "create", Button: "Add", To: "settings/integrations?type=" + chosen.Type, Hidden: []option{{"type", chosen.Type}},
				Fields: append([]field{textField("name", "Name").required()}, integrationFields(chosen, nil)...),
			}}
		}
		s.add(types)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, _ *sheet) error {
			t, ok := api.FindIntegrationType(v.field("type"))
			if !ok {
				return api.Invalid("type", "unknown type %q", v.field("type"))
			}
			var in api.CreateIntegrationInput
			var err error
			in.Body.Type, in.Body.Name = t.Type, v.field("name")
			if in.Body.Config, in.Body.Secrets, err = v.readIntegration(t, false); err != nil {
				return err
			}
			return call(v, api.CreateIntegration, &in)
		},
		"test": func(v *visit, _ *sheet) error {
			r, err := do(v, api.TestIntegration, &api.IntegrationInput{IntegrationID: v.field("id")})
			if err == nil && !r.OK {
				return api.Invalid("", "%s", r.Message)
			}
			v.notice = "It works."
			return err
		},
		"sync": func(v *visit, _ *sheet) error {
			r, err := do(v, api.SyncIntegration, &api.IntegrationInput{IntegrationID: v.field("id")})
			if err == nil {
				v.notice = fmt.Sprintf("%d issues created, %d updated, %d plan items updated, %d conflicts, %d failed.",
					r.Created, r.Pushed, r.Pulled, r.Conflicts, r.Failed)
			}
			return err
		},
		"on":  func(v *visit, _ *sheet) error { return v.enableIntegration(true) },
		"off": func(v *visit, _ *sheet) error { return v.enableIntegration(false) },
		"delete": func(v *visit, _ *sheet) error {
			return call(v, api.DeleteIntegration, &api.DeleteIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: v.field("id")}})
		},
	},
}

// enableIntegration enables or disables the integration given in the form.
func (v *visit) enableIntegration(on bool) error {
	in := api.UpdateIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: v.field("id")}}
	in.Body.Enabled = &on
	return call(v, api.UpdateIntegration, &in)
}

// integrationFields returns the fields of a type's settings, with their values. Secrets are never shown.
func integrationFields(t api.IntegrationType, have *api.Integration) (out []field) {
	for _, f := range t.Config {
		x := textField("config."+f.Name, label(f.Name)).withHint(fieldHint(f))
		x.Required = f.Required
		given := f.Default
		if have != nil {
			given = have.Config[f.Name]
		}
		switch f.Kind {
		case "choice":
			x.Kind = "select"
			for _, c := range f.Choices {
				x.Options = append(x.Options, option{c, c})
			}
		case "bool":
			x.Kind, x.Options = "select", choices(option{"true", "Yes"}, option{"false", "No"})
		case "list", "map":
			x.Hint = strings.TrimSuffix(x.Hint, ".") + ". " + map[string]string{
				"list": "Separated by commas.",
				"map":  "One name: value per line.",
			}[f.Kind]
		}
		if f.Kind == "map" {
			x.Kind = "area"
		}
		x.Value = configText(given)
		out = append(out, x)
	}
	for _, f := range t.Secrets {
		x := textField("secret."+f.Name, label(f.Name)).withKind("password").withHint(fieldHint(f))
		x.Required, x.Autocomplete = f.Required && have == nil, "off"
		if have != nil && slices.Contains(have.SecretsSet, f.Name) {
			x.Hint = "A value is set. Leave the field empty to keep it."
		}
		out = append(out, x)
	}
	if t.FreeSecrets {
		out = append(out, textField("secret.Authorization",
			"Authorization header").withKind("password").withHint("This value is sent with each event and never shown."))
	}
	return out
}

// fieldHint returns the hint for a field as a sentence. If the hint is an example URL, fieldHint returns it unchanged.
func fieldHint(f api.IntegrationField) string {
	if strings.HasPrefix(f.Doc, "http") {
		return f.Doc
	}
	return prose.Capitalize(f.Doc) + "."
}

// configText formats a value of an integration's settings for its input field.
func configText(given any) string {
	switch given := given.(type) {
	case nil:
		return ""
	case []any:
		var parts []string
		for _, x := range given {
			parts = append(parts, fmt.Sprint(x))
		}
		return strings.Join(parts, ", ")
	case map[string]any:
		var b strings.Builder
		for _, name := range slices.Sorted(maps.Keys(given)) {
			fmt.Fprintf(&b, "%s: %v\n", name, given[name])
		}
		return b.String()
	}
	return fmt.Sprint(given)
}

// readIntegration returns the settings and secrets that the visitor entered. If the integration already exists,
// settings that the visitor has emptied are removed.
func (v *visit) readIntegration(t api.IntegrationType, exists bool) (map[string]any, map[string]string, error) {
	config, secrets := map[string]any{}, map[string]string{}
	for _, f := range t.Config {
		text := v.field("config." + f.Name)
		switch {
		case text == "":
			if exists {
				config[f.Name] = nil
			}
		case f.Kind == "number":
			n, err := strconv.Atoi(text)
			if err != nil {
				return nil, nil, api.Invalid(f.Name, "%s: %q is not a number", prose.Humanize(f.Name), text)
			}
			config[f.Name] = n
		case f.Kind == "bool":
			config[f.Name] = text == "true"
		case f.Kind == "list":
			config[f.Name] = v.listField("config." + f.Name)
		case f.Kind == "map":
			entries := map[string]any{}
			for entry := range strings.Lines(text) {
				name, given, ok := strings.Cut(strings.TrimSpace(entry), ":")
				if !ok {
					return nil, nil, api.Invalid(f.Name, "%s: write each line as name: value", prose.Humanize(f.Name))
				}
				entries[strings.TrimSpace(name)] = strings.TrimSpace(given)
			}
			config[f.Name] = entries
		default:
			config[f.Name] = text
		}
	}
	for name := range v.r.PostForm {
		if secret, ok := strings.CutPrefix(name, "secret."); ok && v.r.PostForm.Get(name) != "" {
			secrets[secret] = v.r.PostForm.Get(name)
		}
	}
	return config, secrets, nil
}

var integrationPanel = panel{
	path: "settings/integrations/{id}", title: "Integration",
	show: func(v *visit, s *sheet) error {
		in := api.IntegrationInput{IntegrationID: v.r.PathValue("id")}
		i, err := do(v, api.GetIntegration, &in)
		if err != nil {
			return err
		}
		t, _ := api.FindIntegrationType(i.Type)
		v.title = i.Name
		s.Crumbs = []link{{Text: "Home"}, {Text: "Settings", Href: "settings"}, {Text: "Integrations", Href: "settings/integrations"}}
		s.add(section{Facts: []value{
			textValue(prose.Capitalize(t.Doc)).labeled(label(i.Type)), textValue(orEmpty(i.LastStatus)).labeled("Last result"),
			timeOrNeverValue(i.LastStatusAt).labeled("Last tried"), timeOrNeverValue(i.SyncedAt).labeled("Last sync"),
		}})
		if t.Tracks {
			links, err := do(v, api.ListIssueLinks, &api.IssueLinksInput{IntegrationInput: in, Paging: v.paging(100)})
			if err != nil {
				return err
			}
			s.add(v.issueLinks(links))
		} else {
			l, err := do(v, api.ListIntegrationDeliveries, &api.IntegrationDeliveriesInput{IntegrationInput: in, Paging: v.paging(50)})
			if err != nil {
				return err
			}
			s.add(deliveriesSection(v, l, false))
		}
		if v.may("integration:write") {
			s.add(section{Title: "Settings", Forms: []form{{
				Do: "save", Button: "Save", Fields: append([]field{textField("name", "Name").withValue(i.Name).required()}, integrationFields(t, i)...),
			}}})
		}
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"save": func(v *visit, _ *sheet) error {
			in := api.UpdateIntegrationInput{IntegrationInput: api.IntegrationInput{IntegrationID: v.r.PathValue("id")}}
			i, err := do(v, api.GetIntegration, &in.IntegrationInput)
			if err != nil {
				return err
			}
			t, _ := api.FindIntegrationType(i.Type)
			name := v.field("name")
			in.Body.Name = &name
			if in.Body.Config, in.Body.Secrets, err = v.readIntegration(t, true); err != nil {
				return err
			}
			return call(v, api.UpdateIntegration, &in)
		},
		"plan":  func(v *visit, _ *sheet) error { return v.resolveLink("plan") },
		"issue": func(v *visit, _ *sheet) error { return v.resolveLink("issue") },
	},
}

// resolveLink resolves a conflict between a plan item and its issue in favor of the given side.
func (v *visit) resolveLink(keep string) error {
	in := api.ResolveIssueLinkInput{IntegrationInput: api.IntegrationInput{IntegrationID: v.r.PathValue("id")}, LinkID: v.field("id")}
	in.Body.Keep = keep
	return call(v, api.ResolveIssueLink, &in)
}

func (v *visit) issueLinks(l *api.List[api.IssueLink]) section {
	x := section{
		Title: "Issues", Columns: []string{"Plan item", "Issue", "Status"},
		Empty: "No plan items have an issue yet.", Links: v.nextPageLinks(l.Pagination),
	}
	for _, i := range l.Data {
		row := line{Cells: []value{
			linkValue(i.POAMCode, "assessments/"+i.AssessmentID+"/poam/"+i.POAMItemID), textValue(i.IssueKey), tagValue(i.Status),
		}}
		if i.Status == "conflict" && v.may("integration:write") {
			row.Forms = []form{buttonForm("plan", "Keep the plan's", "second", i.ID), buttonForm("issue", "Keep the issue's", "second", i.ID)}
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

var emailPanel = panel{
	path: "settings/email", title: "Email", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		templates, err := all(v, api.ListEmailTemplates, &api.Paging{})
		if err != nil {
			return err
		}
		x := section{Title: "Templates", Columns: []string{"Template", "Subject", "Text"}}
		for _, t := range templates {
			kind := "Built in"
			if t.Custom {
				kind = "Changed by you"
			}
			x.Rows = append(x.Rows, line{Cells: []value{linkValue(label(t.ID), "settings/email/"+t.ID), textValue(t.Subject), textValue(kind)}})
		}
		s.add(x)
		sent, err := do(v, api.ListEmails, &api.EmailsInput{Paging: v.paging(50)})
		if err != nil {
			return err
		}
		x = section{
			Title: "Emails", Columns: []string{"Subject", "To", "When", "Status", "Problem"}, Empty: "Nothing has been sent yet.",
			Links: v.nextPageLinks(sent.Pagination),
		}
		for _, m := range sent.Data {
			x.Rows = append(x.Rows, line{Cells: []value{
				textValue(m.Subject), textValue(strings.Join(m.To, ", ")), timeValue(m.CreatedAt), tagValue(m.Status), textValue(orEmpty(m.Error)),
			}})
		}
		s.add(x)
		return nil
	},
}

var templatePanel = panel{
	path: "settings/email/{id}", title: "Email template",
	show: func(v *visit, s *sheet) error {
		in := api.TemplateInput{TemplateID: v.r.PathValue("id")}
		t, err := do(v, api.GetEmailTemplate, &in)
		if err != nil {
			return err
		}
		v.title = label(t.ID)
		s.Crumbs = []link{{Text: "Home"}, {Text: "Settings", Href: "settings"}, {Text: "Email", Href: "settings/email"}}
		preview := api.PreviewTemplateInput{TemplateInput: in}
		if v.complaint == "" {
			made, err := do(v, api.PreviewEmailTemplate, &preview)
			if err != nil {
				return err
			}
			s.add(section{Title: "Preview with examples", Facts: []value{
				textValue(made.Subject).labeled("Subject"), {Label: "Text", Text: made.Text, Parts: []part{{Text: made.Text}}},
			}})
		}
		if !v.may("email:write") {
			return nil
		}
		edit := section{
			Title: "Change it", Text: "Variables: " + strings.Join(t.Variables, ", ") + ".", Forms: []form{{
				Do: "save", Button: "Save", Fields: []field{
					textField("subject", "Subject").withValue(t.Subject).required(),
					textField("text", "Text").withKind("area").withValue(t.Text).required(),
					textField("html", "HTML").withKind("area").withValue(t.HTML).withHint("If this field is empty, emails are sent as plain text."),
				},
			}},
		}
		if t.Custom {
			edit.Forms = append(edit.Forms, form{Do: "reset", Button: "Reset to the built-in text", Style: "danger"})
		}
		s.add(edit)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"save": func(v *visit, _ *sheet) error {
			in := api.PutTemplateInput{TemplateInput: api.TemplateInput{TemplateID: v.r.PathValue("id")}}
			in.Body.Subject, in.Body.Text, in.Body.HTML = v.field("subject"), v.field("text"), v.field("html")
			return call(v, api.PutEmailTemplate, &in)
		},
		"reset": func(v *visit, _ *sheet) error {
			return call(v, api.ResetEmailTemplate, &api.ResetTemplateInput{TemplateInput: api.TemplateInput{TemplateID: v.r.PathValue("id")}})
		},
	},
}
