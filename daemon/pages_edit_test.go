package daemon_test

import (
	"bytes"
	"io"
	"mime/multipart"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
)

var (
	hiddenField = regexp.MustCompile(`<input type="hidden" name="([^"]+)" value="([^"]*)">`)
	// absoluteAddress matches an address that begins at the root of the host.
	absoluteAddress = regexp.MustCompile(`(?:href|src|action|data-live|data-open)="/[^"]*`)
	passageLink     = regexp.MustCompile(`href="\.\./(passages/[^"]+)"`)
)

// TestDeliverablePages filters and sorts a table, edits an item, accepts another, and lets two users edit the
// same item.
func TestDeliverablePages(t *testing.T) {
	g := newGateFixture(t)
	v := g.w.visitorSignedIn("gate@example.com")
	table := "/assessments/" + g.ids["assessmentId"] + "/soa"
	all := v.page(table, http.StatusOK)
	rows := strings.Count(all, `<th scope="row">`)
	some := v.page(table+"?q=data&sort=1&desc=1", http.StatusOK)
	if n := strings.Count(some, `<th scope="row">`); n == 0 || n >= rows || !strings.Contains(some, `aria-sort="descending"`) {
		t.Errorf("%d of %d rows contain the word", n, rows)
	}
	if none := v.page(table+"?q=%3Cscript%3E", http.StatusOK); strings.Contains(none, "<script>") ||
		strings.Contains(none, `id="none" hidden`) {
		t.Errorf("nothing matches: %s", none)
	}
	if empty := v.page("/assessments/"+g.ids["assessmentId"]+"/gap", http.StatusOK); !strings.Contains(empty, "There is no version yet") {
		t.Errorf("without a gap analysis: %s", empty)
	}
	v.page("/assessments/"+g.ids["assessmentId"]+"/nothing", http.StatusNotFound)
	if csv := v.page(table+"?csv=1&q=data", http.StatusOK); !strings.HasPrefix(csv, "id,") || strings.Count(csv, "\n") <
		strings.Count(some, `<th scope="row">`) {
		t.Errorf("as CSV: %s", csv)
	}

	where := func(expression string) string { return table + "?q=" + url.QueryEscape("="+expression) }
	for expression, want := range map[string]int{"true": rows, "": rows, `control == "none"`: 0, "confidence < 0 or not (quotes > -1)": 0} {
		if n := strings.Count(v.page(where(expression), http.StatusOK), `<th scope="row">`); n != want {
			t.Errorf("=%s selects %d of %d rows", expression, n, rows)
		}
		if ids := v.page(where(expression)+"&ids=1", http.StatusOK); strings.Count(ids, "-") != 4*want {
			t.Errorf("=%s selects %s", expression, ids)
		}
	}
	// A table sorted after a mistake in the expression doesn't change the order of the table in memory.
	order := func(page string) string {
		return strings.Join(regexp.MustCompile(`<th scope="row">.*?</th>`).FindAllString(page, -1), "\n")
	}
	v.page(where("nonsense")+"&sort=1&desc=1", http.StatusBadRequest)
	if now := v.page(table, http.StatusOK); order(now) != order(all) || order(all) == "" {
		t.Errorf("the rows are %s, were %s", order(now), order(all))
	}
	for _, path := range []string{where("<b>nonsense"), where("<b>nonsense") + "&ids=1", where(strings.Repeat("!", 1990) + "edited")} {
		if wrong := v.page(path, http.StatusBadRequest); !strings.Contains(wrong, "olumn") && !strings.Contains(wrong, "too long") ||
			strings.Contains(wrong, "<b>") && strings.Contains(wrong, "<h1>") {
			t.Errorf("%s answers %s", path, wrong)
		}
	}
	v.page(where("nonsense ==")+"&csv=1", http.StatusBadRequest)

	item := table + "/" + g.ids["soaItemId"]
	form := func() url.Values {
		fields := url.Values{}
		page := v.page(item, http.StatusOK)
		for _, m := range hiddenField.FindAllStringSubmatch(page[strings.Index(page, `class="card edit"`):], -1) {
			if name, ok := strings.CutPrefix(m[1], "was."); ok {
				fields.Set(name, m[2])
			}
			fields.Set(m[1], m[2])
		}
		return fields
	}
	first, second := form(), form()
	first.Set("owner", "Ben <i>")
	first.Set("note", "")
	if rec := v.send("POST", item, first); rec.Header().Get("Location") != "../../.."+item+"?saved" {
		t.Fatalf("saving: %d %s", rec.Code, rec.Body)
	}
	got := g.owner.must("GET", g.path(api.GetSoAItem.Path), nil)
	if fields, _ := got.body["edited_fields"].([]any); got.str("owner") != "Ben <i>" || len(fields) != 1 {
		t.Errorf("saved: %s", got.text)
	}
	if now := v.page(table, http.StatusOK); !strings.Contains(now, "<td data-rank=\"0\">Ben &lt;i&gt;</td>") ||
		strings.Count(now, `<th scope="row">`) != rows {
		t.Errorf("the table after the edit: %s", now)
	}
	second.Set("owner", "Cleo")
	rec := v.send("POST", item, second)
	for _, want := range []string{"Someone else changed this item in the meantime", "Somebody else set: Ben &lt;i&gt;", `value="Cleo"`} {
		if !strings.Contains(rec.Body.String(), want) {
			t.Errorf("a later edit of the same field does not show %s: %d %s", want, rec.Code, rec.Body)
		}
	}
	second = form()
	second.Set("owner", "Cleo")
	second.Set("implementation_status", "nonsense")
	if rec := v.send("POST", item, second); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), `value="Cleo"`) {
		t.Errorf("a status that isn't offered: %d %s", rec.Code, rec.Body)
	}
	second = form()
	second.Del("was.owner")
	second.Set("accept", "yes")
	if rec := v.send("POST", item, second); rec.Code != http.StatusSeeOther {
		t.Errorf("accepting: %d %s", rec.Code, rec.Body)
	}
	if got := g.owner.must("GET", g.path(api.GetSoAItem.Path), nil); got.body["needs_review"] != false || got.str("owner") != "Ben <i>" {
		t.Errorf("accepted: %s", got.text)
	}
	quoted := table + "/" + g.firstRecord(api.ListSoAItems.Path + "?where=quotes+%3E+0")["id"].(string)
	decide := regexp.MustCompile(`name="statement" value="(\d+)">\s*<input type="hidden" name="passage" value="([^"]+)"`)
	at := decide.FindStringSubmatch(v.page(quoted, http.StatusOK))
	refusal := url.Values{"statement": {at[1]}, "passage": {at[2]}, "decide": {"refused"}}
	if rec := v.post(quoted, quoted, refusal); rec.Header().Get("Location") != "../../.."+quoted+"?decided" {
		t.Errorf("refusing a passage: %d %s", rec.Code, rec.Body)
	}
	withdraw := regexp.MustCompile(`Refused, as gate@[^<]* decided on (?s:.*?)name="withdraw" value="([^"]+)"`)
	if id := withdraw.FindStringSubmatch(v.page(quoted, http.StatusOK)); id == nil {
		t.Errorf("the refusal is not shown: %s", v.page(quoted, http.StatusOK))
	} else if rec := v.post(quoted, quoted, url.Values{"withdraw": {id[1]}}); rec.Code != http.StatusSeeOther ||
		withdraw.MatchString(v.page(quoted, http.StatusOK)) {
		t.Errorf("removing the refusal: %d %s", rec.Code, rec.Body)
	}
	for _, wrong := range []url.Values{
		{"statement": {"7"}, "passage": {at[2]}, "decide": {"refused"}},
		{"statement": {"-1"}, "passage": {at[2]}, "decide": {"refused"}},
		{"statement": at[1:2], "passage": {"x"}, "decide": {"refused"}},
		{"statement": at[1:2], "passage": {at[2]}, "decide": {"x"}},
	} {
		if rec := v.post(quoted, quoted, wrong); rec.Code < 400 || rec.Code > 499 {
			t.Errorf("%v: %d", wrong, rec.Code)
		}
	}
	ids := regexp.MustCompile(`name="item" value="([^"]+)"`).FindAllStringSubmatch(v.page(table, http.StatusOK), 3)
	two := url.Values{"do": {"edit"}, "version": {g.ids["soaVersionId"]}, "owner": {"Team"}, "item": {ids[0][1], ids[1][1]}}
	rec = v.post(table, table, two)
	edit, isEdited := strings.CutPrefix(rec.Header().Get("Location"), "../.."+table+"?edit=")
	edit, isEdited2 := strings.CutSuffix(edit, "&edited=2")
	if !isEdited || !isEdited2 || edit == "" || rec.Header().Get("Edit-Id") != edit {
		t.Fatalf("changing two items: %d %v %s", rec.Code, rec.Header(), rec.Body)
	}
	owned := func() int { return strings.Count(v.page(table, http.StatusOK), ">Team</td>") }
	if n := owned(); n != 2 {
		t.Errorf("%d items have the owner that two were given", n)
	}
	// A page that shows the first change must not undo a later one.
	third := url.Values{"do": {"accept"}, "version": {g.ids["soaVersionId"]}, "item": {ids[2][1]}}
	later := v.post(table, table, third)
	for stale, code := range map[string]int{edit: http.StatusConflict, "": http.StatusBadRequest} {
		if rec := v.post(table, table, url.Values{"do": {"undo"}, "edit": {stale}}); rec.Code != code || owned() != 2 {
			t.Errorf("undoing %q after a later change: %d, %d owned", stale, rec.Code, owned())
		}
	}
	for _, e := range []string{later.Header().Get("Edit-Id"), edit} {
		if rec := v.post(table, table, url.Values{"do": {"undo"}, "edit": {e}}); rec.Code != http.StatusSeeOther {
			t.Errorf("taking it back: %d %s", rec.Code, rec.Body)
		}
	}
	if n := owned(); n != 0 {
		t.Errorf("%d items have the owner after the undo", n)
	}
	for _, wrong := range []url.Values{
		{"do": {"edit"}, "version": {g.ids["soaVersionId"]}, "owner": {"X"}},
		{"do": {"edit"}, "item": {ids[0][1]}, "version": {g.ids["soaVersionId"]}},
		{"do": {"edit"}, "item": {"x"}, "version": {g.ids["soaVersionId"]}, "owner": {"X"}},
		{"do": {"nothing"}},
	} {
		if rec := v.post(table, table, wrong); rec.Code < 400 || rec.Code > 499 {
			t.Errorf("%v: %d", wrong, rec.Code)
		}
	}
	viewer := g.owner.addMember("vic@example.com", api.RoleViewer)
	reader := g.w.visitorAs(viewer)
	if page := reader.page(item, http.StatusOK); strings.Contains(page, `action="`+g.ids["soaItemId"]+`"`) {
		t.Error("a viewer is offered to edit")
	}
	auditor := g.owner.addMember("aud@example.com", api.RoleAuditor)
	reader = g.w.visitorAs(auditor)
	if page := reader.page(item, http.StatusOK); strings.Contains(page, ">Save<") {
		t.Error("an auditor is offered to edit")
	}
	if rec := reader.post(item, item, url.Values{"comment": {"Which log?"}}); rec.Header().Get("Location") != "../../.."+item+"#comments" {
		t.Errorf("an auditor comments: %d %s", rec.Code, rec.Body)
	}
	if rec := reader.post(item, item, second); rec.Code != http.StatusForbidden {
		t.Errorf("an auditor edits: %d", rec.Code)
	}
	stranger, _ := g.w.createOrganization("Other", "eve@example.com")
	outsider := g.w.visitorAs(stranger)
	for _, path := range []string{table, item} {
		outsider.page(path, http.StatusNotFound)
	}
	checkCarriedDecision(t, g)
}

