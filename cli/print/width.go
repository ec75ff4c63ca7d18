package print

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width returns the number of terminal columns that text occupies.
func Width(s string) int {
	if isPrintableASCII(s) { // each character takes one column
		return len(s)
	}
	all, state := 0, -1
	for s != "" {
		var sign string
		var w int
		sign, s, w, state = uniseg.FirstGraphemeClusterInString(s, state)
		all += graphemeWidth(sign, w)
	}
	return all
}

// graphemeWidth returns the width to assume for a grapheme that is unicodeWidth columns wide according to Unicode.
// Some terminals show its runes one by one, which can take more columns. The larger width is used, so that a line is
// never wider than calculated.
func graphemeWidth(grapheme string, unicodeWidth int) int {
	if _, n := utf8.DecodeRuneInString(grapheme); n == len(grapheme) {
		return unicodeWidth
	}
	apart := 0
	for _, r := range grapheme {
		switch {
		case r < 0x20 || r >= 0x300 && r < 0x370 || r >= 0x1160 && r < 0x1200: // accents, and Hangul vowels and finals
		case r < 0x7f:
			apart++
		default:
			apart += uniseg.StringWidth(string(r))
		}
	}
	return max(unicodeWidth, apart)
}

// Truncate shortens text to at most width columns, ending in … if anything was cut.
func Truncate(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	head, _ := splitAtWidth(s, width-1)
	return strings.TrimRight(head, " ") + "…"
}

// Wrap breaks text into lines of at most width columns, between words if possible, and otherwise after the hyphens,
// underscores and slashes of long words. Existing line breaks are kept. A width below one means no limit.
func Wrap(s string, width int) []string {
	var out []string
	for _, line := range strings.Split(s, "\n") {
		if width < 1 || Width(line) <= width {
			out = append(out, line)
			continue
		}
		out = append(out, wrapLine(line, width)...)
	}
	return out
}

// WrapProse is like Wrap, but for prose. A command in `backquotes` is kept on one line if it fits. The continuation
// lines of list items (" - ") are indented to align with their first word. Other indented lines are left unchanged.
func WrapProse(s string, width int) []string {
	const placeholder = "\ue000" // a private-use rune, which should not occur in text
	var out []string
	for _, line := range strings.Split(strings.ReplaceAll(s, placeholder, " "), "\n") {
		lead, follow := "", ""
		if item, ok := strings.CutPrefix(line, "  - "); ok && width > 24 {
			lead, follow, line = "  - ", "    ", item
		} else if strings.HasPrefix(line, "  ") {
			out = append(out, line)
			continue
		}
		parts := strings.Split(line, "`")
		for i := 1; i < len(parts)-1; i += 2 {
			if Width(parts[i])+2 <= width-len(lead) {
				parts[i] = strings.ReplaceAll(parts[i], " ", placeholder)
			}
		}
		for _, l := range Wrap(strings.Join(parts, "`"), width-len(lead)) {
			out = append(out, lead+strings.ReplaceAll(l, placeholder, " "))
			lead = follow
		}
	}
	return out
}

// wrapLine breaks a single line into lines of at most width columns.
func wrapLine(s string, width int) (out []string) {
	line, used := "", 0
	for _, word := range strings.Fields(s) {
		w := Width(word)
		if used > 0 && used+1+w <= width {
			line, used = line+" "+word, used+1+w
			continue
		}
		if used > 0 {
			out = append(out, line)
		}
		for w > width && word != "" {
			head, rest := splitAtWidth(word, width)
			if at := strings.LastIndexAny(head, "-_/") + 1; 2*at > len(head) {
				head, rest = word[:at], word[at:]
			}
			if head == "" { // a single character is wider than the column
				head, rest, _, _ = uniseg.FirstGraphemeClusterInString(word, -1)
			}
			out = append(out, head)
			word = rest
			if w -= Width(head); w <= width { // the exact width is only measured here, because text without spaces may be long
				w = Width(word)
			}
		}
		line, used = word, w
	}
	if used > 0 || len(out) == 0 {
		out = append(out, line)
	}
	return out
}

// splitAtWidth splits text after as many whole graphemes as fit into width columns.
func splitAtWidth(s string, width int) (head, rest string) {
	used, at, state := 0, 0, -1
	for at < len(s) {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(s[at:], state)
		if w = graphemeWidth(cluster, w); used+w > width {
			break
		}
		used, at, state = used+w, at+len(cluster), next
	}
	return s[:at], s[at:]
}
