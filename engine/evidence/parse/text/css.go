package text

import (
	"cmp"
	"image/color"
	"slices"
	"strconv"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/image/colornames"
	"golang.org/x/net/html"
)

const (
	maxCSSRules = 10_000 // maximum number of selectors on a page
	maxCSSDepth = 20     // maximum nesting of @media, @supports and similar rules
	screenWidth = 1280   // assumed width of the screen for media queries, in CSS pixels
)

// stylesheet holds the rules of a page's <style> elements that may decide whether text is visible.
type stylesheet struct {
	// rules holds the rules by a key that the element must match: ".class", "#id", its name, or ""
	// for any element.
	rules     map[string][]cssRule
	count     int
	variables map[string]string
	// ancestors counts the open elements by key, in the same form as in rules. Rules that require
	// an ancestor that isn't open can be skipped, which saves most of the time.
	ancestors map[string]*int
	// within holds the rules that require an ancestor, by their key and the key of the nearest
	// ancestor; open holds the open ones of these ancestors.
	within map[string]map[string][]cssRule
	open   map[string]bool
	keys   map[string][]string // keys for the values of class attributes
	// cascades caches the combined properties of sets of rules, by ruleKey.
	cascades map[string]map[string]string
}

type cssRule struct {
	text        string
	selector    cascadia.Sel // set once parsed; nil if the selector is not supported
	isParsed    bool
	isKey       bool   // an element that matches the key matches the whole selector
	ancestors   []*int // pointers to the counts of the ancestors that it requires, as far as known
	order       int
	properties  []cssProperty
	specificity cascadia.Specificity
}

type cssProperty struct {
	name, value string
	important   bool
}

// visibilityProperties are the properties that may hide text or strike it through.
var visibilityProperties = map[string]bool{
	"display": true, "visibility": true, "opacity": true, "content-visibility": true, "filter": true, "mso-hide": true,
	"text-decoration": true, "text-decoration-line": true, "-webkit-text-decoration": true, "-webkit-text-decoration-line": true,
	"font": true, "font-size": true, "color": true, "-webkit-text-fill-color": true, "background": true, "background-color": true,
	"background-image": true, "background-clip": true, "-webkit-background-clip": true, "position": true, "left": true, "top": true,
	"right": true, "bottom": true, "margin-left": true,
	"margin-top": true, "text-indent": true, "transform": true, "width": true, "height": true, "max-width": true, "max-height": true,
	"overflow": true, "overflow-x": true, "overflow-y": true, "clip": true, "clip-path": true,
}

// newStylesheet reads the style sheets in the order in which they appear in the page.
func newStylesheet(sheets []string) *stylesheet {
	s := &stylesheet{
		rules: map[string][]cssRule{}, variables: map[string]string{}, ancestors: map[string]*int{}, keys: map[string][]string{},
		within: map[string]map[string][]cssRule{}, open: map[string]bool{}, cascades: map[string]map[string]string{},
	}
	for _, css := range sheets {
		s.addCSS(removeCSSComments(css), 0)
	}
	return s
}

func removeCSSComments(css string) string {
	css = strings.NewReplacer("<!--", " ", "-->", " ").Replace(css)
	var sb strings.Builder
	for {
		before, rest, ok := strings.Cut(css, "/*")
		sb.WriteString(before)
		if !ok {
			return sb.String()
		}
		_, css, _ = strings.Cut(rest, "*/")
		sb.WriteByte(' ')
	}
}

// addCSS adds the rules of a sheet or of a block in it.
func (s *stylesheet) addCSS(css string, depth int) {
	for css != "" && depth < maxCSSDepth && s.count < maxCSSRules {
		end := indexCSS(css, "{;}")
		if end < 0 {
			return
		}
		prelude := strings.TrimSpace(css[:end])
		if css[end] != '{' { // @import, @charset, or a stray character
			css = css[end+1:]
			continue
		}
		block := css[end+1:]
		css = ""
		if n := blockEnd(block); n < len(block) {
			block, css = block[:n], block[n+1:]
		}
		n := strings.IndexAny(prelude, " \t\n(")
		if n < 0 {
			n = len(prelude)
		}
		condition := strings.TrimSpace(prelude[n:])
		switch name := strings.ToLower(prelude[:n]); {
		case !strings.HasPrefix(name, "@"):
			s.addRule(prelude, block)
		case name == "@media" && matchesScreen(condition), name == "@supports" && !strings.HasPrefix(condition, "not"), name == "@layer":
			s.addCSS(block, depth+1)
		}
	}
}

