package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// Limits on corrections.
const (
	maxCorrections             = 5000 // per organization
	maxCorrectedPassage        = 8 << 10
	maxCorrectionsPerPassage   = 100 // of the same text for one statement, under different headings
	maxStatementQuotesRecorded = 3   // per statement, when a person decides on an item
)

// correctionClients determines whose corrections apply to an assessment. Corrections made for one client don't apply
// to another, although one organization may assess both. Likewise, corrections from the organization whose assessment
// was cloned don't apply to other organizations' assessments in the same data folder.
type correctionClients struct {
	tx    *store.Tx
	org   string
	known map[string]correctionOwner // by assessment
}

func newCorrectionClients(tx *store.Tx, org string) *correctionClients {
	return &correctionClients{tx, org, map[string]correctionOwner{}}
}

// correctionOwner identifies the organization and client that an assessment's corrections belong to.
type correctionOwner struct {
	api.Assessment
	remote string // identifies the remote's organization, or "" if the assessment isn't a clone
}

// maxCarriedYears is the maximum number of earlier assessments that owner goes back through.
const maxCarriedYears = 20

// owner returns the organization and client that an assessment's corrections belong to. A new assessment that was
// created from a clone belongs to the clone's remote.
func (c *correctionClients) owner(assessment string) (correctionOwner, error) {
	if o, ok := c.known[assessment]; ok {
		return o, nil
	}
	var o correctionOwner
	var err error
	id := assessment
	if o.Assessment, err = store.Assessments.Get(c.tx, c.org, id); err != nil && !errors.Is(err, store.ErrNotFound) {
		return o, err
	}
	from := &o.Assessment
	for range maxCarriedYears {
		l, err := store.SyncLinks.Get(c.tx, c.org, id)
		if err == nil && l.Role == store.SyncRoleClone {
			o.remote = cmp.Or(l.RemoteOrganization, l.PeerID, l.AssessmentID)
			break
		}
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return o, err
		}
		if from.CarriedFrom == nil || from.CarriedFrom.AssessmentID == "" {
			break
		}
		id = from.CarriedFrom.AssessmentID
		earlier, err := store.Assessments.Get(c.tx, c.org, id)
		if errors.Is(err, store.ErrNotFound) {
			break
		}
		if err != nil {
			return o, err
		}
		from = &earlier
	}
	c.known[assessment] = o
	return o, nil
}

// areShared reports whether two assessments share corrections. They do unless they name different clients or belong to
// different organizations.
func (c *correctionClients) areShared(a, b string) (bool, error) {
	if a == b {
		return true, nil
	}
	x, err := c.owner(a)
	if err != nil {
		return false, err
	}
	y, err := c.owner(b)
	return x.remote == y.remote && x.MayBeSameClient(&y.Assessment), err
}

// readCorrections returns people's decisions about passages that apply to an assessment. If a decision on
// an item is being reset, it omits the corrections that resulted from that decision.
func (s *Service) readCorrections(ctx context.Context, a *api.Assessment, resetItemID string) (*reading.Corrections, error) {
	var all []reading.Correction
	org := a.OrganizationID
	err := s.db.View(ctx, func(tx *store.Tx) error {
		clients := newCorrectionClients(tx, org)
		var reset api.SoAItem
		if resetItemID != "" {
			var err error
			if reset, err = store.SoAItems.Get(tx, org, resetItemID); err != nil {
				return store.ToNotFound(err, api.GateSoA.Title()+" item", resetItemID)
			}
		}
		for c, err := range store.Corrections.Scan(tx, org) {
			if err != nil {
				return err
			}
			if isFromLine(&c) && c.AssessmentID == reset.AssessmentID && c.ControlCode == reset.ControlCode {
				continue
			}
			switch applies, err := clients.areShared(a.ID, c.AssessmentID); {
			case err != nil:
				return err
			case !applies:
				continue
			}
			all = append(all, reading.Correction{
				ID: c.ID, StatementID: c.StatementID, DocumentID: c.Passage.DocumentID, Passage: correctedPassage(&c),
				Label: reading.Label(c.Label), Confirms: c.Source == api.LineCorrected && c.Label == c.DraftedLabel,
				Words: c.Quote, By: c.DecidedBy.Name, Day: string(api.DateOf(c.CreatedAt)),
			})
		}
		return nil
	})
	if err != nil || len(all) == 0 {
		return nil, err
	}
	return reading.NewCorrections(all), nil
}

