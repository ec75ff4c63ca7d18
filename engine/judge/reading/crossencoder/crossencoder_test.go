package crossencoder

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/testutil/weightstest"
)

func tiny(t *testing.T) *Network {
	t.Helper()
	n, err := Parse(weightstest.File(weightstest.Header))
	if err != nil {
		t.Fatal(err)
	}
	return n
}

var tinyPiece = piece{"Policy — ", "Backups are not tested every month, every week."}

func TestProbabilitiesAreThoseOfPyTorch(t *testing.T) {
	n := tiny(t)
	ids, second := n.encodePair("Backups: backups are tested.", tinyPiece)
	if want := []int32{2, 4, 14, 4, 5, 6, 7, 12, 3, 16, 15, 4, 5, 11, 6, 7, 9, 10, 13, 9, 18, 12, 3}; !slices.Equal(ids, want) || second != 9 {
		t.Fatalf("%v, %d", ids, second)
	}
	got := n.probabilities(&scratch{}, ids, second)
	// network.py of tools/reader, with floats in place of whole numbers
	want := [5]float64{0.02471, 0.22156, 0.01682, 0.65692, 0.07999}
	for l := range want {
		if math.Abs(got[l]-want[l]) > 0.002 {
			t.Errorf("%.5f, want %.5f", got, want)
			break
		}
	}
}

// TestSameBitsEverywhere fails on a processor that rounds differently, or whose kernel computes a wrong sum.
func TestSameBitsEverywhere(t *testing.T) {
	n := tiny(t)
	bits := func() uint64 {
		h := fnv.New64a()
		for length := 3; length <= 64; length++ {
			ids := make([]int32, length)
			for i := range ids {
				ids[i] = int32((i*7 + length) % n.Words)
			}
			for _, p := range n.probabilities(&scratch{}, ids, length/2) {
				_ = binary.Write(h, binary.LittleEndian, math.Float64bits(p))
			}
		}
		return h.Sum64()
	}
	const want = uint64(0x56e1ca891626e9d0)
	vectors := hasVectors
	defer func() { fastKernel, hasVectors = kernels()[0], vectors }()
	for _, k := range kernels() {
		fastKernel, hasVectors = k, vectors && k.rows > 0
		if got := bits(); got != want {
			t.Errorf("with a kernel for %d rows %#x, want %#x", k.rows, got, want)
		}
	}
}

func TestVectorsComputeAsPlainGo(t *testing.T) {
	if !hasVectors {
		t.Skip("this processor has no AVX2")
	}
	defer func() { hasVectors = true }()
	r := weightstest.Random(4)
	for n := 1; n < 50; n++ {
		x, sums, scales := make([]float32, n), make([]int32, n), make([]float32, n)
		for i := range x {
			x[i] = (float32(r.Next()%20000) - 10000) / 1000
			sums[i], scales[i] = int32(r.Next()), x[i]/100
		}
		for i, v := range []float32{6, -6, 5.9999995, -5.9999995, 0, 1e30, -1e30, 0x1p-140} {
			x[(i*7+n)%n] = v
		}
		all := func(vectors bool) (out []any) {
			hasVectors = vectors
			whole, row := make([]int16, n+3), slices.Clone(x)
			out = append(out, quantizeRow(whole, x, activationLimit), slices.Clone(whole))
			geluRow(row)
			out = append(out, slices.Clone(row))
			softmax(whole, row, shareLimit)
			out = append(out, whole, slices.Clone(row))
			scaleRow(row, sums, 1.5, scales, x)
			return append(out, row)
		}
		if got, want := fmt.Sprint(all(true)), fmt.Sprint(all(false)); got != want {
			t.Fatalf("%d numbers: %s, want %s", n, got, want)
		}
	}
}

func TestKernelsMultiplyAsPlainGo(t *testing.T) {
	r := weightstest.Random(3)
	for _, shape := range [][3]int{{8, 16, 16}, {16, 48, 32}, {8, 640, 48}, {24, 16, 1536}, {192, 32, 192}, {8, 16, 2}} {
		rows, columns, k := shape[0], shape[1], shape[2]
		a := make([]int16, rows*k)
		for i := range a {
			a[i] = int16(r.Next()%16383) - 8191
		}
		want := make([]int32, rows*columns)
		var b panels
		b.reset(columns, k)
		for c := range columns {
			column := make([]int16, k)
			for i := range column {
				column[i] = int16(r.Next()%255) - 127
			}
			b.setColumn(c, column)
			for row := range rows {
				for i, v := range column {
					want[row*columns+c] += int32(a[row*k+i]) * int32(v)
				}
			}
		}
		for _, kernel := range kernels() {
			fastKernel = kernel
			got := make([]int32, rows*columns)
			multiply(got, a, &b)
			if !slices.Equal(got, want) {
				t.Errorf("%v: the sums of a kernel for %d rows differ", shape, kernel.rows)
			}
		}
	}
	fastKernel = kernels()[0]
}

func TestArithmetic(t *testing.T) {
	for x := -9.0; x < 9; x += 0.0137 {
		want := x / 2 * (1 + math.Erf(x/math.Sqrt2))
		if got := float64(gelu(float32(x))); math.Abs(got-want) > 4e-6 {
			t.Errorf("gelu(%g) = %g, want %g", x, got, want)
		}
		if got, want := expNonPositive(-x*x), math.Exp(-x*x); math.Abs(got-want) > 1e-8*want {
			t.Errorf("exp(%g) = %g, want %g", -x*x, got, want)
		}
	}
	for v, want := range map[float32]int16{0.5: 0, 1.5: 2, -2.5: -2, 8190.7: 8191, -16383: -16383} {
		if got := roundToEven(v); got != want {
			t.Errorf("%v is rounded to %d", v, got)
		}
	}
}

