package render

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/report/drawing"
)

// view is a source made ready for one request: its own copy, in the order a reader
// expects, with who is who and where things stand in the report.
type view struct {
	*Source
	kind  templateKind
	title string
	draft []string
	font  []byte
	theme drawing.Theme
	style []byte
	// people are names by id, as far as the approvals tell them.
	people map[string]string
	// coverage has a framework's requirements with their controls, one per framework.
	coverage []frameworkCoverage
	anchors  anchors
	// plans are the plan's items by the controls that they close.
	plans map[string]*api.POAMItem
	// passages are those that a part tells, by control.
	passages map[part]map[string][]api.Evidence
	// ids are the anchors of the items the template shows, in their order.
	ids struct{ soa, findings, scores, plan []string }
}

// newView copies the source: JSON keeps the texts to the byte, the rest shows control
// characters as pictures.
func newView(src *Source, r Request) *view {
	edit := clean
	if r.Format == FormatJSON {
		edit = func(s string) string { return s }
	}
	own := copyOf(*src, edit)
	v := &view{Source: &own, font: r.Font, style: r.Style, anchors: newAnchors()}
	v.kind, _ = templateNamed(r.Template)
	v.title = or(edit(r.Title), v.kind.title)
	v.draft = own.draftReasons(v.kind)
	v.theme, _ = own.Brand.theme() // Write has checked it
	v.sort()
	v.people = map[string]string{}
	for _, a := range own.Approvals {
		v.people[a.RequestedBy.ID] = a.RequestedBy.Name
		if a.DecidedBy != nil {
			v.people[a.DecidedBy.ID] = a.DecidedBy.Name
		}
	}
	v.coverage = coverageOf(&own)
	v.plans = plannedBy(v.POAMItems)
	return v
}

// sort brings the items into reading order: by domain and code, findings worst first,
// the plan by priority.
func (v *view) sort() {
	byCode := func(a, b *api.Item) int {
		return cmp.Or(scf.Natural(a.DomainCode, b.DomainCode), scf.Natural(a.ControlCode, b.ControlCode), cmp.Compare(a.ID, b.ID))
	}
	slices.SortStableFunc(v.SoAItems, func(a, b api.SoAItem) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Scores, func(a, b api.MaturityScore) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Findings, func(a, b api.Finding) int {
		return cmp.Or(a.Worse(&b), byCode(&a.Item, &b.Item))
	})
	slices.SortStableFunc(v.POAMItems, func(a, b api.POAMItem) int {
		return cmp.Or(a.Priority-b.Priority, cmp.Compare(a.Due(), b.Due()), scf.Natural(a.POAMCode, b.POAMCode), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(v.Documents, func(a, b api.Document) int {
		return cmp.Or(cmp.Compare(strings.ToLower(a.Filename), strings.ToLower(b.Filename)), cmp.Compare(a.SHA256, b.SHA256), cmp.Compare(a.ID, b.ID))
	})
	slices.SortStableFunc(v.Approvals, func(a, b api.Approval) int {
		return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.ID, b.ID))
	})
	if v.MaturitySummary != nil {
		slices.SortStableFunc(v.MaturitySummary.Domains, func(a, b api.DomainMaturity) int { return scf.Natural(a.DomainCode, b.DomainCode) })
	}
}

// person is a name where it is known, else the id.
func (v *view) person(id string) string { return or(v.people[id], id) }

func (v *view) personOf(id *string) string { return v.person(text(id)) }

// domain is "AAA, its name".
func (v *view) domain(code string) string {
	switch name := v.Domains[code]; {
	case code == "":
		return "No domain"
	case name == "":
		return code
	default:
		return code + ", " + name
	}
}

// requirements are codes under their frameworks' names, each framework on its line.
func (v *view) requirements(codes api.RequirementCodes) cell {
	var lines []string
	for _, code := range sortedKeys(codes) {
		if len(codes[code]) == 0 {
			continue
		}
		name := code
		for _, f := range v.Frameworks {
			if f.Code == code {
				name = or(f.Name, code)
			}
		}
		lines = append(lines, name+": "+strings.Join(codes[code], ", "))
	}
	if len(lines) == 0 {
		return plain("–")
	}
	return prose(strings.Join(lines, "\n"))
}

// anchors gives out ids that are unique in a report and remembers what they stand for.
type anchors struct {
	taken map[string]bool
	of    map[string]string
}

func newAnchors() anchors { return anchors{taken: map[string]bool{}, of: map[string]string{}} }

// add makes an id for a thing of a kind, such as a control's row in a table.
func (a anchors) add(kind, name string) string {
	var b strings.Builder
	b.WriteString(kind)
	b.WriteByte('-')
	for _, r := range strings.ToLower(name) {
		if b.Len() > 80 {
			break
		}
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			b.WriteRune(r)
		} else {
			b.WriteByte('-')
		}
	}
	id := b.String()
	for n := 2; a.taken[id]; n++ {
		id = fmt.Sprintf("%s-%d", b.String(), n)
	}
	a.taken[id] = true
	if key := kind + "\x00" + name; a.of[key] == "" {
		a.of[key] = id
	}
	return id
}

// ref is a link to the first thing of a kind and name, or its bare name where the report has none.
func (a anchors) ref(kind, name string) span {
	return span{Text: name, Ref: a.of[kind+"\x00"+name]}
}