// isFromLine reports whether a correction results from a decision on an item of its assessment.
func isFromLine(c *api.Correction) bool { return c.Source == api.LineCorrected && c.CopiedFrom == nil }

// correctedPassage returns a correction's passage in the form that readers use.
func correctedPassage(c *api.Correction) reading.Passage {
	p := c.Passage
	return reading.Passage{Title: p.Title, Kind: p.Kind, Date: p.Date, HeadingPath: p.HeadingPath, Text: p.Text}
}

// readItemStatements returns the statements of an item's control, by their texts. It returns none if the catalog no longer has the
// control.
func (s *Service) readItemStatements(ctx context.Context, by api.Caller, itemID string) (map[string]reading.Statement, error) {
	var a api.Assessment
	var item api.SoAItem
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if item, err = store.SoAItems.Get(tx, by.OrganizationID, itemID); err != nil {
			return store.ToNotFound(err, api.GateSoA.Title()+" item", itemID)
		}
		a, err = getAssessment(tx, by, item.AssessmentID)
		return err
	})
	if err != nil {
		return nil, err
	}
	return s.controlStatements(ctx, &a, item.ControlCode)
}

func (s *Service) controlStatements(ctx context.Context, a *api.Assessment, code string) (map[string]reading.Statement, error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	c, err := snap.Control(code)
	if api.IsCode(err, api.CodeNotFound) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	out := map[string]reading.Statement{}
	for _, st := range judge.ReaderStatements(c) {
		out[st.Text] = st
	}
	return out, nil
}

// recordLineCorrections derives corrections of the passages quoted for an item from a person's
// decision on the item. Confirming a decision again changes nothing. Otherwise a decision replaces the
// corrections from an earlier decision on the item; they are kept in the edit, for undo. Nothing is
// recorded for API keys and workflows.
func recordLineCorrections(
	tx *store.Tx, by api.Caller, e *store.Edit, statements map[string]reading.Statement, before, after *api.SoAItem,
) error {
	isReview, isReset := false, false
	for _, f := range e.Lines[0].Fields {
		name, reset := cutResetPrefix(f)
		isReview, isReset = isReview || slices.Contains(api.ReviewFields, name), isReset || reset
	}
	confirmsAgain := before.IsStatusOverruled() && !isReset && !after.NeedsReview &&
		after.ImplementationStatus == before.ImplementationStatus && after.Applicability == before.Applicability
	if !isReview || !by.IsPerson() || confirmsAgain {
		return nil
	}
	var err error
	if e.ReplacedCorrections, err = deleteCorrections(tx, by.OrganizationID, isFromLine, after.AssessmentID, after.ControlCode); err != nil {
		return err
	}
	if !isReset {
		if err := addLineCorrections(tx, by, e, statements, before, after); err != nil {
			return err
		}
	}
	if len(e.ReplacedCorrections) == 0 {
		return nil
	}
	return store.Edits.Put(tx, by.OrganizationID, e)
}

// addLineCorrections adds the corrections that follow from a person's decision on an item. Confirming
// the item, or setting the drafted status, accepts the quotes; setting it to not evidenced rejects the
// supporting quotes. Other changes of the status don't show which passage was misread. Nothing is
// added beyond maxCorrections.
func addLineCorrections(
	tx *store.Tx, by api.Caller, e *store.Edit, statements map[string]reading.Statement, before, after *api.SoAItem,
) error {
	if !after.Applicability.IsApplicable() || !before.Applicability.IsApplicable() ||
		before.IsStatusOverruled() || after.NeedsReview {
		return nil
	}
	refuses := after.ImplementationStatus == api.NotEvidenced && before.ImplementationStatus != api.NotEvidenced
	if !refuses && after.ImplementationStatus != before.ImplementationStatus {
		return nil
	}
	head, err := soaType.getHeader(tx, by.OrganizationID, after.VersionID)
	if err != nil {
		return err
	}
	for _, st := range after.Statements {
		statement, known := statements[st.Text]
		if !known {
			continue
		}
		n := 0
		for _, ev := range after.Evidence {
			label := draftedLabel(&st, &ev)
			if label == "" || refuses && label != reading.States && label != reading.Part || n == maxStatementQuotesRecorded {
				continue
			}
			if !refuses && label == reading.Part && ev.Stance == "supports" {
				continue // it may support the statement in full, which is partial because of other passages
			}
			c := newCorrection(tx, by, after, statement, head.Method)
			c.Decision, c.Label, c.DraftedLabel = api.CorrectionAccepted, string(label), string(label)
			c.Source, c.EditID = api.LineCorrected, e.ID
			if refuses {
				c.Decision, c.Label = api.CorrectionRefused, string(reading.Silent)
			}
			if ok, err := setCorrectedPassage(tx, by, &c, ev.ChunkID, ev.Quote); err != nil {
				return err
			} else if !ok {
				continue
			}
			replaced, _, err := putCorrection(tx, by, &c)
			if err != nil {
				return err
			}
			for _, old := range replaced {
				if old.EditID != e.ID {
					e.ReplacedCorrections = append(e.ReplacedCorrections, old)
				}
			}
			n++
		}
	}
	return nil
}

