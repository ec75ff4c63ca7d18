package check

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// PolicyFile identifies the file that a policy was read from. Its fields are empty if there was no file.
type PolicyFile struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Describe returns the file's name and hash, or "none".
func (f PolicyFile) Describe() string {
	if f.Name == "" {
		return "none"
	}
	return replaceControlCharacters(f.Name) + ", SHA-256 " + f.SHA256
}

// InputInEvidence is an input file of the check, such as the policy, inside the evidence folder.
// Anyone who delivers evidence can change it.
type InputInEvidence struct {
	// Kind is the file's role, such as policy or waivers.
	Kind, Path string
	// IsIgnored is set if the file was found but not used, because it wasn't requested explicitly.
	IsIgnored bool
}

// Warning returns a warning about the file, or a note that it was not used.
func (f InputInEvidence) Warning() string {
	path := replaceControlCharacters(filepath.ToSlash(f.Path))
	if f.IsIgnored {
		return path + " was not used because it is in the evidence folder"
	}
	return "the " + f.Kind + " file " + path + " is in the evidence folder, so whoever provides the evidence controls its content"
}

// Policy holds the requirements for an assessment. Nil and empty fields require nothing.
type Policy struct {
	PolicyFile

	Evidence        string       `json:"-"`
	Assessment      string       `json:"-"`
	FailOn          api.Severity `json:"fail_on,omitempty"`
	FailOnNew       api.Severity `json:"fail_on_new,omitempty"`
	MinCoverage     *float64     `json:"min_coverage,omitempty"`
	MinMaturity     *float64     `json:"min_maturity,omitempty"`
	MaxStaleDays    *int         `json:"max_stale_days,omitempty"`
	RequireApproved []api.Gate   `json:"require_approved,omitempty"`
	Frameworks      []string     `json:"frameworks,omitempty"`
	Domains         []string     `json:"domains,omitempty"`
	Baseline        string       `json:"baseline,omitempty"`
	Waivers         string       `json:"waivers,omitempty"`
	Threshold       string       `json:"threshold,omitempty"`
	Outputs         []string     `json:"-"`
	// IsDefault is set if nothing was required, so that the default applies.
	IsDefault bool `json:"is_default,omitempty"`

	InEvidence []InputInEvidence `json:"-"`
}

// SettingKind determines what values a setting accepts.
type SettingKind int

// Kinds of settings. A FilePath and the files of OutputList are relative to the policy file; an
// OptionalValue may be given without a value.
const (
	SingleValue SettingKind = iota
	FilePath
	ValueList
	OutputList
	OptionalValue
)

// Setting is a key of the policy file and the flag of the same name.
type Setting struct {
	Key, Usage string
	Kind       SettingKind
	// IsFlag is false for settings that exist only in the file or whose flag is defined elsewhere.
	IsFlag bool
	apply  func(p *Policy, values []string) error
}

// AnySeverity means every severity. It is the value of a severity setting that is given without a
// severity.
const AnySeverity = "any"