// indexCSS returns the index of the first of the bytes outside strings and parentheses, or -1.
func indexCSS(css, bytes string) int {
	open := 0
	for i := 0; i < len(css); i++ {
		switch c := css[i]; {
		case c == '\\':
			i++
		case c == '"' || c == '\'':
			for i++; i < len(css) && css[i] != c && css[i] != '\n'; i++ {
				if css[i] == '\\' {
					i++
				}
			}
		case c == '(':
			open++
		case c == ')':
			open = max(0, open-1)
		case open == 0 && strings.IndexByte(bytes, c) >= 0:
			return i
		}
	}
	return -1
}

// blockEnd returns the index of a block's closing brace, or the length of css if there is none.
func blockEnd(css string) int {
	for at, depth := 0, 1; ; {
		n := indexCSS(css[at:], "{}")
		if n < 0 {
			return len(css)
		}
		at += n
		if css[at] == '{' {
			depth++
		} else if depth--; depth == 0 {
			return at
		}
		at++
	}
}

// matchesScreen reports whether a media query applies to a screen of usual width in the default colors.
func matchesScreen(query string) bool {
	for q := range strings.SplitSeq(strings.ToLower(query), ",") {
		q = strings.TrimSpace(q)
		q, negated := strings.CutPrefix(q, "not ")
		ok := true
		for part := range strings.SplitSeq(q, " and ") {
			part = strings.TrimPrefix(strings.TrimSpace(part), "only ")
			feature, value, _ := strings.Cut(strings.Trim(part, "() "), ":")
			width, isWidth := cssLength(strings.TrimSpace(value))
			switch feature = strings.TrimSpace(feature); {
			case feature == "print" || feature == "speech":
				ok = false
			case feature == "min-width" && isWidth:
				ok = ok && width <= screenWidth
			case feature == "max-width" && isWidth:
				ok = ok && width >= screenWidth
			case strings.HasPrefix(feature, "prefers-"), feature == "forced-colors", feature == "hover", feature == "pointer",
				feature == "orientation", strings.Contains(feature, "<"):
				ok = ok && slices.Contains([]string{"light", "no-preference", "hover", "fine", "landscape"}, strings.TrimSpace(value))
			}
		}
		if ok != negated {
			return true
		}
	}
	return false
}

// addRule adds a rule for each of its selectors. Unsupported selectors are ignored.
func (s *stylesheet) addRule(selectors, block string) {
	properties := parseDeclarations(block)
	for _, p := range properties {
		if strings.HasPrefix(p.name, "--") && len(s.variables) < maxCSSRules {
			s.variables[p.name] = p.value
		}
	}
	properties = slices.DeleteFunc(properties, func(p cssProperty) bool { return !visibilityProperties[p.name] })
	if len(properties) == 0 {
		return
	}
	for rest := selectors; rest != "" && s.count < maxCSSRules; {
		selector := rest
		if n := indexCSS(rest, ","); n >= 0 {
			selector, rest = rest[:n], rest[n+1:]
		} else {
			rest = ""
		}
		s.count++
		rule, key, nearest := s.newRule(strings.Join(strings.FieldsFunc(selector, isCSSSpace), " "), properties)
		if nearest == "" {
			s.rules[key] = append(s.rules[key], rule)
			continue
		}
		if s.within[key] == nil {
			s.within[key] = map[string][]cssRule{}
		}
		s.within[key][nearest] = append(s.within[key][nearest], rule)
	}
}

// classKeys returns the keys of the classes in an attribute.
func (s *stylesheet) classKeys(value string) []string {
	if keys, ok := s.keys[value]; ok {
		return keys
	}
	classes := strings.Fields(value)
	slices.Sort(classes)
	classes = slices.Compact(classes)
	for i, c := range classes {
		classes[i] = "." + c
	}
	if len(s.keys) < maxCSSRules {
		s.keys[value] = classes
	}
	return classes
}

