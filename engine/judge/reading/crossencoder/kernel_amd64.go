package crossencoder

import "golang.org/x/sys/cpu"

var hasKernel = cpu.X86.HasAVX2

// dotProducts4Rows computes the dot products of 4 rows of a with n rows of b and stores them in 4 rows of out, which
// are stride apart. n must be positive and even, and k must be a positive multiple of step.
//
//go:noescape
func dotProducts4Rows(out *int32, stride int, a, b *int16, k, n int)
