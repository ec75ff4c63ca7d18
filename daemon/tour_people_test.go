package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// people are looked after by whoever owns the organization and runs the platform.
func (r *tour) people() {
	r.ask(api.GetMe.Operation, "", "")
	r.ask(api.ListTenants.Operation, "?limit=1", "")
	r.ask(api.ListOrganizations.Operation, "", "")
	org := r.ask(api.CreateOrganization.Operation, "", `{"name": "Beta", "owner": {"email": "bea@beta.example"}, "api_key_name": "first"}`)
	if org["owner_password"] == nil || !strings.HasPrefix(org.at("api_key")["key"].(string), api.APIKeyPrefix) {
		r.t.Errorf("the secrets of a new organization are not answered: %v", org)
	}
	r.path["organizationId"], r.path["tenantId"], r.path["orgId"] = org["id"].(string), org["id"].(string), r.org
	r.ask(api.GetOrganization.Operation, "", "")
	r.ask(api.GetTenant.Operation, "", "")
	r.ask(api.UpdateTenant.Operation, "", `{"name": "Beta Ltd", "slug": "beta-ltd", "settings": {"require_second_person": true}}`)
	r.refused(api.UpdateTenant.Operation, "", `{"name": "Beta", "slug": "Not A Slug"}`, api.CodeValidation)

	member := r.ask(api.InviteMember.Operation, "", `{"email": "ben@acme.example", "role": "member"}`)
	r.path["memberId"], r.path["userId"] = member["id"].(string), member["user_id"].(string)
	r.ask(api.ListMembers.Operation, "?role=member&status=invited&q=ben", "")
	r.ask(api.UpdateMember.Operation, "", `{"role": "viewer"}`)
	r.refused(api.InviteMember.Operation, "", `{"email": "no address", "role": "member"}`, api.CodeValidation)
	r.ask(api.RemoveMember.Operation, "", "")
	r.refused(api.UpdateMember.Operation, "", `{"role": "viewer"}`, api.CodeNotFound)
	r.ask(api.ListUsers.Operation, "?q=ben", "")
	r.ask(api.BanUser.Operation, "", `{"reason": "The account was shared."}`)
	r.ask(api.UnbanUser.Operation, "", "")
	r.ask(api.CreatePasswordLink.Operation, "", "")

	key := r.note(
		"keyId",
		r.ask(api.CreateAPIKey.Operation, "", `{"name": "ci", "scopes": ["assessments:read", "*"], "expires_at": "2099-01-01T00:00:00Z"}`),
	)
	r.ask(api.CreateOrgAPIKey.Operation, "", `{"name": "ci", "scopes": ["scf:read"]}`)
	r.ask(api.ListAPIKeys.Operation, "", "")
	if again := r.ask(api.RotateAPIKey.Operation, "", `{"grace_seconds": 60}`); again["key"] == key["key"] {
		r.t.Error("a rotated key has the same secret")
	}
	r.ask(api.RevokeAPIKey.Operation, "", "")
	r.refused(api.RotateAPIKey.Operation, "", "", api.CodeInvalidState)
	r.ask(api.ListMetrics.Operation, "", "")
	r.webhooks()
	r.mails()
	r.alerts()
}

// mails has a mail written, its wording changed and changed back, and says which are wanted.
func (r *tour) mails() {
	r.note(
		"emailId",
		r.ask(
			api.SendEmail.Operation,
			"",
			`{"to": ["ben@acme.example"], "template_id": "report_ready", "variables": {"assessment": "Acme 2026", "report": "Full report", "format": "PDF"}}`,
		),
	)
	r.refused(
		api.SendEmail.Operation,
		"",
		`{"to": ["ben@acme.example\r\nBcc: x@y.example"], "subject": "x", "text": "x"}`,
		api.CodeValidation,
	)
	r.ask(api.GetEmail.Operation, "", "")
	r.ask(api.ListEmails.Operation, "?status=queued", "")
	r.ask(api.ListEmailTemplates.Operation, "", "")
	r.path["templateId"] = "report_ready"
	r.ask(api.PutEmailTemplate.Operation, "", `{"subject": "{{report}} is ready", "text": "{{link}}"}`)
	r.refused(api.PutEmailTemplate.Operation, "", `{"subject": "{{reprot}}", "text": "x"}`, api.CodeValidation)
	r.ask(api.GetEmailTemplate.Operation, "", "")
	r.ask(api.PreviewEmailTemplate.Operation, "", `{"variables": {"report": "Gap analysis"}}`)
	r.ask(api.PreviewEmailTemplate.Operation, "", "")
	r.ask(api.ResetEmailTemplate.Operation, "", "")
	r.ask(api.PutEmailPreferences.Operation, "", `{"digest": false}`)
	r.ask(api.GetEmailPreferences.Operation, "", "")
}

// alerts makes a rule, changes it and deletes it.
func (r *tour) alerts() {
	r.refused(
		api.CreateAlert.Operation,
		"",
		`{"name": "x", "metric": "organization_open_finding", "operator": "gt", "threshold": 0}`,
		api.CodeValidation,
	)
	r.note(
		"alertId",
		r.ask(
			api.CreateAlert.Operation,
			"",
			`{"name": "Critical gaps", "metric": "organization_open_findings{severity=critical}", "operator": "gt", "threshold": 0}`,
		),
	)
	r.ask(api.ListAlerts.Operation, "", "")
	r.ask(api.GetAlert.Operation, "", "")
	r.ask(api.UpdateAlert.Operation, "", `{"threshold": 2, "channels": ["webhook"]}`)
	r.ask(api.DeleteAlert.Operation, "", "")
	r.refused(api.GetAlert.Operation, "", "", api.CodeNotFound)
}

