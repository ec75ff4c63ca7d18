package render

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/render/usertemplate"
	"github.com/scf-service/service/engine/report/reporttest"
)

func ownReport(t testing.TB, s *content.Source, source, format string) (string, error) {
	t.Helper()
	var b bytes.Buffer
	err := Write(t.Context(), &b, s, Request{Template: content.TemplateFull, Format: format, CustomTemplate: source})
	return b.String(), err
}

// TestOwnTemplate checks that a template gets the JSON form, can compare numbers and texts, and
// that its output is escaped.
func TestOwnTemplate(t *testing.T) {
	s := reporttest.SampleSource(4)
	s.Organization.Name = `Ardent <b>Freight</b> & *Sons*`
	for _, tc := range []struct{ format, source, want string }{
		{
			FormatHTML,
			`<h1 title="{{.organization.name}}">{{.organization.name}}</h1>`,
			`<h1 title="Ardent &lt;b&gt;Freight&lt;/b&gt; &amp; *Sons*">Ardent &lt;b&gt;Freight&lt;/b&gt; &amp; *Sons*</h1>`,
		},
		{
			FormatHTML,
			`<a href="{{.organization.name}}">x</a><script>var a = {{.organization.name}};</script>`,
			`<a href="Ardent%20%3cb%3eFreight`,
		},
		{FormatMarkdown, `# {{.organization.name}}`, `# Ardent \<b\>Freight\</b\> \& \*Sons\*`},
		{FormatMarkdown, `{{range .soa.items}}{{if eq .implementation_status "implemented"}}{{.control_code}};{{end}}{{end}}`, `AST-01;`},
		{
			FormatMarkdown,
			`{{len .soa.items}} {{range .maturity.items}}{{if ge .target_level 3}}{{label "not_evidenced"}} {{end}}{{end}}`,
			`4 Not evidenced`,
		},
		{FormatMarkdown, `{{range $code, $name := .domains}}{{$code}} {{end}}`, "AST BCD"},
		{FormatMarkdown, `{{define "row"}}[{{.control_code}}]{{end}}{{range .gap_analysis.items}}{{template "row" .}}{{end}}`, `[`},
		{FormatMarkdown, `{{join .draft_reasons ", "}}{{with index . "no such field"}}never{{end}}ok`, "ok"},
		{FormatMarkdown, `{{printf "%05.1f%%" .summary.compliance_pct}}`, "046.2%"},
	} {
		got, err := ownReport(t, s, tc.source, tc.format)
		if err != nil || !strings.Contains(got, tc.want) {
			t.Errorf("%s: %q, %v; want %q", tc.source, got, err, tc.want)
		}
	}
}

// TestOwnTemplateIsBounded checks that templates that don't terminate, grow without limit or access anything else are
// stopped, or rejected with the line.
func TestOwnTemplateIsBounded(t *testing.T) {
	s := reporttest.SampleSource(8)
	for name, tc := range map[string]struct{ format, source, want string }{
		"a loop": {FormatHTML, "\n{{range 2000000000}}{{end}}", "check for a loop that runs too long"},
		"loops in loops": {
			FormatMarkdown,
			`{{range 100000}}{{range 100000}}{{range 100000}}{{end}}{{end}}{{end}}`,
			"check for a loop that runs too long",
		},
		"itself": {FormatHTML, `{{define "a"}}{{template "a" .}}{{end}}{{template "a" .}}`, "more than 100 levels deep"},
		"one another": {
			FormatMarkdown,
			`{{define "a"}}{{template "b" .}}{{end}}{{define "b"}}{{template "a" .}}{{template "a" .}}{{end}}{{template "a" .}}`,
			"more than 100 levels deep",
		},
		"output": {
			FormatHTML,
			`{{range 1000000}}0123456789012345678901234567890123456789012345678901234567890123456789012345678901234567890123456789{{end}}`,
			"output exceeds",
		},
		"a text that doubles": {FormatMarkdown, `{{$x := "0123456789"}}{{range 64}}{{$x = print $x $x}}{{end}}`, "text longer than"},
		"a width":             {FormatMarkdown, `{{printf "%999999999d" 1}}`, "limited to three digits"},
		"a width given":       {FormatMarkdown, `{{printf "%*d" 999999999 1}}`, "limited to three digits"},
		"many long texts": {
			FormatMarkdown,
			`{{range 20000000}}{{$x := printf "%900d%900d%900d" 1 1 1}}{{end}}`,
			"check for a loop that runs too long",
		},
		"a list":                {FormatMarkdown, `{{.}}`, "lists and records can't be printed"},
		"a call that is none":   {FormatHTML, `{{readFile "/etc/passwd"}}`, `function "readFile" not defined`},
		"marked as safe":        {FormatMarkdown, `{{.organization.name | html}}`, "remove this function"},
		"a field that is none":  {FormatHTML, "a\nb\n{{.organization.nam}}", "template:3"},
		"not closed":            {FormatHTML, "a\n{{if .title}}", "unexpected EOF"},
		"the counter by name":   {FormatHTML, `{{if countedEnd}}{{end}}`, "uses the reserved name countedEnd"},
		"no UTF-8":              {FormatHTML, "\xff", "UTF-8"},
		"too long":              {FormatHTML, strings.Repeat("x", usertemplate.MaxTemplateBytes+1), "at most"},
		"in a format it can't":  {FormatPDF, "x", "custom templates support the formats html and md"},
		"an unsafe place in it": {FormatHTML, `<script>{{if .title}}"{{end}}</script>`, "different context"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := ownReport(t, s, tc.source, tc.format)
			if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("%v, want %q", err, tc.want)
			}
		})
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := Write(
		ctx,
		&bytes.Buffer{},
		s,
		Request{Template: content.TemplateFull, Format: FormatHTML, CustomTemplate: `{{range 100000}}x{{end}}`},
	); !errors.Is(err, context.Canceled) {
		t.Errorf("a caller who has gone: %v", err)
	}
	full := errors.New("no space left on device")
	if err := Write(
		t.Context(),
		failing{full},
		s,
		Request{Template: content.TemplateFull, Format: FormatHTML, CustomTemplate: `{{range 100000}}0123456789{{end}}`},
	); !errors.Is(err, full) {
		t.Errorf("a full disk: %v", err)
	}
}

type failing struct{ err error }

func (f failing) Write([]byte) (int, error) { return 0, f.err }

// FuzzOwnTemplate checks that any template either produces a report or is rejected.
func FuzzOwnTemplate(f *testing.F) {
	for _, s := range []string{
		`{{range .soa.items}}{{.control_code}}{{end}}`,
		`{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, `{{range 99999}}{{print 1 2}}{{end}}`,
		`<a href="{{.title}}">`, `{{$x := .title}}{{range 9}}{{$x = printf "%s%s" $x $x}}{{end}}`,
		`{{break}}`, `{{with .scope}}{{.title}}{{else}}-{{end}}`,
	} {
		f.Add(s, true)
		f.Add(s, false)
	}
	src := reporttest.SampleSource(1)
	f.Fuzz(func(t *testing.T, source string, page bool) {
		format := FormatMarkdown
		if page {
			format = FormatHTML
		}
		if source == "" || len(source) > 4096 {
			return
		}
		var b bytes.Buffer
		err := Write(t.Context(), &b, src, Request{Template: content.TemplateSoA, Format: format, CustomTemplate: source})
		if err != nil && !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%q: %v", source, err)
		}
	})
}
