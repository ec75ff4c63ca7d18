package judge

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

// A name at the beginning of a reason keeps its capital after "(in part:".
func TestReasonInPartKeepsNames(t *testing.T) {
	for reason, want := range map[string]string{
		"Covers part of the requirement in general terms.":  "covers part of the requirement in general terms",
		"The document is not in force: \"Draft\".":          "the document is not in force: \"Draft\"",
		"One row in IT Handbook (line 3) contradicts it.":   "one row in IT Handbook (line 3) contradicts it",
		"IT Operations Manual (line 3) says it, but not X.": "IT Operations Manual (line 3) says it, but not X",
		"Access Control Policy (line 3) says it, but no.":   "Access Control Policy (line 3) says it, but no",
		"MFA is limited.":                    "MFA is limited",
		"NetBox is limited.":                 "NetBox is limited",
		"“Access” is a heading.":             "“Access” is a heading",
		"Its heading speaks of the matter.":  "its heading speaks of the matter",
		"Überblick über IT (line 3) says it": "Überblick über IT (line 3) says it",
	} {
		name, _, _ := strings.Cut(reason, " (")
		if strings.HasPrefix(reason, "One row") {
			name = "IT Handbook"
		}
		f := statementVerdict{
			verdict:   VerdictPartial,
			reason:    reason,
			statement: &preparedStatement{text: "Access is logged."},
			basis:     &passageVerdict{passage: &foundPassage{Passage: Passage{DocumentTitle: name}}},
		}
		if got := f.formatMissingElement(); got != "Access is logged (in part: "+want+")" {
			t.Errorf("%q became %q", reason, got)
		}
	}
}

// A contradiction between two documents is worded differently from one within a document or passage.
func TestFormatContradiction(t *testing.T) {
	at := func(document, chunk string, line int) *passageVerdict {
		p := Passage{DocumentID: document, ChunkID: chunk, DocumentTitle: "Title of " + document}
		p.Locator.LineStart = line
		return &passageVerdict{passage: &foundPassage{Passage: p}, quote: "No."}
	}
	record := func(document, chunk string, line int) *passageVerdict {
		r := at(document, chunk, line)
		r.passage.category = "record"
		return r
	}
	says := at("one", "a", 39)
	for _, tc := range []struct {
		no   *passageVerdict
		want string
		kind Contradiction
	}{
		{
			at("one", "a", 39),
			"One document contradicts itself: Title of one (line 39) supports part of the requirement and denies another in the same passage: “No.”",
			WithinDocument,
		},
		{
			at("one", "b", 50),
			"One document contradicts itself: Title of one (line 39) supports part of the requirement and elsewhere (line 50) denies another: “No.”",
			WithinDocument,
		},
		{
			record("two", "b", 50),
			"Not followed: Title of one (line 39) supports part of the requirement, but Title of two (line 50) denies another: “No.”",
			RuleNotFollowed,
		},
		{
			at("two", "b", 50),
			"Passages disagree: Title of one (line 39) supports part of the requirement, but Title of two (line 50) denies it: “No.”",
			BetweenPassages,
		},
	} {
		got := formatContradiction(says, tc.no, "part of the requirement", "another")
		if got != tc.want {
			t.Errorf("got  %s\nwant %s", got, tc.want)
		}
		statements := []api.Statement{{Verdict: VerdictConflicting, Reason: got}, {Verdict: VerdictCovered}}
		if kind := CommonContradictionKind(statements); kind != tc.kind {
			t.Errorf("%q is of kind %d", got, kind)
		}
	}
	for reason, want := range map[string]string{
		selfContradictionPrefix + "…": "Access is logged (a document contradicts itself)",
		notFollowedPrefix + "…":       "Access is logged (records show that it isn't followed)",
		"…":                           "Access is logged (passages contradict each other)",
	} {
		f := statementVerdict{verdict: VerdictConflicting, reason: reason, statement: &preparedStatement{text: "Access is logged."}}
		if got := f.formatMissingElement(); got != want || StripNote(got) != "Access is logged" {
			t.Errorf("%q without its note is %q", got, StripNote(got))
		}
	}
}
