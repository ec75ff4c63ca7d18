package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// browser is a headless Chromium that is spoken to by its debugging pipe.
type browser struct {
	t       *testing.T
	to      *os.File
	from    *bufio.Reader
	n       int
	session string
	// asked are the addresses it wanted to load.
	asked []string
}

// newBrowser starts one, or skips where it isn't installed.
func newBrowser(t *testing.T) *browser {
	t.Helper()
	if testing.Short() {
		t.Skip("a browser takes long")
	}
	path, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("chromium is not installed")
	}
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), path, "--headless=new", "--no-sandbox", "--disable-gpu", "--no-first-run", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir="+t.TempDir(), "about:blank")
	cmd.ExtraFiles = []*os.File{inRead, outWrite}
	if err := cmd.Start(); err != nil {
		t.Skipf("chromium does not start: %v", err)
	}
	inRead.Close()
	outWrite.Close()
	b := &browser{t: t, to: inWrite, from: bufio.NewReaderSize(outRead, 1<<20)}
	t.Cleanup(func() {
		b.to.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
		outRead.Close()
	})
	var target struct {
		TargetID string `json:"targetId"`
	}
	b.call("Target.createTarget", map[string]any{"url": "about:blank"}, &target)
	var attached struct {
		SessionID string `json:"sessionId"`
	}
	b.call("Target.attachToTarget", map[string]any{"targetId": target.TargetID, "flatten": true}, &attached)
	b.session = attached.SessionID
	b.call("Network.enable", nil, nil)
	b.call("Page.enable", nil, nil)
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

func (b *browser) next() message {
	b.t.Helper()
	raw, err := b.from.ReadBytes(0)
	if err != nil {
		b.t.Fatalf("chromium has ended: %v", err)
	}
	var m message
	if err := json.Unmarshal(raw[:len(raw)-1], &m); err != nil {
		b.t.Fatal(err)
	}
	if m.Method == "Network.requestWillBeSent" {
		var p struct {
			Request struct {
				URL string `json:"url"`
			} `json:"request"`
		}
		_ = json.Unmarshal(m.Params, &p)
		b.asked = append(b.asked, p.Request.URL)
	}
	return m
}

func (b *browser) call(method string, params, out any) {
	b.t.Helper()
	b.n++
	raw, err := json.Marshal(map[string]any{"id": b.n, "method": method, "params": or2(params), "sessionId": b.session})
	if b.session == "" {
		raw, err = json.Marshal(map[string]any{"id": b.n, "method": method, "params": or2(params)})
	}
	if err != nil {
		b.t.Fatal(err)
	}
	if _, err := b.to.Write(append(raw, 0)); err != nil {
		b.t.Fatal(err)
	}
	for {
		m := b.next()
		if m.ID != b.n {
			continue
		}
		if m.Error != nil {
			b.t.Fatalf("%s: %s", method, m.Error.Message)
		}
		if out != nil {
			if err := json.Unmarshal(m.Result, out); err != nil {
				b.t.Fatal(err)
			}
		}
		return
	}
}

func or2(params any) any {
	if params == nil {
		return map[string]any{}
	}
	return params
}

// open shows a page and waits until it is there.
func (b *browser) open(page []byte) {
	b.t.Helper()
	file := filepath.Join(b.t.TempDir(), "report.html")
	if err := os.WriteFile(file, page, 0o644); err != nil {
		b.t.Fatal(err)
	}
	b.asked = nil
	b.call("Page.navigate", map[string]any{"url": "file://" + file}, nil)
	for b.next().Method != "Page.loadEventFired" {
	}
}

// say is the value of an expression in the page, as text.
func (b *browser) say(expression string) string {
	b.t.Helper()
	var out struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
		ExceptionDetails any `json:"exceptionDetails"`
	}
	b.call("Runtime.evaluate", map[string]any{"expression": expression, "returnByValue": true}, &out)
	if out.ExceptionDetails != nil {
		b.t.Fatalf("%s: %v", expression, out.ExceptionDetails)
	}
	return fmt.Sprint(out.Result.Value)
}

