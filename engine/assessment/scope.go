package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/assessment/merge"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/engine/judge/reading"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// ensureScopeTraits creates or completes the scope from the evidence. A submitted or approved scope is
// left unchanged.
func (s *Service) ensureScopeTraits(ctx context.Context, by api.Caller, a *api.Assessment) error {
	scope, err := s.readScope(ctx, by, a.ID)
	if err != nil && !api.IsCode(err, api.CodeNotFound) {
		return err
	}
	drafted := !slices.ContainsFunc(api.TraitNames, func(name string) bool { _, there := scope.Traits[name]; return !there })
	if err == nil && (drafted || scope.Status != api.VersionDraft) {
		return nil
	}
	return s.draftScope(ctx, by, a)
}

// draftScope detects the organization's traits from the evidence, without changing values that users set.
func (s *Service) draftScope(ctx context.Context, by api.Caller, a *api.Assessment) error {
	traits, documents, err := s.detectTraits(ctx, by, a.ID, "")
	if err != nil {
		return err
	}
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return err
	}
	against, nameByCode := []string{}, frameworkNames(snap)
	for _, code := range a.Frameworks {
		against = append(against, cmp.Or(nameByCode[code], code))
	}
	_, err = s.createOrChangeScope(ctx, by, a.ID, "", api.Match{}, func(sc *api.Scope) error {
		if sc.Description == "" {
			sc.Description = fmt.Sprintf(
				"Assessment of the organization against %s, based on %s.",
				cmp.Or(prose.JoinAnd(against), "the whole catalog"),
				prose.Count(documents, "document", "documents"),
			)
		}
		for name, t := range traits {
			if old, ok := sc.Traits[name]; !ok || old.Source != "user" {
				sc.Traits[name] = t
			}
		}
		return nil
	})
	return err
}

// refreshTraits detects traits again with a chosen reader, without changing what users set or a scope that is submitted or
// approved.
func (s *Service) refreshTraits(ctx context.Context, by api.Caller, assessment, reader string) error {
	scope, err := s.readScope(ctx, by, assessment)
	switch {
	case api.IsCode(err, api.CodeNotFound):
		return nil // traits are detected when the scope is drafted
	case err != nil || scope.Status != api.VersionDraft:
		return err
	}
	found, _, err := s.detectTraits(ctx, by, assessment, reader)
	if err != nil {
		return err
	}
	changed := map[string]api.Trait{}
	for name, old := range scope.Traits {
		if now := found[name]; old.Source != "user" && now.Value != "" && (now.Value != old.Value || now.Reason != old.Reason) {
			changed[name] = now
		}
	}
	if len(changed) == 0 {
		return nil
	}
	_, err = s.createOrChangeScope(ctx, by, assessment, "", api.Match{}, func(sc *api.Scope) error {
		for name, t := range changed {
			if sc.Traits[name].Source != "user" {
				sc.Traits[name] = t
			}
		}
		return nil
	})
	return err
}

// traitCandidates returns the passages that a reader would read to detect traits.
func (s *Service) traitCandidates(ctx context.Context, by api.Caller, assessment string) ([]judge.Candidates, error) {
	finder, _, err := s.openFinder(ctx, by, assessment)
	if err != nil {
		return nil, err
	}
	return judge.TraitCandidates(ctx, finder)
}

// detectTraits returns each trait as detected from the documents, and the number of documents. If
// reader is "", it uses the reader of the newest Statement of Applicability.
func (s *Service) detectTraits(
	ctx context.Context,
	by api.Caller,
	assessment, reader string,
) (_ map[string]api.Trait, documents int, _ error) {
	finder, documents, err := s.openFinder(ctx, by, assessment)
	if err != nil {
		return nil, 0, err
	}
	stored, err := s.findReader(ctx, by.OrganizationID, assessment, reader)
	if err != nil {
		return nil, 0, err
	}
	var read reading.Reader
	if stored != nil {
		read = stored
	}
	traits, err := judge.DetectTraits(ctx, finder, read)
	return traits, documents, err
}

