package check

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// Change is a change in the gaps of a control, with its causes.
type Change struct {
	api.GapChange
	// Why names the inputs that differ between the two sides. It is empty if a side is a file, which doesn't record them.
	Why string `json:"why,omitempty"`
}

// CatalogChange describes how the controls of two sides with different catalogs or frameworks differ. Only controls that
// exist on both sides are compared.
type CatalogChange struct {
	Before   string           `json:"before"`
	After    string           `json:"after"`
	Compared int              `json:"compared"` // number of controls of both sides
	Added    []ControlName    `json:"added"`
	Removed  []ControlName    `json:"removed"`
	Renamed  []RenamedControl `json:"renamed"`
	// FrameworksBefore and FrameworksAfter are set if the frameworks differ.
	FrameworksBefore []string `json:"frameworks_before,omitempty"`
	FrameworksAfter  []string `json:"frameworks_after,omitempty"`
}

// ControlName is the code and title of a control.
type ControlName struct {
	Code  string `json:"code"`
	Title string `json:"title"`
}

// RenamedControl is a control whose title differs between two catalogs.
type RenamedControl struct {
	Code   string `json:"code"`
	Before string `json:"before"`
	After  string `json:"after"`
}

// Basis identifies the inputs of a Statement of Applicability that concern all controls.
type Basis struct {
	Method    string `json:"method"`
	Documents string `json:"documents"`
	Scope     string `json:"scope"`
}

// newBasis returns the inputs that a version was drafted from.
func newBasis(v *api.DeliverableVersion) Basis {
	if v == nil {
		return Basis{}
	}
	return Basis{Method: sanitizeLine(v.Method), Documents: v.Inputs["documents"], Scope: v.Inputs["scope"]}
}

// evidenceHash identifies an item's quotes and what they show, regardless of the names of the documents.
func evidenceHash(i *api.SoAItem) string {
	var quotes []string
	for _, e := range i.Evidence {
		quotes = append(quotes, e.Statement+"\x00"+e.Stance+"\x00"+e.Quote)
	}
	slices.Sort(quotes)
	return fingerprint(quotes...)
}

// wordingHash identifies the catalog's text of an item's control.
func wordingHash(i *api.SoAItem) string {
	parts := []string{i.ControlTitle}
	for _, st := range i.Statements {
		parts = append(parts, st.Text)
	}
	return fingerprint(parts...)
}

// requirementsHash identifies the requirements that an item's control satisfies.
func requirementsHash(i *api.SoAItem) string {
	var parts []string
	for _, framework := range slices.Sorted(maps.Keys(i.RequirementCodes)) {
		parts = append(append(parts, framework), i.RequirementCodes[framework]...)
	}
	return fingerprint(parts...)
}

// WithControls returns the baseline with the data needed to explain changes, which is not written to files.
func (b *Baseline) WithControls(f *Facts) *Baseline {
	out := *b
	out.basis, out.controls = f.Basis, map[string]*Control{}
	for i := range f.Controls {
		out.controls[f.Controls[i].Code] = &f.Controls[i]
	}
	return &out
}

// titles returns the titles of the assessed controls, by code.
func (b *Baseline) titles() map[string]string {
	out := make(map[string]string, len(b.Controls))
	for _, c := range b.Controls {
		out[c.Code] = c.Title
	}
	return out
}

// withControlsOf returns the baseline without the gaps of controls that the other side doesn't have.
func (b *Baseline) withControlsOf(other *Baseline) *Baseline {
	out, others := *b, other.titles()
	out.Gaps = slices.DeleteFunc(slices.Clone(b.Gaps), func(k KnownGap) bool { _, ok := others[k.Control]; return !ok })
	return &out
}

// compareCatalogs returns how the controls of two sides differ.
func compareCatalogs(before, after *Baseline) *CatalogChange {
	d := &CatalogChange{
		Before: before.Catalog, After: after.Catalog, Added: []ControlName{}, Removed: []ControlName{}, Renamed: []RenamedControl{},
	}
	titlesBefore, titlesAfter := before.titles(), after.titles()
	for code, title := range titlesAfter {
		switch was, ok := titlesBefore[code]; {
		case !ok:
			d.Added = append(d.Added, ControlName{code, title})
		case was != title:
			d.Renamed = append(d.Renamed, RenamedControl{code, was, title})
		}
	}
	for code, title := range titlesBefore {
		if _, ok := titlesAfter[code]; !ok {
			d.Removed = append(d.Removed, ControlName{code, title})
		}
	}
	d.Compared = len(titlesAfter) - len(d.Added)
	slices.SortFunc(d.Added, compareCodes)
	slices.SortFunc(d.Removed, compareCodes)
	slices.SortFunc(d.Renamed, func(x, y RenamedControl) int { return strings.Compare(x.Code, y.Code) })
	return d
}

