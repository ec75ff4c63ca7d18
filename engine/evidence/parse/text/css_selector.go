package text

import (
	"encoding/binary"
	"strings"

	"github.com/andybalholm/cascadia"
	"golang.org/x/net/html"
)

func isCSSSpace(r rune) bool { return strings.ContainsRune(" \t\n\r\f", r) }

// compound is a part of a selector that one element has to match.
type compound struct {
	keys      []string // keys that the element must match: a name, ".class" or "#id"; there may be further conditions
	isSibling bool     // the element is a sibling, not an ancestor, of the next part's element
}

// splitSelector returns the parts of a selector whose words are separated by single spaces, or nil if it has escapes.
func splitSelector(selector string) []compound {
	if strings.Contains(selector, `\`) {
		return nil
	}
	parts := []compound{{}}
	for rest := selector; rest != ""; {
		part := &parts[len(parts)-1]
		switch c := rest[0]; c {
		case ' ', '>':
			rest = strings.TrimLeft(rest, " >")
			if rest == "" || rest[0] == '+' || rest[0] == '~' {
				continue
			}
			parts = append(parts, compound{})
		case '+', '~':
			part.isSibling = true
			parts, rest = append(parts, compound{}), strings.TrimLeft(rest[1:], " ")
		case '[':
			rest = rest[1+indexAfterClosing(rest[1:], '[', ']'):]
		case ':', '*':
			n := strings.IndexAny(rest[1:], " >+~.#[:(") + 1
			if n == 0 {
				n = len(rest)
			}
			if rest = rest[n:]; strings.HasPrefix(rest, "(") {
				rest = rest[1+indexAfterClosing(rest[1:], '(', ')'):]
			}
		default:
			n := strings.IndexAny(rest[1:], " >+~.#[:") + 1
			if n == 0 {
				n = len(rest)
			}
			key := rest[:n]
			if c != '.' && c != '#' {
				key = strings.ToLower(key)
			}
			part.keys, rest = append(part.keys, key), rest[n:]
		}
	}
	return parts
}

// indexAfterClosing returns the index after the bracket that closes an open bracket, or the length if there is none.
func indexAfterClosing(s string, opens, closes byte) int {
	depth := 1
	var quote byte
	for i := range len(s) {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '"' || c == '\'':
			quote = c
		case c == opens:
			depth++
		case c == closes:
			if depth--; depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// newRule returns a rule and the keys that an element and its nearest required ancestor must match;
// the keys are "" if unknown.
func (s *stylesheet) newRule(selector string, properties []cssProperty) (r cssRule, key, nearest string) {
	r = cssRule{text: selector, order: s.count, properties: properties}
	parts := splitSelector(selector)
	for i, part := range parts {
		switch {
		case i == len(parts)-1:
			if len(part.keys) > 0 {
				key = part.keys[len(part.keys)-1]
			}
		case !part.isSibling:
			for _, ancestor := range part.keys {
				if s.ancestors[ancestor] == nil {
					s.ancestors[ancestor] = new(int)
				}
				r.ancestors, nearest = append(r.ancestors, s.ancestors[ancestor]), ancestor
			}
		}
	}
	r.isKey = selector == key
	return r, key, nearest
}

// matches reports whether an element that was found by the rule's key matches its selector. Selectors are parsed only
// when needed, because most rules are about elements that the page doesn't contain. An unsupported selector matches
// nothing.
func (r *cssRule) matches(n *html.Node) bool {
	if !r.isParsed {
		r.isParsed = true
		if selector, err := cascadia.Parse(r.text); err == nil {
			r.selector, r.specificity = selector, selector.Specificity()
		}
	}
	return r.selector != nil && (r.isKey || r.selector.Match(n))
}

// ruleKey returns a key for the rules that match an element.
func ruleKey(rules []*cssRule) string {
	key := make([]byte, 0, 64)
	for _, r := range rules {
		key = binary.AppendUvarint(key, uint64(r.order)) //nolint:gosec // it counts from 1
	}
	return string(key)
}
