// Package identity manages users, their organizations and roles, their sessions and API keys, and
// turns a verified credential into the caller that the engine trusts.
//
// It knows nothing about assessments or catalogs. It stores only hashes of secrets.
package identity

import (
	"cmp"
	"context"
	"errors"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/internal/secretbox"
	"github.com/scf-service/service/store"
)

// Options are the dependencies of the service.
type Options struct {
	DB    *store.DB
	Clock func() time.Time
	// LocalName and LocalEmail identify the local user of the machine, as known to the operating
	// system.
	LocalName, LocalEmail string
	// SendInvitation queues the email of an invitation in the invitation's transaction and reports
	// whether it did so; if it is nil, no email is sent.
	SendInvitation func(tx *store.Tx, by api.Caller, email string, role api.Role, path string, expires time.Time) (bool, error)
	// Box authenticates the tokens of browsers that have signed in before; nil means that no
	// browser is recognized.
	Box *secretbox.Box
	// WeakHashes hashes passwords at the lowest cost. It protects nothing and is for tests only.
	WeakHashes bool
}

// Service implements the operations on users and organizations.
type Service struct {
	db                    *store.DB
	clock                 func() time.Time
	localName, localEmail string
	passwords             *passwordHasher
	throttle              *throttle
	box                   *secretbox.Box
	sendInvitation        func(tx *store.Tx, by api.Caller, email string, role api.Role, path string, expires time.Time) (bool, error)
	keyCache              *store.Cache[cachedKey]
	sessionCache          *store.Cache[store.Session]
	callerCache           *store.Cache[api.Caller]

	mu sync.Mutex
	// lastRecorded holds the time of each credential's last recorded use.
	lastRecorded map[string]time.Time
}

// maxCached is the maximum size of each caller cache.
const maxCached = 10_000

// New returns a Service.
func New(o Options) *Service {
	s := &Service{
		db:             o.DB,
		clock:          o.Clock,
		localName:      o.LocalName,
		localEmail:     o.LocalEmail,
		sendInvitation: o.SendInvitation,
		passwords:      newPasswordHasher(o.WeakHashes),
		throttle:       newThrottle(o.Clock),
		box:            cmp.Or(o.Box, secretbox.New(nil)),
		lastRecorded:   map[string]time.Time{},
		keyCache:       store.NewCache[cachedKey](o.DB, maxCached, store.KeySecrets, store.APIKeys),
		sessionCache:   store.NewCache[store.Session](o.DB, maxCached, store.Sessions),
		callerCache: store.NewCache[api.Caller](
			o.DB,
			maxCached,
			store.Users,
			store.Memberships,
			store.Organizations,
			store.APIKeys,
			store.Sessions,
			store.Settings,
			store.Delegations,
		),
	}
	if !o.DB.IsSoleWriter() {
		s.throttle.exchange = func(own map[string]int) (map[string]int, error) {
			ctx, cancel := context.WithTimeout(context.Background(), shareTimeout)
			defer cancel()
			return o.DB.ExchangeCounts(ctx, "failed sign-ins", 0, own)
		}
	}
	return s
}

// shareTimeout is how long a sign-in waits for the failures that other processes have counted.
const shareTimeout = 2 * time.Second

// The states of users, memberships and organizations.
const (
	statusActive    = "active"
	statusInvited   = "invited"
	statusBanned    = "banned"
	statusSuspended = "suspended"
)

func newRecord(tx *store.Tx, id string) api.Record {
	return api.Record{ID: id, CreatedAt: tx.Now(), UpdatedAt: tx.Now()}
}

// appendAudit writes an action to the audit chain of the caller's organization. It records nothing
// if the caller has no organization, as for a platform admin.
func appendAudit(tx *store.Tx, by api.Caller, action, kind, id string, changes map[string]any) error {
	if by.OrganizationID == "" {
		return nil
	}
	return audit.Append(tx, by, audit.Entry{Action: action, ResourceType: kind, ResourceID: id, Changes: changes})
}

// RecordDenied records a denied operation in the audit chain of the caller's organization.
func (s *Service) RecordDenied(ctx context.Context, by api.Caller, op *api.Operation) error {
	if by.OrganizationID == "" {
		return nil
	}
	return s.db.Update(ctx, func(tx *store.Tx) error {
		return audit.Append(tx, by, audit.Entry{
			Action: op.ID, ResourceType: "operation", ResourceID: op.ID, Outcome: audit.Denied,
			Changes: map[string]any{"permission": string(op.Permission)},
		})
	})
}

// listMemberships returns a user's memberships in the order they were created.
func listMemberships(tx *store.Tx, userID string) ([]store.Membership, error) {
	var out []store.Membership
	for m, err := range store.Memberships.Scan(tx, store.Prefix(userID)) {
		if err != nil {
			return nil, err
		}
		out = append(out, m)
	}
	return out, nil
}

// userByEmail finds a user by email address. It returns store.ErrNotFound if there is none.
func userByEmail(tx *store.Tx, email string) (api.User, error) {
	return store.Users.By("email").Get(tx, email)
}

// foundFromError converts the error of a lookup: false without an error if the record was not
// found, and true if there was no error.
func foundFromError(err error) (bool, error) {
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	return err == nil, err
}
