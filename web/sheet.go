package web

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// sheet is a page made of sections, each with facts, a table and forms. All pages that list and change records
// are sheets: they share one template and differ only in their content.
type sheet struct {
	Crumbs, Tabs []link
	Lead         string
	Sections     []section
}

// link is a link with a URL relative to the start page.
type link struct {
	Text, Href string
	Current    bool
	// Need is the permission required to see the link, or "" if none is required.
	Need api.Permission
}

// section is a part of a sheet. Notice is shown in a box, and Secret as something to copy that is shown only once.
type section struct {
	Title, Text, Notice, Secret string
	Facts                       []value
	Columns                     []string
	Rows                        []line
	// Empty is shown instead of a table without rows.
	Empty string
	Forms []form
	Links []link
}

// line is a row of a section's table. Forms are the actions that the visitor may perform on the row's record.
type line struct {
	Cells []value
	Forms []form
}

// value is a fact or a table cell. Label is used only for facts. Tone is the API's value if the value is shown as a
// tag. Href is relative to the start page. Parts are pieces of the text, some of which are highlighted.
type value struct {
	Label, Text, Tone, Href string
	At                      *time.Time
	// Percent is the length of the bar, from 0 to 100, if IsBar is set.
	Percent int
	IsBar   bool
	Parts   []part
}

// part is a piece of a text, highlighted if Mark is set.
type part struct {
	Text string
	Mark bool
}

// form is a form on a sheet. Do names its action.
type form struct {
	Do, Button string
	// Style is "", second, plain or danger. Dangerous actions require confirmation.
	Style string
	// To is the URL that the form is submitted to, relative to the start page. If it is empty, the form is
	// submitted to the page itself.
	To     string
	Hidden []option
	Fields []field
	// Get is set if the form only selects what the page shows, and Files if it uploads files.
	Get, Files bool
	Title      string
}

// textValue returns a text as a value. The functions below return other kinds of values.
func textValue[S ~string](s S) value { return value{Text: string(s)} }

func tagValue[S ~string](s S) value { return value{Text: label(s), Tone: string(s)} }

func timeValue(t time.Time) value { return value{At: &t} }

func timeOrNeverValue(t *time.Time) value { return value{At: t} }

func linkValue(text, href string) value { return value{Text: text, Href: href} }

func countValue(n int) value { return value{Text: strconv.Itoa(n)} }

func onOffValue(on bool) value {
	if on {
		return value{Text: "On", Tone: "approved"}
	}
	return value{Text: "Off"}
}

// When returns the time of a value that has one.
func (x value) When() time.Time { return *x.At }

// IsSet reports whether there is anything to show.
func (x value) IsSet() bool { return x.Text != "" || x.At != nil || x.Parts != nil }

// HasActions reports whether the visitor may perform an action on any record of the section.
func (x *section) HasActions() bool {
	return slices.ContainsFunc(x.Rows, func(r line) bool { return len(r.Forms) > 0 })
}

// labeled returns the value as a fact with the given label.
func (x value) labeled(name string) value {
	x.Label = name
	return x
}

// IsLong reports whether a form has so many fields that they are laid out side by side.
func (f form) IsLong() bool { return len(f.Fields) > 7 && !f.Get }

// add appends a section.
func (s *sheet) add(x section) { s.Sections = append(s.Sections, x) }

// panel is a sheet together with the actions of its forms.
type panel struct {
	// path is the URL pattern, relative to the start page.
	path, title string
	// group lists the pages that are shown as tabs.
	group *[]link
	show  func(v *visit, s *sheet) error
	// actions are called with a form's fields, by the name of the form. What they add to the sheet is shown
	// once, above the page's content.
	actions map[string]func(v *visit, s *sheet) error
}

// savedNotice is the query parameter that makes the reloaded page confirm an action.
const savedNotice = "done"

// get shows the panel.
func (p *panel) get(v *visit) error {
	if v.r.URL.Query().Has(savedNotice) {
		v.notice = "Done."
	}
	return p.render(v, &sheet{})
}

