package text_test

import (
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestPlain(t *testing.T) {
	doc := parsetest.Read(
		t,
		"policy.txt",
		[]byte(
			"Backup Policy\n=============\n\nEffective date: 3 March 2026\n\n1. PURPOSE\n\nBackups are made so that infor-\n"+
				"mation survives, end-to-\nend.\n\n2. RULES\n\n- daily copies\n  kept for a month\n- a test:\n    a) each quarter\n",
		),
	)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Backup Policy
	¶ Effective date: 3 March 2026  {Backup Policy}
	# 1. PURPOSE
	¶ Backups are made so that information survives, end-to-end.  {1. PURPOSE}
	# 2. RULES
	- daily copies kept for a month  {2. RULES}
	- a test:  {2. RULES}
	--- a) each quarter  {2. RULES}
	`)
	if !reflect.DeepEqual(doc.EffectiveDate, documenttest.Date(2026, 3, 3)) {
		t.Errorf("effective %v", doc.EffectiveDate)
	}
}

func TestLog(t *testing.T) {
	var sb strings.Builder
	for range 90 {
		sb.WriteString("2026-03-01T10:00:00Z sshd: login of admin\n")
	}
	doc := parsetest.Read(t, "auth.log", []byte(sb.String()))
	if len(doc.Blocks) != 3 || doc.Blocks[0].Kind != document.Line || doc.Blocks[2].Locator != (api.Locator{LineStart: 81, LineEnd: 91}) {
		t.Errorf("%d blocks, %+v", len(doc.Blocks), doc.Blocks[len(doc.Blocks)-1].Locator)
	}
}

func FuzzPlain(f *testing.F) {
	parsetest.Fuzz(
		f,
		"a.txt",
		"Policy\n======\n\nVersion: 1.2 Owner: me\n\n1. SCOPE\n\n- a\n  b-\nc\n",
		"2026-01-01T00:00:00 x\n2026-01-01T00:00:00 y\n",
		"Effective date: 3. März 2026 | Stand: 01.02.2025",
	)
}

func TestDecode(t *testing.T) {
	utf16 := func(s string, big, bom bool) []byte {
		var out []byte
		if bom {
			s = "\ufeff" + s
		}
		for _, r := range s {
			if big {
				out = append(out, byte(r>>8), byte(r))
			} else {
				out = append(out, byte(r), byte(r>>8))
			}
		}
		return out
	}
	const text = "Richtlinie für Büros: alle müssen es wissen."
	for name, raw := range map[string][]byte{
		"utf-8":           []byte(text),
		"utf-8 with mark": []byte("\ufeff" + text),
		"utf-16le":        utf16(text, false, true),
		"utf-16be":        utf16(text, true, true),
		"utf-16le bare":   utf16(text, false, false),
		"utf-16be bare":   utf16(text, true, false),
		"latin-1":         []byte("Richtlinie f\xfcr B\xfcros: alle m\xfcssen es wissen."),
		"nul":             []byte("Richtlinie für Bü\x00ros: alle müssen es wissen."),
		"old mac":         []byte(text + "\r"),
		"hidden marks":    []byte("Richt\u200blinie für B\u00adüros: \u202ealle müssen es wissen."),
	} {
		if got := documenttest.Outline(parsetest.Read(t, "x.txt", raw).Blocks); got != "¶ "+text+"\n" {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// A text in several encodings, such as concatenated logs and emails, is read as far as possible, and characters
// are not lost without a warning.
func TestMixedEncodings(t *testing.T) {
	mixed := []byte("R\xc3\xbcckfrage: wer pr\xc3\xbcft die Rechte?\nAntwort: der Eigent\xfcmer pr\xfcft viertelj\xe4hrlich.\n")
	doc := parsetest.Read(t, "a.txt", mixed)
	text := documenttest.Outline(doc.Blocks)
	if !strings.Contains(text, "wer") || !strings.Contains(text, "Antwort: der Eigent") || !strings.Contains(text, "hrlich.") {
		t.Errorf("got %s", text)
	}
	if strings.ContainsRune(text, 0xfffd) && len(doc.Warnings) == 0 {
		t.Errorf("letters were lost without a warning: %s", text)
	}
}
