package assessment

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/scf-service/service/analyst"
	"github.com/scf-service/service/catalog"
	"github.com/scf-service/service/engine/api"
	"github.com/scf-service/service/evidence"
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

// controlsOf are the controls that an assessment's frameworks bring in through
// the crosswalk, with the requirement codes each is there for; without
// frameworks, the whole catalog.
func controlsOf(snap *catalog.Snapshot, a *api.Assessment) ([]api.Control, map[string]api.RequirementCodes, error) {
	all, err := snap.Controls(catalog.ControlFilter{})
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

// draftSoA drafts a line for every control: applicability by scope, status by evidence.
func (s *Service) draftSoA(ctx context.Context, by api.Caller, a *api.Assessment) (draft[api.SoAItem], error) {
	return s.soaBy(ctx, by, a, func(snap *catalog.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error {
		return s.judgeStored(ctx, by, a, snap, controls, use)
	})
}

// soaFromEvidence drafts from the evidence of a session that is not what is stored.
func (s *Service) soaFromEvidence(ctx context.Context, by api.Caller, a *api.Assessment, session *evidence.Session) (draft[api.SoAItem], error) {
	return s.soaBy(ctx, by, a, func(snap *catalog.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error {
		all, err := snap.Controls(catalog.ControlFilter{})
		if err != nil {
			return err
		}
		asked, err := Ask(ctx, session.Embedder(), all, controls)
		if err != nil {
			return err
		}
		j, err := asked.Over(ctx, session, s.today())
		if err != nil {
			return err
		}
		return use(j, session.Documents)
	})
}

// soaBy drafts from the judgements that judge lets use have.
func (s *Service) soaBy(ctx context.Context, by api.Caller, a *api.Assessment,
	judge func(snap *catalog.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error) (d draft[api.SoAItem], err error) {
	snap, err := s.snapshot(ctx, a)
	if err != nil {
		return d, err
	}
	controls, codes, err := controlsOf(snap, a)
	if err != nil {
		return d, err
	}
	traits := map[string]api.Trait{}
	scope, err := s.scopeOf(ctx, by, a.ID)
	if err == nil {
		traits = scope.Traits
	} else if !api.IsCode(err, api.CodeNotFound) {
		return d, err
	}
	d.method = analyst.Rules
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return d, ctx.Err()
	}
	err = judge(snap, controls, func(j *Judging, documents map[string]api.Document) (err error) {
		if d.inputs, err = soaFrom(a, snap, slices.Collect(maps.Values(documents)), &scope); err != nil {
			return err
		}
		d.items, err = s.judgeAll(ctx, j, documents, controls, codes, traits)
		return err
	})
	if err != nil {
		return d, err
	}
	return d, s.keepEdits(ctx, by, a, &d)
}

// soaInputs names what an SoA would be drafted from now.
func (s *Service) soaInputs(ctx context.Context, by api.Caller, a *api.Assessment) (map[string]string, error) {
	snap, err := s.snapshot(ctx, a)
	if err != nil {
		return nil, err
	}
	docs, err := s.documents(ctx, by, a)
	if err != nil {
		return nil, err
	}
	scope, err := s.scopeOf(ctx, by, a.ID)
	if err != nil && !api.IsCode(err, api.CodeNotFound) {
		return nil, err
	}
	return soaFrom(a, snap, docs, &scope)
}

// soaFrom names what an SoA is drafted from: the catalog, the frameworks, the
// documents that were read, and the scope where there is one.
func soaFrom(a *api.Assessment, snap *catalog.Snapshot, docs []api.Document, scope *api.Scope) (map[string]string, error) {
	read := []string{}
	for _, d := range docs {
		if d.Status == api.DocumentIngested {
			read = append(read, d.SHA256)
		}
	}
	slices.Sort(read)
	documents, err := hashJSON(read)
	if err != nil {
		return nil, err
	}
	v := snap.Version()
	out := map[string]string{"catalog": v.Label, "catalog_version_id": v.ID, "frameworks": strings.Join(a.Frameworks, ", "), "documents": documents}
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

// judgeAll judges every control, with what is known of it beside the evidence.
func (s *Service) judgeAll(ctx context.Context, judge *Judging, documents map[string]api.Document, controls []api.Control, codes map[string]api.RequirementCodes, traits map[string]api.Trait) ([]api.SoAItem, error) {
	owners, foreign := map[string]string{}, 0
	for _, d := range documents {
		if d.Foreign() {
			foreign++
		}
		if d.Owner != "" {
			owners[d.ID] = d.Owner
		}
	}
	items := make([]api.SoAItem, len(controls))
	err := each(ctx, len(controls), func(ctx context.Context, n int) error {
		c := controls[n]
		in := analyst.Inclusion{Owners: owners, Documents: len(documents), Foreign: foreign}
		in.Applicability, in.Rationale = analyst.Applicability(c, traits)
		verdict, err := judge.Judge(ctx, c.Code)
		if err != nil {
			return err
		}
		items[n] = analyst.SoA(c, codes[c.Code], verdict, in)
		return nil
	})
	return items, err
}

// keepEdits carries what people set in the newest version over into a new draft.
func (s *Service) keepEdits(ctx context.Context, by api.Caller, a *api.Assessment, d *draft[api.SoAItem]) error {
	old, err := before(ctx, s, by, a, soa)
	carry(soa, d, old, func(to, from *api.SoAItem, field string) {
		to.NeedsReview = from.NeedsReview // a person has looked at the line
		switch field {
		case "applicability":
			to.Applicability = from.Applicability
		case "inclusion_reasons":
			to.InclusionReasons = from.InclusionReasons
		case "rationale":
			to.Rationale = from.Rationale
		case "implementation_status":
			to.ImplementationStatus, to.Reason = from.ImplementationStatus, from.Reason
		case "owner":
			to.Owner = from.Owner
		case "note":
			to.Note = from.Note
		}
	})
	return err
}

// before are the items of the newest version; none where there is none.
func before[V, I any](ctx context.Context, s *Service, by api.Caller, a *api.Assessment, k kind[V, I]) (old []I, err error) {
	err = s.db.View(ctx, func(tx *store.Tx) error {
		v, ok, err := k.newest(tx, by.OrganizationID, a.ID)
		if err != nil || !ok {
			return err
		}
		old, err = k.recall(tx, s, a, k.version(&v).ID)
		return err
	})
	return old, err
}

// carry copies the edited fields of the items before to the items of the same control
// in a draft, and lists the controls it did so for.
func carry[V, I any](k kind[V, I], d *draft[I], old []I, copyField func(to, from *I, field string)) {
	before, now := map[string][]*I{}, map[string]int{}
	for n := range d.items {
		now[k.item(&d.items[n]).ControlCode]++
	}
	for n := range old {
		code := k.item(&old[n]).ControlCode
		before[code] = append(before[code], &old[n])
	}
	for n := range d.items {
		to := k.item(&d.items[n])
		from := k.pick(before[to.ControlCode], &d.items[n], now[to.ControlCode])
		if from == nil || len(k.item(from).EditedFields) == 0 {
			continue
		}
		for _, f := range k.item(from).EditedFields {
			copyField(&d.items[n], from, f)
		}
		to.EditedBy, to.EditedFields = k.item(from).EditedBy, k.item(from).EditedFields
		if !slices.Contains(d.kept, to.ControlCode) {
			d.kept = append(d.kept, to.ControlCode)
		}
	}
}

// pick is the one of a control's items before that is the same as an item now: where
// the control has one of each, that one; else the one that says the same, if any.
func (k kind[V, I]) pick(before []*I, item *I, now int) *I {
	if len(before) == 1 && now == 1 {
		return before[0]
	}
	at := slices.IndexFunc(before, func(b *I) bool { return k.same != nil && k.same(b, item) })
	if at < 0 {
		return nil
	}
	return before[at]
}

// DraftSoA drafts the next version.
func (s *Service) DraftSoA(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.SoAVersion, error) {
	defer s.moving.lock(in.AssessmentID)()
	if err := s.evidence.Wait(ctx, by, in.AssessmentID); err != nil {
		return nil, err
	}
	return writeDraft(ctx, s, by, in.AssessmentID, soa, s.draftSoA, nil)
}

// ListSoA lists versions, newest first.
func (s *Service) ListSoA(ctx context.Context, by api.Caller, in *api.AssessmentListInput) (*api.List[api.SoAVersion], error) {
	return list(ctx, s, by, soa, in)
}

// GetSoA is one version.
func (s *Service) GetSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return getVersion(ctx, s, by, soa, in.SoAVersionID)
}

// ListSoAItems lists a version's items by control code.
func (s *Service) ListSoAItems(ctx context.Context, by api.Caller, in *api.SoAItemsInput) (*api.List[api.SoAItem], error) {
	q := strings.ToLower(in.Q)
	return listItems(ctx, s, by, soa, in.SoAVersionID, *in, in.Paging, in.Sort, soaOrder, func(i *api.SoAItem) bool {
		return about(i.Item, in.Domain, in.ControlCode) && (in.Applicability == "" || i.Applicability == in.Applicability) &&
			(in.ImplementationStatus == "" || i.ImplementationStatus == in.ImplementationStatus) && (in.Status == "" || i.ImplementationStatus == in.Status) &&
			(in.EvidenceCoverage == "" || i.EvidenceCoverage == in.EvidenceCoverage) &&
			(in.Framework == "" || len(i.RequirementCodes[in.Framework]) > 0) && owned(in.Owner, i.Owner) &&
			(in.NeedsReview == "" || fmt.Sprint(i.NeedsReview) == in.NeedsReview) && mentions(q, i.ControlCode, i.ControlTitle, i.Rationale, i.Reason)
	})
}

// about tells whether an item is of a domain and control; empty ones do not narrow.
func about(i api.Item, domain, control string) bool {
	return (domain == "" || strings.EqualFold(i.DomainCode, domain)) && (control == "" || strings.EqualFold(i.ControlCode, control))
}

func owned(want string, owner *string) bool {
	return want == "" || (owner != nil && strings.EqualFold(*owner, want))
}

func mentions(q string, texts ...string) bool {
	return q == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), q) })
}

