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
	mastheadBlocks = 6   // of these, searched for facts in sentences
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
	f.scanOpeningSentences(d.Blocks[:min(len(d.Blocks), mastheadBlocks)])
	f.scanFurniture(d.Furniture[:min(len(d.Furniture), factBlocks)])
	warnIfNotInForce(d, d.Blocks[:min(len(d.Blocks), mastheadBlocks)], d.Furniture[:min(len(d.Furniture), factBlocks)])
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

// scanFurniture reads facts from running headers and footers. The cells of a table there are blocks of their own, so
// a key may stand in one and its value in the next.
func (f *factCollector) scanFurniture(blocks []document.Block) {
	texts := make([]string, len(blocks))
	for i, b := range blocks {
		texts[i] = b.Text
	}
	f.scanPairs(texts)
	f.scanBlocks(blocks)
}

// scanPairs reads facts from texts of which a key may precede its value.
func (f *factCollector) scanPairs(texts []string) {
	for i := 0; i+1 < len(texts); i++ {
		_, isKey := document.FactKindOf(texts[i])
		if isKey && !isColumnName(texts[i+1]) {
			f.recordFact(texts[i], texts[i+1])
			i++
		}
	}
}

// scanRow reads facts from a row such as "Version | 1.2 | Owner | CISO", or from a row below a header of such
// keys. A table with a version and a date column is a version history, of which only the latest row is used.
func (f *factCollector) scanRow(b document.Block) {
	if b.Header == nil {
		f.scanCells(b.Cells)
		return
	}
	if isKeyValueHeader(b.Header) { // the first pair may have been taken for a header
		f.scanCells(b.Header)
		f.scanCells(b.Cells)
		return
	}
	if slices.Equal(b.Header, b.Cells) {
		return // the header itself
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
	if known == 2 && looksLikeVersion(version) {
		if isDateNotBefore(date, f.historyDate) {
			f.historyVersion, f.historyDate = version, date
		}
		return
	}
	// A row of facts under a header counts only if each column is a known key.
	for _, h := range b.Header {
		if _, ok := document.FactKindOf(h); !ok && h != "" {
			return
		}
	}
	for i, h := range b.Header {
		if i < len(b.Cells) {
			f.recordFact(h, b.Cells[i])
		}
	}
}

// scanCells reads facts from the cells of a row without column names.
func (f *factCollector) scanCells(cells []string) {
	cells = document.NonEmptyCells(cells)
	if f.scanPairs(cells); len(cells) == 1 {
		f.scanLine(cells[0])
	}
}

// keyColumnPattern matches the name of a column that holds keys such as "Version".
var keyColumnPattern = lazyregexp.New(`(?i)^(?:fields?|items?|propert(?:y|ies)|attributes?|keys?|names?|labels?|` +
	`document (?:control|information|data|details))$`)

// isKeyValueHeader reports whether the rows below a header are pairs of a key and its value: "Field | Value", or
// "Version | 1.4", where the first pair was taken for a header.
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

// columnNamePattern matches names of columns that stand beside "Owner" or "Version" in the header of a list.
var columnNamePattern = lazyregexp.New(
	`(?i)^(?:state|status|date|due(?: date)?|remarks?|comments?|notes?|priority|action|changes?|description|result|` +
		`risk|type|category|department|system|asset|role|id|no\.?|name|author|evidence)$`,
)

// isColumnName reports whether a cell is a key or another name of a column, and so no value of a key beside it.
func isColumnName(cell string) bool {
	cell = strings.Trim(cell, " :*_")
	_, isKey := document.FactKindOf(cell)
	return isKey || columnNamePattern.MatchString(cell)
}

// isDateNotBefore reports whether date a is the same as or later than date b, or b isn't a date. The rows of a
// version history may be in either order.
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
		`statement|register|concept)(?: ?[,–-])? \(?(?i:version |ver\. |rev\. |v)(\d[\d.]*)\)?$`)
	// dashedFactPattern matches a key and its value with a dash between them: "Document owner – Head of IT".
	dashedFactPattern = lazyregexp.New(`^(\p{L}[\p{L} ]{2,30}) [–—-] ((?:\p{Lu}|\d)\S*(?: \S+){0,5})$`)
)

// scanLine reads facts from a line: "Key: value", several of them with separators, or "Version 1.2".
func (f *factCollector) scanLine(s string) {
	if len(s) > 600 {
		return
	}
	if m := titleVersionPattern.FindStringSubmatch(s); m != nil {
		f.recordFact("version", m[1])
	}
	if m := dashedFactPattern.FindStringSubmatch(s); m != nil {
		f.recordFact(m[1], m[2])
	}
	for _, part := range splitFacts(s) {
		if key, value, ok := strings.Cut(part, ":"); ok {
			if kind, _ := document.FactKindOf(key); kind != document.FactTitle { // any form has a line "Title: "
				f.recordFact(key, value)
			}
			continue
		}
		lower := strings.ToLower(part)
		for _, lead := range []string{
			"version ", "effective date ", "effective from ", "effective as of ",
			"effective ", "last updated on ", "last updated ", "approved by ", "gültig ab ", "stand ",
			"en vigueur depuis le ", "rev. ", "revision ",
		} {
			if rest, ok := strings.CutPrefix(lower, lead); ok && len(part) < 80 {
				value := part[len(part)-len(rest):]
				if strings.HasPrefix(lead, "approved") || len(strings.Fields(value)) <= 4 {
					f.recordFact(lead, value)
				}
				break
			}
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
			if cut < 0 {
				break
			}
			out = append(out, strings.TrimSpace(p[:cut]))
			p = strings.TrimSpace(p[cut:])
		}
		if p != "" {
			out = append(out, p)
		}
	}
	return out
}

