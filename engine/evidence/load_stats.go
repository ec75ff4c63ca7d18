package evidence

// LoadStats is what the service has to do and holds in memory at this moment.
type LoadStats struct {
	// Waiting and Reading are documents; Stuck those that no fault of their own keeps unread.
	Waiting, Reading, Stuck int
	// Indexes are those in memory, one for an assessment; Passages what they hold.
	Indexes, Passages int
}

// LoadStats tells what is to do and held in memory, of all organizations together.
func (s *Service) LoadStats() LoadStats {
	var l LoadStats
	l.Waiting, l.Reading, l.Stuck = s.queue.counts()
	l.Indexes, l.Passages = s.indexes.sizes()
	return l
}

// sizes is how many indexes are in memory and what they hold. One that is being
// filled is counted when it is full.
func (x *indexCache) sizes() (n, passages int) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, a := range x.byKey {
		if a.mu.TryLock() {
			if a.index != nil {
				n++
				passages += a.index.Len()
			}
			a.mu.Unlock()
		}
	}
	return n, passages
}
