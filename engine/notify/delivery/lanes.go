package delivery

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/store"
)

const (
	// maxSending is the maximum number of lanes that send concurrently. At most maxSendingSlow of
	// them may be slow, and at most maxSendingOrg may belong to one organization.
	maxSending, maxSendingSlow, maxSendingOrg = 1200, 200, 32
	// slowAfter is the duration of an attempt above which its receiver counts as slow.
	slowAfter = time.Second
	// restAfterFailure is how long a lane waits after a failed attempt before it sends its next deliveries.
	restAfterFailure = 2 * time.Second
	// searchInterval is the time between two searches for lanes in the store. A search finds due deliveries for which
	// Wake was not called. If other processes write to the store as well, there is a search at every poll, because they
	// may have made deliveries due.
	searchInterval, sharedSearchInterval = time.Minute, pollInterval / 2
)

// laneKey identifies the lane of a receiver.
type laneKey struct{ organization, receiver string }

// lane holds the state of a receiver's unfinished deliveries.
type lane struct {
	// next is when the lane's first delivery is due; zero if the receiver is paused.
	next    time.Time
	sending bool
	// woken is set if the lane was woken during sending.
	woken bool
	// endedAt is the end of the lane's last turn; after a failure, the lane rests until restUntil.
	endedAt, restUntil time.Time
	// isSlow is set if the last attempt was slow.
	isSlow bool
	// turn orders lanes by when they were last started or, if they never were, by when they were added.
	turn int
}

// LaneStats counts receivers with unfinished deliveries.
type LaneStats struct {
	// Sending is the number of receivers being sent to. Slow is the number of sending or waiting
	// receivers whose last attempt was slow.
	Sending, Slow int
	// Waiting is the number of receivers that are waiting for their turn.
	Waiting int
	// Paused is the number of receivers that are disabled, or to which nothing is sent until a retry is due.
	Paused int
}

// lanes holds the lanes of all receivers with unfinished deliveries.
type lanes struct {
	mu          sync.Mutex
	all         map[laneKey]*lane
	sending     map[string]int // by organization
	sendingSlow int
	sendingAll  int
	turns       map[string]int // number of each organization's last turn, or else of the one when it was added
	turn        int
	// ready receives a value when a lane has ended or was woken.
	ready chan struct{}
}

func (s *lanes) init() {
	s.all, s.sending, s.turns, s.ready = map[laneKey]*lane{}, map[string]int{}, map[string]int{}, make(chan struct{}, 1)
}

// wake makes a lane due.
func (s *lanes) wake(k laneKey, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.get(k); l.sending {
		l.woken = true
	} else {
		l.makeDue(now)
	}
	s.notifyReady()
}

// get returns a lane, which it creates if necessary. A new lane is queued behind those that are waiting.
func (s *lanes) get(k laneKey) *lane {
	l := s.all[k]
	if l == nil {
		l = &lane{turn: s.turn}
		s.all[k] = l
		if _, has := s.turns[k.organization]; !has {
			s.turns[k.organization] = s.turn
		}
	}
	return l
}

// makeDue makes a lane due at the given time or, if the lane rests until later, at the end of its rest.
func (l *lane) makeDue(at time.Time) {
	if at.Before(l.restUntil) {
		at = l.restUntil
	}
	if l.next.IsZero() || at.Before(l.next) {
		l.next = at
	}
}

// setDue records when a lane's first delivery is due according to the store.
func (s *lanes) setDue(k laneKey, due time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if l := s.get(k); !l.sending {
		l.next = due
	}
}

// notifyReady sends a value to ready unless one is already pending.
func (s *lanes) notifyReady() {
	select {
	case s.ready <- struct{}{}:
	default:
	}
}

