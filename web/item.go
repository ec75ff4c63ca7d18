package web

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// itemPage is the data of an item's page.
type itemPage struct {
	api.Item
	Kind       *kind
	Assessment *api.Assessment
	Version    *api.DeliverableVersion
	// Code is the control's code, or the plan item's.
	Code         string
	Facts        []fact
	Statements   []api.Statement
	Evidence     []api.Evidence
	Missing      []string
	MissingTitle string
	Fields       []field
	Comments     []api.Comment
	// Review is set if the item needs review; Left is the number of items that do.
	Review bool
	Left   int
	// Previous and Next are the IDs of the neighbors in the table, or "".
	Previous, Next      string
	MayEdit, MayComment bool
	Conflict            bool
	// CommentText is the comment that was not accepted.
	CommentText string
}

// fact is something that the page states; it is left out if Text is empty.
type fact struct{ Label, Text string }

// field is a field of an item that people may change.
type field struct {
	Name, Label string
	// Kind is select, area, line or date.
	Kind    string
	Options []option
	// Value is the item's value, and Entered what the visitor has entered instead, if the form is shown again.
	Value, Entered string
	// Changed is set if the visitor has entered something else than the page had shown.
	Changed bool
	// Nullable is set if the API expects null for an empty value; IsNumber if it expects a number.
	Nullable, IsNumber bool
	// Other is what somebody else set meanwhile.
	Other string
	Clash bool
}

type option struct{ Value, Label string }

func choice[S ~string](name, label string, value S, values []S) field {
	f := field{Name: name, Label: label, Kind: "select", Value: string(value)}
	for _, s := range values {
		f.Options = append(f.Options, option{string(s), prose.Label(s)})
	}
	if name == "needs_review" {
		f.Options = []option{{"true", "Yes"}, {"false", "No"}}
	}
	return f
}

func levelChoice(name, label string, value int) field {
	f := field{Name: name, Label: label, Kind: "select", Value: strconv.Itoa(value), IsNumber: true}
	for n, s := range levels {
		f.Options = append(f.Options, option{s, s + " " + api.LevelNames[n]})
	}
	return f
}

// QuotesOf returns the quotes that concern a statement.
func (p *itemPage) QuotesOf(statement string) (out []api.Evidence) {
	for _, e := range p.Evidence {
		if e.Statement == statement {
			out = append(out, e)
		}
	}
	return out
}

// OtherQuotes returns the quotes that concern none of the statements shown.
func (p *itemPage) OtherQuotes() (out []api.Evidence) {
	for _, e := range p.Evidence {
		if !slices.ContainsFunc(p.Statements, func(s api.Statement) bool { return s.Text == e.Statement }) {
			out = append(out, e)
		}
	}
	return out
}

func (v *visit) showItem() error {
	k, a, err := v.findDeliverable()
	if err != nil {
		return err
	}
	page, err := v.readItem(k, a)
	if err != nil {
		return err
	}
	if v.r.URL.Query().Has("saved") {
		v.notice = "Saved."
	}
	return v.render("item.html", page.Code+" "+page.ControlTitle, page)
}

func (v *visit) readItem(k *kind, a *api.Assessment) (*itemPage, error) {
	page, err := k.item(v, v.r.PathValue("item"))
	if err != nil {
		return nil, err
	}
	if page.AssessmentID != a.ID {
		return nil, api.NotFound("item", page.ID)
	}
	page.Kind, page.Assessment = k, a
	var rows []row
	if page.Version, rows, err = v.readRows(k, a.ID); err != nil {
		return nil, err
	}
	if at := slices.IndexFunc(rows, func(r row) bool { return r.ID == page.ID }); at >= 0 {
		if at > 0 {
			page.Previous = rows[at-1].ID
		}
		if at+1 < len(rows) {
			page.Next = rows[at+1].ID
		}
	}
	page.Left = len(reviewQueue(rows))
	page.Comments, err = all(v, api.ListComments, &api.CommentsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Gate: k.Gate, Item: page.Code,
	})
	page.MayEdit = v.may(k.Write) && page.Version != nil && page.VersionID == page.Version.ID && a.State != api.StateClosed
	page.MayComment = v.may(api.CommentWrite)
	return page, err
}

