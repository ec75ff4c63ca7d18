package integration_test

import (
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// trackers lists the fake trackers.
var trackers = map[string]func(h *fixture) (*fakeTracker, string){
	"jira cloud": func(h *fixture) (*fakeTracker, string) {
		d, c, s := newFakeJira(h.t, h.now, true)
		return d, h.made("jira", c, s)
	},
	"jira data center": func(h *fixture) (*fakeTracker, string) {
		d, c, s := newFakeJira(h.t, h.now, false)
		return d, h.made("jira", c, s)
	},
	"github": func(h *fixture) (*fakeTracker, string) {
		d, c, s := newFakeGitHub(h.t, h.now)
		return d, h.made("github", c, s)
	},
	"servicenow": func(h *fixture) (*fakeTracker, string) {
		d, c, s := newFakeServiceNow(h.t, h.now)
		return d, h.made("servicenow", c, s)
	},
}

func eachTracker(t *testing.T, test func(h *fixture, d *fakeTracker, id string)) {
	for name, open := range trackers {
		t.Run(name, func(t *testing.T) {
			h := newFixture(t)
			d, id := open(h)
			test(h, d, id)
		})
	}
}

func (h *fixture) wantSync(what string, got *api.IntegrationSync, created, pushed, pulled, conflicts, failed int) {
	h.t.Helper()
	if got.Created != created || got.Pushed != pushed || got.Pulled != pulled || got.Conflicts != conflicts || got.Failed != failed {
		h.t.Errorf("%s: %+v, links %+v", what, *got, h.links(h.links0()))
	}
}

// links0 returns the ID of the only integration.
func (h *fixture) links0() string {
	l, err := h.List(h.t.Context(), h.by, &api.Paging{})
	h.must(err)
	return l.Data[0].ID
}

// TestSyncBothWays checks that an approved plan creates issues, that closing, reopening and new
// dates are synced in both directions, and that nothing is applied twice.
func TestSyncBothWays(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		if got := h.runTest(id); !got.OK {
			t.Fatalf("the test: %s", got.Message)
		}
		h.wantSync("without a plan", h.sync(id), 0, 0, 0, 0, 0)
		h.approved(5)
		h.edit(4, func(i *api.POAMItem) { i.Status = "completed" })
		h.wantSync("the first", h.sync(id), 4, 0, 0, 0, 0)
		h.wantSync("the second", h.sync(id), 0, 0, 0, 0, 0)
		if tk := d.ticket(0); d.count() != 4 || tk.due != "2027-01-31" || tk.closed || !strings.Contains(tk.title, "IAC-01") ||
			strings.Contains(tk.text, "@all") {
			t.Fatalf("%d tickets, %+v", d.count(), tk)
		}

		h.edit(0, func(i *api.POAMItem) { i.Status = "completed" })
		h.edit(1, func(i *api.POAMItem) { i.DueDate = "2027-02-28" })
		h.advance(time.Minute)
		d.person(2, func(tk *ticket) { tk.closed = true })
		d.person(3, func(tk *ticket) { tk.due = "2027-03-31" })
		h.wantSync("four changes", h.sync(id), 0, 2, 2, 0, 0)
		if !d.ticket(0).closed || d.ticket(1).due != "2027-02-28" || d.ticket(1).closed {
			t.Errorf("there: %+v %+v", d.ticket(0), d.ticket(1))
		}
		if all := h.items(); all[2].Status != "completed" || all[3].DueDate != "2027-03-31" || all[3].Status != "open" ||
			all[2].EditedBy == nil ||
			!strings.Contains(*all[2].EditedBy, "The ") {
			t.Errorf("here: %+v %+v", all[2], all[3])
		}
		h.wantSync("after them", h.sync(id), 0, 0, 0, 0, 0)

		h.edit(0, func(i *api.POAMItem) { i.Status = "in_progress" })
		h.advance(time.Minute)
		d.person(2, func(tk *ticket) { tk.closed = false })
		h.wantSync("opened again", h.sync(id), 0, 1, 1, 0, 0)
		if d.ticket(0).closed || h.items()[2].Status != "open" {
			t.Errorf("opened again: %+v, %+v", d.ticket(0), h.items()[2])
		}

		// Another version of the plan has other IDs but the same items.
		h.approved(4)
		h.edit(1, func(i *api.POAMItem) { i.DueDate = "2027-02-28" })
		h.edit(3, func(i *api.POAMItem) { i.DueDate = "2027-03-31" })
		h.wantSync("another version", h.sync(id), 0, 0, 0, 0, 0)
		if d.count() != 4 {
			t.Errorf("%d tickets", d.count())
		}
		if r := h.read(id); r.LastStatus == nil || *r.LastStatus != "ok" || r.SyncedAt == nil || r.NextSyncAt == nil {
			t.Errorf("%+v", r)
		}
	})
}

