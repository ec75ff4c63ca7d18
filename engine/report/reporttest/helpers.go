package reporttest

import (
	"archive/zip"
	"bytes"
	"encoding/xml"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
)

// Sources returns new report sources by name. One of them is empty, and another contains hostile text. If
// large is set, some of the others are larger.
func Sources(large bool) map[string]*content.Source {
	one := SampleSource(1)
	size, reviewed := 24, 12
	if large {
		size, reviewed = 66, 40
	}
	review := SampleSource(reviewed)
	review.Gap.Status, review.Catalog.IsStarter, review.Catalog.SourceSHA256 = api.VersionUnderReview, true, nil
	return map[string]*content.Source{
		"nothing":      {},
		"one control":  one,
		"many":         SampleSource(size),
		"under review": review,
		"hostile":      HostileSource(),
	}
}

// PNG returns a PNG image of the given size in pixels.
func PNG(t testing.TB, w, h int) []byte {
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

// CheckParts checks the parts of an Office file, which are given by name. XML parts must be well-formed, all parts
// must have media types, and relationships must refer to existing parts. description names the file in errors.
func CheckParts(t testing.TB, description string, parts map[string]string) {
	t.Helper()
	target := regexp.MustCompile(`Target="([^"]*)"`)
	for part, text := range parts {
		isXML, isRelationships := strings.HasSuffix(part, ".xml"), strings.HasSuffix(part, ".rels")
		if !isXML && !isRelationships {
			continue
		}
		d := xml.NewDecoder(strings.NewReader(text))
		for {
			if _, err := d.Token(); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatalf("%s: %s: %v", description, part, err)
			}
		}
		if isXML && part != typesPart && !strings.Contains(parts[typesPart], `PartName="/`+part+`"`) {
			t.Errorf("%s: %s has no type", description, part)
		}
		if !isRelationships {
			continue
		}
		for _, m := range target.FindAllStringSubmatch(text, -1) {
			if to := path.Join(path.Dir(path.Dir(part)), m[1]); parts[to] == "" {
				t.Errorf("%s: %s refers to the part %s, which is missing", description, part, to)
			}
		}
	}
}

const typesPart = "[Content_Types].xml"

// UnzipParts returns the files in a DOCX, by name.
func UnzipParts(t testing.TB, data []byte) map[string]string {
	t.Helper()
	z, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	out := map[string]string{}
	for _, f := range z.File {
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		b, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		out[f.Name] = string(b)
	}
	return out
}
