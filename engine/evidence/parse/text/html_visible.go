package text

import (
	"encoding/base64"
	"image/color"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"

	"github.com/scf-service/service/api"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	offScreen    = -900 // pixels; text moved at least this far to the left or up is outside the page
	similarColor = 10   // of 255: colors whose channels differ by less look the same
)

// appearance describes how the text of an element looks. Nested elements inherit it.
type appearance struct {
	// The following apply to the element and everything in it, whatever their styles.
	removed bool // takes no space
	hidden  bool
	struck  bool
	// The following can be undone by nested elements.
	invisible  bool // by the property visibility
	noSize     bool
	outdented  bool
	color      color.RGBA
	background color.RGBA // of the closest element that has one; transparent if it is unknown, such as a picture

	symbolFont string // empty for other fonts

	counted *bool // whether the unread text that began at this or an enclosing element has been counted
}

// unreadKind returns the api.Unread… kind that hides the text, or "" if it is visible.
func (a *appearance) unreadKind() string {
	switch {
	case a.removed || a.hidden || a.invisible || a.noSize || a.outdented || a.color.A == 0 || sameColor(a.color, a.background):
		return api.UnreadHiddenText
	case a.struck:
		return api.UnreadStruckText
	}
	return ""
}

// sameColor reports whether text of one color is indistinguishable from an opaque background of another.
func sameColor(text, background color.RGBA) bool {
	differs := func(a, b uint8) bool { return max(a, b)-min(a, b) >= similarColor }
	return background.A != 0 && !differs(text.R, background.R) && !differs(text.G, background.G) && !differs(text.B, background.B)
}

// visibilityPass removes from a page the text that a browser does not show or strikes through.
type visibilityPass struct {
	b        *document.Builder
	css      *stylesheet
	elements int
}

// removeAndCountInvisible removes invisible and struck-through text from a page and counts it, so
// that the reader doesn't have to check visibility. It also counts pictures and embedded pages.
func removeAndCountInvisible(b *document.Builder, root *html.Node) error {
	p := &visibilityPass{b: b, css: newStylesheet(styleTexts(root))}
	return p.visit(root, defaultAppearance())
}

// defaultAppearance returns the appearance of text on a page without styles.
func defaultAppearance() appearance {
	return appearance{background: color.RGBA{255, 255, 255, 255}, color: color.RGBA{0, 0, 0, 255}}
}

// styleTexts returns the contents of the <style> elements.
func styleTexts(root *html.Node) (out []string) {
	for n := range root.Descendants() {
		if n.DataAtom == atom.Style && n.FirstChild != nil && matchesScreen(attr(n, "media")) {
			out = append(out, n.FirstChild.Data)
		}
	}
	return out
}

// visit removes the text below n that isn't visible, and counts it as not read.
func (p *visibilityPass) visit(n *html.Node, look appearance) error {
	if p.elements++; p.elements%1024 == 0 {
		if err := p.b.Context().Err(); err != nil {
			return err
		}
	}
	kind := look.unreadKind()
	for c, next := n.FirstChild, (*html.Node)(nil); c != nil; c = next {
		next = c.NextSibling
		switch {
		case c.Type == html.TextNode && kind != "":
			text := c.Data
			if n.DataAtom == atom.Noscript { // its content is not parsed
				text = extractHTMLText(text)
			}
			if !*look.counted && strings.TrimSpace(text) != "" {
				p.b.Doc.AddNotRead(kind, 1, api.Locator{})
				*look.counted = true
			}
			n.RemoveChild(c)
		case c.Type == html.TextNode && look.symbolFont != "":
			c.Data = document.DecodeSymbols(look.symbolFont, c.Data)
		case c.Type != html.ElementNode:
			if err := p.visit(c, look); err != nil {
				return err
			}
		case c.DataAtom == atom.Rt || c.DataAtom == atom.Rp: // pronunciation of the preceding letters, and brackets around it
			if c.DataAtom == atom.Rt && kind == "" {
				p.b.Doc.AddNotRead(api.UnreadRuby, 1, api.Locator{})
			}
			n.RemoveChild(c)
		case c.DataAtom == atom.Head || c.DataAtom == atom.Script || c.DataAtom == atom.Style:
		case c.DataAtom == atom.Input || c.DataAtom == atom.Select || c.DataAtom == atom.Textarea:
			p.replaceControl(c, look)
		default:
			inner := p.lookOf(c, look)
			if innerKind := inner.unreadKind(); innerKind == "" {
				p.countMedia(c)
				addDrawnBox(c)
			} else if innerKind != kind {
				inner.counted = new(bool)
			}
			p.css.countAncestor(c, 1)
			if err := p.visit(c, inner); err != nil {
				return err
			}
			p.css.countAncestor(c, -1)
			if inner.removed {
				n.RemoveChild(c)
			}
		}
	}
	return nil
}

