package document_test

import (
	"testing"
	"time"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

func FuzzDate(f *testing.F) {
	f.Add("effective 1st of March, 2026")
	f.Add("3/4/2026 2026-02-30 31.12.2199")
	f.Fuzz(func(t *testing.T, s string) {
		got, ok, ambiguous := document.FindDate(s)
		if ok && (ambiguous || got.Location() != time.UTC || got.Year() < 1970 || got.Hour() != 0) {
			t.Errorf("%q: %v %v", s, got, ambiguous)
		}
	})
}
