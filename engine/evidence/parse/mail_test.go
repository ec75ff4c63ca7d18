package parse

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"strings"
	"testing"
	"unicode/utf16"

	"github.com/scf-service/service/internal/testutil/cfbtest"
)

func crlf(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }

func mailWith(t testing.TB) []byte {
	sheet := base64.StdEncoding.EncodeToString([]byte("system,reviewed\nmail,yes\nbilling,no\n"))
	word := base64.StdEncoding.EncodeToString(docx(t, para("b1", "Leavers")+para("", "Access ends the same day."), nil))
	return crlf(`Received: by mail.example
From: =?utf-8?Q?J=C3=B6rg_K.?= <jk@example.com>
To: auditor@example.org
Cc: ciso@example.com
Subject: =?iso-8859-1?Q?Access_review_f=FCr_Q3?=
Date: Fri, 2 Oct 2026 09:00:00 +0200
MIME-Version: 1.0
Content-Type: multipart/mixed; boundary="outer"

--outer
Content-Type: multipart/alternative; boundary="inner"

--inner
Content-Type: text/plain; charset=windows-1252
Content-Transfer-Encoding: quoted-printable

Dear auditor,

the review of all accounts took place on 1 October =96 two were closed.

- mail
- billing

--inner
Content-Type: text/html; charset=utf-8

<p>Dear auditor in HTML</p>
--inner--

--outer
Content-Type: text/csv; name="../../review.csv"
Content-Disposition: attachment; filename="../../review.csv"
Content-Transfer-Encoding: base64

` + sheet + `
--outer
Content-Type: application/octet-stream
Content-Disposition: attachment; filename="leavers.docx"
Content-Transfer-Encoding: base64

` + word + `
--outer
Content-Type: message/rfc822

From: boss@example.com
To: jk@example.com
Subject: Please do
Date: Thu, 1 Oct 2026 09:00:00 +0200
Message-ID: <1@example.com>

Do the review.
--outer--
`)
}

func TestMail(t *testing.T) {
	doc := read(t, "m.eml", mailWith(t))
	same(t, outline(doc.Blocks), `
	# Access review für Q3
	| From: Jörg K. <jk@example.com>; To: auditor@example.org; Cc: ciso@example.com; Date: Fri, 2 Oct 2026 09:00:00 +0200  {Access review für Q3}
	¶ Dear auditor,  {Access review für Q3}
	¶ the review of all accounts took place on 1 October – two were closed.  {Access review für Q3}
	- mail  {Access review für Q3}
	- billing  {Access review für Q3}
	## review.csv  {Access review für Q3}
	| system: mail; reviewed: yes  {Access review für Q3 > review.csv}
	| system: billing; reviewed: no  {Access review für Q3 > review.csv}
	## leavers.docx  {Access review für Q3}
	### Leavers  {Access review für Q3 > leavers.docx}
	¶ Access ends the same day.  {Access review für Q3 > leavers.docx > Leavers}
	## forwarded mail  {Access review für Q3}
	### Please do  {Access review für Q3 > forwarded mail}
	| From: boss@example.com; To: jk@example.com; Date: Thu, 1 Oct 2026 09:00:00 +0200  {Access review für Q3 > forwarded mail > Please do}
	¶ Do the review.  {Access review für Q3 > forwarded mail > Please do}
	`)
	if doc.MIME != "message/rfc822" || doc.Title != "Access review für Q3" {
		t.Errorf("%s %q", doc.MIME, doc.Title)
	}
}

func TestMailHTMLOnly(t *testing.T) {
	doc := read(t, "m.eml", crlf(`From: a@example.com
To: b@example.com
Subject: Minutes
Date: Fri, 2 Oct 2026 09:00:00 +0200
Content-Type: text/html; charset=utf-8

<html><body><p>Decided:</p><table><tr><th>What</th><th>Who</th></tr><tr><td>MFA</td><td>IT</td></tr></table>
<img src="https://example.com/pixel.gif"><script>alert(1)</script></body></html>
`))
	same(t, outline(doc.Blocks), `
	# Minutes
	| From: a@example.com; To: b@example.com; Date: Fri, 2 Oct 2026 09:00:00 +0200  {Minutes}
	¶ Decided:  {Minutes}
	| What: MFA; Who: IT  {Minutes}
	`)
}

func TestMailRefuses(t *testing.T) {
	head := "From: a@example.com\nTo: b@example.com\nSubject: x\nDate: Fri, 2 Oct 2026 09:00:00 +0200\n"
	nest := head
	for range maxBoundaries + 1 {
		nest += "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\n"
	}
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"nested": {nest, ErrTooLarge},
		"encrypted": {
			head + "Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\nContent-Transfer-Encoding: base64\n\nAAAA\n",
			ErrEncrypted,
		},
		"pgp": {
			head + "Content-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: application/octet-stream\n\nx\n--b--\n",
			ErrEncrypted,
		},
	} {
		if err := readErr(t, Options{}, "m.eml", crlf(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	// Four lines that look like fields make no mail; neither does a policy's head.
	for _, text := range []string{
		"From: here\nTo: there\nIt is far.\n\nText",
		"Version: 1\nOwner: CISO\nDate: today\nSubject: Access\n\nText",
	} {
		if doc := read(t, "a.txt", []byte(text)); doc.MIME != "text/plain" {
			t.Errorf("%q is %s", text, doc.MIME)
		}
	}
}

// wide is a text in UTF-16 as Outlook keeps it.
func wide(s string) string {
	var out []byte
	for _, u := range utf16.Encode([]rune(s)) {
		out = binary.LittleEndian.AppendUint16(out, u)
	}
	return string(out)
}

// outlook makes a message; sent is counted as Windows does.
func outlook(t testing.TB) []byte {
	fixed := func(head int) string {
		raw := make([]byte, head+16)
		binary.LittleEndian.PutUint16(raw[head:], 0x0040)
		binary.LittleEndian.PutUint16(raw[head+2:], propSubmitted)
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
		att + "1/" + s + "37010102": string(docx(t, strings.Repeat(para("", "Access ends the same day."), 200), nil)),
		att + "2/" + s + "3001001F": wide("Forwarded"),
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
	doc := read(t, "m.msg", outlook(t))
	got := outline(doc.Blocks)
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

func FuzzMail(f *testing.F) {
	fuzzText(
		f,
		"m.eml",
		string(mailWith(f)),
		"From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: text/html; charset=utf-7\n\n<p>+AGE-\n",
		"From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Transfer-Encoding: base64\n\n"+
			"!!!\n--x\n--x--",
	)
}

func FuzzOutlookMessage(f *testing.F) {
	f.Add(outlook(f))
	f.Fuzz(func(t *testing.T, raw []byte) { check(t, "m.msg", raw) })
}
