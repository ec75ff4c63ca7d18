package workbook

import (
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/scf-service/service/engine/report/wording"
)

func TestDatesThereAndBack(t *testing.T) {
	for _, s := range []string{"1901-01-01", "1999-12-31", "2000-02-29", "2026-11-22", "2027-03-31", "9999-12-31"} {
		n, ok := dateToSerial(s)
		back, fine := dateFromSerial(n, false)
		if !ok || !fine || back != s {
			t.Errorf("%s is %v, and back %q", s, n, back)
		}
		if back, _ := dateFromSerial(n-1462, true); s > "1905" && back != s {
			t.Errorf("%s by 1904 is %q", s, back)
		}
	}
	for _, s := range []string{"", "2027-02-30", "31.3.2027", "0001-01-01", "1900-02-29"} {
		if n, ok := dateToSerial(s); ok {
			t.Errorf("%q is %v", s, n)
		}
	}
	if d, _ := dateToSerial("2027-03-31"); d != 46477 {
		t.Errorf("2027-03-31 is day %v", d)
	}
}

func TestSplitLosesNothing(t *testing.T) {
	for _, s := range []string{"", "abc", strings.Repeat("é", 100), strings.Repeat("𝔸b", 100), "\xff\xfe" + strings.Repeat("a", 20)} {
		parts := splitText(s, 7)
		if strings.Join(parts, "") != s {
			t.Errorf("%q comes to %q", s, parts)
		}
		for _, p := range parts {
			if n := len([]rune(p)); n > 7 || utf8.ValidString(s) && !utf8.ValidString(p) {
				t.Errorf("part %q", p)
			}
		}
	}
}

func TestClean(t *testing.T) {
	for in, want := range map[string]string{
		"a\r\nb\rc": "a\nb\nc", "\x00\x07\x1b\x7f": "␀␇␛␡",
		"\u0085": "\ufffd", "\uffff\ufffe": "\ufffd\ufffd", "a\tb\n": "a\tb\n", "\xff": "\ufffd",
		"=x\ufffd": "=x\ufffd",
	} {
		if got := wording.ReplaceControlCharacters(in); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

func TestSheetNames(t *testing.T) {
	taken := []string{"Figures"}
	for in, want := range map[string]string{
		"figures":               "figures 2",
		"a/b:c":                 "a b c",
		"":                      "Sheet",
		"'quoted'":              "quoted",
		strings.Repeat("𝔸", 40): strings.Repeat("𝔸", 15),
	} {
		if got := uniqueSheetName(in, taken); got != want {
			t.Errorf("%q becomes %q, want %q", in, got, want)
		}
	}
}

// TestWorkbookWithoutADate checks that a workbook without a date that the format supports gets a
// fixed one.
func TestWorkbookWithoutADate(t *testing.T) {
	for _, when := range []time.Time{{}, time.Date(1850, 1, 1, 0, 0, 0, 0, time.UTC)} {
		b, err := NewWriter(Properties{AsOf: when})
		if err != nil {
			t.Fatal(err)
		}
		props, err := b.file.GetDocProps()
		if err != nil || props.Created != "2000-01-01T00:00:00Z" {
			t.Errorf("%+v, %v", props, err)
		}
		b.Close()
	}
}