// draftedLabel returns the label that a draft gave a quote for a statement. It returns "" if the
// quote isn't for the statement, or if its label is ambiguous.
func draftedLabel(st *api.Statement, ev *api.Evidence) reading.Label {
	if !strings.Contains(ev.Statement, st.Text) {
		return ""
	}
	switch {
	case ev.Stance == "supports" && st.Verdict == judge.VerdictCovered:
		return reading.States
	case (ev.Stance == "supports" || ev.Stance == "limits") && st.Verdict == judge.VerdictPartial: // it may fully support another statement
		return reading.Part
	case ev.Stance == "plans" && st.Verdict == judge.VerdictPlanned:
		return reading.Plans
	case ev.Stance == "denies" && (st.Verdict == judge.VerdictDenied || st.Verdict == judge.VerdictPlanned):
		return reading.Contradicts
	}
	return ""
}

func newCorrection(tx *store.Tx, by api.Caller, i *api.SoAItem, st reading.Statement, method string) api.Correction {
	return api.Correction{
		TenantRecord: newTenantRecord(tx, by), AssessmentID: i.AssessmentID, ControlCode: i.ControlCode, DomainCode: i.DomainCode,
		StatementID: st.ID(), StatementNumber: slices.IndexFunc(i.Statements, func(s api.Statement) bool { return s.Text == st.Text }) + 1,
		Topic: st.Topic, Statement: st.Text, Method: method, DecidedBy: by.Actor,
	}
}

