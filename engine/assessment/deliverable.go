package assessment

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// deliverableType describes one of the four deliverables: its tables, and functions that access the
// common parts of its versions and items. Code shared by all four is built on it.
type deliverableType[V, I any] struct {
	gate     api.Gate
	versions *store.TenantTable[V]
	items    *store.TenantTable[I]
	version  func(*V) *api.DeliverableVersion
	item     func(*I) *api.Item
	// evidence returns the evidence of an item; nil if the deliverable's items have none.
	evidence func(*I) []api.Evidence
	// clearIDs removes IDs and marks that aren't content from the fields specific to this kind of item.
	clearIDs func(*I)
	// originKey distinguishes items of the same control across versions; nil if there is only one per control.
	originKey func(*I) string
	// legacyKey identifies items without an origin by their content.
	legacyKey func(*I) string
	// recount recomputes the counts and marks in an item received from another installation, which
	// can't be trusted; summarize sets the fields of a version that are derived from its items.
	// Either may be nil.
	recount   func(*I)
	summarize func(*V, []I)
	// clearApproved clears the marks of an item that are resolved by approving it; nil if there are none.
	clearApproved func(*I)
	// copyDecision copies a field that a user edited, with the fields that depend on it.
	copyDecision func(to, from *I, field string)
	// draftedState is the lifecycle state in which the deliverable is a draft.
	draftedState api.State
	// validateItem returns an error if an edit has made the item invalid.
	validateItem func(*I) error
	// checkSubmittable returns an error if the items can't be submitted yet; nil if they always can.
	checkSubmittable func([]I) error
}

var (
	soaType = deliverableType[api.SoAVersion, api.SoAItem]{
		gate: api.GateSoA, versions: store.SoAVersions, items: store.SoAItems,
		version:  func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:     func(i *api.SoAItem) *api.Item { return &i.Item },
		evidence: func(i *api.SoAItem) []api.Evidence { return i.Evidence },
		clearIDs: func(i *api.SoAItem) {
			i.Evidence, i.Statements = evidenceWithoutIDs(i.Evidence), slices.Clone(i.Statements)
			for n := range i.Statements {
				i.Statements[n].ChunkID = ""
				i.Statements[n].Corrections = slices.Clone(i.Statements[n].Corrections)
				for c := range i.Statements[n].Corrections {
					i.Statements[n].Corrections[c].ChunkID, i.Statements[n].Corrections[c].CorrectionID = "", ""
				}
			}
			clearReliance(i)
		},
		recount: correctReliedOnDocuments,
		summarize: func(v *api.SoAVersion, items []api.SoAItem) {
			v.Reliance, v.ReviewCount = judge.CountReliance(items), judge.CountUnreviewed(items)
			v.LinesOnRepeatedQuote = 0
			if v.IsReadByModel() {
				for _, n := range judge.ItemsOnRepeatedQuotes(items) {
					if !judge.IsReviewed(&items[n]) {
						v.LinesOnRepeatedQuote++
					}
				}
			}
		},
		clearApproved:    func(i *api.SoAItem) { i.ChangedByDocument, i.ChangedFrom = "", "" },
		copyDecision:     copySoADecision,
		draftedState:     api.StateSoADrafted,
		validateItem:     validateSoAItem,
		checkSubmittable: checkSoASubmittable,
	}
	gapType = deliverableType[api.GapVersion, api.Finding]{
		gate:         api.GateGapAnalysis,
		versions:     store.GapVersions,
		items:        store.Findings,
		version:      func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:         func(i *api.Finding) *api.Item { return &i.Item },
		evidence:     func(i *api.Finding) []api.Evidence { return i.Evidence },
		clearIDs:     func(i *api.Finding) { i.Evidence, i.OriginID = evidenceWithoutIDs(i.Evidence), "" },
		originKey:    (*api.Finding).ManualOriginKey,
		copyDecision: copyFindingField,
		draftedState: api.StateGapAnalysisDrafted,
		validateItem: validateFinding,
	}
	maturityType = deliverableType[api.MaturityVersion, api.MaturityScore]{
		gate:     api.GateMaturity,
		versions: store.MaturityVersions,
		items:    store.MaturityScores,
		version:  func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:     func(i *api.MaturityScore) *api.Item { return &i.Item },
		evidence: func(i *api.MaturityScore) []api.Evidence { return i.Evidence },
		clearIDs: func(i *api.MaturityScore) { i.Evidence = evidenceWithoutIDs(i.Evidence) },
		copyDecision: func(to, from *api.MaturityScore, field string) {
			if copyScoreField(to, from, field); field == "level" {
				to.Criteria, to.NextCriteria = from.Criteria, from.NextCriteria
			}
		},
		draftedState: api.StateMaturityAssessed,
		validateItem: validateScore,
	}
	poamType = deliverableType[api.POAMVersion, api.POAMItem]{
		gate:         api.GatePOAM,
		versions:     store.POAMVersions,
		items:        store.POAMItems,
		version:      func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:         func(i *api.POAMItem) *api.Item { return &i.Item },
		clearIDs:     func(i *api.POAMItem) { i.FindingID, i.FindingOrigin = "", "" },
		originKey:    poamOriginKey,
		legacyKey:    func(i *api.POAMItem) string { return i.Weakness },
		copyDecision: copyPOAMField,
		draftedState: api.StatePOAMDrafted,
		validateItem: validatePOAMItem,
	}
)

