package analysis

import "github.com/scf-service/service/internal/lazyregexp"

// pattern is an expression that is tried on much text and seldom found.
type pattern = lazyregexp.Prefiltered

func compileFold(s string) *pattern { return compilePattern(`(?i)` + s) }

func compilePattern(s string) *pattern { return lazyregexp.NewPrefiltered(s) }