// Settings lists all settings.
var Settings = []Setting{
	{
		"evidence",
		"evidence folder to check if none is given on the command line",
		FilePath,
		false,
		func(p *Policy, v []string) error { p.Evidence = v[0]; return nil },
	},
	{
		"assessment",
		"assessment to check if none is given on the command line",
		SingleValue,
		false,
		func(p *Policy, v []string) error { p.Assessment = v[0]; return nil },
	},
	{
		"fail-on",
		"fail on gaps of this severity or worse: critical, high, medium or low",
		SingleValue,
		true,
		func(p *Policy, v []string) (err error) {
			p.FailOn, err = parseMinimumSeverity(v[0])
			return err
		},
	},
	{
		"fail-on-new",
		"fail on gaps that are new or worse than in the baseline; --fail-on-new=high limits this to high and worse",
		OptionalValue,
		true,
		func(p *Policy, v []string) (err error) {
			switch v[0] {
			case AnySeverity, "true":
				p.FailOnNew = api.SeverityInformational
			case "false":
				p.FailOnNew = ""
			default:
				p.FailOnNew, err = parseMinimumSeverity(v[0])
			}
			return err
		},
	},
	{"min-coverage", "minimum coverage in percent", SingleValue, true, func(p *Policy, v []string) error {
		f, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(v[0], "%")), 64)
		if err != nil || !(f >= 0 && f <= 100) {
			return fmt.Errorf("%q is not a percentage from 0 to 100", prose.Truncate(sanitizeLine(v[0]), 40))
		}
		if f > 0 && f < 1 {
			return fmt.Errorf("%s is less than one percent: write %s for %s%%", formatNumber(f), formatNumber(f*100), formatNumber(f*100))
		}
		p.MinCoverage = &f
		return nil
	}},
	{"min-maturity", "minimum average maturity, 0 to 5", SingleValue, true, func(p *Policy, v []string) error {
		f, err := strconv.ParseFloat(v[0], 64)
		if err != nil || !(f >= 0 && f <= 5) {
			return fmt.Errorf("%q is not a maturity level from 0 to 5", prose.Truncate(sanitizeLine(v[0]), 40))
		}
		p.MinMaturity = &f
		return nil
	}},
	{"max-stale-days", "fail if a document is dated more than this many days ago", SingleValue, true, func(p *Policy, v []string) error {
		n, err := strconv.Atoi(v[0])
		if err != nil || n < 1 || n > 36500 {
			return fmt.Errorf("%q is not a valid number of days; use 1 or more", prose.Truncate(sanitizeLine(v[0]), 40))
		}
		p.MaxStaleDays = &n
		return nil
	}},
	{
		"require-approved",
		"deliverables whose current version must be approved: soa, gap_analysis, maturity, poam",
		ValueList,
		true,
		func(p *Policy, v []string) error {
			p.RequireApproved = nil
			for _, w := range v {
				g := api.Gate(strings.TrimSpace(w))
				if !slices.Contains(api.Gates, g) {
					return fmt.Errorf(
						"unknown gate %q%s; valid gates are soa, gap_analysis, maturity, poam",
						prose.Truncate(sanitizeLine(w), 40),
						didYouMean(w, []string{"soa", "gap_analysis", "maturity", "poam"}),
					)
				}
				if !slices.Contains(p.RequireApproved, g) {
					p.RequireApproved = append(p.RequireApproved, g)
				}
			}
			return nil
		},
	},
	{
		"framework",
		"framework to check against; can be repeated",
		ValueList,
		true,
		func(p *Policy, v []string) error { p.Frameworks = trimDistinctValues(v); return nil },
	},
	{
		"domain",
		"check only controls in this domain, such as IAC; can be repeated",
		ValueList,
		true,
		func(p *Policy, v []string) error { p.Domains = trimDistinctValues(v); return nil },
	},
	{
		"baseline",
		"file that lists known gaps, written by --write-baseline",
		FilePath,
		true,
		func(p *Policy, v []string) error { p.Baseline = v[0]; return nil },
	},
	{
		"waivers",
		"file that lists accepted gaps, each with control, reason, approver and expiry",
		FilePath,
		true,
		func(p *Policy, v []string) error { p.Waivers = v[0]; return nil },
	},
	{
		"threshold",
		"file of metrics that must not get worse, written by --write-threshold",
		FilePath,
		true,
		func(p *Policy, v []string) error { p.Threshold = v[0]; return nil },
	},
	{
		"output",
		"output formats, such as text or sarif=check.sarif",
		OutputList,
		false,
		func(p *Policy, v []string) error { p.Outputs = slices.Clone(v); return nil },
	},
}

// trimDistinctValues trims the values and returns them without duplicates and empty values.
func trimDistinctValues(v []string) []string {
	out := []string{}
	for _, w := range v {
		if w = strings.TrimSpace(w); w != "" && !slices.Contains(out, w) {
			out = append(out, w)
		}
	}
	return out
}

// parseMinimumSeverity parses a minimum severity. Informational is rejected; users who want to include every gap pass
// --fail-on-new without a value.
func parseMinimumSeverity(word string) (api.Severity, error) {
	words := []string{"critical", "high", "medium", "low"}
	if !slices.Contains(words, word) {
		return "", fmt.Errorf(
			"unknown severity %q%s; valid severities are %s",
			prose.Truncate(sanitizeLine(word), 40),
			didYouMean(word, words),
			strings.Join(words, ", "),
		)
	}
	return api.Severity(word), nil
}

