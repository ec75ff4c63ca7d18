package render

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func picturePNG(t testing.TB, w, h int) []byte {
	t.Helper()
	img := image.NewNRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			img.Set(x, y, color.NRGBA{uint8(x), uint8(y), 99, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, img); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// A logo is an image of a fit size, and nothing of its file but pixels is kept.
func TestLogo(t *testing.T) {
	small := picturePNG(t, 40, 20)
	hidden := append(slices.Clone(small), []byte("<script>after the end</script>")...)
	got, err := NormalizeLogo(hidden)
	if err != nil || bytes.Contains(got, []byte("script")) {
		t.Errorf("a PNG with more after its end: %v", err)
	}
	wide, err := NormalizeLogo(picturePNG(t, 3000, 30))
	if err != nil {
		t.Fatal(err)
	}
	if cfg, err := png.DecodeConfig(bytes.NewReader(wide)); err != nil || cfg.Width != maxLogoWidth {
		t.Errorf("a wide logo is kept as %+v, %v", cfg, err)
	}
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 64, 64)), nil); err != nil {
		t.Fatal(err)
	}
	if _, err := NormalizeLogo(photo.Bytes()); err != nil {
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
		"tiny":      {picturePNG(t, 3, 3), "must be 16 to 4000"},
		"very wide": {picturePNG(t, 5000, 20), "must be 16 to 4000"},
	} {
		if _, err := NormalizeLogo(tc.file); !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
			t.Errorf("%s: %v, want %q", name, err, tc.want)
		}
	}
}

// Colours that can't be read are refused with the reason.
func TestBrandIsChecked(t *testing.T) {
	for _, tc := range []struct {
		b    Brand
		want string
	}{
		{Brand{Accent: "#123456", Band: "#FFEE00", Footer: "Acme", Line: "By Acme"}, ""},
		{Brand{Accent: "#FFEE00"}, "contrast of 1.2:1"},
		{Brand{Accent: "blue"}, "six hexadecimal digits"},
		{Brand{Band: "#12345"}, "six hexadecimal digits"},
		{Brand{Footer: strings.Repeat("x", 201)}, "201 characters"},
		{Brand{Line: "a\nb"}, "must be a single line"},
		{Brand{Logo: []byte("no image")}, "upload it again"},
	} {
		err := tc.b.Validate()
		if tc.want == "" && err != nil ||
			tc.want != "" && (!api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want)) {
			t.Errorf("%+v: %v, want %q", tc.b, err, tc.want)
		}
	}
}

// A brand is in every format that has a look, and reports of the same brand are the same.
func TestBrandedReports(t *testing.T) {
	s := sample(4)
	logo, err := NormalizeLogo(picturePNG(t, 120, 60))
	if err != nil {
		t.Fatal(err)
	}
	s.Brand = Brand{
		Accent: "#7A1F5C",
		Band:   "#00AA88",
		Line:   "Prepared by Nord Consulting",
		Footer: "Nord Consulting <confidential> & co",
		Logo:   logo,
	}
	page := string(write(t, s, TemplateExecutiveSummary, FormatHTML))
	for _, want := range []string{
		"--accent:#7a1f5c",
		"--band:#00aa88",
		"Nord Consulting &lt;confidential&gt;",
		"Prepared by Nord",
		"data:image/png;base64," + base64.StdEncoding.EncodeToString(logo)[:40],
		"img-src data:",
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page lacks %q", want)
		}
	}
	parts := docxPartsOf(t, write(t, s, TemplateExecutiveSummary, FormatDOCX))
	if !strings.Contains(parts["word/styles.xml"], "7A1F5C") || strings.Contains(parts["word/styles.xml"], "{") ||
		!strings.Contains(parts["word/footer1.xml"], "Nord Consulting &lt;") ||
		parts["word/media/image1.png"] != string(logo) {
		t.Error("the DOCX has not the brand's look")
	}
	book := opened(t, write(t, s, TemplateExecutiveSummary, FormatXLSX))
	if all, err := book.GetPictures("Cover", "A1"); err != nil || len(all) != 1 || !bytes.Equal(all[0].File, logo) {
		t.Errorf("the workbook's cover has %d logos, %v", len(all), err)
	}
	if !bytes.Equal(write(t, s, TemplateSoA, FormatXLSX), write(t, s, TemplateSoA, FormatXLSX)) {
		t.Error("two workbooks of the same brand differ")
	}
	pdf := write(t, s, TemplateExecutiveSummary, FormatPDF)
	if !bytes.Equal(pdf, write(t, s, TemplateExecutiveSummary, FormatPDF)) {
		t.Error("two PDFs of the same brand differ")
	}
	if text := poppler(t, pdf, "pdftotext", "-", "-"); !strings.Contains(text, "Nord Consulting <confidential> & co") ||
		!strings.Contains(text, "Prepared by Nord") {
		t.Error("the PDF has not the brand's lines")
	}
	if a, b := Provenance(s, TemplateFull)["branding_sha256"], s.Brand.SHA256(); a == "" || a != b {
		t.Errorf("the sources name the brand as %q", a)
	}
	if Provenance(sample(1), TemplateFull)["branding_sha256"] != "" {
		t.Error("the program's own look is among the sources")
	}
}

// Whatever is given for a logo, it is refused or becomes a small PNG.
func FuzzLogo(f *testing.F) {
	f.Add(picturePNG(f, 20, 30))
	var photo bytes.Buffer
	if err := jpeg.Encode(&photo, image.NewGray(image.Rect(0, 0, 32, 32)), nil); err != nil {
		f.Fatal(err)
	}
	f.Add(photo.Bytes())
	f.Add([]byte("\x89PNG\r\n\x1a\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		if cfg, _, err := image.DecodeConfig(bytes.NewReader(file)); err == nil && cfg.Width*cfg.Height > 1<<18 {
			return // allowed, and slow
		}
		got, err := NormalizeLogo(file)
		if err != nil {
			if !api.IsCode(err, api.CodeValidation) {
				t.Error(err)
			}
			return
		}
		if cfg, err := png.DecodeConfig(bytes.NewReader(got)); err != nil || cfg.Width > maxLogoWidth || cfg.Height > maxLogoHeight {
			t.Errorf("%+v, %v", cfg, err)
		}
	})
}
