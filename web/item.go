package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
	"github.com/scf-service/service/internal/prose"
)

// itemPage holds the data for an item's page.
type itemPage struct {
	api.Item
	Kind       *kind
	Assessment *api.Assessment
	Version    *api.DeliverableVersion
	// Code is the code of the control or of the plan item.
	Code       string
	Facts      []fact
	Statements []api.Statement
	Evidence   []api.Evidence
	// Corrections are the decisions that users have made in this assessment about passages for the control.
	Corrections []api.Correction
	// Second is the second reader's verdict, if it differs.
	Second       *api.SecondReading
	Missing      []string
	MissingTitle string
	Fields       []field
	Comments     []api.Comment
	// Review is set if the item needs review; Left is the number of items that need review.
	Review bool
	Left   int
	// NextReview is the ID of the next item to review, or "".
	NextReview string
	// History lists the item's changes, newest first.
	History []api.AuditEvent
	// People are the members who can be mentioned by their email addresses.
	People []api.Member
	// Undo is the ID of the change that the visitor has just made and can undo, or "".
	Undo string
	// Previous and Next are the IDs of the adjacent items in the table, or "".
	Previous, Next string
	// Row is the item's row in the table; nil if its version is not the newest.
	Row                 *rowView
	MayEdit, MayComment bool
	Conflict            bool
	// CommentText is the text of a comment that was rejected.
	CommentText string
}

// fact is a labeled value on the page. It is omitted if Text is empty.
type fact struct{ Label, Text string }

// field is an editable field of an item.
type field struct {
	Name, Label string
	// Kind is the kind of input: select, area, line or date.
	Kind    string
	Options []option
	// Value is the item's value. Entered is what the visitor has entered instead, if the form is shown again.
	Value, Entered string
	// Changed is set if the visitor has entered something other than what the page showed.
	Changed bool
	// Nullable is set if the API expects null for an empty value; IsNumber and IsBool if it expects a number or a
	// boolean.
	Nullable, IsNumber, IsBool bool
	// Other is the value that another user has set in the meantime.
	Other string
	Clash bool
	// Prefix distinguishes the ID from the IDs in other forms on the page. Hint explains what to enter.
	Prefix, Hint, Autocomplete string
	Required                   bool
	// Limit is the maximum length of a line, if it differs from the default.
	Limit int
}

// ID returns the ID of the field's element.
func (f *field) ID() string { return f.Prefix + f.Name }

// option is an option of a select field.
type option struct{ Value, Label string }

// enumChoice returns a select field with all values of an enumerated type as options.
func enumChoice[S enum[S]](name, label string, value S) field {
	return choice(name, label, value, value.Values())
}

// choice returns a select field with the given values as options.
func choice[S ~string](name, label string, value S, values []S) field {
	f := field{Name: name, Label: label, Kind: "select", Value: string(value)}
	for _, s := range values {
		f.Options = append(f.Options, option{string(s), prose.Label(s)})
	}
	return f
}

// yesNoChoice returns a select field with the options yes and no.
func yesNoChoice(name, label string, value bool) field {
	return field{
		Name: name, Label: label, Kind: "select", Value: strconv.FormatBool(value), IsBool: true,
		Options: []option{{"true", "Yes"}, {"false", "No"}},
	}
}

// levelChoice returns a select field for a maturity level.
func levelChoice(name, label string, value int) field {
	f := field{Name: name, Label: label, Kind: "select", Value: strconv.Itoa(value), IsNumber: true}
	for n, level := range api.LevelNames {
		f.Options = append(f.Options, option{strconv.Itoa(n), fmt.Sprintf("%d %s", n, level)})
	}
	return f
}

// Pieces splits a comment into mentions of members and other text.
func (p *itemPage) Pieces(text string) (out []part) {
	for {
		found := mention.FindStringIndex(text)
		if found == nil {
			return append(out, part{Text: text})
		}
		out = append(out, part{Text: text[:found[0]]}, part{text[found[0]:found[1]], true})
		text = text[found[1]:]
	}
}

// mention matches a person in a comment: "@" and the email address.
var mention = lazyregexp.New(`@[^\s@]+@[^\s@]*[\pL\pN]`)

