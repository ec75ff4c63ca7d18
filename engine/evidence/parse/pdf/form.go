package pdf

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/questionnaire"
)

type fieldKind int

const (
	textField  fieldKind = iota // typed or chosen from a list
	checkField                  // on or off
	radioField                  // one of several
)

// formField is a form field, or text typed onto a page.
type formField struct {
	at         box
	kind       fieldKind
	name, hint string // the name is for programs, the hint is shown to people
	value      string
	isOn       bool
}

const (
	maxFieldSize  = 12.0 // maximum font size of a value, in points
	letterWidth   = 0.5  // average width of a letter as a share of its height
	maxLabelReach = 250  // maximum distance of a field from the label on its left, in points
	maxCheckReach = 25   // maximum distance of a check box from its label, in points
)

// addFields adds the answers of a form to the words of the page, each after its printed label. For
// a field without a label, it also adds the field's hint or name.
func (p *pageContent) addFields() {
	slices.SortStableFunc(p.fields, func(a, b formField) int { return int(a.at.y0 - b.at.y0) })
	printed := slices.Clone(p.words)
	for _, f := range p.fields {
		if f.kind == textField {
			p.addTextValue(f, printed)
		}
	}
	var dropped []word
	for _, f := range p.fields {
		if f.kind != textField {
			dropped = append(dropped, p.addChoice(f, printed)...)
		}
	}
	p.words = slices.DeleteFunc(p.words, func(w word) bool {
		return len(dropped) > 0 && slices.ContainsFunc(dropped, func(d word) bool { return d.box == w.box && d.text == w.text })
	})
}

// label returns a field's own name, for fields without a printed label.
func (f formField) label() string {
	name := f.name[strings.LastIndexByte(f.name, '.')+1:]
	for _, s := range []string{f.hint, strings.ReplaceAll(name, "_", " ")} {
		if s = document.CleanLine(s); s != "" {
			if strings.HasSuffix(s, ":") || strings.HasSuffix(s, "?") {
				return s
			}
			return s + ":"
		}
	}
	return ""
}

// addTextValue adds the value of a text field or list.
func (p *pageContent) addTextValue(f formField, printed []word) {
	if f.value == "" {
		return
	}
	at, value := f.at, f.value
	size := min(maxFieldSize, max(at.height(), tinySize))
	label := p.labelLeft(f, printed, maxLabelReach)
	switch {
	case len(label) > 0:
		last := label[len(label)-1]
		size = last.height()
		at.y0, at.y1 = last.y0, max(last.y1, at.y1)
		if !p.isSeparated(last, f.at) {
			at.x0 = last.x1 + letterWidth*size/2
		}
	case len(p.labelAbove(f, printed)) == 0:
		value = strings.TrimSpace(f.label() + " " + value)
	}
	if len(label) == 0 && at.height() < 2*size { // a single line, centered vertically
		at.y0 = (at.y0+at.y1)/2 - size/2
	}
	y, first := at.y0, len(p.words)
	for _, line := range strings.FieldsFunc(value, func(r rune) bool { return r == '\n' || r == '\r' }) {
		for _, part := range wrapLine(line, int((at.x1-at.x0)/(letterWidth*size))) {
			p.addWords(part, at.x0, y, at.x1, size)
			y += 1.2 * size
		}
	}
	p.markAnswer(first)
}

// wrapLine splits a line into lines of about width letters.
func wrapLine(line string, width int) []string {
	var out []string
	width = max(width, 20)
	n := 0
	for _, w := range strings.Fields(line) {
		if length := utf8.RuneCountInString(w); len(out) == 0 || n+1+length > width {
			out, n = append(out, w), length
		} else {
			out[len(out)-1] += " " + w
			n += 1 + length
		}
	}
	return out
}

