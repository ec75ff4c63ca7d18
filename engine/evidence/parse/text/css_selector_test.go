package text

import (
	"strings"
	"testing"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

// FuzzSelector checks that the rules found for an element by its classes, ID, name and ancestors are those whose selector
// matches it.
func FuzzSelector(f *testing.F) {
	for _, selector := range []string{
		".a", "p.a.b", "#i .a", "div > .b", ".a ul li:first-child i", ".a + .b", ".a ~ p", "[data-x] .b", `[title="a > b"] i`, "*", ":not(.a)",
		".a:not(div > .b) i", "DIV .a", ".a>.b~i", ` .a	.b `, ".a,.b i", `.\61`, ":root .b", ".a:nth-child(2n + 1)", "+ .a", ".a >", "i:is(.b, .c > i)", ".a\v.a",
	} {
		f.Add(selector)
	}
	const page = `<html><body><div class="a" id="i" data-x title="a > b"><p class="b">x</p><p class="a b"><i class="b">y</i></p><ul><li><i>z</i></li></ul></div>` +
		`<div class="b a"><p>q</p></div></body></html>`
	f.Fuzz(func(t *testing.T, selector string) {
		if strings.ContainsAny(selector, "{};@/<\"'") && selector != `[title="a > b"] i` {
			return // not one selector list
		}
		if strings.Count(selector, "(") != strings.Count(selector, ")") || strings.Count(selector, "[") != strings.Count(selector, "]") {
			return // an open bracket takes in the block
		}
		root, err := html.Parse(strings.NewReader(page))
		if err != nil {
			t.Fatal(err)
		}
		css := newStylesheet([]string{selector + "{display:none}"})
		var matchers []cascadia.Sel
		for rest := selector; rest != ""; {
			one := rest
			if n := indexCSS(rest, ","); n >= 0 {
				one, rest = rest[:n], rest[n+1:]
			} else {
				rest = ""
			}
			if sel, err := cascadia.Parse(strings.TrimSpace(one)); err == nil {
				matchers = append(matchers, sel)
			}
		}
		var visit func(n *html.Node)
		visit = func(n *html.Node) {
			if n.Type == html.ElementNode {
				want := false
				for _, m := range matchers {
					want = want || m.Match(n)
				}
				if got := css.propertiesFor(n)["display"] == "none"; got != want {
					t.Errorf("%q and <%s %v>: found %t, matches %t", selector, n.Data, n.Attr, got, want)
				}
				css.countAncestor(n, 1)
				defer css.countAncestor(n, -1)
			}
			for c := n.FirstChild; c != nil; c = c.NextSibling {
				visit(c)
			}
		}
		visit(root)
	})
}
