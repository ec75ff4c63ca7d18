package assessment

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/store"
)

// deliverableType is one of the four deliverables: its tables, and how to reach the shared
// part of its versions and items. What all four do alike is written once, here.
type deliverableType[V, I any] struct {
	gate     api.Gate
	versions *store.TenantTable[V]
	items    *store.TenantTable[I]
	version  func(*V) *api.DeliverableVersion
	item     func(*I) *api.Item
	// clearIDs takes out of an item's own fields the ids that say nothing of its content.
	clearIDs func(*I)
	// originKey tells apart the items that one control can have several of, in every version; nil: one each.
	originKey func(*I) string
	// legacyKey is for items from before origins were noted: what is the same says the same.
	legacyKey func(*I) string
	// draftedState is the lifecycle state in which the deliverable is a draft.
	draftedState api.State
	// validateItem refuses an item that no hand may leave behind.
	validateItem func(*I) error
}

var (
	soa = deliverableType[api.SoAVersion, api.SoAItem]{
		gate: api.GateSoA, versions: store.SoAVersions, items: store.SoAItems,
		version: func(v *api.SoAVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:    func(i *api.SoAItem) *api.Item { return &i.Item },
		clearIDs: func(i *api.SoAItem) {
			i.Evidence, i.Statements = evidenceWithoutIDs(i.Evidence), slices.Clone(i.Statements)
			for n := range i.Statements {
				i.Statements[n].ChunkID = ""
			}
		}, originKey: nil, legacyKey: nil, draftedState: api.StateSoADrafted, validateItem: validateSoAItem,
	}
	gap = deliverableType[api.GapVersion, api.Finding]{
		gate: api.GateGapAnalysis, versions: store.GapVersions, items: store.Findings,
		version:  func(v *api.GapVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:     func(i *api.Finding) *api.Item { return &i.Item },
		clearIDs: func(i *api.Finding) { i.Evidence, i.OriginID = evidenceWithoutIDs(i.Evidence), "" }, originKey: (*api.Finding).Origin, legacyKey: nil, draftedState: api.StateGapAnalysisDrafted, validateItem: validateFinding,
	}
	maturity = deliverableType[api.MaturityVersion, api.MaturityScore]{
		gate: api.GateMaturity, versions: store.MaturityVersions, items: store.MaturityScores,
		version:  func(v *api.MaturityVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:     func(i *api.MaturityScore) *api.Item { return &i.Item },
		clearIDs: func(i *api.MaturityScore) { i.Evidence = evidenceWithoutIDs(i.Evidence) }, originKey: nil, legacyKey: nil, draftedState: api.StateMaturityAssessed, validateItem: validateScore,
	}
	poam = deliverableType[api.POAMVersion, api.POAMItem]{
		gate: api.GatePOAM, versions: store.POAMVersions, items: store.POAMItems,
		version:   func(v *api.POAMVersion) *api.DeliverableVersion { return &v.DeliverableVersion },
		item:      func(i *api.POAMItem) *api.Item { return &i.Item },
		clearIDs:  func(i *api.POAMItem) { i.FindingID, i.FindingOrigin = "", "" },
		originKey: planOriginKey, legacyKey: func(i *api.POAMItem) string { return i.Weakness }, draftedState: api.StatePOAMDrafted, validateItem: validatePOAMItem,
	}
)

// inputPrefixes begin the names by which versions note, among their inputs, what they are made from.
var inputPrefixes = map[api.Gate]string{api.GateSoA: "soa", api.GateGapAnalysis: "gap", api.GateMaturity: "maturity"}

// inputRefs is how a version is noted where another is made from it.
func (k deliverableType[V, I]) inputRefs(v *V) map[string]string {
	key, head := inputPrefixes[k.gate], k.version(v)
	return map[string]string{key + "_version_id": head.ID, key + "_sha256": head.ContentSHA256, key + "_status": string(head.Status)}
}

// newestVersion is the version with the highest number; false where there is none.
func (k deliverableType[V, I]) newestVersion(tx *store.Tx, org, assessment string) (v V, ok bool, err error) {
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(assessment), store.Reverse) {
		return v, err == nil, err
	}
	return v, false, nil
}

// approvedVersion is the newest approved version; false where there is none. One from before
// the assessment moved to another catalog is about that other catalog, and does not count.
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

// basisVersion is what the next deliverable builds on: the approved version, else the newest.
func (k deliverableType[V, I]) basisVersion(tx *store.Tx, a *api.Assessment) (V, bool, error) {
	if v, ok, err := k.approvedVersion(tx, a); ok || err != nil {
		return v, ok, err
	}
	return k.newestVersion(tx, a.OrganizationID, a.ID)
}

// requireBasis is the basis; a conflict where nothing was drafted yet.
func (k deliverableType[V, I]) requireBasis(tx *store.Tx, a *api.Assessment) (V, error) {
	v, ok, err := k.basisVersion(tx, a)
	if err == nil && !ok {
		err = api.Conflict("there is no %s yet; draft it first", k.gate.Title())
	}
	return v, err
}

// readBasis is the basis with its items.
func readBasis[V, I any](ctx context.Context, s *Service, a *api.Assessment, k deliverableType[V, I]) (v V, items []I, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		if v, err = k.requireBasis(tx, a); err != nil {
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

// readItems lists a version's items by control code.
func (k deliverableType[V, I]) readItems(tx *store.Tx, org, version string) (out []I, err error) {
	for i, err := range k.items.By("version").Scan(tx, org, store.Prefix(version)) {
		if err != nil {
			return nil, err
		}
		out = append(out, i)
	}
	return out, nil
}

func (k deliverableType[V, I]) countNewestItems(tx *store.Tx, org, assessment string) (int, error) {
	v, ok, err := k.newestVersion(tx, org, assessment)
	if !ok || err != nil {
		return 0, err
	}
	return k.items.By("version").Count(tx, org, k.version(&v).ID)
}

func (k deliverableType[V, I]) purgeVersions(tx *store.Tx, org, assessment string) error {
	var ids []string
	for v, err := range k.versions.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		ids = append(ids, k.version(&v).ID)
	}
	for _, id := range ids {
		items, err := k.readItems(tx, org, id)
		if err != nil {
			return err
		}
		for _, i := range items {
			if err := k.items.Delete(tx, org, k.item(&i).ID); err != nil {
				return err
			}
		}
		if err := k.versions.Delete(tx, org, id); err != nil {
			return err
		}
	}
	return nil
}

// evidenceWithoutIDs is evidence without ids: file, place, quote and the passage's hash name it.
func evidenceWithoutIDs(all []api.Evidence) []api.Evidence {
	all = slices.Clone(all)
	for n := range all {
		all[n].ChunkID, all[n].DocumentID = "", ""
	}
	return all
}

// contentHash is the SHA-256 over the items in canonical form: by control code,
// without ids, revisions and times, so that the same content has the same hash,
// also in another assessment of the same documents.
func (k deliverableType[V, I]) contentHash(items []I) (string, error) {
	h := sha256.New()
	for _, i := range items {
		b, err := k.canonicalJSON(i)
		if err != nil {
			return "", err
		}
		h.Write(b)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}

// canonicalJSON is an item in canonical form.
func (k deliverableType[V, I]) canonicalJSON(i I) ([]byte, error) {
	it := k.item(&i)
	it.TenantRecord, it.AssessmentID, it.VersionID, it.ControlID, it.Revision = api.TenantRecord{}, "", "", "", 0
	k.clearIDs(&i)
	b, err := json.Marshal(i)
	if err != nil {
		return nil, fmt.Errorf("hashing the %s: %w", k.gate.Title(), err)
	}
	return append(b, '\n'), nil
}

// recomputeHash recomputes a version's count and hash from its items.
func (k deliverableType[V, I]) recomputeHash(tx *store.Tx, org string, v *V) error {
	items, err := k.readItems(tx, org, k.version(v).ID)
	if err != nil {
		return err
	}
	k.version(v).ItemCount = len(items)
	k.version(v).ContentSHA256, err = k.contentHash(items)
	return err
}

// draft is what a new version is made of.
type draft[I any] struct {
	items []I
	// mergePrevious brings into the items what people did in the version before; nil: nothing. Until
	// then they are what the rules say.
	mergePrevious  func(*draft[I], *previousVersion[I])
	previous       *previousVersion[I] // what it was brought in from
	method         string
	inputs         map[string]string
	editedControls []string
	// isCopy: the items are those of the version before, edits and all.
	isCopy bool
	// skipIfUnchanged: where it says what the newest version says, of the same inputs, that one stands.
	skipIfUnchanged bool
	// encoded are the items, encoded ahead; nil where they are not yet.
	encoded []store.PreparedRecord[I]
}

// insertVersion writes the next version with its items and supersedes the unapproved one before it.
func (k deliverableType[V, I]) insertVersion(tx *store.Tx, by api.Caller, a *api.Assessment, d draft[I]) (V, error) {
	v, _, err := k.writeVersion(tx, by, a, d)
	return v, err
}

// writeVersion is add, and returns the items as they are stored and in the order of their codes.
func (k deliverableType[V, I]) writeVersion(
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
		if err := k.supersedeVersion(tx, by, a, &old); err != nil {
			return v, nil, err
		}
	}
	if d.encoded == nil {
		if d.encoded, err = k.encodeItems(tx.Context(), d.items, nil); err != nil {
			return v, nil, err
		}
	}
	head := k.version(&v)
	*head = api.DeliverableVersion{
		TenantRecord: tenantRecord(tx, by), AssessmentID: a.ID, VersionNumber: number, Status: api.VersionDraft,
		CreatedBy: by.Actor.Name, GeneratedByAgentRunID: agentRunID(by), Inputs: d.inputs, Method: d.method, Kept: d.editedControls,
	}
	if ok && (d.isCopy || len(d.editedControls) > 0) {
		head.AuthorIDs = slices.Clone(k.version(&old).AuthorIDs)
	}
	for n := range d.items {
		it := k.item(&d.items[n])
		it.TenantRecord, it.AssessmentID, it.VersionID = tenantRecord(tx, by), a.ID, head.ID
		it.Revision = max(1, it.Revision)
	}
	// They are written and hashed as they will be read: by code, and by id where codes are alike.
	slices.SortFunc(d.encoded, func(a, b store.PreparedRecord[I]) int {
		return cmp.Or(
			strings.Compare(k.item(a.Record).ControlCode, k.item(b.Record).ControlCode),
			strings.Compare(k.item(a.Record).ID, k.item(b.Record).ID),
		)
	})
	h := sha256.New()
	var hashed sync.WaitGroup
	hashed.Go(func() {
		for _, r := range d.encoded {
			h.Write(r.Extra)
		}
	})
	lines, err = store.InsertPrepared(tx, k.items, org, d.encoded)
	hashed.Wait()
	if err != nil {
		return v, nil, err
	}
	head.ItemCount, head.ContentSHA256 = len(lines), hex.EncodeToString(h.Sum(nil))
	return v, lines, errors.Join(k.versions.Insert(tx, org, &v), recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *head),
		audit.PublishEvent(tx, by, audit.Event{
			Type: string(k.gate) + ".drafted", AssessmentID: a.ID,
			Summary: fmt.Sprintf("drafted %s version %d: %d items", k.gate.Title(), number, head.ItemCount), ResourceType: string(k.gate),
			ResourceID: head.ID, Data: map[string]any{"version_number": number, "content_sha256": head.ContentSHA256},
		}))
}

// supersedeVersion supersedes a version that a newer one follows; a decided one stays what it is.
func (k deliverableType[V, I]) supersedeVersion(tx *store.Tx, by api.Caller, a *api.Assessment, v *V) error {
	head := k.version(v)
	if head.Status != api.VersionDraft && head.Status != api.VersionUnderReview {
		return nil
	}
	if head.Status == api.VersionUnderReview {
		if err := k.reopenVersion(tx, by, a, v, "a newer version was drafted"); err != nil {
			return err
		}
	}
	head.Status, head.UpdatedAt = api.VersionSuperseded, tx.Now()
	return errors.Join(k.versions.Put(tx, by.OrganizationID, v), recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *head))
}

// reopenVersion takes a version out of review because its content changes: the pending
// approval is void, and the assessment goes back to its drafted state.
func (k deliverableType[V, I]) reopenVersion(tx *store.Tx, by api.Caller, a *api.Assessment, v *V, reason string) error {
	head := k.version(v)
	if err := voidApprovals(tx, by, head.ID, reason); err != nil {
		return err
	}
	head.Status, head.SubmittedAt, head.ApprovalID, head.UpdatedAt = api.VersionDraft, nil, nil, tx.Now()
	if err := errors.Join(k.versions.Put(tx, by.OrganizationID, v), recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *head)); err != nil {
		return err
	}
	if gate, drafted, ok := a.State.ReviewGate(); ok && gate == k.gate {
		return returnToDraft(tx, by, a, drafted, eventReopened, reason)
	}
	return nil
}

