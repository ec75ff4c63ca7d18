package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// TestPagesInABrowser signs in through the link in an approval email, reads the version to decide on and
// rejects it, as a user would, and checks that the pages fit on a phone. The environment variable PICTURES
// names a folder for screenshots.
func TestPagesInABrowser(t *testing.T) {
	b := chromiumtest.Start(t)
	g := newGateFixture(t)
	s := httptest.NewServer(g.w.net)
	defer s.Close()
	defer s.CloseClientConnections() // pages keep a stream open
	pictures := os.Getenv("PICTURES")
	accessible := func(name string) {
		t.Helper()
		problems, ok := b.Inaccessible()
		if !ok {
			programtest.SkipOrFail(t, "axe-core is not installed")
		}
		if problems != "" {
			t.Errorf("%s: axe-core finds %s", name, problems)
		}
	}
	looks := func(name string) {
		t.Helper()
		b.Emulate("screen", 375, "dark")
		b.Screenshot(pictures, name+"-phone-dark")
		b.Emulate("screen", 1440, "dark")
		b.Screenshot(pictures, name+"-dark")
		b.Emulate("screen", 375, "light")
		b.Screenshot(pictures, name+"-phone")
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("%s on a phone of 375 pixels: %s", name, bad)
		}
		b.Emulate("screen", 360, "light")
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("%s on a phone of 360 pixels: %s", name, bad)
		}
		b.Emulate("screen", 1440, "light")
		b.Screenshot(pictures, name)
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("%s at 1440 pixels: %s", name, bad)
		}
		accessible(name)
		if slices.Contains([]string{"approval", "item", "table", "account", "assessment-drafted", "finding", "plan-item"}, name) {
			b.Emulate("screen", 1440, "dark")
			accessible(name + ", dark")
		}
		if n := b.EvaluateText(
			`[...document.querySelectorAll('input:not([type=hidden]),select,textarea')].filter(i => !i.labels.length && !i.ariaLabel).length`,
		); n != "0" {
			t.Errorf("%s: %s fields have no label", name, n)
		}
	}
	press := func(selector string) {
		b.EvaluateText(`document.querySelector(` + "`" + selector + "`" + `).click()`)
	}
	b.Open(s.URL + "/approval#" + g.ids["approvalId"])
	b.WaitFor(`document.title.startsWith("Sign in")`)
	looks("sign-in")
	b.EvaluateText(`document.getElementById("email").focus()`)
	b.Type(g.owner.must("GET", api.GetMe.Path, nil).str("user", "email"))
	b.EvaluateText(`document.getElementById("password").focus()`)
	b.Type(goodPassword)
	b.Press("Enter", 13)
	b.WaitFor(`document.getElementById("decision")`)
	looks("approval")
	press("button[value=reject]")
	b.WaitFor(`document.querySelector("[role=alert]")`)
	looks("approval-no-reason")
	b.EvaluateText(`document.getElementById("reason").focus()`)
	b.Type("<b>Line 3</b> has no owner.")
	press("button[value=reject]")
	b.WaitFor(`document.querySelector("[role=status]")`)
	looks("approval-decided")
	if got := g.owner.must("GET", g.path(api.GetApproval.Path), nil); got.str("status") != "rejected" ||
		got.str("reason") != "<b>Line 3</b> has no owner." {
		t.Errorf("the approval is %s", got.text)
	}
	type page struct{ name, path string }
	open := func(pages ...page) {
		t.Helper()
		for _, p := range pages {
			b.Open(s.URL + p.path)
			b.WaitFor(`document.querySelector("h1")`)
			looks(p.name)
			for _, url := range b.RequestedURLs {
				if !strings.HasPrefix(url, s.URL+"/") && !strings.HasPrefix(url, "data:") {
					t.Errorf("%s asked for %s", p.name, url)
				}
			}
		}
	}
	assessment := "/assessments/" + g.ids["assessmentId"]
	open([]page{
		{"home", "/"},
		{"account", "/account"},
		{"assessment", assessment},
		{"not-found", "/nothing"},
		{"settings", "/settings"},
		{"members", "/settings/members"},
		{"delegations", "/settings/delegations"},
		{"keys", "/settings/keys"},
		{"webhooks", "/settings/webhooks"},
		{"integrations", "/settings/integrations"},
		{"integration", "/settings/integrations?type=jira"},
		{"email", "/settings/email"},
		{"email-template", "/settings/email/approval_request"},
		{"alerts", "/settings/alerts"},
		{"activity", "/activity"},
		{"search", "/search?q=backups"},
		{"catalog", "/catalog?q=backup"},
		{"control", "/catalog/controls/IAC-06"},
		{"frameworks", "/catalog/frameworks"},
		{"framework", "/catalog/frameworks/lgpd"},
		{"crosswalk", "/catalog/crosswalk?framework=iso-27001-2022&target=soc2-tsc"},
		{"coverage", "/catalog/coverage?framework=iso-27001-2022&have=soc2-tsc"},
		{"jobs", "/jobs"},
		{"new", "/new"},
		{"scope", assessment + "/scope"},
		{"reports", assessment + "/reports"},
		{"assessment-activity", assessment + "/activity"},
		{"documents", assessment + "/documents"},
		{"document", assessment + "/documents/" + g.ids["documentId"]},
		{"no-gap-analysis", assessment + "/gap"},
		{"table", assessment + "/soa"},
		{"item", assessment + "/soa/" + g.ids["soaItemId"]},
	}...)
	for _, op := range []*api.Operation{api.DraftSoA.Operation, api.DraftGap.Operation, api.DraftMaturity.Operation, api.DraftPOAM.Operation} {
		g.owner.must("POST", g.path(op.Path), nil)
	}
	g.ids["soaVersionId"] = g.firstRecord(api.ListSoA.Path)["id"].(string)
	g.ids["gapVersionId"] = g.firstRecord(api.ListGap.Path)["id"].(string)
	g.ids["maturityVersionId"] = g.firstRecord(api.ListMaturity.Path)["id"].(string)
	g.ids["poamVersionId"] = g.firstRecord(api.ListPOAM.Path)["id"].(string)
	id := func(path string) string { return g.firstRecord(path)["id"].(string) }
	open([]page{
		{"assessment-drafted", assessment},
		{"gap", assessment + "/gap"},
		{"finding", assessment + "/gap/" + id(api.ListFindings.Path)},
		{"maturity", assessment + "/maturity"},
		{"score", assessment + "/maturity/" + id(api.ListMaturityScores.Path)},
		{"poam", assessment + "/poam"},
		{"plan-item", assessment + "/poam/" + id(api.ListPOAMItems.Path)},
	}...)
	b.Open(s.URL + assessment + "/poam")
	b.WaitFor(`document.body.classList.contains("scripted")`)
	b.Press("g", 71)
	b.WaitFor(`document.querySelector("#timeline[open] rect")`)
	looks("timeline")
	b.EvaluateText(`document.getElementById("q").focus()`)
	b.Type(`=status == "completed"`)
	b.WaitFor(`document.getElementById("shown").textContent.startsWith("0 of")`)
	b.Type(` nonsense`)
	b.WaitFor(`document.getElementById("filter-problem").textContent.includes("column")`)
	b.EvaluateText(`document.getElementById("q").value = ""`)
	admin, _ := g.w.createOrganizationWithOwner(
		"Operators",
		map[string]any{"email": "root@ops.example", "password": goodPassword, "platform_admin": true},
	)
	h := &hands{b, false, s.URL}
	h.signIn(admin)
	open([]page{{"users", "/admin/users"}, {"organizations", "/admin/organizations"}, {"imports", "/admin/imports"}}...)
	h.signIn(g.owner)
	b.Open(s.URL + assessment + "/soa")
	b.WaitFor(`document.body.classList.contains("scripted")`)
	b.Press(".", 190)
	b.WaitFor(`document.querySelector("tr.at .dot")`)
	// On a wide screen, the item is shown beside the table, and a quote in its document.
	b.EvaluateText(`window.same = true`)
	b.Press("Enter", 13)
	b.WaitFor(`document.querySelector(".beside .pager")`)
	first := b.EvaluateText(`location.hash`)
	b.Press("j", 74)
	b.WaitFor("location.hash !== `" + first + "` && document.querySelector('.beside h2').textContent.includes(document.querySelector('tr.at a').textContent)")
	beside := func(name string) {
		t.Helper()
		for _, scheme := range []string{"dark", "light"} {
			b.Emulate("screen", 1440, scheme)
			b.Screenshot(pictures, name+"-"+scheme)
			accessible(name + ", " + scheme)
		}
		b.EvaluateText(`scrollTo(0, 0)`) // otherwise, the head of the table would cover rows
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("%s: %s", name, bad)
		}
	}
	beside("item-beside-table")
	b.EvaluateText(`[...document.querySelectorAll("table.items tbody tr")].find(r => r.textContent.includes("Weak")).click()`)
	b.WaitFor(`document.querySelector(".beside .quote")`)
	b.Press("p", 80)
	b.WaitFor(`document.querySelector(".beside .chosen mark")`)
	beside("passage-beside-table")
	if b.EvaluateText(`window.same`) != "true" {
		t.Error("the table was loaded again")
	}
	// The original of a PDF is shown beside its passages.
	pdf := g.owner.must("POST", g.path(api.UploadDocument.Path), form{filename: "policy.pdf", content: tinyPDF}).str("id")
	b.Press("Escape", 27)
	b.WaitFor(`document.getElementById("beside").hidden && document.activeElement.matches("tr.at a")`)
	g.owner.must("GET", "/api/v1/documents/"+pdf+"?wait=30s", nil)
	g.ids["documentId"] = pdf
	quote := "Personal data is processed on a legal basis."
	b.Open(s.URL + assessment + "/passages/" + id(api.ListDocumentChunks.Path) + "?quote=" + url.QueryEscape(quote))
	b.Screenshot(pictures, "pdf")
	if b.EvaluateText(`navigator.pdfViewerEnabled`) == "true" {
		b.Click("#original")
		b.WaitFor(`document.querySelector("iframe.viewer")?.src.endsWith("#page=1&view=FitH&navpanes=0:~:text=" + encodeURIComponent("` + quote + `"))`)
		kind := b.EvaluateText(`fetch(document.querySelector("iframe.viewer").src).then(a => a.headers.get("Content-Disposition"))`)
		if !strings.HasPrefix(kind, "inline") {
			t.Errorf("the original is sent as %s", kind)
		}
		if bad := b.BadLayout(); bad != "" {
			t.Errorf("a PDF beside its passages: %s", bad)
		}
		b.Screenshot(pictures, "pdf-beside-passages")
	}
	// After signing out, the back button shows nothing.
	b.Open(s.URL + "/account")
	press(`form[action$="sign-out"] button`)
	b.WaitFor(`document.title.startsWith("Sign in")`)
	b.EvaluateText(`history.back()`)
	b.WaitFor(`document.title.startsWith("Sign in") && location.search.includes("account")`)
}

// tinyPDF is a PDF of one page with one sentence.
const tinyPDF = "%PDF-1.4\n1 0 obj<</Type/Catalog/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[3 0 R]/Count 1>>endobj\n" +
	"3 0 obj<</Type/Page/Parent 2 0 R/MediaBox[0 0 300 200]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>endobj\n" +
	"4 0 obj<</Length 73>>stream\nBT /F1 12 Tf 20 150 Td (Personal data is processed on a legal basis.) Tj ET\nendstream endobj\n" +
	"5 0 obj<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n"

// TestEmailPages checks that an invalid token unsubscribes nobody.
func TestEmailPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	if refused := (testCaller{w: w}).do(
		"POST",
		"/unsubscribe?token=abc",
		"List-Unsubscribe=One-Click",
		"Content-Type",
		"application/x-www-form-urlencoded",
	); refused.status != http.StatusUnauthorized {
		t.Errorf("%d %s", refused.status, refused.text)
	}
}