// TestSyncConflicts checks that values changed on both sides are kept, are reported as conflicts, and are replaced by
// those of the side that a user selects, and that changes rejected by the plan are reported.
func TestSyncConflicts(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(3)
		h.sync(id)
		h.advance(time.Minute)
		for n := range 2 {
			h.edit(n, func(i *api.POAMItem) { i.DueDate = "2027-02-01" })
			d.person(n, func(tk *ticket) { tk.due = "2027-03-01" })
		}
		d.person(2, func(tk *ticket) { tk.due = "2020-01-01" }) // a date in the past
		h.wantSync("both sides", h.sync(id), 0, 0, 0, 2, 1)
		h.wantSync("again", h.sync(id), 0, 0, 0, 2, 1)
		if h.items()[0].DueDate != "2027-02-01" || d.ticket(0).due != "2027-03-01" || d.ticket(2).due != "2020-01-01" {
			t.Errorf("a side was lost: %s, %s", h.items()[0].DueDate, d.ticket(0).due)
		}
		links := h.links(id)
		if l := links[0]; l.Status != "conflict" || l.Message == nil || !strings.Contains(*l.Message, "2027-02-01") ||
			!strings.Contains(*l.Message, "2027-03-01") ||
			!strings.Contains(*l.Message, "2027-01-31") {
			t.Errorf("%+v", l)
		}
		if l := links[2]; l.Status != "failed" || l.Message == nil || !strings.Contains(*l.Message, "passed") {
			t.Errorf("%+v", l)
		}
		told := 0
		h.must(h.db.View(t.Context(), func(tx *store.Tx) error {
			events, err := store.Outbox.Next(tx, "test", 1000)
			for _, e := range events {
				if e.Topic == "sync.conflict" {
					told++
				}
			}
			return err
		}))
		if told != 2 {
			t.Errorf("told %d times of 2 conflicts", told)
		}
		resolve := func(n int, keep string) *api.IssueLink {
			in := &api.ResolveIssueLinkInput{IntegrationInput: api.IntegrationInput{IntegrationID: id}, LinkID: links[n].ID}
			in.Body.Keep = keep
			l, err := h.ResolveLink(t.Context(), h.by, in)
			h.must(err)
			return l
		}
		if l := resolve(0, "plan"); l.Status != "linked" || d.ticket(0).due != "2027-02-01" {
			t.Errorf("the plan holds: %+v, %+v", l, d.ticket(0))
		}
		if l := resolve(1, "issue"); l.Status != "linked" || h.items()[1].DueDate != "2027-03-01" {
			t.Errorf("the issue holds: %+v, %s", l, h.items()[1].DueDate)
		}
		in := &api.ResolveIssueLinkInput{IntegrationInput: api.IntegrationInput{IntegrationID: id}, LinkID: links[0].ID}
		if _, err := h.ResolveLink(t.Context(), h.by, in); !api.IsCode(err, api.CodeInvalidState) {
			t.Errorf("resolved twice: %v", err)
		}
	})
}

// TestSyncNoticesChangesMeanwhile checks that a plan item that is changed while a sync runs isn't overwritten with the
// issue's change.
func TestSyncNoticesChangesMeanwhile(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(1)
		h.sync(id)
		h.advance(time.Minute)
		d.person(0, func(tk *ticket) { tk.due = "2027-03-01" })
		var once sync.Once
		d.before = func(http.ResponseWriter, *http.Request) bool { // the sync has read the plan
			once.Do(func() { h.edit(0, func(i *api.POAMItem) { i.DueDate = "2027-02-01" }) })
			return false
		}
		h.wantSync("a change meanwhile", h.sync(id), 0, 0, 0, 1, 0)
		if h.items()[0].DueDate != "2027-02-01" || d.ticket(0).due != "2027-03-01" {
			t.Errorf("a side was lost: %s, %s", h.items()[0].DueDate, d.ticket(0).due)
		}
	})
}

