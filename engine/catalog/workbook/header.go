package workbook

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// role is what a column of the main sheet holds.
type role int

const (
	unknown role = iota
	domainName
	controlTitle
	controlCode
	description
	methods
	evidence
	question
	weight
	function
	cadence
	solution      // name: company size
	applicability // one text
	applies       // a mark; name: what it applies to
	scrmTier      // a mark; name: tier
	maturity      // level
	baseline      // a mark; name: slug
	risk          // a mark; name: code
	threat        // a mark; name: code
	errata
	compensation // name: which cell of the pair, level: which pair
	note         // kept as it is, known to exist in some releases
	summary      // repeats other columns
	crosswalk
)

// column is one column of the main sheet, keyed by its place: headers occur twice.
type mainColumn struct {
	index  int
	header string // white space collapsed
	role   role
	name   string
	level  int
}

var (
	maturityHeader = lazyregexp.Of(`^(?:[a-z|]+)-cmm (?:level )?([0-5])\b`)
	scrmHeader     = lazyregexp.Of(`^scrm\b.*\btier ([123])\b`)
	baselineHeader = lazyregexp.Of(`^scf[- ](?:core\b|community derived|scrms\b|[a-z]\b)`)
	riskHeader     = lazyregexp.Of(`^risk (r-[a-z]{2}-\d+)$`)
	threatHeader   = lazyregexp.Of(`^threat ([nm]t-\d+)$`)
	// 2026.3 has the compensating controls among the main sheet's columns.
	compensationHeader = lazyregexp.Of(`^(?:(possible) compensating control # ?(\d)|compensating control # ?(\d) (name|description|justification))$`)
	legacyHeader       = lazyregexp.Of(`^leg[ae]cy scf #|^orphaned controls\b|^risk if primary control\b`)
	summaryHeader      = lazyregexp.Of(`^(?:minimum|mimimum) security requirements\b|^(?:risk|control) threat summary$`)
	frameworkName      = lazyregexp.Of(`^(?:` + strings.Join([]string{
		// Regions, then publishers whose columns have none.
		`us\b`, `emea\b`, `apac\b`, `americas\b`, `eu\b`, `uk\b`,
		`aicpa\b`, `apec\b`, `bsi\b`, `cis\b`, `cmmc\b`, `cobit\b`, `coso\b`, `cr cmm\b`, `csa\b`, `enisa\b`, `etsi\b`,
		`fedramp\b`, `gapp\b`, `govramp\b`, `hipaa\b`, `hitrust\b`, `iec\b`, `imo\b`, `iso\b`, `itar\b`,
		`mitre\b`, `mpaa?\b`, `naic\b`, `niac\b`, `nist\b`, `oecd\b`, `owasp\b`, `pci ?dss\b`, `sae\b`, `scf dpmp\b`,
		`shared assessments\b`, `sparta\b`, `stateramp\b`, `swift\b`, `tisax\b`, `ul\b`, `un\b`,
	}, "|") + `)`)
)

// classify says what a header means, by what it says and never by where it stands.
func classify(header string) mainColumn {
	c := mainColumn{header: scf.Collapse(header)}
	h := strings.ToLower(c.header)
	has := func(prefix string) bool { return strings.HasPrefix(h, prefix) }
	switch {
	case h == "":
	case mandatoryRole(h) != unknown:
		c.role = mandatoryRole(h)
	case has("methods to comply"):
		c.role = methods
	case has("evidence request list"):
		c.role = evidence
	case has("scf control question"):
		c.role = question
	case has("relative control weight"), has("control weight"):
		c.role = weight
	case h == "function grouping", has("nist csf") && strings.HasSuffix(h, "function grouping"):
		c.role = function
	case has("conformity validation cadence"):
		c.role = cadence
	case compensationHeader.MatchString(h):
		m := compensationHeader.FindStringSubmatch(h)
		c.role, c.name, c.level = compensation, m[1]+m[4], int((m[2] + m[3])[0]-'0')
	case has("possible solutions"):
		c.role, c.name = solution, companySize(h)
	case has("identify minimum compliance"):
		c.role, c.name = baseline, "minimum-compliance"
	case has("identify discretionary security"):
		c.role, c.name = baseline, "discretionary-security"
	case summaryHeader.MatchString(h):
		c.role = summary
	case strings.Contains(h, "errata"):
		c.role = errata
	case h == "target audience", h == "applicability", legacyHeader.MatchString(h):
		c.role = note
	case h == "pptdf", h == "pptdf applicability":
		c.role = applicability
	case appliesTo(h) != "":
		c.role, c.name = applies, appliesTo(h)
	case maturityHeader.MatchString(h):
		c.role, c.level = maturity, int(maturityHeader.FindStringSubmatch(h)[1][0]-'0')
	case scrmHeader.MatchString(h):
		c.role, c.name = scrmTier, [...]string{"strategic", "operational", "tactical"}[scrmHeader.FindStringSubmatch(h)[1][0]-'1']
	case baselineHeader.MatchString(h):
		c.role, c.name = baseline, scf.PlainSlug(c.header)
	case riskHeader.MatchString(h):
		c.role, c.name = risk, strings.ToUpper(riskHeader.FindStringSubmatch(h)[1])
	case threatHeader.MatchString(h):
		c.role, c.name = threat, strings.ToUpper(threatHeader.FindStringSubmatch(h)[1])
	case frameworkName.MatchString(h):
		c.role = crosswalk
	}
	return c
}

