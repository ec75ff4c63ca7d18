package search

// filterRow holds the fields of a passage that a scan needs, in compact form.
type filterRow struct {
	live                           bool
	prior                          float32
	assessment, document, category int32 // see getOrAddNameNumber
	day                            int32 // YYYYMMDD; 0: unknown
}

// getOrAddNameNumber returns the number assigned to a name. It assigns one if the name is new.
func (x *Index) getOrAddNameNumber(name string) int32 {
	n, ok := x.nameNumbers[name]
	if !ok {
		n = int32(len(x.nameNumbers)) + 1
		x.nameNumbers[name] = n
	}
	return n
}

func (x *Index) newFilterRow(p Passage) filterRow {
	return filterRow{
		live: true, prior: float32(p.Prior), assessment: x.getOrAddNameNumber(p.AssessmentID), document: x.getOrAddNameNumber(p.DocumentID),
		category: x.getOrAddNameNumber(p.Category), day: dateNumberOrZero(p.Date),
	}
}

// dateNumberOrZero returns a YYYY-MM-DD date as a number, or 0 if s isn't in that form.
func dateNumberOrZero(s string) int32 {
	if len(s) != len("2006-01-02") || s[4] != '-' || s[7] != '-' {
		return 0
	}
	var n int32
	for i := range len(s) {
		switch c := s[i]; {
		case i == 4 || i == 7:
		case c < '0' || c > '9':
			return 0
		default:
			n = 10*n + int32(c-'0')
		}
	}
	return n
}

// slotFilter returns a function that reports whether a slot passes the query's filters, or nil if there are no
// filters. The number 0 represents a name that no passage has.
func (x *Index) slotFilter(q Query) func(n int) bool {
	if q.AssessmentID == "" && q.Category == "" && len(q.DocumentIDs) == 0 && q.From == "" && q.To == "" {
		return nil
	}
	assessment, category := x.nameNumbers[q.AssessmentID], x.nameNumbers[q.Category]
	from, to := dateNumberOrZero(q.From), dateNumberOrZero(q.To)
	documents := make(map[int32]bool, len(q.DocumentIDs))
	var one int32
	for _, id := range q.DocumentIDs {
		one = x.nameNumbers[id]
		documents[one] = true
	}
	return func(n int) bool {
		m := &x.filterRows[n]
		return (q.AssessmentID == "" || m.assessment == assessment) &&
			(q.Category == "" || m.category == category) &&
			m.day >= from && (to == 0 || m.day != 0 && m.day <= to) &&
			(len(q.DocumentIDs) == 0 || m.document == one || len(documents) > 1 && documents[m.document])
	}
}
