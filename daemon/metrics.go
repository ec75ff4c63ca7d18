package daemon

import (
	"cmp"
	"context"
	"math"
	"net"
	"net/http"
	"net/netip"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/engine"
)

// metrics counts the server's activity. No label names an organization or a user, so the metrics
// reveal nothing about tenants.
type metrics struct {
	registry     *prometheus.Registry
	requests     *prometheus.CounterVec   // labels: operation, status such as 2xx
	duration     *prometheus.HistogramVec // label: operation
	transactions prometheus.Histogram
	inFlight     prometheus.Gauge
	uploads      prometheus.Counter
	rateLimited  *prometheus.CounterVec // labels: category, budget
	authFailures prometheus.Counter
}

// durationBuckets are the histogram's bounds, in seconds. They range from a store read to a transition that
// processes documents.
var durationBuckets = []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60}

// newMetrics returns the metrics of a server, including those of the engine.
func newMetrics(e *engine.Engine, limiter *rateLimiter) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		requests: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "service_requests_total", Help: "Requests by operation and status class."},
			[]string{"operation", "status"},
		),
		duration: prometheus.NewHistogramVec(
			prometheus.HistogramOpts{
				Name:    "service_request_duration_seconds",
				Help:    "Request duration by operation.",
				Buckets: durationBuckets,
			},
			[]string{"operation"},
		),
		transactions: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name:    "service_store_transaction_seconds",
			Help:    "Duration of write transactions; other writes wait until a transaction ends.",
			Buckets: durationBuckets,
		}),
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{Name: "service_requests_in_flight", Help: "Requests in progress."}),
		uploads:  prometheus.NewCounter(prometheus.CounterOpts{Name: "service_upload_bytes_total", Help: "Size of uploaded files in bytes."}),
		rateLimited: prometheus.NewCounterVec(
			prometheus.CounterOpts{Name: "service_rate_limited_total", Help: "Requests rejected by the rate limit, by category and budget."},
			[]string{"category", "budget"},
		),
		authFailures: prometheus.NewCounter(
			prometheus.CounterOpts{
				Name: "service_auth_failures_total",
				Help: "Requests rejected without a valid credential, including failed sign-ins.",
			},
		),
	}
	build := prometheus.NewGauge(
		prometheus.GaugeOpts{
			Name:        "service_build_info",
			Help:        "Always 1; the version is in the label.",
			ConstLabels: prometheus.Labels{"version": e.Version()},
		},
	)
	build.Set(1)
	m.registry.MustRegister(
		m.requests,
		m.duration,
		m.transactions,
		m.inFlight,
		m.uploads,
		m.rateLimited,
		m.authFailures,
		build,
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "service_throttled_organizations",
			Help: "Organizations whose requests were rejected in the current or previous minute because they exceeded their rate limit.",
		}, func() float64 { return float64(limiter.throttledOrganizations()) }),
		engineCollector{e},
		collectors.NewGoCollector(),
		collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
	)
	e.ObserveTransactions(func(took time.Duration) { m.transactions.Observe(took.Seconds()) })
	return m
}

// countRequest counts a completed request.
func (m *metrics) countRequest(op *api.Operation, status int, took time.Duration, refused api.Budget) {
	if status == 0 {
		status = http.StatusOK // net/http sends 200 if the handler set no status
	}
	id := operationID(op)
	m.requests.WithLabelValues(id, strconv.Itoa(status/100)+"xx").Inc()
	m.duration.WithLabelValues(id).Observe(took.Seconds())
	switch status {
	case http.StatusTooManyRequests:
		category := "none"
		if op != nil {
			category = string(op.Rate)
		}
		m.rateLimited.WithLabelValues(category, cmp.Or(string(refused), "none")).Inc()
	case http.StatusUnauthorized:
		m.authFailures.Inc()
	}
}

// engineCollector reads the engine's figures when the metrics are scraped.
type engineCollector struct{ engine *engine.Engine }

