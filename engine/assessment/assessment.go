// Package assessment implements assessments: lifecycle, scope, Statement of Applicability, gap
// analysis, maturity assessment, POA&M, and the approvals that each of these deliverables needs.
//
// Drafts come from package judge, evidence from the knowledge base, controls from the catalog.
// Nothing becomes final until a person has decided on exactly that content. Reports are written by
// a higher layer through Options.WriteReports.
package assessment

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge/reading/crossencoder"
	"github.com/scf-service/service/store"
)

// Options holds the dependencies of the Service.
type Options struct {
	DB       *store.DB
	Catalog  *catalog.Service
	Evidence *evidence.Service
	Clock    func() time.Time
	// Model is the language model that can read evidence; nil means none. ModelLimits limits what it may use.
	Model       Model
	ModelLimits api.ModelLimits
	// Network loads the built-in network that can read evidence; nil means none.
	Network func() (*crossencoder.Network, error)
	// WriteReports writes an assessment's reports on the transition to report_generated.
	WriteReports func(ctx context.Context, by api.Caller, assessment string) error
}

// Service implements the operations on assessments and their deliverables.
type Service struct {
	db           *store.DB
	catalog      *catalog.Service
	evidence     *evidence.Service
	clock        func() time.Time
	writeReports func(context.Context, api.Caller, string) error
	model        Model
	modelLimits  api.ModelLimits
	modelRuns    sync.Map // assessments that the model is reading
	network      func() (*crossencoder.Network, error)

	locks           assessmentLocks
	draftCaches     draftCaches
	hashes          hashCache
	evaluationSlots chan struct{}     // limits concurrent evaluations
	itemPages       *store.Cache[any] // pages of versions' items
	owners          ownersOfVersions
}

// acquireEvaluationSlot waits until fewer evaluations than allowed are running. Call release when done.
func (s *Service) acquireEvaluationSlot(ctx context.Context) (release func(), err error) {
	select {
	case s.evaluationSlots <- struct{}{}:
		return func() { <-s.evaluationSlots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// maxCachedPages is the maximum number of cached list pages. A page of 200 items takes about a megabyte.
const maxCachedPages = 32

// New returns a Service.
func New(o Options) *Service {
	return &Service{
		db: o.DB, catalog: o.Catalog, evidence: o.Evidence, clock: o.Clock, writeReports: o.WriteReports,
		model: o.Model, modelLimits: o.ModelLimits, network: o.Network,
		locks: assessmentLocks{
			byAssessment: map[string]*sync.Mutex{},
		}, draftCaches: draftCaches{byAssessment: map[string]*draftCache{}}, evaluationSlots: make(chan struct{}, maxConcurrentEvaluations),
		itemPages: store.NewCache[any](o.DB, maxCachedPages, store.SoAVersions, store.SoAItems, store.GapVersions, store.Findings,
			store.MaturityVersions, store.MaturityScores, store.POAMVersions, store.POAMItems),
	}
}

// assessmentLocks holds a lock per assessment, so that transitions and drafts of an assessment don't run
// concurrently within this process.
type assessmentLocks struct {
	mu           sync.Mutex
	byAssessment map[string]*sync.Mutex
}

func (m *assessmentLocks) lock(assessment string) (unlock func()) {
	m.mu.Lock()
	assessmentLock := m.byAssessment[assessment]
	if assessmentLock == nil {
		assessmentLock = &sync.Mutex{}
		m.byAssessment[assessment] = assessmentLock
	}
	m.mu.Unlock()
	assessmentLock.Lock()
	return assessmentLock.Unlock
}

// Create creates an assessment. It resolves the frameworks and the catalog version first, and returns an
// error if one is unknown.
func (s *Service) Create(ctx context.Context, by api.Caller, in *api.CreateAssessmentInput) (*api.Assessment, error) {
	b := in.Body
	name := strings.TrimSpace(b.Name)
	if name == "" {
		return nil, api.Invalid("name", "an assessment needs a name")
	}
	if err := api.CheckDate("due_date", b.DueDate); err != nil {
		return nil, err
	}
	client, err := trimClientName(&b.ClientName)
	if err != nil {
		return nil, err
	}
	snap, customRevision, err := s.catalog.SnapshotWithLatestCustom(ctx, by.OrganizationID, b.SCFVersionID)
	if err != nil {
		return nil, err
	}
	refs := b.FrameworkIDs
	if b.FrameworkID != "" {
		refs = append([]string{b.FrameworkID}, refs...)
	}
	if b.From != "" {
		source, err := s.readAssessment(ctx, by, b.From)
		if err != nil {
			return nil, err
		}
		before, err := s.catalogSnapshot(ctx, &source)
		if err != nil {
			return nil, err
		}
		if len(refs) == 0 {
			if refs, err = carriedFrameworks(before, snap, &source); err != nil {
				return nil, err
			}
		}
		b.Description, *client = cmp.Or(b.Description, source.Description), cmp.Or(*client, source.ClientName)
	}
	ids, codes, err := resolveFrameworks(snap, refs)
	if err != nil {
		return nil, err
	}
	var out api.Assessment
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		out = api.Assessment{
			TenantRecord:   newTenantRecord(tx, by),
			Name:           name,
			Description:    b.Description,
			ClientName:     *client,
			State:          api.StateDraft,
			SCFVersionID:   snap.Version().ID,
			CustomRevision: customRevision,
			FrameworkIDs:   ids,
			Frameworks:     codes,
			DueDate:        b.DueDate,
			CreatedBy:      by.Actor.Name,
			Revision:       1,
		}
		summary := "created " + name
		if b.From != "" {
			if err := carryFromEarlierAssessment(tx, by, &out, b.From, snap); err != nil {
				return err
			}
			summary += " from " + out.CarriedFrom.Name
		}
		return errors.Join(checkCustomRevisionExists(tx, by, customRevision), store.Assessments.Insert(tx, by.OrganizationID, &out),
			recordLifecycleEvent(tx, by, &out, "", api.StateDraft, "created", "", nil),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "assessment.created", AssessmentID: out.ID, Summary: summary,
				ResourceType: "assessment", ResourceID: out.ID, Data: map[string]any{"name": name, "frameworks": codes},
			}))
	})
	return &out, err
}

