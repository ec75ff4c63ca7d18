package mail_test

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

const (
	oidData      = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x01"
	oidSigned    = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x02"
	oidEnveloped = "\x06\x09\x2a\x86\x48\x86\xf7\x0d\x01\x07\x03"
)

// definite encodes a value that starts with its length; indefinite encodes one that ends with two zeros.
func definite(tag byte, content string) string {
	n := len(content)
	return string([]byte{tag, 0x83, byte(n >> 16), byte(n >> 8), byte(n)}) + content
}

func indefinite(tag byte, content string) string {
	return string([]byte{tag, 0x80}) + content + "\x00\x00"
}

// signed returns signed data whose content is octets in any form, or empty.
func signed(encode func(byte, string) string, octets string) string {
	if octets != "" {
		octets = encode(0xa0, octets)
	}
	data := encode(0x30, "\x02\x01\x01"+encode(0x31, "")+encode(0x30, oidData+octets)+encode(0x31, ""))
	return encode(0x30, oidSigned+encode(0xa0, data))
}

func TestSigned(t *testing.T) {
	entity := "Content-Type: text/plain; charset=utf-8\r\n\r\nAccess rights were reviewed — all of them.\r\n"
	whole := signed(definite, definite(0x04, entity))
	streamed := signed(indefinite, indefinite(0x24, definite(0x04, entity[:50])+definite(0x04, entity[50:])))
	message := func(kind, content string) string {
		return "From: ann@example.com\r\nTo: bo@example.com\r\nSubject: Review\r\nDate: Fri, 2 Oct 2026 09:00:00 +0200\r\nMIME-Version: 1.0\r\n" +
			"Content-Type: application/" + kind + "; smime-type=signed-data; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
			base64.StdEncoding.EncodeToString([]byte(content)) + "\r\n"
	}
	text := "¶ Access rights were reviewed — all of them."
	inMail := "# Review\n| From: ann@example.com; To: bo@example.com; Date: Fri, 2 Oct 2026 09:00:00 +0200  {Review}\n" + text + "  {Review}\n"
	twice := "Content-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\n" + base64.StdEncoding.EncodeToString([]byte(streamed))
	for _, tt := range []struct{ name, file, raw, want string }{
		{"mail", "a.eml", message("pkcs7-mime", whole), inMail},
		{"mail as streamed", "a.eml", message("x-pkcs7-mime", streamed), inMail},
		{"mail signed twice", "a.eml", message("pkcs7-mime", signed(definite, definite(0x04, twice))), inMail},
		{"file with a mail's body", "smime.p7m", streamed, text + "\n"},
		{
			"text form", "smime.p7m",
			"-----BEGIN PKCS7-----\n" + base64.StdEncoding.EncodeToString([]byte(whole)) + "\n-----END PKCS7-----\n", text + "\n",
		},
		{
			"signed document", "policy.html.p7m", signed(indefinite, definite(0x04, "<!doctype html><p>Rights are reviewed.")),
			"¶ Rights are reviewed.\n",
		},
		{
			"attachment", "a.eml", "From: ann@example.com\r\nTo: bo@example.com\r\nSubject: S\r\nDate: Fri, 2 Oct 2026 09:00:00 +0200\r\nMIME-Version: 1.0\r\n" +
				"Content-Type: multipart/mixed; boundary=b\r\n\r\n--b\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n--b\r\n" +
				"Content-Type: application/pkcs7-mime; name=smime.p7m\r\nContent-Transfer-Encoding: base64\r\n\r\n" +
				base64.StdEncoding.EncodeToString([]byte(whole)) + "\r\n--b--\r\n",
			"# S\n| From: ann@example.com; To: bo@example.com; Date: Fri, 2 Oct 2026 09:00:00 +0200  {S}\n¶ See below.  {S}\n" +
				"## smime.p7m  {S}\n" + text + "  {S > smime.p7m}\n",
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			doc := parsetest.Read(t, tt.file, []byte(tt.raw))
			documenttest.Compare(t, documenttest.Outline(doc.Blocks), tt.want)
			if len(doc.Warnings) == 0 || !strings.Contains(strings.Join(doc.Warnings, "\n"), "the signature was not checked") {
				t.Errorf("warnings %q", doc.Warnings)
			}
		})
	}
	enveloped := definite(0x30, oidEnveloped+definite(0xa0, definite(0x30, "\x02\x01\x00")))
	for _, tt := range []struct {
		name, file, raw string
		want            error
	}{
		{"encrypted mail", "a.eml", message("pkcs7-mime", enveloped), document.ErrEncrypted},
		{"encrypted file", "a.p7m", enveloped, document.ErrEncrypted},
		{
			"encrypted within signed", "a.eml", message("pkcs7-mime", signed(definite, definite(0x04,
				"Content-Type: application/pkcs7-mime\r\nContent-Transfer-Encoding: base64\r\n\r\n"+base64.StdEncoding.EncodeToString([]byte(enveloped))))),
			document.ErrEncrypted,
		},
		{"signature alone", "a.p7s", signed(definite, ""), document.ErrUnsupported},
		{"cut off", "a.p7m", streamed[:len(streamed)-30], document.ErrDamaged},
		{"lengths beyond the file", "a.p7m", whole[:40] + "\x84\xff\xff\xff\xff", document.ErrDamaged},
	} {
		if err := parsetest.ReadError(t, parse.Options{}, tt.file, []byte(tt.raw)); !errors.Is(err, tt.want) {
			t.Errorf("%s: %v, want %v", tt.name, err, tt.want)
		}
	}
}

func FuzzSigned(f *testing.F) {
	f.Add([]byte(signed(definite, definite(0x04, "Content-Type: text/plain\r\n\r\nx"))))
	f.Add([]byte(signed(indefinite, indefinite(0x24, definite(0x04, "a")+indefinite(0x24, definite(0x04, "b"))))))
	f.Add([]byte(strings.Repeat("\x30\x80", 100)))
	f.Fuzz(func(t *testing.T, raw []byte) { parsetest.CheckReadInvariants(t, "a.p7m", raw) })
}
