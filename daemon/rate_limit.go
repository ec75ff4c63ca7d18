package daemon

import (
	"context"
	"maps"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/identity"
)

// rateLimiter counts requests in fixed windows against two kinds of budgets: one per credential (or per
// network, if there is no credential) and category, and one per organization and category. All windows begin at
// a full minute.
type rateLimiter struct {
	clock func() time.Time
	// limits applies to each credential or network, and orgLimits to each organization; 0 means no limit.
	limits, orgLimits map[api.RateCategory]int

	// exchange shares the counts of a window with other daemons on the same database, and returns theirs. It is
	// nil if there are no other daemons.
	exchange func(ctx context.Context, window int64, own map[string]int) (map[string]int, error)

	mu     sync.Mutex
	window int64
	counts map[budget]int
	// throttled are the organizations with rejected requests in this window, throttledBefore those in the
	// previous one.
	throttled, throttledBefore map[string]bool
	// others are the counts of other daemons at the time of the last exchange.
	others     map[string]int
	exchanged  time.Time
	exchanging bool
}

const (
	// exchangeInterval is the time between two exchanges with other daemons, as long as there are requests.
	exchangeInterval = time.Second
	exchangeTimeout  = 5 * time.Second
)

// budget identifies what requests are counted against.
type budget struct {
	kind     api.Budget
	holder   string // ID of the credential or organization, or the network
	category api.RateCategory
}

// String returns the budget in the form exchanged with other daemons.
func (b budget) String() string { return string(b.kind) + " " + string(b.category) + " " + b.holder }

// newRateLimiter returns a limiter with the API's limits (api.RateLimits), unless the operator has set others
// in overrides and orgOverrides. 0 means no limit. By default, an organization's limit is api.OrgRateFactor
// times that of a credential.
func newRateLimiter(clock func() time.Time, overrides, orgOverrides map[api.RateCategory]int) *rateLimiter {
	limits, orgLimits := maps.Clone(api.RateLimits), map[api.RateCategory]int{}
	maps.Copy(limits, overrides)
	for category, limit := range limits {
		orgLimits[category] = api.OrgRateFactor * limit
	}
	maps.Copy(orgLimits, orgOverrides)
	limits[pageViews], limits[pageFiles] = maxPageViews, maxPageFiles
	return &rateLimiter{clock: clock, limits: limits, orgLimits: orgLimits, counts: map[budget]int{}, throttled: map[string]bool{}}
}

// countAndLimitRequest counts a request against a budget, and rejects it if the budget is exhausted. If a
// request is counted against several budgets, its headers describe the one with the fewest requests left. The
// local user has no limit.
func (l *rateLimiter) countAndLimitRequest(ctx context.Context, w http.ResponseWriter, b budget) error {
	limits := l.limits
	if b.kind == api.BudgetOrganization {
		limits = l.orgLimits
	}
	limit := limits[b.category]
	if isLocalRequest(ctx) || limit == 0 {
		return nil
	}
	used, left := l.count(b, limit)
	h, remaining := w.Header(), max(0, limit-used)
	if shown, err := strconv.Atoi(h.Get(api.RateRemainingHeader)); err != nil || remaining < shown || used > limit {
		h.Set(api.RateLimitHeader, strconv.Itoa(limit))
		h.Set(api.RateRemainingHeader, strconv.Itoa(remaining))
		h.Set(api.RateResetHeader, strconv.Itoa(left))
	}
	if used > limit {
		requestContextFrom(ctx).refusedBudget = b.kind
		return api.BudgetExceeded(b.kind, limit, left)
	}
	return nil
}

// count counts a request and returns the number of requests in this window and the seconds until the next one.
func (l *rateLimiter) count(b budget, limit int) (used, secondsLeft int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	secondsLeft = l.enterWindow()
	l.counts[b]++
	used = l.counts[b] + l.others[b.String()]
	l.exchangeIfDue()
	if used > limit && b.kind == api.BudgetOrganization {
		l.throttled[b.holder] = true
	}
	return used, secondsLeft
}

// enterWindow resets the counts if a new window has begun, and returns the seconds until the next window.
func (l *rateLimiter) enterWindow() (secondsLeft int) {
	now := l.clock().Unix()
	window := now / api.RateWindowSeconds
	if l.window != window {
		l.throttledBefore = nil
		if window == l.window+1 {
			l.throttledBefore = l.throttled
		}
		l.window, l.counts, l.others, l.throttled = window, map[budget]int{}, nil, map[string]bool{}
	}
	return int((window+1)*api.RateWindowSeconds - now)
}

// throttledOrganizations returns the number of organizations that had requests rejected in this window or the
// previous one.
func (l *rateLimiter) throttledOrganizations() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.enterWindow()
	n := len(l.throttled)
	for org := range l.throttledBefore {
		if !l.throttled[org] {
			n++
		}
	}
	return n
}

// credentialBudget returns the budget of an authenticated credential for an operation.
func credentialBudget(p identity.Principal, op *api.Operation) budget {
	kind := api.BudgetKey
	if p.IsFromBrowser() {
		kind = api.BudgetSession
	}
	return budget{kind, p.ID, op.Rate}
}

// addressBudget returns the budget of the network from which a request without a valid credential comes.
func (s *Server) addressBudget(r *http.Request, category api.RateCategory) budget {
	return budget{api.BudgetAddress, identity.NetworkKey(s.clientAddress(r)), category}
}

// countUncounted counts a request that was rejected before its budget was known, so that its response has the
// rate limit headers, too. Such requests are cheap, so they are counted but not limited.
func (s *Server) countUncounted(w http.ResponseWriter, r *http.Request) {
	if w.Header().Get(api.RateLimitHeader) == "" && !isPageCall(r.Context()) {
		refused := requestContextFrom(r.Context()).refusedBudget
		_ = s.limiter.countAndLimitRequest(r.Context(), w, s.addressBudget(r, api.RateDefault))
		requestContextFrom(r.Context()).refusedBudget = refused
	}
}

// exchangeIfDue exchanges the counts in the background. The caller must hold the lock.
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
		if err == nil && l.window == window { // without a response, each daemon applies the limits to its own requests
			l.others = others
		}
	}()
}
