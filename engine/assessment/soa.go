package assessment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

func hashJSON(v any) (string, error) {
	b, err := json.Marshal(v)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:]), nil
}

// frameworkControls returns the controls that the assessment's frameworks map to, each with its
// requirement codes. Without frameworks, it returns all controls of the catalog.
func frameworkControls(
	snap *scf.Snapshot, a *api.Assessment,
) (controls []api.Control, codesByControl map[string]api.RequirementCodes, _ error) {
	all, err := snap.Controls(scf.ControlFilter{})
	if err != nil {
		return nil, nil, err
	}
	codes := map[string]api.RequirementCodes{}
	for _, f := range a.FrameworkIDs {
		walk, err := snap.Crosswalk(f, "")
		if err != nil {
			return nil, nil, fmt.Errorf("the crosswalk of %s: %w", f, err)
		}
		for _, c := range walk.Controls {
			if codes[c.ControlCode] == nil {
				codes[c.ControlCode] = api.RequirementCodes{}
			}
			codes[c.ControlCode][walk.Framework.Code] = c.RequirementCodes
		}
	}
	if len(a.FrameworkIDs) == 0 {
		return slices.DeleteFunc(all, func(c api.Control) bool { return c.IsDeprecated }), codes, nil
	}
	return slices.DeleteFunc(all, func(c api.Control) bool { return codes[c.Code] == nil }), codes, nil
}

// draftSoA drafts an item for every control, with its applicability from the scope and its status from
// the evidence.
func (s *Service) draftSoA(ctx context.Context, by api.Caller, a *api.Assessment) (draft[api.SoAItem], error) {
	readers, err := s.haveRead(ctx, by, a.ID, chosenReaders{})
	if err != nil {
		return draft[api.SoAItem]{}, err
	}
	return s.newDraftFuncForReaders(readers)(ctx, by, a)
}

// newDraftFuncForReaders is like draftSoA with chosen readers.
func (s *Service) newDraftFuncForReaders(reader chosenReaders) draftFunc[api.SoAItem] {
	return s.newDraftFuncIgnoringInclusion("", nil, reader)
}

// newDraftFuncIgnoringInclusion returns a function that drafts the Statement of Applicability. If resetNames
// contains "applicability", it drafts as if no user had marked the item itemID as applicable.
func (s *Service) newDraftFuncIgnoringInclusion(itemID string, resetNames []string, reader chosenReaders) draftFunc[api.SoAItem] {
	resetItemID := ""
	if slices.ContainsFunc(resetNames, func(f string) bool { return f == "all" || slices.Contains(api.ReviewFields, f) }) {
		resetItemID = itemID
	}
	if !slices.Contains(resetNames, "applicability") && !slices.Contains(resetNames, "all") {
		itemID = ""
	}
	return func(ctx context.Context, by api.Caller, a *api.Assessment) (draft[api.SoAItem], error) {
		evaluate := func(
			snap *scf.Snapshot,
			controls []api.Control,
			r *storedReader,
			use func(*Evaluation, map[string]api.Document) error,
		) error {
			return s.evaluateStoredEvidence(ctx, by, a, snap, controls, r, resetItemID, use)
		}
		return s.draftSoAWith(ctx, by, a, itemID, reader, evaluate)
	}
}

// draftSoAFromSession drafts from the evidence of a session, for evidence that isn't stored in this form.
func (s *Service) draftSoAFromSession(
	ctx context.Context,
	by api.Caller,
	a *api.Assessment,
	session *evidence.Session,
) (draft[api.SoAItem], error) {
	return s.draftSoAWith(
		ctx,
		by,
		a,
		"",
		chosenReaders{},
		func(snap *scf.Snapshot, controls []api.Control, r *storedReader, use func(*Evaluation, map[string]api.Document) error) error {
			all, err := snap.Controls(scf.ControlFilter{})
			if err != nil {
				return err
			}
			prepared, err := PrepareControlsForEvaluation(ctx, session.Embedder(), all, controls)
			if err != nil {
				return err
			}
			translated, err := s.readTranslations(ctx, a)
			if err != nil {
				return err
			}
			options := s.judgeOptions(r, prepared)
			if options.Corrections, err = s.readCorrections(ctx, a, ""); err != nil {
				return err
			}
			j, err := prepared.evaluateSession(ctx, session, options, translated)
			if err != nil {
				return err
			}
			j.reader = r
			return use(j, session.Documents)
		},
	)
}