// TestSyncFindsWhatItMade checks that an issue whose creation got no response is found by its
// marker and not created twice.
func TestSyncFindsWhatItMade(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(3)
		d.lose = true
		h.wantSync("an answer is lost", h.sync(id), 2, 0, 0, 0, 1)
		h.wantSync("too early to look", h.sync(id), 0, 0, 0, 0, 0)
		h.advance(3 * time.Minute)
		h.start() // as after a restart
		h.wantSync("it is found", h.sync(id), 0, 0, 0, 0, 0)
		if d.count() != 3 {
			t.Fatalf("%d issues of 3 items", d.count())
		}
		for _, l := range h.links(id) {
			if l.Status != "linked" || l.IssueKey == "" {
				t.Errorf("%+v", l)
			}
		}
	})
}

// TestSyncGone checks that a deleted issue is not created again, and that an item removed from the
// plan keeps its issue.
func TestSyncGone(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(3)
		h.sync(id)
		d.person(0, func(tk *ticket) { tk.deleted = true })
		h.edit(0, func(i *api.POAMItem) { i.Status = "completed" })
		h.wantSync("deleted there", h.sync(id), 0, 0, 0, 0, 0)
		h.approved(2)
		h.wantSync("another plan", h.sync(id), 0, 0, 0, 0, 0)
		status := map[string]int{}
		for _, l := range h.links(id) {
			status[l.Status]++
		}
		if status["issue_deleted"] != 1 || status["linked"] != 1 || status["item_removed"] != 1 || d.count() != 3 || d.ticket(2).closed {
			t.Errorf("%v, %d tickets", status, d.count())
		}
	})
}

// TestSyncWaitsForReviews checks that a plan under review is not changed until it is decided, since
// a change would void its approval.
func TestSyncWaitsForReviews(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(1)
		h.sync(id)
		status := func(s api.VersionStatus) {
			h.must(h.db.Update(t.Context(), func(tx *store.Tx) error {
				h.plan.Status = s
				return store.POAMVersions.Put(tx, org, &h.plan)
			}))
		}
		// An earlier version was approved; this one is under review.
		h.approved(1)
		status(api.VersionUnderReview)
		h.advance(time.Minute)
		d.person(0, func(tk *ticket) { tk.closed = true })
		h.wantSync("under review", h.sync(id), 0, 0, 0, 0, 0)
		if h.items()[0].Status != "open" || h.links(id)[0].Message == nil {
			t.Errorf("%+v, %+v", h.items()[0], h.links(id)[0])
		}
		status(api.VersionApproved)
		h.wantSync("decided", h.sync(id), 0, 0, 1, 0, 0)
		if h.items()[0].Status != "completed" {
			t.Errorf("%+v", h.items()[0])
		}
	})
}

// TestSyncLimits checks that rate limits are respected and that the remaining changes are made later, once.
func TestSyncLimits(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(4)
		left := 2
		d.before = func(w http.ResponseWriter, r *http.Request) bool {
			if r.Method != http.MethodPost || strings.Contains(r.URL.Path, "search") {
				return false
			}
			if left--; left >= 0 {
				return false
			}
			w.Header().Set("Retry-After", "90")
			if strings.HasPrefix(r.URL.Path, "/repos") { // GitHub's secondary rate limit
				d.say(w, 403, jsonObject{"message": "You have exceeded a secondary rate limit"})
				return true
			}
			d.say(w, 429, jsonObject{"errorMessages": []string{"Rate limit exceeded"}})
			return true
		}
		got := h.sync(id)
		if got.Created != 2 || got.WaitsUntil == nil || !got.WaitsUntil.Equal(h.now().Add(90*time.Second)) {
			t.Fatalf("%+v", got)
		}
		if r := h.read(id); r.LastStatus == nil || !strings.Contains(*r.LastStatus, "rate limiting requests") ||
			!r.NextSyncAt.Equal(*got.WaitsUntil) {
			t.Errorf("%+v %s", r, *r.LastStatus)
		}
		asked := len(d.asked)
		h.writeEvent("poam.approved", harbor, nil)
		h.must(h.SyncDue(t.Context()))
		if len(d.asked) != asked {
			t.Error("it was asked before its time")
		}
		d.before = nil
		h.advance(90 * time.Second)
		h.must(h.SyncDue(t.Context()))
		if d.count() != 4 {
			t.Errorf("%d issues of 4", d.count())
		}
	})
}

