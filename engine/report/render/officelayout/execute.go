package officelayout

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/content"
	"github.com/scf-service/service/engine/report/drawing"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/engine/report/workbook"
)

// Limits on filling in a layout.
const (
	maxSteps    = 8_000_000
	maxOutput   = 96 << 20 // maximum bytes of all parts, before compression
	maxDuration = 20 * time.Second
)

// executor fills in the parts of one document. It stores the first error, after which all of its methods do nothing.
type executor struct {
	ctx    context.Context
	theme  drawing.Theme
	scopes []scopeValue
	out    *bytes.Buffer
	// finished counts the bytes of the parts that are complete.
	finished int
	steps    int
	// printed is set whenever something visible is written.
	printed bool
	// repeated is set in all rounds of a loop except the first.
	repeated bool
	// loop is where the innermost loop is in the layout; empty outside of loops.
	loop   string
	images *imageStore
	// part is the part being written, which gets relationships; media is the path from it to the
	// folder of pictures.
	part  *part
	media string
	// frame is the picture that fills the current frame of the layout.
	frame frameState
	// charts numbers the native charts; hasPart reports whether the layout has a part with a name; numbers are the
	// properties of the charts' workbooks.
	charts  int
	hasPart func(name string) bool
	numbers workbook.Properties
	// drawingID numbers the drawings of a document.
	drawingID int
	err       error
}

// scopeValue is the current value of a scope.
type scopeValue struct {
	value         reflect.Value
	number, count int
	key           string
}

// countSteps counts n steps. If filling in the layout takes too many steps or too long, or prints too much, it stops
// and returns false.
func (x *executor) countSteps(n int) (mayContinue bool) {
	if x.err != nil {
		return false
	}
	before := x.steps
	x.steps += n
	switch {
	case x.steps > maxSteps:
		x.err = x.stop("the layout takes more than %d steps; check for nested loops over long lists", maxSteps)
	case x.finished+x.out.Len() > maxOutput:
		x.err = x.stop("the output exceeds %s; check for nested loops over long lists", wording.FormatByteSize(maxOutput))
	case before>>12 != x.steps>>12:
		if err := x.ctx.Err(); errors.Is(err, context.DeadlineExceeded) {
			x.err = x.stop("the layout takes longer than %v", maxDuration)
		} else if err != nil {
			x.err = err
		}
	}
	return x.err == nil
}

// stop returns the error for a layout that was stopped because of a limit.
func (x *executor) stop(format string, args ...any) error {
	return api.Invalid("layout", "the processing of the layout was stopped%s: %s", x.loop, fmt.Sprintf(format, args...))
}

// op is an instruction of a compiled layout.
type op interface{ run(x *executor) }

type (
	// raw is XML that is written unchanged.
	raw string
	// literalText is visible text in the layout.
	literalText string
	// firstRoundOnly is XML, such as a bookmark, that is written only in the first iteration of a loop.
	firstRoundOnly string
	// printValue prints a value. lineBreak is the XML of a line break.
	printValue struct {
		value     expression
		lineBreak string
	}
	// conditional runs the body of its first branch whose condition is true.
	conditional struct{ branches []conditionalBranch }
	// eachItem runs its body for each item of a list or map.
	eachItem struct {
		// place is where the loop is, as part of a sentence.
		place     string
		list      expression
		where     expression
		limit     int
		body, els []op
	}
	// container writes an element that must not be empty. If its body doesn't end with a paragraph, one is added.
	container struct {
		body   []op
		prefix string // of the paragraph's name
	}
	// optional writes its body only if the body prints something.
	optional struct{ body []op }
	// visible marks a place with visible content other than text.
	visible struct{}
	// drawingTag is a start tag that contains the number of a drawing. The number must be unique in a document.
	drawingTag struct{ start string }
)

// conditionalBranch is a branch of a condition.
type conditionalBranch struct {
	when expression // nil for else
	body []op
}

func (x *executor) run(all []op) {
	for _, o := range all {
		if !x.countSteps(1) {
			return
		}
		o.run(x)
	}
}

func (o raw) run(x *executor) { x.out.WriteString(string(o)) }

func (visible) run(x *executor) { x.printed = true }

func (o firstRoundOnly) run(x *executor) {
	if !x.repeated {
		x.out.WriteString(string(o))
	}
}

func (o literalText) run(x *executor) {
	if strings.TrimSpace(string(o)) != "" {
		x.printed = true
	}
	escapeText(x.out, string(o))
}

func (o printValue) run(x *executor) {
	s := formatValue(o.value.eval(x))
	x.countSteps(len(s) / 16)
	if s = strings.TrimRight(s, "\n"); s != "" {
		x.printed = true
	}
	for i, line := range strings.Split(s, "\n") {
		if i > 0 {
			x.out.WriteString(o.lineBreak)
		}
		escapeText(x.out, strings.TrimSuffix(line, "\r"))
	}
}

