package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// kind describes one of the four deliverables for its pages.
type kind struct {
	Gate api.Gate
	// Noun is its name in URLs and commands.
	Noun    string
	Write   api.Permission
	Columns []string
	// Status is the index of the cell to filter by.
	Status int
	// newest returns the newest version, or nil if there is none.
	newest func(v *visit, assessmentID string) (*api.DeliverableVersion, error)
	// rows returns the items that the expression where selects, or all if it is empty, in the order of the controls. With a
	// time, it returns only those changed after it, newest first, or nil if too many have changed.
	rows func(v *visit, versionID, where string, after time.Time) ([]row, error)
	// Example is an expression that selects items.
	Example string
	// records returns the API's records of the items with the given IDs.
	records func(v *visit, versionID string, ids map[string]bool) ([]any, error)
	item    func(v *visit, id string) (*itemPage, error)
	// change patches an item and returns the ID of the changed item. The ID differs if the version was no
	// longer a draft.
	change func(v *visit, id string, match api.Match, patch []byte) (string, error)
	// edit changes any number of items at once; set is a patch like that of change.
	edit func(v *visit, versionID string, itemIDs []string, set []byte) (*api.EditResult, error)
	// bulk lists the fields that can be changed for many items at once.
	bulk []string
	// draft creates the first version, and submit submits a version for review.
	draft, submit func(v *visit, id string) error
}

// row is an item as shown in the table. Cells holds the columns after code and title.
type row struct {
	ID, Code, Title string
	Revision        int
	Cells           []cell
	// Review is set if the item needs review. Confidence is the confidence in the automatic verdict.
	Review     bool
	Confidence float64
	// Disputed is set if a second reader disagrees.
	Disputed bool
	Updated  time.Time
	// Due and Milestones are the dates of a plan's item.
	Due        api.Date
	Milestones []api.Date
}

// cell is a value in a table. Tone is the API's value if the cell is shown as a tag. Rank is the sort position within
// the column, if the order isn't alphabetical.
type cell struct {
	Text, Tone string
	Rank       float64
}

// enum is an API type that lists its values.
type enum[S any] interface {
	~string
	Values() []S
}

// tagCell returns a cell that shows a value as a tag. It sorts by the order in which the value's type lists its
// values.
func tagCell[S enum[S]](value S) cell { return orderedTagCell(value, value.Values()) }

// orderedTagCell returns a cell that shows value as a tag and sorts by the position of value in order.
func orderedTagCell[S ~string](value S, order []S) cell {
	return cell{prose.Label(value), string(value), float64(slices.Index(order, value))}
}

// numberCell returns a cell that shows a number and sorts by it.
func numberCell(text string, rank float64) cell { return cell{text, "", rank} }

// textCell returns a cell with a text, or an empty cell if text is nil.
func textCell[S ~string](text *S) cell { return cell{Text: orEmpty(text)} }

func orEmpty[S ~string](s *S) string {
	if s == nil {
		return ""
	}
	return string(*s)
}

// Title returns the name of the deliverable for a heading.
func (k *kind) Title() string { return prose.Capitalize(k.Gate.Title()) }

