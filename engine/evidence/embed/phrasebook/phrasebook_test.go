package phrasebook

import (
	"regexp"
	"strings"
	"testing"
)

func TestBookIsWellFormed(t *testing.T) {
	code := regexp.MustCompile(`^[A-Z]{3}-\d\d(\.\d{1,2})?$`)
	said := make(map[string]string)
	for _, e := range Entries() {
		if !code.MatchString(e.Code) {
			t.Errorf("%q is no code", e.Code)
		}
		if len(e.Topic) > 70 || strings.HasSuffix(e.Topic, ".") {
			t.Errorf("%s: the topic %q is no short name", e.Code, e.Topic)
		}
		for _, way := range e.Sentences {
			if len(strings.Fields(way)) < 2 || len(way) > 300 {
				t.Errorf("%s: %q is no sentence", e.Code, way)
			}
			if of, twice := said[way]; twice {
				t.Errorf("%q stands at %s and at %s", way, of, e.Code)
			}
			said[way] = e.Code
		}
	}
	if len(Entries()) < 1400 || len(said) < 3200 {
		t.Errorf("%d entries, %d sentences", len(Entries()), len(said))
	}
}

func TestOfNeedsCodeAndTopic(t *testing.T) {
	if e, ok := Lookup("IAC-06", "Authentication with several factors"); !ok || e.Code != "IAC-06" {
		t.Errorf("IAC-06 isn't found by its code and a word of its topic: %v %v", e, ok)
	}
	if e, ok := Lookup("IAC-06", "Visitor escort"); ok {
		t.Errorf("a control with another title got the sentences of %s", e.Topic)
	}
	if e, ok := Lookup("ZZZ-01", "Multi-factor authentication"); ok {
		t.Errorf("a code that isn't in the book found %s", e.Code)
	}
	// Words that occur in every title are no match.
	if e, ok := Lookup("NET-10", "Use of the and for"); ok {
		t.Errorf("stop words found %s", e.Code)
	}
}
