package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/engine/report/workbook"
)

// worksheet is how a deliverable's lines come back from a workbook: each changed line is
// one edit, by the operation that the edit command calls.
type worksheet[V, I any] struct {
	deliverable[V]
	layouts []string
	items   func(ctx context.Context, a *app, version string) (*api.List[I], error)
	item    func(*I) *api.Item
	fields  func(*I) workbook.Fields
	// update is an item's PATCH, with the changed fields as its body.
	update func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*I, error)
	// rest are fields that take more than a cell to be known; nil: none.
	rest func(item *I, row *workbook.Row, body map[string]any) *workbook.Problem
}

func patch[In, I any](ctx context.Context, a *app, op api.Op[In, I], in *In, body any, changed []byte) (*I, error) {
	if err := json.Unmarshal(changed, body); err != nil {
		return nil, fmt.Errorf("the changed fields: %w", err)
	}
	return call(ctx, a, op, in)
}

var soaSheet = worksheet[api.SoAVersion, api.SoAItem]{
	deliverable: soaVersions, layouts: []string{"soa"}, fields: workbook.SoA,
	items: func(ctx context.Context, a *app, id string) (*api.List[api.SoAItem], error) {
		return a.soaItemsOf(ctx, api.SoAItemsInput{SoAInput: api.SoAInput{SoAVersionID: id}}, limits{})
	},
	item: func(i *api.SoAItem) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.SoAItem, error) {
		in := api.UpdateSoAItemInput{SoAItemID: id, Match: m}
		return patch(ctx, a, api.UpdateSoAItem, &in, &in.Body, changed)
	},
}

var gapSheet = worksheet[api.GapVersion, api.Finding]{
	deliverable: gapVersions, layouts: []string{"gap_analysis"}, fields: workbook.Finding,
	items: func(ctx context.Context, a *app, id string) (*api.List[api.Finding], error) {
		return a.findings(ctx, id, api.FindingFilter{}, limits{})
	},
	item: func(i *api.Finding) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.Finding, error) {
		in := api.UpdateFindingInput{FindingID: id, Match: m}
		return patch(ctx, a, api.UpdateFinding, &in, &in.Body, changed)
	},
}

var maturitySheet = worksheet[api.MaturityVersion, api.MaturityScore]{
	deliverable: maturityVersions, layouts: []string{"maturity"}, fields: workbook.Score,
	items: func(ctx context.Context, a *app, id string) (*api.List[api.MaturityScore], error) {
		return a.scores(ctx, api.MaturityScoresInput{MaturityInput: api.MaturityInput{MaturityVersionID: id}}, limits{})
	},
	item: func(i *api.MaturityScore) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.MaturityScore, error) {
		in := api.UpdateMaturityScoreInput{MaturityScoreInput: api.MaturityScoreInput{MaturityScoreID: id}, Match: m}
		return patch(ctx, a, api.UpdateMaturityScore, &in, &in.Body, changed)
	},
}

var poamSheet = worksheet[api.POAMVersion, api.POAMItem]{
	deliverable: poamVersions, layouts: []string{"poam", "fedramp_poam", "emass_poam"}, fields: workbook.Remediation,
	items: func(ctx context.Context, a *app, id string) (*api.List[api.POAMItem], error) {
		return a.poamItems(ctx, api.POAMItemsInput{POAMInput: api.POAMInput{POAMVersionID: id}}, limits{})
	},
	item: func(i *api.POAMItem) *api.Item { return &i.Item },
	update: func(ctx context.Context, a *app, id string, m api.Match, changed []byte) (*api.POAMItem, error) {
		in := api.UpdatePOAMItemInput{POAMItemID: id, Match: m}
		return patch(ctx, a, api.UpdatePOAMItem, &in, &in.Body, changed)
	},
	rest: func(i *api.POAMItem, row *workbook.Row, body map[string]any) *workbook.Problem {
		all, edited, wrong := row.Milestones(i.Milestones)
		if edited && wrong == nil {
			delete(body, "milestone_changes") // a part of each milestone in the contract
			body["milestones"] = all
		}
		return wrong
	},
}

// sheetChange is one field of one item that a workbook changes.
type sheetChange struct {
	Cell        string `json:"cell"`
	ControlCode string `json:"control_code"`
	POAMCode    string `json:"poam_code,omitempty"`
	ItemID      string `json:"item_id"`
	Field       string `json:"field"`
	From        string `json:"from"`
	To          string `json:"to"`
}

// sheetImport is what an import would do, or did.
type sheetImport struct {
	DryRun  bool          `json:"dry_run"`
	Version int           `json:"version"`
	Status  string        `json:"status"`
	Items   int           `json:"items"`
	Changes []sheetChange `json:"changes"`
	LeftOut []string      `json:"left_out"`
}

// sheetWork is an item to change, with its line of the workbook.
type sheetWork[I any] struct {
	row  workbook.Row
	item *I
	body map[string]any
}

