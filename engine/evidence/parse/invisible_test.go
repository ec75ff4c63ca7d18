package parse_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// A matrix combines the ways in which a format hides text with the containers that text can be in. A document has the
// text "Before", a container with the hidden text "quagga" and the visible text "seen", and the text "After".
type matrix struct {
	file       string
	ways       map[string]string // by name: the hidden text in the format's own notation
	containers []string
	build      func(t *testing.T, container, way, hidden string) []byte
	// absent lists the combinations that don't exist, as "way in container", where "*" stands for any way or
	// container.
	absent []string
}

func (m matrix) check(t *testing.T) {
	t.Helper()
	for way, hidden := range m.ways {
		for _, container := range m.containers {
			if m.isAbsent(way, container) {
				continue
			}
			addExample(kindUnseen, m.file, way+" in "+container)
			doc := parsetest.Read(t, m.file, m.build(t, container, way, hidden))
			got := allText(doc)
			for _, want := range []string{"Before", "seen", "After"} {
				if !strings.Contains(got, want) {
					t.Errorf("%s: %s in %s: no %q in %q", m.file, way, container, want, got)
				}
			}
			if strings.Contains(got, "quagga") {
				t.Errorf("%s: %s in %s: read %q", m.file, way, container, got)
			}
			if len(doc.NotRead) == 0 {
				t.Errorf("%s: %s in %s: not counted", m.file, way, container)
			}
		}
	}
}

func (m matrix) isAbsent(way, container string) bool {
	for _, cell := range m.absent {
		w, c, _ := strings.Cut(cell, " in ")
		if (w == "*" || w == way) && (c == "*" || c == container) {
			return true
		}
	}
	return false
}

// allText returns all text that was read.
func allText(doc *document.Document) string {
	var sb strings.Builder
	for _, b := range append(doc.Blocks, doc.Furniture...) {
		sb.WriteString(b.Text + "\n")
	}
	return sb.String()
}

// shown checks that documents with text that looks hidden but isn't are read completely.
func shown(t *testing.T, file string, documents map[string][]byte) {
	t.Helper()
	for name, raw := range documents {
		doc := parsetest.Read(t, file, raw)
		if got := allText(doc); !strings.Contains(got, "zebra") {
			t.Errorf("%s: %s: read %q, without: %s", file, name, got, api.DescribeNotRead(doc.NotRead))
		}
	}
}

