package crossencoder

import "golang.org/x/sys/cpu"

var fastKernel = kernels()[0]

// kernels returns the kernels that this processor supports, fastest first.
func kernels() (out []kernel) {
	if cpu.X86.HasAVX512F && cpu.X86.HasAVX512VNNI {
		out = append(out, kernel{8, dotProducts8Rows})
	}
	if cpu.X86.HasAVX2 {
		out = append(out, kernel{4, dotProducts4Rows})
	}
	return append(out, kernel{})
}

// Both functions need k to be even and positive.

//go:noescape
func dotProducts8Rows(out *int32, stride int, a, panel *int16, k int)

//go:noescape
func dotProducts4Rows(out *int32, stride int, a, panel *int16, k int)
