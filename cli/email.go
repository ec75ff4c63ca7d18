package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
)

func (a *app) emailCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "email", Short: "Send emails and manage their templates and preferences",
		Long: `If the operator has configured a mail server (SERVICE_SMTP_URL), the service emails
invitations, approval requests, decisions, and a daily digest of overdue items.`,
		Example: "  service email list --status failed\n  service email template preview member_invite\n  service email preferences --no-digest",
	}, a.emailSend(), a.emailList(), a.emailShow(), a.emailTemplateCommand(), a.emailPreferences())
}

// maxEmailText is the maximum size in bytes of a file with an email's text.
const maxEmailText = 500_000

// readEmailText returns the content of a file, or of stdin if path is "-". It returns "" if path is empty.
func (a *app) readEmailText(path string) (string, error) {
	if path == "" {
		return "", nil
	}
	b, err := a.readFile(path, maxEmailText)
	return string(b), err
}

// parseVariables parses NAME=VALUE arguments into a map.
func parseVariables(assignments []string) (map[string]any, error) {
	out := map[string]any{}
	for _, w := range assignments {
		name, value, ok := strings.Cut(w, "=")
		if !ok || name == "" {
			return nil, usageError("--var %q must have the form NAME=VALUE", w)
		}
		out[name] = value
	}
	return out, nil
}

func (a *app) emailSend() *cobra.Command {
	in := &api.SendEmailInput{}
	var variables []string
	var text, html string
	cmd := &cobra.Command{
		Use: "send ADDRESS...", Short: "Send an email, with or without a template", Args: requireArgCount(1, 50),
		Long: `Queues a separate email to each address. With --template, pass variables with --var;
otherwise, specify a subject and a text file. Check the outcome with "service email show".`,
		Example: `  service email send ben@acme.example --template report_ready \
    --var assessment="Acme 2026" --var report="Full report" --var format=PDF
  service email send ben@acme.example --subject "The plan" --text-file plan.txt`,
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in.Body.To = args
			if in.Body.Variables, err = parseVariables(variables); err != nil {
				return err
			}
			if len(in.Body.Variables) == 0 {
				in.Body.Variables = nil
			}
			if in.Body.Text, err = a.readEmailText(text); err != nil {
				return err
			}
			if in.Body.HTML, err = a.readEmailText(html); err != nil {
				return err
			}
			e, err := call(cmd.Context(), a, api.SendEmail, in)
			if err != nil {
				return err
			}
			return a.printEmail(e)
		},
	}
	f := cmd.Flags()
	f.StringVar(&in.Body.TemplateID, "template", "", "template to use")
	f.StringArrayVar(&variables, "var", nil, "value of a template variable, as NAME=VALUE; can be repeated")
	f.StringVar(&in.Body.Subject, "subject", "", "subject line (if no template is used)")
	f.StringVar(&text, "text-file", "", "file that contains the text (if no template is used); - for stdin")
	f.StringVar(&html, "html-file", "", "file that contains the HTML version of the email")
	return cmd
}

func (a *app) printEmail(e *api.Email) error {
	return a.out.Print(e, func(p *print.Page) {
		p.Fields(
			field("subject", e.Subject),
			field("status", e.Status),
			field("attempts", fmt.Sprint(e.Attempts)),
			field("next", formatTimePtr(e.NextAttemptAt)),
			field("id", e.ID),
		)
		p.Blank()
		renderTable(
			p,
			e.Recipients,
			[]print.Column{fixed("to"), fixed("status"), column("error")},
			func(r api.EmailRecipient) []string {
				return []string{r.Address, r.Status, orZero(r.Error)}
			},
		)
	})
}

func (a *app) emailList() *cobra.Command {
	var in api.EmailsInput
	var l listFlags
	cmd := &cobra.Command{
		Use: "list", Short: "List emails and their delivery status, newest first",
		Long: "Lists the emails of the last 30 days. \"sent\" means that the mail server accepted the\n" +
			"email; \"bounced\" means that the server rejected an address. Queued emails are retried for\nabout a day.",
		Example: "  service email list --status bounced",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchList(cmd.Context(), a, api.ListEmails, &in, l)
			if err != nil {
				return err
			}
			return printList(a, all, []print.Column{
				column("to"), column("subject"), fixed("status"), optional(column("error")),
				optional(fixed("created")), optional(idColumn()),
			}, func(e api.Email) []string {
				return []string{
					strings.Join(e.To, ", "),
					e.Subject,
					e.Status,
					orZero(e.Error),
					print.FormatTime(e.CreatedAt),
					e.ID,
				}
			}, "No emails.")
		},
	}
	statuses := []string{"queued", "sent", "failed", "bounced"}
	addChoiceFlag(cmd.Flags(), &in.Status, "status", statuses, "show only emails with this status: queued, sent, failed or bounced")
	l.addFlags(cmd, defaultEventLimit)
	return cmd
}