// UpdateSoAItem changes an item by a person's hand.
func (s *Service) UpdateSoAItem(ctx context.Context, by api.Caller, in *api.UpdateSoAItemInput) (*api.SoAItem, error) {
	b := in.Body
	if err := owner(b.Owner.Value); err != nil {
		return nil, err
	}
	return edit(ctx, s, by, soa, in.SoAItemID, in.Match, func(i *api.SoAItem) ([]string, error) {
		var f fields
		assign(&f, "applicability", &i.Applicability, b.Applicability)
		assign(&f, "inclusion_reasons", &i.InclusionReasons, b.InclusionReasons)
		assign(&f, "rationale", &i.Rationale, b.Rationale)
		assign(&f, "implementation_status", &i.ImplementationStatus, b.ImplementationStatus)
		f.note("owner", b.Owner.Apply(&i.Owner))
		f.note("note", b.Note.Apply(&i.Note))
		assign(&f, "needs_review", &i.NeedsReview, b.NeedsReview)
		if b.Applicability != nil && !i.Applicability.In() && i.Applicability != api.Undecided && !slices.Contains(append(i.EditedFields, f...), "rationale") {
			// The draft's rationale says why the control applies; leaving it out wants a person's.
			return nil, api.Invalid("rationale", "say why %s is %s", i.ControlCode, strings.ReplaceAll(string(i.Applicability), "_", " "))
		}
		if b.ImplementationStatus != nil {
			i.Reason = "Set by " + by.Actor.Name + "."
		}
		switch out := !i.Applicability.In() && i.Applicability != api.Undecided; {
		case out && b.ImplementationStatus != nil && *b.ImplementationStatus != api.NotAssessed:
			return nil, api.Invalid("implementation_status", "%s can't be %s and %s; what does not apply is not assessed", i.ControlCode, plain(i.Applicability), plain(*b.ImplementationStatus))
		case b.Applicability == nil || b.ImplementationStatus != nil:
		case !i.Applicability.In():
			i.ImplementationStatus = api.NotAssessed // what does not apply is not assessed
			f.note("implementation_status", true)
		case i.ImplementationStatus == api.NotAssessed:
			// It applies again, so the next draft judges it again.
			i.Reason = "Not assessed yet: it was left out when the evidence was judged. Draft the Statement of Applicability again."
			if slices.Contains(i.EditedFields, "implementation_status") {
				f = append(f, handedBack+"implementation_status")
			}
		}
		if err := f.handBack(&i.Item, b.Reset); err != nil {
			return nil, err
		}
		if b.NeedsReview == nil && len(f) > 0 {
			i.NeedsReview = false // a person has looked at it
		}
		for _, r := range i.InclusionReasons {
			if !slices.Contains([]string{"legal", "contractual", "risk", "best_practice", "framework"}, r) {
				return nil, api.Invalid("inclusion_reasons", "there is no inclusion reason %q", r)
			}
		}
		if !i.Applicability.In() && i.Applicability != api.Undecided && api.Blank(i.Rationale) {
			return nil, api.Invalid("rationale", "say why %s is %s", i.ControlCode, i.Applicability)
		}
		return f, nil
	})
}