var kinds = []kind{
	{
		Gate: api.GateSoA, Noun: "soa", Write: "soa:write",
		Columns: []string{"Control", "Title", "Status", "Applicability", "Evidence", "Owner", "Confidence"},
		newest: func(v *visit, assessmentID string) (*api.DeliverableVersion, error) {
			return fetchNewest(v, api.ListSoA, assessmentID, func(x *api.SoAVersion) *api.DeliverableVersion { return &x.DeliverableVersion })
		},
		rows: func(v *visit, id, where string, after time.Time) ([]row, error) {
			in := api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}, Where: where, Sort: sortFor(after)}
			return fetchRows(v, api.ListSoAItems, &in, after, soaRow)
		},
		Example: `confidence < 0.5`,
		records: func(v *visit, id string, ids map[string]bool) ([]any, error) {
			in := api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}}
			return fetchRecords(v, api.ListSoAItems, &in, ids, func(x *api.SoAItem) string { return x.ID })
		},
		item: func(v *visit, id string) (*itemPage, error) {
			return fetchItemPage(v, api.GetSoAItem, &api.SoAItemInput{SoAItemID: id}, soaItemPage)
		},
		change: func(v *visit, id string, match api.Match, patch []byte) (string, error) {
			in := api.UpdateSoAItemInput{SoAItemID: id, Match: match}
			return patchItem(v, api.UpdateSoAItem, &in, &in.Body, patch, func(x *api.SoAItem) string { return x.ID })
		},
		bulk: []string{"implementation_status", "applicability", "owner", "needs_review", "note", "rationale"},
		edit: func(v *visit, id string, items []string, set []byte) (*api.EditResult, error) {
			in := api.EditSoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}}
			in.Body.ItemIDs = items
			return editItems(v, api.EditSoAItems, &in, &in.Body.Set, set)
		},
		draft: func(v *visit, id string) error {
			return call(v, api.DraftSoA, &api.DraftSoAInput{AssessmentInput: api.AssessmentInput{AssessmentID: id}})
		},
		submit: func(v *visit, id string) error {
			return call(v, api.SubmitSoA, &api.SubmitSoAInput{SoAInput: api.SoAInput{SoAVersionID: id}})
		},
	},
	{
		Gate: api.GateGapAnalysis, Noun: "gap", Write: "gap:write",
		Columns: []string{"Control", "Title", "Severity", "Result", "Type", "Owner", "Due"},
		newest: func(v *visit, assessmentID string) (*api.DeliverableVersion, error) {
			return fetchNewest(v, api.ListGap, assessmentID, func(x *api.GapVersion) *api.DeliverableVersion { return &x.DeliverableVersion })
		},
		rows: func(v *visit, id, where string, after time.Time) ([]row, error) {
			in := api.FindingsInput{GapInput: api.GapInput{GapVersionID: id}}
			in.Where, in.Sort = where, sortFor(after)
			return fetchRows(v, api.ListFindings, &in, after, findingRow)
		},
		Example: `severity == "high"`,
		records: func(v *visit, id string, ids map[string]bool) ([]any, error) {
			in := api.FindingsInput{GapInput: api.GapInput{GapVersionID: id}}
			return fetchRecords(v, api.ListFindings, &in, ids, func(x *api.Finding) string { return x.ID })
		},
		item: func(v *visit, id string) (*itemPage, error) {
			return fetchItemPage(v, api.GetFinding, &api.FindingInput{FindingID: id}, findingPage)
		},
		change: func(v *visit, id string, match api.Match, patch []byte) (string, error) {
			in := api.UpdateFindingInput{FindingID: id, Match: match}
			return patchItem(v, api.UpdateFinding, &in, &in.Body, patch, func(x *api.Finding) string { return x.ID })
		},
		bulk: []string{"status", "severity", "owner", "due_date", "note"},
		edit: func(v *visit, id string, items []string, set []byte) (*api.EditResult, error) {
			in := api.EditFindingsInput{GapInput: api.GapInput{GapVersionID: id}}
			in.Body.ItemIDs = items
			return editItems(v, api.EditFindings, &in, &in.Body.Set, set)
		},
		draft: func(v *visit, id string) error { return call(v, api.DraftGap, &api.AssessmentInput{AssessmentID: id}) },
		submit: func(v *visit, id string) error {
			return call(v, api.SubmitGap, &api.SubmitGapInput{GapInput: api.GapInput{GapVersionID: id}})
		},
	},
	{
		Gate: api.GateMaturity, Noun: "maturity", Write: "maturity:write",
		Columns: []string{"Control", "Title", "Level", "Target", "Previous", "Confidence"},
		newest: func(v *visit, assessmentID string) (*api.DeliverableVersion, error) {
			return fetchNewest(v, api.ListMaturity, assessmentID,
				func(x *api.MaturityVersion) *api.DeliverableVersion { return &x.DeliverableVersion })
		},
		rows: func(v *visit, id, where string, after time.Time) ([]row, error) {
			in := api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}, Where: where, Sort: sortFor(after)}
			return fetchRows(v, api.ListMaturityScores, &in, after, scoreRow)
		},
		Example: `level < target`,
		records: func(v *visit, id string, ids map[string]bool) ([]any, error) {
			in := api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}}
			return fetchRecords(v, api.ListMaturityScores, &in, ids, func(x *api.MaturityScore) string { return x.ID })
		},
		item: func(v *visit, id string) (*itemPage, error) {
			return fetchItemPage(v, api.GetMaturityScore, &api.MaturityScoreInput{MaturityScoreID: id}, scorePage)
		},
		change: func(v *visit, id string, match api.Match, patch []byte) (string, error) {
			in := api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: id}, Match: match}
			return patchItem(v, api.UpdateMaturityScore, &in, &in.Body, patch, func(x *api.MaturityScore) string { return x.ID })
		},
		bulk: []string{"level", "target_level", "note", "rationale"},
		edit: func(v *visit, id string, items []string, set []byte) (*api.EditResult, error) {
			in := api.EditMaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}}
			in.Body.ItemIDs = items
			return editItems(v, api.EditMaturityScores, &in, &in.Body.Set, set)
		},
		draft: func(v *visit, id string) error {
			return call(v, api.DraftMaturity, &api.AssessmentInput{AssessmentID: id})
		},
		submit: func(v *visit, id string) error {
			return call(v, api.SubmitMaturity, &api.SubmitMaturityInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}})
		},
	},
	{
		Gate: api.GatePOAM, Noun: "poam", Write: "poam:write",
		Columns: []string{"Item", "Title", "Status", "Severity", "Priority", "Owner", "Due"},
		newest: func(v *visit, assessmentID string) (*api.DeliverableVersion, error) {
			return fetchNewest(v, api.ListPOAM, assessmentID, func(x *api.POAMVersion) *api.DeliverableVersion { return &x.DeliverableVersion })
		},
		rows: func(v *visit, id, where string, after time.Time) ([]row, error) {
			in := api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}, Where: where, Sort: sortFor(after)}
			return fetchRows(v, api.ListPOAMItems, &in, after, planItemRow)
		},
		Example: `owner == ""`,
		records: func(v *visit, id string, ids map[string]bool) ([]any, error) {
			in := api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}}
			return fetchRecords(v, api.ListPOAMItems, &in, ids, func(x *api.POAMItem) string { return x.ID })
		},
		item: func(v *visit, id string) (*itemPage, error) {
			return fetchItemPage(v, api.GetPOAMItem, &api.POAMItemInput{POAMItemID: id}, planItemPage)
		},
		change: func(v *visit, id string, match api.Match, patch []byte) (string, error) {
			in := api.UpdatePOAMItemInput{POAMItemID: id, Match: match}
			return patchItem(v, api.UpdatePOAMItem, &in, &in.Body, patch, func(x *api.POAMItem) string { return x.ID })
		},
		bulk: []string{"status", "owner", "due_date", "comments"},
		edit: func(v *visit, id string, items []string, set []byte) (*api.EditResult, error) {
			in := api.EditPOAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}}
			in.Body.ItemIDs = items
			return editItems(v, api.EditPOAMItems, &in, &in.Body.Set, set)
		},
		draft: func(v *visit, id string) error { return call(v, api.DraftPOAM, &api.AssessmentInput{AssessmentID: id}) },
		submit: func(v *visit, id string) error {
			return call(v, api.SubmitPOAM, &api.SubmitPOAMInput{POAMInput: api.POAMInput{POAMVersionID: id}})
		},
	},
}

