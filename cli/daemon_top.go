package cli

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/internal/prose"
)

// daemonActivity is a sample of a daemon's metrics. Quantiles and totals cover the time since its start.
type daemonActivity struct {
	At            time.Time      `json:"at"`
	UptimeSeconds int64          `json:"uptime_seconds"`
	Requests      topRequests    `json:"requests"`
	Operations    []topOperation `json:"operations"`
	Queues        topQueues      `json:"queues"`
	Sizes         topSizes       `json:"sizes"`
	// Training is null while no embedder is being trained.
	Training *topTraining `json:"training"`
	Model    topModel     `json:"model"`
}

// topRequests holds request counts. Errors counts server errors (5xx), and Refused counts client errors (4xx).
type topRequests struct {
	Total       int     `json:"total"`
	Errors      int     `json:"errors"`
	Refused     int     `json:"refused"`
	PerSecond   float64 `json:"per_second"`
	InFlight    int     `json:"in_flight"`
	RateLimited int     `json:"rate_limited"`
	// ThrottledOrganizations is the number of organizations with requests rejected because of their own budget in
	// this minute or the previous one.
	ThrottledOrganizations int `json:"throttled_organizations"`
}

// topOperation holds the figures of one operation.
type topOperation struct {
	Operation string  `json:"operation"`
	Requests  int     `json:"requests"`
	Errors    int     `json:"errors"`
	Refused   int     `json:"refused"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
}

// topQueues holds the lengths of the queues of background work.
type topQueues struct {
	DocumentsWaiting  int `json:"documents_waiting"`
	DocumentsReading  int `json:"documents_reading"`
	DocumentsStuck    int `json:"documents_stuck"`
	WorkflowsLive     int `json:"workflows_live"`
	MailsQueued       int `json:"emails_queued"`
	DeliveriesWaiting int `json:"deliveries_waiting"`
	// Lanes are the receivers of events that have not been sent. Slow receivers are also counted under another state.
	LanesSending int `json:"lanes_sending"`
	LanesWaiting int `json:"lanes_waiting"`
	LanesPaused  int `json:"lanes_paused"`
	LanesSlow    int `json:"lanes_slow"`
}

// topTraining is the progress of training the search on a catalog version.
type topTraining struct {
	Catalog string `json:"catalog"`
	Percent int    `json:"percent"`
}

// topSizes holds the sizes of the stored data, of the process and of its search indexes.
type topSizes struct {
	StoreBytes     int64 `json:"store_bytes"` // 0 if the records are in PostgreSQL
	DiskFreeBytes  int64 `json:"disk_free_bytes"`
	ResidentBytes  int64 `json:"resident_bytes"`
	SearchIndexes  int   `json:"search_indexes"`
	SearchPassages int   `json:"search_passages"`
}

// topModel holds the figures of calls to the language model.
type topModel struct {
	Answered         int     `json:"answered"`
	Failed           int     `json:"failed"`
	Seconds          float64 `json:"seconds"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
}

const (
	defaultTopInterval = 2 * time.Second
	minTopInterval     = 500 * time.Millisecond
	maxTopRows         = 15
)

func (a *app) daemonTop() *cobra.Command {
	var printOnce bool
	interval := defaultTopInterval
	cmd := &cobra.Command{
		Use: "top", Short: "Monitor a running daemon",
		Long: `Shows requests by operation (rate, errors, latency), queues, sizes and model calls,
refreshed until Ctrl-C. With --once, the figures are printed once, for scripts; rates are
then averages since the daemon started.

The figures come from /metrics. On a server, you need the permission metrics:read.`,
		Example: `  service daemon top
  service daemon top --once -o json --jq .queues
  service daemon top --server https://grc.acme.example --every 10s`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !printOnce && (!a.out.IsHumanReadable() || a.StdoutWidth == 0):
				return usageError("the live view needs a terminal; use --once for scripts")
			case interval < minTopInterval:
				return usageError("--every %s is too short; the minimum is %s", interval, minTopInterval)
			}
			ctx := cmd.Context()
			if pf := cmd.Root().PersistentFlags(); a.flags.Server == "" || (pf.Changed("data") && !pf.Changed("server")) {
				a.flags.Server, a.flags.Token, a.flags.Organization = "", "", ""
				p, err := a.findDataFolderProcess(ctx)
				if err != nil {
					return err
				}
				if p == nil || !p.Daemon {
					return &exitError{code: exitRuntime, err: errNoDaemon, hint: "start a daemon with `service daemon`"}
				}
			}
			health, err := call(ctx, a, api.GetHealthDetailed, &api.HealthDetailInput{})
			if err != nil {
				return err
			}
			started := a.Clock().Add(-time.Duration(health.UptimeSeconds) * time.Second)
			now, err := a.sampleDaemonActivity(ctx, started, nil)
			if err != nil {
				return err
			}
			if printOnce {
				return a.out.Print(now, func(p *print.Page) { renderDaemonActivity(p, now, len(now.Operations)) })
			}
			return a.watchDaemonActivity(ctx, started, now, interval)
		},
	}
	cmd.Flags().BoolVar(&printOnce, "once", false, "print the figures once and exit")
	cmd.Flags().DurationVar(&interval, "every", defaultTopInterval, "refresh interval")
	return cmd
}

