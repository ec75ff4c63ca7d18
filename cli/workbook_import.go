package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/report/workbook"
	"github.com/scf-service/service/internal/prose"
)

// workbookImporter imports edited items of a deliverable from a workbook. Each changed row becomes one edit,
// made by the same operation as the edit command.
type workbookImporter[V, I any] struct {
	deliverable[V]
	layouts   []string
	listItems func(ctx context.Context, a *app, version string) (*api.List[I], error)
	item      func(*I) *api.Item
	fields    func(*I) workbook.Fields
	// update is the operation that changes an item, with the changed fields as its body.
	update func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*I, error)
	// applyOtherFields sets fields that don't correspond to a single cell, or is nil.
	applyOtherFields func(item *I, row *workbook.ChangedRow, body map[string]any) *workbook.Problem
}

// patchItem decodes the changed fields into the body of in, and calls the operation that changes an item.
func patchItem[In, I any](ctx context.Context, a *app, op api.Op[In, I], in *In, body any, changed []byte) (*I, error) {
	if err := json.Unmarshal(changed, body); err != nil {
		return nil, fmt.Errorf("the changed fields: %w", err)
	}
	return call(ctx, a, op, in)
}

var soaWorkbook = workbookImporter[api.SoAVersion, api.SoAItem]{
	deliverable: soaVersions, layouts: []string{"soa"}, fields: workbook.SoAFields,
	listItems: func(ctx context.Context, a *app, id string) (*api.List[api.SoAItem], error) {
		return fetchAll(ctx, a, api.ListSoAItems, &api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}})
	},
	item: func(i *api.SoAItem) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.SoAItem, error) {
		in := api.UpdateSoAItemInput{SoAItemID: id, Match: m}
		return patchItem(ctx, a, api.UpdateSoAItem, &in, &in.Body, changed)
	},
}

var gapWorkbook = workbookImporter[api.GapVersion, api.Finding]{
	deliverable: gapVersions, layouts: []string{"gap_analysis"}, fields: workbook.FindingFields,
	listItems: func(ctx context.Context, a *app, id string) (*api.List[api.Finding], error) {
		return a.listFindings(ctx, id, api.FindingFilter{}, listFlags{})
	},
	item: func(i *api.Finding) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.Finding, error) {
		in := api.UpdateFindingInput{FindingID: id, Match: m}
		return patchItem(ctx, a, api.UpdateFinding, &in, &in.Body, changed)
	},
}

var maturityWorkbook = workbookImporter[api.MaturityVersion, api.MaturityScore]{
	deliverable: maturityVersions, layouts: []string{"maturity"}, fields: workbook.ScoreFields,
	listItems: func(ctx context.Context, a *app, id string) (*api.List[api.MaturityScore], error) {
		return fetchAll(ctx, a, api.ListMaturityScores, &api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}})
	},
	item: func(i *api.MaturityScore) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.MaturityScore, error) {
		in := api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: id}, Match: m}
		return patchItem(ctx, a, api.UpdateMaturityScore, &in, &in.Body, changed)
	},
}

var poamWorkbook = workbookImporter[api.POAMVersion, api.POAMItem]{
	deliverable: poamVersions, layouts: []string{"poam", "fedramp_poam", "emass_poam"}, fields: workbook.POAMItemFields,
	listItems: func(ctx context.Context, a *app, id string) (*api.List[api.POAMItem], error) {
		return fetchAll(ctx, a, api.ListPOAMItems, &api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}})
	},
	item: func(i *api.POAMItem) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.POAMItem, error) {
		in := api.UpdatePOAMItemInput{POAMItemID: id, Match: m}
		return patchItem(ctx, a, api.UpdatePOAMItem, &in, &in.Body, changed)
	},
	applyOtherFields: func(i *api.POAMItem, row *workbook.ChangedRow, body map[string]any) *workbook.Problem {
		all, edited, wrong := row.MilestonesAfterEdits(i.Milestones)
		if edited && wrong == nil {
			delete(body, "milestone_changes") // it is part of each milestone in the API
			body["milestones"] = all
		}
		return wrong
	},
}

