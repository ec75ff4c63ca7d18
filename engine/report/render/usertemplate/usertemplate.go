// Package usertemplate writes a report with a user's own template.
package usertemplate

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	htmltemplate "html/template"
	"io"
	"math"
	"strings"
	"text/template"
	syntax "text/template/parse"
	"time"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/render/markdown"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
)

// A custom template is a Go template that receives the JSON form of a report: html/template for a
// page, text/template for Markdown. It can't access files or the network, the data it prints is
// escaped, and it is stopped if it runs too long, prints too much or recurses too deeply. To
// enforce this, it is rewritten before it runs: each loop and each part starts with a node that
// counts steps.

// Limits on the execution of a user's template.
const (
	MaxTemplateBytes    = api.MaxLayoutBytes
	maxTemplateSteps    = 8_000_000
	maxTemplateOutput   = 32 << 20
	maxTemplateText     = 1 << 20 // maximum size of text built by a function
	maxTemplateDepth    = 100
	maxTemplateDuration = 20 * time.Second
)

// templateBudget tracks how much more work a template may do.
type templateBudget struct {
	ctx   context.Context
	steps int
	depth int
}

// templateLimitError is the error for a template that was stopped because it exceeded a limit.
type templateLimitError string

func (s templateLimitError) Error() string { return string(s) }

// templateStepCost is the fixed cost of a step. The cost of the work that the step does is added to it.
const templateStepCost = 4

