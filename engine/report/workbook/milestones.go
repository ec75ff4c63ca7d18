package workbook

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// Milestones stand in one cell, a line each, and their changes in another, as plans of
// action have them:
//
//	(1) 2027-01-31: Owner named [completed]
//	(2) 2027-03-31: First review signed [open]
//
//	(2) 2027-03-01 by Ana Roe: moved to 2027-05-31: The auditor is away.
//
// The number ties a change to its milestone. Further lines of a text are indented.
const (
	MilestoneLines Kind = "milestones"
	ChangeLines    Kind = "milestone_changes"
)

const (
	fieldMilestones = "milestones"
	fieldChanges    = "milestone_changes"
	indent          = "    "
)

// The contract's bounds, so that the cell is named and not a field.
const (
	mostMilestones = 100
	longestTitle   = 500
	longestReason  = 2000
)

var milestoneStatuses = []string{"open", "in_progress", "completed", "cancelled"}

// planned is a milestone as a cell has it, moved a change of one.
type planned struct {
	number      int
	due, status string
	title       string
}

type moved struct {
	number      int
	at, by, due string
	reason      string
}

func (p planned) String() string {
	return fmt.Sprintf("(%d) %s: %s [%s]", p.number, p.due, strings.ReplaceAll(p.title, "\n", "\n"+indent), strings.ReplaceAll(p.status, "_", " "))
}

func (m moved) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "(%d)", m.number)
	if m.at != "" {
		b.WriteString(" " + m.at)
	}
	if m.by != "" {
		b.WriteString(" by " + m.by)
	}
	if m.at+m.by != "" {
		b.WriteString(":")
	}
	b.WriteString(" moved to " + m.due)
	if m.reason != "" {
		b.WriteString(": " + strings.ReplaceAll(m.reason, "\n", "\n"+indent))
	}
	return b.String()
}

func lined[T fmt.Stringer](all []T) string {
	out := make([]string, len(all))
	for i, one := range all {
		out[i] = one.String()
	}
	return strings.Join(out, "\n")
}

// plannedOf are the planned ones, with the dates they first had.
func plannedOf(all []api.Milestone) []planned {
	out := make([]planned, len(all))
	for i, m := range all {
		out[i] = planned{i + 1, string(m.DueDate), m.Status, settled(Clean(m.Title))}
	}
	return out
}

func movedOf(all []api.Milestone) (out []moved) {
	for i, m := range all {
		for _, c := range m.Changes {
			out = append(out, movedFrom(i+1, c))
		}
	}
	return out
}

func movedFrom(number int, c api.MilestoneChange) moved {
	return moved{number, c.At, strings.Join(strings.Fields(Clean(c.By)), " "), string(c.DueDate), settled(Clean(c.Reason))}
}

var (
	entryLine   = lazyregexp.Of(`(?s)^\(?([0-9]{1,3})[.)][ \t]*(.*)$`)
	plannedLine = lazyregexp.Of(`(?s)^([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t]*:|[ \t])[ \t]*(.*)$`)
	statusEnd   = lazyregexp.Of(`\s*\[([^\[\]\n]*)\]$`)
	movedLine   = lazyregexp.Of(`(?is)^(?:([0-9]{4}-[0-9]{2}-[0-9]{2})[ \t]*)?(?:by[ \t]+([^\n]*?))?[ \t]*:?[ \t]*moved to ([0-9]{4}-[0-9]{2}-[0-9]{2})(?:[ \t]*:[ \t]*(.*))?$`)
)

// entries are a cell's numbered texts, with the line each begins on.
func entries(s string) (out []entry, wrong string) {
	for n, line := range strings.Split(settled(s), "\n") {
		rest, indented := strings.CutPrefix(line, indent)
		m := entryLine.FindStringSubmatch(line)
		switch {
		case strings.TrimSpace(line) == "" && len(out) == 0:
		case len(out) > 0 && (indented || strings.TrimSpace(line) == ""):
			out[len(out)-1].text += "\n" + rest
		case m == nil:
			return nil, fmt.Sprintf("line %d has no number as (1) before it; indent a line that goes on by four spaces", n+1)
		default:
			number, err := strconv.Atoi(m[1])
			if err != nil || number == 0 {
				return nil, fmt.Sprintf("line %d: numbers begin with (1)", n+1)
			}
			out = append(out, entry{n + 1, number, m[2]})
		}
	}
	for i := range out {
		out[i].text = settled(out[i].text)
	}
	return out, ""
}

type entry struct {
	line, number int
	text         string
}

const (
	asPlanned = "; write it as (1) 2027-03-31: what is done by then [open]"
	asMoved   = "; write it as (1) moved to 2027-03-31: why"
)

