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

	// exchange makes the counts of a window known to other daemons on the same database, and returns theirs; nil if
	// there are none.
	exchange func(ctx context.Context, window int64, own map[string]int) (map[string]int, error)

	mu     sync.Mutex
	window int64
	counts map[limitKey]int
	// others are the counts of other daemons, as of exchanged.
	others     map[string]int
	exchanged  time.Time
	exchanging bool
}

const (
	// exchangeInterval is the time between two exchanges with other daemons while there are requests.
	exchangeInterval = time.Second
	exchangeTimeout  = 5 * time.Second
)

type limitKey struct {
	client   string
	category api.RateCategory
}

// String returns the key as other daemons get it.
func (k limitKey) String() string { return string(k.category) + " " + k.client }

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
		l.window, l.counts, l.others = window, map[limitKey]int{}, nil
	}
	key := limitKey{client, category}
	l.counts[key]++
	used := l.counts[key] + l.others[key.String()]
	l.exchangeIfDue()
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

// exchangeIfDue exchanges the counts in the background. The caller holds the lock.
func (l *rateLimiter) exchangeIfDue() {
	now := l.clock()
	if l.exchange == nil || l.exchanging || now.Sub(l.exchanged).Abs() < exchangeInterval {
		return
	}
	own := make(map[string]int, len(l.counts))
	for k, n := range l.counts {
		own[k.String()] = n
	}
	l.exchanged, l.exchanging = now, true
	window := l.window
	go func() {
		ctx, cancel := context.WithTimeout(context.Background(), exchangeTimeout)
		defer cancel()
		others, err := l.exchange(ctx, window, own)
		l.mu.Lock()
		defer l.mu.Unlock()
		l.exchanging = false
		if err == nil && l.window == window { // without an answer, each daemon limits alone
			l.others = others
		}
	}()
}
