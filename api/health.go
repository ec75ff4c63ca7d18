package api

// Health is the response of the basic health check.
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

// HealthDetailInput selects how thorough the checks are.
type HealthDetailInput struct {
	Deep string `query:"deep" enum:"true,false" doc:"Also read all records and a sample of 100 files. Only for the local user of the data folder."`
}

// HealthDetail is the health of each part of the service.
type HealthDetail struct {
	Health
	Version       string        `json:"version"`
	UptimeSeconds int64         `json:"uptime_seconds"`
	Checks        []HealthCheck `json:"checks"`
}

const tagHealth = "Health"

// Operations on health, defined in section 4.1 of the API specification.
var (
	GetHealth = Get[None, Health](
		"get-health", "/health", "", tagHealth,
		"Check whether the service responds", WithAccess(Public),
	)
	GetHealthV1 = Get[None, Health](
		"get-health-v1", "/health/v1", "", tagHealth,
		"Check whether version 1 of the API responds", WithAccess(Public),
	)
	GetHealthDetailed = Get[HealthDetailInput, HealthDetail](
		"get-health-detailed", "/health/detailed", "", tagHealth,
		"Check each part of the service", WithAccess(SignedIn),
	)
	GetServiceHealth = Get[HealthDetailInput, HealthDetail](
		"get-service-health", "/observability/health", "metrics:read", tagHealth,
		"Check each part of the service, for operators", WithAccess(SignedIn),
	)
)
