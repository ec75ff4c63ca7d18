package workbook

import (
	"cmp"
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/scf-service/service/engine/catalog/scf"
)

// readMainSheet reads the main sheet, which contains the controls and their mappings to frameworks.
func (im *importer) readMainSheet(ctx context.Context, p sheetPart) error {
	s, err := im.book.readSheet(ctx, p, im.book.limits.Controls+1, true)
	if err != nil {
		return err
	}
	im.main = s
	im.classifyColumnsByContent()
	code, _ := im.columnByRole(roleControlCode)
	for row := im.headerRow + 1; row < len(s.rows); row++ {
		if s.isBlankRow(row) {
			continue
		}
		text := s.trimmedCell(row, code.index)
		where := cellName(row+1, code.index+1)
		if text == "" {
			if im.isNoteRow(row) {
				im.warn(s.name, where, "the row has no control code and was skipped")
				continue
			}
			return readErrorf(ErrBadCode, s.name, where, "the row describes a control but has no control code")
		}
		if upper := strings.ToUpper(text); upper != text && scf.IsControlCode(upper) {
			im.warn(s.name, where, "%q was read as %s", text, upper)
			text = upper
		}
		if !scf.IsControlCode(text) {
			return readErrorf(ErrBadCode, s.name, where, "%q is not a control code such as GOV-01 or AST-02.11", scf.Shorten(text))
		}
		if before, duplicate := im.byCode[text]; duplicate {
			return readErrorf(ErrDuplicateCode, s.name, where, "%s is also in %s", text, cellName(im.controlRows[before]+1, code.index+1))
		}
		im.byCode[text] = len(im.src.Controls)
		control, err := im.readControl(row, text)
		if err != nil {
			return err
		}
		im.src.Controls = append(im.src.Controls, control)
		im.controlRows = append(im.controlRows, row)
	}
	if len(im.controlRows) == 0 {
		return readErrorf(ErrNoMainSheet, s.name, "", "the sheet has no controls below its header")
	}
	im.warnUnstoredValues()
	im.readFrameworkColumns()
	return nil
}

// columnByRole returns the first column with the given role. It returns false if there is none.
func (im *importer) columnByRole(r columnRole) (mainColumn, bool) {
	for _, c := range im.columns {
		if c.role == r {
			return c, true
		}
	}
	return mainColumn{}, false
}

// isNoteRow reports whether a row without a code is only a note or a total. Such a row lacks a title or a
// description.
func (im *importer) isNoteRow(row int) bool {
	filled := 0
	for _, c := range im.columns {
		if (c.role == roleControlTitle || c.role == roleDescription) && im.main.trimmedCell(row, c.index) != "" {
			filled++
		}
	}
	return filled < 2
}

// warnUnstoredValues adds warnings, in sheet order, for cells with an error value and for formulas whose
// value is not stored in the file.
func (im *importer) warnUnstoredValues() {
	summaries := map[int]bool{}
	for _, c := range im.columns {
		summaries[c.index+1] = c.role == roleSummary
	}
	var lost []cellRef
	for where, kind := range im.main.survey.kinds {
		if kind != kindNumber && !summaries[where.col] {
			lost = append(lost, where)
		}
	}
	slices.SortFunc(lost, func(a, b cellRef) int {
		return cmp.Or(a.row-b.row, a.col-b.col)
	})
	for _, where := range lost {
		message := "the cell contains an error value and was treated as empty"
		if im.main.survey.kinds[where] == kindUncached {
			message = "the formula has no stored value and was treated as empty; to store its value, open and save the file in Excel"
		}
		im.warn(im.main.name, cellName(where.row, where.col), "%s", message)
	}
}

// readControl reads the control in a row of the main sheet.
func (im *importer) readControl(row int, code string) (scf.Control, error) {
	s := im.main
	c := scf.Control{Code: code, Weight: scf.NoWeight}
	var stand [10]scf.CompensatingControl
	for _, col := range im.columns {
		text := s.trimmedCell(row, col.index)
		if text == "" {
			continue
		}
		where := cellName(row+1, col.index+1)
		switch col.role {
		case roleControlTitle:
			c.Title = scf.CollapseSpaces(text)
		case roleDescription:
			c.Description = text
		case roleQuestion:
			c.Question = text
		case roleMethods:
			c.Solutions = append(c.Solutions, scf.Pair{Name: "any", Text: text})
		case roleSolution:
			c.Solutions = append(c.Solutions, scf.Pair{Name: col.name, Text: text})
		case roleWeight:
			c.Weight = im.parseWeight(text, where)
		case roleFunction:
			c.CSFFunction = im.normalizeWordAndWarn(text, where, "govern", "identify", "protect", "detect", "respond", "recover")
		case roleCadence:
			c.Cadence = im.normalizeWordAndWarn(text, where, "annual", "semi_annual", "quarterly")
		case roleApplicability:
			c.Applicability = append(c.Applicability, im.parseApplicability(s.name, text, where)...)
		case roleMaturity:
			c.Maturity[col.level] = text
		case roleEvidence:
			im.readEvidenceCell(code, text, where)
		case roleErrata:
			c.Errata = append(c.Errata, text)
		case roleCompensating:
			im.readCompensatingCell(&stand[col.level], col, text, where)
		case roleAppliesMark, roleSCRMTier, roleBaseline, roleRisk, roleThreat:
			im.readMarkedCell(&c, col, text, where)
		case roleNote, roleUnknown:
			c.Extra = append(c.Extra, scf.Pair{Name: im.extraColumnName(col), Text: text})
		}
	}
	for _, k := range stand {
		if k.Control != "" {
			c.Compensating = append(c.Compensating, k)
		}
	}
	if c.Title == "" {
		im.warn(s.name, cellName(row+1, 1), "control %s has no name", code)
	}
	if c.Description == "" {
		im.warn(s.name, cellName(row+1, 1), "control %s has no description", code)
	}
	return c, nil
}

