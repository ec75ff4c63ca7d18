package embed

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"math"
	"reflect"
	"testing"
)

func sealed(body []byte) []byte {
	sum := sha256.Sum256(body)
	return append(append([]byte(nil), body...), sum[:]...)
}

func TestModelRoundTrip(t *testing.T) {
	m := train(t, starter(20), Options{Dimensions: 32})
	data, err := m.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	got, err := UnmarshalModel(data)
	if err != nil {
		t.Fatal(err)
	}
	if got.Name() != m.Name() || got.Dimensions() != 32 || got.Background() != m.Background() {
		t.Errorf("came back as %s %v", got.Name(), got.Background())
	}
	texts := []string{"backup of servers", "unknownish word"}
	a, _ := m.Embed(context.Background(), texts)
	b, _ := got.Embed(context.Background(), texts)
	if !reflect.DeepEqual(a, b) {
		t.Error("vectors differ after a round trip")
	}
	again, _ := got.MarshalBinary()
	if !bytes.Equal(again, data) {
		t.Error("bytes differ after a round trip")
	}
}

// small returns a model of two terms and two known texts, one with a row of its own.
func small(t testing.TB) []byte {
	known := map[uint64]knownText{hashText("a b"): {row: 2, prior: 0.5}, hashText("c"): {row: -1, prior: -0.5}}
	data, err := newModel(2, []string{"a", "b c"}, []float32{1, 2, 3, 4, 5, 6}, Background{0, 0.1}, known).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// first returns a model in format version 1, which had no known texts.
func first(dims uint16, rows ...float32) []byte {
	b := []byte(magic)
	b = binary.LittleEndian.AppendUint16(b, 1)
	b = binary.LittleEndian.AppendUint16(b, dims)
	b = binary.LittleEndian.AppendUint32(b, uint32(len(rows))/uint32(dims))
	b = binary.LittleEndian.AppendUint32(b, 0)
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(0.1))
	for i := range len(rows) / int(dims) {
		b = append(b, 1, 'b'+byte(i)) // "a" would be a stop word
	}
	for _, x := range rows {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	return sealed(b)
}

func TestUnmarshalReadsVersion1(t *testing.T) {
	m, err := UnmarshalModel(first(2, 3, 4, 1, 0))
	if err != nil {
		t.Fatal(err)
	}
	v, _ := m.Embed(context.Background(), []string{"b", "c"})
	if want := [][]float32{{0.6, 0.8}, {1, 0}}; m.Len() != 2 || math.Abs(float64(dot(v[0], want[0]))-1) > 1e-6 || m.KnownTextPrior("b") != 0 {
		t.Errorf("%d terms, vectors %v, prior %v", m.Len(), v, m.KnownTextPrior("b"))
	}
}

func TestUnmarshalRefuses(t *testing.T) {
	good := small(t)
	if _, err := UnmarshalModel(good); err != nil {
		t.Fatal(err)
	}
	body := good[:len(good)-sha256.Size]
	change := func(do func(b []byte)) []byte {
		b := append([]byte(nil), body...)
		do(b)
		return sealed(b)
	}
	le := binary.LittleEndian
	for name, data := range map[string][]byte{
		"empty":            nil,
		"other file":       []byte("%PDF-1.7 and so on, long enough to be looked at as a model, really long enough"),
		"cut":              good[:len(good)-1],
		"flipped bit":      append(append([]byte(nil), good[:30]...), append([]byte{good[30] ^ 1}, good[31:]...)...),
		"later version":    change(func(b []byte) { le.PutUint16(b[8:], 9) }),
		"no dimensions":    change(func(b []byte) { le.PutUint16(b[10:], 0) }),
		"many dimensions":  change(func(b []byte) { le.PutUint16(b[10:], 65535) }),
		"many terms":       change(func(b []byte) { le.PutUint32(b[12:], math.MaxUint32) }),
		"more terms":       change(func(b []byte) { le.PutUint32(b[12:], 3) }),
		"fewer terms":      change(func(b []byte) { le.PutUint32(b[12:], 1) }),
		"no background":    change(func(b []byte) { le.PutUint32(b[20:], 0) }),
		"NaN background":   change(func(b []byte) { le.PutUint32(b[16:], math.Float32bits(float32(math.NaN()))) }),
		"empty term":       change(func(b []byte) { b[24] = 0 }),
		"long term":        change(func(b []byte) { b[24] = 255 }),
		"not text":         change(func(b []byte) { b[25] = 0xff }),
		"NaN weight":       change(func(b []byte) { le.PutUint32(b[len(b)-4:], math.Float32bits(float32(math.NaN()))) }),
		"infinite weight":  change(func(b []byte) { le.PutUint32(b[len(b)-4:], math.Float32bits(float32(math.Inf(-1)))) }),
		"many known":       change(func(b []byte) { le.PutUint32(b[34:], math.MaxUint32) }),
		"many own rows":    change(func(b []byte) { le.PutUint32(b[30:], math.MaxUint32) }),
		"fewer own rows":   change(func(b []byte) { le.PutUint32(b[30:], 0) }),
		"twice known":      change(func(b []byte) { copy(b[38:46], b[54:62]) }),
		"row of a term":    change(func(b []byte) { le.PutUint32(b[46:], 1) }),
		"row beyond":       change(func(b []byte) { le.PutUint32(b[46:], 3) }),
		"NaN prior":        change(func(b []byte) { le.PutUint32(b[50:], math.Float32bits(float32(math.NaN()))) }),
		"cut known":        sealed(body[:40]),
		"version 1, cut":   sealed(body[:25]),
		"something behind": sealed(append(append([]byte(nil), body...), 0)),
	} {
		if _, err := UnmarshalModel(data); !errors.Is(err, ErrModel) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// FuzzUnmarshalModel adds a valid checksum to its input, so that the fuzzer gets past it.
func FuzzUnmarshalModel(f *testing.F) {
	good := small(f)
	f.Add(good[:len(good)-sha256.Size])
	old := first(2, 1, 2, 3, 4)
	f.Add(old[:len(old)-sha256.Size])
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, body []byte) {
		m, err := UnmarshalModel(sealed(body))
		if err != nil {
			if !errors.Is(err, ErrModel) {
				t.Fatal(err)
			}
			return
		}
		data, err := m.MarshalBinary()
		if err != nil || !bytes.Equal(data, sealed(body)) && body[8] > 1 {
			t.Fatalf("read but written otherwise (%v)", err)
		}
		v, err := m.Embed(context.Background(), []string{"a b c", string(body)})
		if err != nil {
			t.Fatal(err)
		}
		for _, x := range v[1] {
			if x != x || x > 1.001 || x < -1.001 {
				t.Fatalf("vector holds %v", x)
			}
		}
	})
}