// deliverables maps each gate to its deliverable.
var deliverables = map[api.Gate]deliverable{
	api.GateSoA: soaType, api.GateGapAnalysis: gapType, api.GateMaturity: maturityType, api.GatePOAM: poamType,
}

// deliverable is the part of the four deliverables' interface that doesn't depend on their record types.
type deliverable interface {
	SyncedDeliverable
	newestHeader(tx *store.Tx, org, assessment string) (*api.DeliverableVersion, error)
	currentHeader(tx *store.Tx, a *api.Assessment) (*api.DeliverableVersion, error)
	approvedOrNewestHeader(tx *store.Tx, a *api.Assessment) (*api.DeliverableVersion, error)
	getHeader(tx *store.Tx, org, version string) (*api.DeliverableVersion, error)
	isEarlyDraft(a *api.Assessment, head *api.DeliverableVersion) bool
	findControlCode(tx *store.Tx, org, version, ref string) (string, error)
	readItemRecords(tx *store.Tx, org, version string) (merge.Records, error)
	hashItemsJSON(items []byte, recorded string) (string, error)
	ensureSubmitted(ctx context.Context, s *Service, by api.Caller, a *api.Assessment, inAdvance bool) error
	resubmitEdited(ctx context.Context, s *Service, by api.Caller, a *api.Assessment) error
	requireCurrentContentApproved(tx *store.Tx, a *api.Assessment) error
	applyDecision(tx *store.Tx, by api.Caller, a *api.Assessment, p *api.Approval) error
	validateCarried(item json.RawMessage) error
	collectEditedControls(tx *store.Tx, a *api.Assessment, controls map[string]bool) error
	findUnapprovedNewest(tx *store.Tx, a *api.Assessment) (*api.Outdated, error)
	deleteVersionsKeepingItems(tx *store.Tx, org, assessment string) ([]string, error)
	undo(tx *store.Tx, cache *hashCache, by api.Caller, a *api.Assessment, e *store.Edit, dryRun, skipEdited bool) (*api.EditResult, error)
}

// inputPrefixes maps each gate to the prefix of the keys under which dependent versions record
// which version of its deliverable they are based on.
var inputPrefixes = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity"}

// toInputEntries returns the entries that record version v as an input of another deliverable.
func (k deliverableType[V, I]) toInputEntries(v *V) map[string]string {
	key, head := inputPrefixes[k.gate], k.version(v)
	return map[string]string{key + "_version_id": head.ID, key + "_sha256": head.ContentSHA256, key + "_status": string(head.Status)}
}

