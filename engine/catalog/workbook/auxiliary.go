package workbook

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/internal/lazyregexp"
)

// table is an auxiliary sheet from its header on; columns are found by their headers.
type table struct {
	*sheet
	header int // row of the header
	names  []string
}

// col finds the first column whose header begins with the text, from a place on; -1 where none does.
func (t *table) col(prefix string) int { return t.colFrom(0, prefix) }

func (t *table) colFrom(from int, prefix string) int {
	for i := from; i < len(t.names); i++ {
		if strings.HasPrefix(t.names[i], prefix) {
			return i
		}
	}
	return -1
}

type phase int

const (
	beforeMain phase = iota
	afterMain
)

// kindsOfSheet recognise an auxiliary sheet by a header it alone has.
var kindsOfSheet = []struct {
	phase  phase
	header string // beginning of a header, in lower case
	read   func(*importer, *table)
}{
	{beforeMain, "focal document identifier", (*importer).readSources},
	{beforeMain, "mapping column header", (*importer).readSources},
	{beforeMain, "authoritative source -", (*importer).readSources},
	{afterMain, "scf identifier", (*importer).readDomains},
	{afterMain, "erl #", (*importer).readEvidence},
	{afterMain, "scf ao #", (*importer).readObjectives},
	{afterMain, "ao #", (*importer).readObjectives},
	{afterMain, "possible compensating control #1", (*importer).readCompensating},
	{afterMain, "principle name", (*importer).readPrinciples},
	{afterMain, "risk #", (*importer).readRisks},
	{afterMain, "threat #", (*importer).readThreats},
}

// auxiliary reads the sheets of a phase. In the later one it also tells which sheets
// were not read at all.
func (im *importer) auxiliary(ctx context.Context, heads []*sheet, main int, now phase) error {
	for i, head := range heads {
		if i == main {
			continue
		}
		known := false
		for _, kind := range kindsOfSheet {
			header := headerRow(head, kind.header)
			if header < 0 {
				continue
			}
			known = true
			if kind.phase != now {
				break
			}
			s, err := im.book.read(ctx, im.book.parts[i], im.book.limits.Rows, true)
			if err != nil {
				return err
			}
			t := &table{sheet: s, header: header}
			for _, name := range s.rows[header] {
				t.names = append(t.names, strings.ToLower(scf.Collapse(name)))
			}
			kind.read(im, t)
			break
		}
		if !known && now == afterMain {
			im.warn(head.name, "", "the sheet is not known and was not read")
		}
	}
	return nil
}

func headerRow(s *sheet, prefix string) int {
	for row := range s.rows {
		for _, name := range s.rows[row] {
			if strings.HasPrefix(strings.ToLower(scf.Collapse(name)), prefix) && len(name) < 200 {
				return row
			}
		}
	}
	return -1
}

func (im *importer) readSources(t *table) {
	column := max(t.col("mapping column header"), t.col("scf column header"))
	if column < 0 { // before 2021 the list does not say which column a source has
		return
	}
	publisher, geography := t.col("source"), t.col("geography")
	title, url := t.col("authoritative source -"), t.col("url")
	if title < 0 {
		title = t.col("focal document title")
	}
	if url < 0 {
		url = t.col("focal document source")
	}
	for row := t.header + 1; row < len(t.rows); row++ {
		header := scf.Collapse(t.cell(row, column))
		if header == "" { // legend rows name no column
			continue
		}
		im.sources = append(im.sources, focal{
			slug: scf.PlainSlug(header), code: scf.Slug(header), column: header, id: strings.ToLower(t.text(row, t.col("focal document identifier"))), geography: t.text(row, geography), publisher: scf.Collapse(t.text(row, publisher)),
			title: scf.Collapse(t.text(row, title)), url: t.text(row, url),
		})
	}
}

var domainCode = lazyregexp.Of(`^[A-Z]{3}$`)