// addWords adds the words of a line whose upper left corner is at x, y. If necessary, it moves the words closer
// together, so that the line ends at limit.
func (p *pageContent) addWords(line string, x, y, limit, size float64) {
	width := letterWidth * size * float64(utf8.RuneCountInString(line))
	scale := 1.0
	if limit > x && width > limit-x {
		scale = (limit - x) / width
	}
	for _, text := range strings.Fields(line) {
		end := x + scale*letterWidth*size*float64(utf8.RuneCountInString(text))
		p.words = append(p.words, word{box: box{x0: x, y0: y, x1: end, y1: y + size}, text: text})
		x = end + scale*letterWidth*size/2
	}
}

// addChoice adds the answer of a check box or radio button. dropped holds the words of options that weren't selected.
func (p *pageContent) addChoice(f formField, printed []word) (dropped []word) {
	right, left := p.labelRight(f, printed), p.labelLeft(f, printed, maxLabelReach)
	isOption := f.kind == radioField || len(right) > 0 && isAnswer(joinWords(right))
	if isOption {
		switch option := lastOption(left, f.at.x0); {
		case f.kind == radioField && len(option) > 0 && p.hasOptionsLeft(f, printed):
			if !f.isOn {
				return option
			}
		case len(right) > 0 && !f.isOn:
			return right
		case len(right) == 0 && f.isOn:
			p.addAnswer(f, left, f.value)
		}
		return nil
	}
	answer := "no"
	if f.isOn {
		answer = "yes"
	}
	isNear := len(left) > 0 && f.at.x0-left[len(left)-1].x1 < maxCheckReach
	if len(right) > 0 && !isNear {
		p.addAnswer(f, right, answer)
	} else {
		p.addAnswer(f, left, answer)
	}
	return nil
}

// hasOptionsLeft reports whether the labels on a line with radio buttons are to the left of their buttons, as in "Yes
// ○ No ○". This is assumed if one of the labels is an answer and no label follows the last button.
func (p *pageContent) hasOptionsLeft(f formField, printed []word) bool {
	last, isAny := f, false
	for _, o := range p.fields {
		if o.kind != radioField || o.at.y0 >= f.at.y1 || o.at.y1 <= f.at.y0 {
			continue
		}
		if o.at.x0 > last.at.x0 {
			last = o
		}
		isAny = isAny || isAnswer(joinWords(lastOption(p.labelLeft(o, printed, maxLabelReach), o.at.x0)))
	}
	return isAny && len(p.labelRight(last, printed)) == 0
}

// lastOption returns the words of a label that belong to the radio button to their right: the last adjacent words,
// without a preceding question.
func lastOption(label []word, to float64) []word {
	limit := float64(maxCheckReach)
	for i := len(label) - 1; i >= 0; i-- {
		w := label[i]
		if to-w.x1 > limit || strings.ContainsAny(w.text[len(w.text)-1:], ":?") {
			return label[i+1:]
		}
		to, limit = w.x0, 1.2*w.height()
	}
	return label
}

// addAnswer adds an answer after its label, or at its field.
func (p *pageContent) addAnswer(f formField, label []word, answer string) {
	first := len(p.words)
	defer func() { p.markAnswer(first) }()
	if len(label) == 0 {
		size := min(maxFieldSize, f.at.height())
		p.addWords(strings.TrimSpace(f.label()+" "+answer), f.at.x0, f.at.y0, 0, size)
		return
	}
	last := label[len(label)-1]
	size := last.height()
	if f.at.x0 > last.x1 && p.isSeparated(last, f.at) {
		p.addWords(answer, f.at.x0, last.y0, 0, size)
		return
	}
	if !strings.ContainsAny(last.text[len(last.text)-1:], ":?") {
		for i := range p.words {
			if p.words[i] == last {
				p.words[i].text += ":"
			}
		}
	}
	p.addWords(answer, last.x1+letterWidth*size/2, last.y0, 0, size)
}

// markAnswer marks the words from the given index on as one answer.
func (p *pageContent) markAnswer(first int) {
	if words := p.words[first:]; len(words) > 0 {
		words[0].beginsAnswer, words[len(words)-1].endsAnswer = true, true
	}
}

