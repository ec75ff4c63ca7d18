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
	wordsWorth = 16.0 // deviations that covering all words is worth; half of them, a quarter

	middle     = 3.6 // deviations at which a passage is as likely as not to answer
	steepness  = 1.1
	wordsAlone = 9.0 // the same without vectors: all rests on words

	// Passages that hold what was asked for to the letter score from here on,
	// all others below.
	exactFrom = 0.9
)

// fuse says how well a passage answers, in deviations. Meaning leads; words
// decide between passages that mean much the same.
func (b Background) fuse(cosine, coverage float32) float64 {
	return (float64(cosine)-b.Mean)/b.Deviation + wordsWorth*float64(coverage*coverage)
}

// score brings a fused value to 0–1. held of asked exact demands are met.
func score(fused float64, held, asked int) float64 {
	s := 1 / (1 + math.Exp(-steepness*(fused-middle)))
	if held == 0 {
		return exactFrom * s
	}
	return exactFrom + (1-exactFrom)*(float64(held-1)+s)/float64(asked)
}

const (
	backgroundPairs = 2000
	// What is taken for the background before there are passages to measure, as
	// if so many pairs had been seen.
	priorPairs = 50
)

var prior = Background{Mean: 0.05, Deviation: 0.12}

// measure takes the background from pairs of passages of different documents,
// by a fixed walk. It is done again when the index has grown by a quarter.
func (x *Index) measure() {
	if x.options.Background != (Background{}) {
		x.ground = x.options.Background
		return
	}
	n := len(x.place)
	if x.grounded > 0 && n < x.grounded*5/4 && n > x.grounded*3/4 {
		return
	}
	x.grounded = n
	sum := prior.Mean * priorPairs
	squares := (prior.Deviation*prior.Deviation + prior.Mean*prior.Mean) * priorPairs
	pairs := float64(priorPairs)
	state := uint64(1)
	pick := func() int {
		state = state*6364136223846793005 + 1442695040888963407
		return int((state >> 33) % uint64(len(x.slots)))
	}
	for range backgroundPairs {
		if n < 2 || x.vectors.dims == 0 {
			break
		}
		a, b := pick(), pick()
		if a == b || !x.slots[a].live || !x.slots[b].live || x.slots[a].DocumentID == x.slots[b].DocumentID {
			continue
		}
		c := float64(dot(x.vectors.row(a), x.vectors.row(b)))
		if c == 0 {
			continue // one has no vector
		}
		sum += c
		squares += c * c
		pairs++
	}
	mean := sum / pairs
	x.ground = Background{mean, math.Sqrt(max(squares/pairs-mean*mean, 1e-4))}
}
