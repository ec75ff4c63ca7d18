package text_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestNasty reads inputs that cause quadratic time or unlimited nesting in careless parsers.
func TestNasty(t *testing.T) {
	const n = 200_000
	for name, s := range map[string]string{
		"quotes.md":    strings.Repeat(">", n) + " x",
		"brackets.md":  strings.Repeat("[", n) + "x",
		"links.md":     strings.Repeat("[a](", n),
		"stars.md":     strings.Repeat("*a **b ", n),
		"ticks.md":     strings.Repeat("`a``b", n),
		"lists.md":     strings.Repeat("- ", n) + "x",
		"table.md":     strings.Repeat("|", n) + "\n" + strings.Repeat("-|", n) + "\n" + strings.Repeat("x|", n),
		"refs.md":      strings.Repeat("[a]: b\n", n),
		"lines.md":     strings.Repeat("[\n", n),
		"html.md":      strings.Repeat("<!--", n),
		"entities.md":  strings.Repeat("&amp", n),
		"emphasis.md":  strings.Repeat("_a", n) + "\n\n" + strings.Repeat("a_\n", n),
		"tables.html":  "<html>" + strings.Repeat("<table><tr><td>", 100) + strings.Repeat("<td>x", n),
		"attrs.html":   "<html><p " + strings.Repeat("a=b ", n) + ">x",
		"format.html":  "<html>" + strings.Repeat("<b><i><a>", 60) + strings.Repeat("<p>x", 3000),
		"quotes.csv":   "a,b\n" + strings.Repeat("\"", n) + ",",
		"commas.csv":   strings.Repeat(",", n) + "x\n" + strings.Repeat("y,", n),
		"array.json":   "[" + strings.Repeat("[],", n) + "1]",
		"keys.json":    "{" + strings.Repeat(`"a":"b",`, n) + `"c":1}`,
		"hyphens.txt":  strings.Repeat("ab-\ncd", n),
		"colons.txt":   strings.Repeat("version: ", 60) + "\n\nx",
		"dates.txt":    "Version: " + strings.Repeat("1 ", n),
		"underline.md": strings.Repeat("a\n===\n", n/10),
	} {
		t.Run(name, func(t *testing.T) {
			r := parsetest.New(t, parse.Options{Timeout: 30 * time.Second})
			if _, err := r.Read(context.Background(), name, strings.NewReader(s), int64(len(s))); errors.Is(err, document.ErrTimeout) {
				t.Error(err)
			}
		})
	}
}

// TestNastyMarks reads markup that causes quadratic time or unlimited nesting in careless readers.
func TestNastyMarks(t *testing.T) {
	const n = 100_000
	for name, s := range map[string]string{
		"braces.rtf":   `{\rtf1 ` + strings.Repeat("{", n),
		"closed.rtf":   `{\rtf1 a` + strings.Repeat("}", n) + strings.Repeat(`\par b`, n),
		"bin.rtf":      `{\rtf1 a` + strings.Repeat(`\bin9999999999 `, 1000),
		"words.rtf":    `{\rtf1 ` + strings.Repeat(`\u99999 x`, n),
		"cells.rtf":    `{\rtf1 \intbl ` + strings.Repeat(`x\cell `, n) + `\row`,
		"notes.rtf":    `{\rtf1 a` + strings.Repeat(`{\footnote b}`, n),
		"fonts.rtf":    `{\rtf1 {\fonttbl` + strings.Repeat(`{\f9\fcharset204 x;}`, n) + `}a`,
		"rules.rst":    strings.Repeat("=====\n", n),
		"titles.rst":   strings.Repeat("ab\n--\n", n),
		"blank.rst":    "===== =====\n" + strings.Repeat("\n", n),
		"tables.rst":   strings.Repeat("== ==\na  b\n== ==\n", n/10),
		"ticks.rst":    strings.Repeat("`a ``b ", n),
		"stars.rst":    strings.Repeat("*a **b ", n),
		"literal.rst":  strings.Repeat("a::\n\n  b\n", n),
		"comment.rst":  strings.Repeat(".. x::\n", n),
		"flow.yaml":    strings.Repeat("[", n) + "x",
		"indent.yaml":  strings.Repeat("- ", n) + "x",
		"keys.yaml":    strings.Repeat("? ", 2000) + "x",
		"anchors.yaml": strings.Repeat("- &a b\n- *a\n", n/10),
		"quotes.yaml":  "a: \"" + strings.Repeat("\\", n),
		"fields.eml":   "From: a\nTo: b\nSubject: c\nDate: d\n" + strings.Repeat("X-A: b\n", n) + "\ntext",
		"parts.eml":    "From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--x\n\na\n", n/10),
		"folded.eml":   "From: a\nTo: b\nSubject: c" + strings.Repeat("\n =?utf-8?Q?x?=", n/10) + "\nDate: d\n\ntext",
	} {
		t.Run(name, func(t *testing.T) {
			err := parsetest.ReadError(t, parse.Options{}, name, []byte(s))
			if errors.Is(err, document.ErrTimeout) {
				t.Error(err)
			}
		})
	}
}

func TestOneLongLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 50 MB several times over")
	}
	raw := bytes.Repeat([]byte("access is reviewed by the owner "), 50<<20/32)
	for _, name := range []string{"a.txt", "a.md", "a.csv", "a.html"} {
		if err := parsetest.ReadError(t, parse.Options{}, name, raw); !errors.Is(err, document.ErrTooLarge) {
			t.Errorf("%s: %v", name, err)
		}
		raw := raw
		if !longtest.Enabled() {
			raw = raw[:5<<20]
		}
		doc := parsetest.New(t, parse.Options{MaxText: 64 << 20})
		got, err := doc.Read(context.Background(), name, bytes.NewReader(raw), int64(len(raw)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		n := 0
		for _, b := range got.Blocks {
			n += len(b.Text) + 1
		}
		if n < len(raw)-10 {
			t.Errorf("%s: %d of %d bytes came through", name, n, len(raw))
		}
	}
}