// draftSoAWith drafts the Statement of Applicability using the Evaluation that evaluate passes to its
// callback. If a user marked the item ignoredItemID as applicable, that is ignored.
func (s *Service) draftSoAWith(ctx context.Context, by api.Caller, a *api.Assessment, ignoredItemID string, readers chosenReaders,
	evaluate evaluateFunc,
) (d draft[api.SoAItem], err error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return d, err
	}
	controls, codes, err := frameworkControls(snap, a)
	if err != nil {
		return d, err
	}
	traits := map[string]api.Trait{}
	scope, err := s.readScope(ctx, by, a.ID)
	if err == nil {
		traits = scope.Traits
	} else if !api.IsCode(err, api.CodeNotFound) {
		return d, err
	}
	reader, second, err := s.findReaders(ctx, a.OrganizationID, a.ID, readers)
	if err != nil {
		return d, err
	}
	d.method = reader.method()
	if second != nil {
		d.method += "; second reader " + second.describe()
	}
	previous, err := loadPreviousInView(ctx, s, a, soaType, nil)
	if err != nil {
		return d, err
	}
	release, err := s.acquireEvaluationSlot(ctx)
	if err != nil {
		return d, err
	}
	defer release()
	others, err := judgeWithSecond(ctx, evaluate, snap, controls, second)
	if err != nil {
		return d, err
	}
	var quotes, uncorrected [][]api.Evidence // quotes that decide the verdict, with and without corrections, by item
	var read map[string]api.Document
	err = evaluate(snap, controls, reader, func(j *Evaluation, documents map[string]api.Document) (err error) {
		if d.inputs, err = soaInputsFrom(a, snap, slices.Collect(maps.Values(documents)), &scope); err != nil {
			return err
		}
		reader.recordIn(d.inputs)
		second.recordAsSecondIn(d.inputs)
		read = maps.Clone(documents)
		d.items, quotes, uncorrected, err = s.draftSoAItems(
			ctx, j, documents, controls, codes, frameworkNames(snap), traits, manuallyIncluded(previous.items, ignoredItemID), d.inputs,
		)
		for n := range d.items {
			if other, ok := others[d.items[n].ControlCode]; ok {
				addSecondReading(&d.items[n], other, second.Reader.Name)
			}
		}
		return err
	})
	d.mergePrevious = func(d *draft[api.SoAItem], previous *previousVersion[api.SoAItem]) {
		matches := carryEdits(soaType, d, previous.items, copySoAField)
		dropContradictingStatus(d)
		isNew := newDocumentPredicate(read, previous.inputs)
		for n := range d.items {
			if matches[n] != nil {
				d.items[n].ReviewedInBulk = matches[n].ReviewedInBulk
				d.items[n].NeedsReview = d.items[n].NeedsReview || confirmedAnotherStatus(matches[n], &d.items[n])
			}
			if c := d.items[n].Carried; c != nil && c.EvidenceChanged && uncorrected[n] != nil && haveSameQuotes(c.Quotes, uncorrected[n]) {
				same := *c // the evidence differs only because of corrections
				same.EvidenceChanged = false
				d.items[n].Carried = &same
			}
			if c := d.items[n].Carried; c != nil && c.EvidenceChanged {
				d.items[n].NeedsReview = true // a person decided on the basis of other evidence
			}
			markReliance(&d.items[n], matches[n], quotes[n], previous.status == api.VersionApproved, isNew)
		}
	}
	return d, err
}