// sessions are begun and ended over the network, as a browser does.
func (r *tour) sessions() {
	invited := r.ask(api.InviteMember.Operation, "", `{"email": "cleo@acme.example", "role": "member"}`)
	token := invited["invite_token"].(string)
	browser := *r
	browser.h = r.net
	browser.ask(api.GetLink.Operation, "", `{"token": "`+token+`"}`)
	browser.refused(api.GetLink.Operation, "", `{"token": "none"}`, api.CodeUnauthorized)
	browser.refused(api.AcceptLink.Operation, "", `{"token": "`+token+`", "password": "short"}`, api.CodeValidation)
	browser.ask(api.AcceptLink.Operation, "", `{"token": "`+token+`", "name": "Cleo", "password": "`+goodPassword+`"}`)
	r.note(
		"delegationId",
		r.ask(
			api.CreateDelegation.Operation,
			"",
			`{"delegate_id": "`+invited["user_id"].(string)+`", "gates": ["poam"], "expires_at": "`+time.Now().UTC().AddDate(
				0,
				0,
				7,
			).Format(
				time.RFC3339,
			)+`", "reason": "On leave"}`,
		),
	)
	r.ask(api.GetDelegation.Operation, "", "")
	r.ask(api.ListDelegations.Operation, "?status=active&delegate_id="+invited["user_id"].(string), "")
	r.ask(api.RevokeDelegation.Operation, "", "")
	browser.refused(api.SignIn.Operation, "", `{"email": "cleo@acme.example", "password": "wrong"}`, api.CodeUnauthorized)
	signed := browser.send(
		api.SignIn.Operation,
		"",
		"application/json",
		strings.NewReader(`{"email": "cleo@acme.example", "password": "`+goodPassword+`"}`),
	)
	browser.took(api.SignIn.Operation, signed)
	cookie := signed.Result().Cookies()[0]
	browser.h = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.AddCookie(cookie)
		req.Header.Set("Origin", "http://"+req.Host)
		r.net.ServeHTTP(w, req)
	})
	browser.ask(api.GetSession.Operation, "", "")
	browser.ask(api.ActivateOrganization.Operation, "", "")
	browser.ask(api.ChangePassword.Operation, "", `{"current_password": "`+goodPassword+`", "new_password": "another sentence of words"}`)
	browser.ask(api.SignOut.Operation, "", "")
	browser.refused(api.GetSession.Operation, "", "", api.CodeUnauthorized)
	w := httptest.NewRecorder()
	r.net.ServeHTTP(w, httptest.NewRequest("GET", api.ListAssessments.Path, nil))
	if w.Code != http.StatusUnauthorized {
		r.t.Errorf("nobody lists assessments: %d", w.Code)
	}
}

// own is what the organization adds to the catalog.
func (r *tour) own() {
	yard, err := os.ReadFile("../examples/own/yard.yaml")
	if err != nil {
		r.t.Fatal(err)
	}
	r.upload(api.ImportCustom.Operation, "yard.yaml", yard)
	r.path["frameworkCode"], r.path["controlCode"] = "quay-rules", "QUAY-01"
	framework := `{"code": "quay-rules", "name": "Quay rules", "requirements": [{"code": "Q-1", "title": "Two factors", "controls": ["IAC-06"]}]}`
	control := `{"code": "QUAY-01", "title": "Ropes are counted", "description": "Every rope is counted before a ship leaves.", "requirements": {"quay-rules": ["Q-1"]}}`
	r.ask(api.CreateCustomFramework.Operation, "", framework)
	r.refused(api.CreateCustomFramework.Operation, "", framework, api.CodeValidation)
	r.ask(api.CreateCustomControl.Operation, "", control)
	r.ask(api.ListCustomFrameworks.Operation, "", "")
	r.ask(api.GetCustomFramework.Operation, "", "")
	r.ask(api.PutCustomFramework.Operation, "", strings.Replace(framework, "Two factors", "A second factor", 1))
	r.ask(api.ListCustomControls.Operation, "", "")
	r.ask(api.GetCustomControl.Operation, "", "")
	r.ask(api.PutCustomControl.Operation, "", strings.Replace(control, "counted\",", "counted twice\",", 1))
	r.ask(api.DeleteCustomControl.Operation, "", "")
	r.ask(api.DeleteCustomFramework.Operation, "", "")
	r.path["controlCode"] = "IAC-06"
}

// webhooks makes one, changes it and has it tested.
func (r *tour) webhooks() {
	r.refused(api.CreateWebhook.Operation, "", `{"url": "https://10.0.0.1/hook"}`, api.CodeValidation)
	r.note(
		"webhookId",
		r.ask(api.CreateWebhook.Operation, "", `{"url": "https://localhost:9/hook", "events": ["soa.approved"]}`),
	) // reached by nobody
	r.ask(api.ListWebhooks.Operation, "", "")
	r.ask(api.GetWebhook.Operation, "", "")
	r.ask(api.UpdateWebhook.Operation, "", `{"enabled": false, "description": "The chat of the security team"}`)
	r.ask(api.RotateWebhook.Operation, "", "")
	r.note("deliveryId", r.ask(api.TestWebhook.Operation, "", ""))
	r.ask(api.ListDeliveries.Operation, "", "")
	r.ask(api.Redeliver.Operation, "", "")
	r.ask(api.DeleteWebhook.Operation, "", "")
	r.refused(api.GetWebhook.Operation, "", "", api.CodeNotFound)
	r.ask(api.DeleteIntegration.Operation, "", "")
	r.refused(api.GetIntegration.Operation, "", "", api.CodeNotFound)
}
