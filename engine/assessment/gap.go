package assessment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/gap"
	"github.com/scf-service/service/engine/judge"
	"github.com/scf-service/service/internal/itemfilter"
	"github.com/scf-service/service/internal/prose"
	"github.com/scf-service/service/store"
)

// currentInputsFromSoA returns the inputs that would be recorded if a deliverable based on the Statement
// of Applicability were drafted now.
func (s *Service) currentInputsFromSoA(ctx context.Context, _ api.Caller, a *api.Assessment) (map[string]string, error) {
	var v api.SoAVersion
	err := s.db.View(ctx, func(tx *store.Tx) (err error) {
		v, err = soaType.requireApprovedOrNewest(tx, a)
		return err
	})
	return soaType.toInputEntries(&v), err
}

// draftGap drafts a finding for every applicable item of the Statement of Applicability that has a gap.
// Manually added gaps are preserved.
func (s *Service) draftGap(ctx context.Context, _ api.Caller, a *api.Assessment) (d draft[api.Finding], err error) {
	v, items, err := readApprovedOrNewest(ctx, s, a, soaType)
	if err != nil {
		return d, err
	}
	return s.draftGapFrom(ctx, a, &v, items)
}

// draftGapFrom drafts findings from the items of one version of the Statement of Applicability.
func (s *Service) draftGapFrom(
	ctx context.Context,
	a *api.Assessment,
	v *api.SoAVersion,
	items []api.SoAItem,
) (d draft[api.Finding], err error) {
	snap, err := s.catalogSnapshot(ctx, a)
	if err != nil {
		return d, err
	}
	d = draft[api.Finding]{method: judge.RulesVersion, inputs: soaType.toInputEntries(v)}
	statusByControl, itemsByControl := make(map[string]api.Implementation, len(items)), make(map[string]*api.SoAItem, len(items))
	for n := range items {
		itemsByControl[items[n].ControlCode] = &items[n]
		if items[n].Applicability.IsApplicable() {
			statusByControl[items[n].ControlCode] = items[n].ImplementationStatus
		}
	}
	names := frameworkNames(snap)
	d.items, err = mapParallel(ctx, items, func(i *api.SoAItem) (f api.Finding, falls bool, err error) {
		if !i.Applicability.IsApplicable() {
			return f, false, nil
		}
		c, err := snap.Control(i.ControlCode)
		if err != nil {
			return f, false, err
		}
		f, falls = gap.DraftFinding(c, *i, statusByControl, names)
		f.Item, f.InCatalog, f.Source = copyControlFields(i.Item), true, "analysis"
		return f, falls, nil
	})
	d.mergePrevious = func(d *draft[api.Finding], old *previousVersion[api.Finding]) {
		mergeFindingEdits(d, old)
		for n := range d.items {
			f := &d.items[n]
			if line := itemsByControl[f.ControlCode]; line != nil && f.Source != sourceManual && f.IsManual("status") {
				gap.RewriteForStatusOverride(f, *line, cmp.Or(gap.ParseOverridingUser(f.Cause), stringOrEmpty(f.EditedBy)))
			}
		}
	}
	return d, err
}

// mergeFindingEdits adds manually added findings and users' edits to the generated findings.
func mergeFindingEdits(d *draft[api.Finding], old *previousVersion[api.Finding]) {
	carryManualGaps(d, old.items)
	carryEdits(gapType, d, old.items, copyFindingField)
}

// copyControlFields returns an item that has only the fields describing i's control, for use in another
// deliverable.
func copyControlFields(i api.Item) api.Item {
	return api.Item{
		ControlID:        i.ControlID,
		ControlCode:      i.ControlCode,
		ControlTitle:     i.ControlTitle,
		DomainCode:       i.DomainCode,
		RequirementCodes: i.RequirementCodes,
	}
}

