package mail_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/text"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestQuotedMessages checks that the message quoted in a reply is read under a heading of its own, whichever program
// wrote it.
func TestQuotedMessages(t *testing.T) {
	for name, tt := range map[string]struct{ subject, kind, body, own, quoted string }{
		"marks": {
			"Re: MFA", "plain", "We dropped it.\n\nOn Mon, 2 Mar 2026 at 10:00 Bob Lind\n<bob@a.example> wrote:\n> MFA is on.\n>\n> Yours\n\nSee the new plan.\n",
			"We dropped it.|See the new plan.", "On Mon, 2 Mar 2026 at 10:00 Bob Lind <bob@a.example> wrote:|MFA is on.|Yours",
		},
		"answers between": {"Re: MFA", "plain", "> Is MFA on?\nNo.\n> Since when?\nMay.\n", "No.|May.", "Is MFA on?|Since when?"},
		"original":        {"RE: MFA", "plain", "No longer.\n\n-----Original Message-----\nFrom: Bob\nSent: Monday\nTo: Ann\nSubject: MFA\n\nMFA is on.\n", "No longer.", "-----Original Message----- From: Bob Sent: Monday To: Ann Subject: MFA|MFA is on."},
		"header":          {"AW: MFA", "plain", "Nicht mehr.\n\n________________________________\nVon: Bob\nGesendet: Montag\nAn: Ann\nBetreff: MFA\n\nMFA is on.\n", "Nicht mehr.", "________________________________ Von: Bob Gesendet: Montag An: Ann Betreff: MFA|MFA is on."},
		"forward":         {"Fwd: MFA", "plain", "See below.\n\n-----Original Message-----\nFrom: Bob\nSent: Monday\nSubject: MFA\n\nMFA is on.\n", "See below.|-----Original Message----- From: Bob Sent: Monday Subject: MFA|MFA is on.", ""},
		"riferimento":     {"RIF: MFA", "plain", "Non più.\n\n> MFA is on.\n", "Non più.", "MFA is on."},
		"passed on":       {"MFA", "plain", "See below.\n\nBegin forwarded message:\n\n> From: Bob\n> Date: Monday\n> Subject: MFA\n> \n> MFA is on.\n", "See below.|Begin forwarded message:|From: Bob Date: Monday Subject: MFA|MFA is on.", ""},
		"nothing else":    {"Re: MFA", "plain", "> MFA is on.\n", "MFA is on.", ""},
		"no quote":        {"MFA", "plain", "On 2 May we wrote:\nMFA is on.\n\nFrom: here\n", "On 2 May we wrote: MFA is on.|From: here", ""},
		"cite":            {"Re: MFA", "html", `<blockquote type="cite"><p>Is MFA on?<blockquote><p>Older.</blockquote></blockquote><p>No.<blockquote>Own.</blockquote>`, "No.|Own.", "Is MFA on?|Older."},
		"attribution":     {"Re: MFA", "html", `<div>No.</div><div class="gmail_quote"><div>On Mon, 2 Mar 2026 Bob wrote:</div><blockquote><h1>MFA</h1><p>It is on.</blockquote></div><p>End.`, "No.|End.", "On Mon, 2 Mar 2026 Bob wrote:|MFA|It is on."},
		"outlook":         {"RE: MFA", "html", `<p>No.<div><p><b>From:</b> Bob<br><b>Sent:</b> Monday<br><b>To:</b> Ann<br><b>Subject:</b> MFA</p></div><p>MFA is on.`, "No.", "From: Bob Sent: Monday To: Ann Subject: MFA|MFA is on."},
	} {
		raw := "From: ann@a.example\nTo: bob@a.example\nDate: Tue, 3 Mar 2026 10:00:00 +0100\nSubject: " + tt.subject +
			"\nContent-Type: text/" + tt.kind + "; charset=utf-8\n\n" + tt.body
		var own, quoted []string
		for _, b := range parsetest.Read(t, "m.eml", crlf(raw)).Blocks[2:] {
			switch {
			case b.Text == text.QuotedHeading:
			case len(b.HeadingPath) > 1 && b.HeadingPath[1] == text.QuotedHeading:
				quoted = append(quoted, b.Text)
			default:
				own = append(own, b.Text)
			}
		}
		if got := strings.Join(own, "|"); got != tt.own {
			t.Errorf("%s: own text %q, want %q", name, got, tt.own)
		}
		if got := strings.Join(quoted, "|"); got != tt.quoted {
			t.Errorf("%s: quoted text %q, want %q", name, got, tt.quoted)
		}
	}
}
