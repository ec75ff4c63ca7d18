package document

import (
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/internal/questionnaire"
)

// IsKeyValueTable reports whether a table is a list of facts ("Version | 1.2"), which has no
// header. A row may contain two facts.
func IsKeyValueTable(rows []Row) bool {
	known, colons, labels, pairs := 0, 0, 0, 0
	var keys, values []string
	for _, r := range rows {
		c := NonEmptyCells(r.Cells)
		if len(c) == 0 || len(c) > 4 {
			return false
		}
		if _, ok := FactKindOf(c[0]); ok {
			known++
		}
		if strings.HasSuffix(c[0], ":") {
			colons++
		}
		if len(c) > 2 {
			if _, ok := FactKindOf(c[2]); !ok && !strings.HasSuffix(c[2], ":") && !(len(c) == 4 && isLabel(c[2])) {
				return false
			}
		}
		for i := 0; i+1 < len(c); i += 2 {
			if pairs++; isLabel(c[i]) {
				labels++
			}
			keys, values = append(keys, c[i]), append(values, c[i+1])
		}
	}
	if known >= 2 || colons == len(rows) || len(rows) == 1 && known == 1 {
		return true
	}
	if pairs < 2 || isColumnName(values[0]) {
		return false
	}
	return isLabel(keys[0]) && labels*10 >= pairs*6 || 2*colons >= pairs || haveManyKinds(keys, values)
}

// haveManyKinds reports whether the values next to possible labels are of too many different kinds
// to be a table column.
func haveManyKinds(keys, values []string) bool {
	kinds := map[string]bool{}
	for i, key := range keys {
		if strings.ContainsFunc(key, unicode.IsDigit) || strings.Count(key, " ") > 5 || slices.Contains(keys[:i], key) {
			return false
		}
		_, isDate, _ := FindDate(values[i])
		switch {
		case isDate:
			kinds["date"] = true
		case questionnaire.Parse(values[i]) != questionnaire.None:
			kinds["answer"] = true
		case values[i][0] >= '0' && values[i][0] <= '9':
			kinds["number"] = true
		default:
			kinds["words"] = true
		}
	}
	return len(keys) >= 4 && len(kinds) >= 3
}

// labelNouns are the nouns of labels for facts about a document, a system or a project. Some of
// them are also used as column names.
var labelNouns = func() map[string]bool {
	m := map[string]bool{}
	for noun := range strings.FieldsSeq(`address application approver asset author backup backups budget category classification company contact
		country criticality cycle data date deadline department description email encryption environment frequency
		go-live hosting id kickoff level location logging manager mfa name number organization owner period phase phone
		priority process project provider purpose reference region result retention review reviewer role rpo rto scope
		service sponsor stage state status supplier system test tests time title type users value vendor version`) {
		m[noun] = true
	}
	return m
}()

// isLabel reports whether a text is the label of a fact: one of labelNouns preceded by other words, as in "Business
// owner", or followed by them, as in "Number of users".
func isLabel(text string) bool {
	if _, ok := FactKindOf(text); ok {
		return true
	}
	words := strings.Fields(strings.ToLower(strings.TrimRight(text, " :*")))
	if len(words) == 0 || len(words) > 5 || strings.ContainsFunc(text, unicode.IsDigit) {
		return false
	}
	first, last := words[0], words[len(words)-1]
	return labelNouns[last] || labelNouns[first] || first == "last" || first == "next" || last == "point"
}

// IsLabelNoun reports whether a single word, such as "Classification", may be the label of a fact.
func IsLabelNoun(word string) bool { return labelNouns[strings.ToLower(word)] }

// isColumnName reports whether a text is the name of a column rather than a value.
func isColumnName(text string) bool {
	if _, ok := FactKindOf(text); ok || questionnaire.IsColumn(text) {
		return true
	}
	words := strings.Fields(strings.ToLower(strings.TrimRight(text, " :*")))
	return len(words) > 0 && len(words) <= 2 && (labelNouns[words[len(words)-1]] || labelNouns[strings.TrimSuffix(words[0], "s")])
}
