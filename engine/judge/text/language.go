package text

import "github.com/scf-service/service/internal/language"

// isEnglishOrUnknown reports whether a text is English. It is assumed to be, unless its language is known to be another,
// so rows of terms and figures count as English.
func isEnglishOrUnknown(text string) bool { return !language.IsForeign(language.Detect(text)) }