// checkCustomRevisionExists returns an error if the given revision of the organization's custom catalog
// has been deleted in the meantime.
func checkCustomRevisionExists(tx *store.Tx, by api.Caller, revision int) error {
	if revision == 0 {
		return nil
	}
	exists, err := store.CustomCatalogs.Has(tx, by.OrganizationID, int64(revision))
	if err == nil && !exists {
		err = api.Conflict("your custom frameworks and controls changed in the meantime; try again")
	}
	return err
}

// trimClientName returns a client's name without surrounding space, or an error if it can't be a name. It
// returns nil if name is nil.
func trimClientName(name *string) (*string, error) {
	if name == nil {
		return nil, nil
	}
	trimmed := strings.TrimSpace(*name)
	return &trimmed, api.CheckName("client_name", trimmed)
}

func newTenantRecord(tx *store.Tx, by api.Caller) api.TenantRecord {
	return api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now(), UpdatedAt: tx.Now()}, OrganizationID: by.OrganizationID}
}

// resolveFrameworks looks up framework IDs, codes and aliases in the catalog, without duplicates. If an
// alias stands for several frameworks, all of them are returned.
func resolveFrameworks(snap *scf.Snapshot, refs []string) (ids, codes []string, err error) {
	for _, ref := range refs {
		scope, err := snap.FrameworkWithIncluded(ref)
		if err != nil {
			return nil, nil, api.Invalid("framework_id", "%v", err)
		}
		for _, f := range scope {
			if !slices.Contains(ids, f.ID) {
				ids, codes = append(ids, f.ID), append(codes, f.Code)
			}
		}
	}
	return ids, codes, nil
}

// getAssessment reads an assessment within a transaction.
func getAssessment(tx *store.Tx, by api.Caller, id string) (api.Assessment, error) {
	a, err := store.Assessments.Get(tx, by.OrganizationID, id)
	return a, store.ToNotFound(err, "assessment", id)
}

// readAssessment reads an assessment in its own read transaction.
func (s *Service) readAssessment(ctx context.Context, by api.Caller, id string) (a api.Assessment, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) (err error) { a, err = getAssessment(tx, by, id); return err })
	return a, err
}

// Get returns an assessment with its counts.
func (s *Service) Get(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.Assessment, error) {
	var a api.Assessment
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		if a, err = getAssessment(tx, by, in.AssessmentID); err != nil {
			return err
		}
		return fillProgressAndCounts(tx, &a)
	})
	return &a, err
}

// List lists assessments, by default newest first. Filters by state, status and framework use an
// index; with at most one of them and the default order, the time for a page doesn't depend on the
// number of assessments.
func (s *Service) List(ctx context.Context, by api.Caller, in *api.AssessmentsInput) (*api.List[api.Assessment], error) {
	out, err := store.SortedList(ctx, s.db, store.Assessments, by.OrganizationID, in.Paging, in.Sort, assessmentOrder, newAssessmentQuery(in))
	if err != nil {
		return nil, err
	}
	return out, s.db.View(ctx, func(tx *store.Tx) error {
		for i := range out.Data {
			if err := fillProgressAndCounts(tx, &out.Data[i]); err != nil {
				return err
			}
		}
		return nil
	})
}

