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

// form says how a field is asked for.
type form int

const (
	ofChoice form = iota
	ofText
	ofLongText
	ofDate
	ofNumber
	ofBool
)

// attr is a field of an item that a person may change.
type attr struct {
	// key changes it; empty where another action does. name is the contract's, word the people's.
	key, name, word string
	form            form
	choices         []string
	get             func(item any) string
	// null: the empty text takes the value away.
	null bool
	// low and high bound a number.
	low, high int
	// also is a field that a value asks for as well, with the reason.
	also func(value string) (name, why string)
}

// kind is one of the four deliverables, as the review sees it.
type kind struct {
	gate api.Gate
	// lines and line are what its items are called.
	line, lines string
	attrs       []attr
	columns     []list.Column
	cell        func(r *row, column int) (string, draw.Style)
	// open tells whether an item waits for a person, openWord says of how many that is so.
	open     func(r *row) bool
	openWord string
	// accept is what taking an item as it was drafted sets; nil where there is no such thing.
	accept func(r *row) (set map[string]string, off string)
	// page shows an item's fields, below what is longer; nil where nothing is.
	page, below func(p *draw.Page, r *row)
	// evidence is what the item rests on.
	evidence func(item any) []api.Evidence
	// key tells an item apart from the others, in every version.
	key     func(item any) string
	newest  func(ctx context.Context, c Caller, assessment string) (*api.DeliverableVersion, error)
	version func(ctx context.Context, c Caller, id string) (*api.DeliverableVersion, error)
	submit  func(ctx context.Context, c Caller, version string) error
	items   func(ctx context.Context, c Caller, version, control string, p api.Paging) ([]any, api.Pagination, error)
	patch   func(ctx context.Context, c Caller, id string, m api.Match, body []byte) (any, error)
	head    func(item any) *api.Item
}

// of says what is generic of a deliverable of versions V with items I.
func of[V, I any](k kind, list api.Op[api.AssessmentListInput, api.List[V]], version func(*V) *api.DeliverableVersion, get func(ctx context.Context, c Caller, id string) (*V, error), head func(*I) *api.Item) *kind {
	k.newest = func(ctx context.Context, c Caller, assessment string) (*api.DeliverableVersion, error) {
		l, err := do(ctx, c, list, &api.AssessmentListInput{AssessmentInput: api.AssessmentInput{AssessmentID: assessment}, Paging: api.Paging{Limit: 1}})
		if err != nil || len(l.Data) == 0 {
			return nil, err
		}
		return version(&l.Data[0]), nil
	}
	k.version = func(ctx context.Context, c Caller, id string) (*api.DeliverableVersion, error) {
		v, err := get(ctx, c, id)
		if err != nil {
			return nil, err
		}
		return version(v), nil
	}
	k.head = func(item any) *api.Item { return head(item.(*I)) }
	if k.key == nil {
		k.key = func(item any) string { return k.head(item).ControlCode }
	}
	return &k
}

// pageOf is a page of items, each as a pointer.
func pageOf[I any](l *api.List[I], err error) ([]any, api.Pagination, error) {
	if err != nil {
		return nil, api.Pagination{}, err
	}
	out := make([]any, len(l.Data))
	for i := range l.Data {
		out[i] = &l.Data[i]
	}
	return out, l.Pagination, nil
}

// answered is the item of an answer.
func answered[I any](i *I, err error) (any, error) {
	if err != nil {
		return nil, err
	}
	return i, nil
}

// attr is the field of that name.
func (k *kind) attr(name string) *attr {
	at := slices.IndexFunc(k.attrs, func(a attr) bool { return a.name == name })
	if at < 0 {
		return nil
	}
	return &k.attrs[at]
}

// body is the JSON of a change.
func (k *kind) body(set map[string]string, reset []string) []byte {
	out := map[string]any{}
	for name, value := range set {
		at := k.attr(name)
		switch {
		case at == nil:
		case at.null && strings.TrimSpace(value) == "":
			out[name] = nil
		case at.form == ofNumber:
			n, _ := strconv.Atoi(value) // looked at when it was typed
			out[name] = n
		case at.form == ofBool:
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
	kind *kind
	item any
	head *api.Item
	// over are values that are not saved yet; the map is shared, and never changed.
	over map[string]string
	// refused is what was typed and not taken, to be offered again.
	refused  map[string]string
	conflict bool
	words    string
}

func (k *kind) row(item any) *row {
	return &row{kind: k, item: item, head: k.head(item)}
}

// value is a field as it is shown: as typed, where that is not saved yet.
func (r *row) value(name string) string {
	if v, ok := r.over[name]; ok {
		return v
	}
	return r.saved(name)
}

// saved is a field as the engine has it.
func (r *row) saved(name string) string {
	if a := r.kind.attr(name); a != nil {
		return a.get(r.item)
	}
	return ""
}

// index is what a filter looks in, made when it is first needed after a change.
func (r *row) index() string {
	if r.words != "" {
		return r.words
	}
	var b strings.Builder
	for _, s := range []string{r.kind.key(r.item), r.head.ControlCode, r.head.ControlTitle, r.head.DomainCode, print.Requirements(r.head.RequirementCodes)} {
		b.WriteString(strings.ToLower(s))
		b.WriteByte(' ')
	}
	for i := range r.kind.attrs {
		b.WriteString(strings.ToLower(print.Words(r.value(r.kind.attrs[i].name))))
		b.WriteByte(' ')
	}
	r.words = b.String()
	return r.words
}

// forget lets go of what was made of the row's values.
func (r *row) forget() { r.words = "" }

// match is the condition that a record is still at a revision.
func match(revision int) api.Match {
	return api.Match{IfMatch: fmt.Sprintf("%q", fmt.Sprint(revision))}
}

// texts are words of the contract as plain strings.
func texts[S ~string](words []S) []string {
	out := make([]string, len(words))
	for i, w := range words {
		out[i] = string(w)
	}
	return out
}

// orNone is the text of a pointer.
func orNone[S ~string](p *S) string {
	if p == nil {
		return ""
	}
	return string(*p)
}