// Set sets a setting by its key; the error describes an invalid value.
func (p *Policy) Set(key string, values []string) error {
	for _, s := range Settings {
		if s.Key != key {
			continue
		}
		if s.Kind != ValueList && s.Kind != OutputList && len(values) != 1 {
			return fmt.Errorf("%s takes one value, not %d", key, len(values))
		}
		for _, v := range values {
			if strings.TrimSpace(v) == "" {
				return fmt.Errorf("%s has no value", key)
			}
		}
		return s.apply(p, values)
	}
	return fmt.Errorf("unknown setting %q%s", key, didYouMean(key, settingKeys()))
}

func settingKeys() (out []string) {
	for _, s := range Settings {
		out = append(out, s.Key)
	}
	return out
}

// FilePaths returns the paths of files and folders that the policy names.
func (p *Policy) FilePaths() (out []string) {
	for _, path := range []string{p.Evidence, p.Baseline, p.Waivers, p.Threshold} {
		if path != "" {
			out = append(out, path)
		}
	}
	for _, word := range p.Outputs {
		if o, err := ParseOutput(word); err == nil && o.Path != "" {
			out = append(out, o.Path)
		}
	}
	return out
}

// resolvePaths makes the paths among a setting's values relative to the working directory. A path must not
// lead out of the policy's folder; symbolic links in it are checked by the caller.
func (s Setting) resolvePaths(folder string, values []string) error {
	for i, v := range values {
		prefix, name := "", v
		if s.Kind == OutputList {
			o, err := ParseOutput(v)
			if err != nil {
				return err
			}
			prefix, name = o.Format+"=", o.Path
		}
		if name == "" || s.Kind != FilePath && s.Kind != OutputList {
			continue // an empty value is not a path; Set rejects it
		}
		if name = filepath.FromSlash(name); !filepath.IsLocal(name) {
			return fmt.Errorf(
				"%q is outside the policy's folder: use a path inside that folder, or remove the entry and pass the path on the command line",
				prose.Truncate(sanitizeLine(name), 100),
			)
		}
		values[i] = prefix + filepath.Join(folder, name)
	}
	return nil
}

// ParsePolicy reads a policy file. Paths in it are relative to the file and must not leave its
// folder.
func ParsePolicy(data []byte, file string) (*Policy, error) {
	sum := sha256.Sum256(data)
	p := &Policy{PolicyFile: PolicyFile{Name: filepath.ToSlash(file), SHA256: hex.EncodeToString(sum[:])}}
	root, err := readYAML(data, file)
	if err != nil || root == nil {
		return p, err
	}
	all, err := parseFields(root, file, "a policy", settingKeys())
	if err != nil {
		return nil, err
	}
	for _, f := range all {
		values, err := parseTextOrList(f.value, file, f.key)
		if err != nil {
			return nil, err
		}
		at := slices.IndexFunc(Settings, func(s Setting) bool { return s.Key == f.key })
		err = Settings[at].resolvePaths(filepath.Dir(file), values)
		if err == nil {
			err = p.Set(f.key, values)
		}
		if err != nil {
			return nil, inputErrorf(file, f.line, "%s: %s", f.key, strings.TrimPrefix(err.Error(), f.key+" "))
		}
	}
	return p, nil
}

// ValidateAndSetDefaults checks that the settings are consistent, and applies the default if nothing is required,
// since a check that can't fail would be useless.
func (p *Policy) ValidateAndSetDefaults() error {
	if p.FailOnNew != "" && p.Baseline == "" {
		return inputErrorf("", 0, "fail-on-new needs a baseline: create one with --write-baseline FILE, then add --baseline FILE")
	}
	if p.FailOn == "" && p.FailOnNew == "" && p.MinCoverage == nil && p.MinMaturity == nil && p.MaxStaleDays == nil &&
		len(p.RequireApproved) == 0 &&
		p.Threshold == "" {
		p.FailOn, p.IsDefault = api.SeverityHigh, true
	}
	return nil
}
