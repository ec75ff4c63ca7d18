package embed

import "github.com/scf-service/service/engine/evidence/embed/phrasebook"

// smallCatalog is the maximum number of documents in a catalog that trains in a second or two.
// Adding phrase book sentences that match none of its documents would make training much slower.
const smallCatalog = 400

// addPhrasebook adds the sentences of the phrase book to the documents they describe. If the catalog is large, it also
// returns the entries that don't match any document, as concepts.
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
