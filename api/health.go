package api

// Health is the basic health answer.
type Health struct {
	OK      bool   `json:"ok"`
	Service string `json:"service"`
	TraceID string `json:"trace_id"`
}

// HealthCheck is the result of one check.
type HealthCheck struct {
	Name      string  `json:"name"`
	OK        bool    `json:"ok"`
	LatencyMS float64 `json:"latency_ms"`
	Detail    string  `json:"detail"`
}

// HealthDetail is the health of each part of the service.
type HealthDetail struct {
	Health
	Version       string        `json:"version"`
	UptimeSeconds int64         `json:"uptime_seconds"`
	Checks        []HealthCheck `json:"checks"`
}

const tagHealth = "Health"

// Operations of section 4.1 of the API specification.
var (
	GetHealth = Get[None, Health](
		"get-health",
		"/health",
		WithAccess(Public),
		WithTag(tagHealth),
		WithSummary("Check whether the service responds"),
	)
	GetHealthV1 = Get[None, Health](
		"get-health-v1",
		"/health/v1",
		WithAccess(Public),
		WithTag(tagHealth),
		WithSummary("Check whether version 1 of the API responds"),
	)
	GetHealthDetailed = Get[None, HealthDetail](
		"get-health-detailed",
		"/health/detailed",
		WithAccess(SignedIn),
		WithTag(tagHealth),
		WithSummary("Check each part of the service"),
	)
	GetServiceHealth = Get[None, HealthDetail](
		"get-service-health",
		"/observability/health",
		WithAccess(SignedIn),
		WithPermission("metrics:read"),
		WithTag(tagHealth),
		WithSummary("Check each part of the service, for operators"),
	)
)