// spendSteps counts steps of a template. It returns an error if there are too many steps or if the time is up.
func (b *templateBudget) spendSteps(n int) error {
	before := b.steps
	if b.steps += n + templateStepCost; b.steps > maxTemplateSteps {
		return templateLimitError(fmt.Sprintf("the template takes more than %d steps; check for a loop that runs too long", maxTemplateSteps))
	}
	if before>>12 != b.steps>>12 {
		if err := b.ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			return templateLimitError(fmt.Sprintf("the template runs longer than %v", maxTemplateDuration))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// functions returns the functions that templates may call. Built-in functions that build text are replaced with ones
// that limit the text's length. Functions that declare text as safe are not available.
func (b *templateBudget) functions() map[string]any {
	bounded := func(s string, err error) (string, error) {
		if err == nil && len(s) > maxTemplateText {
			err = fmt.Errorf("text longer than %s", wording.FormatByteSize(maxTemplateText))
		}
		return s, errors.Join(err, b.spendSteps(len(s)/16))
	}
	fits := func(args []any) error {
		n := 0
		for _, a := range args {
			switch a := a.(type) {
			case string:
				n += len(a)
			case nil, bool, int, float64:
			default:
				return errors.New("lists and records can't be printed; select a field, or use join or range")
			}
		}
		if n > maxTemplateText {
			return fmt.Errorf("text longer than %s", wording.FormatByteSize(maxTemplateText))
		}
		return b.spendSteps(n / 16)
	}
	unavailable := func(...any) (string, error) {
		return "", errors.New("remove this function; text is escaped automatically when it is printed")
	}
	return map[string]any{
		"print": func(args ...any) (string, error) {
			return printBounded(fits, bounded, args, func() string { return fmt.Sprint(args...) })
		},
		"println": func(args ...any) (string, error) {
			return printBounded(fits, bounded, args, func() string { return fmt.Sprintln(args...) })
		},
		"printf": func(format string, args ...any) (string, error) {
			if wideVerb.MatchString(format) {
				return "", errors.New("width and precision are limited to three digits")
			}
			return printBounded(fits, bounded, append(args, format), func() string { return fmt.Sprintf(format, args...) })
		},
		"html": unavailable, "js": unavailable, "urlquery": unavailable, "call": unavailable,
		"label": func(s string) string { return wording.Label(s[:min(len(s), maxTemplateText)]) },
		"join": func(list any, between string) (string, error) {
			all, ok := list.([]any)
			if !ok {
				return "", errors.New("join requires a list")
			}
			texts := make([]string, len(all))
			for i, x := range all {
				texts[i] = fmt.Sprint(x)
			}
			if err := fits(append(
				append([]any{}, all...),
				strings.Repeat(between[:min(len(between), 100)], min(len(all), maxTemplateText/100)),
			)); err != nil {
				return "", err
			}
			return bounded(strings.Join(texts, between), nil)
		},
		tickName:  func(n int) (bool, error) { return false, b.spendSteps(n) },
		enterName: func(n int) (bool, error) { b.depth++; return false, errors.Join(b.checkDepth(), b.spendSteps(n)) },
		leaveName: func() bool { b.depth--; return false },
		mdName: func(v any) (string, error) {
			if err := fits([]any{v}); err != nil {
				return "", err
			}
			return markdown.Escape(fmt.Sprint(v)), nil
		},
	}
}

// wideVerb matches format verbs that are rejected because they could produce text of any length.
var wideVerb = lazyregexp.New(`%[^a-zA-Z%]*([0-9]{4}|\*)`)

func printBounded(
	checkArgs func([]any) error,
	checkResult func(string, error) (string, error),
	args []any,
	write func() string,
) (string, error) {
	if err := checkArgs(args); err != nil {
		return "", err
	}
	return checkResult(write(), nil)
}

func (b *templateBudget) checkDepth() error {
	if b.depth > maxTemplateDepth {
		return templateLimitError(fmt.Sprintf("the template calls are nested more than %d levels deep", maxTemplateDepth))
	}
	return nil
}

// Names of internal functions, chosen so that templates don't use them by accident.
const (
	tickName  = "countedStep"
	enterName = "countedPart"
	leaveName = "countedEnd"
	mdName    = "markdownText"
)

// newCallNode returns a template node that calls one of the budget's functions and produces no output.
func newCallNode(call string) (syntax.Node, error) {
	t, err := template.New("n").Funcs((&templateBudget{}).functions()).Parse("{{if " + call + "}}{{end}}")
	if err != nil {
		return nil, err
	}
	return t.Root.Nodes[0], nil
}

// instrumentTemplate changes a part of a template so that it counts its steps when executed. If
// escapeMarkdown is set, the part's output is also escaped for Markdown.
func instrumentTemplate(root *syntax.ListNode, escapeMarkdown bool) error {
	if root == nil {
		return nil
	}
	if err := instrumentList(root, escapeMarkdown); err != nil {
		return err
	}
	enter, err := newCallNode(fmt.Sprintf("%s %d", enterName, estimateSteps(root)))
	if err != nil {
		return err
	}
	leave, err := newCallNode(leaveName)
	root.Nodes = append(append([]syntax.Node{enter}, root.Nodes...), leave)
	return err
}

func instrumentList(l *syntax.ListNode, escapeMarkdown bool) error {
	if l == nil {
		return nil
	}
	var err error
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *syntax.ActionNode:
			if escapeMarkdown && len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(
					n.Pipe.Cmds,
					&syntax.CommandNode{NodeType: syntax.NodeCommand, Pos: n.Pos, Args: []syntax.Node{syntax.NewIdentifier(mdName).SetPos(n.Pos)}},
				)
			}
		case *syntax.IfNode:
			err = errors.Join(err, instrumentList(n.List, escapeMarkdown), instrumentList(n.ElseList, escapeMarkdown))
		case *syntax.WithNode:
			err = errors.Join(err, instrumentList(n.List, escapeMarkdown), instrumentList(n.ElseList, escapeMarkdown))
		case *syntax.RangeNode:
			err = errors.Join(err, instrumentList(n.List, escapeMarkdown), instrumentList(n.ElseList, escapeMarkdown))
			tick, e := newCallNode(fmt.Sprintf("%s %d", tickName, estimateSteps(n.List)))
			if err = errors.Join(err, e); e == nil {
				n.List.Nodes = append([]syntax.Node{tick}, n.List.Nodes...)
			}
		}
	}
	return err
}

