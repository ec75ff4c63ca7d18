package evidence

import (
	"errors"

	"github.com/scf-service/service/store"
)

// maxReadAttempts is the number of times that reading a document may crash the program before it is
// no longer attempted.
const maxReadAttempts = 2

// errReadElsewhere is the error of beginRead if another process is already reading the document.
var errReadElsewhere = errors.New("another process is reading the document")

// claimOfReading returns the key under which a process claims the reading of a document, so that
// other processes on the same database don't read it.
func claimOfReading(document string) string { return "reading document " + document }

var errTooManyAttempts = errors.New("the program stopped twice while reading the document, so reading won't be retried automatically; " +
	"convert or split the file, or try again with `service doc reprocess`")

// beginRead counts an attempt to read a document before it starts, so that an attempt that crashes
// the program is counted, too. If no more attempts are allowed, it returns errTooManyAttempts.
func beginRead(tx *store.Tx, org, document string) error {
	n, err := unfinishedReads(tx, org, document)
	if err != nil {
		return err
	}
	claimed, err := tx.Claim(claimOfReading(document))
	if err != nil {
		return err
	}
	if !claimed {
		return errReadElsewhere
	}
	if n >= maxReadAttempts {
		return errTooManyAttempts
	}
	return store.UnfinishedReads.Put(tx, org, &store.ReadAttempts{OrganizationID: org, DocumentID: document, Count: n + 1})
}

// unfinishedReads returns the number of attempts to read a document that have not finished.
func unfinishedReads(tx *store.Tx, org, document string) (int, error) {
	r, err := store.UnfinishedReads.Get(tx, org, document)
	return r.Count, ignoreMissing(err)
}

// endRead deletes the count of attempts to read a document once it has been read or can't be read for a known
// reason.
func endRead(tx *store.Tx, org, document string) error {
	return errors.Join(ignoreMissing(store.UnfinishedReads.Delete(tx, org, document)), tx.Release(claimOfReading(document)))
}

// undoBeginRead removes the last attempt from the count, because it was interrupted without crashing the program.
func undoBeginRead(tx *store.Tx, org, document string) error {
	n, err := unfinishedReads(tx, org, document)
	if err != nil || n <= 1 {
		return errors.Join(err, ignoreMissing(store.UnfinishedReads.Delete(tx, org, document)))
	}
	return store.UnfinishedReads.Put(tx, org, &store.ReadAttempts{OrganizationID: org, DocumentID: document, Count: n - 1})
}