// kindForGate returns the deliverable that is approved at a gate.
func kindForGate(gate api.Gate) *kind {
	return &kinds[slices.IndexFunc(kinds, func(k kind) bool { return k.Gate == gate })]
}

// fetchNewest returns the newest version in a list of versions, or nil if there is none.
func fetchNewest[T any](
	v *visit,
	op api.Op[api.AssessmentListInput, api.List[T]],
	assessmentID string,
	header func(*T) *api.DeliverableVersion,
) (*api.DeliverableVersion, error) {
	in := api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}, Paging: api.Paging{Limit: 1}}
	l, err := do(v, op, &in)
	if err != nil || len(l.Data) == 0 {
		return nil, err
	}
	return header(&l.Data[0]), nil
}

// sortFor returns the sort order for listing the items changed after a time, or the default order for the zero
// time.
func sortFor(after time.Time) string {
	if after.IsZero() {
		return ""
	}
	return "-updated_at"
}

// maxRefreshed is the maximum number of changed items for which a cached table is updated instead of being read again.
const maxRefreshed = 20

// fetchRows reads the items of a list and converts them to rows. If after is set, it returns only the items changed
// since then, or nil if there are more than maxRefreshed.
func fetchRows[I, T any](v *visit, op api.Op[I, api.List[T]], in *I, after time.Time, toRow func(*T) row) ([]row, error) {
	if after.IsZero() {
		items, err := all(v, op, in)
		return mapRows(items, toRow), err
	}
	any(in).(interface{ SetPaging(api.Paging) }).SetPaging(api.Paging{Limit: maxRefreshed})
	l, err := do(v, op, in)
	if err != nil {
		return nil, err
	}
	rows := mapRows(l.Data, toRow)
	n := slices.IndexFunc(rows, func(r row) bool { return !r.Updated.After(after) })
	if n < 0 {
		return nil, nil
	}
	return rows[:n], nil
}

