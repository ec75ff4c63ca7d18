package mail

import (
	"embed"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	texttemplate "text/template"
	"text/template/parse"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// variable is a template variable. Previews use the example as its value. If it is optional, its default is "".
type variable struct {
	name, example string
	optional      bool
}

// templateType is a kind of email, with the variables that its template may use.
type templateType struct {
	id        string
	variables []variable
}

var (
	organization = variable{name: "organization", example: "Acme", optional: true} // set automatically if omitted
	link         = variable{name: "link", example: "https://grc.acme.example/approval#018f2b6c", optional: true}
	assessment   = variable{name: "assessment", example: "Acme 2026"}
	deliverable  = variable{name: "deliverable", example: "Statement of Applicability"}
	version      = variable{name: "version", example: "3"}
	role         = variable{name: "role", example: "member"}
	command      = variable{name: "command", example: "service approval show 018f2b6c", optional: true}
)

// templateTypes lists the templates that organizations can edit, in the order of the API specification.
var templateTypes = []templateType{
	{"welcome", []variable{organization, link, role, {name: "name", example: "Ada"}}},
	{
		"member_invite",
		[]variable{organization, link, role, {name: "inviter", example: "Ada"}, {name: "expires", example: "29 November 2026, 10:00 UTC"}},
	},
	{"approval_request", []variable{organization, link, command, assessment, deliverable, version, {name: "requested_by", example: "Ben"}}},
	{"approval_decided", []variable{
		organization, link, command, assessment, deliverable, version,
		{name: "verdict", example: "rejected"},
		{name: "decided_by", example: "Ada"},
		{name: "reason", example: "Two controls lack an owner.", optional: true},
	}},
	{
		"state_change",
		[]variable{
			organization,
			link,
			assessment,
			{name: "from", example: "soa_under_review"},
			{name: "to", example: "soa_approved"},
			{name: "changed_by", example: "Ada"},
		},
	},
	{
		"report_ready",
		[]variable{organization, link, assessment, {name: "report", example: "Full report"}, {name: "format", example: "PDF"}},
	},
	{"security_alert", []variable{
		organization, link,
		{name: "title", example: "Open critical gaps"},
		{name: "detail", example: "organization_open_findings{severity=critical} has been more than 0 for 5m0s; the current value is 3."},
		{name: "time", example: "22 November 2026, 10:00 UTC"},
	}},
}

// digestTemplate is the template of the digest, which is sent automatically each day. It can't be
// edited.
var digestTemplate = templateType{"digest", []variable{
	organization, link,
	{name: "count", example: "2"},
	{name: "items", example: "POAM-001  Acme 2026  due 2026-11-01\nPOAM-002  Acme 2026  due 2026-11-15"},
	{name: "unsubscribe", example: "https://grc.acme.example/unsubscribe?token=…", optional: true},
}}

// mentionTemplate is the template of the email that informs members about a comment mentioning them. It can't be
// edited.
var mentionTemplate = templateType{"mention", []variable{
	organization, link, assessment,
	{name: "author", example: "Ben"},
	{name: "place", example: "IAC-06 in the Statement of Applicability"},
	{name: "text", example: "@ada@acme.example Which log shows this?"},
}}

// fixedTemplates are the templates that can't be edited, by ID.
var fixedTemplates = map[string]templateType{digestTemplate.id: digestTemplate, mentionTemplate.id: mentionTemplate}

func findTemplateType(id string) (templateType, error) {
	var known []string
	for _, k := range templateTypes {
		if k.id == id {
			return k, nil
		}
		known = append(known, k.id)
	}
	e := api.NotFound("mail template", id)
	if near := scf.Suggest(id, known); len(near) > 0 {
		e.Message += "; did you mean " + near[0] + "?"
	}
	e.Message += " Available: " + strings.Join(known, ", ")
	return templateType{}, e
}

func (k templateType) variableNames() []string {
	out := make([]string, len(k.variables))
	for i, v := range k.variables {
		out[i] = v.name
	}
	slices.Sort(out)
	return out
}

func (k templateType) exampleValues() map[string]string {
	out := map[string]string{}
	for _, v := range k.variables {
		out[v.name] = v.example
	}
	return out
}

// unknownVariableMessage returns a message that says that a variable is unknown, suggests a similar one if there is
// any, and lists the available ones.
func (k templateType) unknownVariableMessage(name string) string {
	message := fmt.Sprintf("%s has no variable %q", k.id, name)
	if near := scf.Suggest(name, k.variableNames()); len(near) > 0 {
		message += "; did you mean " + near[0] + "?"
	}
	return message + " Available: " + strings.Join(k.variableNames(), ", ")
}

const (
	maxValue    = 10_000 // characters in a variable
	maxRendered = 1 << 20
	maxParts    = 2_000 // variables and conditions in a template
	maxDepth    = 10    // nested conditions
	maxSubject  = 300   // characters in a subject
)

// resolveValues returns the values of the template's variables as strings. It returns an error if a variable is
// unknown. A missing variable is an error, too, unless it is optional or useExamples is set.
func (k templateType) resolveValues(given map[string]any, useExamples bool) (map[string]string, error) {
	out := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		if !slices.ContainsFunc(k.variables, func(v variable) bool { return v.name == name }) {
			return nil, api.Invalid("variables", "%s", k.unknownVariableMessage(name))
		}
		text, err := formatVariable(given[name])
		if err != nil {
			return nil, api.Invalid("variables."+name, "%s", err)
		}
		out[name] = text
	}
	for _, v := range k.variables {
		if _, found := out[v.name]; found {
			continue
		}
		switch {
		case useExamples:
			out[v.name] = v.example
		case v.optional:
			out[v.name] = ""
		default:
			return nil, api.Invalid("variables."+v.name, "%s needs the variable %s, for example %q", k.id, v.name, v.example)
		}
	}
	return out, nil
}