// QuotesOf returns the quotes that relate to a statement. A quote may relate to several.
func (p *itemPage) QuotesOf(statement string) (out []api.Evidence) {
	for _, e := range p.Evidence {
		if e.RelatesTo(statement) {
			out = append(out, e)
		}
	}
	return out
}

// OtherQuotes returns the quotes that don't relate to any of the displayed statements.
func (p *itemPage) OtherQuotes() (out []api.Evidence) {
	for _, e := range p.Evidence {
		if !slices.ContainsFunc(p.Statements, func(s api.Statement) bool { return e.RelatesTo(s.Text) }) {
			out = append(out, e)
		}
	}
	return out
}

// Decisions returns the decisions that the page offers on a quote for a statement.
func (p *itemPage) Decisions() []api.CorrectionDecision {
	if !p.MayEdit || p.Kind.Gate != api.GateSoA {
		return nil
	}
	return api.CorrectionDecision("").Values()
}

// CorrectionsOf returns the corrections for a statement that were made in this assessment or that its draft applied.
func (p *itemPage) CorrectionsOf(s api.Statement) []api.AppliedCorrection {
	out := slices.Clone(s.Corrections)
	for _, c := range p.Corrections {
		isApplied := slices.ContainsFunc(s.Corrections, func(a api.AppliedCorrection) bool { return a.CorrectionID == c.ID })
		if c.Statement == s.Text && !isApplied {
			out = append(out, api.AppliedCorrection{
				CorrectionID: c.ID, Decision: c.Decision, Quote: c.Quote, DecidedBy: c.DecidedBy.Name, DecidedOn: api.DateOf(c.CreatedAt),
			})
		}
	}
	return out
}

func (v *visit) showItem() error {
	page, err := v.readItem()
	if err != nil {
		return err
	}
	switch q := v.r.URL.Query(); {
	case q.Has("saved"):
		v.notice = "Saved."
		if page.MayEdit {
			if page.Undo, err = v.lastEditOf(page.AssessmentID, page.ID); err != nil {
				return err
			}
		}
	case q.Has("decided"):
		v.notice = "Your decision on the passage was saved. The next draft will apply this decision."
	case q.Has("withdrawn"):
		v.notice = "The decision on the passage was removed. The next draft will no longer apply it."
	}
	return v.renderItem(page)
}

func (v *visit) renderItem(page *itemPage) error {
	return v.render("item.html", page.Code+" "+page.ControlTitle, page)
}

// readItem returns the page data of the item given in the URL.
func (v *visit) readItem() (*itemPage, error) {
	k, a, err := v.findDeliverable()
	if err != nil {
		return nil, err
	}
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
	mayEdit := v.may(k.Write) && a.State != api.StateClosed
	if at := slices.IndexFunc(rows, func(r row) bool { return r.ID == page.ID }); at >= 0 {
		page.Row = &rowView{rows[at], k.Noun, mayEdit}
		if at > 0 {
			page.Previous = rows[at-1].ID
		}
		if at+1 < len(rows) {
			page.Next = rows[at+1].ID
		}
	}
	queue := reviewQueue(rows)
	page.Left = len(queue)
	if at := slices.IndexFunc(queue, func(r row) bool { return r.ID != page.ID }); at >= 0 {
		page.NextReview = queue[at].ID
	}
	page.Comments, err = all(v, api.ListComments, &api.CommentsInput{
		AssessmentInput: api.AssessmentInput{AssessmentID: a.ID}, Gate: k.Gate, Item: page.Code,
	})
	page.MayEdit = mayEdit && page.Version != nil && page.VersionID == page.Version.ID
	page.MayComment = v.may(api.CommentWrite)
	if err != nil {
		return nil, err
	}
	if k.Gate == api.GateSoA {
		in := &api.CorrectionsInput{AssessmentID: a.ID, ControlCode: page.Code}
		if page.Corrections, err = all(v, api.ListCorrections, in); err != nil {
			return nil, err
		}
	}
	if page.MayComment && v.may("member:read") {
		l, err := do(v, api.ListMembers, &api.OrgMembersInput{OrgInput: v.org(), Status: "active", Paging: api.Paging{Limit: api.MaxListLimit}})
		if err != nil {
			return nil, err
		}
		page.People = l.Data
	}
	if v.may("audit:read") {
		l, err := do(v, api.ListAuditEvents, &api.AuditInput{
			Paging: api.Paging{Limit: 50}, AuditFilter: api.AuditFilter{ResourceID: page.ID},
		})
		if err != nil {
			return nil, err
		}
		page.History = l.Data
	}
	return page, nil
}

