package render

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
	"github.com/scf-service/service/internal/testutil/chromiumtest"
)

// TestHTMLInABrowser checks the page in a browser: no network access, phone width, dark mode,
// print, and an order that keyboards and screen readers can follow.
func TestHTMLInABrowser(t *testing.T) {
	b := chromiumtest.Start(t)
	s := reporttest.SampleSource(40)
	s.Brand = content.Brand{Footer: "Acme", Logo: reporttest.PNG(t, 64, 32)}
	for name, page := range map[string][]byte{
		"many":    write(t, s, content.TemplateFull, FormatHTML),
		"hostile": write(t, reporttest.HostileSource(), content.TemplateFull, FormatHTML),
	} {
		b.OpenHTML(page)
		for _, url := range b.RequestedURLs {
			if !strings.HasPrefix(url, "file://") && !strings.HasPrefix(url, "data:image/png") {
				t.Errorf("%s: it asked for %.100s", name, url)
			}
		}
		b.Emulate("screen", 360, "light")
		if got := b.EvaluateText(`document.documentElement.scrollWidth`); got != "360" {
			t.Errorf("%s: on a phone of 360 pixels the page is %s wide", name, got)
		}
		if got := b.EvaluateText(`[...document.querySelectorAll('.scroll')].filter(e=>e.scrollWidth>e.clientWidth+1).length`); got != "0" {
			t.Errorf("%s: on a phone, %s tables have to be scrolled sideways", name, got)
		}
		light := b.EvaluateText(`getComputedStyle(document.body).backgroundColor`)
		b.Emulate("screen", 1280, "dark")
		if dark := b.EvaluateText(`getComputedStyle(document.body).backgroundColor`); light != "rgb(255, 255, 255)" ||
			dark != "rgb(18, 24, 31)" {
			t.Errorf("%s: its ground is %s, and %s in the dark", name, light, dark)
		}
		b.Emulate("print", 800, "dark")
		if paper := b.EvaluateText(`getComputedStyle(document.body).backgroundColor`); paper != "rgb(255, 255, 255)" {
			t.Errorf("%s: printed, its ground is %s", name, paper)
		}
		var pdf struct {
			Data string `json:"data"`
		}
		if name == "many" {
			b.Call("Page.printToPDF", map[string]any{"preferCSSPageSize": true}, &pdf)
			if !strings.HasPrefix(pdf.Data, "JVBERi") { // %PDF- in base64
				t.Errorf("%s: it can't be printed", name)
			}
		}
		b.Emulate("screen", 1280, "light")
		for what, expression := range map[string]string{
			"levels of headings that are left out": `(()=>{let last=0,n=0;for(const h of document.querySelectorAll('h1,h2,h3,h4')){const l=+h.tagName[1];if(last&&l>last+1&&!h.closest('article'))n++;last=l}return n})()`,
			"tables without a caption":             `[...document.querySelectorAll('table')].filter(t=>!t.caption||!t.caption.textContent.trim()).length`,
			"pictures without a name":              `[...document.querySelectorAll('svg:not([aria-hidden])')].filter(s=>s.getAttribute('role')!=='img'||!s.getAttribute('aria-label')).length`,
			"images without a text":                `[...document.images].filter(i=>!i.alt).length`,
			"places that a keyboard skips":         `[...document.querySelectorAll('*')].filter(e=>e.scrollWidth>e.clientWidth+1&&/auto|scroll/.test(getComputedStyle(e).overflowX)&&e.tabIndex<0).length`,
			"orders of its own":                    `document.querySelectorAll('[tabindex]:not([tabindex="0"])').length`,
			"links that lead nowhere":              `[...document.querySelectorAll('a[href^="#"]')].filter(a=>!document.getElementById(decodeURIComponent(a.hash.slice(1)))).length`,
			"scripts besides the one":              `document.scripts.length-1`,
		} {
			if got := b.EvaluateText(expression); got != "0" {
				t.Errorf("%s: %s: %s", name, what, got)
			}
		}
		if first := b.EvaluateText(`document.querySelector('a,button,input,[tabindex]').className`); first != "skip" {
			t.Errorf("%s: the first stop of a keyboard is %q, not the way to the content", name, first)
		}
	}
}
