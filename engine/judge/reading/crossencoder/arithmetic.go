package crossencoder

import "math"

// The functions in this file return the same bits on every processor: they use only operations whose rounding IEEE 754
// defines exactly, and convert each product before adding it, so that no compiler fuses multiplication and addition.

// quantizeRow scales the numbers in x to integers from -limit to limit, stores these in out, and returns the value that
// the integer 1 represents. The remaining elements of out are set to 0.
func quantizeRow(out []int16, x []float32, limit float32) float32 {
	largest := uint32(0)
	for _, v := range x {
		largest = max(largest, absBits(v))
	}
	by, unit := quantum(largest, limit)
	for i, v := range x {
		out[i] = roundToEven(float32(v * by))
	}
	clear(out[len(x):])
	return unit
}

// absBits returns the bits of the absolute value of v, which are ordered like the value.
func absBits(v float32) uint32 { return math.Float32bits(v) &^ (1 << 31) }

// quantum returns the factor that scales numbers to integers from -limit to limit, given the largest absBits of the
// numbers, and the value that the integer 1 represents.
func quantum(largest uint32, limit float32) (by, unit float32) {
	v := max(math.Float32frombits(largest), 1e-12)
	return limit / v, v / limit
}

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

// Size and resolution of the table of exponentials, which covers numbers from -expLimit to 0.
const (
	expLimit = 16
	expSteps = 128 // per unit
)

// expTable holds e⁻ˣ for x from 0 to expLimit.
var expTable = func() (table [expLimit*expSteps + 1]float32) {
	for i := range table {
		table[i] = float32(expNonPositive(-float64(i) / expSteps))
	}
	return table
}()

// softmax turns logits into probabilities multiplied by limit, rounded to integers, and stores these in out. The
// remaining elements of out are set to 0. It changes x.
func softmax(out []int16, x []float32, limit float32) {
	largest := x[0]
	for _, v := range x {
		largest = max(largest, v)
	}
	sum := 0.0
	for i, v := range x {
		e := float32(0)
		if at := float32((largest - v) * expSteps); at < expLimit*expSteps {
			k := int(at)
			e = expTable[k] + float32((at-float32(k))*(expTable[k+1]-expTable[k]))
		}
		x[i] = e
		sum += float64(e)
	}
	by := float32(float64(limit) / sum)
	for i, v := range x {
		out[i] = roundToEven(float32(v * by))
	}
	clear(out[len(x):])
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

// Size and resolution of the gelu table, which covers numbers from -geluLimit to geluLimit.
const (
	geluLimit = 6
	geluSteps = 256 // per unit
)

// geluTable holds x Φ(x), where Φ is the standard normal distribution function, computed by Simpson's rule.
var geluTable = func() (table [2*geluLimit*geluSteps + 2]float32) {
	density := func(x float64) float64 { return expNonPositive(-float64(x*x)/2) / math.Sqrt(2*math.Pi) }
	const half = geluLimit * geluSteps
	share := 0.5
	for i := range half + 1 {
		x := float64(i) / geluSteps
		table[half+i] = float32(x * share)
		table[half-i] = float32(-x * (1 - share))
		share += float64((density(x) + 4*density(x+0.5/geluSteps) + density(x+1.0/geluSteps)) / (6 * geluSteps))
	}
	table[len(table)-1] = geluLimit
	return table
}()

// gelu returns the GELU activation function of x, with an error below 3e-6.
func gelu(x float32) float32 {
	switch {
	case !(x > -geluLimit):
		return 0
	case x >= geluLimit:
		return x
	}
	at := float32((x + geluLimit) * geluSteps)
	i := int(at)
	return geluTable[i] + float32((at-float32(i))*(geluTable[i+1]-geluTable[i]))
}