// checkCarriedDecision decides on an item and starts the next assessment with other evidence: the item's page shows the
// quotes that the decision rested on.
func checkCarriedDecision(t *testing.T, g *gateFixture) {
	t.Helper()
	v := g.w.visitorSignedIn("gate@example.com")
	g.ids["soaItemId"] = g.firstRecord(api.ListSoAItems.Path + "?where=quotes+%3E+0")["id"].(string)
	edit := map[string]any{"implementation_status": api.Implemented, "note": "Seen"}
	code := g.owner.must("PATCH", g.path(api.UpdateSoAItem.Path), edit).str("control_code")
	next := map[string]any{"name": "Next", "from_assessment_id": g.ids["assessmentId"]}
	g.ids["assessmentId"] = g.owner.must("POST", api.CreateAssessment.Path, next).str("id")
	g.owner.must("POST", g.path(api.UploadDocument.Path), form{filename: "other.md", content: "# Other\n\nBackups are made daily.\n"})
	for _, s := range api.States()[1:] {
		g.owner.must("POST", g.path(api.Transition.Path), map[string]any{"target_state": s})
		if s == api.StateSoADrafted {
			break
		}
	}
	g.ids["soaVersionId"] = g.firstRecord(api.ListSoA.Path)["id"].(string)
	id := g.firstRecord(api.ListSoAItems.Path + "?control_code=" + code)["id"].(string)
	page := v.page("/assessments/"+g.ids["assessmentId"]+"/soa/"+id, http.StatusOK)
	for _, want := range []string{
		"from Gate; the evidence has changed since", "Evidence in Gate at the time of the decision", "on a legal basis.",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("a carried decision does not show %q: %s", want, page)
		}
	}
}

