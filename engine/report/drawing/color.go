package drawing

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Color is a color without transparency.
type Color struct{ R, G, B uint8 }

// HexDigits returns the color as six hexadecimal digits, which is the notation of office formats.
func (c Color) HexDigits() string { return fmt.Sprintf("%02X%02X%02X", c.R, c.G, c.B) }

// CSS returns the color in the notation of style sheets.
func (c Color) CSS() string { return "#" + strings.ToLower(c.HexDigits()) }

// ParseColor parses six hexadecimal digits with or without a leading #.
func ParseColor(s string) (Color, error) {
	digits := strings.TrimPrefix(strings.TrimSpace(s), "#")
	n, err := strconv.ParseUint(digits, 16, 24)
	if err != nil || len(digits) != 6 {
		return Color{}, fmt.Errorf("%q is not a color; use six hexadecimal digits, such as #0F4C75", s)
	}
	return Color{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n)}, nil
}

func rgb(n uint32) Color { return Color{R: uint8(n >> 16), G: uint8(n >> 8), B: uint8(n)} }

// ContrastRatio returns the contrast ratio between two colors as defined by WCAG 2, from 1 to 21.
func ContrastRatio(a, b Color) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

func (c Color) luminance() float64 {
	part := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*part(c.R) + 0.7152*part(c.G) + 0.0722*part(c.B)
}

// readableInk returns black or white, whichever is more readable on a background of color c.
func (c Color) readableInk() Color {
	black, white := rgb(0x10161d), rgb(0xffffff)
	if ContrastRatio(c, white) >= ContrastRatio(c, black) {
		return white
	}
	return black
}

// ColorName is the name of a color, chosen by its purpose. Reports refer to colors only by these names.
type ColorName string

// Names of colors. A fill has the name of the status or severity that it represents.
const (
	Ink        ColorName = "ink"
	Soft       ColorName = "soft"
	Paper      ColorName = "paper"
	Panel      ColorName = "panel"
	Rule       ColorName = "rule"
	Accent     ColorName = "accent"
	OnAccent   ColorName = "accent-ink"
	Band       ColorName = "band"
	Link       ColorName = "link"
	Good       ColorName = "good"
	GoodGround ColorName = "good-bg"
	Warn       ColorName = "warn"
	WarnGround ColorName = "warn-bg"
	Bad        ColorName = "bad"
	BadGround  ColorName = "bad-bg"
	Info       ColorName = "info"
	InfoGround ColorName = "info-bg"
	Level      ColorName = "level"
)

// TextColorOn returns the color for text on the given fill.
func TextColorOn(fill ColorName) ColorName { return "on-" + fill }

// HeatShade returns the shade for a step in a heat map, from 0 (none) to HeatSteps (maximum).
func HeatShade(step int) ColorName {
	return ColorName("heat-" + strconv.Itoa(min(max(step, 0), HeatSteps)))
}

// CoolShade is like HeatShade, but for numbers of which more is better.
func CoolShade(step int) ColorName {
	return ColorName("cool-" + strconv.Itoa(min(max(step, 0), HeatSteps)))
}

// HeatSteps is the number of shades in a heat map, not counting the shade for zero.
const HeatSteps = 5

// tone defines a color by one value for light pages and one for dark pages. It may also have a pattern, so that
// readers don't have to rely on the color alone.
type tone struct {
	name        ColorName
	light, dark uint32
	hatch       Hatch
}

// Hatch is a pattern drawn over a fill.
type Hatch byte

// Patterns of fills.
const (
	NoHatch      Hatch = 0
	Diagonal     Hatch = '/'
	Crossed      Hatch = 'x'
	Dotted       Hatch = '.'
	Horizontal   Hatch = '-'
	Vertical     Hatch = '|'
	SparseDotted Hatch = ':'
)

