package catalog_test

import (
	"bytes"
	"context"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/internal/testutil/longtest"
	"github.com/scf-service/service/internal/testutil/shareddata"
	"github.com/scf-service/service/internal/testutil/updatelimit"
	"github.com/scf-service/service/store"
)

var by = api.Caller{OrganizationID: "org", UserID: "u", Actor: api.Actor{Type: api.ActorUser, ID: "u", Name: "Ada"}}

func newShelf(t *testing.T) (*catalog.Service, *store.DB) {
	t.Helper()
	db, err := store.Open(
		t.Context(),
		store.Options{
			Dir:    t.TempDir(),
			Schema: store.ServiceSchema, CheckUpdate: updatelimit.Check,
			Clock: time.Now,
			NewID: func() string { return uuid.Must(uuid.NewV7()).String() },
		},
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	s := catalog.New(db, time.Now)
	if err := s.EnsureStarterEdition(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s, db
}

// workbook returns a small catalog in the layout of the official workbooks.
func workbook(t *testing.T, rows ...[]any) []byte {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	sheet := "SCF 2030.1"
	if err := f.SetSheetName("Sheet1", sheet); err != nil {
		t.Fatal(err)
	}
	all := append([][]any{{
		"SCF Domain", "SCF Control", "SCF #", "Secure Controls Framework (SCF)\nControl Description", "SCF Control Question",
		"Relative Control Weighting", "NIST\nCSF\nv2.0", "ISO\n27001\nv2022",
	}}, rows...)
	for i, r := range all {
		cell, _ := excelize.CoordinatesToCellName(1, i+1)
		if err := f.SetSheetRow(sheet, cell, &r); err != nil {
			t.Fatal(err)
		}
	}
	var b bytes.Buffer
	if err := f.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func upload(data []byte, label string) *api.ImportWorkbookInput {
	return &api.ImportWorkbookInput{File: api.UploadFile{Filename: "scf.xlsx", Content: bytes.NewReader(data)}, Label: label}
}

func latest(t *testing.T, s *catalog.Service) *api.CatalogVersion {
	t.Helper()
	v, err := s.GetLatest(t.Context(), by, nil)
	if err != nil {
		t.Fatal(err)
	}
	return &v.CatalogVersion
}

var rows = [][]any{
	{"Governance", "Program", "GOV-01", "There is a program.", "Is there a program?", 10, "GV.OC-01", "4.4"},
	{"Access", "Second factor", "IAC-06", "Two factors are asked for.", "Are two factors asked for?", 9, "PR.AA-03\nPR.AA-05", "5.17"},
}

// TestStarterIsThere checks that the starter catalog exists exactly once, however often the service
// is opened.
func TestStarterIsThere(t *testing.T) {
	s, db := newShelf(t)
	if err := catalog.New(db, time.Now).EnsureStarterEdition(t.Context()); err != nil {
		t.Fatal(err)
	}
	l, err := s.ListVersions(t.Context(), by, &api.Paging{})
	if err != nil || len(l.Data) != 1 || !l.Data[0].IsStarter || l.Data[0].Status != api.CatalogActive {
		t.Fatalf("%+v, %v", l, err)
	}
	if c := l.Data[0].Counts; c.Controls < 180 || c.Domains != 33 || c.Frameworks < 12 {
		t.Errorf("the starter has %+v", c)
	}
}

// TestImport checks that an import becomes the active version, and that the same bytes give the
// same version.
func TestImport(t *testing.T) {
	s, _ := newShelf(t)
	data := workbook(t, rows...)
	run, err := s.ImportWorkbook(t.Context(), by, upload(data, "2030.1"))
	if err != nil {
		t.Fatal(err)
	}
	v := latest(t, s)
	if run.Status != api.ImportSucceeded || run.VersionID == nil || *run.VersionID != v.ID || v.Label != "2030.1" || v.IsStarter {
		t.Fatalf("run %+v, latest %+v", run, v)
	}
	if v.Counts.Controls != 2 || v.Counts.Mappings != 5 || run.Diff == nil || run.Diff.Summary.Removed == 0 {
		t.Errorf("counts %+v, diff %+v", v.Counts, run.Diff)
	}
	again, err := s.ImportWorkbook(t.Context(), by, upload(data, "2030.1"))
	if err != nil || again.VersionID == nil || *again.VersionID != v.ID || again.ID == run.ID {
		t.Errorf("the same bytes again: %+v, %v", again, err)
	}
	c, err := s.GetControl(t.Context(), by, &api.ControlInput{ControlID: "iac-06"})
	if err != nil || c.Title != "Second factor" || c.VersionID != v.ID {
		t.Errorf("%+v, %v", c, err)
	}
	old, err := s.GetControl(t.Context(), by, &api.ControlInput{ControlID: "IAC-06", Version: "starter-1"})
	if err != nil || old.Title == c.Title {
		t.Errorf("the starter's control is %+v, %v", old, err)
	}
}

// TestDryRun checks that a dry run reports the changes and makes none.
func TestDryRun(t *testing.T) {
	s, _ := newShelf(t)
	run, err := s.DryRunWorkbook(t.Context(), by, upload(workbook(t, rows...), "2030.1"))
	if err != nil || !run.DryRun || run.VersionID != nil || run.Statistics.Controls != 2 {
		t.Fatalf("%+v, %v", run, err)
	}
	if !latest(t, s).IsStarter {
		t.Error("the dry run switched the version")
	}
	got, err := s.GetImportRun(t.Context(), by, &api.ImportRunInput{ImportRunID: run.ID})
	if err != nil || !got.DryRun {
		t.Errorf("%+v, %v", got, err)
	}
}

// TestRefusedWhole checks that invalid or truncated workbooks are rejected with the location of the error, and change
// nothing.
func TestRefusedWhole(t *testing.T) {
	s, _ := newShelf(t)
	good := workbook(t, rows...)
	for name, data := range map[string][]byte{
		"empty":       nil,
		"text":        []byte("hello"),
		"cut off":     good[:len(good)/2],
		"twice":       workbook(t, append(rows, rows[0])...),
		"bad code":    workbook(t, []any{"Governance", "Program", "GOVERN", "Text", "?", 1}),
		"no controls": workbook(t),
	} {
		_, err := s.ImportWorkbook(t.Context(), by, upload(data, "2030.1"))
		if !api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), "scf.xlsx") {
			t.Errorf("%s: %v", name, err)
		}
		if !latest(t, s).IsStarter {
			t.Fatalf("%s: the version changed", name)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.ImportWorkbook(ctx, by, upload(good, "2030.1")); err == nil || !latest(t, s).IsStarter {
		t.Errorf("a cancelled import: %v", err)
	}
}

// TestOfficialWorkbooks checks the counts of the official workbooks against counts made by hand.
func TestOfficialWorkbooks(t *testing.T) {
	want := map[string]api.CatalogCounts{
		"scf-2022.3.xlsx":        {Controls: 1090, Domains: 32, Frameworks: 192, Requirements: 22678, Mappings: 42756},
		"scf-2026.1.1-like.xlsx": {Controls: 1468, Domains: 33, Frameworks: 250, Requirements: 33808, Mappings: 67524},
	}
	if !longtest.Enabled() {
		delete(want, "scf-2026.1.1-like.xlsx")
	}
	s, _ := newShelf(t)
	for name, counts := range want {
		data, err := os.ReadFile(shareddata.PathOrSkip(t, "scf", name))
		if err != nil {
			t.Fatal(err)
		}
		run, err := s.ImportWorkbook(
			t.Context(),
			by,
			&api.ImportWorkbookInput{File: api.UploadFile{Filename: name, Content: bytes.NewReader(data)}},
		)
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.GetVersion(t.Context(), by, &api.VersionInput{SCFVersionID: *run.VersionID})
		if err != nil || v.Counts != counts {
			t.Errorf("%s: %+v, %v", name, v, err)
		}
	}
}

func TestUnknownNames(t *testing.T) {
	s, _ := newShelf(t)
	_, err := s.GetFramework(t.Context(), by, &api.FrameworkInput{FrameworkID: "iso-27001-2023"})
	if !api.IsCode(err, api.CodeNotFound) || !strings.Contains(err.Error(), "iso-27001-2022") {
		t.Errorf("%v", err)
	}
	if _, err := s.GetVersion(t.Context(), by, &api.VersionInput{SCFVersionID: "1999.1"}); !api.IsCode(err, api.CodeNotFound) {
		t.Errorf("%v", err)
	}
	_, err = s.ListControls(t.Context(), by, &api.ControlsInput{Paging: api.Paging{Cursor: "nonsense"}})
	if !api.IsCode(err, api.CodeValidation) {
		t.Errorf("%v", err)
	}
}

// TestControls checks that pages have no gaps, and that a search ranks its results.
func TestControls(t *testing.T) {
	s, _ := newShelf(t)
	seen, cursor := map[string]bool{}, ""
	for {
		l, err := s.ListControls(t.Context(), by, &api.ControlsInput{Paging: api.Paging{Limit: 50, Cursor: cursor}})
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range l.Data {
			seen[c.Code] = true
		}
		if l.Pagination.NextCursor == nil {
			if len(seen) != l.Pagination.Total {
				t.Errorf("%d of %d controls", len(seen), l.Pagination.Total)
			}
			break
		}
		cursor = *l.Pagination.NextCursor
	}
	l, err := s.ListControls(t.Context(), by, &api.ControlsInput{Q: "multi-factor authentication"})
	if err != nil || len(l.Data) == 0 || l.Data[0].Code != "IAC-06" {
		t.Errorf("%+v, %v", l, err)
	}
}

// TestImportsAtOnce checks that concurrent imports of the same bytes all succeed and create one
// version.
func TestImportsAtOnce(t *testing.T) {
	s, _ := newShelf(t)
	data := workbook(t, rows...)
	var all sync.WaitGroup
	runs, errs := make([]*api.ImportRun, 8), make([]error, 8)
	for i := range runs {
		all.Go(func() { runs[i], errs[i] = s.ImportWorkbook(t.Context(), by, upload(data, "2030.1")) })
	}
	all.Wait()
	for i := range runs {
		if errs[i] != nil || runs[i].VersionID == nil || *runs[i].VersionID != *runs[0].VersionID {
			t.Fatalf("import %d: %+v, %v", i, runs[i], errs[i])
		}
	}
	if l, err := s.ListVersions(t.Context(), by, &api.Paging{}); err != nil || len(l.Data) != 2 {
		t.Errorf("%+v, %v", l, err)
	}
}
