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
)

// daemonTop is what a daemon does, from its metrics. Quantiles and sums are of all since its start.
type daemonTop struct {
	At            time.Time      `json:"at"`
	UptimeSeconds int64          `json:"uptime_seconds"`
	Requests      topRequests    `json:"requests"`
	Operations    []topOperation `json:"operations"`
	Queues        topQueues      `json:"queues"`
	Sizes         topSizes       `json:"sizes"`
	Model         topModel       `json:"model"`
}

// topRequests are counts of requests: Errors are the service's own, Refused the caller's.
type topRequests struct {
	Total       int     `json:"total"`
	Errors      int     `json:"errors"`
	Refused     int     `json:"refused"`
	PerSecond   float64 `json:"per_second"`
	InFlight    int     `json:"in_flight"`
	RateLimited int     `json:"rate_limited"`
}

type topOperation struct {
	Operation string  `json:"operation"`
	Requests  int     `json:"requests"`
	Errors    int     `json:"errors"`
	Refused   int     `json:"refused"`
	PerSecond float64 `json:"per_second"`
	P50       float64 `json:"p50_ms"`
	P95       float64 `json:"p95_ms"`
}

type topQueues struct {
	DocumentsWaiting  int `json:"documents_waiting"`
	DocumentsReading  int `json:"documents_reading"`
	DocumentsStuck    int `json:"documents_stuck"`
	WorkflowsLive     int `json:"workflows_live"`
	MailsQueued       int `json:"mails_queued"`
	DeliveriesWaiting int `json:"deliveries_waiting"`
}

type topSizes struct {
	StoreBytes     int64 `json:"store_bytes"`
	DiskFreeBytes  int64 `json:"disk_free_bytes"`
	ResidentBytes  int64 `json:"resident_bytes"`
	SearchIndexes  int   `json:"search_indexes"`
	SearchPassages int   `json:"search_passages"`
}

type topModel struct {
	Answered         int     `json:"answered"`
	Failed           int     `json:"failed"`
	Seconds          float64 `json:"seconds"`
	PromptTokens     int     `json:"prompt_tokens"`
	CompletionTokens int     `json:"completion_tokens"`
}

const (
	topEvery = 2 * time.Second
	topLeast = 500 * time.Millisecond
	topRows  = 15
)

func (a *app) daemonTop() *cobra.Command {
	var once bool
	every := topEvery
	cmd := &cobra.Command{
		Use: "top", Short: "Watch what a running daemon does", Args: takes(0, 0),
		Long: `Shows requests by operation (how many a second, errors, how long they take), what
waits to be done, sizes, and calls of the model, drawn anew until Ctrl-C. With --once
it shows them one time, for scripts: there, rates are the mean since the start.

The figures are those of /metrics. A server tells them to who has the permission
metrics:read.`,
		Example: `  service daemon top
  service daemon top --once -o json --jq .queues
  service daemon top --server https://grc.acme.example --every 10s`,
		RunE: func(cmd *cobra.Command, _ []string) error {
			switch {
			case !once && (!a.out.ForPeople() || a.Width == 0):
				return usage("the live view needs a terminal; use --once for scripts")
			case every < topLeast:
				return usage("--every %s is too often; the least is %s", every, topLeast)
			}
			ctx := cmd.Context()
			if pf := cmd.Root().PersistentFlags(); a.flags.Server == "" || (pf.Changed("data") && !pf.Changed("server")) {
				a.flags.Server, a.flags.Token, a.flags.Organization = "", "", ""
				p, err := a.running(ctx)
				if err != nil {
					return err
				}
				if p == nil || !p.Daemon {
					return &failure{code: exitRuntime, err: errNoDaemon, hint: "`service daemon` starts one"}
				}
			}
			health, err := call(ctx, a, api.GetHealthDetailed, &api.None{})
			if err != nil {
				return err
			}
			started := a.Clock().Add(-time.Duration(health.UptimeSeconds) * time.Second)
			now, err := a.sampleTop(ctx, started, nil)
			if err != nil {
				return err
			}
			if once {
				return a.out.Print(now, func(p *print.Page) { topPage(p, now, len(now.Operations)) })
			}
			return a.watchTop(ctx, started, now, every)
		},
	}
	cmd.Flags().BoolVar(&once, "once", false, "show it one time")
	cmd.Flags().DurationVar(&every, "every", topEvery, "time between two looks")
	return cmd
}

// watchTop draws until ctx ends, which is how people leave it.
func (a *app) watchTop(ctx context.Context, started time.Time, now *daemonTop, every time.Duration) error {
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		fmt.Fprint(a.Stdout, "\x1b[H\x1b[2J")
		if err := a.out.Page(func(p *print.Page) { topPage(p, now, topRows) }); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return nil
		case <-ticks.C:
		}
		next, err := a.sampleTop(ctx, started, now)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		now = next
	}
}

// sampleTop reads the metrics; rates are since the sample before, else since the start.
func (a *app) sampleTop(ctx context.Context, started time.Time, before *daemonTop) (*daemonTop, error) {
	ctx, cancel := context.WithTimeout(ctx, statusWithin)
	defer cancel()
	all, err := collect(ctx, 0, "", func(p api.Paging) (*api.List[api.Metric], error) { return call(ctx, a, api.ListMetrics, &p) })
	if err != nil {
		return nil, err
	}
	now := topOf(all.Data)
	now.At = a.Clock().UTC()
	now.UptimeSeconds = int64(max(0, now.At.Sub(started)) / time.Second)
	now.rates(before, now.At.Sub(started))
	return now, nil
}

