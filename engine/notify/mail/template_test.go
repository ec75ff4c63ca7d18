package mail_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/smtptest"
)

func (h *fixture) put(id, subject, text, html string) (*api.EmailTemplate, error) {
	in := &api.PutTemplateInput{TemplateInput: api.TemplateInput{TemplateID: id}}
	in.Body.Subject, in.Body.Text, in.Body.HTML = subject, text, html
	return h.PutTemplate(h.t.Context(), h.by, in)
}

// TestBuiltIn checks that every built-in template renders, loads no remote content and leaves no
// braces.
func TestBuiltIn(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	l, err := h.ListTemplates(t.Context(), h.by, &api.Paging{})
	if err != nil || len(l.Data) != 7 {
		t.Fatalf("%+v, %v", l, err)
	}
	for _, w := range l.Data {
		p, err := h.Preview(t.Context(), h.by, &api.PreviewTemplateInput{TemplateInput: api.TemplateInput{TemplateID: w.ID}})
		if err != nil {
			t.Fatal(err)
		}
		if p.Subject == "" || p.Text == "" || p.HTML == "" || strings.Contains(p.Subject+p.Text+p.HTML, "{{") ||
			strings.Contains(p.Text, "\n\n\n") ||
			w.Custom ||
			w.UpdatedAt != nil {
			t.Errorf("%+v", p)
		}
		if _, err := h.put(w.ID, w.Subject, w.Text, w.HTML); err != nil {
			t.Errorf("what is built in can't be put back: %v", err)
		}
	}
}

// TestBadTemplates checks that unknown names and functions are rejected with the line and the nearest valid name.
func TestBadTemplates(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	for _, c := range []struct{ subject, text, html, want string }{
		{"{{asessment}}", "x", "", "did you mean assessment?"},
		{"x", "one\ntwo {{ reprot }}", "", "line 2: report_ready has no variable \"reprot\"; did you mean report?"},
		{"x", "{{.report}}", "", "write {{report}}, without a dot"},
		{"x", "{{range report}}x{{end}}", "", "loops are not supported"},
		{"x", "{{while}}", "", "report_ready has no variable"},
		{"x", `{{define "a"}}{{template "a"}}{{end}}{{template "a"}}`, "", "only {{variable}}"},
		{"x", `{{define "text"}}{{template "text"}}{{end}}`, "", "define and block"},
		{"x", `{{block "a" .}}x{{end}}`, "", "only {{variable}}"},
		{"x", `{{define "a"}}x{{end}}`, "", "define and block"},
		{"x", `{{printf "%1000000000d" 1}}`, "", "not a plain variable name"},
		{"x", `{{report | len}}`, "", "not a plain variable name"},
		{"x", `{{$a := report}}`, "", "not a plain variable name"},
		{"x", `{{with report}}x{{end}}`, "", "only {{variable}}"},
		{"x", `{{if eq report "x"}}x{{end}}`, "", "not a plain variable name"},
		{"x", `{{if report}}x`, "", "line 1: unexpected EOF"},
		{"x", `{{report`, "", "unclosed action"},
		{"x", `{{"`, "", "line 1"},
		{"x", strings.Repeat("{{if report}}", 5000) + strings.Repeat("{{end}}", 5000), "", "more than 10 levels deep"},
		{"x", strings.Repeat("{{report}}", 3000), "", ""},
		{"x", strings.Repeat("{{report}}", 5000), "", "more than 2000"},
		{"a\nb", "x", "", "one line"},
		{"x", "x", "<script>alert(1)</script>", "support scripts"},
		{"x", "x", "< IFRAME src=x>", "support scripts"},
		{"x", "x", `<a href="{{report}}>x`, "html"},
		{"x", "x", `<p style="{{if report}}"{{end}}>`, "html"},
		{"x", "\xff", "", "UTF-8"},
		{"{{report}}", "{{if reason}}", "", "unexpected EOF"},
	} {
		_, err := h.put("report_ready", c.subject, c.text, c.html)
		if c.want == "" {
			if err != nil {
				t.Errorf("%.40q: %v", c.text, err)
			}
			continue
		}
		if !api.IsCode(err, api.CodeValidation) ||
			!strings.Contains(err.Error(), c.want) && !(c.want == "html" && api.AsError(err).Details[0].Field == "html") ||
			len(err.Error()) > 600 {
			t.Errorf("%.40q %.40q %.40q: %v", c.subject, c.text, c.html, err)
		}
	}
	for _, id := range []string{"report-ready", "digest", "../x", ""} {
		if _, err := h.GetTemplate(t.Context(), h.by, &api.TemplateInput{TemplateID: id}); !api.IsCode(err, api.CodeNotFound) ||
			!strings.Contains(err.Error(), "report_ready") {
			t.Errorf("%q: %v", id, err)
		}
	}
}

