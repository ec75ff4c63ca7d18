// Package integration connects the service to other tools: it sends chat messages, stores files in buckets, and syncs
// plan items with issues in trackers. Responses of a tool are untrusted data: their length is limited, and they only
// affect the state of an issue.
//
//	settings.go   validation of an integration's settings
//	receiver.go   receiving events
//	chat.go, s3.go, smtp.go
//	sync.go       syncing plan items and issues; jira.go, github.go, servicenow.go
package integration

import (
	"context"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/notify/delivery"
	"github.com/scf-service/service/internal/netguard"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/internal/tracing"
	"github.com/scf-service/service/store"
)

// planUpdater changes plan items.
type planUpdater interface {
	UpdatePOAMItem(ctx context.Context, by api.Caller, in *api.UpdatePOAMItemInput) (*api.POAMItem, error)
}

// archiveExporter exports an assessment as a single file.
type archiveExporter interface {
	Export(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.File, error)
}

// Options holds the dependencies of a Service.
type Options struct {
	DB       *store.DB
	Clock    func() time.Time
	Logger   *slog.Logger
	Box      *secretbox.Box
	Guard    netguard.Guard
	Plans    planUpdater
	Archives archiveExporter
	// NewTicker returns a channel that ticks at this interval until stop is called.
	NewTicker func(time.Duration) (ticks <-chan time.Time, stop func())
	// Tracer traces the work. It may be nil.
	Tracer *tracing.Tracer
	// Roots are the CAs trusted for mail servers' certificates; nil means the system's CAs.
	Roots *x509.CertPool
	// Agent is the User-Agent of requests, such as "service/0.1.0".
	Agent string
	// Wake is called after a change that may make deliveries of an integration due. It may be nil.
	Wake func(organizationID, integrationID string)
}

// Service implements the operations on integrations, sends events to the integrations and syncs plans
// with issues.
type Service struct {
	Options
	client          *http.Client
	uploadTransport http.RoundTripper
	stop            context.CancelFunc
	working         sync.WaitGroup
	syncs           *delivery.Pool
	// syncLocks has a mutex per integration, held while it is being synced.
	mu        sync.Mutex
	syncLocks map[string]*sync.Mutex
}

const (
	maxIntegrations = 50 // per organization
	testTimeout     = 20 * time.Second
	maxSyncs        = 64 // number of organizations whose plans are synced concurrently
)

// New returns a Service. Plans and issues are synced only after Start.
func New(o Options) *Service {
	return &Service{
		Options: o, syncLocks: map[string]*sync.Mutex{}, syncs: delivery.NewPool(maxSyncs),
		client:          o.Guard.Client(netguard.Limits{Timeout: 30 * time.Second, HeaderTimeout: 20 * time.Second, MaxBodyBytes: 8 << 20}),
		uploadTransport: o.Guard.Transport(netguard.Limits{HeaderTimeout: time.Minute, MaxBodyBytes: 1 << 20}),
	}
}

// List lists an organization's integrations.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.Integration], error) {
	all, err := store.List(ctx, s.DB, store.Integrations, by.OrganizationID, *in, store.PageQuery[store.Integration]{})
	if err != nil {
		return nil, err
	}
	return api.MapList(all, func(r *store.Integration) api.Integration { return r.Integration }), nil
}

func getIntegration(tx *store.Tx, org, id string) (store.Integration, error) {
	r, err := store.Integrations.Get(tx, org, id)
	return r, store.ToNotFound(err, "integration", id)
}

func (s *Service) loadIntegration(ctx context.Context, org, id string) (r store.Integration, err error) {
	err = s.DB.View(ctx, func(tx *store.Tx) (err error) {
		r, err = getIntegration(tx, org, id)
		return err
	})
	return r, err
}

// Get returns an integration.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.IntegrationInput) (*api.Integration, error) {
	r, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID)
	return &r.Integration, err
}

// recordChangeInAudit writes an audit record of a change. It contains only the names of the changed settings and
// secrets, not their values.
func recordChangeInAudit(tx *store.Tx, by api.Caller, action string, r *store.Integration) error {
	return audit.Append(tx, by, audit.Entry{Action: action, ResourceType: "integration", ResourceID: r.ID, Changes: map[string]any{
		"type": r.Type, "name": r.Name, "enabled": r.Enabled, "events": r.Events,
		"config": slices.Sorted(maps.Keys(r.Config)), "secrets": r.SecretsSet,
	}})
}

// checkSingleMailServer returns an error if the organization would have a second enabled mail server.
func checkSingleMailServer(tx *store.Tx, r *store.Integration) error {
	if r.Type != "smtp" || !r.Enabled {
		return nil
	}
	for other, err := range store.Integrations.Scan(tx, r.OrganizationID) {
		if err != nil {
			return err
		}
		if other.ID != r.ID && other.Type == "smtp" && other.Enabled {
			return api.Conflict("the organization already has the mail server %q; disable or change that server", other.Name)
		}
	}
	return nil
}

