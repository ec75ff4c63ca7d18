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

// reportData is a source prepared for one request: a private copy in reading order, with names,
// anchors and indexes.
type reportData struct {
	*Source
	template     reportTemplate
	title        string
	draftNotices []string
	fallbackFont []byte
	theme        drawing.Theme
	styleFile    []byte
	// people maps IDs to names, as far as the approvals contain them.
	people map[string]string
	// coverage holds the requirements of each framework with their controls.
	coverage []frameworkCoverage
	anchors  anchors
	// planByControl maps controls to the plan item that closes them.
	planByControl map[string]*api.POAMItem
	// passages maps controls to the passages that a section quotes.
	passages map[sectionID]map[string][]api.Evidence
	// ids holds the anchors of the items that the template shows, in order.
	ids struct{ soa, findings, scores, plan []string }
}

// newReportData copies the source. JSON keeps texts unchanged; other formats replace control
// characters with visible symbols.
func newReportData(src *Source, r Request) *reportData {
	edit := sanitize
	if r.Format == FormatJSON {
		edit = func(s string) string { return s }
	}
	copied := deepCopy(*src, edit)
	v := &reportData{Source: &copied, fallbackFont: r.Font, styleFile: r.Style, anchors: newAnchors()}
	v.template, _ = findTemplate(r.Template)
	v.title = orDefault(edit(r.Title), v.template.title)
	v.draftNotices = copied.draftReasons(v.template)
	v.theme, _ = copied.Brand.newTheme() // checked by Write
	v.sortItems()
	v.people = map[string]string{}
	for _, a := range copied.Approvals {
		v.people[a.RequestedBy.ID] = a.RequestedBy.Name
		if a.DecidedBy != nil {
			v.people[a.DecidedBy.ID] = a.DecidedBy.Name
		}
	}
	v.coverage = computeCoverage(&copied)
	v.planByControl = planItemsByControl(v.POAMItems)
	return v
}

// sortItems sorts the items in reading order: by domain and code, findings worst first, the plan by
// priority.
func (v *reportData) sortItems() {
	byCode := func(a, b *api.Item) int {
		return cmp.Or(
			scf.CompareNatural(a.DomainCode, b.DomainCode),
			scf.CompareNatural(a.ControlCode, b.ControlCode),
			cmp.Compare(a.ID, b.ID),
		)
	}
	slices.SortStableFunc(v.SoAItems, func(a, b api.SoAItem) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Scores, func(a, b api.MaturityScore) int { return byCode(&a.Item, &b.Item) })
	slices.SortStableFunc(v.Findings, func(a, b api.Finding) int {
		return cmp.Or(a.CompareSeverity(&b), byCode(&a.Item, &b.Item))
	})
	slices.SortStableFunc(v.POAMItems, func(a, b api.POAMItem) int {
		return cmp.Or(
			a.Priority-b.Priority,
			cmp.Compare(a.CurrentDueDate(), b.CurrentDueDate()),
			scf.CompareNatural(a.POAMCode, b.POAMCode),
			cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortStableFunc(v.Documents, func(a, b api.Document) int {
		return cmp.Or(
			cmp.Compare(strings.ToLower(a.Filename), strings.ToLower(b.Filename)),
			cmp.Compare(a.SHA256, b.SHA256),
			cmp.Compare(a.ID, b.ID),
		)
	})
	slices.SortStableFunc(v.Approvals, func(a, b api.Approval) int {
		return cmp.Or(a.RequestedAt.Compare(b.RequestedAt), cmp.Compare(a.ID, b.ID))
	})
	if v.MaturitySummary != nil {
		slices.SortStableFunc(
			v.MaturitySummary.Domains,
			func(a, b api.DomainMaturity) int { return scf.CompareNatural(a.DomainCode, b.DomainCode) },
		)
	}
}

// personName returns a person's name, or the ID if the name is unknown.
func (v *reportData) personName(id string) string { return orDefault(v.people[id], id) }

func (v *reportData) optionalPersonName(id *string) string { return v.personName(stringOrEmpty(id)) }

// domainLabel returns the domain's code and name, as in "AST, Assets".
func (v *reportData) domainLabel(code string) string {
	switch name := v.Domains[code]; {
	case code == "":
		return "No domain"
	case name == "":
		return code
	default:
		return code + ", " + name
	}
}

// requirementsCell returns codes under their frameworks' names, one framework per line.
func (v *reportData) requirementsCell(codes api.RequirementCodes) cell {
	var lines []string
	for _, code := range sortedKeys(codes) {
		if len(codes[code]) == 0 {
			continue
		}
		name := code
		for _, f := range v.Frameworks {
			if f.Code == code {
				name = orDefault(f.Name, code)
			}
		}
		lines = append(lines, name+": "+strings.Join(codes[code], ", "))
	}
	if len(lines) == 0 {
		return plainCell("–")
	}
	return proseCell(strings.Join(lines, "\n"))
}

// anchors assigns IDs that are unique within a report and remembers what they refer to.
type anchors struct {
	used  map[string]bool
	byKey map[string]string
}

func newAnchors() anchors { return anchors{used: map[string]bool{}, byKey: map[string]string{}} }

// assign returns a new ID for something of a kind, such as a control's row in a table.
func (a anchors) assign(kind, name string) string {
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
	for n := 2; a.used[id]; n++ {
		id = fmt.Sprintf("%s-%d", b.String(), n)
	}
	a.used[id] = true
	if key := kind + "\x00" + name; a.byKey[key] == "" {
		a.byKey[key] = id
	}
	return id
}

// link returns a link to the first thing of a kind and name, or the plain name if the report has
// none.
func (a anchors) link(kind, name string) span {
	return span{Text: name, Ref: a.byKey[kind+"\x00"+name]}
}
