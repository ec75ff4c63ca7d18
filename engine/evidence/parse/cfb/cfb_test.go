package cfb_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/cfb"
	"github.com/scf-service/service/internal/testutil/cfbtest"
)

func open(raw []byte) (*cfb.File, error) { return cfb.Open(bytes.NewReader(raw), int64(len(raw))) }

func TestRead(t *testing.T) {
	long := strings.Repeat("0123456789", 5000)
	f, err := open(cfbtest.BuildFile(map[string]string{"short": "few words", "long": long, "a/b/deep": "down here", "empty": ""}))
	if err != nil {
		t.Fatal(err)
	}
	read := func(path ...string) string {
		t.Helper()
		e := f.Root
		for _, p := range path {
			if e = e.Child(p); e == nil {
				t.Fatalf("no %v", path)
			}
		}
		raw, err := f.ReadStream(e)
		if err != nil {
			t.Fatal(err)
		}
		return string(raw)
	}
	if got := read("short"); got != "few words" {
		t.Errorf("short %q", got)
	}
	if got := read("long"); got != long {
		t.Errorf("long has %d bytes", len(got))
	}
	if got := read("a", "b", "deep"); got != "down here" {
		t.Errorf("deep %q", got)
	}
	if got := read("empty"); got != "" {
		t.Errorf("empty %q", got)
	}
	if _, err := f.ReadStream(f.Root.Child("a")); !errors.Is(err, cfb.ErrDamaged) {
		t.Errorf("a storage: %v", err)
	}
}

func TestHostile(t *testing.T) {
	good := cfbtest.BuildFile(map[string]string{"short": "few words", "long": strings.Repeat("x", 9000)})
	change := func(at int, v uint32) []byte {
		raw := bytes.Clone(good)
		binary.LittleEndian.PutUint32(raw[at:], v)
		return raw
	}
	fat := int(binary.LittleEndian.Uint32(good[76:])+1) * 512
	dir := int(binary.LittleEndian.Uint32(good[48:])+1) * 512
	for name, raw := range map[string][]byte{
		"empty":                {},
		"only a head":          good[:512],
		"cut short":            good[:1024],
		"sector size":          change(30, 40),
		"directory outside":    change(48, 1<<20),
		"a ring of sectors":    change(fat+4*(dir/512-1), uint32(dir/512-1)),
		"a ring of tables":     change(68, 1),
		"a stream too long":    change(dir+128+120, 1<<31),
		"a cut-off too large":  change(56, 1<<31),
		"tables that are none": change(76, 1<<30),
	} {
		f, err := open(raw)
		if err == nil {
			for _, c := range f.Root.Children {
				if _, e := f.ReadStream(c); e != nil {
					err = e
				}
			}
		}
		if !errors.Is(err, cfb.ErrDamaged) {
			t.Errorf("%s: %v", name, err)
		}
	}
	// A cycle of siblings is not followed forever.
	ring := change(dir+128+72, 1)
	if f, err := open(ring); err != nil || len(f.Root.Children) == 0 {
		t.Errorf("ring of siblings: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	f.Add(cfbtest.BuildFile(map[string]string{"a": "b", "c/d": strings.Repeat("e", 5000)}))
	f.Fuzz(func(t *testing.T, raw []byte) {
		file, err := open(raw)
		if err != nil {
			return
		}
		for _, c := range file.Root.Children {
			if got, err := file.ReadStream(c); err == nil && int64(len(got)) != c.Size {
				t.Errorf("%q has %d bytes, not %d", c.Name, len(got), c.Size)
			}
		}
	})
}
