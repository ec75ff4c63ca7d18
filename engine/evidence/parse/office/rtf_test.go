package office_test

import (
	"testing"

	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
)

func TestRTF(t *testing.T) {
	doc := parsetest.Read(
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
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
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
		t.Errorf("title %q, version %q, %s; aside %s", doc.Title, doc.Version, doc.MIME, documenttest.Outline(doc.Furniture))
	}
}

// If no style marks headings, short bold paragraphs count as headings.
func TestRTFBold(t *testing.T) {
	doc := parsetest.Read(
		t,
		"a.rtf",
		[]byte(
			`{\rtf1 {\b Rules}\par Access by role, and by nothing else.\par More of the text here.\par {\b Review}\par Each quarter, by the owner.\par}`,
		),
	)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Rules
	¶ Access by role, and by nothing else.  {Rules}
	¶ More of the text here.  {Rules}
	# Review
	¶ Each quarter, by the owner.  {Review}
	`)
}

func FuzzRTF(f *testing.F) {
	parsetest.Fuzz(
		f,
		"a.rtf",
		`{\rtf1{\stylesheet{\s1 heading 1;}}\s1 a\par\pard\intbl b\cell\row {\footnote c}\u8211?\'e9}`,
		`{\rtf1{\listtext 1.}\ls1 x\par}}}`,
		`{\rtf\bin3 {}}\par\*`,
		`{\rtf{\fonttbl{\f3 Wingdings;}}{\field{\*\fldinst SYMBOL 254 \\f "Wingdings"{\*\formfield{\fftype2\ffres9{\*\ffl a}}}}{\fldrslt}}\f3 o\par}`,
		`{\rtf\trowd\clmrg\cellx1\clvmrg\cellx2\pard\intbl a\cell\cell\cell\row}`,
		`{\rtf\pard\intbl\itap9 a\nestcell{\*\nesttableprops\nestrow}b\cell\nestrow\row{\*\shppict{\pict{\*\picprop{\sp{\sn fHidden}{\sv 1}}}\bin2 ab0}}x}`,
		`{\rtf{\shp{\*\shpinst\shpright-99999{\sv 1}{\shptxt a}}}{\sn wzDescription}{\sv b}c}`,
	)
}

// Characters of two bytes: as two codes, as a code and a letter, and unencoded; one that is cut off is left out.
func TestRTFMultiByte(t *testing.T) {
	doc := parsetest.Read(t, "access.rtf", []byte(`{\rtf1\ansi\ansicpg936\uc2{\fonttbl{\f0 Arial;}{\f1\fcharset128 Mincho;}{\f2\fcharset129 Batang;}}
\f1\'83A\'83\'4e\'83Z\'83X rule\par
\f1\'83\\ \'83`+"\x83\x41"+`x\par
\f0\'b7\'c3\'ce\'ca \u12450\'83\'41!\par
\f2\'c1\'a2\'b1\'d9 \'c1\f0 z{\f1\'83}A\par}`))
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), "¶ アクセス rule\n¶ ソ ャAx\n¶ 访问 ア!\n¶ 접근 zA\n")
}
