package pptx

import (
	"bytes"
	"errors"
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
	unknownColor := regexp.MustCompile(`val="\{[a-z]`)
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
		reporttest.CheckParts(t, name, parts)
		for part, text := range parts {
			if strings.HasPrefix(part, "ppt/slides/slide") {
				slides++
			}
			isXML := strings.HasSuffix(part, ".xml") || strings.HasSuffix(part, ".rels")
			if isXML && (strings.Contains(text, "TargetMode") || unknownColor.MatchString(text)) {
				t.Errorf("%s: %s refers to the outside, or to an unknown color", name, part)
			}
		}
		if slides < 8 || slides > 12 {
			t.Errorf("%s: %d slides", name, slides)
		}
	}
}
