package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

// pane is a terminal (tmux) that runs the program.
type pane struct {
	t      *testing.T
	socket string
}

func newPane(t *testing.T, u *testUser, w, h int, args ...string) *pane {
	t.Helper()
	programtest.FindOrSkip(t, "tmux")
	p := &pane{t, filepath.Join(u.home, "tmux")}
	t.Cleanup(func() { _ = exec.Command("tmux", "-S", p.socket, "kill-server").Run() })
	cmd := exec.CommandContext(
		t.Context(),
		"tmux",
		append(
			[]string{"-u", "-S", p.socket, "-f", "/dev/null", "new-session", "-d", "-x", fmt.Sprint(w), "-y", fmt.Sprint(h), "service"},
			args...)...)
	cmd.Env, cmd.Dir = append(u.env, "LC_ALL=C.UTF-8", "TERM=xterm-256color", "SERVICE_KEYRING=off"), u.home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("tmux: %v\n%s", err, out)
	}
	return p
}

func (p *pane) tmux(args ...string) string {
	out, _ := exec.Command("tmux", append([]string{"-u", "-S", p.socket}, args...)...).Output() // fails if the program has exited
	return string(out)
}

// longestWait limits the wait for text on the screen; it is only reached on a busy machine.
const longestWait = 2 * time.Minute

// waitForText waits until all words are on the screen.
func (p *pane) waitForText(words ...string) {
	p.t.Helper()
	p.waitUntil(fmt.Sprintf("%q", words), func(text string) bool {
		for _, w := range words {
			if !strings.Contains(text, w) {
				return false
			}
		}
		return true
	})
}

// waitUntil waits until like returns true for the text on the screen.
func (p *pane) waitUntil(what string, like func(text string) bool) {
	p.t.Helper()
	end := time.After(longestWait)
	look := time.NewTicker(30 * time.Millisecond)
	defer look.Stop()
	for {
		text := p.tmux("capture-pane", "-p")
		if like(text) {
			return
		}
		select {
		case <-look.C:
		case <-end:
			p.t.Fatalf("waited for %s:\n%s", what, text)
		}
	}
}

// press presses keys, named as in tmux. typeText types a text.
func (p *pane) press(keys ...string) { p.tmux(append([]string{"send-keys"}, keys...)...) }
func (p *pane) typeText(text string) { p.tmux("send-keys", "-l", text) }