func (im *importer) readDomains(t *table) {
	code, name := t.col("scf identifier"), t.col("scf domain")
	principle, intent := -1, t.col("principle intent")
	for i, n := range t.names {
		if strings.HasSuffix(n, "principles") {
			principle = i
		}
	}
	for row := t.header + 1; row < len(t.rows); row++ {
		d := scf.Domain{
			Code: t.text(row, code), Name: scf.Collapse(t.cell(row, name)),
			Principle: t.text(row, principle), Intent: t.text(row, intent),
		}
		if !domainCode.MatchString(d.Code) { // totals
			continue
		}
		if slices.ContainsFunc(im.src.Domains, func(o scf.Domain) bool { return o.Code == d.Code }) {
			im.warn(t.name, place(row+1, code+1), "domain %s is listed twice: the first counts", d.Code)
			continue
		}
		im.src.Domains = append(im.src.Domains, d)
	}
}

// nameDomains makes the list of domains out of the controls' prefixes, in the order of
// the controls. Names are the main sheet's most frequent spelling; the list of domains
// adds principle and intent, and sometimes still has an older name.
func (im *importer) nameDomains() {
	listed := im.src.Domains
	im.src.Domains = nil
	names := map[string]map[string]int{}
	var order []string
	named, _ := im.columnOf(domainName)
	for i := range im.src.Controls {
		prefix := im.src.Controls[i].Domain()
		if names[prefix] == nil {
			names[prefix] = map[string]int{}
			order = append(order, prefix)
		}
		if name := scf.Collapse(im.main.cell(im.rows[i], named.index)); name != "" {
			names[prefix][name]++
		}
	}
	for _, prefix := range order {
		d := scf.Domain{Code: prefix}
		for _, name := range sortedKeys(names[prefix]) {
			if d.Name == "" || names[prefix][name] > names[prefix][d.Name] {
				d.Name = name
			}
		}
		for _, name := range sortedKeys(names[prefix]) {
			if name != d.Name {
				im.warn(im.main.name, "", "domain %s is called %q by most controls, %q by %d", prefix, d.Name, name, names[prefix][name])
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
				im.warn("", "", "domain %s is called %q by its controls, %q by the list of domains", prefix, d.Name, l.Name)
			}
		}
		if d.Name == "" {
			d.Name = prefix
		}
		im.src.Domains = append(im.src.Domains, d)
	}
	for _, l := range listed {
		if _, used := names[l.Code]; !used {
			im.warn("", "", "domain %s has no controls and was left out", l.Code)
		}
	}
}