// newestVersion returns the version with the highest number; ok is false if there is none.
func (k deliverableType[V, I]) newestVersion(tx *store.Tx, org, assessment string) (v V, ok bool, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(assessment), store.Reverse) {
		return v, err == nil, err
	}
	return v, false, nil
}

// newestHeader returns the common fields of the version with the highest number, or nil if there is
// none.
func (k deliverableType[V, I]) newestHeader(tx *store.Tx, org, assessment string) (*api.DeliverableVersion, error) {
	v, ok, err := k.newestVersion(tx, org, assessment)
	if !ok || err != nil {
		return nil, err
	}
	return k.version(&v), nil
}

// currentVersion returns the newest version or, if that is a draft with the same content as the approved version, the
// approved one: an approval covers content, so such a draft needs no other approval. ok is false if there is no
// version.
func (k deliverableType[V, I]) currentVersion(tx *store.Tx, a *api.Assessment) (current V, ok bool, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return current, false, err
		}
		if !ok {
			current, ok = v, true
		}
		draft, head := k.version(&current), k.version(&v)
		switch {
		case draft.Status != api.VersionDraft, a.MigratedAt != nil && head.CreatedAt.Before(*a.MigratedAt):
			return current, true, nil
		case head.Status == api.VersionApproved && head.ContentSHA256 == draft.ContentSHA256:
			return v, true, nil
		case head.Status == api.VersionApproved, head.Status == api.VersionRejected && head.ContentSHA256 == draft.ContentSHA256:
			return current, true, nil
		}
	}
	return current, ok, nil
}

// currentHeader returns the common fields of the version that currentVersion returns, or nil if there is none.
func (k deliverableType[V, I]) currentHeader(tx *store.Tx, a *api.Assessment) (*api.DeliverableVersion, error) {
	v, ok, err := k.currentVersion(tx, a)
	if !ok || err != nil {
		return nil, err
	}
	return k.version(&v), nil
}

// readCurrent returns the version that currentVersion returns, and its items. The version is nil if there is none.
func (k deliverableType[V, I]) readCurrent(tx *store.Tx, a *api.Assessment) (current *V, items []I, _ error) {
	v, ok, err := k.currentVersion(tx, a)
	if err != nil || !ok {
		return nil, nil, err
	}
	items, err = k.readItems(tx, a.OrganizationID, k.version(&v).ID)
	return &v, items, err
}

// readNewest returns the version with the highest number and its items. The version is nil if there is
// none.
func (k deliverableType[V, I]) readNewest(tx *store.Tx, org, assessment string) (newest *V, newestItems []I, _ error) {
	v, ok, err := k.newestVersion(tx, org, assessment)
	if err != nil || !ok {
		return nil, nil, err
	}
	items, err := k.readItems(tx, org, k.version(&v).ID)
	return &v, items, err
}

// saveVersionAndArtifact stores a version and updates its artifact.
func (k deliverableType[V, I]) saveVersionAndArtifact(tx *store.Tx, by api.Caller, v *V) error {
	return errors.Join(
		k.versions.Put(tx, by.OrganizationID, v),
		recordArtifact(tx, by, string(k.gate), k.gate.Title(), k.version(v)),
	)
}

// approvedVersion returns the newest approved version; ok is false if there is none. Versions from
// before the assessment was moved to another catalog don't count.
func (k deliverableType[V, I]) approvedVersion(tx *store.Tx, a *api.Assessment) (v V, ok bool, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return v, false, err
		}
		if a.MigratedAt != nil && k.version(&v).CreatedAt.Before(*a.MigratedAt) {
			break
		}
		if k.version(&v).Status == api.VersionApproved {
			return v, true, nil
		}
	}
	return v, false, nil
}

// approvedOrNewestVersion returns the version that the next deliverable is based on: the approved one
// or, if none is approved, the newest.
func (k deliverableType[V, I]) approvedOrNewestVersion(tx *store.Tx, a *api.Assessment) (version V, found bool, _ error) {
	if v, ok, err := k.approvedVersion(tx, a); ok || err != nil {
		return v, ok, err
	}
	return k.newestVersion(tx, a.OrganizationID, a.ID)
}