// start selects the lanes that may send now and marks them as sending. Organizations take turns, and so do the lanes of
// each organization; those that have waited longest go first.
func (s *lanes) start(now time.Time) (started []laneKey) {
	s.mu.Lock()
	defer s.mu.Unlock()
	due := map[string][]laneKey{}
	for k, l := range s.all {
		if !l.sending && !l.next.IsZero() && !l.next.After(now) && s.sending[k.organization] < maxSendingOrg {
			due[k.organization] = append(due[k.organization], k)
		}
	}
	if len(due) == 0 {
		return nil
	}
	var orgs []string
	for org, some := range due {
		orgs = append(orgs, org)
		slices.SortFunc(some, func(a, b laneKey) int {
			return cmp.Or(cmp.Compare(s.all[a].turn, s.all[b].turn), strings.Compare(a.receiver, b.receiver))
		})
	}
	slices.SortFunc(orgs, func(a, b string) int { return cmp.Or(cmp.Compare(s.turns[a], s.turns[b]), strings.Compare(a, b)) })
	for len(orgs) > 0 && s.sendingAll < maxSending {
		var again []string
		for _, org := range orgs {
			k, rest := due[org][0], due[org][1:]
			l := s.all[k]
			if isFree := s.sendingAll < maxSending && (!l.isSlow || s.sendingSlow < maxSendingSlow); isFree {
				s.turn++
				l.sending, l.woken, l.turn, s.turns[org] = true, false, s.turn, s.turn
				s.addToSendingCounts(k, l, 1)
				started = append(started, k)
			}
			if due[org] = rest; len(rest) > 0 && s.sending[org] < maxSendingOrg {
				again = append(again, org)
			}
		}
		orgs = again
	}
	return started
}

// addToSendingCounts adds n to the counts of lanes that are sending.
func (s *lanes) addToSendingCounts(k laneKey, l *lane, n int) {
	s.sendingAll += n
	if s.sending[k.organization] += n; s.sending[k.organization] == 0 {
		delete(s.sending, k.organization)
	}
	if l.isSlow {
		s.sendingSlow += n
	}
}

// result is the result of a lane's turn.
type result struct {
	// next is when the lane's next delivery is due. It is zero if the receiver is paused, and equal to never if there
	// is no delivery.
	next time.Time
	// isSlow is set if the last attempt was slow, and hasFailed is set if that attempt was not accepted.
	isSlow, hasFailed bool
}

// end marks a lane as no longer sending.
func (s *lanes) end(k laneKey, r result, now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.all[k]
	s.addToSendingCounts(k, l, -1)
	woken := l.woken
	*l = lane{isSlow: r.isSlow, turn: l.turn, endedAt: now}
	if r.hasFailed {
		l.restUntil = now.Add(restAfterFailure)
	}
	if !r.next.IsZero() {
		l.makeDue(r.next)
	}
	if woken {
		l.makeDue(now)
	} else if r.next.Equal(never) && !r.isSlow { // slow lanes are remembered
		delete(s.all, k)
	}
	s.notifyReady()
}

// forgetOld forgets paused lanes, lanes without deliveries that have been idle for an hour, and the turns of
// organizations without lanes. It is called after a search, which makes paused lanes due again if they still have
// deliveries.
func (s *lanes) forgetOld(now time.Time) {
	s.mu.Lock()
	defer s.mu.Unlock()
	has := map[string]bool{}
	for k, l := range s.all {
		if !l.sending && (l.next.IsZero() || l.next.Equal(never) && now.Sub(l.endedAt) > time.Hour) {
			delete(s.all, k)
		} else {
			has[k.organization] = true
		}
	}
	maps.DeleteFunc(s.turns, func(org string, _ int) bool { return !has[org] })
}

func (s *lanes) stats(now time.Time) (f LaneStats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.Sending = s.sendingAll
	for _, l := range s.all {
		if l.isSlow {
			f.Slow++
		}
		switch {
		case l.sending:
		case l.next.Equal(never): // only remembered as slow, with nothing to send
		case l.next.IsZero() || l.next.After(now):
			f.Paused++
		default:
			f.Waiting++
		}
	}
	return f
}