var (
	descDocumentsWaiting = prometheus.NewDesc("service_documents_waiting", "Documents waiting to be processed.", nil, nil)
	descDocumentsReading = prometheus.NewDesc("service_documents_reading", "Documents being processed.", nil, nil)
	descDocumentsStuck   = prometheus.NewDesc(
		"service_documents_stuck",
		"Documents that could not be processed because of a system problem.",
		nil,
		nil,
	)
	descTraining = prometheus.NewDesc(
		"service_embedder_training_percent",
		"Progress of training the search on a catalog; absent if no training is running.",
		[]string{"catalog"},
		nil,
	)
	descStoreBytes = prometheus.NewDesc("service_store_bytes", "Size of the database file.", nil, nil)
	descDiskFree   = prometheus.NewDesc("service_disk_free_bytes", "Free disk space available to the data "+
		"folder.", nil, nil)
	descIndexes           = prometheus.NewDesc("service_search_indexes", "Search indexes in memory, one per assessment.", nil, nil)
	descMailsQueued       = prometheus.NewDesc("service_emails_queued", "Emails waiting to be sent.", nil, nil)
	descDeliveriesWaiting = prometheus.NewDesc(
		"service_webhook_deliveries_waiting",
		"Webhook deliveries waiting to be sent.",
		nil,
		nil,
	)
	descLanes = prometheus.NewDesc(
		"service_delivery_lanes",
		"Receivers with unsent events, by state: sending, waiting for their turn, or paused until a retry or until "+
			"they are enabled again. Slow receivers are also counted as slow.",
		[]string{"state"},
		nil,
	)
	descWorkflowsLive = prometheus.NewDesc("service_workflows_live", "Workflow runs that are running or waiting.", nil, nil)
	descModelCalls    = prometheus.NewDesc(
		"service_model_calls_total",
		"Requests to the current model, by outcome.",
		[]string{"outcome"},
		nil,
	)
	descModelSeconds = prometheus.NewDesc("service_model_seconds_total", "Total time the model spent on requests.", nil, nil)
	descModelTokens  = prometheus.NewDesc("service_model_tokens_total", "Tokens read and written by the model.", []string{"kind"}, nil)
	descLastBackup   = prometheus.NewDesc(
		"service_backup_last_timestamp_seconds",
		"When the last scheduled backup was made; absent if there is no backup.",
		nil,
		nil,
	)
	descBackupDrill = prometheus.NewDesc(
		"service_backup_drill_passed",
		"1 if the last scheduled backup could be restored, otherwise 0; absent if there is no backup.",
		nil,
		nil,
	)
	descBackupFailures = prometheus.NewDesc(
		"service_backup_failures_total",
		"Scheduled backups and restore drills that failed.",
		nil,
		nil,
	)
	descPassages = prometheus.NewDesc("service_search_passages", "Passages in the search indexes in memory.", nil, nil)
)

func (engineCollector) Describe(to chan<- *prometheus.Desc) {
	for _, d := range []*prometheus.Desc{
		descDocumentsWaiting, descDocumentsReading, descDocumentsStuck,
		descTraining, descLanes, descStoreBytes, descDiskFree, descIndexes, descPassages, descMailsQueued, descDeliveriesWaiting,
		descWorkflowsLive, descModelCalls, descModelSeconds, descModelTokens,
		descLastBackup, descBackupDrill, descBackupFailures,
	} {
		to <- d
	}
}

func (l engineCollector) Collect(to chan<- prometheus.Metric) {
	f := l.engine.Stats()
	send := func(d *prometheus.Desc, v float64) { to <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v) }
	send(descDocumentsWaiting, float64(f.Waiting))
	send(descDocumentsReading, float64(f.Reading))
	send(descDocumentsStuck, float64(f.Stuck))
	if t := f.Training; t != nil {
		to <- prometheus.MustNewConstMetric(descTraining, prometheus.GaugeValue, float64(t.Progress), t.Label)
	}
	if f.StoreBytes > 0 { // otherwise, it is a metric of the database server
		send(descStoreBytes, float64(f.StoreBytes))
	}
	if f.DiskKnown {
		send(descDiskFree, float64(f.DiskFree))
	}
	send(descIndexes, float64(f.Indexes))
	send(descPassages, float64(f.Passages))
	send(descMailsQueued, float64(f.QueuedMails))
	send(descDeliveriesWaiting, float64(f.WaitingDeliveries))
	for state, n := range map[string]int{
		"sending": f.Lanes.Sending, "waiting": f.Lanes.Waiting, "paused": f.Lanes.Paused, "slow": f.Lanes.Slow,
	} {
		to <- prometheus.MustNewConstMetric(descLanes, prometheus.GaugeValue, float64(n), state)
	}
	send(descWorkflowsLive, float64(f.LiveWorkflows))
	count := func(d *prometheus.Desc, v float64, labels ...string) {
		to <- prometheus.MustNewConstMetric(d, prometheus.CounterValue, v, labels...)
	}
	count(descModelCalls, float64(f.ModelCalls-f.ModelFailures), "answered")
	count(descModelCalls, float64(f.ModelFailures), "failed")
	count(descModelSeconds, f.ModelSeconds)
	count(descModelTokens, float64(f.ModelPromptTokens), "prompt")
	count(descModelTokens, float64(f.ModelCompletionTokens), "completion")
	if !f.LastBackup.IsZero() {
		send(descLastBackup, float64(f.LastBackup.Unix()))
		passed := 0.0
		if f.DrillPassed {
			passed = 1
		}
		send(descBackupDrill, passed)
	}
	count(descBackupFailures, float64(f.BackupFailures))
}

// MetricsHandler serves the metrics on every path without authentication. It is meant for a separate listener
// that only the operator's collector can reach.
func (s *Server) MetricsHandler() http.Handler {
	return promhttp.HandlerFor(s.metrics.registry, promhttp.HandlerOpts{MaxRequestsInFlight: 4})
}

// metricsOperation is the operation behind /metrics. It requires the permission of list-metrics, but no
// organization.
var metricsOperation = func() *api.Operation {
	op := *api.ListMetrics.Operation
	op.ID, op.Path, op.Access = "metrics", "/metrics", api.SignedIn
	return &op
}()