// TestDocumentsPage uploads several files at once, one of which is rejected, and submits a forged form.
func TestDocumentsPage(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "ada@acme.example")
	a := owner.must("POST", api.CreateAssessment.Path, map[string]any{"name": "Acme", "framework_id": "lgpd"}).str("id")
	v := w.visitorSignedIn("ada@acme.example")
	path := "/assessments/" + a + "/documents"
	empty := v.page(path, http.StatusOK)
	if !strings.Contains(empty, "There are no documents yet") {
		t.Errorf("without documents: %s", empty)
	}
	upload := func(token string, files ...[2]string) *httptest.ResponseRecorder {
		var b bytes.Buffer
		m := multipart.NewWriter(&b)
		_ = m.WriteField("csrf", token)
		for _, f := range files {
			part, _ := m.CreateFormFile("file", f[0])
			_, _ = io.WriteString(part, f[1])
		}
		_ = m.Close()
		req := httptest.NewRequest("POST", origin+path, &b)
		req.Header.Set("Content-Type", m.FormDataContentType())
		req.Header.Set("Origin", origin)
		req.Header.Set("Accept", "text/html")
		req.AddCookie(&http.Cookie{Name: api.SessionCookie, Value: v.cookies[api.SessionCookie]})
		rec := httptest.NewRecorder()
		w.net.ServeHTTP(rec, req)
		return rec
	}
	token := formTokenPattern.FindStringSubmatch(empty)[1]
	one, two := [2]string{"one.md", "# One\n\nBackups run daily.\n"}, [2]string{"two.md", "# Two\n\nAccess is reviewed.\n"}
	if rec := upload("forged", one); rec.Code != http.StatusForbidden {
		t.Errorf("a forged upload: %d", rec.Code)
	}
	if rec := upload(token); rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "Choose at least one file") {
		t.Errorf("without files: %d %s", rec.Code, rec.Body)
	}
	if rec := upload(token, one, two); rec.Header().Get("Location") != "../.."+path {
		t.Errorf("two files: %d %s", rec.Code, rec.Body)
	}
	rec := upload(token, [2]string{" ", "# Nameless\n"}, [2]string{"<b>three.md", "# Three\n\nLogs are kept.\n"})
	if rec.Code != http.StatusBadRequest || !strings.Contains(rec.Body.String(), "The file has no name") ||
		!strings.Contains(rec.Body.String(), "&lt;b&gt;three.md</a>") {
		t.Errorf("a file without a name, and another: %d %s", rec.Code, rec.Body)
	}
	if page := v.page(path, http.StatusOK); !strings.Contains(page, "3 documents") {
		t.Errorf("the documents: %s", page)
	}
}

