package search

// mark is what a scan looks at of every passage, close together in memory.
type mark struct {
	live                           bool
	prior                          float32
	assessment, document, category int32 // numbers of names
	day                            int32 // YYYYMMDD; 0: unknown
}

// numberOf is the number of a name, a new one for a new name.
func (x *Index) numberOf(name string) int32 {
	n, ok := x.names[name]
	if !ok {
		n = int32(len(x.names)) + 1
		x.names[name] = n
	}
	return n
}

func (x *Index) markOf(p Passage) mark {
	return mark{live: true, prior: float32(p.Prior), assessment: x.numberOf(p.AssessmentID), document: x.numberOf(p.DocumentID),
		category: x.numberOf(p.Category), day: day(p.Date)}
}

// day is a date as a number, 0 for what isn't written YYYY-MM-DD.
func day(s string) int32 {
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

// filter says which slots a query may find; nil: all. Names that no passage has are 0.
func (x *Index) filter(q Query) func(n int) bool {
	if q.AssessmentID == "" && q.Category == "" && len(q.DocumentIDs) == 0 && q.From == "" && q.To == "" {
		return nil
	}
	assessment, category, from, to := x.names[q.AssessmentID], x.names[q.Category], day(q.From), day(q.To)
	documents := make(map[int32]bool, len(q.DocumentIDs))
	var one int32
	for _, id := range q.DocumentIDs {
		one = x.names[id]
		documents[one] = true
	}
	return func(n int) bool {
		m := &x.marks[n]
		return (q.AssessmentID == "" || m.assessment == assessment) &&
			(q.Category == "" || m.category == category) &&
			m.day >= from && (to == 0 || m.day != 0 && m.day <= to) &&
			(len(q.DocumentIDs) == 0 || m.document == one || len(documents) > 1 && documents[m.document])
	}
}
