package api

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

// languageNames holds the names of the languages that the program recognizes, by ISO 639-1 code.
var languageNames = map[string]string{
	"ar": "Arabic", "bg": "Bulgarian", "ca": "Catalan", "cs": "Czech", "da": "Danish", "de": "German", "el": "Greek", "en": "English",
	"es": "Spanish", "et": "Estonian", "fa": "Persian", "fi": "Finnish", "fr": "French", "he": "Hebrew", "hi": "Hindi", "hr": "Croatian",
	"hu": "Hungarian", "hy": "Armenian", "id": "Indonesian", "it": "Italian", "ja": "Japanese", "ka": "Georgian", "ko": "Korean",
	"la": "Latin", "lt": "Lithuanian", "lv": "Latvian", "nb": "Norwegian", "nl": "Dutch", "pl": "Polish", "pt": "Portuguese",
	"ro": "Romanian", "ru": "Russian", "sk": "Slovak", "sl": "Slovenian", "sr": "Serbian", "sv": "Swedish", "th": "Thai",
	"tr": "Turkish", "uk": "Ukrainian", "vi": "Vietnamese", "zh": "Chinese",
}

// LanguageName returns the English name of a language, given its ISO 639-1 code, or the code if it is unknown.
func LanguageName(code string) string { return cmp.Or(languageNames[code], code) }

// UnreadLanguage counts the evidence in one language other than English, which the rules can't read.
type UnreadLanguage struct {
	Language  string `json:"language" doc:"ISO 639-1 code."`
	Name      string `json:"name"`
	Documents int    `json:"documents" doc:"Documents that are wholly or partly in this language."`
	Passages  int    `json:"passages"`
}

// UnreadLanguages returns the document's passages that the rules can't read because of their language, with one entry
// per language. If the document was read by a version that didn't detect the language of each passage, all passages
// are in the document's language.
func (d *Document) UnreadLanguages() []NotRead {
	var out []NotRead
	for _, n := range d.NotRead {
		if n.Kind == UnreadOtherLanguage {
			out = append(out, n)
		}
	}
	if len(out) == 0 && d.IsForeignLanguage() {
		out = append(out, NotRead{Kind: UnreadOtherLanguage, Language: d.Language, Count: d.ChunkCount})
	}
	return out
}

// UnreadEvidence counts the documents of an assessment and those that the rules can't read in full because of their
// language.
type UnreadEvidence struct {
	DocumentsRead             int              `json:"documents_read" doc:"Documents that were read, in any language."`
	DocumentsInOtherLanguages int              `json:"documents_in_other_languages" doc:"Those with passages in unread_languages."`
	UnreadLanguages           []UnreadLanguage `json:"unread_languages" doc:"Languages of passages that were not read."`
}

// UnreadCounts counts the passages that were skipped because of their language, and the documents that contain such
// passages but were otherwise read.
type UnreadCounts struct {
	Documents int
	sets      []unreadSet
	passages  map[string]int
}

// unreadSet is the number of documents that contain the same unread languages.
type unreadSet struct {
	languages []string
	documents int
}

// AddDocuments adds n documents that contain passages in the given languages.
func (c *UnreadCounts) AddDocuments(languages []string, n int) {
	c.sets = append(c.sets, unreadSet{languages, n})
}

// AddPassages adds n unread passages in a language.
func (c *UnreadCounts) AddPassages(language string, n int) {
	if c.passages == nil {
		c.passages = map[string]int{}
	}
	c.passages[language] += n
}

// Evidence returns the totals of the unread languages, except for those that a language model has read.
func (c *UnreadCounts) Evidence(readLanguages ...string) UnreadEvidence {
	out := UnreadEvidence{DocumentsRead: c.Documents, UnreadLanguages: []UnreadLanguage{}}
	for _, set := range c.sets {
		isUnread := false
		for _, language := range set.languages {
			if slices.Contains(readLanguages, language) {
				continue
			}
			isUnread = true
			at := slices.IndexFunc(out.UnreadLanguages, func(l UnreadLanguage) bool { return l.Language == language })
			if at < 0 {
				at = len(out.UnreadLanguages)
				out.UnreadLanguages = append(out.UnreadLanguages,
					UnreadLanguage{Language: language, Name: LanguageName(language), Passages: c.passages[language]})
			}
			out.UnreadLanguages[at].Documents += set.documents
		}
		if isUnread {
			out.DocumentsInOtherLanguages += set.documents
		}
	}
	slices.SortFunc(out.UnreadLanguages, func(a, b UnreadLanguage) int {
		return cmp.Or(b.Documents-a.Documents, b.Passages-a.Passages, cmp.Compare(a.Language, b.Language))
	})
	return out
}

// CountUnreadEvidence returns the totals of the documents' unread languages, except for those that a language model
// has read.
func CountUnreadEvidence(documents []Document, readLanguages ...string) UnreadEvidence {
	var counts UnreadCounts
	for i := range documents {
		d := &documents[i]
		if d.Status != DocumentIngested {
			continue
		}
		counts.Documents++
		var languages []string
		for _, n := range d.UnreadLanguages() {
			languages = append(languages, n.Language)
			counts.AddPassages(n.Language, n.Count)
		}
		counts.AddDocuments(languages, 1)
	}
	return counts.Evidence(readLanguages...)
}

// Note describes the unread evidence in a sentence. It returns "" if there is none.
func (u UnreadEvidence) Note() string {
	if u.DocumentsInOtherLanguages == 0 {
		return ""
	}
	names, passages := make([]string, len(u.UnreadLanguages)), 0
	for i, l := range u.UnreadLanguages {
		names[i] = l.Name
		passages += l.Passages
	}
	documents, has, noun := "documents", "have", "passages"
	if u.DocumentsRead == 1 {
		documents = "document"
	}
	if u.DocumentsInOtherLanguages == 1 {
		has = "has"
	}
	if passages == 1 {
		noun = "passage"
	}
	return fmt.Sprintf("%d of %d %s %s text that was not read: %d %s in %s.",
		u.DocumentsInOtherLanguages, u.DocumentsRead, documents, has, passages, noun, joinNames(names))
}

// joinNames joins names with commas and "and".
func joinNames(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}
