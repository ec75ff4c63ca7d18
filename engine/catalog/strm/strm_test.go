package strm

import (
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
)

// table returns a made-up document; each row is split at "|".
func table(rows ...string) []Line {
	var out []Line
	for i, row := range rows {
		out = append(out, Line{Sheet: "page 1", Cell: "A" + string(rune('1'+i)), Cells: strings.Split(row, "|")})
	}
	return out
}

const columns = "FDE #|FDE Name|Focal Document Element (FDE) Description|STRM\nRationale|STRM\n" +
	"Relationship|SCF Control|SCF #|SCF Control Description|Strength of\nRelationship\n(optional)|Notes\n(optional)"

func read(t *testing.T, rows ...string) *Document {
	t.Helper()
	doc, err := Read([][]Line{table(rows...)})
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

func TestRead(t *testing.T) {
	doc := read(
		t,
		"NIST IR 8477-Based Set Theory Relationship Mapping (STRM) Focal Document:|Moon Base Act (2030)",
		"Reference document: Secure Controls Framework (SCF) version 2031.1 Focal Document URL: https://example.org Published "+
			"STRM URL: https://example.org/strm/scf-strm-moon-base-act-2030.pdf",
		columns,
		"§ 1|Air|There is air.|Functional|Subset Of|Who|GOV-01|…|10|",
		"§ 1|Air|There is air.|Functional|Instersects With|Who|IAC-06\nNET-03|…|5|none",
		columns, // on the next page
		"|||Functional|intersects|Who|NET- 04|…|3|",
		"§ 2|N/A|N/A|Functional|No Relationship|N/A|N/A|N/A|0|",
		"|| Those who come from far away||||||",
		"§ 3||show papers.|Functional|Superset Of|Who|GOV-02|…|x|",
		"§ 3||show papers.|Functional|Equal|Who|GOV-02|…|10|",
		"§ 4||x|Functional|somehow|Who|GOV-02|…|10|",
		"§ 5||x|Functional|Equal|Who|GOVERN|…|10|",
	)
	if doc.FocalDocument != "Moon Base Act (2030)" || doc.Release != "2031.1" || doc.Identifier != "moon-base-act-2030" || doc.Rows != 8 ||
		len(doc.Elements) != 5 {
		t.Errorf("%+v", doc)
	}
	var got []string
	for _, e := range doc.Elements {
		got = append(got, e.Code+"|"+e.Name+"|"+e.Text)
		for _, r := range e.Relations {
			got = append(got, strings.Join([]string{r.Control, r.Relationship, string(rune('a' + r.Strength)), r.Rationale}, " "))
		}
	}
	want := []string{
		"§ 1|Air|There is air.", "GOV-01 subset k functional", "IAC-06 intersects f functional",
		"NET-03 intersects f functional", "NET-04 intersects d functional",
		"§ 2||", "§ 3||Those who come from far away show papers.", "GOV-02 superset ` functional", "§ 4||x", "§ 5||x",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%q\nwant %q", got, want)
	}
	for _, words := range []string{"strength \"x\"", "listed twice", "unknown relationship \"somehow\"", "\"GOVERN\" is not a control code"} {
		wantWarning(t, doc.Warnings, words)
	}
}

func wantWarning(t *testing.T, warnings []api.ImportWarning, words string) {
	t.Helper()
	for _, w := range warnings {
		if strings.Contains(w.Message, words) {
			return
		}
	}
	t.Errorf("no warning with %q in %v", words, warnings)
}

// TestHeaders checks different spellings of the header, with other sheets before and after.
func TestHeaders(t *testing.T) {
	for _, h := range []string{
		"FDE#|STRM Relationship|SCF #",
		"CMMC FDE#|▪ STRM Relationship|Legecy SCF #|SCF # (2026.3)",
		"FDE #|SCF #|STRM\nRelationship",
	} {
		doc, err := Read([][]Line{table("Read me"), table(h, "1|Equal|GOV-01|GOV-01")})
		if err != nil {
			t.Errorf("%q: %v", h, err)
			continue
		}
		if doc.Elements[0].Code != "1" {
			t.Errorf("%q: %+v", h, doc.Elements)
		}
	}
	if _, err := Read([][]Line{table("SCF #|FDE Name", "GOV-01|x")}); !errors.Is(err, ErrNoTable) {
		t.Errorf("got %v", err)
	}
	if _, err := Read([][]Line{table("FDE #|STRM Relationship|SCF #")}); err == nil {
		t.Error("a header alone is a document")
	}
}

func source() *scf.Source {
	return &scf.Source{
		Label:   "2031.1",
		Domains: []scf.Domain{{Code: "GOV"}, {Code: "IAC"}},
		Controls: []scf.Control{
			{Code: "GOV-01", Weight: 5}, {Code: "GOV-02", Weight: 5}, {Code: "IAC-06", Weight: 5},
		},
		Frameworks: []scf.Framework{
			{Code: "other", Requirements: []scf.Requirement{{Code: "1"}}},
			{Code: "moon", Requirements: []scf.Requirement{{Code: "Article 1"}, {Code: "Article 10"}, {Code: "Article 11"}}},
		},
		Mappings: []scf.Mapping{
			{Control: 0},
			{Control: 0, Framework: 1},
			{Control: 1, Framework: 1, Requirement: 1},
			{Control: 2, Framework: 1, Requirement: 2},
		},
	}
}

func TestLay(t *testing.T) {
	base := source()
	doc := read(t, columns,
		"Art. 1|Air|There is air.|Functional|Equal||GOV-01||10|",
		"Article 2|Water||Functional|Subset Of||IAC-06||10|mostly",
		"Article 10|||Functional|No Relationship||GOV-02||0|",
		"Article 11|||Functional|Equal||ZZZ-01||10|")
	out, record, warnings := MergeIntoFramework(base, 1, doc, api.MappingDocument{Filename: "m.pdf"})
	if !reflect.DeepEqual(base, source()) {
		t.Error("the source was changed")
	}
	if _, err := scf.NewSnapshot(out, scf.Version{ID: "01930000-0000-7000-8000-000000000001"}); err != nil {
		t.Fatal(err)
	}
	want := api.MappingDocument{
		Filename: "m.pdf", FrameworkCode: "moon", Rows: 4, Elements: 4, Related: 2,
		MappingsConfirmed: 1, MappingsAdded: 1, MappingsUnnamed: 2, RequirementsAdded: 1, RequirementsWorded: 2,
	}
	if record != want {
		t.Errorf("%+v\nwant %+v", record, want)
	}
	if q := out.Frameworks[1].Requirements; len(q) != 4 ||
		q[0] != (scf.Requirement{Code: "Article 1", Title: "Air", Text: "There is air."}) ||
		q[1].Code != "Article 2" {
		t.Errorf("%+v", q)
	}
	var got []string
	for _, m := range out.Mappings {
		s := out.Controls[m.Control].Code + " " + out.Frameworks[m.Framework].Requirements[m.Requirement].Code
		if m.Detail != nil {
			s += " " + m.Detail.Relationship + " " + m.Detail.Rationale + " " + m.Detail.Source
		}
		got = append(got, s)
	}
	if want := []string{
		"GOV-01 1",
		"GOV-01 Article 1 equal functional m.pdf",
		"GOV-02 Article 10",
		"IAC-06 Article 2 subset functional: mostly m.pdf",
		"IAC-06 Article 11",
	}; !reflect.DeepEqual(
		got,
		want,
	) {
		t.Errorf("%q", got)
	}
	for _, words := range []string{
		"the document doesn't relate them",
		"ZZZ-01 is not a control",
		"the workbook doesn't; the mapping was added",
		"were added: Article 2",
		"the workbook maps Article 11 to IAC-06, but the document doesn't",
	} {
		wantWarning(t, warnings, words)
	}
	again, record, _ := MergeIntoFramework(out, 1, doc, api.MappingDocument{Filename: "m.pdf"})
	if record.MappingsAdded != 0 || record.RequirementsAdded != 0 || !reflect.DeepEqual(again, out) {
		t.Errorf("the second time: %+v", record)
	}
}

func FuzzRead(f *testing.F) {
	f.Add(columns + "\n§ 1|a|b|Functional|Equal|x|GOV-01|y|10|")
	f.Add("FDE #|STRM Relationship|SCF #\n|Equal|GOV-01\n1|no|IAC-06;GOV-01\n||")
	f.Add("x|Focal Document: y\n" + columns + "\n||torn\n" + columns + "\n1||whole|||\n")
	f.Fuzz(func(t *testing.T, text string) {
		doc, err := Read([][]Line{table(strings.Split(text, "\n")...)})
		if err != nil {
			return
		}
		out, _, _ := MergeIntoFramework(source(), 1, doc, api.MappingDocument{Filename: "m.pdf"})
		if _, err := scf.NewSnapshot(out, scf.Version{ID: "01930000-0000-7000-8000-000000000001"}); err != nil {
			t.Errorf("the catalog contradicts itself: %v", err)
		}
	})
}
