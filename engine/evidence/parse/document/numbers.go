package document

import (
	"fmt"
	"strconv"
	"strings"
)

// ParsePositiveOrOne returns the positive number at the start of s, at most limit, or 1 if there is none.
func ParsePositiveOrOne(s string, limit int) int {
	if s == "" {
		return 1
	}
	if n, err := strconv.Atoi(s); err == nil && n > 0 {
		return min(n, limit)
	}
	n := 1
	if _, err := fmt.Sscanf(s, "%d", &n); err != nil || n < 1 {
		return 1
	}
	return min(n, limit)
}

// FormatListNumber formats the number of a list item in one of Word's formats ("decimal", "lowerLetter", …). It
// returns "" for a bullet.
func FormatListNumber(v int, format string) string {
	switch format {
	case "lowerLetter", "upperLetter":
		if v < 1 || v > 26*20 {
			return strconv.Itoa(v)
		}
		s := strings.Repeat(string(rune('a'+(v-1)%26)), (v-1)/26+1)
		if format == "upperLetter" {
			s = strings.ToUpper(s)
		}
		return s
	case "lowerRoman":
		return strings.ToLower(formatRoman(v))
	case "upperRoman":
		return formatRoman(v)
	case "decimalZero":
		if v < 10 {
			return "0" + strconv.Itoa(v)
		}
	case "bullet", "none":
		return ""
	}
	return strconv.Itoa(v)
}

func formatRoman(v int) string {
	if v < 1 || v > 3999 {
		return strconv.Itoa(v)
	}
	var sb strings.Builder
	for _, d := range []struct {
		v int
		s string
	}{
		{1000, "M"},
		{900, "CM"},
		{500, "D"},
		{400, "CD"},
		{100, "C"},
		{90, "XC"},
		{50, "L"},
		{40, "XL"},
		{10, "X"},
		{9, "IX"},
		{5, "V"},
		{4, "IV"},
		{1, "I"},
	} {
		for v >= d.v {
			sb.WriteString(d.s)
			v -= d.v
		}
	}
	return sb.String()
}
