package assessment

import (
	"fmt"
	"maps"
	"slices"
	"strings"

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
				Message: fmt.Sprintf("its owner %s has left the organization; name another", *i.Owner),
			})
		}
	}
	return issues, nil
}

// formerOwnerWarnings returns a warning if items of a version have owners who have left the organization.
func formerOwnerWarnings(tx *store.Tx, org string, gate api.Gate, version string) ([]string, error) {
	former, err := readFormerMembers(tx, org)
	if err != nil || len(former) == 0 {
		return nil, err
	}
	items, counts := 0, map[string]int{}
	count := func(owner *string) {
		if former.includes(owner) {
			counts[strings.TrimSpace(*owner)]++
			items++
		}
	}
	switch gate {
	case api.GateSoA:
		err = forEachItem(tx, soa, org, version, func(i *api.SoAItem) { count(i.Owner) })
	case api.GateGapAnalysis:
		err = forEachItem(tx, gap, org, version, func(i *api.Finding) { count(i.Owner) })
	case api.GatePOAM:
		err = forEachItem(tx, poam, org, version, func(i *api.POAMItem) { count(i.Owner) })
	case api.GateMaturity: // its items have no owners
	}
	if err != nil || items == 0 {
		return nil, err
	}
	named := slices.Sorted(maps.Keys(counts))
	for n, owner := range named {
		named[n] = fmt.Sprintf("%s (%d)", owner, counts[owner])
	}
	return []string{fmt.Sprintf("%s an owner who has left the organization: %s",
		prose.Count(items, "item has", "items have"), strings.Join(named, ", "))}, nil
}

func forEachItem[V, I any](tx *store.Tx, k deliverableType[V, I], org, version string, use func(*I)) error {
	items, err := k.readItems(tx, org, version)
	for n := range items {
		use(&items[n])
	}
	return err
}
