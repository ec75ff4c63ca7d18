// Package phrasebook says in our own sentences what each control of a catalog with the
// usual codes asks for, as policies, procedures, tickets, laws and interviews put it. It holds
// codes, short names of topics and sentences, nothing of any catalog, and must not know
// who learns from them.
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

// Entries returns the entries: sentences that say what is asked for, or that it is done.
func Entries() []controltext.Entry { return phraseTable().Entries }

// Lookup returns the entry of a control: the one of its code, if its title has a word of
// the topic. Codes are given anew in some versions of a catalog, so that the code
// alone proves nothing.
func Lookup(code, title string) (controltext.Entry, bool) {
	e, ok := phraseTable().Lookup(code)
	if !ok {
		return controltext.Entry{}, false
	}
	topic := make(map[string]bool)
	for _, s := range words.Stems(e.Topic) {
		topic[s] = true
	}
	for _, s := range words.Stems(title) {
		if topic[s] && !words.IsStop(s) {
			return e, true
		}
	}
	return controltext.Entry{}, false
}
