package check

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/scf-service/service/api"
)

func TestPolicyFile(t *testing.T) {
	text := `# what we ask for
evidence: docs/evidence
framework: [iso-27001-2022, soc2-tsc]
domain: IAC
fail-on: high
fail-on-new: true
min-coverage: 62.5%
min-maturity: 2
max-stale-days: 365
require-approved: [soa, soa, gap_analysis]
baseline: known.json
waivers: sub/../w.yaml
output: [text, sarif=out/check.sarif, json=-]
`
	p := must[*Policy](t)(ParsePolicy([]byte(text), "ci/.service.yaml"))
	coverage, maturity, days := 62.5, 2.0, 365
	sum := sha256.Sum256([]byte(text))
	want := &Policy{
		PolicyFile:      PolicyFile{Name: "ci/.service.yaml", SHA256: hex.EncodeToString(sum[:])},
		Evidence:        "ci/docs/evidence",
		Frameworks:      []string{"iso-27001-2022", "soc2-tsc"},
		Domains:         []string{"IAC"},
		FailOn:          api.SeverityHigh,
		FailOnNew:       api.SeverityInformational,
		MinCoverage:     &coverage,
		MinMaturity:     &maturity,
		MaxStaleDays:    &days,
		RequireApproved: []api.Gate{api.GateSoA, api.GateGapAnalysis},
		Baseline:        "ci/known.json",
		Waivers:         "ci/w.yaml",
		Outputs:         []string{"text", "sarif=ci/out/check.sarif", "json=-"},
	}
	if !reflect.DeepEqual(p, want) {
		t.Errorf("%+v\nwant\n%+v", p, want)
	}
	if got, want := p.FilePaths(), []string{"ci/docs/evidence", "ci/known.json", "ci/w.yaml", "ci/out/check.sarif"}; !slices.Equal(got, want) {
		t.Errorf("paths %q, want %q", got, want)
	}
	const emptySHA256 = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
	if p := must[*Policy](t)(ParsePolicy(nil, "x")); !reflect.DeepEqual(p, &Policy{PolicyFile: PolicyFile{"x", emptySHA256}}) {
		t.Errorf("an empty file: %+v", p)
	}
}

