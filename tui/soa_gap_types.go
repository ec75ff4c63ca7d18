package tui

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// deliverableTypes returns the types of the four deliverables in the order of their gates.
func deliverableTypes() []*deliverableType {
	return []*deliverableType{newSoAType(), newGapType(), newMaturityType(), newPOAMType()}
}

// deliverableTypeFor returns the deliverable type of a gate.
func deliverableTypeFor(g api.Gate) *deliverableType {
	for _, k := range deliverableTypes() {
		if k.gate == g {
			return k
		}
	}
	return nil
}

// shortStatuses abbreviates implementation statuses to five cells.
var shortStatuses = map[string]string{
	"implemented": "impl", "partially_implemented": "part", "planned": "plan", "not_implemented": "not",
	"not_evidenced": "no ev", "not_assessed": "-",
}

// shortApplicabilities abbreviates applicabilities to five cells, shown before a status.
var shortApplicabilities = map[string]string{"not_applicable": "n/a", "out_of_scope": "out", "undecided": "undec"}

func implementationStyle(status string) draw.Style {
	switch api.Implementation(status) {
	case api.Implemented:
		return draw.Green
	case api.PartiallyImplemented:
		return draw.Yellow
	case api.Planned:
		return draw.Blue
	case api.NotImplemented:
		return draw.Red
	case api.NotEvidenced:
		return draw.Purple
	}
	return draw.Dim
}

func severityStyle(s string) draw.Style {
	switch api.Severity(s) {
	case api.SeverityCritical:
		return draw.Red | draw.Bold
	case api.SeverityHigh:
		return draw.Red
	case api.SeverityMedium:
		return draw.Yellow
	}
	return draw.Plain
}

// shortSeverity abbreviates a severity to four cells.
func shortSeverity(s string) string {
	switch api.Severity(s) {
	case api.SeverityCritical:
		return "crit"
	case api.SeverityMedium:
		return "med"
	case api.SeverityInformational:
		return "info"
	}
	return s
}

var (
	ownerAttr = attr{key: "o", name: "owner", label: "owner", form: formText, nullable: true}
	noteAttr  = attr{key: "n", name: "note", label: "note", form: formLongText, nullable: true}
)

// withGetter returns the attribute a with a function that gets its value from items of type I.
func withGetter[I any](a attr, get func(*I) string) attr {
	a.get = func(item any) string { return get(item.(*I)) }
	return a
}

func newSoAType() *deliverableType {
	k := deliverableType{
		gate: api.GateSoA, singular: "item", plural: "items", openLabel: "to review",
		attrs: []attr{
			withGetter(
				attr{
					key:          "a",
					name:         "applicability",
					label:        "applicability",
					choices:      toStrings(api.Applicability("").Values()),
					relatedField: exclusionReasonField,
				},
				func(i *api.SoAItem) string { return string(i.Applicability) },
			),
			withGetter(
				attr{key: "s", name: "implementation_status", label: "status", choices: toStrings(api.Implementation("").Values())},
				func(i *api.SoAItem) string { return string(i.ImplementationStatus) },
			),
			withGetter(ownerAttr, func(i *api.SoAItem) string { return stringOrEmpty(i.Owner) }),
			withGetter(noteAttr, func(i *api.SoAItem) string { return stringOrEmpty(i.Note) }),
			withGetter(
				attr{key: "e", name: "rationale", label: "rationale", form: formLongText},
				func(i *api.SoAItem) string { return i.Rationale },
			),
			withGetter(
				attr{name: "needs_review", label: "needs review", form: formBool},
				func(i *api.SoAItem) string { return strconv.FormatBool(i.NeedsReview) },
			),
		},
		columns: []list.Column{
			{Title: "control", Width: 10},
			{Title: "title"},
			{Title: "stat", Width: 5, HideFrom: 64},
			{Title: "applicability", Width: 20, ShowFrom: 88},
			{Title: "status", Width: 21, ShowFrom: 64},
			{Title: "evidence", Width: 8, ShowFrom: 76},
			{Title: "owner", Width: 14, ShowFrom: 120},
		},
		cell: func(r *row, c int) (string, draw.Style) {
			i, status, out := r.item.(*api.SoAItem), r.currentValue("implementation_status"), r.currentValue("applicability")
			switch c {
			case 0:
				code, style := i.ControlCode, draw.Plain
				if i.RelianceNote() != "" {
					code, style = code+"¹", draw.Yellow
				}
				if i.SecondReading != nil {
					code, style = code+"≠", draw.Yellow
				}
				return code, style
			case 1:
				return i.ControlTitle, draw.Plain
			case 2:
				if w, is := shortApplicabilities[out]; is {
					return w, draw.Cyan
				}
				return shortStatuses[status], implementationStyle(status)
			case 3:
				return prose.Humanize(out), draw.Plain
			case 4:
				return prose.Humanize(status), implementationStyle(status)
			case 5:
				return string(i.EvidenceCoverage), draw.Plain
			}
			return r.describeOwner()
		},
		isOpen: func(r *row) bool {
			return r.currentValue("needs_review") == "true" || api.Applicability(r.currentValue("applicability")) == api.Undecided
		},
		isDisputed: func(r *row) bool { return r.item.(*api.SoAItem).SecondReading != nil },
		acceptValues: func(r *row) (map[string]string, string) {
			if api.Applicability(r.currentValue("applicability")) == api.Undecided {
				return nil, "the applicability is undecided; press a to choose one"
			}
			return map[string]string{"needs_review": "false"}, ""
		},
		evidenceOf:   func(item any) []api.Evidence { return item.(*api.SoAItem).Evidence },
		renderFields: renderSoAFields,
		renderDetails: func(p *draw.Page, r *row) {
			i := r.item.(*api.SoAItem)
			renderDisagreement(p, i)
			renderStatements(p, i.Statements)
			renderMissingElements(p, i.MissingElements)
		},
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := call(ctx, c, api.SubmitSoA, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: id}})
			return err
		},
		fetchItems: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return itemsPage(
				call(
					ctx,
					c,
					api.ListSoAItems,
					&api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}, Paging: p, ControlCode: control},
				),
			)
		},
		patchItem: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdateSoAItemInput{SoAItemID: id, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return itemOrError(call(ctx, c, api.UpdateSoAItem, &in))
		},
	}
	return newDeliverableType(k, api.ListSoA, func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.SoAVersion, error) {
			return call(ctx, c, api.GetSoA, &api.SoAInput{SoAVersionID: id})
		}, func(i *api.SoAItem) *api.Item { return &i.Item })
}

