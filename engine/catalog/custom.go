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
	// maxCustomFile bounds a file of custom frameworks and controls, maxCustomCatalog all that an organization adds.
	maxCustomFile    = 8 << 20
	maxCustomCatalog = 16 << 20
	// changeTries is how often a change is made anew when another came between.
	changeTries = 5
)

// changing is a revision that a change turns into the next.
type changing struct {
	store.CustomCatalog
	by  string
	now time.Time
}

func (c *changing) framework(code string) int {
	return slices.IndexFunc(c.Frameworks, func(f api.CustomFramework) bool { return f.Code == code })
}

func (c *changing) control(code string) int {
	return slices.IndexFunc(c.Controls, func(k api.CustomControl) bool { return k.Code == code })
}

func (c *changing) mark(since time.Time) api.CustomMark {
	return api.CustomMark{OrganizationID: c.OrganizationID, IsCustom: true, UpdatedBy: c.by, CreatedAt: since, UpdatedAt: c.now}
}

// putFramework adds a framework, or replaces it where at is its place.
func (c *changing) putFramework(at int, b api.CustomFrameworkBody) {
	f := api.CustomFramework{CustomFrameworkBody: b, CustomMark: c.mark(c.now), RequirementCount: len(b.Requirements)}
	if at < 0 {
		c.Frameworks = append(c.Frameworks, f)
		return
	}
	f.CreatedAt = c.Frameworks[at].CreatedAt
	c.Frameworks[at] = f
}

func (c *changing) putControl(at int, b api.CustomControlBody) {
	k := api.CustomControl{CustomControlBody: b, CustomMark: c.mark(c.now)}
	if at < 0 {
		c.Controls = append(c.Controls, k)
		return
	}
	k.CreatedAt = c.Controls[at].CreatedAt
	c.Controls[at] = k
}

// errNothing ends a change that changes nothing.
var errNothing = errors.New("nothing changes")

// changeCustom makes the next revision of what an organization added. The change works
// on a copy, which is held against the active catalog version before it is kept; so it
// may be called again where another change came between.
func (s *Service) changeCustom(ctx context.Context, by api.Caller, action string, dry bool, change func(*changing) error) (int, error) {
	for range changeTries {
		var old store.CustomCatalog
		head, err := s.atHead(ctx, by.OrganizationID, func(head int) (err error) {
			old, err = s.customCatalog(ctx, by.OrganizationID, head)
			return err
		})
		if err != nil {
			return 0, err
		}
		next := changing{CustomCatalog: old, by: by.Actor.Name, now: s.clock().UTC()}
		next.Frameworks, next.Controls = slices.Clone(old.Frameworks), slices.Clone(old.Controls)
		if err := change(&next); errors.Is(err, errNothing) {
			return head, nil
		} else if err != nil {
			return 0, err
		}
		if err := s.checkCustom(ctx, &old, &next.CustomCatalog); err != nil {
			return 0, err
		}
		if dry {
			return head, nil
		}
		kept, err := s.keepCustom(ctx, by, head, &next, action)
		if kept || err != nil {
			return next.Revision, err
		}
	}
	return 0, api.Conflict("others change your frameworks and controls at the same time; try again")
}

// checkCustom refuses a revision that is wrong in itself, or that names what the active
// catalog lacks where the one before did not.
func (s *Service) checkCustom(ctx context.Context, old, next *store.CustomCatalog) error {
	base, err := s.Snapshot(ctx, "")
	if err != nil {
		return err
	}
	if err := base.CheckCustom(bodies(next)); err != nil {
		return refusal(err)
	}
	if b, err := json.Marshal(next); err != nil || len(b) > maxCustomCatalog {
		return errors.Join(err, api.Invalid("", "your frameworks and controls are over %d MiB together", maxCustomCatalog>>20))
	}
	_, before, err := base.With(bodies(old))
	if err != nil {
		return err
	}
	_, after, err := base.With(bodies(next))
	if err != nil {
		return refusal(err)
	}
	label := base.Version().Label
	for _, code := range slices.Sorted(maps.Keys(after)) {
		for _, what := range after[code] {
			if !slices.Contains(before[code], what) {
				return api.Invalid("controls", "%s names %q, which is neither in catalog version %s nor among your own", code, short(what), label)
			}
		}
	}
	return nil
}

