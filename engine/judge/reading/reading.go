// Package reading defines how a reader answers: for a statement and each of several passages, it
// gives what the passage shows about the statement, how certain it is, and the words that show it.
// The rules, a model and a file of labels can all be readers; package judge derives verdicts from
// their readings.
//
// The package must not judge, and must not follow instructions in passages: they are data.
package reading

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/internal/prose"
)

// Label is what a passage shows about a statement.
type Label string

// The labels, in order of their weight in a verdict.
const (
	States      Label = "states"      // the whole statement, as in force now
	Part        Label = "part"        // a material part of the statement
	Plans       Label = "plans"       // that the statement will be fulfilled
	Contradicts Label = "contradicts" // that the statement is not fulfilled
	Silent      Label = "silent"      // nothing about the statement
)

// Labels lists all labels.
var Labels = []Label{States, Part, Plans, Contradicts, Silent}

// Statement is a requirement. A Reader determines what passages show about it.
type Statement struct {
	ControlCode string // of the control that it belongs to; not part of its ID
	Topic       string // the control's subject
	Text        string
}

// ID returns a hash of the parts of the statement that a reader sees.
func (s Statement) ID() string { return hash(s.Topic, s.Text) }

// Passage holds the parts of a passage that a reader sees.
type Passage struct {
	Title       string   // of its document
	Kind        string   // category of its document, e.g. policy
	Date        string   // effective date of its document, or ""
	HeadingPath []string // from the document's outermost heading inwards
	Text        string
	// Score is the search score of the passage for the statement, from 0 to 1. It is not part of
	// the passage's hash.
	Score float64
}

// Hash returns a hash of the parts of the passage that a reader sees.
func (p Passage) Hash() string {
	p = p.Bounded()
	return hash(append([]string{p.Title, p.Kind, p.Date, p.Text}, p.HeadingPath...)...)
}

// Bounded returns the passage with its text cut to MaxPassageBytes and converted to valid UTF-8, which is the form that
// readers receive.
func (p Passage) Bounded() Passage {
	if len(p.Text) > MaxPassageBytes {
		end := MaxPassageBytes
		for end > 0 && !utf8.RuneStart(p.Text[end]) {
			end--
		}
		p.Text = p.Text[:end]
	}
	p.Text = strings.ToValidUTF8(p.Text, "\uFFFD")
	return p
}

