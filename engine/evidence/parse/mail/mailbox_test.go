package mail_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

const (
	mailOfAnn = "From: Ann <ann@example.com>\nTo: b@example.com\nSubject: Doors\nDate: Fri, 2 Oct 2026 09:00:00 +0200\n\n" +
		"Doors are locked.\n\n>From here on, nobody enters.\n"
	mailOfBo = "From: Bo <bo@example.com>\nTo: b@example.com\nSubject: Keys\nDate: Fri, 9 Oct 2026 09:00:00 +0200\n\nKeys are counted.\n"
)

func textOf(d *document.Document) string {
	var out strings.Builder
	for _, b := range d.Blocks {
		out.WriteString(b.Text + "\n")
	}
	return out.String()
}

func TestMailbox(t *testing.T) {
	box := "From ann@example.com Fri Oct  2 09:00:00 2026\n" + mailOfAnn + "\nFrom bo@example.com Fri Oct  9 09:00:00 2026\n" + mailOfBo
	for _, content := range []string{box, strings.ReplaceAll(box, "\n", "\r\n")} {
		d := parsetest.Read(t, "box.mbox", []byte(content))
		got := textOf(d)
		for _, want := range []string{"Doors are locked.", "From here on, nobody enters.", "Keys are counted.", "Doors", "Keys"} {
			if !strings.Contains(got, want) {
				t.Errorf("%q is missing:\n%s", want, got)
			}
		}
	}
	// A line that begins with "From" separates no emails unless a header follows.
	one := "From ann@example.com Fri Oct  2 09:00:00 2026\n" + mailOfAnn + "\nFrom Ann in 2026\nwe hear nothing.\n"
	got := textOf(parsetest.Read(t, "one.eml", []byte(one)))
	if !strings.Contains(got, "we hear nothing.") || strings.Contains(got, "mail 2") {
		t.Error(got)
	}
}

func TestSavedWebPage(t *testing.T) {
	page := "Date: Mon, 2 Mar 2026 08:00:00 +0000\nMessage-ID: <1@wiki>\nSubject: Exported\nMIME-Version: 1.0\n" +
		"Content-Type: multipart/related; boundary=\"x\"\n\n--x\nContent-Type: text/html; charset=UTF-8\n" +
		"Content-Transfer-Encoding: quoted-printable\n\n" +
		"<html><body><h1>Keys</h1><p style=3D\"a\">Keys are =C3=BCsed once.</p><p style=3D\"display:none\">never</p></body></html>\n" +
		"--x\nContent-Type: image/png\nContent-Transfer-Encoding: base64\n\niVBORw0KGgo=\n--x--\n"
	for _, name := range []string{"keys.doc", "keys.mht", "keys"} {
		d := parsetest.Read(t, name, []byte(page))
		if got := textOf(d); !strings.Contains(got, "Keys are üsed once.") || strings.Contains(got, "never") || strings.Contains(got, "MIME") {
			t.Errorf("%s: %s", name, got)
		}
		if d.EffectiveDate != nil || d.Title != "Keys" {
			t.Errorf("%s: title %q, date %v", name, d.Title, d.EffectiveDate)
		}
	}
	empty := "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x--\n"
	if err := parsetest.ReadError(t, parse.Options{}, "x.mht", []byte(empty)); !errors.Is(err, document.ErrEmpty) {
		t.Errorf("%v", err)
	}
}

func FuzzMailbox(f *testing.F) {
	parsetest.Fuzz(f, "a.mbox", "From a@b Fri Oct  2 09:00:00 2026\n"+mailOfAnn+"\nFrom c@d Fri Oct  9 09:00:00 2026\n"+mailOfBo)
}

func FuzzSavedWebPage(f *testing.F) {
	parsetest.Fuzz(f, "a.mht", "MIME-Version: 1.0\nContent-Type: multipart/related; boundary=x\n\n--x\n"+
		"Content-Type: text/html\n\n<p>a</p>\n--x--\n")
}
