// Package criteria states, in our own words, what an assessor looks for in each control of a catalog with the usual
// codes. For each control, it lists what the documents of an organization that implements the control would state, the
// words that these documents almost always contain (anchors), and the words with which such statements are expressed
// (wordings). It is used for catalogs without assessment objectives. It contains no text from any catalog but our own,
// whose objectives it uses unchanged, and must not know how evidence is judged.
package criteria

import (
	"embed"
	"strings"
	"sync"

	"github.com/scf-service/service/engine/catalog/starter"
	"github.com/scf-service/service/internal/controltext"
)

//go:embed *.txt
var criteriaFiles embed.FS

// An Entry holds the criteria of one control.
type Entry = controltext.Entry

// Lookup returns the criteria for a control code.
func Lookup(code string) (Entry, bool) { return All().Lookup(code) }

// All returns the criteria of all controls: first those of controls that are missing from the starter catalog, then
// those of the controls in it.
var All = sync.OnceValue(func() *controltext.Table {
	b := controltext.MustReadTable(criteriaFiles)
	src, err := starter.Load()
	if err != nil {
		panic(err) // embedded, so it is always valid
	}
	for _, c := range src.Controls {
		e := controltext.Entry{Code: c.Code, Topic: strings.ToLower(c.Title)}
		for _, o := range c.Objectives {
			e.Sentences = append(e.Sentences, o.Text)
		}
		if err := b.Add(e); err != nil {
			panic(err)
		}
	}
	return b
})
