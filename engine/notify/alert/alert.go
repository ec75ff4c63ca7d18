// Package alert watches figures: a rule says which, from where on it matters, and who is told.
//
//	ok ──(beyond the threshold for window_seconds)──▶ firing ──(within it for as long)──▶ ok
//
// A change of state is told once, with it: by mail, and as an event for webhooks. What goes
// to and fro faster than the window changes nothing. The package measures nothing itself.
package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/notify/mail"
	"github.com/scf-service/service/store"
)

// Options are what the service is made of.
type Options struct {
	DB     *store.DB
	Logger *slog.Logger
	Mail   *mail.Service
	// Metrics are an organization's figures, and with them those of the process.
	Metrics func(ctx context.Context, org string) ([]api.Metric, error)
	// ZeroWhenAbsent are the names of metrics that are left out while they are 0.
	ZeroWhenAbsent []string
	// AlertOnIncrease are the names of metrics of which each more is news: while a rule on one fires, a
	// value further beyond than was told is told as well.
	AlertOnIncrease []string
	// Details are lines that say what a metric counts; nil, or none: the number alone is told.
	Details func(tx *store.Tx, org, metric string, labels map[string]string) ([]string, error)
	// NewTicker gives a tick in each such time until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Service answers the operations on alert rules and looks at them.
type Service struct {
	Options
	stop    context.CancelFunc
	working sync.WaitGroup
}

// New makes the service; Start begins to look.
func New(o Options) *Service { return &Service{Options: o} }

const (
	maxRules      = 100 // of an organization
	defaultWindow = 60
	evalInterval  = 30 * time.Second
)

// Start begins to look at the rules. Close ends it.
func (s *Service) Start(ctx context.Context) {
	ctx, s.stop = context.WithCancel(ctx)
	ticks, stopTicks := s.NewTicker(evalInterval)
	s.working.Go(func() {
		defer stopTicks()
		for {
			select {
			case <-ctx.Done():
				return
			case <-ticks:
			}
			if err := s.EvaluateAll(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("alert rules can't be looked at", "error", err)
			}
		}
	})
}

// Close ends the looking and waits for it.
func (s *Service) Close() {
	if s.stop != nil {
		s.stop()
	}
	s.working.Wait()
}

// List lists an organization's rules.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.AlertRule], error) {
	all, err := store.List(ctx, s.DB, store.AlertRules, by.OrganizationID, *in, store.PageQuery[store.AlertRule]{})
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(r *store.AlertRule) api.AlertRule { return r.AlertRule }), nil
}

// Get is one rule.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.AlertInput) (*api.AlertRule, error) {
	var r store.AlertRule
	err := s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = getRule(tx, by.OrganizationID, in.AlertID)
		return err
	})
	return &r.AlertRule, err
}

func getRule(tx *store.Tx, org, id string) (store.AlertRule, error) {
	r, err := store.AlertRules.Get(tx, org, id)
	return r, store.ToNotFound(err, "alert rule", id)
}

// Create makes a rule.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateAlertInput) (*api.AlertRule, error) {
	b := in.Body
	r := store.AlertRule{AlertRule: api.AlertRule{
		Name: b.Name, Metric: b.Metric, Operator: b.Operator, Threshold: b.Threshold,
		WindowSeconds: b.WindowSeconds, Channels: b.Channels, Enabled: b.Enabled == nil || *b.Enabled, State: api.AlertOK,
	}}
	if r.WindowSeconds == 0 {
		r.WindowSeconds = defaultWindow
	}
	if len(r.Channels) == 0 {
		r.Channels = []string{"email", "webhook"}
	}
	if err := s.validate(ctx, by.OrganizationID, &r.AlertRule); err != nil {
		return nil, err
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		n, err := store.AlertRules.Count(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		if n >= maxRules {
			return api.Conflict("an organization has up to %d alert rules; delete one that is no longer needed", maxRules)
		}
		r.TenantRecord = api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		}
		return errors.Join(store.AlertRules.Insert(tx, by.OrganizationID, &r), auditChange(tx, by, "alert_rule.created", &r))
	})
	return &r.AlertRule, err
}

