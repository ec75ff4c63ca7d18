package catalog

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine/audit"
	"github.com/scf-service/service/engine/catalog/custom"
	"github.com/scf-service/service/engine/catalog/scf"
	"github.com/scf-service/service/store"
)

const (
	// maxCustomFile is the maximum size of an imported file of custom frameworks and controls.
	// maxCustomCatalog is the maximum total size of everything that an organization adds.
	maxCustomFile    = 8 << 20
	maxCustomCatalog = 16 << 20
	// maxChangeAttempts is how often a change is attempted if other changes interfere with it.
	maxChangeAttempts = 5
)

// customDraft is a copy of a revision. A change modifies the copy, which then becomes the next revision.
type customDraft struct {
	store.CustomCatalog
	updatedBy string
	now       time.Time
}

func (c *customDraft) frameworkIndex(code string) int {
	return slices.IndexFunc(c.Frameworks, func(f api.CustomFramework) bool { return f.Code == code })
}

func (c *customDraft) controlIndex(code string) int {
	return slices.IndexFunc(c.Controls, func(k api.CustomControl) bool { return k.Code == code })
}

func (c *customDraft) newMetadata(createdAt time.Time) api.CustomMetadata {
	return api.CustomMetadata{OrganizationID: c.OrganizationID, IsCustom: true, UpdatedBy: c.updatedBy, CreatedAt: createdAt, UpdatedAt: c.now}
}

// putFramework replaces the framework at index at, or adds a new one if at is negative.
func (c *customDraft) putFramework(at int, b api.CustomFrameworkBody) {
	f := api.CustomFramework{CustomFrameworkBody: b, CustomMetadata: c.newMetadata(c.now), RequirementCount: len(b.Requirements)}
	if at < 0 {
		f.Revision = 1
		c.Frameworks = append(c.Frameworks, f)
		return
	}
	f.CreatedAt, f.Revision = c.Frameworks[at].CreatedAt, c.Frameworks[at].Revision+1
	c.Frameworks[at] = f
}

func (c *customDraft) putControl(at int, b api.CustomControlBody) {
	k := api.CustomControl{CustomControlBody: b, CustomMetadata: c.newMetadata(c.now)}
	if at < 0 {
		k.Revision = 1
		c.Controls = append(c.Controls, k)
		return
	}
	k.CreatedAt, k.Revision = c.Controls[at].CreatedAt, c.Controls[at].Revision+1
	c.Controls[at] = k
}

// errNoChange is returned by a change function to stop an update that would change nothing.
var errNoChange = errors.New("nothing changes")

// updateCustom creates the next revision of an organization's frameworks and controls. It calls change on a copy of
// the latest revision, and checks the result against the active catalog version before storing it. It retries after a
// concurrent change, so change may be called more than once.
func (s *Service) updateCustom(
	ctx context.Context,
	by api.Caller,
	action string,
	dryRun bool,
	change func(*customDraft) error,
) (revision int, _ error) {
	for range maxChangeAttempts {
		var old store.CustomCatalog
		head, err := s.withLatestRevision(ctx, by.OrganizationID, func(head int) (err error) {
			old, err = s.readCustomRevision(ctx, by.OrganizationID, head)
			return err
		})
		if err != nil {
			return 0, err
		}
		next := customDraft{CustomCatalog: old, updatedBy: by.Actor.Name, now: s.clock().UTC()}
		next.Frameworks, next.Controls = slices.Clone(old.Frameworks), slices.Clone(old.Controls)
		if err := change(&next); errors.Is(err, errNoChange) {
			return head, nil
		} else if err != nil {
			return 0, err
		}
		if err := s.checkCustomRevision(ctx, &old, &next.CustomCatalog); err != nil {
			return 0, err
		}
		if dryRun {
			return head, nil
		}
		saved, err := s.saveCustomRevision(ctx, by, head, &next, action)
		if saved || err != nil {
			return next.Revision, err
		}
	}
	return 0, api.Conflict("someone else is changing your frameworks and controls; try again")
}

// checkCustomRevision returns an error if the next revision is invalid on its own, or if it refers to a record that is
// missing from the active catalog. References that were already broken in the old revision are allowed.
func (s *Service) checkCustomRevision(ctx context.Context, old, next *store.CustomCatalog) error {
	base, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if err := base.CheckCustom(toCustom(next)); err != nil {
		return customToAPIError(err)
	}
	if b, err := json.Marshal(next); err != nil || len(b) > maxCustomCatalog {
		return errors.Join(err, api.Invalid("", "your frameworks and controls exceed the total limit of %d MiB", maxCustomCatalog>>20))
	}
	_, before, err := base.WithCustom(toCustom(old))
	if err != nil {
		return err
	}
	_, after, err := base.WithCustom(toCustom(next))
	if err != nil {
		return customToAPIError(err)
	}
	label := base.Version().Label
	for _, code := range slices.Sorted(maps.Keys(after)) {
		for _, what := range after[code] {
			if !slices.Contains(before[code], what) {
				return api.Invalid(
					"controls",
					"%s refers to %q, which is neither in catalog version %s nor one of your custom frameworks and controls",
					code,
					scf.Shorten(what),
					label,
				)
			}
		}
	}
	return nil
}

