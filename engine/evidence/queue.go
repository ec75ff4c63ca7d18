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
	// taken are the jobs that wait or run; true where one that runs was asked for again.
	taken map[job]bool
	// broken says why a job that is gone left its document unread.
	broken  map[job]error
	stop    context.CancelFunc
	running sync.WaitGroup
	// finished is closed and replaced whenever a document is done, for those who wait.
	finished chan struct{}
}

func (q *queue) init() {
	q.changed = sync.NewCond(&q.mu)
	q.taken, q.broken = map[job]bool{}, map[job]error{}
	q.finished = make(chan struct{})
}

func (q *queue) add(j job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	delete(q.broken, j)
	if _, there := q.taken[j]; there {
		q.taken[j] = true
		return
	}
	q.taken[j] = false
	q.jobs = append(q.jobs, j)
	q.changed.Signal()
}

// wake lets waiting workers see that their context ended. Without the lock one that
// is about to wait would miss it.
func (q *queue) wake() {
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
	q.taken[j] = false
	return j, true
}

// done gives a job back, with what went wrong around it.
func (q *queue) done(j job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.taken[j] {
		q.taken[j] = false
		q.jobs = append(q.jobs, j)
		q.changed.Signal()
	} else {
		delete(q.taken, j)
		if err != nil {
			q.broken[j] = err
		}
	}
	close(q.finished)
	q.finished = make(chan struct{})
}

func (q *queue) afterNext() <-chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.finished
}

// trouble is why a document stays unread; nil while it waits or is being read.
func (q *queue) trouble(j job) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.broken[j]
}

// ensure adds a job that is not there, be it for trouble with it before.
func (q *queue) ensure(j job) {
	q.mu.Lock()
	_, there := q.taken[j]
	q.mu.Unlock()
	if !there {
		q.add(j)
	}
}

// load is how many jobs wait, how many run, and how many met trouble.
func (q *queue) load() (waiting, running, broken int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.jobs), len(q.taken) - len(q.jobs), len(q.broken)
}
