package officelayout

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
)

// Limits on a part that is read as a tree.
const (
	maxPartDepth = 300
	maxPartNodes = 400_000 // in all parts of a layout together
)

// namespaces maps each namespace to the prefix that this package uses for it.
var namespaces = map[string]string{
	"http://schemas.openxmlformats.org/wordprocessingml/2006/main":            "w",
	"http://schemas.openxmlformats.org/drawingml/2006/main":                   "a",
	"http://schemas.openxmlformats.org/presentationml/2006/main":              "p",
	"http://schemas.openxmlformats.org/officeDocument/2006/relationships":     "r",
	"http://schemas.openxmlformats.org/drawingml/2006/wordprocessingDrawing":  "wp",
	"http://schemas.openxmlformats.org/drawingml/2006/picture":                "pic",
	"http://schemas.openxmlformats.org/package/2006/relationships":            "rel",
	"http://schemas.openxmlformats.org/package/2006/content-types":            "ct",
	"http://schemas.openxmlformats.org/officeDocument/2006/custom-properties": "custom",
	"http://purl.oclc.org/ooxml/wordprocessingml/main":                        "strict",
	"http://purl.oclc.org/ooxml/presentationml/main":                          "strict",
}

// node is an element, a text, a placeholder or a block in the tree of a part. For an element, it stores the original
// bytes of the tags.
type node struct {
	// name is the element's name with the prefix from namespaces, such as "w:p"; "" for text.
	name string
	// prefix is the prefix that the part itself uses, with its colon.
	prefix     string
	start, end string // the original tags; end is empty for <x/>; for a text, start has its original bytes
	attrs      []xml.Attr
	// text is the character data of a text node, unescaped, or XML that is written unchanged if raw is set.
	text     string
	raw      bool
	children []*node
	parent   *node
	// tag is a placeholder; block is a loop or condition that has replaced its siblings.
	tag   *tag
	block *blockNode
	// hadBlockTag is set for a paragraph or row that contained a tag of a block; if it prints
	// nothing, it is omitted.
	hadBlockTag bool
	place       string
}

func (n *node) isText() bool { return n.name == "" && n.tag == nil && n.block == nil && !n.raw }

// hasName reports whether the element has one of the names.
func (n *node) hasName(names ...string) bool {
	return slices.Contains(names, n.name)
}

// attr returns the value of the attribute with the given name, without a prefix, or "" if there is none.
func (n *node) attr(local string) string {
	if n == nil {
		return ""
	}
	for _, a := range n.attrs {
		if a.Name.Local == local && a.Name.Space != "xmlns" {
			return a.Value
		}
	}
	return ""
}

// child returns the first child element with the name, or nil.
func (n *node) child(name string) *node {
	for _, c := range n.children {
		if c.name == name {
			return c
		}
	}
	return nil
}

// ancestor returns the closest ancestor of n that has one of the given names, or nil.
func (n *node) ancestor(names ...string) *node {
	for p := n.parent; p != nil; p = p.parent {
		if p.hasName(names...) {
			return p
		}
	}
	return nil
}

// walk calls f for n and everything below it, in document order. If f returns false for a node, the node's children
// are skipped.
func (n *node) walk(f func(*node) bool) {
	if !f(n) {
		return
	}
	for _, c := range n.children {
		c.walk(f)
	}
}

// find returns the first element below n with the name, or nil.
func (n *node) find(name string) (found *node) {
	n.walk(func(c *node) bool {
		if found == nil && c.name == name {
			found = c
		}
		return found == nil
	})
	return found
}

// index returns the position of n among its parent's children.
func (n *node) index() int {
	return slices.Index(n.parent.children, n)
}

func (n *node) setChildren(all []*node) {
	n.children = all
	for _, c := range all {
		c.parent = n
	}
}

// allText returns the character data below n.
func (n *node) allText() string {
	var b strings.Builder
	n.walk(func(c *node) bool {
		if c.isText() {
			b.WriteString(c.text)
		}
		return true
	})
	return b.String()
}

var errStrict = errors.New(
	"the file is in Strict Open XML format; in Word or PowerPoint, save it as a normal document (.docx) or presentation (.pptx)",
)