// countMedia counts an element whose content isn't read, such as a video.
func (p *visibilityPass) countMedia(n *html.Node) {
	switch n.DataAtom {
	case atom.Img:
		p.replacePicture(n)
	case atom.Svg, atom.Canvas, atom.Video:
		if w, h := attr(n, "width"), attr(n, "height"); w != "0" && w != "1" && h != "0" && h != "1" {
			p.b.Doc.AddNotRead(api.UnreadPicture, 1, api.Locator{})
		}
	case atom.Iframe, atom.Object, atom.Embed, atom.Audio:
		p.b.Doc.AddNotRead(api.UnreadEmbeddedFile, 1, api.Locator{})
	}
}

// replacePicture replaces a picture with its alternative text and, if it is stored in the page, the
// text in it. A picture whose text isn't read is counted.
func (p *visibilityPass) replacePicture(n *html.Node) {
	if w, h := attr(n, "width"), attr(n, "height"); w == "0" || w == "1" || h == "0" || h == "1" {
		return
	}
	words := []string{document.AlternativeText(attr(n, "alt"))}
	var picture []byte
	if _, data, ok := strings.Cut(attr(n, "src"), ";base64,"); ok && p.b.HasOCR() {
		picture, _ = base64.StdEncoding.DecodeString(strings.TrimSpace(data)) // if that fails, the picture is counted
	}
	words = append(words, ReadPicture(p.b, picture, api.Locator{})...)
	if text := strings.TrimSpace(strings.Join(words, " ")); text != "" {
		n.Parent.InsertBefore(&html.Node{Type: html.TextNode, Data: " " + text + " "}, n)
	}
}

// lookOf returns the appearance of an element's text, given that of the surrounding element.
func (p *visibilityPass) lookOf(n *html.Node, outer appearance) appearance {
	look := outer
	css := p.css.propertiesFor(n)
	display, hasDisplay := css["display"]
	switch n.DataAtom {
	case atom.Del, atom.S, atom.Strike:
		look.struck = true
	case atom.Template, atom.Noscript, atom.Datalist:
		look.removed = true
	case atom.Dialog:
		look.removed = look.removed || !hasDisplay && !hasAttr(n, "open")
	}
	for _, a := range n.Attr {
		switch a.Key {
		case "face", "style":
			if value := strings.ToLower(a.Val); a.Key == "face" || strings.Contains(value, "font-family") {
				look.symbolFont = ""
				for _, font := range []string{"wingdings 2", "wingdings", "webdings"} {
					if look.symbolFont == "" && strings.Contains(value, font) {
						look.symbolFont = font
					}
				}
			}
		case "hidden":
			look.removed = look.removed || !hasDisplay && a.Val != "until-found"
		case "bgcolor":
			look.setBackground(strings.ToLower(a.Val))
		case "color", "text":
			if c, ok := cssColor(strings.ToLower(a.Val)); ok && (n.DataAtom == atom.Font || n.DataAtom == atom.Body) {
				look.color = c
			}
		}
	}
	if css == nil {
		return look
	}
	look.removed = look.removed || display == "none"
	look.struck = look.struck || strings.Contains(css["text-decoration-line"], "line-through")
	look.hidden = look.hidden || isHiddenBox(css) || css["mso-hide"] == "all" // by Word and Outlook
	look.applyTextProperties(css)
	return look
}

