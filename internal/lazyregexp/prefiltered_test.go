package lazyregexp

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strings"
	"testing"
)

func TestPrefilteredFindsWhatRegexpFinds(t *testing.T) {
	patterns := []string{
		`(?i)\b(?:plan(?:ned|s)? to|is planned|planned for|to be (?:done|bought)|will (?:\w+ly )?be|is)\b`, // several alternatives may match at one position
		`(?i)(?:not done|not|done|no|be done by \w+)`,
		`(?i)^(?:the plan|the|a plan)\b.*`,
		`(?i)^\W*(?:will|not will|will not)`, // the text before the alternation is not empty
		`(?i)(?:planned|\d)`,                 // one alternative has no word
		`(?i)\b(?:planſ|kelvin to|ask)\b`,
		`plan|done|The|will`,
		`(?i)\b(?:the|a)\b(?: plan\b)?|\bno\b`, // whole words only
		`\b(?:no|not)(?:ed)?\b|\bPLAN|The\b`,
		`\bPLANNED\b|(?:The ){2}|Ask`, // case matters
		`(?i)by@\w+|[\w.]+@|\[x\]|staff_?`,
		`(?m)^(?:done|planned)$|will`,
	}
	words := strings.Fields(
		"The the plan plans planned PLANNED to be done is will quickly not for bought Kelvin ask aſk a 4 , . - no by staff notice noted \xe9no no\xe9 @ by@staff [x] no_ a@b theme bathe \n",
	)
	rng := rand.New(rand.NewPCG(5, 6))
	for _, p := range patterns {
		g, want := NewPrefiltered(p), regexp.MustCompile(p)
		for range 3000 {
			var b strings.Builder
			for range rng.IntN(9) {
				b.WriteString(words[rng.IntN(len(words))] + " \n"[rng.IntN(2):][:1])
			}
			s := b.String()
			if got := g.MatchString(s); got != want.MatchString(s) {
				t.Fatalf("%s matches %q: %v", p, s, got)
			}
			if got, want := g.FindStringIndex(s), want.FindStringIndex(s); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s in %q: %v, package regexp says %v", p, s, got, want)
			}
			if got, want := g.FindString(s), want.FindString(s); got != want {
				t.Fatalf("%s in %q: %q, package regexp says %q", p, s, got, want)
			}
			if got, want := g.ReplaceAllString(s, "x"), want.ReplaceAllString(s, "x"); got != want {
				t.Fatalf("%s in %q: %q, package regexp says %q", p, s, got, want)
			}
		}
	}
}
