package assessment

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

// An assessment can be created from an earlier one. Its scope and comments are copied; items that
// people decided on are stored as carried items, and the first draft of each deliverable applies
// them as if they were edits of a previous version. Carried items are copies, so that changing or
// deleting the earlier assessment later has no effect.

// carriedFrameworks looks up the frameworks of the earlier assessment in a catalog. It returns an error if one is
// missing there.
func carriedFrameworks(from, to *scf.Snapshot, source *api.Assessment) ([]string, error) {
	all, refs := merge.MatchFrameworks(from, to, source, nil)
	for _, f := range all {
		if f.Status == "missing" {
			return nil, api.Invalid(
				"framework_ids",
				"the framework %s of %q is not in catalog version %s; specify the frameworks of the new assessment",
				f.Code, source.Name, to.Version().Label,
			)
		}
	}
	return refs, nil
}

// carryFromEarlierAssessment copies people's decisions from an earlier assessment of the same organization into a new
// one.
func carryFromEarlierAssessment(tx *store.Tx, by api.Caller, a *api.Assessment, sourceID string, snap *scf.Snapshot) error {
	source, err := getAssessment(tx, by, sourceID)
	if err != nil {
		return err
	}
	origin := &api.CarriedFrom{AssessmentID: source.ID, Name: source.Name, Decisions: map[api.Gate]int{}, NotInCatalog: []string{}}
	a.CarriedFrom = origin
	if err := carryScope(tx, by, a, &source); err != nil {
		return err
	}
	c := carrier{tx: tx, by: by, from: &source, to: a, snap: snap}
	for _, carry := range []func() error{
		func() error {
			return storeCarriedItems(&c, soaType, func(i *api.SoAItem) bool { return len(i.EditedFields) > 0 })
		},
		func() error {
			return storeCarriedItems(&c, gapType, func(i *api.Finding) bool { return len(i.EditedFields) > 0 || i.Source == sourceManual })
		},
		func() error { // copies the levels of all controls, so that the next assessment shows changes
			return storeCarriedItems(&c, maturityType, func(*api.MaturityScore) bool { return true })
		},
		func() error {
			return storeCarriedItems(&c, poamType, func(i *api.POAMItem) bool { return i.Status != "completed" && i.Status != "cancelled" })
		},
	} {
		if err := carry(); err != nil {
			return err
		}
	}
	slices.Sort(origin.NotInCatalog)
	origin.NotInCatalog = slices.Compact(origin.NotInCatalog)
	origin.Comments, err = carryComments(tx, by, a, &source)
	return err
}

func carryScope(tx *store.Tx, by api.Caller, a, source *api.Assessment) error {
	sc, err := store.Scopes.By("assessment").Get(tx, by.OrganizationID, source.ID)
	if errors.Is(err, store.ErrNotFound) {
		return nil
	}
	if err != nil {
		return err
	}
	if sc.Title == source.Name {
		sc.Title = a.Name
	}
	if !slices.Contains(sc.EditedFields, "description") { // it describes the earlier documents; the next draft replaces it
		sc.Description = ""
	}
	maps.DeleteFunc(sc.Traits, func(_ string, t api.Trait) bool { return t.Source != "user" })
	sc.TenantRecord, sc.AssessmentID, sc.Status, sc.VersionNumber = newTenantRecord(tx, by), a.ID, api.VersionDraft, 1
	sc.CreatedBy, sc.ApprovedBy, sc.ApprovedAt, sc.Revision = by.Actor.Name, nil, nil, 1
	return saveScope(tx, by, &sc, "scope.changed", "carried from "+source.Name)
}

// carrier holds the arguments that all calls of storeCarriedItems share.
type carrier struct {
	tx       *store.Tx
	by       api.Caller
	from, to *api.Assessment
	snap     *scf.Snapshot // of the new assessment
}

