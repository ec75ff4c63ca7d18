package embed

import (
	"fmt"
	"testing"
)

func TestPriorIsOfDocumentsAlone(t *testing.T) {
	c := starter(20)
	for i := range 30 {
		c.Documents[3].Codes = append(c.Documents[3].Codes, fmt.Sprintf("more:%d", i))
	}
	c.Documents[4].Codes = nil
	m := train(t, c, Options{Dimensions: 16})
	of := func(i int) float64 { return m.KnownTextPrior(c.Documents[i].Texts[0] + ". " + c.Documents[i].Texts[1]) }
	if !(of(3) > of(5) && of(5) > of(4)) {
		t.Errorf("priors of 32, 2 and no codes: %.2f, %.2f, %.2f", of(3), of(5), of(4))
	}
	if of(3) > maxPrior || of(4) < -maxPrior {
		t.Errorf("priors %.2f and %.2f are out of range", of(3), of(4))
	}
	for _, other := range []string{"", c.Documents[3].Texts[1], "any passage of a policy"} {
		if p := m.KnownTextPrior(other); p != 0 {
			t.Errorf("%q has a prior of %.2f", other, p)
		}
	}
}

// Paired texts teach a document what its own words don't contain, and it is then found by them.
func TestPairsTeachDocuments(t *testing.T) {
	c := starter(20)
	document := c.Documents[3].Texts[0] + ". " + c.Documents[3].Texts[1]
	before := cosine(t, train(t, c, Options{Dimensions: 16}), "the zorblax is snarfed weekly", document)
	for i := range 60 {
		c.Pairs = append(c.Pairs, Pair{Text: fmt.Sprintf("the zorblax is snarfed weekly number%c", 'a'+i%26), IDs: []string{"X-003"}})
		c.Pairs = append(
			c.Pairs,
			Pair{
				Text: fmt.Sprintf("visitors of %s sign number%c", c.Documents[i%20].Texts[0], 'a'+i%26),
				IDs:  []string{fmt.Sprintf("X-%03d", i%20)},
			},
		)
	}
	m := train(t, c, Options{Dimensions: 16})
	if after := cosine(t, m, "the zorblax is snarfed weekly", document); after < before+0.3 {
		t.Errorf("closeness went from %.2f to %.2f only", before, after)
	}
	if len(m.rows)/m.dims != m.Len()+20 {
		t.Errorf("%d rows for %d terms and 20 documents", len(m.rows)/m.dims, m.Len())
	}
}
