package print

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/rivo/uniseg"
	"go.yaml.in/yaml/v3"
)

// hostile is text that would take effect on a terminal: colors, a title, bells, C1 controls, a changed reading
// order, invalid UTF-8.
const hostile = "a\x1b[31mred\x1b]0;title\x07\u009b2J\u202egpj.exe\x00\xff\r\nb\u2028c\tЖ日本\U000e0041"

func acts(r rune) bool {
	return r != '\n' && (unicode.IsControl(r) || isUnsafeNonASCII(r))
}

func TestTextIsMadeSafe(t *testing.T) {
	for name, got := range map[string]string{"line": SafeLine(hostile), "block": SafeBlock(hostile)} {
		if strings.ContainsFunc(got, acts) {
			t.Errorf("%s keeps what acts on a terminal: %q", name, got)
		}
		if !strings.Contains(got, "日本") || !strings.Contains(got, "␛[31mred") {
			t.Errorf("%s lost what can be read: %q", name, got)
		}
	}
	if strings.Contains(SafeLine(hostile), "\n") || !strings.Contains(SafeBlock(hostile), "\nb") {
		t.Error("a line must have no break, a block must keep it")
	}
	if SafeLine("plain ascii") != "plain ascii" {
		t.Error("plain text must stay")
	}
}

func FuzzSafeText(f *testing.F) {
	f.Add(hostile)
	f.Add("\xed\xa0\x80\ufeff\u061c")
	f.Fuzz(func(t *testing.T, s string) {
		for _, got := range []string{SafeLine(s), SafeBlock(s), sanitizeCSV(s)} {
			if strings.ContainsFunc(got, acts) {
				t.Fatalf("%q became %q, which acts on a terminal", s, got)
			}
		}
	})
}

func FuzzWidths(f *testing.F) {
	f.Add("日本語の文 and words", 7)
	f.Add("👩‍👩‍👧 family é", 3)
	f.Fuzz(func(t *testing.T, s string, width int) {
		if width < 2 || width > 200 {
			return
		}
		s = SafeLine(s)
		if w := Width(Truncate(s, width)); w > width {
			t.Fatalf("Cut(%q, %d) is %d wide", s, width, w)
		}
		for _, l := range Wrap(s, width) {
			// Only a single character may be wider than the limit.
			if w := Width(l); w > width && uniseg.GraphemeClusterCount(l) > 1 {
				t.Fatalf("Wrap(%q, %d) has the line %q, %d wide", s, width, l, w)
			}
		}
	})
}

// TestWidthsThatTerminalsDisagreeOn tests joined emoji, skin tones, flags and variation selectors. SafeLine changes
// them so that terminals agree. Anything left counts as the width of the terminal that shows it widest.
func TestWidthsThatTerminalsDisagreeOn(t *testing.T) {
	for _, c := range []struct {
		in, out string
		width   int
	}{
		{"👩🏽\u200d🚀", "👩🚀", 4},
		{"🇩🇪", "DE", 2},
		{"❤\ufe0f", "❤", 1},
		{"1\ufe0f\u20e3", "1\u20e3", 1},
		{"👨\u200d👩\u200d👧", "👨👩👧", 6},
		{"é", "é", 1},
		{"日本", "日本", 4},
		{"र\u094d\u200dय", "र\u094d\u200dय", 2},
		{"क्षि", "क्षि", 3},
		{"한", "한", 2},
		{"한", "한", 2},
		{"مراجعة", "مراجعة", 6},
		{"a\u200db\u200d", "ab", 2},
	} {
		got := SafeLine(c.in)
		if got != c.out || SafeLine(got) != got {
			t.Errorf("Line(%q) = %q, want %q, and the same again", c.in, got, c.out)
		}
		if w := Width(got); w != c.width {
			t.Errorf("%q is %d wide, not %d", got, w, c.width)
		}
	}
}