// copyFindingField copies a field that a user edited, along with the texts that depend on it.
func copyFindingField(to, from *api.Finding, field string) {
	switch field {
	case "status":
		if to.Status != from.Status { // its texts name the person who set the status
			to.Condition, to.Cause = from.Condition, from.Cause
		}
		to.Status, to.Result = from.Status, from.Result
	case "severity":
		to.Severity, to.SeverityReason = from.Severity, from.SeverityReason
	case "gap_type":
		to.GapType = from.GapType
	case "condition":
		to.Condition = from.Condition
	case "criteria":
		to.Criteria = from.Criteria
	case "cause":
		to.Cause = from.Cause
	case "effect":
		to.Effect = from.Effect
	case "recommendation":
		to.Recommendation = from.Recommendation
	case "owner":
		to.Owner = from.Owner
	case "note":
		to.Note = from.Note
	case "due_date":
		to.DueDate = from.DueDate
	}
}

// sourceManual is the source of manually added gaps.
const sourceManual = "manual"

// carryManualGaps copies manually added gaps into a new draft.
func carryManualGaps(d *draft[api.Finding], old []api.Finding) {
	for _, f := range old {
		if f.Source == sourceManual {
			f.OriginID = f.ManualOriginKey()
			d.items = append(d.items, f)
			d.addEditedControl(f.ControlCode)
		}
	}
}

// DraftGap drafts the next version of the gap analysis.
func (s *Service) DraftGap(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.GapVersion, error) {
	defer s.locks.lock(in.AssessmentID)()
	return writeDraft(ctx, s, by, in.AssessmentID, gapType, s.draftGap, nil)
}

// RegenerateGap drafts the next version of the gap analysis, preserving edits and manually added gaps.
func (s *Service) RegenerateGap(ctx context.Context, by api.Caller, in *api.GapInput) (*api.GapVersion, error) {
	v, err := getVersion(ctx, s, by, gapType, in.GapVersionID)
	if err != nil {
		return nil, err
	}
	defer s.locks.lock(v.AssessmentID)()
	return writeDraft(ctx, s, by, v.AssessmentID, gapType, skipDraftEqualToReviewed(s.draftGap), nil)
}

// ListGap lists the versions of the gap analysis, newest first.
func (s *Service) ListGap(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.GapVersion], error) {
	return listVersions(ctx, s, by, gapType, in)
}

// GetGap returns a version of the gap analysis.
func (s *Service) GetGap(ctx context.Context, by api.Caller, in *api.GapInput) (*api.GapVersion, error) {
	return getVersion(ctx, s, by, gapType, in.GapVersionID)
}

// SubmitGap puts a version of the gap analysis under review.
func (s *Service) SubmitGap(ctx context.Context, by api.Caller, in *api.SubmitGapInput) (*api.GapVersion, error) {
	return submitVersion(ctx, s, by, gapType, in.GapVersionID, in.Body)
}

// ApproveGap approves a version of the gap analysis.
func (s *Service) ApproveGap(ctx context.Context, by api.Caller, in *api.DecideGapInput) (*api.GapVersion, error) {
	return approveVersion(ctx, s, by, gapType, in.GapVersionID, in.Body)
}

// ListFindings lists a version's findings, worst first by default.
func (s *Service) ListFindings(ctx context.Context, by api.Caller, in *api.FindingsInput) (*api.List[api.Finding], error) {
	return s.listFindings(ctx, by, in.GapVersionID, in.FindingFilter, in.Paging)
}

// ListGaps lists the gaps in the newest version of an assessment's gap analysis, worst first by default.
func (s *Service) ListGaps(ctx context.Context, by api.Caller, in *api.GapsInput) (*api.List[api.Finding], error) {
	var id string
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if _, err := getAssessment(tx, by, in.AssessmentID); err != nil {
			return err
		}
		v, _, err := gapType.newestVersion(tx, by.OrganizationID, in.AssessmentID)
		id = v.ID
		return err
	})
	if err != nil {
		return nil, err
	}
	if id == "" {
		return &api.List[api.Finding]{Data: []api.Finding{}, Pagination: api.Pagination{Limit: in.Limit}}, nil
	}
	return s.listFindings(ctx, by, id, in.FindingFilter, in.Paging)
}

