package facts

import (
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/internal/lazyregexp"

	"github.com/scf-service/service/engine/evidence/parse/document"
)

const (
	factBlocks     = 80  // number of blocks at the top searched for facts
	mastheadBlocks = 6   // number of these blocks that are also searched for facts in sentences
	factTailBlocks = 12  // number of blocks at the end searched for facts: some policies end with them
	maxFactValue   = 160 // bytes; longer text is prose
)

// factCollector collects the facts of a document. The first value found for a fact is kept, since headers come
// first.
type factCollector struct {
	doc                          *document.Document
	effective, approved, revised *time.Time
	version, owner, approver     string
	historyVersion, historyDate  string
}

// readFacts sets the document's facts from its metadata, start, running headers and footers, and end. The first
// value found for a fact is used.
func readFacts(d *document.Document, metadata []document.Fact) {
	f := &factCollector{doc: d}
	for _, m := range metadata {
		f.recordFact(m.Key, m.Value)
	}
	head := d.Blocks[:min(len(d.Blocks), factBlocks)]
	f.scanBlocks(head)
	f.scanLabelLines(head)
	masthead, furniture := d.Blocks[:min(len(d.Blocks), mastheadBlocks)], d.Furniture[:min(len(d.Furniture), factBlocks)]
	f.scanOpeningSentences(masthead)
	f.scanFurniture(furniture)
	warnIfNotInForce(d, masthead, furniture)
	if rest := d.Blocks[len(head):]; len(rest) > 0 {
		f.scanBlocks(rest[max(0, len(rest)-factTailBlocks):])
	}
	d.Version, d.Owner, d.ApprovedBy = f.version, f.owner, f.approver
	if d.Version == "" {
		d.Version = f.historyVersion
	}
	for _, t := range []*time.Time{f.effective, f.approved, f.revised} {
		if d.EffectiveDate == nil {
			d.EffectiveDate = t
		}
	}
	if t, ok, _ := document.FindDate(f.historyDate); ok && d.EffectiveDate == nil {
		d.EffectiveDate = &t
	}
}

func (f *factCollector) scanBlocks(blocks []document.Block) {
	for _, b := range blocks {
		switch {
		case b.Kind == document.TableRow:
			f.scanRow(b)
		case b.Kind == document.Line:
			continue
		default:
			for _, line := range strings.Split(b.Text, "\n") {
				f.scanLine(line)
			}
		}
	}
}

// scanFurniture reads facts from running headers and footers. There, each table cell is a separate
// block, so a key may be in one block and its value in the next.
func (f *factCollector) scanFurniture(blocks []document.Block) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.Text
	}
	f.scanPairs(texts)
	f.scanBlocks(blocks)
	for _, text := range texts {
		f.scanRunningLine(text)
	}
}

// maxLabelLine is the maximum size in bytes of a line on a cover page that contains only a key or only its value.
const maxLabelLine = 60

// scanLabelLines reads facts from short paragraphs, as on a cover page, in which keys precede their
// values. A single such pair is ignored, because it may be two labels of an empty form.
func (f *factCollector) scanLabelLines(blocks []document.Block) {
	var texts []string
	read := func() {
		pairs := 0
		for i := 0; i+1 < len(texts); i++ {
			if _, isKey := document.FactKindOf(texts[i]); isKey && !isColumnName(texts[i+1]) {
				pairs++
			}
		}
		if pairs > 1 {
			f.scanPairs(texts)
		}
		texts = nil
	}
	for _, b := range blocks {
		if b.Kind == document.Paragraph && len(b.Text) <= maxLabelLine && !strings.HasSuffix(b.Text, ".") {
			texts = append(texts, b.Text)
		} else {
			read()
		}
	}
	read()
}

// scanPairs reads facts from texts in which a key may be followed by its value. Several keys may
// also be followed by the same number of values, as when each text is a cell and the keys are the
// column names.
func (f *factCollector) scanPairs(texts []string) {
	for i := 0; i+1 < len(texts); i++ {
		if _, isKey := document.FactKindOf(texts[i]); !isKey || strings.Contains(texts[i], "__") { // a line to be filled in
			continue
		}
		if !isColumnName(texts[i+1]) {
			f.recordFact(texts[i], texts[i+1])
			i++
			continue
		}
		keys := indexOrLen(texts[i:], func(s string) bool { return !isColumnName(s) })
		values := indexOrLen(texts[i+keys:], isColumnName)
		if values < keys || values > keys && keys < 3 {
			continue
		}
		for n := range keys {
			f.recordFact(texts[i+n], texts[i+keys+n])
		}
		i += 2*keys - 1
	}
}