// approvedOrNewestHeader returns the common fields of the version that approvedOrNewestVersion returns,
// or nil if nothing has been drafted.
func (k deliverableType[V, I]) approvedOrNewestHeader(tx *store.Tx, a *api.Assessment) (*api.DeliverableVersion, error) {
	v, ok, err := k.approvedOrNewestVersion(tx, a)
	if !ok || err != nil {
		return nil, err
	}
	return k.version(&v), nil
}

// getHeader returns the fields of a version that all deliverables have in common.
func (k deliverableType[V, I]) getHeader(tx *store.Tx, org, version string) (*api.DeliverableVersion, error) {
	v, err := k.versions.Get(tx, org, version)
	return k.version(&v), err
}

// requireApprovedOrNewest is like approvedOrNewestVersion but returns a conflict error if nothing has
// been drafted.
func (k deliverableType[V, I]) requireApprovedOrNewest(tx *store.Tx, a *api.Assessment) (V, error) {
	v, ok, err := k.approvedOrNewestVersion(tx, a)
	if err == nil && !ok {
		err = api.Conflict("there is no %s yet; draft it first", k.gate.Title())
	}
	return v, err
}

// readApprovedOrNewest returns the version that requireApprovedOrNewest selects, with its items.
func readApprovedOrNewest[V, I any](
	ctx context.Context,
	s *Service,
	a *api.Assessment,
	k deliverableType[V, I],
) (v V, items []I, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		if v, err = k.requireApprovedOrNewest(tx, a); err != nil {
			return err
		}
		items, err = k.readItemsCached(tx, s, a, k.version(&v).ID)
		return err
	})
	return v, items, err
}

func (k deliverableType[V, I]) getVersion(tx *store.Tx, org, id string) (V, error) {
	v, err := k.versions.Get(tx, org, id)
	return v, store.ToNotFound(err, k.gate.Title()+" version", id)
}

// readItems reads a version's items, sorted by control code.
func (k deliverableType[V, I]) readItems(tx *store.Tx, org, version string) (out []I, err error) {
	for i, err := range k.items.By("version").Scan(tx, org, store.Prefix(version)) {
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

// deleteVersionsKeepingItems deletes the versions of an assessment and returns their IDs. Their
// items stay in the store, but can no longer be found.
func (k deliverableType[V, I]) deleteVersionsKeepingItems(tx *store.Tx, org, assessment string) (ids []string, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return nil, err
		}
		ids = append(ids, k.version(&v).ID)
	}
	for _, id := range ids {
		if err := k.versions.Delete(tx, org, id); err != nil {
			return nil, err
		}
	}
	return ids, nil
}

// evidenceWithoutIDs returns a copy of the evidence without record IDs, leaving file, location,
// quote and passage hash to identify it.
func evidenceWithoutIDs(all []api.Evidence) []api.Evidence {
	all = slices.Clone(all)
	for n := range all {
		all[n].ChunkID, all[n].DocumentID = "", ""
	}
	return all
}

// draft holds the content of a new version.
type draft[I any] struct {
	items []I
	// mergePrevious applies users' edits from the previous version to the items, which contain only
	// rule-generated values before; nil if there are no edits.
	mergePrevious  func(*draft[I], *previousVersion[I])
	previous       *previousVersion[I] // the version whose edits were applied
	method         string
	inputs         map[string]string
	editedControls []string
	// isCopy is set if the items are copies from the previous version, including edits.
	isCopy bool
	// skipIfUnchanged keeps the newest version if the draft's content and inputs are the same.
	skipIfUnchanged bool
	// encoded holds the items if they have already been encoded, or nil.
	encoded []store.PreparedRecord[I]
}

// insertNextVersion stores a draft as the next version, and marks the previous version as
// superseded unless a decision was made on it.
func (k deliverableType[V, I]) insertNextVersion(tx *store.Tx, by api.Caller, a *api.Assessment, d draft[I]) (V, error) {
	v, _, err := k.insertNextVersionReturningItems(tx, by, a, d)
	return v, err
}

