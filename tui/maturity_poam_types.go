package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// formatLevel formats a maturity level with its name. The level of a control that is not assessed is "".
func formatLevel(level string) string {
	if level == "" {
		return "not assessed"
	}
	n, err := strconv.Atoi(level)
	if err != nil || n < 0 || n >= len(api.LevelNames) {
		return level
	}
	return level + " " + api.LevelNames[n]
}

func newMaturityType() *deliverableType {
	levels := []string{"0", "1", "2", "3", "4", "5"}
	k := deliverableType{
		gate: api.GateMaturity, singular: "score", plural: "scores", openLabel: "below target",
		attrs: []attr{
			withGetter(
				attr{key: "l", name: "level", label: "level", form: formNumber, choices: levels, maxValue: 5},
				func(s *api.MaturityScore) string {
					if !s.Assessed {
						return ""
					}
					return strconv.Itoa(s.Level)
				},
			),
			withGetter(
				attr{key: "t", name: "target_level", label: "target level", form: formNumber, choices: levels, maxValue: 5},
				func(s *api.MaturityScore) string { return strconv.Itoa(s.TargetLevel) },
			),
			withGetter(
				attr{key: "e", name: "rationale", label: "rationale", form: formLongText},
				func(s *api.MaturityScore) string { return s.Rationale },
			),
			withGetter(noteAttr, func(s *api.MaturityScore) string { return stringOrEmpty(s.Note) }),
		},
		columns: []list.Column{
			{Title: "control", Width: 9},
			{Title: "title"},
			{Title: "level", Width: 11},
			{Title: "level name", Width: 25, ShowFrom: 84},
			{Title: "weight", Width: 6, AlignRight: true, ShowFrom: 96},
		},
		cell: func(r *row, c int) (string, draw.Style) {
			s := r.item.(*api.MaturityScore)
			level, _ := strconv.Atoi(r.currentValue("level"))
			target, _ := strconv.Atoi(r.currentValue("target_level"))
			switch c {
			case 0:
				return s.ControlCode, draw.Plain
			case 1:
				return s.ControlTitle, draw.Plain
			case 2:
				style := draw.Green
				if level < target {
					style = draw.Yellow
				}
				if r.currentValue("level") == "" {
					return "- of " + strconv.Itoa(target), draw.Dim
				}
				return fmt.Sprintf("%d/%d %s", level, target, draw.Bar(float64(level), 5, 5)), style
			case 3:
				return formatLevel(r.currentValue("level")), draw.Plain
			}
			return strconv.Itoa(s.Weight), draw.Plain
		},
		isOpen: func(r *row) bool {
			level := r.currentValue("level")
			return level != "" && level < r.currentValue("target_level") // single digits
		},
		evidenceOf: func(item any) []api.Evidence { return item.(*api.MaturityScore).Evidence },
		renderFields: func(p *draw.Page, r *row) {
			s := r.item.(*api.MaturityScore)
			p.AddField("level", formatLevel(r.currentValue("level")), draw.Bold)
			p.AddField("target", formatLevel(r.currentValue("target_level")), draw.Plain)
			if s.PreviousLevel != nil {
				p.AddField("previous", formatLevel(strconv.Itoa(*s.PreviousLevel)), draw.Plain)
			}
			p.AddField("rationale", r.currentValue("rationale"), draw.Plain)
			if s.Assessed {
				p.AddField("this level requires", s.Criteria, draw.Plain)
			}
			p.AddField("next level requires", s.NextCriteria, draw.Plain)
			p.AddField("weight", strconv.Itoa(s.Weight), draw.Plain)
			p.AddField("confidence", print.FormatConfidence(s.Confidence, s.IsLevelOverruled()), draw.Plain)
		},
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := call(ctx, c, api.SubmitMaturity, &api.SubmitMaturityInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}})
			return err
		},
		fetchItems: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return itemsPage(
				call(
					ctx,
					c,
					api.ListMaturityScores,
					&api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, Paging: p, ControlCode: control},
				),
			)
		},
		patchItem: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: id}, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return itemOrError(call(ctx, c, api.UpdateMaturityScore, &in))
		},
	}
	return newDeliverableType(k, api.ListMaturity, func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.MaturityVersion, error) {
			return call(ctx, c, api.GetMaturity, &api.MaturityInput{MaturityVersionID: id})
		}, func(i *api.MaturityScore) *api.Item { return &i.Item })
}

// efforts are the values that the effort of a plan's item can have.
var efforts = []string{"small", "medium", "large", "extra_large"}

// isOverdue reports whether a plan item is open after its due date.
func isOverdue(r *row, today string) bool {
	s, due := r.currentValue("status"), r.currentValue("due_date")
	return due != "" && due < today && (s == "open" || s == "in_progress" || s == "blocked")
}