func (a *app) emailShow() *cobra.Command {
	return &cobra.Command{
		Use: "show ID", Short: "Show an email's delivery status for each address",
		Long: "Shows an email's delivery status for each address. The text is not kept after the email is sent.", Example: "  service email show ID",
		RunE: func(cmd *cobra.Command, args []string) error {
			e, err := call(cmd.Context(), a, api.GetEmail, &api.EmailInput{EmailID: args[0]})
			if err != nil {
				return err
			}
			return a.printEmail(e)
		},
	}
}

func (a *app) emailPreferences() *cobra.Command {
	var digest, noDigest, approvals, noApprovals, mentions, noMentions bool
	cmd := &cobra.Command{
		Use: "preferences", Short: "Show or change which automatic emails you receive",
		Long: "The digest is sent once a day while remediations are overdue. Approval emails are about\n" +
			"decisions that are waiting for you and decisions on your requests. Mention emails are about\n" +
			"comments that contain your address. Preferences apply to all your organizations.",
		Example: "  service email preferences\n  service email preferences --no-digest",
		RunE: func(cmd *cobra.Command, _ []string) error {
			in := &api.PutEmailPreferencesInput{}
			if digest || noDigest {
				in.Body.Digest = &digest
			}
			if approvals || noApprovals {
				in.Body.Approvals = &approvals
			}
			if mentions || noMentions {
				in.Body.Mentions = &mentions
			}
			var p *api.EmailPreferences
			var err error
			if in.Body.Digest == nil && in.Body.Approvals == nil && in.Body.Mentions == nil {
				p, err = call(cmd.Context(), a, api.GetEmailPreferences, &api.None{})
			} else {
				p, err = call(cmd.Context(), a, api.PutEmailPreferences, in)
			}
			if err != nil {
				return err
			}
			return a.out.Print(p, func(page *print.Page) {
				page.Fields(field("digest", yesNo(p.Digest)), field("approvals", yesNo(p.Approvals)), field("mentions", yesNo(p.Mentions)))
			})
		},
	}
	f := cmd.Flags()
	f.BoolVar(&digest, "digest", false, "send me the daily digest")
	f.BoolVar(&noDigest, "no-digest", false, "don't send me the daily digest")
	f.BoolVar(&approvals, "approvals", false, "send me emails about approvals")
	f.BoolVar(&noApprovals, "no-approvals", false, "don't send me emails about approvals")
	f.BoolVar(&mentions, "mentions", false, "send me comments that mention me")
	f.BoolVar(&noMentions, "no-mentions", false, "don't send me comments that mention me")
	cmd.MarkFlagsMutuallyExclusive("mentions", "no-mentions")
	cmd.MarkFlagsMutuallyExclusive("digest", "no-digest")
	cmd.MarkFlagsMutuallyExclusive("approvals", "no-approvals")
	return cmd
}

func (a *app) emailTemplateCommand() *cobra.Command {
	return makeCommandGroup(&cobra.Command{
		Use: "template", Short: "Email templates",
		Long: `Each type of email has a built-in template, which an organization can replace. Templates
support {{variable}} and {{if variable}} … {{else}} … {{end}}. A preview shows the email
without sending or saving anything.`,
		Example: "  service email template show member_invite\n" +
			"  service email template preview member_invite --text-file invite.txt\n" +
			"  service email template set member_invite --subject \"Join {{organization}}\" --text-file invite.txt",
	}, a.emailTemplateList(), a.emailTemplateShow(), a.emailTemplatePreview(), a.emailTemplateSet(), a.emailTemplateReset())
}

func (a *app) emailTemplateList() *cobra.Command {
	return &cobra.Command{
		Use: "list", Short: "List the templates and their variables",
		Long: "Lists the email templates and whether the organization has customized them.", Example: "  service email template list",
		RunE: func(cmd *cobra.Command, _ []string) error {
			all, err := fetchAll(cmd.Context(), a, api.ListEmailTemplates, &api.Paging{})
			if err != nil {
				return err
			}
			return printList(
				a,
				all,
				[]print.Column{fixed("template"), column("subject"), column("custom"), column("variables")},
				func(t api.EmailTemplate) []string {
					return []string{t.ID, t.Subject, yesNo(t.Custom), strings.Join(t.Variables, ", ")}
				},
				"",
			)
		},
	}
}

func renderMessage(p *print.Page, subject, text string) {
	p.Title("%s", subject)
	for line := range strings.Lines(text) {
		p.Text("%s", strings.TrimRight(line, "\n"))
	}
}