// setCorrectedPassage sets the passage and the words of a correction. The words are quote or, if that is empty, the
// whole passage. It returns false if the passage no longer exists, is too long to keep or doesn't contain the words.
func setCorrectedPassage(tx *store.Tx, by api.Caller, c *api.Correction, chunkID, quote string) (bool, error) {
	p, err := evidence.ReadPassage(tx, by.OrganizationID, chunkID)
	if errors.Is(err, store.ErrNotFound) || err == nil && p.AssessmentID != c.AssessmentID {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	d, err := store.Documents.Get(tx, by.OrganizationID, p.DocumentID)
	if errors.Is(err, store.ErrNotFound) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	seen := toPassage(&p, &d.Document)
	text := seen.ForReader().Bounded()
	c.Passage = api.CorrectedPassage{
		ChunkID: p.ID, DocumentID: d.ID, Filename: d.Filename, Title: text.Title, Kind: text.Kind, Date: text.Date,
		HeadingPath: append([]string{}, text.HeadingPath...), Text: text.Text, SHA256: TextHash(text.Text),
	}
	if len(text.Text) > maxCorrectedPassage {
		return false, nil
	}
	c.Quote = reading.FindQuote(text.Text, cmp.Or(quote, text.Text))
	return c.Quote != "" && len(c.Quote) <= reading.MaxWordsBytes, nil
}

// putCorrection stores a correction in place of earlier ones on the same statement and passage, and returns the
// replaced corrections. It returns false, without storing anything, if there are too many corrections, or if an
// earlier one was made on the passage itself and the new one only follows from a decision on an item.
func putCorrection(tx *store.Tx, by api.Caller, c *api.Correction) (replaced []api.Correction, stored bool, err error) {
	replaced, n, err := findSamePassage(tx, by.OrganizationID, c)
	if err != nil {
		return nil, false, err
	}
	if c.Source == api.LineCorrected &&
		slices.ContainsFunc(replaced, func(old api.Correction) bool { return old.Source == api.PassageCorrected }) {
		return nil, false, nil
	}
	for _, old := range replaced {
		if err := store.Corrections.Delete(tx, by.OrganizationID, old.ID); err != nil {
			return nil, false, err
		}
	}
	total, err := store.Corrections.Count(tx, by.OrganizationID)
	if err != nil || total >= maxCorrections || n-len(replaced) >= maxCorrectionsPerPassage {
		return replaced, false, err
	}
	return replaced, true, store.Corrections.Insert(tx, by.OrganizationID, c)
}

// findSamePassage returns the stored corrections on the statement and passage of c, except those for other
// clients, and the number of all corrections on the statement and text, under any heading and for any client.
func findSamePassage(tx *store.Tx, org string, c *api.Correction) (same []api.Correction, ofText int, err error) {
	clients := newCorrectionClients(tx, org)
	for old, err := range store.Corrections.By("passage").Scan(tx, org, store.Prefix(c.StatementID, c.Passage.SHA256)) {
		if err != nil {
			return nil, 0, err
		}
		ofText++
		if !slices.Equal(old.Passage.HeadingPath, c.Passage.HeadingPath) {
			continue
		}
		switch shared, err := clients.areShared(old.AssessmentID, c.AssessmentID); {
		case err != nil:
			return nil, 0, err
		case shared:
			same = append(same, old)
		}
	}
	return same, ofText, nil
}

// deleteCorrections deletes the corrections of an assessment, or of one of its controls, for which
// matches returns true, and returns them.
func deleteCorrections(tx *store.Tx, org string, matches func(*api.Correction) bool, of ...any) (deleted []api.Correction, err error) {
	for c, err := range store.Corrections.By("assessment").Scan(tx, org, store.Prefix(of...)) {
		if err != nil {
			return nil, err
		}
		if matches(&c) {
			deleted = append(deleted, c)
		}
	}
	for _, c := range deleted {
		if err := store.Corrections.Delete(tx, org, c.ID); err != nil {
			return nil, err
		}
	}
	return deleted, nil
}

// undoLineCorrections deletes the corrections that resulted from an edit, because the edit is undone, and restores
// those that it had replaced, unless the passage has since been corrected again.
func undoLineCorrections(tx *store.Tx, by api.Caller, e *store.Edit) error {
	if e.Gate != api.GateSoA {
		return nil
	}
	isOfEdit := func(c *api.Correction) bool { return c.EditID == e.ID }
	if _, err := deleteCorrections(tx, by.OrganizationID, isOfEdit, e.AssessmentID); err != nil {
		return err
	}
	for _, c := range e.ReplacedCorrections {
		exists, err := store.Assessments.Has(tx, by.OrganizationID, c.AssessmentID)
		if err != nil {
			return err
		}
		since, _, err := findSamePassage(tx, by.OrganizationID, &c)
		if err != nil {
			return err
		}
		if !exists || len(since) > 0 {
			continue
		}
		if _, _, err := putCorrection(tx, by, &c); err != nil {
			return err
		}
	}
	return nil
}

// AddCorrection records a person's decision on what a passage shows about a requirement. Later drafts apply it.
func (s *Service) AddCorrection(ctx context.Context, by api.Caller, in *api.AddCorrectionInput) (*api.Correction, error) {
	b := in.Body
	switch {
	case by.AgentRunID != "" || by.Actor.Type == api.ActorWorkflow:
		return nil, api.Forbidden("only people can accept or refuse passages; agents and workflows can't")
	case b.Decision == api.CorrectionRefused && b.Label != "":
		return nil, api.Invalid("label", "a refused passage can't have a label; omit the label, or accept the passage")
	}
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	code := strings.ToUpper(strings.TrimSpace(b.ControlCode))
	statements, err := s.controlStatements(ctx, &a, code)
	if err != nil {
		return nil, err
	}
	var out api.Correction
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		head, item, err := newestSoAItem(tx, by, a.ID, code)
		if err != nil {
			return err
		}
		if len(item.Statements) < b.StatementNumber {
			return api.Invalid("statement_number", "%s has no requirement %d; it has %s in version %d",
				item.ControlCode, b.StatementNumber, prose.Count(len(item.Statements), "requirement", "requirements"), head.VersionNumber)
		}
		st := item.Statements[b.StatementNumber-1]
		statement, known := statements[st.Text]
		if !known {
			return api.Conflict("the catalog's requirements for %s have changed since version %d was drafted; "+
				"draft again", item.ControlCode,
				head.VersionNumber)
		}
		out = newCorrection(tx, by, item, statement, head.Method)
		drafted, quote := draftedReading(item, &st, b.ChunkID)
		out.Decision, out.Source, out.DraftedLabel = b.Decision, api.PassageCorrected, string(drafted)
		switch {
		case b.Decision == api.CorrectionRefused:
			out.Label = string(reading.Silent)
		case b.Label == "" && drafted != reading.Silent:
			out.Label = string(drafted)
		default:
			out.Label = cmp.Or(b.Label, string(reading.States))
		}
		switch ok, err := setCorrectedPassage(tx, by, &out, b.ChunkID, cmp.Or(strings.TrimSpace(b.Quote), quote)); {
		case err != nil:
			return err
		case ok:
		case out.Passage.ChunkID == "":
			return api.NotFound("passage", b.ChunkID)
		case len(out.Passage.Text) > maxCorrectedPassage:
			return api.Invalid("chunk_id", "the passage is longer than %d KiB; change the item instead", maxCorrectedPassage>>10)
		default:
			return api.Invalid("quote", "quote the passage verbatim, up to %d KiB", reading.MaxWordsBytes>>10)
		}
		if err := (reading.Reading{Label: reading.Label(out.Label), Words: quoteUnlessSilent(&out)}).Check(out.Passage.Text); err != nil {
			return api.Invalid("quote", "%v", err)
		}
		return recordCorrection(tx, by, &out, false)
	})
	return &out, err
}