// serveMetrics serves /metrics to local clients, and to callers with the permission to read
// metrics.
func (s *Server) serveMetrics(w http.ResponseWriter, r *http.Request) {
	requestContextFrom(r.Context()).op = metricsOperation
	if !isLocalRequest(r.Context()) && !isDirectLoopbackRequest(r) {
		if err := s.authenticateAndAuthorize(w, r, metricsOperation); err != nil {
			s.writeError(w, r, s.logAndConvertError(r.Context(), metricsOperation, err))
			return
		}
	}
	w.Header().Set("Cache-Control", "no-store")
	s.MetricsHandler().ServeHTTP(w, r)
}

// isDirectLoopbackRequest reports whether a request was sent on this machine, without a proxy and to a
// loopback address or localhost. A different host name could be an attack by DNS rebinding.
func isDirectLoopbackRequest(r *http.Request) bool {
	for name := range r.Header {
		if strings.HasPrefix(name, "X-Forwarded-") || name == "Forwarded" || name == "X-Real-Ip" || name == "Via" {
			return false
		}
	}
	// A web page can reach this machine's addresses under a host name of its choice (DNS
	// rebinding).
	host, _, err := net.SplitHostPort(r.Host)
	if err != nil {
		host = strings.Trim(r.Host, "[]")
	}
	if named, err := netip.ParseAddr(host); host != "localhost" && (err != nil || !named.IsLoopback()) {
		return false
	}
	peer, err := netip.ParseAddr(remoteHost(r))
	return err == nil && peer.Unmap().IsLoopback()
}

// listMetrics returns the metrics of this process, which /metrics also serves, and those of the caller's
// organization.
func (s *Server) listMetrics(ctx context.Context, by api.Caller, in *api.Paging) (*api.List[api.Metric], error) {
	process, err := s.metrics.toAPIMetrics()
	if err != nil {
		return nil, err
	}
	return s.engine.ListMetrics(ctx, by, in, process)
}

// reportedQuantiles are computed from a histogram's buckets.
var reportedQuantiles = []float64{0.5, 0.95, 0.99}

// toAPIMetrics converts the registry's metrics to API metrics. A histogram becomes its count, its
// sum, and quantiles.
func (m *metrics) toAPIMetrics() (out []api.Metric, err error) {
	families, err := m.registry.Gather()
	if err != nil {
		return nil, err
	}
	for _, f := range families {
		name, unit := f.GetName(), metricUnit(f.GetName())
		for _, one := range f.GetMetric() {
			labels := map[string]string{}
			for _, l := range one.GetLabel() {
				labels[l.GetName()] = l.GetValue()
			}
			add := func(name, kind, unit string, value float64, labels map[string]string) {
				if !math.IsNaN(value) && !math.IsInf(value, 0) { // JSON can't represent such numbers
					out = append(out, api.Metric{Name: name, Type: kind, Unit: unit, Value: value, Labels: labels})
				}
			}
			switch {
			case one.Counter != nil:
				add(name, "counter", unit, one.GetCounter().GetValue(), labels)
			case one.Gauge != nil:
				add(name, "gauge", unit, one.GetGauge().GetValue(), labels)
			case one.Histogram != nil:
				h := one.GetHistogram()
				add(name+"_count", "histogram", "count", float64(h.GetSampleCount()), labels)
				add(name+"_sum", "histogram", unit, h.GetSampleSum(), labels)
				var bounds []float64
				var below []uint64
				for _, b := range h.GetBucket() {
					bounds, below = append(bounds, b.GetUpperBound()), append(below, b.GetCumulativeCount())
				}
				for _, q := range reportedQuantiles {
					with := map[string]string{"quantile": strconv.FormatFloat(q, 'g', -1, 64)}
					for k, v := range labels {
						with[k] = v
					}
					add(name, "histogram", unit, estimateQuantile(q, bounds, below, h.GetSampleCount()), with)
				}
			case one.Summary != nil:
				add(name+"_count", "counter", "count", float64(one.GetSummary().GetSampleCount()), labels)
				add(name+"_sum", "counter", unit, one.GetSummary().GetSampleSum(), labels)
			}
		}
	}
	return out, nil
}

// estimateQuantile returns the value that a share q of the samples does not exceed, assuming that samples are
// spread evenly within a bucket. If the value lies beyond the last bound, it returns that bound.
func estimateQuantile(q float64, bounds []float64, below []uint64, total uint64) float64 {
	rank := q * float64(total)
	lower, before := 0.0, 0.0
	for i, bound := range bounds {
		upTo := float64(below[i])
		if upTo >= rank && upTo > before {
			return lower + (bound-lower)*(rank-before)/(upTo-before)
		}
		lower, before = bound, upTo
	}
	return lower
}

// metricUnit returns the unit of a metric, which is determined by its name.
func metricUnit(name string) string {
	name = strings.TrimSuffix(name, "_total")
	for _, unit := range []string{"seconds", "bytes", "percent"} {
		if strings.HasSuffix(name, "_"+unit) {
			return unit
		}
	}
	return "count"
}
