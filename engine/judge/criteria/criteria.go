// Package criteria says in our own sentences what an assessor looks for in each control of
// a catalog with the usual codes: what documents of an organization that does it would say,
// which words they can hardly do without (anchors), and with which a sentence says it (wordings).
// It serves catalogs that have no assessment objectives. It holds nothing of any catalog but
// our own, whose objectives it takes as they are, and must not know how evidence is judged.
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

// An Entry is what is looked for in one control.
type Entry = controltext.Entry

// Lookup returns the criteria of a code.
func Lookup(code string) (Entry, bool) { return All().Lookup(code) }

// All is all criteria: of the controls that the starter catalog lacks, then its own.
var All = sync.OnceValue(func() *controltext.Table {
	b := controltext.MustReadTable(criteriaFiles)
	src, err := starter.Load()
	if err != nil {
		panic(err) // embedded
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
