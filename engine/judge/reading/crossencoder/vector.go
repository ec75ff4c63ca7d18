package crossencoder

import "math"

// The functions in this file compute with rows of numbers. Each has a portable form, which computes the same bits; it is
// used for what is left over if a row has no multiple of lanes numbers, and on processors without AVX2.

// lanes is the number of elements that the assembly functions process at once.
const lanes = 8

// vectorized returns how many of n elements the assembly functions process; plain Go processes the rest.
func vectorized(n int) int {
	if !hasVectors {
		return 0
	}
	return n &^ (lanes - 1)
}

// quantizeRow scales the numbers in x to integers from -limit to limit, stores these in out, and returns the value that
// the integer 1 represents. The remaining elements of out are set to 0.
func quantizeRow(out []int16, x []float32, limit float32) float32 {
	n := vectorized(len(x))
	largest := uint32(0)
	if n > 0 {
		largest = largestAbs8(&x[0], n)
	}
	for _, v := range x[n:] {
		largest = max(largest, absBits(v))
	}
	by, unit := quantum(largest, limit)
	roundRow(out, x, by)
	return unit
}

// roundRow stores the numbers in x, multiplied by a factor and rounded, in out. The remaining elements of out are set to 0.
func roundRow(out []int16, x []float32, by float32) {
	rounded, n := out[:len(x)], vectorized(len(x))
	if n > 0 {
		round8(&rounded[0], &x[0], n, by)
	}
	for i := n; i < len(x); i++ {
		rounded[i] = roundToEven(float32(x[i] * by))
	}
	clear(out[len(x):])
}

// absBits returns the bits of the absolute value of v, which are ordered like the value.
func absBits(v float32) uint32 { return math.Float32bits(v) &^ (1 << 31) }

// quantum returns the factor that scales numbers to integers from -limit to limit, given the largest absBits of the
// numbers, and the value that the integer 1 represents.
func quantum(largest uint32, limit float32) (by, unit float32) {
	v := max(math.Float32frombits(largest), 1e-12)
	return limit / v, v / limit
}

// scaleRow turns sums of products of integers into numbers: it multiplies each with scale and its column's scale, adds
// its bias, and stores the result in out.
func scaleRow(out []float32, sums []int32, scale float32, scales, bias []float32) {
	sums, scales, bias = sums[:len(out)], scales[:len(out)], bias[:len(out)]
	n := vectorized(len(out))
	if n > 0 {
		scale8(&out[0], &sums[0], &scales[0], &bias[0], n, scale)
	}
	for i := n; i < len(out); i++ {
		out[i] = float32(float32(sums[i])*float32(scale*scales[i])) + bias[i]
	}
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
		if v > largest { // faster than max, which distinguishes zeros and NaN
			largest = v
		}
	}
	n := vectorized(len(x))
	var sums [lanes]float32
	if n > 0 {
		exp8(&x[0], n, largest, &expTable[0], &sums[0])
	}
	for i := n; i < len(x); i++ {
		e := float32(0)
		if at := float32((largest - x[i]) * expSteps); at < expLimit*expSteps {
			k := int(at)
			e = expTable[k] + float32((at-float32(k))*(expTable[k+1]-expTable[k]))
		}
		x[i] = e
		sums[i%lanes] += e
	}
	sum := float32(0)
	for _, s := range sums {
		sum += s
	}
	roundRow(out, x, limit/sum)
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

// geluRow applies the GELU activation function to the numbers in x, with an error below 3e-6.
func geluRow(x []float32) {
	n := vectorized(len(x))
	if n > 0 {
		gelu8(&x[0], n, &geluTable[0])
	}
	for i, v := range x[n:] {
		x[n+i] = gelu(v)
	}
}

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
