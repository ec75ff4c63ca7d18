package workbook

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
)

// readMain reads the sheet with the controls and their crosswalk.
func (im *importer) readMain(ctx context.Context, p part) error {
	s, err := im.book.read(ctx, p, im.book.limits.Controls+1, true)
	if err != nil {
		return err
	}
	im.main = s
	im.settleColumns()
	code, _ := im.columnOf(controlCode)
	for row := im.header + 1; row < len(s.rows); row++ {
		if s.blank(row) {
			continue
		}
		text := s.text(row, code.index)
		where := place(row+1, code.index+1)
		if text == "" {
			if im.proseRow(row) {
				im.warn(s.name, where, "the row has no control code and was left out")
				continue
			}
			return refuse(ErrBadCode, s.name, where, "the row describes a control but has no code")
		}
		if upper := strings.ToUpper(text); upper != text && scf.ValidCode(upper) {
			im.warn(s.name, where, "%q is read as %s", text, upper)
			text = upper
		}
		if !scf.ValidCode(text) {
			return refuse(ErrBadCode, s.name, where, "%q is not a control code such as GOV-01 or AST-02.11", shorten(text))
		}
		if before, twice := im.byCode[text]; twice {
			return refuse(ErrDuplicateCode, s.name, where, "%s is also in %s", text, place(im.rows[before]+1, code.index+1))
		}
		im.byCode[text] = len(im.src.Controls)
		control, err := im.control(row, text)
		if err != nil {
			return err
		}
		im.src.Controls = append(im.src.Controls, control)
		im.rows = append(im.rows, row)
	}
	if len(im.rows) == 0 {
		return refuse(ErrNoMainSheet, s.name, "", "the sheet has no controls below its header")
	}
	im.storage()
	im.crosswalk()
	return nil
}

// columnOf is the first column of a role.
func (im *importer) columnOf(r role) (mainColumn, bool) {
	for _, c := range im.columns {
		if c.role == r {
			return c, true
		}
	}
	return mainColumn{}, false
}

// proseRow reports a row that is a note or a total, with no title and description both.
func (im *importer) proseRow(row int) bool {
	filled := 0
	for _, c := range im.columns {
		if (c.role == controlTitle || c.role == description) && im.main.text(row, c.index) != "" {
			filled++
		}
	}
	return filled < 2
}

func shorten(s string) string {
	if r := []rune(s); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return s
}

// storage warns of cells whose value the file does not hold, in the order of the sheet.
func (im *importer) storage() {
	summaries := map[int]bool{}
	for _, c := range im.columns {
		summaries[c.index+1] = c.role == summary
	}
	var lost []at
	for where, kind := range im.main.survey.kinds {
		if kind != isNumber && !summaries[where.col] {
			lost = append(lost, where)
		}
	}
	slices.SortFunc(lost, func(a, b at) int {
		if a.row != b.row {
			return a.row - b.row
		}
		return a.col - b.col
	})
	for _, where := range lost {
		message := "an error value: taken as empty"
		if im.main.survey.kinds[where] == isUncached {
			message = "a formula without a stored value: taken as empty; open and save the file in Excel"
		}
		im.warn(im.main.name, place(where.row, where.col), "%s", message)
	}
}

