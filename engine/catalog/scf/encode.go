package scf

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// A snapshot's bytes are
//
//	"SCFC" format(1 byte) payload length(uvarint) zstd frame with checksum
//
// and hold the source without its warnings and statistics, and nothing of the version
// record: the same source gives the same bytes, under whatever version id. The payload is
// a fixed sequence of fields: numbers as varints, texts and lists led by their length.
// A new field means a new format number; Decode must go on reading the old.
const (
	magic  = "SCFC"
	format = 1
)

// Encode gives the snapshot's bytes, to be kept and read again with Decode.
func (s *Snapshot) Encode() ([]byte, error) {
	w := &writer{buf: make([]byte, 0, 1<<20)}
	w.source(s.src)
	// One worker: the frame must not depend on how many processors there are.
	z, err := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true))
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := append([]byte(magic), format)
	out = binary.AppendUvarint(out, uint64(len(w.buf)))
	return z.EncodeAll(w.buf, out), nil
}

type writer struct{ buf []byte }

func (w *writer) num(n int)    { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }
func (w *writer) signed(n int) { w.buf = binary.AppendVarint(w.buf, int64(n)) }
func (w *writer) bool(b bool) {
	if b {
		w.num(1)
	} else {
		w.num(0)
	}
}

func (w *writer) text(texts ...string) {
	for _, s := range texts {
		w.num(len(s))
		w.buf = append(w.buf, s...)
	}
}

func (w *writer) list(s []string) {
	w.num(len(s))
	w.text(s...)
}

func (w *writer) pairs(p []Pair) {
	w.num(len(p))
	for _, e := range p {
		w.text(e.Name, e.Text)
	}
}

func (w *writer) source(s *Source) {
	w.text(s.Label, s.Filename, s.SHA256)
	w.bool(s.IsStarter)
	w.num(len(s.Domains))
	for _, d := range s.Domains {
		w.text(d.Code, d.Name, d.Principle, d.Intent)
	}
	w.num(len(s.Evidence))
	for _, e := range s.Evidence {
		w.text(e.Code, e.Area, e.Artifact, e.Description)
	}
	w.hazards(s.Risks)
	w.hazards(s.Threats)
	w.num(len(s.Principles))
	for _, p := range s.Principles {
		w.text(p.Number, p.Name, p.Description)
		w.list(p.Controls)
	}
	w.num(len(s.Controls))
	for i := range s.Controls {
		w.control(&s.Controls[i])
	}
	w.num(len(s.Frameworks))
	for i := range s.Frameworks {
		w.framework(&s.Frameworks[i])
	}
	w.mappings(s.Mappings)
}

func (w *writer) hazards(list []Hazard) {
	w.num(len(list))
	for _, h := range list {
		w.text(h.Code, h.Group, h.Title, h.Description, h.CSFFunction)
	}
}

func (w *writer) control(c *Control) {
	w.text(c.Code, c.Title, c.Description, c.Question, c.CSFFunction, c.Cadence)
	w.signed(c.Weight)
	w.num(len(c.Evidence))
	for _, e := range c.Evidence {
		w.num(e)
	}
	w.text(c.Maturity[:]...)
	for _, l := range [][]string{c.Applicability, c.Risks, c.Threats, c.Baselines, c.SCRMTiers, c.Traits, c.Tags, c.Errata} {
		w.list(l)
	}
	w.pairs(c.Solutions)
	w.pairs(c.Extra)
	w.num(len(c.Objectives))
	for _, o := range c.Objectives {
		w.text(o.Code, o.Text)
		w.num(o.Rigor)
		w.list(o.Applicability)
		w.list(o.Origins)
	}
	w.num(len(c.Compensating))
	for _, k := range c.Compensating {
		w.text(k.Control, k.Name, k.Justification)
	}
}

func (w *writer) framework(f *Framework) {
	w.text(f.Code, f.Name, f.Publisher, f.Jurisdiction, f.Title, f.SourceURL, f.Column)
	w.list(f.Aliases)
	w.list(f.Includes)
	w.num(len(f.Requirements))
	for _, r := range f.Requirements {
		w.text(r.Code, r.Title, r.Text)
	}
}

// mappings are sorted, so each is told by how far it is from the one before.
func (w *writer) mappings(list []Mapping) {
	w.num(len(list))
	var last Mapping
	for _, m := range list {
		w.num(m.Control - last.Control)
		w.num(m.Framework)
		w.num(m.Requirement)
		w.bool(m.Detail != nil)
		if d := m.Detail; d != nil {
			w.text(d.Relationship, d.Rationale, d.Source)
			w.signed(d.Strength)
			w.bool(d.Official)
		}
		last = m
	}
}
