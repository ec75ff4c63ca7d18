package postgres

import (
	"bytes"
	"slices"
	"sync"

	"github.com/jackc/pgx/v5"

	"github.com/scf-service/service/store/kv"
)

// readPlan lists what a transaction read after ReadAhead. The next transaction that uses the same name reads it ahead.
type readPlan struct {
	name  string
	refs  []kv.Ref
	scans []scanKey
	read  map[tableAndKey]bool
}

// scanKey identifies the first page of a scan.
type scanKey struct {
	table, start, end string
	bounded, reverse  bool // bounded is set if there is an end
	size              int
}

const (
	maxReadPlans    = 256
	maxPlannedReads = 100 // of one transaction; one that reads more has no plan
)

// readPlans holds the most recently used plans.
type readPlans struct {
	mu     sync.Mutex
	recent []*readPlan // most recently used last
}

// findPlan returns the plan with this name, or nil if there is none. The plan must not be modified.
func (r *readPlans) findPlan(name string) *readPlan {
	r.mu.Lock()
	defer r.mu.Unlock()
	at := slices.IndexFunc(r.recent, func(p *readPlan) bool { return p.name == name })
	if at < 0 {
		return nil
	}
	return r.recent[at]
}

func (r *readPlans) addPlan(p *readPlan) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.recent = slices.DeleteFunc(r.recent, func(old *readPlan) bool { return old.name == p.name })
	if r.recent = append(r.recent, p); len(r.recent) > maxReadPlans {
		r.recent = slices.Delete(r.recent, 0, 1)
	}
}

// ReadAhead implements kv.Remote.
func (t *tx) ReadAhead(name string) {
	if t.plan != nil || !t.writable {
		return
	}
	t.plan = &readPlan{name: name, read: map[tableAndKey]bool{}}
	for at := range t.reads { // known already
		t.plan.read[at] = true
	}
	if p := t.db.plans.findPlan(name); p != nil {
		t.Expect(p.refs...)
		t.expectedScans = append(t.expectedScans, p.scans...)
	}
}

// planRead adds a key that is being read to the transaction's plan.
func (t *tx) planRead(table string, key []byte) {
	if t.plan == nil {
		return
	}
	at := tableAndKey{table, string(key)}
	if t.plan.read[at] {
		return
	}
	t.plan.read[at] = true
	t.plan.refs = append(t.plan.refs, kv.Ref{Table: table, Key: []byte(at.key)})
}

// savePlan keeps the plan for later transactions.
func (t *tx) savePlan() {
	if p := t.plan; p != nil && len(p.refs)+len(p.scans) <= maxPlannedReads {
		p.read = nil
		t.db.plans.addPlan(p)
	}
}

func (s *scan) firstPageKey() scanKey {
	return scanKey{s.table, string(s.Start), string(s.End), s.End != nil, s.Reverse, s.size}
}

// scanOf returns the scan with this first page.
func (k scanKey) scanOf() *scan {
	r := kv.Range{Start: []byte(k.start), Reverse: k.reverse}
	if k.bounded {
		r.End = []byte(k.end)
	}
	return &scan{Range: r, table: k.table, size: k.size}
}

// pageRead is a page of a scan with its size in bytes.
type pageRead struct {
	pairs []kv.Pair
	size  int
}

// queuePage adds the statement that reads the scan's next page into p.
func (s *scan) queuePage(b *pgx.Batch, p *pageRead) {
	statement, arguments := s.statement()
	b.Queue(statement, arguments...).Query(func(rows pgx.Rows) error {
		p.pairs, p.size = nil, 0
		for p.size < maxPageBytes && rows.Next() {
			var one kv.Pair
			if err := rows.Scan(&one.Key, &one.Value); err != nil {
				return err
			}
			p.pairs = append(p.pairs, one)
			p.size += len(one.Key) + len(one.Value)
		}
		return nil
	})
}

// queueExpectedScans adds the statements for the scans that are expected, and returns a function that keeps their pages
// once they have been read.
func (t *tx) queueExpectedScans(b *pgx.Batch) (keep func()) {
	expected := t.expectedScans
	pages := make([]pageRead, len(expected))
	for n, k := range expected {
		k.scanOf().queuePage(b, &pages[n])
	}
	return func() {
		t.expectedScans = nil
		for n, k := range expected {
			if t.pages == nil {
				t.pages = map[scanKey]pageRead{}
			}
			t.pages[k] = pages[n]
		}
	}
}

// isExpectedScan reports whether the first page of a scan is going to be read ahead.
func (t *tx) isExpectedScan(k scanKey) bool { return slices.Contains(t.expectedScans, k) }

// isExpected reports whether a key is going to be read ahead.
func (t *tx) isExpected(table string, key []byte) bool {
	return slices.ContainsFunc(t.expected, func(r kv.Ref) bool { return r.Table == table && bytes.Equal(r.Key, key) })
}
