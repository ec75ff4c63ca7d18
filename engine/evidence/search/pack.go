package search

import (
	"encoding/binary"
	"errors"
	"fmt"
	"iter"
	"math"
	"sync"

	"github.com/klauspost/compress/s2"

	"github.com/scf-service/service/engine/evidence/embed/words"
	"github.com/scf-service/service/internal/bytereader"
)

// packVersion is the first byte of a pack. It is incremented when the format or the result of words.Split changes.
// The vectors are stored nowhere else, so UnpackVectors must still be able to read those of older versions.
const (
	packVersion           = 2
	packVersionWithFloats = 1 // differs only in the format of vectors
)

// PackPassages is the recommended number of passages in a pack: larger packs share more words, but
// smaller ones are cheaper to rewrite.
const PackPassages = 256

// ErrPack is wrapped by errors about data that isn't a pack of this version.
var ErrPack = errors.New("packed passages can't be used; read the document again")

// Packed holds passages of one document as written by Pack, with the words already counted and the
// vectors already scaled.
type Packed struct {
	DocumentID, AssessmentID, Category, Date string
	Data                                     []byte
}

// Pack does the work of Put in advance and returns the result as bytes to be stored:
//
//	version, count, dims | vectors, 2 bytes per number | count × (id, units, text) | words, see packedPostings
//
// It accepts the same passages as Put, without priors; fields of the document are not stored.
func Pack(passages []Passage) ([]byte, error) {
	var vectors flatVectors
	for _, p := range passages {
		if err := p.validate(&vectors.dims); err != nil {
			return nil, err
		}
		if p.Prior != 0 {
			return nil, fmt.Errorf("%w: %s has a prior, which can't be stored in a pack", ErrPassage, p.ID)
		}
	}
	dims := vectors.dims
	counted, lengths := newPostings(), make([]float32, len(passages))
	for i, units := range splitPassages(passages) {
		lengths[i] = counted.add(i, units)
		vectors.addNormalized(passages[i].Vector, dims)
	}
	b := binary.AppendUvarint([]byte{packVersion}, uint64(len(passages)))
	b = binary.AppendUvarint(b, uint64(dims))
	for n := range passages {
		for _, v := range vectors.row(n) {
			b = binary.LittleEndian.AppendUint16(b, uint16(toFixed(v)))
		}
	}
	for n, p := range passages {
		b = appendPrefixedBytes(b, p.ID)
		b = binary.AppendUvarint(b, uint64(lengths[n]))
		plain := binary.AppendUvarint(nil, uint64(len(p.HeadingPath)))
		for _, h := range p.HeadingPath {
			plain = appendPrefixedBytes(plain, h)
		}
		b = appendPrefixedBytes(b, s2.Encode(nil, append(plain, p.Text...)))
	}
	return counted.appendPacked(b), nil
}

func appendPrefixedBytes[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// packReader decodes the output of Pack.
type packReader struct {
	bytereader.Reader
	withFloats bool // see packVersionWithFloats
}

func newPackReader(data []byte) packReader { return packReader{Reader: bytereader.Reader{Data: data}} }

const (
	maxPackPassages = 1 << 16 // maximum number of passages in a pack
	maxDims         = 1 << 16
)

func (u *packReader) readHeader() (n, dims int) {
	form := u.Bytes(1)
	if len(form) == 0 || form[0] != packVersion && form[0] != packVersionWithFloats {
		u.Failed = true
		return 0, 0
	}
	u.withFloats = form[0] == packVersionWithFloats
	return u.Uvarint(maxPackPassages), u.Uvarint(maxDims)
}

// readVectors reads n vectors.
func (u *packReader) readVectors(n, dims int) packedRows {
	rows := packedRows{dims: dims, withFloats: u.withFloats}
	rows.from = u.Bytes(n * rows.bytesPerRow())
	return rows
}

// PackedLen returns the number of passages in a pack. It returns ErrPack if data isn't a pack of this version.
func PackedLen(data []byte) (int, error) {
	u := newPackReader(data)
	n, _ := u.readHeader()
	if u.Failed {
		return 0, ErrPack
	}
	return n, nil
}

// UnpackVectors returns the vectors of packed passages, scaled to length 1, by passage ID.
func UnpackVectors(data []byte) (map[string][]float32, error) {
	u := newPackReader(data)
	n, dims := u.readHeader()
	vectors := u.readVectors(n, dims)
	out := make(map[string][]float32, min(n, len(data)))
	for range n {
		id := string(u.PrefixedBytes())
		u.Uvarint(math.MaxInt32)
		u.PrefixedBytes()
		if u.Failed {
			return nil, ErrPack
		}
		if dims == 0 {
			continue
		}
		v := make([]float32, dims)
		vectors.to = [][]float32{v}
		vectors.copyToRows()
		out[id], vectors.from = v, vectors.from[vectors.bytesPerRow():]
	}
	if u.Failed {
		return nil, ErrPack
	}
	return out, nil
}

// VectorDimensions returns the number of dimensions of packed vectors.
func VectorDimensions(data []byte) (int, error) {
	u := newPackReader(data)
	_, dims := u.readHeader()
	if u.Failed {
		return 0, ErrPack
	}
	return dims, nil
}

// FillFromPacks fills an empty index with packed passages. The result is the same as that of Put
// for the passages themselves. The index retains parts of the data. After an error, it must not be
// used.
func (x *Index) FillFromPacks(packs iter.Seq2[Packed, error]) error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.slots) > 0 {
		return fmt.Errorf("%w: the index isn't empty", ErrPassage)
	}
	var wg sync.WaitGroup
	rows := make(chan packedRows, 16)
	wg.Go(func() {
		for r := range rows {
			r.copyToRows()
		}
	})
	err := x.loadPacks(packs, rows)
	close(rows)
	wg.Wait()
	if err != nil {
		return err
	}
	if x.nearest != nil {
		for n := range x.slots {
			if row := x.vectors.row(n); isNonZero(row) {
				x.nearest.put(x.slots[n].ID, row)
			}
		}
	}
	x.updateBackground()
	return nil
}