// changeItem saves the changed fields of an item, accepts it, or adds a comment. If somebody else has changed
// the item meanwhile, both values are shown and the visitor chooses.
func (v *visit) changeItem() error {
	k, a, err := v.findDeliverable()
	if err != nil {
		return err
	}
	page, err := v.readItem(k, a)
	if err != nil {
		return err
	}
	base := "assessments/" + a.ID + "/" + k.Noun + "/"
	show := func() error { return v.render("item.html", page.Code+" "+page.ControlTitle, page) }
	if v.r.PostForm.Has("comment") {
		in := api.AddCommentInput{AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}}
		in.Body.Text, in.Body.Gate, in.Body.Item = v.field("comment"), k.Gate, page.Code
		if _, err := do(v, api.AddComment, &in); err != nil {
			page.CommentText = in.Body.Text
			return v.refuse(err, show)
		}
		return v.redirect(base + page.ID + "#comments")
	}
	next, patch := "", map[string]any{}
	if v.r.PostForm.Has("accept") {
		patch["needs_review"] = false
		_, rows, err := v.readRows(k, a.ID)
		if err != nil {
			return err
		}
		for _, r := range reviewQueue(rows) {
			if r.ID != page.ID {
				next = r.ID
				break
			}
		}
	} else {
		patch = page.readFields(v)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	match := api.Match{IfMatch: strconv.Quote(v.field("revision"))}
	id, err := k.change(v, page.ID, match, raw)
	if isStale(err) {
		page.Conflict = true
		return v.refuse(api.Conflict("somebody else has changed this item meanwhile; compare the values, then save again"), show)
	}
	if err != nil {
		return v.refuse(err, show)
	}
	if id != page.ID { // the change began a new version, whose items have other IDs
		next = ""
	}
	if next == "" {
		return v.redirect(base + id + "?saved")
	}
	return v.redirect(base + next)
}

// readFields returns the fields that the visitor has changed, as the API expects them, and keeps what was
// entered.
func (p *itemPage) readFields(v *visit) map[string]any {
	patch := map[string]any{}
	for i := range p.Fields {
		f := &p.Fields[i]
		if !v.r.PostForm.Has(f.Name) {
			continue
		}
		f.Entered = v.field(f.Name)
		was := v.field("was." + f.Name)
		if f.Changed = f.Entered != was; !f.Changed {
			continue
		}
		f.Clash, f.Other = was != strings.TrimSpace(f.Value) && f.Entered != f.Value, f.Value
		patch[f.Name] = f.toAPI(f.Entered)
	}
	return patch
}

func (f *field) toAPI(entered string) any {
	switch n, err := strconv.Atoi(entered); {
	case f.IsNumber && err == nil:
		return n
	case f.Nullable && entered == "":
		return nil
	case f.Name == "needs_review":
		return entered == "true"
	}
	return entered
}

// ShownValue returns the value to show in the form.
func (f *field) ShownValue() string {
	if f.Changed {
		return f.Entered
	}
	return f.Value
}

// isStale reports whether a change was refused because the record has changed since it was read.
func isStale(err error) bool {
	e := api.AsError(err)
	return err != nil && slices.ContainsFunc(e.Details, func(d api.ErrorDetail) bool { return d.Field == "If-Match" })
}

// passagePage is the data of the page of a passage.
type passagePage struct {
	api.Chunk
	Assessment *api.Assessment
	Document   *api.Document
	// Before, Quote and After are the text, split at the quote; Quote is empty if there is none.
	Before, Quote, After string
}

// showPassage shows a passage with the quote that the address names.
func (v *visit) showPassage() error {
	in := api.AssessmentInput{AssessmentID: v.r.PathValue("id")}
	a, err := inOrganizationOf(v, func() (*api.Assessment, error) { return do(v, api.GetAssessment, &in) })
	if err != nil {
		return err
	}
	chunk, err := do(v, api.GetChunk, &api.ChunkInput{ChunkID: v.r.PathValue("chunk")})
	if err != nil {
		return err
	}
	if chunk.AssessmentID != a.ID {
		return api.NotFound("passage", chunk.ID)
	}
	page := passagePage{Chunk: *chunk, Assessment: a, Before: chunk.Text}
	if page.Document, err = do(v, api.GetDocument, &api.DocumentInput{DocumentID: chunk.DocumentID}); err != nil {
		return err
	}
	if quote := v.r.URL.Query().Get("quote"); quote != "" {
		if before, after, ok := strings.Cut(chunk.Text, quote); ok {
			page.Before, page.Quote, page.After = before, quote, after
		}
	}
	return v.render("passage.html", page.Document.Filename, &page)
}
