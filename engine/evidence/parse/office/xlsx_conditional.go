package office

import (
	"cmp"
	"html"
	"slices"
	"strconv"
	"strings"
)

const (
	maxConditionalRanges = 500     // per sheet
	maxConditionalWork   = 1 << 30 // bytes of cells compared with rules, per workbook
)

// xlsxDifference is the part of a cell's appearance that a conditional format changes.
type xlsxDifference struct {
	Font   *xlsxFont `xml:"font"`
	Number struct {
		Code string `xml:"formatCode,attr"`
	} `xml:"numFmt"`
	Fill *struct {
		Pattern struct {
			Color *xlsxColor `xml:"bgColor"` // of a solid fill; in cell formats, it is fgColor
			Front *xlsxColor `xml:"fgColor"`
		} `xml:"patternFill"`
	} `xml:"fill"`
}

// lookChange holds the changes that a conditional format makes. A nil field means no change.
type lookChange struct {
	color, fill             *string // RGB; empty if unknown
	isStruck                *bool
	hidesText, hidesNumbers bool
}

func (w *workbook) lookChange(d xlsxDifference) (c lookChange) {
	if d.Font != nil && d.Font.Color != nil {
		color := w.rgb(d.Font.Color)
		c.color = &color
	}
	if d.Font != nil && d.Font.Strike != nil {
		isStruck := d.Font.Strike.isOn()
		c.isStruck = &isStruck
	}
	if d.Fill != nil {
		fill := w.rgb(cmp.Or(d.Fill.Pattern.Color, d.Fill.Pattern.Front))
		c.fill = &fill
	}
	c.hidesNumbers, c.hidesText = hiddenByCode(d.Number.Code)
	return c
}

// applyTo returns a cell's appearance after applying the changes.
func (c lookChange) applyTo(l cellLook) cellLook {
	if c.color != nil {
		l.color, l.hasConditionalColor = *c.color, true
	}
	if c.fill != nil {
		l.fill, l.hasNoFill = *c.fill, false
	}
	if c.isStruck != nil {
		l.isStruck, l.hasConditionalStrike = *c.isStruck, *c.isStruck
	}
	l.hidesText, l.hidesNumbers = l.hidesText || c.hidesText, l.hidesNumbers || c.hidesNumbers
	return l
}

// orElse returns the changes of c, supplemented by those of a rule with a lower priority.
func (c lookChange) orElse(next lookChange) lookChange {
	return lookChange{
		color: cmp.Or(c.color, next.color), fill: cmp.Or(c.fill, next.fill), isStruck: cmp.Or(c.isStruck, next.isStruck),
		hidesText: c.hidesText || next.hidesText, hidesNumbers: c.hidesNumbers || next.hidesNumbers,
	}
}

// changesVisibility reports whether the changes can make a value in some cell format visible or invisible.
func (w *workbook) changesVisibility(c lookChange) bool {
	changes := func(l cellLook) bool {
		changed := c.applyTo(l)
		return changed.unreadKind(true) != l.unreadKind(true) || changed.unreadKind(false) != l.unreadKind(false)
	}
	return changes(w.look(-1)) || slices.ContainsFunc(w.looks, changes)
}

// conditionalRule is a rule of a conditional format.
type conditionalRule struct {
	kind, operator, text string
	priority, change     int // change is an index in workbook.changes
	stops                bool
	formulas             []string
	ranges               []cellRange

	isMet func(v cellValue) bool
	// other is the column of the cell of the same row that the condition is about, or its distance if isRelative is set. If
	// both are unset, the condition is about the formatted cell.
	other      int
	isRelative bool
}

// cellValue is the value of a cell that isn't empty.
type cellValue struct {
	text     string // as displayed
	number   float64
	isNumber bool
	isError  bool
}

// conditionReader collects the rules of a sheet's conditional formats.
type conditionReader struct {
	c      *sheetCells
	ranges []cellRange // of the open format
	rule   *conditionalRule
	count  int // ranges of all rules
}

// readTag reads a tag after the cells of a sheet. Formats in extensions are ignored, because they specify their ranges
// differently.
func (r *conditionReader) readTag(s *tagScanner) {
	switch name, begins, ends := s.name(); name {
	case "conditionalFormatting":
		r.ranges = nil
		if !begins || ends {
			return
		}
		for ref := range strings.FieldsSeq(s.attr("sqref")) {
			if m, ok := parseRange(ref); ok && len(r.ranges) < maxConditionalRanges {
				r.ranges = append(r.ranges, m)
			}
		}
	case "cfRule":
		if begins {
			r.rule = &conditionalRule{
				kind: s.attr("type"), operator: s.attr("operator"), text: s.attr("text"), priority: parseDigits([]byte(s.attr("priority"))),
				change: parseDigits([]byte(s.attr("dxfId"))), stops: s.isAttrOn("stopIfTrue"), ranges: r.ranges,
			}
		}
		if ends && r.rule != nil {
			r.addRule(r.rule)
			r.rule = nil
		}
	case "formula":
		if r.rule != nil && !begins && len(r.rule.formulas) < 2 {
			r.rule.formulas = append(r.rule.formulas, html.UnescapeString(string(s.text)))
		}
	}
}