// exclusionReasonField returns the field and the prompt for the reason why a control is excluded, or
// empty strings if it isn't.
func exclusionReasonField(applicability string) (field, prompt string) {
	switch a := api.Applicability(applicability); a {
	case api.NotApplicable, api.OutOfScope:
		return "rationale", "why is it " + prose.Humanize(a) + "? The Statement of Applicability will state this reason."
	}
	return "", ""
}

func renderSoAFields(p *draw.Page, r *row) {
	i := r.item.(*api.SoAItem)
	p.AddField("applicability", prose.Humanize(r.currentValue("applicability")), draw.Bold)
	p.AddField("rationale", r.currentValue("rationale"), draw.Plain)
	p.AddField(
		"status",
		prose.Humanize(r.currentValue("implementation_status")),
		implementationStyle(r.currentValue("implementation_status"))|draw.Bold,
	)
	p.AddField("reason", i.Reason, draw.Plain)
	p.AddField("evidence", print.FormatCoverage(i), draw.Plain)
	p.AddField("check", i.RelianceNote(), draw.Yellow)
	p.AddField("confidence", print.FormatConfidence(i.Confidence, i.IsStatusOverruled()), draw.Plain)
	if r.currentValue("needs_review") == "true" {
		p.AddField("needs review", "yes; press y to accept the item as drafted", draw.Yellow)
	}
}

// renderDisagreement shows, for the requirements on which the two readers differ, the verdict of each with its quotes.
func renderDisagreement(p *draw.Page, i *api.SoAItem) {
	second := i.SecondReading
	if second == nil {
		return
	}
	p.AddTitle("The readers disagree")
	p.AddText(draw.Yellow, "The second reader, "+second.Reader+", says: "+prose.Humanize(second.ImplementationStatus)+". "+second.Reason)
	for _, s := range second.Statements {
		p.EnsureBlankLine()
		p.AddText(draw.Plain, s.Text)
		for _, first := range i.Statements {
			if first.Text == s.Text {
				renderSide(p, "first", first, i.Evidence)
			}
		}
		renderSide(p, "second", s, second.Evidence)
	}
}

// renderSide shows one reader's verdict on a requirement, with its quotes.
func renderSide(p *draw.Page, reader string, s api.Statement, quotes []api.Evidence) {
	p.AddIndented(2, draw.Bold, reader+" reader: "+prose.Humanize(s.Verdict))
	shown := false
	for _, e := range quotes {
		if e.RelatesTo(s.Text) {
			p.AddIndented(4, draw.Plain, "“"+e.Quote+"”")
			p.AddIndented(4, draw.Dim, print.FormatCitation(e))
			shown = true
		}
	}
	if !shown {
		p.AddIndented(4, draw.Dim, firstReason(s.Reason, "no passage found"))
	}
}

func renderStatements(p *draw.Page, all []api.Statement) {
	if len(all) == 0 {
		return
	}
	p.AddTitle("Requirements of the control")
	for _, s := range all {
		p.AddText(draw.Plain, "["+prose.Humanize(s.Verdict)+"] "+s.Text)
		if s.Reason != "" {
			p.AddIndented(2, draw.Dim, s.Reason)
		}
	}
}