func (b *browser) emulate(media string, width int, dark string) {
	b.t.Helper()
	b.call("Emulation.setDeviceMetricsOverride", map[string]any{"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": width < 500}, nil)
	b.call("Emulation.setEmulatedMedia", map[string]any{"media": media, "features": []map[string]string{{"name": "prefers-color-scheme", "value": dark}}}, nil)
}

// The page as a browser has it: nothing from a network, as wide as a phone, dark and on
// paper, and in an order that a keyboard and a screen reader can follow.
func TestHTMLInABrowser(t *testing.T) {
	b := newBrowser(t)
	s := sample(40)
	s.Brand = Brand{Footer: "Acme", Logo: picturePNG(t, 64, 32)}
	for name, page := range map[string][]byte{"many": write(t, s, Full, FormatHTML), "hostile": write(t, hostile(), Full, FormatHTML)} {
		b.open(page)
		for _, url := range b.asked {
			if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:image/png") {
				t.Errorf("%s: it asked for %.100s", name, url)
			}
		}
		b.emulate("screen", 360, "light")
		if got := b.say(`document.documentElement.scrollWidth`); got != "360" {
			t.Errorf("%s: on a phone of 360 pixels the page is %s wide", name, got)
		}
		light := b.say(`getComputedStyle(document.body).backgroundColor`)
		b.emulate("screen", 1280, "dark")
		if dark := b.say(`getComputedStyle(document.body).backgroundColor`); light != "rgb(255, 255, 255)" || dark != "rgb(18, 24, 31)" {
			t.Errorf("%s: its ground is %s, and %s in the dark", name, light, dark)
		}
		b.emulate("print", 800, "dark")
		if paper := b.say(`getComputedStyle(document.body).backgroundColor`); paper != "rgb(255, 255, 255)" {
			t.Errorf("%s: printed, its ground is %s", name, paper)
		}
		var pdf struct {
			Data string `json:"data"`
		}
		if name == "many" {
			b.call("Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &pdf)
			if !strings.HasPrefix(pdf.Data, "JVBERi") { // %PDF- in base64
				t.Errorf("%s: it can't be printed", name)
			}
		}
		b.emulate("screen", 1280, "light")
		for what, expression := range map[string]string{
			"levels of headings that are left out": `(()=>{let last=0,n=0;for(const h of document.querySelectorAll('h1,h2,h3,h4')){const l=+h.tagName[1];if(last&&l>last+1&&!h.closest('article'))n++;last=l}return n})()`,
			"tables without a caption":             `[...document.querySelectorAll('table')].filter(t=>!t.caption||!t.caption.textContent.trim()).length`,
			"pictures without a name":              `[...document.querySelectorAll('svg:not([aria-hidden])')].filter(s=>s.getAttribute('role')!=='img'||!s.getAttribute('aria-label')).length`,
			"images without a text":                `[...document.images].filter(i=>!i.alt).length`,
			"places that a keyboard skips":         `[...document.querySelectorAll('*')].filter(e=>e.scrollWidth>e.clientWidth+1&&/auto|scroll/.test(getComputedStyle(e).overflowX)&&e.tabIndex<0).length`,
			"orders of its own":                    `document.querySelectorAll('[tabindex]:not([tabindex="0"])').length`,
			"links that lead nowhere":              `[...document.querySelectorAll('a[href^="#"]')].filter(a=>!document.getElementById(decodeURIComponent(a.hash.slice(1)))).length`,
			"scripts":                              `document.scripts.length`,
		} {
			if got := b.say(expression); got != "0" {
				t.Errorf("%s: %s: %s", name, what, got)
			}
		}
		if first := b.say(`document.querySelector('a,button,input,[tabindex]').className`); first != "skip" {
			t.Errorf("%s: the first stop of a keyboard is %q, not the way to the content", name, first)
		}
	}
}
