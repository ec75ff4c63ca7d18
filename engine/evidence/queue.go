package evidence

import (
	"context"
	"sync"
)

// job is a document that waits to be read.
type job struct{ organization, document string }

// queue holds the jobs in the order they came, each document once. The store is
// the truth; the queue wakes workers and keeps two of them off the same document.
//
//	add ──▶ waiting ──next──▶ running ──done──▶ gone
//	                             │ add meanwhile
//	                             └──────done──▶ waiting
type queue struct {
	mu      sync.Mutex
	changed *sync.Cond
	jobs    []job
	// active are the jobs that wait or run; true where one that runs was asked for again.
	active map[job]bool
	// failures says why a job that is gone left its document unread.
	failures map[job]error
	stop     context.CancelFunc
	workers  sync.WaitGroup
	// finished is closed and replaced whenever a document is done, for those who wait.
	finished chan struct{}
}

func (q *queue) init() {
	q.changed = sync.NewCond(&q.mu)
	q.active, q.failures = map[job]bool{}, map[job]error{}
	q.finished = make(chan struct{})
}

func (q *queue) add(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.failures, j)
	if _, there := q.active[j]; there {
		q.active[j] = true
		return
	}
	q.active[j] = false
	q.jobs = append(q.jobs, j)
	q.changed.Signal()
}

// wakeAll lets waiting workers see that their context ended. Without the lock one that
// is about to wait would miss it.
func (q *queue) wakeAll() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.changed.Broadcast()
}

// next waits for a job; false when ctx has ended.
func (q *queue) next(ctx context.Context) (job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.jobs) == 0 {
		if ctx.Err() != nil {
			return job{}, false
		}
		q.changed.Wait()
	}
	if ctx.Err() != nil {
		return job{}, false
	}
	j := q.jobs[0]
	q.jobs = q.jobs[1:]
	q.active[j] = false
	return j, true
}

// finish gives a job back, with what went wrong around it.
func (q *queue) finish(j job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.active[j] {
		q.active[j] = false
		q.jobs = append(q.jobs, j)
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

func (q *queue) nextFinished() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.finished
}

// failure is why a document stays unread; nil while it waits or is being read.
func (q *queue) failure(j job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.failures[j]
}

// addIfMissing adds a job that is not there, be it for trouble with it before.
func (q *queue) addIfMissing(j job) {
	q.mu.Lock()
	_, there := q.active[j]
	q.mu.Unlock()
	if !there {
		q.add(j)
	}
}

// counts is how many jobs wait, how many run, and how many met trouble.
func (q *queue) counts() (waiting, running, broken int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs), len(q.active) - len(q.jobs), len(q.failures)
}