func TestTokenizer(t *testing.T) {
	n := tiny(t)
	for text, want := range map[string][]int32{
		"":                                     {},
		"Tested, TESTS":                        {6, 7, 13, 6, 8},
		"naïve\u200b week\u2028中week":          {17, 18, 19, 18},
		"unknown every":                        {1, 9},
		"bab":                                  {1},
		"ba":                                   {20, 21},
		strings.Repeat("a", 100_000) + " week": {1, 18},
		"week\ufffd\x00 \u0301.":               {18, 12},
	} {
		if got := n.tokenizer.encode(text, 50); !slices.Equal(got, want) {
			t.Errorf("%.40q: %v, want %v", text, got, want)
		}
	}
	if got := n.tokenizer.encode(strings.Repeat("week ", 100), 3); len(got) != 3 {
		t.Error(got)
	}
}

func TestWindows(t *testing.T) {
	long := strings.Repeat("x", 200) + "."
	for text, want := range map[string][]string{
		"":                                     nil,
		" \n ":                                 nil,
		"One. Two!\n\nThree":                   {"One. Two! Three"},
		"Keep: a;  b\tc":                       {"Keep: a; b\tc"},
		long + " Short. " + long + "\n" + long: {long + " Short.", "Short. " + long, long},
	} {
		if got := windows(text); !slices.Equal(got, want) {
			t.Errorf("%.40q: %q, want %q", text, got, want)
		}
	}
	if got := sentences("We do: this; that. Yes?  No"); !slices.Equal(got, []string{"We do: this; that.", "Yes?", "No"}) {
		t.Errorf("%q", got)
	}
}

func TestDamagedWeightsAreRefused(t *testing.T) {
	file := weightstest.File(weightstest.Header)
	signed := func(b []byte) []byte {
		sum := sha256.Sum256(b)
		return append(slices.Clone(b), sum[:]...)
	}
	body := file[:len(file)-sha256.Size]
	flipped := slices.Clone(file)
	flipped[len(flipped)/2] ^= 1
	header := func(old, changed string) []byte {
		if !strings.Contains(weightstest.Header, old) {
			t.Fatal(old)
		}
		return weightstest.File(strings.Replace(weightstest.Header, old, changed, 1))
	}
	for want, b := range map[string][]byte{
		"not a reader's weights file":     []byte("PK\x03\x04"),
		"truncated":                       file[:20],
		"truncated or damaged":            file[:len(file)-100],
		"wrong SHA-256":                   flipped,
		"the tensors don't have the size": signed(body[:len(body)-4]),
		"given in the header":             signed(append(slices.Clone(body), 0)),
		"support the network's shape":     header(`"layers":2`, `"layers":2000000`),
		"multiples of 16":                 header(`"width":32`, `"width":40`),
		"the labels are [yes no]":         header(`["states","part","plans","contradicts","silent"]`, `["yes","no"]`),
		"the vocabulary is not valid":     header(`"vocabulary_bytes":103`, `"vocabulary_bytes":-1`),
		"length given in the header":      header(`"words":22`, `"words":21`),
		"the header is not valid":         header(`"layers":2`, `"layers":"two"`),
	} {
		if _, err := Parse(b); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

func TestReaderReadsAnyPassage(t *testing.T) {
	r := NewReader(tiny(t))
	if !reading.IsValidName(r.Name()) || !strings.HasPrefix(r.Name(), "trained-tiny-1-") {
		t.Error(r.Name())
	}
	s := reading.Statement{Topic: "Backups", Text: "Backups are tested."}
	passages := []reading.Passage{
		{},
		{Text: strings.Repeat("x", 100_000)},
		{Text: strings.Repeat("Week. ", 5_000), HeadingPath: []string{"Policy", "Policy"}},
		{Title: "Policy", Text: "Backups are tested every month.\nNot every week!\u0301 \u202e中"},
		{Text: "\x00\ufffd"},
		{Text: strings.Repeat("中—", 1200)},                 // more bytes than a quote may have
		{Title: "Policy", Text: "Backups are tested. No."}, // its last sentence is too short for a quote
	}
	for i := range 100 {
		passages = append(passages, reading.Passage{Text: strings.Repeat("Backups are tested, ", i) + "every week. Not: every month."})
	}
	got, invalid, err := reading.ReadAll(t.Context(), r, s, passages)
	if err != nil || invalid > 0 {
		t.Fatal(invalid, err)
	}
	labels := map[reading.Label]int{}
	for _, one := range got {
		labels[one.Label]++
	}
	if labels[reading.Silent] == len(got) || labels[reading.Silent] == 0 {
		t.Error("the weights of this test read everything alike:", labels)
	}
	r.workers = 1
	again, _, err := reading.ReadAll(t.Context(), r, s, passages)
	if err != nil || fmt.Sprint(again) != fmt.Sprint(got) {
		t.Error("one worker reads otherwise than several", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Read(ctx, s, passages); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	middle := &countdown{Context: t.Context(), left: 20}
	if _, err := r.Read(middle, s, passages); !errors.Is(err, context.Canceled) || middle.left < -2 {
		t.Errorf("canceled in the middle: %v, asked %d times afterwards", err, -middle.left)
	}
}

// countdown is a context that is canceled after it was asked for its error a number of times.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}
