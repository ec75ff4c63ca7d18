package officelayout

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// scopeType is a record, list item or whole report whose fields placeholders can refer to.
type scopeType struct {
	typ reflect.Type
	// alias is the item's name if the loop defines one. loop is set if loop variables such as @number exist.
	alias string
	loop  bool
}

// expression is a value that is computed when the layout is filled in. Its type is already known when the layout is
// compiled.
type expression interface {
	eval(x *executor) reflect.Value
	typ() reflect.Type
}

type (
	literal struct{ value any }
	// fieldPath refers to a field of one of the scopes. A step without an index is a map key or a
	// property of a picture.
	fieldPath struct {
		scope int // index of the scope, 0 for the report
		steps []step
		typed reflect.Type
	}
	step struct {
		name  string
		index []int
	}
	// loopVariable is @number, @first, @last or @key of the loop that has the given scope.
	loopVariable struct {
		scope int
		name  string
	}
	comparison struct {
		operator    string
		left, right expression
	}
	logical struct {
		operator    string // and, or, not
		left, right expression
	}
	filtered struct {
		of     expression
		filter filter
		arg    string
	}
)

func (e literal) typ() reflect.Type    { return reflect.TypeOf(e.value) }
func (e fieldPath) typ() reflect.Type  { return e.typed }
func (e comparison) typ() reflect.Type { return boolType }
func (e logical) typ() reflect.Type    { return boolType }
func (e filtered) typ() reflect.Type   { return e.filter.result }
func (e loopVariable) typ() reflect.Type {
	switch e.name {
	case "@number":
		return countType
	case "@key":
		return textType
	}
	return boolType
}

// unknownName is the error for a placeholder that names a field that doesn't exist.
type unknownName struct{ message, suggestion string }

func (e *unknownName) Error() string { return e.message }

// parser parses an expression. While parsing, it looks up names in the scopes of the placeholder.
type parser struct {
	schema *schema
	scopes []scopeType
	tokens []string
	depth  int
	// lists is set where only a list is allowed. Then, fields that aren't lists don't hide lists of
	// the same name in outer scopes.
	lists bool
}

const maxExpressionDepth = 30

// parseExpression reads all of text as an expression.
func parseExpression(s *schema, scopes []scopeType, text string) (expression, error) {
	p, err := newParser(s, scopes, text)
	if err != nil {
		return nil, err
	}
	e, err := p.parsePipeline()
	if err == nil && len(p.tokens) > 0 {
		err = fmt.Errorf("“%s” is not allowed at this position", p.tokens[0])
	}
	return e, err
}

func newParser(s *schema, scopes []scopeType, text string) (*parser, error) {
	tokens, err := tokenize(text)
	return &parser{schema: s, scopes: scopes, tokens: tokens}, err
}

// quotes maps each quotation mark that may open a text to the marks that may close it. It includes the marks that
// Word substitutes for straight ones.
var quotes = map[rune]string{'"': `"`, '\'': "'", '“': `”“"`, '„': `“”"`, '”': `”"`, '‘': `’'`, '’': `’'`}

// tokenize splits an expression into names, numbers, operators and texts. In the result, each text starts with a
// straight quotation mark.
func tokenize(s string) (out []string, err error) {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if unicode.IsSpace(r) || r == '\u00a0' {
			s = s[size:]
			continue
		}
		if closing, ok := quotes[r]; ok {
			end := strings.IndexAny(s[size:], closing)
			if end < 0 {
				return nil, errors.New("a quoted string is not closed")
			}
			out = append(out, `"`+s[size:size+end])
			s = s[size+end:]
			_, size = utf8.DecodeRuneInString(s)
			s = s[size:]
			continue
		}
		n := 0
		for n < len(s) {
			r, size := utf8.DecodeRuneInString(s[n:])
			if !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("_.@/-", r) {
				break
			}
			n += size
		}
		if n == 0 {
			n = size
			for _, operator := range []string{"==", "!=", "<=", ">=", "&&", "||"} {
				if strings.HasPrefix(s, operator) {
					n = 2
				}
			}
		}
		out = append(out, s[:n])
		s = s[n:]
	}
	return out, nil
}

