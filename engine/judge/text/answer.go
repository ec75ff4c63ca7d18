package text

import (
	"cmp"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/questionnaire"
)

const (
	minQuestionWords = 4 // minimum number of words in a column name that is a question, and in an answer in words
	maxAnswerBytes   = 60
)

// applyAnswer applies the answer to a question, or to a statement that a form asks to confirm. A
// question without an answer states nothing.
func (s *Sentence) applyAnswer(a questionnaire.Answer, words string, asked bool) {
	switch a {
	case questionnaire.No:
		s.Denied, s.affirmedStems = 1<<s.ClauseCount-1, hashStems(nil)
		s.Question, s.AnswersNo, s.AnswersYes = false, true, false
	case questionnaire.Unanswered:
		s.Question, s.AnswersYes = true, false
	case questionnaire.Planned:
		s.Question, s.AnswersYes = false, false
		s.PlanWords = cmp.Or(s.PlanWords, words)
	case questionnaire.Yes, questionnaire.Other:
		if asked {
			s.Question, s.AnswersYes = false, true
			s.Hedge = "an answer to a question"
		}
	case questionnaire.None:
	}
}

// readRowAnswer applies the answer in a table row to the question or statement in the same row. s is the row or a
// sentence in it.
func (s *Sentence) readRowAnswer(row string, words []word, currentYear int) {
	whole := &s.Stance
	if len(row) > s.end-s.start {
		stance := parseStanceAndClauses(row, words, currentYear)
		whole = &stance
	}
	asks, denied := false, false
	afterStatement := false // the cell before has no column name and states something
	var explicit, implicit, options questionnaire.Answer
	var planned string
	for from := 0; from < len(row); {
		to := from + strings.IndexAny(row[from:]+";", ";|")
		name, value, named := strings.Cut(row[from:to], ":")
		if name = strings.TrimSpace(name); !named || len(name) > maxColumnName {
			name, value = "", row[from:to]
		}
		cellWords := wordsWithin(words, from, to)
		from = to + 1
		value = strings.TrimSpace(value)
		a := questionnaire.None
		if len(value) <= maxAnswerBytes || questionnaire.IsColumn(name) {
			a = questionnaire.Parse(value)
		}
		if a == questionnaire.Planned {
			planned = value
		}
		option := questionnaire.AnswerOfColumn(name)
		answersCell := afterStatement && name == "" && bareAnswerPattern.MatchString(value)
		states := len(cellWords) >= minQuestionWords && hasVerb(cellWords)
		afterStatement = name == "" && states
		switch {
		case strings.HasSuffix(value, "?"):
			asks = true
		case strings.HasSuffix(name, "?") && len(splitWords(name)) >= minQuestionWords:
			asks = true
			explicit = max(explicit, a)
		case questionnaire.IsColumn(name):
			switch {
			case value == "":
				a = questionnaire.Unanswered
			case a == questionnaire.None:
				a, denied = questionnaire.Other, denied || whole.deniesAnyOf(cellWords)
			}
			explicit = max(explicit, a)
		case option != questionnaire.None && (value == "" || questionnaire.IsMark(value) || questionnaire.IsUnticked(value)):
			if options = max(options, questionnaire.Unanswered); questionnaire.IsMark(value) {
				explicit = max(explicit, option)
			}
		case answersCell:
			explicit = max(explicit, a)
		case a != questionnaire.None && !attributeColumnPattern.MatchString(name):
			implicit = max(implicit, a)
		case states:
			implicit, denied = max(implicit, questionnaire.Other), denied || whole.deniesAnyOf(cellWords)
		}
	}
	answer := cmp.Or(explicit, options)
	if answer != questionnaire.None && StartsWithUntickedBox(s.Placeholder) {
		s.Placeholder = "" // remove the choices that weren't selected
	}
	if asks {
		answer = cmp.Or(answer, implicit, questionnaire.Unanswered)
		if denied {
			answer = questionnaire.No
		}
	}
	s.applyAnswer(answer, planned, false)
}

// attributeColumnPattern matches the names of columns in which "yes" or "no" describes the question
// rather than answering it.
var attributeColumnPattern = lazyregexp.New(`(?i)^\W*(?:no|nr|number|` +
	`mandatory|required|optional|priority|critical|weight|key|domain|category|id|ref)\b`)

// lineAround returns the line of a sentence, without surrounding white space.
func lineAround(text string, sp span) string {
	start := strings.LastIndexByte(text[:sp.start], '\n') + 1
	end := len(text)
	if n := strings.IndexByte(text[sp.end:], '\n'); n >= 0 {
		end = sp.end + n
	}
	line := strings.TrimSpace(text[start:end])
	return line[bulletLength(line):]
}

// blankChoices replaces the answer options after a question or statement with blanks, so that a "no" among them isn't
// taken for a denial. Offsets don't change.
func blankChoices(text string) string {
	if subject, a := questionnaire.ParseChoice(text); a != questionnaire.None && strings.TrimSpace(text[:subject]) != "" && !isTableRow(text) {
		return text[:subject] + strings.Repeat(" ", len(text)-subject)
	}
	return text
}