// parsePart reads a part as a tree. nodes is the number of nodes that may still be read. parsePart subtracts the
// nodes that it reads.
func parsePart(data []byte, nodes *int) (*node, error) {
	d := xml.NewDecoder(bytes.NewReader(data))
	d.Strict = true
	root := &node{name: "document"}
	at, depth := root, 0
	type scope map[string]string
	scopes := []scope{{"xml": "xml"}}
	for {
		from := d.InputOffset()
		t, err := d.RawToken()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, err
		}
		raw := string(data[from:d.InputOffset()])
		if *nodes--; *nodes < 0 {
			return nil, fmt.Errorf("the layout has more than %d elements", maxPartNodes)
		}
		add := func(n *node) {
			n.parent = at
			at.children = append(at.children, n)
		}
		switch t := t.(type) {
		case xml.StartElement:
			if depth++; depth > maxPartDepth {
				return nil, fmt.Errorf("the elements are nested more than %d levels deep", maxPartDepth)
			}
			n := &node{start: raw, attrs: t.Copy().Attr}
			known := scopes[len(scopes)-1]
			copied := false
			for _, a := range t.Attr {
				if a.Name.Space != "xmlns" && (a.Name.Space != "" || a.Name.Local != "xmlns") {
					continue
				}
				if !copied {
					known, copied = maps.Clone(known), true
					*nodes -= len(known)
				}
				prefix := ""
				if a.Name.Space == "xmlns" {
					prefix = a.Name.Local
				}
				known[prefix] = namespaces[a.Value]
				if known[prefix] == "strict" {
					return nil, errStrict
				}
				if len(known) > 200 {
					return nil, errors.New("the part declares more than 200 namespaces")
				}
			}
			scopes = append(scopes, known)
			n.name = known[t.Name.Space] + ":" + t.Name.Local
			if t.Name.Space != "" {
				n.prefix = t.Name.Space + ":"
			}
			add(n)
			at = n
		case xml.EndElement:
			if at == root {
				return nil, errors.New("the part has an end tag without a start tag")
			}
			if _, local, _ := strings.Cut(at.name, ":"); at.prefix+local != qualifiedName(t.Name) {
				return nil, fmt.Errorf("the element %s is closed by the wrong end tag, %s", at.name, raw)
			}
			at.end = raw
			at, depth, scopes = at.parent, depth-1, scopes[:len(scopes)-1]
		case xml.CharData:
			if at == root {
				add(&node{text: raw, raw: true})
				continue
			}
			add(&node{text: string(t), start: raw})
		case xml.Directive:
			return nil, errors.New("the part declares entities or a document type")
		case xml.ProcInst:
			add(&node{text: raw, raw: true})
		case xml.Comment: // not visible to readers of the document
		}
	}
	if at != root {
		return nil, fmt.Errorf("the element %s is not closed", at.name)
	}
	return root, nil
}

// qualifiedName returns a name with its namespace prefix.
func qualifiedName(n xml.Name) string {
	if n.Space == "" {
		return n.Local
	}
	return n.Space + ":" + n.Local
}

// escapeText escapes text for character data and attributes. Characters that XML doesn't allow become U+FFFD.
func escapeText(b *bytes.Buffer, s string) {
	_ = xml.EscapeText(b, []byte(s)) // writing to a buffer can't fail
}

// escaped returns text escaped as escapeText does.
func escaped(s string) string {
	var b bytes.Buffer
	escapeText(&b, s)
	return b.String()
}

// setAttr returns a start tag in which an attribute has the given value. If the tag doesn't have the attribute, it
// is added. name includes the prefix that the part uses.
func setAttr(start, name, value string) string {
	quoted := name + `="` + escaped(value) + `"`
	for i := 0; i < len(start); {
		switch c := start[i]; {
		case c == '"' || c == '\'':
			i += strings.IndexByte(start[i+1:], c) + 2
		case isSpace(c) && strings.HasPrefix(start[i+1:], name) && i+1+len(name) < len(start) &&
			(start[i+1+len(name)] == '=' || isSpace(start[i+1+len(name)])):
			from := i + 1
			open := from + strings.IndexAny(start[from:], `"'`)
			end := open + 1 + strings.IndexByte(start[open+1:], start[open])
			return start[:from] + quoted + start[end+1:]
		default:
			i++
		}
	}
	end := len(start) - 1
	if strings.HasSuffix(start, "/>") {
		end--
	}
	return start[:end] + " " + quoted + start[end:]
}

func isSpace(c byte) bool { return c == ' ' || c == '\t' || c == '\n' || c == '\r' }