func TestInvalidFiles(t *testing.T) {
	policy := func(data []byte) error { _, err := ParsePolicy(data, "p.yaml"); return err }
	waivers := func(data []byte) error { _, err := ParseWaivers(data, "p.yaml"); return err }
	baseline := func(data []byte) error { _, err := ParseBaseline(data, "p.yaml"); return err }
	threshold := func(data []byte) error { _, err := ParseThreshold(data, "p.yaml"); return err }
	for _, tc := range []struct {
		read        func([]byte) error
		text, wants string
	}{
		{policy, "a: 1\nfial-on: high", `line 1: unknown key "a"; valid keys are evidence`},
		{policy, "\nfial-on: high", `line 2: unknown key "fial-on"; did you mean "fail-on"?`},
		{policy, "min_coverage: 4", `did you mean "min-coverage"?`},
		{policy, "fail-on: hihg", `line 1: fail-on: unknown severity "hihg"; did you mean "high"?`},
		{policy, "fail-on: informational", "valid severities are critical, high, medium, low"},
		{policy, "fail-on: [high, low]", "takes one value, not 2"},
		{policy, "fail-on:", "has no value"},
		{policy, "fail-on: ''", "has no value"},
		{policy, "fail-on: {a: b}", "a string or a list of strings"},
		{policy, "fail-on: high\nfail-on: low", "line 2: the key \"fail-on\" appears twice"},
		{policy, "min-coverage: 0.7", "write 70 for 70%"},
		{policy, "min-coverage: 101", "not a percentage"},
		{policy, "min-coverage: NaN", "not a percentage"},
		{policy, "min-maturity: 6", "not a maturity level from 0 to 5"},
		{policy, "max-stale-days: 1.5", "not a valid number of days"},
		{policy, "max-stale-days: 0", "not a valid number of days"},
		{policy, "require-approved: [gap]", "valid gates are soa"},
		{policy, "- fail-on", "`key: value` lines"},
		{policy, "a: &x high\nfail-on: *x", "anchors, aliases"},
		{policy, "fail-on: high\n---\nfail-on: low", "more than one YAML document"},
		{policy, "fail-on: [", "invalid YAML"},
		{policy, "\x00", "invalid YAML"},
		{policy, strings.Repeat("#", MaxInputBytes+1), "larger than"},
		{policy, "fail-on: " + strings.Repeat("[", 5000), "invalid YAML"},
		{policy, "fail-on: low\nwaivers: /etc/w.yaml", `line 2: waivers: "/etc/w.yaml" is outside the policy's folder`},
		{policy, "baseline: ../known.json", "is outside the policy's folder"},
		{policy, "threshold: a/../../t.json", "is outside the policy's folder"},
		{
			policy, "evidence: ..",
			"is outside the policy's folder: use a path inside that folder, or remove the entry and pass the path on the command line",
		},
		{policy, "output: [text, markdown=/srv/www/index.html]", `output: "/srv/www/index.html" is outside the policy's folder`},
		{policy, "output: json=../r.json", "is outside the policy's folder"},
		{policy, "output: [text, sarfi=x]", `line 1: output: unknown output format "sarfi"; did you mean "sarif"?`},
		{waivers, "waiver: []", `did you mean "waivers"?`},
		{waivers, "waivers: x", "waivers must be a list"},
		{
			waivers, "waivers:\n- control: IAC-06\n  reason: r\n  approver: a",
			"line 2: the waiver for IAC-06 has no expiry date: add the last day",
		},
		{
			waivers,
			"waivers:\n- control: IAC-06\n  reason: r\n  approver: a\n  expires: 2027-01-01",
			`line 5: unknown key "expires"; did you mean "expiry"?`,
		},
		{waivers, "waivers:\n- {control: A, reason: r, approver: a, expiry: never}", "which is not a date"},
		{waivers, "waivers:\n- {control: A, reason: r, approver: a, expiry: 2027-02-30}", "which is not a date"},
		{waivers, "waivers:\n- {control: A, reason: ' ', approver: a, expiry: 2027-01-01}", "a waiver has no reason"},
		{
			waivers,
			"waivers:\n- {control: A, reason: r, approver: a, expiry: 2027-01-01}\n- {control: a, reason: r, approver: a, expiry: 2027-01-01}",
			"line 3: A is already waived on line 2",
		},
		{waivers, "waivers:\n- [a]", "`key: value` lines"},
		{baseline, "{}", `its format is ""; create a baseline with --write-baseline`},
		{baseline, "[]", "invalid baseline"},
		{baseline, `{"format": "service-baseline/2"}`, "service-baseline/2"},
		{baseline, `{"format": "service-baseline/1", "gaps": [{"control": "A", "severity": "bad"}]}`, "gap 1 has no control"},
		{
			baseline,
			`{"format": "service-baseline/1", "gaps": [{"control": "A", "severity": "low"}, {"control": "A", "severity": "high"}]}`,
			"the gap for control A appears twice",
		},
		{baseline, `{"format": "service-check/1", "issues": 3}`, "invalid check result"},
		{threshold, `{"format": "service-baseline/1"}`, "create one with --write-threshold"},
		{threshold, `{"format": "service-threshold/1", "gaps": {"bad": 1}}`, `unknown severity "bad"`},
		{threshold, `{"format": "service-threshold/1", "gaps": {"high": -1}}`, "-1 is not a valid number of gaps"},
		{threshold, `{"format": "service-threshold/1", "coverage": 101}`, "invalid coverage: 101%"},
		{threshold, `{"format": "service-threshold/1", "maturity": -1}`, "invalid maturity: -1"},
	} {
		err := tc.read([]byte(tc.text))
		var m *InputError
		if !errors.As(err, &m) || m.File != "p.yaml" || !strings.Contains(err.Error(), tc.wants) {
			t.Errorf("%.60q: %v, want %q", tc.text, err, tc.wants)
		}
	}
}

// TestRecordedFilesAreInert checks that text in baseline and threshold files is untrusted as well.
func TestRecordedFilesAreInert(t *testing.T) {
	b := must[*Baseline](
		t,
	)(
		ParseBaseline(
			[]byte(
				`{"format": "service-baseline/1", "gaps": [{"control": "::error::A\u001b[2J", "title": "b\nc ##vso[x]", "severity": "low", "status": "x\u001b[31m\n::error::y"}]}`,
			),
			"b.json",
		),
	)
	none := must[*Baseline](t)(ParseBaseline([]byte(`{"format": "service-baseline/1"}`), "n.json"))
	for _, f := range DiffFormats {
		text := must[[]byte](t)(must[*Diff](t)(CompareBaselines(none, b, "n", "b")).Render(f))
		if strings.Contains(string(text), "\x1b") || strings.Contains(string(text), "\n::") || strings.Contains(string(text), "\n  ::") ||
			strings.Contains(string(text), "##vso[") {
			t.Errorf("%s: %q", f, text)
		}
	}
}