func TestInvisibleHTML(t *testing.T) {
	span := func(style string) string { return `<span style="` + style + `">quagga</span>` }
	// If the way is a style sheet, the key is the style sheet itself.
	ways := map[string]string{
		"{}1": span("display: none"), "{}0": span("mso-hide:all"), "{}2": span("visibility:HIDDEN"), "{}3": span("TEXT-DECORATION:underline line-through"),
		"{}4": `<b style="text-decoration-line:line-through">quagga</b>`, "{}5": `<span hidden>quagga</span>`, "{}6": `<del>quagga</del>`,
		"{}7": `<s>quagga</s>`, "{}8": `<font color=white>quagga</font>`, "{}9": span("opacity:.0"), "{}10": span("font:0/0 serif"),
		"{}11": span("display:inline-block;width:0;height:0;overflow:hidden"), "{}12": span("position:absolute;left:-9999px"),
		"{}13": span("position:fixed;top:-200vh"), "{}14": span("text-indent:-99em"), "{}15": span("position:absolute;clip:rect(0 0 0 0)"),
		"{}16": span("clip-path:inset(50%)"), "{}17": span("color:#FEFEFE"), "{}18": span("background:#000;color:rgb(0, 0, 0)"),
		"{}19": span("color:rgba(10,10,10,0)"), "{}20": `<template>quagga</template>`, "{}21": `<noscript>quagga</noscript>`,
		"{}22": span("transform:scale(0)"), "{}23": `<dialog>quagga</dialog>`, "{}24": span("color:hsl(0,0%,100%)"),
		"{}25":                                               span("left:-200%;position:absolute"),
		".a{display:none}":                                   `<span class="b a">quagga</span>`,
		"#a{visibility:hidden}":                              `<span id=a>quagga</span>`,
		"em{text-decoration:line-through}":                   `<em>quagga</em>`,
		"/* } */ .o .a>i{opacity:0}":                         `<span class=o><span class=a><i>quagga</i></span></span>`,
		".a{color:red}.a.b{color:#fff}.a{color:blue}":        `<span class="a b">quagga</span>`,
		".a{display:none!important}#a{display:inline}":       `<span class=a id=a style="display:inline">quagga</span>`,
		"@media screen{.a{display:none}}":                    `<span class=a>quagga</span>`,
		"@media (min-width:600px){.a{font-size:0}}":          `<span class=a>quagga</span>`,
		":root{--c:#fff}.a{color:var(--c)}":                  `<span class=a>quagga</span>`,
		"a:hover,.q::before,.a{display:none}":                `<a class=a>quagga</a>`,
		"[data-x]{display:none}":                             `<span data-x>quagga</span>`,
		".t{background:black}.t span{color:black}":           `<span class=t><span>quagga</span></span>`,
		".a{position:absolute;left:-5000px}.a i{left:auto}":  `<span class=a><i>quagga</i></span>`,
		".a:not(.b){text-decoration:line-through red 2px}":   `<span class=a>quagga</span>`,
		".a{margin-left:-9999px;content:'}'}.b{color:black}": `<span class=a>quagga</span>`,
	}
	containers := map[string]string{
		"body": `<p>TEXT</p>`, "table": `<table><tr><td>One</td><td>TEXT</td></tr></table>`, "list": `<ul><li>TEXT</li></ul>`,
		"pre":    `<pre>TEXT</pre>`,
		"header": `<header>TEXT</header>`, "footer": `<footer>TEXT</footer>`, "heading": `<h2>TEXT</h2>`,
		"details":      `<details><summary>TEXT</summary></details>`,
		"nested table": `<table><tr><td><table><tr><td>TEXT</td></tr></table></td><td>x</td></tr></table>`,
		"caption":      `<table><caption>TEXT</caption></table>`,
	}
	m := matrix{file: "a.html", ways: ways}
	for name := range containers {
		m.containers = append(m.containers, name)
	}
	m.build = func(_ *testing.T, container, way, hidden string) []byte {
		return []byte("<!doctype html><html><head><style>" + way + "</style></head><body><p>Before</p>" +
			strings.Replace(containers[container], "TEXT", hidden+" seen", 1) + "<p>After</p></body></html>")
	}
	m.check(t)

	pages := map[string][]byte{}
	for style, text := range map[string]string{
		"{}1":                           `<details><p>zebra</p></details>`,
		"{}2":                           `<table><tr style="background:#222"><th style="color:white">zebra</th><th>x</th></tr></table>`,
		"{}3":                           `<table bgcolor="#000080"><tr><td><font color=white>zebra</font></td></tr></table>`,
		"{}4":                           `<div style="visibility:hidden"><p style="visibility:visible">zebra</p></div>`,
		"{}5":                           `<div style="font-size:0"><p style="font-size:12px">zebra</p></div>`,
		"{}6":                           `<p style="background:linear-gradient(red,blue);-webkit-background-clip:text;color:transparent">zebra</p>`,
		"{}7":                           `<p hidden style="display:block">zebra</p>`,
		"{}8":                           `<div style="background:url(x.png);color:white">zebra</div>`,
		"{}9":                           `<p style="width:5%;overflow:hidden">zebra</p>`,
		"@media print{p{display:none}}": `<p>zebra</p>`,
		"@media(max-width:600px){p{display:none}}":                `<p>zebra</p>`,
		"@media (width <= 600px){p{display:none}}":                `<p>zebra</p>`,
		"@media (hover: none){p{display:none}}":                   `<p>zebra</p>`,
		"@media (max-width:600px){p{display:none}}":               `<p>zebra</p>`,
		"@media (prefers-color-scheme:dark){p{color:white}}":      `<p>zebra</p>`,
		"p{display:none}.a{display:block}":                        `<p class=a>zebra</p>`,
		"p:hover{display:none}":                                   `<p>zebra</p>`,
		".x p{display:none}":                                      `<p>zebra</p>`,
		"p{text-decoration:line-through}.a{text-decoration:none}": `<p class=a>zebra</p>`,
		"p::after{display:none}":                                  `<p>zebra</p>`,
	} {
		pages[style+" "+text] = []byte("<!doctype html><html><head><style>" + style + "</style></head><body>" + text + "</body></html>")
	}
	shown(t, "a.html", pages)
}
