package audit

import (
	"context"
	"fmt"
	"iter"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// The kinds of damage to a chain.
const (
	Changed   = "changed"
	Removed   = "removed"
	Inserted  = "inserted"
	Reordered = "reordered"
)

// BrokenError reports the first record at which a chain fails verification.
type BrokenError struct {
	Kind     string
	Sequence uint64
	RecordID string
	Reason   string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("the audit chain is broken at record %d (%s): %s", e.Sequence, e.Kind, e.Reason)
}

// toAPI converts the error to its API form.
func (e *BrokenError) toAPI() *api.AuditProblem {
	return &api.AuditProblem{Kind: e.Kind, Sequence: e.Sequence, RecordID: e.RecordID, Message: e.Reason}
}

// VerifyRecords verifies a chain from its first record and returns its length and head. A
// *BrokenError names the first record that does not fit, and the kind of damage.
func VerifyRecords(records iter.Seq2[api.AuditEvent, error]) (count uint64, head string, err error) {
	var broken *BrokenError
	var late *BrokenError // set at a gap: the record was removed, unless it appears later
	last := ""
	for rec, err := range records {
		if err != nil {
			return count, head, err
		}
		if late != nil {
			if rec.Sequence == late.Sequence {
				late.Kind, late.RecordID, late.Reason = Reordered, rec.ID, "the record appears after a later record"
			}
			continue
		}
		if broken != nil {
			continue
		}
		want, err := Hash(rec)
		if err != nil {
			return count, head, err
		}
		switch next := count + 1; {
		case rec.Sequence > next:
			late = &BrokenError{
				Kind:     Removed,
				Sequence: next,
				RecordID: "",
				Reason:   fmt.Sprintf("the record is missing: record %d follows record %d", rec.Sequence, count),
			}
		case rec.Sequence < next:
			broken = &BrokenError{
				Kind:     Inserted,
				Sequence: rec.Sequence,
				RecordID: rec.ID,
				Reason:   fmt.Sprintf("another record with the same number follows record %d", count),
			}
		case rec.Hash != want:
			broken = &BrokenError{Kind: Changed, Sequence: rec.Sequence, RecordID: rec.ID, Reason: "the record's content doesn't match its hash"}
		case rec.PreviousHash != head && count == 0:
			broken = &BrokenError{Kind: Removed, Sequence: 1, RecordID: rec.ID, Reason: "the first record refers to an earlier record"}
		case rec.PreviousHash != head:
			broken = &BrokenError{
				Kind:     Changed,
				Sequence: count,
				RecordID: last,
				Reason: fmt.Sprintf(
					"the record's hash differs from the hash stored in record %d, so the record was rewritten or "+
						"replaced",
					rec.Sequence,
				),
			}
		default:
			count, head, last = next, rec.Hash, rec.ID
		}
	}
	if late != nil {
		return count, head, late
	}
	if broken != nil {
		return count, head, broken
	}
	return count, head, nil
}

// VerifyStored verifies an organization's stored chain. It also detects records missing from its
// end, because the store counts them.
func VerifyStored(tx *store.Tx, org string) (count uint64, head string, err error) {
	if count, head, err = VerifyRecords(store.Audit.Scan(tx, org)); err != nil {
		return count, head, err
	}
	written, err := tx.LastSequence(store.AuditSequence(org))
	if err == nil && uint64(written) > count {
		err = &BrokenError{
			Kind:     Removed,
			Sequence: count + 1,
			RecordID: "",
			Reason:   fmt.Sprintf("%d records were written, but the chain ends with record %d", written, count),
		}
	}
	return count, head, err
}

// VerifyChain verifies the chain of the caller's organization.
func (s *Service) VerifyChain(ctx context.Context, by api.Caller, _ *api.None) (*api.AuditVerification, error) {
	out := &api.AuditVerification{}
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		out.Records, out.Head, err = VerifyStored(tx, by.OrganizationID)
		out.CheckedAt = tx.Now()
		return err
	})
	out.OK = err == nil
	if b, is := err.(*BrokenError); is { //nolint:errorlint // VerifyStored returns it unwrapped
		out.Problem = b.toAPI()
		return out, nil
	}
	return out, err
}
