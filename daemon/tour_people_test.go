package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// people calls the operations for owners and platform admins.
func (r *tour) people() {
	r.call(api.GetMe.Operation, "", "")
	r.call(api.ListTenants.Operation, "?limit=1", "")
	r.call(api.ListOrganizations.Operation, "", "")
	org := r.call(api.CreateOrganization.Operation, "", `{"name": "Beta", "owner": {"email": "bea@beta.example"}, "api_key_name": "first"}`)
	if org["owner_password"] == nil || !strings.HasPrefix(org.at("api_key")["key"].(string), api.APIKeyPrefix) {
		r.t.Errorf("the secrets of a new organization are not answered: %v", org)
	}
	r.path["organizationId"], r.path["tenantId"], r.path["orgId"] = org["id"].(string), org["id"].(string), r.org
	r.call(api.GetOrganization.Operation, "", "")
	r.call(api.GetTenant.Operation, "", "")
	r.call(api.UpdateTenant.Operation, "", `{"name": "Beta Ltd", "slug": "beta-ltd", "settings": {"no_remote_model": false}}`)
	if org := r.call(api.UpdateTenant.Operation, "", `{"require_second_person": true}`); org.at("settings")["no_remote_model"] != false {
		r.t.Errorf("one setting replaced the others: %v", org)
	}
	r.expectError(api.UpdateTenant.Operation, "", `{"name": "Beta", "slug": "Not A Slug"}`, api.CodeValidation)

	member := r.call(api.InviteMember.Operation, "", `{"email": "ben@acme.example", "role": "member"}`)
	r.path["memberId"] = member["id"].(string)
	r.call(api.ListMembers.Operation, "?role=member&status=invited&q=ben", "")
	r.call(api.UpdateMember.Operation, "", `{"role": "viewer"}`)
	r.expectError(api.InviteMember.Operation, "", `{"email": "no address", "role": "member"}`, api.CodeValidation)
	r.call(api.RemoveMember.Operation, "", "")
	r.expectError(api.UpdateMember.Operation, "", `{"role": "viewer"}`, api.CodeNotFound)
	r.path["userId"] = r.call(api.ListUsers.Operation, "?q=ben", "")["data"].([]any)[0].(map[string]any)["id"].(string)
	r.call(api.BanUser.Operation, "", `{"reason": "The account was shared."}`)
	r.call(api.UnbanUser.Operation, "", "")
	r.call(api.CreatePasswordLink.Operation, "", "")

	key := r.saveID(
		"keyId",
		r.call(api.CreateAPIKey.Operation, "", `{"name": "ci", "scopes": ["assessments:read", "*"], "expires_at": "2099-01-01T00:00:00Z"}`),
	)
	r.call(api.CreateOrgAPIKey.Operation, "", `{"name": "ci", "scopes": ["scf:read"]}`)
	r.call(api.ListAPIKeys.Operation, "", "")
	if again := r.call(api.RotateAPIKey.Operation, "", `{"grace_seconds": 60}`); again["key"] == key["key"] {
		r.t.Error("a rotated key has the same secret")
	}
	r.call(api.RevokeAPIKey.Operation, "", "")
	r.expectError(api.RotateAPIKey.Operation, "", "", api.CodeInvalidState)
	r.call(api.ListMetrics.Operation, "", "")
	r.webhooks()
	r.mails()
	r.alerts()
}

