package print

// Style is the style of a word, which has an effect only if colors are on. A style never expresses anything
// that the word itself does not.
type Style string

// Styles, as the parameters of ANSI escape sequences.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
)

// applyStyle wraps a text in the escape sequences of a style, unless styles are disabled.
func applyStyle(enabled bool, style Style, s string) string {
	if !enabled || style == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(style) + "m" + s + "\x1b[0m"
}
