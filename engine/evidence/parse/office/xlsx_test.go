package office_test

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence/parse"
	"github.com/scf-service/service/engine/evidence/parse/document"
	"github.com/scf-service/service/internal/testutil/documenttest"
	"github.com/scf-service/service/internal/testutil/parsetest"
	"github.com/scf-service/service/internal/testutil/programtest"
)

func TestXlsx(t *testing.T) {
	raw := documenttest.Workbook(t, func(x *excelize.File) {
		x.SetSheetName("Sheet1", "Risks")
		x.SetSheetRow("Risks", "B1", &[]any{"Risk register"})
		x.SetSheetRow("Risks", "B3", &[]any{"ID", "Risk", "Score"})
		x.SetSheetRow("Risks", "B4", &[]any{"R-1", "Loss of\nkeys", 12})
		x.SetSheetRow("Risks", "B5", &[]any{"R-2", "", 3.5})
		x.SetCellFormula("Risks", "E4", `WEBSERVICE("http://evil")`)
		x.NewSheet("Info")
		x.SetSheetRow("Info", "A1", &[]any{"Version", "2.0"})
		x.SetSheetRow("Info", "A2", &[]any{"Owner", "Risk officer"})
		x.NewSheet("Empty")
	})
	doc := parsetest.Read(t, "r.xlsx", raw)
	documenttest.Compare(t, documenttest.Outline(doc.Blocks), `
	# Risks
	¶ Risk register  {Risks}
	| ID: R-1; Risk: Loss of keys; Score: 12  {Risks}
	| ID: R-2; Score: 3.5  {Risks}
	# Info
	| Version: 2.0  {Info}
	| Owner: Risk officer  {Info}
	# Empty
	`)
	if got := doc.Blocks[2].Locator; got != (api.Locator{Sheet: "Risks", CellRange: "B4:D4"}) {
		t.Errorf("locator %+v", got)
	}
	if doc.PageCount != 3 || doc.Version != "2.0" || doc.Owner != "Risk officer" {
		t.Errorf("%d %q %q", doc.PageCount, doc.Version, doc.Owner)
	}
}

func TestXlsxRefuses(t *testing.T) {
	locked := func() []byte {
		x := excelize.NewFile()
		x.SetCellStr("Sheet1", "A1", "secret")
		var buf bytes.Buffer
		if err := x.Write(&buf, excelize.Options{Password: "p"}); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}
	raw := documenttest.Workbook(t, func(x *excelize.File) { x.SetCellStr("Sheet1", "A1", "text") })
	for name, tt := range map[string]struct {
		raw  []byte
		want error
	}{
		"locked":    {locked(), document.ErrEncrypted},
		"cut short": {raw[:len(raw)/2], document.ErrDamaged},
	} {
		if err := parsetest.ReadError(t, parse.Options{}, "a.xlsx", tt.raw); !errors.Is(err, tt.want) {
			t.Errorf("%s: got %v, want %v", name, err, tt.want)
		}
	}
}

func FuzzXlsx(f *testing.F) {
	f.Add(documenttest.Workbook(f, func(x *excelize.File) { x.SetSheetRow("Sheet1", "B2", &[]any{"a", 2, "c"}) }))
	f.Fuzz(func(t *testing.T, raw []byte) { parsetest.CheckReadInvariants(t, "a.xlsx", raw) })
}

func TestXlsxAgreesWithOpenpyxl(t *testing.T) {
	if exec.Command(programtest.FindOrSkip(t, "python3"), "-c", "import openpyxl").Run() != nil {
		programtest.SkipOrFail(t, "openpyxl is not installed")
	}
	const program = `
import openpyxl, sys
book = openpyxl.load_workbook(sys.argv[1], data_only=True)
for sheet in book:
    if sheet.sheet_state == "visible":
        print(sheet.title)
        for row in sheet.iter_rows(values_only=True):
            print(" ".join(str(v.date() if hasattr(v, "date") else v) for v in row if v is not None))
`
	for _, f := range documenttest.Files(t, "../../../../examples/harbor/evidence", "*.xlsx") {
		raw, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var ours strings.Builder
		table := 0
		for _, b := range parsetest.Read(t, f, raw).Blocks {
			if b.Table > table {
				table = b.Table
				ours.WriteString(strings.Join(b.Header, " ") + "\n")
			}
			ours.WriteString(b.DisplayText() + "\n")
		}
		score := documenttest.WordF1(ours.String(), documenttest.RunTool(t, "python3", "-c", program, f))
		t.Logf("%s: F1 %.4f", filepath.Base(f), score)
		if score < 0.98 {
			t.Errorf("%s: F1 %.4f", filepath.Base(f), score)
		}
	}
}
