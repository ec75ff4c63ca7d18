// Package chromiumtest controls a headless Chromium for testing pages: their width, what they load, and how they
// react to typing and clicks.
package chromiumtest

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/scf-service/service/internal/testutil/programtest"
)

// Browser is a headless Chromium controlled through its debugging pipe.
type Browser struct {
	t       testing.TB
	pipeIn  *os.File
	pipeOut *bufio.Reader
	lastID  int
	session string
	// RequestedURLs lists the URLs requested since the last page was opened.
	RequestedURLs []string
}

// Start starts a browser, or skips the test if Chromium isn't installed.
func Start(t testing.TB) *Browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	path := programtest.FindOrSkip(t, "chromium")
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(
		context.WithoutCancel(t.Context()),
		path,
		"--headless=new",
		"--no-sandbox",
		"--disable-gpu",
		"--no-first-run",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync",
		"--disable-dev-shm-usage",
		"--remote-debugging-pipe",
		"--user-data-dir="+t.TempDir(),
		"about:blank",
	)
	cmd.ExtraFiles = []*os.File{inRead, outWrite}
	// All of the browser's processes share the other end of this pipe, so waiting for its end waits for all of them.
	// No process is then still writing to the profile when it is removed.
	cmd.Stderr, cmd.WaitDelay = struct{ io.Writer }{io.Discard}, 20*time.Second
	if err := cmd.Start(); err != nil {
		programtest.SkipOrFail(t, fmt.Sprintf("chromium does not start: %v", err))
	}
	inRead.Close()
	outWrite.Close()
	b := &Browser{t: t, pipeIn: inWrite, pipeOut: bufio.NewReaderSize(outRead, 1<<20)}
	t.Cleanup(func() {
		b.pipeIn.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		outRead.Close()
	})
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.Call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.Call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.Call("Network.enable", nil, nil)
	b.Call("Page.enable", nil, nil)
	return b
}

