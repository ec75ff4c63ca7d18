package analysis

import "github.com/scf-service/service/internal/lazyregexp"

// pattern is a regular expression optimized for searching a lot of text in which it rarely matches.
type pattern = lazyregexp.Prefiltered

func compileIgnoringCase(s string) *pattern { return compilePattern(`(?i)` + s) }

func compilePattern(s string) *pattern { return lazyregexp.NewPrefiltered(s) }