// fetchRecords reads a list and returns the records with the given IDs.
func fetchRecords[I, T any](v *visit, op api.Op[I, api.List[T]], in *I, ids map[string]bool, id func(*T) string) (out []any, err error) {
	items, err := all(v, op, in)
	for i := range items {
		if ids[id(&items[i])] {
			out = append(out, items[i])
		}
	}
	return out, err
}

func mapRows[T any](items []T, toRow func(*T) row) []row {
	out := make([]row, len(items))
	for i := range items {
		out[i] = toRow(&items[i])
	}
	return out
}

// fetchItemPage reads an item and converts it to the data of its page.
func fetchItemPage[I, T any](v *visit, op api.Op[I, T], in *I, toPage func(*T) *itemPage) (*itemPage, error) {
	item, err := do(v, op, in)
	if err != nil {
		return nil, err
	}
	return toPage(item), nil
}

// patchItem decodes patch into the body of in, calls the operation that changes an item, and returns the ID of the
// changed item.
func patchItem[I, T any](v *visit, op api.Op[I, T], in *I, body any, patch []byte, id func(*T) string) (string, error) {
	if err := json.Unmarshal(patch, body); err != nil {
		return "", api.Invalid("", "the submitted form can't be read: %v", err)
	}
	out, err := do(v, op, in)
	if err != nil {
		return "", err
	}
	return id(out), nil
}

// editItems decodes set into the body of in, and calls the operation that changes many items.
func editItems[I any](v *visit, op api.Op[I, api.EditResult], in *I, body any, set []byte) (*api.EditResult, error) {
	if err := json.Unmarshal(set, body); err != nil {
		return nil, api.Invalid("", "the submitted form can't be read: %v", err)
	}
	return do(v, op, in)
}

func soaRow(i *api.SoAItem) row {
	return row{
		ID: i.ID, Revision: i.Revision, Updated: i.UpdatedAt, Code: i.ControlCode, Title: i.ControlTitle,
		Review: i.NeedsReview, Confidence: i.Confidence, Disputed: i.SecondReading != nil,
		Cells: []cell{
			tagCell(i.ImplementationStatus), tagCell(i.Applicability), tagCell(i.EvidenceCoverage),
			{Text: i.DescribeOwner(i.Owner)},
			numberCell(fmt.Sprintf("%.2f", i.Confidence), i.Confidence),
		},
	}
}