// TestSyncSchedule checks that the approval of a plan starts a sync immediately, and that otherwise
// the schedule does.
func TestSyncSchedule(t *testing.T) {
	h := newFixture(t)
	d, id := trackers["github"](h)
	h.must(h.SyncDue(t.Context()))
	h.approved(1)
	h.advance(time.Second)
	h.must(h.SyncDue(t.Context()))
	if d.count() != 0 {
		t.Fatal("it was compared before its time")
	}
	h.writeEvent("poam.approved", harbor, nil)
	h.must(h.SyncDue(t.Context()))
	if d.count() != 1 || len(h.deliveries(id)) != 1 {
		t.Fatalf("%d issues, %+v", d.count(), h.deliveries(id))
	}
	h.edit(0, func(i *api.POAMItem) { i.Status = "risk_accepted" })
	h.advance(5 * time.Minute)
	h.must(h.SyncDue(t.Context()))
	if !d.ticket(0).closed {
		t.Error("the schedule did not compare")
	}
}

// TestSyncHostile checks that any response of a tracker leads to an error on one line of limited
// length without secrets, and changes no item.
func TestSyncHostile(t *testing.T) {
	eachTracker(t, func(h *fixture, d *fakeTracker, id string) {
		h.approved(1)
		h.sync(id)
		h.edit(0, func(i *api.POAMItem) { i.DueDate = "2027-04-01" })
		before := h.items()[0]
		for name, answer := range map[string]func(w http.ResponseWriter){
			"the secrets": func(w http.ResponseWriter) {
				d.say(
					w,
					401,
					jsonObject{
						"message":       "t0ken-github",
						"errorMessages": []string{"t0ken-jira\x1b[31m\nx"},
						"error":         jsonObject{"message": "t0ken-snow"},
					},
				)
			},
			"no JSON":      func(w http.ResponseWriter) { _, _ = w.Write([]byte("<html>login</html>")) },
			"other JSON":   func(w http.ResponseWriter) { _, _ = w.Write([]byte(`[[{"id": {}}]]`)) },
			"a redirect":   func(w http.ResponseWriter) { w.Header().Set("Location", "http://169.254.169.254/"); w.WriteHeader(302) },
			"deep":         func(w http.ResponseWriter) { _, _ = w.Write([]byte(strings.Repeat(`{"issues":[`, 20000))) },
			"a long error": func(w http.ResponseWriter) { d.say(w, 500, jsonObject{"message": strings.Repeat("a", 1<<20)}) },
			"no end": func(w http.ResponseWriter) {
				for range 200 {
					if _, err := w.Write(make([]byte, 1<<17)); err != nil {
						return
					}
				}
			},
		} {
			d.before = func(w http.ResponseWriter, _ *http.Request) bool { answer(w); return true }
			h.advance(time.Minute)
			_, err := h.Sync(t.Context(), h.by, &api.IntegrationInput{IntegrationID: id})
			status := *h.read(id).LastStatus
			if err == nil || status == "ok" || len(status) > 500 || strings.Contains(status, "t0ken") ||
				strings.ContainsAny(status, "\n\x1b") {
				t.Errorf("%s: %v, %.600q", name, err, status)
			}
			if got := h.runTest(id); got.OK || strings.Contains(got.Message, "t0ken") {
				t.Errorf("%s: the test says %+v", name, got)
			}
		}
		if after := h.items()[0]; after.Revision != before.Revision {
			t.Errorf("the item changed: %+v", after)
		}
	})
}