// insertNextVersionReturningItems is like insertNextVersion and also returns the stored items, sorted by control
// code.
func (k deliverableType[V, I]) insertNextVersionReturningItems(
	tx *store.Tx,
	by api.Caller,
	a *api.Assessment,
	d draft[I],
) (v V, lines []*store.EncodedRecord[I], err error) {
	org := by.OrganizationID
	number := 1
	old, ok, err := k.newestVersion(tx, org, a.ID)
	if err != nil {
		return v, nil, err
	}
	if ok {
		number = k.version(&old).VersionNumber + 1
		if err := k.supersedeUnlessDecided(tx, by, a, &old); err != nil {
			return v, nil, err
		}
	}
	if d.encoded == nil {
		var previous []*store.EncodedRecord[I]
		if ok && len(d.items) > 0 {
			if previous, err = store.ScanEncoded(tx, k.items.By("version"), org, nil, k.version(&old).ID); err != nil {
				return v, nil, err
			}
		}
		if d.encoded, err = k.encodeItems(tx.Context(), d.items, previous); err != nil {
			return v, nil, err
		}
	}
	head := k.version(&v)
	*head = api.DeliverableVersion{
		TenantRecord: newTenantRecord(tx, by), AssessmentID: a.ID, VersionNumber: number, Status: api.VersionDraft,
		CreatedBy: by.Actor.Name, GeneratedByAgentRunID: agentRunID(by), Inputs: d.inputs, Method: d.method, Kept: d.editedControls,
	}
	if ok && (d.isCopy || len(d.editedControls) > 0) {
		head.AuthorIDs = slices.Clone(k.version(&old).AuthorIDs)
	}
	for n := range d.items {
		it := k.item(&d.items[n])
		it.TenantRecord, it.AssessmentID, it.VersionID = newTenantRecord(tx, by), a.ID, head.ID
		it.Revision = max(1, it.Revision)
	}
	// Items are written and hashed in the order in which they are read: by code, then by ID.
	slices.SortFunc(d.encoded, func(a, b store.PreparedRecord[I]) int {
		return cmp.Or(
			strings.Compare(k.item(a.Record).ControlCode, k.item(b.Record).ControlCode),
			strings.Compare(k.item(a.Record).ID, k.item(b.Record).ID),
		)
	})
	items, hashes := make([]I, len(d.encoded)), make([]itemHash, len(d.encoded))
	for n, r := range d.encoded {
		items[n], hashes[n] = *r.Record, itemHash(r.Extra)
	}
	if head.ContentSHA256, err = k.contentHash(tx, items, hashes); err != nil {
		return v, nil, err
	}
	if lines, err = store.InsertPrepared(tx, k.items, org, d.encoded); err != nil {
		return v, nil, err
	}
	head.ItemCount = len(lines)
	if k.summarize != nil {
		k.summarize(&v, d.items)
	}
	return v, lines, errors.Join(k.versions.Insert(tx, org, &v), recordArtifact(tx, by, string(k.gate), k.gate.Title(), head),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: string(k.gate) + ".drafted", AssessmentID: a.ID,
			Summary:      fmt.Sprintf("drafted %s version %d: %s", k.gate.Title(), number, prose.Count(head.ItemCount, "item", "items")),
			ResourceType: string(k.gate),
			ResourceID:   head.ID, Data: map[string]any{"version_number": number, "content_sha256": head.ContentSHA256},
		}))
}

// supersedeUnlessDecided marks a version as superseded by a newer one, unless it was approved or
// rejected. If the version is under review, it is withdrawn first.
func (k deliverableType[V, I]) supersedeUnlessDecided(tx *store.Tx, by api.Caller, a *api.Assessment, v *V) error {
	head := k.version(v)
	if head.Status != api.VersionDraft && head.Status != api.VersionUnderReview {
		return nil
	}
	if head.Status == api.VersionUnderReview {
		if err := k.withdrawFromReview(tx, by, a, v, "a newer version was drafted"); err != nil {
			return err
		}
	}
	head.Status, head.UpdatedAt = api.VersionSuperseded, tx.Now()
	return k.saveVersionAndArtifact(tx, by, v)
}

