// Package itemfilter implements the language in which users select items of a deliverable, for example domain ==
// "IAC" && status == "not_evidenced".
//
// It is the part of the expression language of github.com/expr-lang/expr whose evaluation takes time linear in the
// length of the filter and of the item: comparisons, and, or, not, and searches in texts and lists. The same filters
// work in the API, the commands and the terminal interface. The package knows the names of the fields, but nothing
// about stores and requests.
package itemfilter

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/expr-lang/expr"
	"github.com/expr-lang/expr/ast"
	"github.com/expr-lang/expr/file"
	"github.com/expr-lang/expr/parser"
	"github.com/expr-lang/expr/vm"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/editdistance"
)

// maxNodes is the maximum number of operators, names and values in a filter.
const maxNodes = 300

// Filter selects items of type I: api.SoAItem, api.Finding, api.MaturityScore or api.POAMItem.
type Filter[I any] struct {
	program *vm.Program
	fields  []field[I]
}

// Compile parses a filter. An empty text selects every item. Compile returns a validation error for the field "where",
// which includes the position in the text.
func Compile[I any](text string) (*Filter[I], error) {
	f := &Filter[I]{fields: fieldsOf[I]()}
	if strings.TrimSpace(text) == "" {
		return f, nil
	}
	if len(text) > api.MaxWhereLength {
		return nil, invalid("the filter is %d bytes long; the maximum is %d", len(text), api.MaxWhereLength)
	}
	tree, err := parser.Parse(text)
	if err != nil {
		return nil, invalid("%s", describe(err, f.fields))
	}
	check := checker[I]{fields: f.fields}
	if ast.Walk(&tree.Node, &check); check.err == nil {
		check.checkCondition(tree.Node)
	}
	if check.err != nil {
		return nil, check.err
	}
	f.program, err = expr.Compile(text, expr.Env(f.values(new(I))), expr.AsBool(), expr.DisableAllBuiltins(), expr.EnableBuiltin("lower"),
		expr.EnableBuiltin("len"), expr.MaxNodes(maxNodes), expr.Patch(patcher[I]{&check}))
	if err != nil {
		return nil, invalid("%s", describe(err, f.fields))
	}
	return f, nil
}

// Selects reports whether the filter selects an item.
func (f *Filter[I]) Selects(i *I) bool {
	if f.program == nil {
		return true
	}
	out, err := expr.Run(f.program, f.values(i))
	return err == nil && out == true // Compile has checked the types, so there is never an error
}

// values returns the values of an item's fields, keyed by every name that a field has.
func (f *Filter[I]) values(i *I) map[string]any {
	out := make(map[string]any, len(f.fields)+len(f.fields)/2)
	for _, field := range f.fields {
		value := field.value(i)
		for _, name := range field.names {
			out[name] = value
		}
	}
	return out
}

// Names returns the first name of each field that filters for items of type I can use.
func Names[I any]() (names []string) {
	for _, f := range fieldsOf[I]() {
		names = append(names, f.names[0])
	}
	return names
}

func invalid(format string, args ...any) error { return api.Invalid("where", format, args...) }

// describe returns a message for an error of the expression library. The message includes the column of the error and
// an example.
func describe[I any](err error, fields []field[I]) string {
	if at, ok := errors.AsType[*file.Error](err); ok {
		message := strings.TrimSuffix(at.Message, ".")
		for found, better := range map[string]string{
			`unexpected token Operator("=")`:     `"=" is not an operator; compare with ==`,
			`unexpected token Identifier("AND")`: "combine conditions with \"&&\" or \"and\"",
			`unexpected token Identifier("OR")`:  "combine conditions with \"||\" or \"or\"",
		} {
			message = strings.Replace(message, found, better, 1)
		}
		return fmt.Sprintf("%s, in column %d; an example of a valid filter is %s", message, at.Column+1, exampleOf(fields))
	}
	text, _, _ := strings.Cut(err.Error(), "\n")
	return text
}

// operators lists the operators that filters may use. Each takes time linear in the length of its operands.
var operators = []string{"==", "!=", "<", "<=", ">", ">=", "&&", "||", "and", "or", "in", "contains", "startsWith", "endsWith", "matches"}

// checker visits the nodes of a filter and records the first error.
type checker[I any] struct {
	fields []field[I]
	nodes  int
	err    error
	// unknown is the name that caused err because there is no such field, or nil.
	unknown ast.Node
}