func (w worksheet[V, I]) importing(a *app) *cobra.Command {
	var dry bool
	cmd := &cobra.Command{
		Use: "import FILE.xlsx", Short: "Take changes back from a workbook", Args: takes(1, 1),
		Long: fmt.Sprintf(`Takes back what was changed in a workbook that 'report create --format xlsx' wrote: what
stands under its blue heads. --dry-run lists each change first. Nothing is changed where
a cell can't be taken, or where an item was changed here since the export; each such
cell is named. Every line is one edit, as by 'service %s edit', with the same rights and
rules. Lines that are gone from the workbook stay as they are.`, w.noun()),
		Example: fmt.Sprintf("  service report create --template %s --out lines.xlsx\n  service %s import lines.xlsx --dry-run\n  service %s import lines.xlsx", w.gate, w.noun(), w.noun()),
		RunE: func(cmd *cobra.Command, args []string) error {
			ctx := cmd.Context()
			a.progress.Start("read " + filepath.Base(args[0]))
			defer a.progress.Done("")
			book, from, err := readWorkbook(ctx, args[0])
			if err != nil {
				return err
			}
			one, err := a.assessment(ctx)
			if err != nil {
				return err
			}
			if from.Assessment != one.ID {
				return advise(stopped("%s was made from another assessment (%s) than %q", args[0], from.Assessment, one.Name),
					"name that one with --assessment %s, or export again", print.Line(from.Assessment))
			}
			v, err := w.newest(ctx, a)
			if err != nil {
				return err
			}
			work, done, err := w.plan(ctx, a, v, book, from)
			if err != nil {
				return err
			}
			a.progress.Done("")
			if done.DryRun = dry; !dry {
				if err := w.apply(ctx, a, v, work); err != nil {
					return err
				}
			}
			return a.out.Print(done, func(p *print.Page) { w.page(a, p, done) })
		},
	}
	cmd.Flags().BoolVar(&dry, "dry-run", false, "change nothing, tell what would change")
	return cmd
}

func readWorkbook(ctx context.Context, path string) (*workbook.Workbook, *workbook.Exported, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, nil, stopped("%s can't be read: %w", path, reason(err))
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, nil, stopped("%s can't be read: %w", path, reason(err))
	}
	if !info.Mode().IsRegular() {
		return nil, nil, stopped("%s is no file", path)
	}
	book, err := workbook.Read(ctx, f, info.Size(), workbook.DefaultLimits)
	if err != nil {
		return nil, nil, stopped("%s: %w", path, err)
	}
	from, err := book.Exported()
	if err != nil {
		return nil, nil, stopped("%s: %w", path, err)
	}
	return book, from, nil
}

// plan finds the items that a workbook changes, and refuses where one can't be.
func (w worksheet[V, I]) plan(ctx context.Context, a *app, v *V, book *workbook.Workbook, from *workbook.Exported) ([]sheetWork[I], *sheetImport, error) {
	items, err := w.items(ctx, a, w.head(v).ID)
	if err != nil {
		return nil, nil, err
	}
	done := &sheetImport{Version: w.head(v).VersionNumber, Status: string(w.head(v).Status), Changes: []sheetChange{}, LeftOut: []string{}}
	var work []sheetWork[I]
	var wrong []workbook.Problem
	found := false
	for _, name := range w.layouts {
		l, ok := workbook.Named(name)
		if !ok || !slices.Contains(from.Layouts, name) {
			continue
		}
		found = true
		rows, problems, notes := book.Edits(from, l)
		wrong, done.LeftOut = append(wrong, problems...), append(done.LeftOut, notes...)
		for _, row := range rows {
			item, why := w.match(items.Data, &row)
			if why == "" {
				row.Edits = slices.DeleteFunc(row.Edits, func(e workbook.Edit) bool { return !e.Differs(w.fields(item)) })
				if len(row.Edits) == 0 {
					continue // it says so already
				}
				why = w.conflict(item, &row)
			}
			if why != "" {
				wrong = append(wrong, workbook.Problem{Cell: row.Edits[0].Cell, Message: why})
				continue
			}
			body := map[string]any{}
			for _, e := range row.Edits {
				body[e.Field] = e.Value
			}
			if w.rest != nil {
				if p := w.rest(item, &row, body); p != nil {
					wrong = append(wrong, *p)
					continue
				}
			}
			work = append(work, sheetWork[I]{row, item, body})
			done.Changes = append(done.Changes, w.changes(item, row.Edits)...)
		}
	}
	if !found {
		return nil, nil, advise(stopped("the workbook has no lines of the %s", w.gate.Title()), "`%s` writes one", a.command("report create --template "+string(w.gate)+" --out lines.xlsx"))
	}
	if len(wrong) > 0 {
		e := api.Invalid("", "nothing was changed: %s can't be taken", count(len(wrong), "cell", "cells"))
		for _, p := range wrong {
			e = e.With(api.ErrorDetail{Field: p.Cell, Message: p.Message})
		}
		return nil, nil, atWork(e)
	}
	done.Items = len(work)
	return work, done, nil
}

