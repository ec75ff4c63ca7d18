package scf

import (
	"bytes"
	"errors"
	"reflect"
	"testing"
)

func encode(t testing.TB, s *Snapshot) []byte {
	t.Helper()
	data, err := s.Encode()
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func TestEncodeDecode(t *testing.T) {
	s := snapshot(t, sample(), versionA)
	data := encode(t, s)
	if other := encode(t, snapshot(t, sample(), versionB)); !bytes.Equal(data, other) {
		t.Error("the same source gave other bytes under another version")
	}
	back, err := DecodeSnapshot(data, Version{ID: versionA, ImportedAt: imported})
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(back.Source(), s.Source()) {
		t.Errorf("got %+v\nwant %+v", back.Source(), s.Source())
	}
	if !reflect.DeepEqual(back.Version(), s.Version()) {
		t.Errorf("got %+v\nwant %+v", back.Version(), s.Version())
	}
	if !bytes.Equal(encode(t, back), data) {
		t.Error("decoded and encoded again, the bytes differ")
	}
}

func TestDecodeRefuses(t *testing.T) {
	data := encode(t, snapshot(t, sample(), versionA))
	v := Version{ID: versionA}
	for n := range data {
		if _, err := DecodeSnapshot(data[:n], v); !errors.Is(err, ErrFormat) {
			t.Fatalf("cut at %d: %v", n, err)
		}
		changed := bytes.Clone(data)
		changed[n] ^= 0x55
		if _, err := DecodeSnapshot(changed, v); !errors.Is(err, ErrFormat) {
			t.Fatalf("changed at %d: %v", n, err)
		}
	}
	if _, err := DecodeSnapshot(append(bytes.Clone(data), 'x'), v); !errors.Is(err, ErrFormat) {
		t.Errorf("a byte too many: %v", err)
	}
	if _, err := DecodeSnapshot(data, Version{ID: "x"}); err == nil || errors.Is(err, ErrFormat) {
		t.Errorf("a bad version id: %v", err)
	}
}

func FuzzDecode(f *testing.F) {
	f.Add(encode(f, snapshot(f, sample(), versionA)))
	f.Add([]byte(magic))
	f.Add([]byte("SCFC\x01\xff\xff\xff\x7f\x28\xb5\x2f\xfd"))
	f.Fuzz(func(t *testing.T, data []byte) {
		s, err := DecodeSnapshot(data, Version{ID: versionA})
		if err != nil {
			return
		}
		s.Preload()
		s.Search("anything", 5)
		if _, err := s.Encode(); err != nil {
			t.Error(err)
		}
	})
}

// FuzzPayload tests the decoder behind the checksum, which random bytes do not pass.
func FuzzPayload(f *testing.F) {
	w := &encoder{}
	w.writeSource(snapshot(f, sample(), versionA).src)
	f.Add(w.buf)
	f.Fuzz(func(t *testing.T, payload []byte) {
		r := &decoder{rest: string(payload)}
		src := r.readSource()
		if r.err != nil {
			return
		}
		s, err := NewSnapshot(src, Version{ID: versionA})
		if err != nil {
			return
		}
		s.Preload()
		for _, fw := range s.Frameworks() {
			if _, err := s.Coverage(fw.ID); err != nil {
				t.Error(err)
			}
		}
		again := &encoder{}
		again.writeSource(s.src)
		r = &decoder{rest: string(again.buf)}
		r.readSource()
		if r.err != nil || len(r.rest) != 0 {
			t.Errorf("what was read cannot be written and read again: %v", r.err)
		}
	})
}
