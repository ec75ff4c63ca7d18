package web

import "github.com/scf-service/service/api"

func (v *visit) showAccount() error {
	if v.r.URL.Query().Has("changed") {
		v.notice = "Your password is changed, and your other sessions have ended."
	}
	return v.render("account.html", "Your account", v.me)
}

func (v *visit) changePassword() error {
	var in api.ChangePasswordInput
	in.Body.Current, in.Body.New = v.r.PostForm.Get("current"), v.r.PostForm.Get("new")
	var err error
	if in.Body.New != v.r.PostForm.Get("again") {
		err = api.Invalid("new_password", "the new passwords don't match")
	} else {
		_, err = do(v, api.ChangePassword, &in)
	}
	if err != nil {
		return v.refuse(err, v.showAccount)
	}
	return v.redirect("account?changed")
}

// switchOrganization makes another organization the active one of the session.
func (v *visit) switchOrganization() error {
	_, err := do(v, api.ActivateOrganization, &api.OrgInput{OrgID: v.field("organization")})
	if err != nil {
		return err
	}
	return v.redirect("")
}

// inOrganizationOf calls find in the active organization and then in the visitor's others, because the links in
// emails don't name one, and stays in the one that has the record.
func inOrganizationOf[T any](v *visit, find func() (*T, error)) (*T, error) {
	out, err := find()
	for _, o := range v.organizations {
		if !isAbsent(err) {
			break
		}
		if v.me.OrganizationID != nil && o.ID == *v.me.OrganizationID {
			continue
		}
		if v.client, err = v.clientIn(o.ID); err != nil {
			return nil, err
		}
		if v.me, err = v.client.Me(v.r.Context()); err == nil {
			out, err = find()
		}
	}
	return out, err
}

func isAbsent(err error) bool {
	return api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeForbidden) || api.IsCode(err, api.CodeTenantRequired)
}
