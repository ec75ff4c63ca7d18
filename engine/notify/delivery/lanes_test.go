package delivery

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/google/uuid"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// receivers is a kind of receiver. Those in slow organizations respond only when the test ends.
type receivers struct {
	all    map[string][]Receiver // by organization
	isSlow func(org string) bool
	sent   chan string // organizations
}

func (*receivers) Name() string { return "receiver" }

func (r *receivers) Receivers(_ *store.Tx, org string) (out []Receiver, err error) {
	if org != "" {
		return r.all[org], nil
	}
	for _, some := range r.all {
		out = append(out, some...)
	}
	return out, nil
}

func (r *receivers) Send(ctx context.Context, d *store.Delivery) (int, error) {
	if r.isSlow(d.OrganizationID) {
		<-ctx.Done()
		return 0, ctx.Err()
	}
	r.sent <- d.OrganizationID
	return 200, nil
}

func (r *receivers) State(_ *store.Tx, org, id string) (State, error) {
	if !slices.ContainsFunc(r.all[org], func(one Receiver) bool { return one.ID == id }) {
		return State{}, store.ErrNotFound
	}
	return State{Enabled: true}, nil
}

func (*receivers) SaveState(*store.Tx, string, string, State, api.DeliveryAttempt) error { return nil }

func newID() string { return uuid.Must(uuid.NewV7()).String() }

