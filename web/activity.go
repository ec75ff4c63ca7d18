package web

import (
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// parseDay parses a date entered in a field and returns the start of that day.
func parseDay(field, text string) (time.Time, error) {
	day, err := time.Parse(time.DateOnly, text)
	if err != nil {
		return day, api.Invalid(field, "%q is not a date; use the form 2027-01-31", text)
	}
	return day, nil
}

// dayEnd returns the last moment of the day that begins at the given time.
func dayEnd(day time.Time) time.Time { return day.Add(24*time.Hour - time.Second) }

// period returns the period given in the URL.
func (v *visit) period() (api.Period, error) {
	var p api.Period
	for name, end := range map[string]*string{"since": &p.Since, "until": &p.Until} {
		text := v.queryParam(name)
		if text == "" {
			continue
		}
		day, err := parseDay(name, text)
		if err != nil {
			return p, err
		}
		if name == "until" {
			day = dayEnd(day)
		}
		*end = day.Format(time.RFC3339)
	}
	return p, nil
}

// auditFilter returns the filter of the audit trail given in the URL.
func (v *visit) auditFilter() (api.AuditFilter, error) {
	p, err := v.period()
	return api.AuditFilter{Period: p, Action: v.queryParam("action"), Actor: v.queryParam("actor"), Outcome: v.queryParam("outcome")}, err
}

var activityPanel = panel{
	path: "activity", title: "Activity",
	show: func(v *visit, s *sheet) error {
		filter, err := v.auditFilter()
		if err != nil {
			return err
		}
		l, err := do(v, api.ListAuditEvents, &api.AuditInput{Paging: v.paging(100), AuditFilter: filter})
		if err != nil {
			return err
		}
		x := section{
			Title: "Audit trail", Columns: []string{"Action", "When", "Who", "What", "Outcome", "Changes"}, Empty: "No matching entries.",
			Links: append(v.nextPageLinks(l.Pagination), link{Text: "Export as JSON lines", Href: "activity/export?" + v.r.URL.RawQuery}),
			Forms: []form{{Get: true, Button: "Filter", Style: "second", Fields: []field{
				textField("actor", "Who").withValue(filter.Actor), textField("action", "Action, such as assessment.").withValue(filter.Action),
				choiceOrAny("outcome", "Outcome", filter.Outcome, "success", "denied", "failure"),
				textField("since", "From").withKind("date").withValue(v.queryParam("since")),
				textField("until", "To").withKind("date").withValue(v.queryParam("until")),
			}}},
		}
		for _, e := range l.Data {
			x.Rows = append(x.Rows, line{Cells: []value{
				textValue(label(strings.NewReplacer(".", "_", "-", "_").Replace(e.Action))), timeValue(e.At),
				textValue(readable(e.Actor.Name)), textValue(label(e.ResourceType)), tagValue(e.Outcome), textValue(changesText(e.Changes)),
			}})
		}
		s.add(section{
			Text:  "Each entry contains the hash of the previous entry, so that later changes are detected.",
			Forms: []form{{Do: "verify", Button: "Verify the trail", Style: "second"}},
		})
		s.add(x)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"verify": func(v *visit, _ *sheet) error {
			r, err := do(v, api.VerifyAudit, &api.None{})
			if err != nil {
				return err
			}
			if !r.OK {
				return api.Invalid("", "the audit trail is not intact: %s", r.Problem.Message)
			}
			v.notice = "The audit trail is intact: " + prose.Count(int(r.Records), "entry was", "entries were") + " verified."
			return nil
		},
	},
}

// changesText summarizes the changes recorded in an audit event, with at most a few words per field.
func changesText(changes map[string]any) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(changes)) {
		text := prose.Humanize(name)
		switch x := changes[name].(type) {
		case string:
			if x == "" {
				continue
			}
			text += ": " + readable(strings.TrimPrefix(x, "sha256:"))
		case bool:
			text += ": " + strconv.FormatBool(x)
		case float64:
			text += ": " + formatNumber(x)
		case map[string]any:
			if to, ok := x["to"].(string); ok {
				text += ": " + readable(to)
			}
		}
		if len(text) > 80 {
			text = text[:80]
			for !utf8.ValidString(text) {
				text = text[:len(text)-1]
			}
			text += "…"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

var (
	codes  = lazyregexp.New(`\b[a-z]+(_[a-z]+)+\b`)
	hashes = lazyregexp.New(`\b([0-9a-f]{12})[0-9a-f]{52}\b`)
)

// readable returns a text from an audit record for display, with API values converted to words and hashes shortened.
func readable(s string) string {
	s = hashes.ReplaceAllString(s, "$1…")
	return codes.ReplaceAllStringFunc(s, prose.Humanize[string])
}

// exportActivity sends the audit trail as a file download.
func (v *visit) exportActivity() error {
	filter, err := v.auditFilter()
	if err != nil {
		return err
	}
	f, err := do(v, api.ExportAudit, &api.AuditExportInput{AuditFilter: filter})
	if err != nil {
		return err
	}
	return v.sendFile(f, false)
}

var timelinePanel = panel{
	path: "assessments/{id}/activity", title: "Activity",
	show: func(v *visit, s *sheet) error {
		a, err := v.findAssessment()
		if err != nil {
			return err
		}
		p, err := v.period()
		if err != nil {
			return err
		}
		in := api.TimelineInput{
			AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Paging: v.paging(100), Period: p,
			Q: v.queryParam("q"), Actor: v.queryParam("actor"),
		}
		l, err := do(v, api.GetTimeline, &in)
		if err != nil {
			return err
		}
		s.Crumbs, s.Tabs = assessmentCrumbs(a), assessmentTabs(a, "activity")
		x := section{
			Columns: []string{"When", "What", "Who"}, Empty: "No matching entries.", Links: v.nextPageLinks(l.Pagination),
			Forms: []form{{Get: true, Button: "Filter", Style: "second", Fields: []field{
				textField("q", "Contains").withValue(in.Q).withKind("search"), textField("actor", "Who").withValue(in.Actor),
				textField("since", "From").withKind("date").withValue(v.queryParam("since")),
				textField("until", "To").withKind("date").withValue(v.queryParam("until")),
			}}},
		}
		for _, e := range l.Data {
			summary, actor := sentence(readable(e.Summary)), readable(e.Actor.Name)
			x.Rows = append(x.Rows, line{Cells: []value{timeValue(e.At), textValue(summary), textValue(actor)}})
		}
		s.add(x)
		return nil
	},
}

// assessmentCrumbs returns the breadcrumb links on an assessment's pages.
func assessmentCrumbs(a *api.Assessment) []link {
	return []link{{Text: "Home"}, {Text: a.Name, Href: "assessments/" + a.ID}}
}

var searchPanel = panel{
	path: "search", title: "Search",
	show: func(v *visit, s *sheet) error {
		q, in := v.queryParam("q"), v.queryParam("in")
		assessments, err := do(v, api.ListAssessments, &api.AssessmentsInput{Paging: api.Paging{Limit: api.MaxListLimit}, Sort: "-updated_at"})
		if err != nil {
			return err
		}
		where := field{Name: "in", Label: "In", Kind: "select", Value: in, Options: choices(option{"", "All assessments"})}
		for _, a := range assessments.Data {
			where.Options = append(where.Options, option{a.ID, a.Name})
		}
		x := section{Forms: []form{{
			Get: true, Button: "Search",
			Fields: []field{textField("q", "Search the documents by meaning").withValue(q).withKind("search"), where},
		}}}
		if q == "" {
			x.Text = "Describe what you are looking for, for example: Who approves access to production?"
			s.add(x)
			return nil
		}
		found, err := do(v, api.SearchKB, &api.SearchInput{Body: api.SearchBody{Query: q, AssessmentID: in, TopK: 25}})
		if err != nil {
			return err
		}
		x.Columns, x.Empty = []string{"Document", "Passage"}, "Nothing was found. Try other words."
		for _, h := range found.Data {
			href := "assessments/" + h.AssessmentID + "/passages/" + h.ChunkID
			source := linkValue(h.Filename+", "+formatLocation(h.HeadingPath, h.Locator), href)
			x.Rows = append(x.Rows, line{Cells: []value{source, {Parts: splitAtMarks(h.Text, h.Marks)}}})
		}
		s.add(x)
		controls, err := do(v, api.ListControls, &api.ControlsInput{Paging: api.Paging{Limit: 10}, Q: q})
		if err != nil {
			return err
		}
		s.add(controlTable("Controls in the catalog", controls.Data))
		return nil
	},
}

// splitAtMarks splits a text into highlighted and other parts. The marks are ranges of characters.
func splitAtMarks(text string, marks []api.Mark) (out []part) {
	runes := []rune(text)
	last := 0
	for _, m := range marks {
		if m.Start < last || m.End > len(runes) || m.End <= m.Start {
			continue
		}
		out = append(out, part{Text: string(runes[last:m.Start])}, part{string(runes[m.Start:m.End]), true})
		last = m.End
	}
	return append(out, part{Text: string(runes[last:])})
}
