package judgement

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
)

// denialItem is a labeled set of one or two short documents.
type denialItem struct {
	expected, control string
	number            int // of the statement, counting from 1
	style             string
	documents         map[string]string // by file name
}

// readDenialItems reads a file whose format testdata/denials/development.txt describes.
func readDenialItems(t *testing.T, file string) (out []denialItem) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata/denials", file))
	if err != nil {
		t.Fatal(err)
	}
	for _, part := range strings.Split("\n"+string(data), "\n=== ")[1:] {
		head, body, _ := strings.Cut(part, "\n")
		fields := strings.Split(head, " | ")
		name := fields[len(fields)-1]
		if fields[0] == "+" {
			out[len(out)-1].documents[name] = strings.TrimSpace(body) + "\n"
			continue
		}
		code, number, _ := strings.Cut(fields[1], " ")
		n, err := strconv.Atoi(number)
		if err != nil {
			t.Fatalf("%s: %v", head, err)
		}
		out = append(out, denialItem{fields[0], code, n, fields[2], map[string]string{name: strings.TrimSpace(body) + "\n"}})
	}
	return out
}

// denialCount counts verdicts on items with the same label.
type denialCount struct {
	items    int
	right    int
	negative int // called denied, planned or conflicting
}

// isNegativeVerdict reports whether a verdict says that a statement isn't so, or not yet.
func isNegativeVerdict(verdict string) bool {
	return verdict == judge.VerdictDenied || verdict == judge.VerdictPlanned || verdict == judge.VerdictConflicting
}

// isRight reports whether the verdict on the item's statement, and that on its control, are as expected.
func (item denialItem) isRight(statement string, control api.Implementation) bool {
	switch item.expected {
	case "denied":
		return statement == judge.VerdictDenied
	case "planned":
		return statement == judge.VerdictPlanned
	case "both":
		return (statement == judge.VerdictConflicting || statement == judge.VerdictDenied) && !isEvidenced(control)
	case "states":
		return statement == judge.VerdictCovered || statement == judge.VerdictPartial
	}
	return statement == judge.VerdictMissing
}

// TestDenials measures whether the rules recognize what documents deny or plan, and don't hear a denial in other
// negations (docs/measurements.md). SHOW=1 lists the errors of the development half.
func TestDenials(t *testing.T) {
	r := newTrainedRunner(t)
	for _, half := range []struct {
		file             string
		minRight, maxBad int
	}{{"development.txt", 71, 4}, {"test.txt", 57, 5}} {
		counts := map[string]*denialCount{}
		elsewhere, called, meant := 0, 0, 0
		for _, item := range readDenialItems(t, half.file) {
			j, others := r.judgeDenialItem(t, item)
			st := j.Statements[item.number-1]
			c := counts[item.expected]
			if c == nil {
				c = &denialCount{}
				counts[item.expected] = c
			}
			c.items++
			right := item.isRight(st.Verdict, j.Implementation)
			if right {
				c.right++
			}
			if isNegativeVerdict(st.Verdict) {
				c.negative++
				if called++; item.expected != "states" && item.expected != "silent" {
					meant++
				}
			}
			bad := 0
			if item.expected == "states" || item.expected == "silent" {
				bad = len(others)
				elsewhere += bad
			}
			if os.Getenv("SHOW") != "" && half.file == "development.txt" && (!right || bad > 0) {
				t.Logf("%s %s %d %s: %s, %s: %s\n%s\n%s", item.expected, item.control, item.number, st.Text, st.Verdict, j.Implementation, st.Reason,
					fmt.Sprint(item.documents), strings.Join(others, "\n"))
			}
		}
		right, all := 0, 0
		for _, label := range []string{"denied", "planned", "both", "states", "silent"} {
			c := counts[label]
			t.Logf("%s, %s: %d of %d right, %d called denied, planned or conflicting", half.file, label, c.right, c.items, c.negative)
			right, all = right+c.right, all+c.items
		}
		t.Logf("%s: %d of %d right; of %d called denied, planned or conflicting, %d are; %d further statements of documents that deny nothing are called so",
			half.file, right, all, called, meant, elsewhere)
		if right < half.minRight {
			t.Errorf("%s: %d right, want %d", half.file, right, half.minRight)
		}
		if elsewhere > half.maxBad {
			t.Errorf("%s: %d statements are denied by documents that deny nothing, want at most %d", half.file, elsewhere, half.maxBad)
		}
	}
}

// judgeDenialItem returns the verdict on the item's control and, if its documents deny nothing, a description of each
// other statement in the catalog that is called denied, planned or conflicting.
func (r *runner) judgeDenialItem(t *testing.T, item denialItem) (j judge.Judgement, others []string) {
	t.Helper()
	folder := fstest.MapFS{}
	for name, text := range item.documents {
		folder[name] = &fstest.MapFile{Data: []byte(text)}
	}
	for name, about := range aboutOrganization {
		folder[name] = &fstest.MapFile{Data: []byte(about)}
	}
	library, err := evidence.ReadLibrary(t.Context(), folder, r.model, judge.GuessCategory)
	if err != nil {
		t.Fatal(err)
	}
	session, err := library.NewSession("")
	if err != nil {
		t.Fatal(err)
	}
	judging, err := r.prepared.Evaluate(t.Context(), session, judge.Options{Today: r.Today})
	if err != nil {
		t.Fatal(err)
	}
	controls := []api.Control{r.controls[item.control]}
	if item.expected == "states" || item.expected == "silent" {
		controls = append(controls, r.controlList...)
	}
	verdicts, err := judging.EvaluateAll(t.Context(), controls, 2)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range verdicts[1:] {
		for n, st := range v.Statements {
			if isNegativeVerdict(st.Verdict) && (controls[i+1].Code != item.control || n != item.number-1) {
				others = append(others, fmt.Sprintf("    also %s %d %s: %s", controls[i+1].Code, n+1, st.Text, st.Verdict))
			}
		}
	}
	return verdicts[0], others
}
