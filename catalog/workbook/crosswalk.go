package workbook

import (
	"slices"
	"strings"
	"unicode"

	"github.com/scf-service/service/catalog"
)

// settleColumns decides on columns whose header alone does not: a header that the list of
// sources names, or that stands between crosswalk columns and holds codes, is a framework
// too; and what is named like a framework but holds prose is not.
func (im *importer) settleColumns() {
	listed := map[string]bool{}
	for _, f := range im.sources {
		listed[f.slug] = true
	}
	beside := func(i int) bool {
		return i > 0 && im.columns[i-1].role == crosswalk && i+1 < len(im.columns) && im.columns[i+1].role == crosswalk
	}
	for i := range im.columns {
		c := &im.columns[i]
		if c.role != crosswalk && c.role != unknown {
			continue
		}
		where := place(1, c.index+1)
		codes, prose := im.content(c.index)
		switch {
		case c.role == crosswalk && prose:
			im.warn(im.main.name, where, "%q is named like a framework but holds prose: kept as an unknown column", c.header)
			c.role = unknown
		case c.role == unknown && !prose && listed[catalog.PlainSlug(c.header)]:
			c.role = crosswalk
		case c.role == unknown && codes && beside(i):
			im.warn(im.main.name, where, "%q is taken for a framework: it stands among them and holds codes", c.header)
			c.role = crosswalk
		case c.role == unknown:
			im.warn(im.main.name, where, "%q is not known: kept as it is under extra", c.header)
		}
		if c.role == unknown {
			im.src.Statistics.UnknownColumns++
		}
	}
}

// content judges a column by its cells: codes are short lines, most with a digit; prose
// has lines as long as sentences.
func (im *importer) content(col int) (codes, prose bool) {
	var total, digits, long int
	for row := 1; row < len(im.main.rows); row++ {
		for _, line := range lines(im.main.cell(row, col)) {
			total++
			if strings.ContainsFunc(line, unicode.IsDigit) {
				digits++
			}
			if len(line) > 120 {
				long++
			}
		}
	}
	return total > 0 && long == 0 && digits*10 >= total*9, long*4 > total
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
	catalog.AssignCodes(im.src.Frameworks)
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
	slices.SortFunc(ordered, catalog.Natural)
	fw := &im.src.Frameworks[f]
	fw.Requirements = make([]catalog.Requirement, len(ordered))
	for r, code := range ordered {
		fw.Requirements[r].Code = code
		distinct[code] = r
	}
	for _, l := range links {
		im.src.Mappings = append(im.src.Mappings, catalog.Mapping{Control: l.control, Framework: f, Requirement: distinct[l.code]})
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
	slug, column, geography, publisher, title, url string
}

// framework describes a column by its header and what the list of sources says of it.
func (im *importer) framework(c mainColumn) catalog.Framework {
	fw := catalog.Framework{
		Name: c.header, Column: c.header, Jurisdiction: jurisdiction(c.header), Publisher: publisher(c.header),
	}
	slug := catalog.PlainSlug(c.header)
	for i := range im.sources {
		f := &im.sources[i]
		if f.slug != slug {
			continue
		}
		fw.Title, fw.SourceURL = f.title, f.url
		if fw.Publisher == "" && f.publisher != "Federal" && f.publisher != "State" {
			fw.Publisher = f.publisher
		}
		if fw.Jurisdiction == "" {
			fw.Jurisdiction = f.geography
		}
		break
	}
	if fw.Jurisdiction == "" || fw.Jurisdiction == "Universal" || fw.Jurisdiction == "General" {
		fw.Jurisdiction = "International"
	}
	return fw
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
