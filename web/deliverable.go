package web

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"html"
	"html/template"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// tablePage holds the data for a deliverable's table.
type tablePage struct {
	kind
	Assessment *api.Assessment
	// Version is nil if the deliverable has not been drafted.
	Version *api.DeliverableVersion
	Rows    []row
	// Total is the number of items before filtering, and Review the number of items that need review.
	Total, Review int
	Query, Status string
	Statuses      []cell
	// Sort is the index of the column that the rows are sorted by, or -1 for the default order, that of the
	// controls.
	Sort       int
	Descending bool
	// MayDraft is set if the visitor may draft the first version, and MaySubmit if they may submit this
	// version.
	MayDraft, MaySubmit bool
	// MayEdit is set if the visitor may change items. Bulk lists the fields that can be changed for many items
	// at once.
	MayEdit bool
	Bulk    []field
	// Undo is the ID of the change that the visitor has just made and can undo, or "".
	Undo string
	// Plan is the timeline of the open items shown, by due date; nil if there are none, and for the other deliverables.
	Plan *timeline
	// First is the ID of the item to review first.
	First string
}

// rowView is a row and what the visitor is allowed to do with it.
type rowView struct {
	row
	Noun    string
	MayEdit bool
}

// RowsHTML returns the rows of the table. They are written without a template because, on a page with 1,468 rows,
// executing a template would take longer than everything else.
func (p *tablePage) RowsHTML() template.HTML {
	var b strings.Builder
	b.Grow(len(p.Rows) * 700)
	for i := range p.Rows {
		(&rowView{p.Rows[i], p.Noun, p.MayEdit}).write(&b)
	}
	return template.HTML(b.String()) //nolint:gosec // write escapes every value
}

// HTML returns the row as HTML.
func (r *rowView) HTML() template.HTML {
	var b strings.Builder
	r.write(&b)
	return template.HTML(b.String()) //nolint:gosec // write escapes every value
}

// write writes the row as HTML, with all values escaped.
func (r *rowView) write(b *strings.Builder) {
	put := func(markup, value string) {
		b.WriteString(markup)
		b.WriteString(html.EscapeString(value))
	}
	b.WriteString("\n<tr")
	if r.MayEdit {
		put(` data-revision="`, strconv.Itoa(r.Revision))
		b.WriteByte('"')
	}
	b.WriteString(`><th scope="row">`)
	if r.MayEdit {
		put(`<input type="checkbox" name="item" value="`, r.ID)
		put(`" form="many" aria-label="Choose `, r.Code)
		b.WriteString(`"> `)
	}
	put(`<a href="`, r.Noun)
	put("/", r.ID)
	put(`">`, r.Code)
	b.WriteString("</a>")
	if r.Review {
		b.WriteString(` <span class="dot" title="Needs review">●</span>`)
	}
	if r.Disputed {
		b.WriteString(` <span class="differs" title="The second reader disagrees">≠</span>`)
	}
	put("</th><td>", r.Title)
	b.WriteString("</td>")
	for _, c := range r.Cells {
		put(`<td data-rank="`, strconv.FormatFloat(c.Rank, 'g', -1, 64))
		if c.Tone != "" {
			put(`"><span class="tag `, c.Tone)
			put(`">`, c.Text)
			b.WriteString("</span></td>")
		} else {
			put(`">`, c.Text)
			b.WriteString("</td>")
		}
	}
	b.WriteString("</tr>")
}

// consequence describes what changing an item does to the decision on its version. It returns "" for a draft.
func consequence(version *api.DeliverableVersion) string {
	switch version.Status {
	case api.VersionDraft:
		return ""
	case api.VersionUnderReview:
		return fmt.Sprintf("Version %d is under review. Changing an item withdraws the version from review.", version.VersionNumber)
	}
	return fmt.Sprintf("Version %d is %s. Changing an item creates a new version, which requires a new decision.",
		version.VersionNumber, prose.Humanize(version.Status))
}

// ExportLink returns the link that downloads the displayed rows as CSV.
func (p *tablePage) ExportLink() string {
	q := url.Values{"csv": {"1"}}
	for name, value := range map[string]string{"q": p.Query, "status": p.Status} {
		if value != "" {
			q.Set(name, value)
		}
	}
	return p.Noun + "?" + q.Encode()
}

