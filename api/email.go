package api

import "time"

// SendEmailInput is the input for sending an email whose text is given or comes from a template.
type SendEmailInput struct {
	Body struct {
		To         []string       `json:"to" minItems:"1" maxItems:"50"`
		TemplateID string         `json:"template_id,omitempty" minLength:"1" doc:"A template to fill with variables; otherwise give subject and text."`
		Variables  map[string]any `json:"variables,omitempty" doc:"Strings, numbers or booleans, by name."`
		Subject    string         `json:"subject,omitempty" maxLength:"500"`
		Text       string         `json:"text,omitempty" maxLength:"200000"`
		HTML       string         `json:"html,omitempty" maxLength:"500000"`
	}
}

// The states of an email. A bounced email was rejected because of the recipient's address; a failed one was not sent
// for another reason.
const (
	EmailQueued  = "queued"
	EmailSent    = "sent"
	EmailFailed  = "failed"
	EmailBounced = "bounced"
)

// Email is a queued or sent email.
type Email struct {
	TenantRecord
	To         []string         `json:"to"`
	Subject    string           `json:"subject"`
	TemplateID *string          `json:"template_id"`
	Status     string           `json:"status" enum:"queued,sent,failed,bounced" doc:"sent: the mail server accepted it for all recipients. bounced: it rejected an address."`
	Error      *string          `json:"error"`
	Recipients []EmailRecipient `json:"recipients" doc:"Each gets a separate email."`
	// Attempts counts the connections to the mail server.
	Attempts      int        `json:"attempts"`
	NextAttemptAt *time.Time `json:"next_attempt_at"`
	SentAt        *time.Time `json:"sent_at"`
}

// EmailRecipient is the delivery status for one recipient.
type EmailRecipient struct {
	Address string  `json:"address"`
	Status  string  `json:"status" enum:"queued,sent,failed,bounced"`
	Error   *string `json:"error"`
}

// EmailsInput is the input for listing emails.
type EmailsInput struct {
	Paging
	Status string `query:"status" enum:"queued,sent,failed,bounced"`
}

// EmailInput identifies an email.
type EmailInput struct {
	EmailID string `path:"emailId"`
}

// EmailTemplate is the template of one kind of email.
type EmailTemplate struct {
	Revised
	ID        string     `json:"id"`
	Subject   string     `json:"subject"`
	Text      string     `json:"text"`
	HTML      string     `json:"html"`
	Variables []string   `json:"variables"`
	CreatedAt *time.Time `json:"created_at" doc:"When the organization first customized it; null for the built-in template."`
	Custom    bool       `json:"custom" doc:"true: customized by the organization; false: the built-in template."`
	UpdatedAt *time.Time `json:"updated_at" doc:"Null for the built-in template."`
}

// TemplateInput identifies a template.
type TemplateInput struct {
	TemplateID string `path:"templateId"`
}

// PutTemplateInput is the input for replacing a template.
type PutTemplateInput struct {
	TemplateInput
	Match
	Body struct {
		Subject string `json:"subject" minLength:"1" maxLength:"500"`
		Text    string `json:"text" minLength:"1" maxLength:"200000"`
		HTML    string `json:"html,omitempty" maxLength:"500000" doc:"If omitted, emails are plain text only."`
	}
}

// PreviewTemplateInput is the input for previewing a template without sending or saving it.
type PreviewTemplateInput struct {
	TemplateInput
	Body *PreviewBody
}

// PreviewBody holds template texts to preview and the variables to fill in.
type PreviewBody struct {
	Subject   string         `json:"subject,omitempty" maxLength:"500" doc:"Overrides the current subject; likewise text and html."`
	Text      string         `json:"text,omitempty" maxLength:"200000"`
	HTML      string         `json:"html,omitempty" maxLength:"500000"`
	Variables map[string]any `json:"variables,omitempty" doc:"Missing variables are replaced by sample values."`
}

// EmailPreview is an email as it would be sent.
type EmailPreview struct {
	TemplateID string `json:"template_id"`
	Subject    string `json:"subject"`
	Text       string `json:"text"`
	HTML       string `json:"html"`
}

// EmailPreferences lists the automatic emails that a user wants to receive.
type EmailPreferences struct {
	Revised
	Digest    bool `json:"digest" doc:"Daily summary of overdue remediations."`
	Approvals bool `json:"approvals" doc:"Pending and completed approvals."`
	Mentions  bool `json:"mentions" doc:"Comments that mention the user by email address."`
}

// PutEmailPreferencesInput is the input for setting the caller's email preferences.
type PutEmailPreferencesInput struct {
	Match
	Body struct {
		Digest    *bool `json:"digest,omitempty"`
		Approvals *bool `json:"approvals,omitempty"`
		Mentions  *bool `json:"mentions,omitempty"`
	}
}

const (
	tagEmail   = "Email"
	emailRead  = Permission("email:read")
	emailWrite = Permission("email:write")
)

// ResetTemplateInput is the input for resetting an email template.
type ResetTemplateInput struct {
	TemplateInput
	Match
}

// Operations on email, defined in section 4.18 of the API specification, and related ones.
var (
	SendEmail = Post[SendEmailInput, Email](
		"send-email", "/email/send", emailWrite, tagEmail,
		"Send an email", WithStatus(202),
	)
	ListEmails = Get[EmailsInput, List[Email]](
		"list-emails", "/email/messages", emailRead, tagEmail,
		"List emails with their status, newest first",
	)
	GetEmail = Get[EmailInput, Email](
		"get-email", "/email/messages/{emailId}", emailRead, tagEmail,
		"Get an email and its delivery status",
	)
	ListEmailTemplates = Get[Paging, List[EmailTemplate]](
		"list-email-templates", "/email/templates", emailRead, tagEmail,
		"List email templates",
	)
	GetEmailTemplate = Get[TemplateInput, EmailTemplate](
		"get-email-template", "/email/templates/{templateId}", emailRead, tagEmail,
		"Get an email template",
	)
	PutEmailTemplate = Put[PutTemplateInput, EmailTemplate](
		"put-email-template", "/email/templates/{templateId}", emailWrite, tagEmail,
		"Replace an email template",
	)
	ResetEmailTemplate = Delete[ResetTemplateInput](
		"reset-email-template", "/email/templates/{templateId}", emailWrite, tagEmail,
		"Reset a template to the built-in version",
	)
	PreviewEmailTemplate = Post[PreviewTemplateInput, EmailPreview](
		"preview-email-template", "/email/templates/{templateId}/preview", emailRead, tagEmail,
		"Preview the email a template produces",
	)
	GetEmailPreferences = Get[None, EmailPreferences](
		"get-email-preferences", "/email/preferences", "", tagEmail,
		"Get the caller's email preferences", WithAccess(SignedIn),
	)
	PutEmailPreferences = Put[PutEmailPreferencesInput, EmailPreferences](
		"put-email-preferences", "/email/preferences", "", tagEmail,
		"Set the caller's email preferences", WithAccess(SignedIn),
	)
)
