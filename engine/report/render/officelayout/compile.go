package officelayout

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// Problem is something in a layout that its author should know: an error, with which the layout can't be used, or
// a warning.
type Problem struct {
	// Part is the file within the layout, and Place where in it, such as "header 1, table 2, row 3, column 1".
	Part, Place string
	// Tag is the placeholder at fault, with its braces, or another excerpt of the layout.
	Tag string
	// Message says what is wrong and Suggestion what to write instead; it may be empty.
	Message, Suggestion string
	Warning             bool
}

// Limits of what a layout's placeholders can cost: far more than layouts have, and as much as a person reads.
const (
	maxTags     = 20_000 // in a layout
	maxProblems = 200    // errors, and as many warnings
)

// compiler turns the parts of a layout into programs and collects its problems.
type compiler struct {
	schema   *schema
	scopes   []scopeType
	part     *part
	problems []Problem
	// reported counts the problems by whether they are warnings, so that many warnings don't hide an error.
	reported map[bool]int
	// extracted counts the placeholders that were found, and tags those that were compiled; uses notes the names of the
	// report's fields that they use.
	extracted, tags int
	uses            map[string]bool
	// optional counts the optional ops around the current place.
	optional int
	// slide is the tag that repeats or omits the slide that is compiled.
	slide *node
}

func (l *compiler) add(n *node, tagText, message, suggestion string, warning bool) {
	if l.reported[warning] == maxProblems {
		return
	}
	place := l.part.title
	if n != nil {
		place = joinPlace(place, placeOf(n))
	}
	p := Problem{Part: l.part.name, Place: place, Tag: tagText, Message: message, Suggestion: suggestion, Warning: warning}
	if !slices.Contains(l.problems, p) { // a text box is in the file twice, for old versions of Word
		l.problems = append(l.problems, p)
		l.reported[warning]++
	}
}

// report adds an error. source is a placeholder without its braces, or the beginning of one with them.
func (l *compiler) report(n *node, source, message, suggestion string) {
	if source != "" && !strings.HasPrefix(source, "{") {
		source = "{{" + source + "}}"
	}
	l.add(n, source, message, suggestion, false)
}

func (l *compiler) warn(n *node, excerpt, message, suggestion string) {
	l.add(n, excerpt, message, suggestion, true)
}

// where names the place of a node for use within a sentence.
func (l *compiler) where(n *node) string { return joinPlace(l.part.title, placeOf(n)) }

// compileTree compiles a part from which the placeholders have been extracted.
func (l *compiler) compileTree(root *node) []op {
	l.buildBlocks(root)
	var out program
	l.children(&out, root)
	return out.ops()
}

// program collects ops, and joins XML that is written in one piece.
type program struct {
	done []op
	xml  strings.Builder
}

func (p *program) add(o op) {
	if s, ok := o.(raw); ok {
		p.xml.WriteString(string(s))
		return
	}
	p.done = append(p.ops(), o)
}

// ops returns what was collected so far.
func (p *program) ops() []op {
	if p.xml.Len() > 0 {
		p.done = append(p.done, raw(p.xml.String()))
		p.xml.Reset()
	}
	return p.done
}

func (l *compiler) children(out *program, n *node) {
	for _, c := range n.children {
		l.node(out, c)
	}
}

func (l *compiler) node(out *program, n *node) {
	switch {
	case n.raw:
		out.add(raw(n.text))
	case n.block != nil:
		l.block(out, n)
	case n.tag != nil:
		l.tag(out, n)
	case n.isText():
		l.text(out, n)
	default:
		l.element(out, n)
	}
}

func (l *compiler) text(out *program, n *node) {
	switch {
	case l.optional > 0 && n.parent.is("w:t", "a:t"):
		out.add(literalText(n.text))
	case n.start != "":
		out.add(raw(n.start))
	default:
		out.add(raw(escaped(n.text)))
	}
}

