package embed

import "github.com/scf-service/service/engine/evidence/embed/phrasebook"

// smallCatalog is how many documents a catalog has that trains in a second or two. The
// sentences that none of its documents asks for would take longer than all the rest.
const smallCatalog = 400

// addPhrases makes the sentences of the phrase book ask for the documents they are about,
// and returns as concepts what no document of a large catalog is about.
func (g *textCollector) addPhrases(docs []Document) [][]string {
	about := make(map[string]int, len(docs))
	for i, d := range docs {
		if len(d.Texts) == 0 {
			continue
		}
		if e, ok := phrasebook.Lookup(d.ID, d.Texts[0]); ok {
			about[e.Code] = i
		}
	}
	var concepts [][]string
	for _, e := range phrasebook.Entries() {
		i, there := about[e.Code]
		switch {
		case there:
			for _, sentence := range e.Sentences {
				g.addOwner(sentence, i, 1)
			}
		case len(docs) > smallCatalog:
			concepts = append(concepts, e.AllTexts())
		}
	}
	return concepts
}
