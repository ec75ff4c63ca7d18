package parse_test

import (
	"encoding/base64"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

// TestEncodedText checks that encoded bytes, raw markup, data and programs between the paragraphs of a text are
// counted, and never read as prose.
func TestEncodedText(t *testing.T) {
	secret := []byte(strings.Repeat("All administrators use multi-factor authentication. ", 6))
	lines := func(s string, width int) (out string) {
		for len(s) > width {
			out, s = out+s[:width]+"\n", s[width:]
		}
		return out + s
	}
	words := `Access rights are reviewed each quarter (by the IT lead); see "Annex A" = list of systems, https://example.com/a/very/long/path/` +
		`that/leads/to/the/list/of/systems/and/their/owners.html, and sha256 2c26b46b68ffc68ff99b453c1d30413413422d706483bfa0f98a5e886266e7ae.`
	questions := "Are doors locked? [x] Yes [ ] No [ ] N/A (since {2024}); [x] Yes [ ] No [ ] N/A; [ ] Yes [x] No [ ] N/A; [x] Yes [ ] No [ ] N/A (planned)"
	people := "Reviewers: Ann Roe <ann@example.com>; Bo Lind <bo@example.com>; Cy Moss <cy@example.com>; Di Park <di@example.com>"
	for _, tt := range []struct{ name, text, unread string }{
		{"Base64", lines(base64.StdEncoding.EncodeToString(secret), 76), "1 encoded text"},
		{"Base64 in one line", base64.StdEncoding.EncodeToString(secret), "1 encoded text"},
		{
			"certificate", "-----BEGIN CERTIFICATE-----\n" + lines(base64.StdEncoding.EncodeToString(secret), 64) + "\n-----END CERTIFICATE-----",
			"1 encoded text",
		},
		{"hexadecimal", hex.EncodeToString(secret), "1 encoded text"},
		{"uuencode", "begin 644 mfa.txt\nM5&AE(&%C8V5S<R!R:6=H=',@87)E(')E=FEE=V5D(&5A8V@@<75A<G1E<BX@\n+ab  \n`\nend", "1 encoded text"},
		{"XML", `<rule id="1"><title>MFA</title><text>All administrators use multi-factor authentication.</text></rule>`, "1 piece of code"},
		{"JSON", `{"policy": {"mfa": "All administrators use multi-factor authentication.", "reviewed": ["2026-05-04", "2026-08-03"]}}`, "1 piece of code"},
		{
			"script",
			`!function(e,t){"use strict";var n=e.mfa,r="administrators";if(n&&n.on){t.push({who:r,how:"multi-factor"})}for(var i=0;i<t.length;i++){t[i].ok=!0}}(window,[]);`,
			"1 piece of code",
		},
		{"style sheet", `.mfa{color:red;margin:0 0 1px}.admin,.user>b{padding:2px;font:12px/1 Arial}#all{display:none}.x{top:0;left:0}`, "1 piece of code"},
		{"prose with marks", words, ""},
		{"answers", questions, ""},
		{"addresses", people, ""},
		{"underscores", "Signed: " + strings.Repeat("_", 120) + " Date: ____", ""},
	} {
		want := "¶ Before the text.\n¶ After it.\n"
		if tt.unread == "" {
			want = "¶ Before the text.\n¶ " + tt.text + "\n¶ After it.\n"
		}
		for file, raw := range map[string][]byte{
			"a.txt": []byte("Before the text.\n\n" + tt.text + "\n\nAfter it.\n"),
			"a.docx": documenttest.Docx(t, documenttest.DocxParagraph("", "Before the text.")+
				documenttest.DocxParagraph("", strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(tt.text))+
				documenttest.DocxParagraph("", "After it."), nil),
		} {
			if tt.name == "uuencode" && file == "a.docx" {
				continue
			}
			doc := parsetest.Read(t, file, raw)
			if got := documenttest.Outline(doc.Blocks); got != want {
				t.Errorf("%s in %s:\n%s", tt.name, file, got)
			}
			if got := api.DescribeNotRead(doc.NotRead); got != tt.unread {
				t.Errorf("%s in %s: not read %q, want %q", tt.name, file, got, tt.unread)
			}
		}
	}
	err := parsetest.ReadError(t, parse.Options{}, "a.txt", []byte(lines(base64.StdEncoding.EncodeToString(secret), 76)))
	if !errors.Is(err, document.ErrEmpty) || !strings.Contains(err.Error(), "only 1 encoded text") {
		t.Errorf("only encoded: %v", err)
	}
}
