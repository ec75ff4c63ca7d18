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
	"github.com/scf-service/service/tui/draw"
	"github.com/scf-service/service/tui/list"
)

// attrForm says how a field is asked for.
type attrForm int

const (
	formChoice attrForm = iota
	formText
	formLongText
	formDate
	formNumber
	formBool
)

// attr is a field of an item that a person may change.
type attr struct {
	// key changes it; empty where another action does. name is the contract's, word the people's.
	key, name, label string
	form             attrForm
	choices          []string
	get              func(item any) string
	// nullable: the empty text takes the value away.
	nullable bool
	// minValue and high bound a number.
	minValue, maxValue int
	// relatedField is a field that a value asks for as well, with the reason.
	relatedField func(value string) (name, why string)
}

// deliverableType is one of the four deliverables, as the review sees it.
type deliverableType struct {
	gate api.Gate
	// lines and line are what its items are called.
	singular, plural string
	attrs            []attr
	columns          []list.Column
	cell             func(r *row, column int) (string, draw.Style)
	// isOpen tells whether an item waits for a person, openWord says of how many that is so.
	isOpen    func(r *row) bool
	openLabel string
	// acceptValues is what taking an item as it was drafted sets; nil where there is no such thing.
	acceptValues func(r *row) (set map[string]string, off string)
	// renderFields shows an item's fields, below what is longer; nil where nothing is.
	renderFields, renderDetails func(p *draw.Page, r *row)
	// evidenceOf is what the item rests on.
	evidenceOf func(item any) []api.Evidence
	// keyOf tells an item apart from the others, in every version.
	keyOf        func(item any) string
	fetchNewest  func(ctx context.Context, c Caller, assessment string) (*api.DeliverableVersion, error)
	fetchVersion func(ctx context.Context, c Caller, id string) (*api.DeliverableVersion, error)
	submit       func(ctx context.Context, c Caller, version string) error
	fetchItems   func(ctx context.Context, c Caller, version, control string, p api.Paging) ([]any, api.Pagination, error)
	patchItem    func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error)
	commonFields func(item any) *api.Item
}

// newDeliverableType says what is generic of a deliverable of versions V with items I.
func newDeliverableType[V, I any](
	k deliverableType,
	list api.Op[api.AssessmentListInput, api.List[V]],
	version func(*V) *api.DeliverableVersion,
	get func(ctx context.Context, c Caller, id string) (*V, error),
	head func(*I) *api.Item,
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
		v, err := get(ctx, c, id)
		if err != nil {
			return nil, err
		}
		return version(v), nil
	}
	k.commonFields = func(item any) *api.Item { return head(item.(*I)) }
	if k.keyOf == nil {
		k.keyOf = func(item any) string { return k.commonFields(item).ControlCode }
	}
	return &k
}

// itemsPage is a page of items, each as a pointer.
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

// itemOrError is the item of an answer.
func itemOrError[I any](i *I, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return i, nil
}

// findAttr is the field of that name.
func (k *deliverableType) findAttr(name string) *attr {
	at := slices.IndexFunc(k.attrs, func(a attr) bool { return a.name == name })
	if at < 0 {
		return nil
	}
	return &k.attrs[at]
}

// encodeChange is the JSON of a change.
func (k *deliverableType) encodeChange(set map[string]string, reset []string) []byte {
	out := map[string]any{}
	for name, value := range set {
		at := k.findAttr(name)
		switch {
		case at == nil:
		case at.nullable && strings.TrimSpace(value) == "":
			out[name] = nil
		case at.form == formNumber:
			n, _ := strconv.Atoi(value) // looked at when it was typed
			out[name] = n
		case at.form == formBool:
			out[name] = value == "true"
		default:
			out[name] = value
		}
	}
	if len(reset) > 0 {
		out["reset"] = reset
	}
	b, _ := json.Marshal(out) // texts, numbers and truth values always can be
	return b
}

// row is one line of a deliverable.
type row struct {
	kind *deliverableType
	item any
	head *api.Item
	// unsaved are values that are not saved yet; the map is shared, and never changed.
	unsaved map[string]string
	// rejected is what was typed and not taken, to be offered again.
	rejected         map[string]string
	hasConflict      bool
	cachedSearchText string
}

func (k *deliverableType) newRow(item any) *row {
	return &row{kind: k, item: item, head: k.commonFields(item)}
}

// value is a field as it is shown: as typed, where that is not saved yet.
func (r *row) value(name string) string {
	if v, ok := r.unsaved[name]; ok {
		return v
	}
	return r.savedValue(name)
}

// savedValue is a field as the engine has it.
func (r *row) savedValue(name string) string {
	if a := r.kind.findAttr(name); a != nil {
		return a.get(r.item)
	}
	return ""
}

// searchText is what a filter looks in, made when it is first needed after a change.
func (r *row) searchText() string {
	if r.cachedSearchText != "" {
		return r.cachedSearchText
	}
	var b strings.Builder
	for _, s := range []string{r.kind.keyOf(r.item), r.head.ControlCode, r.head.ControlTitle, r.head.DomainCode, print.FormatRequirements(r.head.RequirementCodes)} {
		b.WriteString(strings.ToLower(s))
		b.WriteByte(' ')
	}
	for i := range r.kind.attrs {
		b.WriteString(strings.ToLower(print.Humanize(r.value(r.kind.attrs[i].name))))
		b.WriteByte(' ')
	}
	r.cachedSearchText = b.String()
	return r.cachedSearchText
}

// invalidate lets go of what was made of the row's values.
func (r *row) invalidate() { r.cachedSearchText = "" }

// matchRevision is the condition that a record is still at a revision.
func matchRevision(revision int) api.Match {
	return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(revision))}
}

// toStrings are words of the contract as plain strings.
func toStrings[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// stringOrEmpty is the text of a pointer.
func stringOrEmpty[S ~string](p *S) string {
	if p == nil {
		return ""
	}
	return string(*p)
}