// findInnerKey returns the index at which a known key begins after other words in p, as in "Example Ltd Version:
// 1.2", or -1. The key must be capitalized: in the middle of a sentence, it wouldn't be.
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

// recordFact stores a value if its key is known and the value is suitable for it.
func (f *factCollector) recordFact(key, value string) {
	kind, ok := document.FactKindOf(key)
	if !ok {
		return
	}
	value = valueEndPattern.ReplaceAllString(strings.Trim(document.CleanLine(value), " :*_|"), "")
	if value == "" || len(value) > maxFactValue || isPlaceholder(value) {
		return
	}
	person := sentenceEndPattern.ReplaceAllString(value, "$1")
	date, isDate, ambiguous := document.FindDate(value)
	if ambiguous {
		f.doc.AddWarning("The date " + value + " can be read as day/month or month/day; it was not used as a date of the document.")
		return
	}
	switch kind {
	case document.FactEffective:
		setDateIfUnset(&f.effective, date, isDate)
	case document.FactApproved:
		if setDateIfUnset(&f.approved, date, isDate); !isDate && !dutyPattern.MatchString(person) {
			setTextIfUnset(&f.approver, person)
		}
	case document.FactRevised:
		setDateIfUnset(&f.revised, date, isDate)
	case document.FactVersion:
		if v := extractVersion(value); v != "" {
			setTextIfUnset(&f.version, strings.TrimRight(v, "."))
		}
	case document.FactOwner:
		if !isDate {
			setTextIfUnset(&f.owner, person)
		}
	case document.FactApprovedBy:
		if !isDate && !dutyPattern.MatchString(person) {
			setTextIfUnset(&f.approver, person)
		}
	case document.FactTitle:
		setTextIfUnset(&f.doc.Title, value)
	}
}

// mastheadPattern matches the start of a line that gives metadata in sentences, such as "Version 3.1, in force
// since 2 March 2026. Approved by Ann Roe." or "Procedure OPS-12, version 2". In plain text, a title in capitals
// may precede it.
var mastheadPattern = lazyregexp.New(
	`^\W{0,4}(?:\p{Lu}[\p{Lu}\d ,&/–-]{3,80} )?(?:(?i:version|draft|revision|rev\.|issue) v?\d|` +
		`(?i:in force|valid from|effective|in kraft|gültig ab|approved (?:by|on))\b|` +
		`(?i:policy|procedure|standard|guideline|rules|plan|process|document|reference|ref\.)(?i: no\.?)?:? ` +
		`[A-Z][A-Za-z]{0,7}(?:[-./ ]?[A-Z0-9][\w.-]*){1,4}[.,;])`,
)

var (
	versionPattern   = lazyregexp.New(`(?i)(?:^\W{0,4}|[,;.(]\s*)(?:version|draft|revision|rev\.|issue) (v?\d[\w.]*)`)
	effectivePattern = lazyregexp.New(
		`(?i)\b(?:(?:in force|valid|effective) (?:since|from|as of|as from|on)|in force,?|effective,?|in kraft seit|` +
			`gültig (?:ab|seit)) +(\d[^;]{6,30}|\p{L}{3,10} \d[^;]{5,20})`,
	)
	dateAfterVersionPattern = lazyregexp.New(
		`(?i)(?:^\W{0,4}|[,;.(]\s*)(?:version|revision|rev\.|issue) v?\d[\w.]*(?:,| of| dated| -| –)? +\(?` +
			`(\d{1,4}[^;,)]{6,20}|\p{L}{3,10} \d[^;)]{5,20})`,
	)
	approvedByPattern = lazyregexp.New(
		`(?i)\b(?:approved by|freigegeben (?:von|durch)|genehmigt (?:von|durch)) ((?:\b(?:dr|prof|mr|mrs|ms|jr|sr|[a-z])\.|[^.;|]){2,120})`,
	)
	approvedOnPattern  = lazyregexp.New(`(?i)\bapproved (?:by [^.;|]{2,80} )?on (\d[^;]{6,30}|\p{L}{3,10} \d[^;]{5,20})`)
	approvalDateSuffix = lazyregexp.New(`(?i)[,(]? *(?:\bon\b|\bam\b)? *\(?\d.*$`)
)

