package evidence

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"strings"
	"time"
	"unicode"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/chunk"
)

const (
	// minEditOverlap is the minimum share of common words at which a passage counts as an edited version of another.
	minEditOverlap = 0.5
	// maxCompared is the maximum number of pairs of passages that are compared word by word regardless of their
	// headings.
	maxCompared = 250_000
	// maxWordComparisons limits the time spent looking for edited passages in one document to about a second.
	maxWordComparisons = 40_000_000
)

// newPassageID returns the ID of a passage, a UUIDv7 that contains the time began and whose other
// bits are derived from the remaining arguments. A document that is read again, or added in a
// different order, therefore gets passages with the same IDs in the same order, which lead to the
// same drafts.
//
// document is a hash of the content of the document's first version, and passage a hash of the
// passage. occurrence distinguishes passages of one document that have the same text under the same
// headings.
func newPassageID(assessment string, began time.Time, document, passage string, occurrence int) string {
	content := sha256.Sum256(fmt.Appendf(nil, "%s %s %d", document, passage, occurrence))
	place := sha256.Sum256([]byte(assessment))
	var id [16]byte
	binary.BigEndian.PutUint64(id[:], uint64(began.UnixMilli())<<16)
	copy(id[6:12], content[:])
	copy(id[12:], place[:])
	id[6] = id[6]&0x0f | 0x70
	id[8] = id[8]&0x3f | 0x80
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}

// setFirstReadTime sets a passage's creation and update time to the time in its ID.
func setFirstReadTime(c *api.Chunk) {
	if id, err := uuid.Parse(c.ID); err == nil && id.Version() == 7 {
		sec, nsec := id.Time().UnixTime()
		c.CreatedAt = time.Unix(sec, nsec).UTC()
		c.UpdatedAt = c.CreatedAt
	}
}

// assignPassageIDs returns the IDs of the passages of a new document version. An unchanged passage
// keeps its ID, and an edited one gets the ID of the passage it most resembles. The IDs of other
// passages are derived by newID from the passage's hash and occurrence.
func assignPassageIDs(previous []api.Chunk, chunks []chunk.Chunk, newID func(sha string, nth int) string) []string {
	ids := make([]string, len(chunks))
	bySHA := map[string][]int{}
	for i, c := range previous {
		bySHA[c.SHA256] = append(bySHA[c.SHA256], i)
	}
	claimed := make([]bool, len(previous))
	used := map[string]bool{}
	claim := func(chunk, of int) {
		ids[chunk], claimed[of], used[previous[of].ID] = previous[of].ID, true, true
	}
	for i, c := range chunks {
		if same := bySHA[c.SHA256]; len(same) > 0 {
			claim(i, same[0])
			bySHA[c.SHA256] = same[1:]
		}
	}
	matchEditedPassages(previous, chunks, ids, claimed, claim)
	occurrences := map[string]int{}
	for i, c := range chunks {
		for ids[i] == "" { // all earlier occurrences of the hash are in use
			id := newID(c.SHA256, occurrences[c.SHA256])
			occurrences[c.SHA256]++
			if !used[id] {
				ids[i], used[id] = id, true
			}
		}
	}
	return ids
}

// matchEditedPassages pairs each new passage that has no ID yet with the unclaimed previous passage that shares the most
// words with it. In a large document, only passages under the same headings are compared. The total work is
// limited by maxWordComparisons.
func matchEditedPassages(previous []api.Chunk, chunks []chunk.Chunk, ids []string, claimed []bool, claim func(chunk, of int)) {
	var fresh []int
	for i := range chunks {
		if ids[i] == "" {
			fresh = append(fresh, i)
		}
	}
	unmatched := 0
	for i := range previous {
		if !claimed[i] {
			unmatched++
		}
	}
	if len(fresh) == 0 || unmatched == 0 {
		return
	}
	section := func([]string) string { return "" }
	if unmatched*len(fresh) > maxCompared {
		section = func(path []string) string { return strings.Join(path, "\x1f") }
	}
	bySection := map[string][]int{}
	for i := range previous {
		if !claimed[i] {
			key := section(previous[i].HeadingPath)
			bySection[key] = append(bySection[key], i)
		}
	}
	words := make([]map[string]bool, len(previous))
	budget := maxWordComparisons
	for _, n := range fresh {
		mine := wordSet(chunks[n].Text)
		best, at := minEditOverlap, -1
		for _, o := range bySection[section(chunks[n].HeadingPath)] {
			if budget--; budget < 0 {
				return
			}
			if claimed[o] {
				continue
			}
			if words[o] == nil {
				words[o] = wordSet(previous[o].Text)
			}
			budget -= min(len(mine), len(words[o]))
			if s := wordOverlap(mine, words[o]); s > best {
				best, at = s, o
			}
		}
		if at >= 0 {
			claim(n, at)
		}
	}
}

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		set[w] = true
	}
	return set
}

// wordOverlap returns the share of words that both sets have in common.
func wordOverlap(a, b map[string]bool) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	both := 0
	for w := range a {
		if b[w] {
			both++
		}
	}
	if n := len(a) + len(b) - both; n > 0 {
		return float64(both) / float64(n)
	}
	return 0
}
