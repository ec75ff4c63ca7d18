package print

import (
	"strings"
	"unicode/utf8"

	"github.com/rivo/uniseg"
)

// Width is how many columns of a terminal the text takes.
func Width(s string) int {
	if isPrintableASCII(s) { // each sign takes one
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

// graphemeWidth is the width of a sign that Unicode gives w columns. Terminals that don't join
// its runes give it as many as these take one by one: the larger one is counted, so that a
// line may be shorter than it was measured, and never longer.
func graphemeWidth(sign string, w int) int {
	if _, n := utf8.DecodeRuneInString(sign); n == len(sign) {
		return w
	}
	apart := 0
	for _, r := range sign {
		switch {
		case r < 0x20 || r >= 0x300 && r < 0x370 || r >= 0x1160 && r < 0x1200: // accents, and vowels and ends of Hangul
		case r < 0x7f:
			apart++
		default:
			apart += uniseg.StringWidth(string(r))
		}
	}
	return max(w, apart)
}

// Truncate shortens the text to at most width columns, with … at its end where something is missing.
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

// Wrap breaks the text into lines of at most width columns, between words where it
// can. Line breaks in the text stay. A width below one means no limit.
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

// WrapProse is Wrap for what people read. What stands in `backquotes` is a command to copy, and
// is kept on one line where it fits. An item, behind "  - ", goes on below its first word;
// any other line that is set in is left as it is.
func WrapProse(s string, width int) []string {
	const placeholder = "\ue000" // of no script, so no text is meant to have it
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
			if head == "" { // one sign is wider than the column
				head, rest, _, _ = uniseg.FirstGraphemeClusterInString(word, -1)
			}
			out = append(out, head)
			word = rest
			if w -= Width(head); w <= width { // only then exactly: a text without blanks may be long
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

// splitAtWidth parts the text after as many whole signs as fit into width columns.
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
