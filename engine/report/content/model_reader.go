package content

import (
	"fmt"
	"strings"

	"github.com/scf-service/service/api"
)

// modelReaders returns the language models that read the evidence as the first and as the second reader, in the form
// used in the Statement of Applicability's method: "ollama/qwen3:8b, digest 5f0c1a2b3c4d, prompt reader/1". A reader
// that isn't a model is returned as "".
func (v *Report) modelReaders() (first, second string) {
	if v.SoA == nil {
		return "", ""
	}
	model := func(reader string) string {
		_, out, _ := strings.Cut(reader, " (model ")
		return strings.TrimSuffix(out, ")")
	}
	method, other, _ := strings.Cut(v.SoA.Method, "; second reader ")
	return model(method), model(other)
}

// modelReaderNotes returns notes for readers of the report about language models that read the evidence.
func (v *Report) modelReaderNotes() (out []string) {
	first, second := v.modelReaders()
	if first != "" {
		out = append(out, fmt.Sprintf("A language model, %s, read the passages instead of the rules. Its verdicts can be more lenient than those "+
			"of the rules, but each is based on words quoted verbatim from the documents. Other models may judge differently.", first))
	}
	if second != "" {
		out = append(out, fmt.Sprintf("A language model, %s, read the passages as a second reader. The model changed no statuses; "+
			"items where it disagreed were marked for review.", second))
	}
	if v.SoA != nil && strings.Contains(v.SoA.Method, "; second reader "+api.BuiltinReader+".") {
		out = append(out, "A network that comes with the program read the passages as a second reader. It changed no statuses; items where it "+
			"disagreed were marked for review.")
	}
	return out
}