func refusal(err error) error {
	var wrong *scf.CustomError
	if errors.As(err, &wrong) {
		return api.Invalid(wrong.Place, "%s", wrong.Error()).Because(err)
	}
	return err
}

func short(s string) string {
	if len(s) > 80 {
		return strings.ToValidUTF8(s[:80], "") + "…"
	}
	return s
}

// keepCustom writes the next revision, unless another came since head, and drops those
// that no assessment uses any more.
func (s *Service) keepCustom(ctx context.Context, by api.Caller, head int, next *changing, action string) (kept bool, err error) {
	org := by.OrganizationID
	err = s.db.Update(ctx, func(tx *store.Tx) error {
		now, err := store.CustomHeads.Get(tx, org, "head")
		if err != nil && !errors.Is(err, store.ErrNotFound) {
			return err
		}
		if kept = now.Revision == head; !kept {
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
			store.CustomHeads.Put(tx, org, &store.CustomHead{OrganizationID: org, Revision: next.Revision}),
			audit.Append(tx, by, audit.Entry{Action: action, ResourceType: "custom_catalog", ResourceID: fmt.Sprint(next.Revision),
				Changes: map[string]any{"revision": next.Revision, "frameworks": len(next.Frameworks), "controls": len(next.Controls)}}))
	})
	return kept, err
}

// ListCustomFrameworks lists an organization's frameworks, without their requirements.
func (s *Service) ListCustomFrameworks(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.CustomFramework], error) {
	rec, missing, err := s.newestCustom(ctx, by)
	if err != nil {
		return nil, err
	}
	for i := range rec.Frameworks {
		rec.Frameworks[i].Requirements, rec.Frameworks[i].Unresolved = nil, missing[rec.Frameworks[i].Code]
	}
	return page(rec.Frameworks, *in, func(f *api.CustomFramework) string { return f.Code })
}

// newestCustom is what an organization has added, and what of it the active version can't resolve.
func (s *Service) newestCustom(ctx context.Context, by api.Caller) (rec store.CustomCatalog, missing map[string][]string, err error) {
	_, err = s.atHead(ctx, by.OrganizationID, func(head int) error {
		if head == 0 {
			return nil
		}
		if rec, err = s.customCatalog(ctx, by.OrganizationID, head); err != nil {
			return err
		}
		base, err := s.Snapshot(ctx, "")
		if err != nil {
			return err
		}
		own, err := s.own(ctx, base, by.OrganizationID, head)
		missing = own.missing
		return err
	})
	return rec, missing, err
}

// GetCustomFramework is one framework of the organization.
func (s *Service) GetCustomFramework(ctx context.Context, by api.Caller, in *api.CustomFrameworkInput) (*api.CustomFramework, error) {
	rec, missing, err := s.newestCustom(ctx, by)
	if err != nil {
		return nil, err
	}
	at := (&changing{CustomCatalog: rec}).framework(in.FrameworkCode)
	if at < 0 {
		return nil, api.NotFound("custom framework", in.FrameworkCode)
	}
	rec.Frameworks[at].Unresolved = missing[in.FrameworkCode]
	return &rec.Frameworks[at], nil
}

