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

var whole = sync.OnceValue(func() *controltext.Book { return controltext.MustRead(files) })

// Book returns the entries: sentences that say what is asked for, or that it is done.
func Book() []controltext.Entry { return whole().Entries }

// Of returns the entry of a control: the one of its code, if its title has a word of
// the topic. Codes are given anew in some versions of a catalog, so that the code
// alone proves nothing.
func Of(code, title string) (controltext.Entry, bool) {
	e, ok := whole().Of(code)
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
