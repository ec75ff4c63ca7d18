package catalog_test

import (
	"archive/zip"
	"bytes"
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/catalog/strm"
)

// mapping returns a mapping document about the NIST CSF as an .xlsx file with an unrelated first
// sheet.
func mapping(t *testing.T, rows ...[]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	put := func(sheet string, rows [][]any) {
		if _, err := f.NewSheet(sheet); err != nil {
			t.Fatal(err)
		}
		for i, r := range rows {
			cell, _ := excelize.CoordinatesToCellName(1, i+1)
			if err := f.SetSheetRow(sheet, cell, &r); err != nil {
				t.Fatal(err)
			}
		}
	}
	put("Sheet1", [][]any{{"How to read this"}})
	put("FD to SCF", append([][]any{
		{"Focal Document:", "A framework of made-up words"},
		{"Reference Document:", "Secure Controls Framework (SCF) version 2030.1"},
		nil, nil,
		{
			"FDE#",
			"FDE Name",
			"Focal Document Element (FDE) Description",
			"STRM\nRationale",
			"STRM\nRelationship",
			"SCF Control",
			"SCF #",
			"Strength of\nRelationship (optional)",
			"Notes",
		},
	}, rows...))
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

var elements = [][]any{
	{"GV.OC-01", "Mission", "The mission is known.", "Functional", "Subset Of", "Program", "GOV-01", 10, nil},
	{"PR.AA-03", "Users", "Users are who they say.", "Functional", "Instersects With", "Second factor", "IAC-06", "5", nil},
	{"PR.AA-09", "More", "More is asked.", "Functional", "Equal", "Second factor", "IAC-06", 10, nil},
	{"PR.ZZ-01", "Far", "Nobody does this.", "Functional", "No Relationship", "N/A", "N/A", 0, nil},
}

func document(name string, data []byte) *api.ImportSTRMInput {
	return &api.ImportSTRMInput{File: api.UploadFile{Filename: name, Content: bytes.NewReader(data)}}
}

func imported(t *testing.T, s *catalog.Service) *api.CatalogVersion {
	t.Helper()
	if _, err := s.ImportWorkbook(t.Context(), by, upload(workbook(t, rows...), "2030.1")); err != nil {
		t.Fatal(err)
	}
	return latest(t, s)
}

// TestSTRM checks that importing a document creates a revision with the same IDs and leaves the
// base version unchanged.
func TestSTRM(t *testing.T) {
	s, db := newShelf(t)
	base := imported(t, s)
	data := mapping(t, elements...)
	run, err := s.ImportSTRM(t.Context(), by, document("scf-strm-general-nist-csf-2-0.xlsx", data))
	if err != nil {
		t.Fatal(err)
	}
	v := latest(t, s)
	if run.VersionID == nil || *run.VersionID != v.ID || v.ID == base.ID || v.Label != "2030.1+strm.1" || v.BasedOnID == nil ||
		*v.BasedOnID != base.ID ||
		len(v.MappingDocuments) != 1 {
		t.Fatalf("run %+v, version %+v", run, v)
	}
	d := run.Documents[0]
	if d.FrameworkCode != "nist-csf-2.0" || d.Elements != 4 || d.MappingsConfirmed != 2 || d.MappingsAdded != 1 || d.MappingsUnnamed != 1 ||
		d.RequirementsAdded != 2 ||
		d.Release != "2030.1" {
		t.Errorf("%+v", d)
	}
	ask := func(version, requirement string) []api.Mapping {
		l, err := s.ListRequirementMappings(t.Context(), by, &api.RequirementMappingsInput{RequirementID: requirement, Version: version})
		if err != nil {
			t.Fatal(err)
		}
		return l.Data
	}
	was, is := ask(base.ID, "GV.OC-01"), ask("", "GV.OC-01")
	if was[0].Relationship != nil || is[0].Relationship == nil || *is[0].Relationship != "subset" || *is[0].Strength != 10 ||
		*is[0].Rationale != "functional" ||
		is[0].Source != "scf-strm-general-nist-csf-2-0.xlsx" || is[0].ID != was[0].ID ||
		is[0].ControlID != was[0].ControlID ||
		is[0].VersionID != v.ID {
		t.Errorf("was %+v, is %+v", was, is)
	}
	if got := ask("", "PR.ZZ-01"); len(got) != 0 {
		t.Errorf("%+v", got)
	}
	// Reading the revision from its bytes gives the same IDs.
	again := catalog.New(db, time.Now)
	if l, err := again.ListRequirements(
		t.Context(),
		by,
		&api.RequirementsInput{FrameworkInput: api.FrameworkInput{FrameworkID: "nist-csf-2.0"}},
	); err != nil ||
		len(l.Data) != 5 || l.Data[0].ID != is[0].RequirementID ||
		*l.Data[0].Title != "Mission" ||
		*l.Data[0].Text != "The mission is known." {
		t.Errorf("%+v, %v", l, err)
	}
	// Import the same bytes again, over either of the two versions.
	for _, over := range []string{"", "2030.1"} {
		in := document("renamed-nist-csf-2-0.xlsx", data)
		in.Version, in.Framework = over, "nist-csf-2.0"
		run, err := s.ImportSTRM(t.Context(), by, in)
		if err != nil || run.VersionID == nil || *run.VersionID != v.ID || latest(t, s).ID != v.ID {
			t.Errorf("the same bytes over %q: %+v, %v", over, run, err)
		}
	}
	if l, err := s.ListVersions(t.Context(), by, &api.Paging{}); err != nil || len(l.Data) != 3 {
		t.Errorf("%+v, %v", l, err)
	}
	diff, err := s.DiffVersions(t.Context(), by, &api.DiffInput{VersionInput: api.VersionInput{SCFVersionID: "latest"}, From: "2030.1"})
	if err != nil || diff.Summary.MappingsGained != 1 || diff.Summary.Unchanged != 2 {
		t.Errorf("%+v, %v", diff, err)
	}
}

// TestSTRMArchive checks that several documents are imported together or not at all, and that an
// invalid document changes nothing.
func TestSTRMArchive(t *testing.T) {
	s, _ := newShelf(t)
	imported(t, s)
	other := mapping(t, []any{"4.4", "System", "There is a system.", "Functional", "Equal", "Program", "GOV-01", 10, nil})
	pack := func(files map[string][]byte) []byte {
		var b bytes.Buffer
		z := zip.NewWriter(&b)
		for name, data := range files {
			w, err := z.Create(name)
			if err == nil {
				_, err = w.Write(data)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return b.Bytes()
	}
	good := mapping(t, elements...)
	before := latest(t, s).ID
	for name, in := range map[string]*api.ImportSTRMInput{
		"text":             document("x.pdf", []byte("hello")),
		"a PDF, unread":    document("x.pdf", []byte("%PDF-1.7")),
		"another workbook": document("scf-strm-general-nist-csf-2-0.xlsx", workbook(t, rows...)),
		"no framework":     document("mapping.xlsx", good),
		"half good": document(
			"all.zip",
			pack(map[string][]byte{"scf-strm-general-nist-csf-2-0.xlsx": good, "scf-strm-emea-moon.xlsx": other}),
		),
		"empty archive": document("all.zip", pack(map[string][]byte{"readme.txt": nil})),
	} {
		if _, err := s.ImportSTRM(t.Context(), by, in); !api.IsCode(err, api.CodeValidation) {
			t.Errorf("%s: %v", name, err)
		}
		if latest(t, s).ID != before {
			t.Fatalf("%s: the version changed", name)
		}
	}
	two := map[string][]byte{"a/scf-strm-general-nist-csf-2-0.xlsx": good, "a/scf-strm-general-iso-27001-2022.xlsx": other}
	run, err := s.DryRunSTRM(t.Context(), by, document("all.zip", pack(two)))
	if err != nil || len(run.Documents) != 2 || run.VersionID != nil || latest(t, s).ID != before {
		t.Fatalf("%+v, %v", run, err)
	}
	run, err = s.ImportSTRM(t.Context(), by, document("all.zip", pack(two)))
	if err != nil || len(run.Documents) != 2 || latest(t, s).Label != "2030.1+strm.1" || len(latest(t, s).MappingDocuments) != 2 {
		t.Fatalf("%+v, %v", run, err)
	}
	in := document("all.zip", pack(two))
	in.Framework = "nist-csf-2.0"
	if _, err := s.ImportSTRM(t.Context(), by, in); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("one framework for two documents: %v", err)
	}
}

// TestSTRMOverAnOlderVersion checks that importing over an inactive version doesn't change the
// active one.
func TestSTRMOverAnOlderVersion(t *testing.T) {
	s, _ := newShelf(t)
	imported(t, s)
	if _, err := s.ImportWorkbook(t.Context(), by, upload(workbook(t, rows[:1]...), "2031.1")); err != nil {
		t.Fatal(err)
	}
	in := document("x.xlsx", mapping(t, elements...))
	in.Version, in.Framework = "2030.1", "nist-csf-2.0"
	run, err := s.ImportSTRM(t.Context(), by, in)
	if err != nil || latest(t, s).Label != "2031.1" {
		t.Fatalf("%+v, %v", run, err)
	}
	v, err := s.GetVersion(t.Context(), by, &api.VersionInput{SCFVersionID: "2030.1+strm.1"})
	if err != nil || v.Status != api.CatalogSuperseded || v.ID != *run.VersionID {
		t.Errorf("%+v, %v", v, err)
	}
}

// TestSTRMFromPDF checks that PDFs are read by the reader passed to the service.
func TestSTRMFromPDF(t *testing.T) {
	_, db := newShelf(t)
	read := func(_ context.Context, name string, content io.ReaderAt, _ int64) ([]strm.Line, error) {
		head := make([]byte, 8)
		if _, err := content.ReadAt(head, 0); err != nil || string(head) != "%PDF-1.7" {
			return nil, errors.New("not what was sent")
		}
		return []strm.Line{
			{Sheet: "page 1", Cells: []string{"FDE #", "STRM Relationship", "SCF #"}},
			{Sheet: "page 2", Cells: []string{"GV.OC-01", "Equal", "ZZZ-01"}},
			{Sheet: "page 2", Cells: []string{"GV.OC-01", "Equal", "GOV-01"}},
		}, nil
	}
	s := catalog.New(db, time.Now, catalog.WithPDFReader(read))
	imported(t, s)
	run, err := s.ImportSTRM(t.Context(), by, document("scf-strm-general-nist-csf-2-0.pdf", []byte("%PDF-1.7 and so on")))
	if err != nil || run.Documents[0].MappingsConfirmed != 1 {
		t.Fatalf("%+v, %v", run, err)
	}
	if w := run.Warnings[0]; !strings.Contains(w.Sheet, "page 2") || !strings.Contains(w.Message, "ZZZ-01") {
		t.Errorf("%+v", run.Warnings)
	}
}

// TestAliases checks that aliases are stored with the version, and that the same workbook with
// other aliases is another version.
func TestAliases(t *testing.T) {
	s, _ := newShelf(t)
	data := workbook(t, rows...)
	give := func(aliases string) (*api.ImportRun, error) {
		in := upload(data, "2030.1")
		in.Aliases = aliases
		return s.ImportWorkbook(t.Context(), by, in)
	}
	plain, err := give("")
	if err != nil {
		t.Fatal(err)
	}
	own := "aliases:\n  - {code: our-csf, names: ['NIST CSF v2.0']}\n"
	run, err := give(own)
	if err != nil || *run.VersionID == *plain.VersionID {
		t.Fatalf("%+v, %v", run, err)
	}
	v := latest(t, s)
	if len(v.FrameworkAliases) != 1 || v.FrameworkAliases[0].Code != "our-csf" || v.ID != *run.VersionID {
		t.Errorf("%+v", v)
	}
	f, err := s.GetFramework(t.Context(), by, &api.FrameworkInput{FrameworkID: "our-csf"})
	if err != nil || f.Code != "our-csf" {
		t.Errorf("%+v, %v", f, err)
	}
	if again, err := give(own); err != nil || *again.VersionID != v.ID {
		t.Errorf("%+v, %v", again, err)
	}
	if _, err := give("aliases: 7"); !api.IsCode(err, api.CodeValidation) {
		t.Errorf("%v", err)
	}
}

// TestReferences checks that the other parts of a version, besides controls and frameworks, can be
// read.
func TestReferences(t *testing.T) {
	s, _ := newShelf(t)
	in := &api.VersionListInput{VersionInput: api.VersionInput{SCFVersionID: "latest"}}
	evidence, err := s.ListVersionEvidence(t.Context(), by, in)
	if err != nil || len(evidence.Data) == 0 || len(evidence.Data[0].ControlCodes) == 0 {
		t.Errorf("%+v, %v", evidence, err)
	}
	risks, err := s.ListVersionRisks(t.Context(), by, in)
	if err != nil || risks.Data == nil {
		t.Errorf("%+v, %v", risks, err)
	}
	if _, err := s.ListVersionThreats(
		t.Context(),
		by,
		&api.VersionListInput{VersionInput: api.VersionInput{SCFVersionID: "1999.1"}},
	); !api.IsCode(
		err,
		api.CodeNotFound,
	) {
		t.Errorf("%v", err)
	}
	if l, err := s.ListVersionPrinciples(t.Context(), by, in); err != nil || l.Data == nil {
		t.Errorf("%+v, %v", l, err)
	}
}