// post performs the action of a form. Then it reloads the page, unless the action has something to show.
func (p *panel) post(v *visit) error {
	act := p.actions[v.field("do")]
	if act == nil {
		return api.Invalid("do", "the form was not sent from this page; go back, reload the page and try again")
	}
	s := &sheet{}
	if err := act(v, s); err != nil {
		return v.refuse(err, func() error { return p.render(v, &sheet{}) })
	}
	if v.sent {
		return nil
	}
	if len(s.Sections) > 0 || v.notice != "" {
		return p.render(v, s)
	}
	return v.redirect(strings.TrimPrefix(v.r.URL.Path, "/") + "?" + savedNotice)
}

// render shows the panel's content below anything that an action has put on the sheet.
func (p *panel) render(v *visit, s *sheet) error {
	title := p.title
	if err := p.show(v, s); err != nil {
		return err
	}
	if v.title != "" {
		title = v.title
	}
	if p.group != nil {
		for _, tab := range *p.group {
			if tab.Need != "" && !v.may(tab.Need) {
				continue
			}
			tab.Current = tab.Href == p.path
			s.Tabs = append(s.Tabs, tab)
		}
	}
	n := 0
	for i := range s.Sections {
		x := &s.Sections[i]
		x.Forms = v.prepareForms(x.Forms, &n)
		for j := range x.Rows {
			x.Rows[j].Forms = v.prepareForms(x.Rows[j].Forms, &n)
		}
	}
	v.tabs = s.Tabs
	return v.render("sheet.html", title, s)
}

// prepareForms gives each field a unique ID. It refills the fields of a rejected form with the visitor's input.
func (v *visit) prepareForms(forms []form, n *int) []form {
	for i := range forms {
		f := &forms[i]
		*n++
		again := v.complaint != "" && !f.Get && v.field("do") == f.Do && !slices.ContainsFunc(f.Hidden, func(h option) bool {
			return v.field(h.Value) != h.Label
		})
		for j := range f.Fields {
			x := &f.Fields[j]
			x.Prefix = "f" + strconv.Itoa(*n) + "-"
			if again && x.Kind != "password" {
				x.Entered, x.Changed = v.field(x.Name), true
			}
		}
	}
	return forms
}

// buttonForm returns a form that consists of a single button, for an action on a record.
func buttonForm(do, button, style, id string) form {
	return form{Do: do, Button: button, Style: style, Hidden: []option{{"id", id}}}
}

// textField returns a field for a line of text.
func textField(name, label string) field { return field{Name: name, Label: label, Kind: "line"} }

// required returns the field as one that must not be left empty.
func (f field) required() field {
	f.Required = true
	return f
}

// withHint returns the field with a hint that explains what to enter.
func (f field) withHint(hint string) field {
	f.Hint = hint
	return f
}

// withKind returns the field with another kind of input.
func (f field) withKind(kind string) field {
	f.Kind = kind
	return f
}

// withValue returns the field with a value.
func (f field) withValue(text string) field {
	f.Value = text
	return f
}

// choiceOrAny returns a select field whose first option is "any".
func choiceOrAny[S ~string](name, label string, given string, values ...S) field {
	f := choice(name, label, S(given), values)
	f.Options = slices.Insert(f.Options, 0, option{"", "Any"})
	return f
}

// listField returns the entries of a form field. Entries are separated by commas, spaces or line breaks.
func (v *visit) listField(name string) []string {
	return strings.FieldsFunc(v.field(name), func(r rune) bool { return r == ',' || r == ' ' || r == '\n' || r == '\t' })
}

// paging returns the part of a list that the URL selects.
func (v *visit) paging(limit int) api.Paging {
	return api.Paging{Limit: limit, Cursor: v.r.URL.Query().Get("after")}
}

// nextPageLinks returns a link to the next part of a list, or nil if there is none.
func (v *visit) nextPageLinks(p api.Pagination) []link {
	if p.NextCursor == nil {
		return nil
	}
	q := v.r.URL.Query()
	q.Set("after", *p.NextCursor)
	q.Del(savedNotice)
	return []link{{Text: "More", Href: strings.TrimPrefix(v.r.URL.Path, "/") + "?" + q.Encode()}}
}

// queryParam returns a query parameter of the URL, without surrounding white space.
func (v *visit) queryParam(name string) string { return strings.TrimSpace(v.r.URL.Query().Get(name)) }
