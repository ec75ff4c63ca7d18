package crossencoder

import "golang.org/x/sys/cpu"

var (
	fastKernel = kernels()[0]
	hasVectors = cpu.X86.HasAVX2
)

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

// The functions below process n elements, a positive multiple of lanes. See vector.go for what they compute.

//go:noescape
func largestAbs8(x *float32, n int) uint32

//go:noescape
func round8(out *int16, x *float32, n int, by float32)

//go:noescape
func scale8(out *float32, sums *int32, scales, bias *float32, n int, scale float32)

//go:noescape
func exp8(x *float32, n int, largest float32, table, sums *float32)

//go:noescape
func gelu8(x *float32, n int, table *float32)