func formatVariable(v any) (string, error) {
	var s string
	switch v := v.(type) {
	case string:
		s = v
	case float64:
		s = strconv.FormatFloat(v, 'f', -1, 64)
	case bool:
		s = strconv.FormatBool(v)
	case nil:
	default:
		return "", errors.New("a variable must be a string, a number, true or false, not a list or an object")
	}
	if utf8.RuneCountInString(s) > maxValue {
		return "", fmt.Errorf("exceeds %d characters", maxValue)
	}
	return s, nil
}

// templateText is the text of an email before variables are filled in.
type templateText struct{ subject, text, html string }

//go:embed words
var builtInFiles embed.FS

// builtInTemplateText returns a template's built-in text. Its file contains the subject, an empty line and
// the text; the HTML is in a separate file.
func builtInTemplateText(id string) templateText {
	text, err := builtInFiles.ReadFile("words/" + id + ".txt")
	if err != nil {
		panic("mail: " + err.Error()) // embedded, so it always exists
	}
	html, err := builtInFiles.ReadFile("words/" + id + ".html")
	if err != nil {
		panic("mail: " + err.Error())
	}
	subject, body, _ := strings.Cut(string(text), "\n\n")
	return templateText{subject: subject, text: body, html: string(html)}
}

// mailContent is a rendered email.
type mailContent struct {
	Subject string `json:"subject"`
	Text    string `json:"text"`
	HTML    string `json:"html,omitempty"`
}

// compiledTemplate is a parsed and validated template.
type compiledTemplate struct {
	kind                templateType
	subject, text, html *parse.Tree
}