// putHostileTexts stores a text in every field of the organization's settings, of a scope and of a catalog. It
// returns the pages that show the text.
func (c testCaller) putHostileTexts(at func(string) string, text string) []string {
	plain := strings.ReplaceAll(text, "{{.Token}}", "") // email templates reject it
	made := func(path string, body map[string]any) string { return c.must("POST", path, body).str("id") }
	member := c.addMember("hostile@acme.example", api.RoleMember)
	c.must("POST", api.CreateDelegation.Path, map[string]any{
		"delegate_id": member.must("GET", api.GetMe.Path, nil).str("user", "id"), "reason": text,
		"expires_at": time.Now().Add(time.Hour),
	})
	hook := made(strings.Replace(api.CreateWebhook.Path, "{orgId}", c.org, 1), map[string]any{
		"url": "https://hooks.example/" + url.PathEscape(plain), "description": text,
	})
	integration := made(api.CreateIntegration.Path, map[string]any{
		"type": "jira", "name": text, "config": map[string]any{
			"url": "https://jira.example", "project": "SEC", "email": "bot@jira.example", "labels": []string{"x"},
		}, "secrets": map[string]string{"token": text},
	})
	made(api.CreateAlert.Path, map[string]any{
		"name": text, "metric": "organization_open_findings", "operator": "gt", "threshold": 1,
	})
	made(api.CreateAPIKey.Path, map[string]any{"name": text, "scopes": []string{"assessment:read"}})
	c.must("PUT", strings.Replace(api.PutEmailTemplate.Path, "{templateId}", "report_ready", 1), map[string]any{
		"subject": plain, "text": plain,
	})
	list := []string{text}
	c.must("POST", at(api.PutScope.Path), map[string]any{
		"description": text, "systems": list, "locations": list, "business_units": list, "processes": list, "legal_entities": list,
		"data_types": list, "third_parties": list, "exclusions": list, "assumptions": list, "constraints": list,
	})
	c.must("POST", at(api.CreateReport.Path), map[string]any{"template": "soa", "format": "md", "title": text})
	type object map[string]any
	source := object{"source": object{
		"format": "service-catalog", "format_version": 1, "label": "hostile-1", "domains": []object{{"code": "DAA", "name": text}},
		"controls": []object{{
			"code": "DAA-01", "title": text, "description": text, "question": text, "weight": 1,
			"mappings": object{"rules": []string{"R.1"}},
		}},
		"frameworks": []object{{"code": "rules", "name": text, "requirements": []object{{"code": "R.1", "title": text, "text": text}}}},
	}}
	c.w.localUser().must("POST", api.ImportStructured.Path, source)
	return []string{
		"/settings/webhooks/" + hook, "/settings/integrations/" + integration, "/settings/email/report_ready", "/settings/delegations",
		"/catalog/controls/DAA-01", "/catalog/frameworks/rules", "/catalog?q=DAA", "/catalog/crosswalk?framework=rules&target=rules",
		"/catalog/coverage?framework=rules&have=rules",
	}
}