// mails sends an email, changes its template and resets it, and sets the notification preferences.
func (r *tour) mails() {
	r.saveID(
		"emailId",
		r.call(
			api.SendEmail.Operation,
			"",
			`{"to": ["ben@acme.example"], "template_id": "report_ready", "variables": {"assessment": "Acme 2026", "report": "Full report", "format": "PDF"}}`,
		),
	)
	r.expectError(
		api.SendEmail.Operation,
		"",
		`{"to": ["ben@acme.example\r\nBcc: x@y.example"], "subject": "x", "text": "x"}`,
		api.CodeValidation,
	)
	r.call(api.GetEmail.Operation, "", "")
	r.call(api.ListEmails.Operation, "?status=queued", "")
	r.call(api.ListEmailTemplates.Operation, "", "")
	r.path["templateId"] = "report_ready"
	r.call(api.PutEmailTemplate.Operation, "", `{"subject": "{{report}} is ready", "text": "{{link}}"}`)
	r.expectError(api.PutEmailTemplate.Operation, "", `{"subject": "{{reprot}}", "text": "x"}`, api.CodeValidation)
	r.call(api.GetEmailTemplate.Operation, "", "")
	r.call(api.PreviewEmailTemplate.Operation, "", `{"variables": {"report": "Gap analysis"}}`)
	r.call(api.PreviewEmailTemplate.Operation, "", "")
	r.call(api.ResetEmailTemplate.Operation, "", "")
	r.call(api.PutEmailPreferences.Operation, "", `{"digest": false}`)
	r.call(api.GetEmailPreferences.Operation, "", "")
}

// alerts creates, changes and deletes an alert rule.
func (r *tour) alerts() {
	r.expectError(
		api.CreateAlert.Operation,
		"",
		`{"name": "x", "metric": "organization_open_finding", "operator": "gt", "threshold": 0}`,
		api.CodeValidation,
	)
	r.saveID(
		"alertId",
		r.call(
			api.CreateAlert.Operation,
			"",
			`{"name": "Critical gaps", "metric": "organization_open_findings{severity=critical}", "operator": "gt", "threshold": 0}`,
		),
	)
	r.call(api.ListAlerts.Operation, "", "")
	r.call(api.GetAlert.Operation, "", "")
	r.call(api.UpdateAlert.Operation, "", `{"threshold": 2, "channels": ["webhook"]}`)
	r.call(api.DeleteAlert.Operation, "", "")
	r.expectError(api.GetAlert.Operation, "", "", api.CodeNotFound)
}

// sessions signs in and out over the network, as a browser does.
func (r *tour) sessions() {
	invited := r.call(api.InviteMember.Operation, "", `{"email": "cleo@acme.example", "role": "member"}`)
	token := invited["invite_token"].(string)
	browser := *r
	browser.h = r.net
	browser.call(api.GetLink.Operation, "", `{"token": "`+token+`"}`)
	browser.expectError(api.GetLink.Operation, "", `{"token": "none"}`, api.CodeUnauthorized)
	browser.expectError(api.AcceptLink.Operation, "", `{"token": "`+token+`", "password": "short"}`, api.CodeValidation)
	accepted := browser.call(api.AcceptLink.Operation, "", `{"token": "`+token+`", "name": "Cleo", "password": "`+goodPassword+`"}`)
	user := accepted.at("user")["id"].(string)
	r.saveID(
		"delegationId",
		r.call(
			api.CreateDelegation.Operation,
			"",
			`{"delegate_id": "`+user+`", "gates": ["poam"], "expires_at": "`+time.Now().UTC().AddDate(
				0,
				0,
				7,
			).Format(
				time.RFC3339,
			)+`", "reason": "On leave"}`,
		),
	)
	r.call(api.GetDelegation.Operation, "", "")
	r.call(api.ListDelegations.Operation, "?status=active&delegate_id="+user, "")
	r.call(api.RevokeDelegation.Operation, "", "")
	browser.expectError(api.SignIn.Operation, "", `{"email": "cleo@acme.example", "password": "wrong"}`, api.CodeUnauthorized)
	signed := browser.send(
		api.SignIn.Operation,
		"",
		"application/json",
		strings.NewReader(`{"email": "cleo@acme.example", "password": "`+goodPassword+`"}`),
	)
	browser.decodeSuccess(api.SignIn.Operation, signed)
	cookie := signed.Result().Cookies()[0]
	browser.h = http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		req.AddCookie(cookie)
		req.Header.Set("Origin", "http://"+req.Host)
		r.net.ServeHTTP(w, req)
	})
	browser.call(api.GetSession.Operation, "", "")
	browser.call(api.ActivateOrganization.Operation, "", "")
	sessions := browser.call(api.ListMySessions.Operation, "?limit=2", "")["data"].([]any)
	if len(sessions) != 2 || sessions[0].(map[string]any)["current"] == sessions[1].(map[string]any)["current"] {
		r.t.Fatalf("the sessions of who accepted an invitation and then signed in are %v", sessions)
	}
	for _, session := range sessions {
		if session := session.(map[string]any); session["current"] == false {
			r.path["sessionId"] = session["id"].(string)
		}
	}
	browser.call(api.EndMySession.Operation, "", "")
	browser.expectError(api.EndMySession.Operation, "", "", api.CodeNotFound)
	browser.call(api.ChangePassword.Operation, "", `{"current_password": "`+goodPassword+`", "new_password": "another sentence of words"}`)
	browser.call(api.SignOut.Operation, "", "")
	signed = browser.send(
		api.SignIn.Operation,
		"",
		"application/json",
		strings.NewReader(`{"email": "cleo@acme.example", "password": "another sentence of words"}`),
	)
	cookie = signed.Result().Cookies()[0]
	browser.call(api.SignOutEverywhere.Operation, "", "")
	browser.expectError(api.GetSession.Operation, "", "", api.CodeUnauthorized)
	w := httptest.NewRecorder()
	r.net.ServeHTTP(w, httptest.NewRequest("GET", api.ListAssessments.Path, nil))
	if w.Code != http.StatusUnauthorized {
		r.t.Errorf("nobody lists assessments: %d", w.Code)
	}
}