// confirmedAnotherStatus reports whether a person confirmed the previous item as drafted, but the new draft has a
// different status, so that the person must be asked again.
func confirmedAnotherStatus(previous, drafted *api.SoAItem) bool {
	return previous.IsManual("needs_review") && !previous.NeedsReview && judge.IsAssessed(previous) && judge.IsAssessed(drafted) &&
		previous.ImplementationStatus != drafted.ImplementationStatus
}

// manuallyIncluded returns the items that users marked as applicable, by control code. Their controls
// are judged whatever the scope says.
func manuallyIncluded(previous []api.SoAItem, exceptID string) map[string]*api.SoAItem {
	out := map[string]*api.SoAItem{}
	for n := range previous {
		if i := &previous[n]; i.ID != exceptID && i.Applicability.IsApplicable() && i.EditedBy != nil && i.IsManual("applicability") {
			out[i.ControlCode] = i
		}
	}
	return out
}

// currentSoAInputs returns the inputs that would be recorded if the Statement of Applicability were
// drafted now.
func (s *Service) currentSoAInputs(ctx context.Context, by api.Caller, a *api.Assessment) (map[string]string, error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	docs, err := s.listDocuments(ctx, by, a)
	if err != nil {
		return nil, err
	}
	scope, err := s.readScope(ctx, by, a.ID)
	if err != nil && !api.IsCode(err, api.CodeNotFound) {
		return nil, err
	}
	inputs, err := soaInputsFrom(a, snap, docs, &scope)
	if err != nil {
		return nil, err
	}
	reader, second, err := s.findReaders(ctx, a.OrganizationID, a.ID, chosenReaders{})
	if err != nil {
		return nil, err
	}
	reader.recordIn(inputs)
	second.recordAsSecondIn(inputs)
	return inputs, nil
}

// soaInputsFrom returns the inputs to record for a Statement of Applicability: the catalog, the
// frameworks, the documents and, if there is one, the scope.
func soaInputsFrom(a *api.Assessment, snap *scf.Snapshot, docs []api.Document, scope *api.Scope) (map[string]string, error) {
	documents, err := ingestedDocumentsHash(docs)
	if err != nil {
		return nil, err
	}
	v := snap.Version()
	out := map[string]string{
		"catalog":            v.Label,
		"catalog_version_id": v.ID,
		"frameworks":         strings.Join(a.Frameworks, ", "),
		"documents":          documents,
		documentKeysInput:    ingestedDocumentKeys(docs),
	}
	if v.SourceSHA256 != nil {
		out["catalog_sha256"] = *v.SourceSHA256
	}
	if a.CustomRevision > 0 {
		out["custom_catalog"] = fmt.Sprintf("revision %d", a.CustomRevision)
	}
	if scope.ID != "" {
		out["scope"], err = scopeHash(scope)
	}
	return out, err
}

// frameworkNames returns the names of a catalog's frameworks by code.
func frameworkNames(snap *scf.Snapshot) map[string]string {
	names := map[string]string{}
	for _, f := range snap.Frameworks() {
		names[f.Code] = f.Name
	}
	return names
}

