package scf

import (
	"encoding/binary"

	"github.com/klauspost/compress/zstd"
)

// A snapshot is encoded as
//
//	"SCFC" format(1 byte) payload length(uvarint) zstd frame with checksum
//
// The payload contains the source without its warnings and statistics, and nothing from the version
// record, so the same source gives the same bytes whatever the version ID is. It is a fixed sequence
// of fields. Numbers are varints, and strings and lists are prefixed with their length. A new field
// requires a new format number, and DecodeSnapshot must still read the old formats.
const (
	magic         = "SCFC"
	formatVersion = 1
)

// Encode encodes the snapshot in the form that DecodeSnapshot reads.
func (s *Snapshot) Encode() ([]byte, error) {
	w := &encoder{buf: make([]byte, 0, 1<<20)}
	w.writeSource(s.src)
	// Use one worker, so that the frame doesn't depend on the number of processors.
	z, err := zstd.NewWriter(
		nil, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault), zstd.WithEncoderCRC(true), zstd.WithLowerEncoderMem(true),
	)
	if err != nil {
		return nil, err
	}
	defer z.Close()
	out := append([]byte(magic), formatVersion)
	out = binary.AppendUvarint(out, uint64(len(w.buf)))
	return z.EncodeAll(w.buf, out), nil
}

type encoder struct{ buf []byte }

func (w *encoder) writeInt(n int)    { w.buf = binary.AppendUvarint(w.buf, uint64(n)) }
func (w *encoder) writeSigned(n int) { w.buf = binary.AppendVarint(w.buf, int64(n)) }
func (w *encoder) writeBool(b bool) {
	if b {
		w.writeInt(1)
	} else {
		w.writeInt(0)
	}
}

func (w *encoder) writeTexts(texts ...string) {
	for _, s := range texts {
		w.writeInt(len(s))
		w.buf = append(w.buf, s...)
	}
}

func (w *encoder) writeList(s []string) {
	w.writeInt(len(s))
	w.writeTexts(s...)
}

func (w *encoder) writePairs(p []Pair) {
	w.writeInt(len(p))
	for _, e := range p {
		w.writeTexts(e.Name, e.Text)
	}
}

func (w *encoder) writeSource(s *Source) {
	w.writeTexts(s.Label, s.Filename, s.SHA256)
	w.writeBool(s.IsStarter)
	w.writeInt(len(s.Domains))
	for _, d := range s.Domains {
		w.writeTexts(d.Code, d.Name, d.Principle, d.Intent)
	}
	w.writeInt(len(s.Evidence))
	for _, e := range s.Evidence {
		w.writeTexts(e.Code, e.Area, e.Artifact, e.Description)
	}
	w.writeHazards(s.Risks)
	w.writeHazards(s.Threats)
	w.writeInt(len(s.Principles))
	for _, p := range s.Principles {
		w.writeTexts(p.Number, p.Name, p.Description)
		w.writeList(p.Controls)
	}
	w.writeInt(len(s.Controls))
	for i := range s.Controls {
		w.writeControl(&s.Controls[i])
	}
	w.writeInt(len(s.Frameworks))
	for i := range s.Frameworks {
		w.writeFramework(&s.Frameworks[i])
	}
	w.writeMappings(s.Mappings)
}

func (w *encoder) writeHazards(list []Hazard) {
	w.writeInt(len(list))
	for _, h := range list {
		w.writeTexts(h.Code, h.Group, h.Title, h.Description, h.CSFFunction)
	}
}

func (w *encoder) writeControl(c *Control) {
	w.writeTexts(c.Code, c.Title, c.Description, c.Question, c.CSFFunction, c.Cadence)
	w.writeSigned(c.Weight)
	w.writeInt(len(c.Evidence))
	for _, e := range c.Evidence {
		w.writeInt(e)
	}
	w.writeTexts(c.Maturity[:]...)
	for _, l := range [][]string{c.Applicability, c.Risks, c.Threats, c.Baselines, c.SCRMTiers, c.Traits, c.Tags, c.Errata} {
		w.writeList(l)
	}
	w.writePairs(c.Solutions)
	w.writePairs(c.Extra)
	w.writeInt(len(c.Objectives))
	for _, o := range c.Objectives {
		w.writeTexts(o.Code, o.Text)
		w.writeInt(o.Rigor)
		w.writeList(o.Applicability)
		w.writeList(o.Origins)
	}
	w.writeInt(len(c.Compensating))
	for _, k := range c.Compensating {
		w.writeTexts(k.Control, k.Name, k.Justification)
	}
}

func (w *encoder) writeFramework(f *Framework) {
	w.writeTexts(f.Code, f.Name, f.Publisher, f.Jurisdiction, f.Title, f.SourceURL, f.Column)
	w.writeList(f.Aliases)
	w.writeList(f.Includes)
	w.writeInt(len(f.Requirements))
	for _, r := range f.Requirements {
		w.writeTexts(r.Code, r.Title, r.Text)
	}
}

// writeMappings writes mappings, which must be sorted by control. Each control index is written as the difference
// from the previous one.
func (w *encoder) writeMappings(list []Mapping) {
	w.writeInt(len(list))
	var last Mapping
	for _, m := range list {
		w.writeInt(m.Control - last.Control)
		w.writeInt(m.Framework)
		w.writeInt(m.Requirement)
		w.writeBool(m.Detail != nil)
		if d := m.Detail; d != nil {
			w.writeTexts(d.Relationship, d.Rationale, d.Source)
			w.writeSigned(d.Strength)
			w.writeBool(d.Official)
		}
		last = m
	}
}