func (p *parser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *parser) nextToken() string {
	t := p.peek()
	if t != "" {
		p.tokens = p.tokens[1:]
	}
	return t
}

// acceptToken consumes and returns the next token if it is one of the given ones.
func (p *parser) acceptToken(all ...string) (string, bool) {
	if !slices.Contains(all, p.peek()) {
		return "", false
	}
	return p.nextToken(), true
}

// parsePipeline parses the grammar rule or { "|" filter [ argument ] }, in which or is the rule that parseOr parses.
func (p *parser) parsePipeline() (expression, error) {
	e, err := p.parseOr()
	for err == nil {
		if _, ok := p.acceptToken("|"); !ok {
			break
		}
		name := p.nextToken()
		f, ok := filters[name]
		if !ok {
			return nil, &unknownName{fmt.Sprintf("the filter “%s” doesn't exist", name), suggestFilter(name)}
		}
		arg := ""
		if next := p.peek(); next != "" && next != "|" && next != ")" {
			if !f.takesArgument {
				return nil, fmt.Errorf("the filter %s doesn't take an argument", name)
			}
			arg = strings.TrimPrefix(p.nextToken(), `"`)
		} else if f.needsArgument {
			return nil, fmt.Errorf("the filter %s needs an argument, such as %s", name, f.example)
		}
		if message := f.check(e.typ(), arg); message != "" {
			return nil, errors.New(message)
		}
		e = filtered{e, f, arg}
	}
	return e, err
}

func (p *parser) parseOr() (expression, error) {
	if p.depth++; p.depth > maxExpressionDepth {
		return nil, errors.New("the expression is nested too deeply")
	}
	defer func() { p.depth-- }()
	return p.parseChain("or", "||", p.parseAnd)
}

func (p *parser) parseAnd() (expression, error) { return p.parseChain("and", "&&", p.parseNot) }

// parseChain parses one or more operands joined by an operator, which may be written as a word or as a symbol.
func (p *parser) parseChain(operator, symbol string, operand func() (expression, error)) (expression, error) {
	e, err := operand()
	for err == nil {
		if _, ok := p.acceptToken(operator, symbol); !ok {
			break
		}
		var right expression
		right, err = operand()
		e = logical{operator, e, right}
	}
	return e, err
}

func (p *parser) parseNot() (expression, error) {
	if _, ok := p.acceptToken("not", "!"); ok {
		if p.depth++; p.depth > maxExpressionDepth {
			return nil, errors.New("the expression is nested too deeply")
		}
		e, err := p.parseNot()
		p.depth--
		return logical{"not", e, nil}, err
	}
	e, err := p.parsePrimary()
	if err != nil {
		return nil, err
	}
	if operator, ok := p.acceptToken("==", "!=", "<", ">", "<=", ">=", "="); ok {
		right, err := p.parsePrimary()
		if err != nil {
			return nil, err
		}
		for _, side := range []expression{e, right} {
			if d := describeType(side.typ()); d != "a value" {
				return nil, fmt.Errorf("%s can't be compared; compare one of its fields", d)
			}
		}
		if operator == "=" {
			operator = "=="
		}
		return comparison{operator, e, right}, nil
	}
	return e, nil
}

