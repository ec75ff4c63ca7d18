package parse

import (
	"errors"
	"strings"
	"testing"
)

func TestRTF(t *testing.T) {
	doc := read(
		t,
		"policy.rtf",
		[]byte(`{\rtf1\ansi\ansicpg1252\uc1\deff0{\fonttbl{\f0 Calibri;}{\f1\fcharset204 Arial;}}{\colortbl;\red0\green0\blue0;}
{\stylesheet{\ql Normal;}{\s1\outlinelevel0 heading 1;}{\s2 heading 2;}{\s9 toc 1;}{\*\cs10 Default Font;}}
{\info{\title Access Policy}{\author Somebody}{\operator x}}
{\header\pard Acme \emdash  Version: 2.1\par}{\footer Page {\field{\*\fldinst PAGE}{\fldrslt 1}}}
\pard\s9 Rules\tab 3\par
\pard\s1 Rules\par
\pard Access is {\b given} by r\'f4le\~\u8211\'96 always{\footnote See the matrix.}.{\v hidden words}{\deleted gone}\par
{\*\unknown secret}{\pict\pngblip 89504e47}{\object\objemb{\*\objdata 0102}{\result shown}}\par
{\listtext\'b7\tab}\pard\ls1\ilvl0 dot\par
{\listtext 1.\tab}\pard\ls2\ilvl1 numbered\par
\pard\s2 Matrix\par
\trowd\cellx100\cellx200\pard\intbl Role\cell Right\cell\row
\trowd\cellx100\cellx200\pard\intbl Admin\cell all\par and more\cell\row
\pard {\f1 \'cf\'f0\'e8\'e2\'e5\'f2} \u-10179?\u-8704? \{braced\} back\\slash\par
{\field{\*\fldinst HYPERLINK "https://example.com/x"}{\fldrslt a link}}\par}`),
	)
	same(t, outline(doc.Blocks), `
	# Rules
	¶ Access is given by rôle – always.  {Rules}
	¶ See the matrix.  {Rules}
	¶ shown  {Rules}
	- dot  {Rules}
	-- 1. numbered  {Rules}
	## Matrix  {Rules}
	| Role: Admin; Right: all and more  {Rules > Matrix}
	¶ Привет 😀 {braced} back\slash  {Rules > Matrix}
	¶ a link  {Rules > Matrix}
	`)
	if doc.Title != "Access Policy" || doc.Version != "2.1" || doc.MIME != "application/rtf" {
		t.Errorf("title %q, version %q, %s; aside %s", doc.Title, doc.Version, doc.MIME, outline(doc.Furniture))
	}
}

// Where no style makes a heading, short bold paragraphs are taken for them.
func TestRTFBold(t *testing.T) {
	doc := read(
		t,
		"a.rtf",
		[]byte(
			`{\rtf1 {\b Rules}\par Access by role, and by nothing else.\par More of the text here.\par {\b Review}\par Each quarter, by the owner.\par}`,
		),
	)
	same(t, outline(doc.Blocks), `
	# Rules
	¶ Access by role, and by nothing else.  {Rules}
	¶ More of the text here.  {Rules}
	# Review
	¶ Each quarter, by the owner.  {Review}
	`)
}

func TestRST(t *testing.T) {
	doc := read(t, "a.rst", []byte(`=============
Access policy
=============

:Version: 1.4
:Owner: Head of IT

Rules
=====

Access is *given* by **role** and `+"``need``"+`; see `+"`the matrix <https://example.com/m>`_ and :ref:`review`"+` [1]_.

1. First
2. Second with
   more of it

- dot

.. note:: Exceptions need
   the CISO.

.. toctree::
   :maxdepth: 2

   other

.. a comment that says nothing

Run::

    ssh host
      exit

Matrix
------

=====  =========
Role   Right
=====  =========
Admin  all
User   read
       only
=====  =========

+-------+--------+
| Asset | Owner  |
+=======+========+
| Mail  | IT and |
|       | ops    |
+-------+--------+

.. [1] Kept by the owner.
`))
	same(t, outline(doc.Blocks), `
	# Access policy
	| Version: 1.4  {Access policy}
	| Owner: Head of IT  {Access policy}
	## Rules  {Access policy}
	¶ Access is given by role and need; see the matrix and review .  {Access policy > Rules}
	- 1. First  {Access policy > Rules}
	- 2. Second with more of it  {Access policy > Rules}
	- dot  {Access policy > Rules}
	¶ Exceptions need the CISO.  {Access policy > Rules}
	¶ Run:  {Access policy > Rules}
	>     ssh host⏎      exit  {Access policy > Rules}
	### Matrix  {Access policy > Rules}
	| Role: Admin; Right: all  {Access policy > Rules > Matrix}
	| Role: User; Right: read only  {Access policy > Rules > Matrix}
	| Asset: Mail; Owner: IT and ops  {Access policy > Rules > Matrix}
	¶ Kept by the owner.  {Access policy > Rules > Matrix}
	`)
	if doc.Title != "Access policy" || doc.Version != "1.4" || doc.Owner != "Head of IT" {
		t.Errorf("title %q, version %q, owner %q", doc.Title, doc.Version, doc.Owner)
	}
	if at := doc.Blocks[4].Locator; at.LineStart != 11 || at.LineEnd != 11 {
		t.Errorf("place %+v", at)
	}
}

