package store

import (
	"fmt"
	"iter"
)

// TenantTable is a Table in which every organization sees only its own records. The organization is the first part of
// every key, including those of indexes, and a parameter of every method. If the organization is empty, methods return
// ErrNoTenant. If the record belongs to another organization, they return ErrWrongTenant. A key in a unique index must
// be unique only within its organization.
type TenantTable[R any] struct {
	table        *Table[R]
	organization func(*R) string
}

// NewTenantTable declares a table like NewTable. The keys and indexes don't include the organization, which is
// prepended to them.
func NewTenantTable[R any](name string, organization func(*R) string, key func(*R) Key, options ...Option[R]) *TenantTable[R] {
	whole := func(r *R) Key { return tenantKey(organization(r), key(r)) }
	if organization == nil || key == nil {
		whole = nil // Open reports the error
	}
	t := NewTable(name, whole, options...)
	for _, ix := range t.untyped.indexes {
		within := ix.keys
		ix.keys = func(r any) []Key {
			keys, org := within(r), organization(r.(*R))
			for i, k := range keys {
				keys[i] = tenantKey(org, k)
			}
			return keys
		}
	}
	for _, y := range t.untyped.tallies {
		if y.amounts == nil {
			y.parts++
			continue
		}
		within := y.amounts
		y.amounts = func(r any) []Amount {
			amounts, org := within(r), organization(r.(*R))
			for i := range amounts {
				amounts[i].Key = K(org).Join(amounts[i].Key)
			}
			return amounts
		}
	}
	return &TenantTable[R]{table: t, organization: organization}
}

// tenantKey returns a key with the organization prepended, or an invalid key if either is empty.
func tenantKey(org string, k Key) Key {
	switch {
	case org == "":
		return Key{err: ErrNoTenant}
	case k.IsZero():
		return Key{err: fmt.Errorf("%w: the key has no parts after the organization", ErrBadKey)}
	}
	return K(org).Join(k)
}

// Name returns the table's name in the database.
func (t *TenantTable[R]) Name() string { return t.table.Name() }

func (t *TenantTable[R]) definition() *tableDefinition { return t.table.definition() }

// AcrossTenants returns a table in which the organization is an ordinary first part of the key. Use it for
// background work and counts across organizations, but never for a request of one organization.
func (t *TenantTable[R]) AcrossTenants() *Table[R] { return t.table }

func noTenantError(table string) error { return fmt.Errorf("%s: %w", table, ErrNoTenant) }

// prependTenant checks the organization and prepends it to the parts of a key.
func (s *untypedTable) prependTenant(org string, key []any) ([]any, error) {
	if org == "" {
		return nil, noTenantError(s.def.name)
	}
	return append([]any{org}, key...), nil
}

// fullTenantKey works like prependTenant, but returns a Key and rejects an empty one.
func (s *untypedTable) fullTenantKey(org string, key []any) (Key, error) {
	if len(key) == 0 {
		return Key{}, fmt.Errorf("%s: %w: the key has no parts after the organization", s.def.name, ErrBadKey)
	}
	parts, err := s.prependTenant(org, key)
	return K(parts...), err
}

// scopeToTenant limits a scan to the organization.
func (s *untypedTable) scopeToTenant(org string, options []ScanOption) ([]ScanOption, error) {
	if org == "" {
		return nil, noTenantError(s.def.name)
	}
	return append([]ScanOption{Prefix(org)}, options...), nil
}

// checkTenant returns an error unless the record belongs to the organization.
func (t *TenantTable[R]) checkTenant(org string, r *R) error {
	switch {
	case org == "":
		return noTenantError(t.Name())
	case t.organization(r) != org:
		return fmt.Errorf("%s: %w", t.Name(), ErrWrongTenant)
	}
	return nil
}

// Get works like Table.Get within the organization.
func (t *TenantTable[R]) Get(tx *Tx, org string, key ...any) (R, error) {
	k, err := t.table.untyped.fullTenantKey(org, key)
	if err != nil {
		return typedRecord[R](nil, err)
	}
	return typedRecord[R](t.table.untyped.get(tx, k))
}

// Has works like Table.Has within the organization.
func (t *TenantTable[R]) Has(tx *Tx, org string, key ...any) (bool, error) {
	k, err := t.table.untyped.fullTenantKey(org, key)
	if err != nil {
		return false, err
	}
	return t.table.untyped.has(tx, k)
}

