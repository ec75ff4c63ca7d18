package judge

import (
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Categories are the kinds of documents, as Category guesses them.
var Categories = []string{"policy", "procedure", "standard", "plan", "register", "record", "log", "report", "contract", "template", "other"}

// intends: documents of this kind say what is to be done.
func intends(category string) bool {
	switch category {
	case "policy", "procedure", "standard", "plan", "contract":
		return true
	}
	return false
}

// operates: documents of this kind show what was done.
func operates(category string) bool {
	switch category {
	case "register", "record", "log", "report":
		return true
	}
	return false
}

func (c *candidate) isRecord() bool { return operates(c.category) }

var categoryWords = []struct {
	category string
	name     *lazyregexp.Late // in file name or title
}{
	{"template", lazyregexp.Of(`(?i)\b(?:templates?|sample|boilerplate|example form)\b`)},
	{"log", lazyregexp.Of(`(?i)\b(?:logs?|audit trail|event export|syslog)$|\blog (?:export|extract|file)|\.log\b|\b(?:access|change|incident|backup|restore|visitor|training|test) log\b`)},
	{"register", lazyregexp.Of(`(?i)\b(?:register|inventory|cmdb|catalogue|asset list|list of|matrix|ropa|record of processing|risk log)\b`)},
	{"record", lazyregexp.Of(`(?i)\b(?:records?|minutes|tickets?|attendance|certificates?|screenshots?|exports?|evidence|results?|review of access|access review \d|sign-?off|acknowledg(?:e)?ments?|completion|protocol)\b`)},
	{"report", lazyregexp.Of(`(?i)\b(?:reports?|assessment results?|pentest|penetration test|audit \d{4}|findings|post-?mortem|dashboard|scan)\b`)},
	{"contract", lazyregexp.Of(`(?i)\b(?:contracts?|agreements?|dpa|msa|nda|sla|terms (?:of|and)|addendum|statement of work)\b`)},
	{"procedure", lazyregexp.Of(`(?i)\b(?:procedures?|sop|runbooks?|playbooks?|work instructions?|process(?:es)?|how-?to|guide|manual|handbook|checklist)\b`)},
	{"plan", lazyregexp.Of(`(?i)\b(?:plans?|bcp|drp|irp|bcp dr|roadmap|strategy)\b`)},
	{"standard", lazyregexp.Of(`(?i)\b(?:standards?|baselines?|hardening|requirements|specification)\b`)},
	{"policy", lazyregexp.Of(`(?i)\b(?:polic(?:y|ies)|directive|charter|code of conduct|rules|principles)\b`)},
}

var (
	policyText = lazyregexp.Of(`(?i)\bthis policy\b`)
	blankWords = lazyregexp.Of(`(?i)\[(?:insert|company|organi[sz]ation|your|enter|name|date)[^\]]*\]|\{\{|<(?:company|organi[sz]ation|insert)[^>]*>`)
	stampLine  = lazyregexp.Of(`(?m)^\W{0,2}(?:20\d\d-\d\d-\d\d[T ]\d\d:\d\d|\w{3} +\d{1,2} \d\d:\d\d:\d\d)`)
	normWords  = lazyregexp.Of(`(?i)\b(?:must|shall)\b`)
	stepWords  = lazyregexp.Of(`(?im)^\s*(?:step )?\d+[.)]\s+\w+`)
)

// licenceFile are names of the terms under which a collection is published: they say nothing of
// what its owner does.
var licenceFile = lazyregexp.Of(`(?i)(?:^|[/\\])(?:licen[sc]e|copying|notice)(?:\.(?:txt|md|rst|html?))?$`)

// licenceText is what hardly a paragraph of such terms is without, and a policy by that name is.
var licenceText = lazyregexp.Of(`(?i)licen[sc]|copyright|warrant|the software|derivative|trademark`)

func isLicence(filename, text string) bool {
	return licenceFile.MatchString(filename) && licenceText.MatchString(text)
}

// fileWords is a file name as words.
func fileWords(name string) string {
	return joints.Replace(name)
}

var joints = strings.NewReplacer("_", " ", "-", " ", ".", " ", "+", " ")

// Category guesses what kind of document it is: from its name first, since people
// name documents by their kind, then from its text. It is one of Categories.
func Category(filename, title, text string) string {
	if len(text) > 64<<10 {
		text = text[:64<<10]
	}
	if isLicence(filename, text) {
		return "other"
	}
	if len(blankWords.FindAllStringIndex(text, 4)) >= 3 {
		return "template"
	}
	base := filename
	if i := strings.LastIndexAny(base, `/\`); i >= 0 {
		base = base[i+1:]
	}
	stem, ext := base, ""
	if i := strings.LastIndexByte(base, '.'); i > 0 {
		stem, ext = base[:i], strings.ToLower(base[i:])
	}
	clean := fileWords
	for _, name := range []string{clean(title), clean(stem)} {
		// "Log management policy" is a policy: a kind at the end of the name wins.
		best, bestAt := "", -1
		for _, c := range categoryWords {
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
	case ext == ".log" || len(stampLine.FindAllStringIndex(text, 4)) >= 3:
		return "log"
	case policyText.MatchString(text):
		return "policy"
	case ext == ".csv" || ext == ".xlsx":
		return "register"
	case len(normWords.FindAllStringIndex(text, 4)) >= 3:
		return "policy"
	case len(stepWords.FindAllStringIndex(text, 4)) >= 3:
		return "procedure"
	}
	return "other"
}
