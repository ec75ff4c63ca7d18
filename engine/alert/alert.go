// Package alert evaluates alert rules: each names a metric, a threshold and the channels to notify.
//
//	ok ──(beyond the threshold for window_seconds)──▶ firing ──(within it for as long)──▶ ok
//
// A change of state is notified once, in the same transaction: by email and as an event for
// webhooks. Fluctuations faster than the window have no effect. The package measures nothing itself.
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

// Options holds the dependencies of a Service.
type Options struct {
	DB     *store.DB
	Logger *slog.Logger
	Mail   *mail.Service
	// Metrics returns an organization's metrics and those of the process.
	Metrics func(ctx context.Context, org string) ([]api.Metric, error)
	// ZeroWhenAbsent lists the metrics that are omitted while they are 0.
	ZeroWhenAbsent []string
	// AlertOnIncrease lists the metrics for which every increase is news: while a rule on one is
	// firing, a notification is also sent when the value exceeds the last notified one.
	AlertOnIncrease []string
	// Details returns lines that describe what a metric counts. If it is nil or returns none, only
	// the number is sent.
	Details func(tx *store.Tx, org, metric string, labels map[string]string) ([]string, error)
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
}

// Service implements the operations on alert rules and evaluates the rules.
type Service struct {
	Options
	stop    context.CancelFunc
	working sync.WaitGroup
}

// New returns a Service. Rules are evaluated only after Start.
func New(o Options) *Service { return &Service{Options: o} }

const (
	maxRules      = 100 // per organization
	defaultWindow = 60
	evalInterval  = 30 * time.Second
)

// Start evaluates the rules periodically until Close is called.
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
			if !s.DB.IsLeader() {
				continue // another process evaluates them
			}
			if err := s.EvaluateAll(ctx); err != nil && ctx.Err() == nil {
				s.Logger.Warn("alert rules could not be evaluated", "error", err)
			}
		}
	})
}

// Close stops evaluation and waits for it to end.
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

// Get returns a rule.
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

// Create creates a rule.
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
	if err := s.validateRule(ctx, by.OrganizationID, &r.AlertRule); err != nil {
		return nil, err
	}
	err := s.DB.Update(ctx, func(tx *store.Tx) error {
		n, err := store.AlertRules.Count(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		if n >= maxRules {
			return api.Conflict("an organization can have up to %d alert rules; delete one you no longer need", maxRules)
		}
		r.TenantRecord = api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		}
		return errors.Join(store.AlertRules.Insert(tx, by.OrganizationID, &r), recordChangeInAudit(tx, by, "alert_rule.created", &r))
	})
	return &r.AlertRule, err
}

func recordChangeInAudit(tx *store.Tx, by api.Caller, action string, r *store.AlertRule) error {
	return audit.Append(tx, by, audit.Entry{
		Action: action, ResourceType: "alert_rule", ResourceID: r.ID,
		Changes: map[string]any{"name": r.Name, "metric": r.Metric, "operator": r.Operator, "threshold": r.Threshold, "enabled": r.Enabled},
	})
}

// Update changes a rule. If the rule's condition changes, the rule's state is reset.
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
	if err := s.validateRule(ctx, by.OrganizationID, now); err != nil {
		return nil, err
	}
	var r store.AlertRule
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		if r, err = getRule(tx, by.OrganizationID, in.AlertID); err != nil {
			return err
		}
		if err := in.Match.Check(r.Revision); err != nil {
			return err
		}
		r.Revision++
		before := r.AlertRule
		change(&r.AlertRule)
		r.Metric, r.Channels, r.UpdatedAt = now.Metric, now.Channels, tx.Now()
		if !r.Enabled || before.Metric != r.Metric || before.Operator != r.Operator || before.Threshold != r.Threshold {
			r.State, r.PendingSince, r.Value, r.LastNotified = api.AlertOK, nil, nil, nil
		}
		return errors.Join(store.AlertRules.Update(tx, by.OrganizationID, &r), recordChangeInAudit(tx, by, "alert_rule.updated", &r))
	})
	return &r.AlertRule, err
}

func setIfGiven[T any](to *T, given *T) {
	if given != nil {
		*to = *given
	}
}

// Delete deletes a rule.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.DeleteAlertInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := getRule(tx, by.OrganizationID, in.AlertID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(r.Revision); err != nil {
			return err
		}
		return errors.Join(store.AlertRules.Delete(tx, by.OrganizationID, r.ID), recordChangeInAudit(tx, by, "alert_rule.deleted", &r))
	})
}

