package workbook

import (
	"maps"
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/engine/catalog/scf"
)

// settleColumns decides on columns whose header alone does not: a header that the list of
// sources names, or that stands beside crosswalk columns and holds codes, is a framework
// too; and what is named like a framework but holds prose is not.
func (im *importer) settleColumns() {
	listed := map[string]bool{}
	for _, f := range im.sources {
		listed[f.slug] = true
	}
	held := make([]content, len(im.columns))
	for i := range im.columns {
		c := &im.columns[i]
		if c.role != crosswalk && c.role != unknown {
			continue
		}
		held[i] = im.content(c.index)
		switch {
		case c.role == crosswalk && held[i] == prose:
			im.warn(im.main.name, place(im.header+1, c.index+1), "%q is named like a framework but holds prose: kept as an unknown column", c.header)
			c.role = unknown
		case c.role == unknown && held[i] != prose && listed[scf.PlainSlug(c.header)]:
			c.role = crosswalk
		}
	}
	// A run of columns with codes that touches a known framework on either side.
	joined := make([]bool, len(im.columns))
	touch := func(i, beside int) {
		if im.columns[i].role == unknown && held[i] == codes &&
			beside >= 0 && beside < len(im.columns) && (im.columns[beside].role == crosswalk || joined[beside]) {
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
		if c.role != unknown {
			continue
		}
		if joined[i] {
			im.warn(im.main.name, place(im.header+1, c.index+1), "%q is taken for a framework: it stands among them and holds codes", c.header)
			c.role = crosswalk
			continue
		}
		im.warn(im.main.name, place(im.header+1, c.index+1), "%q is not known: kept as it is under extra", c.header)
		im.src.Statistics.UnknownColumns++
	}
	im.nameless()
}

// nameless keeps what stands in columns without a header.
func (im *importer) nameless() {
	named := map[int]bool{}
	for _, c := range im.columns {
		named[c.index] = true
	}
	first := map[int]int{} // column to the first row that fills it
	for row := len(im.main.rows) - 1; row > im.header; row-- {
		for col := range im.main.rows[row] {
			if !named[col] && im.main.text(row, col) != "" {
				first[col] = row
			}
		}
	}
	for _, col := range slices.Sorted(maps.Keys(first)) {
		letter := strings.TrimRight(place(1, col+1), "1")
		im.warn(im.main.name, place(first[col]+1, col+1), "column %s has no header: kept as it is under extra", letter)
		im.columns = append(im.columns, mainColumn{index: col, header: "Column " + letter})
		im.src.Statistics.UnknownColumns++
		im.headless++
	}
}

// content is what a column's cells look like.
type content int

const (
	mixed content = iota // or nothing
	codes                // short lines with digits, not all of them whole numbers or controls
	prose                // lines as long as sentences
)

// content judges a column by its cells.
func (im *importer) content(col int) content {
	var total, digits, long, whole, controls int
	for row := im.header + 1; row < len(im.main.rows); row++ {
		for _, line := range lines(im.main.cell(row, col)) {
			total++
			if strings.ContainsFunc(line, unicode.IsDigit) {
				digits++
			}
			if strings.IndexFunc(line, func(r rune) bool { return !unicode.IsDigit(r) }) < 0 {
				whole++
			}
			if scf.ValidCode(line) {
				controls++
			}
			if len(line) > 120 {
				long++
			}
		}
	}
	switch {
	case long*4 > total:
		return prose
	case total > 0 && long == 0 && digits*10 >= total*9 && whole < total && controls*2 < total:
		return codes
	}
	return mixed
}

// crosswalk reads every framework column of the controls' rows.
func (im *importer) crosswalk() {
	var columns []mainColumn
	for _, c := range im.columns {
		if c.role == crosswalk {
			columns = append(columns, c)
			im.src.Frameworks = append(im.src.Frameworks, im.framework(c))
		}
	}
	scf.AssignCodes(im.src.Frameworks, im.aliases)
	for f, c := range columns {
		im.column(f, c)
	}
}

// column reads one framework's cells. Requirements come in their natural order.
func (im *importer) column(f int, c mainColumn) {
	type link struct {
		control int
		code    string
	}
	var links []link
	distinct := map[string]int{}
	for control, row := range im.rows {
		raw := im.main.cell(row, c.index)
		if strings.TrimSpace(raw) == "" {
			continue
		}
		codes := im.codes(raw, row, c)
		for _, code := range codes {
			distinct[code] = 0
			links = append(links, link{control, code})
		}
	}
	ordered := make([]string, 0, len(distinct))
	for code := range distinct {
		ordered = append(ordered, code)
	}
	slices.SortFunc(ordered, scf.Natural)
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

// codes splits a crosswalk cell. The separator is the line break alone: codes hold
// blanks, slashes and brackets. In two cells of PCI DSS up to 2020.4 commas separate,
// among blanks and ranges; a faithful import does not guess, so they are told and kept.
func (im *importer) codes(raw string, row int, c mainColumn) []string {
	st := &im.src.Statistics
	st.CrosswalkCells++
	where := at{row + 1, c.index + 1}
	if im.main.survey.kinds[where] == isNumber {
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
			im.warn(im.main.name, place(where.row, where.col), "%q lists codes with commas: kept as one requirement", shorten(code))
		}
		out = append(out, code)
	}
	if stray {
		st.BlankCells++
	}
	return out
}

// focal is a row of the list of authoritative sources, later called focal documents.
type focal struct {
	slug, code, column, id, geography, publisher, title, url string
}

// framework describes a column by its header and what the list of sources says of it.
func (im *importer) framework(c mainColumn) scf.Framework {
	fw := scf.Framework{
		Name: c.header, Column: c.header, Jurisdiction: jurisdiction(c.header), Publisher: publisher(c.header),
	}
	if f := im.source(c.header); f != nil {
		fw.Title, fw.SourceURL = f.title, f.url
		if fw.Publisher == "" && f.publisher != "Federal" && f.publisher != "State" {
			fw.Publisher = f.publisher
		}
		if fw.Jurisdiction == "" {
			fw.Jurisdiction = f.geography
		}
		if id := scf.PlainSlug(f.id); id != "" && id == f.id {
			fw.Aliases = append(fw.Aliases, id)
		}
	}
	if fw.Jurisdiction == "" || fw.Jurisdiction == "Universal" || fw.Jurisdiction == "General" {
		fw.Jurisdiction = "International"
	}
	return fw
}

// source finds what the list of sources says of a header: under the same name, else under
// another that means the same.
func (im *importer) source(header string) *focal {
	slug, code := scf.PlainSlug(header), scf.Slug(header)
	var other *focal
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

// jurisdiction reads the region that a header begins with: "US", "US-CA", "EU", "Germany".
func jurisdiction(header string) string {
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

// publisher is a header's first word where that is a body which publishes.
func publisher(header string) string {
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