func sortedKeys[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

func (im *importer) readObjectives(t *table) {
	control, code, text := t.col("scf #"), max(t.col("scf ao #"), t.col("ao #")), -1
	for i, n := range t.names {
		if text < 0 && i != code && strings.Contains(n, "assessment objective") && !strings.Contains(n, "origin") {
			text = i
		}
	}
	if control < 0 || text < 0 {
		im.warn(t.name, place(t.header+1, 1), "the sheet has no column of control codes or of objectives and was not read")
		return
	}
	applies, origins, rigor := t.col("pptdf"), t.col("scf assessment objective (ao) origin"), t.col("assessment rigor")
	for row := t.header + 1; row < len(t.rows); row++ {
		id := t.text(row, control)
		if id == "" && t.text(row, code) == "" {
			continue
		}
		i, ok := im.byCode[id]
		if !ok {
			im.warn(t.name, place(row+1, control+1), "objective %s belongs to no control of the catalog", shorten(t.text(row, code)))
			continue
		}
		o := scf.Objective{Code: t.text(row, code), Text: t.text(row, text), Origins: lines(t.cell(row, origins))}
		if o.Text == "" {
			im.warn(t.name, place(row+1, text+1), "objective %s has no text and was left out", shorten(o.Code))
			continue
		}
		if word := t.text(row, applies); word != "" {
			o.Applicability = im.applicabilityOf(t.name, word, place(row+1, applies+1))
		}
		if n, err := strconv.Atoi(t.text(row, rigor)); err == nil && n >= 1 && n <= 3 {
			o.Rigor = n
		} else if t.text(row, rigor) != "" {
			im.warn(t.name, place(row+1, rigor+1), "rigor %q is not 1, 2 or 3", shorten(t.text(row, rigor)))
		}
		im.src.Controls[i].Objectives = append(im.src.Controls[i].Objectives, o)
	}
}

// readCompensating reads the pairs behind "Possible Compensating Control #N". In 2026.1.1
// the labels are shifted against the data: code, name, description, justification stand
// under them in this order. So the code is whichever of the four cells holds one.
func (im *importer) readCompensating(t *table) {
	primary := t.col("scf control #")
	for row := t.header + 1; row < len(t.rows); row++ {
		i, ok := im.byCode[t.text(row, primary)]
		if !ok {
			if t.text(row, primary) != "" {
				im.warn(t.name, place(row+1, primary+1), "%q is no control of the catalog", shorten(t.text(row, primary)))
			}
			continue
		}
		for from := t.col("possible compensating control #"); from >= 0; from = t.colFrom(from+1, "possible compensating control #") {
			if k, at := compensating(t, row, from); k.Control != "" {
				if _, known := im.byCode[k.Control]; !known {
					im.warn(t.name, place(row+1, at+1), "%s is no control of the catalog", k.Control)
				}
				im.src.Controls[i].Compensating = append(im.src.Controls[i].Compensating, k)
			}
		}
	}
}

func compensating(t *table, row, from int) (k scf.Compensating, at int) {
	for at = from; at < from+4; at++ {
		if scf.ValidCode(t.text(row, at)) {
			k.Control = t.text(row, at)
			break
		}
	}
	switch at {
	case from: // code, name, description, justification
		k.Name, k.Justification = t.text(row, from+1), t.text(row, from+3)
	case from + 2: // as labelled: description, name, code, justification
		k.Name, k.Justification = t.text(row, from+1), t.text(row, from+3)
	case from + 1, from + 3:
		k.Name = t.text(row, from)
	}
	k.Name = scf.Collapse(k.Name)
	return k, at
}

// readPrinciples joins the rows of a principle: newer releases have one for each control.
func (im *importer) readPrinciples(t *table) {
	number, name, text := t.col("#"), t.col("principle name"), -1
	control := t.col("scf #")
	for i, n := range t.names {
		if text < 0 && strings.Contains(n, "principle") && strings.HasSuffix(n, "description") {
			text = i
		}
		if control < 0 && n == "secure controls framework (scf)" {
			control = i
		}
	}
	for row := t.header + 1; row < len(t.rows); row++ {
		p := scf.Principle{
			Number: t.text(row, number), Name: scf.Collapse(t.cell(row, name)), Description: t.text(row, text),
		}
		if p.Name == "" && p.Number == "" {
			continue
		}
		all := im.src.Principles
		if n := len(all); n == 0 || all[n-1].Number != p.Number || all[n-1].Name != p.Name {
			im.src.Principles = append(all, p)
		}
		into := &im.src.Principles[len(im.src.Principles)-1]
		for _, code := range lines(t.cell(row, control)) {
			if _, known := im.byCode[code]; !known {
				im.warn(t.name, place(row+1, control+1), "%q is no control of the catalog", shorten(code))
				continue
			}
			if !slices.Contains(into.Controls, code) {
				into.Controls = append(into.Controls, code)
			}
		}
	}
}

func (im *importer) readRisks(t *table)   { im.src.Risks = hazards(t, "risk", riskCode) }
func (im *importer) readThreats(t *table) { im.src.Threats = hazards(t, "threat", threatCode) }

var (
	riskCode   = lazyregexp.Of(`^R-[A-Z]{2}-\d+$`)
	threatCode = lazyregexp.Of(`^[NM]T-\d+$`)
)

// hazards reads a risk or threat catalog. The group stands on the first row of each; a
// second line of headers and a note at the end have no code.
func hazards(t *table, word string, valid *lazyregexp.Late) []scf.Hazard {
	group, code, title := t.col(word+" grouping"), t.col(word+" #"), t.col(word+"*")
	text, function := t.colFrom(title+1, "description"), t.col("nist csf")
	if text < 0 {
		text = t.col(word + " description")
	}
	var out []scf.Hazard
	last := ""
	for row := t.header + 1; row < len(t.rows); row++ {
		id := t.text(row, code)
		if !valid.MatchString(id) {
			continue
		}
		if g := scf.Collapse(t.cell(row, group)); g != "" {
			last = g
		}
		out = append(out, scf.Hazard{
			Code: id, Group: last, Title: scf.Collapse(t.cell(row, title)), Description: t.text(row, text),
			CSFFunction: strings.ToLower(t.text(row, function)),
		})
	}
	return out
}