// element compiles an element with everything below it.
func (l *compiler) element(out *program, n *node) {
	if l.optional > 0 && n.is("w:drawing", "w:pict", "w:object", "w:fldChar", "w:fldSimple", "w:br", "w:sym", "a:fld", "m:oMath", "w:sectPr") {
		out.add(visible{})
	}
	switch {
	case n.is("w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd") && n.end == "":
		out.add(firstRoundOnly(n.start))
		return
	case n.is("a:extLst") && n.parent.is("a:tr"):
		return // the number of the row, which must not be repeated; PowerPoint gives a new one
	case n.is("wp:docPr"):
		out.add(drawingTag{l.withoutImageTag(n)})
		l.children(out, n)
		out.add(raw(n.end))
		return
	case n.is("w:drawing", "p:pic"):
		if l.picture(out, n) {
			return
		}
	case n.is("p:sp"):
		if l.pictureBox(out, n) {
			return
		}
	}
	holder := n.hadBlockTag && n.find("w:sectPr") == nil || n.is("w:tbl") && hasBlocks(n) || n.is("p:graphicFrame") && hasDynamicTable(n)
	body := out
	var inner program
	if holder {
		l.optional++
		body = &inner
	}
	body.add(raw(n.start))
	if n.is("w:tc", "w:txbxContent", "w:hdr", "w:ftr", "w:footnote", "w:endnote", "a:txBody", "p:txBody") && hasBlocks(n) {
		var content program
		l.children(&content, n)
		paragraphPrefix := n.prefix
		if n.is("p:txBody") {
			paragraphPrefix = "a:"
			if p := n.find("a:bodyPr"); p != nil {
				paragraphPrefix = p.prefix
			}
		}
		body.add(container{content.ops(), paragraphPrefix})
	} else {
		l.children(body, n)
	}
	body.add(raw(n.end))
	if holder {
		l.optional--
		out.add(optional{inner.ops()})
	}
}

// hasBlocks reports whether the children of n include blocks, or paragraphs, rows or tables that may be left out.
func hasBlocks(n *node) bool {
	for _, c := range n.children {
		if c.block != nil || c.hadBlockTag || c.is("w:tbl") && hasBlocks(c) {
			return true
		}
	}
	return false
}

func hasDynamicTable(n *node) bool {
	t := n.find("a:tbl")
	return t != nil && hasBlocks(t)
}

// tag compiles a placeholder that is not the end of a block.
func (l *compiler) tag(out *program, n *node) {
	t := n.tag
	switch t.kind {
	case tagValue:
		l.tags++
		e := l.expression(n, t.source, t.rest)
		if e == nil {
			return
		}
		if is := describe(e.typ()); is != "a value" {
			l.report(n, t.source, is+" can't be printed", advice(t.rest, is, l.schema.namesOf(e.typ())))
			return
		}
		out.add(printValue{e, l.lineBreak(n)})
	case tagImage:
		l.tags++
		l.inlineImage(out, n)
	case tagSlide:
		if l.slide == nil {
			l.report(n, t.source, "it must be alone in a text box of a slide, and there can be only one", "")
		}
	case tagComment:
	default: // the end of a block; buildBlocks has reported those that are not in place
		l.tags++
	}
}

// advice says how to print something that is not a value.
func advice(path, is string, fields []string) string {
	path = strings.TrimSpace(path)
	switch is {
	case "a list":
		return "write {{#each " + path + "}} … {{/each}}"
	case "a picture":
		return "write {{image " + path + "}}"
	}
	if len(fields) == 0 {
		return "write {{#each " + path + "}} {{@key}}: {{this}} {{/each}}"
	}
	return "name a field of it: " + prose.JoinOr(fields[:min(4, len(fields))])
}

// lineBreak returns the XML of a line break in the text element that contains the placeholder.
func (l *compiler) lineBreak(n *node) string {
	t := n.ancestor("w:t", "a:t")
	switch {
	case t == nil:
		return " "
	case t.is("w:t"):
		return t.end + "<" + t.prefix + "br/>" + t.start
	}
	run, format := t.parent, ""
	if f := run.child("a:rPr"); f != nil {
		format = sourceOf(f)
	}
	return t.end + run.end + "<" + t.prefix + "br/>" + run.start + format + t.start
}

// sourceOf returns the XML of an element that contains no placeholders.
func sourceOf(n *node) string {
	switch {
	case n.raw:
		return n.text
	case n.isText():
		return n.start
	}
	var b strings.Builder
	b.WriteString(n.start)
	for _, c := range n.children {
		b.WriteString(sourceOf(c))
	}
	return b.String() + n.end
}

// expression reads an expression and reports what is wrong with it; the result is nil then.
func (l *compiler) expression(n *node, source, text string) expression {
	if text == "" {
		l.report(n, source, "the placeholder is empty", "name a field, such as {{client.name}}")
		return nil
	}
	e, err := parseExpression(l.schema, l.scopes, text)
	if err != nil {
		l.reportError(n, source, err)
		return nil
	}
	l.note(e)
	return e
}