// draftSoAItems drafts an item for every control. For each item, it also returns the independent
// quotes that decide the verdict and, if there are corrections, the quotes without them; otherwise
// nil.
func (s *Service) draftSoAItems(
	ctx context.Context,
	evaluation *Evaluation,
	documents map[string]api.Document,
	controls []api.Control,
	codes map[string]api.RequirementCodes,
	names map[string]string,
	traits map[string]api.Trait,
	included map[string]*api.SoAItem,
	inputs map[string]string,
) (items []api.SoAItem, quotes, uncorrected [][]api.Evidence, err error) {
	owners := map[string]string{}
	for _, d := range documents {
		if judge.IsNamedOwner(d.Owner) && !d.IsNotInForce() {
			owners[d.ID] = d.Owner
		}
	}
	judge.ShortenUnambiguousOwners(owners)
	unreadLanguages := api.CountUnreadEvidence(slices.Collect(maps.Values(documents)), evaluation.languagesRead()...).Note()
	items = make([]api.SoAItem, len(controls))
	quotes, uncorrected = make([][]api.Evidence, len(controls)), make([][]api.Evidence, len(controls))
	var unread, statements atomic.Int64
	evaluation.copies.forgetChangedDocuments()
	codesToJudge := make([]string, len(controls))
	for i, c := range controls {
		codesToJudge[i] = c.Code
	}
	if err := evaluation.JudgePassages(ctx, codesToJudge, runtime.GOMAXPROCS(0)); err != nil {
		return nil, nil, nil, err
	}
	err = forEachParallel(ctx, len(controls), func(ctx context.Context, n int) error {
		c := controls[n]
		inclusion := judge.Inclusion{Owners: owners, UnreadLanguages: unreadLanguages, FrameworkNames: names}
		inclusion.Applicability, inclusion.Rationale = judge.DetermineApplicability(c, traits)
		if i := included[c.Code]; i != nil {
			inclusion.IncludeManually(i.Applicability, *i.EditedBy)
		}
		verdict, err := evaluation.Evaluate(ctx, c.Code)
		if err != nil {
			return err
		}
		if evaluation.reader.isModel() && inclusion.Applicability.IsApplicable() {
			if verdict.UnreadStatements, err = evaluation.reader.countLeftToRules(ctx, evaluation.Candidates(c.Code)); err != nil {
				return err
			}
		}
		unread.Add(int64(verdict.UnreadStatements))
		statements.Add(int64(len(verdict.Statements)))
		items[n] = judge.DraftSoAItem(c, codes[c.Code], verdict, inclusion)
		uncorrected[n] = verdict.Uncorrected
		quotes[n] = independentQuotes(&items[n], evaluation.copies.isRepeated)
		return nil
	})
	if evaluation.reader.isModel() {
		for _, n := range judge.ItemsOnRepeatedQuotes(items) {
			items[n].NeedsReview = true
		}
	}
	if unread.Load() > 0 {
		inputs[notReadInput] = fmt.Sprintf("%d of %d", unread.Load(), statements.Load())
	}
	return items, quotes, uncorrected, err
}

// copySoAField copies a field that a user edited and, if the field counts as a review, also whether
// the item needs review.
func copySoAField(to, from *api.SoAItem, field string) {
	if slices.Contains(api.ReviewFields, field) && (judge.IsAssessed(from) || !judge.IsAssessed(to)) {
		to.NeedsReview = from.NeedsReview
	}
	switch field {
	case "applicability":
		to.Applicability = from.Applicability
	case "inclusion_reasons":
		to.InclusionReasons = from.InclusionReasons
	case "rationale":
		to.Rationale = from.Rationale
	case "implementation_status":
		if from.Applicability.IsApplicable() || !to.Applicability.IsApplicable() { // the judgement of an excluded item doesn't count
			to.ImplementationStatus, to.Reason = from.ImplementationStatus, from.Reason
		}
	case "owner":
		to.Owner = from.Owner
	case "note":
		to.Note = from.Note
	}
}

// copySoADecision copies a field that a user edited, with the fields that depend on it. If the user confirmed another
// status than that of the item, the item needs a review.
func copySoADecision(to, from *api.SoAItem, field string) {
	copySoAField(to, from, field)
	if slices.Contains(api.ReviewFields, field) {
		to.ReviewedInBulk = from.ReviewedInBulk
		to.NeedsReview = to.NeedsReview || confirmedAnotherStatus(from, to)
	}
}

// dropContradictingStatus removes statuses that users set from items that no longer apply, and
// notes that in the reason.
func dropContradictingStatus(d *draft[api.SoAItem]) {
	for n := range d.items {
		i := &d.items[n]
		if !isExcludedWithStatus(i) {
			continue
		}
		i.Reason = fmt.Sprintf(
			"Not assessed, because the control is %s. The status set by %s (%s) was removed.",
			prose.Humanize(i.Applicability),
			stringOrEmpty(i.EditedBy),
			prose.Humanize(i.ImplementationStatus),
		)
		i.ImplementationStatus = api.NotAssessed
		i.EditedFields = slices.DeleteFunc(slices.Clone(i.EditedFields), func(f string) bool { return f == "implementation_status" })
		if len(i.EditedFields) == 0 {
			i.EditedBy = nil
			d.editedControls = slices.DeleteFunc(d.editedControls, func(code string) bool { return code == i.ControlCode })
		}
	}
}

