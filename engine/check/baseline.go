package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/gap"
	"github.com/scf-service/service/internal/prose"
)

// MaxRecordBytes is the maximum size of files that the program writes and reads back: baselines,
// thresholds and results.
const MaxRecordBytes = 64 << 20

// Names of the formats of files that the program writes and reads back.
const (
	baselineFormat  = "service-baseline/1"
	thresholdFormat = "service-threshold/1"
	resultFormat    = "service-check/1"
)

// comparisonScope describes the catalog, frameworks and controls that gaps and figures refer to. Only values with the
// same scope can be compared with each other.
type comparisonScope struct {
	Catalog    string   `json:"catalog"`
	Frameworks []string `json:"frameworks"`
	Domains    []string `json:"domains"`
}

// scopeForComparison returns what must be equal in two results for them to be comparable.
func (f *Facts) scopeForComparison() comparisonScope {
	return comparisonScope{
		Catalog:    f.Catalog.Label,
		Frameworks: append([]string{}, f.Frameworks...),
		Domains:    append([]string{}, f.Domains...),
	}
}

// checkComparable returns an error if the contents of a file can't be compared with the current
// check.
func (b comparisonScope) checkComparable(current comparisonScope, file, fileKind, hint string) error {
	list := func(s []string, none string) string { return firstNonEmpty(strings.Join(s, ", "), none) }
	switch {
	case b.Catalog != current.Catalog:
		return inputErrorf(
			file,
			0,
			"this %s was created with the catalog %s, but the check uses %s: review the changes, then create the file again%s",
			fileKind,
			firstNonEmpty(sanitizeLine(b.Catalog), "without a name"),
			current.Catalog,
			hint,
		)
	case !slices.Equal(b.Frameworks, current.Frameworks):
		return inputErrorf(
			file,
			0,
			"this %s was created for the frameworks %s, but the check covers %s: check the same frameworks, or create the file again%s",
			fileKind,
			sanitizeLine(list(b.Frameworks, "none")),
			list(current.Frameworks, "none"),
			hint,
		)
	case !slices.Equal(b.Domains, current.Domains):
		return inputErrorf(
			file,
			0,
			"this %s was created for the domains %s, but the check covers %s: check the same domains, or create the file again%s",
			fileKind,
			sanitizeLine(list(b.Domains, "all")),
			list(current.Domains, "all"),
			hint,
		)
	}
	return nil
}

// KnownGap is a gap recorded in a baseline.
type KnownGap struct {
	Control  string             `json:"control"`
	Title    string             `json:"title"`
	Severity api.Severity       `json:"severity"`
	Status   api.Implementation `json:"status"`
	Result   api.Result         `json:"result"`
}

// Baseline holds each control's worst gap at one point in time.
type Baseline struct {
	Format string `json:"format"`
	comparisonScope
	Gaps []KnownGap `json:"gaps"`
	// Decided lists the controls whose status, applicability or gap a person has set.
	Decided []string `json:"decided,omitempty"`
	// Controls are the assessed controls, by code, so that baselines of different catalogs can be compared.
	Controls []ControlName `json:"controls,omitempty"`

	// basis and controls are set by WithControls.
	basis    Basis
	controls map[string]*Control
}

// NewBaseline returns a baseline of the current gaps.
func NewBaseline(f *Facts) *Baseline {
	b := &Baseline{Format: baselineFormat, comparisonScope: f.scopeForComparison(), Gaps: []KnownGap{}}
	for i := range f.Controls {
		c := &f.Controls[i]
		b.Controls = append(b.Controls, ControlName{c.Code, c.Title})
		if c.Decided {
			b.Decided = append(b.Decided, c.Code)
		}
	}
	slices.SortFunc(b.Controls, compareCodes)
	for i := range f.Findings {
		g := &f.Findings[i]
		if g.Decided {
			b.Decided = append(b.Decided, g.Control)
		}
		one := KnownGap{Control: g.Control, Title: g.Title, Severity: g.Severity, Status: g.Status, Result: g.Result}
		at := slices.IndexFunc(b.Gaps, func(k KnownGap) bool { return k.Control == g.Control })
		switch {
		case at < 0:
			b.Gaps = append(b.Gaps, one)
		case one.Severity.Rank() < b.Gaps[at].Severity.Rank():
			b.Gaps[at] = one
		}
	}
	slices.SortFunc(b.Gaps, func(x, y KnownGap) int { return cmp.Compare(x.Control, y.Control) })
	slices.Sort(b.Decided)
	b.Decided = slices.Compact(b.Decided)
	return b
}

