package content_test

import (
	"bytes"
	"image"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
)

func newPNG(w, h int) []byte {
	var b bytes.Buffer
	_ = png.Encode(&b, image.NewGray(image.Rect(0, 0, w, h)))
	return b.Bytes()
}

// TestLogo checks that a logo has a suitable size and that only its pixels are kept.
func TestLogo(t *testing.T) {
	small := newPNG(40, 20)
	hidden := append(slices.Clone(small), []byte("<script>after the end</script>")...)
	got, err := content.NormalizeLogo(hidden)
	if err != nil || bytes.Contains(got, []byte("script")) {
		t.Errorf("a PNG with more after its end: %v", err)
	}
	wide, err := content.NormalizeLogo(newPNG(3000, 30))
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := png.DecodeConfig(bytes.NewReader(wide)); err != nil || cfg.Width != 640 {
		t.Errorf("a wide logo is kept as %+v, %v", cfg, err)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 64)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := content.NormalizeLogo(photo.Bytes()); err != nil {
		t.Errorf("a JPEG: %v", err)
	}
	for name, tc := range map[string]struct {
		file []byte
		want string
	}{
		"text":      {[]byte("no image at all"), "is not a PNG or JPEG"},
		"SVG":       {[]byte(`<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>`), "is not a PNG or JPEG"},
		"GIF":       {[]byte("GIF89a\x01\x00\x01\x00\x00\x00\x00;"), "is not a PNG or JPEG"},
		"nothing":   {nil, "is not a PNG or JPEG"},
		"cut":       {small[:len(small)-20], "damaged"},
		"50 MB":     {make([]byte, 50<<20), "the maximum is 2.0 MiB"},
		"tiny":      {newPNG(3, 3), "must be 16 to 4000"},
		"very wide": {newPNG(5000, 20), "must be 16 to 4000"},
	} {
		if _, err := content.NormalizeLogo(tc.file); !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// TestBrandIsChecked checks that hard-to-read colors are rejected with the reason.
func TestBrandIsChecked(t *testing.T) {
	for _, tc := range []struct {
		b    content.Brand
		want string
	}{
		{content.Brand{Accent: "#123456", Band: "#FFEE00", Footer: "Acme", Line: "By Acme"}, ""},
		{content.Brand{Accent: "#FFEE00"}, "contrast of 1.2:1"},
		{content.Brand{Accent: "blue"}, "six hexadecimal digits"},
		{content.Brand{Band: "#12345"}, "six hexadecimal digits"},
		{content.Brand{Footer: strings.Repeat("x", 201)}, "201 characters"},
		{content.Brand{Line: "a\nb"}, "must be a single line"},
		{content.Brand{Logo: []byte("no image")}, "upload it again"},
	} {
		err := tc.b.Validate()
		if tc.want == "" && err != nil ||
			tc.want != "" && (!api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v, want %q", tc.b, err, tc.want)
		}
	}
}

// FuzzLogo checks that any logo is rejected or becomes a small PNG.
func FuzzLogo(f *testing.F) {
	f.Add(newPNG(20, 30))
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 32, 32)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(photo.Bytes())
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(file)); err == nil && cfg.Width*cfg.Height > 1<<18 {
			return // allowed, but slow to decode
		}
		got, err := content.NormalizeLogo(file)
		if err != nil {
			if !api.IsCode(err, api.CodeValidation) {
				t.Error(err)
			}
			return
		}
		if cfg, err := png.DecodeConfig(bytes.NewReader(got)); err != nil || cfg.Width > 640 || cfg.Height > 320 {
			t.Errorf("%+v, %v", cfg, err)
		}
	})
}