// openFinder opens a search of an assessment's documents and returns their number. Without passages, it doesn't wait
// until the search is trained.
func (s *Service) openFinder(ctx context.Context, by api.Caller, assessment string) (_ judge.Finder, documents int, _ error) {
	var docs []api.Document
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		docs, err = documentsInTx(tx, by.OrganizationID, assessment)
		return err
	})
	if err != nil {
		return nil, 0, err
	}
	if !slices.ContainsFunc(docs, func(d api.Document) bool { return d.ChunkCount > 0 }) {
		return emptyFinder{}, len(docs), nil
	}
	session, err := s.evidence.OpenSession(ctx, by, assessment)
	if err != nil {
		return nil, 0, err
	}
	return sessionSearcher{session}, len(session.Documents), nil
}

// emptyFinder finds nothing.
type emptyFinder struct{}

func (emptyFinder) Find(context.Context, string, int) ([]judge.Passage, error) { return nil, nil }

func (s *Service) readScope(ctx context.Context, by api.Caller, assessment string) (sc api.Scope, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) (err error) {
		if _, err := getAssessment(tx, by, assessment); err != nil {
			return err
		}
		sc, err = store.Scopes.By("assessment").Get(tx, by.OrganizationID, assessment)
		return store.ToNotFound(err, "scope of assessment", assessment)
	})
	return sc, err
}

// GetAssessmentScope returns the scope of an assessment.
func (s *Service) GetAssessmentScope(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.Scope, error) {
	sc, err := s.readScope(ctx, by, in.AssessmentID)
	return &sc, err
}

// GetScope returns a scope.
func (s *Service) GetScope(ctx context.Context, by api.Caller, in *api.ScopeInput) (*api.Scope, error) {
	var sc api.Scope
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		sc, err = store.Scopes.Get(tx, by.OrganizationID, in.ScopeID)
		return store.ToNotFound(err, "scope", in.ScopeID)
	})
	return &sc, err
}

// PutScope creates or updates the scope of an assessment.
func (s *Service) PutScope(ctx context.Context, by api.Caller, in *api.PutScopeInput) (*api.Scope, error) {
	change, err := s.newScopeChange(ctx, by, in.AssessmentID, in.Body)
	if err != nil {
		return nil, err
	}
	return s.createOrChangeScope(ctx, by, in.AssessmentID, "", api.Match{}, change)
}

// UpdateScope changes the given fields of a scope.
func (s *Service) UpdateScope(ctx context.Context, by api.Caller, in *api.UpdateScopeInput) (*api.Scope, error) {
	sc, err := s.GetScope(ctx, by, &in.ScopeInput)
	if err != nil {
		return nil, err
	}
	change, err := s.newScopeChange(ctx, by, sc.AssessmentID, in.Body)
	if err != nil {
		return nil, err
	}
	return s.createOrChangeScope(ctx, by, "", in.ScopeID, in.Match, change)
}

// newScopeChange returns a function that applies a user's change to a scope. The values of traits to be
// reset are detected from the documents beforehand.
func (s *Service) newScopeChange(ctx context.Context, by api.Caller, assessment string, b api.ScopeBody) (func(*api.Scope) error, error) {
	set := manualScopeChange(b)
	if len(b.Reset) == 0 {
		return set, nil
	}
	for name := range b.Traits {
		if slices.Contains(b.Reset, name) || slices.Contains(b.Reset, "all") {
			return nil, api.Invalid("reset", "the trait %s can't be set and reset at once; choose one", name)
		}
	}
	if _, err := s.readAssessment(ctx, by, assessment); err != nil {
		return nil, err
	}
	found, _, err := s.detectTraits(ctx, by, assessment, "")
	return func(sc *api.Scope) error {
		if err := set(sc); err != nil {
			return err
		}
		return resetTraits(sc, b.Reset, found)
	}, err
}

// resetTraits replaces the values of traits that users set with the detected ones; the name "all" stands
// for every such trait.
func resetTraits(sc *api.Scope, names []string, detected map[string]api.Trait) error {
	byPeople := []string{}
	for name, t := range sc.Traits {
		if t.Source == "user" {
			byPeople = append(byPeople, name)
		}
	}
	slices.Sort(byPeople)
	if slices.Contains(names, "all") {
		names = byPeople
	}
	for _, name := range names {
		if !slices.Contains(byPeople, name) {
			return api.Invalid(
				"reset",
				"the trait %s has no manual value to reset; traits with a manual value: %s",
				name,
				cmp.Or(strings.Join(byPeople, ", "), "none"),
			)
		}
		sc.Traits[name] = detected[name]
		sc.EditedFields = slices.DeleteFunc(sc.EditedFields, func(f string) bool { return f == "traits."+name })
	}
	return nil
}

