// Package search ranks passages by meaning and words together. The index lives in memory and is
// filled from the store; vectors are passed in, computed by the caller's embedder. It must not read
// files, call a model or know about tenants: one index holds what one caller may see.
//
//	query ─┬─ vector ─▶ nearest passages (chromem-go, or a flat scan) ─┐
//	       ├─ stems ──▶ BM25 over postings ────────────────────────────┼─▶ fuse ─▶ calibrate ─▶ results
//	       └─ codes, names, "quoted phrases" ─▶ ranked first ──────────┘
package search

import (
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/scf-service/service/engine/evidence/embed/words"
)

// Passage is a piece of a document that can be found by a search.
type Passage struct {
	ID           string // unique in the index
	DocumentID   string
	AssessmentID string
	Category     string
	Date         string // YYYY-MM-DD, of its document; "": unknown
	Text         string
	HeadingPath  []string  // outermost first; searched like the text
	Vector       []float32 // of the embedder in use; nil or zeros: found by words only
	Language     string    // set if known not to be English; also found by PersistentQueries' questions in it
	// Prior is the passage's advantage over others for any query, in deviations, as returned by
	// embed.Model.KnownTextPrior for control texts: -3 to 3, usually 0.
	Prior float64
}

// ErrPassage is wrapped by the errors of Put.
var ErrPassage = errors.New("the passage can't be indexed")

// Options configures an index. The zero value is what the product uses.
type Options struct {
	// Background is the similarity of unrelated texts. If zero, it is measured on the passages of
	// the index.
	Background Background
	// Weight returns the weight of a stem, 0 to 1, like embed.Model.StemImportance. If nil, a word is weighted
	// by its rarity in the index only.
	Weight func(stem string) float64
	// Embed quickly embeds texts with the passages' embedder. It is used to rerank the best
	// candidates piece by piece. If nil, there is no reranking.
	Embed func(texts []string) [][]float32
	// FlatFrom is the minimum number of passages for which searches without filters use a flat scan
	// instead of chromem; 0 means 2,000, above which chromem is slower.
	FlatFrom int
}

// Index is an in-memory search index. It is safe for concurrent use: searches run concurrently; a
// Put or Remove waits for running searches and takes effect atomically.
type Index struct {
	mu             sync.RWMutex
	options        Options
	filterRows     []filterRow // by slot
	nameNumbers    map[string]int32
	slots          []slot // slots are never reused; dead ones are removed when there are many
	slotByID       map[string]int
	deadCount      int
	postings       *postings
	vectors        flatVectors
	nearest        nearestIndex // chromem, over the same vectors; nil if there are too many for it
	subpassages    subpassageVectors
	hasPriors      bool // some passage has a prior
	background     Background
	backgroundSize int // live passages when the background was measured
}

// slot is the place of a passage in the index.
type slot struct {
	Passage
	live      bool
	unitCount float32 // units that count for BM25
	packed    []byte  // headings and text if the passage was loaded from a pack; see Pack
}

const maxPrior = 3.0

// New returns an empty index.
func New(o Options) *Index {
	if o.FlatFrom == 0 {
		o.FlatFrom = 2000
	}
	return &Index{
		options:     o,
		subpassages: subpassageVectors{embed: o.Embed},
		slotByID:    make(map[string]int),
		nameNumbers: make(map[string]int32),
		postings:    newPostings(),
		vectors:     newFlatVectors(),
		nearest:     newChromemIndex(),
		background:  defaultBackground,
	}
}

// Len returns the number of passages.
func (x *Index) Len() int {
	x.mu.RLock()
	defer x.mu.RUnlock()
	return len(x.slotByID)
}

// Put adds passages. A passage replaces an existing one with the same ID. If any passage is invalid
// (no ID, a vector of another size, a number that isn't finite), none is added. Vectors are copied
// and scaled to length 1.
func (x *Index) Put(passages ...Passage) error {
	units := splitPassages(passages)
	x.mu.Lock()
	defer x.mu.Unlock()
	dims := x.vectors.dims
	for _, p := range passages {
		if err := p.validate(&dims); err != nil {
			return err
		}
	}
	for i, p := range passages {
		x.removePassage(p.ID)
		x.addPassage(p, units[i], dims)
	}
	x.compactIfSparse()
	x.subpassages.clearCache()
	x.updateBackground()
	return nil
}

