package crossencoder

import "math"

// The functions in this file and in vector.go return the same bits on every processor: they use only operations whose
// rounding IEEE 754 defines exactly, and convert each product before adding it, so that no compiler fuses multiplication
// and addition.

// roundToEven rounds v, whose absolute value is at most 2²², to the nearest integer. Ties are rounded to the even
// neighbor. To round, it adds 1.5 × 2²³, which leaves no bits for a fraction.
func roundToEven(v float32) int16 {
	const bias = 12582912
	return int16(int32(math.Float32bits(v+bias)) - 0x4B400000)
}

// expNonPositive returns eˣ for x ≤ 0, with a relative error below 1e-9.
func expNonPositive(x float64) float64 {
	if x < -700 {
		return 0
	}
	n := math.Floor(float64(x*math.Log2E) + 0.5)
	r := x - float64(n*math.Ln2)
	sum := 1.0 / 40320
	for _, c := range [...]float64{1.0 / 5040, 1.0 / 720, 1.0 / 120, 1.0 / 24, 1.0 / 6, 1.0 / 2, 1, 1} {
		sum = c + float64(r*sum)
	}
	return sum * math.Float64frombits(uint64(1023+int(n))<<52)
}

// layerNorm normalizes x in place to mean 0 and variance 1, and then applies weight and bias.
func layerNorm(x, weight, bias []float32) {
	mean := 0.0
	for _, v := range x {
		mean += float64(v)
	}
	mean /= float64(len(x))
	variance := 0.0
	for _, v := range x {
		d := float64(v) - mean
		variance += float64(d * d)
	}
	by := float32(1 / math.Sqrt(variance/float64(len(x))+1e-12))
	for i, v := range x {
		x[i] = float32(float32((v-float32(mean))*by)*weight[i]) + bias[i]
	}
}
