package language_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/internal/language"
)

func BenchmarkDetect(b *testing.B) {
	text := strings.Repeat("Access rights are reviewed each quarter by the manager, and rights that are no longer needed are removed. ", 5)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if language.Detect(text) != language.English {
			b.Fatal("not English")
		}
	}
}
