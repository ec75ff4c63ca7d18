package ocr

import (
	"bytes"
	"context"
	"errors"
	"image"
	"image/color"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/scf-service/service/internal/testutil/programtest"
)

func find(t testing.TB) *Tesseract {
	t.Helper()
	programtest.FindOrSkip(t, "tesseract")
	x, err := FindTesseract("", os.Getenv)
	if err != nil || x == nil {
		t.Fatalf("%v, %v", x, err)
	}
	return x
}

// bars returns an image of "HILL", whose letters consist of straight bars.
func bars(t testing.TB) []byte {
	img := image.NewGray(image.Rect(0, 0, 420, 160))
	for i := range img.Pix {
		img.Pix[i] = 255
	}
	fill := func(x0, y0, x1, y1 int) {
		for y := y0; y < y1; y++ {
			for x := x0; x < x1; x++ {
				img.SetGray(x, y, color.Gray{})
			}
		}
	}
	fill(40, 40, 52, 120)
	fill(84, 40, 96, 120)
	fill(40, 74, 96, 86)
	fill(120, 40, 132, 120)
	for _, x := range []int{156, 226} {
		fill(x, 40, x+12, 120)
		fill(x, 108, x+50, 120)
	}
	var buf bytes.Buffer
	if err := png.Encode(&buf, img); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestText(t *testing.T) {
	x := find(t)
	got, err := x.RecognizeText(context.Background(), bars(t))
	if err != nil || strings.TrimSpace(got) != "HILL" {
		t.Errorf("%q, %v", got, err)
	}
}

func TestRefuses(t *testing.T) {
	x := find(t)
	// To the program, text is a list of files to read.
	if got, err := x.RecognizeText(context.Background(), []byte("/etc/passwd\n")); err == nil {
		t.Errorf("a list of files gave %q", got)
	}
	if got, err := x.RecognizeText(context.Background(), []byte("\x89PNG\r\n\x1a\nand nothing")); err == nil ||
		!strings.Contains(err.Error(), "Tesseract could not read the image") {
		t.Errorf("a broken picture gave %q, %v", got, err)
	}
	ended, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := x.RecognizeText(ended, bars(t)); !errors.Is(err, context.Canceled) {
		t.Errorf("after the end: %v", err)
	}
}

func TestFindRefuses(t *testing.T) {
	for _, languages := range []string{"eng; rm -rf /", "--psm", "../eng", "eng+", "-l", "eng deu"} {
		if _, err := FindTesseract(languages, os.Getenv); err == nil {
			t.Errorf("%q was taken", languages)
		}
	}
	for _, languages := range []string{"eng", "eng+deu", "chi_sim", "script/Latin"} {
		if _, err := FindTesseract(languages, os.Getenv); err != nil {
			t.Error(err)
		}
	}
}

func TestMissing(t *testing.T) {
	if got, err := find(t).MissingLanguages(context.Background()); err != nil || len(got) > 0 {
		t.Errorf("of English: %v, %v", got, err)
	}
	x, err := FindTesseract("eng+xyz_none", os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	if got, err := x.MissingLanguages(context.Background()); err != nil || len(got) != 1 || got[0] != "xyz_none" {
		t.Errorf("of one that nobody has: %v, %v", got, err)
	}
}
