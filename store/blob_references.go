package store

import "strconv"

// ReferencedBlobs returns the blobs referenced by records of all organizations, each with a name of
// one such record. A sweep deletes the others: when adding a record field that references a blob, add
// it here.
func ReferencedBlobs(tx *Tx) (map[string]string, error) {
	named := map[string]string{}
	for d, err := range Documents.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[d.SHA256] = "document " + strconv.Quote(d.Filename)
	}
	for r, err := range Reports.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[r.SHA256] = "report " + strconv.Quote(r.Filename)
	}
	for f, err := range SyncFiles.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[f.SHA256] = "synced file"
	}
	for c, err := range SyncConflicts.AcrossTenants().Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[c.FileSHA256] = "sync conflict"
	}
	for v, err := range CatalogVersions.Scan(tx) {
		if err != nil {
			return nil, err
		}
		named[v.SnapshotBlob], named[v.EmbedderBlob] = "catalog "+v.Label, "embedder of catalog "+v.Label
	}
	delete(named, "")
	return named, nil
}
