package document

import "strings"

// symbolFonts maps the characters of symbol fonts to Unicode if they have a meaning: checkboxes,
// ticks and crosses. Files store these characters as letters or in the private use area from
// U+F020.
var symbolFonts = map[string]map[rune]string{
	"wingdings": {
		0x6F: "☐", 0x71: "☐", 0x72: "☐", 0xA8: "☐", 0x78: "☒", 0xFD: "☒", 0xFE: "☑", 0xFB: "✗", 0xFC: "✓", 0xA1: "○", 0xA4: "◉", 0x6C: "●",
		0x6E: "■", 0xA7: "▪", 0xE0: "→", 0x4A: "☺",
	},
	"wingdings 2": {0x4F: "✗", 0x50: "✓", 0x51: "☒", 0x52: "☑", 0x53: "☒", 0x54: "☒", 0x2A: "☐", 0x30: "☐", 0xA3: "☐", 0x99: "○", 0x9C: "◉"},
	"webdings":    {0x61: "✓", 0x63: "☐", 0x67: "■", 0x72: "✗"},
	"symbol":      {0xB7: "•", 0xD6: "√", 0xA3: "≤", 0xB3: "≥", 0xB1: "±", 0xAE: "→"},
}

// IsSymbolFont reports whether the named font is a symbol font.
func IsSymbolFont(name string) bool {
	name = strings.ToLower(name)
	return symbolFonts[name] != nil && name != "symbol"
}

// SymbolText returns the Unicode equivalent of a symbol font's character, or "" if it is unknown.
func SymbolText(font string, char rune) string {
	if char >= 0xF000 && char <= 0xF0FF {
		char -= 0xF000
	}
	return symbolFonts[strings.ToLower(font)][char]
}

// DecodeSymbols converts text in a symbol font to Unicode. In any other font, characters in the
// private use area are assumed to be Wingdings, because the actual font may come from a style.
func DecodeSymbols(font, text string) string {
	all := IsSymbolFont(font)
	if !all && !strings.Contains(text, "\xEF\x80") && !strings.Contains(text, "\xEF\x81") && !strings.Contains(text, "\xEF\x82") &&
		!strings.Contains(text, "\xEF\x83") {
		return text
	}
	if symbolFonts[strings.ToLower(font)] == nil {
		font = "wingdings"
	}
	var sb strings.Builder
	for _, r := range text {
		switch {
		case r >= 0xF000 && r <= 0xF0FF, all && r > ' ' && r < 0x100:
			sb.WriteString(SymbolText(font, r))
		default:
			sb.WriteRune(r)
		}
	}
	return sb.String()
}

// FormBox returns the text that represents a checkbox.
func FormBox(ticked bool) string {
	if ticked {
		return "☒"
	}
	return "☐"
}