// storeCarriedItems stores the items of a deliverable's newest version for which isWanted returns true, and counts those that
// people decided on.
func storeCarriedItems[V, I any](c *carrier, k deliverableType[V, I], isWanted func(*I) bool) error {
	v, ok, err := k.newestVersion(c.tx, c.by.OrganizationID, c.from.ID)
	if err != nil || !ok {
		return err
	}
	_, approved, err := k.approvedVersion(c.tx, c.from)
	if err != nil {
		return err
	}
	items, err := k.readItems(c.tx, c.by.OrganizationID, k.version(&v).ID)
	if err != nil {
		return err
	}
	if items, err = k.addItemsOfOtherFrameworks(c.tx, c.from, &v, items); err != nil {
		return err
	}
	number := 0
	for n := range items {
		i := &items[n]
		it := k.item(i)
		if !isWanted(i) {
			continue
		}
		decided := len(it.EditedFields) > 0 || k.gate == api.GatePOAM || k.originKey != nil && k.originKey(i) != ""
		if decided {
			c.to.CarriedFrom.Decisions[k.gate]++
			it.Carried = carriedMark(c.from, it, k.evidenceOf(i))
			if _, err := c.snap.Control(it.ControlCode); err != nil {
				c.to.CarriedFrom.NotInCatalog = append(c.to.CarriedFrom.NotInCatalog, it.ControlCode)
			}
		}
		text, err := json.Marshal(i)
		if err != nil {
			return fmt.Errorf("carrying %s: %w", it.ControlCode, err)
		}
		number++
		if err := store.CarriedItems.Insert(c.tx, c.by.OrganizationID, &store.CarriedItem{
			OrganizationID: c.by.OrganizationID, AssessmentID: c.to.ID, Gate: k.gate, Number: number,
			Approved: approved, Item: text,
		}); err != nil {
			return err
		}
	}
	return nil
}

// addItemsOfOtherFrameworks returns the items of the newest version, plus items of controls that it lacks because
// their framework was removed. It finds them in the newest version for each set of frameworks, and among the items
// carried into this assessment.
func (k deliverableType[V, I]) addItemsOfOtherFrameworks(tx *store.Tx, a *api.Assessment, newest *V, items []I) ([]I, error) {
	if k.gate == api.GatePOAM {
		return items, nil
	}
	seen := map[string]bool{}
	add := func(more []I) {
		for n := range more {
			if code := k.item(&more[n]).ControlCode; !seen[code] && len(k.item(&more[n]).EditedFields) > 0 {
				items = append(items, more[n])
			}
		}
		for n := range more {
			seen[k.item(&more[n]).ControlCode] = true
		}
	}
	for n := range items {
		seen[k.item(&items[n]).ControlCode] = true
	}
	frameworks := map[string]bool{k.version(newest).Inputs["frameworks"]: true}
	var older []string
	for v, err := range k.versions.By("assessment").Scan(tx, a.OrganizationID, store.Prefix(a.ID), store.Reverse) {
		if err != nil {
			return nil, err
		}
		if in := k.version(&v).Inputs["frameworks"]; !frameworks[in] {
			frameworks[in], older = true, append(older, k.version(&v).ID)
		}
	}
	for _, id := range older {
		more, err := k.readItems(tx, a.OrganizationID, id)
		if err != nil {
			return nil, err
		}
		add(more)
	}
	more, _, err := k.loadCarried(tx, a)
	if err == nil {
		add(more)
	}
	return items, err
}

// evidenceOf returns the evidence of an item, or nil if the deliverable's items have no evidence.
func (k deliverableType[V, I]) evidenceOf(i *I) []api.Evidence {
	if k.evidence == nil {
		return nil
	}
	return k.evidence(i)
}

// carriedMark returns the mark that an item gets when it is carried over. A decision that was already carried before,
// and hasn't been confirmed since, keeps its original source.
func carriedMark(from *api.Assessment, it *api.Item, evidence []api.Evidence) *api.Carried {
	if it.Carried != nil && it.Carried.ConfirmedBy == "" {
		return it.Carried
	}
	quotes := []string{}
	for _, e := range evidence {
		quotes = append(quotes, e.Quote)
	}
	return &api.Carried{
		AssessmentID: from.ID, Assessment: from.Name, By: stringOrEmpty(it.EditedBy),
		Fields: append([]string{}, it.EditedFields...), Quotes: quotes,
	}
}

