package workbook

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// auxiliaryTable is the table in a sheet other than the main one.
type auxiliaryTable struct {
	*sheet
	headerRow   int
	columnNames []string // in lower case
}

// findColumn returns the index of the first column whose header begins with the prefix, or -1 if no header does.
func (t *auxiliaryTable) findColumn(prefix string) int { return t.findColumnFrom(0, prefix) }

// findColumnFrom is like findColumn, but starts at a given column.
func (t *auxiliaryTable) findColumnFrom(from int, prefix string) int {
	for i := from; i < len(t.columnNames); i++ {
		if strings.HasPrefix(t.columnNames[i], prefix) {
			return i
		}
	}
	return -1
}

// readPhase determines whether an auxiliary sheet is read before or after the main sheet.
type readPhase int

const (
	beforeMain readPhase = iota
	afterMain
)

// auxiliarySheets lists the known auxiliary sheets. Each is recognized by a header that no other sheet has.
var auxiliarySheets = []struct {
	phase  readPhase
	header string // beginning of a header, in lower case
	read   func(*importer, *auxiliaryTable)
}{
	{beforeMain, "focal document identifier", (*importer).readFocalDocuments},
	{beforeMain, "mapping column header", (*importer).readFocalDocuments},
	{beforeMain, "authoritative source -", (*importer).readFocalDocuments},
	{afterMain, "scf identifier", (*importer).readDomains},
	{afterMain, "erl #", (*importer).readEvidence},
	{afterMain, "scf ao #", (*importer).readObjectives},
	{afterMain, "ao #", (*importer).readObjectives},
	{afterMain, "possible compensating control #1", (*importer).readCompensatingControls},
	{afterMain, "principle name", (*importer).readPrinciples},
	{afterMain, "risk #", (*importer).readRisks},
	{afterMain, "threat #", (*importer).readThreats},
}

// readAuxiliary reads the auxiliary sheets that belong to a phase. In the phase after the main sheet, it also
// warns of unknown sheets.
func (im *importer) readAuxiliary(ctx context.Context, heads []*sheet, main int, current readPhase) error {
	for i, head := range heads {
		if i == main {
			continue
		}
		known := false
		for _, kind := range auxiliarySheets {
			header := findHeaderRow(head, kind.header)
			if header < 0 {
				continue
			}
			known = true
			if kind.phase != current {
				break
			}
			s, err := im.book.readSheet(ctx, im.book.parts[i], im.book.limits.Rows, true)
			if err != nil {
				return err
			}
			t := &auxiliaryTable{sheet: s, headerRow: header}
			for _, name := range s.rows[header] {
				t.columnNames = append(t.columnNames, strings.ToLower(scf.CollapseSpaces(name)))
			}
			kind.read(im, t)
			break
		}
		if !known && current == afterMain {
			im.warn(head.name, "", "the sheet is unknown and was skipped")
		}
	}
	return nil
}

// findHeaderRow returns the first row with a cell that begins with the prefix, or -1 if no row has one.
func findHeaderRow(s *sheet, prefix string) int {
	for row := range s.rows {
		for _, name := range s.rows[row] {
			if strings.HasPrefix(strings.ToLower(scf.CollapseSpaces(name)), prefix) && len(name) < 200 {
				return row
			}
		}
	}
	return -1
}

// readFocalDocuments reads the sheet that lists the authoritative sources. It describes the frameworks.
func (im *importer) readFocalDocuments(t *auxiliaryTable) {
	column := max(t.findColumn("mapping column header"), t.findColumn("scf column header"))
	if column < 0 { // before 2021, the list does not state the columns
		return
	}
	publisher, geography := t.findColumn("source"), t.findColumn("geography")
	title, url := t.findColumn("authoritative source -"), t.findColumn("url")
	if title < 0 {
		title = t.findColumn("focal document title")
	}
	if url < 0 {
		url = t.findColumn("focal document source")
	}
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		header := scf.CollapseSpaces(t.cell(row, column))
		if header == "" { // legend rows have no column name
			continue
		}
		im.sources = append(im.sources, focalDocument{
			slug:      scf.Slug(header),
			code:      scf.FrameworkCode(header),
			column:    header,
			id:        strings.ToLower(t.trimmedCell(row, t.findColumn("focal document identifier"))),
			geography: t.trimmedCell(row, geography),
			publisher: scf.CollapseSpaces(t.trimmedCell(row, publisher)),
			title:     scf.CollapseSpaces(t.trimmedCell(row, title)),
			url:       t.trimmedCell(row, url),
		})
	}
}

var domainCode = lazyregexp.New(`^[A-Z]{3}$`)

