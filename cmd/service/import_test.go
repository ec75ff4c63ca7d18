package main

import (
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/testutil/longtest"
)

// writeLargeWorkbook writes a workbook in the SCF's layout that takes a while to import.
func writeLargeWorkbook(t *testing.T, path string) {
	t.Helper()
	f := excelize.NewFile()
	defer f.Close()
	const sheet = "SCF 2030.1"
	if err := f.SetSheetName("Sheet1", sheet); err != nil {
		t.Fatal(err)
	}
	w, err := f.NewStreamWriter(sheet)
	if err != nil {
		t.Fatal(err)
	}
	header := []any{
		"SCF Domain",
		"SCF Control",
		"SCF #",
		"Secure Controls Framework (SCF)\nControl Description",
		"Relative Control Weighting",
	}
	for i := range 60 {
		header = append(header, fmt.Sprintf("ISO\n%d\n2030", 27000+i))
	}
	if err := w.SetRow("A1", header); err != nil {
		t.Fatal(err)
	}
	for i := range 900 {
		row := []any{
			"Domain",
			fmt.Sprintf("Control %d", i),
			fmt.Sprintf("A%c%c-%02d", 'A'+i/50/26, 'A'+i/50%26, i%50+1),
			fmt.Sprintf("There is a mechanism number %d.", i),
			i % 11,
		}
		for c := range 60 {
			row = append(row, fmt.Sprintf("%d.%d\n%d.%d", i%9, c%7, i%5+10, c))
		}
		if err := w.SetRow(fmt.Sprintf("A%d", i+2), row); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if err := f.SaveAs(path); err != nil {
		t.Fatal(err)
	}
}

// TestKilledImport checks that a killed import is either complete or has no effect: the old catalog
// remains until the new one is complete.
func TestKilledImport(t *testing.T) {
	u := newTestUser(t)
	book := filepath.Join(u.home, "scf-2030.1.xlsx")
	writeLargeWorkbook(t, book)
	u.do("catalog", "versions")
	began := time.Now()
	dry := u.start(u.command("catalog", "import", book, "--dry-run"))
	dry.expectExit(0)
	whole := time.Since(began)

	random := rand.New(rand.NewPCG(20261120, 7))
	killed, there, times := 0, false, 3
	if longtest.Enabled() {
		times = 10
	}
	for range times {
		r := u.start(u.command("catalog", "import", book, "-q"))
		timer := time.AfterFunc(
			time.Duration((0.2+0.9*random.Float64())*float64(whole)),
			func() { _ = r.cmd.Process.Signal(syscall.SIGKILL) },
		)
		code := r.wait()
		timer.Stop()
		if code != 0 && code != -1 {
			t.Fatalf("after %d kills, exit code %d:\n%s", killed, code, r.output.String())
		}
		if code == -1 {
			killed++
		}
		active := 0
		for _, v := range readJSON[api.List[api.CatalogVersion]](u, "catalog", "versions").Data {
			if v.Label == "2030.1" {
				there = true
				if v.Counts.Controls != 900 || v.Counts.Frameworks != 60 || v.Status != api.CatalogActive {
					t.Fatalf("half of it is there: %+v", v)
				}
				u.do("catalog", "show", "AAA-01")
			}
			if v.Status == api.CatalogActive {
				active++
			}
		}
		if active != 1 {
			t.Fatalf("after %d kills, %d versions are active", killed, active)
		}
		if !there {
			u.do("catalog", "show", "IAC-06") // a control of the starter catalog
		}
	}
	u.do("catalog", "import", book)
	if n := len(readJSON[api.List[api.CatalogVersion]](u, "catalog", "versions").Data); n != 2 {
		t.Errorf("%d versions, want the starter and the workbook", n)
	}
	t.Logf("killed %d times", killed)
}