// applyTextProperties sets the properties that nested elements may override.
func (a *appearance) applyTextProperties(css map[string]string) {
	switch css["visibility"] {
	case "hidden", "collapse":
		a.invisible = true
	case "visible", "initial":
		a.invisible = false
	}
	if size := css["font-size"]; size != "" {
		px, ok := cssLength(size)
		relative := strings.HasSuffix(size, "%") || strings.HasSuffix(size, "em") && !strings.HasSuffix(size, "rem")
		a.noSize = ok && px < 1 || a.noSize && (relative || size == "inherit" || size == "smaller" || size == "larger")
	}
	if indent, ok := cssLength(css["text-indent"]); ok {
		a.outdented = indent <= offScreen
	}
	if image := css["background-image"]; strings.Contains(image, "url(") || strings.Contains(image, "gradient(") {
		a.background = color.RGBA{}
	}
	a.setBackground(css["background-color"])
	isFilled := a.background.A == 0 && css["background-clip"] == "text" // transparent letters show the element's background picture
	for _, name := range []string{"color", "-webkit-text-fill-color"} {
		if c, ok := cssColor(css[name]); ok && !(isFilled && c.A == 0) {
			a.color = c
		}
	}
}

func (a *appearance) setBackground(value string) {
	if c, ok := cssColor(value); ok && c.A != 0 {
		a.background = c
	}
}

// isHiddenBox reports whether the properties hide an element's box and everything in it, because it is transparent,
// has no size, is clipped away or is outside the page.
func isHiddenBox(css map[string]string) bool {
	opacity := css["opacity"]
	if filter, ok := strings.CutPrefix(css["filter"], "opacity("); ok {
		opacity = strings.TrimSuffix(filter, ")")
	}
	number, percent := strings.CutSuffix(opacity, "%")
	if v, ok := cssLength(number + "px"); ok && (v < 0.05 || percent && v < 5) {
		return true
	}
	if css["content-visibility"] == "hidden" {
		return true
	}
	isBelow := func(limit float64, names ...string) bool {
		for _, name := range names {
			v, ok := cssLength(css[name])
			if strings.HasSuffix(css[name], "%") {
				v *= screenWidth / 16
			}
			if ok && v <= limit {
				return true
			}
		}
		return false
	}
	clipsOverflow := css["overflow"] == "hidden" || css["overflow"] == "clip"
	if clipsOverflow && isBelow(1, "width", "height", "max-width", "max-height") {
		return true
	}
	isPositioned := css["position"] == "absolute" || css["position"] == "fixed"
	if isPositioned && isBelow(offScreen, "left", "top", "right", "bottom") || isBelow(offScreen, "margin-left", "margin-top") ||
		css["position"] == "relative" && isBelow(offScreen, "left", "top") {
		return true
	}
	if isPositioned && isEmptyClip(css["clip"]) {
		return true
	}
	return isEmptyClipPath(css["clip-path"]) || isTransformedAway(css["transform"])
}

// isEmptyClip reports whether rect(top, right, bottom, left) has practically no area.
func isEmptyClip(clip string) bool {
	list, ok := strings.CutPrefix(clip, "rect(")
	edges := strings.FieldsFunc(strings.TrimSuffix(list, ")"), func(r rune) bool { return r == ' ' || r == ',' })
	if !ok || len(edges) != 4 {
		return false
	}
	var v [4]float64
	for i, e := range edges {
		if v[i], ok = cssLength(e); !ok {
			return false
		}
	}
	return v[2]-v[0] <= 1 || v[1]-v[3] <= 1
}

func isEmptyClipPath(path string) bool {
	if inset, ok := strings.CutPrefix(path, "inset("); ok {
		first, _, _ := strings.Cut(strings.TrimSuffix(inset, ")"), " ")
		v, ok := cssLength(strings.TrimSuffix(first, "%") + "px")
		return ok && strings.HasSuffix(first, "%") && v >= 50
	}
	return strings.HasPrefix(path, "circle(0") || strings.HasPrefix(path, "ellipse(0") || strings.HasPrefix(path, "polygon(0 0, 0 0, 0 0")
}

func isTransformedAway(transform string) bool {
	name, list, _ := strings.Cut(strings.TrimSuffix(transform, ")"), "(")
	for argument := range strings.SplitSeq(list, ",") {
		v, ok := cssLength(strings.TrimSpace(argument))
		if ok && (strings.HasPrefix(name, "scale") && v == 0 || strings.HasPrefix(name, "translate") && v <= offScreen) {
			return true
		}
	}
	return false
}

func hasAttr(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key {
			return true
		}
	}
	return false
}
