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

// Problem is an error in a layout, which prevents its use, or a warning.
type Problem struct {
	// Part is the file within the layout, and Place is the location in it, such as "header 1, table
	// 2, row 3, column 1".
	Part, Place string
	// Tag is the placeholder at fault, with its braces, or another excerpt of the layout.
	Tag string
	// Message describes the problem. Suggestion says what to write instead and may be empty.
	Message, Suggestion string
	Warning             bool
}

// Limits on placeholders and reported problems. They allow more placeholders than any real layout has, and as many
// problems as a person is willing to read.
const (
	maxTags     = 20_000 // in a layout
	maxProblems = 200    // maximum number of errors, and of warnings
)

// compiler turns the parts of a layout into programs and collects the problems that it finds.
type compiler struct {
	schema   *schema
	scopes   []scopeType
	part     *part
	problems []Problem
	// reported counts errors (false) and warnings (true) separately, so that many warnings don't hide an error.
	reported map[bool]int
	// extracted counts the placeholders that were found, and tags those that were compiled; uses
	// records the names of the report fields that they use.
	extracted, tags int
	uses            map[string]bool
	// optional is the number of optional ops that enclose the current position.
	optional int
	// slide is the tag that repeats or omits the slide being compiled.
	slide *node
}

func (l *compiler) addProblem(n *node, tagText, message, suggestion string, warning bool) {
	if l.reported[warning] == maxProblems {
		return
	}
	place := l.part.title
	if n != nil {
		place = joinPlace(place, placeOf(n))
	}
	p := Problem{Part: l.part.name, Place: place, Tag: tagText, Message: message, Suggestion: suggestion, Warning: warning}
	if !slices.Contains(l.problems, p) { // text boxes are stored twice in a file, for old versions of Word
		l.problems = append(l.problems, p)
		l.reported[warning]++
	}
}

// addError adds an error. source is either a placeholder without its braces, or the beginning of an unfinished
// placeholder, including the braces.
func (l *compiler) addError(n *node, source, message, suggestion string) {
	if source != "" && !strings.HasPrefix(source, "{") {
		source = "{{" + source + "}}"
	}
	l.addProblem(n, source, message, suggestion, false)
}

func (l *compiler) addWarning(n *node, excerpt, message, suggestion string) {
	l.addProblem(n, excerpt, message, suggestion, true)
}

// locationOf returns the location of a node as part of a sentence.
func (l *compiler) locationOf(n *node) string { return joinPlace(l.part.title, placeOf(n)) }

// compileTree compiles a part from which the placeholders have been extracted.
func (l *compiler) compileTree(root *node) []op {
	l.buildBlocks(root)
	var out program
	l.compileChildren(&out, root)
	return out.ops()
}

// program collects ops and joins adjacent pieces of XML.
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

// ops returns the instructions collected so far.
func (p *program) ops() []op {
	if p.xml.Len() > 0 {
		p.done = append(p.done, raw(p.xml.String()))
		p.xml.Reset()
	}
	return p.done
}

func (l *compiler) compileChildren(out *program, n *node) {
	for _, c := range n.children {
		l.compileNode(out, c)
	}
}

func (l *compiler) compileNode(out *program, n *node) {
	switch {
	case n.raw:
		out.add(raw(n.text))
	case n.block != nil:
		l.compileBlock(out, n)
	case n.tag != nil:
		l.compileTag(out, n)
	case n.isText():
		l.compileText(out, n)
	default:
		l.compileElement(out, n)
	}
}

func (l *compiler) compileText(out *program, n *node) {
	switch {
	case l.optional > 0 && n.parent.hasName("w:t", "a:t"):
		out.add(literalText(n.text))
	case n.start != "":
		out.add(raw(n.start))
	default:
		out.add(raw(escaped(n.text)))
	}
}

