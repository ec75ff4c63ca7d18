package embed

import "github.com/scf-service/service/engine/evidence/embed/phrasebook"

// smallCatalog is the number of documents up to which a catalog trains in a second or two. With
// unmatched phrase book sentences, training would take much longer.
const smallCatalog = 400

// addPhrasebook assigns the sentences of the phrase book to their documents. In a large catalog, the entries
// that match no document are returned as concepts.
func (g *textCollector) addPhrasebook(docs []Document) [][]string {
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