// parsePlanned reads a cell of milestones. One without a status is open.
func parsePlanned(s string) (out []planned, wrong string) {
	all, wrong := entries(s)
	if wrong != "" {
		return nil, wrong + asPlanned
	}
	if len(all) > mostMilestones {
		return nil, fmt.Sprintf("there are %d milestones; at most %d are taken", len(all), mostMilestones)
	}
	for _, e := range all {
		m := plannedLine.FindStringSubmatch(e.text)
		if m == nil {
			return nil, fmt.Sprintf("line %d: after its number a milestone has a date%s", e.line, asPlanned)
		}
		p := planned{number: e.number, due: m[1], status: "open", title: m[2]}
		if _, ok := day(p.due); !ok {
			return nil, fmt.Sprintf("line %d: %s is no date%s", e.line, p.due, asPlanned)
		}
		if at := statusEnd.FindStringSubmatchIndex(p.title); at != nil {
			word := p.title[at[2]:at[3]]
			if p.status, wrong = milestoneStatus(word); wrong != "" {
				return nil, fmt.Sprintf("line %d: %s", e.line, wrong)
			}
			p.title = p.title[:at[0]]
		}
		p.title = settled(p.title)
		switch {
		case p.title == "":
			return nil, fmt.Sprintf("line %d: say what is done by then%s", e.line, asPlanned)
		case utf8.RuneCountInString(p.title) > longestTitle:
			return nil, fmt.Sprintf("line %d: its text has %d letters; at most %d are taken", e.line, utf8.RuneCountInString(p.title), longestTitle)
		case slices.ContainsFunc(out, func(o planned) bool { return o.number == p.number }):
			return nil, fmt.Sprintf("line %d: milestone (%d) stands twice", e.line, p.number)
		}
		out = append(out, p)
	}
	return out, ""
}

func milestoneStatus(word string) (status, wrong string) {
	c := Column{Kind: Choice, Values: milestoneStatuses}
	if s, ok := c.choose(word); ok {
		return s, ""
	}
	return "", fmt.Sprintf("there is no status [%s]; end the line with one of [%s]", short(word), strings.Join(c.allowed(), "], ["))
}

// parseMoved reads a cell of changes.
func parseMoved(s string) (out []moved, wrong string) {
	all, wrong := entries(s)
	if wrong != "" {
		return nil, wrong + asMoved
	}
	if len(all) > mostMilestones {
		return nil, fmt.Sprintf("there are %d changes; at most %d are taken", len(all), mostMilestones)
	}
	for _, e := range all {
		m := movedLine.FindStringSubmatch(e.text)
		if m == nil {
			return nil, fmt.Sprintf("line %d does not say which date the milestone moved to%s", e.line, asMoved)
		}
		c := moved{number: e.number, at: m[1], by: strings.Join(strings.Fields(m[2]), " "), due: m[3], reason: settled(m[4])}
		if strings.Contains(strings.ToLower(c.by), "moved to") {
			return nil, fmt.Sprintf("line %d says twice where it moved to%s", e.line, asMoved)
		}
		for _, d := range []string{c.at, c.due} {
			if _, ok := day(d); d != "" && !ok {
				return nil, fmt.Sprintf("line %d: %s is no date%s", e.line, d, asMoved)
			}
		}
		if utf8.RuneCountInString(c.reason) > longestReason {
			return nil, fmt.Sprintf("line %d: its reason has %d letters; at most %d are taken", e.line, utf8.RuneCountInString(c.reason), longestReason)
		}
		out = append(out, c)
	}
	return out, ""
}

// Milestones are an item's milestones after the row's edits, where it has any of them. What
// the cells leave as it was stays as the item has it.
func (r *Row) Milestones(now []api.Milestone) (all []api.Milestone, edited bool, p *Problem) {
	plan, changes := plannedOf(now), movedOf(now)
	var cell, changesCell string
	for _, e := range r.Edits {
		switch e.Field {
		case fieldMilestones:
			plan, _ = parsePlanned(e.To)
			cell = e.Cell
		case fieldChanges:
			changes, _ = parseMoved(e.To)
			changesCell = e.Cell
		}
	}
	if cell == "" && changesCell == "" {
		return nil, false, nil
	}
	all = []api.Milestone{}
	had := plannedOf(now)
	for _, m := range plan {
		one := api.Milestone{Title: m.title, DueDate: api.Date(m.due), Status: m.status}
		if m.number <= len(now) && had[m.number-1] == m {
			one = now[m.number-1]
			one.Changes = nil
		}
		for _, c := range changes {
			if c.number == m.number {
				one.Changes = append(one.Changes, change(now, c))
			}
		}
		all = append(all, one)
	}
	for _, c := range changes {
		if slices.ContainsFunc(plan, func(m planned) bool { return m.number == c.number }) {
			continue
		}
		if changesCell == "" {
			return nil, true, &Problem{cell, fmt.Sprintf("milestone (%d) is gone, and there are changes of it; take those out too", c.number)}
		}
		return nil, true, &Problem{changesCell, fmt.Sprintf("there is no milestone (%d) to change", c.number)}
	}
	return all, true, nil
}

// change is a change as the item has it, else a new one.
func change(now []api.Milestone, c moved) api.MilestoneChange {
	for i, m := range now {
		for _, old := range m.Changes {
			if movedFrom(i+1, old) == c {
				return old
			}
		}
	}
	return api.MilestoneChange{At: c.at, By: c.by, DueDate: api.Date(c.due), Reason: c.reason}
}
