package daemon_test

import (
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
)

// TestApprovalPageInABrowser uses the page linked in approval emails as a user would: signing in,
// reading, and approving or rejecting by a click, never by Enter. PICTURES names a folder for
// screenshots.
func TestApprovalPageInABrowser(t *testing.T) {
	b := chromiumtest.Start(t)
	g := newGateFixture(t)
	s := httptest.NewServer(g.w.net)
	defer s.Close()
	pictures := os.Getenv("PICTURES")
	status := func() string { return g.owner.must("GET", g.path(api.GetApproval.Path), nil).str("status") }
	looks := func(name string) {
		t.Helper()
		b.Emulate("screen", 360, "light")
		if got := b.EvaluateText(`document.documentElement.scrollWidth`); got != "360" {
			t.Errorf("%s: on a phone of 360 pixels the page is %s wide", name, got)
		}
		b.Screenshot(pictures, name+"-phone")
		b.Emulate("screen", 1280, "dark")
		b.Screenshot(pictures, name+"-dark")
		if ground := b.EvaluateText(`getComputedStyle(document.body).backgroundColor`); ground != "rgb(15, 18, 22)" {
			t.Errorf("%s: in the dark its ground is %s", name, ground)
		}
		b.Emulate("screen", 1280, "light")
		b.Screenshot(pictures, name+"-light")
		if n := b.EvaluateText(`[...document.querySelectorAll('input')].filter(i => !document.querySelector('label[for="' + i.id + '"]')).length`); n != "0" {
			t.Errorf("%s: %s fields have no label", name, n)
		}
	}
	b.Open(s.URL + "/approval#" + g.ids["approvalId"])
	b.WaitFor(`document.title.startsWith("Sign in")`)
	looks("sign-in")
	b.Type("nobody@example.com")
	b.EvaluateText(`document.getElementById("password").focus()`)
	b.Type("wrong")
	b.Press("Enter", 13)
	b.WaitFor(`document.getElementById("error").textContent !== ""`)
	b.EvaluateText(`for (const i of document.querySelectorAll("#signing input")) i.value = ""; document.getElementById("email").focus()`)
	b.Type(g.owner.must("GET", api.GetMe.Path, nil).str("user", "email"))
	b.EvaluateText(`document.getElementById("password").focus()`)
	b.Type(goodPassword)
	b.Press("Enter", 13)
	b.WaitFor(`!document.getElementById("deciding").hidden`)
	looks("waits")
	p := g.owner.must("GET", g.path(api.GetApproval.Path), nil)
	text := b.EvaluateText("document.body.innerText")
	for _, want := range []string{
		"is waiting for a decision",
		p.str("target_sha256"),
		"service --server " + s.URL + " soa show --assessment " + p.str("assessment_id"),
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the page does not say %q:\n%s", want, text)
		}
	}
	if strings.Contains(text, "wrong") {
		t.Errorf("an old error stays:\n%s", text)
	}
	b.EvaluateText(`document.getElementById("reason").focus()`)
	b.Press("Enter", 13)
	b.EvaluateText(`document.getElementById("reject").click()`)
	b.WaitFor(`document.getElementById("error").textContent.startsWith("Give a reason")`)
	looks("no-reason")
	if got := status(); got != "pending" {
		t.Fatalf("it is %s by an Enter, or without a reason", got)
	}
	b.Type("<b>Line 3</b> has no owner.")
	b.EvaluateText(`document.getElementById("approve").click()`)
	b.WaitFor(`document.getElementById("deciding").hidden`)
	looks("decided")
	if got := status(); got != "approved" {
		t.Errorf("it is %s", got)
	}
	for _, url := range b.RequestedURLs {
		if !strings.HasPrefix(url, s.URL+"/") && !strings.HasPrefix(url, "data:") {
			t.Errorf("it asked for %s", url)
		}
	}
}

// TestLinkPageWorks calls what the page's script calls: it reads the link and uses it at the
// addresses in the script; the invitation's path leads to the page.
func TestLinkPageWorks(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	owner, _ := w.createOrganization("Acme", "a@acme.example")
	invited := owner.must(
		"POST",
		"/api/v1/organizations/"+owner.org+"/members/invite",
		map[string]any{"email": "n@acme.example", "role": "member"},
	)
	path, token, ok := strings.Cut(invited.str("invite_path"), "#")
	if !ok || path != "/link" || token != invited.str("invite_token") {
		t.Fatalf("the path of an invitation is %q", invited.str("invite_path"))
	}
	if status := (testCaller{w: w}).do(http.MethodPost, "/link", "{}").status; status != http.StatusNotFound {
		t.Errorf("POST /link responds %d", status)
	}
	script := testCaller{w: w}.must("GET", "/link/page.js", nil).text
	for _, op := range []*api.Operation{api.GetLink.Operation, api.AcceptLink.Operation} {
		if !strings.Contains(script, `"`+strings.TrimPrefix(op.Path, "/")+`"`) {
			t.Errorf("the script does not call %s", op.Path)
		}
	}
	seen := testCaller{w: w}.must("POST", api.GetLink.Path, map[string]any{"token": token})
	for _, field := range []string{"purpose", "email", "organization", "role", "expires_at"} {
		if seen.str(field) == "" || !strings.Contains(script, "link."+field) {
			t.Errorf("%s is %q in the answer, or is not used by the script", field, seen.str(field))
		}
	}
	testCaller{w: w}.must("POST", api.AcceptLink.Path, map[string]any{"token": token, "name": "Nia", "password": goodPassword})
	if again := (testCaller{w: w}).do("POST", api.GetLink.Path, map[string]any{"token": token}); again.status != http.StatusUnauthorized {
		t.Errorf("a used link answers %d", again.status)
	}
}

// TestEmailPages checks that the approval page's script calls existing operations and that an
// invalid token unsubscribes nobody.
func TestEmailPages(t *testing.T) {
	w := newTestServer(t, daemon.Options{})
	script := testCaller{w: w}.must("GET", "/approval/page.js", nil).text
	for _, op := range []*api.Operation{api.ListOrganizations.Operation, api.GetApproval.Operation, api.GetAssessment.Operation, api.SignIn.Operation} {
		path, _, _ := strings.Cut(strings.TrimPrefix(op.Path, "/"), "{")
		if !strings.Contains(script, `"`+path) {
			t.Errorf("the script does not call %s", op.Path)
		}
	}
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