// customFrameworks manages the organization's custom frameworks and controls.
func (r *tour) customFrameworks() {
	yard, err := os.ReadFile("../examples/own/yard.yaml")
	if err != nil {
		r.t.Fatal(err)
	}
	r.upload(api.ImportCustom.Operation, "yard.yaml", yard)
	r.path["frameworkCode"], r.path["controlCode"] = "quay-rules", "QUAY-01"
	framework := `{"code": "quay-rules", "name": "Quay rules", "requirements": [{"code": "Q-1", "title": "Two factors", "controls": ["IAC-06"]}]}`
	control := `{"code": "QUAY-01", "title": "Ropes are counted", "description": "Every rope is counted before a ship leaves.", "requirements": {"quay-rules": ["Q-1"]}}`
	r.call(api.CreateCustomFramework.Operation, "", framework)
	r.expectError(api.CreateCustomFramework.Operation, "", framework, api.CodeValidation)
	r.call(api.CreateCustomControl.Operation, "", control)
	r.call(api.ListCustomFrameworks.Operation, "", "")
	r.call(api.GetCustomFramework.Operation, "", "")
	r.call(api.PutCustomFramework.Operation, "", strings.Replace(framework, "Two factors", "A second factor", 1))
	r.call(api.ListCustomControls.Operation, "", "")
	r.call(api.GetCustomControl.Operation, "", "")
	r.call(api.PutCustomControl.Operation, "", strings.Replace(control, "counted\",", "counted twice\",", 1))
	r.call(api.DeleteCustomControl.Operation, "", "")
	r.call(api.DeleteCustomFramework.Operation, "", "")
	r.path["controlCode"] = "IAC-06"
}

// webhooks creates, changes and tests a webhook.
func (r *tour) webhooks() {
	r.expectError(api.CreateWebhook.Operation, "", `{"url": "https://10.0.0.1/hook"}`, api.CodeValidation)
	r.saveID(
		"webhookId",
		r.call(api.CreateWebhook.Operation, "", `{"url": "https://localhost:9/hook", "events": ["soa.approved"]}`),
	) // unreachable address
	r.call(api.ListWebhooks.Operation, "", "")
	r.call(api.GetWebhook.Operation, "", "")
	r.call(api.UpdateWebhook.Operation, "", `{"enabled": false, "description": "Security team chat"}`)
	r.call(api.RotateWebhook.Operation, "", "")
	r.saveID("deliveryId", r.call(api.TestWebhook.Operation, "", ""))
	r.call(api.ListDeliveries.Operation, "", "")
	r.call(api.Redeliver.Operation, "", "")
	r.call(api.DeleteWebhook.Operation, "", "")
	r.expectError(api.GetWebhook.Operation, "", "", api.CodeNotFound)
	r.call(api.DeleteIntegration.Operation, "", "")
	r.expectError(api.GetIntegration.Operation, "", "", api.CodeNotFound)
}