// Visit implements ast.Visitor.
func (c *checker[I]) Visit(node *ast.Node) {
	if c.nodes++; c.err == nil && c.nodes > maxNodes {
		c.err = invalid("the filter is too long; at most %d operators, fields and values are allowed", maxNodes)
	}
	if c.err != nil {
		if n, ok := (*node).(*ast.BinaryNode); ok && c.unknown != nil { // the nodes inside are visited first
			c.explainUnknown(n)
		}
		return
	}
	switch n := (*node).(type) {
	case *ast.IdentifierNode:
		if functions[n.Value] == "" && c.find(n) == nil {
			c.unknown = n
			c.fail(n, "there is no field %q%s", n.Value, c.suggest(n.Value))
		}
	case *ast.NilNode:
		c.unknown = n
		c.fail(n, "filters don't support nil; a field without text equals \"\"")
	case *ast.StringNode, *ast.IntegerNode, *ast.FloatNode, *ast.BoolNode, *ast.ConstantNode, *ast.ArrayNode:
	case *ast.UnaryNode:
		switch n.Operator {
		case "!", "not":
			c.checkCondition(n.Node)
		case "-":
		default:
			c.fail(n, "filters don't support the operator %s", n.Operator)
		}
	case *ast.BinaryNode:
		c.visitBinary(n)
	case *ast.BuiltinNode:
		if functions[n.Name] == "" {
			c.fail(n, "filters don't support the function %s, only lower and len", n.Name)
		}
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); !ok || functions[name.Value] == "" {
			c.fail(n, "filters don't support functions other than lower and len")
		}
	default:
		c.fail(n, "filters consist of fields, strings, numbers, lists and the operators %s and \"not\"", strings.Join(operators, " "))
	}
}

func (c *checker[I]) visitBinary(n *ast.BinaryNode) {
	if !slices.Contains(operators, n.Operator) {
		c.fail(n, "filters don't support the operator %s, only %s and \"not\"", n.Operator, strings.Join(operators, " "))
		return
	}
	if n.Operator == "matches" {
		if _, ok := n.Right.(*ast.StringNode); !ok {
			c.fail(n, "the pattern after \"matches\" must be a quoted string")
		}
	}
	c.checkOperands(n)
	// A value that the field can't have would select nothing, or everything.
	for _, side := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		f := c.find(side[0])
		if f == nil || len(f.allowed) == 0 || n.Operator != "==" && n.Operator != "!=" && n.Operator != "in" {
			continue
		}
		for _, value := range valuesOf(side[1]) {
			if text, ok := value.(*ast.StringNode); ok && !slices.Contains(f.allowed, text.Value) {
				c.fail(text, "%s can't be %q; valid values are %s", f.names[0], text.Value, strings.Join(f.allowed, ", "))
			}
		}
	}
}

// patcher converts strings that are compared with codes to upper case, and makes comparisons of missing dates false.
type patcher[I any] struct{ fields *checker[I] }

// Visit implements ast.Visitor.
func (p patcher[I]) Visit(node *ast.Node) {
	n, ok := (*node).(*ast.BinaryNode)
	if !ok || n.Operator == "matches" {
		return
	}
	for _, side := range [][2]ast.Node{{n.Left, n.Right}, {n.Right, n.Left}} {
		f := p.fields.find(side[0])
		if f != nil && f.isDate && slices.Contains([]string{"<", "<=", ">", ">="}, n.Operator) {
			exists := &ast.BinaryNode{Operator: "!=", Left: &ast.IdentifierNode{Value: f.names[0]}, Right: &ast.StringNode{}}
			ast.Patch(node, &ast.BinaryNode{Operator: "&&", Left: exists, Right: n})
			return
		}
		if f != nil && f.isCode {
			for _, value := range valuesOf(side[1]) {
				if text, ok := value.(*ast.StringNode); ok {
					text.Value = strings.ToUpper(text.Value)
				}
			}
		}
	}
}

// valuesOf returns the elements of a list, or else the value itself.
func valuesOf(n ast.Node) []ast.Node {
	if list, ok := n.(*ast.ArrayNode); ok {
		return list.Nodes
	}
	return []ast.Node{n}
}

// fail records an error at a node, unless there already is an error.
func (c *checker[I]) fail(n ast.Node, format string, args ...any) {
	if c.err == nil {
		c.err = invalid(format+" (column %d)", append(args, n.Location().From+1)...)
	}
}

// find returns the field that a node refers to, or nil.
func (c *checker[I]) find(n ast.Node) *field[I] {
	name, ok := n.(*ast.IdentifierNode)
	if !ok {
		return nil
	}
	for i := range c.fields {
		if slices.Contains(c.fields[i].names, name.Value) {
			return &c.fields[i]
		}
	}
	return nil
}

// suggest returns the field that was probably meant or, if there is none, a list of all fields.
func (c *checker[I]) suggest(wrong string) string {
	best, distance := "", 3
	for _, f := range c.fields {
		for _, name := range f.names {
			if d := editdistance.Distance([]rune(wrong), []rune(name)); d < distance {
				best, distance = name, d
			}
		}
	}
	if best == "" {
		return "; the fields are " + describeFields(c.fields) + ", for example " + c.example()
	}
	return "; did you mean " + strconv.Quote(best) + "?"
}