// rates reckons requests a second since an earlier sample, which may be of a daemon that was
// started anew meanwhile; without one, since the start.
func (t *daemonTop) rates(before *daemonTop, uptime time.Duration) {
	passed, had := uptime, map[string]int{}
	var total int
	if before != nil {
		passed, total = t.At.Sub(before.At), before.Requests.Total
		for _, o := range before.Operations {
			had[o.Operation] = o.Requests
		}
	}
	seconds := max(passed.Seconds(), 0.001)
	if before == nil {
		seconds = max(seconds, 1)
	}
	rate := func(n, earlier int) float64 { return math.Round(float64(max(0, n-earlier))/seconds*1000) / 1000 }
	t.Requests.PerSecond = rate(t.Requests.Total, total)
	for i := range t.Operations {
		o := &t.Operations[i]
		o.PerSecond = rate(o.Requests, had[o.Operation])
	}
	slices.SortFunc(t.Operations, func(a, b topOperation) int {
		return cmp.Or(cmp.Compare(b.PerSecond, a.PerSecond), cmp.Compare(b.Requests, a.Requests), strings.Compare(a.Operation, b.Operation))
	})
}

// topOf picks what is shown from the metrics; what an older server does not count stays 0.
func topOf(all []api.Metric) *daemonTop {
	t := &daemonTop{Operations: []topOperation{}}
	by := map[string]*topOperation{}
	of := func(m *api.Metric) *topOperation {
		id := m.Labels["operation"]
		if by[id] == nil {
			by[id] = &topOperation{Operation: id}
		}
		return by[id]
	}
	count := map[string]*int{
		"service_requests_in_flight": &t.Requests.InFlight, "service_documents_waiting": &t.Queues.DocumentsWaiting, "service_documents_reading": &t.Queues.DocumentsReading,
		"service_documents_stuck": &t.Queues.DocumentsStuck, "service_workflows_live": &t.Queues.WorkflowsLive, "service_mails_queued": &t.Queues.MailsQueued,
		"service_webhook_deliveries_waiting": &t.Queues.DeliveriesWaiting, "service_search_indexes": &t.Sizes.SearchIndexes, "service_search_passages": &t.Sizes.SearchPassages,
	}
	size := map[string]*int64{"service_store_bytes": &t.Sizes.StoreBytes, "service_disk_free_bytes": &t.Sizes.DiskFreeBytes, "process_resident_memory_bytes": &t.Sizes.ResidentBytes}
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
		case "service_requests_total":
			o := of(m)
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
				of(m).P50 = ms
			case "0.95":
				of(m).P95 = ms
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
	for _, o := range by {
		t.Operations = append(t.Operations, *o)
	}
	return t
}

func topPage(p *print.Page, t *daemonTop, rows int) {
	p.Title("The daemon at %s, running for %s", moment(t.At), print.Elapsed(time.Duration(t.UptimeSeconds)*time.Second))
	r, q, s, m := t.Requests, t.Queues, t.Sizes, t.Model
	p.Fields(
		print.Field{Name: "requests", Value: fmt.Sprintf("%s/s, %d in all, %d at work; %d errors, %d refused, %d of them as too many", decimal(r.PerSecond), r.Total, r.InFlight, r.Errors, r.Refused, r.RateLimited)},
		print.Field{Name: "documents", Value: fmt.Sprintf("%d wait, %d are read, %d stuck", q.DocumentsWaiting, q.DocumentsReading, q.DocumentsStuck)},
		print.Field{Name: "waiting", Value: fmt.Sprintf("%s, %s, %s", count(q.WorkflowsLive, "workflow run", "workflow runs"), count(q.MailsQueued, "mail", "mails"), count(q.DeliveriesWaiting, "delivery", "deliveries"))},
		print.Field{Name: "sizes", Value: fmt.Sprintf("store %s, memory %s, disk free %s; %s of %s in search", size(s.StoreBytes), size(s.ResidentBytes), size(s.DiskFreeBytes),
			count(s.SearchPassages, "passage", "passages"), count(s.SearchIndexes, "assessment", "assessments"))},
		print.Field{Name: "model", Value: fmt.Sprintf("%d answers, %d failed; %s s, %d tokens read, %d written", m.Answered, m.Failed, decimal(m.Seconds), m.PromptTokens, m.CompletionTokens)})
	p.Blank()
	var lines [][]string
	for _, o := range t.Operations[:min(rows, len(t.Operations))] {
		lines = append(lines, []string{o.Operation, decimal(o.PerSecond), strconv.Itoa(o.Requests), strconv.Itoa(o.Errors), strconv.Itoa(o.Refused), decimal(o.P50), decimal(o.P95)})
	}
	p.Table([]print.Column{{Title: "operation", Keep: true}, {Title: "per s", Right: true, Keep: true}, {Title: "requests", Right: true, Keep: true}, {Title: "errors", Right: true, Keep: true},
		{Title: "refused", Right: true, Spare: true}, {Title: "p50 ms", Right: true, Keep: true}, {Title: "p95 ms", Right: true, Keep: true}}, lines)
	if more := len(t.Operations) - rows; more > 0 {
		p.Text("and %d more", more)
	}
}

// decimal is a figure with one place behind the point.
func decimal(v float64) string { return strconv.FormatFloat(v, 'f', 1, 64) }
