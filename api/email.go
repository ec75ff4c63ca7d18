package api

import "time"

// SendEmailInput sends a mail, from a template or as it is.
type SendEmailInput struct {
	Body struct {
		To         []string       `json:"to" minItems:"1" maxItems:"50"`
		TemplateID string         `json:"template_id,omitempty" doc:"A template with its variables; or else subject and text."`
		Variables  map[string]any `json:"variables,omitempty" doc:"Texts, numbers, true or false, by their names."`
		Subject    string         `json:"subject,omitempty" maxLength:"500"`
		Text       string         `json:"text,omitempty" maxLength:"200000"`
		HTML       string         `json:"html,omitempty" maxLength:"500000"`
	}
}

// The states of a mail. One that bounced was refused for its address; one that failed for another reason.
const (
	EmailQueued  = "queued"
	EmailSent    = "sent"
	EmailFailed  = "failed"
	EmailBounced = "bounced"
)

// Email is a mail on its way.
type Email struct {
	TenantRecord
	To         []string         `json:"to"`
	Subject    string           `json:"subject"`
	TemplateID *string          `json:"template_id"`
	Status     string           `json:"status" enum:"queued,sent,failed,bounced" doc:"sent: the mail server took it for everybody. bounced: it refused an address."`
	Error      *string          `json:"error"`
	Recipients []EmailRecipient `json:"recipients" doc:"Each gets a mail of their own."`
	// Attempts counts connections to the mail server.
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	SentAt        *time.Time `json:"sent_at"`
}

// EmailRecipient is how far a mail came for one of those it is to.
type EmailRecipient struct {
	Address string  `json:"address"`
	Status  string  `json:"status" enum:"queued,sent,failed,bounced"`
	Error   *string `json:"error"`
}

// EmailsInput lists mails.
type EmailsInput struct {
	Paging
	Status string `query:"status" enum:"queued,sent,failed,bounced"`
}

// EmailInput names a mail.
type EmailInput struct {
	EmailID string `path:"emailId"`
}

// EmailTemplate is the wording of one kind of mail.
type EmailTemplate struct {
	ID        string     `json:"id"`
	Subject   string     `json:"subject"`
	Text      string     `json:"text"`
	HTML      string     `json:"html"`
	Variables []string   `json:"variables"`
	Custom    bool       `json:"custom" doc:"The organization's own wording; false: the built-in one."`
	UpdatedAt *time.Time `json:"updated_at" doc:"Null for the built-in wording."`
}

// TemplateInput names a template.
type TemplateInput struct {
	TemplateID string `path:"templateId"`
}

// PutTemplateInput replaces a template's wording.
type PutTemplateInput struct {
	TemplateInput
	Body struct {
		Subject string `json:"subject" minLength:"1" maxLength:"500"`
		Text    string `json:"text" minLength:"1" maxLength:"200000"`
		HTML    string `json:"html,omitempty" maxLength:"500000" doc:"Without it, mails are text alone."`
	}
}

// PreviewTemplateInput shows what a template makes, without sending or keeping it.
type PreviewTemplateInput struct {
	TemplateInput
	Body *PreviewBody
}

// PreviewBody is a wording and what fills it.
type PreviewBody struct {
	Subject   string         `json:"subject,omitempty" maxLength:"500" doc:"This wording in place of the one in use; likewise text and html."`
	Text      string         `json:"text,omitempty" maxLength:"200000"`
	HTML      string         `json:"html,omitempty" maxLength:"500000"`
	Variables map[string]any `json:"variables,omitempty" doc:"Examples stand in for those that are left out."`
}

// EmailPreview is a mail as it would be sent.
type EmailPreview struct {
	TemplateID string `json:"template_id"`
	Subject    string `json:"subject"`
	Text       string `json:"text"`
	HTML       string `json:"html"`
}

// EmailPreferences are which mails a person wants that come by themselves.
type EmailPreferences struct {
	Digest    bool `json:"digest" doc:"Each day, the remediations that are overdue."`
	Approvals bool `json:"approvals" doc:"Decisions that wait, and what was decided."`
}

// PutEmailPreferencesInput says which of one's mails one wants.
type PutEmailPreferencesInput struct {
	Body struct {
		Digest    *bool `json:"digest,omitempty"`
		Approvals *bool `json:"approvals,omitempty"`
	}
}

const (
	tagEmail   = "E-mail"
	emailRead  = Permission("email:read")
	emailWrite = Permission("email:write")
)

// Operations of the interface's part 4.18 on mail, and what makes them whole.
var (
	SendEmail = Post[SendEmailInput, Email](
		"send-email",
		"/email/send",
		WithPermission(emailWrite),
		WithStatus(202),
		WithTag(tagEmail),
		WithSummary("Send a mail"),
	)
	ListEmails = Get[EmailsInput, List[Email]](
		"list-emails",
		"/email/messages",
		WithPermission(emailRead),
		WithTag(tagEmail),
		WithSummary("List mails, newest first, with what became of them"),
	)
	GetEmail = Get[EmailInput, Email](
		"get-email",
		"/email/messages/{emailId}",
		WithPermission(emailRead),
		WithTag(tagEmail),
		WithSummary("Tell what became of a mail"),
	)
	ListEmailTemplates = Get[Paging, List[EmailTemplate]](
		"list-email-templates",
		"/email/templates",
		WithPermission(emailRead),
		WithTag(tagEmail),
		WithSummary("List mail templates"),
	)
	GetEmailTemplate = Get[TemplateInput, EmailTemplate](
		"get-email-template",
		"/email/templates/{templateId}",
		WithPermission(emailRead),
		WithTag(tagEmail),
		WithSummary("Read a mail template"),
	)
	PutEmailTemplate = Put[PutTemplateInput, EmailTemplate](
		"put-email-template",
		"/email/templates/{templateId}",
		WithPermission(emailWrite),
		WithTag(tagEmail),
		WithSummary("Replace a mail template"),
	)
	ResetEmailTemplate = Delete[TemplateInput](
		"reset-email-template",
		"/email/templates/{templateId}",
		WithPermission(emailWrite),
		WithTag(tagEmail),
		WithSummary("Go back to a template's built-in wording"),
	)
	PreviewEmailTemplate = Post[PreviewTemplateInput, EmailPreview](
		"preview-email-template",
		"/email/templates/{templateId}/preview",
		WithPermission(emailRead),
		WithTag(tagEmail),
		WithSummary("Show the mail that a template makes"),
	)
	GetEmailPreferences = Get[None, EmailPreferences](
		"get-email-preferences",
		"/email/preferences",
		WithAccess(SignedIn),
		WithTag(tagEmail),
		WithSummary("Read which mails the caller wants"),
	)
	PutEmailPreferences = Put[PutEmailPreferencesInput, EmailPreferences](
		"put-email-preferences",
		"/email/preferences",
		WithAccess(SignedIn),
		WithTag(tagEmail),
		WithSummary("Say which mails the caller wants"),
	)
)
