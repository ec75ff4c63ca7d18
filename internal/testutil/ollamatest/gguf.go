package ollamatest

import (
	"bytes"
	"encoding/binary"
)

// gguf builds a model file of version 3: metadata, then tensors of float32, each aligned to 32 bytes.
type gguf struct {
	facts   bytes.Buffer
	count   uint64
	tensors []tensor
}

type tensor struct {
	name string
	dims []int // the fastest-varying dimension comes first
	data []float32
}

// Types of metadata values in the format.
const (
	kindUint32  = 4
	kindInt32   = 5
	kindFloat32 = 6
	kindBool    = 7
	kindString  = 8
	kindArray   = 9
)

func (g *gguf) putValues(v ...any) {
	for _, x := range v {
		if s, ok := x.(string); ok {
			writeLittleEndian(&g.facts, uint64(len(s)))
			g.facts.WriteString(s)
			continue
		}
		writeLittleEndian(&g.facts, x)
	}
}

// writeLittleEndian appends v to b in little-endian order. It panics if v has no fixed size.
func writeLittleEndian(b *bytes.Buffer, v any) {
	if err := binary.Write(b, binary.LittleEndian, v); err != nil {
		panic(err)
	}
}

func (g *gguf) addMetadata(key string, value any) {
	g.count++
	g.putValues(key)
	switch v := value.(type) {
	case int:
		g.putValues(uint32(kindUint32), uint32(v))
	case float64:
		g.putValues(uint32(kindFloat32), float32(v))
	case bool:
		g.putValues(uint32(kindBool), v)
	case string:
		g.putValues(uint32(kindString), v)
	case []int32:
		g.putValues(uint32(kindArray), uint32(kindInt32), uint64(len(v)), v)
	case []float32:
		g.putValues(uint32(kindArray), uint32(kindFloat32), uint64(len(v)), v)
	case []string:
		g.putValues(uint32(kindArray), uint32(kindString), uint64(len(v)))
		for _, s := range v {
			g.putValues(s)
		}
	}
}

// addTensor adds a tensor whose element i is value(i).
func (g *gguf) addTensor(name string, value func(i int) float32, dims ...int) {
	n := 1
	for _, d := range dims {
		n *= d
	}
	data := make([]float32, n)
	for i := range data {
		data[i] = value(i)
	}
	g.tensors = append(g.tensors, tensor{name: name, dims: dims, data: data})
}

func (g *gguf) bytes() []byte {
	const boundary = 32
	var out bytes.Buffer
	out.WriteString("GGUF")
	writeLittleEndian(&out, uint32(3))
	writeLittleEndian(&out, uint64(len(g.tensors)))
	writeLittleEndian(&out, g.count)
	out.Write(g.facts.Bytes())
	at := 0
	for _, t := range g.tensors {
		writeLittleEndian(&out, uint64(len(t.name)))
		out.WriteString(t.name)
		writeLittleEndian(&out, uint32(len(t.dims)))
		for _, d := range t.dims {
			writeLittleEndian(&out, uint64(d))
		}
		writeLittleEndian(&out, uint32(0)) // float32
		writeLittleEndian(&out, uint64(at))
		at += (len(t.data)*4 + boundary - 1) / boundary * boundary
	}
	pad := func() { out.Write(make([]byte, (boundary-out.Len()%boundary)%boundary)) }
	pad()
	for _, t := range g.tensors {
		writeLittleEndian(&out, t.data)
		pad()
	}
	return out.Bytes()
}

func zero(int) float32 { return 0 }
func one(int) float32  { return 1 }

// newNoise returns a reproducible sequence of small random numbers.
func newNoise(seed uint64) func(int) float32 {
	return func(int) float32 {
		seed ^= seed << 13
		seed ^= seed >> 7
		seed ^= seed << 17
		return float32(int64(seed>>40)-1<<23) / (1 << 23) / 8
	}
}
