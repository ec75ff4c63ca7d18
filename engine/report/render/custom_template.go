package render

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
	"github.com/scf-service/service/internal/lazyregexp"
)

// A template of a user's own is a Go template that is given the JSON form of a report:
// html/template for a page, text/template for Markdown. It can call nothing that reaches a
// file or a network, what it prints of the data is escaped, and it is stopped when it
// takes too long, prints too much or calls itself too deep. To be stopped it is rewritten
// before it runs: each loop and each part begins with a node that counts.

// The bounds of a template.
const (
	MaxTemplateBytes    = api.MaxOwnTemplate
	maxTemplateSteps    = 8_000_000
	maxTemplateOutput   = 32 << 20
	maxTemplateText     = 1 << 20 // of a text that is put together
	maxTemplateDepth    = 100
	maxTemplateDuration = 20 * time.Second
)

// templateBudget is what a template may still spend.
type templateBudget struct {
	ctx   context.Context
	steps int
	depth int
}

// templateLimitError is why a template was stopped; where in it is of no use.
type templateLimitError string

func (s templateLimitError) Error() string { return string(s) }

// templateStepCost is what a step costs beside what it does.
const templateStepCost = 4

func (b *templateBudget) spend(n int) error {
	before := b.steps
	if b.steps += n + templateStepCost; b.steps > maxTemplateSteps {
		return templateLimitError(fmt.Sprintf("it does not end within %d steps; look for a loop that goes on too long", maxTemplateSteps))
	}
	if before>>12 != b.steps>>12 {
		if err := b.ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			return templateLimitError(fmt.Sprintf("it takes more than %v", maxTemplateDuration))
		} else if err != nil {
			return err
		}
	}
	return nil
}

// The functions of a template. Those of the language that put texts together are bounded,
// those that mark a text as safe are gone.
func (b *templateBudget) functions() map[string]any {
	bounded := func(s string, err error) (string, error) {
		if err == nil && len(s) > maxTemplateText {
			err = fmt.Errorf("a text of more than %s", formatSize(maxTemplateText))
		}
		return s, errors.Join(err, b.spend(len(s)/16))
	}
	fits := func(args []any) error {
		n := 0
		for _, a := range args {
			switch a := a.(type) {
			case string:
				n += len(a)
			case nil, bool, int, float64:
			default:
				return errors.New("lists and records can't be printed; name a field, or use join or range")
			}
		}
		if n > maxTemplateText {
			return fmt.Errorf("a text of more than %s", formatSize(maxTemplateText))
		}
		return b.spend(n / 16)
	}
	gone := func(...any) (string, error) {
		return "", errors.New("texts are escaped where they are printed; leave this function out")
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
				return "", errors.New("a width or precision has at most three digits")
			}
			return printBounded(fits, bounded, append(args, format), func() string { return fmt.Sprintf(format, args...) })
		},
		"html": gone, "js": gone, "urlquery": gone, "call": gone,
		"label": func(s string) string { return displayLabel(s[:min(len(s), maxTemplateText)]) },
		"join": func(list any, between string) (string, error) {
			all, ok := list.([]any)
			if !ok {
				return "", errors.New("join wants a list")
			}
			texts := make([]string, len(all))
			for i, x := range all {
				texts[i] = fmt.Sprint(x)
			}
			if err := fits(append(append([]any{}, all...), strings.Repeat(between[:min(len(between), 100)], min(len(all), maxTemplateText/100)))); err != nil {
				return "", err
			}
			return bounded(strings.Join(texts, between), nil)
		},
		tickName:  func(n int) (bool, error) { return false, b.spend(n) },
		enterName: func(n int) (bool, error) { b.depth++; return false, errors.Join(b.checkDepth(), b.spend(n)) },
		leaveName: func() bool { b.depth--; return false },
		mdName: func(v any) (string, error) {
			if err := fits([]any{v}); err != nil {
				return "", err
			}
			return escapeMarkdown(fmt.Sprint(v)), nil
		},
	}
}

// wideVerb is a verb that could make a text of any length.
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
		return templateLimitError(fmt.Sprintf("its parts call each other more than %d deep", maxTemplateDepth))
	}
	return nil
}

// Names that a template can't write by chance.
const (
	tickName  = "countedStep"
	enterName = "countedPart"
	leaveName = "countedEnd"
	mdName    = "markdownText"
)

// newCounterNode is a node without output that calls a function of the budget.
func newCounterNode(call string) (syntax.Node, error) {
	t, err := template.New("n").Funcs((&templateBudget{}).functions()).Parse("{{if " + call + "}}{{end}}")
	if err != nil {
		return nil, err
	}
	return t.Root.Nodes[0], nil
}

// guardTemplate rewrites a part so that it counts; with md, what it prints is escaped for Markdown.
func guardTemplate(root *syntax.ListNode, markdown bool) error {
	if root == nil {
		return nil
	}
	if err := guardList(root, markdown); err != nil {
		return err
	}
	enter, err := newCounterNode(fmt.Sprintf("%s %d", enterName, estimateSteps(root)))
	if err != nil {
		return err
	}
	leave, err := newCounterNode(leaveName)
	root.Nodes = append(append([]syntax.Node{enter}, root.Nodes...), leave)
	return err
}