func isNonZero(row []float32) bool {
	for _, v := range row {
		if v != 0 {
			return true
		}
	}
	return false
}

func (x *Index) loadPacks(packs iter.Seq2[Packed, error], rows chan<- packedRows) error {
	for p, err := range packs {
		if err != nil {
			return err
		}
		u := newPackReader(p.Data)
		n, dims := u.readHeader()
		vectors := u.readVectors(n, dims)
		if u.Failed || dims != 0 && x.vectors.dims != 0 && dims != x.vectors.dims {
			return ErrPack
		}
		vectors.to = x.vectors.addRows(n, dims)
		rows <- vectors
		first := len(x.slots)
		m := x.newFilterRow(Passage{AssessmentID: p.AssessmentID, DocumentID: p.DocumentID, Category: p.Category, Date: p.Date})
		for range n {
			id := string(u.PrefixedBytes())
			length := u.Uvarint(math.MaxInt32)
			if _, twice := x.slotByID[id]; u.Failed || twice || id == "" {
				return ErrPack
			}
			s := slot{live: true, unitCount: float32(length), packed: u.PrefixedBytes()}
			s.Passage = Passage{ID: id, DocumentID: p.DocumentID, AssessmentID: p.AssessmentID, Category: p.Category, Date: p.Date}
			x.slotByID[id] = len(x.slots)
			x.slots, x.filterRows = append(x.slots, s), append(x.filterRows, m)
		}
		if len(x.slotByID) > x.options.FlatFrom {
			x.nearest = nil
		}
		x.copyPackedTexts(x.slots[first:])
		if err := x.postings.loadPack(u.Data, first, x.slots[first:]); err != nil {
			return err
		}
	}
	return nil
}

// copyPackedTexts copies the packed texts out of a pack, so that the rest of the pack can be freed.
func (x *Index) copyPackedTexts(slots []slot) {
	total := 0
	for i := range slots {
		total += len(slots[i].packed)
	}
	all := make([]byte, 0, total)
	for i := range slots {
		from := len(all)
		all = append(all, slots[i].packed...)
		slots[i].packed = all[from:len(all):len(all)]
	}
}

// packedRows holds the vectors in a pack and the rows they are copied to.
type packedRows struct {
	from       []byte
	to         [][]float32
	dims       int
	withFloats bool
}

func (r *packedRows) bytesPerRow() int {
	if r.withFloats {
		return 4 * r.dims
	}
	return 2 * r.dims
}

func (r *packedRows) copyToRows() {
	b := r.from
	for _, part := range r.to {
		if r.withFloats {
			for i := range part {
				part[i] = math.Float32frombits(binary.LittleEndian.Uint32(b[4*i:]))
			}
			b = b[4*len(part):]
			for ; len(part) > 0; part = part[r.dims:] {
				normalizeAndRound(part[:r.dims])
			}
			continue
		}
		for i := range part {
			part[i] = fromFixed(int16(binary.LittleEndian.Uint16(b[2*i:])))
		}
		b = b[2*len(part):]
	}
}

// addRows adds n rows and returns them, split at the boundaries of blocks.
func (f *flatVectors) addRows(n, dims int) (parts [][]float32) {
	from := f.count
	f.count += n
	if dims == 0 {
		return nil
	}
	f.grow(dims)
	for from < f.count {
		block, at := f.blocks[from/blockRows], from%blockRows
		rows := min(blockRows-at, f.count-from)
		parts = append(parts, block[at*dims:(at+rows)*dims])
		from += rows
	}
	return parts
}

// unpackPassage returns the passage in a slot, with its text unpacked but without its vector.
func (s *slot) unpackPassage() Passage {
	p := s.Passage
	if s.packed == nil {
		return p
	}
	plain, err := s2.Decode(nil, s.packed)
	if err != nil {
		return p // the data is damaged; the passage can be found by meaning, but has no text
	}
	u := bytereader.Reader{Data: plain}
	for range u.Uvarint(len(plain)) {
		p.HeadingPath = append(p.HeadingPath, string(u.PrefixedBytes()))
	}
	p.Text = string(u.Data)
	return p
}

// splitUnits splits the text of a slot's passage into tokens.
func (s *slot) splitUnits() []words.Token { return words.Split(searchableText(s.unpackPassage())) }