// editItem changes one item by a person's hand, and answers the item as it then is.
// An item of an approved or rejected version is copied, with the rest, into the
// next version first.
func editItem[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	id string,
	m api.Match,
	change func(*I) ([]string, error),
) (*I, error) {
	var out I
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		org := by.OrganizationID
		item, err := k.items.Get(tx, org, id)
		if err != nil {
			return store.ToNotFound(err, k.gate.Title()+" item", id)
		}
		a, err := getAssessment(tx, by, k.item(&item).AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if err := checkIfMatch(m, k.item(&item).Revision); err != nil {
			return err
		}
		v, err := k.getVersion(tx, org, k.item(&item).VersionID)
		if err != nil {
			return err
		}
		tried := item
		fields, err := change(&tried)
		if err == nil && (k.version(&v).Status != api.VersionDraft || k.item(&item).AreManual(fields)) {
			fields, err = changedFieldNames(&item, &tried, fields)
		}
		if err != nil || len(fields) == 0 {
			out = item
			return err // wrong, or no change: nothing to reopen
		}
		if err := k.validateItem(&tried); err != nil {
			return err
		}
		switch head := k.version(&v); head.Status {
		case api.VersionUnderReview:
			err = k.reopenVersion(tx, by, &a, &v, "changed while under review, by "+by.Actor.Name)
		case api.VersionApproved, api.VersionRejected:
			v, item, err = k.copyToNextVersion(tx, by, &a, v, item)
		case api.VersionSuperseded:
			err = api.Conflict(
				"version %d of the %s was superseded; change the item in the newest version",
				head.VersionNumber,
				k.gate.Title(),
			)
		}
		if err != nil {
			return err
		}
		if fields, err = change(&item); err != nil {
			return err
		}
		recordEdit(tx, by, k.item(&item), fields)
		addAuthor(k.version(&v), by)
		if err := errors.Join(k.items.Put(tx, org, &item), k.recomputeHash(tx, org, &v)); err != nil {
			return err
		}
		k.version(&v).UpdatedAt = tx.Now()
		out = item
		return errors.Join(k.versions.Put(tx, org, &v), recordArtifact(tx, by, a.ID, string(k.gate), k.gate.Title(), *k.version(&v)),
			k.auditItemChange(tx, by, k.item(&item), fields, false))
	})
	return &out, err
}