// carryComments copies the comments, with their authors and times.
func carryComments(tx *store.Tx, by api.Caller, a, source *api.Assessment) (int, error) {
	var all []api.Comment
	for c, err := range store.Comments.By("assessment").Scan(tx, by.OrganizationID, store.Prefix(source.ID)) {
		if err != nil {
			return 0, err
		}
		all = append(all, c)
	}
	ids := map[string]string{}
	for _, c := range all {
		at, old := c.CreatedAt, c.ID
		c.TenantRecord, c.AssessmentID, c.ApprovalID = newTenantRecord(tx, by), a.ID, nil
		c.CreatedAt, ids[old] = at, c.ID
		if c.CarriedFrom == "" {
			c.CarriedFrom = source.Name
		}
		if c.ReplyTo != nil {
			to := ids[*c.ReplyTo]
			c.ReplyTo = &to
		}
		if err := store.Comments.Insert(tx, by.OrganizationID, &c); err != nil {
			return 0, err
		}
	}
	return len(all), nil
}

// loadCarried returns the carried items of a deliverable, and those that were approved in the earlier assessment.
func (k deliverableType[V, I]) loadCarried(tx *store.Tx, a *api.Assessment) (items, approved []I, err error) {
	if a.CarriedFrom == nil {
		return nil, nil, nil
	}
	for c, err := range store.CarriedItems.Scan(tx, a.OrganizationID, store.Prefix(a.ID, string(k.gate))) {
		if err != nil {
			return nil, nil, err
		}
		i, err := k.decodeCarried(c.Item)
		if err != nil {
			return nil, nil, err
		}
		if items = append(items, i); c.Approved {
			approved = append(approved, i)
		}
	}
	return items, approved, nil
}

func (k deliverableType[V, I]) decodeCarried(item json.RawMessage) (i I, err error) {
	if err := json.Unmarshal(item, &i); err != nil {
		return i, api.Invalid("item", "an item of the %s that was carried over can't be read: %v", k.gate.Title(), err)
	}
	return i, k.validateItem(&i)
}

// ValidateCarried returns an error unless an item that was carried over at another installation is valid for its
// deliverable.
func ValidateCarried(c *store.CarriedItem) error {
	k, ok := deliverables[c.Gate]
	if !ok {
		return api.Invalid("gate", "unknown gate %.40q", c.Gate)
	}
	return k.validateCarried(c.Item)
}

func (k deliverableType[V, I]) validateCarried(item json.RawMessage) error {
	_, err := k.decodeCarried(item)
	return err
}

// restsOnEvidence reports whether the edited fields include a decision based on evidence, unlike
// owners, dates and notes.
func restsOnEvidence(fields []string) bool {
	return slices.ContainsFunc(fields, func(f string) bool {
		return !slices.Contains([]string{"owner", "note", "due_date", "target_level", "inclusion_reasons"}, f)
	})
}

// markCarriedIfEvidenceChanged flags a decision that was carried over from an earlier assessment if its evidence has
// changed since the decision was made. evidence is the evidence in the new draft.
func markCarriedIfEvidenceChanged(it *api.Item, evidence []api.Evidence) {
	if it.Carried == nil {
		return
	}
	mark := *it.Carried // the mark may be shared with the previous version
	mark.EvidenceChanged = mark.ConfirmedBy == "" && restsOnEvidence(it.EditedFields) && !haveSameQuotes(mark.Quotes, evidence)
	it.Carried = &mark
}

// haveSameQuotes reports whether the evidence contains exactly these quotes. The order and the file
// names don't matter.
func haveSameQuotes(quotes []string, evidence []api.Evidence) bool {
	set := func(texts []string) []string {
		for n, t := range texts {
			texts[n] = scf.CollapseSpaces(t)
		}
		slices.Sort(texts)
		return slices.Compact(texts)
	}
	now := make([]string, len(evidence))
	for n, e := range evidence {
		now[n] = e.Quote
	}
	return slices.Equal(set(slices.Clone(quotes)), set(now))
}

// confirmCarried records that a person has reviewed a carried decision again, by changing or
// confirming fields that are based on evidence.
func confirmCarried(it *api.Item, by string, fields []string) {
	if it.Carried == nil || !restsOnEvidence(fields) {
		return
	}
	mark := *it.Carried
	mark.ConfirmedBy, mark.EvidenceChanged = by, false
	it.Carried = &mark
}
