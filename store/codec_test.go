package store

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/scf-service/service/store/kv"
)

func TestCodec(t *testing.T) {
	c := jsonCodec
	for _, n := range []int{
		0, 1, minDictionarySize - 60, minDictionarySize, maxDictionarySize - 60, maxDictionarySize,
		10 * maxDictionarySize, 1 << 20,
	} {
		in := control{Code: "A", Text: strings.Repeat("policy ", n/7)}
		b, err := c.marshal(&in)
		if err != nil {
			t.Fatal(err)
		}
		want := byte(markJSON)
		switch {
		case n >= maxDictionarySize:
			want |= markCompressed
		case n >= minDictionarySize:
			want |= markCompressed | markDictionary
		}
		if b[0] != want {
			t.Errorf("%d bytes: the mark is %#02x, want %#02x", n, b[0], want)
		}
		var out control
		is(t, "unmarshal", c.unmarshal(b, &out), nil)
		if out.Text != in.Text {
			t.Errorf("%d bytes came back otherwise", n)
		}
	}
	noise := make([]byte, 4*minCompressSize)
	r := rand.NewChaCha8([32]byte{1})
	_, _ = r.Read(noise)
	b, err := packRecord(markCustomCodec, noise)
	if err != nil || b[0] != markCustomCodec || !bytes.Equal(b[1:], noise) {
		t.Errorf("what doesn't compress is not kept as it is: %v", err)
	}
	_, err = packRecord(markJSON, make([]byte, maxRecordSize+1))
	is(t, "a record too large", err, ErrTooLarge)
	big := make([]byte, kv.MaxValue)
	_, _ = r.Read(big)
	_, err = packRecord(markJSON, big)
	is(t, "noise too large", err, ErrTooLarge)
	for _, bad := range [][]byte{
		nil,
		{},
		{0x7F, '{', '}'},
		{markJSON},
		{markJSON, '{'},
		{markJSON, '{', '}', '}'},
		{markCustomCodec, 1},
		{markJSON | markCompressed},
		{markJSON | markCompressed, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
		{markJSON | markCompressed, 5, 0},
		{markJSON | markDictionary, '{', '}'},
		{markJSON | markDictionary | markCompressed},
		{markJSON | markDictionary | markCompressed, 0xFF, 0xFF, 0xFF, 0xFF, 0x0F},
		{markJSON | markDictionary | markCompressed, 5, 0},
	} {
		is(t, "damaged record", c.unmarshal(bad, &control{}), ErrCorrupt)
	}
}

// TestRecordDictionary checks that the dictionary is the one used by stored records, and that it improves
// compression.
func TestRecordDictionary(t *testing.T) {
	if sum := fmt.Sprintf("%x", sha256.Sum256(recordDictionaryBytes)); sum != "523299f491981030a1492cd0d17087a9e2981c79de227b7c065d32321b8e3960" {
		t.Errorf("the dictionary was changed, so that stored records can't be read: %s", sum)
	}
	item := []byte(`,"control_code":"AST-04","domain_code":"AST","edited_by":null,"edited_fields":[],"applicability":"applicable",` +
		`"inclusion_reasons":["contractual"],"implementation_status":"not_evidenced","evidence":[],"rests_on_documents":0}`)
	packed, err := packRecord(markJSON, item)
	if is(t, "pack", err, nil); len(packed) > len(item)/2 {
		t.Errorf("%d bytes are packed in %d", len(item), len(packed))
	}
	for i := range packed { // a changed bit must result in an error or in other content, never in a panic
		for bit := range 8 {
			damaged := bytes.Clone(packed)
			damaged[i] ^= 1 << bit
			if _, _, err := unpackRecord(damaged); err != nil {
				is(t, "damaged", err, ErrCorrupt)
			}
		}
	}
}

// vector is a record of a table with its own codec.
type vector struct {
	ID     int64
	Values []float32
}

var vectors = NewTable("vectors", func(v *vector) Key { return K(v.ID) },
	Codec(func(v *vector) ([]byte, error) {
		return binary.Append(binary.AppendVarint(nil, v.ID), binary.LittleEndian, v.Values)
	}, func(b []byte, v *vector) error {
		id, n := binary.Varint(b)
		v.ID, v.Values = id, make([]float32, (len(b)-n)/4)
		_, err := binary.Decode(b[n:], binary.LittleEndian, v.Values)
		return err
	}))

func TestOwnCodec(t *testing.T) {
	o := options(t.TempDir())
	o.Schema = Schema{Tables: []AnyTable{vectors}}
	db := open(t, o)
	update(t, db, func(tx *Tx) error {
		is(t, "Put", vectors.Put(tx, &vector{7, []float32{1, -0.5, math.MaxFloat32}}), nil)
		// This is how a record was stored before the table had a codec.
		return tx.kv.Put("vectors", K(8).b, []byte("\x01{\"ID\":8,\"Values\":[2]}"))
	})
	view(t, db, func(tx *Tx) error {
		v, err := vectors.Get(tx, 7)
		if is(t, "Get", err, nil); len(v.Values) != 3 || v.Values[1] != -0.5 {
			t.Errorf("got %v", v)
		}
		v, err = vectors.Get(tx, 8)
		if is(t, "Get of JSON", err, nil); v.Values[0] != 2 {
			t.Errorf("got %v", v)
		}
		raw, err := tx.kv.Get("vectors", K(7).b)
		if is(t, "Get", err, nil); len(raw) != 1+1+3*4 {
			t.Errorf("%d bytes are stored", len(raw))
		}
		return nil
	})
}

func FuzzUnpack(f *testing.F) {
	packed, err := packRecord(markJSON, bytes.Repeat([]byte("abc "), 1000))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(packed)
	small, err := packRecord(markJSON, bytes.Repeat([]byte(`"evidence":[],`), 20))
	if err != nil || small[0]&markDictionary == 0 {
		f.Fatal(small[0], err)
	}
	f.Add(small)
	f.Add([]byte{markJSON, '{', '}'})
	f.Add([]byte{markCustomCodec | markCompressed, 0x80, 0x80, 0x80, 0x40})
	f.Fuzz(func(t *testing.T, b []byte) {
		mark, plain, err := unpackRecord(b)
		if err != nil {
			is(t, "unpack", err, ErrCorrupt)
			return
		}
		again, err := packRecord(mark, plain)
		if err != nil {
			t.Fatal(err)
		}
		if m, p, err := unpackRecord(again); err != nil || m != mark || !bytes.Equal(p, plain) {
			t.Fatalf("pack and unpack differ: %v", err)
		}
	})
}
