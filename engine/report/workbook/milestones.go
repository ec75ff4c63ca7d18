package workbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/report/wording"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Milestones are written into one cell, one per line, and their changes into another, in the usual
// form of a plan of action and milestones:
//
//	(1) 2027-01-31: Owner named [completed]
//	(2) 2027-03-31: First review signed [open]
//
//	(2) 2027-03-01 by Ana Roe: moved to 2027-05-31: The auditor is away.
//
// The number ties a change to its milestone. Further lines of a text are indented.
const (
	KindMilestones       ColumnKind = "milestones"
	KindMilestoneChanges ColumnKind = "milestone_changes"
)

const (
	fieldMilestones = "milestones"
	fieldChanges    = "milestone_changes"
	indent          = "    "
)

// Limits that the API sets. They are also checked here, so that errors can name the cell.
const (
	maxMilestones   = 100
	maxTitleLength  = 500
	maxReasonLength = 2000
)

var milestoneStatuses = []string{"open", "in_progress", "completed", "cancelled"}

// milestoneLine is a milestone in the form in which it is written in a cell.
type milestoneLine struct {
	number      int
	due, status string
	title       string
}

// changeLine is a change of a milestone's date, in the form in which it is written on a line of a cell.
type changeLine struct {
	number                    int
	changedOn, changedBy, due string
	reason                    string
}

func (p milestoneLine) String() string {
	return fmt.Sprintf(
		"(%d) %s: %s [%s]",
		p.number,
		p.due,
		strings.ReplaceAll(p.title, "\n", "\n"+indent),
		strings.ReplaceAll(p.status, "_", " "),
	)
}

func (m changeLine) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "(%d)", m.number)
	if m.changedOn != "" {
		b.WriteString(" " + m.changedOn)
	}
	if m.changedBy != "" {
		b.WriteString(" by " + m.changedBy)
	}
	if m.changedOn+m.changedBy != "" {
		b.WriteString(":")
	}
	b.WriteString(" moved to " + m.due)
	if m.reason != "" {
		b.WriteString(": " + strings.ReplaceAll(m.reason, "\n", "\n"+indent))
	}
	return b.String()
}

func joinLines[T fmt.Stringer](all []T) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return strings.Join(out, "\n")
}

// toMilestoneLines converts milestones to the form written in a cell, with their originally planned dates.
func toMilestoneLines(all []api.Milestone) []milestoneLine {
	out := make([]milestoneLine, len(all))
	for i, m := range all {
		out[i] = milestoneLine{
			number: i + 1,
			due:    string(m.DueDate),
			status: m.Status,
			title:  trimAndUnifyLineEnds(wording.ReplaceControlCharacters(m.Title)),
		}
	}
	return out
}

func toChangeLines(all []api.Milestone) (out []changeLine) {
	for i, m := range all {
		for _, c := range m.Changes {
			out = append(out, newChangeLine(i+1, c))
		}
	}
	return out
}

func newChangeLine(number int, c api.MilestoneChange) changeLine {
	return changeLine{
		number:    number,
		changedOn: c.At,
		changedBy: strings.Join(strings.Fields(wording.ReplaceControlCharacters(c.By)), " "),
		due:       string(c.DueDate),
		reason:    trimAndUnifyLineEnds(wording.ReplaceControlCharacters(c.Reason)),
	}
}

var (
	numberedLinePattern = lazyregexp.New(`(?s)^\(?([0-9]{1,3})[.)][ \t]*(.*)$`)
	milestonePattern    = lazyregexp.New(`(?s)^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t]*:|[ \t])[ \t]*(.*)$`)
	statusSuffix        = lazyregexp.New(`\s*\[([^\[\]\n]*)\]$`)
	changePattern       = lazyregexp.New(
		`(?is)^(?:([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*)?(?:by[ \t]+([^\n]*?))?[ \t]*:?[ \t]*moved to ([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t]*:[ \t]*(.*))?$`,
	)
)

