package facts

import (
	"cmp"

	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/language"
)

// detectLanguage returns the language of most of a document, or "und" if it can't be determined.
func detectLanguage(blocks []document.Block) string {
	var s language.Sample
	for _, b := range blocks {
		s.AddText(b.Text)
	}
	return cmp.Or(s.Language(), "und")
}
