package tui

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	tea "github.com/charmbracelet/bubbletea"

	"github.com/scf-service/service/api"
)

// terminalOutput is an output in which a test can wait for text.
type terminalOutput struct {
	mu   sync.Mutex
	text bytes.Buffer
	more chan struct{}
}

func newPaper() *terminalOutput { return &terminalOutput{more: make(chan struct{})} }

func (p *terminalOutput) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	close(p.more)
	p.more = make(chan struct{})
	return p.text.Write(b)
}

// waitFor waits until a text appears in the output after the one awaited before.
func (p *terminalOutput) waitFor(t *testing.T, want string) {
	t.Helper()
	patience := time.After(time.Minute)
	for {
		p.mu.Lock()
		all, more := styles.ReplaceAllString(p.text.String(), ""), p.more
		if at := strings.Index(all, want); at >= 0 {
			p.text.Reset()
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		select {
		case <-more:
		case <-patience:
			t.Fatalf("waited for %q:\n%s", want, all)
		}
	}
}

// TestEditor checks that text is edited in the configured editor and accepted only if the editor
// succeeds and leaves a text.
func TestEditor(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the editors here are shell scripts")
	}
	const before = "It concerns everybody."
	for _, one := range []struct{ name, script, says, want string }{
		{"saves", `printf '%s\nand the board, 日本\n\n' "$(cat "$1")" > "$1"`, "IAC-00 changed", before + "\nand the board, 日本"},
		{"with words of its own", `test "$1" = --wait && echo new > "$2"`, "IAC-00 changed", "new"},
		{"leaves it", `true`, "nothing was changed", before},
		{"aborts", `echo lost > "$1"; exit 1`, "the editor", before},
		{"is killed", `kill -9 $$`, "the editor", before},
		{"binary", `printf '\000\377\033[2J' > "$1"`, "is not text", before},
		{"not UTF-8", `printf 'caf\351' > "$1"`, "is not text", before},
		{"takes the file away", `rm "$1"`, "the editor", before},
		{"too much", `head -c 2000000 /dev/zero | tr '\0' x > "$1"`, "longer than", before},
		{"escape sequences", `printf 'red \033[31m' > "$1"`, "IAC-00 changed", "red \x1b[31m"},
	} {
		t.Run(one.name, func(t *testing.T) {
			script := filepath.Join(t.TempDir(), "editor")
			if err := os.WriteFile(script, []byte("#!/bin/sh\n"+one.script+"\n"), 0o700); err != nil {
				t.Fatal(err)
			}
			temp := t.TempDir()
			t.Setenv("TMPDIR", temp)
			if one.name == "with words of its own" {
				script += " --wait"
			}
			f := newFake(3)
			p := program(t, f, script)
			p.keys("\r")
			p.waitFor(t, "SoA drafted")
			p.keys("1")
			p.waitFor(t, "Half of it is said.")
			p.keys("E")
			p.waitFor(t, one.says)
			p.quit()
			if f.items[0].Rationale != one.want {
				t.Errorf("the rationale is %q", f.items[0].Rationale)
			}
			if left, _ := os.ReadDir(temp); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
		})
	}
	t.Run("there is none", func(t *testing.T) {
		p := program(t, newFake(3), filepath.Join(t.TempDir(), "nothing here"))
		p.keys("\r")
		p.waitFor(t, "SoA drafted")
		p.keys("1")
		p.waitFor(t, "Half of it is said.")
		p.keys("E")
		p.waitFor(t, "the editor")
		p.quit()
	})
}

// running is the running interface with a test's keys and screen.
type running struct {
	*terminalOutput
	t     *testing.T
	in    *os.File
	ended chan error
}

func program(t *testing.T, f *fake, editor string) *running {
	t.Helper()
	in, keys, err := os.Pipe() // a file, because an editor reads from the terminal, which is one
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = keys.Close(); _ = in.Close() })
	r := &running{terminalOutput: newPaper(), t: t, in: keys, ended: make(chan error, 1)}
	a := newApp(
		t.Context(),
		Options{Caller: f, Location: "local", Clock: func() time.Time { return someday }, ExportFolder: t.TempDir(), Editor: editor},
	)
	a.terminal = r.terminalOutput
	p := tea.NewProgram(
		a,
		tea.WithContext(t.Context()),
		tea.WithInput(in),
		tea.WithOutput(r.terminalOutput),
		tea.WithAltScreen(),
		tea.WithoutSignalHandler(),
	)
	go func() { _, err := p.Run(); r.ended <- err }()
	p.Send(tea.WindowSizeMsg{Width: 100, Height: 30})
	r.waitFor(t, "Acme 2026")
	return r
}

func (r *running) keys(s string) {
	if _, err := io.WriteString(r.in, s); err != nil {
		r.t.Fatal(err)
	}
}

// quit quits the interface and checks that the terminal is restored.
func (r *running) quit() {
	r.t.Helper()
	r.keys("\x03")
	if err := <-r.ended; err != nil {
		r.t.Error(err)
	}
	if text := r.text.String(); !strings.Contains(text, "\x1b[?1049l") || !strings.Contains(text, "\x1b[?25h") {
		r.t.Errorf("the screen is not given back: %q", text)
	}
}