// newAssessmentQuery returns the query for a list. It uses the index of the first filter that has
// one, and applies the other filters to the results.
func newAssessmentQuery(in *api.AssessmentsInput) store.PageQuery[api.Assessment] {
	query := store.PageQuery[api.Assessment]{Reverse: true}
	var filters []func(*api.Assessment) bool
	filter := func(index string, key any, matches func(*api.Assessment) bool) {
		if query.Index == "" && index != "" {
			query.Index, query.Prefix = index, store.K(key)
			return
		}
		filters = append(filters, matches)
	}
	if in.State != "" {
		filter("state", in.State, func(a *api.Assessment) bool { return a.State == in.State })
	}
	if in.Framework != "" {
		filter("framework", in.Framework, func(a *api.Assessment) bool {
			return slices.Contains(a.FrameworkIDs, in.Framework) || slices.Contains(a.Frameworks, in.Framework)
		})
	}
	if in.Status != "" {
		closed := in.Status == "closed"
		filter("status", closed, func(a *api.Assessment) bool { return (a.State == api.StateClosed) == closed })
	}
	if q := strings.ToLower(in.Q); q != "" {
		filter("", nil, func(a *api.Assessment) bool { return matchesQuery(q, a.Name, a.Description) })
	}
	if len(filters) > 0 {
		query.Filter = func(a *api.Assessment) bool {
			return !slices.ContainsFunc(filters, func(matches func(*api.Assessment) bool) bool { return !matches(a) })
		}
	}
	return query
}

// fillProgressAndCounts sets the fields that are not stored: the progress, which is derived from
// the state, and the record counts, which are read from maintained tallies.
func fillProgressAndCounts(tx *store.Tx, a *api.Assessment) (err error) {
	org := a.OrganizationID
	a.Progress = a.State.ProgressPercent()
	if a.Counts.Documents, err = store.Documents.By("assessment").Count(tx, org, a.ID); err != nil {
		return err
	}
	if a.Counts.Documents > 0 {
		if a.Counts.Chunks, err = store.Documents.Tally("facts").Get(tx, org, a.ID, store.FactChunks); err != nil {
			return err
		}
	}
	figures, err := store.ReadFigures(tx, org, a.ID)
	if err != nil {
		return err
	}
	a.Counts.SoAItems, a.Counts.Findings, a.Counts.POAMItems = 0, 0, 0
	for _, c := range figures.SoAItems {
		a.Counts.SoAItems += c.N
	}
	for _, c := range figures.Findings {
		a.Counts.Findings += c.N
	}
	for _, c := range figures.POAMItems {
		a.Counts.POAMItems += c.N
	}
	return nil
}

// Update changes the given fields. Once the SoA is drafted, frameworks are changed by ChangeFrameworks.
func (s *Service) Update(ctx context.Context, by api.Caller, in *api.UpdateAssessmentInput) (*api.Assessment, error) {
	b := in.Body
	if b.Name != nil && strings.TrimSpace(*b.Name) == "" {
		return nil, api.Invalid("name", "an assessment needs a name")
	}
	if err := api.CheckDate("due_date", b.DueDate.Value); err != nil {
		return nil, err
	}
	client, err := trimClientName(b.ClientName)
	if err != nil {
		return nil, err
	}
	var refs *[]string
	if b.FrameworkIDs != nil {
		refs = b.FrameworkIDs
	}
	if b.FrameworkID != nil {
		one := []string{*b.FrameworkID}
		if refs != nil {
			one = append(one, *refs...)
		}
		refs = &one
	}
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	var ids, codes []string
	customRevision := a.CustomRevision
	if refs != nil {
		var snap *scf.Snapshot
		snap, customRevision, err = s.catalog.SnapshotWithLatestCustom(ctx, by.OrganizationID, a.SCFVersionID)
		if err != nil {
			return nil, err
		}
		if ids, codes, err = resolveFrameworks(snap, *refs); err != nil {
			return nil, err
		}
	}
	err = s.db.Update(ctx, func(tx *store.Tx) (err error) {
		if a, err = getAssessment(tx, by, in.AssessmentID); err != nil {
			return err
		}
		if err := in.Match.Check(a.Revision); err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		if refs != nil && !slices.Equal(codes, a.Frameworks) {
			if a.State.HasReached(api.StateSoADrafted) {
				return api.Conflict(
					"the Statement of Applicability has already been drafted (the assessment is %s); add or remove "+
						"frameworks individually instead (service assess framework, POST "+
						"/assessments/{id}/frameworks), which drafts only the new items",
					a.State,
				)
			}
			if err := checkCustomRevisionExists(tx, by, customRevision); err != nil {
				return err
			}
			a.FrameworkIDs, a.Frameworks, a.CustomRevision = ids, codes, customRevision
		}
		setIfPresent(&a.Name, b.Name)
		setIfPresent(&a.Description, b.Description)
		if client != nil && *client != a.ClientName {
			a.ClientName = *client
			if err := MarkCopiedCorrections(tx, by.OrganizationID, a.ID); err != nil {
				return err
			}
		}
		setIfPresent(&a.NoRemoteModel, b.NoRemoteModel)
		b.DueDate.AssignIfSet(&a.DueDate)
		a.Revision++
		a.UpdatedAt = tx.Now()
		return errors.Join(
			store.Assessments.Put(tx, by.OrganizationID, &a),
			audit.RecordEvent(
				tx,
				by,
				audit.Event{
					Type:         "assessment.updated",
					AssessmentID: a.ID,
					Summary:      "changed the assessment's details",
					ResourceType: "assessment",
					ResourceID:   a.ID,
				},
			),
			fillProgressAndCounts(tx, &a),
		)
	})
	return &a, err
}

