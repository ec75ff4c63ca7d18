package web

import "github.com/scf-service/service/api"

var accountPanel = panel{
	path: "account", title: "Your account",
	show: func(v *visit, s *sheet) error {
		if v.r.URL.Query().Has("changed") {
			v.notice = "Your password has been changed, and your other sessions have ended."
		}
		me := v.me
		facts := []value{
			textValue(me.User.Name).labeled("Name"), textValue(me.User.Email).labeled("Email address"),
			textValue(orEmpty(me.Organization)).labeled("Organization"),
		}
		if me.Role != nil {
			facts = append(facts, textValue(label(*me.Role)).labeled("Role"))
		}
		s.add(section{Facts: facts})
		if v.IsLocal {
			return nil
		}
		sessions, err := all(v, api.ListMySessions, &api.Paging{})
		if err != nil {
			return err
		}
		x := section{
			Title: "Where you are signed in", Columns: []string{"Since", "Last used", "From", "Until"},
		}
		for _, have := range sessions {
			row := line{Cells: []value{timeValue(have.CreatedAt), timeValue(have.LastUsedAt), textValue(have.Address), timeValue(have.ExpiresAt)}}
			if have.Current {
				row.Cells[2].Text += " (this browser)"
			} else {
				row.Forms = []form{buttonForm("end", "End", "danger", have.ID)}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		s.add(section{Title: "Sign out", Forms: []form{{Button: "Sign out everywhere", Style: "danger", To: "sign-out-everywhere"}}})
		wants, err := do(v, api.GetEmailPreferences, &api.None{})
		if err != nil {
			return err
		}
		s.add(section{Title: "Emails to you", Forms: []form{{
			Do: "emails", Button: "Save", Fields: []field{
				yesNoChoice("approvals", "Requests that await your decision, and decisions on your own requests", wants.Approvals),
				yesNoChoice("mentions", "Comments that mention you", wants.Mentions),
				yesNoChoice("digest", "A daily summary of overdue plan items", wants.Digest),
			},
		}}})
		password := func(name, label, complete string) field {
			f := textField(name, label).withKind("password").required()
			f.Autocomplete, f.Limit = complete, 128
			return f
		}
		s.add(section{Title: "Change your password", Text: "Changing your password also signs you out everywhere else.", Forms: []form{{
			To: "account/password", Button: "Change the password", Hidden: []option{{"username", me.User.Email}}, Fields: []field{
				password("current", "Current password", "current-password"),
				password("new", "New password", "new-password").withHint("Use 12 to 128 characters; four random words are easy to remember."),
				password("again", "Repeat the new password", "new-password"),
			},
		}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"end": func(v *visit, _ *sheet) error {
			return call(v, api.EndMySession, &api.UserSessionInput{SessionID: v.field("id")})
		},
		"emails": func(v *visit, _ *sheet) error {
			var in api.PutEmailPreferencesInput
			approvals, digest, mentions := v.field("approvals") == "true", v.field("digest") == "true", v.field("mentions") == "true"
			in.Body.Approvals, in.Body.Digest, in.Body.Mentions = &approvals, &digest, &mentions
			return call(v, api.PutEmailPreferences, &in)
		},
	},
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
		return v.refuse(err, func() error { return accountPanel.render(v, &sheet{}) })
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

// inOrganizationOf calls find in the active organization and then in the visitor's other organizations, because links
// in emails don't specify an organization. The visit continues in the organization that has the record.
func inOrganizationOf[T any](v *visit, find func() (*T, error)) (*T, error) {
	out, err := find()
	for _, o := range v.organizations {
		if !isNotAccessible(err) {
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

// isNotAccessible reports whether an error means that a record doesn't exist in an organization, or that the visitor
// has no access to it there.
func isNotAccessible(err error) bool {
	return api.IsCode(err, api.CodeNotFound) || api.IsCode(err, api.CodeForbidden) || api.IsCode(err, api.CodeTenantRequired)
}