// recordCorrection stores a correction that a person made, in place of earlier ones on the same statement and passage, and
// publishes the event.
func recordCorrection(tx *store.Tx, by api.Caller, c *api.Correction, offline bool) error {
	switch _, stored, err := putCorrection(tx, by, c); {
	case err != nil:
		return err
	case !stored:
		return api.Conflict("an organization can have up to %d corrections, and up to %d for the same requirement and text; "+
			"remove some that are no longer needed", maxCorrections, maxCorrectionsPerPassage)
	}
	e := audit.Event{
		Type: "correction.added", AssessmentID: c.AssessmentID,
		Summary:      fmt.Sprintf("%s a passage of %s for %s", c.Decision, c.Passage.Filename, c.ControlCode),
		ResourceType: "correction", ResourceID: c.ID,
		Data: map[string]any{
			"control_code": c.ControlCode, "statement_id": c.StatementID, "label": c.Label, "passage_sha256": c.Passage.SHA256,
		},
	}
	if offline {
		e.Summary, e.Data["offline"] = e.Summary+" offline", true
	}
	return audit.RecordAndPublishEvent(tx, by, e)
}

// quoteUnlessSilent returns a correction's quote, or "" if the correction states that the passage is not evidence.
func quoteUnlessSilent(c *api.Correction) string {
	if c.Label == string(reading.Silent) {
		return ""
	}
	return c.Quote
}

// newestSoAItem returns the newest version of an assessment's Statement of Applicability, and its
// item for a control.
func newestSoAItem(tx *store.Tx, by api.Caller, assessment, code string) (*api.DeliverableVersion, *api.SoAItem, error) {
	v, ok, err := soaType.newestVersion(tx, by.OrganizationID, assessment)
	if err != nil {
		return nil, nil, err
	}
	if !ok {
		return nil, nil, api.Conflict("there is no %s yet; draft it first", api.GateSoA.Title())
	}
	for i, err := range store.SoAItems.By("version").Scan(tx, by.OrganizationID, store.Prefix(v.ID, code)) {
		if err != nil || i.ControlCode == code {
			return &v.DeliverableVersion, &i, err
		}
	}
	return nil, nil, api.Invalid("control_code", "version %d of the %s has no item %q", v.VersionNumber, api.GateSoA.Title(), code)
}

// draftedReading returns the label that a draft gave a passage for a statement, and the quoted words. If the draft
// doesn't quote the passage for the statement, the label is reading.Silent.
func draftedReading(i *api.SoAItem, st *api.Statement, chunkID string) (reading.Label, string) {
	for _, ev := range i.Evidence {
		if ev.ChunkID == chunkID && strings.Contains(ev.Statement, st.Text) {
			return cmp.Or(draftedLabel(st, &ev), reading.Silent), ev.Quote
		}
	}
	return reading.Silent, ""
}

