package audit

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// The kinds of problems with records and files.
const (
	Missing = "missing"
	Altered = "altered"
	NotRead = "not_read"
)

// VerifyData verifies a whole data folder for its local user; see VerifyStore.
func (s *Service) VerifyData(ctx context.Context, by api.Caller, in *api.VerifyDataInput) (*api.DataVerification, error) {
	if !by.Local {
		return nil, api.Forbidden("only the local user of the data folder can verify the entire folder; run " +
			"`service audit verify` on that machine")
	}
	return VerifyStore(ctx, s.db, in.Organization)
}

// VerifyStore verifies the audit chain of every organization, reads every record and compares every file
// with its hash. If an organization is given by ID, slug or name, only its chain and files are verified.
// Damage is reported in the result, not as an error. VerifyStore changes nothing.
func VerifyStore(ctx context.Context, db *store.DB, organization string) (*api.DataVerification, error) {
	v := dataVerifier{names: map[string]string{}, DataVerification: &api.DataVerification{
		Organizations: []api.OrganizationVerification{}, Problems: []api.DataProblem{}, NotCovered: []string{},
	}}
	var organizations []api.Organization
	err := db.View(ctx, func(tx *store.Tx) (err error) {
		v.CheckedAt = tx.Now()
		organizations, err = v.listOrganizations(tx)
		return err
	})
	if err == nil && organization != "" {
		organizations, err = findOrganization(organizations, organization)
	}
	if err != nil {
		return nil, err
	}
	for _, o := range organizations {
		if err := db.View(ctx, func(tx *store.Tx) error { return v.verifyChain(tx, o) }); err != nil {
			return nil, err
		}
	}
	only := ""
	if organization != "" {
		only = v.Organizations[0].ID
		v.NotCovered = append(v.NotCovered, "other organizations", "files that belong to no organization", "records outside the audit trail")
	} else if err := v.checkRecords(ctx, db); err != nil {
		return nil, err
	}
	if err := v.checkFiles(ctx, db, only); err != nil {
		return nil, err
	}
	if len(v.Organizations) == 0 {
		v.addProblem(api.DataProblem{Kind: NotRead, Message: "there is no organization in the data folder, so nothing was verified"})
	}
	v.OK = len(v.Problems) == 0
	return v.DataVerification, nil
}

// dataVerifier builds the result of VerifyStore.
type dataVerifier struct {
	*api.DataVerification
	names map[string]string // of organizations, by ID
}

func (v *dataVerifier) addProblem(p api.DataProblem) {
	p.Organization = v.names[p.OrganizationID]
	v.Problems = append(v.Problems, p)
}

// verifyChain verifies the audit chain of an organization.
func (v *dataVerifier) verifyChain(tx *store.Tx, o api.Organization) (err error) {
	one := api.OrganizationVerification{ID: o.ID, Name: o.Name, Slug: o.Slug}
	one.Records, one.Head, err = VerifyStored(tx, o.ID)
	var broken *BrokenError
	switch {
	case errors.As(err, &broken):
		one.Problem = broken.toAPI()
	case errors.Is(err, store.ErrCorrupt):
		one.Problem = &api.AuditProblem{Kind: Changed, Sequence: one.Records + 1, Message: err.Error()}
	case err != nil:
		return err
	}
	if p := one.Problem; p != nil {
		v.addProblem(api.DataProblem{
			OrganizationID: o.ID, Record: fmt.Sprintf("audit record %d", p.Sequence), Kind: Altered, Message: p.Kind + ": " + p.Message,
		})
	}
	v.Organizations = append(v.Organizations, one)
	return nil
}