// parseNumberedLines splits the text of a cell into its numbered entries. Each entry includes the
// number of its first line, for error messages.
func parseNumberedLines(s string) (out []numberedText, problem string) {
	for n, line := range strings.Split(trimAndUnifyLineEnds(s), "\n") {
		rest, indented := strings.CutPrefix(line, indent)
		m := numberedLinePattern.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "" && len(out) == 0:
		case len(out) > 0 && (indented || strings.TrimSpace(line) == ""):
			out[len(out)-1].text += "\n" + rest
		case m == nil:
			return nil, fmt.Sprintf("line %d doesn't start with a number such as (1); if it continues the previous line, indent it by four spaces",
				n+1)
		default:
			number, err := strconv.Atoi(m[1])
			if err != nil || number == 0 {
				return nil, fmt.Sprintf("line %d: the number must be at least (1)", n+1)
			}
			out = append(out, numberedText{line: n + 1, number: number, text: m[2]})
		}
	}
	for i := range out {
		out[i].text = trimAndUnifyLineEnds(out[i].text)
	}
	return out, ""
}

// numberedText is a line of a cell that begins with a number.
type numberedText struct {
	line, number int
	text         string
}

const (
	milestoneHint = "; use the form \"(1) 2027-03-31: DESCRIPTION [open]\""
	changeHint    = "; use the form \"(1) moved to 2027-03-31: REASON\""
)

// parseMilestones parses the text of a cell that lists milestones. A milestone without a status counts as open. If
// the text is invalid, it returns a description of the problem.
func parseMilestones(s string) (out []milestoneLine, problem string) {
	all, problem := parseNumberedLines(s)
	if problem != "" {
		return nil, problem + milestoneHint
	}
	if len(all) > maxMilestones {
		return nil, fmt.Sprintf("the cell has %d milestones; the maximum is %d", len(all), maxMilestones)
	}
	for _, e := range all {
		m := milestonePattern.FindStringSubmatch(e.text)
		if m == nil {
			return nil, fmt.Sprintf("line %d: a date is expected after the number%s", e.line, milestoneHint)
		}
		p := milestoneLine{number: e.number, due: m[1], status: "open", title: m[2]}
		if _, ok := dateToSerial(p.due); !ok {
			return nil, fmt.Sprintf("line %d: %s is not a date%s", e.line, p.due, milestoneHint)
		}
		if at := statusSuffix.FindStringSubmatchIndex(p.title); at != nil {
			word := p.title[at[2]:at[3]]
			if p.status, problem = parseMilestoneStatus(word); problem != "" {
				return nil, fmt.Sprintf("line %d: %s", e.line, problem)
			}
			p.title = p.title[:at[0]]
		}
		p.title = trimAndUnifyLineEnds(p.title)
		switch {
		case p.title == "":
			return nil, fmt.Sprintf("line %d: the description is missing%s", e.line, milestoneHint)
		case utf8.RuneCountInString(p.title) > maxTitleLength:
			return nil, fmt.Sprintf(
				"line %d: the text has %d characters; the maximum is %d",
				e.line,
				utf8.RuneCountInString(p.title),
				maxTitleLength,
			)
		case slices.ContainsFunc(out, func(o milestoneLine) bool { return o.number == p.number }):
			return nil, fmt.Sprintf("line %d: milestone (%d) appears twice", e.line, p.number)
		}
		out = append(out, p)
	}
	return out, ""
}

func parseMilestoneStatus(word string) (status, problem string) {
	c := Column{Kind: KindChoice, Values: milestoneStatuses}
	if s, ok := c.parseChoice(word); ok {
		return s, ""
	}
	return "", fmt.Sprintf(
		"unknown status [%s]; end the line with one of [%s]",
		truncateForMessage(word),
		strings.Join(c.choiceLabels(), "], ["),
	)
}

