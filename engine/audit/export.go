package audit

import (
	"bufio"
	"context"
	"encoding/json"
	"io"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// exportPageSize is the number of records that an export reads in one transaction.
const exportPageSize = 500

// Export returns the audit chain of the caller's organization as JSON lines, oldest first. Without
// filters, the file contains the whole chain and can be verified.
func (s *Service) Export(ctx context.Context, by api.Caller, in *api.AuditExportInput) (*api.File, error) {
	matches, err := newFilter(&in.AuditFilter)
	if err != nil {
		return nil, err
	}
	return api.StreamFile(ctx, "audit.jsonl", "application/x-ndjson", func(ctx context.Context, w io.Writer) error {
		return s.writeRecords(ctx, by.OrganizationID, matches, w)
	}), nil
}

// writeRecords writes the matching records. It reads each page in a transaction of its own, so that no
// transaction has to wait for the recipient.
func (s *Service) writeRecords(ctx context.Context, org string, matches func(*api.AuditEvent) bool, w io.Writer) error {
	buf := bufio.NewWriter(w)
	enc := json.NewEncoder(buf)
	enc.SetEscapeHTML(false)
	for next := int64(1); ; {
		var page []api.AuditEvent
		err := s.db.View(ctx, func(tx *store.Tx) error {
			page = page[:0]
			for rec, err := range store.Audit.Scan(tx, org, store.From(next)) {
				if err != nil {
					return err
				}
				if page = append(page, rec); len(page) == exportPageSize {
					break
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
		for _, rec := range page {
			if matches(&rec) {
				if err := enc.Encode(rec); err != nil {
					return err
				}
			}
		}
		if len(page) < exportPageSize {
			return buf.Flush()
		}
		next = int64(page[len(page)-1].Sequence) + 1
	}
}