// compile parses a template that may contain only {{variable}} and {{if variable}} … {{else}} … {{end}}. Because a
// template can't contain loops, the size of the output is limited by the size of the input.
func (k templateType) compile(w templateText) (*compiledTemplate, error) {
	c := &compiledTemplate{kind: k}
	for _, part := range []struct {
		field, text string
		to          **parse.Tree
	}{{"subject", w.subject, &c.subject}, {"text", w.text, &c.text}, {"html", w.html, &c.html}} {
		tree, err := k.parseAndValidate(part.field, part.text)
		if err != nil {
			return nil, err
		}
		*part.to = tree
	}
	if strings.ContainsFunc(w.subject, unicode.IsControl) {
		return nil, api.Invalid("subject", "a subject must be one line")
	}
	if activeHTML.MatchString(w.html) {
		return nil, api.Invalid(
			"html",
			"email clients don't support scripts, frames or forms; remove <script>, <iframe>, <object>, <embed> and <form>",
		)
	}
	// Rendering it with and without the optional variables finds errors that parsing misses.
	full, bare := k.exampleValues(), k.exampleValues()
	for _, v := range k.variables {
		if v.optional {
			bare[v.name] = ""
		}
	}
	for _, values := range []map[string]string{full, bare} {
		if _, err := c.render(values); err != nil {
			return nil, err
		}
	}
	return c, nil
}

var activeHTML = lazyregexp.New(`(?i)<\s*(script|iframe|object|embed|form)\b`)

func (k templateType) parseAndValidate(field, text string) (*parse.Tree, error) {
	if !utf8.ValidString(text) || strings.ContainsRune(text, 0) {
		return nil, api.Invalid(field, "the text is not valid UTF-8")
	}
	tree, all := parse.New(field), map[string]*parse.Tree{}
	tree.Mode = parse.SkipFuncCheck
	tree, err := tree.Parse(text, "", "", all)
	if err != nil {
		return nil, api.Invalid(field, "%s", formatTemplateError(err))
	}
	l := templateValidator{templateType: k, tree: tree}
	if tree.Root != nil {
		l.checkNodes(tree.Root, 0)
	}
	for _, other := range all {
		if other != tree && l.err == nil {
			l.err = fmt.Errorf("define and block are not supported in email templates; write the text where it is needed")
		}
	}
	if l.err != nil {
		return nil, api.Invalid(field, "%s", l.err)
	}
	return tree, nil
}

var templateErrorPrefix = lazyregexp.New(`^(?:html/)?template: ?[a-z_]+:(\d+)(?::\d+)?: `)

// formatTemplateError returns the message of a template error with the line number, but without the
// library's prefix.
func formatTemplateError(err error) string {
	s := templateErrorPrefix.ReplaceAllString(err.Error(), "line $1: ")
	if len(s) > 300 {
		s = strings.ToValidUTF8(s[:300], "") + "…"
	}
	return s
}

// templateValidator walks a template and rejects syntax that email templates don't support.
type templateValidator struct {
	templateType templateType
	tree         *parse.Tree
	parts        int
	err          error
}

func (l *templateValidator) recordError(n parse.Node, format string, args ...any) {
	if l.err != nil {
		return
	}
	where, _ := l.tree.ErrorContext(n)
	line := ""
	if parts := strings.Split(where, ":"); len(parts) > 1 {
		line = "line " + parts[1] + ": "
	}
	l.err = errors.New(line + fmt.Sprintf(format, args...))
}

func (l *templateValidator) checkNodes(all *parse.ListNode, depth int) {
	if all == nil || l.err != nil {
		return
	}
	for _, n := range all.Nodes {
		if l.parts++; l.parts > 2*maxParts {
			l.recordError(n, "more than %d variables and conditions", maxParts)
		}
		switch n := n.(type) {
		case *parse.TextNode, *parse.CommentNode:
		case *parse.ActionNode:
			l.checkVariable(n, n.Pipe)
		case *parse.IfNode:
			if depth == maxDepth {
				l.recordError(n, "conditions are nested more than %d levels deep", maxDepth)
				return
			}
			l.checkVariable(n, n.Pipe)
			l.checkNodes(n.List, depth+1)
			l.checkNodes(n.ElseList, depth+1)
		case *parse.RangeNode, *parse.BreakNode, *parse.ContinueNode:
			l.recordError(n, "loops are not supported in email templates; list variables already contain one line per entry")
		default:
			l.recordError(n, "only {{variable}} and {{if variable}} … {{else}} … {{end}} are supported")
		}
	}
}