// watchDaemonActivity redraws the view until ctx is canceled, which is not an error.
func (a *app) watchDaemonActivity(ctx context.Context, started time.Time, now *daemonActivity, interval time.Duration) error {
	ticks := time.NewTicker(interval)
	defer ticks.Stop()
	for {
		fmt.Fprint(a.Stdout, "\x1b[H\x1b[2J")
		err := a.out.PrintPage(func(p *print.Page) { renderDaemonActivity(p, now, maxTopRows) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		next, err := a.sampleDaemonActivity(ctx, started, now)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		now = next
	}
}

// sampleDaemonActivity reads the daemon's metrics. Rates cover the time since the previous sample, or since
// the daemon's start if previous is nil.
func (a *app) sampleDaemonActivity(ctx context.Context, started time.Time, previous *daemonActivity) (*daemonActivity, error) {
	ctx, cancel := context.WithTimeout(ctx, daemonTimeout)
	defer cancel()
	all, err := fetchAll(ctx, a, api.ListMetrics, &api.Paging{})
	if err != nil {
		return nil, err
	}
	now := activityFromMetrics(all.Data)
	now.At = a.Clock().UTC()
	now.UptimeSeconds = int64(max(0, now.At.Sub(started)) / time.Second)
	now.computeRates(previous, now.At.Sub(started))
	return now, nil
}

// computeRates sets the requests per second since the previous sample, or since the daemon's start if
// previous is nil, and sorts operations by rate. If the daemon was restarted in between, rates are 0 rather
// than negative.
func (t *daemonActivity) computeRates(previous *daemonActivity, uptime time.Duration) {
	elapsed, earlierCounts := uptime, map[string]int{}
	var total int
	if previous != nil {
		elapsed, total = t.At.Sub(previous.At), previous.Requests.Total
		for _, o := range previous.Operations {
			earlierCounts[o.Operation] = o.Requests
		}
	}
	seconds := max(elapsed.Seconds(), 0.001)
	if previous == nil {
		seconds = max(seconds, 1)
	}
	rate := func(n, earlier int) float64 { return math.Round(float64(max(0, n-earlier))/seconds*1000) / 1000 }
	t.Requests.PerSecond = rate(t.Requests.Total, total)
	for i := range t.Operations {
		o := &t.Operations[i]
		o.PerSecond = rate(o.Requests, earlierCounts[o.Operation])
	}
	slices.SortFunc(t.Operations, func(a, b topOperation) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Operation, b.Operation))
	})
}

// activityFromMetrics extracts the figures to show from the metrics. A metric that an older server doesn't
// have counts as 0.
func activityFromMetrics(all []api.Metric) *daemonActivity {
	t := &daemonActivity{Operations: []topOperation{}}
	byOperation := map[string]*topOperation{}
	operationFor := func(m *api.Metric) *topOperation {
		id := m.Labels["operation"]
		if byOperation[id] == nil {
			byOperation[id] = &topOperation{Operation: id}
		}
		return byOperation[id]
	}
	count := map[string]*int{
		"service_requests_in_flight":         &t.Requests.InFlight,
		"service_documents_waiting":          &t.Queues.DocumentsWaiting,
		"service_documents_reading":          &t.Queues.DocumentsReading,
		"service_documents_stuck":            &t.Queues.DocumentsStuck,
		"service_workflows_live":             &t.Queues.WorkflowsLive,
		"service_emails_queued":              &t.Queues.MailsQueued,
		"service_webhook_deliveries_waiting": &t.Queues.DeliveriesWaiting,
		"service_throttled_organizations":    &t.Requests.ThrottledOrganizations,
		"service_search_indexes":             &t.Sizes.SearchIndexes,
		"service_search_passages":            &t.Sizes.SearchPassages,
	}
	lanes := map[string]*int{
		"sending": &t.Queues.LanesSending, "waiting": &t.Queues.LanesWaiting, "paused": &t.Queues.LanesPaused, "slow": &t.Queues.LanesSlow,
	}
	size := map[string]*int64{
		"service_store_bytes":           &t.Sizes.StoreBytes,
		"service_disk_free_bytes":       &t.Sizes.DiskFreeBytes,
		"process_resident_memory_bytes": &t.Sizes.ResidentBytes,
	}
	for i := range all {
		m := &all[i]
		n := int(m.Value)
		if to := count[m.Name]; to != nil {
			*to = n
		}
		if to := size[m.Name]; to != nil {
			*to = int64(m.Value)
		}
		switch m.Name {
		case "service_embedder_training_percent":
			t.Training = &topTraining{Catalog: m.Labels["catalog"], Percent: n}
		case "service_delivery_lanes":
			if to := lanes[m.Labels["state"]]; to != nil {
				*to = n
			}
		case "service_requests_total":
			o := operationFor(m)
			o.Requests += n
			t.Requests.Total += n
			switch m.Labels["status"] {
			case "5xx":
				o.Errors += n
				t.Requests.Errors += n
			case "4xx":
				o.Refused += n
				t.Requests.Refused += n
			}
		case "service_request_duration_seconds":
			switch ms := math.Round(m.Value*1e6) / 1000; m.Labels["quantile"] {
			case "0.5":
				operationFor(m).P50 = ms
			case "0.95":
				operationFor(m).P95 = ms
			}
		case "service_rate_limited_total":
			t.Requests.RateLimited += n
		case "service_model_calls_total":
			if m.Labels["outcome"] == "failed" {
				t.Model.Failed = n
			} else {
				t.Model.Answered = n
			}
		case "service_model_seconds_total":
			t.Model.Seconds = m.Value
		case "service_model_tokens_total":
			if m.Labels["kind"] == "prompt" {
				t.Model.PromptTokens = n
			} else {
				t.Model.CompletionTokens = n
			}
		}
	}
	for _, o := range byOperation {
		t.Operations = append(t.Operations, *o)
	}
	return t
}

