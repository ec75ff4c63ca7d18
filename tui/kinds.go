package tui

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// kinds are the four deliverables in the order of their gates.
func kinds() []*kind { return []*kind{soaKind(), gapKind(), maturityKind(), poamKind()} }

// kindOf is the deliverable of a gate.
func kindOf(g api.Gate) *kind {
	for _, k := range kinds() {
		if k.gate == g {
			return k
		}
	}
	return nil
}

// statusWords are the values of implementation in five cells.
var statusWords = map[string]string{"implemented": "impl", "partially_implemented": "part", "planned": "plan", "not_implemented": "not",
	"not_evidenced": "no ev", "not_assessed": "-"}

// outWords are the values of applicability that stand before a status, in five cells.
var outWords = map[string]string{"not_applicable": "n/a", "out_of_scope": "out", "undecided": "undec"}

func statusStyle(s string) draw.Style {
	switch api.Implementation(s) {
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

// shortSeverity is a severity in four cells.
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

var owner = attr{key: "o", name: "owner", word: "owner", form: ofText, null: true}
var note = attr{key: "n", name: "note", word: "note", form: ofLongText, null: true}

// read gives a field the way it is read from items of one type.
func reading[I any](a attr, get func(*I) string) attr {
	a.get = func(item any) string { return get(item.(*I)) }
	return a
}

func soaKind() *kind {
	k := kind{gate: api.GateSoA, line: "item", lines: "items", openWord: "to review",
		attrs: []attr{
			reading(attr{key: "a", name: "applicability", word: "applicability", choices: texts(api.Applicability("").Values()), also: whyOut}, func(i *api.SoAItem) string { return string(i.Applicability) }),
			reading(attr{key: "s", name: "implementation_status", word: "status", choices: texts(api.Implementation("").Values())}, func(i *api.SoAItem) string { return string(i.ImplementationStatus) }),
			reading(owner, func(i *api.SoAItem) string { return orNone(i.Owner) }),
			reading(note, func(i *api.SoAItem) string { return orNone(i.Note) }),
			reading(attr{key: "e", name: "rationale", word: "rationale", form: ofLongText}, func(i *api.SoAItem) string { return i.Rationale }),
			reading(attr{name: "needs_review", word: "needs review", form: ofBool}, func(i *api.SoAItem) string { return strconv.FormatBool(i.NeedsReview) }),
		},
		columns: []list.Column{{Title: "control", Width: 9}, {Title: "title"}, {Title: "stat", Width: 5, To: 64}, {Title: "applicability", Width: 20, From: 88},
			{Title: "status", Width: 21, From: 64}, {Title: "evidence", Width: 8, From: 76}, {Title: "owner", Width: 14, From: 120}},
		cell: func(r *row, c int) (string, draw.Style) {
			i, status, out := r.item.(*api.SoAItem), r.value("implementation_status"), r.value("applicability")
			switch c {
			case 0:
				return i.ControlCode, draw.Plain
			case 1:
				return i.ControlTitle, draw.Plain
			case 2:
				if w, is := outWords[out]; is {
					return w, draw.Cyan
				}
				return statusWords[status], statusStyle(status)
			case 3:
				return print.Words(out), draw.Plain
			case 4:
				return print.Words(status), statusStyle(status)
			case 5:
				return string(i.EvidenceCoverage), draw.Plain
			}
			return r.value("owner"), draw.Plain
		},
		open: func(r *row) bool {
			return r.value("needs_review") == "true" || api.Applicability(r.value("applicability")) == api.Undecided
		},
		accept: func(r *row) (map[string]string, string) {
			if api.Applicability(r.value("applicability")) == api.Undecided {
				return nil, "it is undecided; choose an applicability with a"
			}
			return map[string]string{"needs_review": "false"}, ""
		},
		evidence: func(item any) []api.Evidence { return item.(*api.SoAItem).Evidence },
		page:     soaPage,
		below: func(p *draw.Page, r *row) {
			i := r.item.(*api.SoAItem)
			statements(p, i.Statements)
			missing(p, i.MissingElements)
		},
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := do(ctx, c, api.SubmitSoA, &api.SoAInput{SoAVersionID: id})
			return err
		},
		items: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return pageOf(do(ctx, c, api.ListSoAItems, &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}, Paging: p, ControlCode: control}))
		},
		patch: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdateSoAItemInput{SoAItemID: id, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return answered(do(ctx, c, api.UpdateSoAItem, &in))
		}}
	return of(k, api.ListSoA, func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.SoAVersion, error) {
			return do(ctx, c, api.GetSoA, &api.SoAInput{SoAVersionID: id})
		}, func(i *api.SoAItem) *api.Item { return &i.Item })
}

// whyOut asks for a reason where a control is left out.
func whyOut(value string) (string, string) {
	switch a := api.Applicability(value); a {
	case api.NotApplicable, api.OutOfScope:
		return "rationale", "why is it " + print.Words(a) + "? It stands in the Statement of Applicability."
	}
	return "", ""
}