func (s *Service) listFindings(
	ctx context.Context,
	by api.Caller,
	id string,
	f api.FindingFilter,
	p api.Paging,
) (*api.List[api.Finding], error) {
	q := strings.ToLower(f.Q)
	if _, err := normalizeItemFilter(ctx, s, by, gapType, id, itemFilter{domain: &f.Domain, control: &f.ControlCode}); err != nil {
		return nil, err
	}
	where, err := itemfilter.Compile[api.Finding](f.Where)
	if err != nil {
		return nil, err
	}
	return listItems(
		ctx,
		s,
		by,
		gapType,
		id,
		f,
		p,
		cmp.Or(f.Sort, "-severity,-evidenced,-severity_points,-weight,control_code"),
		findingOrder,
		store.FilterIf(api.HasFilters(&f), func(i *api.Finding) bool {
			return where.Selects(i) && matchesDomainAndControl(i.Item, f.Domain, f.ControlCode) && (f.Severity == "" || i.Severity == f.Severity) &&
				(f.Status == "" || i.Status == f.Status) &&
				matchesOwner(f.Owner, i.Owner) &&
				matchesQuery(q, i.ControlCode, i.ControlTitle, i.Condition, i.Recommendation) &&
				(f.Result == "" || i.Result == f.Result) &&
				(f.GapType == "" || i.GapType == f.GapType) &&
				(f.Source == "" || i.Source == f.Source)
		}),
	)
}

// CompareWorstFirst compares findings for sorting: by api.Finding.CompareWorstFirst, then by control code.
func CompareWorstFirst(a, b *api.Finding) int {
	return cmp.Or(a.CompareWorstFirst(b), scf.CompareNatural(a.ControlCode, b.ControlCode), cmp.Compare(a.ID, b.ID))
}

// GetFinding returns a finding.
func (s *Service) GetFinding(ctx context.Context, by api.Caller, in *api.FindingInput) (*api.Finding, error) {
	return getItem(ctx, s, by, gapType, "finding", in.FindingID)
}

// UpdateFinding applies a user's change to a finding.
func (s *Service) UpdateFinding(ctx context.Context, by api.Caller, in *api.UpdateFindingInput) (*api.Finding, error) {
	b := in.Body
	var soaItem *api.SoAItem // needed to change a status
	if b.Status != nil {
		var err error
		if soaItem, err = s.soaItemForFinding(ctx, by, in.FindingID); err != nil {
			return nil, err
		}
	}
	redrafted, err := draftItemWithoutEdits(ctx, s, by, gapType, in.FindingID, b.Reset, s.draftGap)
	if err != nil {
		return nil, err
	}
	change, err := s.newFindingChange(by, b, redrafted, func(*api.Finding) *api.SoAItem { return soaItem })
	if err != nil {
		return nil, err
	}
	return editItem(ctx, s, by, gapType, in.FindingID, in.Match, change, nil)
}

