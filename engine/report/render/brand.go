package render

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/jpeg" // a logo may be one
	"image/png"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/draw"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/drawing"
)

// Brand is how an organization wants its reports to look. The zero value is the program's own look.
type Brand struct {
	// Accent and Band are colours, as #RRGGBB: of the title page and headings, and of the strip below it.
	Accent, Band string
	// Line stands on the title page, Footer at the foot of each page.
	Line, Footer string
	// Logo is a PNG that Logo has made.
	Logo []byte
}

// The bounds of a logo: of its file, and of its sides in pixels.
const (
	MaxLogoBytes       = api.MaxLogoBytes
	minLogoPixels      = 16
	maxLogoPixels      = 4000
	maxLogoWidth       = 640 // what is kept is no larger
	maxLogoHeight      = 320
	maxBrandTextLength = 200
)

// NormalizeLogo checks an image that is to stand on title pages, and gives it as a PNG of a fit size
// with nothing else in it.
func NormalizeLogo(file []byte) ([]byte, error) {
	if len(file) > MaxLogoBytes {
		return nil, api.Invalid(
			"logo",
			"the logo has %s, and at most %s are taken; save it smaller",
			formatSize(int64(len(file))),
			formatSize(MaxLogoBytes),
		)
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || kind != "png" && kind != "jpeg" {
		return nil, api.Invalid(
			"logo",
			"the logo is no PNG or JPEG (it looks like %s); save it as one of these",
			http.DetectContentType(file),
		)
	}
	if cfg.Width > maxLogoPixels || cfg.Height > maxLogoPixels || cfg.Width < minLogoPixels || cfg.Height < minLogoPixels {
		return nil, api.Invalid(
			"logo",
			"the logo has %d × %d pixels; each side has to have from %d to %d",
			cfg.Width,
			cfg.Height,
			minLogoPixels,
			maxLogoPixels,
		)
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, api.Invalid("logo", "the logo can't be read to its end, so the file is damaged: %v; save it again", err)
	}
	b := img.Bounds()
	scale := min(1, float64(maxLogoWidth)/float64(b.Dx()), float64(maxLogoHeight)/float64(b.Dy()))
	out := image.NewNRGBA(image.Rect(0, 0, max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))))
	draw.CatmullRom.Scale(out, out.Bounds(), img, b, draw.Src, nil)
	var buf bytes.Buffer
	if err := png.Encode(&buf, out); err != nil {
		return nil, fmt.Errorf("writing the logo: %w", err)
	}
	return buf.Bytes(), nil
}

// newTheme are the brand's colours, checked for contrast.
func (b Brand) newTheme() (drawing.Theme, error) {
	var colors [2]*drawing.Color
	for i, c := range []struct{ field, value string }{{"accent", b.Accent}, {"band", b.Band}} {
		if c.value == "" {
			continue
		}
		parsed, err := drawing.ParseColor(c.value)
		if err != nil {
			return drawing.Theme{}, api.Invalid(c.field, "%v", err)
		}
		colors[i] = &parsed
	}
	t, err := drawing.NewTheme(colors[0], colors[1])
	if err != nil {
		return t, api.Invalid("accent", "%v", err)
	}
	return t, nil
}

// Validate tells what of a brand can't be used.
func (b Brand) Validate() error {
	if _, err := b.newTheme(); err != nil {
		return err
	}
	for _, t := range []struct{ field, value string }{{"line", b.Line}, {"footer", b.Footer}} {
		if n := utf8.RuneCountInString(t.value); n > maxBrandTextLength {
			return api.Invalid(t.field, "it has %d characters, and %d fit on a page; write it shorter", n, maxBrandTextLength)
		}
		if strings.ContainsAny(t.value, "\r\n") {
			return api.Invalid(t.field, "it has more than one line, and there is room for one")
		}
	}
	if len(b.Logo) > 0 {
		if cfg, err := png.DecodeConfig(bytes.NewReader(b.Logo)); err != nil || cfg.Width > maxLogoWidth || cfg.Height > maxLogoHeight {
			return api.Invalid("logo", "the logo that is kept can't be read; give it again")
		}
	}
	return nil
}

// SHA256 names the brand among a report's sources; empty for the program's own look.
func (b Brand) SHA256() string {
	if b.Accent+b.Band+b.Line+b.Footer == "" && len(b.Logo) == 0 {
		return ""
	}
	h := sha256.New()
	for _, s := range []string{b.Accent, b.Band, b.Line, b.Footer, string(b.Logo)} {
		fmt.Fprintf(h, "%d:%s", len(s), s)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// fitLogo is how large the logo is in units of its own, within a box.
func fitLogo(logo []byte, maxWidth, maxHeight float64) (w, h float64) {
	cfg, err := png.DecodeConfig(bytes.NewReader(logo))
	if err != nil || cfg.Width == 0 || cfg.Height == 0 {
		return 0, 0
	}
	scale := min(maxWidth/float64(cfg.Width), maxHeight/float64(cfg.Height))
	return float64(cfg.Width) * scale, float64(cfg.Height) * scale
}
