package embed

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// Serialized model, little-endian:
//
//	magic "scfembed" · version u16 · dimensions u16 · terms u32 · background 2 × float32
//	per term: length u8, bytes
//	rows of documents u32 · known texts u32               (since version 2)
//	per known text, by key: key u64 · row i32 · prior float32
//	per term, then per row of a document: dimensions × float32
//	SHA-256 of everything before
const (
	magic         = "scfembed"
	codecVersion  = 2
	maxDimensions = 4096
	maxTerms      = 1 << 20
	maxTermBytes  = 255
	headerSize    = len(magic) + 2 + 2 + 4 + 8
	knownSize     = 8 + 4 + 4
)

// ErrModel is wrapped by every error of UnmarshalModel.
var ErrModel = errors.New("the embedding model can't be used; train it again from the catalog")

// MarshalBinary encodes the model. Equal models give equal bytes.
func (m *Model) MarshalBinary() ([]byte, error) {
	size := headerSize + 8 + len(m.knownTexts)*knownSize + len(m.rows)*4 + sha256.Size
	for _, t := range m.terms {
		size += 1 + len(t)
	}
	b := make([]byte, 0, size)
	b = append(b, magic...)
	b = binary.LittleEndian.AppendUint16(b, codecVersion)
	b = binary.LittleEndian.AppendUint16(b, uint16(m.dims))
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.terms)))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(m.background.Mean))
	b = binary.LittleEndian.AppendUint32(b, math.Float32bits(m.background.Deviation))
	for _, t := range m.terms {
		b = append(append(b, byte(len(t))), t...)
	}
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.rows)/m.dims-len(m.terms)))
	b = m.appendKnownTexts(b)
	for _, x := range m.rows {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(x))
	}
	sum := sha256.Sum256(b)
	return append(b, sum[:]...), nil
}

func (m *Model) appendKnownTexts(b []byte) []byte {
	b = binary.LittleEndian.AppendUint32(b, uint32(len(m.knownTexts)))
	for _, key := range slices.Sorted(maps.Keys(m.knownTexts)) {
		k := m.knownTexts[key]
		b = binary.LittleEndian.AppendUint64(b, key)
		b = binary.LittleEndian.AppendUint32(b, uint32(k.row))
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(k.prior))
	}
	return b
}

// UnmarshalModel decodes the output of MarshalBinary, including that of version 1. It returns
// ErrModel if the data is truncated or corrupted, has an unknown version, or contains numbers that
// are not finite. It never allocates more than a small multiple of len(data).
func UnmarshalModel(data []byte) (*Model, error) {
	if len(data) < headerSize+sha256.Size || string(data[:len(magic)]) != magic {
		return nil, fmt.Errorf("%w: the model header is missing", ErrModel)
	}
	body, sum := data[:len(data)-sha256.Size], data[len(data)-sha256.Size:]
	if got := sha256.Sum256(body); !bytes.Equal(got[:], sum) {
		return nil, fmt.Errorf("%w: the checksum is wrong", ErrModel)
	}
	return decodeBody(body)
}