// withdrawFromReview takes a version out of review because its content is about to change. It voids the
// pending approval and returns the assessment to the drafted state.
func (k deliverableType[V, I]) withdrawFromReview(tx *store.Tx, by api.Caller, a *api.Assessment, v *V, reason string) error {
	head := k.version(v)
	if err := voidPendingApprovals(tx, by, head.ID, reason); err != nil {
		return err
	}
	head.Status, head.SubmittedAt, head.ApprovalID, head.UpdatedAt = api.VersionDraft, nil, nil, tx.Now()
	if err := k.saveVersionAndArtifact(tx, by, v); err != nil {
		return err
	}
	if gate, drafted, ok := a.State.ReviewGate(); ok && gate == k.gate {
		return returnToDraft(tx, by, a, drafted, eventReopened, reason)
	}
	return nil
}

// statusChange returns the implementation status before and after a change of an SoA item, or nil
// for other items. ExportReaderDecisions reports these values.
func statusChange(before, after any) map[string]any {
	from, is := before.(*api.SoAItem)
	if !is {
		return nil
	}
	return map[string]any{"status_before": from.ImplementationStatus, "status_after": after.(*api.SoAItem).ImplementationStatus}
}

// addAuthor adds the caller to the people who edited the version's items.
func addAuthor(head *api.DeliverableVersion, by api.Caller) {
	if by.UserID != "" && !slices.Contains(head.AuthorIDs, by.UserID) {
		head.AuthorIDs = append(head.AuthorIDs, by.UserID)
	}
}

// markEdited records who changed which fields of an item.
func markEdited(now time.Time, by api.Caller, it *api.Item, fields []string) {
	it.Revision++
	it.UpdatedAt = now
	it.EditedBy = &by.Actor.Name
	confirmCarried(it, by.Actor.Name, fields)
	for _, f := range fields {
		if back, is := cutResetPrefix(f); is {
			it.EditedFields = slices.DeleteFunc(it.EditedFields, func(e string) bool { return e == back })
			continue
		}
		if !it.IsManual(f) {
			it.EditedFields = append(it.EditedFields, f)
		}
	}
	slices.Sort(it.EditedFields)
	if len(it.EditedFields) == 0 {
		it.EditedBy = nil // all values are automatic again
	}
}

// resetPrefix precedes the name of a field that a user resets to its automatic value.
const resetPrefix = "-"

// cutResetPrefix returns the name of the field to reset, or false if name doesn't request a reset.
func cutResetPrefix(name string) (field string, isReset bool) {
	return strings.CutPrefix(name, resetPrefix)
}

// addResets adds the edited fields that are to be reset to their automatic values. The name "all" stands
// for every edited field.
func (f *changedFields) addResets(it *api.Item, names []string) error {
	if slices.Contains(names, "all") {
		names = it.EditedFields
	}
	for _, name := range names {
		if !it.IsManual(name) {
			return api.Invalid(
				"reset",
				"%q of %s has no manual value to reset; fields with a manual value: %s",
				name,
				it.ControlCode,
				cmp.Or(strings.Join(it.EditedFields, ", "), "nothing"),
			)
		}
		if slices.Contains(*f, name) {
			return api.Invalid("reset", "%s of %s can't be set and reset at once; choose one", name, it.ControlCode)
		}
		*f = append(*f, resetPrefix+name)
	}
	return nil
}

