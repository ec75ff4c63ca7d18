package itemfilter

import (
	"fmt"
	"slices"
	"strings"

	"github.com/expr-lang/expr/ast"
)

// kind is the type of a value in a filter. It is "" if it isn't known.
type kind string

// The kinds of values.
const (
	text      kind = "text"
	number    kind = "number"
	trueFalse kind = "true or false"
	list      kind = "list"
)

// functions maps the functions that filters may use to the kinds of values they return.
var functions = map[string]kind{"lower": text, "len": number}

// describe returns the name of the kind, with an article if needed.
func (k kind) describe() string {
	if k == trueFalse {
		return string(k)
	}
	return "a " + string(k)
}

// kind returns the type of the field's values.
func (f *field[I]) kind() kind {
	switch f.value(new(I)).(type) {
	case string:
		return text
	case bool:
		return trueFalse
	case int, float64:
		return number
	}
	return list
}

// example returns an example of a condition on the field.
func (f *field[I]) example() string {
	name := f.names[0]
	switch k := f.kind(); {
	case k == trueFalse:
		return name + ", or not " + name
	case k == number && strings.Contains(name, "confidence"):
		return name + " < 0.5"
	case name == "level":
		return "level > 1, or not assessed"
	case k == number:
		return name + " > 1"
	case k == list:
		return fmt.Sprintf("%q in %s", map[string]string{"frameworks": "soc2-tsc", "requirements": "A.5.1", "edited_fields": "owner"}[name], name)
	case f.isDate:
		return name + ` < "2027-03-31", or ` + name + ` == ""`
	case len(f.allowed) > 0:
		return fmt.Sprintf("%s == %q", name, f.allowed[0])
	}
	return name + ` contains "it", or ` + name + ` == ""`
}

// describeFields lists the fields by kind.
func describeFields[I any](fields []field[I]) string {
	var parts []string
	for _, k := range []kind{text, number, trueFalse, list} {
		var names []string
		for i := range fields {
			if fields[i].kind() == k {
				names = append(names, fields[i].names[0])
			}
		}
		if len(names) > 0 {
			parts = append(parts, fmt.Sprintf("%s (%s)", strings.Join(names, ", "), k))
		}
	}
	return strings.Join(parts, "; ")
}

// kindOf returns the kind of a node's value.
func (c *checker[I]) kindOf(n ast.Node) kind {
	if f := c.find(n); f != nil {
		return f.kind()
	}
	switch n := n.(type) {
	case *ast.BuiltinNode:
		return functions[n.Name]
	case *ast.CallNode:
		if name, ok := n.Callee.(*ast.IdentifierNode); ok {
			return functions[name.Value]
		}
	case *ast.StringNode:
		return text
	case *ast.IntegerNode, *ast.FloatNode:
		return number
	case *ast.BoolNode, *ast.BinaryNode: // all permitted operators compare or combine conditions
		return trueFalse
	case *ast.ArrayNode:
		return list
	case *ast.UnaryNode:
		if n.Operator == "-" {
			return number
		}
		return trueFalse
	}
	return ""
}

// checkCondition records an error if a node is not a condition.
func (c *checker[I]) checkCondition(n ast.Node) {
	k := c.kindOf(n)
	if k == trueFalse || k == "" {
		return
	}
	if f := c.find(n); f != nil {
		c.fail(n, "%s is %s, not a condition; use a condition such as %s", f.names[0], k.describe(), f.example())
		return
	}
	c.fail(n, "this is %s, not a condition; use a condition such as %s", k.describe(), c.example())
}

// checkOperands records an error if an operator can't be applied to its two operands.
func (c *checker[I]) checkOperands(n *ast.BinaryNode) {
	left, right := c.kindOf(n.Left), c.kindOf(n.Right)
	var ok bool
	switch n.Operator {
	case "&&", "||", "and", "or":
		c.checkCondition(n.Left)
		c.checkCondition(n.Right)
		return
	case "==", "!=":
		ok = left == right
	case "in":
		ok = right == list && left != list
		if values, isArray := n.Right.(*ast.ArrayNode); isArray && ok && left != "" {
			ok = !slices.ContainsFunc(values.Nodes, func(v ast.Node) bool { k := c.kindOf(v); return k != "" && k != left })
		}
	case "contains", "startsWith", "endsWith", "matches":
		ok = left == text && right == text
	default:
		ok = left == right && (left == text || left == number)
	}
	if ok || left == "" || right == "" {
		return
	}
	example := c.example()
	describe := func(side ast.Node) string {
		f := c.find(side)
		if f == nil {
			return c.kindOf(side).describe()
		}
		example = f.example()
		return fmt.Sprintf("%s (%s)", f.names[0], f.kind().describe())
	}
	r, l := describe(n.Right), describe(n.Left) // the example is of the field on the left, if there is one
	c.fail(n, "%s can't be used between %s and %s; use a condition such as %s", n.Operator, l, r, example)
}

// explainUnknown replaces the error about an unknown name that is compared with a text field. Such a name is usually a
// text without quotes.
func (c *checker[I]) explainUnknown(n *ast.BinaryNode) {
	f := c.find(n.Left)
	if f == nil || n.Right != c.unknown {
		return
	}
	name, ok := c.unknown.(*ast.IdentifierNode)
	isNil := !ok || name.Value == "null"
	if f.kind() != text {
		if isNil {
			c.err = nil
			c.fail(n.Right, "filters don't support nil; %s is never missing; use a condition such as %s", f.names[0], f.example())
		}
		return
	}
	c.err = nil
	if isNil {
		c.fail(n.Right, "filters don't support nil; an empty %s equals \"\", so write %s %s \"\"", f.names[0], f.names[0], n.Operator)
		return
	}
	c.fail(n.Right, "%s is not a field; put text in quotes: %s %s %q", name.Value, f.names[0], n.Operator, name.Value)
}

// example returns an example of a filter for items of type I.
func (c *checker[I]) example() string { return exampleOf(c.fields) }

// exampleOf returns an example of a filter that uses some of the fields.
func exampleOf[I any](fields []field[I]) string {
	has := func(name string) bool {
		return slices.ContainsFunc(fields, func(f field[I]) bool { return f.names[0] == name })
	}
	switch {
	case has("level"):
		return `domain == "IAC" && level < target`
	case has("severity"):
		return `severity == "high" && owner == ""`
	}
	return `domain == "IAC" && status == "not_evidenced"`
}
