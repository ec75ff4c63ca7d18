package client

import (
	"context"
	"strings"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

var idPattern = lazyregexp.New(`^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$`)

func isUUID(s string) bool { return idPattern.MatchString(s) }

// OrganizationID returns the ID of the client's organization. If the client was configured with a slug or name, or
// without an organization, the ID is looked up once. On error, the configured value is returned unchanged.
func (c *Client) OrganizationID(ctx context.Context) (string, error) {
	c.orgMu.Lock()
	defer c.orgMu.Unlock()
	if c.resolved {
		return c.org, nil
	}
	mine, err := c.MyOrganizations(ctx)
	if err != nil {
		return c.org, err
	}
	if c.org != "" {
		one, err := FindOrganization(mine, c.org)
		if err != nil {
			return c.org, err
		}
		c.org, c.resolved = one.ID, true
		return c.org, nil
	}
	if len(mine) == 0 {
		return "", api.TenantRequired()
	}
	var names []string
	for _, o := range mine {
		if o.Active {
			c.org, c.resolved = o.ID, true
			return c.org, nil
		}
		names = append(names, o.Slug+" ("+o.Name+")")
	}
	return "", api.ChooseOrganization(names)
}

// MyOrganizations lists the caller's organizations.
func (c *Client) MyOrganizations(ctx context.Context) ([]api.MyOrganization, error) {
	return AllPages(ctx, func(cursor string) (*api.List[api.MyOrganization], error) {
		return Do(ctx, c, api.ListMyOrganizations, &api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
	})
}

// Me returns the caller, with their role and permissions in the client's organization. If no organization was
// configured, that is the caller's active organization.
func (c *Client) Me(ctx context.Context) (*api.Me, error) {
	c.orgMu.Lock()
	configured := c.org != ""
	c.orgMu.Unlock()
	var me api.Me
	if err := c.call(ctx, api.GetMe.Operation, &api.None{}, &me, configured); err != nil {
		return nil, err
	}
	return &me, nil
}

// FindOrganization finds an organization by ID, slug or name, ignoring case. If the name is ambiguous, the
// VALIDATION_ERROR lists the matching slugs; if nothing matches, it lists all slugs.
func FindOrganization(memberOf []api.MyOrganization, idOrName string) (*api.MyOrganization, error) {
	idOrName = strings.TrimSpace(idOrName)
	var named []*api.MyOrganization
	var slugs, all []string
	for i := range memberOf {
		o := &memberOf[i]
		if o.ID == idOrName || strings.EqualFold(o.Slug, idOrName) {
			return o, nil
		}
		all = append(all, o.Slug)
		if strings.EqualFold(o.Name, idOrName) {
			named, slugs = append(named, o), append(slugs, o.Slug)
		}
	}
	switch {
	case len(named) == 1:
		return named[0], nil
	case len(named) > 1:
		return nil, api.Invalid(
			"org",
			"%d organizations have the name %q; specify one of them by its slug: %s",
			len(named),
			idOrName,
			strings.Join(slugs, ", "),
		)
	case len(all) == 0:
		return nil, api.Invalid("org", "you aren't a member of %q or of any other organization", idOrName)
	}
	return nil, api.Invalid("org", "none of your organizations has the ID, slug or name %q; your organizations are: %s",
		idOrName, strings.Join(all, ", "))
}