func (im *importer) control(row int, code string) (scf.Control, error) {
	s := im.main
	c := scf.Control{Code: code, Weight: scf.NoWeight}
	var stand [10]scf.Compensating
	for _, col := range im.columns {
		text := s.text(row, col.index)
		if text == "" {
			continue
		}
		where := place(row+1, col.index+1)
		switch col.role {
		case controlTitle:
			c.Title = scf.Collapse(text)
		case description:
			c.Description = text
		case question:
			c.Question = text
		case methods:
			c.Solutions = append(c.Solutions, scf.Pair{Name: "any", Text: text})
		case solution:
			c.Solutions = append(c.Solutions, scf.Pair{Name: col.name, Text: text})
		case weight:
			c.Weight = im.weight(text, where)
		case function:
			c.CSFFunction = im.oneOf(text, where, "govern", "identify", "protect", "detect", "respond", "recover")
		case cadence:
			c.Cadence = im.oneOf(text, where, "annual", "semi_annual", "quarterly")
		case applicability:
			c.Applicability = append(c.Applicability, im.applicabilityOf(s.name, text, where)...)
		case maturity:
			c.Maturity[col.level] = text
		case evidence:
			im.evidenceCell(code, text, where)
		case errata:
			c.Errata = append(c.Errata, text)
		case compensation:
			im.compensationCell(&stand[col.level], col, text, where)
		case applies, scrmTier, baseline, risk, threat:
			im.mark(&c, col, text, where)
		case note, unknown:
			c.Extra = append(c.Extra, scf.Pair{Name: im.extraName(col), Text: text})
		}
	}
	for _, k := range stand {
		if k.Control != "" {
			c.Compensating = append(c.Compensating, k)
		}
	}
	if c.Title == "" {
		im.warn(s.name, place(row+1, 1), "control %s has no name", code)
	}
	if c.Description == "" {
		im.warn(s.name, place(row+1, 1), "control %s has no description", code)
	}
	return c, nil
}

// compensationCell reads one cell of "Possible Compensating Control #N" and its fellows.
func (im *importer) compensationCell(k *scf.Compensating, col mainColumn, text, where string) {
	if strings.EqualFold(text, "n/a") || strings.HasPrefix(strings.ToLower(text), "not applicable") {
		return
	}
	switch col.name {
	case "possible":
		if !scf.ValidCode(text) {
			im.warn(im.main.name, where, "%q is not a control code: left out", shorten(text))
			return
		}
		k.Control = text
	case "name":
		k.Name = scf.Collapse(text)
	case "justification":
		k.Justification = text
	}
}

// extraName is an unknown column's header, with its letter where the header occurs twice.
func (im *importer) extraName(col mainColumn) string {
	for _, other := range im.columns {
		if other.index != col.index && other.header == col.header && (other.role == unknown || other.role == note) {
			return col.header + " (" + strings.TrimRight(place(1, col.index+1), "1") + ")"
		}
	}
	return col.header
}

// mark reads a cell of a column whose cells only say yes.
func (im *importer) mark(c *scf.Control, col mainColumn, text, where string) {
	if col.role == risk && riskCode.MatchString(text) || col.role == threat && threatCode.MatchString(text) {
		if text != col.name { // 2022.3 has a row that is shifted by a column
			im.warn(im.main.name, where, "the cell under %q names %s: taken at its word", col.header, text)
			col.name = text
		}
	} else if !marked(text, c.Code) {
		im.warn(im.main.name, where, "%q under %q is neither x nor a code: left out", shorten(text), col.header)
		return
	}
	switch col.role {
	case applies:
		c.Applicability = append(c.Applicability, col.name)
	case scrmTier:
		c.SCRMTiers = append(c.SCRMTiers, col.name)
	case baseline:
		c.Baselines = append(c.Baselines, col.name)
	case risk:
		c.Risks = appendNew(c.Risks, col.name)
	case threat:
		c.Threats = appendNew(c.Threats, col.name)
	}
}

func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (im *importer) weight(text, where string) int {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int(f)) || f < 0 || f > 10 {
		im.warn(im.main.name, where, "weight %q is no whole number from 0 to 10: taken as none", shorten(text))
		return scf.NoWeight
	}
	return int(f)
}

// oneOf takes a word in any spelling of case, blanks and hyphens; others are kept and told.
func (im *importer) oneOf(text, where string, known ...string) string {
	word := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(scf.Collapse(text)))
	for _, k := range known {
		if word == k {
			return k
		}
	}
	im.warn(im.main.name, where, "%q is none of %s: kept as it is", shorten(text), strings.Join(known, ", "))
	return word
}

func (im *importer) applicabilityOf(sheet, text, where string) []string {
	if strings.EqualFold(text, "n/a") {
		return nil
	}
	var out []string
	for _, word := range strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return r == '\n' || r == ',' || r == ';' }) {
		switch word = strings.TrimSpace(word); word {
		case "people", "process", "technology", "data", "facility":
			out = append(out, word)
		case "":
		default:
			im.warn(sheet, where, "%q is none of people, process, technology, data, facility: left out", shorten(word))
		}
	}
	return out
}
