package search

import "math"

// Background is how close vectors of texts are that have nothing to do with each
// other: the mean of their cosine and its standard deviation. Embedders differ
// widely in it, which is why a raw cosine can't be a threshold.
type Background struct{ Mean, Deviation float64 }

// A score is a logistic curve over two things that mean the same on every corpus:
// how many deviations of the background a passage is closer than unrelated text,
// and which share of the query's worth of words it covers. 0.5 is where a reader
// is as likely to say yes as no.
const (
	fullCoverageDeviations = 5.0 // deviations that covering all words is worth

	medianAnswer        = 3.6 // the median of passages that answer, on four unlike corpora
	steepness           = 1.1
	wordsOnlyDeviations = 9.0 // the same without vectors: all rests on words

	// Passages that hold what was asked for to the letter score from here on,
	// all others below.
	minExactScore = 0.9
)

// fuse says how well a passage answers, in deviations. Meaning leads; words
// decide between passages that mean much the same.
func (b Background) fuse(cosine float64, coverage float32) float64 {
	return (cosine-b.Mean)/b.Deviation + fullCoverageDeviations*float64(coverage)
}

// calibratedScore brings a fused value to 0–1. held of asked exact demands are met.
func calibratedScore(fused float64, matched, exactTermCount int) float64 {
	s := 1 / (1 + math.Exp(-steepness*(fused-medianAnswer)))
	if matched == 0 {
		return minExactScore * s
	}
	return minExactScore + (1-minExactScore)*(float64(matched-1)+s)/float64(exactTermCount)
}

const (
	backgroundPairs  = 2000
	backgroundSample = 400
	// What is taken for the background before it is measured counts as if so many
	// pairs had been seen: few passages, all about one thing, can't move it far.
	defaultBackgroundPairs = 50
)

var defaultBackground = Background{Mean: 0.1, Deviation: 0.12}

// moments gathers a background, starting from a belief.
type moments struct{ n, sum, squares float64 }

func (b Background) moments() moments {
	return moments{
		n:       defaultBackgroundPairs,
		sum:     b.Mean * defaultBackgroundPairs,
		squares: (b.Deviation*b.Deviation + b.Mean*b.Mean) * defaultBackgroundPairs,
	}
}

func (m *moments) add(cosine float32) {
	c := float64(cosine)
	m.n++
	m.sum += c
	m.squares += c * c
}

func (m *moments) background() Background {
	mean := m.sum / m.n
	return Background{mean, math.Sqrt(max(m.squares/m.n-mean*mean, 1e-4))}
}

// measureBackground takes the background of the index from pairs of passages of different
// documents, by a fixed walk. It is done again when the index has grown or
// shrunk by a quarter.
func (x *Index) measureBackground() {
	n := len(x.slotByID)
	if x.backgroundSize > 0 && n < x.backgroundSize*5/4 && n > x.backgroundSize*3/4 {
		return
	}
	x.backgroundSize = n
	x.background = defaultBackground
	if x.options.Background != (Background{}) {
		x.background = x.options.Background
	}
	if n < 2 || x.vectors.dims == 0 {
		return
	}
	m := x.background.moments()
	state := uint64(1)
	pick := func() int {
		state = state*6364136223846793005 + 1442695040888963407
		return int((state >> 33) % uint64(len(x.slots)))
	}
	for range backgroundPairs {
		a, b := pick(), pick()
		if !x.slots[a].live || !x.slots[b].live || x.slots[a].DocumentID == x.slots[b].DocumentID {
			continue
		}
		if c := dot(x.vectors.row(a), x.vectors.row(b)); c != 0 { // 0: one has no vector
			m.add(c)
		}
	}
	x.background = m.background()
}

// queryBackground measures how close the passages are to one query as a whole, on an even
// sample: short queries are less close to everything than long ones. The whole
// index is the measure, whatever the filters, so that they don't change a score.
func (x *Index) queryBackground(vector []float32) Background {
	m := x.background.moments()
	step := max(1, len(x.slots)/backgroundSample)
	for n := 0; n < len(x.slots); n += step {
		if x.slots[n].live {
			if c := dot(vector, x.vectors.row(n)); c != 0 {
				m.add(c)
			}
		}
	}
	return m.background()
}