// checkVariable returns an error unless the pipeline is just the name of a variable.
func (l *templateValidator) checkVariable(n parse.Node, p *parse.PipeNode) {
	if len(p.Decl) == 0 && len(p.Cmds) == 1 && len(p.Cmds[0].Args) == 1 {
		switch arg := p.Cmds[0].Args[0].(type) {
		case *parse.IdentifierNode:
			if !slices.Contains(l.templateType.variableNames(), arg.Ident) {
				l.recordError(n, "%s", l.templateType.unknownVariableMessage(arg.Ident))
			}
			return
		case *parse.FieldNode:
			l.recordError(n, "write {{%s}}, without a dot before the name", strings.Join(arg.Ident, "_"))
			return
		}
	}
	l.recordError(n, "%q is not a plain variable name; only {{variable}} and {{if variable}} … {{else}} … {{end}} are supported", p.String())
}

// render renders the email. Values are escaped in HTML according to their context.
func (c *compiledTemplate) render(values map[string]string) (*mailContent, error) {
	functions := map[string]any{}
	for _, v := range c.kind.variables {
		value := stripControls(values[v.name])
		functions[v.name] = func() string { return value }
	}
	out := &mailContent{}
	for _, part := range []struct {
		field string
		tree  *parse.Tree
		to    *string
	}{{"subject", c.subject, &out.Subject}, {"text", c.text, &out.Text}} {
		t, err := texttemplate.New(part.field).Funcs(functions).AddParseTree(part.field, part.tree.Copy())
		if err != nil {
			return nil, api.Invalid(part.field, "%s", formatTemplateError(err))
		}
		if *part.to, err = executeTemplate(part.field, t.Execute); err != nil {
			return nil, err
		}
	}
	out.Subject = toSubjectLine(out.Subject)
	if parse.IsEmptyTree(c.html.Root) {
		return out, nil // text only
	}
	t, err := htmltemplate.New("html").Funcs(functions).AddParseTree("html", c.html.Copy())
	if err != nil {
		return nil, api.Invalid("html", "%s", formatTemplateError(err))
	}
	if out.HTML, err = executeTemplate("html", t.Execute); err != nil {
		return nil, err
	}
	return out, nil
}

func executeTemplate(field string, execute func(io.Writer, any) error) (string, error) {
	w := &limitedBuilder{}
	if err := execute(w, nil); err != nil {
		if errors.Is(err, errTooLong) {
			return "", api.Invalid(field, "%s", errTooLong)
		}
		return "", api.Invalid(field, "%s", formatTemplateError(err))
	}
	return w.String(), nil
}

// limitedBuilder is a strings.Builder whose writes fail beyond the maximum length of an email.
type limitedBuilder struct{ strings.Builder }

var errTooLong = fmt.Errorf("the rendered email exceeds %d KiB", maxRendered>>10)

// Write returns an error instead of exceeding the maximum length of an email.
func (b *limitedBuilder) Write(p []byte) (int, error) {
	if b.Len()+len(p) > maxRendered {
		return 0, errTooLong
	}
	return b.Builder.Write(p)
}

// stripControls removes characters that control terminals and mail clients.
func stripControls(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || r == '\t' || unicode.IsPrint(r) || unicode.Is(unicode.Cf, r) && !isBidiControl(r) {
			return r
		}
		return -1
	}, strings.ReplaceAll(strings.ToValidUTF8(s, "\uFFFD"), "\r\n", "\n"))
}

// isBidiControl reports whether a character changes the text direction.
func isBidiControl(r rune) bool { return r >= 0x202A && r <= 0x202E || r >= 0x2066 && r <= 0x2069 }

// toSubjectLine converts a text to a single line for use as a subject.
func toSubjectLine(s string) string {
	s = strings.Join(strings.Fields(stripControls(s)), " ")
	if utf8.RuneCountInString(s) > maxSubject {
		s = string([]rune(s)[:maxSubject-1]) + "…"
	}
	return s
}
