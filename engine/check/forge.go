package check

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/api"
)

// shownByGitHub is how many annotations of a kind GitHub shows of one step.
const shownByGitHub = 10

// data and property escape text in a workflow command, by GitHub's rules: what comes from
// evidence can neither end the command nor begin another.
func data(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func property(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(data(s))
}

// writeGitHub writes annotations for what fails and what warns, worst first, and then the
// page for people, which the log shows.
func writeGitHub(r *Result, s Style) ([]byte, error) {
	var b strings.Builder
	for _, kind := range []struct {
		outcome Outcome
		command string
	}{{Failed, "error"}, {Warned, "warning"}} {
		shown := 0
		for i := range r.Issues {
			one := &r.Issues[i]
			if one.Outcome != kind.outcome || shown == shownByGitHub {
				continue
			}
			shown++
			at := ""
			if one.Place.Path != "" {
				at = "file=" + property(one.Place.Path) + ","
			}
			if one.Place.Line > 0 {
				at += fmt.Sprintf("line=%d,endLine=%d,", one.Place.Line, one.Place.End)
			}
			title, message := one.head(), one.Message
			if one.Rule == ruleGap {
				title += " [" + one.tags() + "]"
			}
			if one.Fix != "" {
				message += "\nTo do: " + one.Fix
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", kind.command, at, property(title), data(message))
		}
	}
	page, err := writeText(r, s)
	return append([]byte(b.String()), page...), err
}

// StepSummary is the page that GitHub shows of a step.
func (r *Result) StepSummary() ([]byte, error) { return writeMarkdown(r, Style{}) }

type qualityIssue struct {
	Description string `json:"description"`
	CheckName   string `json:"check_name"`
	Fingerprint string `json:"fingerprint"`
	Severity    string `json:"severity"`
	Location    struct {
		Path  string `json:"path"`
		Lines struct {
			Begin int `json:"begin"`
		} `json:"lines"`
	} `json:"location"`
}

// writeGitLab writes GitLab's code quality report. What is waived is left out: the format
// has no word for it.
func writeGitLab(r *Result, _ Style) ([]byte, error) {
	out := []qualityIssue{}
	for i := range r.Issues {
		one := &r.Issues[i]
		if one.Outcome == Waived {
			continue
		}
		q := qualityIssue{CheckName: one.ID(), Fingerprint: one.Fingerprint, Description: cut(one.Message, 500)}
		if one.Rule == ruleGap {
			q.Description = cut(fmt.Sprintf("%s [%s]: %s", one.head(), one.tags(), one.Message), 500)
		}
		q.Severity = map[api.Severity]string{api.SeverityCritical: "blocker", api.SeverityHigh: "critical", api.SeverityMedium: "major", api.SeverityLow: "minor"}[one.Severity]
		switch {
		case q.Severity != "":
		case one.Outcome == Failed:
			q.Severity = "critical"
		case one.Outcome == Warned:
			q.Severity = "minor"
		default:
			q.Severity = "info"
		}
		q.Location.Path = r.pathOf(one)
		q.Location.Lines.Begin = max(1, one.Place.Line)
		out = append(out, q)
	}
	return indented(out)
}

// pathOf is the file that an issue is shown at: readers leave out what has none. What
// rests on no passage is the policy's, or else of all that was checked.
func (r *Result) pathOf(i *Issue) string {
	p := or(i.Place.Path, safe(r.Policy.Name))
	if p == "" && r.Subject.Kind == Folder {
		p = safe(r.Subject.Name)
	}
	return strings.TrimPrefix(filepath.ToSlash(or(p, ".service.yaml")), "./")
}

// uri is a path as a relative URI reference.
func uri(path string) string {
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
