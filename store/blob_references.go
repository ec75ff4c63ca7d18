package store

import "fmt"

// BlobReference is a record that refers to a blob.
type BlobReference struct {
	SHA256         string
	OrganizationID string // empty for a catalog, which belongs to no organization
	Record         string // the record's name for users, such as: document "policy.md"
}

// BlobReferences returns the references to blobs in the records of all organizations. Blobs without a
// reference are deleted, so if you add a record field that refers to a blob, add it here.
func BlobReferences(tx *Tx) ([]BlobReference, error) {
	var all []BlobReference
	add := func(sha, organization, format string, args ...any) {
		if sha != "" {
			all = append(all, BlobReference{SHA256: sha, OrganizationID: organization, Record: fmt.Sprintf(format, args...)})
		}
	}
	for d, err := range Documents.AcrossTenants().Scan(tx) {
		if err != nil {
			return all, err
		}
		add(d.SHA256, d.OrganizationID, "document %q", d.Filename)
	}
	for r, err := range Reports.AcrossTenants().Scan(tx) {
		if err != nil {
			return all, err
		}
		add(r.SHA256, r.OrganizationID, "report %q", r.Filename)
	}
	for f, err := range SyncFiles.AcrossTenants().Scan(tx) {
		if err != nil {
			return all, err
		}
		add(f.SHA256, f.OrganizationID, "synced file")
	}
	for c, err := range SyncConflicts.AcrossTenants().Scan(tx) {
		if err != nil {
			return all, err
		}
		add(c.FileSHA256, c.OrganizationID, "sync conflict")
	}
	for v, err := range CatalogVersions.Scan(tx) {
		if err != nil {
			return all, err
		}
		add(v.SnapshotBlob, "", "catalog %s", v.Label)
		add(v.EmbedderBlob, "", "embedder of catalog %s", v.Label)
	}
	return all, nil
}

// ReferencedBlobs returns the blobs that the records of all organizations refer to, each with the name of
// one such record.
func ReferencedBlobs(tx *Tx) (map[string]string, error) {
	all, err := BlobReferences(tx)
	named := map[string]string{}
	for _, r := range all {
		named[r.SHA256] = r.Record
	}
	return named, err
}
