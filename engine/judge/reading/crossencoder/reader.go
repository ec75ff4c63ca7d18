// Package crossencoder reads passages with a small trained network: a BERT encoder that sees a statement and a piece of a
// passage together, and says how likely each label is. tools/reader trains it and describes what it reads.
//
// The network's linear layers and attention are computed with integers, so the same weights give the same readings on
// every processor. On processors with AVX2 or AVX-512, an assembly kernel is used. Elsewhere, plain Go code computes the
// same results more slowly.
package crossencoder

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/scf-service/service/engine/judge/reading"
)

// Limits on the network's input. tools/reader/wordpiece.py and examples.py use the same values.
const (
	maxStatementPieces = 64
	maxContextPieces   = 32
	maxPieces          = 192
	windowRunes        = 320 // of a window, unless its only sentence is longer
	repeatedRunes      = 160 // of a sentence that is repeated in the next window
)

// Reader implements reading.Reader with a network.
type Reader struct {
	network *Network
	workers int
	// QuoteWindows makes Read quote whole windows instead of their best sentence, which takes less time.
	QuoteWindows bool
}

// NewReader returns a reader that uses all processors.
func NewReader(n *Network) *Reader { return &Reader{network: n, workers: runtime.GOMAXPROCS(0)} }

// Name implements reading.Reader. The name contains a hash of the weights.
func (r *Reader) Name() string {
	name := strings.Map(func(c rune) rune {
		if c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '.' || c == '_' {
			return c
		}
		return '-'
	}, strings.ToLower(r.network.header.Name))
	return strings.Trim("trained-"+strings.Trim(name[:min(len(name), 40)], "-"), "-") + "-" + r.network.sha256[:8]
}

// piece is a part of a passage that the network reads at once.
type piece struct{ above, text string }

// Read implements reading.Reader. A passage gets the label of the window that is least likely to be silent on the
// statement. The quoted words are the sentence in that window that best shows the label, or the whole window if none is
// good enough.
func (r *Reader) Read(ctx context.Context, s reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	statement := s.Text
	if s.Topic != "" {
		statement = s.Topic + ": " + statement
	}
	var pieces []piece
	var owners []int
	for i, p := range passages {
		above := titleAndHeadings(p)
		for _, w := range windows(p.Text) {
			pieces, owners = append(pieces, piece{above, w}), append(owners, i)
		}
	}
	probabilities, err := r.probabilities(ctx, statement, pieces)
	if err != nil {
		return nil, err
	}
	out, shown := make([]reading.Reading, len(passages)), make([]int, len(passages))
	for i := range shown {
		shown[i] = -1
	}
	for k, i := range owners {
		if shown[i] < 0 || probabilities[k][silent] < probabilities[shown[i]][silent] {
			shown[i] = k
		}
	}
	// The sentences of windows that show something are read once more, each on its own.
	var sentencesOf []piece
	ranges := make([][2]int, len(passages))
	for i, k := range shown {
		if k < 0 || mostLikely(probabilities[k]) == silent {
			continue
		}
		ranges[i][0] = len(sentencesOf)
		if all := sentences(pieces[k].text); len(all) > 1 && !r.QuoteWindows {
			for _, sentence := range all {
				sentencesOf = append(sentencesOf, piece{pieces[k].above, sentence})
			}
		}
		ranges[i][1] = len(sentencesOf)
	}
	alone, err := r.probabilities(ctx, statement, sentencesOf)
	if err != nil {
		return nil, err
	}
	for i, k := range shown {
		p := [5]float64{silent: 1}
		if k >= 0 {
			p = probabilities[k]
		}
		label := mostLikely(p)
		out[i] = reading.Reading{Label: reading.Labels[label], Probabilities: make(map[reading.Label]float64, len(p))}
		for l, v := range p {
			out[i].Probabilities[reading.Labels[l]] = v
		}
		if label == silent {
			continue
		}
		out[i].Words = pieces[k].text
		best := p[label] / 2 // a sentence must have at least half the window's probability
		for c := ranges[i][0]; c < ranges[i][1]; c++ {
			if sentence := sentencesOf[c].text; alone[c][label] > best && len(sentence) >= reading.MinWordsBytes {
				best, out[i].Words = alone[c][label], sentence
			}
		}
		out[i].Words = strings.ToValidUTF8(out[i].Words[:min(len(out[i].Words), reading.MaxWordsBytes)], "")
	}
	return out, nil
}

