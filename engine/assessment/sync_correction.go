package assessment

import (
	"errors"
	"iter"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/store"
)

// maxSyncedCorrectionText is the maximum length of each name and short text of a correction made offline, in bytes.
const maxSyncedCorrectionText = 4 << 10

// ReadCopiedCorrection returns the copy of a correction that clones of an assessment get, by the copy's ID. It returns
// false if the correction was removed or doesn't apply to the assessment.
func ReadCopiedCorrection(tx *store.Tx, org, copied string) (*api.Correction, bool, error) {
	id, assessment, ok := store.SplitCopiedCorrectionID(copied)
	if !ok {
		return nil, false, nil
	}
	c, err := store.Corrections.Get(tx, org, id)
	if errors.Is(err, store.ErrNotFound) || errors.Is(err, store.ErrBadKey) {
		return nil, false, nil
	}
	if err != nil {
		return nil, false, err
	}
	return newCorrectionClients(tx, org).copyFor(assessment, &c)
}

// copyFor returns a copy of another assessment's correction for clones of the given one.
func (c *correctionClients) copyFor(assessment string, of *api.Correction) (*api.Correction, bool, error) {
	if of.AssessmentID == assessment || of.CopiedFrom != nil {
		return nil, false, nil
	}
	if shared, err := c.areShared(assessment, of.AssessmentID); err != nil || !shared {
		return nil, false, err
	}
	from, err := c.owner(of.AssessmentID)
	if err != nil {
		return nil, false, err
	}
	out := *of
	out.CopiedFrom = &api.CorrectionOrigin{AssessmentID: of.AssessmentID, AssessmentName: from.Name}
	out.ID, out.AssessmentID, out.EditID = store.CopiedCorrectionID(of.ID, assessment), assessment, ""
	return &out, true, nil
}

// CopiedCorrectionIDs returns the IDs of the copies of other assessments' corrections that clones of an assessment get.
func CopiedCorrectionIDs(tx *store.Tx, org, assessment string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		clients := newCorrectionClients(tx, org)
		for c, err := range store.Corrections.Scan(tx, org) {
			var out *api.Correction
			var ok bool
			if err == nil {
				out, ok, err = clients.copyFor(assessment, &c)
			}
			if err != nil {
				yield("", err)
				return
			}
			if ok && !yield(out.ID, nil) {
				return
			}
		}
	}
}

// MarkCopiedCorrections makes all clones fetch their copied corrections again, because a change of the given
// assessment's client affects which corrections they share.
func MarkCopiedCorrections(tx *store.Tx, org, assessment string) error {
	var remotes []string
	for l, err := range store.SyncLinks.Scan(tx, org) {
		if err != nil {
			return err
		}
		if l.Role == store.SyncRoleRemote {
			remotes = append(remotes, l.AssessmentID)
		}
	}
	if len(remotes) == 0 {
		return nil
	}
	for c, err := range store.Corrections.Scan(tx, org) {
		if err != nil {
			return err
		}
		for _, id := range remotes {
			if c.CopiedFrom == nil && c.AssessmentID != id && (id == assessment || c.AssessmentID == assessment) {
				key := store.K(store.CopiedCorrectionID(c.ID, id)).Bytes()
				tx.MarkChangedForSync(org, id, store.Corrections.Name(), key)
			}
		}
	}
	return nil
}

// RemoveCopiedCorrections removes the copies of other assessments' corrections from an assessment that is no longer a clone.
func RemoveCopiedCorrections(tx *store.Tx, org, assessment string) error {
	isCopy := func(c *api.Correction) bool { return c.CopiedFrom != nil }
	_, err := deleteCorrections(tx, org, isCopy, assessment)
	return err
}

// AddSyncedCorrection records a correction that was made offline. An existing correction with the same label for the
// same passage is left unchanged. If a person here has decided otherwise about the passage, that decision is kept and
// returned, unless it only follows from a decision on an item and the new one was made on the passage itself.
func AddSyncedCorrection(tx *store.Tx, by api.Caller, c *api.Correction) (other *api.Correction, err error) {
	if err := validateSyncedCorrection(c); err != nil {
		return nil, err
	}
	c.DecidedBy, c.EditID, c.CopiedFrom, c.UpdatedAt, c.IsDocumentDeleted = by.Actor, "", nil, tx.Now(), false
	if c.CreatedAt.After(tx.Now()) || c.CreatedAt.IsZero() {
		c.CreatedAt = tx.Now()
	}
	if _, _, isCopy := store.SplitCopiedCorrectionID(c.ID); isCopy { // removed, sent, and brought back by an undo
		c.ID = tx.NewID()
	}
	if exists, err := store.Corrections.Has(tx, by.OrganizationID, c.ID); err != nil || exists {
		return nil, errors.Join(err, api.Conflict("a correction with ID %q already exists", c.ID))
	}
	same, _, err := findSamePassage(tx, by.OrganizationID, c)
	if err != nil {
		return nil, err
	}
	for n := range same {
		switch old := &same[n]; {
		case old.Source == c.Source && old.Label != c.Label:
			return old, nil
		case old.Source == c.Source, old.Source == api.PassageCorrected:
			return nil, nil
		}
	}
	return nil, recordCorrection(tx, by, c, true)
}