// customToAPIError converts an error in a custom framework or control to a validation error.
func customToAPIError(err error) error {
	var wrong *scf.CustomError
	if errors.As(err, &wrong) {
		return api.Invalid(wrong.Place, "%s", wrong.Error()).WithCause(err)
	}
	return err
}

// saveCustomRevision stores the next revision, unless another one has been stored since revision
// head. It deletes the revisions that assessments no longer use.
func (s *Service) saveCustomRevision(
	ctx context.Context,
	by api.Caller,
	head int,
	next *customDraft,
	action string,
) (saved bool, err error) {
	org := by.OrganizationID
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		now, err := store.CustomCatalogHeads.Get(tx, org, "head")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if saved = now.Revision == head; !saved {
			return nil
		}
		next.OrganizationID, next.Revision, next.CreatedAt = org, head+1, tx.Now()
		used := map[int]bool{next.Revision: true}
		for a, err := range store.Assessments.Scan(tx, org) {
			if err != nil {
				return err
			}
			used[a.CustomRevision] = true
		}
		for r := 1; r <= head; r++ {
			if !used[r] {
				if err := store.CustomCatalogs.Delete(tx, org, int64(r)); err != nil && !errors.Is(err, store.ErrNotFound) {
					return err
				}
			}
		}
		return errors.Join(store.CustomCatalogs.Put(tx, org, &next.CustomCatalog),
			store.CustomCatalogHeads.Put(tx, org, &store.CustomCatalogHead{OrganizationID: org, Revision: next.Revision}),
			audit.Append(tx, by, audit.Entry{
				Action: action, ResourceType: "custom_catalog", ResourceID: fmt.Sprint(next.Revision),
				Changes: map[string]any{"revision": next.Revision, "frameworks": len(next.Frameworks), "controls": len(next.Controls)},
			}))
	})
	return saved, err
}

// ListCustomFrameworks lists the frameworks that an organization has added, without their requirements.
func (s *Service) ListCustomFrameworks(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.CustomFramework], error) {
	rec, missing, err := s.latestCustomRevision(ctx, by)
	if err != nil {
		return nil, err
	}
	for i := range rec.Frameworks {
		rec.Frameworks[i].Requirements, rec.Frameworks[i].Unresolved = nil, missing[rec.Frameworks[i].Code]
	}
	return paginate(rec.Frameworks, *in, func(f *api.CustomFramework) string { return f.Code })
}

// latestCustomRevision returns the latest revision of an organization's frameworks and controls. It also returns their
// references to records that are missing from the active catalog version.
func (s *Service) latestCustomRevision(
	ctx context.Context,
	by api.Caller,
) (rec store.CustomCatalog, missing map[string][]string, err error) {
	_, err = s.withLatestRevision(ctx, by.OrganizationID, func(head int) error {
		if head == 0 {
			return nil
		}
		if rec, err = s.readCustomRevision(ctx, by.OrganizationID, head); err != nil {
			return err
		}
		base, err := s.Snapshot(ctx, "")
		if err != nil {
			return err
		}
		own, err := s.loadCustomSnapshot(ctx, base, by.OrganizationID, head)
		missing = own.missing
		return err
	})
	return rec, missing, err
}

// GetCustomFramework returns one of the organization's own frameworks.
func (s *Service) GetCustomFramework(ctx context.Context, by api.Caller, in *api.CustomFrameworkInput) (*api.CustomFramework, error) {
	rec, missing, err := s.latestCustomRevision(ctx, by)
	if err != nil {
		return nil, err
	}
	at := (&customDraft{CustomCatalog: rec}).frameworkIndex(in.FrameworkCode)
	if at < 0 {
		return nil, api.NotFound("custom framework", in.FrameworkCode)
	}
	rec.Frameworks[at].Unresolved = missing[in.FrameworkCode]
	return &rec.Frameworks[at], nil
}

