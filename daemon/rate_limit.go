package daemon

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/scf-service/service/api"
)

// rateLimiter counts requests in fixed windows, per credential (per network address
// if there is none) and category. All windows begin at the same whole minute.
type rateLimiter struct {
	clock  func() time.Time
	limits map[api.RateCategory]int

	mu     sync.Mutex
	window int64
	counts map[limitKey]int
}

type limitKey struct {
	client   string
	category api.RateCategory
}

// newRateLimiter returns a limiter with the contract's limits, overridden by the operator's; 0
// means no limit.
func newRateLimiter(clock func() time.Time, overrides map[api.RateCategory]int) *rateLimiter {
	limits := maps.Clone(api.RateLimits)
	limits[pageViews], limits[pageFiles] = maxPageViews, maxPageFiles
	maps.Copy(limits, overrides)
	return &rateLimiter{clock: clock, limits: limits, counts: map[limitKey]int{}}
}

// countAndLimitRequest counts a request, sets the headers with the remaining number, and refuses it if the
// limit is exceeded. The local user has no limit.
func (l *rateLimiter) countAndLimitRequest(ctx context.Context, w http.ResponseWriter, client string, category api.RateCategory) error {
	limit := l.limits[category]
	if isLocalRequest(ctx) || limit == 0 {
		return nil
	}
	now := l.clock().Unix()
	window := now / api.RateWindowSeconds
	left := int((window+1)*api.RateWindowSeconds - now)

	l.mu.Lock()
	if l.window != window {
		l.window, l.counts = window, map[limitKey]int{}
	}
	key := limitKey{client, category}
	l.counts[key]++
	used := l.counts[key]
	l.mu.Unlock()

	h := w.Header()
	h.Set(api.RateLimitHeader, strconv.Itoa(limit))
	h.Set(api.RateRemainingHeader, strconv.Itoa(max(0, limit-used)))
	h.Set(api.RateResetHeader, strconv.Itoa(left))
	if used > limit {
		return api.RateLimited(left)
	}
	return nil
}
