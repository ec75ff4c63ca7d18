package tui

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// attrForm is the kind of input that a field is edited with.
type attrForm int

const (
	formChoice attrForm = iota
	formText
	formLongText
	formDate
	formNumber
	formBool
)

// attr is an editable field of an item.
type attr struct {
	// key is the keyboard key that starts editing, or "" if another action does so. name is the field's name in
	// the API, label the name displayed.
	key, name, label string
	form             attrForm
	choices          []string
	get              func(item any) string
	// nullable fields are cleared by an empty text.
	nullable bool
	// minValue and maxValue bound a number.
	minValue, maxValue int
	// relatedField returns a second field that a value requires, and the prompt for it.
	relatedField func(value string) (name, why string)
}

// deliverableType describes how the review shows and edits one of the four deliverables.
type deliverableType struct {
	gate api.Gate
	// singular and plural are the nouns for its items, such as "gap" and "gaps".
	singular, plural string
	attrs            []attr
	columns          []list.Column
	cell             func(r *row, column int) (string, draw.Style)
	// isOpen reports whether an item needs attention; openLabel describes such items.
	isOpen func(r *row) bool
	// isDisputed reports whether a second reader disagrees on an item. It is nil for deliverables without a
	// second reader.
	isDisputed func(r *row) bool
	openLabel  string
	// acceptValues returns the values to set when an item is accepted as drafted, or the reason why it can't be
	// accepted. It is nil if items of this deliverable are not accepted.
	acceptValues func(r *row) (set map[string]string, off string)
	// renderFields shows an item's fields, and renderDetails the longer texts below them. Both may be nil.
	renderFields, renderDetails func(p *draw.Page, r *row)
	// evidenceOf returns an item's evidence.
	evidenceOf func(item any) []api.Evidence
	// keyOf returns an item's key, which is the same in every version.
	keyOf        func(item any) string
	fetchNewest  func(ctx context.Context, c Caller, assessment string) (*api.DeliverableVersion, error)
	fetchVersion func(ctx context.Context, c Caller, id string) (*api.DeliverableVersion, error)
	submit       func(ctx context.Context, c Caller, version string) error
	fetchItems   func(ctx context.Context, c Caller, version, control string, p api.Paging) ([]any, api.Pagination, error)
	patchItem    func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error)
	commonFields func(item any) *api.Item
	// compileFilter returns a function that reports whether an expression selects an item.
	compileFilter func(text string) (func(item any) bool, error)
}

// newDeliverableType adds to k the functions that can be derived from the types of its versions V and items I, and
// returns k.
func newDeliverableType[V, I any](
	k deliverableType,
	list api.Op[api.AssessmentListInput, api.List[V]],
	version func(*V) *api.DeliverableVersion,
	getVersion func(ctx context.Context, c Caller, id string) (*V, error),
	commonFields func(*I) *api.Item,
) *deliverableType {
	k.fetchNewest = func(ctx context.Context, c Caller, assessment string) (*api.DeliverableVersion, error) {
		l, err := call(
			ctx,
			c,
			list,
			&api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}},
		)
		if err != nil || len(l.Data) == 0 {
			return nil, err
		}
		return version(&l.Data[0]), nil
	}
	k.fetchVersion = func(ctx context.Context, c Caller, id string) (*api.DeliverableVersion, error) {
		v, err := getVersion(ctx, c, id)
		if err != nil {
			return nil, err
		}
		return version(v), nil
	}
	k.commonFields = func(item any) *api.Item { return commonFields(item.(*I)) }
	k.compileFilter = func(text string) (func(item any) bool, error) {
		f, err := itemfilter.Compile[I](text)
		if err != nil {
			return nil, err
		}
		return func(item any) bool { return f.Selects(item.(*I)) }, nil
	}
	if k.keyOf == nil {
		k.keyOf = func(item any) string { return k.commonFields(item).ControlCode }
	}
	return &k
}

