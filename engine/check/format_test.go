package check

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/joshdk/go-junit"
	"github.com/owenrumney/go-sarif/v3/pkg/report/v210/sarif"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/oscal"
)

var update = flag.Bool("update", false, "write the golden files")

func mustRender(t testing.TB, r *Result, format string) []byte {
	t.Helper()
	return must[[]byte](t)(r.Render(format, Style{}))
}

// TestFormatsAreInert checks that every format is deterministic and valid UTF-8, and contains no
// active content.
func TestFormatsAreInert(t *testing.T) {
	for name, r := range sampleResults(t) {
		for _, f := range OutputFormatNames() {
			text := mustRender(t, r, f)
			if !bytes.Equal(text, mustRender(t, r, f)) {
				t.Errorf("%s, %s: other bytes the second time", name, f)
			}
			if !utf8.Valid(text) || bytes.ContainsAny(text, "\x00\x1b\u202e\ufffe") {
				t.Errorf("%s, %s: something that acts came through", name, f)
			}
			// CI logs interpret these as commands: two colons at the start of a line, the others
			// anywhere.
			for _, line := range strings.Split(string(text), "\n") {
				if strings.HasPrefix(strings.TrimSpace(line), "::error file=x") || strings.Contains(line, "##[") ||
					strings.Contains(line, "##vso[") {
					t.Errorf("%s, %s: evidence gives a command: %s", name, f, line)
				}
			}
		}
	}
	if _, err := sampleResults(t)["full"].Render("sarfi", Style{}); err == nil {
		t.Error("there is no such format")
	}
}

// TestFilenamesAreEscaped checks a folder that is checked from inside, so that paths have no
// prefix.
func TestFilenamesAreEscaped(t *testing.T) {
	r := sampleRecords()
	r.Documents[0].Path = "evidence/::error file=x::y.pdf"
	f := NewFacts(r)
	f.ReplaceFolderPath("evidence", ".")
	result := mustEvaluate(t, f, "fail-on=low")
	for _, format := range []string{"text", "table", "github", "tap", "markdown", "csv"} {
		text := string(mustRender(t, result, format))
		if !strings.Contains(text, "error file=x") && !strings.Contains(text, "error file=x&#58;&#58;y.pdf") {
			t.Errorf("%s does not name the file", format)
		}
		for line := range strings.Lines(text) {
			if strings.HasPrefix(strings.TrimSpace(line), "::error file=x::y") {
				t.Errorf("%s: the name of a file gives a command: %s", format, line)
			}
		}
	}
}

// TestResultNamesPolicy checks that each format states which policy file was used, or that there
// was none. GitLab's format has no place for it.
func TestResultNamesPolicy(t *testing.T) {
	for _, format := range OutputFormatNames() {
		if format == "gitlab" {
			continue
		}
		in := input(t, sampleFacts(), "fail-on=low")
		with := string(mustRender(t, must[*Result](t)(Evaluate(in)), format))
		if !strings.Contains(with, "ci/.service.yaml") || !strings.Contains(with, in.Policy.SHA256) {
			t.Errorf("%s doesn't name the policy:\n%.600s", format, with)
		}
		in.Policy.PolicyFile = PolicyFile{}
		without := string(mustRender(t, must[*Result](t)(Evaluate(in)), format))
		says := map[string]string{"json": `"name": "",`, "csv": ",,\r\n", "markdown": "Policy: none"}[format]
		if says = firstNonEmpty(says, "none; the requirements were set with flags"); !strings.Contains(without, says) {
			t.Errorf("%s doesn't say that there was no policy file:\n%.600s", format, without)
		}
	}
}

// TestInputsInEvidence checks the warnings about files that can be changed by the people who supply the evidence.
func TestInputsInEvidence(t *testing.T) {
	in := input(t, sampleFacts(), "min-coverage=0")
	in.Policy.InEvidence = []InputInEvidence{{Kind: "waivers", Path: "evidence/w.yaml"}, {Path: "evidence/.service.yaml", IsIgnored: true}}
	r := must[*Result](t)(Evaluate(in))
	if r.Verdict != Pass || r.CountIssues(Warned) != 2+r.Figures.UnreadDocuments {
		t.Errorf("%s, %d warnings", r.Verdict, r.CountIssues(Warned))
	}
	for _, format := range OutputFormatNames() {
		text := string(mustRender(t, r, format))
		if format == "junit" || format == "tap" {
			continue // only failures have a text there
		}
		for _, want := range []string{"evidence/w.yaml is in the evidence", "evidence/.service.yaml was not used"} {
			if !strings.Contains(text, want) {
				t.Errorf("%s doesn't say that %s:\n%.900s", format, want, text)
			}
		}
	}
}

