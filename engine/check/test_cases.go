package check

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"slices"
	"strings"
)

// testCase is a rule or a control as a test.
type testCase struct {
	suite, name string
	outcome     Outcome // Passed, Failed or Waived
	message     string
	detail      string
}

// testCases returns the rules of the policy, then each applicable control, which passes if none of
// its gaps fails. Gaps with a code that is not in the catalog come last.
func (r *Result) testCases() []testCase {
	var out []testCase
	for _, one := range r.Rules {
		c := testCase{suite: "policy", name: one.Rule, outcome: Passed, message: one.Message}
		if one.Subject != "" {
			c.name += " " + one.Subject
		}
		if one.Outcome == Failed {
			c.outcome, c.detail = Failed, findRule(one.Rule).Fix
		}
		out = append(out, c)
	}
	gaps := map[string][]*Issue{}
	var codes []string
	for i := range r.Issues {
		if one := &r.Issues[i]; one.Rule == ruleGap {
			gaps[one.Control] = append(gaps[one.Control], one)
			codes = append(codes, one.Control)
		}
	}
	var controls []Control
	listed := map[string]bool{}
	for _, c := range r.controls {
		if c.Applicability.IsApplicable() || len(gaps[c.Code]) > 0 {
			controls = append(controls, c)
			listed[c.Code] = true
		}
	}
	slices.Sort(codes)
	for _, code := range slices.Compact(codes) {
		if !listed[code] {
			g := gaps[code][0]
			controls = append(controls, Control{Code: code, Title: g.Title, Domain: firstNonEmpty(g.Domain, "other")})
		}
	}
	slices.SortStableFunc(controls, func(a, b Control) int { return strings.Compare(a.Domain, b.Domain) })
	for _, c := range controls {
		one := testCase{suite: c.Domain, name: strings.TrimSpace(c.Code + " " + c.Title), outcome: Passed}
		for _, g := range gaps[c.Code] {
			switch {
			case g.Outcome == Failed:
				one.outcome = Failed
			case g.Outcome == Waived && one.outcome == Passed:
				one.outcome = Waived
			}
			if one.message == "" || g.Outcome == Failed {
				one.message, one.detail = fmt.Sprintf("[%s] %s", g.formatTags(), g.Message), g.formatDetail()
			}
			if g.Waiver != nil {
				one.message = fmt.Sprintf("waived until %s by %s: %s", g.Waiver.Expiry, g.Waiver.Approver, g.Waiver.Reason)
			}
		}
		out = append(out, one)
	}
	return out
}

// formatDetail returns the details of a gap, one per line.
func (i *Issue) formatDetail() string {
	var lines []string
	for _, m := range i.Missing {
		lines = append(lines, "missing: "+m)
	}
	if i.Place.Quote != "" {
		lines = append(lines, i.Place.format()+": “"+i.Place.Quote+"”")
	}
	if i.Fix != "" {
		lines = append(lines, "to do: "+i.Fix)
	}
	return strings.Join(lines, "\n")
}

type junitSuites struct {
	XMLName  xml.Name     `xml:"testsuites"`
	Name     string       `xml:"name,attr"`
	Tests    int          `xml:"tests,attr"`
	Failures int          `xml:"failures,attr"`
	Errors   int          `xml:"errors,attr"`
	Skipped  int          `xml:"skipped,attr"`
	Time     string       `xml:"time,attr"`
	Suites   []junitSuite `xml:"testsuite"`
}

type junitSuite struct {
	Name     string `xml:"name,attr"`
	Tests    int    `xml:"tests,attr"`
	Failures int    `xml:"failures,attr"`
	Errors   int    `xml:"errors,attr"`
	Skipped  int    `xml:"skipped,attr"`
	Time     string `xml:"time,attr"`
	// Properties has to precede the test cases.
	Properties *junitProperties `xml:"properties"`
	Cases      []junitCase      `xml:"testcase"`
	Output     string           `xml:"system-out,omitempty"`
}

type junitProperties struct {
	All []junitProperty `xml:"property"`
}

type junitProperty struct {
	Name  string `xml:"name,attr"`
	Value string `xml:"value,attr"`
}

type junitCase struct {
	Name    string        `xml:"name,attr"`
	Class   string        `xml:"classname,attr"`
	Time    string        `xml:"time,attr"`
	Failure *junitMessage `xml:"failure"`
	Skipped *junitMessage `xml:"skipped"`
}

type junitMessage struct {
	Message string `xml:"message,attr"`
	Type    string `xml:"type,attr,omitempty"`
	Text    string `xml:",chardata"`
}

func writeJUnit(r *Result, _ Style) ([]byte, error) {
	all := junitSuites{Name: "service check", Time: "0"}
	for _, c := range r.testCases() {
		if n := len(all.Suites); n == 0 || all.Suites[n-1].Name != c.suite {
			all.Suites = append(all.Suites, junitSuite{Name: c.suite, Time: "0"})
			if n == 0 {
				all.Suites[0].Properties = &junitProperties{[]junitProperty{{"policy", r.describePolicy()}}}
				all.Suites[0].Output = "Written by " + firstNonEmpty(r.Tool, "service") + "."
			}
		}
		s := &all.Suites[len(all.Suites)-1]
		one := junitCase{Name: c.name, Class: "service." + c.suite, Time: "0"}
		s.Tests++
		all.Tests++
		switch c.outcome {
		case Failed:
			one.Failure = &junitMessage{Message: c.message, Type: "gap", Text: c.detail}
			if c.suite == "policy" {
				one.Failure.Type = "policy"
			}
			s.Failures++
			all.Failures++
		case Waived:
			one.Skipped = &junitMessage{Message: c.message}
			s.Skipped++
			all.Skipped++
		}
		s.Cases = append(s.Cases, one)
	}
	var out bytes.Buffer
	out.WriteString(xml.Header)
	e := xml.NewEncoder(&out)
	e.Indent("", "  ")
	if err := e.Encode(all); err != nil {
		return nil, err
	}
	out.WriteByte('\n')
	return out.Bytes(), nil
}

// escapeTAP escapes text for a TAP line, where # starts a directive and a backslash is the escape character.
func escapeTAP(s string) string {
	return strings.NewReplacer(`\`, `\\`, "#", `\#`).Replace(s)
}

// quoteYAML returns text as a double-quoted YAML scalar on one line.
func quoteYAML(s string) string {
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`).Replace(s) + `"`
}

func writeTAP(r *Result, _ Style) ([]byte, error) {
	all := r.testCases()
	var b strings.Builder
	fmt.Fprintf(&b, "TAP version 14\n1..%d\n# policy: %s\n", len(all), r.describePolicy())
	for i, c := range all {
		state, directive := "ok", ""
		if c.outcome == Failed {
			state = "not ok"
		}
		if c.outcome == Waived {
			directive = " # SKIP " + escapeTAP(c.message)
		}
		fmt.Fprintf(&b, "%s %d - %s: %s%s\n", state, i+1, escapeTAP(c.suite), escapeTAP(c.name), directive)
		if c.outcome == Failed {
			fmt.Fprintf(&b, "  ---\n  message: %s\n", quoteYAML(c.message))
			if c.detail != "" {
				fmt.Fprintf(&b, "  detail: %s\n", quoteYAML(c.detail))
			}
			b.WriteString("  ...\n")
		}
	}
	return []byte(b.String()), nil
}