// workbookChange is a change to a field of an item, read from a workbook.
type workbookChange struct {
	Cell        string `json:"cell"`
	ControlCode string `json:"control_code"`
	POAMCode    string `json:"poam_code,omitempty"`
	ItemID      string `json:"item_id"`
	Field       string `json:"field"`
	From        string `json:"from"`
	To          string `json:"to"`
}

// workbookImport is the result, or preview, of an import.
type workbookImport struct {
	DryRun  bool             `json:"dry_run"`
	Version int              `json:"version"`
	Status  string           `json:"status"`
	Items   int              `json:"items"`
	Changes []workbookChange `json:"changes"`
	Skipped []string         `json:"skipped"`
}

// itemEdit is an edit to an item, with the workbook row that it comes from.
type itemEdit[I any] struct {
	row  workbook.ChangedRow
	item *I
	body map[string]any
}

func (w workbookImporter[V, I]) importCommand(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "import FILE.xlsx", Short: "Import changes from a workbook",
		Long: fmt.Sprintf(`Imports changes made in the columns with blue headers of a workbook exported with
'report create --format xlsx'. Preview the changes with --dry-run. If a cell is invalid, or if
its item was changed in the assessment after the export, the cell is reported and nothing is
imported. You can also import a workbook that was exported from the assessment from which this
assessment was created.
Each row is imported like an edit with 'service %s edit', with the same permissions and rules.
Items whose rows were deleted from the workbook remain unchanged.`, w.commandName()),
		Example: fmt.Sprintf(
			"  service report create --template %s --out lines.xlsx\n  service %s import lines.xlsx --dry-run\n  service %s import lines.xlsx",
			w.gate,
			w.commandName(),
			w.commandName(),
		),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			a.progress.Start("read " + filepath.Base(args[0]))
			defer a.progress.Done("")
			book, from, err := readWorkbook(ctx, args[0])
			if err != nil {
				return err
			}
			one, err := a.currentAssessment(ctx)
			if err != nil {
				return err
			}
			if from.Assessment != one.ID && (one.CarriedFrom == nil || one.CarriedFrom.AssessmentID != from.Assessment) {
				return withHint(runtimeError("%s was exported from another assessment (%s), not %q", args[0], from.Assessment, one.Name),
					"select that assessment with --assessment %s, or export a new workbook from the current one", print.SafeLine(from.Assessment))
			}
			v, err := w.fetchNewestVersion(ctx, a)
			if err != nil {
				return err
			}
			work, done, err := w.planEdits(ctx, a, v, book, from)
			if err != nil {
				return err
			}
			a.progress.Done("")
			if done.DryRun = dry; !dry {
				if err := w.applyEdits(ctx, a, v, work); err != nil {
					return err
				}
			}
			return a.out.Print(done, func(p *print.Page) { w.renderImport(a, p, done) })
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "show what would change without changing anything")
	return cmd
}

// readWorkbook reads a workbook and the information that its export stored in it.
func readWorkbook(ctx context.Context, path string) (parsed *workbook.Workbook, exported *workbook.ExportInfo, _ error) {
	f, err := openFile(ctx, path, api.MaxUploadBytes)
	if err != nil {
		return nil, nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, fileError(path, err)
	}
	book, err := workbook.Read(ctx, f, info.Size(), workbook.DefaultLimits)
	if err != nil {
		return nil, nil, runtimeError("%s: %w", path, err)
	}
	from, err := book.ReadExportInfo()
	if err != nil {
		return nil, nil, runtimeError("%s: %w", path, err)
	}
	return book, from, nil
}

