package print

import (
	"strings"

	"github.com/rivo/uniseg"
)

// Width is how many columns of a terminal the text takes.
func Width(s string) int {
	if plain(s) { // each sign takes one
		return len(s)
	}
	return uniseg.StringWidth(s)
}

// Cut shortens the text to at most width columns, with … at its end where something is missing.
func Cut(s string, width int) string {
	if Width(s) <= width {
		return s
	}
	if width < 1 {
		return ""
	}
	head, _ := split(s, width-1)
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
		for w > width {
			head, rest := split(word, width)
			if head == "" { // one sign is wider than the column
				head, rest = word, ""
			}
			out = append(out, head)
			word, w = rest, Width(rest)
		}
		line, used = word, w
	}
	if used > 0 || len(out) == 0 {
		out = append(out, line)
	}
	return out
}

// split parts the text after as many whole signs as fit into width columns.
func split(s string, width int) (head, rest string) {
	used, at, state := 0, 0, -1
	for at < len(s) {
		cluster, _, w, next := uniseg.FirstGraphemeClusterInString(s[at:], state)
		if used+w > width {
			break
		}
		used, at, state = used+w, at+len(cluster), next
	}
	return s[:at], s[at:]
}