// EditFindings applies a user's change to all findings that a selection matches.
func (s *Service) EditFindings(ctx context.Context, by api.Caller, in *api.EditFindingsInput) (*api.EditResult, error) {
	b := in.Body.Set
	lines := map[string]*api.SoAItem{} // items of the Statement of Applicability that the findings are based on, by control
	if b.Status != nil {
		err := s.db.View(ctx, func(tx *store.Tx) error {
			v, err := gapType.getVersion(tx, by.OrganizationID, in.GapVersionID)
			if err != nil || v.Inputs["soa_version_id"] == "" {
				return err
			}
			items, err := soaType.readItems(tx, by.OrganizationID, v.Inputs["soa_version_id"])
			for n := range items {
				lines[items[n].ControlCode] = &items[n]
			}
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	change, err := s.newFindingChange(by, b, nil, func(i *api.Finding) *api.SoAItem {
		if i.Source == sourceManual {
			return nil
		}
		return lines[i.ControlCode]
	})
	if err != nil {
		return nil, err
	}
	return editItems(ctx, s, by, gapType, in.GapVersionID, in.Body.ItemSelection, b.Reset, change)
}

// newFindingChange returns a function that changes a finding and returns the names of the changed
// fields. redrafted is the finding as it would be drafted without the edits being reset, or nil;
// soaItem returns the item of the Statement of Applicability that a finding is based on, or nil.
func (s *Service) newFindingChange(
	by api.Caller,
	b api.FindingChange,
	redrafted *api.Finding,
	soaItem func(*api.Finding) *api.SoAItem,
) (func(*api.Finding) ([]string, error), error) {
	if err := firstError(validateOwner(b.Owner.Value), api.CheckDateNotPast("due_date", b.DueDate.Value, s.today())); err != nil {
		return nil, err
	}
	if b.Status != nil && *b.Status == api.NotAssessed {
		return nil, notAssessedError()
	}
	return func(i *api.Finding) ([]string, error) {
		var f changedFields
		assignField(&f, "status", &i.Status, b.Status)
		if b.Status != nil {
			i.Result = resultForStatus(i.Status)
		}
		if line := soaItem(i); line != nil && b.Status != nil {
			gap.RewriteForStatusOverride(i, *line, by.Actor.Name)
		}
		assignField(&f, "severity", &i.Severity, b.Severity)
		if b.Severity != nil {
			i.SeverityReason = "set by " + by.Actor.Name
		}
		assignField(&f, "gap_type", &i.GapType, b.GapType)
		assignField(&f, "condition", &i.Condition, b.Condition)
		assignField(&f, "criteria", &i.Criteria, b.Criteria)
		assignField(&f, "cause", &i.Cause, b.Cause)
		assignField(&f, "effect", &i.Effect, b.Effect)
		assignField(&f, "recommendation", &i.Recommendation, b.Recommendation)
		f.addIf("owner", emptyAsNull(b.Owner).AssignIfSet(&i.Owner))
		f.addIf("note", b.Note.AssignIfSet(&i.Note))
		f.addIf("due_date", b.DueDate.AssignIfSet(&i.DueDate))
		return f, resetFields(&f, &i.Item, b.Reset, i, redrafted, func(to, from *api.Finding, field string) {
			if copyFindingField(to, from, field); field == "status" {
				to.MissingElements, to.SeverityPoints = from.MissingElements, from.SeverityPoints
				if !to.IsManual("severity") {
					to.Severity, to.SeverityReason = from.Severity, from.SeverityReason
				}
			}
		})
	}, nil
}

func notAssessedError() error {
	return api.Invalid("status", "a gap can't have the status not_assessed; if there is too little evidence to "+
		"judge, use not_evidenced")
}

// soaItemForFinding returns the item of the Statement of Applicability that a finding is based on, or
// nil if the finding was added manually.
func (s *Service) soaItemForFinding(ctx context.Context, by api.Caller, finding string) (line *api.SoAItem, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		f, err := gapType.items.Get(tx, by.OrganizationID, finding)
		if err != nil {
			return store.ToNotFound(err, gapType.gate.Title()+" item", finding)
		}
		v, err := gapType.getVersion(tx, by.OrganizationID, f.VersionID)
		basis := v.Inputs["soa_version_id"]
		if err != nil || f.Source == sourceManual || basis == "" {
			return err
		}
		a, err := getAssessment(tx, by, f.AssessmentID)
		if err != nil {
			return err
		}
		line, err = soaType.latestGeneratedItem(tx, &a, []string{basis}, f.ControlCode)
		return err
	})
	return line, err
}

// resultForStatus returns the gap analysis verdict that corresponds to an implementation status.
func resultForStatus(st api.Implementation) api.Result {
	switch st {
	case api.Implemented:
		return api.Met
	case api.PartiallyImplemented:
		return api.PartiallyMet
	case api.Planned, api.NotImplemented:
		return api.NotMet
	}
	return api.ResultNoEvid
}

// isValidCustomCode reports whether a code that may not be in the catalog is safe to use in tables,
// spreadsheets and file names.
func isValidCustomCode(code string) bool {
	odd := func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("._-", r)
	}
	first, _ := utf8.DecodeRuneInString(code)
	return unicode.IsLetter(first) && utf8.RuneCountInString(code) <= 64 && !strings.ContainsFunc(code, odd)
}