func soaItemPage(i *api.SoAItem) *itemPage {
	// Most missing elements are requirements, which are listed with their verdicts.
	missing := slices.DeleteFunc(slices.Clone(i.MissingElements), func(m string) bool {
		return slices.ContainsFunc(i.Statements, func(s api.Statement) bool {
			return s.Text == m || strings.HasPrefix(m, strings.TrimSuffix(s.Text, ".")+" (")
		})
	})
	return &itemPage{
		Item: i.Item, Code: i.ControlCode, Statements: i.Statements, Evidence: i.Evidence, Missing: missing, Review: i.NeedsReview,
		Second: i.SecondReading,
		Facts: []fact{
			{"Reason", i.Reason},
			{"Evidence", print.FormatCoverage(i)},
			{"Check", i.RelianceNote()},
			{"Confidence", print.FormatConfidence(i.Confidence, i.IsStatusOverruled())},
			{"Requirements", print.FormatRequirements(i.RequirementCodes)},
		},
		Fields: []field{
			enumChoice("implementation_status", "Status", i.ImplementationStatus),
			enumChoice("applicability", "Applicability", i.Applicability),
			{Name: "rationale", Label: "Rationale", Kind: "area", Value: i.Rationale},
			{Name: "owner", Label: "Owner", Kind: "line", Value: orEmpty(i.Owner), Nullable: true},
			{Name: "note", Label: "Note", Kind: "area", Value: orEmpty(i.Note), Nullable: true},
			yesNoChoice("needs_review", "Needs review", i.NeedsReview),
		},
	}
}

func findingRow(f *api.Finding) row {
	return row{
		ID: f.ID, Revision: f.Revision, Updated: f.UpdatedAt, Code: f.ControlCode, Title: f.ControlTitle, Confidence: f.Confidence,
		Cells: []cell{
			tagCell(f.Severity),
			{Text: prose.Label(f.Result), Tone: string(f.Result)},
			{Text: prose.Label(f.GapType)},
			{Text: f.DescribeOwner(f.Owner)},
			textCell(f.DueDate),
		},
	}
}

func findingPage(f *api.Finding) *itemPage {
	return &itemPage{
		Item: f.Item, Code: f.ControlCode, Evidence: f.Evidence, Missing: f.MissingElements,
		Facts: []fact{
			{"Result", prose.Label(f.Result)},
			{"Type", prose.Label(f.GapType)},
			{"Severity", f.SeverityReason},
			{"Criteria", f.Criteria},
			{"Cause", f.Cause},
			{"Effect", f.Effect},
			{"Confidence", print.FormatConfidence(f.Confidence, f.IsStatusOverruled())},
		},
		Fields: []field{
			enumChoice("status", "Status", f.Status),
			enumChoice("severity", "Severity", f.Severity),
			{Name: "condition", Label: "Condition", Kind: "area", Value: f.Condition},
			{Name: "recommendation", Label: "Recommendation", Kind: "area", Value: f.Recommendation},
			{Name: "owner", Label: "Owner", Kind: "line", Value: orEmpty(f.Owner), Nullable: true},
			{Name: "due_date", Label: "Due date", Kind: "date", Value: orEmpty(f.DueDate), Nullable: true},
			{Name: "note", Label: "Note", Kind: "area", Value: orEmpty(f.Note), Nullable: true},
		},
	}
}

