package catalog

import "strings"

// Natural compares codes as a reader would: runs of digits by value, so that 5.2 comes
// before 5.10. Codes that differ only in leading zeros fall back to the plain order.
func Natural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if digit(a[i]) && digit(b[j]) {
			si, sj := i, j
			for i < len(a) && digit(a[i]) {
				i++
			}
			for j < len(b) && digit(b[j]) {
				j++
			}
			x, y := strings.TrimLeft(a[si:i], "0"), strings.TrimLeft(b[sj:j], "0")
			if len(x) != len(y) {
				return len(x) - len(y)
			}
			if c := strings.Compare(x, y); c != 0 {
				return c
			}
			continue
		}
		if a[i] != b[j] {
			return int(a[i]) - int(b[j])
		}
		i++
		j++
	}
	if c := (len(a) - i) - (len(b) - j); c != 0 {
		return c
	}
	return strings.Compare(a, b)
}

// LooseCode is a requirement code without what releases spell differently: letter case,
// blanks, "Article" for "Art", brackets become dots, leading
// zeros go. "Art 32(1)(b)" and "Article 32.1(b)" are the same, so are "PM-1" and "PM-01".
func LooseCode(code string) string {
	var b strings.Builder
	b.Grow(len(code))
	s := strings.ToLower(code)
	s = strings.ReplaceAll(s, "article", "art")
	s = strings.ReplaceAll(s, "art.", "art")
	s = strings.ReplaceAll(s, "section", "§")
	dot := false // a separator is due before the next letter or digit
	for i := 0; i < len(s); {
		c := s[i]
		switch {
		case c == ' ' || c == '\t' || c == '\n':
			i++
		case c == '(' || c == ')' || c == '[' || c == ']' || c == '.':
			dot = b.Len() > 0
			i++
		case digit(c):
			j := i
			for j < len(s) && digit(s[j]) {
				j++
			}
			if dot {
				b.WriteByte('.')
				dot = false
			}
			run := strings.TrimLeft(s[i:j], "0")
			if run == "" {
				run = "0"
			}
			b.WriteString(run)
			i = j
		default:
			if dot {
				b.WriteByte('.')
				dot = false
			}
			b.WriteByte(c)
			i++
		}
	}
	return strings.TrimPrefix(b.String(), "art")
}

func digit(c byte) bool { return c >= '0' && c <= '9' }