// CreateGap adds a gap manually to the newest version of the gap analysis. If there is no version yet,
// it creates the first.
func (s *Service) CreateGap(ctx context.Context, by api.Caller, in *api.CreateGapInput) (*api.Finding, error) {
	b := in.Body
	if err := firstError(validateOwner(b.Owner), api.CheckDateNotPast("due_date", b.DueDate, s.today())); err != nil {
		return nil, err
	}
	if b.Status == api.NotAssessed {
		return nil, notAssessedError()
	}
	if b.Status == api.Implemented {
		return nil, api.Invalid(
			"status",
			"an implemented control is not a gap; use partially_implemented, planned, not_implemented or not_evidenced",
		)
	}
	a, err := s.readAssessment(ctx, by, in.AssessmentID)
	if err != nil {
		return nil, err
	}
	snap, err := s.catalogSnapshot(ctx, &a)
	if err != nil {
		return nil, err
	}
	f := api.Finding{
		Status:         b.Status,
		Result:         resultForStatus(b.Status),
		Severity:       b.Severity,
		SeverityReason: "set by " + by.Actor.Name,
		Source:         sourceManual,
		Condition:      b.Condition,
		Cause:          b.Cause,
		Effect:         b.Effect,
		Recommendation: b.Recommendation,
		GapType:        cmp.Or(b.GapType, "implementation"),
		Owner:          b.Owner,
		DueDate:        b.DueDate,
		Confidence:     1,
	}
	f.ControlCode, f.EditedBy = strings.ToUpper(strings.TrimSpace(b.ControlID)), &by.Actor.Name
	c, err := snap.Control(b.ControlID)
	var missing *scf.NotFoundError
	switch {
	case err == nil:
		f.Item = api.Item{ControlID: c.ID, ControlCode: c.Code, ControlTitle: c.Title, DomainCode: c.DomainCode, EditedBy: &by.Actor.Name}
		f.InCatalog, f.Criteria = true, c.Description
		if c.Weight != nil {
			f.Weight = *c.Weight
		}
		if _, codes, err := frameworkControls(snap, &a); err == nil {
			f.RequirementCodes = codes[c.Code]
		}
		_, f.SeverityPoints, _ = gap.RateSeverity(f.Weight, 1, f.RequirementCodes.Count(), f.Status)
	case !errors.As(err, &missing):
		return nil, err
	case !isValidCustomCode(f.ControlCode):
		return nil, api.Invalid(
			"control_id",
			"%.80q is not a control code; a custom code starts with a letter and can contain letters, digits, "+
				"periods, underscores and hyphens, up to 64 characters",
			b.ControlID,
		)
	}
	hasCondition := f.Condition != ""
	if !hasCondition {
		f.Condition = fmt.Sprintf("%s is %s, as %s found.", f.ControlCode, prose.Humanize(b.Status), by.Actor.Name)
	}
	if err := validateFinding(&f); err != nil {
		return nil, err
	}
	return s.addFinding(ctx, by, a.ID, f, hasCondition)
}

// addFinding adds a gap to the newest version, after withdrawing that from review if necessary, or
// to a new version if it was approved or rejected. If checkDuplicate is set, it returns an error if
// the gap exists already.
func (s *Service) addFinding(
	ctx context.Context,
	by api.Caller,
	assessment string,
	f api.Finding,
	checkDuplicate bool,
) (*api.Finding, error) {
	err := s.db.Update(ctx, func(tx *store.Tx) error {
		org := by.OrganizationID
		a, err := getAssessment(tx, by, assessment)
		if err != nil {
			return err
		}
		if err := requireOpen(&a); err != nil {
			return err
		}
		v, ok, err := gapType.newestVersion(tx, org, a.ID)
		if err != nil {
			return err
		}
		switch {
		case !ok:
			v, err = gapType.insertNextVersion(tx, by, &a, draft[api.Finding]{method: "manual"})
		case v.Status == api.VersionUnderReview:
			err = gapType.withdrawFromReview(tx, by, &a, &v, "a gap was added during review by "+by.Actor.Name)
		case v.Status != api.VersionDraft:
			var items []api.Finding
			if items, err = gapType.readItems(tx, org, v.ID); err == nil {
				v, err = gapType.insertNextVersion(
					tx,
					by,
					&a,
					draft[api.Finding]{items: items, method: v.Method, inputs: v.Inputs, editedControls: v.Kept, isCopy: true},
				)
			}
		}
		if err != nil {
			return err
		}
		if checkDuplicate {
			if err := checkNoDuplicateGap(tx, org, v.ID, &f); err != nil {
				return err
			}
		}
		addAuthor(&v.DeliverableVersion, by)
		f.TenantRecord, f.AssessmentID, f.VersionID, f.Revision = newTenantRecord(tx, by), a.ID, v.ID, 1
		f.OriginID = f.ID
		if err := errors.Join(gapType.items.Insert(tx, org, &f), gapType.recomputeItemCountAndHash(tx, org, &v)); err != nil {
			return err
		}
		return errors.Join(
			gapType.saveVersionAndArtifact(tx, by, &v),
			audit.RecordAndPublishEvent(tx, by, audit.Event{
				Type: "gap.added", AssessmentID: a.ID, Summary: "added a gap on " + f.ControlCode, ResourceType: "finding",
				ResourceID: f.ID, Data: map[string]any{"control_code": f.ControlCode, "severity": f.Severity},
			}),
		)
	})
	return &f, err
}

