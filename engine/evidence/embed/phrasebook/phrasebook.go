// Package phrasebook describes in our own sentences what each control of a catalog with the usual
// codes requires, worded like policies, procedures, tickets, laws and interviews. It contains
// codes, short topic names and sentences, but no catalog text, and doesn't know what is trained on
// them.
package phrasebook

import (
	"embed"
	"sync"

	"github.com/scf-service/service/engine/evidence/embed/words"
	"github.com/scf-service/service/internal/controltext"
)

//go:embed *.txt
var files embed.FS

var phraseTable = sync.OnceValue(func() *controltext.Table { return controltext.MustReadTable(files) })

// Entries returns all entries of the phrase book. Each sentence states a requirement or says that it is met.
func Entries() []controltext.Entry { return phraseTable().Entries }

// Lookup returns the entry for a control's code if the control's title contains a word of the entry's topic. The
// code alone is not enough, since some catalog versions reassign codes.
func Lookup(code, title string) (controltext.Entry, bool) {
	e, ok := phraseTable().Lookup(code)
	if !ok {
		return controltext.Entry{}, false
	}
	topic := make(map[string]bool)
	for _, s := range words.ContentWordStems(e.Topic) {
		topic[s] = true
	}
	for _, s := range words.ContentWordStems(title) {
		if topic[s] && !words.IsStopWord(s) {
			return e, true
		}
	}
	return controltext.Entry{}, false
}
