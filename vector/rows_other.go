//go:build !amd64

package vector

const quick, quickRows, quickStep = false, 1, 1

func dotRows(v, rows *float32, n int, to *float32) {}