func newPOAMType() *deliverableType {
	k := deliverableType{
		gate: api.GatePOAM, singular: "item", plural: "items", openLabel: "without an owner",
		attrs: []attr{
			withGetter(
				attr{key: "s", name: "status", label: "status", choices: api.POAMStatuses},
				func(i *api.POAMItem) string { return i.Status },
			),
			withGetter(
				attr{key: "d", name: "due_date", label: "due date", form: formDate},
				func(i *api.POAMItem) string { return string(i.CurrentDueDate()) },
			),
			withGetter(ownerAttr, func(i *api.POAMItem) string { return stringOrEmpty(i.Owner) }),
			withGetter(
				attr{key: "n", name: "comments", label: "note", form: formLongText, nullable: true},
				func(i *api.POAMItem) string { return stringOrEmpty(i.Comments) },
			),
			withGetter(
				attr{key: "i", name: "priority", label: "priority", form: formNumber, minValue: 1, maxValue: 100000},
				func(i *api.POAMItem) string { return strconv.Itoa(i.Priority) },
			),
			withGetter(attr{key: "f", name: "effort", label: "effort", choices: efforts}, func(i *api.POAMItem) string { return i.Effort }),
			withGetter(
				attr{key: "e", name: "corrective_action", label: "action", form: formLongText},
				func(i *api.POAMItem) string { return i.CorrectiveAction },
			),
		},
		columns: []list.Column{
			{Title: "item", Width: 9},
			{Title: "control", Width: 9, ShowFrom: 60},
			{Title: "due", Width: 10},
			{Title: "sev", Width: 4, HideFrom: 64},
			{Title: "severity", Width: 13, ShowFrom: 64},
			{Title: "weakness"},
			{Title: "status", Width: 13, ShowFrom: 84},
			{Title: "owner", Width: 14, ShowFrom: 100},
		},
		cell: func(r *row, c int) (string, draw.Style) {
			i := r.item.(*api.POAMItem)
			switch c {
			case 0:
				return i.POAMCode, draw.Plain
			case 1:
				return i.ControlCode, draw.Plain
			case 2:
				return r.currentValue("due_date"), draw.Plain
			case 3:
				return shortSeverity(string(i.Severity)), severityStyle(string(i.Severity))
			case 4:
				return string(i.Severity), severityStyle(string(i.Severity))
			case 5:
				return i.Weakness, draw.Plain
			case 6:
				return prose.Humanize(r.currentValue("status")), draw.Plain
			}
			return r.describeOwner()
		},
		isOpen:        func(r *row) bool { return r.currentValue("owner") == "" },
		evidenceOf:    func(any) []api.Evidence { return nil },
		keyOf:         func(item any) string { return item.(*api.POAMItem).POAMCode },
		renderFields:  renderPOAMFields,
		renderDetails: renderPOAMDetails,
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := call(ctx, c, api.SubmitPOAM, &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: id}})
			return err
		},
		fetchItems: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return itemsPage(
				call(
					ctx,
					c,
					api.ListPOAMItems,
					&api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}, Paging: p, ControlCode: control},
				),
			)
		},
		patchItem: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdatePOAMItemInput{POAMItemID: id, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return itemOrError(call(ctx, c, api.UpdatePOAMItem, &in))
		},
	}
	return newDeliverableType(k, api.ListPOAM, func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.POAMVersion, error) {
			return call(ctx, c, api.GetPOAM, &api.POAMInput{POAMVersionID: id})
		}, func(i *api.POAMItem) *api.Item { return &i.Item })
}

func renderPOAMFields(p *draw.Page, r *row) {
	i := r.item.(*api.POAMItem)
	p.AddField("status", prose.Humanize(r.currentValue("status")), draw.Bold)
	p.AddField("due", r.currentValue("due_date"), draw.Bold)
	p.AddField("severity", string(i.Severity), severityStyle(string(i.Severity)))
	p.AddField("priority", r.currentValue("priority"), draw.Plain)
	p.AddField("weakness", i.Weakness, draw.Plain)
	p.AddField("action", r.currentValue("corrective_action"), draw.Plain)
	p.AddField("effort", prose.Humanize(r.currentValue("effort")), draw.Plain)
	p.AddField("suggested role", i.OwnerRole, draw.Plain)
	p.AddField("resources", stringOrEmpty(i.Resources), draw.Plain)
	p.AddField("also closes", strings.Join(i.AlsoCloses, ", "), draw.Plain)
	p.AddField("depends on", strings.Join(i.Dependencies, ", "), draw.Plain)
	p.AddField("risk until", stringOrEmpty(i.RiskAcceptedUntil), draw.Plain)
	p.AddField("vendor", stringOrEmpty(i.VendorDependency), draw.Plain)
}

func renderPOAMDetails(p *draw.Page, r *row) {
	i := r.item.(*api.POAMItem)
	if len(i.Milestones) > 0 {
		p.AddTitle("Milestones")
		for _, m := range i.Milestones {
			p.AddText(draw.Plain, string(m.DueDate)+"  "+prose.Humanize(m.Status)+"  "+m.Title)
			if m.CompletedAt != nil {
				p.AddIndented(2, draw.Dim, "completed on "+string(*m.CompletedAt)+" by "+m.CompletedBy)
			}
			for _, c := range m.Changes {
				p.AddIndented(2, draw.Dim, string(c.DueDate)+" by "+c.By+": "+c.Reason)
			}
		}
	}
	for _, part := range []struct {
		title string
		all   []string
	}{{"Done when", i.AcceptanceCriteria}, {"Expected evidence", i.ExpectedEvidence}} {
		if len(part.all) > 0 {
			p.AddTitle("%s", part.title)
			for _, s := range part.all {
				p.AddText(draw.Plain, "- "+s)
			}
		}
	}
}
