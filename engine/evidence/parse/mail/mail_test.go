package mail_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/engine/evidence/parse/mail"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func crlf(s string) []byte { return []byte(strings.ReplaceAll(s, "\n", "\r\n")) }

func mailWith(t testing.TB) []byte {
	sheet := base64.StdEncoding.EncodeToString([]byte("system,reviewed\nmail,yes\nbilling,no\n"))
	word := base64.StdEncoding.EncodeToString(
		documenttest.Docx(t, documenttest.DocxParagraph("b1", "Leavers")+documenttest.DocxParagraph("", "Access ends the same day."), nil),
	)
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
	doc := parsetest.Read(t, "m.eml", mailWith(t))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
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
	doc := parsetest.Read(t, "m.eml", crlf(`From: a@example.com
To: b@example.com
Subject: Minutes
Date: Fri, 2 Oct 2026 09:00:00 +0200
Content-Type: text/html; charset=utf-8

<html><body><p>Decided:</p><table><tr><th>What</th><th>Who</th></tr><tr><td>MFA</td><td>IT</td></tr></table>
<img src="https://example.com/pixel.gif"><script>alert(1)</script></body></html>
`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Minutes
	| From: a@example.com; To: b@example.com; Date: Fri, 2 Oct 2026 09:00:00 +0200  {Minutes}
	¶ Decided:  {Minutes}
	| What: MFA; Who: IT  {Minutes}
	`)
}

func TestMailRefuses(t *testing.T) {
	head := "From: a@example.com\nTo: b@example.com\nSubject: x\nDate: Fri, 2 Oct 2026 09:00:00 +0200\n"
	nest := head
	for range mail.MaxBoundaries + 1 {
		nest += "Content-Type: multipart/mixed; boundary=\"b\"\n\n--b\n"
	}
	for name, tt := range map[string]struct {
		text string
		want error
	}{
		"nested": {nest, document.ErrTooLarge},
		"encrypted": {
			head + "Content-Type: application/pkcs7-mime; smime-type=enveloped-data; name=smime.p7m\nContent-Transfer-Encoding: base64\n\nAAAA\n",
			document.ErrEncrypted,
		},
		"pgp": {
			head + "Content-Type: multipart/encrypted; boundary=b\n\n--b\nContent-Type: application/octet-stream\n\nx\n--b--\n",
			document.ErrEncrypted,
		},
	} {
		if err := parsetest.ReadError(t, parse.Options{}, "m.eml", crlf(tt.text)); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
	// Lines that look like email fields don't make a text an email; nor does the header of a policy.
	for _, text := range []string{
		"From: here\nTo: there\nIt is far.\n\nText",
		"Version: 1\nOwner: CISO\nDate: today\nSubject: Access\n\nText",
	} {
		if doc := parsetest.Read(t, "a.txt", []byte(text)); doc.MIME != "text/plain" {
			t.Errorf("%q is %s", text, doc.MIME)
		}
	}
}

func FuzzMail(f *testing.F) {
	parsetest.Fuzz(
		f,
		"m.eml",
		string(mailWith(f)),
		"From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: text/html; charset=utf-7\n\n<p>+AGE-\n",
		"From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: multipart/mixed; boundary=x\n\n--x\nContent-Transfer-Encoding: base64\n\n"+
			"!!!\n--x\n--x--",
	)
}