// documentsDisagree introduces the end of a trait's reason, which states what the documents say if a user set another
// value.
const documentsDisagree = "; the documents say "

// differingDocumentedValue returns the value of a trait according to the documents if it differs from the value that a
// user set, and "" otherwise.
func differingDocumentedValue(t api.Trait) string {
	if t.Source == "evidence" && t.Value != "unknown" {
		return t.Value
	}
	_, documented, _ := strings.Cut(t.Reason, documentsDisagree)
	return documented
}

// manualScopeChange returns a function that sets the user's values in a scope and records which fields
// were edited.
func manualScopeChange(b api.ScopeBody) func(*api.Scope) error {
	return func(sc *api.Scope) error {
		edited := func(name string, was bool) {
			if was && !slices.Contains(sc.EditedFields, name) {
				sc.EditedFields = append(sc.EditedFields, name)
				slices.Sort(sc.EditedFields)
			}
		}
		for name, v := range map[string]**string{"title": &b.Title, "description": &b.Description} {
			dst := &sc.Title
			if name == "description" {
				dst = &sc.Description
			}
			setIfPresent(dst, *v)
			edited(name, *v != nil)
		}
		was := scopeLists(sc)
		for name, v := range map[string]*[]string{
			"business_units": b.BusinessUnits, "processes": b.Processes, "systems": b.Systems,
			"locations": b.Locations, "legal_entities": b.LegalEntities,
			"data_types": b.DataTypes, "third_parties": b.ThirdParties, "exclusions": b.Exclusions,
			"assumptions": b.Assumptions, "constraints": b.Constraints,
		} {
			setIfPresent(was[name], v)
			edited(name, v != nil)
		}
		for name, v := range b.Traits {
			if !slices.Contains(api.TraitNames, name) {
				return api.Invalid("traits."+name, "unknown trait %q; the traits are %s", name, strings.Join(api.TraitNames, ", "))
			}
			t := api.Trait{Value: v.Display(), Source: "user", Reason: "set by a user"}
			was := sc.Traits[name]
			if v.Source != "" && v.Source == was.Source && t.Value == was.Value {
				continue // the client sent the value back unchanged
			}
			t.Evidence = was.Evidence
			if documented := differingDocumentedValue(was); documented != "" && documented != t.Value {
				t.Reason += documentsDisagree + documented
			}
			sc.Traits[name] = t
			edited("traits."+name, true)
		}
		if b.Title != nil && api.IsBlank(*b.Title) {
			return api.Invalid("title", "a scope needs a title")
		}
		return validateScope(sc)
	}
}

// scopeLists returns pointers to the lists of a scope, by field name.
func scopeLists(sc *api.Scope) map[string]*[]string {
	return map[string]*[]string{
		"business_units": &sc.BusinessUnits,
		"processes":      &sc.Processes,
		"systems":        &sc.Systems,
		"locations":      &sc.Locations,
		"legal_entities": &sc.LegalEntities,
		"data_types":     &sc.DataTypes,
		"third_parties":  &sc.ThirdParties,
		"exclusions":     &sc.Exclusions,
		"assumptions":    &sc.Assumptions,
		"constraints":    &sc.Constraints,
	}
}

// validateScope returns an error if the content of a scope is invalid, regardless of where it comes
// from.
func validateScope(sc *api.Scope) error {
	broken := func(r rune) bool { return api.IsControlOrBidi(r) && !strings.ContainsRune("\r\n\t", r) }
	switch {
	case strings.ContainsFunc(sc.Title, api.IsControlOrBidi):
		return api.Invalid("title", "a title must be a single line without control characters")
	case strings.ContainsFunc(sc.Description, broken):
		return api.Invalid("description", "a description must not contain control characters other than line breaks")
	case utf8.RuneCountInString(sc.Title) > maxScopeTitle || utf8.RuneCountInString(sc.Description) > maxItemText:
		return api.Invalid("title", "a title can have up to %d characters and a description up to %d", maxScopeTitle, maxItemText)
	}
	for name, l := range scopeLists(sc) {
		if len(*l) > maxItemParts {
			return api.Invalid(name, "the list has %d entries; the maximum is %d", len(*l), maxItemParts)
		}
		for n, entry := range *l {
			field := fmt.Sprintf("%s.%d", name, n)
			switch {
			case api.IsBlank(entry):
				return api.Invalid(field, "blank entries are not allowed; omit them")
			case strings.ContainsFunc(entry, broken):
				return api.Invalid(field, "an entry must not contain control characters other than line breaks")
			case utf8.RuneCountInString(entry) > maxScopeEntry:
				return api.Invalid(field, "an entry can have up to %d characters", maxScopeEntry)
			}
		}
	}
	return nil
}

