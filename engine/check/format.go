package check

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// Style determines how human-readable output looks, such as whether it is colored.
type Style struct {
	Color bool
}

// Format is an output format.
type Format struct {
	Name, Description string
	hashEscape        string // replaces # in log commands; see escapeLogCommands
	write             func(r *Result, s Style) ([]byte, error)
}

// Escapes for the character # in JSON and TAP's YAML, in XML, and in formats that have no escapes.
const (
	hashJSON   = `\u0023`
	hashXML    = "&#35;"
	hashSpaced = " #"
)

// AllFormats lists all output formats, the default first.
var AllFormats = []Format{
	{"text", "human-readable verdict with reasons", hashSpaced, writeText},
	{"table", "one line per gap and issue", hashSpaced, writeTable},
	{"json", "full result; also usable as a baseline", hashJSON, func(r *Result, _ Style) ([]byte, error) { return r.EncodeJSON() }},
	{"sarif", "SARIF 2.1.0, for code scanning", hashJSON, writeSARIF},
	{"junit", "JUnit XML, one test case per control and rule", hashXML, writeJUnit},
	{"tap", "TAP version 14, one test per control and rule", hashJSON, writeTAP},
	{"github", "GitHub Actions annotations and step summary", hashSpaced, writeGitHub},
	{"gitlab", "GitLab code quality report", hashJSON, writeGitLab},
	{"markdown", "pull request comment", hashSpaced, writeMarkdown},
	{"csv", "one row per gap and issue", hashSpaced, writeCSV},
	{"oscal", "OSCAL assessment results", hashJSON, writeOSCAL},
}

// OutputFormatNames returns the names of the formats.
func OutputFormatNames() (out []string) {
	for _, f := range AllFormats {
		out = append(out, f.Name)
	}
	return out
}

// Render returns the result in the given format.
func (r *Result) Render(format string, s Style) ([]byte, error) {
	for _, f := range AllFormats {
		if f.Name == format {
			text, err := f.write(r, s)
			return escapeLogCommands(text, f.hashEscape), err
		}
	}
	return nil, UnknownFormatError(format)
}

// Output is a format and the file it is written to, or stdout if Path is empty.
type Output struct{ Format, Path string }

// ParseOutput parses FORMAT or FORMAT=PATH; a PATH of - means stdout.
func ParseOutput(word string) (Output, error) {
	name, path, given := strings.Cut(word, "=")
	o := Output{strings.ToLower(strings.TrimSpace(name)), path}
	if given && path == "" {
		return o, inputErrorf("", 0, "the output %q has no file name after the =; use FORMAT=FILE", sanitizeLine(word))
	}
	if path == "-" {
		o.Path = ""
	}
	for _, f := range AllFormats {
		if f.Name == o.Format {
			return o, nil
		}
	}
	return o, UnknownFormatError(name)
}

// UnknownFormatError returns the error for an unknown format.
func UnknownFormatError(name string) error {
	return inputErrorf(
		"",
		0,
		"unknown output format %q%s; valid formats are %s",
		prose.Truncate(sanitizeLine(name), 40),
		didYouMean(name, OutputFormatNames()),
		strings.Join(OutputFormatNames(), ", "),
	)
}

// logCommand matches text that the logs of Azure Pipelines and GitHub interpret as a command
// anywhere in a line.
var logCommand = lazyregexp.New(`##([A-Za-z]*\[)`)

// escapeLogCommands escapes commands in output that is written to a CI log, so that text from
// evidence can't act as one.
func escapeLogCommands(page []byte, replacement string) []byte {
	return logCommand.ReplaceAll(page, []byte("#"+replacement+"$1"))
}

// escapeLeadingColons escapes two colons at the beginning of s, which would start a command in a GitHub log.
func escapeLeadingColons(s string) string {
	if strings.HasPrefix(s, ":") {
		return "./" + s
	}
	return s
}

// format returns a location in human-readable form.
func (p Place) format() string {
	p.Path = escapeLeadingColons(p.Path)
	switch {
	case p.Path == "":
		return ""
	case p.Line > 0:
		return p.Path + ":" + strconv.Itoa(p.Line)
	case p.Page > 0:
		return p.Path + ", page " + strconv.Itoa(p.Page)
	}
	return p.Path
}

// heading returns a short description of an issue.
func (i *Issue) heading() string {
	if i.Rule != ruleGap {
		return i.Title
	}
	return strings.TrimSpace(i.Control + " " + i.Title)
}

// formatTags returns a gap's severity, status and change, or "" if the issue is not a gap.
func (i *Issue) formatTags() string {
	if i.Rule != ruleGap {
		return ""
	}
	out := string(i.Severity) + ", " + prose.Humanize(i.Status)
	if i.Change == "opened" {
		out += ", new"
	} else if i.Change != "" {
		out += ", " + string(i.Change)
	}
	return out
}

