package store

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/internal/lazyregexp"
)

// Schema declares a program's tables and the migrations that convert older databases to their current form. It
// is a plain value, passed to Open.
type Schema struct {
	Tables     []AnyTable
	Migrations []Migration
}

// Version returns the number of the last migration, or 0 if there are none.
func (s Schema) Version() int {
	if len(s.Migrations) == 0 {
		return 0
	}
	return s.Migrations[len(s.Migrations)-1].Version
}

// AnyTable is a *Table or *TenantTable of any record type.
type AnyTable interface {
	Name() string
	definition() *tableDefinition
}

// tableDefinition is the untyped description of a table.
type tableDefinition struct {
	name    string
	indexes []string // indexes that exist: "name" or "name unique", sorted
	err     error    // error in its declaration
	reindex func(*Tx) error
}

// tableSet is a validated schema. It contains the table definitions by name, and as a list sorted by name.
type tableSet struct {
	byName map[string]*tableDefinition
	sorted []*tableDefinition
}

// builtinTables returns the tables of the store itself.
func builtinTables() []AnyTable {
	return []AnyTable{outboxEvents, outboxUnnumbered, outboxConsumers, bodiesDefinition, packsDefinition}
}

var (
	tableNamePattern = lazyregexp.New(`^[a-z][a-z0-9_]{0,62}$`)
	indexNamePattern = lazyregexp.New(`^[a-z][a-z0-9_]{0,62}$`)
)

// Validate reports all errors in the schema, such as invalid or duplicate names, invalid declarations, and migrations
// that are out of order. Every error is an ErrInvalidSchema.
func (s Schema) Validate() error {
	_, err := s.validate()
	return err
}

func (s Schema) validate() (*tableSet, error) {
	t := &tableSet{byName: map[string]*tableDefinition{}}
	var faults []error
	fault := func(format string, a ...any) {
		faults = append(faults, fmt.Errorf("%w: "+format, append([]any{ErrInvalidSchema}, a...)...))
	}
	add := func(own bool, a AnyTable) {
		if a == nil {
			fault("a nil table")
			return
		}
		d := a.definition()
		switch {
		case !own && !tableNamePattern.MatchString(d.name):
			fault("table name %q must consist of at most 63 lowercase letters, digits and underscores", d.name)
		case t.byName[d.name] != nil:
			fault("two tables are named %s", d.name)
		case d.err != nil:
			fault("table %s: %w", d.name, d.err)
		default:
			t.byName[d.name] = d
			t.sorted = append(t.sorted, d)
		}
	}
	for _, a := range builtinTables() {
		add(true, a)
	}
	for _, a := range s.Tables {
		add(false, a)
	}
	last := 0
	for _, m := range s.Migrations {
		if m.Version <= last {
			fault("migration %d (%s) does not follow %d", m.Version, m.Name, last)
		}
		if m.Name == "" || m.Apply == nil {
			fault("migration %d has no name or no function", m.Version)
		}
		last = m.Version
	}
	slices.SortFunc(t.sorted, func(a, b *tableDefinition) int { return strings.Compare(a.name, b.name) })
	return t, errors.Join(faults...)
}

// Tables of the store that have no definition.
const (
	metaTable      = "_meta"
	sequencesTable = "_sequences"
)

// indexSeparator occurs only in the names of index tables.
const indexSeparator = "."

func indexTableName(table, index string) string { return table + indexSeparator + index }

// indexNameFromDescription returns the index name that the description of an existing index begins with.
func indexNameFromDescription(description string) string {
	name, _, _ := strings.Cut(description, " ")
	return name
}

// forgetMissingTallies drops pending changes to tallies that have not been built yet, because building them counts
// these changes anyway.
func (t *tableSet) forgetMissingTallies(tx *Tx) error {
	for _, d := range t.sorted {
		var have []string
		if _, err := tx.getMeta(K("indexes", d.name), &have); err != nil {
			return err
		}
		for _, ix := range d.indexes {
			if !slices.Contains(have, ix) {
				tx.forgetTally(indexTableName(d.name, indexNameFromDescription(ix)))
			}
		}
	}
	return nil
}

// rebuildStaleIndexes makes the database's indexes match the schema. It rebuilds the indexes of tables that have new,
// changed or stale ones, and drops indexes that are no longer declared. Then it returns an error if there are tables
// that are not in the schema. rebuilt lists the tables whose indexes were rebuilt.
func (t *tableSet) rebuildStaleIndexes(ctx context.Context, tx *Tx) (rebuilt []string, err error) {
	for _, d := range t.sorted {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var have []string
		found, err := tx.getMeta(K("indexes", d.name), &have)
		if err != nil {
			return nil, err
		}
		if found && slices.Equal(have, d.indexes) {
			continue
		}
		isSubset := found // a subset of those that exist, so there is nothing to build
		for _, ix := range d.indexes {
			isSubset = isSubset && slices.Contains(have, ix)
		}
		for _, ix := range slices.Concat(have, d.indexes) {
			if isSubset && slices.Contains(d.indexes, ix) {
				continue
			}
			if err := tx.dropIndex(d.name, ix); err != nil {
				return nil, err
			}
		}
		if !isSubset {
			if err := d.reindex(tx); err != nil {
				return nil, fmt.Errorf("building the indexes of %s: %w", d.name, err)
			}
		}
		if err := tx.putMeta(K("indexes", d.name), d.indexes); err != nil {
			return nil, err
		}
		rebuilt = append(rebuilt, d.name)
	}
	return rebuilt, t.checkNoUndeclaredTables(tx)
}

// areIndexesCurrent reports whether rebuildStaleIndexes would have nothing to do.
func (t *tableSet) areIndexesCurrent(tx *Tx) (bool, error) {
	for _, d := range t.sorted {
		var have []string
		found, err := tx.getMeta(K("indexes", d.name), &have)
		if err != nil || !found || !slices.Equal(have, d.indexes) {
			return false, err
		}
	}
	return true, t.checkNoUndeclaredTables(tx)
}

// checkNoUndeclaredTables returns an error if the database has undeclared tables. In that case, either the database
// belongs to another program, or a migration failed to drop the tables.
func (t *tableSet) checkNoUndeclaredTables(tx *Tx) error {
	names, err := tx.kv.Tables()
	if err != nil {
		return err
	}
	known := map[string]bool{metaTable: true, sequencesTable: true}
	for _, d := range t.sorted {
		known[d.name] = true
		for _, ix := range d.indexes {
			known[indexTableName(d.name, indexNameFromDescription(ix))] = true
		}
	}
	var strange []string
	for _, n := range names {
		if !known[n] {
			strange = append(strange, n)
		}
	}
	if len(strange) > 0 {
		return fmt.Errorf("%w: the database contains %s, which this program does not declare", ErrUnknownTable, strings.Join(strange, ", "))
	}
	return nil
}
