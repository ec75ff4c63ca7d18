// Package weightstest creates files of weights for testing the neural networks that read passages.
package weightstest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
)

// Random is a random number generator that returns the same numbers on every machine.
type Random uint64

// Next returns the next number, which has 31 bits.
func (r *Random) Next() uint64 {
	*r = *r*6364136223846793005 + 1442695040888963407
	return uint64(*r >> 33)
}

func (r *Random) float(limit float32) float32 {
	return float32((float32(r.Next()%2001)/1000 - 1) * limit)
}

const vocabulary = "[PAD]\n[UNK]\n[CLS]\n[SEP]\nbackups\nare\ntest\n##ed\n##s\nevery\nmonth\nnot\n.\n,\n:\n—\npolicy\nnaive\nweek\n中\nb\n##a"

// Header is the header of a file whose network has two small layers.
const Header = `{"name":"Tiny 1","layers":2,"width":32,"inner":64,"heads":2,"words":22,"positions":64,` +
	`"labels":["states","part","plans","contradicts","silent"],"vocabulary_bytes":103}`

// File returns a file of weights in the format of tools/reader/network.py. The weights are random, so the network's
// readings are random, too.
func File(header string) []byte {
	const layers, width, inner, words = 2, 32, 64, 22
	var out bytes.Buffer
	out.WriteString("READER01")
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(len(header))))
	out.WriteString(header + vocabulary)
	r := Random(1)
	floats := func(n int, limit, around float32) {
		for range n {
			_ = binary.Write(&out, binary.LittleEndian, float32(around+r.float(limit)))
		}
	}
	whole := func(rows, columns int) {
		floats(rows, 0.001, 0.003)
		for range rows * columns {
			out.WriteByte(byte(int8(r.Next()%255) - 127))
		}
	}
	norm := func() { floats(width, 0.2, 1); floats(width, 0.2, 0) }
	linear := func(rows, columns int) { whole(rows, columns); floats(rows, 0.2, 0) }
	whole(words, width)
	floats(64*width+2*width, 0.2, 0)
	norm()
	for range layers {
		linear(3*width, width)
		linear(width, width)
		norm()
		linear(inner, width)
		linear(width, inner)
		norm()
	}
	floats(5*2*width+5, 0.5, 0)
	sum := sha256.Sum256(out.Bytes())
	return append(out.Bytes(), sum[:]...)
}