func auditChange(tx *store.Tx, by api.Caller, action string, r *store.AlertRule) error {
	return audit.Append(tx, by, audit.Entry{
		Action: action, ResourceType: "alert_rule", ResourceID: r.ID,
		Changes: map[string]any{"name": r.Name, "metric": r.Metric, "operator": r.Operator, "threshold": r.Threshold, "enabled": r.Enabled},
	})
}

// Update changes a rule. What it watches begins anew where that changes.
func (s *Service) Update(ctx context.Context, by api.Caller, in *api.UpdateAlertInput) (*api.AlertRule, error) {
	now, err := s.Get(ctx, by, &in.AlertInput)
	if err != nil {
		return nil, err
	}
	change := func(r *api.AlertRule) {
		setIfGiven(&r.Name, in.Body.Name)
		setIfGiven(&r.Metric, in.Body.Metric)
		setIfGiven(&r.Operator, in.Body.Operator)
		setIfGiven(&r.Threshold, in.Body.Threshold)
		setIfGiven(&r.WindowSeconds, in.Body.WindowSeconds)
		setIfGiven(&r.Channels, in.Body.Channels)
		setIfGiven(&r.Enabled, in.Body.Enabled)
	}
	change(now)
	if err := s.validate(ctx, by.OrganizationID, now); err != nil {
		return nil, err
	}
	var r store.AlertRule
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		if r, err = getRule(tx, by.OrganizationID, in.AlertID); err != nil {
			return err
		}
		before := r.AlertRule
		change(&r.AlertRule)
		r.Metric, r.Channels, r.UpdatedAt = now.Metric, now.Channels, tx.Now()
		if !r.Enabled || before.Metric != r.Metric || before.Operator != r.Operator || before.Threshold != r.Threshold {
			r.State, r.PendingSince, r.Value, r.LastNotified = api.AlertOK, nil, nil, nil
		}
		return errors.Join(store.AlertRules.Update(tx, by.OrganizationID, &r), auditChange(tx, by, "alert_rule.updated", &r))
	})
	return &r.AlertRule, err
}

func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// Delete ends a rule.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.AlertInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := getRule(tx, by.OrganizationID, in.AlertID)
		if err != nil {
			return err
		}
		return errors.Join(store.AlertRules.Delete(tx, by.OrganizationID, r.ID), auditChange(tx, by, "alert_rule.deleted", &r))
	})
}

// validate sees that a rule watches something there is, and tells somebody there is.
func (s *Service) validate(ctx context.Context, org string, r *api.AlertRule) error {
	if r.Name = strings.TrimSpace(r.Name); r.Name == "" {
		return api.Invalid("name", "give it a name; those who are told read it")
	}
	want, err := parseSelector(r.Metric)
	if err != nil {
		return api.Invalid("metric", "%s", err)
	}
	r.Metric = want.String()
	if math.IsNaN(r.Threshold) || math.IsInf(r.Threshold, 0) {
		return api.Invalid("threshold", "this is no number to compare with")
	}
	for i, c := range r.Channels {
		c = strings.TrimSpace(c)
		r.Channels[i] = c
		to, addressed := strings.CutPrefix(c, "email:")
		switch {
		case addressed && mail.CheckAddress(to) == nil, c == "email", c == "webhook":
		case addressed:
			return api.Invalid("channels", "%q is no e-mail address", to)
		default:
			return api.Invalid("channels", "there is no channel %q; there are email, email:ADDRESS and webhook", c)
		}
	}
	if r.Channels == nil {
		r.Channels = []string{}
	}
	all, err := s.Metrics(ctx, org)
	if err != nil {
		return err
	}
	names := map[string]bool{}
	labels := map[string]bool{}
	for _, n := range s.ZeroWhenAbsent {
		names[n] = true
	}
	there := false
	for _, m := range all {
		names[m.Name] = true
		if m.Name == want.name {
			there = true
			for l := range m.Labels {
				labels[l] = true
			}
		}
	}
	if !names[want.name] {
		return api.Invalid("metric", "%s", unknownName("metric", want.name, names))
	}
	for l := range want.labels {
		if there && !labels[l] {
			return api.Invalid("metric", "%s", unknownName("label", l, labels)+" at "+want.name)
		}
	}
	return nil
}

