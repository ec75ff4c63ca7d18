package print

// Style is how a word is shown where colours are on. It never carries meaning
// alone: what it says is also in the word.
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
