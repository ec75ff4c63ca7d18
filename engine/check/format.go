package check

import (
	"bytes"
	"encoding/csv"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Style is how a result for people looks.
type Style struct {
	Color bool
}

// Format is a way to write a result.
type Format struct {
	Name, Description string
	hashEscape        string // how a # is written otherwise; see apart
	write             func(r *Result, s Style) ([]byte, error)
}

// How a # is written otherwise: in JSON and the YAML of TAP, in XML, and where it can't be.
const (
	hashJSON   = `\u0023`
	hashXML    = "&#35;"
	hashSpaced = " #"
)

// AllFormats are all there are, the default first.
var AllFormats = []Format{
	{"text", "the verdict with its reasons, for people", hashSpaced, writeText},
	{"table", "every gap and issue in a line", hashSpaced, writeTable},
	{"json", "the whole result; a baseline too", hashJSON, func(r *Result, _ Style) ([]byte, error) { return r.EncodeJSON() }},
	{"sarif", "SARIF 2.1.0, for code scanning", hashJSON, writeSARIF},
	{"junit", "JUnit XML, a test case for each control and rule", hashXML, writeJUnit},
	{"tap", "TAP version 14, likewise", hashJSON, writeTAP},
	{"github", "annotations of GitHub Actions, and the step summary", hashSpaced, writeGitHub},
	{"gitlab", "GitLab code quality", hashJSON, writeGitLab},
	{"markdown", "a comment for a pull request", hashSpaced, writeMarkdown},
	{"csv", "a row for each gap and issue", hashSpaced, writeCSV},
	{"oscal", "OSCAL assessment results", hashJSON, writeOSCAL},
}

// FormatNames are the formats' names.
func FormatNames() (out []string) {
	for _, f := range AllFormats {
		out = append(out, f.Name)
	}
	return out
}

// Render is the result in a format.
func (r *Result) Render(format string, s Style) ([]byte, error) {
	for _, f := range AllFormats {
		if f.Name == format {
			text, err := f.write(r, s)
			return escapeLogCommands(text, f.hashEscape), err
		}
	}
	return nil, UnknownFormatError(format)
}

// Output is a format and where it goes; to stdout where Path is empty.
type Output struct{ Format, Path string }

// ParseOutput reads FORMAT or FORMAT=PATH; PATH may be - for stdout.
func ParseOutput(word string) (Output, error) {
	name, path, given := strings.Cut(word, "=")
	o := Output{strings.ToLower(strings.TrimSpace(name)), path}
	if given && path == "" {
		return o, inputErrorf("", 0, "the output %q names no file behind the =", sanitizeLine(word))
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

// UnknownFormatError refuses a format that there is not.
func UnknownFormatError(name string) error {
	return inputErrorf(
		"",
		0,
		"there is no output format %q%s; the formats are %s",
		truncate(sanitizeLine(name), 40),
		didYouMean(name, FormatNames()),
		strings.Join(FormatNames(), ", "),
	)
}

// logCommand is what logs of Azure Pipelines and GitHub take for a command, wherever it stands
// in a line.
var logCommand = lazyregexp.New(`##([A-Za-z]*\[)`)

// escapeLogCommands makes a page harmless to the log that it is written to: what comes from evidence is
// no command there.
func escapeLogCommands(page []byte, replacement string) []byte {
	return logCommand.ReplaceAll(page, []byte("#"+replacement+"$1"))
}

// escapeLeadingColons is a text that a line begins with: two colons would begin a command of GitHub's log.
func escapeLeadingColons(s string) string {
	if strings.HasPrefix(s, ":") {
		return "./" + s
	}
	return s
}

// format is a place as people read it.
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

// heading is an issue in a few words.
func (i *Issue) heading() string {
	if i.Rule != ruleGap {
		return i.Title
	}
	return strings.TrimSpace(i.Control + " " + i.Title)
}

// formatTags are what is to be known of a gap at once.
func (i *Issue) formatTags() string {
	if i.Rule != ruleGap {
		return ""
	}
	out := string(i.Severity) + ", " + humanize(i.Status)
	if i.Change == "opened" {
		out += ", new"
	} else if i.Change != "" {
		out += ", " + string(i.Change)
	}
	return out
}

// escapeFormula keeps a spreadsheet from taking a text for a formula: an apostrophe goes before it.
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
		_ = w.Write(cells) // what it could not write, Error tells at the end
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
		)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// verdictSentence are the verdict as a sentence.
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
		return "APPROVAL MISSING: everything else passes, and a person has to decide"
	}
	return "PASS"
}

// describeScope is what was checked, against what.
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
		pluralize(r.Figures.Documents, "document", "documents"),
		against,
		catalog,
	)
}

// formatCoverage and maturityWords are figures as people read them.
func (r *Result) formatCoverage() string {
	if r.Figures.Coverage == nil {
		return "not known"
	}
	return formatNumber(*r.Figures.Coverage) + " %: " + r.Figures.Formula
}

func (r *Result) formatMaturity() string {
	if r.Figures.Maturity == nil {
		return "not known"
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
			"; since the baseline %d opened, %d worse, %d better, %d closed",
			moved["opened"],
			moved["worse"],
			moved["better"],
			len(r.Closed),
		)
	}
	return out
}