func setIfPresent[T any](dst *T, v *T) {
	if v != nil {
		*dst = *v
	}
}

// Delete deletes an assessment with everything that belongs to it, except for its audit events.
func (s *Service) Delete(ctx context.Context, by api.Caller, in *api.DeleteAssessmentInput) (*api.None, error) {
	defer s.locks.lock(in.AssessmentID)()
	defer s.DropCaches(in.AssessmentID)
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		a, err := getAssessment(tx, by, in.AssessmentID)
		if err != nil {
			return err
		}
		if err := in.Match.Check(a.Revision); err != nil {
			return err
		}
		org := by.OrganizationID
		for _, purge := range []func() error{
			func() error { return s.evidence.Purge(tx, by, a.ID) },
			func() error {
				var versions []string
				for _, gate := range api.Gates {
					ids, err := deliverables[gate].deleteVersionsKeepingItems(tx, org, a.ID)
					if err != nil {
						return err
					}
					versions = append(versions, ids...)
				}
				return store.DiscardAssessmentData(tx, org, a.ID, versions)
			},
			func() error {
				return purgeByAssessment(tx, store.Scopes, org, a.ID, func(r *api.Scope) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.Approvals, org, a.ID, func(r *api.Approval) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.Comments, org, a.ID, func(r *api.Comment) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.Corrections, org, a.ID, func(r *api.Correction) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.Delegations, org, a.ID, func(r *api.Delegation) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.Reports, org, a.ID, func(r *api.Report) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.IssueLinks, org, a.ID, func(r *store.IssueLink) string { return r.ID })
			},
			func() error { return purgeArtifacts(tx, org, a.ID) },
			func() error { return purgeAgentRuns(tx, org, a.ID) },
			func() error { _, err := store.ScopeVersions.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.CarriedItems.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.Edits.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.ReviewSamples.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.Readers.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.Readings.DeleteAll(tx, org, a.ID); return err },
			func() error { _, err := store.ModelAnswers.DeleteAll(tx, org, a.ID); return err },
			func() error {
				return purgeByAssessment(tx, store.WorkflowRuns, org, a.ID, func(r *store.WorkflowRun) string { return r.ID })
			},
			func() error {
				return purgeByAssessment(tx, store.SyncConflicts, org, a.ID, func(r *api.SyncConflict) string { return r.ID })
			},
			func() error { return store.Assessments.Delete(tx, org, a.ID) },
			func() error {
				return audit.RecordAndPublishEvent(tx, by, audit.Event{
					Type: "assessment.deleted", Summary: "deleted " + a.Name,
					ResourceType: "assessment", ResourceID: a.ID, Data: map[string]any{"name": a.Name},
				})
			},
		} {
			if err := purge(); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.evidence.DeletePurged(ctx)
	return &api.None{}, nil
}

// purgeByAssessment deletes all records of an assessment from a table that has an "assessment" index.
func purgeByAssessment[R any](tx *store.Tx, t *store.TenantTable[R], org, assessment string, id func(*R) string) error {
	var ids []string
	for r, err := range t.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		ids = append(ids, id(&r))
	}
	for _, i := range ids {
		if err := t.Delete(tx, org, i); err != nil {
			return err
		}
	}
	return nil
}

// purgeAgentRuns deletes the assessment's agent runs with their steps and proposals.
func purgeAgentRuns(tx *store.Tx, org, assessment string) error {
	var ids []string
	for r, err := range store.AgentRuns.By("assessment").Scan(tx, org, store.Prefix(assessment)) {
		if err != nil {
			return err
		}
		ids = append(ids, r.ID)
	}
	for _, id := range ids {
		if _, err := store.AgentSteps.DeleteAll(tx, org, id); err != nil {
			return err
		}
		if _, err := store.AgentOutputs.DeleteAll(tx, org, id); err != nil {
			return err
		}
		if err := store.AgentRuns.Delete(tx, org, id); err != nil {
			return err
		}
	}
	return nil
}