// ListCorrections lists an organization's corrections, latest first.
func (s *Service) ListCorrections(ctx context.Context, by api.Caller, in *api.CorrectionsInput) (*api.List[api.Correction], error) {
	repeated := map[string]bool{}
	if in.AssessmentID == "" {
		if err := s.db.View(ctx, func(tx *store.Tx) error { return addRepeatedCopies(tx, by.OrganizationID, repeated) }); err != nil {
			return nil, err
		}
	}
	query := store.PageQuery[api.Correction]{
		Reverse: true,
		Filter: store.FilterIf(api.HasFilters(in) || len(repeated) > 0, func(c *api.Correction) bool {
			return !repeated[c.ID] && (in.AssessmentID == "" || c.AssessmentID == in.AssessmentID) &&
				(in.ControlCode == "" || strings.EqualFold(c.ControlCode, in.ControlCode)) &&
				(in.Domain == "" || strings.EqualFold(c.DomainCode, in.Domain)) &&
				(in.Decision == "" || c.Decision == in.Decision) && (in.Source == "" || c.Source == in.Source)
		}),
	}
	if in.AssessmentID != "" && in.ControlCode != "" {
		query.Index, query.Prefix = "assessment", store.K(in.AssessmentID, strings.ToUpper(in.ControlCode))
	}
	l, err := store.List(ctx, s.db, store.Corrections, by.OrganizationID, in.Paging, query)
	if err != nil {
		return nil, err
	}
	return l, s.db.View(ctx, func(tx *store.Tx) error {
		for n := range l.Data {
			if err := markIfDocumentDeleted(tx, &l.Data[n]); err != nil {
				return err
			}
		}
		return nil
	})
}

// addRepeatedCopies adds the IDs of copied corrections that the organization also has as the original or as another copy,
// because it has several clones.
func addRepeatedCopies(tx *store.Tx, org string, repeated map[string]bool) error {
	seen := map[string]bool{}
	for c, err := range store.Corrections.Scan(tx, org) { // an original comes before its copies
		if err != nil {
			return err
		}
		original, _, _ := store.SplitCopiedCorrectionID(c.ID)
		repeated[c.ID] = seen[original]
		seen[original] = true
	}
	maps.DeleteFunc(repeated, func(_ string, is bool) bool { return !is })
	return nil
}

// listSameDecision returns the IDs of the other corrections that an organization has of the same decision: the original
// and its copies.
func listSameDecision(tx *store.Tx, org, id string) (same []string, err error) {
	original, _, _ := store.SplitCopiedCorrectionID(id)
	for c, err := range store.Corrections.Scan(tx, org) {
		if err != nil {
			return nil, err
		}
		if of, _, _ := store.SplitCopiedCorrectionID(c.ID); of == original && c.ID != id {
			same = append(same, c.ID)
		}
	}
	return same, nil
}

// markIfDocumentDeleted sets IsDocumentDeleted of a correction if its document no longer exists.
func markIfDocumentDeleted(tx *store.Tx, c *api.Correction) error {
	if c.CopiedFrom != nil { // the document is in another assessment of the remote
		return nil
	}
	exists, err := store.Documents.Has(tx, c.OrganizationID, c.Passage.DocumentID)
	c.IsDocumentDeleted = !exists
	return err
}

// GetCorrection returns a correction.
func (s *Service) GetCorrection(ctx context.Context, by api.Caller, in *api.CorrectionInput) (*api.Correction, error) {
	var c api.Correction
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if c, err = store.Corrections.Get(tx, by.OrganizationID, in.CorrectionID); err != nil {
			return store.ToNotFound(err, "correction", in.CorrectionID)
		}
		return markIfDocumentDeleted(tx, &c)
	})
	return &c, err
}

// RemoveCorrection deletes a correction, and the copies of it in clones of other assessments that the organization has.
// Earlier drafts are not changed.
func (s *Service) RemoveCorrection(ctx context.Context, by api.Caller, in *api.CorrectionInput) (*api.None, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		c, err := store.Corrections.Get(tx, by.OrganizationID, in.CorrectionID)
		if err != nil {
			return store.ToNotFound(err, "correction", in.CorrectionID)
		}
		if err := removeCorrection(tx, by, &c); err != nil {
			return err
		}
		same, err := listSameDecision(tx, by.OrganizationID, c.ID)
		if err != nil {
			return err
		}
		for _, id := range same {
			if err := store.Corrections.Delete(tx, by.OrganizationID, id); err != nil {
				return err
			}
		}
		return nil
	})
	return &api.None{}, err
}

func removeCorrection(tx *store.Tx, by api.Caller, c *api.Correction) error {
	return errors.Join(store.Corrections.Delete(tx, by.OrganizationID, c.ID), audit.RecordAndPublishEvent(tx, by, audit.Event{
		Type: "correction.removed", AssessmentID: c.AssessmentID,
		Summary:      fmt.Sprintf("removed a correction (%s %s a passage for %s)", c.DecidedBy.Name, c.Decision, c.ControlCode),
		ResourceType: "correction", ResourceID: c.ID, Data: map[string]any{"control_code": c.ControlCode, "statement_id": c.StatementID},
	}))
}