func renderDaemonActivity(p *print.Page, t *daemonActivity, rows int) {
	p.Title("Daemon activity at %s, up for %s", print.FormatTime(t.At), print.FormatElapsed(time.Duration(t.UptimeSeconds)*time.Second))
	r, q, s, m := t.Requests, t.Queues, t.Sizes, t.Model
	p.Fields(
		field("requests", fmt.Sprintf(
			"%s/s, %d total, %d in progress; %d errors, %d rejected, %d of them rate-limited; %s throttled",
			formatDecimal(r.PerSecond),
			r.Total,
			r.InFlight,
			r.Errors,
			r.Refused,
			r.RateLimited,
			prose.Count(r.ThrottledOrganizations, "organization", "organizations"),
		)),
		field("documents", fmt.Sprintf("%d waiting, %d being read, %d stuck", q.DocumentsWaiting, q.DocumentsReading, q.DocumentsStuck)),
		field("training", formatTraining(t.Training)),
		field("waiting", fmt.Sprintf(
			"%s, %s, %s",
			prose.Count(q.WorkflowsLive, "workflow run", "workflow runs"),
			prose.Count(q.MailsQueued, "email", "emails"),
			prose.Count(q.DeliveriesWaiting, "delivery", "deliveries"),
		)),
		field("receivers", fmt.Sprintf("%d being sent to, %d waiting, %d paused; %d slow", q.LanesSending, q.LanesWaiting, q.LanesPaused, q.LanesSlow)),
		field("sizes", fmt.Sprintf(
			"%smemory %s, disk free %s; %s of %s in search",
			formatStoreSize(s.StoreBytes),
			print.FormatSize(s.ResidentBytes),
			print.FormatSize(s.DiskFreeBytes),
			prose.Count(s.SearchPassages, "passage", "passages"),
			prose.Count(s.SearchIndexes, "assessment", "assessments"),
		)),
		field("model", fmt.Sprintf(
			"%d answered, %d failed; %s s, %d tokens in, %d out",
			m.Answered,
			m.Failed,
			formatDecimal(m.Seconds),
			m.PromptTokens,
			m.CompletionTokens,
		)),
	)
	p.Blank()
	var lines [][]string
	for _, o := range t.Operations[:min(rows, len(t.Operations))] {
		lines = append(
			lines,
			[]string{
				o.Operation,
				formatDecimal(o.PerSecond),
				strconv.Itoa(o.Requests),
				strconv.Itoa(o.Errors),
				strconv.Itoa(o.Refused),
				formatDecimal(o.P50),
				formatDecimal(o.P95),
			},
		)
	}
	p.Table([]print.Column{
		fixed("operation"),
		fixedNumber("per s"),
		fixedNumber("requests"),
		fixedNumber("errors"),
		optional(number("rejected")),
		fixedNumber("p50 ms"),
		fixedNumber("p95 ms"),
	}, lines)
	if more := len(t.Operations) - rows; more > 0 {
		p.Text("and %d more", more)
	}
}

// formatTraining describes the progress of training the search, or returns "" if no training is running.
func formatTraining(t *topTraining) string {
	if t == nil {
		return ""
	}
	return fmt.Sprintf("search on catalog %s: %d%%", t.Catalog, t.Percent)
}

// formatDecimal formats a number with one decimal place.
func formatDecimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }

// formatStoreSize returns the size of the stored records, followed by a comma, or "" if the daemon doesn't know the
// size.
func formatStoreSize(bytes int64) string {
	if bytes == 0 {
		return ""
	}
	return "store " + print.FormatSize(bytes) + ", "
}
