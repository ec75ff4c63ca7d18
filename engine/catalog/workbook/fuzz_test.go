package workbook

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/engine/catalog/scf"
)

// FuzzSheet replaces the main sheet with any XML, which must be read completely or rejected.
func FuzzSheet(f *testing.F) {
	good := build(f, mainGrid("SCF 2022.3",
		[]any{"NIST\nCSF\nv1.1", "a\nb", formula("1+1"), 5.1}, []any{"PPTDF\nPeople", "x", "", ""}, []any{"Ours", "y", "", ""}))
	rezip(f, good, func(name string, body []byte) []byte {
		if strings.HasSuffix(name, "sheet1.xml") {
			f.Add(string(body))
			f.Add(strings.ReplaceAll(string(body), "<c ", "<x:c "))
		}
		return body
	})
	f.Add(`<worksheet><sheetData><row r="1"><c r="A1" t="inlineStr"><is><t>SCF Domain</t></is></c></row></sheetData></worksheet>`)
	f.Fuzz(func(t *testing.T, xml string) {
		data := editSheet(t, good, func(string) string { return xml })
		src, err := readBytes(data, Options{Label: "1", Limits: Limits{Controls: 100, Columns: 100, Warnings: 50}})
		if err != nil {
			var refusal *ReadError
			if !errors.As(err, &refusal) {
				t.Errorf("an error without a place: %v", err)
			}
			return
		}
		if _, err := scf.NewSnapshot(src, scf.Version{ID: versionID}); err != nil {
			t.Errorf("a source was read that contradicts itself: %v", err)
		}
	})
}

// FuzzHeader checks that any header has one meaning, whatever its white space and case.
func FuzzHeader(f *testing.F) {
	for _, h := range []string{
		"SCF #", "Relative Control\nWeighting (1-10)", "C|P-CMM 3\nWell Defined", "SCRM Focus\n\nTIER 1\nSTRATEGIC",
		"Risk\nR-AC-1", "EMEA\nEU\nGDPR", "PPTDF\nPeople", "SCF Errata\n2020.3", "US - TX\nSB 820", "Low+", "\u00a0", "ISO/IEC 27001:2022",
	} {
		f.Add(h)
	}
	f.Fuzz(func(t *testing.T, header string) {
		c := classifyHeader(header)
		again := classifyHeader(" " + strings.Join(strings.Fields(header), " \n\u00a0") + "\t")
		if again != c {
			t.Errorf("%q is %+v, with other white space %+v", header, c, again)
		}
		if slug := scf.FrameworkCode(header); scf.FrameworkCode(slug) != slug {
			t.Errorf("%q: the slug of %q is %q", header, slug, scf.FrameworkCode(slug))
		}
	})
}

// FuzzCells checks that any text of a crosswalk cell can be read.
func FuzzCells(f *testing.F) {
	for _, c := range []string{
		"5.1 \n5.10\n5.1",
		"AC-2 (1)\r\nA&A-03",
		"11.2, 11.2.2 11.2.3",
		"Section 3(1)(b)",
		"\u00a0\n",
		"5.0999999999999996",
	} {
		f.Add(c)
	}
	f.Fuzz(func(t *testing.T, text string) {
		im := &importer{book: &workbookReader{limits: Limits{}.withDefaults()}, src: &scf.Source{}, main: &sheet{name: "m"}}
		codes := im.splitCodes(text, 1, mainColumn{})
		for i, code := range codes {
			if code == "" || code != strings.TrimSpace(code) || slices.Contains(codes[:i], code) || strings.Contains(code, "\n") {
				t.Errorf("%q in %q", code, codes)
			}
			if spaced := strings.ReplaceAll(code, "(", " ("); scf.NormalizeRequirementCode(spaced) != scf.NormalizeRequirementCode(code) {
				t.Errorf("%q is %q, %q is %q", code, scf.NormalizeRequirementCode(code), spaced, scf.NormalizeRequirementCode(spaced))
			}
		}
		slices.SortFunc(codes, scf.CompareNatural)
		normalizeNumber(text)
		isMarked(text, "IAC-01")
	})
}

// FuzzFile checks that any file is read completely or rejected.
func FuzzFile(f *testing.F) {
	good := build(f, mainGrid("SCF 2022.3", []any{"NIST\nCSF\nv1.1", "a\nb", "c", 5.1}))
	f.Add(good)
	f.Add(good[:len(good)/2])
	f.Add(bomb(f))
	f.Add([]byte("PK\x05\x06" + strings.Repeat("\x00", 18)))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits := Limits{File: 1 << 20, Unpacked: 4 << 20, Controls: 100, Columns: 100, Cells: 10_000, Warnings: 50}
		src, err := readBytes(data, Options{Label: "1", Limits: limits})
		if err != nil {
			var refusal *ReadError
			if !errors.As(err, &refusal) {
				t.Errorf("an error without a reason: %v", err)
			}
			return
		}
		if _, err := scf.NewSnapshot(src, scf.Version{ID: versionID}); err != nil {
			t.Errorf("a source was read that contradicts itself: %v", err)
		}
	})
}