// validate returns an error if the passage can't be added to an index whose vectors have dims dimensions. If
// dims is 0, it is set to those of the passage.
func (p *Passage) validate(dims *int) error {
	if p.ID == "" {
		return fmt.Errorf("%w: the passage has no ID", ErrPassage)
	}
	if !(math.Abs(p.Prior) <= maxPrior) {
		return fmt.Errorf("%w: the prior of %s is %v, which is not between -%v and %v", ErrPassage, p.ID, p.Prior, maxPrior, maxPrior)
	}
	if len(p.Vector) == 0 {
		return nil
	}
	if *dims == 0 {
		*dims = len(p.Vector)
	}
	if len(p.Vector) != *dims {
		return fmt.Errorf("%w: the vector of %s has %d numbers, but the index requires %d; embed the passage again",
			ErrPassage, p.ID, len(p.Vector), *dims)
	}
	for _, v := range p.Vector {
		if f := float64(v); math.IsNaN(f) || math.IsInf(f, 0) || math.Abs(f) > 1e15 {
			return fmt.Errorf("%w: the vector of %s contains %v; embed the passage again", ErrPassage, p.ID, v)
		}
	}
	return nil
}

// splitPassages splits the texts of passages into tokens, using all cores.
func splitPassages(passages []Passage) [][]words.Token {
	units := make([][]words.Token, len(passages))
	parallelFor(len(passages), func(i int) { units[i] = words.Split(searchableText(passages[i])) })
	return units
}

// searchableText returns the text of a passage for keyword search: its headings followed by its text.
func searchableText(p Passage) string {
	n := len(p.Text)
	for _, h := range p.HeadingPath {
		n += len(h) + 1
	}
	b := make([]byte, 0, n)
	for _, h := range p.HeadingPath {
		b = append(append(b, h...), '\n')
	}
	return string(append(b, p.Text...))
}

func (x *Index) addPassage(p Passage, units []words.Token, dims int) {
	n := len(x.slots)
	vector := x.vectors.addNormalized(p.Vector, dims)
	p.Vector = nil
	s := slot{Passage: p, live: true}
	s.unitCount = x.postings.add(n, units)
	x.hasPriors = x.hasPriors || p.Prior != 0
	x.slots, x.filterRows = append(x.slots, s), append(x.filterRows, x.newFilterRow(p))
	x.slotByID[p.ID] = n
	if len(x.slotByID) > x.options.FlatFrom {
		x.nearest = nil // no search would use it
	}
	if vector != nil && x.nearest != nil {
		x.nearest.put(p.ID, vector)
	}
}

// Remove removes passages by ID. Unknown IDs are ignored.
func (x *Index) Remove(ids ...string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, id := range ids {
		x.removePassage(id)
	}
	x.compactIfSparse()
	x.subpassages.clearCache()
	x.updateBackground()
}

func (x *Index) removePassage(id string) {
	n, ok := x.slotByID[id]
	if !ok {
		return
	}
	delete(x.slotByID, id)
	s := &x.slots[n]
	s.live, x.filterRows[n] = false, filterRow{}
	x.postings.subtractPassageCounts(s.unitCount, s.splitUnits())
	if x.nearest != nil {
		x.nearest.remove(id)
	}
	s.Passage, s.packed = Passage{}, nil
	x.deadCount++
}

// compactIfSparse rebuilds the index without its dead slots if there are many of them.
func (x *Index) compactIfSparse() {
	if x.deadCount < 1024 || x.deadCount < len(x.slots)/3 {
		return
	}
	slots, vectors := x.slots, x.vectors
	x.slots, x.filterRows, x.nameNumbers = make([]slot, 0, len(x.slotByID)), make([]filterRow, 0, len(x.slotByID)), make(map[string]int32)
	x.slotByID = make(map[string]int, len(x.slotByID))
	x.postings, x.vectors, x.deadCount = newPostings(), newFlatVectors(), 0
	x.nearest = newChromemIndex()
	for n := range slots {
		if slots[n].live {
			p := slots[n].unpackPassage()
			p.Vector = vectors.row(n)
			x.addPassage(p, words.Split(searchableText(p)), vectors.dims)
		}
	}
}
