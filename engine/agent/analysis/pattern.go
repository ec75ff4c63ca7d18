package analysis

import "github.com/scf-service/service/internal/lazyregexp"

// pattern is an expression that is tried on much text and seldom found.
type pattern = lazyregexp.Guarded

func re(s string) *pattern { return compile(`(?i)` + s) }

func compile(s string) *pattern { return lazyregexp.Guard(s) }