// TestOwnWording checks that an organization's template is used from then on, only for that
// organization, until it is reset.
func TestOwnWording(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	w, err := h.put("member_invite", "Come to {{organization}}", "{{if link}}{{link}}{{else}}ask{{end}}", "")
	if err != nil || !w.Custom || w.UpdatedAt == nil {
		t.Fatalf("%+v, %v", w, err)
	}
	in := &api.PreviewTemplateInput{TemplateInput: api.TemplateInput{TemplateID: "member_invite"}}
	p, err := h.Preview(t.Context(), h.by, in)
	if err != nil || p.Subject != "Come to Acme <b>" || p.HTML != "" || !strings.HasPrefix(p.Text, "https://") {
		t.Errorf("%+v, %v", p, err)
	}
	other := h.by
	other.OrganizationID = "018f0000-0000-7000-8000-00000000000c"
	if w, err := h.GetTemplate(t.Context(), other, &in.TemplateInput); err != nil || w.Custom {
		t.Errorf("another organization has it: %+v, %v", w, err)
	}
	if _, err := h.ResetTemplate(t.Context(), h.by, &api.ResetTemplateInput{TemplateInput: in.TemplateInput}); err != nil {
		t.Error(err)
	}
	if w, err := h.GetTemplate(t.Context(), h.by, &in.TemplateInput); err != nil || w.Custom {
		t.Errorf("%+v, %v", w, err)
	}
}

// TestVariables checks that variables are texts, that required ones must be used, and that examples
// appear only in previews.
func TestVariables(t *testing.T) {
	h := newFixture(t, smtptest.Options{})
	in := &api.SendEmailInput{}
	in.Body.To, in.Body.TemplateID = []string{"ben@acme.example"}, "state_change"
	for want, variables := range map[string]map[string]any{
		"needs the variable assessment":   {},
		"did you mean assessment?":        {"assesment": "x"},
		"not a list or an object":         {"assessment": []any{"x"}},
		"exceeds 10000":                   {"assessment": strings.Repeat("ü", 10_001)},
		"state_change has no variable \"": {"report": "x"},
	} {
		in.Body.Variables = variables
		if _, err := h.Send(t.Context(), h.by, in); !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), want) {
			t.Errorf("%v: %v", variables, err)
		}
	}
	in.Body.Variables = map[string]any{"assessment": 5.5, "from": true, "to": "x", "changed_by": "Ben\u202egpj.exe\x1b[31m"}
	e, err := h.Send(t.Context(), h.by, in)
	if err != nil || e.Subject != "5.5 is now x" {
		t.Errorf("%+v, %v", e, err)
	}
	// The longest values stay within the limits.
	if _, err := h.put("state_change", "{{assessment}}", strings.Repeat("{{assessment}}", 200), ""); err != nil {
		t.Fatal(err)
	}
	in.Body.Variables = map[string]any{"assessment": strings.Repeat("ü", 10_000), "from": "", "to": "", "changed_by": ""}
	if _, err := h.Send(t.Context(), h.by, in); !api.IsCode(err, api.CodeValidation) ||
		!strings.Contains(err.Error(), "exceeds 1024 KiB") {
		t.Errorf("%v", err)
	}
}

// FuzzTemplate checks that any accepted template makes an email with a one-line subject in which no
// variable's value becomes markup.
func FuzzTemplate(f *testing.F) {
	f.Add("{{report}}", "{{if link}}{{link}}{{else}}none{{end}}", `<a href="{{link}}">{{report}}</a>`)
	f.Add("x", "{{range report}}{{end}}", "<p {{report}}>")
	f.Add("{{/* note */}}x", "{{- report -}}", "<style>{{report}}</style>")
	f.Add("x", `{{define "x"}}{{end}}`, "<!-- {{report}} -->")
	h := newFixture(f, smtptest.Options{})
	f.Fuzz(func(t *testing.T, subject, text, html string) {
		in := &api.PreviewTemplateInput{TemplateInput: api.TemplateInput{TemplateID: "report_ready"}}
		if err := h.check(t, subject, text, html, in); err != nil {
			return
		}
		evil := `"><b onmouseover=x>`
		lines := evil + "\r\nBcc: x"
		in.Body.Variables = map[string]any{"report": lines, "assessment": lines, "format": lines, "link": lines}
		p, err := h.Preview(t.Context(), h.by, in)
		if api.IsCode(err, api.CodeValidation) && strings.Contains(err.Error(), "longer than") {
			return
		}
		if err != nil {
			t.Fatalf("%q %q %q: %v", subject, text, html, err)
		}
		if strings.ContainsFunc(p.Subject, unicode.IsControl) || len([]rune(p.Subject)) > 300 {
			t.Errorf("the subject %q", p.Subject)
		}
		if strings.Contains(p.HTML, evil) && !strings.Contains(html, evil) {
			t.Errorf("%q makes %q", html, p.HTML)
		}
	})
}

// check previews a template and returns the error if it is rejected.
func (h *fixture) check(t *testing.T, subject, text, html string, in *api.PreviewTemplateInput) error {
	in.Body = &api.PreviewBody{}
	in.Body.Subject, in.Body.Text, in.Body.HTML = subject, text, html
	_, err := h.Preview(t.Context(), h.by, in)
	return err
}