// Encode returns the baseline as a file.
func (b *Baseline) Encode() ([]byte, error) { return encodeIndented(b) }

// ParseBaseline reads a baseline file, or the baseline contained in a check result in JSON.
func ParseBaseline(data []byte, file string) (*Baseline, error) {
	var head struct{ Format string }
	if err := decodeJSON(data, &head); err != nil {
		return nil, inputErrorf(file, 0, "invalid baseline: %s", sanitizeLine(err.Error()))
	}
	b := &Baseline{}
	switch head.Format {
	case baselineFormat:
		if err := decodeJSON(data, b); err != nil {
			return nil, inputErrorf(file, 0, "invalid baseline: %s", sanitizeLine(err.Error()))
		}
	case resultFormat:
		r := &Result{}
		if err := decodeJSON(data, r); err != nil {
			return nil, inputErrorf(file, 0, "invalid check result: %s", sanitizeLine(err.Error()))
		}
		b = r.Baseline()
	default:
		return nil, inputErrorf(
			file,
			0,
			"not a baseline or check result: its format is %q; create a baseline with --write-baseline",
			prose.Truncate(sanitizeLine(head.Format), 40),
		)
	}
	if len(b.Gaps) > 100_000 || len(b.Controls) > 100_000 {
		return nil, inputErrorf(file, 0, "the file has too many gaps or controls")
	}
	for i := range b.Controls {
		c := &b.Controls[i]
		c.Code, c.Title = sanitizeLine(c.Code), sanitizeLine(c.Title)
	}
	seen := map[string]bool{}
	for i := range b.Gaps {
		k := &b.Gaps[i]
		k.Control, k.Title = sanitizeLine(k.Control), sanitizeLine(k.Title)
		k.Status, k.Result = api.Implementation(sanitizeLine(string(k.Status))), api.Result(sanitizeLine(string(k.Result)))
		switch {
		case k.Control == "" || !slices.Contains(api.Severities, k.Severity):
			return nil, inputErrorf(file, 0, "gap %d has no control, or its severity is unknown", i+1)
		case seen[k.Control]:
			return nil, inputErrorf(
				file,
				0,
				"the gap for control %s appears twice, probably because of a manual merge: create the file again with --write-baseline",
				k.Control,
			)
		}
		seen[k.Control] = true
	}
	b.Catalog = sanitizeLine(b.Catalog)
	return b, nil
}

func decodeJSON(data []byte, into any) error {
	if len(data) > MaxRecordBytes {
		return inputErrorf("", 0, "the file is larger than %d bytes", MaxRecordBytes)
	}
	return json.Unmarshal(data, into)
}

// encodeIndented returns a record as an indented JSON file; equal records give equal bytes.
func encodeIndented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// Diff holds the changes in gaps between two checks.
type Diff struct {
	Format  string     `json:"format"`
	Policy  PolicyFile `json:"policy"`
	Before  string     `json:"before"`
	After   string     `json:"after"`
	Opened  int        `json:"opened"`
	Worse   int        `json:"worse"`
	Better  int        `json:"better"`
	Closed  int        `json:"closed"`
	Same    int        `json:"unchanged"`
	Changes []Change   `json:"changes"`
	// Decided lists the changes that result from a person's decisions on either side. They are
	// neither regressions nor progress, and are not included in the lists above.
	Decided []Change `json:"decided"`
	// Catalogs is set if the sides have different catalogs or frameworks.
	Catalogs *CatalogChange `json:"catalogs,omitempty"`
}

