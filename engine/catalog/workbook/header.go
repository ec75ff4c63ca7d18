package workbook

import (
	"slices"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// columnRole is the kind of information in a column of the main sheet.
type columnRole int

const (
	roleUnknown columnRole = iota
	roleDomainName
	roleControlTitle
	roleControlCode
	roleDescription
	roleMethods
	roleEvidence
	roleQuestion
	roleWeight
	roleFunction
	roleCadence
	roleSolution      // name: company size
	roleApplicability // one text
	roleAppliesMark   // a mark; name: what it applies to
	roleSCRMTier      // a mark; name: tier
	roleMaturity      // level
	roleBaseline      // a mark; name: slug
	roleRisk          // a mark; name: code
	roleThreat        // a mark; name: code
	roleErrata
	roleCompensating // name: possible (the code), name or justification; level: number of the control
	roleNote         // a known column that is kept as it is
	roleSummary      // repeats other columns
	roleCrosswalk
)

// mainColumn is a column of the main sheet. It is identified by its index, because several columns can have
// the same header.
type mainColumn struct {
	index  int
	header string // whitespace collapsed
	role   columnRole
	name   string // see the roles
	level  int    // see the roles
}

var (
	maturityHeader = lazyregexp.New(`^(?:[a-z|]+)-cmm (?:level )?([0-5])\b`)
	scrmHeader     = lazyregexp.New(`^scrm\b.*\btier ([123])\b`)
	baselineHeader = lazyregexp.New(`^scf[- ](?:core\b|community derived|scrms\b|[a-z]\b)`)
	riskHeader     = lazyregexp.New(`^risk (r-[a-z]{2}-\d+)$`)
	threatHeader   = lazyregexp.New(`^threat ([nm]t-\d+)$`)
	// compensationHeader matches the headers of columns for compensating controls, which are part of the main
	// sheet in 2026.3.
	compensationHeader = lazyregexp.New(
		`^(?:(possible) compensating control # ?(\d)|compensating control # ?(\d) (name|description|justification))$`,
	)
	legacyHeader  = lazyregexp.New(`^leg[ae]cy scf #|^orphaned controls\b|^risk if primary control\b`)
	summaryHeader = lazyregexp.New(`^(?:minimum|mimimum) security requirements\b|^(?:risk|control) threat summary$`)
	frameworkName = lazyregexp.New(`^(?:` + strings.Join([]string{
		// Regions, then publishers whose columns name no region.
		`us\b`, `emea\b`, `apac\b`, `americas\b`, `eu\b`, `uk\b`,
		`aicpa\b`, `apec\b`, `bsi\b`, `cis\b`, `cmmc\b`, `cobit\b`, `coso\b`, `cr cmm\b`, `csa\b`, `enisa\b`, `etsi\b`,
		`fedramp\b`, `gapp\b`, `govramp\b`, `hipaa\b`, `hitrust\b`, `iec\b`, `imo\b`, `iso\b`, `itar\b`,
		`mitre\b`, `mpaa?\b`, `naic\b`, `niac\b`, `nist\b`, `oecd\b`, `owasp\b`, `pci ?dss\b`, `sae\b`, `scf dpmp\b`,
		`shared assessments\b`, `sparta\b`, `stateramp\b`, `swift\b`, `tisax\b`, `ul\b`, `un\b`,
	}, "|") + `)`)
)

// classifyHeader returns a column whose role is determined by its header alone, regardless of its position.
func classifyHeader(header string) mainColumn {
	c := mainColumn{header: scf.CollapseSpaces(header)}
	h := strings.ToLower(c.header)
	has := func(prefix string) bool { return strings.HasPrefix(h, prefix) }
	switch {
	case h == "":
	case mandatoryRole(h) != roleUnknown:
		c.role = mandatoryRole(h)
	case has("methods to comply"):
		c.role = roleMethods
	case has("evidence request list"):
		c.role = roleEvidence
	case has("scf control question"):
		c.role = roleQuestion
	case has("relative control weight"), has("control weight"):
		c.role = roleWeight
	case h == "function grouping", has("nist csf") && strings.HasSuffix(h, "function grouping"):
		c.role = roleFunction
	case has("conformity validation cadence"):
		c.role = roleCadence
	case compensationHeader.MatchString(h):
		m := compensationHeader.FindStringSubmatch(h)
		c.role, c.name, c.level = roleCompensating, m[1]+m[4], int((m[2] + m[3])[0]-'0')
	case has("possible solutions"):
		c.role, c.name = roleSolution, companySizeInHeader(h)
	case has("identify minimum compliance"):
		c.role, c.name = roleBaseline, "minimum-compliance"
	case has("identify discretionary security"):
		c.role, c.name = roleBaseline, "discretionary-security"
	case summaryHeader.MatchString(h):
		c.role = roleSummary
	case strings.Contains(h, "errata"):
		c.role = roleErrata
	case h == "target audience", h == "applicability", legacyHeader.MatchString(h):
		c.role = roleNote
	case h == "pptdf", h == "pptdf applicability":
		c.role = roleApplicability
	case applicabilityWord(h) != "":
		c.role, c.name = roleAppliesMark, applicabilityWord(h)
	case maturityHeader.MatchString(h):
		c.role, c.level = roleMaturity, int(maturityHeader.FindStringSubmatch(h)[1][0]-'0')
	case scrmHeader.MatchString(h):
		c.role, c.name = roleSCRMTier, [...]string{"strategic", "operational", "tactical"}[scrmHeader.FindStringSubmatch(h)[1][0]-'1']
	case baselineHeader.MatchString(h):
		c.role, c.name = roleBaseline, scf.Slug(c.header)
	case riskHeader.MatchString(h):
		c.role, c.name = roleRisk, strings.ToUpper(riskHeader.FindStringSubmatch(h)[1])
	case threatHeader.MatchString(h):
		c.role, c.name = roleThreat, strings.ToUpper(threatHeader.FindStringSubmatch(h)[1])
	case frameworkName.MatchString(h):
		c.role = roleCrosswalk
	}
	return c
}

func companySizeInHeader(h string) string {
	for _, size := range []struct{ word, name string }{
		{"micro", "micro_small"}, {"small", "small"}, {"medium", "medium"}, {"large", "large"}, {"enterprise", "enterprise"},
	} {
		if strings.Contains(h, size.word) {
			return size.name
		}
	}
	return "any"
}

// applicabilityWord returns the word that names the subject of an applicability column, such as "people", or
// "" for any other header. Releases 2024.2 to 2025.3 have five such columns. The header may also contain
// "PPTDF" and "Applicability".
func applicabilityWord(h string) string {
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

// mandatoryColumns lists the columns that the main sheet must have. Each has the name that the SCF uses, and
// other names that are accepted if that one is missing.
var mandatoryColumns = []struct {
	role   columnRole
	name   string
	others []string
}{
	{roleDomainName, "SCF Domain", []string{"domain", "scf domain name", "control domain"}},
	{roleControlTitle, "SCF Control", []string{"scf control name", "control name", "scf control title"}},
	{roleControlCode, "SCF #", []string{"scf control #", "scf id", "scf control id", "scf control number", "control #", "control id"}},
	{roleDescription, "Secure Controls Framework (SCF) Control Description", []string{"control description", "scf description"}},
}

// mandatoryRole returns the role of the mandatory column that the SCF calls h, or roleUnknown if there is
// none. h must be in lower case.
func mandatoryRole(h string) columnRole {
	switch {
	case h == "scf domain":
		return roleDomainName
	case h == "scf control":
		return roleControlTitle
	case h == "scf #":
		return roleControlCode
	case (strings.HasPrefix(h, "secure controls framework") || strings.HasPrefix(h, "scf")) && strings.HasSuffix(h, "control description"):
		return roleDescription
	}
	return roleUnknown
}

// missingColumns returns the names of the mandatory columns that are missing.
func missingColumns(columns []mainColumn) []string {
	var out []string
	for _, m := range mandatoryColumns {
		if !slices.ContainsFunc(columns, func(c mainColumn) bool { return c.role == m.role }) {
			out = append(out, m.name)
		}
	}
	return out
}

// classifyHeaders returns the columns that a header row defines.
func classifyHeaders(row []string) []mainColumn {
	var out []mainColumn
	for i, header := range row {
		if c := classifyHeader(header); c.header != "" {
			c.index = i
			out = append(out, c)
		}
	}
	for _, m := range mandatoryColumns {
		if slices.ContainsFunc(out, func(c mainColumn) bool { return c.role == m.role }) {
			continue
		}
		for i := range out {
			if out[i].role == roleUnknown && slices.Contains(m.others, strings.ToLower(out[i].header)) {
				out[i].role = m.role
				break
			}
		}
	}
	return out
}

// findMainHeader returns the index of the main sheet's header row, and the columns. It returns -1 if h is not
// the main sheet.
func findMainHeader(h *sheet) (int, []mainColumn) {
	for row := range h.rows {
		if columns := classifyHeaders(h.rows[row]); isMainSheet(h.name, columns) {
			return row, columns
		}
	}
	return -1, nil
}

var mainSheetName = lazyregexp.New(`(?i)^(?:secure controls framework|scf v?\d{4}\.\d+(?:\.\d+)*)$`)

// isMainSheet reports whether a sheet with these columns is the main one, which contains the controls. An
// extract for one law, such as that for the GDPR in 2020.3, also has the mandatory columns, but it has no
// weights.
func isMainSheet(name string, columns []mainColumn) bool {
	if len(missingColumns(columns)) > 0 {
		return false
	}
	return mainSheetName.MatchString(strings.TrimSpace(name)) ||
		slices.ContainsFunc(columns, func(c mainColumn) bool { return c.role == roleWeight })
}
