package check

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// maxGitHubAnnotations is the number of annotations of each kind that GitHub shows per step.
const maxGitHubAnnotations = 10

// escapeGitHubData escapes text in a workflow command by GitHub's rules, so that text from evidence
// can't end the command or start another one.
func escapeGitHubData(s string) string {
	return strings.NewReplacer("%", "%25", "\r", "%0D", "\n", "%0A").Replace(s)
}

func escapeGitHubProperty(s string) string {
	return strings.NewReplacer(":", "%3A", ",", "%2C").Replace(escapeGitHubData(s))
}

// writeGitHub writes annotations for failures and warnings, worst first, followed by the text
// report for the log.
func writeGitHub(r *Result, s Style) ([]byte, error) {
	var b strings.Builder
	for _, kind := range []struct {
		outcome Outcome
		command string
	}{{Failed, "error"}, {Warned, "warning"}} {
		shown := 0
		for i := range r.Issues {
			one := &r.Issues[i]
			if one.Outcome != kind.outcome || shown == maxGitHubAnnotations {
				continue
			}
			shown++
			at := ""
			if one.Place.Path != "" {
				at = "file=" + escapeGitHubProperty(one.Place.Path) + ","
			}
			if one.Place.Line > 0 {
				at += fmt.Sprintf("line=%d,endLine=%d,", one.Place.Line, one.Place.End)
			}
			title, message := one.heading(), one.Message
			if one.Rule == ruleGap {
				title += " [" + one.formatTags() + "]"
			}
			if one.Fix != "" {
				message += "\nTo do: " + one.Fix
			}
			fmt.Fprintf(&b, "::%s %stitle=%s::%s\n", kind.command, at, escapeGitHubProperty(title), escapeGitHubData(message))
		}
	}
	page, err := writeText(r, s)
	return append([]byte(b.String()), page...), err
}

// GitHubStepSummary returns the page that GitHub shows for a step.
func (r *Result) GitHubStepSummary() ([]byte, error) { return writeMarkdown(r, Style{}) }

type gitLabIssue struct {
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

// writeGitLab writes a GitLab code quality report. Waived gaps are omitted because the format can't
// represent them.
func writeGitLab(r *Result, _ Style) ([]byte, error) {
	out := []gitLabIssue{}
	for i := range r.Issues {
		one := &r.Issues[i]
		if one.Outcome == Waived {
			continue
		}
		q := gitLabIssue{CheckName: one.RuleID(), Fingerprint: one.Fingerprint, Description: prose.Truncate(one.Message, 500)}
		if one.Rule == ruleGap {
			q.Description = prose.Truncate(fmt.Sprintf("%s [%s]: %s", one.heading(), one.formatTags(), one.Message), 500)
		}
		q.Severity = map[api.Severity]string{
			api.SeverityCritical: "blocker",
			api.SeverityHigh:     "critical",
			api.SeverityMedium:   "major",
			api.SeverityLow:      "minor",
		}[one.Severity]
		switch {
		case q.Severity != "":
		case one.Outcome == Failed:
			q.Severity = "critical"
		case one.Outcome == Warned:
			q.Severity = "minor"
		default:
			q.Severity = "info"
		}
		q.Location.Path = r.issuePath(one)
		q.Location.Lines.Begin = max(1, one.Place.Line)
		out = append(out, q)
	}
	return encodeIndented(out)
}

// issuePath returns the file at which an issue is shown: the document or, if it has none, the
// policy file or the checked folder. Readers drop issues without a file.
func (r *Result) issuePath(i *Issue) string {
	p := firstNonEmpty(i.Place.Path, replaceControlCharacters(r.Policy.Name))
	if p == "" && r.Subject.Kind == Folder {
		p = replaceControlCharacters(r.Subject.Name)
	}
	return strings.TrimPrefix(filepath.ToSlash(firstNonEmpty(p, ".service.yaml")), "./")
}

// pathToURI returns a path as a relative URI reference.
func pathToURI(path string) string {
	u := url.URL{Path: path}
	if strings.HasPrefix(path, "/") {
		u.Scheme = "file"
	}
	return u.String()
}
