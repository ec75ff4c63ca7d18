package reading_test

import (
	"context"
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/judge/reading"
)

func TestQuote(t *testing.T) {
	for _, tc := range []struct{ text, words, want string }{
		{"Backups are  tested\n every month.", "tested every month", "tested\n every month"},
		{"Backups are tested.", "  Backups are ", "Backups are"},
		{"Les accès sont revus à Noël.", "revus à Noël", "revus à Noël"},
		{"a\u00a0b\u2003c", "b c", "b\u2003c"},
		{"\xffabc", "abc", "abc"},
		{"Backups are tested.", "Backups were tested", ""},
		{"Backups are tested.", " ", ""},
		{"", "x", ""},
	} {
		if got := reading.FindQuote(tc.text, tc.words); got != tc.want {
			t.Errorf("Quote(%q, %q) = %q, want %q", tc.text, tc.words, got, tc.want)
		}
	}
}

func TestCheck(t *testing.T) {
	const passage = "Access is reviewed each quarter. Badges are returned."
	p := func(states, silent float64) map[reading.Label]float64 {
		return map[reading.Label]float64{reading.States: states, reading.Silent: silent}
	}
	for _, tc := range []struct {
		reading reading.Reading
		problem string // "" if valid
	}{
		{reading.Reading{Label: "states", Words: "reviewed each  quarter"}, ""},
		{reading.Reading{Label: "silent"}, ""},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: p(0.7, 0.3)}, ""},
		{reading.Reading{Label: "STATES", Words: "Access"}, "is not a valid label"},
		{reading.Reading{Label: "part"}, "no words"},
		{reading.Reading{Label: "part", Words: "."}, "too short"},
		{reading.Reading{Label: "silent", Words: "Access"}, "must not quote words"},
		{reading.Reading{Label: "part", Words: "reviewed each month"}, "doesn't contain"},
		{reading.Reading{Label: "part", Words: strings.Repeat("a", 5000)}, "bytes long; the maximum is"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: p(0.3, 0.7)}, "more probable"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: p(0.7, 0.7)}, "add up to 1.40"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: p(math.NaN(), 0.3)}, "between 0 and 1"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: p(1.5, -0.5)}, "between 0 and 1"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: map[reading.Label]float64{"certain": 1}}, "not a valid label"},
		{reading.Reading{Label: "states", Words: "Access", Probabilities: map[reading.Label]float64{}}, "add up to 0.00"},
	} {
		err := tc.reading.Check(passage)
		if (err == nil) != (tc.problem == "") || err != nil && !strings.Contains(err.Error(), tc.problem) {
			t.Errorf("%+v: %v, want %q", tc.reading, err, tc.problem)
		}
	}
}

// TestIdentity checks that a reading's identity depends on everything that a reader sees, and on nothing else.
func TestIdentity(t *testing.T) {
	s := reading.Statement{ControlCode: "BCD-11", Topic: "Backups", Text: "Backups are tested"}
	if other := (reading.Statement{ControlCode: "X", Topic: "Backups", Text: "Backups are tested"}); s.ID() != other.ID() {
		t.Error("the control's code changes the ID")
	}
	if other := (reading.Statement{Topic: "Back", Text: "upsBackups are tested"}); s.ID() == other.ID() {
		t.Error("two statements have one ID")
	}
	p := reading.Passage{Title: "T", Kind: "policy", Date: "2026-01-01", HeadingPath: []string{"A", "B"}, Text: "x", Score: 0.5}
	seen := map[string]bool{p.Hash(): true}
	for _, change := range []func(*reading.Passage){
		func(p *reading.Passage) { p.Title = "U" },
		func(p *reading.Passage) { p.Kind = "record" },
		func(p *reading.Passage) { p.Date = "" },
		func(p *reading.Passage) { p.HeadingPath = []string{"A B"} },
		func(p *reading.Passage) { p.Text = "y" },
	} {
		q := p
		change(&q)
		if seen[q.Hash()] {
			t.Errorf("%+v has the hash of another passage", q)
		}
		seen[q.Hash()] = true
	}
	if q := p; true {
		q.Score = 0.1
		if q.Hash() != p.Hash() {
			t.Error("the score changes the hash")
		}
	}
}

// fakeReader answers with read and records what it was given.
type fakeReader struct {
	read  func(reading.Passage) reading.Reading
	calls []int
	max   int
}

func (r *fakeReader) Name() string { return "fake/1" }

func (r *fakeReader) Read(_ context.Context, _ reading.Statement, passages []reading.Passage) ([]reading.Reading, error) {
	r.calls = append(r.calls, len(passages))
	var out []reading.Reading
	for _, p := range passages {
		r.max = max(r.max, len(p.Text))
		if strings.Contains(p.Text, "fail") {
			return nil, errors.New("broken")
		}
		if !strings.Contains(p.Text, "lose") {
			out = append(out, r.read(p))
		}
	}
	return out, nil
}

func TestReadAllBoundsItsInput(t *testing.T) {
	passages := make([]reading.Passage, 10_000)
	for i := range passages {
		passages[i].Text = "Backups are tested."
	}
	passages[3].Text = strings.Repeat("é", 100_000) // one word, cut within a character at an odd limit
	passages[4].Text = "a\xff\xfe\u202e\u0000b"
	passages[6].Text = "Restores are tested\xff every month." // the words that the reader sees are in it, with U+FFFD
	r := &fakeReader{read: func(p reading.Passage) reading.Reading {
		switch {
		case strings.HasPrefix(p.Text, "Restores"):
			return reading.Reading{Label: reading.States, Words: p.Text}
		case !strings.HasPrefix(p.Text, "Backups"):
			return reading.Reading{Label: reading.States, Words: "an invented quote"}
		}
		return reading.Reading{Label: reading.States, Words: "Backups are tested."}
	}}
	out, invalid, err := reading.ReadAll(t.Context(), r, reading.Statement{Text: "x"}, passages)
	if err != nil || len(out) != len(passages) || invalid != 2 || out[3].IsRead() || out[4].IsRead() || !out[5].IsRead() || !out[6].IsRead() {
		t.Errorf("%d readings, %d invalid, %v", len(out), invalid, err)
	}
	if r.max > reading.MaxPassageBytes || len(r.calls) < 100 {
		t.Errorf("%d calls, longest text %d", len(r.calls), r.max)
	}
}

func TestReadAllRefusesBrokenReaders(t *testing.T) {
	r := &fakeReader{read: func(reading.Passage) reading.Reading { return reading.Reading{Label: reading.Silent} }}
	for text, want := range map[string]string{"fail": "fake/1: broken", "lose": "0 readings for 1 passages"} {
		if _, _, err := reading.ReadAll(t.Context(), r, reading.Statement{}, []reading.Passage{{Text: text}}); err == nil ||
			!strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := reading.ReadAll(ctx, r, reading.Statement{}, make([]reading.Passage, 3)); !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}