func soaPage(p *draw.Page, r *row) {
	i := r.item.(*api.SoAItem)
	p.Field("applicability", print.Words(r.value("applicability")), draw.Bold)
	p.Field("because", r.value("rationale"), draw.Plain)
	p.Field("status", print.Words(r.value("implementation_status")), statusStyle(r.value("implementation_status"))|draw.Bold)
	p.Field("reason", i.Reason, draw.Plain)
	p.Field("evidence", print.Coverage(i), draw.Plain)
	p.Field("confidence", print.Confidence(i.Confidence, i.Overruled()), draw.Plain)
	if r.value("needs_review") == "true" {
		p.Field("needs review", "yes: y accepts it as it is", draw.Yellow)
	}
}

func statements(p *draw.Page, all []api.Statement) {
	if len(all) == 0 {
		return
	}
	p.Title("What the control asks for")
	for _, s := range all {
		p.Text(draw.Plain, "["+print.Words(s.Verdict)+"] "+s.Text)
		if s.Reason != "" {
			p.Indent(2, draw.Dim, s.Reason)
		}
	}
}

func missing(p *draw.Page, all []string) {
	if len(all) == 0 {
		return
	}
	p.Title("Missing")
	for _, m := range all {
		p.Text(draw.Plain, "- "+m)
	}
}

func gapKind() *kind {
	k := kind{gate: api.GateGapAnalysis, line: "finding", lines: "findings", openWord: "without an owner",
		attrs: []attr{
			reading(attr{key: "v", name: "severity", word: "severity", choices: texts(api.Severities)}, func(f *api.Finding) string { return string(f.Severity) }),
			reading(attr{key: "s", name: "status", word: "status", choices: texts(api.Implementation("").Values())}, func(f *api.Finding) string { return string(f.Status) }),
			reading(owner, func(f *api.Finding) string { return orNone(f.Owner) }),
			reading(note, func(f *api.Finding) string { return orNone(f.Note) }),
			reading(attr{key: "d", name: "due_date", word: "due date", form: ofDate, null: true}, func(f *api.Finding) string { return orNone(f.DueDate) }),
			reading(attr{key: "e", name: "recommendation", word: "recommendation", form: ofLongText}, func(f *api.Finding) string { return f.Recommendation }),
			reading(attr{key: "c", name: "condition", word: "condition", form: ofLongText}, func(f *api.Finding) string { return f.Condition }),
		},
		columns: []list.Column{{Title: "control", Width: 9}, {Title: "sev", Width: 4, To: 64}, {Title: "severity", Width: 13, From: 64}, {Title: "title"},
			{Title: "status", Width: 21, From: 76}, {Title: "owner", Width: 14, From: 92}, {Title: "due", Width: 10, From: 110}},
		cell: func(r *row, c int) (string, draw.Style) {
			f, severity := r.item.(*api.Finding), r.value("severity")
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
				return print.Words(r.value("status")), statusStyle(r.value("status"))
			case 5:
				return r.value("owner"), draw.Plain
			}
			return r.value("due_date"), draw.Plain
		},
		open:     func(r *row) bool { return r.value("owner") == "" },
		evidence: func(item any) []api.Evidence { return item.(*api.Finding).Evidence },
		page: func(p *draw.Page, r *row) {
			f := r.item.(*api.Finding)
			p.Field("severity", r.value("severity"), severityStyle(r.value("severity"))|draw.Bold)
			p.Field("why", f.SeverityReason, draw.Plain)
			p.Field("status", print.Words(r.value("status")), statusStyle(r.value("status"))|draw.Bold)
			p.Field("result", print.Words(f.Result)+", "+print.Words(f.GapType), draw.Plain)
			p.Field("condition", r.value("condition"), draw.Plain)
			p.Field("criteria", f.Criteria, draw.Plain)
			p.Field("cause", f.Cause, draw.Plain)
			p.Field("effect", f.Effect, draw.Plain)
			p.Field("recommended", r.value("recommendation"), draw.Plain)
			p.Field("due", r.value("due_date"), draw.Plain)
			p.Field("confidence", print.Confidence(f.Confidence, f.Overruled()), draw.Plain)
			p.Field("source", f.Source, draw.Plain)
		},
		below: func(p *draw.Page, r *row) { missing(p, r.item.(*api.Finding).MissingElements) },
		submit: func(ctx context.Context, c Caller, id string) error {
			_, err := do(ctx, c, api.SubmitGap, &api.GapInput{GapVersionID: id})
			return err
		},
		items: func(ctx context.Context, c Caller, id, control string, p api.Paging) ([]any, api.Pagination, error) {
			return pageOf(do(ctx, c, api.ListFindings, &api.FindingsInput{GapInput: api.GapInput{GapVersionID: id}, Paging: p, FindingFilter: api.FindingFilter{ControlCode: control}}))
		},
		patch: func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error) {
			in := api.UpdateFindingInput{FindingID: id, Match: m}
			if err := json.Unmarshal(body, &in.Body); err != nil {
				return nil, err
			}
			return answered(do(ctx, c, api.UpdateFinding, &in))
		}}
	return of(k, api.ListGap, func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		func(ctx context.Context, c Caller, id string) (*api.GapVersion, error) {
			return do(ctx, c, api.GetGap, &api.GapInput{GapVersionID: id})
		}, func(i *api.Finding) *api.Item { return &i.Item })
}
