package check

import (
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// Waiver records that a gap is accepted, by whom, until when and why.
type Waiver struct {
	Control  string   `json:"control"`
	Reason   string   `json:"reason"`
	Approver string   `json:"approver"`
	Expiry   api.Date `json:"expiry"`

	file string
	line int
}

const maxWaiverEntries = 10_000

var waiverKeys = []string{"control", "reason", "approver", "expiry"}

// ParseWaivers reads a file of waivers. Waivers without an expiry are rejected, because they would
// never be reviewed again.
func ParseWaivers(data []byte, file string) ([]Waiver, error) {
	root, err := readYAML(data, file)
	if err != nil || root == nil {
		return nil, err
	}
	all, err := parseFields(root, file, "a file of waivers", []string{"waivers"})
	if err != nil {
		return nil, err
	}
	var out []Waiver
	for _, f := range all {
		if f.value.Kind == yaml.ScalarNode && f.value.Tag == "!!null" {
			continue
		}
		if f.value.Kind != yaml.SequenceNode || len(f.value.Content) > maxWaiverEntries {
			return nil, inputErrorf(
				file,
				f.line,
				"waivers must be a list of at most %d entries, each with %s",
				maxWaiverEntries,
				strings.Join(waiverKeys, ", "),
			)
		}
		for _, n := range f.value.Content {
			w, err := parseWaiver(n, file)
			if err != nil {
				return nil, err
			}
			if at := slices.IndexFunc(out, func(o Waiver) bool { return strings.EqualFold(o.Control, w.Control) }); at >= 0 {
				return nil, inputErrorf(file, w.line, "%s is already waived on line %d", w.Control, out[at].line)
			}
			out = append(out, *w)
		}
	}
	return out, nil
}

func parseWaiver(n *yaml.Node, file string) (*Waiver, error) {
	all, err := parseFields(n, file, "a waiver", waiverKeys)
	if err != nil {
		return nil, err
	}
	w := &Waiver{file: file, line: n.Line}
	got := map[string]string{}
	for _, f := range all {
		if f.value.Kind != yaml.ScalarNode {
			return nil, inputErrorf(file, f.line, "%s must be a single string", f.key)
		}
		if f.value.Tag != "!!null" {
			got[f.key] = prose.Truncate(sanitizeLine(f.value.Value), 2000)
		}
	}
	w.Control, w.Reason, w.Approver, w.Expiry = strings.ToUpper(got["control"]), got["reason"], got["approver"], api.Date(got["expiry"])
	for _, k := range waiverKeys {
		if got[k] != "" {
			continue
		}
		if k == "expiry" {
			return nil, inputErrorf(
				file,
				n.Line,
				"the waiver for %s has no expiry date: add the last day on which it is valid, such as expiry: 2027-03-31",
				firstNonEmpty(w.Control, "a control"),
			)
		}
		return nil, inputErrorf(file, n.Line, "a waiver has no %s: required keys are %s", k, strings.Join(waiverKeys, ", "))
	}
	if day, err := time.Parse(time.DateOnly, string(w.Expiry)); err != nil || day.Year() < 1900 || day.Year() > 2999 {
		return nil, inputErrorf(
			file,
			n.Line,
			"the waiver for %s expires on %q, which is not a date: use the form 2027-03-31",
			w.Control,
			string(w.Expiry),
		)
	}
	return w, nil
}

// isExpired reports whether the waiver's last day has passed.
func (w *Waiver) isExpired(today api.Date) bool { return w.Expiry < today }
