package web

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// settingsPages are the tabs of the settings.
var settingsPages = []link{
	{Text: "Organization", Href: "settings"},
	{Text: "Members", Href: "settings/members"},
	{Text: "Delegations", Href: "settings/delegations"},
	{Text: "API keys", Href: "settings/keys", Need: "apikey:read"},
	{Text: "Webhooks", Href: "settings/webhooks", Need: "webhook:read"},
	{Text: "Integrations", Href: "settings/integrations", Need: "integration:read"},
	{Text: "Email", Href: "settings/email", Need: "email:read"},
	{Text: "Alerts", Href: "settings/alerts", Need: "alert:read"},
}

// org returns the input of operations on the active organization.
func (v *visit) org() api.OrgInput {
	if v.me.OrganizationID == nil {
		return api.OrgInput{}
	}
	return api.OrgInput{OrgID: *v.me.OrganizationID}
}

// choices returns options for a select field.
func choices(options ...option) []option { return options }

var organizationPanel = panel{
	path: "settings", title: "Settings", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		o, err := do(v, api.GetOrganization, &api.OrganizationInput{OrganizationID: v.org().OrgID})
		if err != nil {
			return err
		}
		s.add(section{Facts: []value{
			textValue(o.Name).labeled("Name"), textValue(o.Slug).labeled("Short name"), tagValue(o.Status).labeled("Status"),
			textValue(yesOrNo(o.RequiresSecondPerson())).labeled("A second person decides"),
			textValue(yesOrNo(o.Settings[api.NoRemoteModel] == true)).labeled("Don't use language models on other machines"),
		}})
		if !v.may("member:write") {
			return nil
		}
		second := yesNoChoice("second_person", "A second person decides", o.RequiresSecondPerson())
		s.add(section{Title: "Rules for decisions", Forms: []form{{
			Do: "rules", Button: "Save", Fields: []field{
				second.withHint("If set to yes, nobody can approve a version that they submitted or edited, not even with an API key. Only an owner can turn off this rule."),
			},
		}}})
		ban := yesNoChoice("no_remote_model", "Don't use language models on other machines", o.Settings[api.NoRemoteModel] == true)
		s.add(section{Title: "Rules for evidence", Forms: []form{{
			Do: "models", Button: "Save", Fields: []field{
				ban.withHint("If set to yes, no text from your documents is sent to a model on another machine. Only an owner can turn off this rule."),
			},
		}}})
		s.add(section{Title: "Name", Forms: []form{{
			Do: "name", Button: "Save", Fields: []field{
				textField("name", "Name").withValue(o.Name).required(),
				textField("slug", "Short name").withValue(o.Slug).required().withHint("Use lowercase letters, digits and hyphens."),
			},
		}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"rules": func(v *visit, _ *sheet) error {
			on := v.field("second_person") == "true"
			in := api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: v.org().OrgID}}
			in.Body.RequireSecondPerson = &on
			return call(v, api.UpdateTenant, &in)
		},
		"models": func(v *visit, _ *sheet) error {
			on := v.field("no_remote_model") == "true"
			in := api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: v.org().OrgID}}
			in.Body.NoRemoteModel = &on
			return call(v, api.UpdateTenant, &in)
		},
		"name": func(v *visit, _ *sheet) error {
			in := api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: v.org().OrgID}}
			in.Body.Name, in.Body.Slug = v.field("name"), v.field("slug")
			return call(v, api.UpdateTenant, &in)
		},
	},
}

func yesOrNo(b bool) string {
	if b {
		return "Yes"
	}
	return "No"
}

// roleNotes describes the purpose of each role.
var roleNotes = map[api.Role]string{
	api.RoleOwner:    "Can do everything, including deleting assessments and turning off rules",
	api.RoleAdmin:    "Can do everything except delete assessments: manage members, keys and integrations, work on assessments, and decide",
	api.RoleApprover: "Can read, comment, and decide on submitted versions",
	api.RoleMember:   "Can work on assessments, but not decide",
	api.RoleAuditor:  "Can read and export everything, and comment",
	api.RoleViewer:   "Can read assessments",
}

