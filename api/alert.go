package api

import "time"

// AlertRule compares a metric with a threshold.
type AlertRule struct {
	TenantRecord
	Revised
	Name            string     `json:"name"`
	Metric          string     `json:"metric"`
	Operator        string     `json:"operator" enum:"gt,gte,lt,lte,eq"`
	Threshold       float64    `json:"threshold"`
	WindowSeconds   int        `json:"window_seconds"`
	Channels        []string   `json:"channels"`
	Enabled         bool       `json:"enabled"`
	State           string     `json:"state" enum:"ok,firing"`
	Value           *float64   `json:"value" doc:"The metric's value at the last check; null if the metric didn't exist."`
	ChangedAt       *time.Time `json:"changed_at" doc:"Time of the last state change."`
	LastEvaluatedAt *time.Time `json:"last_evaluated_at"`
}

// The states of an alert rule.
const (
	AlertOK     = "ok"
	AlertFiring = "firing"
)

// CreateAlertInput is the input for creating an alert rule.
type CreateAlertInput struct {
	Body struct {
		Name          string   `json:"name" minLength:"1" maxLength:"200"`
		Metric        string   `json:"metric" minLength:"1" maxLength:"200" doc:"A name from list-metrics, optionally with labels, e.g. organization_open_findings{severity=critical}. Several matching series are added up."`
		Operator      string   `json:"operator" enum:"gt,gte,lt,lte,eq"`
		Threshold     float64  `json:"threshold"`
		WindowSeconds int      `json:"window_seconds,omitempty" minimum:"1" maximum:"604800" doc:"How long the metric must stay beyond the threshold, or back within it, before the state changes. Default: 60."`
		Channels      []string `json:"channels,omitempty" maxItems:"20" doc:"email (owners and admins), email:ADDRESS, webhook (events alert.firing and alert.resolved). Default: email and webhook."`
		Enabled       *bool    `json:"enabled,omitempty"`
	}
}

// AlertInput identifies an alert rule.
type AlertInput struct {
	AlertID string `path:"alertId"`
}

// UpdateAlertInput is the input for changing an alert rule. Changing the metric, operator or threshold
// resets the state to ok.
type UpdateAlertInput struct {
	AlertInput
	Match
	Body struct {
		Name          *string   `json:"name,omitempty" minLength:"1" maxLength:"200"`
		Metric        *string   `json:"metric,omitempty" minLength:"1" maxLength:"200"`
		Operator      *string   `json:"operator,omitempty" enum:"gt,gte,lt,lte,eq"`
		Threshold     *float64  `json:"threshold,omitempty"`
		WindowSeconds *int      `json:"window_seconds,omitempty" minimum:"1" maximum:"604800"`
		Channels      *[]string `json:"channels,omitempty" maxItems:"20"`
		Enabled       *bool     `json:"enabled,omitempty"`
	}
}

const (
	alertRead  = Permission("alert:read")
	alertWrite = Permission("alert:write")
)

// DeleteAlertInput is the input for deleting an alert rule.
type DeleteAlertInput struct {
	AlertInput
	Match
}

// Operations on alert rules, defined in section 4.18 of the API specification, and related ones.
var (
	ListAlerts = Get[Paging, List[AlertRule]](
		"list-alert-rules", "/observability/alerts", alertRead, tagObservability,
		"List alert rules",
	)
	CreateAlert = Create[CreateAlertInput, AlertRule](
		"create-alert-rule", "/observability/alerts", alertWrite, tagObservability,
		"Create an alert rule",
	)
	GetAlert = Get[AlertInput, AlertRule](
		"get-alert-rule", "/observability/alerts/{alertId}", alertRead, tagObservability,
		"Get an alert rule",
	)
	UpdateAlert = Patch[UpdateAlertInput, AlertRule](
		"update-alert-rule", "/observability/alerts/{alertId}", alertWrite, tagObservability,
		"Update an alert rule",
	)
	DeleteAlert = Delete[DeleteAlertInput](
		"delete-alert-rule", "/observability/alerts/{alertId}", alertWrite, tagObservability,
		"Delete an alert rule",
	)
)