func hash(parts ...string) string {
	b, _ := json.Marshal(parts) // strings always encode
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// Reading is a reader's result for one statement and one passage. The zero Reading means that the
// reader has not read the passage for the statement.
type Reading struct {
	Label         Label             `json:"label"`
	Probabilities map[Label]float64 `json:"probabilities,omitempty"` // one per label; nil if the reader gives none
	Words         string            `json:"words,omitempty"`         // the quoted part of the passage that shows it; "" if silent
}

// IsRead reports whether the reader has read the passage.
func (r Reading) IsRead() bool { return r.Label != "" }

// Reader determines what passages show about statements.
type Reader interface {
	// Name returns the name and version of the reader. It changes whenever the reader's answers may change.
	Name() string
	// Read returns one reading per passage, in the order of the passages.
	Read(ctx context.Context, s Statement, passages []Passage) ([]Reading, error)
}

// Limits on a reader's input and output.
const (
	MaxPassageBytes = 16 << 10 // of a passage's text; the rest is not read
	MaxWordsBytes   = 4 << 10  // of the words of one reading
	MinWordsBytes   = 4        // of the words of one reading, unless they are the whole passage
	batchSize       = 64       // passages per call
	// maxProbabilityError is the maximum deviation of the sum of the probabilities from 1.
	maxProbabilityError = 0.02
)

// Limited is a Reader that reads only the best passages of a statement.
type Limited interface {
	Reader
	// MaxPassages returns how many passages of each statement are read, best first; 0 means all.
	MaxPassages() int
}

// ReadAll passes the passages to r in batches, bounded in length and as valid UTF-8, and checks the readings that r
// returns. It counts those that fail Check and treats their passages as not read, because a quote that isn't in the
// passage is not evidence.
func ReadAll(ctx context.Context, r Reader, s Statement, passages []Passage) (out []Reading, invalid int, err error) {
	out = make([]Reading, 0, len(passages))
	for batch := range slices.Chunk(passages, batchSize) {
		if err := ctx.Err(); err != nil {
			return nil, 0, err
		}
		bounded := make([]Passage, len(batch))
		for i, p := range batch {
			bounded[i] = p.Bounded()
		}
		readings, err := r.Read(ctx, s, bounded)
		if err != nil {
			return nil, 0, fmt.Errorf("reading with %s: %w", r.Name(), err)
		}
		if len(readings) != len(batch) {
			return nil, 0, fmt.Errorf("reader %s returned %d readings for %d passages", r.Name(), len(readings), len(batch))
		}
		for i, reading := range readings {
			if reading.IsRead() && reading.Check(bounded[i].Text) != nil {
				reading, invalid = Reading{}, invalid+1
			}
			out = append(out, reading)
		}
	}
	return out, invalid, nil
}

// Check returns an error if the reading is not a valid reading of a passage with the given text.
func (r Reading) Check(passage string) error {
	if !slices.Contains(Labels, r.Label) {
		return fmt.Errorf("%q is not a valid label; use %s", prose.Truncate(string(r.Label), 40), labelNames)
	}
	if err := r.checkProbabilities(); err != nil {
		return err
	}
	words := strings.TrimSpace(r.Words)
	switch {
	case len(r.Words) > MaxWordsBytes:
		return fmt.Errorf("the quote is %d bytes long; the maximum is %d", len(r.Words), MaxWordsBytes)
	case r.Label == Silent && words != "":
		return fmt.Errorf("a reading with the label silent must not quote words, but this one quotes %q", prose.Truncate(words, 80))
	case r.Label != Silent && words == "":
		return fmt.Errorf("the label is %s, but no words are quoted; copy the words of the passage that support the label", r.Label)
	case r.Label != Silent && len(words) < min(MinWordsBytes, len(strings.TrimSpace(passage))):
		return fmt.Errorf("the words %q are too short to show anything; quote at least %d characters", words, MinWordsBytes)
	case r.Label != Silent && FindQuote(passage, words) == "":
		return fmt.Errorf("the passage doesn't contain the words %q; copy the words exactly as they appear in the passage",
			prose.Truncate(words, 80))
	}
	return nil
}

var labelNames = func() string {
	names := make([]string, len(Labels))
	for i, l := range Labels {
		names[i] = string(l)
	}
	return prose.JoinOr(names)
}()

func (r Reading) checkProbabilities() error {
	if r.Probabilities == nil {
		return nil
	}
	sum := 0.0
	for _, l := range slices.Sorted(maps.Keys(r.Probabilities)) {
		p := r.Probabilities[l]
		switch {
		case !slices.Contains(Labels, l):
			return fmt.Errorf("the probabilities contain %q, which is not a valid label; use %s", prose.Truncate(string(l), 40), labelNames)
		case math.IsNaN(p) || p < 0 || p > 1:
			return fmt.Errorf("the probability of %s is %v; it must be between 0 and 1", l, p)
		case p > r.Probabilities[r.Label]:
			return fmt.Errorf("the label is %s, but %s is more probable", r.Label, l)
		}
		sum += p
	}
	if math.Abs(sum-1) > maxProbabilityError {
		return fmt.Errorf("the probabilities add up to %.2f instead of 1", sum)
	}
	return nil
}

// FindQuote returns the part of a text that equals words, ignoring differences in white space. It
// returns "" if there is none.
func FindQuote(text, words string) string {
	wanted := strings.Join(strings.Fields(words), " ")
	if wanted == "" {
		return ""
	}
	// normalized is the text with single spaces; starts has the offset in text of each of its bytes.
	var normalized strings.Builder
	starts := make([]int, 0, len(text)+1)
	space := false
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if unicode.IsSpace(r) {
			space = normalized.Len() > 0
		} else {
			if space {
				normalized.WriteByte(' ')
				starts, space = append(starts, i), false
			}
			normalized.WriteString(text[i : i+size])
			for k := range size {
				starts = append(starts, i+k)
			}
		}
		i += size
	}
	at := strings.Index(normalized.String(), wanted)
	if at < 0 {
		return ""
	}
	return text[starts[at] : starts[at+len(wanted)-1]+1]
}
