package criteria_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/criteria"
)

func TestCriteriaAreWellFormed(t *testing.T) {
	code := regexp.MustCompile(`^[A-Z]{3}-\d\d(\.\d{1,2})?$`)
	said := make(map[string]string)
	for _, e := range criteria.All().Entries {
		if !code.MatchString(e.Code) {
			t.Errorf("%q is no code", e.Code)
		}
		if len(e.Topic) > 80 || strings.HasSuffix(e.Topic, ".") {
			t.Errorf("%s: the topic %q is no short name", e.Code, e.Topic)
		}
		if n := len(e.Sentences); n < 2 || n > 8 {
			t.Errorf("%s has %d criteria", e.Code, n)
		}
		for _, s := range e.Sentences {
			if n := len(strings.Fields(s)); n < 3 || n > 24 || !strings.HasSuffix(s, ".") {
				t.Errorf("%s: %q is no short sentence", e.Code, s)
			}
			if of, twice := said[s]; twice {
				t.Errorf("%q stands at %s and at %s", s, of, e.Code)
			}
			said[s] = e.Code
		}
	}
	if n := len(criteria.All().Entries); n < 1468 {
		t.Errorf("%d entries; the usual catalog has 1,468 codes", n)
	}
}

// The objectives of the starter catalog are included unchanged.
func TestCriteriaIncludeStarterObjectives(t *testing.T) {
	e, ok := criteria.All().Lookup("IAC-01")
	if !ok || len(e.Sentences) < 4 || e.Topic != strings.ToLower(e.Topic) {
		t.Errorf("%+v %v", e, ok)
	}
}

var word = regexp.MustCompile(`^[^\s|&,"][^|&,"]*$`)

// checkWords checks that a group consists of distinct words and short phrases.
func checkWords(t *testing.T, code string, group []string) {
	t.Helper()
	seen := map[string]bool{}
	for _, w := range group {
		if !word.MatchString(w) || w != strings.ToLower(w) || seen[w] || len(strings.Fields(w)) > 5 {
			t.Errorf("%s: %q stands twice or is no word, in %q", code, w, group)
		}
		seen[w] = true
	}
}

// Every criterion has a line of anchors, with at least one word in each group.
func TestAnchorsAreWellFormed(t *testing.T) {
	bare := 0
	for _, e := range criteria.All().Entries {
		all := []criteria.WordGroups{criteria.ControlAnchors(e.Code)}
		for _, s := range e.Sentences {
			own, ok := criteria.CriterionAnchors(e.Code, s)
			if !ok {
				t.Errorf("%s: %q is not among its own criteria", e.Code, s)
			}
			all = append(all, own)
		}
		if all[0] == nil {
			bare++
		}
		for _, of := range all {
			if len(of) > 3 {
				t.Errorf("%s asks for %d groups at once: %q", e.Code, len(of), of)
			}
			for _, group := range of {
				checkWords(t, e.Code, group)
			}
		}
	}
	if bare > 20 {
		t.Errorf("%d controls have no anchors", bare)
	}
	if _, ok := criteria.CriterionAnchors("IAC-01", "Pigs fly."); ok {
		t.Error("a text that is no criterion has anchors")
	}
}

// Every criterion has a wording of two or three groups of words.
func TestWordingsAreWellFormed(t *testing.T) {
	for _, e := range criteria.All().Entries {
		for _, s := range e.Sentences {
			of := criteria.CriterionWording(e.Code, s)
			if len(of) < 2 || len(of) > 3 {
				t.Errorf("%s: %q has %d groups", e.Code, s, len(of))
			}
			for _, group := range of {
				checkWords(t, e.Code, group)
			}
		}
	}
	if of := criteria.CriterionWording("IAC-01", "Pigs fly."); of != nil {
		t.Errorf("a text that is no criterion is said with %q", of)
	}
}