func (s *Service) encryptSecrets(secrets map[string]string) ([]byte, []string, error) {
	secrets = maps.Clone(secrets)
	maps.DeleteFunc(secrets, func(_, v string) bool { return v == "" })
	names := slices.Sorted(maps.Keys(secrets))
	if len(names) == 0 {
		return nil, []string{}, nil
	}
	b, err := json.Marshal(secrets)
	if err != nil {
		return nil, nil, err
	}
	sealed, err := s.Box.Seal(b)
	return sealed, names, err
}

func (s *Service) decryptSecrets(r *store.Integration) (map[string]string, error) {
	out := map[string]string{}
	if len(r.Sealed) == 0 {
		return out, nil
	}
	b, err := s.Box.Open(r.Sealed)
	if errors.Is(err, secretbox.ErrUnknownKey) {
		return nil, fmt.Errorf("%w; enter the integration's secrets again", err)
	}
	if err != nil {
		return nil, err
	}
	return out, json.Unmarshal(b, &out)
}

// loadSettings returns an integration's validated settings.
func (s *Service) loadSettings(r *store.Integration) (*settings, error) {
	t, err := findIntegrationType(r.Type)
	if err != nil {
		return nil, err
	}
	secrets, err := s.decryptSecrets(r)
	return &settings{IntegrationType: t, values: r.Config, secrets: secrets}, err
}

// Create creates an integration. The integration receives only events that happen from then on.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateIntegrationInput) (*api.Integration, error) {
	b := in.Body
	t, err := findIntegrationType(b.Type)
	if err != nil {
		return nil, err
	}
	name, err := normalizeName(b.Name)
	if err != nil {
		return nil, err
	}
	config, err := normalizeConfig(s.Guard, t, b.Config)
	if err != nil {
		return nil, err
	}
	secrets, err := normalizeSecrets(s.Guard, t, b.Secrets)
	if err != nil {
		return nil, err
	}
	events, err := delivery.NormalizeEventTypes(b.Events)
	if err != nil {
		return nil, err
	}
	sealed, set, err := s.encryptSecrets(secrets)
	if err != nil {
		return nil, err
	}
	if err := errors.Join(checkEvents(t, events), checkRequiredAndDependentFields(t, config, set)); err != nil {
		return nil, firstError(err)
	}
	r := store.Integration{
		Sealed: sealed,
		Integration: api.Integration{
			Type:       t.Type,
			Name:       name,
			Config:     config,
			SecretsSet: set,
			Events:     events,
			Enabled:    b.Enabled == nil || *b.Enabled,
		},
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		n, err := store.Integrations.Count(tx, by.OrganizationID)
		if err != nil {
			return err
		}
		if n >= maxIntegrations {
			return api.Conflict("an organization can have up to %d integrations; delete one you no longer need", maxIntegrations)
		}
		r.TenantRecord = api.TenantRecord{
			Record:         api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()},
			OrganizationID: by.OrganizationID,
		}
		if t.Tracks {
			now := tx.Now()
			r.NextSyncAt = &now
		}
		return firstError(checkSingleMailServer(tx, &r), func() error {
			return errors.Join(store.Integrations.Insert(tx, by.OrganizationID, &r), recordChangeInAudit(tx, by, "integration.created", &r))
		})
	})
	return &r.Integration, err
}

// firstError returns the first of the errors joined in err, so that users see one problem at a
// time. If err is nil, it returns the result of calling next, or nil if next is omitted.
func firstError(err error, next ...func() error) error {
	var joined interface{ Unwrap() []error }
	if errors.As(err, &joined) && len(joined.Unwrap()) > 0 {
		return joined.Unwrap()[0]
	}
	if err == nil && len(next) > 0 {
		return next[0]()
	}
	return err
}

func normalizeName(name string) (string, error) {
	name = strings.TrimSpace(name)
	if _, err := checkedText("name", name); err != nil || name == "" {
		return "", invalidFieldError("name", "a name without line breaks is required")
	}
	return name, nil
}

// Update changes an integration. Omitted fields, including secrets, are left unchanged. If the
// integration is enabled again, its pending deliveries are resumed.
func (s *Service) Update(ctx context.Context, by api.Caller, in *api.UpdateIntegrationInput) (*api.Integration, error) {
	r, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID)
	if err != nil {
		return nil, err
	}
	was := r.UpdatedAt
	if err := s.applyChanges(&r, in); err != nil {
		return nil, err
	}
	err = s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err := getIntegration(tx, by.OrganizationID, in.IntegrationID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(now.Revision); err != nil {
			return err
		}
		if !now.UpdatedAt.Equal(was) {
			return api.Conflict("the integration has just been changed by someone else; review the change and try again")
		}
		// Fields written by the background loop are kept.
		now.Name, now.Config, now.Sealed, now.SecretsSet = r.Name, r.Config, r.Sealed, r.SecretsSet
		now.Events, now.Enabled, now.UpdatedAt = r.Events, r.Enabled, tx.Now()
		now.Revision++
		if in.Body.Enabled != nil {
			now.FailedInRow, now.SyncFailures = 0, 0
		}
		if t, _ := findIntegrationType(r.Type); t.Tracks {
			at := tx.Now()
			now.NextSyncAt = &at
		}
		r = now
		return firstError(checkSingleMailServer(tx, &r), func() error {
			return errors.Join(store.Integrations.Update(tx, by.OrganizationID, &r), recordChangeInAudit(tx, by, "integration.updated", &r))
		})
	})
	if s.Wake != nil {
		s.Wake(by.OrganizationID, in.IntegrationID)
	}
	return &r.Integration, err
}