// plain writes a value for people.
func plain[T ~string](v T) string { return strings.ReplaceAll(string(v), "_", " ") }

// fields are the names of those a change set.
type fields []string

func (f *fields) note(name string, set bool) {
	if set {
		*f = append(*f, name)
	}
}

func assign[T any](f *fields, name string, dst *T, v *T) {
	set(dst, v)
	f.note(name, v != nil)
}

// SubmitSoA puts a version under review.
func (s *Service) SubmitSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return submitVersion(ctx, s, by, soa, in.SoAVersionID, submitSoA)
}

// ApproveSoA approves a version.
func (s *Service) ApproveSoA(ctx context.Context, by api.Caller, in *api.DecideSoAInput) (*api.SoAVersion, error) {
	return approveVersion(ctx, s, by, soa, in.SoAVersionID, in.Body)
}

// submitSoA refuses a version whose integrity does not hold.
func submitSoA(tx *store.Tx, org string, v *api.SoAVersion) error {
	items, err := soa.itemsOf(tx, org, v.ID)
	if err != nil {
		return err
	}
	var details []api.ErrorDetail
	for _, issue := range validate(items) {
		if issue.Severity == "error" {
			details = append(details, api.ErrorDetail{Field: issue.ControlCode, Message: issue.Message})
		}
	}
	if len(details) == 0 {
		return nil
	}
	return api.Conflict("%d items keep the Statement of Applicability from review; the first is %s: %s", len(details), details[0].Field, details[0].Message).With(details...)
}