// planEdits returns the edits that a workbook requires, or an error if one of them isn't possible.
func (w workbookImporter[V, I]) planEdits(
	ctx context.Context,
	a *app,
	v *V,
	book *workbook.Workbook,
	exported *workbook.ExportInfo,
) (edits []itemEdit[I], summary *workbookImport, _ error) {
	items, err := w.listItems(ctx, a, w.header(v).ID)
	if err != nil {
		return nil, nil, err
	}
	result := &workbookImport{
		Version: w.header(v).VersionNumber,
		Status:  string(w.header(v).Status),
		Changes: []workbookChange{},
		Skipped: []string{},
	}
	var work []itemEdit[I]
	var wrong []workbook.Problem
	found := false
	for _, name := range w.layouts {
		l, ok := workbook.FindLayout(name)
		if !ok || !slices.Contains(exported.Layouts, name) {
			continue
		}
		found = true
		rows, problems, notes := book.FindEdits(exported, l)
		wrong, result.Skipped = append(wrong, problems...), append(result.Skipped, notes...)
		for _, row := range rows {
			item, why := w.findRowItem(items.Data, &row)
			if why == "" {
				row.Edits = slices.DeleteFunc(row.Edits, func(e workbook.Edit) bool { return !e.WouldChange(w.fields(item)) })
				if len(row.Edits) == 0 {
					continue // already reported
				}
				why = w.conflictMessage(item, &row)
			}
			if why != "" {
				wrong = append(wrong, workbook.Problem{Cell: row.Edits[0].Cell, Message: why})
				continue
			}
			body := map[string]any{}
			for _, e := range row.Edits {
				body[e.Field] = e.JSONValue
			}
			if w.applyOtherFields != nil {
				if p := w.applyOtherFields(item, &row, body); p != nil {
					wrong = append(wrong, *p)
					continue
				}
			}
			work = append(work, itemEdit[I]{row: row, item: item, body: body})
			result.Changes = append(result.Changes, w.describeChanges(item, row.Edits)...)
		}
	}
	if !found {
		return nil, nil, withHint(
			runtimeError("the workbook contains no items of the %s", w.gate.Title()),
			"create a workbook with `%s`",
			a.suggestedCommandLine("report create --template "+string(w.gate)+" --out lines.xlsx"),
		)
	}
	if len(wrong) > 0 {
		e := api.Invalid("", "nothing was changed: %s can't be imported", prose.Count(len(wrong), "cell", "cells"))
		for _, p := range wrong {
			e = e.WithDetails(api.ErrorDetail{Field: p.Cell, Message: p.Message})
		}
		return nil, nil, validationToRuntimeError(e)
	}
	result.Items = len(work)
	return work, result, nil
}

// findRowItem returns the item that a row belongs to: the one with the row's ID or, in a newer version, the
// only one that still has the exported content. If there is none, it returns the reason.
func (w workbookImporter[V, I]) findRowItem(items []I, row *workbook.ChangedRow) (item *I, problem string) {
	if at := slices.IndexFunc(items, func(i I) bool { return w.item(&i).ID == row.Item }); at >= 0 {
		return &items[at], ""
	}
	var same []*I
	for i := range items {
		if f := w.fields(&items[i]); f("control_code") == row.Control && f("poam_code") == row.Plan &&
			(row.IsUnchangedElsewhere(f) || row.IsApplied(f)) {
			same = append(same, &items[i])
		}
	}
	switch len(same) {
	case 0:
		return nil, "the item was changed or removed in a newer version after the export; export a new workbook and make the change in it"
	case 1:
		return same[0], ""
	}
	return nil, "the newest version has several items that match this row; export a new workbook and make the change in it"
}

// conflictMessage returns the error message for an item that was changed since the workbook was exported.
func (w workbookImporter[V, I]) conflictMessage(item *I, row *workbook.ChangedRow) string {
	it := w.item(item)
	if it.ID != row.Item || it.Revision == row.Revision {
		return ""
	}
	who := ""
	if it.EditedBy != nil {
		who = " by " + *it.EditedBy
	}
	return fmt.Sprintf(
		"%s was changed%s after the export (now revision %d, exported revision %d); export a new workbook and make the change in it",
		it.ControlCode,
		who,
		it.Revision,
		row.Revision,
	)
}

// describeChanges lists the changes that edits make to an item.
func (w workbookImporter[V, I]) describeChanges(item *I, edits []workbook.Edit) (out []workbookChange) {
	f := w.fields(item)
	for _, e := range edits {
		out = append(
			out,
			workbookChange{
				Cell:        e.Cell,
				ControlCode: f("control_code"),
				POAMCode:    f("poam_code"),
				ItemID:      f("id"),
				Field:       e.Field,
				From:        f(e.Field),
				To:          e.NewValue,
			},
		)
	}
	return out
}

