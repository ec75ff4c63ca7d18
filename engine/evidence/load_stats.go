package evidence

import "github.com/scf-service/service/api"

// LoadStats is the current workload and memory use of the service.
type LoadStats struct {
	// Waiting, Reading and Stuck count documents; stuck ones are unread for reasons unrelated to
	// the file.
	Waiting, Reading, Stuck int
	// Indexes counts the indexes in memory, one per assessment; Passages counts the passages they
	// hold.
	Indexes, Passages int
	// Training is the running training of an embedder with the least progress, or nil if none is running.
	Training *api.EmbedderTraining
}

// WorkloadStats returns the current workload and memory use, across all organizations.
func (s *Service) WorkloadStats() LoadStats {
	var l LoadStats
	l.Waiting, l.Reading, l.Stuck = s.queue.counts()
	l.Indexes, l.Passages = s.indexes.countLoaded()
	l.Training = s.embedders.slowestTraining()
	return l
}

// countLoaded returns the number of indexes in memory and the number of passages in them. An index that is still
// being loaded isn't counted.
func (x *indexCache) countLoaded() (n, passages int) {
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
