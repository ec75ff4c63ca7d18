package analysis

import "github.com/scf-service/service/internal/lazyregexp"

// pattern is a regular expression that is tried on a lot of text but rarely matches.
type pattern = lazyregexp.Prefiltered

func compileIgnoringCase(s string) *pattern { return compilePattern(`(?i)` + s) }

func compilePattern(s string) *pattern { return lazyregexp.NewPrefiltered(s) }
