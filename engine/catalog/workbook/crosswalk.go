package workbook

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/engine/catalog/scf"
)

// classifyColumnsByContent corrects the roles of columns by their content. An unknown column becomes a
// framework if the list of authoritative sources names it, or if it contains codes and is next to framework
// columns. A column that is named like a framework but contains prose becomes an unknown column.
func (im *importer) classifyColumnsByContent() {
	listed := map[string]bool{}
	for _, f := range im.sources {
		listed[f.slug] = true
	}
	content := make([]contentKind, len(im.columns))
	for i := range im.columns {
		c := &im.columns[i]
		if c.role != roleCrosswalk && c.role != roleUnknown {
			continue
		}
		content[i] = im.columnContentKind(c.index)
		switch {
		case c.role == roleCrosswalk && content[i] == contentProse:
			im.warn(im.main.name, cellName(im.headerRow+1, c.index+1),
				"column %q is named like a framework but contains prose; it was treated as unknown", c.header)
			c.role = roleUnknown
		case c.role == roleUnknown && content[i] != contentProse && listed[scf.Slug(c.header)]:
			c.role = roleCrosswalk
		}
	}
	// Mark runs of columns with codes that adjoin a framework on either side.
	joined := make([]bool, len(im.columns))
	touch := func(i, beside int) {
		if im.columns[i].role == roleUnknown && content[i] == contentCodes &&
			beside >= 0 && beside < len(im.columns) && (im.columns[beside].role == roleCrosswalk || joined[beside]) {
			joined[i] = true
		}
	}
	for i := range im.columns {
		touch(i, i-1)
	}
	for i := len(im.columns) - 1; i >= 0; i-- {
		touch(i, i+1)
	}
	for i := range im.columns {
		c := &im.columns[i]
		if c.role != roleUnknown {
			continue
		}
		if joined[i] {
			im.warn(im.main.name, cellName(im.headerRow+1, c.index+1),
				"column %q was treated as a framework because it contains codes and is next to other frameworks", c.header)
			c.role = roleCrosswalk
			continue
		}
		im.warn(im.main.name, cellName(im.headerRow+1, c.index+1), "unknown column %q; kept as extra", c.header)
		im.src.Statistics.UnknownColumns++
	}
	im.addHeaderlessColumnsAsUnknown()
}

// addHeaderlessColumnsAsUnknown adds the columns that have content but no header to the unknown columns.
func (im *importer) addHeaderlessColumnsAsUnknown() {
	named := map[int]bool{}
	for _, c := range im.columns {
		named[c.index] = true
	}
	first := map[int]int{} // first non-empty row by column
	for row := len(im.main.rows) - 1; row > im.headerRow; row-- {
		for col := range im.main.rows[row] {
			if !named[col] && im.main.trimmedCell(row, col) != "" {
				first[col] = row
			}
		}
	}
	for _, col := range slices.Sorted(maps.Keys(first)) {
		letter := strings.TrimRight(cellName(1, col+1), "1")
		im.warn(im.main.name, cellName(first[col]+1, col+1), "column %s has no header and was kept as an extra column", letter)
		im.columns = append(im.columns, mainColumn{index: col, header: "Column " + letter})
		im.src.Statistics.UnknownColumns++
		im.headerlessColumns++
	}
}

// contentKind is the kind of content in a column, such as codes or prose.
type contentKind int

const (
	contentMixed contentKind = iota // or empty
	contentCodes                    // short lines with digits, not all of them whole numbers or controls
	contentProse                    // at least a quarter of the lines are as long as sentences
)