func (a *app) emailTemplateShow() *cobra.Command {
	var html bool
	cmd := &cobra.Command{
		Use: "show TEMPLATE", Short: "Show the current template",
		Long: "Shows the subject and text with their variables or, with --html, the HTML version.",
		Example: "  service email template show approval_request\n" +
			"  service email template show approval_request --html > request.html",
		RunE: func(cmd *cobra.Command, args []string) error {
			return callAndPrint(
				cmd.Context(),
				a,
				api.GetEmailTemplate,
				&api.TemplateInput{TemplateID: args[0]},
				func(p *print.Page, t *api.EmailTemplate) {
					if html {
						renderMessage(p, t.Subject, t.HTML)
						return
					}
					renderMessage(p, t.Subject, t.Text)
					p.Fields(
						field("variables", strings.Join(t.Variables, ", ")),
						field("custom", yesNo(t.Custom)),
					)
				},
			)
		},
	}
	cmd.Flags().BoolVar(&html, "html", false, "show the HTML version instead of the text")
	return cmd
}

// templateFlags holds the flags that define a template.
type templateFlags struct{ subject, text, html string }

func (w *templateFlags) addFlags(cmd *cobra.Command) {
	f := cmd.Flags()
	f.StringVar(&w.subject, "subject", "", "subject line")
	f.StringVar(&w.text, "text-file", "", "file that contains the text; - for stdin")
	f.StringVar(&w.html, "html-file", "", "file that contains the HTML version of the email")
}

func (a *app) emailTemplatePreview() *cobra.Command {
	var w templateFlags
	var variables []string
	var html bool
	cmd := &cobra.Command{
		Use: "preview TEMPLATE", Short: "Preview the email that a template produces",
		Long: "Renders the current template, or the template in the flags, with example values and the given\n" +
			"variables. Errors in the template are reported. Nothing is sent or saved.",
		Example: "  service email template preview report_ready --var assessment=\"Acme 2026\"\n" +
			"  service email template preview report_ready --subject \"{{report}}\" --text-file ready.txt",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := &api.PreviewTemplateInput{TemplateInput: api.TemplateInput{TemplateID: args[0]}}
			given, err := parseVariables(variables)
			if err != nil {
				return err
			}
			text, err := a.readEmailText(w.text)
			if err != nil {
				return err
			}
			markup, err := a.readEmailText(w.html)
			if err != nil {
				return err
			}
			in.Body = &api.PreviewBody{}
			in.Body.Subject, in.Body.Text, in.Body.HTML, in.Body.Variables = w.subject, text, markup, given
			return callAndPrint(cmd.Context(), a, api.PreviewEmailTemplate, in, func(p *print.Page, made *api.EmailPreview) {
				if html {
					renderMessage(p, made.Subject, made.HTML)
					return
				}
				renderMessage(p, made.Subject, made.Text)
			})
		},
	}
	w.addFlags(cmd)
	cmd.Flags().StringArrayVar(&variables, "var", nil, "value of a variable, as NAME=VALUE; can be repeated")
	cmd.Flags().BoolVar(&html, "html", false, "show the HTML version instead of the text")
	return cmd
}

func (a *app) emailTemplateSet() *cobra.Command {
	var w templateFlags
	cmd := &cobra.Command{
		Use: "set TEMPLATE --subject SUBJECT --text-file FILE", Short: "Replace a built-in template",
		Long: "Replaces the template. Without --html-file, emails of this type are plain text. An invalid\n" +
			"template is rejected with an error that shows the line number.",
		Example: "  service email template set member_invite --subject \"Join us\" --text-file in.txt --html-file in.html",
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			in := &api.PutTemplateInput{TemplateInput: api.TemplateInput{TemplateID: args[0]}}
			if w.subject == "" || w.text == "" {
				return usageError("a template needs --subject and --text-file")
			}
			in.Body.Subject = w.subject
			if in.Body.Text, err = a.readEmailText(w.text); err != nil {
				return err
			}
			if in.Body.HTML, err = a.readEmailText(w.html); err != nil {
				return err
			}
			return callAndPrint(cmd.Context(), a, api.PutEmailTemplate, in, func(p *print.Page, t *api.EmailTemplate) {
				p.Text("Emails of the type %s now use the organization's own template.", t.ID)
			})
		},
	}
	w.addFlags(cmd)
	return cmd
}

func (a *app) emailTemplateReset() *cobra.Command {
	return &cobra.Command{
		Use: "reset TEMPLATE", Short: "Restore the built-in template",
		Long: "Removes the organization's own template.", Example: "  service email template reset member_invite",
		RunE: func(cmd *cobra.Command, args []string) error {
			in := api.ResetTemplateInput{TemplateInput: api.TemplateInput{TemplateID: args[0]}}
			if _, err := call(cmd.Context(), a, api.ResetEmailTemplate, &in); err != nil {
				return err
			}
			a.printNotice("Emails of the type %s now use the built-in template.", args[0])
			return nil
		},
	}
}
