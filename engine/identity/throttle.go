package identity

import (
	"net/netip"
	"sync"
	"time"

	"github.com/scf-service/service/api"
)

// throttle slows down password guessing. Failures are counted per pair of account and network, and
// less strictly per network, so that a stranger can't lock an account's owner out. The counts are
// kept only in memory, because a restart takes longer than any wait. Processes on the same database
// share their counts.
type throttle struct {
	clock func() time.Time

	// exchange reports failures to the other processes on the same database and returns theirs; nil
	// if there are no other processes.
	exchange func(own map[string]int) (map[string]int, error)

	mu    sync.Mutex
	tries map[string]*failures
	// others are the failures that other processes have counted.
	others map[string]*failures
}

// failures counts failed attempts.
type failures struct {
	count int
	last  time.Time
}

const (
	// failureTTL is how long after the last failure the count is reset.
	failureTTL = 15 * time.Minute
	// maxEntries is the maximum number of entries in memory; the oldest are evicted.
	maxEntries = 100_000
	// maxShared is the maximum number of entries shared with other processes.
	maxShared = 5_000
)

// guessLimit is a limit on guessing: the key under which failures are counted, the number of failures allowed before
// waiting is required, and the longest wait.
type guessLimit struct {
	key     string
	free    int
	maxWait time.Duration
}

// guesser identifies who tries to guess an account's secret. device identifies a signed-in browser,
// or one that has signed in to this account before; it is empty for unknown browsers.
type guesser struct{ account, address, device string }

// limits returns the limits that apply to an attempt. A known browser has its own limit, so that
// others' failures don't affect it.
func (g guesser) limits() []guessLimit {
	if g.device != "" {
		return []guessLimit{{"device " + g.device, 5, time.Minute}}
	}
	network := guessNetwork(g.address)
	return []guessLimit{{network + " for " + g.account, 5, time.Minute}, {network, 20, 15 * time.Second}} // many users may share a network
}

// guessNetwork returns the network within which one person is likely to have several addresses: a /24 of
// IPv4, a /56 of IPv6.
func guessNetwork(address string) string { return maskedNetwork(address, 24, 56) }

// NetworkKey returns the network that requests from an address are counted under: the IPv4 address itself,
// or the IPv6 /64. It usually belongs to one customer of a provider.
func NetworkKey(address string) string { return maskedNetwork(address, 32, 64) }

// maskedNetwork returns the network of an address with the given prefix length for IPv4 or IPv6. It returns the
// address itself if it isn't valid.
func maskedNetwork(address string, bits4, bits6 int) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "address " + address
	}
	a = a.Unmap().WithZone("")
	bits := bits4
	if a.Is6() {
		bits = bits6
	}
	p, _ := a.Prefix(bits) // the number of bits fits the kind of address
	return "network " + p.String()
}

func newThrottle(clock func() time.Time) *throttle {
	return &throttle{clock: clock, tries: map[string]*failures{}}
}

// refuseIfTooSoon returns a RATE_LIMITED error if an attempt comes too soon after failed ones.
func (t *throttle) refuseIfTooSoon(g guesser) error {
	t.exchangeFailureCounts()
	t.mu.Lock()
	defer t.mu.Unlock()
	wait := time.Duration(0)
	for _, l := range g.limits() {
		wait = max(wait, t.remainingWait(t.clock(), l))
	}
	if wait <= 0 {
		return nil
	}
	return api.RateLimited(int((wait + time.Second - 1) / time.Second))
}

// remainingWait returns how long to wait before the next attempt is accepted.
func (t *throttle) remainingWait(now time.Time, l guessLimit) time.Duration {
	f := failures{}
	for _, known := range []*failures{t.tries[l.key], t.others[l.key]} {
		if known != nil && now.Sub(known.last) <= failureTTL {
			f.count += known.count
			if known.last.After(f.last) {
				f.last = known.last
			}
		}
	}
	if f.count < l.free {
		return 0
	}
	pause := l.maxWait
	if over := f.count - l.free; over < 6 {
		pause = min(l.maxWait, time.Second<<over)
	}
	return pause - now.Sub(f.last)
}

// recordFailure counts a failed attempt and shares the count with other processes, which would otherwise allow one
// more attempt.
func (t *throttle) recordFailure(g guesser) {
	t.addFailure(g)
	t.exchangeFailureCounts()
}

func (t *throttle) addFailure(g guesser) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	if len(t.tries) >= maxEntries {
		t.evict(now)
	}
	for _, l := range g.limits() {
		f := t.tries[l.key]
		if f == nil || now.Sub(f.last) > failureTTL {
			f = &failures{}
			t.tries[l.key] = f
		}
		f.count++
		f.last = now
	}
}

// exchangeFailureCounts exchanges failure counts with other processes. If that fails, only this process's counts apply.
func (t *throttle) exchangeFailureCounts() {
	if t.exchange == nil {
		return
	}
	own := map[string]int{}
	t.mu.Lock()
	now := t.clock()
	for key, f := range t.tries {
		if now.Sub(f.last) <= failureTTL && len(own) < maxShared {
			own[key] = f.count
		}
	}
	t.mu.Unlock()
	theirs, err := t.exchange(own)
	if err != nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	before := t.others
	t.others = map[string]*failures{}
	for key, n := range theirs {
		f := before[key]
		if f == nil || n > f.count {
			f = &failures{count: n, last: now}
		}
		t.others[key] = f
	}
}

// evict drops expired entries and, if that is not enough, those with the fewest attempts.
func (t *throttle) evict(now time.Time) {
	for name, f := range t.tries {
		if now.Sub(f.last) > failureTTL || (f.count < 2 && len(t.tries) > maxEntries/2) {
			delete(t.tries, name)
		}
	}
	if len(t.tries) >= maxEntries {
		clear(t.tries)
	}
}

// clearFailures resets a guesser's failures after a correct attempt. Failures counted for the whole
// network remain, because others share it.
func (t *throttle) clearFailures(g guesser) {
	key := g.limits()[0].key
	t.mu.Lock()
	_, hadFailures := t.tries[key]
	delete(t.tries, key)
	t.mu.Unlock()
	if hadFailures {
		t.exchangeFailureCounts()
	}
}