func (r *conditionReader) addRule(rule *conditionalRule) {
	w := r.c.w
	if len(rule.ranges) == 0 || rule.change < 0 || rule.change >= len(w.changes) {
		return
	}
	r.count += len(rule.ranges)
	rule.isMet = rule.condition()
	if r.count > maxConditionalRanges || rule.isMet == nil {
		if change := w.changes[rule.change]; change.hidesText || change.hidesNumbers || change.applyTo(w.look(-1)).unreadKind(false) != "" {
			r.c.warnOfRules()
		}
		return
	}
	r.c.rules = append(r.c.rules, rule)
}

func (c *sheetCells) warnOfRules() {
	c.w.b.Warn("The conditional formats of the sheet %q were not evaluated, so text hidden by them may have been included.", c.name)
}

// finish sorts the rules by their priority. It drops all of them if none affects whether a value is visible.
func (r *conditionReader) finish() {
	c := r.c
	if !slices.ContainsFunc(c.rules, func(rule *conditionalRule) bool { return c.w.changesVisibility(c.w.changes[rule.change]) }) {
		c.rules = nil
	}
	slices.SortStableFunc(c.rules, func(a, b *conditionalRule) int { return cmp.Compare(a.priority, b.priority) })
}

// rulesInRow returns the rules that apply to cells of a row.
func (c *sheetCells) rulesInRow(row int) (out []*conditionalRule) {
	if c.w.conditionalWork > maxConditionalWork && len(c.rules) > 0 {
		c.warnOfRules()
		c.rules = nil
	}
	c.w.conditionalWork += len(c.rules)
	for _, rule := range c.rules {
		if slices.ContainsFunc(rule.ranges, func(r cellRange) bool { return r.containsRow(row) }) {
			out = append(out, rule)
		}
	}
	return out
}

// applyRules returns a cell's appearance after applying the changes of the rules whose conditions the cell meets. texts
// are the cells of the row as displayed.
func (c *sheetCells) applyRules(rules []*conditionalRule, look cellLook, texts []string, row, column int, v cellValue) cellLook {
	var made lookChange
	for _, rule := range rules {
		if c.w.conditionalWork > maxConditionalWork {
			c.warnOfRules()
			break
		}
		c.w.conditionalWork += 8*len(rule.ranges) + len(v.text)
		isInside := slices.ContainsFunc(rule.ranges, func(r cellRange) bool { return r.containsRow(row) && r.containsColumn(column) })
		if !isInside || !rule.isMet(rule.value(texts, column, v)) {
			continue
		}
		made = made.orElse(c.w.changes[rule.change])
		if rule.stops {
			break
		}
	}
	return made.applyTo(look)
}

// value returns the value that the condition tests.
func (r *conditionalRule) value(texts []string, column int, own cellValue) cellValue {
	if r.other == 0 {
		return own
	}
	at := r.other
	if r.isRelative {
		at += column
	}
	v := cellValue{}
	if at >= 1 && at <= len(texts) {
		v.text = texts[at-1]
	}
	n, err := strconv.ParseFloat(v.text, 64)
	v.number, v.isNumber = n, err == nil
	return v
}

