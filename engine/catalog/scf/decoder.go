package scf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// maxPayloadBytes is the maximum size of the uncompressed payload. It is far more than any release needs; release
// 2026.1.1 needs 10 MB.
const maxPayloadBytes = 128 << 20

// ErrFormat is wrapped by all errors about the content of an encoded snapshot.
var ErrFormat = errors.New("not a catalog snapshot")

// DecodeSnapshot reads a snapshot from the output of Encode. The snapshot gets the given version, because the data
// doesn't contain one. DecodeSnapshot returns an error that wraps ErrFormat if data is truncated, damaged, in a
// newer format, or not a snapshot.
func DecodeSnapshot(data []byte, as Version) (*Snapshot, error) {
	payload, err := decompress(data)
	if err != nil {
		return nil, err
	}
	// All texts are slices of one string, so none is copied.
	r := &decoder{rest: string(payload)}
	src := r.readSource()
	if r.err == nil && len(r.rest) > 0 {
		r.setError("%d unexpected bytes at the end", len(r.rest))
	}
	if r.err != nil {
		return nil, r.err
	}
	if _, err := parseVersionID(as.ID); err != nil {
		return nil, err
	}
	snapshot, err := NewSnapshot(src, as)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return snapshot, nil
}

func decompress(data []byte) ([]byte, error) {
	if len(data) < len(magic)+2 || string(data[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	data = data[len(magic):]
	if data[0] != formatVersion {
		return nil, fmt.Errorf("%w in a supported format (format %d; this version supports up to %d)", ErrFormat, data[0], formatVersion)
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size > maxPayloadBytes {
		return nil, fmt.Errorf("%w: bad length", ErrFormat)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayloadBytes))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	frame := data[1+n:]
	// The frame may declare any size, so start small if the declared size is implausible.
	payload, err := z.DecodeAll(frame, make([]byte, 0, min(size, uint64(len(frame))*64)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if uint64(len(payload)) != size {
		return nil, fmt.Errorf("%w: %d bytes instead of %d", ErrFormat, len(payload), size)
	}
	return payload, nil
}

// decoder reads fields one after another; rest is the data that hasn't been read yet. After the first error, it
// returns only zero values.
type decoder struct {
	rest string
	err  error
}

func (r *decoder) setError(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	r.rest = ""
}

func (r *decoder) readUvarint() uint64 {
	var x uint64
	for i := 0; i < len(r.rest) && i < binary.MaxVarintLen64; i++ {
		b := r.rest[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.rest = r.rest[i+1:]
			return x
		}
	}
	r.setError("a number is truncated")
	return 0
}

func (r *decoder) readInt() int {
	n := r.readUvarint()
	if n > math.MaxInt32 {
		r.setError("a number is out of range")
		return 0
	}
	return int(n)
}

func (r *decoder) readSigned() int {
	n := r.readUvarint()
	return int(int64(n>>1) ^ -int64(n&1))
}

// readCount reads the length of a list. It fails if the remaining data can't contain that many items of minItemSize
// bytes.
func (r *decoder) readCount(minItemSize int) int {
	n := r.readInt()
	if n > len(r.rest)/minItemSize {
		r.setError("a list of %d items is longer than the remaining data", n)
		return 0
	}
	return n
}

func (r *decoder) readBool() bool { return r.readInt() != 0 }

func (r *decoder) readText() string {
	n := r.readInt()
	if n > len(r.rest) {
		r.setError("a text is truncated")
		return ""
	}
	t := r.rest[:n]
	r.rest = r.rest[n:]
	return t
}

func (r *decoder) readTexts(into ...*string) {
	for _, t := range into {
		*t = r.readText()
	}
}

func (r *decoder) readList() []string {
	n := r.readCount(1)
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.readText()
	}
	return out
}

func (r *decoder) readPairs() []Pair {
	return readMany(r, 2, func(p *Pair) { r.readTexts(&p.Name, &p.Text) })
}

// readMany reads a list of items. It does not allocate memory for the whole list in advance, so that an incorrect
// length wastes little memory.
func readMany[T any](r *decoder, minItemSize int, read func(*T)) []T {
	n := r.readCount(minItemSize)
	if n == 0 {
		return nil
	}
	out := make([]T, 0, min(n, 1<<12))
	for range n {
		if r.err != nil {
			return nil
		}
		var item T
		out = append(out, item)
		read(&out[len(out)-1])
	}
	return out
}

func (r *decoder) readSource() *Source {
	s := &Source{}
	r.readTexts(&s.Label, &s.Filename, &s.SHA256)
	s.IsStarter = r.readBool()
	s.Domains = readMany(r, 4, func(d *Domain) { r.readTexts(&d.Code, &d.Name, &d.Principle, &d.Intent) })
	s.Evidence = readMany(r, 4, func(e *EvidenceRequest) { r.readTexts(&e.Code, &e.Area, &e.Artifact, &e.Description) })
	s.Risks, s.Threats = r.readHazards(), r.readHazards()
	s.Principles = readMany(r, 4, func(p *Principle) {
		r.readTexts(&p.Number, &p.Name, &p.Description)
		p.Controls = r.readList()
	})
	s.Controls = readMany(r, 20, r.readControl)
	s.Frameworks = readMany(r, 10, r.readFramework)
	s.Mappings = r.readMappings()
	return s
}

func (r *decoder) readHazards() []Hazard {
	return readMany(r, 5, func(h *Hazard) { r.readTexts(&h.Code, &h.Group, &h.Title, &h.Description, &h.CSFFunction) })
}

func (r *decoder) readControl(c *Control) {
	r.readTexts(&c.Code, &c.Title, &c.Description, &c.Question, &c.CSFFunction, &c.Cadence)
	c.Weight = r.readSigned()
	c.Evidence = readMany(r, 1, func(e *int) { *e = r.readInt() })
	for i := range c.Maturity {
		c.Maturity[i] = r.readText()
	}
	for _, l := range []*[]string{&c.Applicability, &c.Risks, &c.Threats, &c.Baselines, &c.SCRMTiers, &c.Traits, &c.Tags, &c.Errata} {
		*l = r.readList()
	}
	c.Solutions = r.readPairs()
	c.Extra = r.readPairs()
	c.Objectives = readMany(r, 5, func(o *Objective) {
		r.readTexts(&o.Code, &o.Text)
		o.Rigor = r.readInt()
		o.Applicability, o.Origins = r.readList(), r.readList()
	})
	c.Compensating = readMany(r, 3, func(k *CompensatingControl) { r.readTexts(&k.Control, &k.Name, &k.Justification) })
}

func (r *decoder) readFramework(f *Framework) {
	r.readTexts(&f.Code, &f.Name, &f.Publisher, &f.Jurisdiction, &f.Title, &f.SourceURL, &f.Column)
	f.Aliases, f.Includes = r.readList(), r.readList()
	f.Requirements = readMany(r, 3, func(q *Requirement) { r.readTexts(&q.Code, &q.Title, &q.Text) })
}

func (r *decoder) readMappings() []Mapping {
	last := 0
	return readMany(r, 4, func(m *Mapping) {
		m.Control = last + r.readInt()
		m.Framework, m.Requirement = r.readInt(), r.readInt()
		last = m.Control
		if r.readBool() {
			d := &MappingDetail{}
			r.readTexts(&d.Relationship, &d.Rationale, &d.Source)
			d.Strength = r.readSigned()
			d.Official = r.readBool()
			m.Detail = d
		}
	})
}
