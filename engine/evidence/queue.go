package evidence

import (
	"context"
	"sync"
)

// job is a document to be read.
type job struct{ organization, document string }

// queue holds the jobs of each organization in the order they were added, each document once. Organizations take turns, so
// that one with many documents doesn't delay the others. The store is authoritative; the queue
// wakes workers and prevents two of them from reading the same document. Suspects are documents whose reading
// crashed the program before: they wait until there is nothing else to read, and are read one at a time.
//
//	add ──▶ waiting ──next──▶ running ──finish──▶ gone
//	                             │ add meanwhile
//	                             └──────finish──▶ waiting
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	// turns lists the organizations with waiting jobs, in the order of their turns; jobs holds
	// these jobs by organization.
	turns []string
	jobs  map[string][]job
	// suspects holds the waiting jobs that crashed the program before; readingSuspect is the one being read.
	suspects       []job
	readingSuspect *job
	// active holds the waiting and running jobs; the value is true if a running job was added again.
	active map[job]bool
	// failures holds the reason why a finished job left its document unread.
	failures map[job]error
	stop     context.CancelFunc
	workers  sync.WaitGroup
	// finished is closed and replaced whenever a document is finished, to wake waiters.
	finished chan struct{}
}

func (q *queue) init() {
	q.changed = sync.NewCond(&q.mu)
	q.jobs, q.active, q.failures = map[string][]job{}, map[job]bool{}, map[job]error{}
	q.finished = make(chan struct{})
}

// add adds a job at the end of its organization's jobs.
func (q *queue) add(j job) { q.addJob(j, q.enqueue) }

// addSuspect adds a job that is started only after all others.
func (q *queue) addSuspect(j job) { q.addJob(j, func(j job) { q.suspects = append(q.suspects, j) }) }

func (q *queue) enqueue(j job) {
	if len(q.jobs[j.organization]) == 0 {
		q.turns = append(q.turns, j.organization)
	}
	q.jobs[j.organization] = append(q.jobs[j.organization], j)
}

// addJob enqueues a job with the given function. If the job is being worked on, it is repeated afterwards instead.
func (q *queue) addJob(j job, enqueue func(job)) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, j)
	if _, there := q.active[j]; there {
		q.active[j] = true
		return
	}
	q.active[j] = false
	enqueue(j)
	q.changed.Signal()
}

// wakeAll wakes waiting workers so that they notice that their context is done. It takes the lock; otherwise
// a worker that is about to wait would miss the broadcast.
func (q *queue) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}

// waitForJob waits for a job and returns it. It returns false once ctx is done.
func (q *queue) waitForJob(ctx context.Context) (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for ctx.Err() == nil {
		if j, ok := q.next(); ok {
			q.active[j] = false
			return j, true
		}
		q.changed.Wait()
	}
	return job{}, false
}

// next removes the next job from the queue and returns it. ok is false if no job may be started now.
func (q *queue) next() (j job, ok bool) {
	if len(q.turns) > 0 {
		org := q.turns[0]
		j, q.turns, q.jobs[org] = q.jobs[org][0], q.turns[1:], q.jobs[org][1:]
		if len(q.jobs[org]) > 0 {
			q.turns = append(q.turns, org)
		} else {
			delete(q.jobs, org)
		}
		return j, true
	}
	if len(q.suspects) > 0 && q.readingSuspect == nil {
		j, q.suspects = q.suspects[0], q.suspects[1:]
		q.readingSuspect = &j
		return j, true
	}
	return j, false
}

// finishOrRepeat removes a finished job, or queues it again if it was added again while running. err is not nil if the
// job failed for a reason unrelated to the file.
func (q *queue) finishOrRepeat(j job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.readingSuspect != nil && *q.readingSuspect == j {
		q.readingSuspect = nil
		q.changed.Signal()
	}
	if q.active[j] {
		q.active[j] = false
		q.enqueue(j)
		q.changed.Signal()
	} else {
		delete(q.active, j)
		if err != nil {
			q.failures[j] = err
		}
	}
	close(q.finished)
	q.finished = make(chan struct{})
}

// nextFinished returns a channel that is closed when the next job finishes.
func (q *queue) nextFinished() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.finished
}

// failure returns the reason why a finished job left its document unread. It returns nil while the document is
// queued or being read.
func (q *queue) failure(j job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[j]
}

// isActive reports whether a job is waiting or running.
func (q *queue) isActive(j job) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	_, there := q.active[j]
	return there
}

// counts returns the numbers of waiting, running and failed jobs.
func (q *queue) counts() (waiting, running, failed int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	waiting = len(q.suspects)
	for _, some := range q.jobs {
		waiting += len(some)
	}
	return waiting, len(q.active) - waiting, len(q.failures)
}