// isExcludedByDecision reports whether the item's control is excluded, rather than undecided.
func isExcludedByDecision(i *api.SoAItem) bool {
	return !i.Applicability.IsApplicable() && i.Applicability != api.Undecided
}

// isExcludedWithStatus reports whether an item doesn't apply but has an implementation status.
func isExcludedWithStatus(i *api.SoAItem) bool {
	return isExcludedByDecision(i) && i.ImplementationStatus != api.NotAssessed
}

// DraftSoA drafts the next version of the Statement of Applicability. If a reader is "model" or
// "builtin", it first reads what it has not read yet.
func (s *Service) DraftSoA(ctx context.Context, by api.Caller, in *api.DraftSoAInput) (*api.SoAVersion, error) {
	readers, err := s.haveRead(ctx, by, in.AssessmentID, chosenReaders{in.Reader, in.SecondReader})
	if err != nil {
		return nil, err
	}
	if in.Reader != "" {
		if err := s.evidence.WaitForDocuments(ctx, by, in.AssessmentID); err != nil {
			return nil, err
		}
		if err := s.refreshTraits(ctx, by, in.AssessmentID, readers.first); err != nil {
			return nil, err
		}
	}
	return s.draftNextSoA(ctx, by, in.AssessmentID, s.newDraftFuncForReaders(readers))
}

func (s *Service) draftNextSoA(
	ctx context.Context,
	by api.Caller,
	assessment string,
	makeDraft draftFunc[api.SoAItem],
) (*api.SoAVersion, error) {
	defer s.locks.lock(assessment)()
	if err := s.evidence.WaitForDocuments(ctx, by, assessment); err != nil {
		return nil, err
	}
	return writeDraft(ctx, s, by, assessment, soaType, makeDraft, nil)
}

// ListSoA lists the versions of the Statement of Applicability (SoA), newest first.
func (s *Service) ListSoA(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.SoAVersion], error) {
	return listVersions(ctx, s, by, soaType, in)
}

// GetSoA returns a version of the Statement of Applicability.
func (s *Service) GetSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return getVersion(ctx, s, by, soaType, in.SoAVersionID)
}

// ListSoAItems lists a version's items, sorted by control code by default.
func (s *Service) ListSoAItems(ctx context.Context, by api.Caller, in *api.SoAItemsInput) (*api.List[api.SoAItem], error) {
	filter, q := *in, strings.ToLower(in.Q)
	matchesRequirement, err := normalizeItemFilter(
		ctx,
		s,
		by,
		soaType,
		in.SoAVersionID,
		itemFilter{domain: &filter.Domain, control: &filter.ControlCode, framework: &filter.Framework, requirement: &filter.Requirement},
	)
	if err != nil {
		return nil, err
	}
	in = &filter
	where, err := itemfilter.Compile[api.SoAItem](in.Where)
	if err != nil {
		return nil, err
	}
	matches := store.FilterIf(api.HasFilters(in), func(i *api.SoAItem) bool {
		return where.Selects(i) && matchesDomainAndControl(i.Item, in.Domain, in.ControlCode) && matchesRequirement(i.RequirementCodes) &&
			(in.Applicability == "" || i.Applicability == in.Applicability) &&
			(in.ImplementationStatus == "" || i.ImplementationStatus == in.ImplementationStatus) &&
			(in.Status == "" || i.ImplementationStatus == in.Status) &&
			(in.EvidenceCoverage == "" || i.EvidenceCoverage == in.EvidenceCoverage) &&
			(in.Framework == "" || len(i.RequirementCodes[in.Framework]) > 0) &&
			matchesOwner(in.Owner, i.Owner) &&
			(in.Disagreement == "" || fmt.Sprint(i.SecondReading != nil) == in.Disagreement) &&
			(in.NeedsReview == "" || fmt.Sprint(i.NeedsReview) == in.NeedsReview) &&
			matchesQuery(q, i.ControlCode, i.ControlTitle, i.Rationale, i.Reason)
	})
	return listItems(ctx, s, by, soaType, in.SoAVersionID, filter, in.Paging, in.Sort, soaOrder, matches)
}

