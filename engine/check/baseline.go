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

// MaxRecorded bounds the files that the program writes and reads back: baselines,
// thresholds and results.
const MaxRecorded = 64 << 20

// The forms of the files that are read back.
const (
	baselineForm  = "service-baseline/1"
	thresholdForm = "service-threshold/1"
	resultForm    = "service-check/1"
)

// basis is what gaps and figures were found against. They compare with those of the same only.
type basis struct {
	Catalog    string   `json:"catalog"`
	Frameworks []string `json:"frameworks"`
	Domains    []string `json:"domains"`
}

func (f *Facts) basis() basis {
	return basis{f.Catalog.Label, append([]string{}, f.Frameworks...), append([]string{}, f.Domains...)}
}

// holds tells whether what is in a file can be compared with what is now.
func (b basis) holds(now basis, file, what, again string) error {
	list := func(s []string, none string) string { return or(strings.Join(s, ", "), none) }
	switch {
	case b.Catalog != now.Catalog:
		return mistake(file, 0, "this %s is of the catalog %s, and what is checked is of %s: look at what changed, then write it anew%s", what, or(clean(b.Catalog), "without a name"), now.Catalog, again)
	case !slices.Equal(b.Frameworks, now.Frameworks):
		return mistake(file, 0, "this %s is of the frameworks %s, and what is checked is of %s: check the same, or write it anew%s", what, clean(list(b.Frameworks, "none")), list(now.Frameworks, "none"), again)
	case !slices.Equal(b.Domains, now.Domains):
		return mistake(file, 0, "this %s is of the domains %s, and what is checked is of %s: check the same, or write it anew%s", what, clean(list(b.Domains, "all")), list(now.Domains, "all"), again)
	}
	return nil
}

// Known is a gap that a baseline knows.
type Known struct {
	Control  string             `json:"control"`
	Title    string             `json:"title"`
	Severity api.Severity       `json:"severity"`
	Status   api.Implementation `json:"status"`
	Result   api.Result         `json:"result"`
}

// Baseline is the gaps there are at a moment: the worst of each control.
type Baseline struct {
	Format string `json:"format"`
	basis
	Gaps []Known `json:"gaps"`
}

// BaselineOf is what is known from now on.
func BaselineOf(f *Facts) *Baseline {
	b := &Baseline{Format: baselineForm, basis: f.basis(), Gaps: []Known{}}
	for i := range f.Findings {
		g := &f.Findings[i]
		one := Known{g.Control, g.Title, g.Severity, g.Status, g.Result}
		at := slices.IndexFunc(b.Gaps, func(k Known) bool { return k.Control == g.Control })
		switch {
		case at < 0:
			b.Gaps = append(b.Gaps, one)
		case rank(one.Severity) < rank(b.Gaps[at].Severity):
			b.Gaps[at] = one
		}
	}
	slices.SortFunc(b.Gaps, func(x, y Known) int { return cmp.Compare(x.Control, y.Control) })
	return b
}

// Write is the baseline as a file.
func (b *Baseline) Write() ([]byte, error) { return indented(b) }

// ParseBaseline reads a baseline, or the baseline that a result of a check in JSON is.
func ParseBaseline(data []byte, file string) (*Baseline, error) {
	var head struct{ Format string }
	if err := decode(data, &head); err != nil {
		return nil, mistake(file, 0, "this is no baseline that can be read: %s", clean(err.Error()))
	}
	b := &Baseline{}
	switch head.Format {
	case baselineForm:
		if err := decode(data, b); err != nil {
			return nil, mistake(file, 0, "this is no baseline that can be read: %s", clean(err.Error()))
		}
	case resultForm:
		r := &Result{}
		if err := decode(data, r); err != nil {
			return nil, mistake(file, 0, "this is no result that can be read: %s", clean(err.Error()))
		}
		b = r.Baseline()
	default:
		return nil, mistake(file, 0, "this is no baseline and no result of a check: its format is %q; make one with --write-baseline", cut(clean(head.Format), 40))
	}
	if len(b.Gaps) > 100_000 {
		return nil, mistake(file, 0, "the file holds more gaps than there can be")
	}
	seen := map[string]bool{}
	for i := range b.Gaps {
		k := &b.Gaps[i]
		k.Control, k.Title = clean(k.Control), clean(k.Title)
		k.Status, k.Result = api.Implementation(clean(string(k.Status))), api.Result(clean(string(k.Result)))
		switch {
		case k.Control == "" || !slices.Contains(api.Severities, k.Severity):
			return nil, mistake(file, 0, "gap %d has no control, or a severity that there is not", i+1)
		case seen[k.Control]:
			return nil, mistake(file, 0, "the gap of %s stands there twice, as where two versions were brought together by hand: write it anew with --write-baseline", k.Control)
		}
		seen[k.Control] = true
	}
	b.Catalog = clean(b.Catalog)
	return b, nil
}

