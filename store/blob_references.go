package store

// ReferencedBlobs returns the blobs referenced by records of all organizations. A sweep deletes the
// others: when adding a record field that references a blob, add it here.
func ReferencedBlobs(tx *Tx) (map[string]bool, error) {
	named := map[string]bool{}
	for d, err := range Documents.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[d.SHA256] = true
	}
	for r, err := range Reports.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[r.SHA256] = true
	}
	for f, err := range SyncFiles.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[f.SHA256] = true
	}
	for c, err := range SyncConflicts.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[c.FileSHA256] = true
	}
	for v, err := range CatalogVersions.Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[v.SnapshotBlob], named[v.EmbedderBlob] = true, true
	}
	return named, nil
}
