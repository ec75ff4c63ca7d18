package scf

import "strings"

// CompareNatural compares codes in natural order: sequences of digits are compared as numbers, so that 5.2 comes
// before 5.10. Codes that differ only in leading zeros are compared as strings.
func CompareNatural(a, b string) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		if isDigit(a[i]) && isDigit(b[j]) {
			si, sj := i, j
			for i < len(a) && isDigit(a[i]) {
				i++
			}
			for j < len(b) && isDigit(b[j]) {
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

// NormalizeRequirementCode returns the form of a requirement code that is the same for all of its spellings in
// different releases. It ignores letter case, spaces, leading zeros, and a leading "Article", "Section" or §, and it
// treats brackets like dots. "Art 32(1)(b)" and "Article 32.1(b)" have the same result, and so do "PM-1" and
// "PM-01".
func NormalizeRequirementCode(code string) string {
	s := strings.ToLower(strings.TrimSpace(code))
	s = strings.TrimSpace(strings.TrimLeft(s, "§"))
	for _, word := range []string{"article", "art.", "art", "section", "sec.", "sec"} {
		if rest, ok := strings.CutPrefix(s, word); ok && rest != "" && (strings.IndexByte(" ([", rest[0]) >= 0 || isDigit(rest[0])) {
			s = rest
			break
		}
	}
	var b strings.Builder
	b.Grow(len(s))
	var last byte // last byte written
	dot, blank := false, false
	for i := 0; i < len(s); {
		c := s[i]
		if strings.IndexByte(" \t\n", c) >= 0 {
			blank = true
			i++
			continue
		}
		if strings.IndexByte("()[].", c) >= 0 {
			dot = true
			i++
			continue
		}
		// Only blanks between numbers separate them: "9.9 9.1" is not 9.99.1, but "GOVERN 1.1" is govern1.1.
		if b.Len() > 0 && (dot || blank && isDigit(c) && isDigit(last)) {
			b.WriteByte('.')
		}
		dot, blank = false, false
		run := s[i : i+1]
		if isDigit(c) {
			for len(run) < len(s)-i && isDigit(s[i+len(run)]) {
				run = s[i : i+len(run)+1]
			}
		}
		i += len(run)
		if isDigit(c) {
			run = strings.TrimLeft(run[:len(run)-1], "0") + run[len(run)-1:]
		}
		b.WriteString(run)
		last = run[len(run)-1]
	}
	return b.String()
}

func isDigit(c byte) bool { return c >= '0' && c <= '9' }