// CompareBaselines returns the changes in gaps from before to after, by the rules used to compare versions of a gap
// analysis. If both baselines list their controls, they can come from different catalogs, and if neither was read from a
// file, from different frameworks; only the controls in both are compared.
func CompareBaselines(before, after *Baseline, beforeName, afterName string) (*Diff, error) {
	scope := before.comparisonScope
	var catalogs *CatalogChange
	otherCatalog := before.Catalog != after.Catalog && before.Controls != nil && after.Controls != nil
	// Files don't record the requirements, which decide severities.
	otherFrameworks := !slices.Equal(before.Frameworks, after.Frameworks) && before.controls != nil && after.controls != nil
	if otherCatalog || otherFrameworks {
		catalogs, scope.Catalog = compareCatalogs(before, after), after.Catalog
		before, after = before.withControlsOf(after), after.withControlsOf(before)
	}
	if otherFrameworks {
		catalogs.FrameworksBefore, catalogs.FrameworksAfter = before.Frameworks, after.Frameworks
		scope.Frameworks = after.Frameworks
	}
	hint := ""
	if scope.Catalog != after.Catalog {
		hint = filesOfOtherCatalogs
	}
	if err := scope.checkComparable(after.comparisonScope, beforeName, "side", hint); err != nil {
		return nil, err
	}
	d := &Diff{
		Catalogs: catalogs,
		Format:   "service-check-diff/1",
		Before:   replaceControlCharacters(beforeName),
		After:    replaceControlCharacters(afterName),
		Changes:  compareGaps(before, after),
		Decided:  []Change{},
	}
	byPerson := func(c Change) bool {
		return slices.Contains(before.Decided, c.ControlCode) || slices.Contains(after.Decided, c.ControlCode)
	}
	if before.controls != nil && after.controls != nil {
		for i := range d.Changes {
			d.Changes[i].explain(before, after, byPerson(d.Changes[i]))
		}
	}
	for _, c := range d.Changes {
		if byPerson(c) {
			d.Decided = append(d.Decided, c)
		}
	}
	d.Changes = slices.DeleteFunc(d.Changes, byPerson)
	for _, c := range d.Changes {
		switch c.Change {
		case api.GapOpened:
			d.Opened++
		case api.GapWorse:
			d.Worse++
		case api.GapBetter:
			d.Better++
		case api.GapClosed:
			d.Closed++
		}
	}
	d.Same = len(after.Gaps) - d.Opened - d.Worse - d.Better
	for _, c := range d.Decided {
		if c.Change != api.GapClosed {
			d.Same--
		}
	}
	return d, nil
}

// HasRegressions reports whether a gap at or above a severity was opened or became worse.
func (d *Diff) HasRegressions(minimum api.Severity) bool {
	return slices.ContainsFunc(d.Changes, func(c Change) bool {
		return (c.Change == api.GapOpened || c.Change == api.GapWorse) && isAtLeast(c.Severity, minimum)
	})
}

// filesOfOtherCatalogs is appended to the error for a file that was made with another catalog.
const filesOfOtherCatalogs = " (folders, assessments and baselines can be compared across catalogs, but this file doesn't " +
	"list the controls that were assessed)"

func compareGaps(before, after *Baseline) []Change {
	out := []Change{}
	for _, c := range gap.CompareFindings(before.toFindings(), after.toFindings(), nil) {
		c.Causes = []string{} // baselines do not record reasons
		out = append(out, Change{GapChange: c})
	}
	return out
}

func (b *Baseline) toFindings() []api.Finding {
	out := make([]api.Finding, len(b.Gaps))
	for i, k := range b.Gaps {
		out[i] = api.Finding{
			Item:     api.Item{ControlCode: k.Control, ControlTitle: k.Title},
			Severity: k.Severity,
			Status:   k.Status,
			Result:   k.Result,
		}
	}
	return out
}

// Threshold holds figures that must not get worse.
type Threshold struct {
	Format string `json:"format"`
	comparisonScope
	Coverage *float64             `json:"coverage"`
	Maturity *float64             `json:"maturity"`
	Gaps     map[api.Severity]int `json:"gaps"`
}

// ParseThreshold reads a threshold file.
func ParseThreshold(data []byte, file string) (*Threshold, error) {
	t := &Threshold{}
	if err := decodeJSON(data, t); err != nil {
		return nil, inputErrorf(file, 0, "invalid threshold file: %s", sanitizeLine(err.Error()))
	}
	if t.Format != thresholdFormat {
		return nil, inputErrorf(
			file,
			0,
			"not a threshold file: its format is %q; create one with --write-threshold",
			prose.Truncate(sanitizeLine(t.Format), 40),
		)
	}
	for s, n := range t.Gaps {
		if !slices.Contains(api.Severities, s) {
			return nil, inputErrorf(file, 0, "unknown severity %q", prose.Truncate(sanitizeLine(string(s)), 40))
		}
		if n < 0 {
			return nil, inputErrorf(file, 0, "%d is not a valid number of gaps of severity %s", n, s)
		}
	}
	if c := t.Coverage; c != nil && !(*c >= 0 && *c <= 100) {
		return nil, inputErrorf(file, 0, "invalid coverage: %s%%", formatNumber(*c))
	}
	if m := t.Maturity; m != nil && !(*m >= 0 && *m <= 5) {
		return nil, inputErrorf(file, 0, "invalid maturity: %s", formatNumber(*m))
	}
	return t, nil
}

// Encode returns the threshold as a file.
func (t *Threshold) Encode() ([]byte, error) { return encodeIndented(t) }
