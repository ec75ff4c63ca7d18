package check

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/internal/prose"
)

// maxTextIssues is the maximum number of failing issues in the text format; other formats list all.
const maxTextIssues = 25

// outcomeMarks maps an outcome to the mark shown in front of the rule.
var outcomeMarks = map[Outcome]string{Failed: "✗", Warned: "!", Waived: "~", Noted: "·", Passed: "✓"}

func writeText(r *Result, s Style) ([]byte, error) {
	var b strings.Builder
	line := func(format string, args ...any) {
		b.WriteString(strings.TrimRight(fmt.Sprintf(format, args...), " ") + "\n")
	}
	verdict := r.verdictSentence()
	if s.Color {
		color := map[Verdict]string{Pass: "32", Fail: "31", ApprovalMissing: "33"}[r.Verdict]
		verdict = "\x1b[1;" + color + "m" + verdict + "\x1b[0m"
	}
	line("%s", verdict)
	line("")
	line("checked   %s", r.describeScope())
	line("policy    %s", r.describePolicy())
	line("coverage  %s", r.formatCoverage())
	line("maturity  %s", r.formatMaturity())
	line("gaps      %s", r.formatGapCounts())
	if unread := r.Figures.formatNotRead(); unread != "" {
		line("not read  %s", unread)
	}
	for _, w := range r.Figures.Warnings() {
		line("reliance  %s", w)
	}
	if len(r.Rules) > 0 {
		line("")
	}
	for _, one := range r.Rules {
		line("%s %-16s %s", outcomeMarks[one.Outcome], one.Rule, one.Message)
	}
	r.writeIssueList(&b, Failed, "Failures")
	r.writeIssueList(&b, Warned, "Warnings")
	r.writeIssueList(&b, Waived, "Waived")
	if r.Verdict != Pass {
		line("")
		line("To see what a rule means and what to do about it, run `service check --explain RULE`.")
	}
	return []byte(b.String()), nil
}

// writeIssueList lists the issues with an outcome. No line starts with external text, which a log
// might interpret as a command.
func (r *Result) writeIssueList(b *strings.Builder, o Outcome, title string) {
	n := r.CountIssues(o)
	if n == 0 {
		return
	}
	fmt.Fprintf(b, "\n%s (%d)\n", title, n)
	shown := 0
	for i := range r.Issues {
		one := &r.Issues[i]
		if one.Outcome != o {
			continue
		}
		if shown++; shown > maxTextIssues {
			fmt.Fprintf(b, "  … and %d more; use -o table to list all of them, or -o json for all details\n", n-maxTextIssues)
			return
		}
		if one.Rule != ruleGap {
			fmt.Fprintf(b, "  %s: %s\n", one.Rule, one.Message)
			continue
		}
		fmt.Fprintf(b, "  %s [%s]\n", one.heading(), one.formatTags())
		if w := one.Waiver; w != nil {
			fmt.Fprintf(b, "    until %s, by %s: %s\n", w.Expiry, w.Approver, w.Reason)
			continue
		}
		if len(one.Missing) > 0 {
			more := ""
			if len(one.Missing) > 1 {
				more = fmt.Sprintf(" (and %d more)", len(one.Missing)-1)
			}
			fmt.Fprintf(b, "    missing: %s%s\n", prose.Truncate(one.Missing[0], 160), more)
		}
		switch {
		case one.Place.Quote != "":
			fmt.Fprintf(b, "    %s: “%s”\n", one.Place.format(), prose.Truncate(one.Place.Quote, 160))
		default:
			fmt.Fprintf(b, "    no passage found\n")
		}
		if one.Fix != "" {
			fmt.Fprintf(b, "    to do: %s\n", prose.Truncate(one.Fix, 160))
		}
	}
}