// CreateCustomFramework adds a framework.
func (s *Service) CreateCustomFramework(ctx context.Context, by api.Caller, in *api.CreateCustomFrameworkInput) (*api.CustomFramework, error) {
	_, err := s.changeCustom(ctx, by, "custom_framework.created", false, func(c *changing) error {
		if c.framework(in.Body.Code) >= 0 {
			return api.Invalid("code", "you have a framework %s already; replace it, or give this one another code", short(in.Body.Code))
		}
		c.putFramework(-1, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomFramework(ctx, by, &api.CustomFrameworkInput{FrameworkCode: in.Body.Code})
}

// PutCustomFramework replaces a framework.
func (s *Service) PutCustomFramework(ctx context.Context, by api.Caller, in *api.PutCustomFrameworkInput) (*api.CustomFramework, error) {
	if in.Body.Code != in.FrameworkCode {
		return nil, api.Invalid("code", "the code is %q in the path and %q in the body; a code does not change", short(in.FrameworkCode), short(in.Body.Code))
	}
	_, err := s.changeCustom(ctx, by, "custom_framework.replaced", false, func(c *changing) error {
		at := c.framework(in.FrameworkCode)
		if at < 0 {
			return api.NotFound("custom framework", in.FrameworkCode)
		}
		c.putFramework(at, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomFramework(ctx, by, &in.CustomFrameworkInput)
}

// DeleteCustomFramework removes a framework; assessments that use it keep it.
func (s *Service) DeleteCustomFramework(ctx context.Context, by api.Caller, in *api.CustomFrameworkInput) (*api.None, error) {
	_, err := s.changeCustom(ctx, by, "custom_framework.deleted", false, func(c *changing) error {
		at := c.framework(in.FrameworkCode)
		if at < 0 {
			return api.NotFound("custom framework", in.FrameworkCode)
		}
		c.Frameworks = slices.Delete(c.Frameworks, at, at+1)
		return nil
	})
	return &api.None{}, err
}

// ListCustomControls lists an organization's controls.
func (s *Service) ListCustomControls(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.CustomControl], error) {
	rec, missing, err := s.newestCustom(ctx, by)
	if err != nil {
		return nil, err
	}
	for i := range rec.Controls {
		rec.Controls[i].Unresolved = missing[rec.Controls[i].Code]
	}
	return page(rec.Controls, *in, func(c *api.CustomControl) string { return c.Code })
}

// GetCustomControl is one control of the organization.
func (s *Service) GetCustomControl(ctx context.Context, by api.Caller, in *api.CustomControlInput) (*api.CustomControl, error) {
	rec, missing, err := s.newestCustom(ctx, by)
	if err != nil {
		return nil, err
	}
	code := strings.ToUpper(in.ControlCode)
	at := (&changing{CustomCatalog: rec}).control(code)
	if at < 0 {
		return nil, api.NotFound("custom control", in.ControlCode)
	}
	rec.Controls[at].Unresolved = missing[code]
	return &rec.Controls[at], nil
}

// CreateCustomControl adds a control.
func (s *Service) CreateCustomControl(ctx context.Context, by api.Caller, in *api.CreateCustomControlInput) (*api.CustomControl, error) {
	_, err := s.changeCustom(ctx, by, "custom_control.created", false, func(c *changing) error {
		if c.control(in.Body.Code) >= 0 {
			return api.Invalid("code", "you have a control %s already; replace it, or give this one another code", short(in.Body.Code))
		}
		c.putControl(-1, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomControl(ctx, by, &api.CustomControlInput{ControlCode: in.Body.Code})
}

// PutCustomControl replaces a control.
func (s *Service) PutCustomControl(ctx context.Context, by api.Caller, in *api.PutCustomControlInput) (*api.CustomControl, error) {
	if !strings.EqualFold(in.Body.Code, in.ControlCode) {
		return nil, api.Invalid("code", "the code is %q in the path and %q in the body; a code does not change", short(in.ControlCode), short(in.Body.Code))
	}
	_, err := s.changeCustom(ctx, by, "custom_control.replaced", false, func(c *changing) error {
		at := c.control(in.Body.Code)
		if at < 0 {
			return api.NotFound("custom control", in.ControlCode)
		}
		c.putControl(at, in.Body)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return s.GetCustomControl(ctx, by, &in.CustomControlInput)
}

// DeleteCustomControl removes a control that no framework of the organization names;
// assessments that use it keep it.
func (s *Service) DeleteCustomControl(ctx context.Context, by api.Caller, in *api.CustomControlInput) (*api.None, error) {
	_, err := s.changeCustom(ctx, by, "custom_control.deleted", false, func(c *changing) error {
		at := c.control(strings.ToUpper(in.ControlCode))
		if at < 0 {
			return api.NotFound("custom control", in.ControlCode)
		}
		c.Controls = slices.Delete(c.Controls, at, at+1)
		return nil
	})
	return &api.None{}, err
}

// ImportCustom takes a file of frameworks and controls, whole or not at all.
func (s *Service) ImportCustom(ctx context.Context, by api.Caller, in *api.ImportCustomInput) (*api.CustomImport, error) {
	for name, v := range map[string]string{"replace": in.Replace, "dry_run": in.DryRun} {
		if v != "" && v != "true" && v != "false" {
			return nil, api.Invalid(name, "write true or false")
		}
	}
	data, err := io.ReadAll(io.LimitReader(in.File.Content, maxCustomFile+1))
	if err != nil {
		return nil, fmt.Errorf("reading the file: %w", err)
	}
	if len(data) > maxCustomFile {
		return nil, api.Invalid("file", "the file is over the limit of %d MiB", maxCustomFile>>20)
	}
	set, err := custom.Read(in.File.Filename, data, custom.Options{Code: in.Code, Name: in.Name})
	if err != nil {
		return nil, api.Invalid("file", "%s: %v", cmp.Or(in.File.Filename, "the file"), err).Because(err)
	}
	if what, code := twice(set); code != "" {
		return nil, api.Invalid("file", "%s: the %s %s stands in it twice", cmp.Or(in.File.Filename, "the file"), what, short(code))
	}
	replace := in.Replace == "true"
	out := &api.CustomImport{DryRun: in.DryRun == "true"}
	out.Revision, err = s.changeCustom(ctx, by, "custom_catalog.imported", out.DryRun, func(c *changing) error {
		out.Frameworks, out.Controls = []api.CustomChange{}, []api.CustomChange{}
		for _, k := range set.Controls {
			at := c.control(k.Code)
			ch := api.CustomChange{Code: k.Code, Name: k.Title, Action: actionOf(at, at >= 0 && same(c.Controls[at].CustomControlBody, k))}
			if ch.Action == replaced && !replace {
				return thereAlready("control", k.Code)
			}
			if out.Controls = append(out.Controls, ch); ch.Action != unchanged {
				c.putControl(at, k)
			}
		}
		for _, f := range set.Frameworks {
			at := c.framework(f.Code)
			ch := api.CustomChange{Code: f.Code, Name: f.Name, Count: len(f.Requirements), Action: actionOf(at, at >= 0 && same(c.Frameworks[at].CustomFrameworkBody, f))}
			if ch.Action == replaced && !replace {
				return thereAlready("framework", f.Code)
			}
			if out.Frameworks = append(out.Frameworks, ch); ch.Action != unchanged {
				c.putFramework(at, f)
			}
		}
		if !slices.ContainsFunc(slices.Concat(out.Frameworks, out.Controls), func(ch api.CustomChange) bool { return ch.Action != unchanged }) {
			return errNothing
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, nil
}

// twice finds a code that two of a file's frameworks or controls have; empty where none do.
// The second would silently take the place of the first.
func twice(set *custom.Set) (what, code string) {
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

// What an import does with one thing.
const (
	created   = "created"
	replaced  = "replaced"
	unchanged = "unchanged"
)

func actionOf(at int, same bool) string {
	switch {
	case at < 0:
		return created
	case same:
		return unchanged
	}
	return replaced
}

func thereAlready(what, code string) error {
	return api.Invalid("replace", "you have a %s %s already, and it is another one; ask to replace it (--replace), or give this one another code", what, short(code))
}

// same compares what was kept with what a file says; an empty list and none are alike.
func same[T any](kept, now T) bool {
	a, errA := json.Marshal(kept)
	b, errB := json.Marshal(now)
	return errA == nil && errB == nil && bytes.Equal(a, b)
}
