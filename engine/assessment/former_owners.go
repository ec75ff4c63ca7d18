package assessment

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// formerMembers holds the lower-case names and email addresses of people who have left an organization.
type formerMembers map[string]bool

// readFormerMembers returns the people who have left an organization, except those whose name a current member has.
func readFormerMembers(tx *store.Tx, org string) (formerMembers, error) {
	out := formerMembers{}
	for m, err := range store.FormerMembers.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		out[strings.ToLower(m.Name)], out[strings.ToLower(m.Email)] = true, true
	}
	delete(out, "")
	if len(out) == 0 {
		return nil, nil
	}
	for m, err := range store.Memberships.By("organization").Scan(tx, store.Prefix(org)) {
		if err != nil {
			return nil, err
		}
		u, err := store.Users.Get(tx, m.UserID)
		if err != nil {
			return nil, err
		}
		delete(out, strings.ToLower(u.Name))
		delete(out, strings.ToLower(u.Email))
	}
	return out, nil
}

// includes reports whether an item's owner has left the organization.
func (f formerMembers) includes(owner *string) bool {
	return owner != nil && f[strings.ToLower(strings.TrimSpace(*owner))]
}

// formerOwnerIssues returns an issue for each applicable item whose owner has left the organization.
func formerOwnerIssues(tx *store.Tx, org string, items []api.SoAItem) (issues []api.ValidationIssue, err error) {
	former, err := readFormerMembers(tx, org)
	if err != nil || len(former) == 0 {
		return nil, err
	}
	for n := range items {
		if i := &items[n]; i.Applicability.IsApplicable() && former.includes(i.Owner) {
			issues = append(issues, api.ValidationIssue{
				Rule: "owner-is-member", Severity: "warning", ItemID: i.ID, ControlCode: i.ControlCode,
				Message: fmt.Sprintf("the owner %s has left the organization; assign another owner", *i.Owner),
			})
		}
	}
	return issues, nil
}

// ownersOfVersions remembers how many items of a version each person owns, so that the items are decoded again only
// if they have changed. Its methods are safe for concurrent use.
type ownersOfVersions struct {
	mu       sync.Mutex
	versions map[string]map[string]int // by the ID and the content hash of the version; then by the owner
}

// maxVersionsWithOwners is the maximum number of versions remembered.
const maxVersionsWithOwners = 256

// count returns the number of items that each owner has in a version; excluded controls don't count.
func (o *ownersOfVersions) count(tx *store.Tx, gate api.Gate, head *api.DeliverableVersion) (counts map[string]int, err error) {
	key := head.ID + " " + head.ContentSHA256
	o.mu.Lock()
	counts, known := o.versions[key]
	o.mu.Unlock()
	if known {
		return counts, nil
	}
	counts = map[string]int{}
	add := func(owner *string) {
		if name := strings.TrimSpace(stringOrEmpty(owner)); name != "" {
			counts[name]++
		}
	}
	switch org := head.OrganizationID; gate {
	case api.GateSoA:
		err = forEachItem(tx, soaType, org, head.ID, func(i *api.SoAItem) {
			if i.Applicability.IsApplicable() {
				add(i.Owner)
			}
		})
	case api.GateGapAnalysis:
		err = forEachItem(tx, gapType, org, head.ID, func(i *api.Finding) { add(i.Owner) })
	case api.GatePOAM:
		err = forEachItem(tx, poamType, org, head.ID, func(i *api.POAMItem) { add(i.Owner) })
	case api.GateMaturity: // its items have no owners
	}
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.versions == nil || len(o.versions) >= maxVersionsWithOwners {
		o.versions = map[string]map[string]int{}
	}
	o.versions[key] = counts
	return counts, nil
}

// formerOwners returns the owners of a version's items who have left the organization, sorted by name.
func (o *ownersOfVersions) formerOwners(
	tx *store.Tx, former formerMembers, gate api.Gate, head *api.DeliverableVersion,
) ([]api.FormerOwner, error) {
	if head == nil || len(former) == 0 {
		return nil, nil
	}
	counts, err := o.count(tx, gate, head)
	if err != nil {
		return nil, err
	}
	var out []api.FormerOwner
	for _, owner := range slices.Sorted(maps.Keys(counts)) {
		if former.includes(&owner) {
			out = append(out, api.FormerOwner{
				Gate: gate, VersionNumber: head.VersionNumber, Owner: owner, ItemCount: counts[owner],
				Message: fmt.Sprintf("%s has left the organization and still owns %s of the %s", owner,
					prose.Count(counts[owner], "item", "items"), gate.Title()),
			})
		}
	}
	return out, nil
}

// listFormerOwners returns the owners who have left the organization in the newest version of each deliverable.
func (o *ownersOfVersions) listFormerOwners(tx *store.Tx, a *api.Assessment) ([]api.FormerOwner, error) {
	out := []api.FormerOwner{}
	former, err := readFormerMembers(tx, a.OrganizationID)
	if err != nil || len(former) == 0 {
		return out, err
	}
	for _, gate := range api.Gates {
		head, err := deliverables[gate].newestHeader(tx, a.OrganizationID, a.ID)
		if err != nil {
			return nil, err
		}
		left, err := o.formerOwners(tx, former, gate, head)
		if err != nil {
			return nil, err
		}
		out = append(out, left...)
	}
	return out, nil
}

// warnings returns a warning if items of a version have owners who have left the organization.
func (o *ownersOfVersions) warnings(tx *store.Tx, gate api.Gate, head *api.DeliverableVersion) ([]string, error) {
	former, err := readFormerMembers(tx, head.OrganizationID)
	if err != nil {
		return nil, err
	}
	left, err := o.formerOwners(tx, former, gate, head)
	if err != nil || len(left) == 0 {
		return nil, err
	}
	items, named := 0, make([]string, len(left))
	for n, l := range left {
		items += l.ItemCount
		named[n] = fmt.Sprintf("%s (%d)", l.Owner, l.ItemCount)
	}
	return []string{fmt.Sprintf("%s an owner who has left the organization: %s",
		prose.Count(items, "item has", "items have"), strings.Join(named, ", "))}, nil
}

// markFormerOwners marks the items whose owners have left the organization.
func markFormerOwners[I any](ctx context.Context, s *Service, org string, items []I) error {
	if len(items) == 0 {
		return nil
	}
	return s.db.View(ctx, func(tx *store.Tx) error {
		former, err := readFormerMembers(tx, org)
		if err != nil || len(former) == 0 {
			return err
		}
		for n := range items {
			switch i := any(&items[n]).(type) {
			case *api.SoAItem:
				i.OwnerHasLeft = i.Applicability.IsApplicable() && former.includes(i.Owner)
			case *api.Finding:
				i.OwnerHasLeft = former.includes(i.Owner)
			case *api.POAMItem:
				i.OwnerHasLeft = former.includes(i.Owner)
			}
		}
		return nil
	})
}

func forEachItem[V, I any](tx *store.Tx, k deliverableType[V, I], org, version string, use func(*I)) error {
	items, err := k.readItems(tx, org, version)
	for n := range items {
		use(&items[n])
	}
	return err
}