func writeTable(r *Result, _ Style) ([]byte, error) {
	rows := [][]string{{"OUTCOME", "RULE", "CONTROL", "SEVERITY", "STATUS", "CHANGE", "WHERE", "WHAT"}}
	for i := range r.Issues {
		one := &r.Issues[i]
		what := one.Title
		if one.Rule != ruleGap {
			what = one.Message
		}
		rows = append(
			rows,
			[]string{
				string(one.Outcome),
				one.Rule,
				one.Control,
				string(one.Severity),
				prose.Humanize(one.Status),
				string(one.Change),
				one.Place.format(),
				what,
			},
		)
	}
	wide := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, c := range row {
			wide[i] = max(wide[i], utf8.RuneCountInString(c))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(c + strings.Repeat(" ", wide[i]-utf8.RuneCountInString(c)+2))
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	fmt.Fprintf(&b, "\n%s\npolicy: %s\n", r.verdictSentence(), r.describePolicy())
	return []byte(b.String()), nil
}

// A GitHub pull request comment may have at most 65,536 characters.
const (
	maxMarkdownIssues = 50
	maxMarkdownCell   = 160
	maxMarkdownBytes  = 55_000
)

// escapeMarkdown escapes text so that it contains no active links, images, mentions or tags.
func escapeMarkdown(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case strings.ContainsRune("\\`*_[]<>#|~@&:", r):
			fmt.Fprintf(&b, "&#%d;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func writeMarkdown(r *Result, _ Style) ([]byte, error) {
	var b strings.Builder
	fmt.Fprintf(&b, "## service check: %s\n\n", escapeMarkdown(r.verdictSentence()))
	fmt.Fprintf(&b, "%s\n\nPolicy: %s\n\n", escapeMarkdown(r.describeScope()), escapeMarkdown(r.describePolicy()))
	fmt.Fprintf(
		&b,
		"| figure | |\n|---|---|\n| coverage | %s |\n| maturity | %s |\n| gaps | %s |\n",
		escapeMarkdown(r.formatCoverage()),
		escapeMarkdown(r.formatMaturity()),
		escapeMarkdown(r.formatGapCounts()),
	)
	if unread := r.Figures.formatNotRead(); unread != "" {
		fmt.Fprintf(&b, "| not read | %s |\n", escapeMarkdown(unread))
	}
	for _, w := range r.Figures.Warnings() {
		fmt.Fprintf(&b, "| reliance | %s |\n", escapeMarkdown(w))
	}
	b.WriteString("\n")
	if len(r.Rules) > 0 {
		b.WriteString("| | rule | |\n|---|---|---|\n")
		for _, one := range r.Rules {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", outcomeMarks[one.Outcome], one.Rule, escapeMarkdown(one.Message))
		}
	}
	for _, part := range []struct {
		outcome Outcome
		title   string
	}{{Failed, "Failures"}, {Warned, "Warnings"}, {Waived, "Waived"}} {
		n := r.CountIssues(part.outcome)
		if n == 0 {
			continue
		}
		fmt.Fprintf(&b, "\n### %s (%d)\n\n| what | severity | where | to do |\n|---|---|---|---|\n", part.title, n)
		shown := 0
		for i := range r.Issues {
			one := &r.Issues[i]
			if one.Outcome != part.outcome {
				continue
			}
			if shown == maxMarkdownIssues || b.Len() > maxMarkdownBytes {
				fmt.Fprintf(&b, "\n… and %d more.\n", n-shown)
				break
			}
			shown++
			what, todo := one.heading(), one.Fix
			if one.Rule != ruleGap {
				what = one.Message
			}
			if one.Waiver != nil {
				todo = fmt.Sprintf("waived until %s by %s: %s", one.Waiver.Expiry, one.Waiver.Approver, one.Waiver.Reason)
			}
			fmt.Fprintf(
				&b,
				"| %s | %s | %s | %s |\n",
				escapeMarkdown(prose.Truncate(what, maxMarkdownCell)),
				escapeMarkdown(one.formatTags()),
				escapeMarkdown(prose.Truncate(one.Place.format(), maxMarkdownCell)),
				escapeMarkdown(prose.Truncate(todo, maxMarkdownCell)),
			)
		}
	}
	return []byte(b.String()), nil
}