// itemsPage returns the items of a page as pointers, with the page's pagination.
func itemsPage[I any](l *api.List[I], err error) ([]any, api.Pagination, error) {
	if err != nil {
		return nil, api.Pagination{}, err
	}
	out := make([]any, len(l.Data))
	for i := range l.Data {
		out[i] = &l.Data[i]
	}
	return out, l.Pagination, nil
}

// itemOrError converts a typed result to any, with an untyped nil on error.
func itemOrError[I any](i *I, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return i, nil
}

// findAttr returns the field with this name, or nil if there is none.
func (k *deliverableType) findAttr(name string) *attr {
	at := slices.IndexFunc(k.attrs, func(a attr) bool { return a.name == name })
	if at < 0 {
		return nil
	}
	return &k.attrs[at]
}

// encodeChange returns a change of an item as the JSON of a request. inBulk is set if the item was accepted together with
// others.
func (k *deliverableType) encodeChange(set map[string]string, reset []string, inBulk bool) []byte {
	out := map[string]any{}
	for name, value := range set {
		at := k.findAttr(name)
		switch {
		case at == nil:
		case at.nullable && strings.TrimSpace(value) == "":
			out[name] = nil
		case at.form == formNumber:
			if n, err := strconv.Atoi(value); err == nil { // else the level of a control that is not assessed
				out[name] = n
			}
		case at.form == formBool:
			out[name] = value == "true"
		default:
			out[name] = value
		}
	}
	if len(reset) > 0 {
		out["reset"] = reset
	}
	if inBulk && k.gate == api.GateSoA {
		out["reviewed_in_bulk"] = true
	}
	b, _ := json.Marshal(out) // strings, numbers and booleans always encode
	return b
}

// row is an item of a deliverable, with its unsaved changes.
type row struct {
	kind *deliverableType
	item any
	head *api.Item
	// unsaved holds values that are not saved yet; the map is shared and never modified.
	unsaved map[string]string
	// rejected holds rejected input, to be offered again.
	rejected         map[string]string
	hasConflict      bool
	cachedSearchText string
}

func (k *deliverableType) newRow(item any) *row {
	return &row{kind: k, item: item, head: k.commonFields(item)}
}

// currentValue returns a field's displayed value, including unsaved changes.
func (r *row) currentValue(field string) string {
	if v, ok := r.unsaved[field]; ok {
		return v
	}
	return r.savedValue(field)
}

// describeOwner returns the owner for a table, in yellow if they have left the organization.
func (r *row) describeOwner() (string, draw.Style) {
	owner := r.currentValue("owner")
	if _, changed := r.unsaved["owner"]; r.head.OwnerHasLeft && !changed {
		return r.head.DescribeOwner(&owner), draw.Yellow
	}
	return owner, draw.Plain
}

// savedValue returns a field's value without unsaved changes.
func (r *row) savedValue(field string) string {
	if a := r.kind.findAttr(field); a != nil {
		return a.get(r.item)
	}
	return ""
}

// searchText returns the row's text that filters are matched against. It is cached until the row changes.
func (r *row) searchText() string {
	if r.cachedSearchText != "" {
		return r.cachedSearchText
	}
	var b strings.Builder
	for _, s := range []string{
		r.kind.keyOf(r.item),
		r.head.ControlCode,
		r.head.ControlTitle,
		r.head.DomainCode,
		print.FormatRequirements(r.head.RequirementCodes),
	} {
		b.WriteString(strings.ToLower(s))
		b.WriteByte(' ')
	}
	for i := range r.kind.attrs {
		b.WriteString(strings.ToLower(prose.Humanize(r.currentValue(r.kind.attrs[i].name))))
		b.WriteByte(' ')
	}
	r.cachedSearchText = b.String()
	return r.cachedSearchText
}

// clearCachedSearchText clears the values cached for the row.
func (r *row) clearCachedSearchText() { r.cachedSearchText = "" }

// matchRevision returns the precondition that a record still has the given revision.
func matchRevision(revision int) api.Match {
	return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(revision))}
}

// toStrings converts enum values to strings.
func toStrings[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// stringOrEmpty returns the string pointed to, or "" if p is nil.
func stringOrEmpty[S ~string](p *S) string {
	if p == nil {
		return ""
	}
	return string(*p)
}
