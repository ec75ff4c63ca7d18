package analysis

import "github.com/scf-service/service/internal/language"

// UnreadableNotice is the limitation stated for a text in an unsupported language.
const UnreadableNotice = "The text seems to be in a language other than English. The built-in rules can read only " +
	"English, so someone who knows the language must review the result."

// addNonEnglishLimitation adds UnreadableNotice to the limitations if any text is in an unsupported
// language, and reports whether it did so.
func addNonEnglishLimitation(limits *[]string, signs *Indicators, texts ...string) (added bool) {
	for _, s := range texts {
		if language.IsForeign(language.Detect(s)) {
			*limits = append(*limits, UnreadableNotice)
			signs.add("language", truncate(s, 80), "the text is not in English, so the verdict is cautious")
			return true
		}
	}
	return false
}