// match finds a row's item: by its id, else as the only one in a newer version that says
// what was exported.
func (w worksheet[V, I]) match(items []I, row *workbook.Row) (*I, string) {
	if at := slices.IndexFunc(items, func(i I) bool { return w.item(&i).ID == row.Item }); at >= 0 {
		return &items[at], ""
	}
	var same []*I
	for i := range items {
		if f := w.fields(&items[i]); f("control_code") == row.Control && f("poam_code") == row.Plan && (row.Follows(f) || row.Done(f)) {
			same = append(same, &items[i])
		}
	}
	switch len(same) {
	case 0:
		return nil, "the item was changed or taken out in a newer version since the export; export again and make the change there"
	case 1:
		return same[0], ""
	}
	return nil, "the newest version has several items like it; export again and make the change there"
}

// conflict says that somebody changed the item meanwhile.
func (w worksheet[V, I]) conflict(item *I, row *workbook.Row) string {
	it := w.item(item)
	if it.ID != row.Item || it.Revision == row.Revision {
		return ""
	}
	who := ""
	if it.EditedBy != nil {
		who = " by " + *it.EditedBy
	}
	return fmt.Sprintf("%s was changed%s since the export (revision %d, exported %d); export again and make the change there", it.ControlCode, who, it.Revision, row.Revision)
}

func (w worksheet[V, I]) changes(item *I, edits []workbook.Edit) (out []sheetChange) {
	f := w.fields(item)
	for _, e := range edits {
		out = append(out, sheetChange{Cell: e.Cell, ControlCode: f("control_code"), POAMCode: f("poam_code"), ItemID: f("id"), Field: e.Field, From: f(e.Field), To: e.To})
	}
	return out
}

// apply edits item by item. The first edit of a decided version makes the next one, in
// which the others are then found.
func (w worksheet[V, I]) apply(ctx context.Context, a *app, v *V, work []sheetWork[I]) error {
	version := w.head(v).ID
	for n, one := range work {
		a.progress.Start(fmt.Sprintf("change %d of %s", n+1, count(len(work), "item", "items")))
		changed, err := json.Marshal(one.body)
		if err != nil {
			return err
		}
		it := w.item(one.item)
		out, err := w.update(ctx, a, it.ID, revision(it.Revision), changed)
		if err != nil {
			if n > 0 {
				a.say("%s changed before it stopped; once it is mended, the same command goes on", count(n, "item was", "items were"))
			}
			return atWork(fmt.Errorf("%s, %s: %w", one.row.Edits[0].Cell, it.ControlCode, err))
		}
		if now := w.item(out).VersionID; now != version {
			version = now
			if err := w.follow(ctx, a, version, work[n+1:]); err != nil {
				return err
			}
		}
	}
	a.progress.Done("")
	return nil
}

// follow finds the items that are still to be changed in the copy that an edit has made.
func (w worksheet[V, I]) follow(ctx context.Context, a *app, version string, rest []sheetWork[I]) error {
	if len(rest) == 0 {
		return nil
	}
	items, err := w.items(ctx, a, version)
	if err != nil {
		return err
	}
	copies := map[string][]*I{}
	for i := range items.Data {
		key, err := w.content(&items.Data[i])
		if err != nil {
			return err
		}
		copies[key] = append(copies[key], &items.Data[i])
	}
	for i := range rest {
		key, err := w.content(rest[i].item)
		if err != nil {
			return err
		}
		if len(copies[key]) == 0 {
			return stopped("%s: %s was changed meanwhile; run the same command again", rest[i].row.Cell, w.item(rest[i].item).ControlCode)
		}
		rest[i].item, copies[key] = copies[key][0], copies[key][1:]
	}
	return nil
}

// content is what an item says, without what its version gives it.
func (w worksheet[V, I]) content(item *I) (string, error) {
	same := *item
	it := w.item(&same)
	it.TenantRecord, it.VersionID = api.TenantRecord{}, ""
	b, err := json.Marshal(same)
	return string(b), err
}

func (w worksheet[V, I]) page(a *app, p *print.Page, done *sheetImport) {
	if done.DryRun {
		p.Text("Dry run: nothing was changed.")
	}
	var rows [][]string
	for _, c := range done.Changes {
		rows = append(rows, []string{c.Cell, cmp.Or(c.POAMCode, c.ControlCode), plain(c.Field), cmp.Or(oneLine(c.From), "–"), cmp.Or(oneLine(c.To), "–")})
	}
	p.Table([]print.Column{{Title: "cell", Keep: true}, {Title: "item", Keep: true}, {Title: "field", Keep: true}, {Title: "from", Wrap: true}, {Title: "to", Wrap: true}}, rows)
	a.none(p, len(rows), "The workbook says what the %s says: there is nothing to change.", w.gate.Title())
	for _, n := range done.LeftOut {
		p.Text("Left out: %s.", n)
	}
	if len(rows) == 0 {
		return
	}
	p.Blank()
	p.Text("%s of %s, version %d.", count(len(rows), "change", "changes"), count(done.Items, "item", "items"), done.Version)
	switch api.VersionStatus(done.Status) {
	case api.VersionApproved, api.VersionRejected:
		p.Text("That version is decided: the changes make the next one, which has to be approved.")
	case api.VersionUnderReview:
		p.Text("That version is under review: changing it voids the approval that was asked for.")
	}
}

// oneLine is a text of several lines for a table.
func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