// TestSlowReceiversDelayNobody checks that an event is sent at once although a thousand receivers of other
// organizations respond slowly, and although one organization has very many deliveries waiting.
func TestSlowReceiversDelayNobody(t *testing.T) {
	db, err := store.Open(t.Context(), store.Options{
		Dir: t.TempDir(), Schema: store.ServiceSchema, Clock: time.Now, NewID: newID, Logger: slog.New(slog.DiscardHandler),
	})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r := &receivers{all: map[string][]Receiver{}, sent: make(chan string, 1)}
	add := func(n int) (org string) {
		org = newID()
		for range n {
			r.all[org] = append(r.all[org], Receiver{
				ID: newID(), OrganizationID: org, Enabled: true, SubscribesTo: func(string) bool { return true },
			})
		}
		return org
	}
	healthy := add(1)
	add(100)
	for range 200 {
		add(5)
	}
	r.isSlow = func(org string) bool { return org != healthy }
	publish := func(orgs ...string) {
		t.Helper()
		if err := db.Update(t.Context(), func(tx *store.Tx) error {
			for _, org := range orgs {
				by := api.Caller{OrganizationID: org, Actor: api.Actor{Type: api.ActorUser, ID: newID(), Name: "Ada"}}
				if err := audit.RecordAndPublishEvent(tx, by, audit.Event{Type: "soa.drafted", AssessmentID: newID(), Summary: "drafted"}); err != nil {
					return err
				}
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	l := NewDispatcher(Options{
		DB: db, Clock: time.Now, Logger: slog.New(slog.DiscardHandler), Kinds: []ReceiverKind{r},
		NewTicker: func(time.Duration) (<-chan time.Time, func()) { return nil, func() {} },
	})
	l.Start(t.Context())
	defer l.Close()
	var slow []string
	for org := range r.all {
		if org != healthy {
			slow = append(slow, org)
		}
	}
	publish(slow...)
	const sending = 200*5 + maxSendingOrg
	for l.LaneStats().Sending < sending {
		publish(healthy)
		if org := <-r.sent; org != healthy {
			t.Fatal(org)
		}
	}
	if f := l.LaneStats(); f.Sending > sending+1 || f.Waiting != 100-maxSendingOrg {
		t.Errorf("%+v", f)
	}
}

// TestLanesTakeTurns checks which lanes send next, with a simulated clock.
func TestLanesTakeTurns(t *testing.T) {
	now := time.Date(2026, 11, 27, 9, 0, 0, 0, time.UTC)
	key := func(org string, n int) laneKey { return laneKey{org, fmt.Sprintf("%04d", n)} }
	t.Run("organizations", func(t *testing.T) {
		var s lanes
		s.init()
		for n := range 2000 {
			s.wake(key("many", n), now)
		}
		s.wake(key("few", 1), now)
		if got := s.start(now); len(got) != maxSendingOrg+1 || !slices.Contains(got, key("few", 1)) {
			t.Errorf("%d lanes were started", len(got))
		}
		s.end(key("many", 0), result{next: never}, now)
		if got := s.start(now); len(got) != 1 || got[0] != key("many", maxSendingOrg) {
			t.Errorf("then %v", got)
		}
	})
	t.Run("slow ones", func(t *testing.T) {
		var s lanes
		s.init()
		for n := range 1000 {
			s.wake(key(fmt.Sprint(n), 1), now)
		}
		for _, k := range s.start(now) {
			s.end(k, result{next: never, isSlow: true}, now)
		}
		for n := range 1000 {
			s.wake(key(fmt.Sprint(n), 1), now)
		}
		if got := s.start(now); len(got) != maxSendingSlow {
			t.Errorf("%d slow lanes were started", len(got))
		}
		s.wake(key("new", 1), now)
		if got := s.start(now); len(got) != 1 || got[0] != key("new", 1) {
			t.Errorf("beside the slow ones: %v", got)
		}
		if f := s.stats(now); f.Sending != maxSendingSlow+1 || f.Slow != 1000 || f.Waiting != 1000-maxSendingSlow {
			t.Errorf("%+v", f)
		}
		s.forgetOld(now.Add(2 * time.Hour)) // those that still have deliveries are not forgotten
		if f := s.stats(now); f.Slow != 1000 {
			t.Errorf("%+v", f)
		}
	})
	t.Run("failing ones", func(t *testing.T) {
		var s lanes
		s.init()
		k := key("a", 1)
		s.wake(k, now)
		s.start(now)
		s.end(k, result{next: now.Add(time.Hour), hasFailed: true}, now)
		if f := s.stats(now); f.Paused != 1 {
			t.Errorf("%+v", f)
		}
		s.wake(k, now) // by a new event
		if got := s.start(now.Add(restAfterFailure - 1)); len(got) != 0 {
			t.Errorf("it sends at once after a failure")
		}
		if got := s.start(now.Add(restAfterFailure)); len(got) != 1 {
			t.Errorf("the new event waits for the retry")
		}
		s.wake(k, now)
		s.end(k, result{}, now) // paused while sending, but woken
		if got := s.start(now); len(got) != 1 {
			t.Errorf("a wake while sending was lost")
		}
	})
	t.Run("searches", func(t *testing.T) {
		var s lanes
		s.init()
		retrying, paused := key("a", 1), key("a", 2)
		s.setDue(retrying, now.Add(time.Minute)) // by an earlier process
		s.setDue(paused, now)
		s.start(now)
		s.end(paused, result{}, now)
		if f := s.stats(now); f != (LaneStats{Paused: 2}) {
			t.Errorf("%+v", f)
		}
		s.forgetOld(now)
		if f := s.stats(now); f != (LaneStats{Paused: 1}) {
			t.Errorf("the paused lane without deliveries was not forgotten: %+v", f)
		}
		s.start(now.Add(time.Minute))
		s.end(retrying, result{next: never}, now)
		s.forgetOld(now)
		if len(s.all)+len(s.turns) != 0 {
			t.Errorf("remembered: %v, %v", s.all, s.turns)
		}
	})
	t.Run("new ones queue behind", func(t *testing.T) {
		var s lanes
		s.init()
		for n := range maxSendingOrg + 2 {
			s.wake(key("a", 1+n), now)
		}
		s.start(now)
		s.end(key("a", 1), result{next: never}, now)
		s.wake(key("a", 0), now)
		if got := s.start(now); len(got) != 1 || got[0] != key("a", maxSendingOrg+1) {
			t.Errorf("%v was started", got)
		}
	})
}
