package cli

import (
	"bytes"
	"context"
	"errors"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// dryWord is dry as the parameters have it.
func dryWord(dry bool) string {
	if dry {
		return "true"
	}
	return ""
}

func parcelFile(data []byte) api.UploadFile {
	return api.UploadFile{Filename: "parcel", Content: bytes.NewReader(data)}
}

// filesAtOnce and bytesAtOnce are how much goes in one request: what arrived of one that
// breaks off is lost, so a break costs no more than that.
const (
	filesAtOnce = 50
	bytesAtOnce = 8 << 20
)

// carryFiles brings the files that a parcel names from one side to the other, where it lacks
// them; where dry, it only counts them.
func carryFiles(ctx context.Context, from, to *client.Client, p *api.SyncParcel, dry bool) (n int, err error) {
	if len(p.Files) == 0 {
		return 0, nil
	}
	var lacks []string
	for all := p.Files; len(all) > 0; {
		some := all[:min(1000, len(all))]
		all = all[len(some):]
		ask := &api.MissingSyncInput{AssessmentID: p.AssessmentID}
		ask.Body.SHA256 = some
		m, err := client.Do(ctx, to, api.MissingSyncFiles, ask)
		if err != nil {
			return n, err
		}
		lacks = append(lacks, m.SHA256...)
	}
	if dry {
		return len(lacks), nil
	}
	size := map[string]int64{}
	for i, bytes := range p.FileBytes {
		if i < len(p.Files) {
			size[p.Files[i]] = bytes
		}
	}
	for most := filesAtOnce; len(lacks) > 0; {
		lot := lotOf(lacks, size, most)
		taken, err := carryLot(ctx, from, to, p.AssessmentID, lot)
		if api.IsCode(err, api.CodeValidation) && len(lot) > 1 { // its files are larger than they were said to be
			most = len(lot) / 2
			continue
		}
		if err != nil {
			return n, err
		}
		lacks = lacks[len(lot):]
		n += taken
	}
	return n, nil
}

// lotOf is what goes in the next request.
func lotOf(files []string, size map[string]int64, most int) []string {
	n, left := 0, int64(bytesAtOnce)
	for n < min(most, len(files)) && (n == 0 || size[files[n]] <= left) {
		left -= size[files[n]]
		n++
	}
	return files[:n]
}

func carryLot(ctx context.Context, from, to *client.Client, assessment string, lot []string) (int, error) {
	ask := &api.MissingSyncInput{AssessmentID: assessment}
	ask.Body.SHA256 = lot
	f, err := client.Do(ctx, from, api.FetchSyncFiles, ask)
	if err != nil {
		return 0, err
	}
	out, err := client.Do(ctx, to, api.BringSyncFiles, &api.BringSyncInput{AssessmentID: assessment, File: api.UploadFile{Filename: "files.tar", Content: f.Content}})
	if err = errors.Join(err, f.Content.Close()); err != nil {
		return 0, err
	}
	return out.Taken, nil
}

// carryCatalog brings the catalog version of a synchronised assessment to the other side, and
// the own frameworks and controls that it uses.
func carryCatalog(ctx context.Context, from, to *client.Client, assessment string, own bool) error {
	f, err := client.Do(ctx, from, api.GetSyncCatalog, &api.SyncInput{AssessmentID: assessment})
	if err != nil {
		return err
	}
	_, err = client.Do(ctx, to, api.BringSyncCatalog, &api.BringSyncCatalogInput{File: api.UploadFile{Filename: "catalog", Content: f.Content}})
	if err = errors.Join(err, f.Content.Close()); err != nil || !own {
		return err
	}
	if f, err = client.Do(ctx, from, api.GetSyncFrameworks, &api.SyncInput{AssessmentID: assessment}); err != nil {
		return err
	}
	_, err = client.Do(ctx, to, api.BringSyncFrameworks, &api.BringSyncCatalogInput{File: api.UploadFile{Filename: "frameworks", Content: f.Content}})
	return errors.Join(err, f.Content.Close())
}
