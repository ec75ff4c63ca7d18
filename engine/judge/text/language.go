package text

import "github.com/scf-service/service/internal/language"

// isEnglishOrUnknown reports whether a text is English. A text counts as English unless another
// language is detected, so rows of terms and figures count as English.
func isEnglishOrUnknown(text string) bool { return !language.IsForeign(language.Detect(text)) }