// isAnswer reports whether a label next to a check box is an answer rather than a question.
func isAnswer(label string) bool {
	switch strings.ToLower(strings.Trim(label, " .,;:()")) {
	case "implemented", "in place", "in use", "compliant", "ja", "nein", "teilweise", "oui", "non", "sí", "si", "sì", "não", "sim", "nee":
		return true
	}
	return questionnaire.AnswerOfColumn(label) != questionnaire.None || questionnaire.Parse(label) != questionnaire.None
}

func joinWords(words []word) string {
	var parts []string
	for _, w := range words {
		parts = append(parts, w.text)
	}
	return strings.Join(parts, " ")
}

// isBeside reports whether a word is on the line of a field, or on the first line of a tall field.
func (f formField) isBeside(w word) bool {
	if w.turn.isVertical() {
		return false
	}
	mid := (w.y0 + w.y1) / 2
	return mid > f.at.y0-0.2*w.height() && mid < min(f.at.y1+0.2*w.height(), f.at.y0+2.5*w.height()) ||
		f.at.y0 > w.y0 && f.at.y1 < w.y1
}

// labelLeft returns the words of the label to the left of a field, from left to right.
func (p *pageContent) labelLeft(f formField, printed []word, reach float64) []word {
	from := f.at.x0 - reach
	for _, o := range p.fields { // the label is to the right of the preceding field
		if o.at != f.at && o.at.x1 <= f.at.x0+1 && min(o.at.y1, f.at.y1)-max(o.at.y0, f.at.y0) > 0.5*min(o.at.height(), f.at.height()) {
			from = max(from, o.at.x1)
		}
	}
	return lastLineMatching(printed, func(w word) bool { return f.isBeside(w) && w.x0 >= from-1 && w.x1 <= f.at.x0+0.3*w.height() })
}

// labelRight returns the words that begin to the right of a check box and are adjacent to each other.
func (p *pageContent) labelRight(f formField, printed []word) []word {
	to := p.w
	for _, o := range p.fields {
		if o.at != f.at && o.at.x0 >= f.at.x1-1 && min(o.at.y1, f.at.y1)-max(o.at.y0, f.at.y0) > 0.5*min(o.at.height(), f.at.height()) {
			to = min(to, o.at.x0)
		}
	}
	words := lastLineMatching(printed, func(w word) bool { return f.isBeside(w) && w.x0 >= f.at.x1-0.3*w.height() && w.x1 <= to+1 })
	end := f.at.x1
	for i, w := range words {
		limit := 1.2 * w.height()
		if i == 0 {
			limit = maxCheckReach
		}
		if w.x0-end > limit {
			return words[:i]
		}
		end = w.x1
	}
	return words
}

// labelAbove returns the words of the line directly above a field.
func (p *pageContent) labelAbove(f formField, printed []word) []word {
	return lastLineMatching(printed, func(w word) bool {
		return !w.turn.isVertical() && w.x1 > f.at.x0 && w.x0 < f.at.x1 && w.y1 <= f.at.y0+0.3*w.height() && f.at.y0-w.y1 < 0.8*w.height()
	})
}

// lastLineMatching returns the words that satisfy a condition and are on the same line as the last
// such word, from left to right.
func lastLineMatching(words []word, matches func(word) bool) []word {
	var found []word
	for _, w := range words {
		if matches(w) {
			found = append(found, w)
		}
	}
	if len(found) == 0 {
		return nil
	}
	lines := groupLines(found)
	best := lines[0]
	for _, l := range lines {
		if l.x1 > best.x1 {
			best = l
		}
	}
	return best.words
}

// isSeparated reports whether a ruling line of a table is between a label and its field.
func (p *pageContent) isSeparated(label word, field box) bool {
	mid := (label.y0 + label.y1) / 2
	return slices.ContainsFunc(p.rules, func(r rule) bool {
		return !r.horizontal && r.at > label.x1-1 && r.at < field.x0-2 && r.from < mid && r.to > mid
	})
}
