package analysis

import "github.com/scf-service/service/internal/language"

// UnreadableNotice is the limitation stated for a text in an unsupported language.
const UnreadableNotice = "The text seems to be in a language other than English. The rules only read English, so a person who " +
	"speaks the language has to review this."

// addNonEnglishLimitation adds UnreadableNotice to the limitations if any text is in an unsupported
// language, and reports whether it did so.
func addNonEnglishLimitation(limits *[]string, signs *Indicators, texts ...string) (added bool) {
	for _, s := range texts {
		if language.IsForeign(language.Detect(s)) {
			*limits = append(*limits, UnreadableNotice)
			signs.add("language", truncate(s, 80), "not in English: the verdict is cautious")
			return true
		}
	}
	return false
}
