package vector

import "github.com/viterin/vek/vek32"

const (
	quickRows = 3  // rows that a vector is multiplied with at once
	quickStep = 32 // numbers
)

// quick says that the processor can do what vek32.Dot then does, too.
var quick = vek32.Info().Acceleration

//go:noescape
func dotRows(v, rows *float32, n int, to *float32)
