package judge

import "strings"

// formatMissingElement describes what the evidence lacks to support a statement. It returns "" if
// nothing is missing.
func (f *statementVerdict) formatMissingElement() string {
	ended := strings.TrimRight(f.statement.text, ".")
	switch f.verdict {
	case VerdictCovered:
		return ""
	case VerdictMissing:
		return f.statement.text
	case VerdictPartial:
		why := strings.TrimRight(f.reason, ".")
		if f.basis == nil || !strings.HasPrefix(why, f.basis.documentName()) {
			why = lowercaseFirstUnlessName(why)
		}
		return ended + " (in part: " + why + ")"
	case VerdictConflicting:
		return ended + " (" + contradictionTexts[contradictionFromReason(f.reason)].note + ")"
	case VerdictPlanned:
		return ended + " (planned only)"
	case VerdictDenied:
		return ended + " (the documents state the opposite)"
	}
	return ended + " (only in a template)"
}

// IsRuleNotFollowed reports whether a missing element ends with a note saying that, according to records, the
// rule isn't followed.
func IsRuleNotFollowed(missingElement string) bool {
	return strings.HasSuffix(missingElement, "("+contradictionTexts[RuleNotFollowed].note+")")
}

// StripNote removes the note in parentheses from the end of a missing element.
func StripNote(missingElement string) string {
	if strings.HasSuffix(missingElement, ")") {
		for _, note := range []string{
			" (in part: ",
			" (passages contradict",
			" (a document contradicts",
			" (" + contradictionTexts[RuleNotFollowed].note,
			" (planned only)",
			" (the documents state the opposite",
			" (only in a template)",
		} {
			if i := strings.LastIndex(missingElement, note); i > 0 {
				return missingElement[:i]
			}
		}
	}
	return missingElement
}