// CreateCustomFramework adds a framework to the organization's own frameworks.
func (s *Service) CreateCustomFramework(
	ctx context.Context,
	by api.Caller,
	in *api.CreateCustomFrameworkInput,
) (*api.CustomFramework, error) {
	_, err := s.updateCustom(ctx, by, "custom_framework.created", false, func(c *customDraft) error {
		if c.frameworkIndex(in.Body.Code) >= 0 {
			return api.Invalid("code", "framework %s already exists; replace it, or choose another code", scf.Shorten(in.Body.Code))
		}
		c.putFramework(-1, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomFramework(ctx, by, &api.CustomFrameworkInput{FrameworkCode: in.Body.Code})
}

// PutCustomFramework replaces one of the organization's own frameworks.
func (s *Service) PutCustomFramework(ctx context.Context, by api.Caller, in *api.PutCustomFrameworkInput) (*api.CustomFramework, error) {
	if in.Body.Code != in.FrameworkCode {
		return nil, api.Invalid(
			"code",
			"the code in the path (%q) differs from the code in the body (%q); codes can't be changed",
			scf.Shorten(in.FrameworkCode),
			scf.Shorten(in.Body.Code),
		)
	}
	_, err := s.updateCustom(ctx, by, "custom_framework.replaced", false, func(c *customDraft) error {
		at := c.frameworkIndex(in.FrameworkCode)
		if at < 0 {
			return api.NotFound("custom framework", in.FrameworkCode)
		}
		if err := in.Match.Check(c.Frameworks[at].Revision); err != nil {
			return err
		}
		c.putFramework(at, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomFramework(ctx, by, &in.CustomFrameworkInput)
}

// DeleteCustomFramework removes a framework from the organization's latest revision. Assessments that use the
// framework keep it.
func (s *Service) DeleteCustomFramework(ctx context.Context, by api.Caller, in *api.DeleteCustomFrameworkInput) (*api.None, error) {
	_, err := s.updateCustom(ctx, by, "custom_framework.deleted", false, func(c *customDraft) error {
		at := c.frameworkIndex(in.FrameworkCode)
		if at < 0 {
			return api.NotFound("custom framework", in.FrameworkCode)
		}
		if err := in.Match.Check(c.Frameworks[at].Revision); err != nil {
			return err
		}
		c.Frameworks = slices.Delete(c.Frameworks, at, at+1)
		return nil
	})
	return &api.None{}, err
}

// ListCustomControls lists the controls that an organization has added.
func (s *Service) ListCustomControls(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.CustomControl], error) {
	rec, missing, err := s.latestCustomRevision(ctx, by)
	if err != nil {
		return nil, err
	}
	for i := range rec.Controls {
		rec.Controls[i].Unresolved = missing[rec.Controls[i].Code]
	}
	return paginate(rec.Controls, *in, func(c *api.CustomControl) string { return c.Code })
}

// GetCustomControl returns one of the organization's own controls.
func (s *Service) GetCustomControl(ctx context.Context, by api.Caller, in *api.CustomControlInput) (*api.CustomControl, error) {
	rec, missing, err := s.latestCustomRevision(ctx, by)
	if err != nil {
		return nil, err
	}
	code := strings.ToUpper(in.ControlCode)
	at := (&customDraft{CustomCatalog: rec}).controlIndex(code)
	if at < 0 {
		return nil, api.NotFound("custom control", in.ControlCode)
	}
	rec.Controls[at].Unresolved = missing[code]
	return &rec.Controls[at], nil
}

// CreateCustomControl adds a control to the organization's own controls.
func (s *Service) CreateCustomControl(ctx context.Context, by api.Caller, in *api.CreateCustomControlInput) (*api.CustomControl, error) {
	_, err := s.updateCustom(ctx, by, "custom_control.created", false, func(c *customDraft) error {
		if c.controlIndex(in.Body.Code) >= 0 {
			return api.Invalid("code", "control %s already exists; replace it, or choose another code", scf.Shorten(in.Body.Code))
		}
		c.putControl(-1, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomControl(ctx, by, &api.CustomControlInput{ControlCode: in.Body.Code})
}

// PutCustomControl replaces one of the organization's own controls.
func (s *Service) PutCustomControl(ctx context.Context, by api.Caller, in *api.PutCustomControlInput) (*api.CustomControl, error) {
	if !strings.EqualFold(in.Body.Code, in.ControlCode) {
		return nil, api.Invalid(
			"code",
			"the code in the path (%q) differs from the code in the body (%q); codes can't be changed",
			scf.Shorten(in.ControlCode),
			scf.Shorten(in.Body.Code),
		)
	}
	_, err := s.updateCustom(ctx, by, "custom_control.replaced", false, func(c *customDraft) error {
		at := c.controlIndex(in.Body.Code)
		if at < 0 {
			return api.NotFound("custom control", in.ControlCode)
		}
		if err := in.Match.Check(c.Controls[at].Revision); err != nil {
			return err
		}
		c.putControl(at, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomControl(ctx, by, &in.CustomControlInput)
}

// DeleteCustomControl removes a control from the organization's latest revision. Assessments that use the
// control keep it. It is an error if one of the organization's frameworks refers to the control.
func (s *Service) DeleteCustomControl(ctx context.Context, by api.Caller, in *api.DeleteCustomControlInput) (*api.None, error) {
	_, err := s.updateCustom(ctx, by, "custom_control.deleted", false, func(c *customDraft) error {
		at := c.controlIndex(strings.ToUpper(in.ControlCode))
		if at < 0 {
			return api.NotFound("custom control", in.ControlCode)
		}
		if err := in.Match.Check(c.Controls[at].Revision); err != nil {
			return err
		}
		c.Controls = slices.Delete(c.Controls, at, at+1)
		return nil
	})
	return &api.None{}, err
}

// ImportCustom imports a file of custom frameworks and controls, completely or not at all.
func (s *Service) ImportCustom(ctx context.Context, by api.Caller, in *api.ImportCustomInput) (*api.CustomImport, error) {
	for name, v := range map[string]string{"replace": in.Replace, "dry_run": in.DryRun} {
		if v != "" && v != "true" && v != "false" {
			return nil, api.Invalid(name, "the value must be true or false")
		}
	}
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxCustomFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if len(data) > maxCustomFile {
		return nil, api.Invalid("file", "the file exceeds the limit of %d MiB", maxCustomFile>>20)
	}
	set, err := custom.ReadSet(in.File.Filename, data, custom.SetOptions{Code: in.Code, Name: in.Name})
	if err != nil {
		return nil, api.Invalid("file", "%s: %v", cmp.Or(in.File.Filename, "the file"), err).WithCause(err)
	}
	if what, code := findDuplicateCode(set); code != "" {
		return nil, api.Invalid("file", "%s: the %s %s occurs twice", cmp.Or(in.File.Filename, "the file"), what, scf.Shorten(code))
	}
	replace := in.Replace == "true"
	out := &api.CustomImport{DryRun: in.DryRun == "true"}
	out.Revision, err = s.updateCustom(ctx, by, "custom_catalog.imported", out.DryRun, func(c *customDraft) error {
		out.Frameworks, out.Controls = []api.CustomChange{}, []api.CustomChange{}
		for _, k := range set.Controls {
			at := c.controlIndex(k.Code)
			ch := api.CustomChange{
				Code:   k.Code,
				Name:   k.Title,
				Action: importAction(at, at >= 0 && equalAsJSON(c.Controls[at].CustomControlBody, k)),
			}
			if ch.Action == actionReplaced && !replace {
				return alreadyExistsError("control", k.Code)
			}
			if out.Controls = append(out.Controls, ch); ch.Action != actionUnchanged {
				c.putControl(at, k)
			}
		}
		for _, f := range set.Frameworks {
			at := c.frameworkIndex(f.Code)
			ch := api.CustomChange{
				Code:   f.Code,
				Name:   f.Name,
				Count:  len(f.Requirements),
				Action: importAction(at, at >= 0 && equalAsJSON(c.Frameworks[at].CustomFrameworkBody, f)),
			}
			if ch.Action == actionReplaced && !replace {
				return alreadyExistsError("framework", f.Code)
			}
			if out.Frameworks = append(out.Frameworks, ch); ch.Action != actionUnchanged {
				c.putFramework(at, f)
			}
		}
		if !slices.ContainsFunc(
			slices.Concat(out.Frameworks, out.Controls),
			func(ch api.CustomChange) bool { return ch.Action != actionUnchanged },
		) {
			return errNoChange
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// findDuplicateCode returns the first code that two frameworks or two controls of a file share, or "" if
// there is none. Without this check, the second one would silently replace the first.
func findDuplicateCode(set *custom.Set) (what, code string) {
	seen := map[string]bool{}
	for _, k := range set.Controls {
		if seen[strings.ToUpper(k.Code)] {
			return "control", k.Code
		}
		seen[strings.ToUpper(k.Code)] = true
	}
	clear(seen)
	for _, f := range set.Frameworks {
		if seen[f.Code] {
			return "framework", f.Code
		}
		seen[f.Code] = true
	}
	return "", ""
}

// Outcomes of importing one framework or control.
const (
	actionCreated   = "created"
	actionReplaced  = "replaced"
	actionUnchanged = "unchanged"
)

// importAction returns what an import does to a record. at is the index of the existing record, or -1 if the record is
// new.
func importAction(at int, same bool) string {
	switch {
	case at < 0:
		return actionCreated
	case same:
		return actionUnchanged
	}
	return actionReplaced
}

func alreadyExistsError(what, code string) error {
	return api.Invalid(
		"replace",
		"%s %s already exists with different content; replace it with --replace, or choose another code",
		what,
		scf.Shorten(code),
	)
}

// equalAsJSON reports whether a stored record and an imported one have the same JSON form. Nil and
// empty lists are equal.
func equalAsJSON[T any](stored, imported T) bool {
	a, errA := json.Marshal(stored)
	b, errB := json.Marshal(imported)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
