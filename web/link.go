package web

import "github.com/scf-service/service/api"

// linkPage holds the data for the page of a one-time link. Link is nil until the secret has been submitted.
type linkPage struct {
	Token, Name string
	Link        *api.Link
}

// showLink shows the form for a link's secret. In the URL, the secret follows a "#" and is therefore not sent
// by browsers. The page's script copies it into the form; without the script, the user does.
func (v *visit) showLink() error {
	return v.render("link.html", "Open a link", linkPage{})
}

// openLink shows the purpose of a link and asks for a password.
func (v *visit) openLink() error {
	page := linkPage{Token: linkSecret(v.field("token"))}
	if err := v.readLink(&page); err != nil {
		return v.complain(err, v.showLink)
	}
	return v.renderLink(&page)
}

func (v *visit) readLink(page *linkPage) (err error) {
	var in api.LinkInput
	in.Body.Token = page.Token
	page.Link, err = do(v, api.GetLink, &in)
	return err
}

func (v *visit) renderLink(page *linkPage) error {
	title := "Set a new password"
	if page.Link.Organization != nil {
		title = "Join " + *page.Link.Organization
	}
	return v.render("link.html", title, page)
}

// acceptLink accepts an invitation or sets a password, and signs in.
func (v *visit) acceptLink() error {
	page := linkPage{Token: v.field("token"), Name: v.field("name")}
	if err := v.readLink(&page); err != nil {
		return v.complain(err, v.showLink)
	}
	var in api.AcceptLinkInput
	in.Body.Token, in.Body.Name, in.Body.Password = page.Token, page.Name, v.r.PostForm.Get("password")
	var err error
	if in.Body.Password != v.r.PostForm.Get("again") {
		err = api.Invalid("password", "the passwords don't match")
	} else {
		_, err = do(v, api.AcceptLink, &in)
	}
	if err != nil {
		return v.complain(err, func() error { return v.renderLink(&page) })
	}
	return v.redirect("")
}
