package web

import (
	"errors"
	"io"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/prose"
)

// adminPages are the tabs of the pages for platform admins.
var adminPages = []link{
	{Text: "Users", Href: "admin/users"},
	{Text: "Organizations", Href: "admin/organizations"},
	{Text: "Catalog imports", Href: "admin/imports"},
}

var usersPanel = panel{
	path: "admin/users", title: "Users", group: &adminPages,
	show: func(v *visit, s *sheet) error {
		in := api.UsersInput{Paging: v.paging(100), Q: v.queryParam("q"), Status: v.queryParam("status")}
		l, err := do(v, api.ListUsers, &in)
		if err != nil {
			return err
		}
		x := section{
			Columns: []string{
				"Email address", "Name", "Status", "Platform admin", "Last sign-in",
			}, Empty: "No matching users.", Links: v.nextPageLinks(l.Pagination),
			Forms: []form{{Get: true, Button: "Filter", Style: "second", Fields: []field{
				textField("q", "Name or address").withValue(in.Q).withKind("search"),
				choiceOrAny("status", "Status", in.Status, "active", "banned", "invited"),
			}}},
		}
		for i := range l.Data {
			u := &l.Data[i]
			row := line{Cells: []value{
				textValue(u.Email), textValue(u.Name), tagValue(u.Status), textValue(yesOrNo(u.PlatformAdmin)), timeOrNeverValue(u.LastSignInAt),
			}}
			if u.Status == "banned" {
				row.Cells[2].Text += ": " + orEmpty(u.BanReason)
				row.Forms = []form{buttonForm("unban", "Lift the ban", "second", u.ID)}
			} else {
				ban := buttonForm("ban", "Ban", "danger", u.ID)
				ban.Fields = []field{textField("reason", "Reason").required()}
				row.Forms = []form{buttonForm("link", "Password link", "second", u.ID), ban}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"ban": func(v *visit, _ *sheet) error {
			in := api.BanUserInput{UserID: v.field("id")}
			in.Body.Reason = v.field("reason")
			return call(v, api.BanUser, &in)
		},
		"unban": func(v *visit, _ *sheet) error { return call(v, api.UnbanUser, &api.UserInput{UserID: v.field("id")}) },
		"link": func(v *visit, s *sheet) error {
			made, err := do(v, api.CreatePasswordLink, &api.UserInput{UserID: v.field("id")})
			if err != nil {
				return err
			}
			s.add(section{Title: "Link for setting a password", Text: "Send this single-use link to the user.", Secret: v.BaseURL(v.r) + made.Path})
			return nil
		},
	},
}

var tenantsPanel = panel{
	path: "admin/organizations", title: "Organizations", group: &adminPages,
	show: func(v *visit, s *sheet) error {
		p := v.paging(100)
		l, err := do(v, api.ListTenants, &p)
		if err != nil {
			return err
		}
		x := section{Columns: []string{"Organization", "Short name", "Status", "Created"}, Links: v.nextPageLinks(l.Pagination)}
		x.Empty = "There are no organizations."
		for i := range l.Data {
			o := &l.Data[i]
			row := line{Cells: []value{textValue(o.Name), textValue(o.Slug), tagValue(o.Status), timeValue(o.CreatedAt)}}
			if o.Status == "active" {
				row.Forms = []form{buttonForm("suspend", "Suspend", "danger", o.ID)}
			} else {
				row.Forms = []form{buttonForm("restore", "Restore", "second", o.ID)}
			}
			x.Rows = append(x.Rows, row)
		}
		s.add(x)
		s.add(section{Title: "Create an organization", Forms: []form{{Do: "create", Button: "Create", Fields: []field{
			textField("name", "Name").required(), textField("email", "Owner's email address").withKind("email").required(),
			textField("owner", "Owner's name"),
		}}}})
		return nil
	},
	actions: map[string]func(*visit, *sheet) error{
		"create": func(v *visit, s *sheet) error {
			var in api.NewOrganizationInput
			in.Body.Name, in.Body.Owner.Email, in.Body.Owner.Name = v.field("name"), v.field("email"), v.field("owner")
			made, err := do(v, api.CreateOrganization, &in)
			if err != nil {
				return err
			}
			x := section{
				Title: "Created: " + made.Name,
				Text:  made.Owner.Email + " owns the organization and can sign in with the existing password.",
			}
			if made.OwnerPassword != nil {
				x.Text, x.Secret = "The password of "+made.Owner.Email+", which should be changed after signing in:", *made.OwnerPassword
			}
			s.add(x)
			return nil
		},
		"suspend": func(v *visit, _ *sheet) error { return v.callSetTenantStatus("suspended") },
		"restore": func(v *visit, _ *sheet) error { return v.callSetTenantStatus("active") },
	},
}

// callSetTenantStatus sets the status of the organization given in the form.
func (v *visit) callSetTenantStatus(status string) error {
	in := api.UpdateTenantInput{TenantInput: api.TenantInput{TenantID: v.field("id")}}
	in.Body.Status = status
	return call(v, api.UpdateTenant, &in)
}

var importsPanel = panel{
	path: "admin/imports", title: "Catalog imports", group: &adminPages,
	show: func(v *visit, s *sheet) error {
		s.add(section{
			Title: "Import an SCF workbook", Text: "The workbook is imported either completely or not at all, and becomes the active catalog.",
			Forms: []form{{Button: "Import", Files: true, To: "admin/imports/upload", Fields: []field{
				{
					Name: "check", Label: "What to do", Kind: "select",
					Options: choices(option{"yes", "Only show what would change"}, option{"no", "Import"}),
				},
				{Name: "file", Label: "Workbook (.xlsx)", Kind: "file"},
			}}},
		})
		l, err := do(v, api.ListImportRuns, &api.ImportRunsInput{Paging: v.paging(50)})
		if err != nil {
			return err
		}
		x := section{
			Title: "Imports", Columns: []string{"File", "When", "Status", "Controls", "Frameworks", "Warnings", "Result"},
			Empty: "No workbook has been imported yet; the built-in starter catalog is in use.", Links: v.nextPageLinks(l.Pagination),
		}
		for i := range l.Data {
			r := &l.Data[i]
			x.Rows = append(x.Rows, importRow(r))
		}
		s.add(x)
		return nil
	},
}

// importRow returns an import run as a row of a table.
func importRow(r *api.ImportRun) line {
	status := tagValue(r.Status)
	if r.DryRun {
		status.Text = "Preview"
	}
	result := orEmpty(r.Error)
	if d := r.Diff; d != nil && result == "" {
		result = prose.Count(len(d.Added), "control", "controls") + " added, " + prose.Count(len(d.Removed), "removed", "removed") +
			", " + prose.Count(len(d.Changed), "changed", "changed")
	}
	return line{Cells: []value{
		textValue(r.SourceFilename), timeValue(r.StartedAt), status, countValue(r.Statistics.Controls), countValue(r.Statistics.Frameworks),
		countValue(len(r.Warnings)), textValue(result),
	}}
}

// importCatalog imports a workbook, or previews the changes. In the form, the choice between the two precedes
// the file.
func (v *visit) importCatalog() error {
	if v.files == nil {
		return api.Invalid("file", "choose a workbook")
	}
	for check := true; ; {
		part, err := v.files.NextPart()
		if errors.Is(err, io.EOF) {
			return v.refuse(api.Invalid("file", "choose a workbook"), func() error { return importsPanel.render(v, &sheet{}) })
		}
		if err != nil {
			return api.Invalid("file", "the upload was interrupted; try again")
		}
		switch part.FormName() {
		case "check":
			text, err := io.ReadAll(io.LimitReader(part, 10))
			if err != nil {
				return err
			}
			check = string(text) != "no"
		case "file":
			if part.FileName() == "" {
				continue
			}
			in := api.ImportWorkbookInput{File: api.UploadFile{Filename: part.FileName(), Content: part}}
			op := api.ImportWorkbook
			if check {
				op = api.DryRunWorkbook
			}
			run, err := do(v, op, &in)
			if err != nil {
				return v.refuse(err, func() error { return importsPanel.render(v, &sheet{}) })
			}
			s := &sheet{}
			s.add(section{
				Title: "Result", Columns: []string{"File", "When", "Status", "Controls", "Frameworks", "Warnings", "Result"},
				Rows: []line{importRow(run)},
			})
			return importsPanel.render(v, s)
		}
	}
}
