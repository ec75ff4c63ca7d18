package pptx

import (
	"bytes"
	"encoding/xml"
	"errors"
	"io"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/reporttest"
)

// TestSlides checks that every presentation has 8 to 12 slides, that its parts are well-formed and have types, that
// all relationships lead to parts, and that nothing refers to the outside.
func TestSlides(t *testing.T) {
	target := regexp.MustCompile(`Target="([^"]*)"`)
	for name, s := range reporttest.Sources(false) {
		v := content.New(s, content.TemplateClient, "", false)
		var b, again bytes.Buffer
		if err := errors.Join(Write(&b, New(v)), Write(&again, New(content.New(s, content.TemplateClient, "", false)))); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if !bytes.Equal(b.Bytes(), again.Bytes()) {
			t.Errorf("%s: differs from one time to the next", name)
		}
		if dir := os.Getenv("OUT"); dir != "" {
			_ = os.WriteFile(path.Join(dir, strings.ReplaceAll(name, " ", "-")+".pptx"), b.Bytes(), 0o644)
		}
		parts, slides := reporttest.UnzipParts(t, b.Bytes()), 0
		for part, text := range parts {
			if strings.HasPrefix(part, "ppt/slides/slide") {
				slides++
			}
			if !strings.HasSuffix(part, ".xml") && !strings.HasSuffix(part, ".rels") {
				continue
			}
			d := xml.NewDecoder(strings.NewReader(text))
			for {
				if _, err := d.Token(); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatalf("%s: %s: %v", name, part, err)
				}
			}
			if strings.HasSuffix(part, ".xml") && part != "[Content_Types].xml" && !strings.Contains(parts["[Content_Types].xml"], `PartName="/`+part+`"`) {
				t.Errorf("%s: %s has no type", name, part)
			}
			if strings.HasSuffix(part, ".rels") {
				for _, m := range target.FindAllStringSubmatch(text, -1) {
					if to := path.Join(path.Dir(path.Dir(part)), m[1]); parts[to] == "" {
						t.Errorf("%s: %s leads to %s, which is not there", name, part, to)
					}
				}
			}
			if strings.Contains(text, "TargetMode") || regexp.MustCompile(`val="\{[a-z]`).MatchString(text) {
				t.Errorf("%s: %s refers to the outside, or to an unknown color", name, part)
			}
		}
		if slides < 8 || slides > 12 {
			t.Errorf("%s: %d slides", name, slides)
		}
	}
}