// SortLink returns the link that sorts the table by a column, in descending order if it is already sorted by
// that column.
func (p *tablePage) SortLink(column int) string {
	q := url.Values{"sort": {strconv.Itoa(column)}}
	for name, value := range map[string]string{"q": p.Query, "status": p.Status} {
		if value != "" {
			q.Set(name, value)
		}
	}
	if p.Sort == column && !p.Descending {
		q.Set("desc", "1")
	}
	return p.Noun + "?" + q.Encode()
}

// Sorted returns the sort order of a column, for the attribute aria-sort.
func (p *tablePage) Sorted(column int) string {
	switch {
	case p.Sort != column:
		return "none"
	case p.Descending:
		return "descending"
	}
	return "ascending"
}

// findDeliverable returns the kind of deliverable and the assessment given in the URL.
func (v *visit) findDeliverable() (*kind, *api.Assessment, error) {
	at := slices.IndexFunc(kinds, func(k kind) bool { return k.Noun == v.r.PathValue("noun") })
	if at < 0 {
		return nil, nil, api.NotFound("page", v.r.URL.Path)
	}
	a, err := v.findAssessment()
	return &kinds[at], a, err
}

func (v *visit) showDeliverable() error {
	k, a, err := v.findDeliverable()
	if err != nil {
		return err
	}
	q := v.r.URL.Query()
	if q.Has("csv") {
		return v.exportRows(k, a)
	}
	page := tablePage{
		kind: *k, Assessment: a, Query: strings.TrimSpace(q.Get("q")), Status: q.Get("status"),
		Sort: -1, Descending: q.Has("desc"),
	}
	if n, err := strconv.Atoi(q.Get("sort")); err == nil && n >= 0 && n < len(k.Columns) {
		page.Sort = n
	}
	var rows []row
	if page.Version, rows, err = v.readRows(k, a.ID); err != nil {
		return err
	}
	page.Total = len(rows)
	for _, r := range rows {
		if r.Review {
			page.Review++
		}
		status := r.Cells[k.Status]
		if !slices.ContainsFunc(page.Statuses, func(c cell) bool { return c.Text == status.Text }) {
			page.Statuses = append(page.Statuses, status)
		}
	}
	page.Rows, err = v.filter(k, page.Version, rows, page.Query, page.Status)
	if q.Has("ids") {
		return v.answerIDs(page.Rows, err)
	}
	if api.IsCode(err, api.CodeValidation) {
		v.status, v.complaint, err = http.StatusBadRequest, sentence(api.AsError(err).Message), nil
		page.Rows = slices.Clone(rows) // the cached rows must not be sorted
	}
	if err != nil {
		return err
	}
	if k.Gate == api.GatePOAM && page.Version != nil {
		page.Plan = newTimeline(page.Version, page.Rows, v.Clock())
	}
	slices.SortFunc(page.Statuses, compareCells)
	if queue := reviewQueue(rows); len(queue) > 0 {
		page.First = queue[0].ID
	}
	if page.Sort >= 0 {
		slices.SortStableFunc(page.Rows, func(x, y row) int {
			if page.Descending {
				x, y = y, x
			}
			return compareCells(x.column(page.Sort), y.column(page.Sort))
		})
	}
	mayWrite := v.may(k.Write) && a.State != api.StateClosed
	page.MayDraft = mayWrite && page.Version == nil
	page.MaySubmit = mayWrite && page.Version != nil && page.Version.Status == "draft"
	if page.MayEdit = mayWrite && page.Version != nil; page.MayEdit {
		page.Bulk = k.bulkFields()
	}
	if q.Has("edited") && page.MayEdit {
		page.Undo = q.Get("edit")
	}
	if n, err := strconv.Atoi(q.Get("edited")); err == nil {
		v.notice = prose.Count(n, "item was", "items were") + " changed."
	}
	v.tabs = assessmentTabs(a, k.Noun)
	if q.Has(savedNotice) {
		v.notice = "Done."
	}
	return v.render("table.html", a.Name+": "+k.Title(), &page)
}

// answerIDs sends the page's script the IDs of the rows that an expression selects, or the reason why the expression
// is invalid.
func (v *visit) answerIDs(rows []row, err error) error {
	if err != nil {
		return v.answerScript(err)
	}
	ids := make([]string, len(rows))
	for i := range rows {
		ids[i] = rows[i].ID
	}
	v.w.Header().Set("Content-Type", "application/json")
	v.w.Header().Set("Cache-Control", "no-store")
	v.sent = true
	return json.NewEncoder(v.w).Encode(ids)
}