// applyEdits edits the items one by one. If the version has already been decided on, the first edit creates
// the next version, and the remaining items are looked up there.
func (w workbookImporter[V, I]) applyEdits(ctx context.Context, a *app, v *V, edits []itemEdit[I]) error {
	version := w.header(v).ID
	for n, one := range edits {
		a.progress.Start(fmt.Sprintf("changing %d of %s", n+1, prose.Count(len(edits), "item", "items")))
		changed, err := json.Marshal(one.body)
		if err != nil {
			return err
		}
		it := w.item(one.item)
		out, err := w.update(ctx, a, it.ID, matchRevision(it.Revision), changed)
		if err != nil {
			if n > 0 {
				a.printNotice(
					"%s changed before the error occurred; fix the problem, then run the same command again to continue",
					prose.Count(n, "item was", "items were"),
				)
			}
			return validationToRuntimeError(fmt.Errorf("%s, %s: %w", one.row.Edits[0].Cell, it.ControlCode, err))
		}
		if now := w.item(out).VersionID; now != version {
			version = now
			if err := w.relocateEdits(ctx, a, version, edits[n+1:]); err != nil {
				return err
			}
		}
	}
	a.progress.Done("")
	return nil
}

// relocateEdits redirects the remaining edits to the items of a new version. The first edit of a decided version
// creates such a version as a copy, in which every item has a different ID.
func (w workbookImporter[V, I]) relocateEdits(ctx context.Context, a *app, version string, remaining []itemEdit[I]) error {
	if len(remaining) == 0 {
		return nil
	}
	items, err := w.listItems(ctx, a, version)
	if err != nil {
		return err
	}
	copies := map[string][]*I{}
	for i := range items.Data {
		key, err := w.contentKey(&items.Data[i])
		if err != nil {
			return err
		}
		copies[key] = append(copies[key], &items.Data[i])
	}
	for i := range remaining {
		key, err := w.contentKey(remaining[i].item)
		if err != nil {
			return err
		}
		if len(copies[key]) == 0 {
			return runtimeError(
				"%s: %s was changed in the meantime; run the same command again",
				remaining[i].row.Cell,
				w.item(remaining[i].item).ControlCode,
			)
		}
		remaining[i].item, copies[key] = copies[key][0], copies[key][1:]
	}
	return nil
}

// contentKey returns a string that identifies an item's content. It is the same for copies of the item in other
// versions.
func (w workbookImporter[V, I]) contentKey(item *I) (string, error) {
	same := *item
	it := w.item(&same)
	it.TenantRecord, it.VersionID = api.TenantRecord{}, ""
	b, err := json.Marshal(same)
	return string(b), err
}

// renderImport prints the changes that a workbook makes.
func (w workbookImporter[V, I]) renderImport(a *app, p *print.Page, result *workbookImport) {
	if result.DryRun {
		p.Text("Dry run: nothing was changed.")
	}
	changes := len(result.Changes)
	columns := []print.Column{fixed("cell"), fixed("item"), fixed("field"), wrapped("from"), wrapped("to")}
	renderTable(p, result.Changes, columns, func(c workbookChange) []string {
		return []string{
			c.Cell,
			cmp.Or(c.POAMCode, c.ControlCode),
			prose.Humanize(c.Field),
			cmp.Or(toOneLine(c.From), "–"),
			cmp.Or(toOneLine(c.To), "–"),
		}
	})
	renderTextIfEmpty(p, changes, "The workbook matches the %s, so there is nothing to change.", w.gate.Title())
	for _, n := range result.Skipped {
		p.Text("Skipped: %s.", n)
	}
	if changes == 0 {
		return
	}
	p.Blank()
	p.Text("%s of %s, version %d.", prose.Count(changes, "change", "changes"), prose.Count(result.Items, "item", "items"), result.Version)
	switch api.VersionStatus(result.Status) {
	case api.VersionApproved, api.VersionRejected:
		p.Text("That version has already been approved or rejected, so the changes create the next version, which requires approval.")
	case api.VersionUnderReview:
		p.Text("That version is under review, so changing it voids the pending approval.")
	}
}

// toOneLine joins the lines of a text into one line, for use in a table cell.
func toOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