// indexOrLen returns the index of the first text that matches, or the number of texts.
func indexOrLen(texts []string, match func(string) bool) int {
	if i := slices.IndexFunc(texts, match); i >= 0 {
		return i
	}
	return len(texts)
}

// scanRow reads facts from a row such as "Version | 1.2 | Owner | CISO", or from a row below a
// header of such keys. A table with a version column and a date column is a version history; only
// its latest row is used.
func (f *factCollector) scanRow(b document.Block) {
	if b.Header == nil {
		f.scanCells(b.Cells)
		return
	}
	if isKeyValueHeader(b.Header) { // the first pair may have been mistaken for a header
		f.scanCells(b.Header)
		f.scanCells(b.Cells)
		return
	}
	if slices.Equal(b.Header, b.Cells) {
		return // the header itself
	}
	if f.scanRoleRow(b) {
		return
	}
	var version, date string
	var known int
	for i, h := range b.Header {
		if i >= len(b.Cells) {
			break
		}
		switch kind, _ := document.FactKindOf(h); kind {
		case document.FactVersion:
			version, known = b.Cells[i], known+1
		case document.FactRevised, document.FactApproved, document.FactEffective:
			if _, ok, _ := document.FindDate(b.Cells[i]); ok {
				date, known = b.Cells[i], known+1
			}
		}
	}
	if known == 2 && (looksLikeVersion(version) || revisionLetterPattern.MatchString(version)) {
		if isDateNotBefore(date, f.historyDate) {
			f.historyVersion, f.historyDate = version, date
		}
		return
	}
	// A row of facts under a header counts only if each column is a known key.
	for _, h := range b.Header {
		if _, ok := document.FactKindOf(h); !ok && h != "" && !signOffPattern.MatchString(h) {
			return
		}
	}
	for i, h := range b.Header {
		if i < len(b.Cells) {
			f.recordFact(h, b.Cells[i])
		}
	}
}

// scanRoleRow reads a row of a table that lists the people responsible for a document: "Role | Name
// | Date". The result reports whether the row belongs to such a table.
func (f *factCollector) scanRoleRow(b document.Block) (isRoleRow bool) {
	if len(b.Header) < 2 || len(b.Cells) < 2 || !roleColumnPattern.MatchString(b.Header[0]) || !nameColumnPattern.MatchString(b.Header[1]) {
		return false
	}
	kind, _ := document.FactKindOf(b.Cells[0])
	if kind == document.FactOwner || kind == document.FactApprovedBy || kind == document.FactApproved {
		f.recordFact(b.Cells[0], b.Cells[1])
	}
	if kind == document.FactApprovedBy || kind == document.FactApproved {
		for i, h := range b.Header[:min(len(b.Header), len(b.Cells))] {
			if kind, _ := document.FactKindOf(h); kind == document.FactRevised || kind == document.FactApproved {
				f.recordFact("approval date", b.Cells[i])
			}
		}
	}
	return true
}

var (
	// signOffPattern matches the name of a column next to "Approved by" in a table of people who worked on a document.
	signOffPattern        = lazyregexp.New(`(?i)^(?:(?:prepared|written|drafted|created|reviewed|checked|verified|released) by|author|reviewer)$`)
	revisionLetterPattern = lazyregexp.New(`^[A-Z]$`)
	roleColumnPattern     = lazyregexp.New(`(?i)^(?:role|function|responsibility|action|step)$`)
	nameColumnPattern     = lazyregexp.New(`(?i)^(?:names?|persons?|who|by)$`)
)

// scanCells reads facts from the cells of a row without column names.
func (f *factCollector) scanCells(cells []string) {
	cells = document.NonEmptyCells(cells)
	isKey := func(s string) bool { _, ok := document.FactKindOf(s); return ok }
	if first := indexOrLen(cells, isKey); len(cells) > 4 && first > 1 && first < len(cells) {
		return // names of columns: pairs begin with a key
	}
	if f.scanPairs(cells); len(cells) == 1 {
		f.scanLine(cells[0])
	}
}

