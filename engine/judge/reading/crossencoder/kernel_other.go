//go:build !amd64

package crossencoder

var hasKernel = false

func dotProducts4Rows(*int32, int, *int16, *int16, int, int) {
	panic("no kernel is available for this processor")
}