func TestYAML(t *testing.T) {
	doc := read(t, "a.yaml", []byte(`version: "1.4"
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
	same(t, outline(doc.Blocks), `
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
	// What is no YAML is read all the same.
	if doc := read(t, "a.yml", []byte("name: {{ .Values.name }}\n  bad: [\n")); len(doc.Warnings) != 1 || len(doc.Blocks) == 0 {
		t.Errorf("%q %s", doc.Warnings, outline(doc.Blocks))
	}
}

// A few lines that stand for millions are not expanded.
func TestYAMLBomb(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := 'b'; i < 'm'; i++ {
		prev := string(i - 1)
		bomb += string(i) + ": &" + string(i) + " [" + strings.TrimRight(strings.Repeat("*"+prev+",", 9), ",") + "]\n"
	}
	if doc := read(t, "a.yaml", []byte(bomb)); len(doc.Blocks) > 200 {
		t.Errorf("%d blocks", len(doc.Blocks))
	}
}

// Inputs that make careless readers take quadratic time or nest without end.
func TestNastyMarks(t *testing.T) {
	const n = 100_000
	for name, s := range map[string]string{
		"braces.rtf":   `{\rtf1 ` + strings.Repeat("{", n),
		"closed.rtf":   `{\rtf1 a` + strings.Repeat("}", n) + strings.Repeat(`\par b`, n),
		"bin.rtf":      `{\rtf1 a` + strings.Repeat(`\bin9999999999 `, 1000),
		"words.rtf":    `{\rtf1 ` + strings.Repeat(`\u99999 x`, n),
		"cells.rtf":    `{\rtf1 \intbl ` + strings.Repeat(`x\cell `, n) + `\row`,
		"notes.rtf":    `{\rtf1 a` + strings.Repeat(`{\footnote b}`, n),
		"fonts.rtf":    `{\rtf1 {\fonttbl` + strings.Repeat(`{\f9\fcharset204 x;}`, n) + `}a`,
		"rules.rst":    strings.Repeat("=====\n", n),
		"titles.rst":   strings.Repeat("ab\n--\n", n),
		"blank.rst":    "===== =====\n" + strings.Repeat("\n", n),
		"tables.rst":   strings.Repeat("== ==\na  b\n== ==\n", n/10),
		"ticks.rst":    strings.Repeat("`a ``b ", n),
		"stars.rst":    strings.Repeat("*a **b ", n),
		"literal.rst":  strings.Repeat("a::\n\n  b\n", n),
		"comment.rst":  strings.Repeat(".. x::\n", n),
		"flow.yaml":    strings.Repeat("[", n) + "x",
		"indent.yaml":  strings.Repeat("- ", n) + "x",
		"keys.yaml":    strings.Repeat("? ", 2000) + "x",
		"anchors.yaml": strings.Repeat("- &a b\n- *a\n", n/10),
		"quotes.yaml":  "a: \"" + strings.Repeat("\\", n),
		"fields.eml":   "From: a\nTo: b\nSubject: c\nDate: d\n" + strings.Repeat("X-A: b\n", n) + "\ntext",
		"parts.eml":    "From: a\nTo: b\nSubject: c\nDate: d\nContent-Type: multipart/mixed; boundary=x\n\n" + strings.Repeat("--x\n\na\n", n/10),
		"folded.eml":   "From: a\nTo: b\nSubject: c" + strings.Repeat("\n =?utf-8?Q?x?=", n/10) + "\nDate: d\n\ntext",
	} {
		t.Run(name, func(t *testing.T) {
			err := readErr(t, Options{}, name, []byte(s))
			if errors.Is(err, ErrTimeout) {
				t.Error(err)
			}
		})
	}
}

func FuzzRTF(f *testing.F) {
	fuzzText(
		f,
		"a.rtf",
		`{\rtf1{\stylesheet{\s1 heading 1;}}\s1 a\par\pard\intbl b\cell\row {\footnote c}\u8211?\'e9}`,
		`{\rtf1{\listtext 1.}\ls1 x\par}}}`,
		`{\rtf\bin3 {}}\par\*`,
	)
}

func FuzzRST(f *testing.F) {
	fuzzText(
		f,
		"a.rst",
		"A\n=\n\n.. note:: b\n   c\n\n== ==\na  b\n== ==\nc  d\n== ==\n",
		"+-+-+\n|a|b|\n+=+=+\n|c|d|\n+-+-+\n",
		"x::\n\n  y\n\n:Version: 1\n\n.. [1] z",
	)
}

func FuzzYAML(f *testing.F) {
	fuzzText(f, "a.yaml", "a: &x [1, {b: *x}]\n---\n- c: |\n    d\n", "? [a]\n: b\n", "%YAML 1.2\n---\n!!binary x: y")
}