// matchesDomainAndControl reports whether an item has the given domain and control. An empty value
// matches all.
func matchesDomainAndControl(i api.Item, domain, control string) bool {
	return (domain == "" || strings.EqualFold(i.DomainCode, domain)) && (control == "" || strings.EqualFold(i.ControlCode, control))
}

// matchesOwner reports whether an item's owner is the given one, with or without the details after the
// name.
func matchesOwner(want string, owner *string) bool {
	return want == "" || owner != nil && (strings.EqualFold(*owner, want) || strings.EqualFold(judge.OwnerName(*owner), want))
}

// matchesQuery reports whether one of the texts contains the lowercase query. An empty query matches everything.
func matchesQuery(q string, texts ...string) bool {
	return q == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), q) })
}

// GetSoAItem returns an item.
func (s *Service) GetSoAItem(ctx context.Context, by api.Caller, in *api.SoAItemInput) (*api.SoAItem, error) {
	return getItem(ctx, s, by, soaType, "SoA item", in.SoAItemID)
}

// changedFields lists the names of changed fields.
type changedFields []string

// addIf adds a field's name if the field is set.
func (f *changedFields) addIf(name string, set bool) {
	if set {
		*f = append(*f, name)
	}
}

// assignField sets *dst to *v if v is not nil, and records the field as changed.
func assignField[T any](f *changedFields, name string, dst *T, v *T) {
	setIfPresent(dst, v)
	f.addIf(name, v != nil)
}

// SubmitSoA puts a version of the Statement of Applicability under review.
func (s *Service) SubmitSoA(ctx context.Context, by api.Caller, in *api.SubmitSoAInput) (*api.SoAVersion, error) {
	return submitVersion(ctx, s, by, soaType, in.SoAVersionID, in.Body)
}

// ApproveSoA approves a version of the Statement of Applicability.
func (s *Service) ApproveSoA(ctx context.Context, by api.Caller, in *api.DecideSoAInput) (*api.SoAVersion, error) {
	return approveVersion(ctx, s, by, soaType, in.SoAVersionID, in.Body)
}

// checkSoASubmittable returns an error if items violate validation rules of severity "error".
func checkSoASubmittable(items []api.SoAItem) error {
	var details []api.ErrorDetail
	for _, issue := range findSoAIssues(items) {
		if issue.Severity == "error" {
			details = append(details, api.ErrorDetail{Field: issue.ControlCode, Message: issue.Message})
		}
	}
	if len(details) == 0 {
		return nil
	}
	return api.Conflict(
		"%d items must be corrected before the Statement of Applicability can be submitted; the first is %s: %s",
		len(details),
		details[0].Field,
		details[0].Message,
	).WithDetails(
		details...)
}

// ValidateSoA checks a version against the validation rules.
func (s *Service) ValidateSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAValidation, error) {
	out := &api.SoAValidation{SoAVersionID: in.SoAVersionID}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		v, err := soaType.getVersion(tx, by.OrganizationID, in.SoAVersionID)
		if err != nil {
			return err
		}
		items, err := soaType.readItems(tx, by.OrganizationID, in.SoAVersionID)
		if err != nil {
			return err
		}
		gone, err := staleSourceIssues(tx, &v, items)
		if err != nil {
			return err
		}
		left, err := formerOwnerIssues(tx, by.OrganizationID, items)
		out.Issues = append(append(gone, findSoAIssues(items)...), left...)
		return err
	})
	for _, i := range out.Issues {
		if i.Severity == "error" {
			out.Errors++
		} else {
			out.Warnings++
		}
	}
	out.Valid = out.Errors == 0
	return out, err
}

