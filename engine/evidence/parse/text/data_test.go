package text_test

import (
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestCSV(t *testing.T) {
	doc := parsetest.Read(t, "assets.csv", []byte("Asset register 2026;;\n;;\nAsset;Owner;Class\n\"mail\nserver\";IT;high\nlaptop;;low\n"))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	¶ Asset register 2026
	| Asset: mail server; Owner: IT; Class: high
	| Asset: laptop; Class: low
	`)
	if got := doc.Blocks[1].Locator; got != (api.Locator{LineStart: 4, LineEnd: 5}) {
		t.Errorf("locator %+v", got)
	}
	if tsv := parsetest.Read(t, "x", []byte("a\tb\n1\t2\n3\t4\n")); tsv.MIME != "text/tab-separated-values" ||
		tsv.Blocks[0].Text != "a: 1; b: 2" {
		t.Errorf("tsv %s %q", tsv.MIME, tsv.Blocks[0].Text)
	}
}

func FuzzCSV(f *testing.F) {
	parsetest.Fuzz(f, "a.csv", "a,b\n1,2\n3,4\n", "a;b\n\"x\ny\";2\n", "Version,1\nOwner,CISO\n", "a\tb\n\"",
		"Q,A\nx?,\n,\n\nx?,No\n", "a,b,,c\n,d,e,\n1,2,3,4\n,,,\nT\na,x\n1,2\n3,4\n")
}

func TestJSON(t *testing.T) {
	doc := parsetest.Read(t, "x.json", []byte(`{"version": "3", "name": "export",
 "users": [
  {"id": 1, "mfa": true, "name": null},
  {"id": 2, "mfa": false, "groups": ["a", "b"]}
 ]}`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	| version: 3; name: export
	| id: 1; mfa: true  {users}
	| id: 2; mfa: false  {users}
	- a  {users > groups}
	- b  {users > groups}
	`)
	if doc.Version != "3" || doc.Blocks[1].Locator != (api.Locator{LineStart: 3, LineEnd: 3}) {
		t.Errorf("version %q, %+v", doc.Version, doc.Blocks[1].Locator)
	}
	if lines := parsetest.Read(t, "x.jsonl", []byte("{\"a\":1}\n{\"a\":2}\n")); len(lines.Blocks) != 2 ||
		lines.Blocks[1].Locator.LineStart != 2 {
		t.Errorf("json lines: %+v", lines.Blocks)
	}
}

func FuzzJSON(f *testing.F) {
	parsetest.Fuzz(f, "a.json", `{"a":[1,{"b":null}],"version":"2"}`, "{\"a\":1}\n[2]", `[[],[[{}]]]`)
}

func TestYAML(t *testing.T) {
	doc := parsetest.Read(t, "a.yaml", []byte(`version: "1.4"
owner: CISO
# a comment
access:
  mfa: true
  reviewed: 2026-10-01
  roles:
    - name: admin
      right: all
    - name: user
      right: read
  systems: [mail, billing]
  text: |
    Two lines
    of words.
  base: &b {a: 1}
  more: *b
---
second: document
`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	| version: 1.4; owner: CISO
	| mfa: true; reviewed: 2026-10-01  {access}
	| name: admin; right: all  {access > roles}
	| name: user; right: read  {access > roles}
	- mail  {access > systems}
	- billing  {access > systems}
	| text: Two lines of words.  {access}
	| a: 1  {access > base}
	| more: *b  {access}
	| second: document
	`)
	if doc.Version != "1.4" || doc.Owner != "CISO" || doc.Blocks[2].Locator.LineStart != 8 {
		t.Errorf("version %q, owner %q, place %+v", doc.Version, doc.Owner, doc.Blocks[2].Locator)
	}
	// Invalid YAML is read as text.
	if doc := parsetest.Read(t, "a.yml", []byte("name: {{ .Values.name }}\n  bad: [\n")); len(doc.Warnings) != 1 || len(doc.Blocks) == 0 {
		t.Errorf("%q %s", doc.Warnings, documenttest.Outline(doc.Blocks))
	}
}

// TestYAMLBomb checks that a few lines that would expand to millions are not expanded.
func TestYAMLBomb(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'm'; i++ {
		prev := string(i - 1)
		bomb += string(i) + ": &" + string(i) + " [" + strings.TrimRight(strings.Repeat("*"+prev+",", 9), ",") + "]\n"
	}
	if doc := parsetest.Read(t, "a.yaml", []byte(bomb)); len(doc.Blocks) > 200 {
		t.Errorf("%d blocks", len(doc.Blocks))
	}
}

func FuzzYAML(f *testing.F) {
	parsetest.Fuzz(f, "a.yaml", "a: &x [1, {b: *x}]\n---\n- c: |\n    d\n", "? [a]\n: b\n", "%YAML 1.2\n---\n!!binary x: y")
}
