package chunk

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

func read(t testing.TB, name, text string) *document.Document {
	t.Helper()
	r, err := parse.New(parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	doc, err := r.Read(context.Background(), name, strings.NewReader(text), int64(len(text)))
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func sentences(topic string, n int) string {
	var sb strings.Builder
	for i := range n {
		fmt.Fprintf(&sb, "The %s team reviews item number %d every quarter and records what was found. ", topic, i)
	}
	return sb.String()
}

func TestSplitKeepsTopSectionsApart(t *testing.T) {
	doc := read(t, "p.md", "# Policy\n\n## Purpose\n\nShort.\n\n## Scope\n\nAlso short.\n\n## Rules\n\n"+sentences("access", 60))
	chunks := Split(doc, Options{})
	if len(chunks) < 4 {
		t.Fatalf("%d chunks", len(chunks))
	}
	for i, c := range chunks {
		if c.Index != i {
			t.Errorf("chunk %d has index %d", i, c.Index)
		}
		if c.TokenEstimate > 400 {
			t.Errorf("chunk %d has %d tokens", i, c.TokenEstimate)
		}
		if strings.Contains(c.Text, "Short.") && strings.Contains(c.Text, "Also short.") {
			t.Errorf("chunk %d mixes two sections: %q", i, c.Text)
		}
	}
	if got := chunks[0].HeadingPath; !reflect.DeepEqual(got, []string{"Policy", "Purpose"}) {
		t.Errorf("path %q", got)
	}
	if want := "Policy\nPurpose\nShort."; chunks[0].Text != want {
		t.Errorf("text %q, want %q", chunks[0].Text, want)
	}
	for _, c := range chunks[2:] {
		if !reflect.DeepEqual(c.HeadingPath, []string{"Policy", "Rules"}) {
			t.Errorf("path %q", c.HeadingPath)
		}
		if c.TokenEstimate < 100 {
			t.Errorf("a scrap of %d tokens is left: %q", c.TokenEstimate, c.Text)
		}
	}
}

func TestSplitJoinsSmallSubsections(t *testing.T) {
	doc := read(t, "p.md", "# A\n\n## One\n\nFirst.\n\n## Two\n\nSecond.\n\n# B\n\nThird.\n")
	chunks := Split(doc, Options{})
	if len(chunks) != 2 {
		t.Fatalf("%d chunks: %+v", len(chunks), chunks)
	}
	if want := "A\nOne\nFirst.\nTwo\nSecond."; chunks[0].Text != want {
		t.Errorf("text %q, want %q", chunks[0].Text, want)
	}
	if !reflect.DeepEqual(chunks[0].HeadingPath, []string{"A"}) || !reflect.DeepEqual(chunks[1].HeadingPath, []string{"B"}) {
		t.Errorf("paths %q, %q", chunks[0].HeadingPath, chunks[1].HeadingPath)
	}
	if want := (api.Locator{LineStart: 1, LineEnd: 9}); chunks[0].Locator != want {
		t.Errorf("locator %+v, want %+v", chunks[0].Locator, want)
	}
}

func TestSplitKeepsListWithLead(t *testing.T) {
	doc := read(
		t,
		"p.md",
		"# A\n\n"+sentences(
			"network",
			13,
		)+"\n\nThe owner must do these things:\n\n- look at the logs\n- call the officer\n  - within an hour\n- write it down\n",
	)
	for _, c := range Split(doc, Options{}) {
		lead, item := strings.Contains(c.Text, "these things:"), strings.Contains(c.Text, "- write it down")
		if lead != item {
			t.Errorf("lead and list are apart: %q", c.Text)
		}
		if lead &&
			!strings.HasSuffix(c.Text, "these things:\n- look at the logs\n- call the officer\n  - within an hour\n- write it down") {
			t.Errorf("list reads %q", c.Text)
		}
	}
}

func TestSplitNeverCutsRows(t *testing.T) {
	var sb strings.Builder
	sb.WriteString("Asset,Owner,Note\n")
	for i := range 120 {
		fmt.Fprintf(&sb, "server-%d,Team %d,\"%s\"\n", i, i, strings.Repeat("a long note on it ", i%25+1))
	}
	doc := read(t, "assets.csv", sb.String())
	chunks := Split(doc, Options{})
	var text []string
	for _, c := range chunks {
		text = append(text, c.Text)
		if c.Kind != document.TableRow {
			t.Errorf("kind %q", c.Kind)
		}
		if want := c.Locator.LineEnd - c.Locator.LineStart + 1; want != strings.Count(c.Text, "\n")+1 {
			t.Errorf("%d rows at lines %d–%d", strings.Count(c.Text, "\n")+1, c.Locator.LineStart, c.Locator.LineEnd)
		}
	}
	var rows []string
	for _, b := range doc.Blocks {
		rows = append(rows, b.Text)
	}
	if strings.Join(text, "\n") != strings.Join(rows, "\n") {
		t.Error("the rows did not come through whole")
	}
}

func TestSplitIsStable(t *testing.T) {
	sections := func(edit string) string {
		var sb strings.Builder
		for _, s := range []string{"Access", "Backup", "Change"} {
			fmt.Fprintf(&sb, "# %s\n\n%s\n\n", s, sentences(s, 30))
			if s == "Backup" {
				sb.WriteString(edit + "\n\n")
			}
		}
		return sb.String()
	}
	hashes := func(text string) []string {
		var out []string
		for _, c := range Split(read(t, "p.md", text), Options{}) {
			out = append(out, c.SHA256)
		}
		return out
	}
	a, b := hashes(sections("")), hashes(sections(""))
	if !slices.Equal(a, b) {
		t.Error("the same text gave other hashes")
	}
	changed := hashes(sections("A new sentence."))
	if slices.Equal(a, changed) {
		t.Error("a change left every hash as it was")
	}
	n := 0
	for _, h := range a {
		if !slices.Contains(changed, h) {
			n++
		}
	}
	if n > 2 {
		t.Errorf("one sentence changed %d chunks", n)
	}
}

func TestSplitHugeInput(t *testing.T) {
	for name, text := range map[string]string{
		"no spaces":    strings.Repeat("x-", 3<<19),
		"no full stop": strings.Repeat("word ", 600_000),
		"one row":      "a,b\n1,\"" + strings.Repeat("word ", 400_000) + "\"\n2,3\n",
		"wide signs":   strings.Repeat("漢字", 200_000),
	} {
		t.Run(name, func(t *testing.T) {
			doc := read(t, "x.txt", text)
			if name == "one row" {
				doc = read(t, "x.csv", text)
			}
			n := 0
			for _, c := range Split(doc, Options{}) {
				if c.TokenEstimate > 440 {
					t.Fatalf("a chunk of %d tokens", c.TokenEstimate)
				}
				n += len(c.Text)
			}
			if n < len(text)*9/10 {
				t.Errorf("%d bytes of %d came through", n, len(text))
			}
		})
	}
	if got := Split(&document.Document{}, Options{}); len(got) != 0 {
		t.Errorf("an empty document gave %d chunks", len(got))
	}
}

func TestSplitRealDocuments(t *testing.T) {
	dir := shareddata.PathOrSkip(t, "evidence")
	r, err := parse.New(parse.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	files, _ := filepath.Glob(filepath.Join(dir, "*", "*.*"))
	for _, f := range files {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		doc, err := r.Read(context.Background(), f, bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Errorf("%s: %v", f, err)
			continue
		}
		words := 0
		for _, b := range doc.Blocks {
			words += len(strings.Fields(b.Text))
		}
		got := 0
		for _, c := range Split(doc, Options{}) {
			for _, w := range strings.Fields(c.Text) {
				if w != "-" {
					got++
				}
			}
			if c.TokenEstimate > 420 {
				t.Errorf("%s: a chunk of %d tokens", f, c.TokenEstimate)
			}
		}
		if got < words*99/100 {
			t.Errorf("%s: %d of %d words are in chunks", f, got, words)
		}
	}
}

func TestSentences(t *testing.T) {
	for _, tt := range []struct {
		in   string
		want []string
	}{
		{"One. Two! Three? Four", []string{"One.", "Two!", "Three?", "Four"}},
		{"Use strong keys, e.g. AES-256. Rotate them.", []string{"Use strong keys, e.g. AES-256.", "Rotate them."}},
		{"Version 3.5 applies. See sec. 4.2 for more.", []string{"Version 3.5 applies.", "See sec. 4.2 for more."}},
		{"1. Users must sign. 2. Owners approve.", []string{"1. Users must sign.", "2. Owners approve."}},
		{"Mr. J. Smith approves. Then he signs.", []string{"Mr. J. Smith approves.", "Then he signs."}},
		{"Within 24 hours (see Art. 33). The officer acts.", []string{"Within 24 hours (see Art. 33).", "The officer acts."}},
		{"He said \"stop.\" They stopped.", []string{"He said \"stop.\"", "They stopped."}},
		{"Logs, etc. are kept. Backups etc. Other things.", []string{"Logs, etc. are kept.", "Backups etc.", "Other things."}},
		{"Mail security@example.com. It is read.", []string{"Mail security@example.com.", "It is read."}},
		{"Do:\n- this\n- that\n\nThen rest.", []string{"Do:", "- this", "- that", "Then rest."}},
		{"The parties shall: (a) report; (b) record; (c) review.", []string{"The parties shall: (a) report;", "(b) record;", "(c) review."}},
		{"Dies gilt z.B. für Server. Auch bzgl. Daten.", []string{"Dies gilt z.B. für Server.", "Auch bzgl. Daten."}},
		{"a. Item one is short.", []string{"a. Item one is short."}},
		{"", nil},
		{" \n ", nil},
		{"...", []string{"..."}},
	} {
		if got := SplitSentences(tt.in); !reflect.DeepEqual(got, tt.want) {
			t.Errorf("Sentences(%q)\n got %q\nwant %q", tt.in, got, tt.want)
		}
	}
}

func FuzzSentences(f *testing.F) {
	f.Add("One. Two e.g. three.\n- four; (b) five")
	f.Add("\xff. A\x00. B…\u2029")
	f.Fuzz(func(t *testing.T, s string) {
		// Only white space is lost.
		if got, want := strings.Join(strings.Fields(strings.Join(SplitSentences(s), " ")), ""), strings.Join(strings.Fields(s), ""); got != want {
			t.Errorf("%q became %q", s, got)
		}
	})
}

func TestCells(t *testing.T) {
	for _, tt := range []struct{ a, b, want string }{
		{"A1:C1", "B2:D9", "A1:D9"},
		{"", "B2", "B2"},
		{"B2", "", "B2"},
		{"AA10", "Z3", "Z3:AA10"},
		{"B2", "B2", "B2"},
		{"?", "A1", "A1"},
		{"XFD1048576", "A1", "A1:XFD1048576"},
	} {
		if got := unionCellRanges(tt.a, tt.b); got != tt.want {
			t.Errorf("spanCells(%q, %q) = %q, want %q", tt.a, tt.b, got, tt.want)
		}
	}
}

func BenchmarkSplit(b *testing.B) {
	var sb strings.Builder
	for i := range 400 {
		fmt.Fprintf(&sb, "# Section %d\n\n%s\n\n", i, sentences("risk", 40))
	}
	doc := read(b, "p.md", sb.String())
	b.SetBytes(int64(sb.Len()))
	for b.Loop() {
		Split(doc, Options{})
	}
}

func TestSplitLimitsPassages(t *testing.T) {
	tiny := func(sections int) string {
		var sb strings.Builder
		for i := range sections {
			fmt.Fprintf(&sb, "# Section %d\n\nb\n\n", i)
		}
		return sb.String()
	}
	for name, text := range map[string]string{
		"sections.md": tiny(25_000),
		"rows.csv":    "system;owner\n" + strings.Repeat("the ledger;Ada\n", 100_000),
	} {
		doc := read(t, name, text)
		chunks := Split(doc, Options{})
		if len(chunks) != 20_000 && name == "sections.md" || len(chunks) == 0 || len(chunks) > 20_000 {
			t.Errorf("%s: %d chunks", name, len(chunks))
		}
		limited := len(doc.Warnings) > 0 && strings.HasPrefix(doc.Warnings[0], "only the first 20,000 passages of the document are used")
		if limited != (len(chunks) == 20_000) {
			t.Errorf("%s: %d chunks with the warnings %q", name, len(chunks), doc.Warnings)
		}
	}
	doc := read(t, "p.md", tiny(10))
	if chunks := Split(doc, Options{MaxChunks: 10}); len(chunks) != 10 || len(doc.Warnings) != 0 {
		t.Errorf("%d chunks at the limit, with %q", len(chunks), doc.Warnings)
	}
}

// A question and its answer are in one chunk, with the choices between them, wherever chunks end.
func TestSplitKeepsAnswersWithQuestions(t *testing.T) {
	for name, tt := range map[string]struct{ question, answer string }{
		"a.md":  {"Is the zebra vault locked?\n\n- ☐ Yes\n- ☒ No", "☒ No"},
		"b.md":  {"The zebra vault is locked.\n\nAnswer: not yet", "not yet"},
		"c.txt": {"Q: Describe the zebra vault.\n\nA: It is not locked.", "not locked"},
		"d.md":  {"Is the zebra vault locked?\n\nNo, it is open.", "it is open"},
	} {
		for fill := range 80 {
			filler := sentences("access", 12)
			doc := read(t, name, "# Form\n\n"+filler+strings.Repeat("word ", fill)+".\n\n"+tt.question+"\n\n"+sentences("backup", 30))
			for _, c := range Split(doc, Options{}) {
				if strings.Contains(c.Text, "zebra") != strings.Contains(c.Text, tt.answer) {
					t.Fatalf("%s, %d: %q", name, fill, c.Text)
				}
			}
		}
	}
}