// Maximum lengths of a title and of a list entry, in characters.
const (
	maxScopeTitle = 300
	maxScopeEntry = 2_000
)

// createOrChangeScope creates or changes a scope, which is identified by its own ID or by its
// assessment. Changing an approved scope creates its next version.
func (s *Service) createOrChangeScope(
	ctx context.Context,
	by api.Caller,
	assessment, scopeID string,
	m api.Match,
	change func(*api.Scope) error,
) (*api.Scope, error) {
	var sc api.Scope
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if scopeID != "" {
			if sc, err = store.Scopes.Get(tx, by.OrganizationID, scopeID); err != nil {
				return store.ToNotFound(err, "scope", scopeID)
			}
			assessment = sc.AssessmentID
		} else if sc, err = store.Scopes.By("assessment").Get(tx, by.OrganizationID, assessment); err != nil &&
			!errors.Is(err, store.ErrNotFound) {
			return err
		}
		a, err := getAssessment(tx, by, assessment)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if sc.ID == "" {
			sc = api.Scope{
				Title:         a.Name,
				TenantRecord:  newTenantRecord(tx, by),
				AssessmentID:  assessment,
				Status:        api.VersionDraft,
				VersionNumber: 1,
				CreatedBy:     by.Actor.Name,
			}
		} else {
			sc.MarkExisted()
			if err := m.Check(sc.Revision); err != nil {
				return err
			}
		}
		if sc.Traits == nil {
			sc.Traits = map[string]api.Trait{}
		}
		edited := slices.Clone(sc.EditedFields)
		before, err := scopeHashWithoutEditedFields(&sc)
		if err != nil {
			return err
		}
		if err := change(&sc); err != nil {
			return err
		}
		if now, err := scopeHashWithoutEditedFields(&sc); err != nil || now == before && sc.Revision > 0 {
			sc.EditedFields = edited // nothing changed, so the scope stays approved
			return err
		}
		if sc.Status == api.VersionApproved {
			sc.VersionNumber++
			sc.ApprovedAt, sc.ApprovedBy = nil, nil
		}
		sc.Status, sc.UpdatedAt = api.VersionDraft, tx.Now()
		sc.Revision++
		return saveScope(tx, by, &sc, "scope.changed", "")
	})
	return &sc, err
}

// saveScope stores a scope and a copy of it as its version, records the artifact and publishes an event of type action.
func saveScope(tx *store.Tx, by api.Caller, sc *api.Scope, action, comment string) error {
	hash, err := scopeHash(sc)
	if err != nil {
		return err
	}
	data := map[string]any{"version_number": sc.VersionNumber, "content_sha256": hash}
	if comment != "" {
		data["comment"] = comment
	}
	version := api.DeliverableVersion{
		TenantRecord:  sc.TenantRecord,
		AssessmentID:  sc.AssessmentID,
		VersionNumber: sc.VersionNumber,
		Status:        sc.Status,
		ContentSHA256: hash,
	}
	// Store the version's content separately so that versions can be compared.
	kept := *sc
	return errors.Join(
		store.Scopes.Put(tx, by.OrganizationID, sc),
		store.ScopeVersions.Put(tx, by.OrganizationID, &kept),
		recordArtifact(tx, by, "scope", "scope", &version),
		audit.RecordAndPublishEvent(tx, by, audit.Event{
			Type: action, AssessmentID: sc.AssessmentID, Summary: fmt.Sprintf("scope version %d is %s", sc.VersionNumber, sc.Status),
			ResourceType: "scope", ResourceID: sc.ID, Data: data,
		}),
	)
}

// SubmitScope puts a scope under review.
func (s *Service) SubmitScope(ctx context.Context, by api.Caller, in *api.ScopeInput) (*api.Scope, error) {
	return s.changeScopeStatus(ctx, by, in.ScopeID, api.VersionUnderReview, api.VersionDraft, nil)
}

// ApproveScope approves a scope. This approval is not one of the lifecycle's four gates.
func (s *Service) ApproveScope(ctx context.Context, by api.Caller, in *api.ApproveScopeInput) (*api.Scope, error) {
	return s.changeScopeStatus(ctx, by, in.ScopeID, api.VersionApproved, api.VersionUnderReview, in.Body)
}