// estimateSteps returns approximately how many steps it takes to execute a list of nodes, counting the body
// of each loop once.
func estimateSteps(l *syntax.ListNode) int {
	if l == nil {
		return 0
	}
	return len(l.String())/8 + 1
}

// CheckSyntax returns an error if a template can't be parsed. The error contains the line number.
func CheckSyntax(source, format string) error {
	_, err := parseTemplate(&templateBudget{}, source, format)
	return err
}

type customTemplate interface {
	Execute(w io.Writer, data any) error
}

func parseTemplate(b *templateBudget, source, format string) (customTemplate, error) {
	toAPIError := func(err error) error {
		return api.Invalid(
			"layout",
			"the template is invalid: %s",
			strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), "html/template:"),
		)
	}
	if len(source) > MaxTemplateBytes || !utf8.ValidString(source) {
		return nil, api.Invalid(
			"layout",
			"the template has %s; it must be UTF-8 text of at most %s",
			wording.FormatByteSize(int64(len(source))),
			wording.FormatByteSize(MaxTemplateBytes),
		)
	}
	for _, name := range []string{tickName, enterName, leaveName, mdName} {
		if strings.Contains(source, name) {
			return nil, api.Invalid("layout", "the template uses the reserved name %s", name)
		}
	}
	switch format {
	case "html":
		t, err := htmltemplate.New("template").Option("missingkey=error").Funcs(b.functions()).Parse(source)
		if err != nil {
			return nil, toAPIError(err)
		}
		for _, part := range t.Templates() {
			if part.Tree != nil {
				if err := instrumentTemplate(part.Tree.Root, false); err != nil {
					return nil, toAPIError(err)
				}
			}
		}
		return t, nil
	case "md":
		t, err := template.New("template").Option("missingkey=error").Funcs(b.functions()).Parse(source)
		if err != nil {
			return nil, toAPIError(err)
		}
		for _, part := range t.Templates() {
			if part.Tree != nil {
				if err := instrumentTemplate(part.Tree.Root, true); err != nil {
					return nil, toAPIError(err)
				}
			}
		}
		return t, nil
	}
	return nil, api.Invalid("format", "custom templates support the formats html and md, not %q", format)
}

// Write executes a user's template and writes the result. The template's data is the JSON form of report.
func Write(ctx context.Context, w io.Writer, report any, source, format string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTemplateDuration)
	defer cancel()
	b := &templateBudget{ctx: ctx}
	t, err := parseTemplate(b, source, format)
	if err != nil {
		return err
	}
	raw, err := json.Marshal(report)
	if err != nil {
		return err
	}
	data, err := decodeJSONWithInts(raw)
	if err != nil {
		return err
	}
	out := &limitedWriter{w: w, left: maxTemplateOutput}
	err = t.Execute(out, data)
	switch {
	case err == nil || out.failed != nil: // an error of the writer is not the template's fault
		return errors.Join(out.failed, nil)
	case errors.Is(err, context.Canceled):
		return err
	}
	if why := templateLimitError(""); errors.As(err, &why) {
		return api.Invalid("layout", "the processing of the template was stopped: %s", string(why))
	}
	return api.Invalid(
		"layout",
		"the template failed: %s",
		strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), "html/template:"),
	)
}

// decodeJSONWithInts decodes JSON for templates. It turns whole numbers into ints, so that templates can
// compare them.
func decodeJSONWithInts(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	var data any
	if err := d.Decode(&data); err != nil {
		return nil, err
	}
	var convert func(v any) any
	convert = func(v any) any {
		switch v := v.(type) {
		case float64:
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				return int(v)
			}
		case []any:
			for i := range v {
				v[i] = convert(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = convert(v[k])
			}
		}
		return v
	}
	return convert(data), nil
}

// limitedWriter is an io.Writer that fails, and so stops a template, once too much has been written.
type limitedWriter struct {
	w      io.Writer
	left   int
	failed error
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, templateLimitError("its output exceeds " + wording.FormatByteSize(maxTemplateOutput))
	}
	n, err := l.w.Write(p)
	if err != nil {
		l.failed = err
	}
	return n, err
}
