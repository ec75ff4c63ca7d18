package api

import "time"

// Webhook is a URL to which events are sent.
type Webhook struct {
	TenantRecord
	Revised
	URL         string   `json:"url"`
	Events      []string `json:"events"`
	Description string   `json:"description"`
	Enabled     bool     `json:"enabled"`
}

// NewWebhook is a newly created webhook with its secret, which is shown only once.
type NewWebhook struct {
	Webhook
	Secret string `json:"secret"`
}

// CreateWebhookInput is the input for creating a webhook.
type CreateWebhookInput struct {
	OrgInput
	Body struct {
		URL         string   `json:"url" format:"uri" maxLength:"2000"`
		Events      []string `json:"events,omitempty" maxItems:"100"`
		Description string   `json:"description,omitempty" maxLength:"1000"`
		Enabled     *bool    `json:"enabled,omitempty"`
	}
}

// OrgListInput is the input for listing records of an organization.
type OrgListInput struct {
	OrgInput
	Paging
}

// WebhookInput identifies a webhook.
type WebhookInput struct {
	WebhookID string `path:"webhookId"`
}

// UpdateWebhookInput is the input for changing a webhook.
type UpdateWebhookInput struct {
	WebhookInput
	Match
	Body struct {
		URL         *string   `json:"url,omitempty" format:"uri" maxLength:"2000"`
		Events      *[]string `json:"events,omitempty" maxItems:"100"`
		Description *string   `json:"description,omitempty" maxLength:"1000"`
		Enabled     *bool     `json:"enabled,omitempty"`
	}
}

// DeliveryAttempt is one attempt to deliver an event.
type DeliveryAttempt struct {
	At         time.Time `json:"at"`
	HTTPStatus int       `json:"http_status"`
	DurationMS int64     `json:"duration_ms"`
	Error      *string   `json:"error"`
}

// Delivery is the delivery of one event to a webhook.
type Delivery struct {
	TenantRecord
	EventID       string            `json:"event_id"`
	EventType     string            `json:"event_type"`
	Status        string            `json:"status" enum:"pending,delivered,retrying,failed"`
	Attempts      []DeliveryAttempt `json:"attempts"`
	NextAttemptAt *time.Time        `json:"next_attempt_at"`
}

// DeliveryInput identifies a delivery of a webhook.
type DeliveryInput struct {
	WebhookInput
	DeliveryID string `path:"deliveryId"`
}

// DeliveriesInput is the input for listing the deliveries of a webhook.
type DeliveriesInput struct {
	WebhookInput
	Paging
	Status string `query:"status"`
}

// DeleteWebhookInput is the input for deleting a webhook.
type DeleteWebhookInput struct {
	WebhookInput
	Match
}

const tagWebhook = "Webhooks"

// Operations on notifications, defined in section 4.18 of the API specification.
var (
	ListWebhooks = Get[OrgListInput, List[Webhook]](
		"list-webhooks", "/organizations/{orgId}/webhooks", "webhook:read", tagWebhook,
		"List webhooks",
	)
	CreateWebhook = Create[CreateWebhookInput, NewWebhook](
		"create-webhook", "/organizations/{orgId}/webhooks", "webhook:write", tagWebhook,
		"Create a webhook; its secret is shown once",
	)
	GetWebhook = Get[WebhookInput, Webhook](
		"get-webhook", "/webhooks/{webhookId}", "webhook:read", tagWebhook,
		"Get a webhook",
	)
	UpdateWebhook = Patch[UpdateWebhookInput, Webhook](
		"update-webhook", "/webhooks/{webhookId}", "webhook:write", tagWebhook,
		"Update a webhook",
	)
	DeleteWebhook = Delete[DeleteWebhookInput](
		"delete-webhook", "/webhooks/{webhookId}", "webhook:write", tagWebhook,
		"Delete a webhook",
	)
	RotateWebhook = Post[WebhookInput, NewWebhook](
		"rotate-webhook", "/webhooks/{webhookId}/rotate", "webhook:write", tagWebhook,
		"Rotate a webhook's secret; the old one stays valid for a day",
	)
	TestWebhook = Post[WebhookInput, Delivery](
		"test-webhook", "/webhooks/{webhookId}/test", "webhook:write", tagWebhook,
		"Send a test event", WithStatus(202),
	)
	Redeliver = Post[DeliveryInput, Delivery](
		"redeliver-webhook-delivery", "/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver",
		"webhook:write", tagWebhook,
		"Resend an event with its original ID", WithStatus(202),
	)
	ListDeliveries = Get[DeliveriesInput, List[Delivery]](
		"list-webhook-deliveries", "/webhooks/{webhookId}/deliveries", "webhook:read", tagWebhook,
		"List deliveries with every attempt",
	)
)