// keyColumnPattern matches the name of a column that holds keys such as "Version".
var keyColumnPattern = lazyregexp.New(`(?i)^(?:fields?|items?|propert(?:y|ies)|attributes?|keys?|names?|labels?|` +
	`document (?:control|information|data|details))$`)

// isKeyValueHeader reports whether the rows below a header are pairs of a key and its value: "Field
// | Value", or "Version | 1.4", where the first pair was mistaken for a header.
func isKeyValueHeader(header []string) bool {
	h := document.NonEmptyCells(header)
	if len(h) != 2 {
		return len(h) == 1 && len(header) == 2 && keyColumnPattern.MatchString(strings.TrimSpace(h[0]))
	}
	if _, isKey := document.FactKindOf(h[0]); isKey {
		return !isColumnName(h[1])
	}
	return keyColumnPattern.MatchString(strings.TrimSpace(h[0]))
}

// columnNamePattern matches names of columns that occur next to "Owner" or "Version" in the header of a list.
var columnNamePattern = lazyregexp.New(
	`(?i)^(?:state|status|date|due(?: date)?|remarks?|comments?|notes?|priority|action|changes?|description|result|` +
		`risk|type|category|department|system|asset|role|id|no\.?|name|author|evidence)$`,
)

// isColumnName reports whether a cell is a key or another column name, and therefore not the value
// of an adjacent key.
func isColumnName(cell string) bool {
	cell = strings.Trim(cell, " :*_")
	key, _, _ := strings.Cut(cell, ":") // "Owner: Ann Roe" is a fact of its own
	_, isKey := document.FactKindOf(key)
	return isKey || columnNamePattern.MatchString(cell)
}

// isDateNotBefore reports whether date a is the same as or later than date b, or whether b isn't a
// date. The rows of a version history may be in either order.
func isDateNotBefore(a, b string) bool {
	tb, ok, _ := document.FindDate(b)
	if !ok {
		return true
	}
	ta, ok, _ := document.FindDate(a)
	return ok && !ta.Before(tb)
}

var (
	// titleVersionPattern matches a title with the version at its end: "Supplier Access Standard version 4.2".
	titleVersionPattern = lazyregexp.New(`^[^.:;|]{0,60}\b(?i:policy|standard|procedure|plan|guidelines?|process|manual|handbook|charter|framework|rules|` +
		`statement|register|concept)(?: (?:of|for|on) [\p{L} ]{3,40})?(?: ?[,–-])? \(?(?:[A-Z]{1,6}[./-]?\d*, )?(?i:version |ver\. |rev\. |v)(\d[\d.]*)\)?$`)
	// dashedFactPattern matches a key and its value with a dash between them: "Document owner – Head of IT".
	dashedFactPattern = lazyregexp.New(`^(\p{L}[\p{L} ]{2,30}) [–—-] ((?:\p{Lu}|\d)\S*(?: \S+){0,5})$`)
	// leaderPattern matches the dots between a key and its value.
	leaderPattern = lazyregexp.New(`\s*(?:\.{3,}|…+)\s*`)
	// innerVersionPattern matches a version after another fact: "Owner: CISO Version 1.2".
	innerVersionPattern = lazyregexp.New(`\s(?:Version|Revision|Rev\.|Issue|Edition) v?\d[\d.]*(?:[\s,;|]|$)`)
	// versionAlonePattern matches a part of a line that is only a version: "v2.1".
	versionAlonePattern = lazyregexp.New(`^(?i:v|ver\. ?|rev\.? ?|issue |edition |release )(\d[\d.]*)$`)
)

// factLeads are words that introduce the value of a fact without a colon.
var factLeads = []string{
	"version ", "effective date ", "effective from ", "effective as of ",
	"effective ", "in force from ", "in force since ", "valid from ", "last updated on ", "last updated ",
	"approved by ", "gültig ab ", "stand ",
	"en vigueur depuis le ", "rev. ", "revision ",
}

