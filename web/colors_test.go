package web

import (
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/report/drawing"
)

// TestColorsOfReports checks that pages have the colors of the HTML report, on light and on dark screens.
func TestColorsOfReports(t *testing.T) {
	sheet, err := files.ReadFile("static/pages.css")
	if err != nil {
		t.Fatal(err)
	}
	variable := regexp.MustCompile(`--([a-z-]+): ?(#[0-9a-f]{6});`)
	colors := func(css string) (light, dark map[string]string) {
		light, dark = map[string]string{}, map[string]string{}
		first, second, ok := strings.Cut(css, "prefers-color-scheme")
		if !ok {
			t.Fatal("there are no colors for dark screens")
		}
		for _, m := range variable.FindAllStringSubmatch(first, -1) {
			light[m[1]] = m[2]
		}
		for _, m := range variable.FindAllStringSubmatch(second, -1) {
			dark[m[1]] = m[2]
		}
		return light, dark
	}
	light, dark := colors(string(sheet))
	reportLight, reportDark := colors(drawing.Theme{}.CSS())
	same := map[string]string{
		"ink": "ink", "soft": "soft", "line": "rule", "accent": "link", "wash": "info-bg", "good": "good", "good-bg": "good-bg", "warn": "warn",
		"warn-bg": "warn-bg", "bad": "bad", "bad-bg": "bad-bg",
	}
	for ours, theirs := range same {
		if light[ours] == "" || light[ours] != reportLight[theirs] || dark[ours] != reportDark[theirs] {
			t.Errorf("--%s is %s and %s, and --%s of reports %s and %s",
				ours, light[ours], dark[ours], theirs, reportLight[theirs], reportDark[theirs])
		}
	}
	// Cards are lighter than the page on both, so the report's names change places.
	if light["card"] != reportLight["paper"] || light["paper"] != reportLight["panel"] ||
		dark["card"] != reportDark["panel"] || dark["paper"] != reportDark["paper"] {
		t.Errorf("the grounds are %v and %v, those of reports %v and %v", light, dark, reportLight, reportDark)
	}
}