func (l *compiler) reportError(n *node, source string, err error) {
	suggestion := ""
	if unknown := new(unknownName); errors.As(err, &unknown) {
		suggestion = unknown.suggestion
	}
	if word := goTemplateWord.FindString(source); word != "" {
		suggestion = "that is for layouts of HTML and Markdown; here, write {{#each LIST}} … {{/each}} and {{#if VALUE}} … {{/if}}"
	}
	l.report(n, source, err.Error(), suggestion)
}

// goTemplateWord matches the first word of actions in the layouts for HTML and Markdown.
var goTemplateWord = lazyregexp.New(`^(range|end|if|with|template|define|block)\b`)

// note remembers which fields of the report a layout uses.
func (l *compiler) note(e expression) {
	switch e := e.(type) {
	case fieldPath:
		if e.scope == 0 && len(e.steps) > 0 {
			names := make([]string, len(e.steps))
			for i, s := range e.steps {
				names[i] = s.name
			}
			l.uses[strings.Join(names, ".")] = true
		}
	case comparison:
		l.note(e.left)
		l.note(e.right)
	case logical:
		l.note(e.left)
		if e.right != nil {
			l.note(e.right)
		}
	case filtered:
		l.note(e.of)
	}
}

// block compiles a loop or condition.
func (l *compiler) block(out *program, n *node) {
	b := n.block
	l.tags++
	if b.open.word == "each" {
		e, item := l.loop(n, b.open)
		if e == nil {
			return
		}
		l.scopes = append(l.scopes, item)
		e.body = l.nodes(b.branches[0].nodes)
		l.scopes = l.scopes[:len(l.scopes)-1]
		for i, br := range b.branches[1:] {
			if br.tag.rest != "" || i > 0 {
				l.report(n, br.tag.source, "a loop can have one {{else}}, for an empty list", "")
				continue
			}
			e.els = l.nodes(br.nodes)
		}
		out.add(*e)
		return
	}
	var c conditional
	for i, br := range b.branches {
		text, isElse := br.tag.rest, br.tag.kind == tagElse
		if isElse {
			var ok bool
			if text, ok = strings.CutPrefix(text, "if "); !ok && text != "" {
				l.report(n, br.tag.source, "it is neither {{else}} nor {{else if VALUE}}", "")
				continue
			}
		}
		var when expression
		if !isElse || text != "" {
			if when = l.expression(n, br.tag.source, text); when == nil {
				l.nodes(br.nodes) // for its problems
				continue
			}
		} else if i != len(b.branches)-1 {
			l.report(n, br.tag.source, "it must be the last branch of its condition", "")
		}
		if b.open.word == "unless" && i == 0 {
			when = logical{"not", when, nil}
		}
		c.branches = append(c.branches, conditionalBranch{when, l.nodes(br.nodes)})
	}
	out.add(c)
}

func (l *compiler) nodes(all []*node) []op {
	var p program
	for _, n := range all {
		l.node(&p, n)
	}
	return p.ops()
}

// loop reads what follows #each: LIST [as NAME] [where VALUE] [limit N].
func (l *compiler) loop(n *node, t *tag) (*eachItem, scopeType) {
	fail := func(err error) (*eachItem, scopeType) {
		l.reportError(n, t.source, err)
		return nil, scopeType{}
	}
	p, err := newParser(l.schema, l.scopes, t.rest)
	if err != nil {
		return fail(err)
	}
	p.lists = true
	list, err := p.primary()
	p.lists = false
	if err != nil {
		return fail(err)
	}
	l.note(list)
	typ := base(list.typ())
	if typ.Kind() != reflect.Slice && typ.Kind() != reflect.Map {
		return fail(&unknownName{"only a list can be repeated", "write {{#if " + t.rest + "}}, or name a list"})
	}
	out, item := &eachItem{list: list}, scopeType{typ: typ.Elem(), loop: true}
	for len(p.tokens) > 0 {
		switch word := p.nextToken(); word {
		case "as":
			if item.alias = p.nextToken(); item.alias == "" || strings.ContainsAny(item.alias, `."@/`) {
				return fail(errors.New("after “as” comes a name without dots"))
			}
		case "where":
			p.scopes = append(slices.Clip(l.scopes), item)
			if out.where, err = p.or(); err != nil {
				return fail(err)
			}
		case "limit":
			if out.limit, err = strconv.Atoi(p.nextToken()); err != nil || out.limit < 1 {
				return fail(errors.New("after “limit” comes a number of items, at least 1"))
			}
		default:
			return fail(&unknownName{
				fmt.Sprintf("“%s” does not belong there", word), `write {{#each LIST as NAME where FIELD == "value" limit 10}}`,
			})
		}
	}
	return out, item
}
