package drawing

import (
	"bytes"
	"image/png"
	"strings"
	"testing"
)

func TestFitLabel(t *testing.T) {
	long := strings.Repeat("Vulnerability management ", 20)
	for _, width := range []float64{20, 80, 300} {
		l := FitLabel(Label{Text: long, Size: 12}, width)
		if w := TextWidth(l.Text, l.Size, l.Bold); w > width || !strings.HasSuffix(l.Text, "…") || l.FullText != strings.TrimSpace(long) {
			t.Errorf("%.0f units in %.0f: %q", w, width, l.Text)
		}
	}
	if l := FitLabel(Label{Text: " short\ntext ", Size: 12}, 300); l.Text != "short text" || l.FullText != "" {
		t.Errorf("%+v", l)
	}
}

func TestHatchStaysInside(t *testing.T) {
	const x, y, w, h = 3.0, 4.0, 31.0, 17.0
	for kind := Hatch(0); kind <= SparseDotted; kind++ {
		check := func(p Point, r float64) {
			const slack = 1e-9
			if p.X-r < x-slack || p.Y-r < y-slack || p.X+r > x+w+slack || p.Y+r > y+h+slack {
				t.Errorf("pattern %d: %v with radius %v is outside", kind, p, r)
			}
		}
		DrawHatch(x, y, w, h, kind, func(a, b Point) { check(a, 0); check(b, 0) }, check)
	}
}

func TestThemeNeedsContrast(t *testing.T) {
	pale, dark := Color{R: 250, G: 250, B: 0}, Color{R: 20, G: 40, B: 90}
	if _, err := NewTheme(&pale, nil); err == nil || !strings.Contains(err.Error(), "choose a darker color") {
		t.Errorf("pale: %v", err)
	}
	theme, err := NewTheme(&dark, &pale)
	if err != nil || theme.Color(Accent) != dark || theme.Color(Band) != pale {
		t.Errorf("%v, %v, %v", theme.Color(Accent), theme.Color(Band), err)
	}
	for _, x := range tones {
		if c := ContrastRatio(theme.Color(x.name), theme.Color(TextColorOn(x.name))); c < MinContrast {
			t.Errorf("text on %s has a contrast of %.1f:1", x.name, c)
		}
	}
	if theme.Color("no such color") != theme.Color(Soft) {
		t.Error("an unknown color is not the soft one")
	}
}

func TestPNG(t *testing.T) {
	d := Drawing{Width: 100, Height: 40}
	d.Add(Box{X: 10, Y: 10, W: 20, H: 20, Fill: Accent}, Label{X: 50, Y: 20, Size: 12, Text: "text", Color: Ink})
	var b bytes.Buffer
	if err := d.WritePNG(&b, Theme{}); err != nil {
		t.Fatal(err)
	}
	img, err := png.Decode(&b)
	if err != nil || img.Bounds().Dx() != 150 || img.Bounds().Dy() != 60 {
		t.Fatalf("%v, %v", img.Bounds(), err)
	}
	want := Theme{}.Color(Accent)
	if r, g, bl, _ := img.At(30, 30).RGBA(); uint8(r>>8) != want.R || uint8(g>>8) != want.G || uint8(bl>>8) != want.B {
		t.Errorf("the box is not filled: %v", img.At(30, 30))
	}
	if r, _, _, _ := img.At(2, 2).RGBA(); r != 0xffff {
		t.Error("the background is not white")
	}
}
