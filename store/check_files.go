package store

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// FileCheckOptions select the files to check.
type FileCheckOptions struct {
	// OrganizationID limits the check to the files of one organization. If it is empty, all files are checked,
	// including those that no record refers to.
	OrganizationID string
	// Sample is the number of files to read, chosen at random for each check; 0 means all. For the others, only
	// their existence is checked.
	Sample int
}

// FileCheck is the result of comparing files with their hashes.
type FileCheck struct {
	Total    int // number of files that exist or that records refer to
	Checked  int // number of those that were read or are missing
	Problems []FileProblem
}

// FileProblem is a file that is missing (ErrNotFound), altered (ErrCorrupt) or unreadable.
type FileProblem struct {
	SHA256     string
	References []BlobReference // empty if no record refers to it
	Err        error
}

// String returns a summary, for example: 2 of 90 damaged: document "a.md" (blob 12ab…).
func (c FileCheck) String() string {
	d := DamageCheck{Checked: c.Checked}
	for _, p := range c.Problems {
		name := "file"
		if len(p.References) > 0 {
			name = p.References[0].Record
		}
		d.add("", fmt.Sprintf("%s (blob %s)", name, p.SHA256))
	}
	if c.Checked == c.Total {
		return d.String()
	}
	state := "none damaged"
	if d.Damaged > 0 {
		state = d.String()
	}
	return fmt.Sprintf("%d of %d files checked, %s; to check all files, run `service audit verify`", c.Checked, c.Total, state)
}

// CheckFiles compares blobs with their hashes, and checks that every blob that a record refers to exists. If some
// records can't be read, it checks what it can and returns the error about the records.
func (db *DB) CheckFiles(ctx context.Context, o FileCheckOptions) (c FileCheck, err error) {
	referenced, unnamed := db.referencesByBlob(ctx, o.OrganizationID)
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	existing, err := db.listBlobs(ctx)
	if err != nil {
		return c, errors.Join(err, unnamed)
	}
	names := slices.Collect(maps.Keys(referenced))
	if o.OrganizationID == "" {
		names = slices.AppendSeq(names, maps.Keys(existing))
	}
	slices.Sort(names)
	names = slices.Compact(names)
	c.Total = len(names)
	read := db.chooseSample(names, existing, o.Sample)
	for _, sha := range names {
		if existing[sha] && !read[sha] {
			continue
		}
		c.Checked++
		if err := db.blobs.Verify(ctx, sha); err != nil {
			if ctx.Err() != nil {
				return c, ctx.Err()
			}
			c.Problems = append(c.Problems, FileProblem{SHA256: sha, References: referenced[sha], Err: err})
		}
	}
	return c, errors.Join(unnamed, db.dropDeletedMeanwhile(ctx, &c, o.OrganizationID))
}

// dropDeletedMeanwhile removes missing files from the problems if no record refers to them anymore.
func (db *DB) dropDeletedMeanwhile(ctx context.Context, c *FileCheck, organizationID string) error {
	isMissing := func(p FileProblem) bool { return errors.Is(p.Err, ErrNotFound) }
	if !slices.ContainsFunc(c.Problems, isMissing) {
		return nil
	}
	now, err := db.referencesByBlob(ctx, organizationID)
	if err != nil {
		return err
	}
	before := len(c.Problems)
	c.Problems = slices.DeleteFunc(c.Problems, func(p FileProblem) bool { return isMissing(p) && len(now[p.SHA256]) == 0 })
	c.Total -= before - len(c.Problems)
	c.Checked -= before - len(c.Problems)
	return nil
}

// referencesByBlob returns the references to each blob from the records of one organization, or of all if
// organizationID is empty.
func (db *DB) referencesByBlob(ctx context.Context, organizationID string) (map[string][]BlobReference, error) {
	out := map[string][]BlobReference{}
	err := db.View(ctx, func(tx *Tx) error {
		all, err := BlobReferences(tx)
		for _, r := range all {
			if organizationID == "" || r.OrganizationID == organizationID {
				out[r.SHA256] = append(out[r.SHA256], r)
			}
		}
		return err
	})
	return out, err
}

func (db *DB) listBlobs(ctx context.Context) (map[string]bool, error) {
	existing := map[string]bool{}
	err := db.blobs.ForEach(ctx, func(sha string) error { existing[sha] = true; return nil })
	return existing, err
}

// chooseSample returns n of the existing blobs, chosen at random. It returns all of them if n is 0 or there are no more
// than n. Each call makes a different choice.
func (db *DB) chooseSample(names []string, existing map[string]bool, n int) map[string]bool {
	if n == 0 || len(existing) <= n {
		return existing
	}
	seed, order := db.newID(), map[string][sha256.Size]byte{}
	candidates := slices.DeleteFunc(slices.Clone(names), func(sha string) bool { return !existing[sha] })
	for _, sha := range candidates {
		order[sha] = sha256.Sum256([]byte(seed + sha))
	}
	slices.SortFunc(candidates, func(a, b string) int {
		x, y := order[a], order[b]
		return cmp.Or(slices.Compare(x[:], y[:]), cmp.Compare(a, b))
	})
	chosen := map[string]bool{}
	for _, sha := range candidates[:min(n, len(candidates))] {
		chosen[sha] = true
	}
	return chosen
}
