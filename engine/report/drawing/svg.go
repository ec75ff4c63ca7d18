package drawing

import (
	"fmt"
	"html"
	"strconv"
	"strings"
)

// SVG returns the drawing as an SVG image with a name and a description. The page must also include
// the results of CSS and SVGPatternDefs. No part of the image can be focused with the keyboard.
func (d *Drawing) SVG() string {
	var b strings.Builder
	fmt.Fprintf(&b, `<svg viewBox="0 0 %s %s" role="img" aria-label="%s"><title>%s</title>`, formatNumber(d.Width), formatNumber(d.Height),
		html.EscapeString(strings.TrimSpace(d.Title+". "+d.Description)), html.EscapeString(d.Title))
	if d.Description != "" {
		b.WriteString(`<desc>` + html.EscapeString(d.Description) + `</desc>`)
	}
	for _, s := range d.Shapes {
		s.(svgShape).writeSVG(&b)
	}
	b.WriteString("</svg>")
	return b.String()
}

type svgShape interface{ writeSVG(b *strings.Builder) }

func formatNumber(f float64) string { return strconv.FormatFloat(RoundTo2(f), 'f', -1, 64) }

func formatPoints(all []Point) string {
	var b strings.Builder
	for i, p := range all {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(formatNumber(p.X) + "," + formatNumber(p.Y))
	}
	return b.String()
}

func (s Box) writeSVG(b *strings.Builder) {
	class := "no-fill"
	if s.Fill != "" {
		class = "f-" + string(s.Fill)
	}
	if s.Edge != "" {
		class += " s-" + string(s.Edge)
	}
	fmt.Fprintf(
		b,
		`<rect x="%s" y="%s" width="%s" height="%s" class="%s"/>`,
		formatNumber(s.X),
		formatNumber(s.Y),
		formatNumber(max(s.W, 0)),
		formatNumber(max(s.H, 0)),
		class,
	)
}

func (s Line) writeSVG(b *strings.Builder) {
	name := "polyline"
	if s.Closed {
		name = "polygon"
	}
	dash := ""
	if s.Dashed {
		dash = ` stroke-dasharray="6 4"`
	}
	fmt.Fprintf(
		b,
		`<%s points="%s" class="no-fill s-%s" stroke-width="%s"%s/>`,
		name,
		formatPoints(s.Points),
		s.Color,
		formatNumber(s.Width),
		dash,
	)
}

func (s Area) writeSVG(b *strings.Builder) {
	opacity := ""
	if s.Opacity > 0 && s.Opacity < 1 {
		opacity = ` fill-opacity="` + formatNumber(s.Opacity) + `"`
	}
	fmt.Fprintf(b, `<polygon points="%s" class="f-%s"%s/>`, formatPoints(s.Points), s.Fill, opacity)
}

func (s Dot) writeSVG(b *strings.Builder) {
	fmt.Fprintf(b, `<circle cx="%s" cy="%s" r="%s" class="f-%s"/>`, formatNumber(s.X), formatNumber(s.Y), formatNumber(s.R), s.Fill)
}

func (s Label) writeSVG(b *strings.Builder) {
	anchor := [...]string{"", ` text-anchor="middle"`, ` text-anchor="end"`}[s.Anchor]
	weight, title := "", ""
	if s.Bold {
		weight = ` font-weight="600"`
	}
	if s.FullText != "" {
		title = "<title>" + html.EscapeString(s.FullText) + "</title>"
	}
	fmt.Fprintf(
		b,
		`<text x="%s" y="%s" font-size="%s" class="f-%s"%s%s>%s%s</text>`,
		formatNumber(s.X),
		formatNumber(s.Y),
		formatNumber(s.Size),
		s.Color,
		anchor,
		weight,
		title,
		html.EscapeString(s.Text),
	)
}

// CSS returns a style sheet that defines the colors as variables, for light and dark pages, and the classes
// that drawings and bars use.
func (t Theme) CSS() string {
	var b strings.Builder
	declare := func(dark bool) {
		for _, x := range tones {
			fmt.Fprintf(&b, "--%s:%s;", x.name, t.resolveColor(x.name, dark).CSS())
		}
		for i := 0; i <= HeatSteps; i++ {
			fmt.Fprintf(&b, "--%s:%s;", TextColorOn(HeatShade(i)), t.resolveColor(TextColorOn(HeatShade(i)), dark).CSS())
		}
	}
	b.WriteString(":root{")
	declare(false)
	b.WriteString("--pattern:#1c2530;--shade:#1c25302e}\n@media screen and (prefers-color-scheme:dark){:root{")
	declare(true)
	b.WriteString("--pattern:#0b0f14;--shade:#0009}}\n.no-fill{fill:none}\n")
	for _, x := range tones {
		fill := "var(--" + string(x.name) + ")"
		if x.hatch != NoHatch {
			fmt.Fprintf(&b, ".b-%s{fill:%s}", x.name, fill)
			fill = "url(#fill-" + string(x.name) + ")"
		}
		fmt.Fprintf(&b, ".f-%s{fill:%s}.s-%s{stroke:var(--%s)}", x.name, fill, x.name, x.name)
	}
	for i := 0; i <= HeatSteps; i++ {
		fmt.Fprintf(&b, ".f-%s{fill:var(--%s)}", TextColorOn(HeatShade(i)), TextColorOn(HeatShade(i)))
	}
	b.WriteByte('\n')
	for _, class := range BadgeClasses {
		ink, ground := BadgeColors(class)
		fmt.Fprintf(&b, ".badge.is-%s{color:var(--%s);background:var(--%s)}", class, ink, ground)
	}
	b.WriteByte('\n')
	return b.String()
}

// SVGPatternDefs returns the definitions of the fill patterns, which a page must include exactly once.
func SVGPatternDefs() string {
	var b strings.Builder
	b.WriteString(`<svg width="0" height="0" class="defs" aria-hidden="true" focusable="false"><defs>`)
	for _, x := range tones {
		if x.hatch == NoHatch {
			continue
		}
		w, h, turn, over := "6", "6", "", ""
		switch x.hatch {
		case Diagonal:
			turn, over = ` patternTransform="rotate(45)"`, `<rect width="2.5" height="6" class="over"/>`
		case Crossed:
			over = `<path d="M0 0L6 6M6 0L0 6" class="over-line"/>`
		case Dotted:
			over = `<circle cx="3" cy="3" r="1.4" class="over"/>`
		case Horizontal:
			h, over = "5", `<rect width="6" height="1.5" class="over"/>`
		case Vertical:
			w, over = "4", `<rect width="1" height="6" class="over"/>`
		case SparseDotted:
			w, h, over = "8", "8", `<circle cx="4" cy="4" r="1" class="over"/>`
		}
		fmt.Fprintf(
			&b,
			`<pattern id="fill-%s" width="%s" height="%s" patternUnits="userSpaceOnUse"%s><rect width="%s" height="%s" class="b-%s"/>%s</pattern>`,
			x.name,
			w,
			h,
			turn,
			w,
			h,
			x.name,
			over,
		)
	}
	b.WriteString("</defs></svg>")
	return b.String()
}
