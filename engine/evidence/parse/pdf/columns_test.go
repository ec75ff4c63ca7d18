package pdf

import (
	"slices"
	"strings"
	"testing"
	"unicode"
)

// columnTokens are the words of pages of FuzzColumns: names, sentences, values, list marks, letters and another script.
var columnTokens = []string{
	"System", "Owner", "keys", "are", "stored", "in", "the", "vault.", "Ann", "Roe", "12", "3.5", "2026-05-04", "yes", "1.", "•",
	"(a)", "x", "I", "の", "鍵", "حفظ", "OK", "of",
}

// pageOfBytes makes a page of words, five bytes each: the left and upper edge, the width, the height, and the text and turn.
func pageOfBytes(raw []byte) *pageContent {
	p := &pageContent{w: 600, h: 800}
	for len(raw) >= 5 && len(p.words) < 400 {
		x, y := float64(raw[0])*2.2, float64(raw[1])*3
		w := word{text: columnTokens[int(raw[4])%len(columnTokens)]}
		w.box = box{x0: x, y0: y, x1: x + 1 + float64(raw[2])/2, y1: y + 2 + float64(raw[3]%24)}
		if raw[4] >= 240 {
			w.turn = turn(raw[4] % 4)
		}
		p.words, raw = append(p.words, w), raw[5:]
	}
	return p
}

// FuzzColumns checks that ordering a page by its columns and tables neither loses a letter nor reads one twice, and that
// it does so in the same way each time.
func FuzzColumns(f *testing.F) {
	var table, columns, names []byte
	for row := range 5 {
		for column := range 3 {
			table = append(table, byte(20+70*column), byte(20+5*row), 60, 8, byte(5*row+column))
		}
	}
	for line := range 6 {
		for n := range 6 {
			columns = append(columns, byte(10+10*n), byte(30+4*line), 38, 8, byte(line+n), byte(100+10*n), byte(30+4*line), 38, 8, byte(2*line+n))
		}
	}
	for n := range 2 {
		names = append(names, byte(20+70*n), 16, 30, 8, byte(n))
	}
	f.Add(table)
	f.Add(columns)
	f.Add(append(names, table...))
	f.Add(table[:30])
	f.Add([]byte{100, 20, 20, 8, 18, 100, 23, 20, 8, 18, 100, 26, 20, 8, 18, 90, 40, 30, 8, 241, 90, 50, 30, 8, 242, 90, 60, 30, 8, 243})
	f.Fuzz(func(t *testing.T, raw []byte) {
		var want strings.Builder
		for _, w := range pageOfBytes(raw).words {
			want.WriteString(w.text)
		}
		got := itemTexts(layoutPage(pageOfBytes(raw)))
		if sortedLetters(strings.Join(got, "")) != sortedLetters(want.String()) {
			t.Errorf("the letters of %q are not those of %q", got, want.String())
		}
		if again := itemTexts(layoutPage(pageOfBytes(raw))); !slices.Equal(again, got) {
			t.Errorf("got %q, then %q", got, again)
		}
	})
}

// itemTexts returns the texts of a page: its lines, and the cells of its tables.
func itemTexts(p *pageLayout) (out []string) {
	for _, it := range p.items {
		if it.line != nil {
			out = append(out, it.line.text)
			continue
		}
		for _, r := range it.grid.rows {
			out = append(out, strings.Join(r.cells, " "))
		}
	}
	return out
}

func sortedLetters(s string) string {
	letters := slices.DeleteFunc([]rune(s), unicode.IsSpace)
	slices.Sort(letters)
	return string(letters)
}
