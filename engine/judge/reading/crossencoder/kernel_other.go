//go:build !amd64

package crossencoder

var fastKernel = kernel{}

var hasVectors = false

func kernels() []kernel { return []kernel{{}} }

// Never called.
func largestAbs8(*float32, int) uint32                          { return 0 }
func round8(*int16, *float32, int, float32)                     {}
func scale8(*float32, *int32, *float32, *float32, int, float32) {}
func exp8(*float32, int, float32, *float32, *float32)           {}
func gelu8(*float32, int, *float32)                             {}