func unknownName(kind, word string, names map[string]bool) string {
	said := fmt.Sprintf("there is no %s %q", kind, word)
	if near := scf.Suggest(word, slices.Sorted(maps.Keys(names))); len(near) > 0 {
		said += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return said
}

// metricSelector names a metric and the labels that it has to have.
type metricSelector struct {
	name   string
	labels map[string]string
}

// parseSelector reads name and name{label=value,…}; values may stand in quotes.
func parseSelector(text string) (metricSelector, error) {
	name, rest, braced := strings.Cut(strings.TrimSpace(text), "{")
	out := metricSelector{name: strings.TrimSpace(name), labels: map[string]string{}}
	if out.name == "" || strings.ContainsAny(out.name, " }=,\"") {
		return out, fmt.Errorf("%.60q is no metric, as organization_open_findings{severity=critical}", text)
	}
	if !braced {
		return out, nil
	}
	inner, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed || strings.ContainsAny(inner, "{}") {
		return out, fmt.Errorf("the { of %.60q has no }", text)
	}
	for pair := range strings.SplitSeq(inner, ",") {
		l, v, ok := strings.Cut(pair, "=")
		l, v = strings.TrimSpace(l), strings.TrimSpace(strings.Trim(strings.TrimSpace(v), `"`))
		if _, twice := out.labels[l]; !ok || l == "" || v == "" || twice || strings.ContainsAny(l+v, "\"=") {
			return out, fmt.Errorf("in the braces of %.60q stand labels as severity=critical, each once, with commas between them", text)
		}
		out.labels[l] = v
	}
	return out, nil
}

func (w metricSelector) String() string {
	if len(w.labels) == 0 {
		return w.name
	}
	var parts []string
	for _, l := range slices.Sorted(maps.Keys(w.labels)) {
		parts = append(parts, l+"="+w.labels[l])
	}
	return w.name + "{" + strings.Join(parts, ",") + "}"
}

// sum is the sum of the metrics that are meant; false where there is none.
func (w metricSelector) sum(all []api.Metric) (sum float64, found bool) {
	for _, m := range all {
		if m.Name != w.name {
			continue
		}
		fits := true
		for l, v := range w.labels {
			fits = fits && m.Labels[l] == v
		}
		if fits {
			sum, found = sum+m.Value, true
		}
	}
	return sum, found
}

func isBreached(r *api.AlertRule, v float64) bool {
	switch r.Operator {
	case "gt":
		return v > r.Threshold
	case "gte":
		return v >= r.Threshold
	case "lt":
		return v < r.Threshold
	case "lte":
		return v <= r.Threshold
	}
	return v == r.Threshold
}

// isWorse tells whether a value is further beyond than another.
func isWorse(operator string, v, than float64) bool {
	switch operator {
	case "gt", "gte":
		return v > than
	case "lt", "lte":
		return v < than
	}
	return false
}

var operatorPhrases = map[string]string{"gt": "more than", "gte": "at least", "lt": "less than", "lte": "at most", "eq": "equal to"}

// EvaluateAll looks at every rule once.
func (s *Service) EvaluateAll(ctx context.Context) error {
	watched := map[string]bool{}
	err := s.DB.View(ctx, func(tx *store.Tx) error {
		clear(watched)
		for r, err := range store.AlertRules.AcrossTenants().Scan(tx) {
			if err != nil {
				return err
			}
			if r.Enabled {
				watched[r.OrganizationID] = true
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, org := range slices.Sorted(maps.Keys(watched)) {
		// One organization's trouble is not another's.
		if err := s.evaluateOrganization(ctx, org); err != nil && ctx.Err() == nil {
			s.Logger.Warn("alert rules of an organization can't be looked at", "organization", org, "error", err)
		}
	}
	return ctx.Err()
}

func (s *Service) evaluateOrganization(ctx context.Context, org string) error {
	all, err := s.Metrics(ctx, org)
	if err != nil {
		return err
	}
	return s.DB.Update(ctx, func(tx *store.Tx) error {
		var rules []store.AlertRule
		for r, err := range store.AlertRules.Scan(tx, org) {
			if err != nil {
				return err
			}
			if r.Enabled {
				rules = append(rules, r)
			}
		}
		for _, r := range rules {
			if err := s.evaluateRule(tx, &r, all); err != nil {
				return err
			}
		}
		return nil
	})
}

// evaluateRule moves a rule on by what the metric is now.
func (s *Service) evaluateRule(tx *store.Tx, r *store.AlertRule, all []api.Metric) error {
	now := tx.Now()
	r.LastEvaluatedAt = &now
	selector, err := parseSelector(r.Metric)
	if err != nil {
		return err // it was checked when it was kept
	}
	v, there := selector.sum(all)
	if !there && !slices.Contains(s.ZeroWhenAbsent, selector.name) {
		r.Value, r.PendingSince = nil, nil // nothing is known: nothing changes
		return store.AlertRules.Update(tx, r.OrganizationID, r)
	}
	r.Value = &v
	state := api.AlertOK
	if isBreached(&r.AlertRule, v) {
		state = api.AlertFiring
	}
	worse := state == api.AlertFiring && r.State == state && slices.Contains(s.AlertOnIncrease, selector.name) && r.LastNotified != nil &&
		isWorse(r.Operator, v, *r.LastNotified)
	switch {
	case state == r.State && !worse:
		r.PendingSince = nil
	case r.PendingSince == nil || r.PendingSince.After(now): // or the clock was set back
		r.PendingSince = &now
	case now.Sub(*r.PendingSince) >= time.Duration(r.WindowSeconds)*time.Second:
		if r.State != state {
			r.ChangedAt = &now
		}
		r.State, r.PendingSince, r.LastNotified = state, nil, nil
		if state == api.AlertFiring {
			r.LastNotified = &v
		}
		if err := s.notify(tx, r, selector, v); err != nil {
			return err
		}
	}
	return store.AlertRules.Update(tx, r.OrganizationID, r)
}

// notify says that a rule fires, or is fine again.
func (s *Service) notify(tx *store.Tx, r *store.AlertRule, selector metricSelector, v float64) error {
	by := api.Caller{OrganizationID: r.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, Name: "alerts"}}
	action, title := "alert.firing", "Firing: "+r.Name
	detail := fmt.Sprintf(
		"%s has been %s %s for %s; it is %s.",
		r.Metric,
		operatorPhrases[r.Operator],
		formatNumber(r.Threshold),
		time.Duration(r.WindowSeconds)*time.Second,
		formatNumber(v),
	)
	if r.State == api.AlertOK {
		action, title = "alert.resolved", "Resolved: "+r.Name
		detail = fmt.Sprintf(
			"%s has not been %s %s for %s; it is %s.",
			r.Metric,
			operatorPhrases[r.Operator],
			formatNumber(r.Threshold),
			time.Duration(r.WindowSeconds)*time.Second,
			formatNumber(v),
		)
	}
	data := map[string]any{
		"alert_rule_id": r.ID,
		"name":          r.Name,
		"metric":        r.Metric,
		"value":         v,
		"operator":      r.Operator,
		"threshold":     r.Threshold,
	}
	var err error
	if s.Details != nil && r.State == api.AlertFiring {
		lines, err := s.Details(tx, r.OrganizationID, selector.name, selector.labels)
		if err != nil {
			return err
		}
		if len(lines) > 0 {
			data["named"] = lines
			detail += "\n" + strings.Join(lines, "\n")
		}
	}
	if slices.Contains(r.Channels, "webhook") {
		err = audit.PublishEvent(tx, by, audit.Event{Type: action, ResourceType: "alert_rule", ResourceID: r.ID, Data: data})
	} else {
		err = audit.Append(tx, by, audit.Entry{Action: action, ResourceType: "alert_rule", ResourceID: r.ID, Changes: data})
	}
	if err != nil {
		return err
	}
	var to []string
	everybody := false
	for _, c := range r.Channels {
		if a, ok := strings.CutPrefix(c, "email:"); ok {
			to = append(to, a)
		}
		everybody = everybody || c == "email"
	}
	if everybody {
		err = s.Mail.QueueAlert(tx, r.OrganizationID, nil, title, detail)
	}
	if len(to) > 0 && err == nil {
		err = s.Mail.QueueAlert(tx, r.OrganizationID, to, title, detail)
	}
	return err
}

func formatNumber(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