// bulkFields returns blank form fields for the values that can be changed for many items at once.
func (k *kind) bulkFields() (out []field) {
	for _, f := range k.blankFields() {
		if !slices.Contains(k.bulk, f.Name) {
			continue
		}
		f.Value, f.Prefix = "", "many-"
		if f.Kind == "select" {
			f.Options = slices.Insert(slices.Clone(f.Options), 0, option{"", "Leave unchanged"})
		}
		out = append(out, f)
	}
	return out
}

// blankFields returns the form fields of an item without values.
func (k *kind) blankFields() []field {
	switch k.Gate {
	case api.GateSoA:
		return soaItemPage(&api.SoAItem{}).Fields
	case api.GateGapAnalysis:
		return findingPage(&api.Finding{}).Fields
	case api.GateMaturity:
		return scorePage(&api.MaturityScore{}).Fields
	}
	return planItemPage(&api.POAMItem{}).Fields
}

// editMany changes the selected items and returns their number, and the ID of the change for an undo. Fields left empty are
// not changed.
func (v *visit) editMany(k *kind, assessmentID string) (changed int, editID string, err error) {
	version, items := v.field("version"), v.r.PostForm["item"]
	set := map[string]any{}
	if v.field("do") == "accept" {
		set["needs_review"] = false
		if len(items) > 1 {
			set["reviewed_in_bulk"] = true
		}
	} else {
		for _, f := range k.bulkFields() {
			if entered := v.field(f.Name); entered != "" {
				set[f.Name] = f.toAPI(entered)
			}
		}
	}
	switch {
	case len(items) == 0:
		return 0, "", api.Invalid("item", "choose at least one item")
	case len(set) == 0:
		return 0, "", api.Invalid("", "choose at least one value to change")
	}
	raw, err := json.Marshal(set)
	if err != nil {
		return 0, "", err
	}
	if revision := v.field("revision"); revision != "" && len(items) == 1 { // accept the item only if it is still as it was shown
		id, err := k.change(v, items[0], api.Match{IfMatch: strconv.Quote(revision)}, raw)
		if err != nil {
			return 0, "", err
		}
		editID, _ = v.lastEditOf(assessmentID, id) // the change is saved, so only the offer to undo it is missing
		return 1, editID, nil
	}
	result, err := k.edit(v, version, items, raw)
	if err != nil {
		return 0, "", err
	}
	return len(result.Lines), result.EditID, nil
}

// lastEditOf returns the ID of the visitor's last change in an assessment that has not been undone, or "" if that
// change concerned more than the given item.
func (v *visit) lastEditOf(assessmentID, itemID string) (string, error) {
	in := api.UndoInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessmentID}}
	in.Body.DryRun = true
	last, err := do(v, api.Undo, &in)
	switch {
	case api.IsCode(err, api.CodeInvalidState) || api.IsCode(err, api.CodeForbidden): // nothing can be undone
		return "", nil
	case err != nil:
		return "", err
	case len(last.Lines) == 1 && last.Lines[0].ItemID == itemID:
		return last.EditID, nil
	}
	return "", nil
}

// column returns the row's cell in the given column.
func (r *row) column(n int) cell {
	switch n {
	case 0:
		return cell{Text: r.Code}
	case 1:
		return cell{Text: r.Title}
	}
	return r.Cells[n-2]
}

// compareCells compares cells by rank, and then by text.
func compareCells(x, y cell) int {
	return cmp.Or(cmp.Compare(x.Rank, y.Rank), strings.Compare(x.Text, y.Text))
}

// filter returns the rows that have a status and contain the words of a query or, if it begins with "=", are selected by the
// expression that follows. An empty status or query selects every row.
func (v *visit) filter(k *kind, version *api.DeliverableVersion, rows []row, query, status string) (out []row, err error) {
	words := strings.Fields(strings.ToLower(query))
	if where, ok := strings.CutPrefix(query, "="); ok && version != nil {
		words = nil
		if rows, err = k.rows(v, version.ID, where, time.Time{}); err != nil {
			return nil, err
		}
	}
	for _, r := range rows {
		if (status == "" || status == r.Cells[k.Status].Text) && r.matches(words) {
			out = append(out, r)
		}
	}
	return out, nil
}