// compileElement compiles an element and everything inside it.
func (l *compiler) compileElement(out *program, n *node) {
	if l.optional > 0 &&
		n.hasName("w:drawing", "w:pict", "w:object", "w:fldChar", "w:fldSimple", "w:br", "w:sym", "a:fld", "m:oMath", "w:sectPr") {
		out.add(visible{})
	}
	switch {
	case n.hasName("w:bookmarkStart", "w:bookmarkEnd", "w:commentRangeStart", "w:commentRangeEnd") && n.end == "":
		out.add(firstRoundOnly(n.start))
		return
	case n.hasName("a:extLst") && n.parent.hasName("a:tr"):
		return // the row ID, which must not be repeated; PowerPoint assigns a new one
	case n.hasName("wp:docPr"):
		out.add(drawingTag{l.propertiesTagWithoutImage(n)})
		l.compileChildren(out, n)
		out.add(raw(n.end))
		return
	case n.hasName("w:drawing", "p:pic"):
		if l.compilePicture(out, n) {
			return
		}
	case n.hasName("p:sp"):
		if l.compilePictureBox(out, n) {
			return
		}
	}
	holder := n.hadBlockTag && n.find("w:sectPr") == nil || n.hasName("w:tbl") && hasBlocks(n) ||
		n.hasName("p:graphicFrame") && hasDynamicTable(n)
	body := out
	var inner program
	if holder {
		l.optional++
		body = &inner
	}
	body.add(raw(n.start))
	if n.hasName("w:tc", "w:txbxContent", "w:hdr", "w:ftr", "w:footnote", "w:endnote", "a:txBody", "p:txBody") && hasBlocks(n) {
		var content program
		l.compileChildren(&content, n)
		paragraphPrefix := n.prefix
		if n.hasName("p:txBody") {
			paragraphPrefix = "a:"
			if p := n.find("a:bodyPr"); p != nil {
				paragraphPrefix = p.prefix
			}
		}
		body.add(container{content.ops(), paragraphPrefix})
	} else {
		l.compileChildren(body, n)
	}
	body.add(raw(n.end))
	if holder {
		l.optional--
		out.add(optional{inner.ops()})
	}
}

// hasBlocks reports whether the children of n include blocks, or paragraphs, rows or tables that may be omitted.
func hasBlocks(n *node) bool {
	for _, c := range n.children {
		if c.block != nil || c.hadBlockTag || c.hasName("w:tbl") && hasBlocks(c) {
			return true
		}
	}
	return false
}

func hasDynamicTable(n *node) bool {
	t := n.find("a:tbl")
	return t != nil && hasBlocks(t)
}

// compileTag compiles a placeholder that is not the end of a block.
func (l *compiler) compileTag(out *program, n *node) {
	t := n.tag
	switch t.kind {
	case tagValue:
		l.tags++
		e := l.parseOrReport(n, t.source, t.rest)
		if e == nil {
			return
		}
		if is := describeType(e.typ()); is != "a value" {
			l.addError(n, t.source, is+" can't be printed", adviseOnNonValue(t.rest, is, l.schema.namesOf(e.typ())))
			return
		}
		out.add(printValue{e, l.lineBreakXML(n)})
	case tagImage:
		l.tags++
		l.compileInlineImage(out, n)
	case tagChart:
		l.tags++
		if n.ancestor("w:t") != nil {
			l.addError(n, t.source, "native charts are only possible on slides", "write {{image "+t.rest+"}} to insert the chart as a picture")
		} else {
			l.addError(n, t.source, "a chart replaces a whole text box", "put the placeholder in a separate text box")
		}
	case tagSlide:
		if l.slide == nil {
			l.addError(n, t.source, "the tag must be alone in a text box of the slide, and a slide can have only one", "")
		}
	case tagComment:
	default: // the end of a block; buildBlocks has reported misplaced ones
		l.tags++
	}
}

// adviseOnNonValue returns advice on a placeholder that names a list or record, neither of which can be printed as a
// whole.
func adviseOnNonValue(path, is string, fields []string) string {
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
	return "choose one of its fields: " + prose.JoinOr(fields[:min(4, len(fields))])
}

// lineBreakXML returns the XML of a line break in the text element that contains the placeholder.
func (l *compiler) lineBreakXML(n *node) string {
	t := n.ancestor("w:t", "a:t")
	switch {
	case t == nil:
		return " "
	case t.hasName("w:t"):
		return t.end + "<" + t.prefix + "br/>" + t.start
	}
	run, format := t.parent, ""
	if f := run.child("a:rPr"); f != nil {
		format = originalXML(f)
	}
	return t.end + run.end + "<" + t.prefix + "br/>" + run.start + format + t.start
}

// originalXML returns the XML of an element that contains no placeholders.
func originalXML(n *node) string {
	switch {
	case n.raw:
		return n.text
	case n.isText():
		return n.start
	}
	var b strings.Builder
	b.WriteString(n.start)
	for _, c := range n.children {
		b.WriteString(originalXML(c))
	}
	return b.String() + n.end
}

// parseOrReport parses an expression. If it is invalid, it reports the error and returns nil.
func (l *compiler) parseOrReport(n *node, source, text string) expression {
	if text == "" {
		l.addError(n, source, "the placeholder is empty", "enter a field, such as {{client.name}}")
		return nil
	}
	e, err := parseExpression(l.schema, l.scopes, text)
	if err != nil {
		l.addParseError(n, source, err)
		return nil
	}
	l.recordFields(e)
	return e
}