// Insert works like Table.Insert for a record of this organization.
func (t *TenantTable[R]) Insert(tx *Tx, org string, r *R) error {
	if err := t.checkTenant(org, r); err != nil {
		return err
	}
	return t.table.Insert(tx, r)
}

// Update works like Table.Update for a record of this organization.
func (t *TenantTable[R]) Update(tx *Tx, org string, r *R) error {
	if err := t.checkTenant(org, r); err != nil {
		return err
	}
	return t.table.Update(tx, r)
}

// Put works like Table.Put for a record of this organization.
func (t *TenantTable[R]) Put(tx *Tx, org string, r *R) error {
	if err := t.checkTenant(org, r); err != nil {
		return err
	}
	return t.table.Put(tx, r)
}

// Delete works like Table.Delete within the organization.
func (t *TenantTable[R]) Delete(tx *Tx, org string, key ...any) error {
	k, err := t.table.untyped.fullTenantKey(org, key)
	if err != nil {
		return err
	}
	return t.table.untyped.delete(tx, k)
}

// DeleteAll works like Table.DeleteAll within the organization. Without a prefix, it deletes all of the organization's
// records in the table.
func (t *TenantTable[R]) DeleteAll(tx *Tx, org string, prefix ...any) (int, error) {
	k, err := t.table.untyped.prependTenant(org, prefix)
	if err != nil {
		return 0, err
	}
	return t.table.untyped.deleteAll(tx, k, 0)
}

// DeleteSome works like DeleteAll, but for at most limit records.
func (t *TenantTable[R]) DeleteSome(tx *Tx, org string, limit int, prefix ...any) (int, error) {
	k, err := t.table.untyped.prependTenant(org, prefix)
	if err != nil {
		return 0, err
	}
	return t.table.untyped.deleteAll(tx, k, limit)
}

// Count works like Table.Count within the organization.
func (t *TenantTable[R]) Count(tx *Tx, org string, prefix ...any) (int, error) {
	return t.table.untyped.inPrimaryOrder().countInTenant(tx, org, prefix)
}

// Scan works like Table.Scan within the organization. The options apply to the key parts after the organization.
func (t *TenantTable[R]) Scan(tx *Tx, org string, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](t.table.untyped.inPrimaryOrder().scanInTenant(tx, org, options))
}

// Page works like Table.Page within the organization. The prefix applies to the key parts after the organization.
func (t *TenantTable[R]) Page(tx *Tx, org string, q PageQuery[R]) (Page[R], error) {
	if org == "" {
		return Page[R]{}, noTenantError(t.Name())
	}
	q.Prefix = K(org).Join(q.Prefix)
	return t.table.Page(tx, q)
}

// countInTenant works like count within the organization.
func (o orderedTable) countInTenant(tx *Tx, org string, prefix []any) (int, error) {
	k, err := o.prependTenant(org, prefix)
	if err != nil {
		return 0, err
	}
	return o.count(tx, k)
}

// scanInTenant works like scanRecords within the organization.
func (o orderedTable) scanInTenant(tx *Tx, org string, options []ScanOption) iter.Seq2[scannedRecord, error] {
	options, err := o.scopeToTenant(org, options)
	if err != nil {
		return func(yield func(scannedRecord, error) bool) { yield(scannedRecord{}, err) }
	}
	return o.scanRecords(tx, options...)
}

// TenantIndexView is the view of a tenant table through one of its indexes.
type TenantIndexView[R any] struct{ order orderedTable }

// By selects an index, like Table.By.
func (t *TenantTable[R]) By(index string) TenantIndexView[R] {
	return TenantIndexView[R]{t.table.untyped.inIndexOrder(index)}
}

// Scan works like IndexView.Scan within the organization. The options apply to the key parts after the organization.
func (b TenantIndexView[R]) Scan(tx *Tx, org string, options ...ScanOption) iter.Seq2[R, error] {
	return typedRecords[R](b.order.scanInTenant(tx, org, options))
}

// Get works like IndexView.Get within the organization.
func (b TenantIndexView[R]) Get(tx *Tx, org string, key ...any) (R, error) {
	k, err := b.order.fullTenantKey(org, key)
	if err != nil {
		return typedRecord[R](nil, err)
	}
	return typedRecord[R](b.order.getUnique(tx, k))
}

// Count works like IndexView.Count within the organization.
func (b TenantIndexView[R]) Count(tx *Tx, org string, prefix ...any) (int, error) {
	return b.order.countInTenant(tx, org, prefix)
}