// parseMilestoneChanges parses the text of a cell that lists milestone changes. If the text is invalid, it returns a
// description of the problem.
func parseMilestoneChanges(s string) (out []changeLine, problem string) {
	all, problem := parseNumberedLines(s)
	if problem != "" {
		return nil, problem + changeHint
	}
	if len(all) > maxMilestones {
		return nil, fmt.Sprintf("the cell has %d changes; the maximum is %d", len(all), maxMilestones)
	}
	for _, e := range all {
		m := changePattern.FindStringSubmatch(e.text)
		if m == nil {
			return nil, fmt.Sprintf("line %d doesn't contain the new date of the milestone%s", e.line, changeHint)
		}
		c := changeLine{
			number:    e.number,
			changedOn: m[1],
			changedBy: strings.Join(strings.Fields(m[2]), " "),
			due:       m[3],
			reason:    trimAndUnifyLineEnds(m[4]),
		}
		if strings.Contains(strings.ToLower(c.changedBy), "moved to") {
			return nil, fmt.Sprintf("line %d has two new dates%s", e.line, changeHint)
		}
		for _, d := range []string{c.changedOn, c.due} {
			if _, ok := dateToSerial(d); d != "" && !ok {
				return nil, fmt.Sprintf("line %d: %s is not a date%s", e.line, d, changeHint)
			}
		}
		if utf8.RuneCountInString(c.reason) > maxReasonLength {
			return nil, fmt.Sprintf(
				"line %d: the reason has %d characters; the maximum is %d",
				e.line,
				utf8.RuneCountInString(c.reason),
				maxReasonLength,
			)
		}
		out = append(out, c)
	}
	return out, ""
}

// MilestonesAfterEdits returns the milestones that an item has once the row's edits are applied. A milestone that
// the row does not change keeps all its values. If the row does not edit milestones at all, edited is false.
func (r *ChangedRow) MilestonesAfterEdits(current []api.Milestone) (all []api.Milestone, edited bool, p *Problem) {
	plan, changes := toMilestoneLines(current), toChangeLines(current)
	var cell, changesCell string
	for _, e := range r.Edits {
		switch e.Field {
		case fieldMilestones:
			plan, _ = parseMilestones(e.NewValue)
			cell = e.Cell
		case fieldChanges:
			changes, _ = parseMilestoneChanges(e.NewValue)
			changesCell = e.Cell
		}
	}
	if cell == "" && changesCell == "" {
		return nil, false, nil
	}
	all = []api.Milestone{}
	had := toMilestoneLines(current)
	for _, m := range plan {
		one := api.Milestone{Title: m.title, DueDate: api.Date(m.due), Status: m.status}
		if m.number <= len(current) && had[m.number-1] == m {
			one = current[m.number-1]
			one.Changes = nil
		}
		for _, c := range changes {
			if c.number == m.number {
				one.Changes = append(one.Changes, findOrNewMilestoneChange(current, c))
			}
		}
		all = append(all, one)
	}
	for _, c := range changes {
		if slices.ContainsFunc(plan, func(m milestoneLine) bool { return m.number == c.number }) {
			continue
		}
		if changesCell == "" {
			return nil, true, &Problem{
				cell,
				fmt.Sprintf("milestone (%d) was removed but still has changes; remove those too", c.number),
			}
		}
		return nil, true, &Problem{changesCell, fmt.Sprintf("the change refers to milestone (%d), which doesn't exist", c.number)}
	}
	return all, true, nil
}

// findOrNewMilestoneChange returns the existing change that a line describes. If there is none, it returns a
// new change.
func findOrNewMilestoneChange(current []api.Milestone, c changeLine) api.MilestoneChange {
	for i, m := range current {
		for _, old := range m.Changes {
			if newChangeLine(i+1, old) == c {
				return old
			}
		}
	}
	return api.MilestoneChange{At: c.changedOn, By: c.changedBy, DueDate: api.Date(c.due), Reason: c.reason}
}