func (p *parser) parsePrimary() (expression, error) {
	t := p.nextToken()
	switch {
	case t == "":
		return nil, errors.New("a value is missing")
	case t == "(":
		e, err := p.parsePipeline()
		if err != nil {
			return nil, err
		}
		if _, ok := p.acceptToken(")"); !ok {
			return nil, errors.New("a parenthesis is not closed")
		}
		return e, nil
	case t[0] == '"':
		return literal{t[1:]}, nil
	case t == "true" || t == "false":
		return literal{t == "true"}, nil
	}
	if n, err := strconv.ParseFloat(t, 64); err == nil && (t[0] == '-' || t[0] >= '0' && t[0] <= '9') {
		return literal{n}, nil
	}
	if r, _ := utf8.DecodeRuneInString(t); !unicode.IsLetter(r) && !strings.ContainsRune("@._", r) {
		return nil, fmt.Errorf("“%s” is not a value", t)
	}
	return p.parsePath(t)
}

// isScalarType reports whether a type is a single value rather than a list or something with fields.
func isScalarType(t reflect.Type) bool {
	k := dereferenceType(t).Kind()
	return k != reflect.Slice && k != reflect.Map && !isRecord(dereferenceType(t))
}

// parsePath resolves a name to a field of the innermost loop item that has such a field or, if there is none, to a
// field of the report.
func (p *parser) parsePath(text string) (expression, error) {
	scope := len(p.scopes) - 1
	rest, explicit := text, false
	for {
		up, ok := strings.CutPrefix(rest, "../")
		if !ok {
			break
		}
		if rest, explicit = up, true; scope == 0 {
			return nil, fmt.Errorf("%s goes too far; the report is the outermost level", text)
		}
		scope--
	}
	parts := strings.Split(strings.TrimPrefix(rest, "."), ".") // accept a leading dot, as in layouts for HTML and Markdown
	switch first := parts[0]; {
	case first == "@root":
		scope, parts = 0, parts[1:]
	case first == "this":
		parts = parts[1:]
	case strings.HasPrefix(first, "@"):
		if first != "@number" && first != "@first" && first != "@last" && first != "@key" || len(parts) > 1 {
			return nil, &unknownName{fmt.Sprintf("“%s” doesn't exist", text), "use @number, @first, @last, @key or @root"}
		}
		for ; scope >= 0 && !p.scopes[scope].loop; scope-- {
		}
		if scope < 0 {
			return nil, fmt.Errorf("%s only exists within {{#each}}", first)
		}
		return loopVariable{scope, first}, nil
	case !explicit:
		found := false
		for i := len(p.scopes) - 1; i >= 0 && !found; i-- {
			if p.scopes[i].alias == first {
				scope, parts, found = i, parts[1:], true
				break
			}
			t := dereferenceType(p.scopes[i].typ)
			if !isRecord(t) {
				continue
			}
			if _, typ, ok := p.schema.field(t, first); ok && !(p.lists && i > 0 && isScalarType(typ)) {
				scope, found = i, true
			}
		}
		if !found {
			var names []string
			for i := len(p.scopes) - 1; i >= 0; i-- {
				names = append(names, p.schema.namesOf(p.scopes[i].typ)...)
			}
			return nil, &unknownName{fmt.Sprintf("the field “%s” doesn't exist", text), p.schema.suggestion(p.scopes, names, parts, 0)}
		}
	}
	out := fieldPath{scope: scope, typed: p.scopes[scope].typ}
	for i, name := range parts {
		index, t, ok := p.schema.field(out.typed, name)
		if !ok {
			before := strings.Join(parts[:i], ".")
			if dereferenceType(out.typed).Kind() == reflect.Slice {
				return nil, &unknownName{
					fmt.Sprintf("“%s” is a list", before),
					fmt.Sprintf("write {{#each %s}} … {{%s}} … {{/each}}", before, strings.Join(parts[i:], ".")),
				}
			}
			names := p.schema.namesOf(out.typed)
			if len(names) == 0 {
				return nil, &unknownName{fmt.Sprintf("“%s” has no fields", before), "write {{" + before + "}}"}
			}
			return nil, &unknownName{fmt.Sprintf("“%s” has no field “%s”", before, name), p.schema.suggestion(p.scopes, names, parts, i)}
		}
		out.steps = append(out.steps, step{name, index})
		out.typed = t
	}
	return out, nil
}