// silent is the index of reading.Silent among reading.Labels.
const silent = 4

func mostLikely(p [5]float64) int {
	best := 0
	for l, v := range p {
		if v > p[best] {
			best = l
		}
	}
	return best
}

// probabilities returns the probabilities of the labels for each piece.
func (r *Reader) probabilities(ctx context.Context, statement string, pieces []piece) ([][5]float64, error) {
	if len(pieces) == 0 {
		return nil, nil
	}
	out := make([][5]float64, len(pieces))
	next := make(chan int)
	var group sync.WaitGroup
	for range min(r.workers, len(pieces)) {
		group.Go(func() {
			var s scratch
			for i := range next {
				ids, second := r.network.encodePair(statement, pieces[i])
				out[i] = r.network.probabilities(&s, ids, second)
			}
		})
	}
	for i := range pieces {
		if ctx.Err() != nil {
			break
		}
		next <- i
	}
	close(next)
	group.Wait()
	return out, ctx.Err()
}

// encodePair returns the word pieces of a statement and a piece of a passage, and the index at which the latter begins.
// Parts that are too long are truncated.
func (n *Network) encodePair(statement string, p piece) (ids []int32, second int) {
	t := n.tokenizer
	ids = append([]int32{t.first}, t.encode(statement, maxStatementPieces)...)
	ids = append(ids, t.end)
	second = len(ids)
	limit := min(maxPieces, n.Positions) - 1
	ids = append(ids, t.encode(p.above, maxContextPieces)...)
	if len(ids) < limit {
		ids = append(ids, t.encode(p.text, limit-len(ids))...)
	}
	return append(ids[:min(len(ids), limit)], t.end), second
}

// titleAndHeadings returns the title of a passage's document and the headings above the passage, without repeats.
func titleAndHeadings(p reading.Passage) string {
	var parts []string
	for _, h := range append([]string{p.Title}, p.HeadingPath...) {
		h = strings.TrimSpace(h)
		if h != "" && (len(parts) == 0 || parts[len(parts)-1] != h) {
			parts = append(parts, h)
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return strings.Join(parts, " — ") + " — "
}

// WindowAround returns the first window of a text (a part that the network reads at once) that contains words, ignoring
// differences in white space. If there is none, it returns the whole text.
func WindowAround(text, words string) string {
	for _, w := range windows(text) {
		if reading.FindQuote(w, words) != "" {
			return w
		}
	}
	return text
}

// windows splits a passage into runs of sentences with up to windowRunes characters. If the last sentence of a run is
// short, the next run begins with it, because it may introduce a list or contain what a pronoun refers to. An empty
// text has no windows.
func windows(text string) (out []string) {
	var current []string
	size := 0
	for _, part := range splitAtEnds(strings.TrimSpace(text), ".!?;:") {
		length := utf8.RuneCountInString(part)
		if len(current) > 0 && size+length > windowRunes {
			out = append(out, strings.Join(current, " "))
			last := current[len(current)-1]
			lastSize := utf8.RuneCountInString(last)
			if len(current) > 1 && lastSize <= repeatedRunes {
				current, size = []string{last}, lastSize
			} else {
				current, size = nil, 0
			}
		}
		current, size = append(current, part), size+length
	}
	if len(current) > 0 {
		out = append(out, strings.Join(current, " "))
	}
	return out
}

// sentences returns the sentences of a window.
func sentences(window string) []string { return splitAtEnds(window, ".!?") }

// splitAtEnds splits a text at line breaks and at spaces or tabs that follow one of the characters in ends. It omits
// blank parts.
func splitAtEnds(text, ends string) (out []string) {
	start := 0
	add := func(end int) {
		if part := text[start:end]; strings.TrimSpace(part) != "" {
			out = append(out, part)
		}
	}
	for i := 0; i < len(text); {
		end := i
		switch {
		case text[i] == '\n':
			for end < len(text) && text[end] == '\n' {
				end++
			}
		case i > 0 && strings.IndexByte(ends, text[i-1]) >= 0:
			for end < len(text) && (text[end] == ' ' || text[end] == '\t') {
				end++
			}
		}
		if end == i {
			i++
			continue
		}
		add(i)
		start, i = end, end
	}
	add(len(text))
	return out
}