// changeItem saves the changed fields of an item, accepts it, or adds a comment. If another user has changed
// the item in the meantime, both values are shown and the visitor chooses one.
func (v *visit) changeItem() error {
	page, err := v.readItem()
	if err != nil {
		return err
	}
	base := "assessments/" + page.AssessmentID + "/" + page.Kind.Noun + "/"
	show := func() error { return v.renderItem(page) }
	if v.r.PostForm.Has("comment") {
		in := api.AddCommentInput{AssessmentInput: api.AssessmentInput{AssessmentID: page.AssessmentID}}
		in.Body.Text, in.Body.Gate, in.Body.Item = v.field("comment"), page.Kind.Gate, page.Code
		if _, err := do(v, api.AddComment, &in); err != nil {
			page.CommentText = in.Body.Text
			return v.refuse(err, show)
		}
		return v.redirect(base + page.ID + "#comments")
	}
	if v.r.PostForm.Has("decide") || v.r.PostForm.Has("withdraw") {
		done, err := v.correct(page)
		if err != nil {
			return v.refuse(err, show)
		}
		return v.redirect(base + page.ID + done)
	}
	next, patch := "", map[string]any{}
	if v.r.PostForm.Has("accept") {
		next, patch["needs_review"] = page.NextReview, false
	} else {
		patch = page.readFields(v)
	}
	raw, err := json.Marshal(patch)
	if err != nil {
		return err
	}
	match := api.Match{IfMatch: strconv.Quote(v.field("revision"))}
	id, err := page.Kind.change(v, page.ID, match, raw)
	if api.IsRevisionConflict(err) {
		page.Conflict = true
		return v.refuse(api.Conflict("someone else changed this item in the meantime; compare the values, then save again"), show)
	}
	if err != nil {
		return v.refuse(err, show)
	}
	if next == "" || id != page.ID { // the change started a new version, whose items have different IDs
		return v.redirect(base + id + "?saved")
	}
	return v.redirect(base + next)
}

// correct accepts or refuses a quote for a statement, or withdraws such a decision. It returns the query of the page that
// follows.
func (v *visit) correct(page *itemPage) (query string, err error) {
	if id := v.field("withdraw"); id != "" {
		_, err := do(v, api.RemoveCorrection, &api.CorrectionInput{CorrectionID: id})
		if api.IsCode(err, api.CodeNotFound) {
			err = nil // somebody else has removed it
		}
		return "?withdrawn", err
	}
	in := &api.AddCorrectionInput{AssessmentInput: api.AssessmentInput{AssessmentID: page.AssessmentID}}
	in.Body.ControlCode, in.Body.ChunkID, in.Body.Decision = page.Code, v.field("passage"), api.CorrectionDecision(v.field("decide"))
	number, err := strconv.Atoi(v.field("statement"))
	if err != nil {
		return "", api.Invalid("statement", "choose one of the control's requirements")
	}
	in.Body.StatementNumber = number + 1
	_, err = do(v, api.AddCorrection, in)
	return "?decided", err
}

// readFields returns the fields that the visitor has changed, as JSON values for the API. It stores the
// visitor's input in p.Fields.
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

// toAPI converts the visitor's input to a JSON value for the API.
func (f *field) toAPI(entered string) any {
	switch n, err := strconv.Atoi(entered); {
	case f.IsNumber && err == nil:
		return n
	case f.Nullable && entered == "":
		return nil
	case f.IsBool:
		return entered == "true"
	}
	return entered
}

// ShownValue returns the visitor's input if there is any, and otherwise the item's value.
func (f *field) ShownValue() string {
	if f.Changed {
		return f.Entered
	}
	return f.Value
}