func (o conditional) run(x *executor) {
	for _, b := range o.branches {
		if b.when == nil || isTrue(b.when.eval(x)) {
			x.run(b.body)
			return
		}
	}
}

// items returns the items of the list that meet the condition, up to the limit.
func (o eachItem) items(x *executor) (out []scopeValue) {
	list := dereference(o.list.eval(x))
	keep := func(s scopeValue) bool {
		if !x.countSteps(1) {
			return false
		}
		if o.where != nil {
			x.scopes = append(x.scopes, s)
			ok := isTrue(o.where.eval(x))
			x.scopes = x.scopes[:len(x.scopes)-1]
			if !ok {
				return true
			}
		}
		s.number = len(out) + 1
		out = append(out, s)
		return o.limit == 0 || len(out) < o.limit
	}
	switch list.Kind() {
	case reflect.Slice:
		for i := range list.Len() {
			if !keep(scopeValue{value: list.Index(i)}) {
				break
			}
		}
	case reflect.Map:
		keys := list.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		for _, k := range keys {
			if !keep(scopeValue{value: list.MapIndex(k), key: k.String()}) {
				break
			}
		}
	}
	for i := range out {
		out[i].count = len(out)
	}
	return out
}

func (o eachItem) run(x *executor) {
	around := x.loop
	x.loop = o.place
	defer func() { x.loop = around }()
	items := o.items(x)
	if len(items) == 0 {
		x.run(o.els)
		return
	}
	before := x.repeated
	for i, s := range items {
		x.repeated = before || i > 0
		x.scopes = append(x.scopes, s)
		x.run(o.body)
		x.scopes = x.scopes[:len(x.scopes)-1]
		if x.err != nil {
			break
		}
	}
	x.repeated = before
}

func (o container) run(x *executor) {
	from := x.out.Len()
	x.run(o.body)
	written := x.out.Bytes()[from:]
	for _, end := range []string{"p>", "sdt>", "p/>"} {
		if bytes.HasSuffix(written, []byte(o.prefix+end)) {
			return
		}
	}
	x.out.WriteString("<" + o.prefix + "p/>")
}

func (o optional) run(x *executor) {
	from, before := x.out.Len(), x.printed
	x.printed = false
	x.run(o.body)
	if !x.printed {
		x.out.Truncate(from)
	}
	x.printed = x.printed || before
}

func (o drawingTag) run(x *executor) {
	x.drawingID++
	x.out.WriteString(setAttr(o.start, "id", strconv.Itoa(x.drawingID)))
}

func (e literal) eval(*executor) reflect.Value { return reflect.ValueOf(e.value) }

func (e fieldPath) eval(x *executor) reflect.Value {
	v := x.scopes[e.scope].value
	for _, s := range e.steps {
		v = dereference(v)
		switch {
		case !v.IsValid():
			return v
		case v.Kind() == reflect.Map:
			v = v.MapIndex(reflect.ValueOf(s.name).Convert(v.Type().Key()))
		case v.Type() == imageType:
			image := v.Interface().(content.LayoutImage)
			if v = reflect.ValueOf(image.Description); s.name == "title" {
				v = reflect.ValueOf(image.Title)
			}
		default:
			next, err := v.FieldByIndexErr(s.index)
			if err != nil {
				return reflect.Value{} // this part of the report doesn't exist
			}
			v = next
		}
	}
	return v
}

func (e loopVariable) eval(x *executor) reflect.Value {
	s := x.scopes[e.scope]
	switch e.name {
	case "@number":
		return reflect.ValueOf(s.number)
	case "@first":
		return reflect.ValueOf(s.number == 1)
	case "@last":
		return reflect.ValueOf(s.number == s.count)
	}
	return reflect.ValueOf(s.key)
}

func (e comparison) eval(x *executor) reflect.Value {
	x.countSteps(1)
	return reflect.ValueOf(satisfiesOperator(e.operator, compare(e.left.eval(x), e.right.eval(x))))
}

// satisfiesOperator reports whether a comparison result c, which is negative, 0 or positive,
// satisfies an operator such as "<".
func satisfiesOperator(operator string, c int) bool {
	switch operator {
	case "==":
		return c == 0
	case "!=":
		return c != 0
	case "<":
		return c < 0
	case ">":
		return c > 0
	case "<=":
		return c <= 0
	}
	return c >= 0
}

// eval returns a bool, unlike the functions "and" and "or" of Go templates, which return one of their operands.
func (e logical) eval(x *executor) reflect.Value {
	left := isTrue(e.left.eval(x))
	switch {
	case e.operator == "not":
		return reflect.ValueOf(!left)
	case e.operator == "or" && left, e.operator == "and" && !left:
		return reflect.ValueOf(left)
	}
	return reflect.ValueOf(isTrue(e.right.eval(x)))
}

func (e filtered) eval(x *executor) reflect.Value {
	v := e.of.eval(x)
	x.countSteps(1 + lengthOf(v)/8)
	return reflect.ValueOf(e.filter.apply(v, e.arg))
}