func decodeBody(body []byte) (*Model, error) {
	le := binary.LittleEndian
	version := le.Uint16(body[8:])
	if version < 1 || version > codecVersion {
		return nil, fmt.Errorf(
			"%w: the model has version %d, but this version of the program supports only 1 to %d",
			ErrModel,
			version,
			codecVersion,
		)
	}
	dims, count := int(le.Uint16(body[10:])), int(le.Uint32(body[12:]))
	rest := body[headerSize:]
	if dims == 0 || dims > maxDimensions || count > maxTerms {
		return nil, fmt.Errorf("%w: %d dimensions, %d terms", ErrModel, dims, count)
	}
	ground := Background{math.Float32frombits(le.Uint32(body[16:])), math.Float32frombits(le.Uint32(body[20:]))}
	if !(ground.Mean >= -1 && ground.Mean <= 1 && ground.Deviation > 0 && ground.Deviation <= 1) {
		return nil, fmt.Errorf("%w: background %v", ErrModel, ground)
	}
	if len(rest) < count*(1+4*dims) {
		return nil, fmt.Errorf("%w: the model is too short for its %d terms", ErrModel, count)
	}
	terms := make([]string, count)
	seen := make(map[string]bool, count)
	for i := range terms {
		if len(rest) == 0 || len(rest) < 1+int(rest[0]) {
			return nil, fmt.Errorf("%w: the model ends in the middle of term %d", ErrModel, i)
		}
		t := string(rest[1 : 1+int(rest[0])])
		rest = rest[1+len(t):]
		if t == "" || !utf8.ValidString(t) || strings.Count(t, " ") > 1 || seen[t] {
			return nil, fmt.Errorf("%w: term %d is empty, a duplicate, or not text", ErrModel, i)
		}
		seen[t] = true
		terms[i] = t
	}
	var known map[uint64]knownText
	if version >= 2 {
		var own int
		var err error
		if known, own, rest, err = decodeKnownTexts(rest, count); err != nil {
			return nil, err
		}
		count += own
	}
	if len(rest) != count*dims*4 {
		return nil, fmt.Errorf("%w: the weights have %d bytes instead of %d", ErrModel, len(rest), count*dims*4)
	}
	rows := make([]float32, count*dims)
	for i := range rows {
		x := math.Float32frombits(le.Uint32(rest[4*i:]))
		if !(x > -maxWeight && x < maxWeight) {
			return nil, fmt.Errorf("%w: weight %d is out of range", ErrModel, i)
		}
		rows[i] = x
	}
	return newModel(dims, terms, rows, ground, known), nil
}

// decodeKnownTexts decodes the section after the terms: the known texts and the number of rows that belong to
// documents. It also returns the data that follows.
func decodeKnownTexts(rest []byte, terms int) (known map[uint64]knownText, own int, after []byte, err error) {
	le := binary.LittleEndian
	if len(rest) < 8 {
		return nil, 0, nil, fmt.Errorf("%w: the model ends before the known texts", ErrModel)
	}
	own, n := int(le.Uint32(rest)), int(le.Uint32(rest[4:]))
	if rest = rest[8:]; own > maxTerms || n > len(rest)/knownSize {
		return nil, 0, nil, fmt.Errorf("%w: the number of known texts (%d) or of their own rows (%d) is too large", ErrModel, n, own)
	}
	known = make(map[uint64]knownText, n)
	for i := range n {
		b := rest[i*knownSize:]
		if i > 0 && le.Uint64(b) <= le.Uint64(rest[(i-1)*knownSize:]) {
			return nil, 0, nil, fmt.Errorf("%w: known text %d is out of order", ErrModel, i)
		}
		k := knownText{int32(le.Uint32(b[8:])), math.Float32frombits(le.Uint32(b[12:]))}
		if int(k.row) >= terms+own || k.row >= 0 && int(k.row) < terms || !(k.prior >= -maxPrior && k.prior <= maxPrior) {
			return nil, 0, nil, fmt.Errorf("%w: known text %d is out of range", ErrModel, i)
		}
		known[le.Uint64(b)] = k
	}
	return known, own, rest[n*knownSize:], nil
}

// maxWeight is the maximum absolute value of a weight, so that sums of squares stay finite.
const maxWeight = 1e6

func (m *Model) fingerprint() string {
	h := sha256.New()
	fmt.Fprintf(h, "%d %d\n", codecVersion, m.dims)
	for _, t := range m.terms {
		fmt.Fprintln(h, t)
	}
	buf := make([]byte, 0, 4*m.dims)
	for i := 0; i < len(m.rows); i += m.dims {
		buf = buf[:0]
		for _, x := range m.rows[i : i+m.dims] {
			buf = binary.LittleEndian.AppendUint32(buf, math.Float32bits(x))
		}
		h.Write(buf)
	}
	h.Write(m.appendKnownTexts(nil))
	return hex.EncodeToString(h.Sum(nil)[:6])
}
