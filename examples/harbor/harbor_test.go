package harbor_test

import (
	"bufio"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path"
	"regexp"
	"strings"
	"testing"

	"github.com/xuri/excelize/v2"

	"github.com/scf-service/service/examples/harbor"
)

const maxTotal = 1 << 20

// names returns the names of the documents; it fails the test if the folder is not flat.
func names(t *testing.T) []string {
	t.Helper()
	entries, err := fs.ReadDir(harbor.Evidence(), ".")
	if err != nil {
		t.Fatal(err)
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			t.Errorf("%s is a folder", e.Name())
			continue
		}
		out = append(out, e.Name())
	}
	return out
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	data, err := fs.ReadFile(harbor.Evidence(), name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

func readme(t *testing.T) string {
	t.Helper()
	data, err := os.ReadFile("README.md")
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func TestEvidenceHasEveryFormat(t *testing.T) {
	least := map[string]int{".md": 3, ".docx": 3, ".xlsx": 3, ".pdf": 3, ".html": 2, ".csv": 3, ".txt": 2, ".json": 1}
	found, total := map[string]int{}, 0
	for _, name := range names(t) {
		found[path.Ext(name)]++
		total += len(read(t, name))
	}
	for ext, n := range least {
		if found[ext] < n {
			t.Errorf("%d documents end in %s, want at least %d", found[ext], ext, n)
		}
		delete(found, ext)
	}
	if len(found) > 0 {
		t.Errorf("unexpected formats: %v", found)
	}
	if total > maxTotal {
		t.Errorf("the evidence has %d bytes, more than %d", total, maxTotal)
	}
}

func TestEvidenceIsWellFormed(t *testing.T) {
	magic := map[string]string{".pdf": "%PDF-", ".docx": "PK\x03\x04", ".xlsx": "PK\x03\x04", ".html": "<!DOCTYPE html>"}
	for _, name := range names(t) {
		data := read(t, name)
		if want := magic[path.Ext(name)]; !bytes.HasPrefix(data, []byte(want)) {
			t.Errorf("%s does not begin with %q", name, want)
		}
		switch path.Ext(name) {
		case ".csv":
			// The CSV reader itself requires the same number of fields in each row.
			if rows, err := csv.NewReader(bytes.NewReader(data)).ReadAll(); err != nil || len(rows) < 16 {
				t.Errorf("%s: %d rows, %v", name, len(rows), err)
			}
		case ".json":
			if !json.Valid(data) {
				t.Errorf("%s is not JSON", name)
			}
		case ".xlsx":
			checkWorkbook(t, name, data)
		}
	}
}

func checkWorkbook(t *testing.T, name string, data []byte) {
	t.Helper()
	f, err := excelize.OpenReader(bytes.NewReader(data))
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return
	}
	defer f.Close()
	most := 0
	for _, sheet := range f.GetSheetList() {
		rows, err := f.GetRows(sheet)
		if err != nil {
			t.Errorf("%s, %s: %v", name, sheet, err)
		}
		most = max(most, len(rows))
	}
	if most < 16 {
		t.Errorf("%s: its longest sheet has %d rows", name, most)
	}
}

func TestReadmeNamesEveryDocument(t *testing.T) {
	listed := map[string]bool{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([^`]+)` \\|").FindAllStringSubmatch(readme(t), -1) {
		listed[m[1]] = true
	}
	for _, name := range names(t) {
		if !listed[name] {
			t.Errorf("README.md does not say what %q is good for", name)
		}
		delete(listed, name)
	}
	for name := range listed {
		t.Errorf("README.md names %q, which is not in evidence", name)
	}
}

// TestAnswerKey checks that the answer key has each of the 93 controls once, and that its totals are right.
func TestAnswerKey(t *testing.T) {
	text := readme(t)
	count, seen := map[string]int{}, map[string]bool{}
	row := regexp.MustCompile(`^\| (A\.\d\.\d+) \| [^|]+ \| (evidenced|weak|planned|negated|missing) \|(.*)\|$`)
	lines := bufio.NewScanner(strings.NewReader(text))
	for lines.Scan() {
		if !strings.HasPrefix(lines.Text(), "| A.") {
			continue
		}
		m := row.FindStringSubmatch(lines.Text())
		if m == nil {
			t.Errorf("not a row of the key: %s", lines.Text())
			continue
		}
		if seen[m[1]] {
			t.Errorf("%s is there twice", m[1])
		}
		seen[m[1]] = true
		count[m[2]]++
		if where := strings.TrimSpace(m[3]); (where == "") != (m[2] == "missing") {
			t.Errorf("%s is %s, but its place is %q", m[1], m[2], where)
		}
	}
	for chapter, n := range map[int]int{5: 37, 6: 8, 7: 14, 8: 34} {
		for i := 1; i <= n; i++ {
			if code := fmt.Sprintf("A.%d.%d", chapter, i); !seen[code] {
				t.Errorf("%s is not in the key", code)
			}
		}
	}
	if len(seen) != 93 {
		t.Errorf("the key has %d controls, want 93", len(seen))
	}
	want := fmt.Sprintf("Of 93 controls: %d evidenced, %d weak, %d planned, %d negated, %d missing.",
		count["evidenced"], count["weak"], count["planned"], count["negated"], count["missing"])
	if !strings.Contains(text, want) {
		t.Errorf("README.md should say: %s", want)
	}
}

// TestPlantedFlaws checks that the flaws named in the key are in the plain-text documents. Those of the
// generated documents are checked beside their generator.
func TestPlantedFlaws(t *testing.T) {
	for name, want := range map[string]string{
		"HQ-POL-07-cryptography-policy.md":          "We do not yet encrypt laptops.",
		"HQ-PRO-05-change-management-procedure.md":  "not yet regulated",
		"HQ-PRO-03-backup-and-restore-procedure.md": "have not been derived from a business impact analysis",
		"intranet-password-guidance.html":           "at least 8 characters",
		"security-improvement-roadmap-2027.html":    "will be implemented in Q2 2027",
		"identity-provider-mfa-export.json":         `"password_min_length": 14`,
	} {
		if !bytes.Contains(read(t, name), []byte(want)) {
			t.Errorf("%s no longer says %q", name, want)
		}
	}
}
