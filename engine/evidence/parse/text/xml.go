package text

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// maxMixedText is the maximum size of text in an element's children before the element's own first
// text. An element with more text counts as a group of elements rather than a sentence with marked
// words.
const maxMixedText = 16 << 10

// xmlElement is an open element.
type xmlElement struct {
	name         string
	line         int
	keys, values []string // of its attributes and leaf children that have not been written yet
	attributes   int      // the number of attributes in keys
	text         strings.Builder
	hasChildren  bool
	hasOwnText   bool // has text in addition to that of its children
	isGroup      bool // part of it has been written
	table        int
}

type xmlReader struct {
	b        *document.Builder
	dec      *xml.Decoder
	newlines newlines
	open     []*xmlElement
}

// NewXMLDecoder returns a decoder for XML in UTF-8, whatever encoding it declares.
func NewXMLDecoder(text string) *xml.Decoder {
	dec := xml.NewDecoder(strings.NewReader(text))
	dec.CharsetReader = func(_ string, in io.Reader) (io.Reader, error) { return in, nil }
	dec.Strict, dec.Entity = false, xml.HTMLEntity
	return dec
}

// ReadXML writes the attributes and the children of each element as one row ("name: text; …"),
// under the path of elements that leads to it. Text that contains marked words is treated as a
// single value.
func ReadXML(b *document.Builder, text string) error {
	x := &xmlReader{b: b, dec: NewXMLDecoder(text), newlines: findNewlines(text)}
	for b.Err() == nil {
		tok, err := x.dec.Token()
		if errors.Is(err, io.EOF) {
			return b.Err()
		}
		if err != nil {
			return document.DamagedError(fmt.Sprintf("line %d", x.currentLine()), err)
		}
		switch t := tok.(type) {
		case xml.StartElement:
			if len(x.open) >= maxNestingDepth {
				return document.NewError(document.ErrDamaged, fmt.Sprintf("line %d", x.currentLine()), "nested deeper than %d", maxNestingDepth)
			}
			x.openElement(t)
		case xml.CharData:
			x.addText(string(t))
		case xml.EndElement:
			x.closeElement()
		}
	}
	return b.Err()
}

func (x *xmlReader) currentLine() int { return 1 + x.newlines.countBefore(int(x.dec.InputOffset())) }

func (x *xmlReader) openElement(t xml.StartElement) {
	e := &xmlElement{name: t.Name.Local, line: x.currentLine()}
	for _, a := range t.Attr {
		if a.Name.Space == "xmlns" || a.Name.Local == "xmlns" || a.Name.Local == "schemaLocation" || strings.TrimSpace(a.Value) == "" {
			continue
		}
		e.keys, e.values = append(e.keys, a.Name.Local), append(e.values, a.Value)
	}
	e.attributes = len(e.keys)
	if len(x.open) > 0 {
		x.open[len(x.open)-1].hasChildren = true
	}
	x.open = append(x.open, e)
}

func (x *xmlReader) addText(s string) {
	if len(x.open) == 0 {
		return
	}
	e := x.open[len(x.open)-1]
	if strings.TrimSpace(s) == "" {
		s = " "
	} else {
		e.hasOwnText = true
	}
	e.text.WriteString(s)
}

// closeElement closes the innermost element: a value, or a sentence with marked words, becomes a
// value of the enclosing element; anything else is written as a row.
func (x *xmlReader) closeElement() {
	depth := len(x.open)
	if depth == 0 {
		return
	}
	e := x.open[depth-1]
	if depth > 1 && !e.isGroup {
		around := x.open[depth-2]
		isSentence := e.hasOwnText && e.hasChildren
		if around.hasOwnText || isSentence && e.attributes == 0 || !e.hasChildren && e.attributes == 0 {
			x.open = x.open[:depth-1]
			if text := document.CleanLine(e.text.String()); text != "" {
				around.keys, around.values = append(around.keys, e.name), append(around.values, text)
				around.text.WriteString(text)
				if around.text.Len() > maxMixedText && !around.hasOwnText {
					x.flush()
				}
			}
			return
		}
	}
	x.flush()
	x.open = x.open[:depth-1]
}

// flush writes the content of open elements that has not been written yet, starting with the outermost element.
func (x *xmlReader) flush() {
	path := make([]string, 0, len(x.open))
	for _, e := range x.open {
		path = append(path, e.name)
		if e.hasOwnText { // its children are words within its own text
			e.keys, e.values = append(e.keys[:e.attributes], ""), append(e.values[:e.attributes], e.text.String())
		}
		if len(e.keys) > 0 {
			if e.table == 0 {
				e.table = x.b.NextTableNumber()
			}
			addFields(x.b, e.keys, e.values, slices.Clone(path), e.table, lineRange(e.line, x.currentLine()))
		}
		e.keys, e.values, e.attributes, e.hasOwnText, e.isGroup = nil, nil, 0, false, true
		e.text.Reset()
	}
}
