package daemon_test

import (
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
)

// The page that mails about a decision lead to, as a person meets it: signing in, reading what
// it is about, and saying yes or no by a click, never by an Enter. PICTURES names a folder for
// what it looks like.
func TestApprovalPageInABrowser(t *testing.T) {
	b := chromiumtest.Start(t)
	g := newAtGate(t)
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
		"waits for a decision",
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
	b.WaitFor(`document.getElementById("error").textContent.startsWith("Say why")`)
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