// auditItemChange tells that a person changed fields of an item.
func (k deliverableType[V, I]) auditItemChange(tx *store.Tx, by api.Caller, it *api.Item, fields []string, offline bool) error {
	var named []string
	for _, f := range fields {
		named = append(named, displayName(strings.TrimPrefix(f, resetPrefix)))
	}
	data := map[string]any{"control_code": it.ControlCode, "fields": fields}
	if offline {
		data["offline"] = true
	}
	return audit.RecordEvent(tx, by, audit.Event{
		Type: string(k.gate) + ".item_changed", AssessmentID: it.AssessmentID,
		Summary:      fmt.Sprintf("changed %s in the %s: %s", it.ControlCode, k.gate.Title(), strings.Join(named, ", ")),
		ResourceType: string(k.gate) + "_item", ResourceID: it.ID, Data: data,
	})
}

// addAuthor notes who has written lines of a version by hand.
func addAuthor(head *api.DeliverableVersion, by api.Caller) {
	if by.UserID != "" && !slices.Contains(head.AuthorIDs, by.UserID) {
		head.AuthorIDs = append(head.AuthorIDs, by.UserID)
	}
}

// recordEdit notes who changed which fields of an item.
func recordEdit(tx *store.Tx, by api.Caller, it *api.Item, fields []string) {
	it.Revision++
	it.UpdatedAt = tx.Now()
	it.EditedBy = &by.Actor.Name
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
		it.EditedBy = nil // the rules' again
	}
}

