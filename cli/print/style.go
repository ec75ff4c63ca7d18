package print

// Style is the style of a word if colors are on. It never carries meaning alone: the word itself
// says the same.
type Style string

// The styles.
const (
	Plain  Style = ""
	Bold   Style = "1"
	Dim    Style = "2"
	Red    Style = "31"
	Green  Style = "32"
	Yellow Style = "33"
	Blue   Style = "34"
)

func applyStyle(enabled bool, style Style, s string) string {
	if !enabled || style == Plain || s == "" {
		return s
	}
	return "\x1b[" + string(style) + "m" + s + "\x1b[0m"
}