// putHostileItems stores a text in every field of a finding, of a score and of a plan item, and uploads a sheet. It returns the
// pages that show them.
func (c testCaller) putHostileItems(at func(string) string, text string) (pages []string) {
	for _, k := range []struct {
		noun, draft, items, item, id string
		fields                       []string
	}{
		{
			"gap", api.DraftGap.Path, api.ListFindings.Path, api.UpdateFinding.Path, "gapVersionId}",
			[]string{"condition", "recommendation", "owner", "note"},
		},
		{
			"maturity", api.DraftMaturity.Path, api.ListMaturityScores.Path, api.UpdateMaturityScore.Path, "maturityVersionId}",
			[]string{"rationale", "note"},
		},
		{
			"poam", api.DraftPOAM.Path, api.ListPOAMItems.Path, api.UpdatePOAMItem.Path, "poamVersionId}",
			[]string{"corrective_action", "owner", "comments"},
		},
	} {
		version := c.must("POST", at(k.draft), nil).str("id")
		first := c.must("GET", strings.Replace(k.items, "{"+k.id, version, 1), nil).body["data"].([]any)[0].(map[string]any)["id"].(string)
		set := map[string]any{}
		for _, f := range k.fields {
			set[f] = text
		}
		c.must("PATCH", parameter.ReplaceAllString(k.item, first), set)
		pages = append(pages, at("/assessments/{assessmentId}/")+k.noun, at("/assessments/{assessmentId}/")+k.noun+"/"+first)
	}
	sheet := c.must("POST", at(api.UploadDocument.Path), form{
		filename: "register.csv", content: "<script>a</script>,<img src=x>\n" + strings.Repeat("<script>alert(1)</script>,<img src=x>\n", 3),
	}).str("id")
	c.must("GET", "/api/v1/documents/"+sheet+"?wait=30s", nil)
	return append(pages, at("/assessments/{assessmentId}/documents/")+sheet, at("/assessments/{assessmentId}"))
}

