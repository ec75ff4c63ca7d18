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

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/engine/evidence"
	"github.com/scf-service/service/engine/judge"
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
func controlsOf(snap *scf.Snapshot, a *api.Assessment) ([]api.Control, map[string]api.RequirementCodes, error) {
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

// draftSoA drafts a line for every control: applicability by scope, status by evidence.
func (s *Service) draftSoA(ctx context.Context, by api.Caller, a *api.Assessment) (draft[api.SoAItem], error) {
	return s.draftSoAWithout("", nil)(ctx, by, a)
}

// draftSoAWithout is draftSoA where a person had not brought in the line of this id, if its applicability is
// among the fields that are reset.
func (s *Service) draftSoAWithout(id string, reset []string) maker[api.SoAItem] {
	if !slices.Contains(reset, "applicability") && !slices.Contains(reset, "all") {
		id = ""
	}
	return func(ctx context.Context, by api.Caller, a *api.Assessment) (draft[api.SoAItem], error) {
		return s.soaOfStored(ctx, by, a, id)
	}
}

func (s *Service) soaOfStored(ctx context.Context, by api.Caller, a *api.Assessment, except string) (draft[api.SoAItem], error) {
	return s.soaBy(ctx, by, a, except, func(snap *scf.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error {
		return s.judgeStored(ctx, by, a, snap, controls, use)
	})
}

// soaFromEvidence drafts from the evidence of a session that is not what is stored.
func (s *Service) soaFromEvidence(ctx context.Context, by api.Caller, a *api.Assessment, session *evidence.Session) (draft[api.SoAItem], error) {
	return s.soaBy(ctx, by, a, "", func(snap *scf.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error {
		all, err := snap.Controls(scf.ControlFilter{})
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

// soaBy drafts from the judgements that judge lets use have. Of the lines that people brought in, except is none.
func (s *Service) soaBy(ctx context.Context, by api.Caller, a *api.Assessment, except string,
	evaluate func(snap *scf.Snapshot, controls []api.Control, use func(*Judging, map[string]api.Document) error) error) (d draft[api.SoAItem], err error) {
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
	d.method = judge.Rules
	old, err := before(ctx, s, a, soa, nil)
	if err != nil {
		return d, err
	}
	select {
	case s.judging <- struct{}{}:
		defer func() { <-s.judging }()
	case <-ctx.Done():
		return d, ctx.Err()
	}
	err = evaluate(snap, controls, func(j *Judging, documents map[string]api.Document) (err error) {
		if d.inputs, err = soaFrom(a, snap, slices.Collect(maps.Values(documents)), &scope); err != nil {
			return err
		}
		d.items, err = s.judgeAll(ctx, j, documents, controls, codes, traits, broughtIn(old.items, except))
		return err
	})
	d.over = func(d *draft[api.SoAItem], old *former[api.SoAItem]) {
		carry(soa, d, old.items, copySoA)
		dropStatus(d)
	}
	return d, err
}

// broughtIn are the lines that a person decided to have in, by control: they are judged, whatever
// the scope says of them.
func broughtIn(old []api.SoAItem, except string) map[string]*api.SoAItem {
	out := map[string]*api.SoAItem{}
	for n := range old {
		if i := &old[n]; i.ID != except && i.Applicability.In() && i.EditedBy != nil && i.SetByHand("applicability") {
			out[i.ControlCode] = i
		}
	}
	return out
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
func soaFrom(a *api.Assessment, snap *scf.Snapshot, docs []api.Document, scope *api.Scope) (map[string]string, error) {
	documents, err := documentsHash(docs)
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

// judgeAll judges every control, with what is known of it beside the evidence; in are those
// that a person brought in.
func (s *Service) judgeAll(ctx context.Context, evaluation *Judging, documents map[string]api.Document, controls []api.Control, codes map[string]api.RequirementCodes, traits map[string]api.Trait, in map[string]*api.SoAItem) ([]api.SoAItem, error) {
	owners, foreign := map[string]string{}, 0
	for _, d := range documents {
		if d.Foreign() {
			foreign++
		}
		if d.Owner != "" {
			owners[d.ID] = d.Owner
		}
	}
	judge.SameOwners(owners)
	items := make([]api.SoAItem, len(controls))
	err := each(ctx, len(controls), func(ctx context.Context, n int) error {
		c := controls[n]
		why := judge.Inclusion{Owners: owners, Documents: len(documents), Foreign: foreign}
		why.Applicability, why.Rationale = judge.Applicability(c, traits)
		if i := in[c.Code]; i != nil {
			why.Include(i.Applicability, *i.EditedBy)
		}
		verdict, err := evaluation.Judge(ctx, c.Code)
		if err != nil {
			return err
		}
		items[n] = judge.SoA(c, codes[c.Code], verdict, why)
		return nil
	})
	return items, err
}

// reviewing are the fields whose edit is a person's judgement of the line, which then needs no
// review; an owner or a note is none.
var reviewing = []string{"applicability", "implementation_status", "needs_review"}

func copySoA(to, from *api.SoAItem, field string) {
	if slices.Contains(reviewing, field) && (judge.Assessed(from) || !judge.Assessed(to)) {
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
		if from.Applicability.In() || !to.Applicability.In() { // that of a line left out is none
			to.ImplementationStatus, to.Reason = from.ImplementationStatus, from.Reason
		}
	case "owner":
		to.Owner = from.Owner
	case "note":
		to.Note = from.Note
	}
}

// dropStatus takes a status that a person set from lines that do not apply any more, and says so.
func dropStatus(d *draft[api.SoAItem]) {
	for n := range d.items {
		i := &d.items[n]
		if !contradicts(i) {
			continue
		}
		i.Reason = fmt.Sprintf("Not assessed: what is %s is not assessed. The status that %s set, %s, is dropped.", plain(i.Applicability), text(i.EditedBy), plain(i.ImplementationStatus))
		i.ImplementationStatus = api.NotAssessed
		i.EditedFields = slices.DeleteFunc(slices.Clone(i.EditedFields), func(f string) bool { return f == "implementation_status" })
		if len(i.EditedFields) == 0 {
			i.EditedBy = nil
			d.kept = slices.DeleteFunc(d.kept, func(code string) bool { return code == i.ControlCode })
		}
	}
}

// leftOut tells whether it was decided that a line does not apply.
func leftOut(i *api.SoAItem) bool { return !i.Applicability.In() && i.Applicability != api.Undecided }

// contradicts tells whether a line is left out and has a status at once.
func contradicts(i *api.SoAItem) bool {
	return leftOut(i) && i.ImplementationStatus != api.NotAssessed
}

// DraftSoA drafts the next version.
func (s *Service) DraftSoA(ctx context.Context, by api.Caller, in *api.AssessmentInput) (*api.SoAVersion, error) {
	return s.nextSoA(ctx, by, in.AssessmentID, s.draftSoA)
}

func (s *Service) nextSoA(ctx context.Context, by api.Caller, assessment string, make maker[api.SoAItem]) (*api.SoAVersion, error) {
	defer s.moving.lock(assessment)()
	if err := s.evidence.Wait(ctx, by, assessment); err != nil {
		return nil, err
	}
	return writeDraft(ctx, s, by, assessment, soa, make, nil)
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
	asked, q := *in, strings.ToLower(in.Q)
	answers, err := narrow(ctx, s, by, soa, in.SoAVersionID, narrowing{domain: &asked.Domain, control: &asked.ControlCode, framework: &asked.Framework, requirement: &asked.Requirement})
	if err != nil {
		return nil, err
	}
	in = &asked
	return listItems(ctx, s, by, soa, in.SoAVersionID, asked, in.Paging, in.Sort, soaOrder, func(i *api.SoAItem) bool {
		return about(i.Item, in.Domain, in.ControlCode) && answers(i.RequirementCodes) && (in.Applicability == "" || i.Applicability == in.Applicability) &&
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

// owned tells whether an item is of an owner, named whole or without what stands behind the name.
func owned(want string, owner *string) bool {
	return want == "" || owner != nil && (strings.EqualFold(*owner, want) || strings.EqualFold(judge.NameOf(*owner), want))
}

func mentions(q string, texts ...string) bool {
	return q == "" || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(strings.ToLower(t), q) })
}

// GetSoAItem is one item.
func (s *Service) GetSoAItem(ctx context.Context, by api.Caller, in *api.SoAItemInput) (*api.SoAItem, error) {
	return getItem(ctx, s, by, soa, "SoA item", in.SoAItemID)
}

// UpdateSoAItem changes an item by a person's hand.
func (s *Service) UpdateSoAItem(ctx context.Context, by api.Caller, in *api.UpdateSoAItemInput) (*api.SoAItem, error) {
	b := in.Body
	if err := owner(b.Owner.Value); err != nil {
		return nil, err
	}
	rules, err := rulesLine(ctx, s, by, soa, in.SoAItemID, b.Reset, s.draftSoAWithout(in.SoAItemID, b.Reset))
	if err != nil {
		return nil, err
	}
	return edit(ctx, s, by, soa, in.SoAItemID, in.Match, func(i *api.SoAItem) ([]string, error) {
		var f fields
		out := !i.Applicability.In()
		assign(&f, "applicability", &i.Applicability, b.Applicability)
		assign(&f, "inclusion_reasons", &i.InclusionReasons, b.InclusionReasons)
		assign(&f, "rationale", &i.Rationale, b.Rationale)
		assign(&f, "implementation_status", &i.ImplementationStatus, b.ImplementationStatus)
		f.note("owner", orNobody(b.Owner).Apply(&i.Owner))
		f.note("note", b.Note.Apply(&i.Note))
		assign(&f, "needs_review", &i.NeedsReview, b.NeedsReview)
		if b.Applicability != nil && leftOut(i) && !slices.Contains(append(i.EditedFields, f...), "rationale") {
			// The draft's rationale says why the control applies; leaving it out wants a person's.
			return nil, api.Invalid("rationale", "say why %s is %s", i.ControlCode, strings.ReplaceAll(string(i.Applicability), "_", " "))
		}
		if b.ImplementationStatus != nil {
			i.Reason = judge.ByPerson(by.Actor.Name)
		}
		if out && i.Applicability.In() && b.Rationale == nil { // the one there was said why it is out
			i.Rationale = judge.BroughtIn(by.Actor.Name)
			if i.SetByHand("rationale") {
				f = append(f, handedBack+"rationale")
			}
		}
		switch out := leftOut(i); {
		case out && b.ImplementationStatus != nil && *b.ImplementationStatus != api.NotAssessed:
			return nil, api.Invalid("implementation_status", "%s can't be %s and %s; what does not apply is not assessed", i.ControlCode, plain(i.Applicability), plain(*b.ImplementationStatus))
		case b.Applicability == nil || b.ImplementationStatus != nil:
		case !i.Applicability.In():
			i.ImplementationStatus = api.NotAssessed // what does not apply is not assessed
			i.Reason = fmt.Sprintf("Not assessed: %s set the control to %s.", by.Actor.Name, plain(i.Applicability))
			f.note("implementation_status", true)
		case i.ImplementationStatus == api.NotAssessed:
			// It applies again, so the next draft judges it again.
			i.Reason = "Not assessed yet: it was left out when the evidence was judged. Draft the Statement of Applicability again."
			if i.SetByHand("implementation_status") {
				f = append(f, handedBack+"implementation_status")
			}
		}
		if err := f.handBack(&i.Item, b.Reset); err != nil {
			return nil, err
		}
		if slices.Contains(f, handedBack+"applicability") && !i.Applicability.In() {
			for _, with := range []string{"implementation_status", "rationale"} { // set because the line was left out
				if i.SetByHand(with) && !slices.Contains(f, with) && !slices.Contains(f, handedBack+with) {
					f = append(f, handedBack+with)
				}
			}
		}
		if rules != nil {
			for _, name := range f {
				if back, is := cutHandedBack(name); is {
					copySoA(i, rules, back)
				}
			}
			if slices.Contains(f, handedBack+"applicability") && !i.SetByHand("implementation_status") {
				i.ImplementationStatus, i.Reason = rules.ImplementationStatus, rules.Reason // it follows from that
			}
		}
		if b.NeedsReview == nil && slices.ContainsFunc(f, func(name string) bool { return slices.Contains(reviewing, name) }) {
			i.NeedsReview = false
		}
		for n, r := range i.InclusionReasons {
			if slices.Contains(i.InclusionReasons[:n], r) {
				return nil, api.Invalid("inclusion_reasons", "%q stands twice", r)
			}
			if !slices.Contains([]string{"legal", "contractual", "risk", "best_practice", "framework"}, r) {
				return nil, api.Invalid("inclusion_reasons", "there is no inclusion reason %q", r)
			}
		}
		if leftOut(i) && api.Blank(i.Rationale) {
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
		v, err := soa.get(tx, by.OrganizationID, in.SoAVersionID)
		if err != nil {
			return err
		}
		items, err := soa.itemsOf(tx, by.OrganizationID, in.SoAVersionID)
		if err != nil {
			return err
		}
		gone, err := undermined(tx, &v, items)
		out.Issues = append(gone, validate(items)...)
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
	{"excluded-not-assessed", "error", func(i *api.SoAItem) string {
		if contradicts(i) {
			return fmt.Sprintf("it can't be %s and %s at once; decide again whether it applies", plain(i.Applicability), plain(i.ImplementationStatus))
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
			if i.SetByHand("implementation_status") {
				return "it applies, but a person set it to not assessed"
			}
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
	if len(items) > 0 && !slices.ContainsFunc(items, func(i api.SoAItem) bool { return i.Applicability.In() || i.Applicability == api.Undecided }) {
		out = append(out, api.ValidationIssue{Rule: "something-applies", Severity: "warning", Message: "none of the controls applies, so there is nothing to assess; look at the scope and its traits"})
	}
	return out
}

// RegenerateSoA drafts again, keeping what people edited. What is under review or approved
// stands where nothing has changed.
func (s *Service) RegenerateSoA(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	v, err := getVersion(ctx, s, by, soa, in.SoAVersionID)
	if err != nil {
		return nil, err
	}
	return s.nextSoA(ctx, by, v.AssessmentID, again(s.draftSoA))
}

// RefreshSoAEvidence looks for the evidence again: the next version, with what
// people decided kept.
func (s *Service) RefreshSoAEvidence(ctx context.Context, by api.Caller, in *api.SoAInput) (*api.SoAVersion, error) {
	return s.RegenerateSoA(ctx, by, in)
}
