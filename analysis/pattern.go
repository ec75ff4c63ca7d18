package analysis

import "github.com/scf-service/service/expression"

// pattern is an expression that is tried on much text and seldom found.
type pattern = expression.Guarded

func re(s string) *pattern { return compile(`(?i)` + s) }

func compile(s string) *pattern { return expression.Guard(s) }
