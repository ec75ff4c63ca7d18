package text_test

import (
	"reflect"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestMarkdown(t *testing.T) {
	doc := parsetest.Read(t, "access.md", []byte(`---
title: Access policy
last_updated: 2026-01-12
owner: "CISO"
---

# Rules

Access is *given* by
[role](https://example.com) &amp; need.

## Lists

1. First
   - inner \*one\*
2. Second

   more of it

| Role | Right |
|------|-------|
| Admin | all |
| User | read |

`+"```\nssh host\n  exit\n```"+`

> Quoted.

<div>raw <b>html</b><script>no()</script></div>
`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Rules
	¶ Access is given by role & need.  {Rules}
	## Lists  {Rules}
	- 1. First  {Rules > Lists}
	-- inner *one*  {Rules > Lists}
	- 2. Second  {Rules > Lists}
	- more of it  {Rules > Lists}
	| Role: Admin; Right: all  {Rules > Lists}
	| Role: User; Right: read  {Rules > Lists}
	> ssh host⏎  exit  {Rules > Lists}
	¶ Quoted.  {Rules > Lists}
	¶ raw html  {Rules > Lists}
	`)
	if doc.Title != "Access policy" || doc.Owner != "CISO" || !reflect.DeepEqual(doc.EffectiveDate, documenttest.Date(2026, 1, 12)) {
		t.Errorf("facts %q %q %v", doc.Title, doc.Owner, doc.EffectiveDate)
	}
	for i, want := range map[int]api.Locator{
		0: {LineStart: 7, LineEnd: 7},
		1: {LineStart: 9, LineEnd: 10},
		4: {LineStart: 15, LineEnd: 15},
		7: {LineStart: 22, LineEnd: 22},
		9: {LineStart: 26, LineEnd: 27},
	} {
		if got := doc.Blocks[i].Locator; got != want {
			t.Errorf("%q stands at %+v, want %+v", doc.Blocks[i].Text, got, want)
		}
	}
	if row := doc.Blocks[7]; !reflect.DeepEqual(row.Header, []string{"Role", "Right"}) ||
		!reflect.DeepEqual(row.Cells, []string{"Admin", "all"}) ||
		row.DisplayText() != "Admin all" {
		t.Errorf("row %+v", row)
	}
}

func FuzzMarkdown(f *testing.F) {
	parsetest.Fuzz(
		f,
		"a.md",
		"---\ntitle: x\n---\n# A\n\n- b\n  1. c\n\n| a | b |\n|-|-|\n| 1 | 2 |\n",
		"> - ```\nx\n\n<div>\n",
		"a\n===\n[b]: c\n",
		"\xff\xfea\x00",
	)
}

// TestMarkdownWithHTML checks that HTML in Markdown is read as a browser shows it, even if its tags enclose Markdown.
func TestMarkdownWithHTML(t *testing.T) {
	for _, tt := range []struct{ name, text, want, unread string }{
		{"struck", "MFA is <del>not</del> <s>never</s> on.", "¶ MFA is on.\n", "2 struck-through texts"},
		{"hidden", `MFA <span style="display:none">is never</span><b hidden>not</b> on.`, "¶ MFA on.\n", "2 hidden texts"},
		{"class", "<style>\n.x > i{visibility:hidden}\n</style>\n\nMFA <b class=x>is <i>never</i></b> on.", "¶ MFA is on.\n", "1 hidden text"},
		{"white", `MFA is <font color="white">not</font> on.`, "¶ MFA is on.\n", "1 hidden text"},
		{"script", "MFA <script>is()</script> on.", "¶ MFA on.\n", ""},
		{"hidden around Markdown", "<div hidden>\n\n# Never\n\n- MFA is on.\n\n| a | b |\n|---|---|\n| c | d |\n\n</div>\n\nShown.", "¶ Shown.\n", "1 hidden text"},
		{"visible around Markdown", "<details><summary>More</summary>\n\nMFA is on.\n\n</details>\n\nShown.", "¶ More\n¶ MFA is on.\n¶ Shown.\n", ""},
		{"tag never closed", "MFA <span hidden>is not.\n\nShown.", "¶ MFA\n¶ Shown.\n", "1 hidden text"},
		{
			"table", "<table><tr><th>System<th>MFA</th></th></tr><tr><td>CRM</td><td>yes</td></tr><tr><td>HR</td><td>no</td></tr></table>\n\nShown.",
			"| System: CRM; MFA: yes\n| System: HR; MFA: no\n¶ Shown.\n", "",
		},
		{"answers", `Locked? <input type="checkbox" checked> Yes <input type="checkbox"> No`, "¶ Locked? ☒ Yes ☐ No\n", ""},
		{"struck in Markdown", "MFA is ~~not~~ on.", "¶ MFA is on.\n", "1 struck-through text"},
		{"pictures", "See ![the gate](a.png) and <img src=b.png>.", "¶ See the gate and .\n", "2 pictures"},
		{"prompt", "Owner: <name of the owner>, a < b", "¶ Owner: <name of the owner>, a < b\n", ""},
	} {
		doc := parsetest.Read(t, "a.md", []byte(tt.text+"\n"))
		if got := documenttest.Outline(doc.Blocks); got != tt.want {
			t.Errorf("%s:\n%s", tt.name, got)
		}
		if got := api.DescribeNotRead(doc.NotRead); got != tt.unread {
			t.Errorf("%s: not read %q, want %q", tt.name, got, tt.unread)
		}
	}
}