// checkNoDuplicateGap returns an error if the version already has an identical manually added gap.
func checkNoDuplicateGap(tx *store.Tx, org, version string, f *api.Finding) error {
	items, err := gapType.readItems(tx, org, version)
	for _, i := range items {
		if i.Source == sourceManual && i.ControlCode == f.ControlCode && i.Status == f.Status && i.GapType == f.GapType &&
			i.Condition == f.Condition &&
			i.Cause == f.Cause &&
			stringOrEmpty(i.Owner) == stringOrEmpty(f.Owner) {
			return api.Invalid(
				"condition",
				"this gap for %s already exists as %s; edit that gap, or describe the difference in the condition",
				f.ControlCode,
				i.ID,
			)
		}
	}
	return err
}

// controlsUsersChangedFromSoA returns the sorted codes of controls whose status users changed in
// the gap analysis, so that it differs from the Statement of Applicability.
func controlsUsersChangedFromSoA(items []api.SoAItem, findings []api.Finding) []string {
	line := make(map[string]api.Implementation, len(items))
	for _, i := range items {
		line[i.ControlCode] = i.ImplementationStatus
	}
	var codes []string
	for _, f := range findings {
		if (f.Source == sourceManual || f.IsManual("status")) && f.Status != line[f.ControlCode] {
			codes = append(codes, f.ControlCode)
		}
	}
	slices.Sort(codes)
	return slices.Compact(codes)
}

// GetGapSummary returns the totals of a version of the gap analysis.
func (s *Service) GetGapSummary(ctx context.Context, by api.Caller, in *api.GapInput) (*api.GapSummary, error) {
	out := &api.GapSummary{
		GapVersionID:      in.GapVersionID,
		ByResult:          map[api.Result]int{},
		BySeverity:        map[api.Severity]int{},
		ByDomain:          map[string]int{},
		ByType:            map[string]int{},
		DeficientMaterial: []string{},
		DiffersFromSoA:    []string{},
		Changes:           []api.GapChange{},
	}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		v, err := gapType.getVersion(tx, by.OrganizationID, in.GapVersionID)
		if err != nil {
			return err
		}
		found, err := gapType.readItems(tx, by.OrganizationID, v.ID)
		if err != nil {
			return err
		}
		for _, f := range found {
			out.Findings++
			out.ByResult[f.Result]++
			out.BySeverity[f.Severity]++
			out.ByDomain[cmp.Or(f.DomainCode, "other")]++
			out.ByType[f.GapType]++
		}
		if err := fillGapChanges(tx, by.OrganizationID, &v, found, out); err != nil {
			return err
		}
		basis := v.Inputs["soa_version_id"]
		if basis == "" {
			return nil
		}
		items, err := soaType.readItems(tx, by.OrganizationID, basis)
		if err != nil {
			return err
		}
		weights := map[string]int{} // only of controls with a finding
		for _, f := range found {
			weights[f.ControlCode] = f.Weight
		}
		for _, i := range items {
			switch {
			case !i.Applicability.IsApplicable():
			case !judge.IsAssessed(&i):
				out.NotAssessed++
			default:
				out.Controls++
				if _, short := weights[i.ControlCode]; !short && i.ImplementationStatus == api.Implemented {
					out.ByResult[api.Met]++
				}
			}
		}
		out.CompliancePct, out.ComplianceFormula = judge.CompliancePercent(items)
		out.DiffersFromSoA = append(out.DiffersFromSoA, controlsUsersChangedFromSoA(items, found)...)
		c := judge.RateConformity(items, func(code string) int { return weights[code] })
		out.Conformity, out.ConformityPct, out.ConformityFormula = c.Level, c.Percent, c.Formula
		out.DeficientMaterial = append(out.DeficientMaterial, c.DeficientMaterial...)
		return nil
	})
	return out, err
}
