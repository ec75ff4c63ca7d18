package scf

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/klauspost/compress/zstd"
)

// maxPayload bounds what Decode unpacks, far above any release: 2026.1.1 needs 10 MB.
const maxPayload = 128 << 20

// ErrFormat is wrapped by every error of Decode about the bytes.
var ErrFormat = errors.New("not a catalog snapshot")

// Decode reads what Encode wrote, and indexes it under a version. Bytes that are cut,
// changed, of a newer format or not a snapshot at all are refused with ErrFormat.
func Decode(data []byte, v Version) (*Snapshot, error) {
	payload, err := unpack(data)
	if err != nil {
		return nil, err
	}
	// One string for all texts: they are slices of it, none is copied.
	r := &reader{s: string(payload)}
	src := r.source()
	if r.err == nil && len(r.s) > 0 {
		r.fail("%d bytes are left over", len(r.s))
	}
	if r.err != nil {
		return nil, r.err
	}
	if _, err := parseVersionID(v.ID); err != nil {
		return nil, err
	}
	snapshot, err := New(src, v)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return snapshot, nil
}

func unpack(data []byte) ([]byte, error) {
	if len(data) < len(magic)+2 || string(data[:len(magic)]) != magic {
		return nil, ErrFormat
	}
	data = data[len(magic):]
	if data[0] != format {
		return nil, fmt.Errorf("%w that this program reads: format %d, it knows up to %d", ErrFormat, data[0], format)
	}
	size, n := binary.Uvarint(data[1:])
	if n <= 0 || size > maxPayload {
		return nil, fmt.Errorf("%w: bad length", ErrFormat)
	}
	z, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(maxPayload))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	frame := data[1+n:]
	// The frame may claim any size: start small where the claim is out of proportion.
	payload, err := z.DecodeAll(frame, make([]byte, 0, min(size, uint64(len(frame))*64)))
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if uint64(len(payload)) != size {
		return nil, fmt.Errorf("%w: %d bytes where %d were announced", ErrFormat, len(payload), size)
	}
	return payload, nil
}

// reader takes fields off the front of s. After the first error it yields zeros.
type reader struct {
	s   string
	err error
}

func (r *reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%w: %s", ErrFormat, fmt.Sprintf(format, args...))
	}
	r.s = ""
}

func (r *reader) uvarint() uint64 {
	var x uint64
	for i := 0; i < len(r.s) && i < binary.MaxVarintLen64; i++ {
		b := r.s[i]
		x |= uint64(b&0x7f) << (7 * i)
		if b < 0x80 {
			r.s = r.s[i+1:]
			return x
		}
	}
	r.fail("a number is cut")
	return 0
}

func (r *reader) num() int {
	n := r.uvarint()
	if n > math.MaxInt32 {
		r.fail("a number is out of range")
		return 0
	}
	return int(n)
}

func (r *reader) signed() int {
	n := r.uvarint()
	return int(int64(n>>1) ^ -int64(n&1))
}

// count is the length of a list; each of its items takes at least size bytes.
func (r *reader) count(size int) int {
	n := r.num()
	if n > len(r.s)/size {
		r.fail("a list of %d is longer than the rest", n)
		return 0
	}
	return n
}

func (r *reader) bool() bool { return r.num() != 0 }

func (r *reader) text() string {
	n := r.num()
	if n > len(r.s) {
		r.fail("a text is cut")
		return ""
	}
	t := r.s[:n]
	r.s = r.s[n:]
	return t
}

func (r *reader) texts(into ...*string) {
	for _, t := range into {
		*t = r.text()
	}
}

func (r *reader) list() []string {
	n := r.count(1)
	if n == 0 {
		return nil
	}
	out := make([]string, n)
	for i := range out {
		out[i] = r.text()
	}
	return out
}

func (r *reader) pairs() []Pair {
	return many(r, 2, func(p *Pair) { r.texts(&p.Name, &p.Text) })
}

// many reads a list, growing it as items come, so that an announced length alone costs little.
func many[T any](r *reader, size int, read func(*T)) []T {
	n := r.count(size)
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

func (r *reader) source() *Source {
	s := &Source{}
	r.texts(&s.Label, &s.Filename, &s.SHA256)
	s.IsStarter = r.bool()
	s.Domains = many(r, 4, func(d *Domain) { r.texts(&d.Code, &d.Name, &d.Principle, &d.Intent) })
	s.Evidence = many(r, 4, func(e *EvidenceRequest) { r.texts(&e.Code, &e.Area, &e.Artifact, &e.Description) })
	s.Risks, s.Threats = r.hazards(), r.hazards()
	s.Principles = many(r, 4, func(p *Principle) {
		r.texts(&p.Number, &p.Name, &p.Description)
		p.Controls = r.list()
	})
	s.Controls = many(r, 20, r.control)
	s.Frameworks = many(r, 10, r.framework)
	s.Mappings = r.mappings()
	return s
}

func (r *reader) hazards() []Hazard {
	return many(r, 5, func(h *Hazard) { r.texts(&h.Code, &h.Group, &h.Title, &h.Description, &h.CSFFunction) })
}

func (r *reader) control(c *Control) {
	r.texts(&c.Code, &c.Title, &c.Description, &c.Question, &c.CSFFunction, &c.Cadence)
	c.Weight = r.signed()
	c.Evidence = many(r, 1, func(e *int) { *e = r.num() })
	for i := range c.Maturity {
		c.Maturity[i] = r.text()
	}
	for _, l := range []*[]string{&c.Applicability, &c.Risks, &c.Threats, &c.Baselines, &c.SCRMTiers, &c.Traits, &c.Tags, &c.Errata} {
		*l = r.list()
	}
	c.Solutions = r.pairs()
	c.Extra = r.pairs()
	c.Objectives = many(r, 5, func(o *Objective) {
		r.texts(&o.Code, &o.Text)
		o.Rigor = r.num()
		o.Applicability, o.Origins = r.list(), r.list()
	})
	c.Compensating = many(r, 3, func(k *Compensating) { r.texts(&k.Control, &k.Name, &k.Justification) })
}

func (r *reader) framework(f *Framework) {
	r.texts(&f.Code, &f.Name, &f.Publisher, &f.Jurisdiction, &f.Title, &f.SourceURL, &f.Column)
	f.Aliases, f.Includes = r.list(), r.list()
	f.Requirements = many(r, 3, func(q *Requirement) { r.texts(&q.Code, &q.Title, &q.Text) })
}

func (r *reader) mappings() []Mapping {
	last := 0
	return many(r, 4, func(m *Mapping) {
		m.Control = last + r.num()
		m.Framework, m.Requirement = r.num(), r.num()
		last = m.Control
		if r.bool() {
			d := &MappingDetail{}
			r.texts(&d.Relationship, &d.Rationale, &d.Source)
			d.Strength = r.signed()
			d.Official = r.bool()
			m.Detail = d
		}
	})
}