// applyChanges applies the changes requested in the input to the integration.
func (s *Service) applyChanges(r *store.Integration, in *api.UpdateIntegrationInput) (err error) {
	b := in.Body
	t, err := findIntegrationType(r.Type)
	if err != nil {
		return err
	}
	if b.Name != nil {
		if r.Name, err = normalizeName(*b.Name); err != nil {
			return err
		}
	}
	if b.Enabled != nil {
		r.Enabled = *b.Enabled
	}
	if b.Events != nil {
		if r.Events, err = delivery.NormalizeEventTypes(*b.Events); err != nil {
			return err
		}
	}
	before := secretDestinations(t, r.Config)
	merged := maps.Clone(r.Config)
	if merged == nil {
		merged = map[string]any{}
	}
	maps.Copy(merged, b.Config)
	if r.Config, err = normalizeConfig(s.Guard, t, merged); err != nil {
		return err
	}
	given, err := normalizeSecrets(s.Guard, t, b.Secrets)
	if err != nil {
		return err
	}
	// A stored secret must not be redirected to a place where it could be read.
	if !slices.Equal(before, secretDestinations(t, r.Config)) {
		for _, name := range r.SecretsSet {
			if _, again := given[name]; !again {
				return invalidFieldError("secrets."+name, "the secrets would be sent to a different destination; enter them again")
			}
		}
	}
	if len(given) > 0 {
		have, err := s.decryptSecrets(r)
		if errors.Is(err, secretbox.ErrUnknownKey) {
			have, err = map[string]string{}, nil
		}
		if err != nil {
			return err
		}
		maps.Copy(have, given)
		if r.Sealed, r.SecretsSet, err = s.encryptSecrets(have); err != nil {
			return err
		}
	}
	return firstError(errors.Join(checkEvents(t, r.Events), checkRequiredAndDependentFields(t, r.Config, r.SecretsSet)))
}

// Delete deletes an integration and its pending deliveries. Issues in the tool are kept.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.DeleteIntegrationInput) (*api.None, error) {
	return &api.None{}, s.DB.Update(ctx, func(tx *store.Tx) error {
		r, err := getIntegration(tx, by.OrganizationID, in.IntegrationID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(r.Revision); err != nil {
			return err
		}
		links, err := listLinks(tx, by.OrganizationID, r.ID)
		if err != nil {
			return err
		}
		for _, l := range links {
			if err := store.IssueLinks.Delete(tx, by.OrganizationID, l.ID); err != nil {
				return err
			}
		}
		return errors.Join(
			delivery.DeleteReceiverDeliveries(tx, by.OrganizationID, r.ID),
			store.Integrations.Delete(tx, by.OrganizationID, r.ID),
			recordChangeInAudit(tx, by, "integration.deleted", &r),
		)
	})
}

// Test tries out an integration, even a disabled one, and returns the result.
func (s *Service) Test(ctx context.Context, by api.Caller, in *api.IntegrationInput) (*api.IntegrationTest, error) {
	r, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID)
	if err != nil {
		return nil, err
	}
	began := s.Clock()
	trying, cancel := context.WithTimeout(ctx, testTimeout)
	defer cancel()
	message, err := s.runTest(trying, &r)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	out := &api.IntegrationTest{OK: err == nil, Message: message, CheckedAt: began.UTC(), DurationMS: s.Clock().Sub(began).Milliseconds()}
	if err != nil {
		out.Message = err.Error()
		if trying.Err() != nil {
			out.Message = fmt.Sprintf("no response within %s", testTimeout)
		}
	}
	return out, s.DB.Update(ctx, func(tx *store.Tx) error {
		now, err := getIntegration(tx, by.OrganizationID, r.ID)
		if err != nil {
			return err
		}
		setLastStatus(&now, out.CheckedAt, out.OK, out.Message)
		return errors.Join(store.Integrations.Update(tx, by.OrganizationID, &now), recordChangeInAudit(tx, by, "integration.tested", &now))
	})
}

// setLastStatus records the result of the last attempt.
func setLastStatus(r *store.Integration, at time.Time, ok bool, message string) {
	if ok {
		message = "ok"
	}
	at = at.UTC()
	r.LastStatus, r.LastStatusAt = &message, &at
}

// ListDeliveries lists an integration's deliveries, newest first.
func (s *Service) ListDeliveries(ctx context.Context, by api.Caller, in *api.IntegrationDeliveriesInput) (*api.List[api.Delivery], error) {
	if _, err := s.loadIntegration(ctx, by.OrganizationID, in.IntegrationID); err != nil {
		return nil, err
	}
	return delivery.List(ctx, s.DB, by.OrganizationID, in.IntegrationID, in.Status, in.Paging)
}
