package store

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"iter"
	"slices"
	"strings"

	"github.com/scf-service/service/store/kv"
)

// The records of a backup are keys and values rather than a driver's pages, so that any driver can restore what
// another one has backed up. They are sorted by table name and key, so that equal databases result in equal
// bytes:
//
//	table    length of the name, name, records, 0
//	record   length of the key, key, length of the value, value
//
// The last table is followed by a 0. Lengths are varints. Index entries and the checksum of each value are
// included, but tables without records are not.

// TableSummary identifies the content of a table in a backup.
type TableSummary struct {
	Name    string `json:"name"`
	Records int64  `json:"records"`
	SHA256  string `json:"sha256"` // hash of its records as written to the backup
}

// writeRecords writes all records of a transaction to w. It calls check, if set, for each of them.
func writeRecords(ctx context.Context, k kv.KV, w io.Writer, check func(table string, key, value []byte)) ([]TableSummary, error) {
	names, err := k.Tables()
	if err != nil {
		return nil, err
	}
	var tables []TableSummary
	sum := sha256.New()
	both := bufio.NewWriterSize(io.MultiWriter(w, sum), 64<<10)
	var last, head []byte
	for _, name := range names {
		n := int64(0)
		last = last[:0]
		for p, err := range k.Scan(name, kv.Range{}) {
			if err != nil {
				return nil, err
			}
			// On a damaged page, the keys can be in any order.
			if bytes.Compare(p.Key, last) <= 0 {
				return nil, fmt.Errorf("%w: the keys of table %s are out of order; restore a backup", ErrCorrupt, name)
			}
			last = append(last[:0], p.Key...)
			if n == 0 {
				if _, err := w.Write(append(binary.AppendUvarint(nil, uint64(len(name))), name...)); err != nil {
					return nil, err
				}
			}
			if n++; n%1024 == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			if check != nil {
				check(name, p.Key, p.Value)
			}
			head = binary.AppendUvarint(head[:0], uint64(len(p.Key)))
			head = append(head, p.Key...)
			head = binary.AppendUvarint(head, uint64(len(p.Value)))
			_, _ = both.Write(head) // Flush returns the error of any Write
			if _, err := both.Write(p.Value); err != nil {
				return nil, err
			}
		}
		if n == 0 {
			continue
		}
		if err := both.WriteByte(0); err != nil {
			return nil, err
		}
		if err := both.Flush(); err != nil {
			return nil, err
		}
		tables = append(tables, TableSummary{Name: name, Records: n, SHA256: hex.EncodeToString(sum.Sum(nil))})
		sum.Reset()
	}
	_, err = w.Write([]byte{0})
	return tables, err
}

// readRecords returns the records that writeRecords wrote. It returns ErrCorrupt for damaged data.
func readRecords(r io.Reader) iter.Seq2[kv.Record, error] {
	return func(yield func(kv.Record, error) bool) {
		in := recordReader{r: bufio.NewReaderSize(r, 64<<10)}
		table := ""
		for {
			name, err := in.readBytes(kv.MaxTable)
			if err != nil || len(name) == 0 {
				if err == nil {
					err = in.readEnd()
				}
				if err != nil {
					yield(kv.Record{}, toCorruptError(err))
				}
				return
			}
			if string(name) <= table {
				yield(kv.Record{}, fmt.Errorf("%w: the tables are out of order", ErrCorrupt))
				return
			}
			table = string(name)
			for last := []byte(nil); ; {
				record, err := in.readRecord(table, last)
				if err != nil {
					yield(kv.Record{}, toCorruptError(err))
					return
				}
				if record.Key == nil {
					break
				}
				if !yield(record, nil) {
					return
				}
				last = record.Key
			}
		}
	}
}

// recordReader reads the records of a backup.
type recordReader struct {
	r *bufio.Reader
}

// readBytes reads a length, followed by as many bytes.
func (in recordReader) readBytes(limit uint64) ([]byte, error) {
	n, err := binary.ReadUvarint(in.r)
	if err != nil {
		return nil, toUnexpectedEOF(err)
	}
	if n > limit {
		return nil, fmt.Errorf("%w: a length is %d, but the maximum is %d", ErrCorrupt, n, limit)
	}
	b := make([]byte, n)
	_, err = io.ReadFull(in.r, b)
	return b, toUnexpectedEOF(err)
}

// readRecord returns the record after the one whose key is last. It returns an empty record at the end of the table.
func (in recordReader) readRecord(table string, last []byte) (kv.Record, error) {
	key, err := in.readBytes(kv.MaxKey)
	switch {
	case err != nil:
		return kv.Record{}, err
	case len(key) == 0 && last == nil:
		return kv.Record{}, fmt.Errorf("%w: the table %q is empty", ErrCorrupt, table)
	case len(key) == 0:
		return kv.Record{}, nil
	case bytes.Compare(key, last) <= 0:
		return kv.Record{}, fmt.Errorf("%w: the keys of the table %q are out of order", ErrCorrupt, table)
	}
	value, err := in.readBytes(kv.MaxValue)
	return kv.Record{Table: table, Pair: kv.Pair{Key: key, Value: value}}, err
}

func (in recordReader) readEnd() error {
	if _, err := in.r.ReadByte(); err == nil {
		return fmt.Errorf("%w: there is more data after the last record", ErrCorrupt)
	} else if !errors.Is(err, io.EOF) {
		return err
	}
	return nil
}

// toUnexpectedEOF converts io.EOF to io.ErrUnexpectedEOF.
func toUnexpectedEOF(err error) error {
	if err == io.EOF { //nolint:errorlint // bufio returns it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}

// compareTables returns an error that names the first table that differs.
func compareTables(got, want []TableSummary) error {
	for i, w := range want {
		if i >= len(got) || got[i].Name != w.Name {
			return fmt.Errorf("%w: table %s is missing", ErrCorrupt, w.Name)
		}
		if got[i] != w {
			return fmt.Errorf("%w: table %s has %d records instead of %d, or the records differ", ErrCorrupt, w.Name, got[i].Records, w.Records)
		}
	}
	if len(got) > len(want) {
		return fmt.Errorf("%w: the unexpected table %s was found", ErrCorrupt, got[len(want)].Name)
	}
	return nil
}

// countRecords returns the number of records, not counting index entries.
func countRecords(tables []TableSummary) (n int64) {
	for t := range slices.Values(tables) {
		if !strings.Contains(t.Name, ".") {
			n += t.Records
		}
	}
	return n
}
