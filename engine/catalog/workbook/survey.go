package workbook

import (
	"bytes"
	"strconv"
)

// storedKind is the kind of value stored in a cell, such as a number or an error. The library excelize does
// not report it.
type storedKind uint8

const (
	kindNumber   storedKind = iota + 1 // stored as a number
	kindUncached                       // a formula without a cached value
	kindError                          // #N/A and the like
)

type cellRef struct{ row, col int }

// sheetSurvey holds facts about a sheet and its cells that can be read from the XML without decoding the
// values.
type sheetSurvey struct {
	kinds    map[cellRef]storedKind
	formulas int
	lastRow  int
	// isComplete is false if the sheet's data is cut off.
	isComplete bool
	// hasTooManyCells is true if the survey stopped at the maximum number of cells.
	hasTooManyCells bool
	cells           int
}

// scanSheet returns the survey of a sheet's XML. It stops once there are more than maxRows rows or
// maxCells cells.
func scanSheet(xml []byte, maxRows, maxCells int) sheetSurvey {
	s := sheetSurvey{kinds: map[cellRef]storedKind{}}
	var cell struct {
		open, formula, value bool
		kind                 byte // n (number), e (error), s (other)
		at                   cellRef
	}
	var row, col int
	closeCell := func() {
		if !cell.open {
			return
		}
		cell.open = false
		if cell.formula {
			s.formulas++
		}
		switch {
		case cell.formula && !cell.value:
			s.kinds[cell.at] = kindUncached
		case cell.kind == 'e':
			s.kinds[cell.at] = kindError
		case cell.kind == 'n' && cell.value:
			s.kinds[cell.at] = kindNumber
		}
	}
	for {
		start := bytes.IndexByte(xml, '<')
		if start < 0 {
			return s
		}
		xml = xml[start+1:]
		if skip := nonElementLength(xml); skip > 0 {
			xml = xml[skip:]
			continue
		}
		end := bytes.IndexByte(xml, '>')
		if end < 0 {
			return s
		}
		tag := xml[:end]
		xml = xml[end+1:]
		closing := len(tag) > 0 && tag[0] == '/'
		empty := len(tag) > 0 && tag[len(tag)-1] == '/'
		switch string(tagName(tag)) {
		case "row":
			if closing {
				break
			}
			row, col = row+1, 0
			if n, err := strconv.Atoi(string(attribute(tag, "r"))); err == nil && n > 0 {
				row = n
			}
			if s.lastRow = max(s.lastRow, row); s.lastRow > maxRows {
				return s
			}
		case "c":
			if closing {
				closeCell()
				break
			}
			if s.cells++; s.cells > maxCells {
				s.hasTooManyCells = true
				return s
			}
			col++
			if c := columnNumber(attribute(tag, "r")); c > 0 {
				col = c
			}
			cell.open, cell.formula, cell.value, cell.at = true, false, false, cellRef{row, col}
			switch string(attribute(tag, "t")) {
			case "", "n":
				cell.kind = 'n'
			case "e":
				cell.kind = 'e'
			default:
				cell.kind = 's'
			}
			if empty {
				cell.open = false
			}
		case "f":
			cell.formula = cell.formula || !closing
		case "v", "is":
			cell.value = cell.value || !closing && !empty
		case "sheetData":
			if closing || empty {
				s.isComplete = true
				return s
			}
		}
	}
}

// nonElementLength returns the length of the comment, CDATA section or processing instruction at the
// beginning of xml, or 0 if xml begins with something else.
func nonElementLength(xml []byte) int {
	for _, k := range [...]struct{ open, close string }{{"!--", "-->"}, {"![CDATA[", "]]>"}, {"?", "?>"}} {
		if bytes.HasPrefix(xml, []byte(k.open)) {
			if end := bytes.Index(xml, []byte(k.close)); end >= 0 {
				return end + len(k.close)
			}
			return len(xml)
		}
	}
	return 0
}

// tagName returns the name of a tag, without its namespace prefix.
func tagName(tag []byte) []byte {
	tag = bytes.TrimPrefix(tag, []byte("/"))
	if end := bytes.IndexAny(tag, " \t\r\n/"); end >= 0 {
		tag = tag[:end]
	}
	if colon := bytes.IndexByte(tag, ':'); colon >= 0 {
		tag = tag[colon+1:]
	}
	return tag
}

// attribute returns the value of an attribute of a tag, or nil if the tag doesn't have it.
func attribute(tag []byte, name string) []byte {
	for rest := tag; ; {
		i := bytes.Index(rest, []byte(name))
		if i < 0 {
			return nil
		}
		before := i > 0 && (rest[i-1] == ' ' || rest[i-1] == '\n' || rest[i-1] == '\t' || rest[i-1] == '\r')
		rest = rest[i+len(name):]
		if !before || len(rest) < 2 || rest[0] != '=' || rest[1] != '"' && rest[1] != '\'' {
			continue
		}
		if end := bytes.IndexByte(rest[2:], rest[1]); end >= 0 {
			return rest[2 : 2+end]
		}
		return nil
	}
}

// columnNumber returns the column number in a cell reference, such as 28 for AB7, or 0 if there is none.
func columnNumber(ref []byte) int {
	n := 0
	for _, c := range ref {
		if c < 'A' || c > 'Z' || n > 1<<15 {
			break
		}
		n = n*26 + int(c-'A') + 1
	}
	return n
}

// normalizeNumber returns the shortest decimal that has the same value as a stored number, such as 5.1 for
// 5.0999999999999996.
func normalizeNumber(raw string) string {
	f, err := strconv.ParseFloat(raw, 64)
	if err != nil {
		return raw
	}
	return strconv.FormatFloat(f, 'f', -1, 64)
}