// condition returns a function that evaluates the rule's condition, or nil if the condition depends on anything other
// than the cell and, in a comparison, another cell of the row.
func (r *conditionalRule) condition() func(cellValue) bool {
	formula := ""
	if len(r.formulas) > 0 {
		formula = r.formulas[0]
	}
	switch r.kind {
	case "expression":
		return r.expression(formula)
	case "cellIs":
		return r.comparison(r.operator, r.formulas)
	case "notContainsBlanks":
		return func(v cellValue) bool { return strings.TrimSpace(v.text) != "" }
	case "notContainsErrors":
		return func(v cellValue) bool { return !v.isError }
	case "containsErrors":
		return func(v cellValue) bool { return v.isError }
	}
	// The text may come from another cell, or contain wildcards.
	if r.text == "" || !strings.Contains(formula, strconv.Quote(r.text)) || strings.ContainsAny(r.text, `*?~"\`) {
		return nil
	}
	want := strings.ToLower(r.text)
	switch r.kind {
	case "containsText":
		return func(v cellValue) bool { return strings.Contains(strings.ToLower(v.text), want) }
	case "notContainsText":
		return func(v cellValue) bool { return !strings.Contains(strings.ToLower(v.text), want) }
	case "beginsWith":
		return func(v cellValue) bool { return strings.HasPrefix(strings.ToLower(v.text), want) }
	case "endsWith":
		return func(v cellValue) bool { return strings.HasSuffix(strings.ToLower(v.text), want) }
	}
	return nil
}

var comparisonOperators = map[string]string{
	"=": "equal", "<>": "notEqual", "<": "lessThan", "<=": "lessThanOrEqual", ">": "greaterThan", ">=": "greaterThanOrEqual",
}

// expression evaluates a constant, or a formula that compares a cell in the same row. Formulas are written for the
// first cell of the range.
func (r *conditionalRule) expression(formula string) func(cellValue) bool {
	formula = strings.TrimSpace(strings.TrimPrefix(formula, "="))
	switch n, err := strconv.ParseFloat(formula, 64); {
	case err == nil:
		return func(cellValue) bool { return n != 0 }
	case strings.EqualFold(formula, "TRUE"), strings.EqualFold(formula, "TRUE()"):
		return func(cellValue) bool { return true }
	case strings.EqualFold(formula, "FALSE"), strings.EqualFold(formula, "FALSE()"):
		return func(cellValue) bool { return false }
	}
	begin := max(strings.IndexAny(formula, "<>="), 0)
	name, value := strings.TrimSpace(formula[:begin]), formula[begin:]
	length := len(value) - len(strings.TrimLeft(value, "<>="))
	operator := comparisonOperators[value[:length]]
	cell, ok := parseRange(strings.ReplaceAll(name, "$", ""))
	if !ok || operator == "" || strings.Contains(name, ":") || len(r.ranges) != 1 {
		return nil
	}
	at := r.ranges[0]
	if cell.firstRow != at.firstRow || strings.LastIndexByte(name, '$') > 0 && at.lastRow != at.firstRow {
		return nil
	}
	if r.isRelative = !strings.HasPrefix(name, "$"); r.isRelative {
		r.other = cell.firstColumn - at.firstColumn
	} else if cell.firstColumn != at.firstColumn || at.lastColumn != at.firstColumn {
		r.other = cell.firstColumn
	}
	return r.comparison(operator, []string{value[length:]})
}

// comparison compares the cell with numbers or quoted texts.
func (r *conditionalRule) comparison(operator string, formulas []string) func(cellValue) bool {
	var with []cellValue
	for _, f := range formulas {
		f = strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(f), "="))
		n, err := strconv.ParseFloat(f, 64)
		text, isText := strings.CutPrefix(f, `"`)
		text, isClosed := strings.CutSuffix(text, `"`)
		switch {
		case err == nil:
			with = append(with, cellValue{number: n, isNumber: true})
		case isText && isClosed && !strings.Contains(strings.ReplaceAll(text, `""`, ""), `"`):
			with = append(with, cellValue{text: strings.ReplaceAll(text, `""`, `"`)})
		default:
			return nil
		}
	}
	isBetween := operator == "between" || operator == "notBetween"
	if len(with) == 0 || isBetween && len(with) < 2 {
		return nil
	}
	var accepts func(v cellValue) bool
	switch operator {
	case "equal":
		accepts = func(v cellValue) bool { return v.compare(with[0]) == 0 }
	case "notEqual":
		accepts = func(v cellValue) bool { return v.compare(with[0]) != 0 }
	case "lessThan":
		accepts = func(v cellValue) bool { return v.compare(with[0]) < 0 }
	case "lessThanOrEqual":
		accepts = func(v cellValue) bool { return v.compare(with[0]) <= 0 }
	case "greaterThan":
		accepts = func(v cellValue) bool { return v.compare(with[0]) > 0 }
	case "greaterThanOrEqual":
		accepts = func(v cellValue) bool { return v.compare(with[0]) >= 0 }
	case "between":
		accepts = func(v cellValue) bool { return v.compare(with[0]) >= 0 && v.compare(with[1]) <= 0 }
	case "notBetween":
		accepts = func(v cellValue) bool { return v.compare(with[0]) < 0 || v.compare(with[1]) > 0 }
	default:
		return nil
	}
	return func(v cellValue) bool { return !v.isError && accepts(v) }
}

// compare orders values as spreadsheets do: numbers come before text, and case is ignored.
func (v cellValue) compare(other cellValue) int {
	switch {
	case v.text == "" && !v.isNumber && other.isNumber: // an empty cell is zero
		return cmp.Compare(0, other.number)
	case v.isNumber && other.isNumber:
		return cmp.Compare(v.number, other.number)
	case v.isNumber:
		return -1
	case other.isNumber:
		return 1
	}
	return strings.Compare(strings.ToLower(v.text), strings.ToLower(other.text))
}
