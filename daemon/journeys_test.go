package daemon_test

import (
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
)

// hands uses a page in one of three ways: only with a mouse, only with a keyboard, or by touch on a phone.
type hands struct {
	*chromiumtest.Browser
	keyboard bool
	url      string
}

// press activates an element.
func (h *hands) press(selector string) {
	if h.keyboard {
		h.TabTo(selector)
		h.Press("Enter", 13)
		return
	}
	h.Click(selector)
}

// enter replaces the text of a field.
func (h *hands) enter(selector, text string) {
	if h.keyboard {
		h.TabTo(selector)
	} else {
		h.Click(selector)
	}
	h.EvaluateText(`document.activeElement.select && document.activeElement.select()`)
	h.Type(text)
}

// choose selects a value in a drop-down list. Its options are drawn by the system, so tests can't click them.
func (h *hands) choose(selector, value string) {
	h.EvaluateText(`(e => { e.focus(); e.value = "` + value + `"; e.dispatchEvent(new Event("change", {bubbles: true})); })(document.querySelector("` +
		selector + `"))`)
}

func (h *hands) open(path string) {
	h.Open(h.url + path)
	h.WaitFor(`document.querySelector("h1")`)
}

func (h *hands) signIn(c testCaller) {
	h.Call("Network.setCookie", map[string]any{"name": api.SessionCookie, "value": c.cookie, "url": h.url, "httpOnly": true}, nil)
}

