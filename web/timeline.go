package web

import (
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// timeline is a Gantt chart of a plan's open items, by due date. Positions are percentages of its width.
type timeline struct {
	Items  []timelineItem
	Months []timelineMonth
	Today  float64
	// More is the number of further items with a due date.
	More int
}

// timelineItem is an item with its bar, from the creation of the version to the due date.
type timelineItem struct {
	ID, Code, Title, Severity string
	Due                       api.Date
	Overdue                   bool
	From, Width               float64
	Milestones                []float64
}

// timelineMonth is the beginning of a month.
type timelineMonth struct {
	Name string
	At   float64
}

// maxTimelineItems and maxTimelineMonths limit the number of items, of which those due first are shown, and the number
// of month labels.
const maxTimelineItems, maxTimelineMonths = 60, 8

// newTimeline returns the timeline of the rows of a plan, or nil if no item is open.
func newTimeline(version *api.DeliverableVersion, rows []row, now time.Time) *timeline {
	today := now.UTC().Truncate(24 * time.Hour)
	start := version.CreatedAt.UTC().Truncate(24 * time.Hour)
	open := slices.DeleteFunc(slices.Clone(rows), func(r row) bool {
		_, err := r.Due.Time()
		return err != nil || api.IsClosedPOAMStatus(r.Cells[0].Tone)
	})
	if len(open) == 0 {
		return nil
	}
	slices.SortStableFunc(open, func(x, y row) int { return strings.Compare(string(x.Due), string(y.Due)) })
	shown := open[:min(len(open), maxTimelineItems)]
	earliest, _ := shown[0].Due.Time() // checked above
	latest, _ := shown[len(shown)-1].Due.Time()
	first := slices.MinFunc([]time.Time{start, today, earliest}, time.Time.Compare)
	last := slices.MaxFunc([]time.Time{today.AddDate(0, 1, 0), latest}, time.Time.Compare).AddDate(0, 0, 3)
	place := func(t time.Time) float64 { return 100 * min(1, max(0, t.Sub(first).Hours()/last.Sub(first).Hours())) }
	out := &timeline{Today: place(today), More: len(open) - len(shown)}
	for _, r := range shown {
		due, _ := r.Due.Time()
		from := start
		if due.Before(start) {
			from = due
		}
		item := timelineItem{
			ID: r.ID, Code: r.Code, Title: r.Title, Severity: r.Cells[1].Tone, Due: r.Due, Overdue: due.Before(today),
			From: place(from), Width: max(0.5, place(due)-place(from)),
		}
		for _, m := range r.Milestones {
			if t, err := m.Time(); err == nil {
				item.Milestones = append(item.Milestones, place(t))
			}
		}
		out.Items = append(out.Items, item)
	}
	months := int(last.Sub(first).Hours()/24/30) + 1
	every := (months + maxTimelineMonths - 1) / maxTimelineMonths
	for t := time.Date(first.Year(), first.Month()+1, 1, 0, 0, 0, 0, time.UTC); t.Before(last); t = t.AddDate(0, every, 0) {
		month := timelineMonth{At: place(t)}
		if month.At < 92 { // beyond, its name would be cut off
			month.Name = t.Format("Jan 2006")
		}
		out.Months = append(out.Months, month)
	}
	return out
}