// never is the due time of a lane without deliveries.
var never = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// findLanes reads the lanes with unfinished deliveries from the store, if the next search is due.
func (l *Dispatcher) findLanes(ctx context.Context) error {
	now := l.Clock()
	if now.Before(l.nextSearch) {
		return nil
	}
	first := map[laneKey]time.Time{}
	err := l.DB.View(ctx, func(tx *store.Tx) error {
		clear(first)
		receiver := func(d *store.Delivery) []any { return []any{d.OrganizationID, d.WebhookID} }
		return store.ScanGroups(tx, store.Deliveries.AcrossTenants().By("due"), receiver, func(d *store.Delivery) (bool, error) {
			first[laneKey{d.OrganizationID, d.WebhookID}] = *d.NextAttemptAt
			return false, nil
		})
	})
	if err != nil {
		return err
	}
	for k, due := range first {
		l.lanes.setDue(k, due)
	}
	l.lanes.forgetOld(now)
	l.nextSearch = now.Add(searchInterval)
	if !l.DB.IsSoleWriter() {
		l.nextSearch = now.Add(sharedSearchInterval)
	}
	return nil
}

// serveLane sends the due deliveries of a lane until one fails or the lane's turn is over.
func (l *Dispatcher) serveLane(ctx context.Context, k laneKey) {
	var r result
	defer func() {
		var err error
		if r.next, err = l.nextDue(ctx, k); err != nil {
			r.next, r.hasFailed = l.Clock(), true
		}
		l.lanes.end(k, r, l.Clock())
	}()
	kind, due, err := l.dueDeliveries(ctx, k)
	if err != nil {
		if r.hasFailed = true; ctx.Err() == nil {
			l.Logger.Warn("deliveries could not be read", "receiver", k.receiver, "error", err)
		}
		return
	}
	for i := range due {
		began := l.Clock()
		accepted := l.attemptDelivery(ctx, kind, &due[i])
		r.isSlow = l.Clock().Sub(began) >= slowAfter
		if !accepted {
			r.hasFailed = true
			return
		}
	}
}

// receiver returns the kind and the state of a lane's receiver; kind is nil if the receiver was deleted.
func (l *Dispatcher) receiver(tx *store.Tx, k laneKey) (kind ReceiverKind, state State, err error) {
	for _, kind := range l.Kinds {
		state, err := kind.State(tx, k.organization, k.receiver)
		if err == nil || !errors.Is(err, store.ErrNotFound) {
			return kind, state, err
		}
	}
	return nil, State{}, nil
}

// sendable selects the unfinished deliveries that may be sent to a receiver in the given state, ordered by due time.
func sendable(state State) store.TenantIndexView[store.Delivery] {
	if state.Enabled {
		return store.Deliveries.By("due")
	}
	return store.Deliveries.By("single")
}

// dueDeliveries returns the first due deliveries of a lane, oldest first.
func (l *Dispatcher) dueDeliveries(ctx context.Context, k laneKey) (kind ReceiverKind, due []store.Delivery, err error) {
	err = l.DB.View(ctx, func(tx *store.Tx) (err error) {
		var state State
		if kind, state, err = l.receiver(tx, k); err != nil || kind == nil {
			return err
		}
		due = nil
		for d, err := range sendable(state).Scan(tx, k.organization, store.Prefix(k.receiver)) {
			if err != nil {
				return err
			}
			if d.NextAttemptAt.After(l.Clock()) || len(due) == maxPerTurn {
				break
			}
			due = append(due, d)
		}
		return nil
	})
	return kind, due, err
}

// nextDue returns when the first delivery of a lane is due. It returns the zero time if the receiver is paused, and the
// value of never if there are no deliveries.
func (l *Dispatcher) nextDue(ctx context.Context, k laneKey) (next time.Time, err error) {
	err = l.DB.View(ctx, func(tx *store.Tx) error {
		next = never
		kind, state, err := l.receiver(tx, k)
		if err != nil || kind == nil {
			return err
		}
		for d, err := range sendable(state).Scan(tx, k.organization, store.Prefix(k.receiver)) {
			if err == nil {
				next = *d.NextAttemptAt
			}
			return err
		}
		if state.Enabled {
			return nil
		}
		for _, err := range store.Deliveries.By("due").Scan(tx, k.organization, store.Prefix(k.receiver)) {
			next = time.Time{}
			return err
		}
		return nil
	})
	return next, err
}
