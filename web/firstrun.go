package web

import (
	"context"
	"crypto/subtle"
	"net/http"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// FirstRun lets anyone who has the code create the first organization. The daemon shows the code to the
// operator if it starts without accounts.
type FirstRun struct {
	Code string
	// IsNew reports whether nobody can sign in yet.
	IsNew func(context.Context) (bool, error)
	// Calls is like Options.Calls, but acts as the local user of the machine.
	Calls func(w http.ResponseWriter, r *http.Request) http.Handler
}

// firstRunPage holds the data for the page that creates the first organization.
type firstRunPage struct{ Code, Organization, Name, Email string }

// isNew reports whether the first organization can be created in the browser.
func (v *visit) isNew() (bool, error) {
	if v.FirstRun == nil {
		return false, nil
	}
	return v.FirstRun.IsNew(v.r.Context())
}

func (v *visit) showFirstRun() error {
	if yes, err := v.isNew(); err != nil {
		return err
	} else if !yes {
		return v.redirect("sign-in")
	}
	return v.render("first-run.html", "Create your organization", firstRunPage{})
}

// createFirst creates the first organization and its owner, and signs the owner in.
func (v *visit) createFirst() error {
	if yes, err := v.isNew(); err != nil {
		return err
	} else if !yes {
		return v.redirect("sign-in")
	}
	page := firstRunPage{linkSecret(v.field("code")), v.field("organization"), v.field("name"), v.field("email")}
	password := v.r.PostForm.Get("password")
	if err := v.createOrganization(page, password); err != nil {
		return v.complain(err, func() error { return v.render("first-run.html", "Create your organization", page) })
	}
	var in api.SignInInput
	in.Body.Email, in.Body.Password = page.Email, password
	if _, err := do(v, api.SignIn, &in); err != nil {
		return err
	}
	return v.redirect("")
}

// createOrganization checks the code and the password, and creates the organization as the local user.
func (v *visit) createOrganization(page firstRunPage, password string) error {
	if subtle.ConstantTimeCompare([]byte(page.Code), []byte(v.FirstRun.Code)) != 1 {
		return api.Forbidden("the code is wrong; use the link that the daemon printed when it started")
	}
	if password != v.r.PostForm.Get("again") {
		return api.Invalid("password", "the passwords don't match")
	}
	if password == "" {
		return api.Invalid("password", "choose a password")
	}
	local, err := client.New(client.Options{Transport: client.InMemoryTransport(v.FirstRun.Calls(v.w, v.r))})
	if err != nil {
		return err
	}
	var in api.NewOrganizationInput
	in.Body.Name = page.Organization
	in.Body.Owner.Email, in.Body.Owner.Name, in.Body.Owner.Password, in.Body.Owner.PlatformAdmin = page.Email, page.Name, password, true
	_, err = client.Do(v.r.Context(), local, api.CreateOrganization, &in)
	return err
}