// readDomains reads the list of domains.
func (im *importer) readDomains(t *auxiliaryTable) {
	code, name := t.findColumn("scf identifier"), t.findColumn("scf domain")
	principle, intent := -1, t.findColumn("principle intent")
	for i, n := range t.columnNames {
		if strings.HasSuffix(n, "principles") {
			principle = i
		}
	}
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		d := scf.Domain{
			Code: t.trimmedCell(row, code), Name: scf.CollapseSpaces(t.cell(row, name)),
			Principle: t.trimmedCell(row, principle), Intent: t.trimmedCell(row, intent),
		}
		if !domainCode.MatchString(d.Code) { // totals
			continue
		}
		if slices.ContainsFunc(im.src.Domains, func(o scf.Domain) bool { return o.Code == d.Code }) {
			im.warn(t.name, cellName(row+1, code+1), "domain %s is listed twice; using the first", d.Code)
			continue
		}
		im.src.Domains = append(im.src.Domains, d)
	}
}

// buildDomains builds the domains from the prefixes of the control codes, in the order of the
// controls. The name of a domain is the one that most of its controls have in the main sheet,
// because the list of domains may have an older name. Principles and intents are taken from the
// list of domains.
func (im *importer) buildDomains() {
	listed := im.src.Domains
	im.src.Domains = nil
	names := map[string]map[string]int{}
	var order []string
	named, _ := im.columnByRole(roleDomainName)
	for i := range im.src.Controls {
		prefix := im.src.Controls[i].DomainCode()
		if names[prefix] == nil {
			names[prefix] = map[string]int{}
			order = append(order, prefix)
		}
		if name := scf.CollapseSpaces(im.main.cell(im.controlRows[i], named.index)); name != "" {
			names[prefix][name]++
		}
	}
	for _, prefix := range order {
		d := scf.Domain{Code: prefix}
		for _, name := range slices.Sorted(maps.Keys(names[prefix])) {
			if d.Name == "" || names[prefix][name] > names[prefix][d.Name] {
				d.Name = name
			}
		}
		for _, name := range slices.Sorted(maps.Keys(names[prefix])) {
			if name != d.Name {
				im.warn(im.main.name, "", "most controls of domain %s use the name %q; controls that use %q instead: %d",
					prefix, d.Name, name, names[prefix][name])
			}
		}
		for _, l := range listed {
			if l.Code != prefix {
				continue
			}
			d.Principle, d.Intent = l.Principle, l.Intent
			if d.Name == "" {
				d.Name = l.Name
			} else if l.Name != d.Name && l.Name != "" {
				im.warn("", "", "domain %s has the name %q in its controls, but %q in the list of domains", prefix, d.Name, l.Name)
			}
		}
		if d.Name == "" {
			d.Name = prefix
		}
		im.src.Domains = append(im.src.Domains, d)
	}
	for _, l := range listed {
		if _, used := names[l.Code]; !used {
			im.warn("", "", "domain %s has no controls and was skipped", l.Code)
		}
	}
}

// readObjectives reads the assessment objectives.
func (im *importer) readObjectives(t *auxiliaryTable) {
	control, code, text := t.findColumn("scf #"), max(t.findColumn("scf ao #"), t.findColumn("ao #")), -1
	for i, n := range t.columnNames {
		if text < 0 && i != code && strings.Contains(n, "assessment objective") && !strings.Contains(n, "origin") {
			text = i
		}
	}
	if control < 0 || text < 0 {
		im.warn(t.name, cellName(t.headerRow+1, 1),
			"the sheet was skipped because it has no column for control codes or no column for objectives")
		return
	}
	applies, origins, rigor := t.findColumn("pptdf"), t.findColumn("scf assessment objective (ao) origin"), t.findColumn("assessment rigor")
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		id := t.trimmedCell(row, control)
		if id == "" && t.trimmedCell(row, code) == "" {
			continue
		}
		i, ok := im.byCode[id]
		if !ok {
			im.warn(
				t.name,
				cellName(row+1, control+1),
				"objective %s doesn't belong to any control in the catalog and was skipped",
				scf.Shorten(t.trimmedCell(row, code)),
			)
			continue
		}
		o := scf.Objective{Code: t.trimmedCell(row, code), Text: t.trimmedCell(row, text), Origins: splitLines(t.cell(row, origins))}
		if o.Text == "" {
			im.warn(t.name, cellName(row+1, text+1), "objective %s has no text and was skipped", scf.Shorten(o.Code))
			continue
		}
		if word := t.trimmedCell(row, applies); word != "" {
			o.Applicability = im.parseApplicability(t.name, word, cellName(row+1, applies+1))
		}
		if n, err := strconv.Atoi(t.trimmedCell(row, rigor)); err == nil && n >= 1 && n <= 3 {
			o.Rigor = n
		} else if t.trimmedCell(row, rigor) != "" {
			im.warn(t.name, cellName(row+1, rigor+1), "rigor %q is not 1, 2 or 3", scf.Shorten(t.trimmedCell(row, rigor)))
		}
		im.src.Controls[i].Objectives = append(im.src.Controls[i].Objectives, o)
	}
}