func decode(data []byte, into any) error {
	if len(data) > MaxRecorded {
		return mistake("", 0, "it is larger than %d bytes", MaxRecorded)
	}
	return json.Unmarshal(data, into)
}

// indented is a record as a file, the same bytes for the same record.
func indented(v any) ([]byte, error) {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	err := e.Encode(v)
	return out.Bytes(), err
}

// Diff is how the gaps moved between two checks.
type Diff struct {
	Format string          `json:"format"`
	Before string          `json:"before"`
	After  string          `json:"after"`
	Opened int             `json:"opened"`
	Worse  int             `json:"worse"`
	Better int             `json:"better"`
	Closed int             `json:"closed"`
	Same   int             `json:"same"`
	Moved  []api.GapChange `json:"changes"`
}

// Compare tells how the gaps moved from one to the other, by the rules that the gap
// analysis has for its versions.
func Compare(before, after *Baseline, was, is string) (*Diff, error) {
	if err := before.holds(after.basis, was, "side", ""); err != nil {
		return nil, err
	}
	d := &Diff{Format: "service-check-diff/1", Before: safe(was), After: safe(is), Moved: changes(before, after)}
	for _, c := range d.Moved {
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

// Fails tells whether anything was opened or became worse at or above a bar.
func (d *Diff) Fails(bar api.Severity) bool {
	return slices.ContainsFunc(d.Moved, func(c api.GapChange) bool {
		return (c.Change == api.GapOpened || c.Change == api.GapWorse) && reaches(c.Severity, bar)
	})
}

func changes(before, after *Baseline) []api.GapChange {
	out := judge.Changes(before.findings(), after.findings(), nil)
	for i := range out {
		out[i].Why = []string{} // nothing here knows
	}
	return out
}

func (b *Baseline) findings() []api.Finding {
	out := make([]api.Finding, len(b.Gaps))
	for i, k := range b.Gaps {
		out[i] = api.Finding{Item: api.Item{ControlCode: k.Control, ControlTitle: k.Title}, Severity: k.Severity, Status: k.Status, Result: k.Result}
	}
	return out
}

// Threshold is figures that must not get worse.
type Threshold struct {
	Format string `json:"format"`
	basis
	Coverage *float64             `json:"coverage"`
	Maturity *float64             `json:"maturity"`
	Gaps     map[api.Severity]int `json:"gaps"`
}

// ParseThreshold reads a threshold file.
func ParseThreshold(data []byte, file string) (*Threshold, error) {
	t := &Threshold{}
	if err := decode(data, t); err != nil {
		return nil, mistake(file, 0, "this is no threshold file that can be read: %s", clean(err.Error()))
	}
	if t.Format != thresholdForm {
		return nil, mistake(file, 0, "this is no threshold file: its format is %q; make one with --write-threshold", cut(clean(t.Format), 40))
	}
	for s, n := range t.Gaps {
		if !slices.Contains(api.Severities, s) {
			return nil, mistake(file, 0, "there is no severity %q", cut(clean(string(s)), 40))
		}
		if n < 0 {
			return nil, mistake(file, 0, "there can't be %d gaps of severity %s", n, s)
		}
	}
	if c := t.Coverage; c != nil && !(*c >= 0 && *c <= 100) {
		return nil, mistake(file, 0, "there is no coverage of %s %%", number(*c))
	}
	if m := t.Maturity; m != nil && !(*m >= 0 && *m <= 5) {
		return nil, mistake(file, 0, "there is no maturity of %s", number(*m))
	}
	return t, nil
}

// Write is the threshold as a file.
func (t *Threshold) Write() ([]byte, error) { return indented(t) }