// validateSyncedCorrection returns an error for a correction that no installation can have created.
func validateSyncedCorrection(c *api.Correction) error {
	refused := c.Decision == api.CorrectionRefused
	label := reading.Label(c.Label)
	p := &c.Passage
	texts := append([]string{
		c.ID, c.ControlCode, c.DomainCode, c.Topic, c.Statement, c.Method, c.DraftedLabel, p.ChunkID, p.DocumentID, p.Filename, p.Title, p.Kind,
		p.Date,
	}, p.HeadingPath...)
	switch {
	case c.ID == "" || c.ControlCode == "" || len(p.HeadingPath) > 100,
		slices.ContainsFunc(texts, func(s string) bool { return len(s) > maxSyncedCorrectionText }):
		return api.Invalid("file", "a correction has no control, or its text is too long")
	case !slices.Contains(c.Decision.Values(), c.Decision) || !slices.Contains(c.Source.Values(), c.Source) ||
		refused != (label == reading.Silent) || !slices.Contains(reading.Labels, label):
		return api.Invalid("file", "a correction for %.40s has an unknown decision", c.ControlCode)
	case c.StatementID != reading.Statement{Topic: c.Topic, Text: c.Statement}.ID() || p.SHA256 != TextHash(p.Text):
		return api.Invalid("file", "a correction for %.40s doesn't match its requirement or passage", c.ControlCode)
	case len(p.Text) > maxCorrectedPassage || c.Quote == "" || len(c.Quote) > reading.MaxWordsBytes ||
		reading.FindQuote(p.Text, c.Quote) == "":
		return api.Invalid("file", "a correction for %.40s quotes words that its passage doesn't contain", c.ControlCode)
	}
	if err := (reading.Reading{Label: label, Words: quoteUnlessSilent(c)}).Check(p.Text); err != nil {
		return api.Invalid("file", "a correction of %.40s: %v", c.ControlCode, err)
	}
	return nil
}

// RemoveSyncedCorrection removes a correction that was removed offline in a clone of the given assessment: one made in
// it, or the original of a copy. It does nothing if there is none.
func RemoveSyncedCorrection(tx *store.Tx, by api.Caller, assessment, id string) error {
	original, of, isCopy := store.SplitCopiedCorrectionID(id)
	if isCopy {
		if _, ok, err := ReadCopiedCorrection(tx, by.OrganizationID, id); err != nil || !ok || of != assessment {
			return err
		}
		id = original
	}
	c, err := store.Corrections.Get(tx, by.OrganizationID, id)
	if errors.Is(err, store.ErrNotFound) || err == nil && !isCopy && c.AssessmentID != assessment {
		return nil
	}
	if err != nil {
		return err
	}
	return removeCorrection(tx, by, &c)
}

// DecideCorrectionConflict replaces a correction by one with another label, because a person chose the decision made offline,
// or a third one.
func DecideCorrectionConflict(tx *store.Tx, by api.Caller, id, label string) error {
	c, err := store.Corrections.Get(tx, by.OrganizationID, id)
	if errors.Is(err, store.ErrNotFound) {
		return api.Conflict("the correction has been removed in the meantime; choose \"remote\", then correct the passage again if necessary")
	}
	if err != nil {
		return err
	}
	if !slices.Contains(reading.Labels, reading.Label(label)) {
		return api.Invalid("value", "%.40q is not a valid label for a passage; use states, part, plans, "+
			"contradicts or silent", label)
	}
	c.TenantRecord, c.Label, c.Decision, c.DecidedBy, c.EditID = newTenantRecord(tx, by), label, api.CorrectionAccepted, by.Actor, ""
	if label == string(reading.Silent) {
		c.Decision = api.CorrectionRefused
	}
	return recordCorrection(tx, by, &c, true)
}