// resetPrefix marks a field that a person gives back to the rules.
const resetPrefix = "-"

// cutResetPrefix is the field that a name gives back; false where it gives none back.
func cutResetPrefix(name string) (string, bool) { return strings.CutPrefix(name, resetPrefix) }

// addResets notes the edited fields that are given back to the rules; "all" is each of them.
func (f *changedFields) addResets(it *api.Item, names []string) error {
	if slices.Contains(names, "all") {
		names = it.EditedFields
	}
	for _, name := range names {
		if !it.IsManual(name) {
			return api.Invalid(
				"reset",
				"people didn't set %q of %s; they set: %s",
				name,
				it.ControlCode,
				cmp.Or(strings.Join(it.EditedFields, ", "), "nothing"),
			)
		}
		if slices.Contains(*f, name) {
			return api.Invalid("reset", "%s of %s is set and handed back at once; do one of them", name, it.ControlCode)
		}
		*f = append(*f, resetPrefix+name)
	}
	return nil
}

// copyToNextVersion copies a decided version into the next one, and returns the copy with
// the copy of item. It refuses where a newer version is there already.
func (k deliverableType[V, I]) copyToNextVersion(
	tx *store.Tx,
	by api.Caller,
	a *api.Assessment,
	from V,
	item I,
) (v V, copied I, err error) {
	org, head := by.OrganizationID, k.version(&from)
	newest, _, err := k.newestVersion(tx, org, a.ID)
	if err != nil {
		return v, copied, err
	}
	if n := k.version(&newest); n.ID != head.ID {
		return v, copied, api.Conflict(
			"version %d of the %s is %s and does not change; change the item in version %d",
			head.VersionNumber,
			k.gate.Title(),
			head.Status,
			n.VersionNumber,
		)
	}
	items, err := k.readItems(tx, org, head.ID)
	if err != nil {
		return v, copied, err
	}
	at := slices.IndexFunc(items, func(i I) bool { return k.item(&i).ID == k.item(&item).ID })
	if v, err = k.insertVersion(tx, by, a, draft[I]{items: items, method: head.Method, inputs: head.Inputs, editedControls: head.Kept, isCopy: true}); err != nil {
		return v, copied, err
	}
	return v, items[at], nil
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

func getVersion[V, I any](ctx context.Context, s *Service, by api.Caller, k deliverableType[V, I], id string) (*V, error) {
	var v V
	err := s.db.View(ctx, func(tx *store.Tx) (err error) { v, err = k.getVersion(tx, by.OrganizationID, id); return err })
	return &v, err
}

// getItem is one item, what it is called being noun.
func getItem[V, I any](ctx context.Context, s *Service, by api.Caller, k deliverableType[V, I], noun, id string) (*I, error) {
	var i I
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		i, err = k.items.Get(tx, by.OrganizationID, id)
		return store.ToNotFound(err, noun, id)
	})
	return &i, err
}

// listItems is a page of a version's items. asked is all that keep goes by: the page is
// kept under it, since many read the same few and each is decoded from long records.
func listItems[V, I any](
	ctx context.Context,
	s *Service,
	by api.Caller,
	k deliverableType[V, I],
	id string,
	cacheKey any,
	p api.Paging,
	sort string,
	order []store.SortBy[I],
	matches func(*I) bool,
) (*api.List[I], error) {
	name := fmt.Sprintf("%q %q %q %q %#v %#v", k.items.Name(), by.OrganizationID, id, sort, p, cacheKey)
	page, err := s.itemPages.Get(name, func() (any, error) {
		if _, err := getVersion(ctx, s, by, k, id); err != nil {
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
			store.PageQuery[I]{Index: "version", Prefix: store.K(id), Filter: matches},
		)
		api.NeverNull(page) // whoever reads it afterwards has nothing left to write
		return page, err
	})
	if err != nil {
		return nil, err
	}
	out := *page.(*api.List[I])
	out.Data = slices.Clone(out.Data)
	return &out, nil
}

// agentRunID is the run that drafts for a person; nil where the person does.
func agentRunID(by api.Caller) *string {
	if by.AgentRunID == "" {
		return nil
	}
	return &by.AgentRunID
}