func scoreRow(s *api.MaturityScore) row {
	level := func(n int) cell {
		return numberCell(fmt.Sprintf("%d %s", n, api.LevelNames[min(max(n, 0), 5)]), float64(n))
	}
	previous := cell{}
	if s.PreviousLevel != nil {
		previous = numberCell(strconv.Itoa(*s.PreviousLevel), float64(*s.PreviousLevel))
	}
	current, confidence := numberCell("not assessed", -1), numberCell("", -1)
	if s.Assessed {
		current, confidence = level(s.Level), numberCell(fmt.Sprintf("%.2f", s.Confidence), s.Confidence)
	}
	return row{
		ID: s.ID, Revision: s.Revision, Updated: s.UpdatedAt, Code: s.ControlCode, Title: s.ControlTitle, Confidence: s.Confidence,
		Cells: []cell{current, level(s.TargetLevel), previous, confidence},
	}
}

func scorePage(s *api.MaturityScore) *itemPage {
	level, criteria := levelChoice("level", "Level", s.Level), s.Criteria
	if !s.Assessed {
		level.Value, criteria = "", ""
		level.Options = append([]option{{"", "not assessed"}}, level.Options...)
	}
	return &itemPage{
		Item: s.Item, Code: s.ControlCode, Evidence: s.Evidence,
		Facts: []fact{
			{"This level", criteria},
			{"Next level", s.NextCriteria},
			{"Confidence", print.FormatConfidence(s.Confidence, s.IsLevelOverruled())},
		},
		Fields: []field{
			level, levelChoice("target_level", "Target level", s.TargetLevel),
			{Name: "rationale", Label: "Rationale", Kind: "area", Value: s.Rationale},
			{Name: "note", Label: "Note", Kind: "area", Value: orEmpty(s.Note), Nullable: true},
		},
	}
}

func planItemRow(i *api.POAMItem) row {
	return row{
		ID: i.ID, Revision: i.Revision, Updated: i.UpdatedAt, Code: i.POAMCode, Title: i.ControlCode + " " + i.ControlTitle,
		Cells: []cell{
			orderedTagCell(i.Status, api.POAMStatuses), tagCell(i.Severity),
			numberCell(strconv.Itoa(i.Priority), float64(i.Priority)),
			{Text: i.DescribeOwner(i.Owner)},
			{Text: string(i.CurrentDueDate())},
		},
		Due: i.CurrentDueDate(), Milestones: milestoneDates(i.Milestones),
	}
}

func milestoneDates(list []api.Milestone) (out []api.Date) {
	for i := range list {
		out = append(out, list[i].CurrentDueDate())
	}
	return out
}

func planItemPage(i *api.POAMItem) *itemPage {
	return &itemPage{
		Item: i.Item, Code: i.POAMCode, Missing: i.ExpectedEvidence, MissingTitle: "Expected evidence",
		Facts: []fact{
			{"Control", i.ControlCode + " " + i.ControlTitle},
			{"Weakness", i.Weakness},
			{"Severity", prose.Label(i.Severity)},
			{"Role", i.OwnerRole},
			{"Milestones", formatMilestones(i.Milestones)},
		},
		Fields: []field{
			choice("status", "Status", i.Status, api.POAMStatuses),
			{Name: "corrective_action", Label: "Corrective action", Kind: "area", Value: i.CorrectiveAction},
			{Name: "owner", Label: "Owner", Kind: "line", Value: orEmpty(i.Owner), Nullable: true},
			{Name: "due_date", Label: "Due date", Kind: "date", Value: string(i.CurrentDueDate())},
			{Name: "priority", Label: "Priority", Kind: "number", Value: strconv.Itoa(i.Priority), IsNumber: true},
			choice("effort", "Effort", i.Effort, efforts),
			{Name: "comments", Label: "Note", Prefix: "item-", Kind: "area", Value: orEmpty(i.Comments), Nullable: true},
		},
	}
}

// efforts are the possible values of a plan item's effort.
var efforts = []string{"small", "medium", "large", "extra_large"}

// formatMilestones returns the milestones of a plan item, one per line.
func formatMilestones(list []api.Milestone) (out string) {
	for i := range list {
		out += fmt.Sprintf("%s: %s (%s)\n", list[i].CurrentDueDate(), list[i].Title, prose.Humanize(list[i].Status))
	}
	return out
}