// exportRows sends the rows selected by the URL as CSV, with the API's field names.
func (v *visit) exportRows(k *kind, a *api.Assessment) error {
	version, rows, err := v.readRows(k, a.ID)
	if err != nil {
		return err
	}
	if version == nil {
		return api.NotFound("version", k.Noun)
	}
	q := v.r.URL.Query()
	review, disputed := q.Has("review"), q.Has("disputed")
	wanted := map[string]bool{}
	chosen, err := v.filter(k, version, rows, v.queryParam("q"), v.queryParam("status"))
	if err != nil {
		return err
	}
	for _, r := range chosen {
		wanted[r.ID] = (r.Review || !review) && (r.Disputed || !disputed)
	}
	records, err := k.records(v, version.ID, wanted)
	if err != nil {
		return err
	}
	var b bytes.Buffer
	if err := (&print.Output{W: &b, Format: "csv"}).PrintRecord(api.List[any]{Data: records}); err != nil {
		return err
	}
	return v.sendFile(&api.File{
		Filename: a.Name + " " + k.Noun + ".csv", ContentType: "text/csv; charset=utf-8", Content: io.NopCloser(&b),
	}, false)
}

// matches reports whether the row contains all words, which must be in lowercase. Case is ignored in the row.
func (r *row) matches(words []string) bool {
	if len(words) == 0 {
		return true
	}
	all := strings.ToLower(r.Code + " " + r.Title)
	for _, c := range r.Cells {
		all += " " + strings.ToLower(c.Text)
	}
	for _, word := range words {
		if !strings.Contains(all, word) {
			return false
		}
	}
	return true
}

// reviewQueue returns the rows that need review, least certain first.
func reviewQueue(rows []row) []row {
	out := slices.DeleteFunc(slices.Clone(rows), func(r row) bool { return !r.Review })
	slices.SortStableFunc(out, func(x, y row) int { return cmp.Compare(x.Confidence, y.Confidence) })
	return out
}

// readRows returns the newest version and its items. Each call checks that the visitor may read the version.
// Items come from the cache, except for those that have changed since they were cached.
func (v *visit) readRows(k *kind, assessmentID string) (*api.DeliverableVersion, []row, error) {
	version, err := k.newest(v, assessmentID)
	if err != nil || version == nil {
		return nil, nil, err
	}
	have, ok := v.tables.get(version.ID)
	if ok && have.version.ContentSHA256 == version.ContentSHA256 && have.version.UpdatedAt.Equal(version.UpdatedAt) {
		return version, have.rows, nil
	}
	var rows []row
	if ok && maps.Equal(have.version.Inputs, version.Inputs) && have.version.Method == version.Method {
		changed, err := k.rows(v, version.ID, "", have.newestChange())
		if err != nil {
			return nil, nil, err
		}
		rows = have.replace(changed, version.ItemCount)
	}
	if rows == nil {
		if rows, err = k.rows(v, version.ID, "", time.Time{}); err != nil {
			return nil, nil, err
		}
	}
	v.tables.put(&table{*version, rows})
	return version, rows, nil
}

// table is a version with its rows, as of the last time they were read.
type table struct {
	version api.DeliverableVersion
	rows    []row
}

// newestChange returns the time of the most recent change to an item.
func (t *table) newestChange() (at time.Time) {
	for i := range t.rows {
		if t.rows[i].Updated.After(at) {
			at = t.rows[i].Updated
		}
	}
	return at
}

// replace returns a copy of the rows in which the changed rows are replaced. It returns nil if rows were also added or
// removed.
func (t *table) replace(changed []row, count int) []row {
	if len(changed) == 0 || count != len(t.rows) {
		return nil
	}
	out := slices.Clone(t.rows)
	for _, c := range changed {
		at := slices.IndexFunc(out, func(r row) bool { return r.ID == c.ID })
		if at < 0 {
			return nil
		}
		out[at] = c
	}
	return out
}

// tableCache caches the tables of the most recently opened versions by version ID.
type tableCache struct {
	mu     sync.Mutex
	ids    []string
	tables map[string]*table
}

// maxTables is the maximum number of cached tables. A table of 1,468 rows takes about 1 MB.
const maxTables = 16

func (c *tableCache) get(versionID string) (*table, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t, ok := c.tables[versionID]
	return t, ok
}

func (c *tableCache) put(t *table) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.tables == nil {
		c.tables = map[string]*table{}
	}
	if _, ok := c.tables[t.version.ID]; !ok {
		if len(c.ids) == maxTables {
			delete(c.tables, c.ids[0])
			c.ids = c.ids[1:]
		}
		c.ids = append(c.ids, t.version.ID)
	}
	c.tables[t.version.ID] = t
}
