package mail_test

import (
	"encoding/binary"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scf-service/service/internal/testutil/cfbtest"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// wide encodes a text in UTF-16 as Outlook does.
func wide(s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

// outlook returns a message; its date is in Windows' units.
func outlook(t testing.TB) []byte {
	fixed := func(head int) string {
		raw := make([]byte, head+16)
		binary.LittleEndian.PutUint16(raw[head:], 0x0040)
		binary.LittleEndian.PutUint16(raw[head+2:], 0x0039)
		binary.LittleEndian.PutUint64(raw[head+8:], (1790928000+11644473600)*10_000_000) // 2026-10-02 08:00 UTC
		return string(raw)
	}
	const s, att = "__substg1.0_", "__attach_version1.0_#0000000"
	return cfbtest.BuildFile(map[string]string{
		"__properties_version1.0":   fixed(32),
		s + "0037001F":              wide("Leavers in Q3"),
		s + "0C1A001F":              wide("Jörg K."),
		s + "5D01001F":              wide("jk@example.com"),
		s + "0E04001F":              wide("Auditor"),
		s + "1000001F":              wide("Two accounts were closed.\r\n\r\n- mail\r\n- billing\r\n"),
		att + "0/" + s + "3707001F": wide("..\\..\\list.csv"),
		att + "0/" + s + "37010102": "name,left\nann,1 Oct\nbob,2 Oct\n",
		att + "1/" + s + "3707001F": wide("rules.docx"),
		att + "1/" + s + "37010102": string(
			documenttest.Docx(t, strings.Repeat(documenttest.DocxParagraph("", "Access ends the same day."), 200), nil),
		),
		att + "2/" + s + "3001001F":                            wide("Forwarded"),
		att + "2/" + s + "3701000D/__properties_version1.0":    fixed(24),
		att + "2/" + s + "3701000D/" + s + "0037001F":          wide("The order"),
		att + "2/" + s + "3701000D/" + s + "0C1A001F":          wide("Boss"),
		att + "2/" + s + "3701000D/" + s + "1000001F":          wide("Close them."),
		"__nameid_version1.0/" + s + "00020102":                "",
		"__recip_version1.0_#00000000/__properties_version1.0": "",
		"__recip_version1.0_#00000000/" + s + "3001001F":       wide("Auditor"),
	})
}

func TestOutlookMessage(t *testing.T) {
	doc := parsetest.Read(t, "m.msg", outlook(t))
	got := documenttest.Outline(doc.Blocks)
	want := `# Leavers in Q3
| From: Jörg K. <jk@example.com>; To: Auditor; Date: 2 October 2026 08:00 UTC  {Leavers in Q3}
¶ Two accounts were closed.  {Leavers in Q3}
- mail  {Leavers in Q3}
- billing  {Leavers in Q3}
## list.csv  {Leavers in Q3}
| name: ann; left: 1 Oct  {Leavers in Q3 > list.csv}
| name: bob; left: 2 Oct  {Leavers in Q3 > list.csv}
## rules.docx  {Leavers in Q3}
¶ Access ends the same day.  {Leavers in Q3 > rules.docx}
`
	if !strings.HasPrefix(got, want) || strings.Count(got, "Access ends") != 200 {
		t.Errorf("got\n%.900s\nwant\n%s", got, want)
	}
	if tail := "## Forwarded  {Leavers in Q3}\n### The order  {Leavers in Q3 > Forwarded}\n"; !strings.Contains(got, tail) ||
		!strings.Contains(got, "¶ Close them.  {Leavers in Q3 > Forwarded > The order}") {
		t.Errorf("the forwarded message is missing:\n%s", got[len(got)-400:])
	}
	if doc.MIME != "application/vnd.ms-outlook" || len(doc.Warnings) > 0 {
		t.Errorf("%s %q", doc.MIME, doc.Warnings)
	}
}

func FuzzOutlookMessage(f *testing.F) {
	f.Add(outlook(f))
	f.Fuzz(func(t *testing.T, raw []byte) { parsetest.CheckReadInvariants(t, "m.msg", raw) })
}
