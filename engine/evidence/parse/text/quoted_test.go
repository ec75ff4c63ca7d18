package text

import (
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

// FuzzQuoted checks that the pieces of a mail are its lines, in order, without the marks of quoting, and that quoted lines
// are never read as the mail's own.
func FuzzQuoted(f *testing.F) {
	for _, s := range []string{
		"We dropped it.\n\nOn Mon, 2 Mar 2026 at 10:00 Bob Lind\n<bob@a.example> wrote:\n> MFA is on.\n>\n>> Yours\n\nSee the new plan.\n",
		"> Is MFA on?\nNo.\n> Since when?\nMay.\n",
		"No longer.\n\n-----Original Message-----\nFrom: Bob\nSent: Monday\nTo: Ann\nSubject: MFA\n\nMFA is on.\n",
		"Nicht mehr.\n\n________________________________\nVon: Bob\nGesendet: Montag\nBetreff: MFA\n\n> MFA is on.\n",
		"See below.\n\nBegin forwarded message:\n\n> From: Bob\n> Subject: MFA\n> \n> MFA is on.\n",
	} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, mail string, isForward bool) {
		lines := strings.Split(mail, "\n")
		var got []string
		wasQuoted, hasForwarded := true, isForward || slices.ContainsFunc(lines, forwardedPattern.MatchString)
		err := splitQuoted(slices.Clone(lines), isForward, func(piece []string, isQuoted bool) error {
			if isQuoted == wasQuoted {
				t.Errorf("two pieces that follow each other are quoted or not: %t", isQuoted)
			}
			if !isQuoted && !hasForwarded && slices.ContainsFunc(piece, isQuotedLine) {
				t.Errorf("own text has quoted lines: %q", piece)
			}
			wasQuoted, got = isQuoted, append(got, withoutMarks(piece)...)
			return nil
		})
		if want := withoutMarks(lines); err != nil || strings.Join(strings.Fields(strings.Join(got, " ")), " ") !=
			strings.Join(strings.Fields(strings.Join(want, " ")), " ") {
			t.Errorf("%v: got %q, want %q", err, got, want)
		}
	})
}

// FuzzQuotedHTML checks that the words of a mail are those of its HTML, in order, whichever of them are quoted.
func FuzzQuotedHTML(f *testing.F) {
	for _, s := range []string{
		`<blockquote type="cite"><p>Is MFA on?<blockquote><p>Older.</blockquote></blockquote><p>No.<blockquote>Own.</blockquote>`,
		`<div>No.</div><div class="gmail_quote"><div>On Mon, 2 Mar 2026 Bob wrote:</div><blockquote><h1>MFA</h1><p>It is on.</blockquote></div><p>End.`,
		`<p>No.<div><p><b>From:</b> Bob<br><b>Sent:</b> Monday<br><b>To:</b> Ann<br><b>Subject:</b> MFA</p></div><p>MFA is on.`,
		`<ul><li>a<blockquote type=cite><table><tr><td>b<td>c</table></blockquote>d</ul><p>---- Forwarded message<p>e`,
	} {
		f.Add(s, false)
	}
	f.Fuzz(func(t *testing.T, page string, isForward bool) {
		words := func(read func(*document.Builder) error) (string, error) {
			b := document.NewBuilder(t.Context(), document.Options{MaxText: 1 << 20})
			err := read(b)
			var sb strings.Builder
			for _, block := range b.Doc.Blocks {
				if block.Text != QuotedHeading {
					sb.WriteString(strings.Join(strings.Fields(block.Text), "") + " ")
				}
			}
			return strings.ReplaceAll(sb.String(), " ", ""), err
		}
		want, err := words(func(b *document.Builder) error { return ReadHTML(b, page) })
		got, errMail := words(func(b *document.Builder) error { return ReadMailHTML(b, page, isForward) })
		if got != want || (err == nil) != (errMail == nil) {
			t.Errorf("got %q %v, want %q %v", got, errMail, want, err)
		}
	})
}
