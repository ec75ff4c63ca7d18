package identity

import (
	"net/netip"
	"sync"
	"time"

	"github.com/scf-service/service/api"
)

// throttle slows down failing sign-ins, per account and per address. It is kept in memory: it
// limits a rate, and a restart takes longer than a wait.
type throttle struct {
	clock func() time.Time

	mu    sync.Mutex
	tries map[string]*failures
}

type failures struct {
	count int
	last  time.Time
}

const (
	// failureTTL is how long after the last failure the count is reset.
	failureTTL = 15 * time.Minute
	// freeAccountTries and freeAddressTries are the failures allowed without a wait; many users may
	// share one address.
	freeAccountTries, freeAddressTries = 5, 20
	maxWait                            = time.Minute
	// maxEntries is the maximum number of entries in memory; the oldest are evicted.
	maxEntries = 100_000
)

func newThrottle(clock func() time.Time) *throttle {
	return &throttle{clock: clock, tries: map[string]*failures{}}
}

// refuseIfTooSoon refuses an attempt that comes too soon after failures.
func (t *throttle) refuseIfTooSoon(account, address string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	wait := max(t.remainingWait(now, "a "+account, freeAccountTries), t.remainingWait(now, "i "+NetworkKey(address), freeAddressTries))
	if wait <= 0 {
		return nil
	}
	return api.RateLimited(int((wait + time.Second - 1) / time.Second))
}

func (t *throttle) remainingWait(now time.Time, key string, freeTries int) time.Duration {
	f := t.tries[key]
	if f == nil || f.count < freeTries || now.Sub(f.last) > failureTTL {
		return 0
	}
	pause := maxWait
	if over := f.count - freeTries; over < 6 {
		pause = min(maxWait, time.Second<<over)
	}
	return pause - now.Sub(f.last)
}

func (t *throttle) recordFailure(account, address string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := t.clock()
	if len(t.tries) >= maxEntries {
		t.evict(now)
	}
	for _, name := range []string{"a " + account, "i " + NetworkKey(address)} {
		f := t.tries[name]
		if f == nil || now.Sub(f.last) > failureTTL {
			f = &failures{}
			t.tries[name] = f
		}
		f.count++
		f.last = now
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

func (t *throttle) clearAccountFailures(account string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.tries, "a "+account)
}

// NetworkKey returns the part of an address that one customer of a provider has, for counting: an
// address, or a /64 of IPv6.
func NetworkKey(address string) string {
	a, err := netip.ParseAddr(address)
	if err != nil {
		return "address " + address
	}
	if a = a.Unmap().WithZone(""); a.Is6() {
		if p, err := a.Prefix(64); err == nil {
			return "network " + p.String()
		}
	}
	return "address " + a.String()
}