// listOrganizations lists all organizations, including those without a record of their own that appear
// only in the audit trail or in the record of a file.
func (v *dataVerifier) listOrganizations(tx *store.Tx) ([]api.Organization, error) {
	var all []api.Organization
	for o, err := range store.Organizations.Scan(tx) {
		if errors.Is(err, store.ErrCorrupt) {
			break // reported with the records; the audit trail names the others
		}
		if err != nil {
			return nil, err
		}
		v.names[o.ID] = o.Name
		all = append(all, o)
	}
	addUnknown := func(id string) {
		if _, ok := v.names[id]; !ok && id != "" {
			v.names[id] = id
			all = append(all, api.Organization{Record: api.Record{ID: id}, Name: id})
			v.addProblem(api.DataProblem{
				OrganizationID: id, Record: "organization", Kind: Missing,
				Message: "other records refer to this organization, but its own record is missing or can't be read; restore a backup",
			})
		}
	}
	references, err := store.BlobReferences(tx)
	if err != nil && !errors.Is(err, store.ErrCorrupt) { // reported by checkFiles
		return nil, err
	}
	for _, r := range references {
		addUnknown(r.OrganizationID)
	}
	for next := ""; ; {
		found := false
		for e, err := range store.Audit.AcrossTenants().Scan(tx, store.From(next)) {
			if found = err == nil; found { // a damaged record is reported by checkRecords
				addUnknown(e.OrganizationID)
				next = e.OrganizationID + "\x00" // after the other records of this organization
			}
			break
		}
		if !found {
			return all, nil
		}
	}
}

// findOrganization returns the organization with an ID, slug or unique name, as a list of one.
func findOrganization(all []api.Organization, idOrName string) ([]api.Organization, error) {
	var slugs []string
	for i, o := range all {
		if o.ID == idOrName || strings.EqualFold(o.Slug, idOrName) {
			return all[i : i+1], nil
		}
		slugs = append(slugs, o.Slug)
	}
	named := slices.DeleteFunc(slices.Clone(all), func(o api.Organization) bool { return !strings.EqualFold(o.Name, idOrName) })
	if len(named) == 1 {
		return named, nil
	}
	return nil, api.Invalid("organization", "%q is not the ID, slug or unique name of an organization in this data "+
		"folder, which contains: %s",
		idOrName, strings.Join(slugs, ", "))
}

// checkRecords reads all records of the database.
func (v *dataVerifier) checkRecords(ctx context.Context, db *store.DB) error {
	c, err := db.CheckRecords(ctx)
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	v.RecordsChecked = c.Checked
	if err != nil {
		v.addProblem(api.DataProblem{Record: "database", Kind: Altered, Message: err.Error()})
	}
	for _, k := range c.Kinds {
		message := "the record's checksum is wrong; restore a backup"
		if k.Count > 1 {
			message = fmt.Sprintf("the checksums of this record and %d more in the table %s are wrong; restore a "+
				"backup", k.Count-1, k.Table)
		}
		v.addProblem(api.DataProblem{Record: k.First, Kind: Altered, Message: message})
	}
	return nil
}

// checkFiles compares the files of one organization, or of all if organizationID is empty, with their
// hashes.
func (v *dataVerifier) checkFiles(ctx context.Context, db *store.DB, organizationID string) error {
	c, err := db.CheckFiles(ctx, store.FileCheckOptions{OrganizationID: organizationID})
	if err != nil && !errors.Is(err, store.ErrCorrupt) {
		return err
	}
	v.FilesChecked = c.Checked
	if err != nil {
		v.addProblem(api.DataProblem{
			Record: "files", Kind: NotRead,
			Message: "some records that refer to files can't be read, so missing files may not be reported: " + err.Error(),
		})
	}
	for _, p := range c.Problems {
		one := api.DataProblem{SHA256: p.SHA256}
		switch {
		case errors.Is(p.Err, store.ErrNotFound):
			one.Kind, one.Message = Missing, "the file is missing; restore a backup (if the backup has no files, "+
				"also copy the folder blobs), or delete the record and add it again"
		case errors.Is(p.Err, store.ErrCorrupt):
			one.Kind, one.Message = Altered, "the file was altered; restore a backup, or delete the record and add it again"
		default:
			one.Kind, one.Message = NotRead, p.Err.Error()
		}
		if len(p.References) == 0 {
			one.Record = "file without a record"
			v.addProblem(one)
		}
		for _, r := range p.References {
			one.OrganizationID, one.Record = r.OrganizationID, r.Record
			v.addProblem(one)
		}
	}
	return nil
}