// wordsWithin returns the words between two offsets.
func wordsWithin(words []word, from, to int) []word {
	first := 0
	for first < len(words) && words[first].start < from {
		first++
	}
	last := first
	for last < len(words) && words[last].end <= to {
		last++
	}
	return words[first:last]
}

// deniesAnyOf reports whether a clause that contains one of the words is denied.
func (s *Stance) deniesAnyOf(words []word) bool {
	for _, w := range words {
		if s.Denied&(1<<w.clause) != 0 {
			return true
		}
	}
	return false
}

// trailingAnswerPattern matches a short answer after a statement.
var trailingAnswerPattern = lazyregexp.New(`(?i)(?:\s[–—-]|:)\s+((?:no|n/a|not applicable|planned|not yet|tbd)\W*)$`)

// readInlineAnswer applies an answer that follows a question or statement on the same line, in the form of check boxes
// or a word.
func (s *Sentence) readInlineAnswer(text string, words []word) {
	if subject, a := questionnaire.ParseChoice(text); a != questionnaire.None && len(splitWords(text[:subject])) > 1 {
		s.Placeholder = ""
		s.applyAnswer(a, text[subject:], s.Question || questionnaire.EndsInQuestion(text[:subject]))
		return
	}
	if questionnaire.IsUnticked(text) {
		s.Placeholder = cmp.Or(s.Placeholder, "☐")
		return
	}
	if i := strings.LastIndexByte(text, '?'); i >= 0 && len(text)-i < maxAnswerBytes {
		rest := strings.Trim(text[i+1:], " :-–—*_")
		s.applyAnswer(questionnaire.Parse(rest), rest, true)
		return
	}
	if !strings.ContainsAny(text[max(0, len(text)-maxAnswerBytes/2):], ":-–—") {
		return
	}
	if m := trailingAnswerPattern.FindStringSubmatchIndex(text); m != nil {
		before := wordsWithin(words, 0, m[0])
		if len(before) >= minQuestionWords && hasAuxiliaryOrModal(before) {
			s.applyAnswer(questionnaire.Parse(text[m[2]:]), text[m[2]:], questionnaire.EndsInQuestion(text[:m[0]]+":"))
		}
	}
}

// bareAnswerPattern matches a line that can only be the answer to the line above.
var bareAnswerPattern = lazyregexp.New(`(?i)^\W*(?:no|n|n/?a|not applicable|not yet)\W*$`)

// mergeAnswersIntoQuestions applies an answer to the preceding question or statement. The answer may consist of options
// on separate lines.
func mergeAnswersIntoQuestions(a *Analysis) {
	for i := 1; i < len(a.Sentences); i++ {
		q, s := &a.Sentences[i-1], &a.Sentences[i]
		if q.IsTableRow || s.IsTableRow {
			continue
		}
		end, choice := i, ""
		for end < len(a.Sentences) && isChoice(a.Sentences[end].Text) {
			o := &a.Sentences[end]
			choice += " " + o.Text
			o.Stance, o.LeadIndex, o.MissingThings = Stance{Fragment: true, Choices: true, ClauseCount: o.ClauseCount}, -1, nil
			end++
		}
		asked := q.Question || q.LeadIndex < 0 && questionnaire.EndsInQuestion(q.Text)
		if end > i {
			if answer := questionnaire.Parse(choice); !isChoice(q.Text) {
				q.applyAnswer(answer, choice, asked)
				q.end = a.Sentences[end-1].end // the quote includes both
			}
			i = end - 1
			continue
		}
		body, labelled := questionnaire.WithoutLabel(s.Text)
		answer := questionnaire.None
		if asked || labelled || len(s.Text) <= maxAnswerBytes {
			answer = questionnaire.Parse(s.Text)
		}
		first := strings.ToLower(strings.TrimLeft(body[:min(len(body), 12)], " *_|"))
		switch {
		case !asked:
			if answer > questionnaire.Other && !q.Fragment &&
				(labelled || bareAnswerPattern.MatchString(s.Text) && strings.ContainsRune(a.Text[q.end:s.start], '\n')) {
				q.applyAnswer(answer, s.Text, false)
			}
		case answer != questionnaire.None:
			q.applyAnswer(answer, s.Text, true)
			q.end = s.end
		case s.AnswersNo || strings.HasPrefix(first, "not ") || strings.HasPrefix(first, "never") ||
			strings.HasPrefix(first, "no") && (len(first) == 2 || strings.ContainsAny(first[2:3], " .,;|")):
			q.applyAnswer(questionnaire.No, s.Text, true)
		case strings.HasPrefix(first, "yes"):
			q.applyAnswer(questionnaire.Yes, s.Text, true)
		}
	}
}

// isChoice reports whether a sentence consists of answer options, ticked or not.
func isChoice(text string) bool {
	subject, a := questionnaire.ParseChoice(text)
	return a != questionnaire.None && len(splitWords(text[:subject])) == 0
}

// startsWithAnswer reports whether a text begins with a line that answers something above it.
func startsWithAnswer(text string) bool {
	line, _, _ := strings.Cut(text, "\n")
	if _, labelled := questionnaire.WithoutLabel(line); labelled {
		return true
	}
	return len(line) <= maxAnswerBytes/2 && (bareAnswerPattern.MatchString(line) || isChoice(line))
}
