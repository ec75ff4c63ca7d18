package sync

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/store"
)

// Format identifies the format of sync files: gzip-compressed JSON with one value per line. The header comes first,
// followed by the changes and a final line with the number of changes.
const Format = "service-sync/1"

const (
	kindBatch   = "batch"
	kindChanges = "changes"

	// pageSize is the size at which a file is finished and another one is started. maxDecodedBytes limits a file's
	// decompressed size, and maxLines its number of lines.
	pageSize        = 4 << 20
	maxDecodedBytes = 64 << 20
	maxLines        = 200_000
	// maxFileBytes limits the compressed size of a sync file.
	maxFileBytes = 64 << 20
)

// The operations that a change line can request.
const (
	opPut        = "put"    // changes: the record's current state
	opDelete     = "delete" // the record was deleted
	opInsert     = "insert" // batch: a new record
	opEdit       = "edit"   // batch: changed fields
	opTouch      = "touch"  // batch: changed in fields that only the remote sets
	opSubmit     = "submit"
	opDecide     = "decide"
	opTransition = "move"
	opEnd        = "end"
)

// fileHeader is the first line of a sync file.
type fileHeader struct {
	Format         string `json:"format"`
	Kind           string `json:"kind"`
	AssessmentID   string `json:"assessment_id"`
	ReplicaID      string `json:"replica_id"`
	CatalogSHA256  string `json:"catalog_sha256"`
	CustomSHA256   string `json:"custom_sha256,omitempty"`
	Counter        int64  `json:"counter,omitempty"`
	Since          int64  `json:"since,omitempty"`
	Next           int64  `json:"next,omitempty"`
	More           bool   `json:"more,omitempty"`
	AnchorSequence uint64 `json:"anchor_sequence,omitempty"`
	AnchorHash     string `json:"anchor_hash,omitempty"`
}

// changeLine is one change in a sync file.
type changeLine struct {
	Op       string                  `json:"op"`
	Table    string                  `json:"table,omitempty"`
	Key      []byte                  `json:"key,omitempty"`
	Sequence int64                   `json:"sequence,omitempty"`
	Record   fields                  `json:"record,omitempty"`
	Fields   map[string]merge.Change `json:"fields,omitempty"`
	Chunks   []api.Chunk             `json:"chunks,omitempty"`
	By       string                  `json:"by,omitempty"`
	At       time.Time               `json:"at,omitzero"`

	Gate     api.Gate           `json:"gate,omitempty"`
	Version  string             `json:"version,omitempty"`
	Approval string             `json:"approval,omitempty"`
	SHA256   string             `json:"sha256,omitempty"`
	Verdict  api.ApprovalStatus `json:"decision,omitempty"`
	To       api.State          `json:"to,omitempty"`
	Reason   string             `json:"reason,omitempty"`
	// InAdvance is set for a submission or decision requested without reviewing the version.
	InAdvance bool `json:"in_advance,omitempty"`
}

// exchangeFile is a file that two installations exchange to sync an assessment.
type exchangeFile struct {
	fileHeader
	lines []changeLine
}

func (f *exchangeFile) encode() ([]byte, error) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	e := json.NewEncoder(z)
	e.SetEscapeHTML(false)
	if err := e.Encode(f.fileHeader); err != nil {
		return nil, err
	}
	for i := range f.lines {
		if err := e.Encode(&f.lines[i]); err != nil {
			return nil, err
		}
	}
	if err := e.Encode(changeLine{Op: opEnd, Sequence: int64(len(f.lines))}); err != nil {
		return nil, err
	}
	if err := z.Close(); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// damagedFileError returns the error for an incomplete or malformed file.
func damagedFileError(format string, args ...any) error {
	return api.Invalid("file", "the sync file is damaged: "+format, args...)
}

// decodeFile decodes a file received from another installation and returns an error if it is incomplete.
func decodeFile(r io.Reader, kind string) (*exchangeFile, error) {
	in := bufio.NewReader(r)
	z, err := gzip.NewReader(in)
	if err != nil {
		return nil, damagedFileError("%v", err)
	}
	z.Multistream(false)
	left := &io.LimitedReader{R: z, N: maxDecodedBytes + 1}
	d := json.NewDecoder(left)
	broken := func(err error) error {
		if left.N <= 0 {
			return api.Invalid("file", "the file exceeds %d MiB after decompression", maxDecodedBytes>>20)
		}
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return damagedFileError("%v", err)
	}
	f := &exchangeFile{}
	if err := d.Decode(&f.fileHeader); err != nil {
		return nil, broken(err)
	}
	switch {
	case f.Format != Format:
		return nil, api.Invalid(
			"file",
			"the file has format %.40q, but this program supports %s; use the same version on both sides",
			f.Format,
			Format,
		)
	case f.Kind != kind:
		return nil, damagedFileError("the file is of kind %.20q instead of %s", f.Kind, kind)
	}
	for {
		var l changeLine
		if err := d.Decode(&l); err != nil {
			return nil, broken(err)
		}
		if l.Op == opEnd {
			if l.Sequence != int64(len(f.lines)) {
				return nil, damagedFileError("the file has %d changes instead of %d", len(f.lines), l.Sequence)
			}
			break
		}
		if len(f.lines) >= maxLines {
			return nil, api.Invalid("file", "the file has more than %d changes", maxLines)
		}
		f.lines = append(f.lines, l)
	}
	// What follows must be the end of the compressed data: reading it verifies the checksum.
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, damagedFileError("there is unexpected data after the end")
	}
	if _, err := in.ReadByte(); !errors.Is(err, io.EOF) {
		return nil, damagedFileError("there is unexpected data after the end")
	}
	return f, nil
}

// encodeSyncBatch encodes the file and adds the metadata needed to transfer it.
func (f *exchangeFile) encodeSyncBatch() (*api.SyncBatch, error) {
	data, err := f.encode()
	if err != nil {
		return nil, err
	}
	return f.newSyncBatch(data), nil
}

func (f *exchangeFile) newSyncBatch(encoded []byte) *api.SyncBatch {
	p := &api.SyncBatch{
		AssessmentID: f.AssessmentID,
		Counter:      f.Counter,
		ChangeCount:  len(f.lines),
		Next:         f.Next,
		More:         f.More,
		Files:        []string{},
		FileBytes:    []int64{},
		Data:         encoded,
	}
	seen := map[string]bool{}
	for i := range f.lines {
		if l := &f.lines[i]; l.Table == store.Documents.Name() {
			if sha := stringFromJSON(l.Record["sha256"]); sha != "" && l.Op != opDelete && !seen[sha] {
				seen[sha] = true
				p.Files, p.FileBytes = append(p.Files, sha), append(p.FileBytes, int64(max(0, intFromJSON(l.Record["size_bytes"]))))
			}
		}
	}
	return p
}