// TestHostileTextOnPages stores markup in every text that users or documents can put on a page, and checks that
// no page contains it as markup.
func TestHostileTextOnPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	hostile := `"'><script>alert(1)</script><img src=x onerror=alert(2)>{{.Token}}`
	owner, _ := w.createOrganizationWithOwner(hostile, map[string]any{"email": "x@acme.example", "name": hostile, "password": goodPassword})
	a := owner.must("POST", api.CreateAssessment.Path, map[string]any{
		"name": hostile, "client_name": hostile, "description": hostile, "framework_id": "lgpd",
	})
	at := func(path string) string { return strings.Replace(path, "{assessmentId}", a.str("id"), 1) }
	owner.must("POST", at(api.UploadDocument.Path), form{
		filename: "<img src=x onerror=alert(3)>.md",
		content:  "# <script>alert(4)</script>\n\nPersonal data is processed on a documented legal basis <script>alert(5)</script>.\n",
	})
	for _, s := range api.States()[1:] {
		owner.must("POST", at(api.Transition.Path), map[string]any{"target_state": s, "reason": hostile})
		if s == api.StateSoADrafted {
			break
		}
	}
	list := owner.must("GET", at(api.ListSoA.Path), nil).body["data"].([]any)
	version := list[0].(map[string]any)["id"].(string)
	items := owner.must("GET", strings.Replace(api.ListSoAItems.Path, "{soaVersionId}", version, 1), nil).body["data"].([]any)
	item := items[0].(map[string]any)
	owner.must("PATCH", strings.Replace(api.UpdateSoAItem.Path, "{soaItemId}", item["id"].(string), 1), map[string]any{
		"rationale": hostile, "owner": hostile, "note": hostile,
	})
	owner.must("POST", at(api.AddComment.Path), map[string]any{"text": hostile, "gate": "soa", "item": item["control_code"]})
	pages := owner.putHostileItems(at, hostile)
	submitted := owner.must("POST", strings.Replace(api.SubmitSoA.Path, "{soaVersionId}", version, 1), nil)
	approval := submitted.str("approval_id")
	owner.must("POST", at(api.AddComment.Path), map[string]any{"text": hostile, "approval_id": approval})
	v := w.visitorAs(owner)
	pages = append(pages, owner.putHostileTexts(at, hostile)...)
	pages = append(pages,
		"/", "/account", at("/assessments/{assessmentId}"), at("/assessments/{assessmentId}/soa"), "/approvals/"+approval,
		at("/assessments/{assessmentId}/soa?q=")+url.QueryEscape(hostile)+"&status="+url.QueryEscape(hostile),
		"/sign-in?next="+url.QueryEscape(hostile), "/search?q=personal+data", "/jobs", "/activity",
		at("/assessments/{assessmentId}/documents"), at("/assessments/{assessmentId}/reports"), at("/assessments/{assessmentId}/scope"),
		at("/assessments/{assessmentId}/activity"),
	)
	for _, path := range panelPaths {
		if !strings.HasPrefix(path, "/catalog/") { // another catalog is the newest by now
			pages = append(pages, path)
		}
	}
	for _, i := range items {
		pages = append(pages, at("/assessments/{assessmentId}/soa/")+i.(map[string]any)["id"].(string))
	}
	quotes := 0
	for n := 0; n < len(pages); n++ {
		page := v.page(pages[n], http.StatusOK)
		for _, bad := range []string{"<script>", "<img", "alert(1)</script>"} {
			if strings.Contains(page, bad) {
				t.Errorf("%s contains %s:\n%s", pages[n], bad, page)
			}
		}
		if m := absoluteAddress.FindString(page); m != "" {
			t.Errorf("%s has the address %s, which is wrong below a proxy's path", pages[n], m)
		}
		if m := passageLink.FindStringSubmatch(page); m != nil && quotes < 3 {
			quotes++
			pages = append(pages, at("/assessments/{assessmentId}/")+strings.ReplaceAll(m[1], "&amp;", "&"))
		}
	}
	if quotes == 0 {
		t.Error("no page has a quote")
	}
}