// scanOpeningSentences reads facts from sentences in the first lines of a document, such as "Version 3.1, in
// force since 2 March 2026."
func (f *factCollector) scanOpeningSentences(blocks []document.Block) {
	for _, b := range blocks {
		if b.Kind == document.TableRow || b.Kind == document.Line {
			continue
		}
		for _, line := range strings.Split(b.Text, "\n") {
			if len(line) > 300 || !mastheadPattern.MatchString(line) {
				continue
			}
			for _, one := range []struct {
				key string
				in  *lazyregexp.Regexp
			}{
				{"version", versionPattern},
				{"effective", effectivePattern},
				{"revision date", dateAfterVersionPattern},
				{"approval date", approvedOnPattern},
				{"approved by", approvedByPattern},
			} {
				if m := one.in.FindStringSubmatch(line); m != nil {
					value := m[1]
					if one.in == approvedByPattern {
						value = approvalDateSuffix.ReplaceAllString(value, "")
					}
					f.recordFact(one.key, strings.TrimRight(value, ".,"))
				}
			}
		}
	}
}

// valueEndPattern matches what follows a value on its line: another key, whether it is known or not, or a page number.
var valueEndPattern = lazyregexp.New(`[.,;]?(?:\s+\p{Lu}[\p{L}-]{2,20}(?: \p{L}[\p{L}-]{1,15})?:\s.*|` +
	`[\s(-]+(?:[Pp]age|[Ss]eite|[Pp]\.) \d+\b.*)$`)

// sentenceEndPattern matches the end of a person's or role's name that is followed by another sentence, and that
// sentence. It doesn't match after abbreviations, as in "Dr. Roe" and "J. Roe".
var sentenceEndPattern = lazyregexp.New(`([\p{Ll}\d)]{3,}|\b[A-Z]{2,})\. +\p{Lu}.*$`)

// dutyPattern matches the verb of a duty: "the CIO must approve the plan" doesn't name an approver.
var dutyPattern = lazyregexp.New(`(?i)\b(?:must|shall|should|will|needs? to|has to|have to)\b`)

func setDateIfUnset(to **time.Time, t time.Time, ok bool) {
	if ok && *to == nil {
		*to = &t
	}
}

func setTextIfUnset(to *string, v string) {
	if *to == "" {
		*to = v
	}
}

// promptPattern matches placeholders and prompts left over from a template or a form.
var promptPattern = lazyregexp.New(
	`(?i)^(?:tb[dac]|to be (?:determined|decided|defined|confirmed|completed|added|announced)|n/?a|none|unknown|` +
		`not (?:assigned|set|known)|pending|[-–—?…._x]+|(?:click|tap|click or tap)(?: or tap)? here\b.*|` +
		`(?:please )?(?:enter|insert|type|choose|select|add|provide|specify|fill in|complete)\b.*|` +
		`dd[./ -]mm[./ -]yy(?:yy)?|yyyy[./ -]mm[./ -]dd|mm[./ -]dd[./ -]yy(?:yy)?|` +
		`[\[<{«].*[\]>}»])$`,
)

// isPlaceholder reports whether a value is a placeholder left over from a template, such as "TBD" or "[name]".
func isPlaceholder(v string) bool { return promptPattern.MatchString(v) }

// extractVersion returns the version in a value such as "v1.2 (draft)" or "1.2 – 3 May 2026", or "" if there is
// none.
func extractVersion(v string) string {
	for _, w := range strings.Fields(v) {
		w = strings.Trim(w, ",;()")
		if looksLikeVersion(w) {
			return strings.TrimLeft(w, "vV")
		}
	}
	return ""
}

func looksLikeVersion(w string) bool {
	w = strings.TrimLeft(w, "vV")
	if w == "" || len(w) > 20 || w[0] < '0' || w[0] > '9' {
		return false
	}
	if _, isDate, _ := document.FindDate(w); isDate && strings.Count(w, ".") != 1 {
		return len(w) <= 7 // 2026.1.1 is a software version, 12.01.2026 a date
	}
	for _, r := range w {
		if !(r >= '0' && r <= '9' || r == '.' || r == '-' || r == '_' || r >= 'a' && r <= 'z') {
			return false
		}
	}
	return true
}

// notInForcePattern matches what a document that is a draft or no longer in force says about itself at its start.
var notInForcePattern = lazyregexp.New(
	`(?im)^\W{0,4}(?:(?:(?:document )?status\W{1,3})?` +
		`(?:draft|superseded|withdrawn|repealed|rescinded|obsolete|no longer in force)\b[^\n]{0,60}$|` +
		`this (?:document|policy|version|standard|procedure|guideline|plan|edition) (?:is|has been|was) (?:a draft|` +
		`(?:hereby )?(?:superseded|withdrawn|replaced|repealed|rescinded|retired|obsolete)|no longer (?:in force|valid))[^\n]{0,60})`,
)

// warnIfNotInForce adds a warning with the words in which the document says that it is not in force.
func warnIfNotInForce(d *document.Document, parts ...[]document.Block) {
	for _, b := range slices.Concat(parts...) {
		if words := notInForcePattern.FindString(b.Text); words != "" && (b.Kind != document.TableRow || len(b.Cells) <= 2) {
			d.AddWarning(document.NotInForceWarning + ": “" + document.CleanLine(words) + "”.")
			return
		}
	}
}
