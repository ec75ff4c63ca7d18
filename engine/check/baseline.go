package check

import (
	"bytes"
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge"
)

// MaxRecordBytes bounds the files that the program writes and reads back: baselines,
// thresholds and results.
const MaxRecordBytes = 64 << 20

// The forms of the files that are read back.
const (
	baselineFormat  = "service-baseline/1"
	thresholdFormat = "service-threshold/1"
	resultFormat    = "service-check/1"
)

// comparisonScope is what gaps and figures were found against. They compare with those of the same only.
type comparisonScope struct {
	Catalog    string   `json:"catalog"`
	Frameworks []string `json:"frameworks"`
	Domains    []string `json:"domains"`
}

func (f *Facts) basis() comparisonScope {
	return comparisonScope{
		Catalog:    f.Catalog.Label,
		Frameworks: append([]string{}, f.Frameworks...),
		Domains:    append([]string{}, f.Domains...),
	}
}

// checkComparable tells whether what is in a file can be compared with what is now.
func (b comparisonScope) checkComparable(current comparisonScope, file, what, hint string) error {
	list := func(s []string, none string) string { return firstNonEmpty(strings.Join(s, ", "), none) }
	switch {
	case b.Catalog != current.Catalog:
		return inputErrorf(
			file,
			0,
			"this %s is of the catalog %s, and what is checked is of %s: look at what changed, then write it anew%s",
			what,
			firstNonEmpty(sanitizeLine(b.Catalog), "without a name"),
			current.Catalog,
			hint,
		)
	case !slices.Equal(b.Frameworks, current.Frameworks):
		return inputErrorf(
			file,
			0,
			"this %s is of the frameworks %s, and what is checked is of %s: check the same, or write it anew%s",
			what,
			sanitizeLine(list(b.Frameworks, "none")),
			list(current.Frameworks, "none"),
			hint,
		)
	case !slices.Equal(b.Domains, current.Domains):
		return inputErrorf(
			file,
			0,
			"this %s is of the domains %s, and what is checked is of %s: check the same, or write it anew%s",
			what,
			sanitizeLine(list(b.Domains, "all")),
			list(current.Domains, "all"),
			hint,
		)
	}
	return nil
}

// KnownGap is a gap that a baseline knows.
type KnownGap struct {
	Control  string             `json:"control"`
	Title    string             `json:"title"`
	Severity api.Severity       `json:"severity"`
	Status   api.Implementation `json:"status"`
	Result   api.Result         `json:"result"`
}

// Baseline is the gaps there are at a moment: the worst of each control.
type Baseline struct {
	Format string `json:"format"`
	comparisonScope
	Gaps []KnownGap `json:"gaps"`
}

// NewBaseline is what is known from now on.
func NewBaseline(f *Facts) *Baseline {
	b := &Baseline{Format: baselineFormat, comparisonScope: f.basis(), Gaps: []KnownGap{}}
	for i := range f.Findings {
		g := &f.Findings[i]
		one := KnownGap{Control: g.Control, Title: g.Title, Severity: g.Severity, Status: g.Status, Result: g.Result}
		at := slices.IndexFunc(b.Gaps, func(k KnownGap) bool { return k.Control == g.Control })
		switch {
		case at < 0:
			b.Gaps = append(b.Gaps, one)
		case severityRank(one.Severity) < severityRank(b.Gaps[at].Severity):
			b.Gaps[at] = one
		}
	}
	slices.SortFunc(b.Gaps, func(x, y KnownGap) int { return cmp.Compare(x.Control, y.Control) })
	return b
}

// Encode is the baseline as a file.
func (b *Baseline) Encode() ([]byte, error) { return encodeIndented(b) }

