package search

import "math"

// Background is the distribution of cosines between vectors of unrelated texts: mean and standard deviation. It
// differs widely between embedders, which is why a raw cosine can't be used as a threshold.
type Background struct{ Mean, Deviation float64 }

// A score is a logistic curve over two quantities that mean the same on every corpus: how much
// closer a passage is than unrelated text, in background deviations, and what share of the query's
// word weight it covers. At a score of 0.5, a reader is as likely to accept the passage as to
// reject it.
const (
	fullCoverageDeviations = 5.0 // deviations added by covering all words

	medianAnswer        = 3.6 // the median of relevant passages, on four dissimilar corpora
	steepness           = 1.1
	wordsOnlyDeviations = 9.0 // the same if there are no vectors and only words count

	// minExactScore is the lowest score of passages that contain an exact term of the query. All others score less.
	minExactScore = 0.9
)

// fuse combines a passage's cosine with its coverage of the query's words. The result states, in deviations, how well
// the passage answers the query. Meaning dominates; shared words decide between passages of similar meaning.
func (b Background) fuse(cosine float64, coverage float32) float64 {
	return (cosine-b.Mean)/b.Deviation + fullCoverageDeviations*float64(coverage)
}

// calibratedScore maps a fused score to a score from 0 to 1. matched is how many of the query's exactTermCount
// exact terms the passage contains.
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
	// defaultBackgroundPairs is the weight of the default background, as a number of measured
	// pairs. It prevents a few passages on one topic from changing the background much.
	defaultBackgroundPairs = 50
)

var defaultBackground = Background{Mean: 0.1, Deviation: 0.12}

// moments accumulates the mean and deviation of cosines, starting from a prior distribution.
type moments struct{ n, sum, squares float64 }

// moments returns the prior distribution as sums over defaultBackgroundPairs pairs.
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

// updateBackground measures the background of the index on pairs of passages from different documents, in a
// fixed order. It measures again only when the index has grown or shrunk by a quarter.
func (x *Index) updateBackground() {
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
		if c := dot(x.vectors.row(a), x.vectors.row(b)); c != 0 { // 0: one of them has no vector
			m.add(c)
		}
	}
	x.background = m.background()
}

// queryBackground measures the general similarity of passages to one query, because short queries
// are less similar to everything than long ones. It uses an even sample of the whole index, so that
// filters don't change scores.
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