// writeCatalog writes a catalog of n invented controls to path.
func writeCatalog(t *testing.T, path string, n int) {
	t.Helper()
	domains := strings.Fields("AST BCD CAP CHG CLD CPL CFG MON CRY DCH END HRS IAC IRO MNT NET PES RSK TDA VPM")
	type object map[string]any
	var ds, cs []object
	for _, d := range domains {
		ds = append(ds, object{"code": d, "name": "Domain " + d})
	}
	things := []string{"access rights", "backups", "changes", "suppliers", "keys", "logs", "assets"}
	for i := range n {
		thing := things[i%len(things)]
		cs = append(cs, object{
			"code": fmt.Sprintf(
				"%s-%02d",
				domains[i%len(domains)],
				i/len(domains)+1,
			), "title": fmt.Sprintf("Review of %s, part-%d", thing, i), "weight": 1 + i%10,
			"description": fmt.Sprintf(
				"The review of %s is written down and kept current in part %d.",
				thing,
				i,
			), "mappings": object{"rules": []string{"R.1"}},
		})
	}
	b, err := json.Marshal(object{
		"format": "service-catalog", "format_version": 1, "label": "wide-1", "domains": ds, "controls": cs,
		"frameworks": []object{{"code": "rules", "name": "Rules", "requirements": []object{{"code": "R.1", "title": "The rule"}}}},
	})
	if err == nil {
		err = os.WriteFile(path, b, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTerminalReviewOfLargeCatalog reviews the Statement of Applicability of a large catalog in a terminal: many
// items are changed at once and changed back, and it is submitted and approved. The command line must show the same
// results. The long version has as many controls as the SCF.
func TestTerminalReviewOfLargeCatalog(t *testing.T) {
	programtest.FindOrSkip(t, "tmux")
	u := newTestUser(t)
	controls, matching := 400, 11 // matching is the number of controls that contain "part-14"
	if longtest.Enabled() {
		controls, matching = 1468, 79
	}
	writeCatalog(t, filepath.Join(u.home, "catalog.json"), controls)
	if err := os.WriteFile(
		filepath.Join(u.home, "policy.md"),
		[]byte("# Policy\n\nAccess rights are reviewed every quarter.\n\nBackups are tested.\x1b]0;owned\x07\x1b[2J\n"),
		0o600,
	); err != nil {
		t.Fatal(err)
	}
	u.do("catalog", "import", "catalog.json")
	u.do("assess", "run", "policy.md", "--version", "wide-1", "--name", "Wide", "--until", "soa_drafted", "-q")

	p := newPane(t, u, 120, 32) // `service` without arguments, in a terminal
	p.waitForText("Wide", "SoA drafted", "Statement of Applicability", fmt.Sprintf("%d, draft", controls))
	p.press("1")
	p.waitForText(fmt.Sprint("of ", controls), "AST-01", "Requirements of the control")

	p.typeText("/part-14")
	p.waitForText(fmt.Sprintf("%d of %d", matching, controls))
	p.press("Enter", "*", "o")
	p.waitForText(fmt.Sprintf("Owner of %d items", matching))
	p.typeText("Ada Lovelace")
	p.press("Enter")
	p.waitForText(fmt.Sprintf("%d items changed", matching), "Ada Lovelace")
	p.waitUntilSaved()
	owned := func() (n int) {
		var items api.List[api.SoAItem]
		if err := json.Unmarshal(
			u.do("soa", "items", "--owner", "Ada Lovelace", "-o", "json"),
			&items,
		); err != nil { // in the terminal's own tmux server
			t.Fatal(err)
		}
		return len(items.Data)
	}
	if n := owned(); n != matching {
		t.Errorf("%d are owned", n)
	}
	p.press("u")
	p.waitForText(fmt.Sprintf("undone for %d items", matching))
	p.waitUntilSaved()
	if n := owned(); n != 0 {
		t.Errorf("%d are owned after the undo", n)
	}

	p.press("Escape")
	p.waitForText(fmt.Sprintf("of %d, %d to review, %d marked", controls, controls, matching))
	p.press("Escape") // a terminal would combine Escape with a key that follows immediately
	p.waitUntil("the marks are gone", func(text string) bool { return !strings.Contains(text, "marked") })
	p.press("Home")
	p.waitForText(fmt.Sprintf("1 of %d,", controls))
	p.press("s")
	p.waitForText("Status of AST-01")
	p.press("1")
	p.waitForText("AST-01 changed")
	p.waitUntilSaved()

	// Resize the terminal in the meantime.
	p.tmux("resize-window", "-x", "40", "-y", "10")
	p.waitForText("AST-01")
	p.tmux("resize-window", "-x", "160", "-y", "45")
	p.waitForText("AST-01", "Requirements of the control")

	p.press("S")
	p.waitForText("Submit version 1")
	p.press("y")
	p.waitForText("under review")
	p.press("A")
	p.waitForText("Approval of the", "sha256", fmt.Sprint(controls), "manual edits")
	p.press("a")
	p.waitForText("Approve version 1")
	p.typeText("Reviewed in the terminal")
	p.press("Enter")
	p.waitForText("version 1, is approved")
	p.press("q")
	p.waitForText("next: continue with the approved Statement of")
	p.press("q", "q")
	var approvals api.List[api.Approval]
	if err := json.Unmarshal(u.do("approval", "list", "-o", "json"), &approvals); err != nil {
		t.Fatal(err)
	}
	if len(approvals.Data) != 1 || approvals.Data[0].Status != api.ApprovalApproved || approvals.Data[0].Reason == nil ||
		*approvals.Data[0].Reason != "Reviewed in the terminal" {
		t.Errorf("%+v", approvals.Data)
	}
}

// waitUntilSaved waits until all changes are saved.
func (p *pane) waitUntilSaved() {
	p.t.Helper()
	p.waitUntil("all is saved", func(text string) bool {
		head, _, _ := strings.Cut(text, "\n")
		return strings.Contains(head, "draft") && !strings.Contains(head, "saving") && !strings.Contains(head, "…")
	})
}

// TestNoTerminal checks that without a terminal, `service` alone shows its help and `service tui` gives the
// reason.
func TestNoTerminal(t *testing.T) {
	u := newTestUser(t)
	if out := string(u.do()); !strings.Contains(out, "Usage:") {
		t.Errorf("%s", out)
	}
	out, err := u.command("tui").CombinedOutput()
	if err == nil || !strings.Contains(string(out), "requires a terminal for input and output") {
		t.Errorf("%v, %s", err, out)
	}
}