// ParseBaseline reads a baseline, or the baseline that a result of a check in JSON is.
func ParseBaseline(data []byte, file string) (*Baseline, error) {
	var head struct{ Format string }
	if err := decodeJSON(data, &head); err != nil {
		return nil, inputErrorf(file, 0, "this is no baseline that can be read: %s", sanitizeLine(err.Error()))
	}
	b := &Baseline{}
	switch head.Format {
	case baselineFormat:
		if err := decodeJSON(data, b); err != nil {
			return nil, inputErrorf(file, 0, "this is no baseline that can be read: %s", sanitizeLine(err.Error()))
		}
	case resultFormat:
		r := &Result{}
		if err := decodeJSON(data, r); err != nil {
			return nil, inputErrorf(file, 0, "this is no result that can be read: %s", sanitizeLine(err.Error()))
		}
		b = r.Baseline()
	default:
		return nil, inputErrorf(
			file,
			0,
			"this is no baseline and no result of a check: its format is %q; make one with --write-baseline",
			truncate(sanitizeLine(head.Format), 40),
		)
	}
	if len(b.Gaps) > 100_000 {
		return nil, inputErrorf(file, 0, "the file holds more gaps than there can be")
	}
	seen := map[string]bool{}
	for i := range b.Gaps {
		k := &b.Gaps[i]
		k.Control, k.Title = sanitizeLine(k.Control), sanitizeLine(k.Title)
		k.Status, k.Result = api.Implementation(sanitizeLine(string(k.Status))), api.Result(sanitizeLine(string(k.Result)))
		switch {
		case k.Control == "" || !slices.Contains(api.Severities, k.Severity):
			return nil, inputErrorf(file, 0, "gap %d has no control, or a severity that there is not", i+1)
		case seen[k.Control]:
			return nil, inputErrorf(
				file,
				0,
				"the gap of %s stands there twice, as where two versions were brought together by hand: write it anew with --write-baseline",
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
		return inputErrorf("", 0, "it is larger than %d bytes", MaxRecordBytes)
	}
	return json.Unmarshal(data, into)
}

// encodeIndented is a record as a file, the same bytes for the same record.
func encodeIndented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// Diff is how the gaps moved between two checks.
type Diff struct {
	Format  string          `json:"format"`
	Before  string          `json:"before"`
	After   string          `json:"after"`
	Opened  int             `json:"opened"`
	Worse   int             `json:"worse"`
	Better  int             `json:"better"`
	Closed  int             `json:"closed"`
	Same    int             `json:"same"`
	Changes []api.GapChange `json:"changes"`
}

// CompareBaselines tells how the gaps moved from one to the other, by the rules that the gap
// analysis has for its versions.
func CompareBaselines(before, after *Baseline, beforeName, afterName string) (*Diff, error) {
	if err := before.checkComparable(after.comparisonScope, beforeName, "side", ""); err != nil {
		return nil, err
	}
	d := &Diff{
		Format:  "service-check-diff/1",
		Before:  sanitize(beforeName),
		After:   sanitize(afterName),
		Changes: compareGaps(before, after),
	}
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
	return d, nil
}

// HasRegressions tells whether anything was opened or became worse at or above a bar.
func (d *Diff) HasRegressions(minimum api.Severity) bool {
	return slices.ContainsFunc(d.Changes, func(c api.GapChange) bool {
		return (c.Change == api.GapOpened || c.Change == api.GapWorse) && isAtLeast(c.Severity, minimum)
	})
}

func compareGaps(before, after *Baseline) []api.GapChange {
	out := judge.CompareFindings(before.toFindings(), after.toFindings(), nil)
	for i := range out {
		out[i].Why = []string{} // nothing here knows
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

// Threshold is figures that must not get worse.
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
		return nil, inputErrorf(file, 0, "this is no threshold file that can be read: %s", sanitizeLine(err.Error()))
	}
	if t.Format != thresholdFormat {
		return nil, inputErrorf(
			file,
			0,
			"this is no threshold file: its format is %q; make one with --write-threshold",
			truncate(sanitizeLine(t.Format), 40),
		)
	}
	for s, n := range t.Gaps {
		if !slices.Contains(api.Severities, s) {
			return nil, inputErrorf(file, 0, "there is no severity %q", truncate(sanitizeLine(string(s)), 40))
		}
		if n < 0 {
			return nil, inputErrorf(file, 0, "there can't be %d gaps of severity %s", n, s)
		}
	}
	if c := t.Coverage; c != nil && !(*c >= 0 && *c <= 100) {
		return nil, inputErrorf(file, 0, "there is no coverage of %s %%", formatNumber(*c))
	}
	if m := t.Maturity; m != nil && !(*m >= 0 && *m <= 5) {
		return nil, inputErrorf(file, 0, "there is no maturity of %s", formatNumber(*m))
	}
	return t, nil
}

// Encode is the threshold as a file.
func (t *Threshold) Encode() ([]byte, error) { return encodeIndented(t) }