func renderMissingElements(p *draw.Page, all []string) {
	if len(all) == 0 {
		return
	}
	p.AddTitle("Missing")
	for _, m := range all {
		p.AddText(draw.Plain, "- "+m)
	}
}

func newGapType() *deliverableType {
	k := deliverableType{
		gate: api.GateGapAnalysis, singular: "finding", plural: "findings", openLabel: "without an owner",
		attrs: []attr{
			withGetter(
				attr{key: "v", name: "severity", label: "severity", choices: toStrings(api.Severities)},
				func(f *api.Finding) string { return string(f.Severity) },
			),
			withGetter(
				attr{key: "s", name: "status", label: "status", choices: toStrings(api.Implementation("").Values())},
				func(f *api.Finding) string { return string(f.Status) },
			),
			withGetter(ownerAttr, func(f *api.Finding) string { return stringOrEmpty(f.Owner) }),
			withGetter(noteAttr, func(f *api.Finding) string { return stringOrEmpty(f.Note) }),
			withGetter(
				attr{key: "d", name: "due_date", label: "due date", form: formDate, nullable: true},
				func(f *api.Finding) string { return stringOrEmpty(f.DueDate) },
			),
			withGetter(
				attr{key: "e", name: "recommendation", label: "recommendation", form: formLongText},
				func(f *api.Finding) string { return f.Recommendation },
			),
			withGetter(
				attr{key: "c", name: "condition", label: "condition", form: formLongText},
				func(f *api.Finding) string { return f.Condition },
			),
		},
		columns: []list.Column{
			{Title: "control", Width: 9},
			{Title: "sev", Width: 4, HideFrom: 64},
			{Title: "severity", Width: 13, ShowFrom: 64},
			{Title: "title"},
			{Title: "status", Width: 21, ShowFrom: 76},
			{Title: "owner", Width: 14, ShowFrom: 92},
			{Title: "due", Width: 10, ShowFrom: 110},
		},
		cell: func(r *row, c int) (string, draw.Style) {
			f, severity := r.item.(*api.Finding), r.currentValue("severity")
			switch c {
			case 0:
				return f.ControlCode, draw.Plain
			case 1:
				return shortSeverity(severity), severityStyle(severity)
			case 2:
				return severity, severityStyle(severity)
			case 3:
				return f.ControlTitle, draw.Plain
			case 4:
				return prose.Humanize(r.currentValue("status")), implementationStyle(r.currentValue("status"))
			case 5:
				return r.describeOwner()
			}
			return r.currentValue("due_date"), draw.Plain
		},
		isOpen:     func(r *row) bool { return r.currentValue("owner") == "" },
		evidenceOf: func(item any) []api.Evidence { return item.(*api.Finding).Evidence },
		renderFields: func(p *draw.Page, r *row) {
			f := r.item.(*api.Finding)
			p.AddField("severity", r.currentValue("severity"), severityStyle(r.currentValue("severity"))|draw.Bold)
			p.AddField("why", f.SeverityReason, draw.Plain)
			p.AddField("status", prose.Humanize(r.currentValue("status")), implementationStyle(r.currentValue("status"))|draw.Bold)
			p.AddField("result", prose.Humanize(f.Result)+", "+prose.Humanize(f.GapType), draw.Plain)
			p.AddField("condition", r.currentValue("condition"), draw.Plain)
			p.AddField("criteria", f.Criteria, draw.Plain)
			p.AddField("cause", f.Cause, draw.Plain)
			p.AddField("effect", f.Effect, draw.Plain)
			p.AddField("recommended", r.currentValue("recommendation"), draw.Plain)
			p.AddField("due", r.currentValue("due_date"), draw.Plain)
			p.AddField("confidence", print.FormatConfidence(f.Confidence, f.IsStatusOverruled()), draw.Plain)
			p.AddField("source", f.Source, draw.Plain)
		},
		renderDetails: func(p *draw.Page, r *row) { renderMissingElements(p, r.item.(*api.Finding).MissingElements) },
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := call(ctx, c, api.SubmitGap, &api.SubmitGapInput{GapInput: api.GapInput{GapVersionID: id}})
			return err
		},
		fetchItems: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return itemsPage(
				call(
					ctx,
					c,
					api.ListFindings,
					&api.FindingsInput{
						GapInput:      api.GapInput{GapVersionID: id},
						Paging:        p,
						FindingFilter: api.FindingFilter{ControlCode: control},
					},
				),
			)
		},
		patchItem: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdateFindingInput{FindingID: id, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return itemOrError(call(ctx, c, api.UpdateFinding, &in))
		},
	}
	return newDeliverableType(k, api.ListGap, func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.GapVersion, error) {
			return call(ctx, c, api.GetGap, &api.GapInput{GapVersionID: id})
		}, func(i *api.Finding) *api.Item { return &i.Item })
}