func compareCodes(x, y ControlName) int { return strings.Compare(x.Code, y.Code) }

// explain sets the causes of a change, and a sentence that names the differences.
func (c *Change) explain(before, after *Baseline, decided bool) {
	was, now := before.controls[c.ControlCode], after.controls[c.ControlCode]
	var why []string
	add := func(cause, text string) {
		if !slices.Contains(c.Causes, cause) {
			c.Causes = append(c.Causes, cause)
		}
		why = append(why, text)
	}
	if decided {
		add("user", "decided by a person")
	}
	if was == nil || now == nil {
		c.Why = strings.Join(why, ", ")
		return
	}
	if was.Applicability != now.Applicability {
		add("user", fmt.Sprintf("was %s, now %s", prose.Humanize(was.Applicability), prose.Humanize(now.Applicability)))
	}
	if was.Evidence != now.Evidence {
		add("evidence", "other quotes")
	}
	if was.Wording != now.Wording && was.Applicability == now.Applicability { // a control that doesn't apply has no statements
		add("catalog", "the catalog's wording has changed")
	}
	if before.basis.Method != after.basis.Method {
		add("rule", fmt.Sprintf("read by %s, previously by %s", after.basis.Method, before.basis.Method))
	}
	if len(why) == 0 && was.Requirements != now.Requirements {
		add("frameworks", "same quotes, but the control satisfies other requirements")
	}
	if len(why) == 0 && before.Catalog != after.Catalog {
		add("catalog", "same quotes and wording, but similarity of meaning is learned from the catalog, which has changed")
	}
	if len(why) == 0 && before.basis.Documents != after.basis.Documents {
		add("evidence", "same quotes, but other documents they are compared with have changed")
	}
	if len(why) == 0 && before.basis.Scope != after.basis.Scope {
		add("user", "same quotes, but another scope")
	}
	c.Why = strings.Join(why, ", ")
}

// describe returns the catalogs or frameworks and how many controls are compared, in one line.
func (c *CatalogChange) describe() string {
	var differ, what string
	if c.Before != c.After {
		differ, what = fmt.Sprintf("catalogs: %s → %s; ", c.Before, c.After), "catalogs"
	}
	if c.FrameworksAfter != nil {
		list := func(s []string) string { return firstNonEmpty(strings.Join(s, ", "), "all controls") }
		differ, what = differ+fmt.Sprintf("frameworks: %s → %s; ", list(c.FrameworksBefore), list(c.FrameworksAfter)), "assessments"
	}
	return fmt.Sprintf("%scompared: the %s in both %s (%d added, %d removed, %d renamed)",
		differ, prose.Count(c.Compared, "control", "controls"), what, len(c.Added), len(c.Removed), len(c.Renamed))
}

// lists returns the lists of controls that are not empty, with their headings.
func (c *CatalogChange) lists() (out []controlList) {
	names := func(all []ControlName) (lines []string) {
		for _, n := range all {
			lines = append(lines, fmt.Sprintf("%-10s %s", escapeLeadingColons(n.Code), n.Title))
		}
		return lines
	}
	var renamed []string
	for _, r := range c.Renamed {
		renamed = append(renamed, fmt.Sprintf("%-10s %s (was %s)", escapeLeadingColons(r.Code), r.After, r.Before))
	}
	after := c.After
	if c.FrameworksAfter != nil {
		after = "the later frameworks"
	}
	for _, l := range []controlList{
		{"added with " + after + ", so not compared", names(c.Added)},
		{"not in " + after + ", so not compared", names(c.Removed)},
		{"renamed in " + c.After, renamed},
	} {
		if len(l.lines) > 0 {
			out = append(out, l)
		}
	}
	return out
}

// controlList is a list of controls with a heading.
type controlList struct {
	title string
	lines []string
}