// soaRules lists the validation rules for items. An item that violates a rule of severity "error" can't
// be submitted.
var soaRules = []struct {
	name, severity string
	broken         func(*api.SoAItem) string
}{
	{"applicability-decided", "error", func(i *api.SoAItem) string {
		if i.Applicability == api.Undecided || i.Applicability == "" {
			return "decide whether the control applies"
		}
		return ""
	}},
	{"exclusion-justified", "error", func(i *api.SoAItem) string {
		if (i.Applicability == api.NotApplicable || i.Applicability == api.OutOfScope) && api.IsBlank(i.Rationale) {
			return "state why the control is " + prose.Humanize(i.Applicability)
		}
		return ""
	}},
	{"excluded-not-assessed", "error", func(i *api.SoAItem) string {
		if isExcludedWithStatus(i) {
			return fmt.Sprintf(
				"the control can't be %s and %s at once; decide again whether it applies",
				prose.Humanize(i.Applicability),
				prose.Humanize(i.ImplementationStatus),
			)
		}
		return ""
	}},
	{"inclusion-justified", "warning", func(i *api.SoAItem) string {
		if i.Applicability.IsApplicable() && len(i.InclusionReasons) == 0 {
			return "no inclusion reason is given"
		}
		return ""
	}},
	{"applicable-assessed", "warning", func(i *api.SoAItem) string {
		if i.Applicability.IsApplicable() && i.ImplementationStatus == api.NotAssessed {
			if i.IsManual("implementation_status") {
				return "the control applies, but a user set its status to not assessed"
			}
			return "the control applies but was not assessed; draft again to judge the evidence"
		}
		return ""
	}},
	{"implemented-evidenced", "warning", func(i *api.SoAItem) string {
		if judge.IsImplementedWithoutEvidence(i) {
			return "marked as implemented without evidence"
		}
		return ""
	}},
	{"rests-on-several-documents", "warning", func(i *api.SoAItem) string {
		if only, _ := i.SingleDocuments(); only != "" {
			return "the verdict rests on one document: " + only
		}
		return ""
	}},
	{"not-changed-by-one-document", "warning", func(i *api.SoAItem) string {
		if _, changing := i.SingleDocuments(); changing != "" {
			return "one document changed the verdict: " + changing
		}
		return ""
	}},
	{"owner-named", "warning", func(i *api.SoAItem) string {
		if i.Applicability.IsApplicable() && i.Owner == nil {
			return "no owner is assigned"
		}
		return ""
	}},
}

func findSoAIssues(items []api.SoAItem) []api.ValidationIssue {
	out := []api.ValidationIssue{}
	for n := range items {
		for _, r := range soaRules {
			if why := r.broken(&items[n]); why != "" {
				out = append(
					out,
					api.ValidationIssue{
						Rule:        r.name,
						Severity:    r.severity,
						ItemID:      items[n].ID,
						ControlCode: items[n].ControlCode,
						Message:     why,
					},
				)
			}
		}
	}
	if len(items) > 0 &&
		!slices.ContainsFunc(
			items,
			func(i api.SoAItem) bool { return i.Applicability.IsApplicable() || i.Applicability == api.Undecided },
		) {
		out = append(
			out,
			api.ValidationIssue{
				Rule:     "something-applies",
				Severity: "warning",
				Message:  "no control applies, so there is nothing to assess; check the scope and its traits",
			},
		)
	}
	return out
}

// RegenerateSoA drafts the next version, preserving users' edits. If nothing has changed, a version that
// is under review or approved stays the newest.
func (s *Service) RegenerateSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	v, err := getVersion(ctx, s, by, soaType, in.SoAVersionID)
	if err != nil {
		return nil, err
	}
	return s.draftNextSoA(ctx, by, v.AssessmentID, skipDraftEqualToReviewed(s.draftSoA))
}

// RefreshSoAEvidence judges the evidence again and drafts the next version, preserving users' decisions.
func (s *Service) RefreshSoAEvidence(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return s.RegenerateSoA(ctx, by, in)
}