// changeScopeStatus changes the status of a scope from one value to another, and records the approver's
// comment. decision is nil if the change is not a decision.
func (s *Service) changeScopeStatus(
	ctx context.Context,
	by api.Caller,
	scopeID string,
	to, from api.VersionStatus,
	decision *api.VersionDecision,
) (*api.Scope, error) {
	var sc api.Scope
	err := s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if sc, err = store.Scopes.Get(tx, by.OrganizationID, scopeID); err != nil {
			return store.ToNotFound(err, "scope", scopeID)
		}
		a, err := getAssessment(tx, by, sc.AssessmentID)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if sc.Status != from {
			return api.Conflict(
				"the scope is %s; only a scope that is %s can become %s",
				prose.Humanize(sc.Status),
				prose.Humanize(from),
				prose.Humanize(to),
			)
		}
		if hash, err := scopeHash(&sc); err != nil {
			return err
		} else if decision.IsOnOtherContent(hash) {
			return api.Conflict("the scope has changed since you looked at it (SHA-256 now %s); review it again", hash)
		}
		sc.Status, sc.UpdatedAt = to, tx.Now()
		sc.Revision++
		name := "scope.submitted"
		if to == api.VersionApproved {
			now := tx.Now()
			sc.ApprovedAt, sc.ApprovedBy = &now, &by.Actor.Name
			name = "scope.approved"
		}
		return saveScope(tx, by, &sc, name, stringOrEmpty(decisionComment(decision)))
	})
	return &sc, err
}

// scopeHashWithoutEditedFields is like scopeHash but ignores which fields users edited. It shows whether
// setting fields changed any value.
func scopeHashWithoutEditedFields(sc *api.Scope) (string, error) {
	c := *sc
	c.EditedFields = nil
	api.ReplaceNilCollections(&c) // treats missing lists like empty ones
	return scopeHash(&c)
}

// scopeHash returns the SHA-256 of a scope's content.
func scopeHash(sc *api.Scope) (string, error) {
	c := *sc
	c.TenantRecord, c.Revision, c.Status, c.ApprovedAt, c.ApprovedBy = api.TenantRecord{}, 0, "", nil, nil
	return hashJSON(c)
}

// ApplyScopeChanges merges changes made at another installation into the scope of an assessment. If
// there is none, it creates the scope, with the same ID if that is unused. The result is a draft.
func ApplyScopeChanges(
	tx *store.Tx,
	by api.Caller,
	assessment, scopeID string,
	changes map[string]merge.Change,
	protectedFields []string,
) (unmerged []merge.Conflict, result *api.Scope, _ error) {
	sc, err := store.Scopes.By("assessment").Get(tx, by.OrganizationID, assessment)
	if errors.Is(err, store.ErrNotFound) {
		sc, err = api.Scope{TenantRecord: newTenantRecord(tx, by), AssessmentID: assessment, VersionNumber: 1, CreatedBy: by.Actor.Name}, nil
		taken, failed := store.Scopes.Has(tx, by.OrganizationID, scopeID)
		if failed == nil && !taken {
			sc.ID = scopeID
		}
	}
	if err != nil {
		return nil, nil, err
	}
	fields, err := merge.FieldsFromRecord(&sc)
	if err != nil {
		return nil, nil, err
	}
	merged, conflicts := merge.ApplyChanges(fields, changes, protectedFields)
	if len(merged) == 0 && sc.Revision > 0 {
		return conflicts, &sc, nil
	}
	if err := merge.FillRecord(fields, &sc); err != nil {
		return nil, nil, err
	}
	if err := validateScope(&sc); err != nil {
		return nil, nil, err
	}
	for name, t := range sc.Traits {
		if !slices.Contains(api.TraitNames, name) || !slices.Contains([]string{"true", "false", "unknown"}, t.Value) {
			return nil, nil, api.Invalid("traits", "there is no trait %.40q with the value %.20q", name, t.Value)
		}
	}
	if sc.Status == api.VersionApproved {
		sc.VersionNumber++
		sc.ApprovedAt, sc.ApprovedBy = nil, nil
	}
	sc.Status, sc.UpdatedAt = api.VersionDraft, tx.Now()
	sc.Revision++
	return conflicts, &sc, saveScope(tx, by, &sc, "scope.changed", "")
}