type message struct {
	ID     int             `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Message string `json:"message"`
	} `json:"error"`
}

func (b *Browser) readMessage() message {
	b.t.Helper()
	raw, err := b.pipeOut.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium has ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method == "Page.javascriptDialogOpening" { // confirm the dialog, because the page is waiting for that
		b.lastID++
		raw, _ := json.Marshal(map[string]any{
			"id": b.lastID, "method": "Page.handleJavaScriptDialog", "params": map[string]any{"accept": true}, "sessionId": b.session,
		})
		_, _ = b.pipeIn.Write(append(raw, 0))
	}
	if m.Method == "Network.requestWillBeSent" {
		var p struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		_ = json.Unmarshal(m.Params, &p)
		b.RequestedURLs = append(b.RequestedURLs, p.Request.URL)
	}
	return m
}

// Call calls a method of the DevTools protocol.
func (b *Browser) Call(method string, params, out any) {
	b.t.Helper()
	if err := b.tryCall(method, params, out); err != nil {
		b.t.Fatalf("%s: %v", method, err)
	}
}

// tryCall is like Call, but returns the browser's error.
func (b *Browser) tryCall(method string, params, out any) error {
	b.t.Helper()
	b.lastID++
	id := b.lastID
	raw, err := json.Marshal(map[string]any{"id": b.lastID, "method": method, "params": orEmptyObject(params), "sessionId": b.session})
	if b.session == "" {
		raw, err = json.Marshal(map[string]any{"id": b.lastID, "method": method, "params": orEmptyObject(params)})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.pipeIn.Write(append(raw, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.readMessage()
		if m.ID != id {
			continue
		}
		if m.Error != nil {
			return errors.New(m.Error.Message)
		}
		if out != nil {
			if err := json.Unmarshal(m.Result, out); err != nil {
				b.t.Fatal(err)
			}
		}
		return nil
	}
}

func orEmptyObject(params any) any {
	if params == nil {
		return map[string]any{}
	}
	return params
}

// OpenHTML opens a page given as HTML and waits until it has loaded.
func (b *Browser) OpenHTML(page []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.Open("file://" + file)
}

// Open opens a URL and waits until the page has loaded.
func (b *Browser) Open(address string) {
	b.t.Helper()
	b.RequestedURLs = nil
	b.Call("Page.navigate", map[string]any{"url": address}, nil)
	for b.readMessage().Method != "Page.loadEventFired" {
	}
}

// WaitFor waits until a JavaScript expression is true on the page, or on one that follows it.
func (b *Browser) WaitFor(expression string) {
	b.t.Helper()
	promise := "new Promise(r => { const look = () => document.readyState === 'complete' && (" + expression +
		") ? r(true) : setTimeout(look, 10); look(); setTimeout(() => r(false), 30000); })"
	for range 20 {
		isTrue, err := b.tryEvaluate(promise)
		if err != nil {
			continue // the browser left the page in the meantime
		}
		if isTrue == true {
			return
		}
		break
	}
	b.t.Fatalf("it never came to %s; the page says %s", expression, b.EvaluateText("document.body.innerText"))
}

// Press presses a key in the focused element. The key is given by its name and code, such as Enter and 13.
func (b *Browser) Press(key string, code int) {
	b.t.Helper()
	text := ""
	if key == "Enter" {
		text = "\r"
	}
	b.Call(
		"Input.dispatchKeyEvent",
		map[string]any{"type": "keyDown", "key": key, "code": key, "text": text, "windowsVirtualKeyCode": code},
		nil,
	)
	b.Call("Input.dispatchKeyEvent", map[string]any{"type": "keyUp", "key": key, "code": key, "windowsVirtualKeyCode": code}, nil)
}

// Type types text into the focused element.
func (b *Browser) Type(text string) {
	b.t.Helper()
	b.Call("Input.insertText", map[string]any{"text": text}, nil)
}

// Screenshot saves a full-page screenshot to folder; it does nothing if folder is empty.
func (b *Browser) Screenshot(folder, name string) {
	b.t.Helper()
	if folder == "" {
		return
	}
	var out struct {
		Data []byte `json:"data"`
	}
	b.Call("Page.captureScreenshot", map[string]any{"format": "png", "captureBeyondViewport": true}, &out)
	if err := os.WriteFile(filepath.Join(folder, name+".png"), out.Data, 0o600); err != nil {
		b.t.Fatal(err)
	}
}

// EvaluateText returns the value of a JavaScript expression in the page as text.
func (b *Browser) EvaluateText(expression string) string {
	b.t.Helper()
	value, err := b.tryEvaluate(expression)
	if err != nil {
		b.t.Fatalf("%s: %v", expression, err)
	}
	return fmt.Sprint(value)
}

// tryEvaluate returns the value of an expression, or an error if the browser left the page during the evaluation.
func (b *Browser) tryEvaluate(expression string) (any, error) {
	b.t.Helper()
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		ExceptionDetails any `json:"exceptionDetails"`
	}
	params := map[string]any{"expression": expression, "returnByValue": true, "awaitPromise": true}
	if err := b.tryCall("Runtime.evaluate", params, &out); err != nil {
		return nil, err
	}
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, out.ExceptionDetails)
	}
	return out.Result.Value, nil
}

// Emulate sets the media type (screen or print), the width and the color scheme of pages.
func (b *Browser) Emulate(media string, width int, colorScheme string) {
	b.t.Helper()
	b.Call(
		"Emulation.setDeviceMetricsOverride",
		map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500},
		nil,
	)
	b.Call(
		"Emulation.setEmulatedMedia",
		map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": colorScheme}}},
		nil,
	)
}

// place returns the coordinates of the center of an element, which it scrolls into view.
func (b *Browser) place(selector string) (x, y float64) {
	b.t.Helper()
	b.WaitFor("document.querySelector(`" + selector + "`)")
	text := b.EvaluateText("(e => { e.scrollIntoView({block: 'center', behavior: 'instant'}); const r = e.getClientRects()[0];" +
		" return (r.left + r.width / 2) + ' ' + (r.top + r.height / 2); })(document.querySelector(`" + selector + "`))")
	if _, err := fmt.Sscan(text, &x, &y); err != nil {
		b.t.Fatalf("%s has no place: %s", selector, text)
	}
	return x, y
}

// Click clicks the center of an element with the mouse.
func (b *Browser) Click(selector string) {
	b.t.Helper()
	x, y := b.place(selector)
	if hit := b.EvaluateText(fmt.Sprintf("(e => !!(e = document.elementFromPoint(%f, %f)) && !!e.closest(`%s`) || "+
		"document.querySelector(`%s`).contains(e))()", x, y, selector, selector)); hit != "true" {
		b.t.Fatalf("another element covers %s", selector)
	}
	for _, kind := range []string{"mousePressed", "mouseReleased"} {
		b.Call("Input.dispatchMouseEvent", map[string]any{"type": kind, "x": x, "y": y, "button": "left", "clickCount": 1}, nil)
	}
}

// TabTo moves the focus to an element with the Tab key.
func (b *Browser) TabTo(selector string) {
	b.t.Helper()
	for range 400 {
		if b.EvaluateText("!!document.activeElement && document.activeElement.matches(`"+selector+"`)") == "true" {
			return
		}
		b.Press("Tab", 9)
	}
	b.t.Fatalf("the Tab key does not reach %s", selector)
}

// SetFiles selects files in a file input.
func (b *Browser) SetFiles(selector string, paths ...string) {
	b.t.Helper()
	var document struct {
		Root struct {
			NodeID int `json:"nodeId"`
		} `json:"root"`
	}
	b.Call("DOM.getDocument", nil, &document)
	var node struct {
		NodeID int `json:"nodeId"`
	}
	b.Call("DOM.querySelector", map[string]any{"nodeId": document.Root.NodeID, "selector": selector}, &node)
	b.Call("DOM.setFileInputFiles", map[string]any{"nodeId": node.NodeID, "files": paths}, nil)
}

// DropFiles drops files or folders onto the page.
func (b *Browser) DropFiles(paths ...string) {
	b.t.Helper()
	data := map[string]any{"items": []any{}, "files": paths, "dragOperationsMask": 1}
	for _, kind := range []string{"dragEnter", "dragOver", "drop"} {
		b.Call("Input.dispatchDragEvent", map[string]any{"type": kind, "x": 100, "y": 300, "data": data}, nil)
	}
}

// badLayout returns the elements that are cut off, overlap or stick out of the page sideways.
const badLayout = `(() => {
	const out = [], wide = document.documentElement.clientWidth, name = (e) => e.tagName.toLowerCase() + (e.id ? "#" + e.id : "") +
		"." + e.className + " " + (e.textContent || "").trim().slice(0, 30);
	if (document.documentElement.scrollWidth > wide) out.push("the page scrolls sideways: " + document.documentElement.scrollWidth);
	const scrolls = (e) => {
		for (; e && e !== document.body; e = e.parentElement) if (/auto|scroll/.test(getComputedStyle(e).overflowX)) return true;
	};
	const visible = (e) => e.checkVisibility({ checkOpacity: true, checkVisibilityCSS: true }) &&
		!e.closest(".hidden, .skip, .actions .stack > label");
	for (const e of document.querySelectorAll("body *")) {
		if (!visible(e)) continue;
		const r = e.getBoundingClientRect(), style = getComputedStyle(e);
		if (r.width && (r.right > wide + 1 || r.left < -1) && !scrolls(e)) out.push("sticks out: " + name(e));
		const cut = style.overflowX === "hidden" && e.scrollWidth > e.clientWidth + 1 && !/PROGRESS|SVG/i.test(e.tagName);
		if (cut) out.push("cut off: " + name(e));
	}
	const controls = [...document.querySelectorAll("a, button, input, select, textarea, summary")].filter(visible).slice(0, 300);
	const rects = controls.map((e) => [...e.getClientRects()]);
	for (let i = 0; i < controls.length; i++) for (let j = i + 1; j < controls.length; j++) {
		if (controls[i].contains(controls[j]) || controls[j].contains(controls[i])) continue;
		for (const a of rects[i]) for (const b of rects[j]) {
			if (Math.min(a.right, b.right) - Math.max(a.left, b.left) > 2 && Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top) > 2) {
				out.push("overlap: " + name(controls[i]) + " and " + name(controls[j]));
			}
		}
	}
	return out.slice(0, 5).join("\n");
})()`

// BadLayout describes the elements that are cut off, overlap or stick out of the page sideways. It returns "" if
// there are none.
func (b *Browser) BadLayout() string {
	b.t.Helper()
	return b.EvaluateText(badLayout)
}

// axePath is where tools/setup installs axe-core, in the user's cache folder.
const axePath = "service-tools/axe/node_modules/axe-core/axe.min.js"

// Inaccessible returns the problems that axe-core finds on the page, or "". ok is false if axe-core isn't installed.
func (b *Browser) Inaccessible() (problems string, ok bool) {
	b.t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		b.t.Fatal(err)
	}
	if b.EvaluateText(`typeof axe`) == "undefined" {
		script, err := os.ReadFile(filepath.Join(cache, axePath))
		if err != nil {
			return "", false
		}
		b.EvaluateText(string(script) + "\n;1")
	}
	return b.EvaluateText(`axe.run(document, {resultTypes: ["violations"], runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]})
		.then(r => r.violations.map(v => v.id + ": " + v.help + ": " + v.nodes.slice(0, 3).map(n => n.target + " " + n.html.slice(0, 120)).join(" | ")).join("\n"))`), true
}