func TestColorsAreOptIn(t *testing.T) {
	r := sampleResults(t)["full"]
	if text := must[[]byte](t)(r.Render("text", Style{Color: true})); !bytes.Contains(text, []byte("\x1b[1;31mFAIL")) {
		t.Errorf("%.80q", text)
	}
}

// TestSARIF validates SARIF against the official schema and the expectations of its readers.
func TestSARIF(t *testing.T) {
	for name, r := range sampleResults(t) {
		text := mustRender(t, r, "sarif")
		report := must[*sarif.Report](t)(sarif.FromBytes(text, sarif.WithStrictValidation()))
		if err := report.Validate(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		run := report.Runs[0]
		seen := map[string]bool{}
		for _, one := range run.Results {
			rule := run.Tool.Driver.Rules[one.RuleIndex]
			if *rule.ID != *one.RuleID || len(rule.Properties.Tags) > maxSARIFTags {
				t.Errorf("%s: %s has the rule %s", name, *one.RuleID, *rule.ID)
			}
			print := one.PartialFingerprints["primaryLocationLineHash"]
			if print == "" || seen[print] {
				t.Errorf("%s: %s has no fingerprint of its own", name, *one.RuleID)
			}
			seen[print] = true
			place := one.Locations[0].PhysicalLocation
			if uri := *place.ArtifactLocation.URI; uri == "" || strings.ContainsAny(uri, " \n|<>\"") || *place.Region.StartLine < 1 ||
				*place.Region.EndLine < *place.Region.StartLine {
				t.Errorf("%s: %s stands at %q, %+v", name, *one.RuleID, uri, place.Region)
			}
		}
	}
	var report sarif.Report
	if err := json.Unmarshal(mustRender(t, sampleResults(t)["full"], "sarif"), &report); err != nil {
		t.Fatal(err)
	}
	levels, states := map[string]string{}, map[string]string{}
	suppressed := 0
	for _, one := range report.Runs[0].Results {
		levels[*one.RuleID] = one.Level
		if one.BaselineState != nil {
			states[*one.RuleID] = *one.BaselineState
		}
		if len(one.Suppressions) > 0 {
			suppressed++
			if s := one.Suppressions[0]; *one.RuleID != "gap/END-04" || *s.Kind != "external" || *s.Status != "accepted" ||
				!strings.Contains(*s.Justification, "by Bo") {
				t.Errorf("%s is suppressed by %+v", *one.RuleID, s)
			}
		}
	}
	if levels["gap/IAC-06"] != "error" || levels["gap/END-04"] != "note" || levels[ruleExpired] != "error" ||
		levels[ruleUnused] != "warning" ||
		suppressed != 1 {
		t.Errorf("%v, %d suppressed", levels, suppressed)
	}
	if states["gap/OWN 1"] != "new" || states["gap/IAC-06"] != "updated" || states["gap/IAC-17"] != "unchanged" {
		t.Errorf("%v", states)
	}
}

// TestSARIFLimits checks GitHub's limits: at most 25,000 results, of which 5,000 are shown, and 10
// MB compressed.
func TestSARIFLimits(t *testing.T) {
	text := mustRender(t, largeResult(t, 6000), "sarif")
	report := must[*sarif.Report](t)(sarif.FromBytes(text))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	_, err := w.Write(text)
	if err := errors.Join(err, w.Close()); err != nil {
		t.Fatal(err)
	}
	if n := len(report.Runs[0].Results); n != maxSARIFResults || packed.Len() > 10<<20 ||
		report.Runs[0].Properties.Properties["leftOut"] != 1005.0 {
		t.Errorf("%d results, %d bytes packed, %v", n, packed.Len(), report.Runs[0].Properties)
	}
}

func TestOSCAL(t *testing.T) {
	for name, r := range sampleResults(t) {
		if err := oscal.Validate(mustRender(t, r, "oscal"), "assessment-results"); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	text := string(mustRender(t, sampleResults(t)["full"], "oscal"))
	for _, want := range []string{`"statement-id"`, `"iac-06_smt"`, `"deviation-approved"`, `approved by Bo`} {
		if !strings.Contains(text, want) {
			t.Errorf("%s is not there", want)
		}
	}
}

func TestJUnit(t *testing.T) {
	for name, r := range sampleResults(t) {
		text := mustRender(t, r, "junit")
		var all junitSuites
		d := xml.NewDecoder(bytes.NewReader(text))
		d.Strict = true
		if err := d.Decode(&all); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		tests, failures, skipped := 0, 0, 0
		for _, s := range all.Suites {
			n, f, k := 0, 0, 0
			names := map[string]bool{}
			for _, c := range s.Cases {
				n++
				if c.Failure != nil {
					f++
				}
				if c.Skipped != nil {
					k++
				}
				if names[c.Name] || c.Class == "" {
					t.Errorf("%s: %s / %s stands twice", name, s.Name, c.Name)
				}
				names[c.Name] = true
			}
			if n != s.Tests || f != s.Failures || k != s.Skipped {
				t.Errorf("%s: %s counts %d %d %d", name, s.Name, s.Tests, s.Failures, s.Skipped)
			}
			tests, failures, skipped = tests+n, failures+f, skipped+k
		}
		if tests != all.Tests || failures != all.Failures || skipped != all.Skipped || tests == 0 {
			t.Errorf("%s: %d %d %d are counted", name, all.Tests, all.Failures, all.Skipped)
		}
		if (failures > 0) != (r.Verdict != Pass) {
			t.Errorf("%s: %d failures, and the verdict %s", name, failures, r.Verdict)
		}
		// An independent reader gets the same numbers.
		read := junit.Totals{}
		for _, s := range must[[]junit.Suite](t)(junit.Ingest(text)) {
			read.Tests += s.Totals.Tests
			read.Failed += s.Totals.Failed
			read.Skipped += s.Totals.Skipped
			read.Error += s.Totals.Error
		}
		if want := (junit.Totals{Tests: tests, Failed: failures, Skipped: skipped}); read != want {
			t.Errorf("%s: another reader finds %+v, want %+v", name, read, want)
		}
	}
}

// readTAP is an independent reader of TAP 14: the plan, test points in order, and diagnostics
// indented by two spaces.
func readTAP(text string) (ok, failed, skipped int, err error) {
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	if len(lines) < 2 || lines[0] != "TAP version 14" {
		return 0, 0, 0, fmt.Errorf("no version line")
	}
	plan, after, _ := strings.Cut(lines[1], "..")
	want, err := strconv.Atoi(after)
	if plan != "1" || err != nil {
		return 0, 0, 0, fmt.Errorf("no plan: %q", lines[1])
	}
	point := regexp.MustCompile(`^(not )?ok (\d+) - ((?:[^\\#]|\\.)*)(?: # (SKIP) .*)?$`)
	in := false
	for _, l := range lines[2:] {
		switch m := point.FindStringSubmatch(l); {
		case strings.HasPrefix(l, "# ") && !in: // a comment
		case l == "  ---" && !in, l == "  ..." && in:
			in = !in
		case in && strings.HasPrefix(l, "  "):
			if _, v, found := strings.Cut(l, ": "); !found || !json.Valid([]byte(v)) {
				return 0, 0, 0, fmt.Errorf("a diagnostic that can't be read: %q", l)
			}
		case m == nil || in:
			return 0, 0, 0, fmt.Errorf("what is %q?", l)
		case m[2] != strconv.Itoa(ok+failed+skipped+1):
			return 0, 0, 0, fmt.Errorf("%q is out of order", l)
		case m[4] != "":
			skipped++
		case m[1] != "":
			failed++
		default:
			ok++
		}
	}
	if in || ok+failed+skipped != want {
		return 0, 0, 0, fmt.Errorf("%d planned, %d %d %d found", want, ok, failed, skipped)
	}
	return ok, failed, skipped, nil
}

func TestTAP(t *testing.T) {
	for name, r := range sampleResults(t) {
		ok, failed, skipped, err := readTAP(string(mustRender(t, r, "tap")))
		if err != nil || (failed > 0) != (r.Verdict != Pass) {
			t.Errorf("%s: %d ok, %d failed, %d skipped, %v", name, ok, failed, skipped, err)
		}
		if name == "full" && (skipped != 1 || ok == 0) {
			t.Errorf("%d ok, %d skipped", ok, skipped)
		}
	}
}

// readCommand reads a workflow command by the rules of GitHub's runner.
func readCommand(line string) (name string, props map[string]string, message string, ok bool) {
	rest, is := strings.CutPrefix(line, "::")
	head, message, whole := strings.Cut(rest, "::")
	if !is || !whole {
		return "", nil, "", false
	}
	name, list, _ := strings.Cut(head, " ")
	props = map[string]string{}
	for one := range strings.SplitSeq(list, ",") {
		k, v, _ := strings.Cut(one, "=")
		props[k] = strings.NewReplacer("%3A", ":", "%2C", ",", "%0D", "\r", "%0A", "\n", "%25", "%").Replace(v)
	}
	return name, props, strings.NewReplacer("%0D", "\r", "%0A", "\n", "%25", "%").Replace(message), true
}

func TestGitHub(t *testing.T) {
	for name, r := range sampleResults(t) {
		counts := map[string]int{}
		for line := range strings.Lines(string(mustRender(t, r, "github"))) {
			command, props, message, ok := readCommand(strings.TrimSuffix(line, "\n"))
			if !ok {
				continue
			}
			counts[command]++
			if message == "" || props["title"] == "" {
				t.Errorf("%s: %q", name, line)
			}
			if strings.Contains(message, "second factor") && props["file"] != "evidence/policies, all: 1.pdf" {
				t.Errorf("%s: %v", name, props)
			}
		}
		if counts["error"] > maxGitHubAnnotations || counts["error"] != min(maxGitHubAnnotations, r.CountIssues(Failed)) ||
			counts["warning"] != min(maxGitHubAnnotations, r.CountIssues(Warned)) ||
			len(counts) > 2 {
			t.Errorf("%s: %v", name, counts)
		}
		if summary := must[[]byte](t)(r.GitHubStepSummary()); len(summary) > 65_536 {
			t.Errorf("%s: a summary of %d bytes", name, len(summary))
		}
	}
}

func TestGitLab(t *testing.T) {
	for name, r := range sampleResults(t) {
		var all []map[string]any
		if err := json.Unmarshal(mustRender(t, r, "gitlab"), &all); err != nil {
			t.Fatal(err)
		}
		if len(all) != len(r.Issues)-r.CountIssues(Waived) {
			t.Errorf("%s: %d of %d issues", name, len(all), len(r.Issues))
		}
		seen := map[any]bool{}
		for _, q := range all {
			place := q["location"].(map[string]any)
			begin := place["lines"].(map[string]any)["begin"].(float64)
			if q["description"] == "" || q["check_name"] == "" || q["fingerprint"] == "" || seen[q["fingerprint"]] || place["path"] == "" ||
				strings.HasPrefix(place["path"].(string), "./") ||
				begin < 1 ||
				!slices.Contains([]string{"info", "minor", "major", "critical", "blocker"}, q["severity"].(string)) {
				t.Errorf("%s: %v", name, q)
			}
			seen[q["fingerprint"]] = true
		}
	}
}

func TestCSV(t *testing.T) {
	for name, r := range sampleResults(t) {
		rows, err := csv.NewReader(bytes.NewReader(mustRender(t, r, "csv"))).ReadAll()
		if err != nil || len(rows) != len(r.Issues)+1 {
			t.Fatalf("%s: %d rows, %v", name, len(rows), err)
		}
		for _, row := range rows {
			for _, cell := range row {
				if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r") {
					t.Errorf("%s: %q is a formula", name, cell)
				}
			}
		}
	}
}

func TestMarkdownIsInert(t *testing.T) {
	for name, r := range sampleResults(t) {
		text := string(mustRender(t, r, "markdown"))
		for _, bad := range []string{"<b>", "](", "@all", "`rm`", "javascript:x"} {
			if strings.Contains(text, bad) {
				t.Errorf("%s: %q came through", name, bad)
			}
		}
		if len(text) > 65_536 {
			t.Errorf("%s: %d bytes are too many for a comment", name, len(text))
		}
	}
}

// TestGoldenOutput compares human-readable output with golden files.
func TestGoldenOutput(t *testing.T) {
	f := sampleFacts()
	f.Subject.Name = "Acme"
	f.Findings = slices.DeleteFunc(f.Findings, func(g Finding) bool { return g.Control == "END-04" })
	f.Documents = f.Documents[1:]
	f.Findings[0].Place.Quote = "No second factor is asked for."
	in := input(t, f, "fail-on=high", "min-coverage=60", "max-stale-days=900", "waivers=w.yaml", "require-approved=soa")
	in.Waivers = []Waiver{{Control: "IAC-17", Reason: "A new tool comes in May", Approver: "Bo", Expiry: "2027-05-31"}}
	r := must[*Result](t)(Evaluate(in))
	for _, name := range []string{"text", "table", "markdown", "tap"} {
		got := mustRender(t, r, name)
		path := filepath.Join("testdata", name+".golden")
		if *update {
			if err := os.WriteFile(path, got, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not as in %s (go test ./check -update writes it): %v\n%s", name, path, err, got)
		}
	}
}

func BenchmarkEvaluate(b *testing.B) {
	f := sampleFacts()
	for i := range 1468 {
		code := fmt.Sprintf("GEN-%04d", i)
		f.Controls = append(f.Controls, Control{Code: code, Domain: "GEN", Applicability: api.Applicable, Status: api.NotEvidenced})
		f.Findings = append(
			f.Findings,
			Finding{
				Control:     code,
				Domain:      "GEN",
				Severity:    api.SeverityHigh,
				Fingerprint: fingerprint(code),
				Condition:   strings.Repeat("word ", 40),
			},
		)
	}
	for b.Loop() {
		r := mustEvaluate(b, f, "fail-on=high", "min-coverage=50")
		for _, format := range []string{"text", "json", "sarif", "junit"} {
			if _, err := io.Discard.Write(mustRender(b, r, format)); err != nil {
				b.Fatal(err)
			}
		}
	}
}