func guardList(l *syntax.ListNode, markdown bool) error {
	if l == nil {
		return nil
	}
	var err error
	for _, n := range l.Nodes {
		switch n := n.(type) {
		case *syntax.ActionNode:
			if markdown && len(n.Pipe.Decl) == 0 {
				n.Pipe.Cmds = append(n.Pipe.Cmds, &syntax.CommandNode{NodeType: syntax.NodeCommand, Pos: n.Pos, Args: []syntax.Node{syntax.NewIdentifier(mdName).SetPos(n.Pos)}})
			}
		case *syntax.IfNode:
			err = errors.Join(err, guardList(n.List, markdown), guardList(n.ElseList, markdown))
		case *syntax.WithNode:
			err = errors.Join(err, guardList(n.List, markdown), guardList(n.ElseList, markdown))
		case *syntax.RangeNode:
			err = errors.Join(err, guardList(n.List, markdown), guardList(n.ElseList, markdown))
			tick, e := newCounterNode(fmt.Sprintf("%s %d", tickName, estimateSteps(n.List)))
			if err = errors.Join(err, e); e == nil {
				n.List.Nodes = append([]syntax.Node{tick}, n.List.Nodes...)
			}
		}
	}
	return err
}

// estimateSteps is about how much a list has to do, loops in it once.
func estimateSteps(l *syntax.ListNode) int {
	if l == nil {
		return 0
	}
	return len(l.String())/8 + 1
}

// CheckTemplate tells whether a template can be read; its errors name the line.
func CheckTemplate(source, format string) error {
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
			"the template can't be used: %s",
			strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), "html/template:"),
		)
	}
	if len(source) > MaxTemplateBytes || !utf8.ValidString(source) {
		return nil, api.Invalid(
			"layout",
			"the template has %s; at most %s of UTF-8 text are taken",
			formatSize(int64(len(source))),
			formatSize(MaxTemplateBytes),
		)
	}
	for _, name := range []string{tickName, enterName, leaveName, mdName} {
		if strings.Contains(source, name) {
			return nil, api.Invalid("layout", "the template names %s, which is the program's own", name)
		}
	}
	switch format {
	case FormatHTML:
		t, err := htmltemplate.New("template").Option("missingkey=error").Funcs(b.functions()).Parse(source)
		if err != nil {
			return nil, toAPIError(err)
		}
		for _, part := range t.Templates() {
			if part.Tree != nil {
				if err := guardTemplate(part.Tree.Root, false); err != nil {
					return nil, toAPIError(err)
				}
			}
		}
		return t, nil
	case FormatMarkdown:
		t, err := template.New("template").Option("missingkey=error").Funcs(b.functions()).Parse(source)
		if err != nil {
			return nil, toAPIError(err)
		}
		for _, part := range t.Templates() {
			if part.Tree != nil {
				if err := guardTemplate(part.Tree.Root, true); err != nil {
					return nil, toAPIError(err)
				}
			}
		}
		return t, nil
	}
	return nil, api.Invalid("format", "a template of your own writes %s or %s, not %q", FormatHTML, FormatMarkdown, format)
}

// writeCustom writes a report by a template of a user's own.
func writeCustom(ctx context.Context, w io.Writer, v *reportData, source, format string) error {
	ctx, cancel := context.WithTimeout(ctx, maxTemplateDuration)
	defer cancel()
	b := &templateBudget{ctx: ctx}
	t, err := parseTemplate(b, source, format)
	if err != nil {
		return err
	}
	var buf bytes.Buffer
	if err := writeJSON(&buf, v); err != nil {
		return err
	}
	data, err := decodeTemplateData(buf.Bytes())
	if err != nil {
		return err
	}
	out := &limitedWriter{w: w, left: maxTemplateOutput}
	err = t.Execute(out, data)
	switch {
	case err == nil || out.failed != nil: // the writer's own trouble is no fault of the template
		return errors.Join(out.failed, nil)
	case errors.Is(err, context.Canceled):
		return err
	}
	if why := templateLimitError(""); errors.As(err, &why) {
		return api.Invalid("layout", "the template was stopped: %s", string(why))
	}
	return api.Invalid(
		"layout",
		"the template failed: %s",
		strings.TrimPrefix(strings.TrimPrefix(err.Error(), "template: "), "html/template:"),
	)
}

// decodeTemplateData is the JSON form as a template sees it: whole numbers are such, so that they can be compared.
func decodeTemplateData(raw []byte) (any, error) {
	d := json.NewDecoder(bytes.NewReader(raw))
	var data any
	if err := d.Decode(&data); err != nil {
		return nil, err
	}
	var whole func(v any) any
	whole = func(v any) any {
		switch v := v.(type) {
		case float64:
			if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
				return int(v)
			}
		case []any:
			for i := range v {
				v[i] = whole(v[i])
			}
		case map[string]any:
			for k := range v {
				v[k] = whole(v[k])
			}
		}
		return v
	}
	return whole(data), nil
}

// limitedWriter stops a template that prints too much.
type limitedWriter struct {
	w      io.Writer
	left   int
	failed error
}

func (l *limitedWriter) Write(p []byte) (int, error) {
	if l.left -= len(p); l.left < 0 {
		return 0, templateLimitError("it prints more than " + formatSize(maxTemplateOutput))
	}
	n, err := l.w.Write(p)
	if err != nil {
		l.failed = err
	}
	return n, err
}