// readCompensatingCell reads a main-sheet cell about one compensating control, which contains its code, name
// or justification.
func (im *importer) readCompensatingCell(k *scf.CompensatingControl, col mainColumn, text, where string) {
	if strings.EqualFold(text, "n/a") || strings.HasPrefix(strings.ToLower(text), "not applicable") {
		return
	}
	switch col.name {
	case "possible":
		if !scf.IsControlCode(text) {
			im.warn(im.main.name, where, "%q is not a control code; skipped", scf.Shorten(text))
			return
		}
		k.Control = text
	case "name":
		k.Name = scf.CollapseSpaces(text)
	case "justification":
		k.Justification = text
	}
}

// extraColumnName returns the name of an unknown column: its header, with the column letter added if another
// unknown column has the same header.
func (im *importer) extraColumnName(col mainColumn) string {
	for _, other := range im.columns {
		if other.index != col.index && other.header == col.header && (other.role == roleUnknown || other.role == roleNote) {
			return col.header + " (" + strings.TrimRight(cellName(1, col.index+1), "1") + ")"
		}
	}
	return col.header
}

// readMarkedCell reads a cell in a column where a mark means that the control has the property named by the
// column.
func (im *importer) readMarkedCell(c *scf.Control, col mainColumn, text, where string) {
	if col.role == roleRisk && riskCode.MatchString(text) || col.role == roleThreat && threatCode.MatchString(text) {
		if text != col.name { // in 2022.3, one row is shifted by a column
			im.warn(im.main.name, where, "the cell in column %q contains %s and was accepted as is", col.header, text)
			col.name = text
		}
	} else if !isMarked(text, c.Code) {
		im.warn(im.main.name, where, "%q in column %q is neither x nor a code and was skipped", scf.Shorten(text), col.header)
		return
	}
	switch col.role {
	case roleAppliesMark:
		c.Applicability = append(c.Applicability, col.name)
	case roleSCRMTier:
		c.SCRMTiers = append(c.SCRMTiers, col.name)
	case roleBaseline:
		c.Baselines = append(c.Baselines, col.name)
	case roleRisk:
		c.Risks = appendNew(c.Risks, col.name)
	case roleThreat:
		c.Threats = appendNew(c.Threats, col.name)
	}
}

// appendNew appends s unless the list already contains it.
func appendNew(list []string, s string) []string {
	if slices.Contains(list, s) {
		return list
	}
	return append(list, s)
}

func (im *importer) parseWeight(text, where string) int {
	f, err := strconv.ParseFloat(text, 64)
	if err != nil || f != float64(int(f)) || f < 0 || f > 10 {
		im.warn(im.main.name, where, "weight %q is not a whole number from 0 to 10; ignored", scf.Shorten(text))
		return scf.NoWeight
	}
	return int(f)
}

// normalizeWordAndWarn returns the word in known that equals text, ignoring case, blanks and hyphens. If there is none,
// it returns the text in the same normalized form, with a warning.
func (im *importer) normalizeWordAndWarn(text, where string, known ...string) string {
	word := strings.ToLower(strings.NewReplacer(" ", "_", "-", "_").Replace(scf.CollapseSpaces(text)))
	for _, k := range known {
		if word == k {
			return k
		}
	}
	im.warn(im.main.name, where, "unknown value %q, expected %s; kept unchanged", scf.Shorten(text), strings.Join(known, ", "))
	return word
}

// parseApplicability returns the known words in a cell that states what a control applies to. It warns of
// unknown words.
func (im *importer) parseApplicability(sheet, text, where string) []string {
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
			im.warn(sheet, where, "%q was skipped; expected people, process, technology, data or facility", scf.Shorten(word))
		}
	}
	return out
}
