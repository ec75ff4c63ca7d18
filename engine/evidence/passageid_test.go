package evidence

import (
	"context"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/chunk"
	"github.com/scf-service/service/engine/evidence/parse"
)

func TestPassageIDs(t *testing.T) {
	began := time.Date(2026, 11, 20, 9, 0, 0, 0, time.UTC)
	id := newPassageID("a", began, "doc", "text", 0)
	if !regexp.MustCompile(`^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`).MatchString(id) {
		t.Errorf("%s is no UUIDv7", id)
	}
	if id != newPassageID("a", began, "doc", "text", 0) {
		t.Error("the same passage has two ids")
	}
	for what, other := range map[string]string{
		"assessment": newPassageID("b", began, "doc", "text", 0), "document": newPassageID("a", began, "doc2", "text", 0),
		"passage": newPassageID("a", began, "doc", "text2", 0), "copy": newPassageID("a", began, "doc", "text", 1),
	} {
		if other == id {
			t.Errorf("another %s has the same id", what)
		}
	}
}

// passages parses and splits a text as the service does.
func passages(t testing.TB, text string) []chunk.Chunk {
	t.Helper()
	r, err := parse.New(parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	doc, err := r.Read(context.Background(), "policy.md", strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return chunk.Split(doc, chunk.Options{})
}

// policy returns a document of many sections, each of several passages.
func policy() string {
	var sb strings.Builder
	sb.WriteString("# Security policy\n\n")
	for s := range 12 {
		fmt.Fprintf(&sb, "## %d. Section on topic %d\n\n", s+1, s)
		for p := range 9 {
			fmt.Fprintf(&sb, "Rule %d of topic %d asks the owner of system %d to keep records of what was done by whom. ", p, s, s*31+p)
			fmt.Fprintf(&sb, "Such records are kept for %d months, looked at in month %d, and shown to an auditor who asks. ", s+p+3, p+1)
			fmt.Fprintf(&sb, "Whoever finds that team %d does not follow it tells the office for matter %d at once.\n\n", s*7+p, p*13+s)
		}
	}
	return sb.String()
}

// In an edited document, unchanged and edited passages keep their ids, so that links to them survive.
func TestIDsSurviveEdits(t *testing.T) {
	text := policy()
	derive := func(sha string, nth int) string { return newPassageID("a", time.Unix(0, 0), "doc", sha, nth) }
	first := passages(t, text)
	ids := assignPassageIDs(nil, first, derive)
	var before []api.Chunk
	for i, c := range first {
		before = append(before, api.Chunk{ID: ids[i], Text: c.Text, HeadingPath: c.HeadingPath, SHA256: c.SHA256})
	}
	for name, tt := range map[string]struct {
		text       string
		same, kept float64 // shares of the old passages that are unchanged, and that keep their id
	}{
		"read again": {text, 1, 1},
		"a word":     {strings.Replace(text, "Rule 4 of topic 5 asks", "Rule 4 of topic 5 urges", 1), 0.95, 1},
		"a sentence more": {
			strings.Replace(text, "Rule 4 of topic 5 asks", "This was decided by the board in a meeting in March. Rule 4 of topic 5 asks", 1),
			0.9,
			1,
		},
		"a section more": {
			strings.Replace(
				text,
				"## 5. ",
				"## 4a. New matters\n\nNobody may fly drones over the yard without leave of the harbour master.\n\n## 5. ",
				1,
			),
			1,
			1,
		},
		"a section less": {text[:strings.Index(text, "## 3. ")] + text[strings.Index(text, "## 4. "):], 0.9, 0.9},
		"sections reversed": {
			"# Security policy\n\n" + text[strings.Index(text, "## 7. "):] + text[strings.Index(text, "## 1. "):strings.Index(text, "## 7. ")],
			0.9,
			1,
		},
		"every section": {strings.ReplaceAll(text, "shown to an auditor who asks", "given to an auditor"), 0, 0.95},
	} {
		now := passages(t, tt.text)
		got := assignPassageIDs(before, now, derive)
		at := map[string]string{}
		for i, id := range got {
			if at[id] != "" {
				t.Fatalf("%s: two passages have the id %s", name, id)
			}
			at[id] = now[i].SHA256
		}
		same, kept := 0, 0
		for _, c := range before {
			if at[c.ID] != "" {
				kept++
			}
			if at[c.ID] == c.SHA256 {
				same++
			}
		}
		n := float64(len(before))
		t.Logf("%s: of %d passages %.0f %% unchanged, %.0f %% with their id", name, len(before), 100*float64(same)/n, 100*float64(kept)/n)
		if float64(same) < tt.same*n || float64(kept) < tt.kept*n {
			t.Errorf("%s: of %d passages %d are unchanged and %d have their id", name, len(before), same, kept)
		}
	}
}

// If an edited passage took over the id of another, and that one reappears, it gets a new id.
func TestIDsAreNeverTwice(t *testing.T) {
	derive := func(sha string, nth int) string { return newPassageID("a", time.Unix(0, 0), "doc", sha, nth) }
	a := chunk.Chunk{Text: "Every person has one account and one only.", SHA256: "a"}
	edited := chunk.Chunk{Text: "Every person has one account and one only, always.", SHA256: "b"}
	ids := assignPassageIDs(nil, []chunk.Chunk{a}, derive)
	second := assignPassageIDs([]api.Chunk{{ID: ids[0], Text: a.Text, SHA256: "a"}}, []chunk.Chunk{edited}, derive)
	third := assignPassageIDs([]api.Chunk{{ID: second[0], Text: edited.Text, SHA256: "b"}}, []chunk.Chunk{a, edited}, derive)
	if second[0] != ids[0] || third[1] != ids[0] || third[0] == third[1] {
		t.Errorf("%v, %v, %v", ids, second, third)
	}
}

// Numbering equal passages takes one step per passage, even if the document is read again.
func TestIDsOfEqualPassages(t *testing.T) {
	const n = 20_000
	steps := 0
	derive := func(sha string, nth int) string { steps++; return fmt.Sprint(sha, " ", nth) }
	chunks := make([]chunk.Chunk, n)
	for i := range chunks {
		chunks[i] = chunk.Chunk{Text: "Every person has one account.", SHA256: fmt.Sprint("sum ", i%2)}
	}
	first := assignPassageIDs(nil, chunks, derive)
	before := make([]api.Chunk, n)
	distinct := map[string]bool{}
	for i, id := range first {
		before[i] = api.Chunk{ID: id, Text: chunks[i].Text, SHA256: chunks[i].SHA256}
		distinct[id] = true
	}
	if len(distinct) != n || steps != n {
		t.Errorf("%d passages got %d ids in %d steps", n, len(distinct), steps)
	}
	if again := assignPassageIDs(before, chunks, derive); !slices.Equal(again, first) || steps != n {
		t.Errorf("read again, they have other ids, or it took %d steps", steps-n)
	}
	// The second half needs new ids, because those of its first occurrences are in use.
	more := append(chunks, chunks...)
	steps = 0
	if assignPassageIDs(before, more, derive); steps > 2*n {
		t.Errorf("twice as many took %d steps", steps)
	}
}

// Matching a document in which every passage was edited stays within a limit.
func TestIDsOfEditedLargeDocument(t *testing.T) {
	const n = 6_000
	var before []api.Chunk
	var chunks []chunk.Chunk
	for i := range n {
		text := fmt.Sprintf("Team %d keeps the records of system %d for month %d in the archive of office %d", i, i*3, i*7, i*11)
		before = append(before, api.Chunk{ID: fmt.Sprint("old ", i), Text: text, SHA256: text})
		chunks = append(chunks, chunk.Chunk{Text: text + " today.", SHA256: text + " today."})
	}
	ids := assignPassageIDs(before, chunks, func(sha string, nth int) string { return fmt.Sprint(sha, nth) })
	if ids[0] != "old 0" || ids[n-1] == "" {
		t.Errorf("the first is %q, the last %q", ids[0], ids[n-1])
	}
}