// readCompensatingControls reads the compensating controls, each from the four cells that start at a column
// named "Possible Compensating Control #N". In 2026.1.1, the headers are shifted: whatever they say, the
// cells contain the code, name, description and justification. So the code is taken from the first of the
// four cells that contains one.
func (im *importer) readCompensatingControls(t *auxiliaryTable) {
	primary := t.findColumn("scf control #")
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		i, ok := im.byCode[t.trimmedCell(row, primary)]
		if !ok {
			if t.trimmedCell(row, primary) != "" {
				im.warn(t.name, cellName(row+1, primary+1), "%q is not a control in the catalog", scf.Shorten(t.trimmedCell(row, primary)))
			}
			continue
		}
		const prefix = "possible compensating control #"
		for from := t.findColumn(prefix); from >= 0; from = t.findColumnFrom(from+1, prefix) {
			if k, at := parseCompensatingControl(t, row, from); k.Control != "" {
				if _, known := im.byCode[k.Control]; !known {
					im.warn(t.name, cellName(row+1, at+1), "%s is not a control in the catalog", k.Control)
				}
				im.src.Controls[i].Compensating = append(im.src.Controls[i].Compensating, k)
			}
		}
	}
}

// parseCompensatingControl returns the compensating control in the four cells that start at column from, and
// the column that contains its code.
func parseCompensatingControl(t *auxiliaryTable, row, from int) (k scf.CompensatingControl, at int) {
	for at = from; at < from+4; at++ {
		if scf.IsControlCode(t.trimmedCell(row, at)) {
			k.Control = t.trimmedCell(row, at)
			break
		}
	}
	switch at {
	case from: // code, name, description, justification
		k.Name, k.Justification = t.trimmedCell(row, from+1), t.trimmedCell(row, from+3)
	case from + 2: // as labelled: description, name, code, justification
		k.Name, k.Justification = t.trimmedCell(row, from+1), t.trimmedCell(row, from+3)
	case from + 1, from + 3:
		k.Name = t.trimmedCell(row, from)
	}
	k.Name = scf.CollapseSpaces(k.Name)
	return k, at
}

// readPrinciples reads the privacy principles. In newer releases, a principle has one row for each of its
// controls; these rows are merged.
func (im *importer) readPrinciples(t *auxiliaryTable) {
	number, name, text := t.findColumn("#"), t.findColumn("principle name"), -1
	control := t.findColumn("scf #")
	for i, n := range t.columnNames {
		if text < 0 && strings.Contains(n, "principle") && strings.HasSuffix(n, "description") {
			text = i
		}
		if control < 0 && n == "secure controls framework (scf)" {
			control = i
		}
	}
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		p := scf.Principle{
			Number: t.trimmedCell(row, number), Name: scf.CollapseSpaces(t.cell(row, name)), Description: t.trimmedCell(row, text),
		}
		if p.Name == "" && p.Number == "" {
			continue
		}
		all := im.src.Principles
		if n := len(all); n == 0 || all[n-1].Number != p.Number || all[n-1].Name != p.Name {
			im.src.Principles = append(all, p)
		}
		into := &im.src.Principles[len(im.src.Principles)-1]
		for _, code := range splitLines(t.cell(row, control)) {
			if _, known := im.byCode[code]; !known {
				im.warn(t.name, cellName(row+1, control+1), "%q is not a control in the catalog", scf.Shorten(code))
				continue
			}
			if !slices.Contains(into.Controls, code) {
				into.Controls = append(into.Controls, code)
			}
		}
	}
}

func (im *importer) readRisks(t *auxiliaryTable) { im.src.Risks = readHazards(t, "risk", riskCode) }
func (im *importer) readThreats(t *auxiliaryTable) {
	im.src.Threats = readHazards(t, "threat", threatCode)
}

var (
	riskCode   = lazyregexp.New(`^R-[A-Z]{2}-\d+$`)
	threatCode = lazyregexp.New(`^[NM]T-\d+$`)
)

// readHazards reads a risk catalog or a threat catalog. The name of a group is only in the group's first row.
// Rows without a code are ignored: they are second headers or notes.
func readHazards(t *auxiliaryTable, word string, valid *lazyregexp.Regexp) []scf.Hazard {
	group, code, title := t.findColumn(word+" grouping"), t.findColumn(word+" #"), t.findColumn(word+"*")
	text, function := t.findColumnFrom(title+1, "description"), t.findColumn("nist csf")
	if text < 0 {
		text = t.findColumn(word + " description")
	}
	var out []scf.Hazard
	last := ""
	for row := t.headerRow + 1; row < len(t.rows); row++ {
		id := t.trimmedCell(row, code)
		if !valid.MatchString(id) {
			continue
		}
		if g := scf.CollapseSpaces(t.cell(row, group)); g != "" {
			last = g
		}
		out = append(out, scf.Hazard{
			Code: id, Group: last, Title: scf.CollapseSpaces(t.cell(row, title)), Description: t.trimmedCell(row, text),
			CSFFunction: strings.ToLower(t.trimmedCell(row, function)),
		})
	}
	return out
}