func companySize(h string) string {
	for _, size := range []struct{ word, name string }{
		{"micro", "micro_small"}, {"small", "small"}, {"medium", "medium"}, {"large", "large"}, {"enterprise", "enterprise"},
	} {
		if strings.Contains(h, size.word) {
			return size.name
		}
	}
	return "any"
}

// appliesTo reads the five mark columns of 2024.2 to 2025.3: one of the words, alone or
// beside "PPTDF" and "Applicability".
func appliesTo(h string) string {
	word := ""
	for _, w := range strings.FieldsFunc(h, func(r rune) bool { return r == ' ' || r == '(' || r == ')' || r == '-' || r == ':' }) {
		switch w {
		case "pptdf", "applicability", "applicable":
		case "people", "process", "technology", "data", "facility":
			if word != "" {
				return ""
			}
			word = w
		default:
			return ""
		}
	}
	return word
}

// Columns without which a sheet is not the main one, as the SCF calls them, and as others
// have written where no column has the SCF's own name.
var mandatory = []struct {
	role   role
	name   string
	others []string
}{
	{domainName, "SCF Domain", []string{"domain", "scf domain name", "control domain"}},
	{controlTitle, "SCF Control", []string{"scf control name", "control name", "scf control title"}},
	{controlCode, "SCF #", []string{"scf control #", "scf id", "scf control id", "scf control number", "control #", "control id"}},
	{description, "Secure Controls Framework (SCF) Control Description", []string{"control description", "scf description"}},
}

// mandatoryRole is the role of a header in the SCF's own words, in lower case.
func mandatoryRole(h string) role {
	switch {
	case h == "scf domain":
		return domainName
	case h == "scf control":
		return controlTitle
	case h == "scf #":
		return controlCode
	case (strings.HasPrefix(h, "secure controls framework") || strings.HasPrefix(h, "scf")) && strings.HasSuffix(h, "control description"):
		return description
	}
	return unknown
}

// missing are the mandatory headers that a row lacks.
func missing(columns []mainColumn) []string {
	var out []string
	for _, m := range mandatory {
		if !slices.ContainsFunc(columns, func(c mainColumn) bool { return c.role == m.role }) {
			out = append(out, m.name)
		}
	}
	return out
}

func classifyAll(row []string) []mainColumn {
	var out []mainColumn
	for i, header := range row {
		if c := classify(header); c.header != "" {
			c.index = i
			out = append(out, c)
		}
	}
	for _, m := range mandatory {
		if slices.ContainsFunc(out, func(c mainColumn) bool { return c.role == m.role }) {
			continue
		}
		for i := range out {
			if out[i].role == unknown && slices.Contains(m.others, strings.ToLower(out[i].header)) {
				out[i].role = m.role
				break
			}
		}
	}
	return out
}

// mainHeader finds the row that names the main sheet's columns among a sheet's first; -1
// where the sheet is another.
func mainHeader(h *sheet) (int, []mainColumn) {
	for row := range h.rows {
		if columns := classifyAll(h.rows[row]); likeMain(h.name, columns) {
			return row, columns
		}
	}
	return -1, nil
}

var mainName = lazyregexp.Of(`(?i)^(?:secure controls framework|scf v?\d{4}\.\d+(?:\.\d+)*)$`)

// likeMain reports a sheet that by its columns holds the controls. A compliance extract
// (2020.3 has one for the GDPR) has the same four columns but no weights.
func likeMain(name string, columns []mainColumn) bool {
	if len(missing(columns)) > 0 {
		return false
	}
	return mainName.MatchString(strings.TrimSpace(name)) ||
		slices.ContainsFunc(columns, func(c mainColumn) bool { return c.role == weight })
}
