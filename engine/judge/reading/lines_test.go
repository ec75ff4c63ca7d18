package reading_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/reading"
)

const validLine = `{"reader":"ada","statement_id":"s","passage_hash":"p","label":"states","probabilities":{"states":1},"words":"x"}`

func TestParseLines(t *testing.T) {
	for name, tc := range map[string]struct{ file, problem string }{
		"valid":         {validLine + "\n\n" + validLine, ""},
		"empty":         {" \n\n", "contains no readings"},
		"cut":           {validLine + "\n" + validLine[:40], "line 2: the line is truncated"},
		"a list":        {"[" + validLine + "]", "line 1: the line is not a valid JSON reading"},
		"two on a line": {validLine + validLine, "line 1: there is more text|line 1: the line is not a valid JSON reading"},
		"an unknown field": {
			strings.Replace(validLine, `"words"`, `"quote"`, 1),
			`line 1: the line is not a valid JSON reading: json: unknown field "quote"`,
		},
		"a wrong type":        {strings.Replace(validLine, `"states":1`, `"states":"high"`, 1), "line 1: the line is not a valid JSON reading"},
		"too long":            {validLine + "\n" + strings.Repeat("x", 100_000), "line 2 is longer"},
		"not UTF-8":           {strings.Replace(validLine, "ada", "\xff\xfe", 1), "line 1: the line is not valid UTF-8"},
		"too many lines":      {strings.Repeat("\n", 500_001), "more than 500000 lines"},
		"a byte order mark":   {"\ufeff" + validLine, "line 1: the line is not a valid JSON reading"},
		"a deeply nested one": {strings.Repeat("[", 20_000), "line 1: the line is"},
	} {
		n := 0
		err := reading.ParseLines(strings.NewReader(tc.file), func(_ int, l reading.Line) error {
			if l.Reader != "ada" || l.Label != reading.States || l.Probabilities[reading.States] != 1 {
				t.Errorf("%s: %+v", name, l)
			}
			n++
			return nil
		})
		matches := false
		for p := range strings.SplitSeq(tc.problem, "|") {
			matches = matches || err != nil && strings.Contains(err.Error(), p)
		}
		if tc.problem == "" && (err != nil || n != 2) || tc.problem != "" && !matches {
			t.Errorf("%s: %d lines, %v; want %q", name, n, err, tc.problem)
		}
	}
}

func FuzzReadings(f *testing.F) {
	f.Add(validLine, "x y")
	f.Add(`{"label":"part","words":" "}`, "\xffx\u2003y")
	f.Fuzz(func(t *testing.T, file, passage string) {
		_ = reading.ParseLines(strings.NewReader(file), func(_ int, l reading.Line) error {
			if l.Reading.Check(passage) == nil && l.Label != reading.Silent && !strings.Contains(passage, reading.FindQuote(passage, l.Words)) {
				t.Errorf("quote %q is not in %q", l.Words, passage)
			}
			return nil
		})
	})
}

func TestIsValidName(t *testing.T) {
	for name, want := range map[string]bool{
		"ada": true, "model-1.2_x": true, "7b": true, strings.Repeat("a", 64): true,
		"": false, "Ada": false, "-a": false, ".a": false, "a b": false, "a/b": false, "a\n": false, "aéb": false, "aXb": false, strings.Repeat("a", 65): false,
	} {
		if reading.IsValidName(name) != want {
			t.Errorf("%q: %v", name, !want)
		}
	}
}