func TestWrap(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"one two three", 7, "one two|three"},
		{"one\ntwo three", 20, "one|two three"},
		{"abcdefghij", 4, "abcd|efgh|ij"},
		{"日本語テキスト", 6, "日本語|テキス|ト"},
		{"", 5, ""},
		{"as it is, however long", 0, "as it is, however long"},
	} {
		if got := strings.Join(Wrap(c.in, c.width), "|"); got != c.want {
			t.Errorf("Wrap(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestProse(t *testing.T) {
	for _, c := range []struct {
		in    string
		width int
		want  string
	}{
		{"go on with `service assess run` then", 26, "go on with|`service assess run` then"},
		{"a `command too long for it` b", 14, "a `command too|long for it` b"},
		{"look:\n  service soa show --data /a/long/path", 12, "look:|  service soa show --data /a/long/path"},
		{"one `two three", 9, "one `two|three"},
		{"  - approval of the Statement of Applicability", 30, "  - approval of the Statement|    of Applicability"},
		{"as it is, `however long`", 0, "as it is, `however long`"},
		{"a\ue000b", 9, "a b"},
	} {
		if got := strings.Join(WrapProse(c.in, c.width), "|"); got != c.want {
			t.Errorf("Prose(%q, %d) = %q, want %q", c.in, c.width, got, c.want)
		}
	}
}

func TestCutMarksWhatIsMissing(t *testing.T) {
	for in, want := range map[string]string{"short": "short", "rather longer": "rather…", "日本語テキスト": "日本語…"} {
		if got := Truncate(in, 7); got != want {
			t.Errorf("Cut(%q) = %q, want %q", in, got, want)
		}
	}
}

var columns = []Column{{Title: "code", NoShrink: true}, {Title: "title"}, {Title: "why", Wrap: true}, {Title: "n", AlignRight: true}}

var rows = [][]string{
	{"IAC-06", "Multi-factor authentication for everyone", "because it is asked for by more than one framework", "7"},
	{"BCD-11", "日本語のタイトル", "", "120"},
}

func TestTableFitsTheWidth(t *testing.T) {
	for width := 44; width < 130; width += 7 {
		p := &Page{width: width}
		p.Table(columns, rows)
		for _, l := range strings.Split(p.buf.String(), "\n") {
			if Width(l) > width {
				t.Errorf("at width %d the line %q is %d wide", width, l, Width(l))
			}
			if strings.HasSuffix(l, " ") {
				t.Errorf("the line %q ends in blanks", l)
			}
		}
		if !strings.Contains(p.buf.String(), "IAC-06") {
			t.Errorf("at width %d a code was cut", width)
		}
	}
}

// TestTitlesGiveWay checks that titles are truncated before ids.
func TestTitlesGiveWay(t *testing.T) {
	id := strings.Repeat("0", 36)
	p := &Page{width: 58}
	p.Table(
		[]Column{{Title: "gate", NoShrink: true}, {Title: "decided by"}, {Title: "id", NoShrink: true}},
		[][]string{{"gap_analysis", "root", id}},
	)
	want := "GATE          DECIDED…  ID\ngap_analysis  root      " + id + "\n"
	if got := p.buf.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestSpareColumnsGoWhereThereIsNoRoom(t *testing.T) {
	spare := []Column{
		{Title: "code", NoShrink: true},
		{Title: "title"},
		{Title: "why", Wrap: true, Optional: true},
		{Title: "n", AlignRight: true, Optional: true},
	}
	for width, want := range map[int]string{
		0:   "CODE TITLE WHY N",
		130: "CODE TITLE WHY N",
		60:  "CODE TITLE N",
		72:  "CODE TITLE WHY N",
		70:  "CODE TITLE WHY",
	} {
		p := &Page{width: width}
		p.Table(spare, rows)
		head, _, _ := strings.Cut(p.buf.String(), "\n")
		if got := strings.Join(strings.Fields(head), " "); got != want {
			t.Errorf("at width %d the columns are %q, want %q", width, got, want)
		}
	}
}

// TestNarrowColumnsStay checks that a narrow column is kept if dropping a wide one makes enough room.
func TestNarrowColumnsStay(t *testing.T) {
	p := &Page{width: 30}
	p.Table([]Column{{Title: "created", NoShrink: true, Optional: true}, {Title: "format", Optional: true}, {Title: "id", NoShrink: true}},
		[][]string{{"2026-11-22 11:49 UTC", "html", "0123456789abcdef"}})
	want := "FORMAT  ID\nhtml    0123456789abcdef\n"
	if got := p.buf.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTableWithoutWidthCutsNothing(t *testing.T) {
	p := &Page{}
	p.Table(columns, rows)
	want := "CODE    TITLE                                     WHY                                              N\n" +
		"IAC-06  Multi-factor authentication for everyone  because it is asked for by more than one         7\n" +
		"                                                  framework\n" +
		"BCD-11  日本語のタイトル                                                                         120\n"
	if got := p.buf.String(); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestTableInAFileFitsItsWidth(t *testing.T) {
	long := strings.TrimSpace(strings.Repeat("words ", 25)) // 149 columns
	for width, lines := range map[int]int{0: 3, 60: 4, 200: 2} {
		p := &Page{fileWidth: width}
		p.Table([]Column{{Title: "text"}}, [][]string{{long}})
		if n := strings.Count(p.buf.String(), "\n"); n != lines {
			t.Errorf("width %d: %d lines instead of %d:\n%s", width, n, lines, p.buf.String())
		}
	}
}

// TestIDsBelowRows checks that IDs in a file are next to the other columns only if these remain readable.
func TestIDsBelowRows(t *testing.T) {
	columns := []Column{{Title: "at", NoShrink: true}, {Title: "file"}, {Title: "words"}, {Title: "id", NoShrink: true, BelowRow: true}}
	id := strings.Repeat("0", 36)
	for name, tc := range map[string]struct {
		row  []string
		want string
	}{
		"enough room": {[]string{"2026", "a.md", "some words", id}, "AT    FILE  WORDS       ID\n2026  a.md  some words  " + id + "\n"},
		"too narrow": {
			[]string{"2026-11-28", strings.Repeat("a", 40), strings.Repeat("b", 40), id},
			"AT          FILE" + strings.Repeat(" ", 38) + "WORDS\n  ID\n2026-11-28  " + strings.Repeat("a", 40) + "  " + strings.Repeat("b", 40) +
				"\n  " + id + "\n",
		},
		"without an ID": {[]string{"2026", "a.md", "some words", ""}, "AT    FILE  WORDS       ID\n2026  a.md  some words\n"},
	} {
		var b strings.Builder
		err := (&Output{W: &b}).PrintPage(func(p *Page) { p.Table(columns, [][]string{tc.row}) })
		if err != nil || b.String() != tc.want {
			t.Errorf("%s: %v\n%s", name, err, b.String())
		}
	}
}

// TestTableInAFileIsNeverWider checks that long names, titles, numbers, ids and text without spaces are broken if nothing
// else makes enough room, and that ids are broken last.
func TestTableInAFileIsNeverWider(t *testing.T) {
	id := "01a220bf-88c9-7c0b-b8a3-e101c15a264d"
	for _, row := range [][]string{
		{strings.Repeat("n", 240) + ".pdf", "12 MB", "in force", id},
		{strings.Repeat("日本語", 60), "12 MB", "in force", id},
		{"policy.pdf", "12 MB", strings.Repeat("w-", 60), id + "@" + id},
		{"policy.pdf", strings.Repeat("9", 90), "in force", id},
	} {
		p := &Page{}
		p.Table([]Column{
			{Title: "file"}, {Title: "size of the original", AlignRight: true}, {Title: "status"}, {Title: "id", NoShrink: true},
		}, [][]string{row})
		got := p.buf.String()
		for line := range strings.Lines(got) {
			if w := Width(strings.TrimSpace(line)); w > proseWidth {
				t.Errorf("a line of %d columns:\n%s", w, got)
			}
		}
		if !strings.Contains(got, id) {
			t.Errorf("the id is broken:\n%s", got)
		}
	}
	// Tables of many columns fit too, and times are wrapped before words are broken.
	titles := []string{"version", "starter", "controls", "frameworks", "requirements", "mappings"}
	columns, row := []Column{{Title: "created", NoShrink: true}}, []string{"2026-11-28 10:07 UTC"}
	for _, title := range titles {
		columns, row = append(columns, Column{Title: title, AlignRight: true}), append(row, "implemented")
	}
	many := &Page{}
	many.Table(append(columns, Column{Title: "id", NoShrink: true}), [][]string{append(row, id)})
	if !strings.Contains(many.buf.String(), "10:07 UTC") {
		t.Errorf("a time is broken:\n%s", many.buf.String())
	}
	for line := range strings.Lines(many.buf.String()) {
		if w := Width(strings.TrimSpace(line)); w > proseWidth {
			t.Errorf("a line of %d columns:\n%s", w, many.buf.String())
		}
	}
	path := "/" + strings.Repeat("n", 2*proseWidth)
	p := &Page{}
	p.Table([]Column{{Title: "what"}, {Title: "path", NoBreak: true}}, [][]string{{"contexts", path}})
	if got := p.buf.String(); !strings.Contains(got, path) {
		t.Errorf("the path is broken:\n%s", got)
	}
}

func TestColoursOnlyWhereTheyAreWelcome(t *testing.T) {
	for _, on := range []bool{false, true} {
		p := &Page{color: on}
		p.Title("a title")
		p.Fields(Field{Name: "severity", Value: "high", Style: Red})
		p.Table([]Column{{Title: "x", Style: func(string) Style { return Red }}}, [][]string{{"1"}})
		if got := strings.Contains(p.buf.String(), "\x1b["); got != on {
			t.Errorf("colours %v: escape sequences %v", on, got)
		}
	}
}

type record struct {
	Zeta  string   `json:"zeta"`
	Alpha int64    `json:"alpha"`
	List  []string `json:"list"`
	Inner struct {
		B bool    `json:"b"`
		A *string `json:"a"`
	} `json:"inner"`
	Empty []string `json:"empty"`
}

func sample() record {
	return record{
		Zeta:  strings.ToValidUTF8(hostile, ""),
		Alpha: 1 << 60,
		List:  []string{"yes", "12", "2026-01-01", "# no"},
		Empty: []string{},
	}
}

func printed(t *testing.T, format, query string, v any) string {
	t.Helper()
	var b bytes.Buffer
	o := &Output{W: &b, Format: format}
	if query != "" {
		code, err := CompileQuery(query)
		if err != nil {
			t.Fatal(err)
		}
		o.Query = code
	}
	if err := o.PrintRecord(v); err != nil {
		t.Fatal(err)
	}
	if strings.ContainsFunc(b.String(), acts) {
		t.Errorf("%s keeps what acts on a terminal: %q", format, b.String())
	}
	return b.String()
}

// TestRecordsReadBack checks that the output of each machine-readable format can be read back.
func TestRecordsReadBack(t *testing.T) {
	want, err := json.Marshal(sample())
	if err != nil {
		t.Fatal(err)
	}
	var back record
	if err := json.Unmarshal([]byte(printed(t, "json", "", sample())), &back); err != nil {
		t.Fatal(err)
	}
	if got, _ := json.Marshal(back); !bytes.Equal(got, want) {
		t.Errorf("JSON reads back as %s, want %s", got, want)
	}
	text := printed(t, "yaml", "", sample())
	var fromYAML map[string]any
	if err := yaml.Unmarshal([]byte(text), &fromYAML); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	var fromJSON map[string]any
	if err := json.Unmarshal(want, &fromJSON); err != nil {
		t.Fatal(err)
	}
	if fromYAML["zeta"] != fromJSON["zeta"] || strings.Join(strings.Fields(text), " ")[:5] != "zeta:" {
		t.Errorf("YAML lost the text or the order of the fields:\n%s", text)
	}
	for i, v := range fromYAML["list"].([]any) {
		if v != sample().List[i] {
			t.Errorf("YAML turned the text %q into %v", sample().List[i], v)
		}
	}
}

func TestCSV(t *testing.T) {
	list := map[string]any{"data": []map[string]any{
		{"a": "=HYPERLINK(1)", "b": []string{"x", "y"}},
		{"a": "two, with comma", "b": nil},
		{"a": 3, "b": map[string]int{"n": 1}},
		{"a": 4, "c": nil, "d": map[string]any{"x": []int{1}, "=y": map[string]bool{"z": true}}, "e": 5},
		{"a": 5, "d": nil, "c": map[string]int{"f": 6}},
	}, "pagination": map[string]int{"total": 3}}
	want := "a,b,b.n,c.f,d.=y.z,d.x,e\n'=HYPERLINK(1),x; y,,,,,\n\"two, with comma\",,,,,,\n3,,1,,,,\n4,,,,true,[1],5\n5,,,6,,,\n"
	if got := printed(t, "csv", "", list); got != want {
		t.Errorf("got\n%swant\n%s", got, want)
	}
}

func TestQuery(t *testing.T) {
	v := map[string]any{"data": []map[string]any{{"n": "one"}, {"n": "tw\x1b[0mo"}}, "total": 2}
	for query, want := range map[string]string{
		".data[].n": "one\ntw␛[0mo\n", ".total": "2\n", ".data | length": "2\n", ".data[0]": "{\"n\":\"one\"}\n", ".nothing": "null\n",
	} {
		if got := printed(t, "table", query, v); got != want {
			t.Errorf("%s gave %q, want %q", query, got, want)
		}
	}
	if _, err := CompileQuery(".[["); err == nil {
		t.Error("a broken filter must be refused")
	}
}

func TestQueryThatGoesOnForEverIsStopped(t *testing.T) {
	code, err := CompileQuery("repeat(1)")
	if err != nil {
		t.Fatal(err)
	}
	if err := (&Output{W: &bytes.Buffer{}, Query: code}).PrintRecord(1); err == nil {
		t.Error("a filter without end must be stopped")
	}
}

// TestQueryEndsWithItsContext checks that a filter that never yields a result ends with its context.
func TestQueryEndsWithItsContext(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	code, err := CompileQuery("[.] | until(false; .)")
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan error)
	go func() { done <- (&Output{W: &bytes.Buffer{}, Context: ctx, Query: code}).PrintRecord(1) }()
	stop()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want that it was cancelled", err)
	}
}

type fakeClock struct{ now time.Time }

func (c *fakeClock) time() time.Time { return c.now }

func TestProgressOffATerminalIsSparse(t *testing.T) {
	var b bytes.Buffer
	c := &fakeClock{time.Unix(0, 0)}
	p := &Progress{W: &b, Clock: c.time}
	p.mu.Lock() // without Start, whose ticker would read the clock while the test sets it
	p.text, p.started, p.last = "read", c.now, c.now
	p.mu.Unlock()
	for range 25 {
		c.now = c.now.Add(time.Second)
		p.Update("read %d", c.now.Unix())
	}
	if got, want := b.String(), "· read 1\n· read 11\n· read 21\n"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestProgressOnATerminalRewritesItsLine(t *testing.T) {
	var b bytes.Buffer
	p := &Progress{W: &b, Terminal: true, Width: 30, Clock: (&fakeClock{time.Unix(0, 0)}).time}
	p.Start("read \x1b[2J the documents one after the other")
	p.Done("read the documents")
	got := b.String()
	if !strings.HasPrefix(got, "\r\x1b[K· read ␛[2J") || !strings.HasSuffix(got, "\r\x1b[K✓ read the documents\n") {
		t.Errorf("got %q", got)
	}
	b.Reset()
	p.Quiet = true
	p.Start("x")
	p.Done("x")
	p.Notice("left out: x")
	if b.String() != "left out: x\n" {
		t.Errorf("quiet said %q", b.String())
	}
}

func TestElapsed(t *testing.T) {
	for d, want := range map[time.Duration]string{
		1500 * time.Millisecond: "1.5 s",
		61 * time.Second:        "1 min 1 s",
		3700 * time.Second:      "1 h 1 min",
	} {
		if got := FormatElapsed(d); got != want {
			t.Errorf("%v is %q, want %q", d, got, want)
		}
	}
}