// TestJourneys simulates the work of a consultant, an owner, an approver, an auditor and two users editing the
// same item, with a mouse, with a keyboard and on a phone.
func TestJourneys(t *testing.T) {
	b := chromiumtest.Start(t)
	g := newGateFixture(t)
	s := httptest.NewServer(g.w.net)
	defer s.Close()
	defer s.CloseClientConnections()                           // pages keep a stream open
	g.owner.must("POST", g.path(api.CancelWorkflow.Path), nil) // or else it submits what the journeys change
	approver := g.owner.addMember("approver@example.com", api.RoleApprover)
	auditor := g.owner.addMember("auditor@example.com", api.RoleAuditor)
	folder := filepath.Join(t.TempDir(), "evidence")
	if err := os.MkdirAll(filepath.Join(folder, "policies"), 0o755); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"policies/access.md": "# Access policy\n\nMulti-factor authentication is required for all remote access.\n",
		"backup.md":          "# Backup\n\nBackups run daily and are restored in a test every quarter.\n",
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	nameless := filepath.Join(t.TempDir(), " ")
	if err := os.WriteFile(nameless, []byte("# Nameless\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, way := range []struct {
		name     string
		width    int
		keyboard bool
	}{{"mouse", 1440, false}, {"keyboard", 1440, true}, {"phone", 375, false}} {
		b.Emulate("screen", way.width, "light")
		h := &hands{b, way.keyboard, s.URL}
		h.signIn(g.owner)
		createsByDragAndDrop(h, "New by "+way.name, folder, nameless)
		editsAndComments(t, h, g, way.name)
		conflicts(t, h, g, way.name)
		seesNothingThatFails(t, h, auditor, g)
		approvesWithDiff(t, h, approver, g, way.name)
	}
}

// createsByDragAndDrop creates an assessment, adds a folder of documents and reaches the review of the Statement of
// Applicability.
func createsByDragAndDrop(h *hands, name, folder, nameless string) {
	h.open("/")
	h.press(`a[href="new"]`)
	h.WaitFor(`document.title.startsWith("New assessment")`)
	h.enter("[name=name]", name)
	h.choose("[name=framework]", "lgpd")
	h.press("main form button")
	h.WaitFor(`document.querySelector("form.upload")`)
	if h.keyboard {
		h.SetFiles("#file", filepath.Join(folder, "backup.md"), filepath.Join(folder, "policies", "access.md"))
		h.press("form.upload button")
	} else {
		h.DropFiles(folder)
	}
	h.WaitFor(`[...document.querySelectorAll("tbody th a")].length === 2`)
	h.WaitFor(`!document.body.innerText.includes("still to be read")`)
	if !h.keyboard { // a file that is rejected after the page has shown progress
		h.DropFiles(nameless)
		h.WaitFor(`document.querySelector(".queue .why")?.checkVisibility()`)
	}
	h.press(`.tabs a:first-child`)
	h.WaitFor(`document.querySelector("input[value=start]")`)
	h.press(`form:has(input[value=start]) button`)
	h.WaitFor(`document.querySelector("[aria-current=step]")?.textContent.includes("Applicability") && document.body.innerText.includes("review it, then submit it")`)
	h.press(`a.button[href$="/soa"]`)
	h.WaitFor(`document.querySelector("table.items tbody tr")`)
	if h.keyboard {
		h.Press(".", 190)
		h.WaitFor(`document.querySelector("tr.at")`)
		h.Press("Enter", 13)
	} else {
		h.press("#review")
	}
	h.WaitFor(`document.querySelector("#accept")`)
	left := h.EvaluateText(`document.querySelector(".pager").innerText`)
	if h.keyboard {
		h.Press("y", 89)
	} else {
		h.press("#accept")
	}
	h.WaitFor(`document.querySelector(".pager") && document.querySelector(".pager").innerText !== ` + "`" + left + "`")
}

func (g *gateFixture) newestItem() map[string]any {
	g.ids["soaVersionId"] = g.firstRecord(api.ListSoA.Path)["id"].(string)
	return g.firstRecord(api.ListSoAItems.Path)
}

// editsAndComments changes an item and comments on it, then changes two items at once and undoes that.
func editsAndComments(t *testing.T, h *hands, g *gateFixture, name string) {
	item := g.newestItem()
	table := "/assessments/" + g.ids["assessmentId"] + "/soa"
	h.open(table)
	if h.keyboard {
		h.Press("/", 191)
		h.Type(item["control_code"].(string))
	} else {
		h.enter("#q", item["control_code"].(string)) // replaces the filter from the last visit
	}
	h.WaitFor(`[...document.querySelectorAll("tbody tr")].some(r => r.hidden)`)
	if h.keyboard {
		h.Press("Enter", 13)
		h.WaitFor(`document.activeElement.matches("tr.at a")`)
		h.Press("Enter", 13)
	} else {
		h.press(`tbody tr:not([hidden]) th a`)
	}
	h.WaitFor(`document.querySelector("#owner")`)
	if h.keyboard {
		h.Press("o", 79)
	} else {
		h.Click("#owner")
	}
	h.EvaluateText(`document.activeElement.select()`)
	h.Type("Owner " + name)
	h.press(".edit .stack button")
	h.WaitFor(`document.querySelector("[role=status]")`)
	h.enter("#comment", "By "+name+", for @approver@example.com")
	h.press("#comments .stack > button")
	h.WaitFor(`[...document.querySelectorAll(".comment")].some(c => c.querySelector("mark") && c.textContent.includes("By ` + name + `,"))`)
	if got := g.newestItem(); got["owner"] != "Owner "+name {
		t.Errorf("%s: the owner is %v", name, got["owner"])
	}
	h.open(table + "?q=")
	if h.keyboard {
		h.Press("j", 74)
		h.Press(" ", 32)
		h.Press(" ", 32)
		h.Press("o", 79)
		h.WaitFor(`document.activeElement.id === "many-owner"`)
		h.Type("Many")
	} else {
		h.Click("tbody tr:nth-child(1) input")
		h.Click("tbody tr:nth-child(2) input")
		h.Click(".many > summary")
		h.enter("#many-owner", "Many")
	}
	h.WaitFor(`document.querySelectorAll("tbody input:checked").length === 2`)
	h.press("#many button[value=edit]")
	h.WaitFor(`document.querySelector("[role=status]")?.textContent.startsWith("Two items were") ||
		document.querySelector("[role=status]")?.textContent.startsWith("2 items were")`)
	h.press("#undo")
	h.WaitFor(`document.querySelector("[role=status]")?.textContent === "Done."`)
	if got := g.newestItem(); got["owner"] != "Owner "+name {
		t.Errorf("%s: after taking it back, the owner is %v", name, got["owner"])
	}
}

// conflicts checks that the second of two users who edit an item is shown both values, and that the chosen one
// is saved.
func conflicts(t *testing.T, h *hands, g *gateFixture, name string) {
	item := g.newestItem()
	h.open("/assessments/" + g.ids["assessmentId"] + "/soa/" + item["id"].(string))
	h.enter("#note", "Second "+name)
	g.ids["soaItemId"] = item["id"].(string)
	g.owner.must("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"note": "First " + name})
	h.press(".edit .stack button")
	h.WaitFor(`document.querySelector(".edit .notice.bad")?.textContent.includes("First ` + name + `")`)
	h.press(".edit .stack button")
	h.WaitFor(`document.querySelector("[role=status]")`)
	if got := g.newestItem(); got["note"] != "Second "+name {
		t.Errorf("%s: the note is %v", name, got["note"])
	}
}

// seesNothingThatFails checks that an auditor is shown no forms other than those that an auditor may submit.
func seesNothingThatFails(t *testing.T, h *hands, auditor testCaller, g *gateFixture) {
	h.signIn(auditor)
	item := g.newestItem()
	base := "/assessments/" + g.ids["assessmentId"]
	for _, path := range []string{
		"/", base, base + "/soa", base + "/soa/" + item["id"].(string), base + "/documents", base + "/reports", "/settings", "/activity",
	} {
		h.open(path)
		if forms := h.EvaluateText(`[...document.querySelectorAll("main form[method=post]")].filter(f => !f.querySelector("#comment, [value=verify]")).length`); forms != "0" {
			t.Errorf("an auditor is offered %s forms at %s", forms, path)
		}
	}
}

// approvesWithDiff approves a version after reading the changes since the last approved version.
func approvesWithDiff(t *testing.T, h *hands, approver testCaller, g *gateFixture, name string) {
	submit := func() {
		g.newestItem()
		g.owner.must("POST", g.path(api.SubmitSoA.Path), nil)
		g.ids["approvalId"] = g.firstRecord(api.ListApprovals.Path + "?sort=-requested_at")["id"].(string)
	}
	if name == "mouse" {
		submit()
		g.owner.must("POST", g.path(api.Approve.Path), nil)
	}
	g.ids["soaItemId"] = g.newestItem()["id"].(string)
	g.owner.must("PATCH", g.path(api.UpdateSoAItem.Path), map[string]any{"owner": "Changed before " + name})
	submit()
	h.signIn(approver)
	h.open("/")
	h.WaitFor(`document.body.innerText.includes("Comments that mention you")`)
	h.press(`a[href="approvals/` + g.ids["approvalId"] + `"]`)
	h.WaitFor(`[...document.querySelectorAll("ins")].some(e => e.textContent === "Changed before ` + name + `")`)
	h.press("button[value=approve]")
	h.WaitFor(`document.querySelector("[role=status]")`)
	got := g.owner.must("GET", g.path(api.GetApproval.Path), nil)
	if got.str("status") != "approved" || !strings.Contains(got.text, "approver@example.com") {
		t.Errorf("%s: the approval is %s", name, got.text)
	}
	h.signIn(g.owner)
}
