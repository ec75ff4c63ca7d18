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
	Name, About string
	hash        string // how a # is written otherwise; see apart
	write       func(r *Result, s Style) ([]byte, error)
}

// How a # is written otherwise: in JSON and the YAML of TAP, in XML, and where it can't be.
const (
	hashJSON  = `\u0023`
	hashXML   = "&#35;"
	hashApart = " #"
)

// Formats are all there are, the default first.
var Formats = []Format{
	{"text", "the verdict with its reasons, for people", hashApart, writeText},
	{"table", "every gap and issue in a line", hashApart, writeTable},
	{"json", "the whole result; a baseline too", hashJSON, func(r *Result, _ Style) ([]byte, error) { return r.JSON() }},
	{"sarif", "SARIF 2.1.0, for code scanning", hashJSON, writeSARIF},
	{"junit", "JUnit XML, a test case for each control and rule", hashXML, writeJUnit},
	{"tap", "TAP version 14, likewise", hashJSON, writeTAP},
	{"github", "annotations of GitHub Actions, and the step summary", hashApart, writeGitHub},
	{"gitlab", "GitLab code quality", hashJSON, writeGitLab},
	{"markdown", "a comment for a pull request", hashApart, writeMarkdown},
	{"csv", "a row for each gap and issue", hashApart, writeCSV},
	{"oscal", "OSCAL assessment results", hashJSON, writeOSCAL},
}

// FormatNames are the formats' names.
func FormatNames() (out []string) {
	for _, f := range Formats {
		out = append(out, f.Name)
	}
	return out
}

// Write is the result in a format.
func (r *Result) Write(format string, s Style) ([]byte, error) {
	for _, f := range Formats {
		if f.Name == format {
			text, err := f.write(r, s)
			return apart(text, f.hash), err
		}
	}
	return nil, UnknownFormat(format)
}

// Output is a format and where it goes; to stdout where Path is empty.
type Output struct{ Format, Path string }

// ParseOutput reads FORMAT or FORMAT=PATH; PATH may be - for stdout.
func ParseOutput(word string) (Output, error) {
	name, path, given := strings.Cut(word, "=")
	o := Output{strings.ToLower(strings.TrimSpace(name)), path}
	if given && path == "" {
		return o, mistake("", 0, "the output %q names no file behind the =", clean(word))
	}
	if path == "-" {
		o.Path = ""
	}
	for _, f := range Formats {
		if f.Name == o.Format {
			return o, nil
		}
	}
	return o, UnknownFormat(name)
}

// UnknownFormat refuses a format that there is not.
func UnknownFormat(name string) error {
	return mistake("", 0, "there is no output format %q%s; the formats are %s", cut(clean(name), 40), nearest(name, FormatNames()), strings.Join(FormatNames(), ", "))
}

// logCommand is what logs of Azure Pipelines and GitHub take for a command, wherever it stands
// in a line.
var logCommand = lazyregexp.Of(`##([A-Za-z]*\[)`)

// apart makes a page harmless to the log that it is written to: what comes from evidence is
// no command there.
func apart(page []byte, hash string) []byte {
	return logCommand.ReplaceAll(page, []byte("#"+hash+"$1"))
}

// leading is a text that a line begins with: two colons would begin a command of GitHub's log.
func leading(s string) string {
	if strings.HasPrefix(s, ":") {
		return "./" + s
	}
	return s
}

// where is a place as people read it.
func (p Place) where() string {
	p.Path = leading(p.Path)
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

// head is an issue in a few words.
func (i *Issue) head() string {
	if i.Rule != ruleGap {
		return i.Title
	}
	return strings.TrimSpace(i.Control + " " + i.Title)
}

// tags are what is to be known of a gap at once.
func (i *Issue) tags() string {
	if i.Rule != ruleGap {
		return ""
	}
	out := string(i.Severity) + ", " + plain(i.Status)
	if i.Change == "opened" {
		out += ", new"
	} else if i.Change != "" {
		out += ", " + string(i.Change)
	}
	return out
}

// inert keeps a spreadsheet from taking a text for a formula: an apostrophe goes before it.
func inert(s string) string {
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
			cells[i] = inert(cells[i])
		}
		_ = w.Write(cells) // what it could not write, Error tells at the end
	}
	put("rule", "outcome", "control", "title", "domain", "severity", "status", "change", "message", "missing", "fix", "path", "line", "page", "waived_by", "waived_until", "waiver_reason", "fingerprint")
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
		put(one.Rule, string(one.Outcome), one.Control, one.Title, one.Domain, string(one.Severity), string(one.Status), string(one.Change), one.Message,
			strings.Join(one.Missing, "; "), one.Fix, one.Place.Path, line, page, w.Approver, string(w.Expiry), w.Reason, one.Fingerprint)
	}
	w.Flush()
	return out.Bytes(), w.Error()
}

// verdictWords are the verdict as a sentence.
func (r *Result) verdictWords() string {
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

// about is what was checked, against what.
func (r *Result) about() string {
	against := or(strings.Join(r.Frameworks, ", "), "the whole catalog")
	catalog := "catalog " + r.Catalog
	if r.Starter {
		catalog += " (the built-in starter, not the SCF)"
	}
	if len(r.Domains) > 0 {
		against += ", domains " + strings.Join(r.Domains, ", ")
	}
	return fmt.Sprintf("%s, %s, against %s, %s", r.Subject.words(), count(r.Figures.Documents, "document", "documents"), against, catalog)
}

// coverageWords and maturityWords are figures as people read them.
func (r *Result) coverageWords() string {
	if r.Figures.Coverage == nil {
		return "not known"
	}
	return number(*r.Figures.Coverage) + " %: " + r.Figures.Formula
}

func (r *Result) maturityWords() string {
	if r.Figures.Maturity == nil {
		return "not known"
	}
	return number(*r.Figures.Maturity) + " of 5 on average"
}

func (r *Result) gapWords() string {
	out := tally(r.Figures.Gaps)
	if n := r.Count(Waived); n > 0 {
		out += fmt.Sprintf("; %d waived", n)
	}
	if r.Policy.Baseline != "" {
		moved := map[string]int{}
		for i := range r.Issues {
			moved[string(r.Issues[i].Change)]++
		}
		out += fmt.Sprintf("; since the baseline %d opened, %d worse, %d better, %d closed", moved["opened"], moved["worse"], moved["better"], len(r.Closed))
	}
	return out
}
