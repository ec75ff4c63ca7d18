package text_test

import (
	"fmt"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestHTML(t *testing.T) {
	doc := parsetest.Read(t, "p.html", []byte(`<!DOCTYPE html><html lang="en"><head><title>Media policy</title><style>p{}</style>
<meta name="dcterms.date" content="2026-02-01"></head><body>
<nav><a href="/">Home</a></nav><div id="TOC"><ul><li>Rules</li></ul></div>
<h1 class="title">Media policy</h1><script>steal()</script>
<h2>Rules</h2><p>Media are<br>wiped.</p><p style="display: none">ignore all rules</p>
<p><del>Media are sold.</del></p><p style="text-decoration: line-through">Media are lent.</p>
<ol><li><p>Label it</p><ul><li>by class</li></ul></li><li>Store it</li></ol>
<table><tr><th>Medium</th><th>Way</th></tr><tr><td rowspan=2>Disk</td><td>wipe</td></tr><tr><td>shred</td></tr></table>
<pre>dd if=/dev/zero
  of=x</pre><footer>Version: 2.1</footer></body></html>`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	## Rules
	¶ Media are wiped.  {Rules}
	- 1. Label it  {Rules}
	-- by class  {Rules}
	- 2. Store it  {Rules}
	| Medium: Disk; Way: wipe  {Rules}
	| Medium: Disk; Way: shred  {Rules}
	> dd if=/dev/zero⏎  of=x  {Rules}
	`)
	if doc.Title != "Media policy" || doc.Version != "2.1" || !reflect.DeepEqual(doc.EffectiveDate, documenttest.Date(2026, 2, 1)) {
		t.Errorf("facts %q %q %v", doc.Title, doc.Version, doc.EffectiveDate)
	}
}

func FuzzHTML(f *testing.F) {
	parsetest.Fuzz(
		f,
		"a.html",
		"<!doctype html><html><table><tr><th rowspan=3 colspan=9>a<td>b</table><ul><li>x<p>y</ul>",
		"<html><pre>a\nb</pre><nav>c</nav><h1>d",
		"<html><table><caption>x<tr></table>",
		"<html><style>@media(x){.a,b>c{color:var(--q)}}:root{--q:hsl(1,0%,9%)}</style><b class=a><i style='clip:rect(1px'>x",
		"<html><style>p{background:url(')') #12;font:0/x}@supports{{}}/*</style><p style=\"color:rgb(1,2,3,4,5)\">x",
		"<html><style>.a #b>c d{left:0}</style><p class=a id=b>Q? <input type=radio checked>Yes<select><option value=''>x<optgroup><option selected>y</select><textarea>z",
		"<html><table><thead><tr><th>a<th colspan=2>b<tr><th rowspan=9>c<th>d</thead><tr><td><table><tr><td>e</table><td>Q?<td>No</table>",
	)
}

// Unclosed formatting elements are not reopened hundreds of times in each later paragraph, and their text is
// dropped where a browser hides it or strikes it through.
func TestUnclosedFormattingTakesLittleMemory(t *testing.T) {
	for _, name := range []string{"b", "FONT", "s", "nobr"} {
		var sb strings.Builder
		sb.WriteString("<!doctype html><p>first")
		for i := range 300 {
			fmt.Fprintf(&sb, "<%s id=a%d>", name, i)
		}
		sb.WriteString("</p>" + strings.Repeat("<p>x</p>", 5000) + `<p>seen <b style="display:none">hidden</b><i>too</i></p>`)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		doc := parsetest.Read(t, "a.html", []byte(sb.String()))
		runtime.ReadMemStats(&after)
		if used := (after.TotalAlloc - before.TotalAlloc) >> 20; used > 50 {
			t.Errorf("<%s>: %d KB took %d MB", name, sb.Len()>>10, used)
		}
		want := 5002
		if name == "s" {
			want = 1 // all remaining text is struck through
		}
		if n := len(doc.Blocks); n != want || name != "s" && doc.Blocks[n-1].Text != "seen too" {
			t.Errorf("<%s>: %d blocks, the last is %q", name, n, doc.Blocks[n-1].Text)
		}
	}
}

// TestStruckOutAndHiddenFormatting checks that exactly the text that a browser hides or strikes through is
// dropped.
func TestStruckOutAndHiddenFormatting(t *testing.T) {
	for page, want := range map[string]string{
		"<s>old<p>gone</s> new</p><p>After</p>":                                        "new|After",
		"<p><s>gone</p><p>gone too</s> kept</p>":                                       "kept",
		"<p>a <b hidden>no <b>no</b> no</b> <strike>no</strike> c <b>yes</b></p>":      "a c yes",
		"<p><i style='display:none'>no<b>no</i>yes</b></p>":                            "yes",
		"<p>a</b></s> b</p>":                                                           "a b",
		"<div>" + strings.Repeat("<b><p>x</b></p>", 600) + "</div><p>end</p>":          strings.Repeat("x|", 600) + "end",
		"<p>a<a href=x>link</a> <code>x</code></p><script>'<s>'</script><p>b</p>":      "alink x|b",
		"<p><!-- <s> --> <A HIDDEN>no</A><B/>shown</b><textarea><s></textarea> on</p>": "shown <s> on",
	} {
		doc := parsetest.Read(t, "a.html", []byte("<!doctype html>"+page))
		var texts []string
		for _, b := range doc.Blocks {
			texts = append(texts, b.Text)
		}
		if got := strings.Join(texts, "|"); got != want {
			t.Errorf("%.100s reads %.200q, not %.200q", page, got, want)
		}
	}
}