// tones lists all colors that reports use.
var tones = []tone{
	{Ink, 0x1c2530, 0xe6ebf0, 0},
	{Soft, 0x55606d, 0xa5b1bd, 0},
	{Paper, 0xffffff, 0x12181f, 0},
	{Panel, 0xf4f6f8, 0x1b232c, 0},
	{Rule, 0xd5dbe1, 0x34404c, 0},
	{Accent, 0x0f4c75, 0x12395a, 0},
	{OnAccent, 0xffffff, 0xf2f7fb, 0},
	{Band, 0xf0c75e, 0xa8842a, 0},
	{Link, 0x0b4f80, 0x8cc4ee, 0},
	{Good, 0x1d6f42, 0x8fd7ad, 0},
	{GoodGround, 0xe4f3ea, 0x16382a, 0},
	{Warn, 0x7a4b00, 0xf2cf85, 0},
	{WarnGround, 0xfdf1d8, 0x3d2f10, 0},
	{Bad, 0x9b1c1c, 0xf5aaa3, 0},
	{BadGround, 0xfce8e6, 0x471d1b, 0},
	{Info, 0x274690, 0xb0c7f5, 0},
	{InfoGround, 0xe7edfa, 0x1f2d4f, 0},
	// Statuses of controls and requirements.
	{"implemented", 0x2c7a4f, 0x2c7a4f, NoHatch},
	{"partly", 0x7bb8d9, 0x3f86ad, Diagonal},
	{"planned", 0xf0c75e, 0xa8842a, Dotted},
	{"missing", 0xe08a84, 0xa8504a, Crossed},
	{"not-evidenced", 0xc9b8de, 0x7d66a0, Horizontal},
	{"not-assessed", 0xdfe4e9, 0x35404c, Vertical},
	{"excluded", 0xaeb7c0, 0x5d6975, NoHatch},
	{"unmapped", 0xffffff, 0x12181f, SparseDotted},
	{"critical", 0x8f1d1d, 0x8f1d1d, NoHatch},
	{"high", 0xc2453d, 0xc2453d, Crossed},
	{"medium", 0xd99a2b, 0xd99a2b, Diagonal},
	{"low", 0x5b8db8, 0x5b8db8, Dotted},
	{"informational", 0xaeb7c0, 0x5d6975, NoHatch},
	{Level, 0x2f74a6, 0x2f74a6, NoHatch},
	{"heat-0", 0xf4f6f8, 0x1b232c, 0},
	{"heat-1", 0xfbe0d8, 0x4a2a28, 0},
	{"heat-2", 0xf3b9aa, 0x6d322d, 0},
	{"heat-3", 0xe38a78, 0x92413a, 0},
	{"heat-4", 0xc2453d, 0xbf5248, 0},
	{"heat-5", 0x8f1d1d, 0xe58a7f, 0},
	{"cool-0", 0xf4f6f8, 0x1b232c, 0},
	{"cool-1", 0xdcebf5, 0x1f3342, 0},
	{"cool-2", 0xb3d3e8, 0x28495f, 0},
	{"cool-3", 0x7bb0d2, 0x34647f, 0},
	{"cool-4", 0x3476a2, 0x2f6f99, 0},
	{"cool-5", 0x1f5a82, 0x86bfe0, 0},
	// Neutral colors for the streams of a flow.
	{"stream-1", 0x2f74a6, 0x3f86ad, 0},
	{"stream-2", 0x5d8a66, 0x6b9c75, 0},
	{"stream-3", 0x9a6fb0, 0x9a6fb0, 0},
	{"stream-4", 0xb07a3c, 0xb98a50, 0},
	{"stream-5", 0x6b7785, 0x7d8997, 0},
}

// StreamCount is the number of colors for streams in a flow picture.
const StreamCount = 5

// StreamColor returns the color of stream number n in a flow picture.
func StreamColor(n int) ColorName { return ColorName("stream-" + strconv.Itoa(n%StreamCount+1)) }

// Theme holds the colors of a report.
type Theme struct {
	accent, band *Color
}

// MinContrast is the minimum contrast ratio between text and its background.
const MinContrast = 4.5

// NewTheme returns a theme with an organization's own colors. A color that is nil is replaced with the default
// color. Headings are drawn in the accent color on white, so NewTheme returns an error if that color is not dark
// enough.
func NewTheme(accent, band *Color) (Theme, error) {
	if accent != nil {
		if c := ContrastRatio(*accent, rgb(0xffffff)); c < MinContrast {
			return Theme{}, fmt.Errorf(
				"the color %s has a contrast of %.1f:1 on white, but headings need %.1f:1; choose a darker color",
				accent.CSS(),
				c,
				MinContrast,
			)
		}
	}
	return Theme{accent, band}, nil
}

// Color returns the color named n on a light page. If n is unknown, it returns the color Soft.
func (t Theme) Color(n ColorName) Color { return t.resolveColor(n, false) }

func (t Theme) resolveColor(n ColorName, forDarkPage bool) Color {
	if under, is := strings.CutPrefix(string(n), "on-"); is {
		return t.resolveColor(ColorName(under), forDarkPage).readableInk()
	}
	switch {
	case n == Accent && t.accent != nil:
		return *t.accent
	case n == OnAccent && t.accent != nil:
		return t.accent.readableInk()
	case n == Band && t.band != nil:
		return *t.band
	}
	x, ok := findTone(n)
	if !ok {
		x, _ = findTone(Soft)
	}
	if forDarkPage {
		return rgb(x.dark)
	}
	return rgb(x.light)
}

func findTone(n ColorName) (tone, bool) {
	for _, x := range tones {
		if x.name == n {
			return x, true
		}
	}
	return tone{}, false
}

// HatchOf returns the pattern that belongs to a fill.
func HatchOf(n ColorName) Hatch {
	x, _ := findTone(n)
	return x.hatch
}

// FillOrDefault returns the fill named n. If n is unknown, it returns the fill for excluded items, because the name
// may be a value from the data, such as a severity, and need not be one of ours.
func FillOrDefault(n string) ColorName {
	if _, ok := findTone(ColorName(n)); ok {
		return ColorName(n)
	}
	return "excluded"
}

// BadgeColors returns the colors of a status badge: ink for the text and ground for the background.
func BadgeColors(class string) (ink, ground ColorName) {
	switch class {
	case "implemented", "approved":
		return Good, GoodGround
	case "partly", "planned", "medium", "not-evidenced":
		return Warn, WarnGround
	case "missing", "critical", "high", "draft":
		return Bad, BadGround
	case "not-assessed", "excluded", "unmapped", "informational":
		return Soft, Panel
	}
	return Info, InfoGround
}

// BadgeClasses lists the classes of badges that have their own colors.
var BadgeClasses = []string{
	"implemented",
	"approved",
	"partly",
	"planned",
	"medium",
	"not-evidenced",
	"missing",
	"critical",
	"high",
	"draft",
	"not-assessed",
	"excluded",
	"unmapped",
	"informational",
}

// ReplaceColorPlaceholders replaces color names in braces, such as {accent}, with the values of the colors.
func (t Theme) ReplaceColorPlaceholders(text string) string {
	pairs := make([]string, 0, 2*len(tones))
	for _, x := range tones {
		pairs = append(pairs, "{"+string(x.name)+"}", t.Color(x.name).HexDigits())
	}
	return strings.NewReplacer(pairs...).Replace(text)
}