func (l *compiler) addParseError(n *node, source string, err error) {
	suggestion := ""
	if unknown := new(unknownName); errors.As(err, &unknown) {
		suggestion = unknown.suggestion
	}
	if word := goTemplateWord.FindString(source); word != "" {
		suggestion = "this syntax is for HTML and Markdown layouts; in Office layouts, write {{#each LIST}} … {{/each}} and {{#if VALUE}} … {{/if}}"
	}
	l.addError(n, source, err.Error(), suggestion)
}

// goTemplateWord matches the keyword of an action as it is written in layouts for HTML and Markdown.
var goTemplateWord = lazyregexp.New(`^(range|end|if|with|template|define|block)\b`)

// recordFields records which fields of the report an expression uses.
func (l *compiler) recordFields(e expression) {
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
		l.recordFields(e.left)
		l.recordFields(e.right)
	case logical:
		l.recordFields(e.left)
		if e.right != nil {
			l.recordFields(e.right)
		}
	case filtered:
		l.recordFields(e.of)
	}
}

// compileBlock compiles a loop or condition.
func (l *compiler) compileBlock(out *program, n *node) {
	b := n.block
	l.tags++
	if b.open.word == "each" {
		e, item := l.parseLoop(n, b.open)
		if e == nil {
			return
		}
		l.scopes = append(l.scopes, item)
		e.body = l.compileNodes(b.branches[0].nodes)
		l.scopes = l.scopes[:len(l.scopes)-1]
		for i, br := range b.branches[1:] {
			if br.tag.rest != "" || i > 0 {
				l.addError(n, br.tag.source, "a loop can have only one {{else}}, which is used if the list is empty", "")
				continue
			}
			e.els = l.compileNodes(br.nodes)
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
				l.addError(n, br.tag.source, "the tag is neither {{else}} nor {{else if VALUE}}", "")
				continue
			}
		}
		var when expression
		if !isElse || text != "" {
			if when = l.parseOrReport(n, br.tag.source, text); when == nil {
				l.compileNodes(br.nodes) // only to report its problems
				continue
			}
		} else if i != len(b.branches)-1 {
			l.addError(n, br.tag.source, "{{else}} must be the last branch of its condition", "")
		}
		if b.open.word == "unless" && i == 0 {
			when = logical{"not", when, nil}
		}
		c.branches = append(c.branches, conditionalBranch{when, l.compileNodes(br.nodes)})
	}
	out.add(c)
}

func (l *compiler) compileNodes(all []*node) []op {
	var p program
	for _, n := range all {
		l.compileNode(&p, n)
	}
	return p.ops()
}

// parseLoop parses the arguments of #each: LIST [as NAME] [where VALUE] [limit N].
func (l *compiler) parseLoop(n *node, t *tag) (*eachItem, scopeType) {
	fail := func(err error) (*eachItem, scopeType) {
		l.addParseError(n, t.source, err)
		return nil, scopeType{}
	}
	p, err := newParser(l.schema, l.scopes, t.rest)
	if err != nil {
		return fail(err)
	}
	p.lists = true
	list, err := p.parsePrimary()
	p.lists = false
	if err != nil {
		return fail(err)
	}
	l.recordFields(list)
	typ := dereferenceType(list.typ())
	if typ.Kind() != reflect.Slice && typ.Kind() != reflect.Map {
		return fail(&unknownName{"only lists can be repeated", "write {{#if " + t.rest + "}}, or use a list"})
	}
	out, item := &eachItem{place: fmt.Sprintf(" at %s, {{%s}}", l.locationOf(n), t.source), list: list}, scopeType{typ: typ.Elem(), loop: true}
	for len(p.tokens) > 0 {
		switch word := p.nextToken(); word {
		case "as":
			if item.alias = p.nextToken(); item.alias == "" || strings.ContainsAny(item.alias, `."@/`) {
				return fail(errors.New("“as” must be followed by a name without dots"))
			}
		case "where":
			p.scopes = append(slices.Clip(l.scopes), item)
			if out.where, err = p.parseOr(); err != nil {
				return fail(err)
			}
		case "limit":
			if out.limit, err = strconv.Atoi(p.nextToken()); err != nil || out.limit < 1 {
				return fail(errors.New("“limit” must be followed by the number of items, which must be at least 1"))
			}
		default:
			return fail(&unknownName{
				fmt.Sprintf("“%s” is not allowed at this position", word), `write {{#each LIST as NAME where FIELD == "value" limit 10}}`,
			})
		}
	}
	return out, item
}