// scanLine reads facts from a line: "Key: value", several of them with separators, or "Version 1.2".
func (f *factCollector) scanLine(s string) {
	if len(s) > 600 {
		return
	}
	if end := s[max(0, len(s)-1):]; end == ")" || end >= "0" && end <= "9" {
		if m := titleVersionPattern.FindStringSubmatch(s); m != nil {
			f.recordFact("version", m[1])
		}
	}
	if strings.Contains(s, " – ") || strings.Contains(s, " — ") || strings.Contains(s, " - ") {
		if m := dashedFactPattern.FindStringSubmatch(s); m != nil {
			f.recordFact(m[1], m[2])
		}
	}
	if strings.Contains(s, "...") || strings.Contains(s, "…") {
		s = leaderPattern.ReplaceAllString(s, ": ")
	}
	hadVersion := f.version != ""
	parts := splitFacts(s)
	for i, part := range parts {
		f.scanPart(part)
		// "Version 1.5. Owner – Head of Networks": a dash may separate a key from its value, too.
		if at := strings.LastIndex(part, ". "); i+1 < len(parts) && len(parts[i+1]) < 80 {
			f.recordFact(part[at+1:], parts[i+1])
		}
	}
	if hadVersion || f.version == "" || len(parts) < 2 {
		return
	}
	for _, part := range parts { // a date next to the version
		if document.IsDate(part) {
			f.recordFact("date", part)
		}
	}
}

// scanPart reads a fact from one part of a line that was split into parts.
func (f *factCollector) scanPart(part string) {
	if key, value, ok := strings.Cut(part, ":"); ok {
		if kind, _ := document.FactKindOf(key); kind != document.FactTitle { // many forms have a line "Title: "
			f.recordFact(key, value)
		}
		return
	}
	if len(part) >= 80 {
		return
	}
	if m := versionAlonePattern.FindStringSubmatch(part); m != nil {
		f.recordFact("version", m[1])
		return
	}
	lower := strings.ToLower(part)
	for _, lead := range factLeads {
		if rest, ok := strings.CutPrefix(lower, lead); ok {
			value := part[len(part)-len(rest):]
			if strings.HasPrefix(lead, "approved") || len(strings.Fields(value)) <= 4 {
				f.recordFact(lead, value)
			}
			break
		}
	}
}

// splitFacts splits a line at bars, semicolons, tabs, bullets and dashes, and before each further known key.
func splitFacts(s string) []string {
	parts := strings.FieldsFunc(s, func(r rune) bool { return r == '|' || r == ';' || r == '•' || r == '·' || r == '–' || r == '\t' })
	var out []string
	for _, p := range parts {
		p = strings.TrimSpace(p)
		// "Version: 1.2 Owner: CISO": a key in the middle starts a new fact.
		for {
			cut := findInnerKey(p)
			if m := innerVersionPattern.FindStringIndex(p); cut < 0 && m != nil && strings.Contains(p[:m[0]], ":") {
				cut = m[0] + 1
			}
			if cut < 0 {
				break
			}
			out = append(out, splitAtSlashes(strings.TrimSpace(p[:cut]))...)
			p = strings.TrimSpace(p[cut:])
		}
		if p != "" {
			out = append(out, splitAtSlashes(p)...)
		}
	}
	return out
}

// slashedFactPattern matches a slash followed by another fact, rather than by another name.
var slashedFactPattern = lazyregexp.New(` / (?:(?i:version|ver\.|rev\.|revision|issue|effective|valid from|owner|approved by)\b|v?\d)`)

// splitAtSlashes splits a part of a line at the slashes before a fact: "DRP-01 / Version 1.4 / 12 May 2026".
func splitAtSlashes(p string) []string {
	if !strings.Contains(p, " / ") {
		return []string{p}
	}
	var out []string
	from := 0
	for _, m := range slashedFactPattern.FindAllStringIndex(p, -1) {
		out = append(out, p[from:m[0]])
		from = m[0] + len(" / ")
	}
	return append(out, p[from:])
}

// findInnerKey returns the index at which a known key begins after other words in p, as in "Example
// Ltd Version: 1.2", or -1. The key must be capitalized, because it wouldn't be in the middle of a
// sentence.
func findInnerKey(p string) int {
	for colon := 0; colon < len(p); colon++ {
		if p[colon] != ':' {
			continue
		}
		from := max(0, colon-40)
		for i := from; i < colon; i++ {
			if p[i] != ' ' || i == 0 || p[i+1] < 'A' || p[i+1] > 'Z' && p[i+1] < 0x80 {
				continue
			}
			if _, ok := document.FactKindOf(p[i+1 : colon]); ok {
				if _, whole := document.FactKindOf(p[:colon]); whole {
					break // "Policy Owner:" is one key
				}
				return i + 1
			}
		}
	}
	return -1
}
