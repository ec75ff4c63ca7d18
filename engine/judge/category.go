package judge

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Categories lists the document categories that GuessCategory returns.
var Categories = append(
	[]string{"policy", "procedure", "standard", "plan", "register", "record", "log", "report", "contract", "template", "other"},
	uninformativeCategories()...,
)

// uninformativeCategories returns the categories of documents that show little or nothing about the
// organization's practice.
func uninformativeCategories() (out []string) {
	for _, k := range documentKinds {
		if k.limit != showsAll {
			out = append(out, k.category)
		}
	}
	return out
}

// isPrescriptive reports whether documents of this category state what must be done.
func isPrescriptive(category string) bool {
	switch category {
	case "policy", "procedure", "standard", "plan", "contract":
		return true
	}
	return false
}

// isRecordCategory reports whether documents of this category show what was done.
func isRecordCategory(category string) bool {
	switch category {
	case "register", "record", "log", "report":
		return true
	}
	return false
}

func (c *foundPassage) isRecord() bool { return isRecordCategory(c.category) }

var categoryPatterns = []struct {
	category string
	name     *lazyregexp.Regexp // matches file name or title
}{
	{"template", lazyregexp.New(`(?i)\b(?:templates?|sample|boilerplate|example form)\b`)},
	{
		"log",
		lazyregexp.New(
			`(?i)\b(?:logs?|audit trail|event export|syslog)$|\blog (?:export|extract|file)|\.log\b|\b(?:access|change|incident|backup|restore|visitor|training|test) log\b`,
		),
	},
	{
		"register",
		lazyregexp.New(`(?i)\b(?:register|inventory|cmdb|catalogue|asset list|list of|matrix|ropa|record of processing|risk log)\b`),
	},
	{
		"record",
		lazyregexp.New(
			`(?i)\b(?:records?|minutes|tickets?|attendance|certificates?|screenshots?|exports?|evidence|results?|review of access|access review \d|sign-?off|acknowledg(?:e)?ments?|completion|protocol)\b`,
		),
	},
	{
		"report",
		lazyregexp.New(
			`(?i)\b(?:reports?|assessment results?|pentest|penetration test|audit \d{4}|findings|post-?mortem|dashboard|scan)\b`,
		),
	},
	{"contract", lazyregexp.New(`(?i)\b(?:contracts?|agreements?|dpa|msa|nda|sla|terms (?:of|and)|addendum|statement of work)\b`)},
	{
		"procedure",
		lazyregexp.New(
			`(?i)\b(?:procedures?|sop|runbooks?|playbooks?|work instructions?|process(?:es)?|how-?to|guide|manual|handbook|checklist)\b`,
		),
	},
	{"plan", lazyregexp.New(`(?i)\b(?:plans?|bcp|drp|irp|bcp dr|roadmap|strategy)\b`)},
	{"standard", lazyregexp.New(`(?i)\b(?:standards?|baselines?|hardening|requirements|specification)\b`)},
	{"policy", lazyregexp.New(`(?i)\b(?:polic(?:y|ies)|directive|charter|code of conduct|rules|principles)\b`)},
}

var (
	policyTextPattern  = lazyregexp.New(`(?i)\bthis policy\b`)
	placeholderPattern = lazyregexp.New(
		`(?i)\[(?:insert|company|organi[sz]ation|your|enter|name|date)[^\]]*\]|\{\{|<(?:company|organi[sz]ation|insert)[^>]*>`,
	)
	timestampLinePattern = lazyregexp.New(`(?m)^\W{0,2}(?:20\d\d-\d\d-\d\d[T ]\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d:\d\d)`)
	mandatoryWordPattern = lazyregexp.New(`(?i)\b(?:must|shall)\b`)
	numberedStepPattern  = lazyregexp.New(`(?im)^\s*(?:step )?\d+[.)]\s+\w+`)
)

// licenseFilePattern matches names of files with license terms, which are not evidence of the
// organization's practice.
var licenseFilePattern = lazyregexp.New(`(?i)(?:^|[/\\])(?:licen[sc]e|copying|notice)(?:\.(?:txt|md|rst|html?))?$`)

// licenseTextPattern matches words that occur in nearly every paragraph of license terms, but not in a policy
// about licenses.
var licenseTextPattern = lazyregexp.New(`(?i)licen[sc]|copyright|warrant|the software|derivative|trademark`)

func isLicense(filename, text string) bool {
	return licenseFilePattern.MatchString(filename) && licenseTextPattern.MatchString(text)
}

// replaceFilenameSeparators returns a file name with its separators replaced by spaces.
func replaceFilenameSeparators(name string) string {
	return filenameSeparators.Replace(name)
}

var filenameSeparators = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")

// GuessCategory guesses the category of a document, one of Categories, from its name and text.
func GuessCategory(filename, title, text string) string {
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	if isLicense(filename, text) {
		return "other"
	}
	if len(placeholderPattern.FindAllStringIndex(text, 4)) >= 3 {
		return "template"
	}
	if kind := guessKind(title, text); kind != "" {
		return kind
	}
	base := filename
	if i := strings.LastIndexAny(base, `/\`); i >= 0 {
		base = base[i+1:]
	}
	stem, ext := base, ""
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		stem, ext = base[:i], strings.ToLower(base[i:])
	}
	clean := replaceFilenameSeparators
	for _, name := range []string{clean(title), clean(stem)} {
		// "Log management policy" is a policy: the last category word in the name takes precedence.
		best, bestAt := "", -1
		for _, c := range categoryPatterns {
			all := c.name.FindAllStringIndex(name, -1)
			if len(all) == 0 {
				continue
			}
			if c.category == "template" {
				best, bestAt = c.category, len(name)+1
				continue
			}
			if at := all[len(all)-1][1]; at > bestAt {
				best, bestAt = c.category, at
			}
		}
		if best != "" {
			return best
		}
	}
	switch {
	case ext == ".log" || len(timestampLinePattern.FindAllStringIndex(text, 4)) >= 3:
		return "log"
	case policyTextPattern.MatchString(text):
		return "policy"
	case ext == ".csv" || ext == ".xlsx":
		return "register"
	case len(mandatoryWordPattern.FindAllStringIndex(text, 4)) >= 3:
		return "policy"
	case len(numberedStepPattern.FindAllStringIndex(text, 4)) >= 3:
		return "procedure"
	}
	return "other"
}