var copied = regexp.MustCompile(`^\x1b\]52;c;([A-Za-z0-9+/=]*)\x07$`)

// TestCopy checks that text is copied with OSC 52 and can't end that sequence early.
func TestCopy(t *testing.T) {
	f := newHostileFake(3)
	s := newStage(t, f)
	var out bytes.Buffer
	s.app.terminal = &out
	text := func() string {
		t.Helper()
		m := copied.FindSubmatch(out.Bytes())
		if m == nil {
			t.Fatalf("not copied: %.200q", out.Bytes())
		}
		b, err := base64.StdEncoding.DecodeString(string(m[1]))
		if err != nil {
			t.Fatal(err)
		}
		out.Reset()
		return string(b)
	}
	s.press("Y")
	s.sees("copied", "if your terminal allows this")
	if got := text(); !strings.Contains(got, "日本語テキスト") {
		t.Errorf("%q", got)
	}
	s.review("1")
	s.press("Y")
	if got := text(); !strings.HasPrefix(got, "IAC-00") || !strings.Contains(got, "applicability  applicable") ||
		strings.ContainsAny(got, "\x1b\x07\x00") {
		t.Errorf("%q", got)
	}
	long := strings.Repeat("字", 40_000)
	f.items[0].Note = &long
	f.items[0].Revision++
	f.soa.ContentSHA256 = "c2"
	s.press("ctrl+r", "Y")
	if got := text(); len(got) > maxCopiedBytes || !utf8.ValidString(got) || strings.Count(got, "字") < 20_000 {
		t.Errorf("%d bytes, ends in %q", len(got), got[max(0, len(got)-10):])
	}
	s.app.terminal = broken{}
	s.press("Y")
	s.sees("the terminal is gone")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, fmt.Errorf("the terminal is gone") }

func (s *stage) mouse(x, y int, button tea.MouseButton, action tea.MouseAction) {
	_, cmd := s.app.Update(tea.MouseMsg{X: x, Y: y, Button: button, Action: action})
	s.run(cmd)
}

func (s *stage) click(x, y int) { s.mouse(x, y, tea.MouseButtonLeft, tea.MouseActionPress) }

func TestMouse(t *testing.T) {
	f := newFake(60)
	s := newStage(t, f)
	s.click(5, 3)
	s.sees("Assessments")
	s.app.Mouse = true
	s.click(5, 3) // clicking the selected row opens it
	s.sees("SoA drafted")
	s.click(5, 3)
	s.sees("›2  Gap analysis")
	s.click(5, 1)
	s.click(5, 1)
	s.sees("Statement of Applicability v1")
	v := s.app.topScreen().(*review)
	at := func() string { return v.ID(v.list.VisibleRows()[v.list.CursorPosition()-1]) }
	s.click(5, 6) // below the title, the count and the headings
	if at() != "IAC-03" {
		t.Errorf("%s:\n%s", at(), s.text())
	}
	s.mouse(5, 6, tea.MouseButtonWheelDown, tea.MouseActionPress)
	if at() != "IAC-06" {
		t.Error(at())
	}
	s.mouse(5, 6, tea.MouseButtonWheelUp, tea.MouseActionPress)
	if at() != "IAC-03" {
		t.Error(at())
	}
	s.click(90, 10)
	if !v.detailFocused {
		t.Error("not on the item")
	}
	s.mouse(90, 10, tea.MouseButtonWheelDown, tea.MouseActionPress)
	if v.scroll != 3 || at() != "IAC-03" {
		t.Errorf("scrolled by %d, on %s", v.scroll, at())
	}
	// Clicks beside any item and over a prompt do nothing.
	for _, p := range [][2]int{{0, 0}, {-5, -5}, {5, 29}, {1000, 1000}, {99, 28}} {
		s.click(p[0], p[1])
		checkFits(t, s.app)
	}
	s.press("esc", "s")
	before := at()
	s.click(5, 10)
	if at() != before || s.app.overlay == nil {
		t.Error("a click went through a question")
	}
	s.press("esc")
	s.size(40, 10)
	s.click(5, 5)
	checkFits(t, s.app)
}

// TestMouseEverywhere checks that clicks on the timeline, passages and other screens are harmless.
func TestMouseEverywhere(t *testing.T) {
	s := newStage(t, newHostileFake(9))
	s.app.Mouse = true
	for name, sc := range screens(s) {
		s.run(s.app.push(sc))
		depth := len(s.app.stack)
		for _, size := range [][2]int{{80, 24}, {20, 5}} {
			s.size(size[0], size[1])
			for y := -1; y <= size[1]; y += 2 {
				for _, x := range []int{-1, size[0] / 3, size[0]} {
					s.click(x, y)
					s.mouse(x, y, tea.MouseButtonWheelDown, tea.MouseActionPress)
					s.mouse(x, y, tea.MouseButtonRight, tea.MouseActionPress)
					s.mouse(x, y, tea.MouseButtonLeft, tea.MouseActionMotion)
				}
				checkFits(t, s.app)
				s.app.stack = s.app.stack[:depth]
			}
		}
		if slices.Contains(s.fake.said, api.UpdateSoAItem.ID) {
			t.Fatalf("%s: a click changed an item", name)
		}
	}
}
