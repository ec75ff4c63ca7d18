package layout

import (
	"slices"
	"strings"
	"testing"
)

// vagueNames are words that say too little as the whole name of a function, method or type: they don't say what is
// done, or to what. A verb needs an object (applyChanges, notifyOwner), and a boolean is a question (isDraft).
var vagueNames = strings.Fields(`
	ahead alike asked away both bring brought carry drawn drive dropped during fell felt found go goes gone had
	heard held hold home keep keeps kept lacks left let looked made moving near noted odd of once over own plain
	ran rest said say says settle shown standing stands steadily sunk take taken takes taking tell tells told together
	under wants way weighed within wore worth wrote
`)

func TestNamesSayWhatIsDone(t *testing.T) {
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		for _, d := range s.declared {
			if slices.Contains(vagueNames, strings.ToLower(d.name)) {
				t.Errorf("%s:%d: %s says too little as a name; add what it acts on, or use the usual term", s.path, d.line, d.name)
			}
		}
	}
}