// ValidateSoA checks a version against the named rules.
func (s *Service) ValidateSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAValidation, error) {
	out := &api.SoAValidation{SoAVersionID: in.SoAVersionID}
	err := s.db.View(ctx, func(tx *store.Tx) error {
		if _, err := soa.get(tx, by.OrganizationID, in.SoAVersionID); err != nil {
			return err
		}
		items, err := soa.itemsOf(tx, by.OrganizationID, in.SoAVersionID)
		out.Issues = validate(items)
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

// rules are what an item must keep; a broken error blocks submission.
var rules = []struct {
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
		if (i.Applicability == api.NotApplicable || i.Applicability == api.OutOfScope) && api.Blank(i.Rationale) {
			return "say why the control is " + string(i.Applicability)
		}
		return ""
	}},
	{"inclusion-justified", "warning", func(i *api.SoAItem) string {
		if i.Applicability.In() && len(i.InclusionReasons) == 0 {
			return "no reason says why the control is included"
		}
		return ""
	}},
	{"applicable-assessed", "warning", func(i *api.SoAItem) string {
		if i.Applicability.In() && i.ImplementationStatus == api.NotAssessed {
			return "it applies, but was not assessed; draft again to have the evidence judged"
		}
		return ""
	}},
	{"implemented-evidenced", "warning", func(i *api.SoAItem) string {
		if i.Applicability.In() && i.ImplementationStatus == api.Implemented && len(i.Evidence) == 0 {
			return "said to be implemented, without a passage of evidence"
		}
		return ""
	}},
	{"owner-named", "warning", func(i *api.SoAItem) string {
		if i.Applicability.In() && i.Owner == nil {
			return "no owner is named"
		}
		return ""
	}},
}

func validate(items []api.SoAItem) []api.ValidationIssue {
	out := []api.ValidationIssue{}
	for n := range items {
		for _, r := range rules {
			if why := r.broken(&items[n]); why != "" {
				out = append(out, api.ValidationIssue{Rule: r.name, Severity: r.severity, ItemID: items[n].ID, ControlCode: items[n].ControlCode, Message: why})
			}
		}
	}
	return out
}

// RegenerateSoA drafts again, keeping what people edited.
func (s *Service) RegenerateSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	v, err := getVersion(ctx, s, by, soa, in.SoAVersionID)
	if err != nil {
		return nil, err
	}
	return s.DraftSoA(ctx, by, &api.AssessmentInput{AssessmentID: v.AssessmentID})
}

// RefreshSoAEvidence looks for the evidence again: the next version, with what
// people decided kept.
func (s *Service) RefreshSoAEvidence(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return s.RegenerateSoA(ctx, by, in)
}