// columnContentKind returns the kind of content that the cells of a column have.
func (im *importer) columnContentKind(col int) contentKind {
	var total, digits, long, whole, controls int
	for row := im.headerRow + 1; row < len(im.main.rows); row++ {
		for _, line := range splitLines(im.main.cell(row, col)) {
			total++
			if strings.ContainsFunc(line, unicode.IsDigit) {
				digits++
			}
			if strings.IndexFunc(line, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 {
				whole++
			}
			if scf.IsControlCode(line) {
				controls++
			}
			if len(line) > 120 {
				long++
			}
		}
	}
	switch {
	case long*4 > total:
		return contentProse
	case total > 0 && long == 0 && digits*10 >= total*9 && whole < total && controls*2 < total:
		return contentCodes
	}
	return contentMixed
}

// readFrameworkColumns reads the columns of all frameworks.
func (im *importer) readFrameworkColumns() {
	var columns []mainColumn
	for _, c := range im.columns {
		if c.role == roleCrosswalk {
			columns = append(columns, c)
			im.src.Frameworks = append(im.src.Frameworks, im.newFramework(c))
		}
	}
	scf.AssignFrameworkCodes(im.src.Frameworks, im.aliases)
	for f, c := range columns {
		im.readFrameworkColumn(f, c)
	}
}

// readFrameworkColumn reads one framework's requirements and mappings from its column. It sorts the
// requirements in natural order.
func (im *importer) readFrameworkColumn(f int, c mainColumn) {
	type link struct {
		control int
		code    string
	}
	var links []link
	distinct := map[string]int{}
	for control, row := range im.controlRows {
		raw := im.main.cell(row, c.index)
		if strings.TrimSpace(raw) == "" {
			continue
		}
		for _, code := range im.splitCodes(raw, row, c) {
			distinct[code] = 0
			links = append(links, link{control, code})
		}
	}
	ordered := slices.SortedFunc(maps.Keys(distinct), scf.CompareNatural)
	fw := &im.src.Frameworks[f]
	fw.Requirements = make([]scf.Requirement, len(ordered))
	for r, code := range ordered {
		fw.Requirements[r].Code = code
		distinct[code] = r
	}
	for _, l := range links {
		im.src.Mappings = append(im.src.Mappings, scf.Mapping{Control: l.control, Framework: f, Requirement: distinct[l.code]})
	}
}

// splitCodes splits a crosswalk cell into codes. It splits only at line breaks, because codes may contain
// blanks, slashes and brackets. Two PCI DSS cells in releases up to 2020.4 use commas, mixed with ranges;
// such a cell is kept as one code, with a warning.
func (im *importer) splitCodes(raw string, row int, c mainColumn) []string {
	st := &im.src.Statistics
	st.CrosswalkCells++
	where := cellRef{row + 1, c.index + 1}
	if im.main.survey.kinds[where] == kindNumber {
		st.NumericCells++
	}
	var out []string
	stray := false
	for line := range strings.SplitSeq(raw, "\n") {
		code := strings.TrimSpace(line)
		stray = stray || code != line
		if code == "" {
			continue
		}
		if slices.Contains(out, code) {
			st.DuplicateCodes++
			continue
		}
		if strings.Contains(code, ", ") && !strings.ContainsFunc(code, unicode.IsLetter) {
			im.warn(im.main.name, cellName(where.row, where.col), "%q may list several codes separated by commas; it was kept as one requirement",
				scf.Shorten(code))
		}
		out = append(out, code)
	}
	if stray {
		st.BlankCells++
	}
	return out
}

// focalDocument is a row of the list of authoritative sources. Newer releases call these focal documents.
type focalDocument struct {
	slug, code, column, id, geography, publisher, title, url string
}

// newFramework returns the framework for a column. Its details come from the header and the list of
// authoritative sources.
func (im *importer) newFramework(c mainColumn) scf.Framework {
	fw := scf.Framework{
		Name: c.header, Column: c.header, Jurisdiction: parseJurisdiction(c.header), Publisher: parsePublisher(c.header),
	}
	if f := im.findFocalDocument(c.header); f != nil {
		fw.Title, fw.SourceURL = f.title, f.url
		if fw.Publisher == "" && f.publisher != "Federal" && f.publisher != "State" {
			fw.Publisher = f.publisher
		}
		if fw.Jurisdiction == "" {
			fw.Jurisdiction = f.geography
		}
		if id := scf.Slug(f.id); id != "" && id == f.id {
			fw.Aliases = append(fw.Aliases, id)
		}
	}
	if fw.Jurisdiction == "" || fw.Jurisdiction == "Universal" || fw.Jurisdiction == "General" {
		fw.Jurisdiction = "International"
	}
	return fw
}

// findFocalDocument returns the row for a header in the list of authoritative sources: the row with the same name
// or, if there is none, the row whose name is an alias of the header. It returns nil if there is no such row.
func (im *importer) findFocalDocument(header string) *focalDocument {
	slug, code := scf.Slug(header), scf.FrameworkCode(header)
	var other *focalDocument
	for i := range im.sources {
		f := &im.sources[i]
		if f.slug == slug {
			return f
		}
		if other == nil && f.code == code {
			other = f
		}
	}
	return other
}

// parseJurisdiction returns the region at the beginning of a header, such as US, US-CA or Germany,
// or "" if there is none.
func parseJurisdiction(header string) string {
	h := strings.ReplaceAll(header, " - ", "-")
	words := strings.Fields(h)
	if len(words) == 0 {
		return ""
	}
	switch first := words[0]; {
	case first == "EMEA" || first == "APAC" || first == "Americas":
		rest := words[1:]
		if len(rest) == 0 {
			return first
		}
		for _, two := range twoWordCountries {
			if len(rest) > 1 && rest[0]+" "+rest[1] == two {
				return two
			}
		}
		if rest[0] == "Australian" {
			return "Australia"
		}
		return rest[0]
	case first == "US" || strings.HasPrefix(first, "US-"):
		return first
	}
	return ""
}

var twoWordCountries = []string{
	"Saudi Arabia", "South Africa", "South Korea", "New Zealand", "Hong Kong", "Costa Rica", "Czech Republic", "Slovak Republic",
}

// parsePublisher returns the publisher at the beginning of a header, or "" if there is none.
func parsePublisher(header string) string {
	first, _, _ := strings.Cut(header, " ")
	switch first {
	case "AICPA", "APEC", "BSI", "CIS", "COSO", "CSA", "ENISA", "IEC", "IMO", "ISO", "MITRE", "MPA", "MPAA", "NAIC",
		"NIST", "OECD", "OWASP", "SWIFT", "UL", "UN":
		return first
	case "ISO/SAE":
		return "ISO"
	case "PCI", "PCIDSS":
		return "PCI SSC"
	case "COBIT":
		return "ISACA"
	}
	return ""
}
