package content

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"image"
	_ "image/jpeg" // for JPEG logos
	"image/png"
	"net/http"
	"strings"
	"unicode/utf8"

	"golang.org/x/image/draw"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
)

// Brand describes the look of an organization's reports. The zero value means the default look.
type Brand struct {
	// Accent is the color of the title page and headings, Band is the color of the strip below the
	// title; both are in the form #RRGGBB.
	Accent, Band string
	// Line is shown on the title page, Footer at the bottom of each page.
	Line, Footer string
	// Logo is a PNG as returned by NormalizeLogo.
	Logo []byte
}

// Limits of a logo: the file size in bytes and the length of each side in pixels.
const (
	MaxLogoBytes       = api.MaxLogoBytes
	minLogoPixels      = 16
	maxLogoPixels      = 4000
	maxLogoWidth       = 640 // larger logos are scaled down to this
	maxLogoHeight      = 320
	maxBrandTextLength = 200
)

// NormalizeLogo checks whether an image can be used as a logo. It returns the image as a PNG of suitable
// size, without metadata.
func NormalizeLogo(file []byte) ([]byte, error) {
	if len(file) > MaxLogoBytes {
		return nil, api.Invalid(
			"logo",
			"the logo is too large (%s; the maximum is %s); save a smaller version",
			wording.FormatByteSize(int64(len(file))),
			wording.FormatByteSize(MaxLogoBytes),
		)
	}
	cfg, kind, err := image.DecodeConfig(bytes.NewReader(file))
	if err != nil || kind != "png" && kind != "jpeg" {
		return nil, api.Invalid(
			"logo",
			"the logo is not a PNG or JPEG (it looks like %s); save it in one of these formats",
			http.DetectContentType(file),
		)
	}
	if cfg.Width > maxLogoPixels || cfg.Height > maxLogoPixels || cfg.Width < minLogoPixels || cfg.Height < minLogoPixels {
		return nil, api.Invalid(
			"logo",
			"the logo is %d × %d pixels; each side must be %d to %d pixels",
			cfg.Width,
			cfg.Height,
			minLogoPixels,
			maxLogoPixels,
		)
	}
	img, _, err := image.Decode(bytes.NewReader(file))
	if err != nil {
		return nil, api.Invalid("logo", "the logo file is damaged: %v; save it again", err)
	}
	b := img.Bounds()
	scale := min(1, float64(maxLogoWidth)/float64(b.Dx()), float64(maxLogoHeight)/float64(b.Dy()))
	out := image.NewNRGBA(image.Rect(0, 0, max(1, int(float64(b.Dx())*scale)), max(1, int(float64(b.Dy())*scale))))
	draw.CatmullRom.Scale(out, out.Bounds(), img, b, draw.Src, nil)
	var buf bytes.Buffer
	if err := png.Encode(&buf, out); err != nil {
		return nil, fmt.Errorf("encode logo: %w", err)
	}
	return buf.Bytes(), nil
}

// newTheme returns a theme with the brand's colors. It returns an error if they have too little contrast.
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

// Validate returns an error if a field of the brand can't be used.
func (b Brand) Validate() error {
	if _, err := b.newTheme(); err != nil {
		return err
	}
	for _, t := range []struct{ field, value string }{{"line", b.Line}, {"footer", b.Footer}} {
		if n := utf8.RuneCountInString(t.value); n > maxBrandTextLength {
			return api.Invalid(t.field, "the text has %d characters; the maximum is %d", n, maxBrandTextLength)
		}
		if strings.ContainsAny(t.value, "\r\n") {
			return api.Invalid(t.field, "the text must be a single line")
		}
	}
	if len(b.Logo) > 0 {
		if cfg, err := png.DecodeConfig(bytes.NewReader(b.Logo)); err != nil || cfg.Width > maxLogoWidth || cfg.Height > maxLogoHeight {
			return api.Invalid("logo", "the stored logo can't be read; upload it again")
		}
	}
	return nil
}

// SHA256 returns the hash of the brand, which is listed among a report's sources, or "" for the default look.
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