var membersPanel = panel{
	path: "settings/members", title: "Members", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		in := api.OrgMembersInput{OrgInput: v.org(), Paging: v.paging(100), Q: v.queryParam("q")}
		members, err := do(v, api.ListMembers, &in)
		if err != nil {
			return err
		}
		x := section{
			Columns: []string{"Email address", "Name", "Role", "Status"}, Empty: "No matching members.",
			Forms: []form{{
				Get: true, Button: "Filter", Style: "second",
				Fields: []field{textField("q", "Name or address").withValue(in.Q).withKind("search")},
			}},
			Links: v.nextPageLinks(members.Pagination),
		}
		for _, m := range members.Data {
			row := line{Cells: []value{textValue(m.Email), textValue(m.Name), textValue(label(m.Role)), tagValue(m.Status)}}
			if v.may("member:write") {
				role := buttonForm("role", "Change the role", "second", m.ID)
				role.Fields = []field{enumChoice("role", "Role of "+m.Email, m.Role)}
				row.Forms = append(row.Forms, role)
				switch m.Status {
				case "active":
					row.Forms = append(row.Forms, buttonForm("suspend", "Suspend", "danger", m.ID))
				case "suspended":
					row.Forms = append(row.Forms, buttonForm("restore", "Restore", "second", m.ID))
				}
				row.Forms = append(row.Forms, buttonForm("remove", "Remove", "danger", m.ID))
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if v.may("member:write") {
			s.add(section{Title: "Invite somebody", Forms: []form{{
				Do: "invite", Button: "Invite", Fields: []field{
					textField("email", "Email address").withKind("email").required(),
					enumChoice("role", "Role", api.RoleMember),
				},
			}}})
		}
		roles := section{Title: "Roles"}
		for _, r := range api.Roles {
			roles.Facts = append(roles.Facts, textValue(roleNotes[r]).labeled(label(r)))
		}
		s.add(roles)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"invite": func(v *visit, s *sheet) error {
			in := api.InviteMemberInput{OrgInput: v.org()}
			in.Body.Email, in.Body.Role = v.field("email"), api.Role(v.field("role"))
			made, err := do(v, api.InviteMember, &in)
			if err != nil {
				return err
			}
			text := "Send this single-use link to " + made.Email + ". It expires " + made.InviteExpiresAt.UTC().Format("2006-01-02 15:04 UTC") + "."
			if made.Emailed {
				text = "An email with this single-use link is being sent to " + made.Email + "."
			}
			s.add(section{Title: "Invitation", Text: text, Secret: v.BaseURL(v.r) + made.InvitePath})
			return nil
		},
		"role":    func(v *visit, _ *sheet) error { return v.updateMember(api.Role(v.field("role")), "") },
		"suspend": func(v *visit, _ *sheet) error { return v.updateMember("", "suspended") },
		"restore": func(v *visit, _ *sheet) error { return v.updateMember("", "active") },
		"remove": func(v *visit, _ *sheet) error {
			return call(v, api.RemoveMember, &api.RemoveMemberInput{MemberInput: api.MemberInput{OrgInput: v.org(), MemberID: v.field("id")}})
		},
	},
}

// updateMember changes the role or the status of the member given in the form.
func (v *visit) updateMember(role api.Role, status string) error {
	in := api.UpdateMemberInput{MemberInput: api.MemberInput{OrgInput: v.org(), MemberID: v.field("id")}}
	in.Body.Role, in.Body.Status = role, status
	return call(v, api.UpdateMember, &in)
}

// enteredDayEnd returns the end of the day in a field, or the zero time if the field is empty.
func (v *visit) enteredDayEnd(name string) (time.Time, error) {
	text := v.field(name)
	if text == "" {
		return time.Time{}, nil
	}
	day, err := parseDay(name, text)
	return dayEnd(day), err
}

var delegationsPanel = panel{
	path: "settings/delegations", title: "Delegations", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		l, err := do(v, api.ListDelegations, &api.DelegationsInput{Paging: v.paging(100)})
		if err != nil {
			return err
		}
		x := section{
			Text:    "An owner, admin or approver can let somebody else decide until a given date, for example while on leave.",
			Columns: []string{"From", "To", "Decides on", "Until", "Status", "Reason"}, Empty: "There are no delegations.",
			Links: v.nextPageLinks(l.Pagination),
		}
		for _, d := range l.Data {
			var gates []string
			for _, g := range d.Gates {
				gates = append(gates, g.Title())
			}
			row := line{Cells: []value{
				textValue(d.DelegatorName), textValue(d.DelegateName), textValue(strings.Join(gates, ", ")),
				timeValue(d.ExpiresAt), tagValue(d.Status), textValue(d.Reason),
			}}
			if d.Status == api.DelegationActive && v.may(api.ApprovalDecide) {
				row.Forms = []form{buttonForm("revoke", "End", "danger", d.ID)}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if !v.may(api.ApprovalDecide) {
			return nil
		}
		members, err := all(v, api.ListMembers, &api.OrgMembersInput{OrgInput: v.org(), Status: "active"})
		if err != nil {
			return err
		}
		to := field{Name: "delegate", Label: "To", Kind: "select"}
		for _, m := range members {
			if m.UserID != v.me.User.ID {
				to.Options = append(to.Options, option{m.UserID, m.Email})
			}
		}
		gate := choiceOrAny("gate", "Decides on", "", api.Gates...)
		gate.Options[0].Label = "All four deliverables"
		if len(to.Options) == 0 {
			s.add(section{Title: "Delegate your decisions", Text: "You are the only active member; invite somebody first."})
			return nil
		}
		s.add(section{Title: "Delegate your decisions", Forms: []form{{
			Do: "delegate", Button: "Delegate",
			Fields: []field{to, gate, textField("until", "Until").withKind("date").required(), textField("reason", "Reason")},
		}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"delegate": func(v *visit, _ *sheet) error {
			var in api.CreateDelegationInput
			until, err := v.enteredDayEnd("until")
			if err != nil {
				return err
			}
			if until.IsZero() {
				return api.Invalid("until", "choose the last day of the delegation")
			}
			in.Body.DelegateID, in.Body.ExpiresAt, in.Body.Reason = v.field("delegate"), until, v.field("reason")
			if g := v.field("gate"); g != "" {
				in.Body.Gates = []api.Gate{api.Gate(g)}
			}
			return call(v, api.CreateDelegation, &in)
		},
		"revoke": func(v *visit, _ *sheet) error {
			return call(v, api.RevokeDelegation, &api.DelegationInput{DelegationID: v.field("id")})
		},
	},
}

var keysPanel = panel{
	path: "settings/keys", title: "API keys", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		p := v.paging(100)
		l, err := do(v, api.ListAPIKeys, &p)
		if err != nil {
			return err
		}
		x := section{
			Text:    "API keys are for programs. Each key acts on behalf of the user who created it, within the scopes of the key.",
			Columns: []string{"Name", "Key", "Scopes", "Last used", "Expires", "Status"}, Empty: "There are no API keys.",
			Links: v.nextPageLinks(l.Pagination),
		}
		for _, k := range l.Data {
			row := line{Cells: []value{
				textValue(k.Name), textValue(k.MaskedKey), textValue(strings.Join(k.Scopes, ", ")),
				timeOrNeverValue(k.LastUsedAt), timeOrNeverValue(k.ExpiresAt), tagValue(k.Status),
			}}
			if v.may(api.APIKeyWrite) && k.Status == "active" {
				row.Forms = []form{buttonForm("rotate", "Replace", "second", k.ID), buttonForm("revoke", "Revoke", "danger", k.ID)}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if v.may(api.APIKeyWrite) {
			s.add(section{Title: "Create a key", Forms: []form{{
				Do: "create", Button: "Create", Fields: []field{
					textField("name", "Name").required(),
					textField("scopes", "Scopes").withValue("assessment:read, report:read").required().
						withHint("Scopes, separated by commas, such as document:write. * includes all scopes except deciding and managing keys, which must be listed."),
					textField("expires", "Expires").withKind("date").withHint("If this field is empty, the key never expires."),
				},
			}}})
		}
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, s *sheet) error {
			var in api.CreateAPIKeyInput
			expires, err := v.enteredDayEnd("expires")
			if err != nil {
				return err
			}
			if !expires.IsZero() {
				in.Body.ExpiresAt = &expires
			}
			in.Body.Name, in.Body.Scopes = v.field("name"), v.listField("scopes")
			made, err := do(v, api.CreateAPIKey, &in)
			if err != nil {
				return err
			}
			s.add(section{Title: "The new key", Secret: made.Key})
			return nil
		},
		"rotate": func(v *visit, s *sheet) error {
			made, err := do(v, api.RotateAPIKey, &api.RotateAPIKeyInput{APIKeyInput: api.APIKeyInput{KeyID: v.field("id")}})
			if err != nil {
				return err
			}
			s.add(section{Title: "The new secret of " + made.Name, Secret: made.Key})
			return nil
		},
		"revoke": func(v *visit, _ *sheet) error {
			return call(v, api.RevokeAPIKey, &api.APIKeyInput{KeyID: v.field("id")})
		},
	},
}

const eventsHint = "Event types, separated by commas, such as approval.requested, report.ready. If this field is empty, all events are sent."

var webhooksPanel = panel{
	path: "settings/webhooks", title: "Webhooks", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		l, err := do(v, api.ListWebhooks, &api.OrgListInput{OrgInput: v.org(), Paging: v.paging(100)})
		if err != nil {
			return err
		}
		x := section{
			Text:    "Events are sent to these addresses as they happen, signed with the webhook's secret.",
			Columns: []string{"Address", "Events", "Description", "Sending"}, Empty: "There are no webhooks.",
			Links: v.nextPageLinks(l.Pagination),
		}
		for _, h := range l.Data {
			events := strings.Join(h.Events, ", ")
			if events == "" {
				events = "all"
			}
			row := line{Cells: []value{
				linkValue(h.URL, "settings/webhooks/"+h.ID), textValue(events), textValue(h.Description), onOffValue(h.Enabled),
			}}
			if v.may("webhook:write") {
				row.Forms = []form{
					buttonForm("test", "Test", "second", h.ID), buttonForm(toggle(h.Enabled), switchName(h.Enabled), "second", h.ID),
					buttonForm("rotate", "Replace the secret", "danger", h.ID), buttonForm("delete", "Delete", "danger", h.ID),
				}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if v.may("webhook:write") {
			s.add(section{Title: "Add a webhook", Forms: []form{{
				Do: "create", Button: "Add", Fields: []field{
					textField("url", "Address").withKind("url").required(), textField("events", "Events").withHint(eventsHint),
					textField("description", "Description"),
				},
			}}})
		}
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, s *sheet) error {
			in := api.CreateWebhookInput{OrgInput: v.org()}
			in.Body.URL, in.Body.Events, in.Body.Description = v.field("url"), v.listField("events"), v.field("description")
			made, err := do(v, api.CreateWebhook, &in)
			if err != nil {
				return err
			}
			s.add(section{Title: "The webhook's secret", Secret: made.Secret})
			return nil
		},
		"rotate": func(v *visit, s *sheet) error {
			made, err := do(v, api.RotateWebhook, &api.WebhookInput{WebhookID: v.field("id")})
			if err != nil {
				return err
			}
			s.add(section{Title: "The new secret", Text: "The old secret remains valid for a day.", Secret: made.Secret})
			return nil
		},
		"test": func(v *visit, _ *sheet) error {
			_, err := do(v, api.TestWebhook, &api.WebhookInput{WebhookID: v.field("id")})
			v.notice = "A test event is being sent; open the webhook to see its delivery."
			return err
		},
		"on":  func(v *visit, _ *sheet) error { return v.enableWebhook(true) },
		"off": func(v *visit, _ *sheet) error { return v.enableWebhook(false) },
		"delete": func(v *visit, _ *sheet) error {
			return call(v, api.DeleteWebhook, &api.DeleteWebhookInput{WebhookInput: api.WebhookInput{WebhookID: v.field("id")}})
		},
	},
}

// toggle returns the action that changes the current state: "off" or "on". switchName returns the label of the button
// for that action.
func toggle(on bool) string {
	if on {
		return "off"
	}
	return "on"
}

func switchName(on bool) string { return "Turn " + toggle(on) }

func (v *visit) enableWebhook(on bool) error {
	in := api.UpdateWebhookInput{WebhookInput: api.WebhookInput{WebhookID: v.field("id")}}
	in.Body.Enabled = &on
	return call(v, api.UpdateWebhook, &in)
}

var webhookPanel = panel{
	path: "settings/webhooks/{id}", title: "Webhook",
	show: func(v *visit, s *sheet) error {
		in := api.WebhookInput{WebhookID: v.r.PathValue("id")}
		h, err := do(v, api.GetWebhook, &in)
		if err != nil {
			return err
		}
		l, err := do(v, api.ListDeliveries, &api.DeliveriesInput{WebhookInput: in, Paging: v.paging(50)})
		if err != nil {
			return err
		}
		s.Crumbs = []link{{Text: "Home"}, {Text: "Settings", Href: "settings"}, {Text: "Webhooks", Href: "settings/webhooks"}}
		s.Lead = h.URL
		if v.may("webhook:write") {
			s.add(section{Title: "Change the webhook", Forms: []form{{
				Do: "save", Button: "Save", Fields: []field{
					textField("url", "Address").withKind("url").withValue(h.URL).required(),
					textField("events", "Events").withValue(strings.Join(h.Events, ", ")).withHint(eventsHint),
					textField("description", "Description").withValue(h.Description),
				},
			}}})
		}
		s.add(deliveriesSection(v, l, v.may("webhook:write")))
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"save": func(v *visit, _ *sheet) error {
			in := api.UpdateWebhookInput{WebhookInput: api.WebhookInput{WebhookID: v.r.PathValue("id")}}
			url, events, description := v.field("url"), append([]string{}, v.listField("events")...), v.field("description")
			in.Body.URL, in.Body.Events, in.Body.Description = &url, &events, &description
			return call(v, api.UpdateWebhook, &in)
		},
		"again": func(v *visit, _ *sheet) error {
			return call(v, api.Redeliver, &api.DeliveryInput{
				WebhookInput: api.WebhookInput{WebhookID: v.r.PathValue("id")}, DeliveryID: v.field("id"),
			})
		},
	},
}

// deliveriesSection lists deliveries of events. If again is set, each of them can be sent again.
func deliveriesSection(v *visit, l *api.List[api.Delivery], again bool) section {
	x := section{
		Title: "Deliveries", Columns: []string{"Event", "When", "Status", "Attempts", "Last answer"}, Empty: "Nothing has been sent yet.",
		Links: v.nextPageLinks(l.Pagination),
	}
	for _, d := range l.Data {
		last := ""
		if n := len(d.Attempts); n > 0 {
			last = strconv.Itoa(d.Attempts[n-1].HTTPStatus)
			if d.Attempts[n-1].Error != nil {
				last = *d.Attempts[n-1].Error
			}
		}
		row := line{Cells: []value{
			textValue(d.EventType), timeValue(d.CreatedAt), tagValue(d.Status), countValue(len(d.Attempts)), textValue(last),
		}}
		if again {
			row.Forms = []form{buttonForm("again", "Send again", "second", d.ID)}
		}
		x.Rows = append(x.Rows, row)
	}
	return x
}

var alertsPanel = panel{
	path: "settings/alerts", title: "Alerts", group: &settingsPages,
	show: func(v *visit, s *sheet) error {
		p := v.paging(100)
		l, err := do(v, api.ListAlerts, &p)
		if err != nil {
			return err
		}
		x := section{
			Text:    "A rule compares a metric with a threshold and sends a notification when the threshold is crossed.",
			Columns: []string{"Name", "Rule", "State", "Value", "Checking"}, Empty: "There are no rules.", Links: v.nextPageLinks(l.Pagination),
		}
		for _, r := range l.Data {
			row := line{Cells: []value{
				textValue(r.Name), textValue(r.Metric + " " + operators[r.Operator] + " " + formatNumber(r.Threshold)),
				{Text: label(r.State), Tone: alertTones[r.State]},
				textValue(numberOrEmpty(r.Value)), onOffValue(r.Enabled),
			}}
			if v.may("alert:write") {
				row.Forms = []form{buttonForm(toggle(r.Enabled), switchName(r.Enabled), "second", r.ID), buttonForm("delete", "Delete", "danger", r.ID)}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		if !v.may("alert:write") {
			return nil
		}
		metrics, err := all(v, api.ListMetrics, &api.Paging{})
		if err != nil {
			return err
		}
		var own, others []option
		for _, m := range metrics {
			if o := (option{m.Name, prose.Label(m.Name)}); strings.HasPrefix(m.Name, "organization_") {
				own = append(own, o)
			} else {
				others = append(others, o)
			}
		}
		// A metric is listed once for each combination of its labels.
		metric := field{Name: "metric", Label: "Metric", Kind: "select", Options: slices.Compact(append(own, others...))}
		s.add(section{Title: "Add a rule", Forms: []form{{
			Do: "create", Button: "Add", Fields: []field{
				textField("name", "Name").required(), metric,
				{Name: "operator", Label: "Is", Kind: "select", Options: choices(
					option{"gt", "more than"}, option{"gte", "at least"}, option{"lt", "less than"}, option{"lte", "at most"}, option{"eq", "exactly"},
				)},
				textField("threshold", "Threshold").required().withHint("Enter a number, such as 0 or 2.5."),
			},
		}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, _ *sheet) error {
			var in api.CreateAlertInput
			in.Body.Name, in.Body.Metric, in.Body.Operator = v.field("name"), v.field("metric"), v.field("operator")
			if err := json.Unmarshal([]byte(v.field("threshold")), &in.Body.Threshold); err != nil {
				return api.Invalid("threshold", "%q is not a number", v.field("threshold"))
			}
			return call(v, api.CreateAlert, &in)
		},
		"on":  func(v *visit, _ *sheet) error { return v.setAlertEnabled(true) },
		"off": func(v *visit, _ *sheet) error { return v.setAlertEnabled(false) },
		"delete": func(v *visit, _ *sheet) error {
			return call(v, api.DeleteAlert, &api.DeleteAlertInput{AlertInput: api.AlertInput{AlertID: v.field("id")}})
		},
	},
}

var (
	operators  = map[string]string{"gt": ">", "gte": "≥", "lt": "<", "lte": "≤", "eq": "="}
	alertTones = map[string]string{api.AlertOK: "approved", api.AlertFiring: "critical"}
)

// formatNumber formats a number with as few digits as possible, without rounding it.
func formatNumber(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

func numberOrEmpty(f *float64) string {
	if f == nil {
		return ""
	}
	return formatNumber(*f)
}

// setAlertEnabled enables or disables the alert rule given in the form.
func (v *visit) setAlertEnabled(on bool) error {
	in := api.UpdateAlertInput{AlertInput: api.AlertInput{AlertID: v.field("id")}}
	in.Body.Enabled = &on
	return call(v, api.UpdateAlert, &in)
}
