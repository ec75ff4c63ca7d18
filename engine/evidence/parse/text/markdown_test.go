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