// escapeFormula prefixes text that a spreadsheet would interpret as a formula with an apostrophe.
func escapeFormula(s string) string {
	if t := strings.TrimLeft(s, " "); t != "" && strings.ContainsRune("=+-@\t\r\n", rune(t[0])) {
		return "'" + s
	}
	return s
}

func writeCSV(r *Result, _ Style) ([]byte, error) {
	var out bytes.Buffer
	w := csv.NewWriter(&out)
	w.UseCRLF = true
	put := func(cells ...string) {
		for i := range cells {
			cells[i] = escapeFormula(cells[i])
		}
		_ = w.Write(cells) // errors are reported by w.Error
	}
	put(
		"rule",
		"outcome",
		"control",
		"title",
		"domain",
		"severity",
		"status",
		"change",
		"message",
		"missing",
		"fix",
		"path",
		"line",
		"page",
		"waived_by",
		"waived_until",
		"waiver_reason",
		"fingerprint",
		"policy",
		"policy_sha256",
	)
	for i := range r.Issues {
		one := &r.Issues[i]
		line, page := "", ""
		if one.Place.Line > 0 {
			line = strconv.Itoa(one.Place.Line)
		}
		if one.Place.Page > 0 {
			page = strconv.Itoa(one.Place.Page)
		}
		var w Waiver
		if one.Waiver != nil {
			w = *one.Waiver
		}
		put(
			one.Rule,
			string(one.Outcome),
			one.Control,
			one.Title,
			one.Domain,
			string(one.Severity),
			string(one.Status),
			string(one.Change),
			one.Message,
			strings.Join(one.Missing, "; "),
			one.Fix,
			one.Place.Path,
			line,
			page,
			w.Approver,
			string(w.Expiry),
			w.Reason,
			one.Fingerprint,
			replaceControlCharacters(r.Policy.Name),
			r.Policy.SHA256,
		)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// verdictSentence returns the verdict as a sentence.
func (r *Result) verdictSentence() string {
	var what []string
	for _, one := range r.Rules {
		if one.Outcome == Failed && (len(what) == 0 || what[len(what)-1] != one.Rule) {
			what = append(what, one.Rule)
		}
	}
	switch r.Verdict {
	case Fail:
		return "FAIL: " + strings.Join(what, ", ")
	case ApprovalMissing:
		return "APPROVAL MISSING: all other checks pass, but an approval decision is still needed"
	}
	return "PASS"
}

// describeScope describes what was checked, and the frameworks and domains it was checked against.
func (r *Result) describeScope() string {
	against := firstNonEmpty(strings.Join(r.Frameworks, ", "), "the whole catalog")
	catalog := "catalog " + r.Catalog
	if r.Starter {
		catalog += " (the built-in starter, not the SCF)"
	}
	if len(r.Domains) > 0 {
		against += ", domains " + strings.Join(r.Domains, ", ")
	}
	return fmt.Sprintf(
		"%s, %s, against %s, %s",
		r.Subject.describe(),
		prose.Count(r.Figures.Documents, "document", "documents"),
		against,
		catalog,
	)
}

// describePolicy returns the policy file with its hash, or the origin of the requirements if there was no file.
func (r *Result) describePolicy() string {
	switch {
	case r.Policy.Name != "":
		return r.Policy.Describe()
	case r.Policy.IsDefault:
		return "none; by default, the check fails if there are gaps of severity high or worse (--fail-on high)"
	}
	return "none; the requirements were set with flags"
}

// formatNotRead lists the unread contents of the documents, or returns "" if everything was read.
func (f *Figures) formatNotRead() string {
	if len(f.NotRead) == 0 {
		return ""
	}
	return api.DescribeNotRead(f.NotRead) + ", in " + prose.Count(f.IncompleteDocuments, "document", "documents")
}

// formatCoverage returns the coverage in human-readable form.
func (r *Result) formatCoverage() string {
	if r.Figures.Coverage == nil {
		return "unknown"
	}
	return formatNumber(*r.Figures.Coverage) + "%: " + r.Figures.Formula
}

func (r *Result) formatMaturity() string {
	if r.Figures.Maturity == nil {
		return "unknown"
	}
	return formatNumber(*r.Figures.Maturity) + " of 5 on average"
}

func (r *Result) formatGapCounts() string {
	out := formatSeverityCounts(r.Figures.Gaps)
	if n := r.CountIssues(Waived); n > 0 {
		out += fmt.Sprintf("; %d waived", n)
	}
	if r.Policy.Baseline != "" {
		moved := map[string]int{}
		for i := range r.Issues {
			moved[string(r.Issues[i].Change)]++
		}
		out += fmt.Sprintf(
			"; compared with the baseline: %d opened, %d worse, %d better, %d closed",
			moved["opened"],
			moved["worse"],
			moved["better"],
			len(r.Closed),
		)
	}
	return out
}