func TestOutputs(t *testing.T) {
	for word, want := range map[string]Output{"text": {"text", ""}, "SARIF=a=b.sarif": {"sarif", "a=b.sarif"}, "json=-": {"json", ""}} {
		if got := must[Output](t)(ParseOutput(word)); got != want {
			t.Errorf("%s: %+v", word, got)
		}
	}
	for word, wants := range map[string]string{"sarfi": `did you mean "sarif"`, "json=": "has no file name", "": "unknown output format"} {
		if _, err := ParseOutput(word); err == nil || !strings.Contains(err.Error(), wants) {
			t.Errorf("%q: %v", word, err)
		}
	}
	if _, err := ParseDiffOutput("sarif"); err == nil {
		t.Error("a comparison is no SARIF")
	}
}

func TestDidYouMean(t *testing.T) {
	known := []string{"fail-on", "fail-on-new", "min-coverage"}
	for word, want := range map[string]string{
		"failon":                  "fail-on",
		"fail-no":                 "fail-on",
		"FAIL-ON":                 "fail-on",
		"min-coverag":             "min-coverage",
		"something":               "",
		strings.Repeat("x", 1000): "",
	} {
		if got := didYouMean(word, known); want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%.20q: %q, want %q", word, got, want)
		}
	}
}

// FuzzPolicy checks that an accepted policy is complete and names no path outside its folder, and
// that an error names the file.
func FuzzPolicy(f *testing.F) {
	f.Add([]byte("fail-on: high\nframework: [a, b]\nmin-coverage: 60\nrequire-approved: soa\n"))
	f.Add([]byte("a: &x [*x]"))
	f.Add([]byte("? {a: b}\n: c"))
	f.Add([]byte("evidence: a/../..\nwaivers: /w\nbaseline: ./b\nthreshold: '\\\\t'\noutput: [json=../x, csv=, text=-, tap==/]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		p, err := ParsePolicy(data, "ci/p.yaml")
		var m *InputError
		if err != nil {
			if !errors.As(err, &m) {
				t.Fatalf("%v is no mistake", err)
			}
			return
		}
		for _, path := range p.FilePaths() {
			if rel, err := filepath.Rel("ci", path); err != nil || !filepath.IsLocal(rel) {
				t.Fatalf("%q leaves the policy's folder", path)
			}
		}
		if p.MinCoverage != nil && !(*p.MinCoverage >= 0 && *p.MinCoverage <= 100) || p.MaxStaleDays != nil && *p.MaxStaleDays < 1 {
			t.Fatalf("%+v", p)
		}
	})
}

// FuzzThreshold checks that an accepted threshold survives encoding and can be used in a check.
func FuzzThreshold(f *testing.F) {
	f.Add([]byte(`{"format": "service-threshold/1", "catalog": "starter-1", "coverage": 50, "maturity": 2, "gaps": {"high": 3}}`))
	f.Add([]byte(`{"format": "service-threshold/1", "coverage": 1e-300, "gaps": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		limits, err := ParseThreshold(data, "t.json")
		if err != nil {
			return
		}
		text, err := limits.Encode()
		if err == nil {
			_, err = ParseThreshold(text, "t.json")
		}
		if err != nil {
			t.Fatalf("a written threshold can't be read: %v\n%s", err, text)
		}
		in := input(t, sampleFacts(), "threshold=t.json")
		limits.comparisonScope = in.Facts.scopeForComparison()
		in.Threshold = limits
		if _, err := Evaluate(in); err != nil {
			t.Fatal(err)
		}
	})
}

func FuzzWaivers(f *testing.F) {
	f.Add([]byte("waivers:\n- {control: IAC-06, reason: r, approver: a, expiry: 2027-01-01}\n"))
	f.Add([]byte("waivers:\n- control: !!binary aGk=\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := ParseWaivers(data, "w.yaml")
		var m *InputError
		if err != nil {
			if !errors.As(err, &m) {
				t.Fatalf("%v is no mistake", err)
			}
			return
		}
		for _, w := range all {
			if w.Control == "" || w.Reason == "" || w.Approver == "" || len(w.Expiry) != 10 || w.line < 1 {
				t.Fatalf("%+v", w)
			}
		}
	})
}

// FuzzBaseline checks that an accepted baseline survives encoding and can be used in a check.
func FuzzBaseline(f *testing.F) {
	b, err := NewBaseline(sampleFacts()).Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(b)
	f.Add([]byte(`{"format": "service-check/1", "issues": [{"rule": "gap", "control": "A", "severity": "low"}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		b, err := ParseBaseline(data, "b.json")
		if err != nil {
			return
		}
		if _, err := CompareBaselines(b, b, "a", "b"); err != nil {
			t.Fatal(err)
		}
		text, err := b.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := ParseBaseline(text, "b.json"); err != nil {
			t.Fatalf("what was written can't be read: %v\n%s", err, text)
		}
	})
}
