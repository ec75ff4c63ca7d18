package evidence

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/embed"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
)

// BenchmarkChunkAndEmbed10000 splits documents into at least 10,000 passages and embeds them, without parsing.
// The limit is 10 s.
func BenchmarkChunkAndEmbed10000(b *testing.B) {
	const passages, perDocument = 10_000, 400
	rng := rand.New(rand.NewPCG(1, 2))
	zipf := rand.NewZipf(rng, 1.1, 8, 30_000)
	sentence := func(words int) string {
		var s strings.Builder
		for range words {
			s.WriteString(packedWord(zipf.Uint64()))
		}
		return strings.TrimSpace(s.String()) + ". "
	}
	var c embed.Corpus
	for i := range 1500 {
		c.Documents = append(
			c.Documents,
			embed.Document{
				ID:    fmt.Sprint(i),
				Texts: []string{sentence(4), sentence(30), sentence(20), sentence(25)},
				Codes: []string{fmt.Sprint(i / 3)},
			},
		)
	}
	model, err := embed.Train(b.Context(), c, embed.Options{})
	if err != nil {
		b.Fatal(err)
	}
	reader, err := parse.New(parse.Options{})
	if err != nil {
		b.Fatal(err)
	}
	var documents []*document.Document
	for range passages / perDocument {
		var md strings.Builder
		for i := range perDocument {
			fmt.Fprintf(&md, "## Section %d\n\n", i)
			for range 14 {
				md.WriteString(sentence(15))
			}
			md.WriteString("\n\n")
		}
		doc, err := reader.Read(b.Context(), "policy.md", bytes.NewReader([]byte(md.String())), int64(md.Len()))
		if err != nil {
			b.Fatal(err)
		}
		documents = append(documents, doc)
	}
	for b.Loop() {
		n := 0
		for _, doc := range documents {
			chunks := chunk.Split(doc, chunk.Options{})
			texts := make([]string, len(chunks))
			for i := range chunks {
				texts[i] = chunks[i].Text
			}
			vectors, err := model.Embed(context.Background(), texts)
			if err != nil {
				b.Fatal(err)
			}
			n += len(vectors)
		}
		if n < passages {
			b.Fatalf("%d passages", n)
		}
		b.ReportMetric(float64(n), "passages")
	}
}