// countAncestor adds by to the counts of open ancestors for an element; by is 1 at the element's start and -1 at its
// end.
func (s *stylesheet) countAncestor(n *html.Node, by int) {
	if s.count == 0 {
		return
	}
	add := func(key string) {
		if count := s.ancestors[key]; count != nil {
			*count += by
			if s.open[key] = true; *count == 0 {
				delete(s.open, key)
			}
		}
	}
	add(n.Data)
	for _, a := range n.Attr {
		switch a.Key {
		case "class":
			for _, key := range s.classKeys(a.Val) {
				add(key)
			}
		case "id":
			add("#" + a.Val)
		}
	}
}

// parseDeclarations returns the declarations of a block.
func parseDeclarations(block string) (out []cssProperty) {
	for block != "" {
		declaration := block
		if n := indexCSS(block, ";"); n >= 0 {
			declaration, block = block[:n], block[n+1:]
		} else {
			block = ""
		}
		name, value, ok := strings.Cut(declaration, ":")
		if !ok {
			continue
		}
		p := cssProperty{name: strings.ToLower(strings.TrimSpace(name)), value: strings.ToLower(strings.TrimSpace(value))}
		if n := strings.LastIndexByte(p.value, '!'); n >= 0 && strings.TrimSpace(p.value[n+1:]) == "important" {
			p.value, p.important = strings.TrimSpace(p.value[:n]), true
		}
		out = append(out, p)
	}
	return out
}

// propertiesFor returns the properties of an element by name, in cascade order: rules by
// specificity and order, then its own style attribute, then important declarations. It returns nil
// if the element has none.
func (s *stylesheet) propertiesFor(n *html.Node) map[string]string {
	var matched []*cssRule
	match := func(list []cssRule) {
	rules:
		for i := range list {
			r := &list[i]
			for _, a := range r.ancestors {
				if *a == 0 {
					continue rules
				}
			}
			if r.matches(n) {
				matched = append(matched, r)
			}
		}
	}
	collect := func(key string) {
		match(s.rules[key])
		if within := s.within[key]; within != nil {
			for ancestor := range s.open {
				match(within[ancestor])
			}
		}
	}
	var own []cssProperty
	if s.count > 0 {
		collect("")
		collect(n.Data)
	}
	for _, a := range n.Attr {
		switch {
		case a.Key == "style":
			own = parseDeclarations(removeCSSComments(a.Val))
		case s.count == 0:
		case a.Key == "class":
			for _, key := range s.classKeys(a.Val) {
				collect(key)
			}
		case a.Key == "id":
			collect("#" + a.Val)
		}
	}
	if matched == nil && own == nil {
		return nil
	}
	key := ""
	if own == nil {
		key = ruleKey(matched)
		if properties, ok := s.cascades[key]; ok {
			return properties
		}
	}
	slices.SortFunc(matched, func(a, b *cssRule) int {
		switch {
		case a.specificity.Less(b.specificity):
			return -1
		case b.specificity.Less(a.specificity):
			return 1
		}
		return cmp.Compare(a.order, b.order)
	})
	out := map[string]string{}
	for _, important := range []bool{false, true} {
		for _, r := range matched {
			s.apply(out, r.properties, important)
		}
		s.apply(out, own, important)
	}
	if own == nil && len(s.cascades) < maxCSSRules {
		s.cascades[key] = out
	}
	return out
}