// validateRule checks that a rule's metric and channels exist.
func (s *Service) validateRule(ctx context.Context, org string, r *api.AlertRule) error {
	if r.Name = strings.TrimSpace(r.Name); r.Name == "" {
		return api.Invalid("name", "a name is required; it appears in notifications")
	}
	want, err := parseSelector(r.Metric)
	if err != nil {
		return api.Invalid("metric", "%s", err)
	}
	r.Metric = want.String()
	if math.IsNaN(r.Threshold) || math.IsInf(r.Threshold, 0) {
		return api.Invalid("threshold", "the threshold must be a finite number")
	}
	for i, c := range r.Channels {
		c = strings.TrimSpace(c)
		r.Channels[i] = c
		to, addressed := strings.CutPrefix(c, "email:")
		switch {
		case addressed && mail.CheckAddress(to) == nil, c == "email", c == "webhook":
		case addressed:
			return api.Invalid("channels", "%q is not a valid email address", to)
		default:
			return api.Invalid("channels", "unknown channel %q; use email, email:ADDRESS or webhook", c)
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
	found := false
	for _, m := range all {
		names[m.Name] = true
		if m.Name == want.name {
			found = true
			for l := range m.Labels {
				labels[l] = true
			}
		}
	}
	if !names[want.name] {
		return api.Invalid("metric", "%s", unknownNameMessage("metric", want.name, names))
	}
	for l := range want.labels {
		if found && !labels[l] {
			return api.Invalid("metric", "%s", unknownNameMessage("label", l, labels)+" at "+want.name)
		}
	}
	return nil
}

func unknownNameMessage(kind, word string, names map[string]bool) string {
	message := fmt.Sprintf("unknown %s %q", kind, word)
	if near := scf.Suggest(word, slices.Sorted(maps.Keys(names))); len(near) > 0 {
		message += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return message
}

// metricSelector selects a metric by its name and by labels it must have.
type metricSelector struct {
	name   string
	labels map[string]string
}

// parseSelector parses a metric name optionally followed by labels, as in name{label=value,…}.
// Values may be quoted.
func parseSelector(text string) (metricSelector, error) {
	name, rest, braced := strings.Cut(strings.TrimSpace(text), "{")
	out := metricSelector{name: strings.TrimSpace(name), labels: map[string]string{}}
	if out.name == "" || strings.ContainsAny(out.name, " }=,\"") {
		return out, fmt.Errorf("%.60q is not a valid metric, such as organization_open_findings{severity=critical}", text)
	}
	if !braced {
		return out, nil
	}
	inner, closed := strings.CutSuffix(strings.TrimSpace(rest), "}")
	if !closed || strings.ContainsAny(inner, "{}") {
		return out, fmt.Errorf("%.60q has an opening brace but no closing brace }", text)
	}
	for pair := range strings.SplitSeq(inner, ",") {
		l, v, ok := strings.Cut(pair, "=")
		l, v = strings.TrimSpace(l), strings.TrimSpace(strings.Trim(strings.TrimSpace(v), `"`))
		if _, duplicate := out.labels[l]; !ok || l == "" || v == "" || duplicate || strings.ContainsAny(l+v, "\"=") {
			return out, fmt.Errorf("the labels in %.60q must be comma-separated pairs such as severity=critical, without duplicates", text)
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

// sum returns the sum of the selected metrics. found is false if there are none.
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

// isWorse reports whether v is a worse value than the other one under a rule's comparison operator.
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

// EvaluateAll evaluates every rule once.
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
		// An error in one organization must not affect the others.
		if err := s.evaluateOrganization(ctx, org); err != nil && ctx.Err() == nil {
			s.Logger.Warn("an organization's alert rules could not be evaluated", "organization", org, "error", err)
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

// evaluateRule updates a rule's state according to the current metrics.
func (s *Service) evaluateRule(tx *store.Tx, r *store.AlertRule, all []api.Metric) error {
	now := tx.Now()
	r.LastEvaluatedAt = &now
	selector, err := parseSelector(r.Metric)
	if err != nil {
		return err // unexpected: it was validated when saved
	}
	v, found := selector.sum(all)
	if !found && !slices.Contains(s.ZeroWhenAbsent, selector.name) {
		r.Value, r.PendingSince = nil, nil // unknown value: the state is kept
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
		if err := s.notifyChannels(tx, r, selector, v); err != nil {
			return err
		}
	}
	return store.AlertRules.Update(tx, r.OrganizationID, r)
}

// notifyChannels notifies the rule's channels that it is now firing, or that it has been resolved.
func (s *Service) notifyChannels(tx *store.Tx, r *store.AlertRule, selector metricSelector, v float64) error {
	by := api.Caller{OrganizationID: r.OrganizationID, Actor: api.Actor{Type: api.ActorWorkflow, Name: "alerts"}}
	action, title := "alert.firing", "Firing: "+r.Name
	detail := fmt.Sprintf(
		"%s has been %s %s for %s; the current value is %s.",
		r.Metric,
		operatorPhrases[r.Operator],
		formatNumber(r.Threshold),
		time.Duration(r.WindowSeconds)*time.Second,
		formatNumber(v),
	)
	if r.State == api.AlertOK {
		action, title = "alert.resolved", "Resolved: "+r.Name
		detail = fmt.Sprintf(
			"%s has not been %s %s for %s; the current value is %s.",
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
		err = audit.RecordAndPublishEvent(tx, by, audit.Event{Type: action, ResourceType: "alert_rule", ResourceID: r.ID, Data: data})
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
