package daemon

import (
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/scf-service/service/engine/api"
)

// limiter counts requests in fixed windows, per credential (per address where
// there is none) and category. All windows begin at the same whole minute.
type limiter struct {
	clock  func() time.Time
	limits map[api.RateCategory]int

	mu     sync.Mutex
	window int64
	counts map[limitKey]int
}

type limitKey struct {
	who      string
	category api.RateCategory
}

func newLimiter(clock func() time.Time, limits map[api.RateCategory]int) *limiter {
	return &limiter{clock: clock, limits: limits, counts: map[limitKey]int{}}
}

// take counts one request, tells in headers how many are left, and refuses the one too many.
func (l *limiter) take(w http.ResponseWriter, by api.Caller, category api.RateCategory) error {
	who := by.Actor.ID
	if who == "" {
		who = by.Address
	}
	now := l.clock().Unix()
	window := now / api.RateWindowSeconds
	left := int((window+1)*api.RateWindowSeconds - now)
	limit := l.limits[category]

	l.mu.Lock()
	if l.window != window {
		l.window, l.counts = window, map[limitKey]int{}
	}
	key := limitKey{who, category}
	l.counts[key]++
	used := l.counts[key]
	l.mu.Unlock()

	h := w.Header()
	h.Set(api.RateLimitHeader, strconv.Itoa(limit))
	h.Set(api.RateRemainingHeader, strconv.Itoa(max(0, limit-used)))
	h.Set(api.RateResetHeader, strconv.Itoa(left))
	if used > limit {
		h.Set("Retry-After", strconv.Itoa(left))
		return api.RateLimited(left)
	}
	return nil
}
