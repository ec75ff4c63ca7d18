package delivery

import "sync"

// Pool runs at most one goroutine per organization, so that a slow server delays only its own organization.
type Pool struct {
	mu      sync.Mutex
	busy    map[string]bool
	free    chan struct{}
	working sync.WaitGroup
}

// NewPool returns a pool that runs at most size goroutines concurrently.
func NewPool(size int) *Pool { return &Pool{busy: map[string]bool{}, free: make(chan struct{}, size)} }

// Wait waits until all goroutines have ended.
func (p *Pool) Wait() { p.working.Wait() }

// TryStart calls work in the organization's goroutine. It does nothing if a goroutine is already running for the
// organization, or if the pool is full.
func (p *Pool) TryStart(organizationID string, work func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.busy[organizationID] {
		return
	}
	select {
	case p.free <- struct{}{}:
	default:
		return // in the next round
	}
	p.busy[organizationID] = true
	p.working.Go(func() {
		defer func() {
			p.mu.Lock()
			delete(p.busy, organizationID)
			p.mu.Unlock()
			<-p.free
		}()
		work()
	})
}