// apply sets either the important properties or all others. A shorthand sets all properties that it represents.
func (s *stylesheet) apply(to map[string]string, properties []cssProperty, important bool) {
	for _, p := range properties {
		if p.important != important || !visibilityProperties[p.name] {
			continue
		}
		value := p.value
		for range 5 { // variables may refer to others
			before, rest, ok := strings.Cut(value, "var(")
			inner, after, closed := strings.Cut(rest, ")")
			if !ok || !closed || len(value) > 1000 {
				break
			}
			name, fallback, _ := strings.Cut(inner, ",")
			value = before + cmp.Or(s.variables[strings.TrimSpace(name)], strings.TrimSpace(fallback)) + after
		}
		switch p.name {
		case "text-decoration", "-webkit-text-decoration", "-webkit-text-decoration-line":
			to["text-decoration-line"] = value
		case "-webkit-background-clip":
			to["background-clip"] = value
		case "font":
			for field := range strings.FieldsSeq(value) {
				size, _, _ := strings.Cut(field, "/")
				if _, ok := cssLength(size); ok {
					to["font-size"] = size
					break
				}
			}
		case "background":
			to["background-color"], to["background-image"] = "transparent", value
			for rest := value; rest != ""; {
				word := rest
				if n := indexCSS(rest, " "); n >= 0 {
					word, rest = rest[:n], rest[n+1:]
				} else {
					rest = ""
				}
				if _, ok := cssColor(word); ok {
					to["background-color"] = word
				}
			}
		case "overflow-x", "overflow-y":
			to["overflow"] = value
		default:
			to[p.name] = value
		}
	}
}

// cssLength returns an approximate length in pixels: percentages and multiples of the font size assume 16 pixels.
func cssLength(s string) (float64, bool) {
	unit := strings.TrimLeft(s, "+-.0123456789")
	v, err := strconv.ParseFloat(s[:len(s)-len(unit)], 64)
	if err != nil {
		return 0, false
	}
	switch unit {
	case "", "px":
		return v, unit == "px" || v == 0
	case "pt":
		return v * 4 / 3, true
	case "em", "rem", "ex", "ch", "pc", "vw", "vh":
		return v * 16, true
	case "%":
		return v * 16 / 100, true
	case "in":
		return v * 96, true
	case "cm":
		return v * 38, true
	case "mm":
		return v * 3.8, true
	}
	return 0, false
}

// cssColor returns a color. The alpha of a nearly transparent color is set to 0.
func cssColor(s string) (color.RGBA, bool) {
	if c, ok := colornames.Map[s]; ok {
		return c, true
	}
	if s == "transparent" {
		return color.RGBA{}, true
	}
	if hex, ok := strings.CutPrefix(s, "#"); ok {
		if len(hex) == 3 || len(hex) == 4 {
			var sb strings.Builder
			for _, c := range hex {
				sb.WriteRune(c)
				sb.WriteRune(c)
			}
			hex = sb.String()
		}
		if len(hex) == 6 {
			hex += "ff"
		}
		v, err := strconv.ParseUint(hex, 16, 32)
		if err != nil || len(hex) != 8 {
			return color.RGBA{}, false
		}
		return opaqueOrNone(float64(v>>24), float64(v>>16&255), float64(v>>8&255), float64(v&255)/255), true
	}
	name, list, ok := strings.Cut(strings.TrimSuffix(s, ")"), "(")
	if !ok || name != "rgb" && name != "rgba" && name != "hsl" && name != "hsla" {
		return color.RGBA{}, false
	}
	v := [4]float64{3: 1}
	for i, field := range strings.FieldsFunc(list, func(r rune) bool { return strings.ContainsRune(" ,/", r) }) {
		number, percent := strings.CutSuffix(strings.TrimSuffix(field, "deg"), "%")
		f, err := strconv.ParseFloat(number, 64)
		if err != nil || i > 3 {
			return color.RGBA{}, false
		}
		if percent {
			f /= 100
			if i < 3 && name[0] == 'r' {
				f *= 255
			}
		}
		v[i] = f
	}
	if name[0] == 'h' {
		// Only gray, white and black have to be exact, because texts and pages usually have these colors.
		l := v[2] * 255
		if v[1] == 0 || v[2] <= 0 || v[2] >= 1 {
			return opaqueOrNone(l, l, l, v[3]), true
		}
		return color.RGBA{}, false
	}
	return opaqueOrNone(v[0], v[1], v[2], v[3]), true
}

// opaqueOrNone returns a color that is transparent if its alpha is below a tenth, and opaque otherwise.
func opaqueOrNone(r, g, b, alpha float64) color.RGBA {
	if alpha < 0.1 {
		return color.RGBA{}
	}
	clamp := func(f float64) uint8 { return uint8(min(max(f, 0), 255)) }
	return color.RGBA{clamp(r), clamp(g), clamp(b), 255}
}