// copyToNextVersion copies an approved or rejected version to a new version. It returns the new
// version and its copies of the given items, or a conflict error if a newer version already exists.
func (k deliverableType[V, I]) copyToNextVersion(
	tx *store.Tx,
	by api.Caller,
	a *api.Assessment,
	from V,
	of []I,
) (v V, copies []I, err error) {
	org, head := by.OrganizationID, k.version(&from)
	newest, _, err := k.newestVersion(tx, org, a.ID)
	if err != nil {
		return v, nil, err
	}
	if n := k.version(&newest); n.ID != head.ID {
		return v, nil, api.Conflict(
			"version %d of the %s is %s and can't be changed; edit the item in version %d",
			head.VersionNumber,
			k.gate.Title(),
			head.Status,
			n.VersionNumber,
		)
	}
	items, err := k.readItems(tx, org, head.ID)
	if err != nil {
		return v, nil, err
	}
	index := make(map[string]int, len(items))
	for n := range items {
		index[k.item(&items[n]).ID] = n
	}
	places := make([]int, len(of))
	for n := range of {
		places[n] = index[k.item(&of[n]).ID]
	}
	if head.Status == api.VersionApproved && k.clearApproved != nil {
		for n := range items {
			k.clearApproved(&items[n])
		}
	}
	v, err = k.insertNextVersion(
		tx,
		by,
		a,
		draft[I]{items: items, method: head.Method, inputs: head.Inputs, editedControls: head.Kept, isCopy: true},
	)
	for _, n := range places {
		copies = append(copies, items[n])
	}
	return v, copies, err
}

// listVersions lists the versions of an assessment, newest first.
func listVersions[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	in *api.AssessmentListInput,
) (*api.List[V], error) {
	if _, err := s.readAssessment(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return store.List(
		ctx,
		s.db,
		k.versions,
		by.OrganizationID,
		in.Paging,
		store.PageQuery[V]{Index: "assessment", Prefix: store.K(in.AssessmentID), Reverse: true},
	)
}

func getVersion[V, I any](ctx context.Context, s *Service, by api.Caller, k deliverableType[V, I], versionID string) (*V, error) {
	var v V
	err := s.db.View(ctx, func(tx *store.Tx) (err error) { v, err = k.getVersion(tx, by.OrganizationID, versionID); return err })
	return &v, err
}

// getItem returns an item of a deliverable; noun names the item in error messages.
func getItem[V, I any](ctx context.Context, s *Service, by api.Caller, k deliverableType[V, I], noun, itemID string) (*I, error) {
	var i I
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if i, err = k.items.Get(tx, by.OrganizationID, itemID); err == nil { // an item whose version doesn't exist is being deleted
			_, err = k.versions.Get(tx, by.OrganizationID, k.item(&i).VersionID)
		}
		return store.ToNotFound(err, noun, itemID)
	})
	if err != nil {
		return nil, err
	}
	one := []I{i}
	return &one[0], markFormerOwners(ctx, s, by.OrganizationID, one)
}

// listItems returns a page of a version's items. It caches pages, because clients often request the
// same ones and decoding long records is slow. cacheKey must contain everything that the filter
// matches depends on.
func listItems[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	versionID string,
	cacheKey any,
	p api.Paging,
	sort string,
	order []store.SortBy[I],
	matches func(*I) bool,
) (*api.List[I], error) {
	name := fmt.Sprintf("%q %q %q %q %#v %#v", k.items.Name(), by.OrganizationID, versionID, sort, p, cacheKey)
	page, err := s.itemPages.GetOrCompute(name, func() (any, error) {
		if _, err := getVersion(ctx, s, by, k, versionID); err != nil {
			return nil, err
		}
		page, err := store.SortedList(
			ctx,
			s.db,
			k.items,
			by.OrganizationID,
			p,
			sort,
			order,
			store.PageQuery[I]{Index: "version", Prefix: store.K(versionID), Filter: matches},
		)
		api.ReplaceNilCollections(page) // done before caching, so that later readers don't modify the shared page
		return page, err
	})
	if err != nil {
		return nil, err
	}
	out := *page.(*api.List[I])
	out.Data = slices.Clone(out.Data)
	return &out, markFormerOwners(ctx, s, by.OrganizationID, out.Data)
}

// agentRunID returns the ID of the agent run that is drafting, or nil if a person is.
func agentRunID(by api.Caller) *string {
	if by.AgentRunID == "" {
		return nil
	}
	return &by.AgentRunID
}
