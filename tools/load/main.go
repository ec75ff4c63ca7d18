// Load runs the program under the load of many organizations and reports the durations of its requests.
//
//	cd tools && go run ./load -binary ../bin/service            # 200 organizations, ten minutes
//	cd tools && go run ./load -binary ../bin/service -short     # 20 organizations, one minute
//
// It starts a daemon on an empty folder, without rate limits, and creates organizations of three sizes, most of them
// small. First, one small organization works alone, and then all of them. Halfway through, a catalog is imported and
// a Statement of Applicability drafted. Event receivers in other organizations take seconds to respond. It prints
// percentiles by operation and by size of organization, how long events took to reach receivers that respond
// immediately, and the daemon's memory and goroutines over time, in twenty parts. The limit for memory doesn't count the
// database's pages, which the operating system can take back. It exits with 1 if a request failed or
// a limit was exceeded.
package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// size is a class of organizations.
type size struct {
	name        string
	share       int           // number out of 20 organizations
	assessments int           // number of existing assessments
	pause       time.Duration // pause between two requests
}

var sizes = []size{
	{"large", 1, 200, 100 * time.Millisecond},
	{"medium", 4, 30, 500 * time.Millisecond},
	{"small", 15, 3, 2 * time.Second},
}

// The limits that a run must meet.
const (
	maxEventP99   = 500 * time.Millisecond
	maxSlowdown   = 1.2 // of small organizations, compared with one alone
	maxGrowth     = 1.3 // growth of memory and goroutines from the second to the last third; not in runs of less than minGrowthSamples
	minComparison = 5 * time.Millisecond
)

// alonePause is the pause between two requests of the organization that works alone, shorter than usual so that there
// are enough requests to compare.
const alonePause = 200 * time.Millisecond

// minGrowthSamples is the number of seconds with all organizations from which on memory and goroutines have to be flat;
// before, caches and connections to receivers still grow.
const minGrowthSamples = 240

// timeRows is the number of rows that show memory and goroutines over time.
const timeRows = 20

type options struct {
	binary                  string
	organizations, slow     int
	duration, slowResponses time.Duration
}

func main() {
	o := options{}
	short := flag.Bool("short", false, "20 organizations and 100 slow receivers for one minute")
	flag.StringVar(&o.binary, "binary", "../bin/service", "program to run")
	flag.IntVar(&o.organizations, "organizations", 200, "number of organizations")
	flag.IntVar(&o.slow, "slow", 1000, "number of receivers that answer slowly")
	flag.DurationVar(&o.slowResponses, "slow-response", 8*time.Second, "how long they take")
	flag.DurationVar(&o.duration, "duration", 10*time.Minute, "how long to run")
	flag.Parse()
	if *short {
		o.organizations, o.slow, o.duration = 20, 100, time.Minute
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, o); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

// run prepares the organizations, makes them work and prints the report.
func run(ctx context.Context, o options) (err error) {
	d, err := startDaemon(ctx, o.binary)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, d.stop()) }()
	r := newReceivers(o.slowResponses)
	defer r.Close()
	l := &load{daemon: d, receivers: r, calls: map[call][]time.Duration{}}
	fmt.Printf("preparing %d organizations and %d slow receivers\n", o.organizations, o.slow)
	if err := l.prepare(ctx, o); err != nil {
		return fmt.Errorf("preparing: %w", err)
	}
	l.watch(ctx)
	alone, together := o.duration/6, o.duration*5/6
	fmt.Printf("one small organization alone for %s\n", alone)
	l.setPhase("alone")
	l.work(ctx, alone, l.organizations[len(l.organizations)-1:], alonePause)
	fmt.Printf("all for %s, with an import and a draft in the middle\n", together)
	l.setPhase("together")
	r.forget() // discard the events of the preparation
	var middle sync.WaitGroup
	middle.Go(func() {
		pause(ctx, together/3)
		l.importAndDraft(ctx)
	})
	l.work(ctx, together, l.organizations, 0)
	middle.Wait()
	return l.report(os.Stdout)
}

func (l *load) setPhase(name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.phase = name
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// server is the daemon under test.
type server struct {
	url, folder string
	cmd         *exec.Cmd
	log         *os.File
}

const adminEmail, adminPassword = "admin@load.example", "four words are enough"

func startDaemon(ctx context.Context, binary string) (*server, error) {
	folder, err := os.MkdirTemp("", "load")
	if err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	address := listener.Addr().String()
	if err := listener.Close(); err != nil {
		return nil, err
	}
	log, err := os.Create(filepath.Join(folder, "log"))
	if err != nil {
		return nil, err
	}
	args := []string{"daemon", "--data", filepath.Join(folder, "data"), "--listen", address, "--log-level", "warn"}
	for _, category := range []string{"admin", "agents", "default", "documents", "health", "render", "search", "sign-in"} {
		args = append(args, "--rate-limit", category+"=0")
	}
	cmd := exec.CommandContext(ctx, binary, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stdout, cmd.Stderr = log, log
	cmd.Env = append(os.Environ(), "SERVICE_ADMIN_EMAIL="+adminEmail, "SERVICE_ADMIN_PASSWORD="+adminPassword, "SERVICE_ORG=Operator",
		"SERVICE_WEBHOOK_ALLOW=127.0.0.0/8", "XDG_CONFIG_HOME="+folder, "HOME="+folder)
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	d := &server{url: "http://" + address, folder: folder, cmd: cmd, log: log}
	for range 600 {
		if resp, err := http.Get(d.url + "/api/v1/health"); err == nil {
			return d, resp.Body.Close()
		}
		pause(ctx, 100*time.Millisecond)
	}
	text, _ := os.ReadFile(log.Name())
	return nil, errors.Join(fmt.Errorf("the daemon doesn't answer: %s", text), d.stop())
}

// stop stops the daemon and deletes its folder. If the daemon has failed, the error contains its log.
func (d *server) stop() error {
	_ = d.cmd.Process.Signal(os.Interrupt)
	err := d.cmd.Wait()
	text, _ := os.ReadFile(d.log.Name())
	if err != nil {
		err = fmt.Errorf("the daemon ended with %w: %.2000s", err, text)
	}
	return errors.Join(err, d.log.Close(), os.RemoveAll(d.folder))
}

// receivers are the URLs to which events are sent: /slow responds late, and /fast immediately.
type receivers struct {
	*http.Server
	url string
	mu  sync.Mutex
	// delays are the times from an event to its receipt at /fast.
	delays []time.Duration
	slow   int
}

func newReceivers(slowResponses time.Duration) *receivers {
	r := &receivers{}
	mux := http.NewServeMux()
	mux.HandleFunc("/slow", func(_ http.ResponseWriter, req *http.Request) {
		r.mu.Lock()
		r.slow++
		r.mu.Unlock()
		pause(req.Context(), slowResponses)
	})
	mux.HandleFunc("/fast", func(_ http.ResponseWriter, req *http.Request) {
		now := time.Now()
		var event struct {
			CreatedAt time.Time `json:"created_at"`
		}
		if json.NewDecoder(req.Body).Decode(&event) == nil {
			r.mu.Lock()
			r.delays = append(r.delays, now.Sub(event.CreatedAt))
			r.mu.Unlock()
		}
	})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		panic(err)
	}
	r.Server, r.url = &http.Server{Handler: mux}, "http://"+listener.Addr().String()
	go func() { _ = r.Serve(listener) }()
	return r
}

func (r *receivers) forget() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.delays, r.slow = nil, 0
}

// organization is an organization with the data that its users know.
type organization struct {
	id, key     string
	size        size
	mu          sync.Mutex
	assessments []string
}

func (o *organization) assessment(rnd *rand.Rand) string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.assessments[rnd.IntN(len(o.assessments))]
}

// call identifies a kind of call whose durations are collected.
type call struct{ phase, size, operation string }

// sample is a sample of the daemon's resource usage.
type sample struct {
	at                   time.Time
	together             bool // all organizations were at work
	resident, goroutines float64
	ownMemory            float64 // without pages of files, such as the database's; the same as resident except on Linux
}

// load is the state of a run.
type load struct {
	daemon        *server
	receivers     *receivers
	organizations []*organization
	admin         *http.Client
	phase         string

	mu       sync.Mutex
	calls    map[call][]time.Duration
	failures []string
	samples  []sample
}

var client = &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 1000}, Timeout: 5 * time.Minute}

// send sends a request and decodes the response.
func (l *load) send(ctx context.Context, by *organization, method, path, contentType string, body []byte) (map[string]any, error) {
	req, err := http.NewRequestWithContext(ctx, method, l.daemon.url+path, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	if len(body) > 0 {
		req.Header.Set("Content-Type", contentType)
	}
	using := client
	if by == nil {
		using = l.admin
		req.Header.Set("Origin", l.daemon.url)
	} else {
		req.Header.Set("Authorization", "Bearer "+by.key)
		req.Header.Set("X-Service-Tenant-Id", by.id)
	}
	resp, err := using.Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	if resp.StatusCode > 299 {
		return nil, fmt.Errorf("%s %s: %d %.300s", method, path, resp.StatusCode, b)
	}
	var out map[string]any
	if len(b) > 0 {
		if err := json.Unmarshal(b, &out); err != nil {
			return nil, fmt.Errorf("%s %s: %w", method, path, err)
		}
	}
	return out, nil
}

func (l *load) sendJSON(ctx context.Context, by *organization, method, path string, body any) (map[string]any, error) {
	var b []byte
	if body != nil {
		var err error
		if b, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	return l.send(ctx, by, method, path, "application/json", b)
}

type object = map[string]any

// prepare creates the organizations, their assessments and their receivers.
func (l *load) prepare(ctx context.Context, o options) error {
	jar, err := cookiejar.New(nil)
	if err != nil {
		return err
	}
	l.admin = &http.Client{Jar: jar, Timeout: time.Minute}
	if _, err := l.sendJSON(ctx, nil, "POST", "/api/auth/sign-in/email", object{"email": adminEmail, "password": adminPassword}); err != nil {
		return err
	}
	for n := range o.organizations {
		made, err := l.sendJSON(ctx, nil, "POST", "/api/v1/organizations", object{
			"name": fmt.Sprintf("Organization %d", n), "owner": object{"email": adminEmail}, "api_key_name": "load",
		})
		if err != nil {
			return err
		}
		one := &organization{id: made["id"].(string), key: made["api_key"].(object)["key"].(string)}
		at := n % 20
		for _, one.size = range sizes {
			if at -= one.size.share; at < 0 {
				break
			}
		}
		l.organizations = append(l.organizations, one)
	}
	// Every second organization receives events immediately, the others late.
	for n, one := range l.organizations {
		address, count := "/fast", 1
		if n%2 == 0 {
			address, count = "/slow", (2*o.slow+o.organizations-1)/o.organizations
		}
		for range min(count, 50) {
			body := object{"url": l.receivers.url + address}
			if _, err := l.sendJSON(ctx, one, "POST", "/api/v1/organizations/"+one.id+"/webhooks", body); err != nil {
				return err
			}
		}
	}
	var wg sync.WaitGroup
	failed := make(chan error, len(l.organizations))
	free := make(chan struct{}, 8)
	for _, one := range l.organizations {
		free <- struct{}{}
		wg.Go(func() {
			defer func() { <-free }()
			for n := range one.size.assessments {
				if _, err := l.createAssessment(ctx, one, fmt.Sprintf("Assessment %d", n)); err != nil {
					failed <- err
					return
				}
			}
		})
	}
	wg.Wait()
	close(failed)
	return <-failed
}

func (l *load) createAssessment(ctx context.Context, by *organization, name string) (string, error) {
	a, err := l.sendJSON(ctx, by, "POST", "/api/v1/assessments", object{"name": name, "framework_id": "iso-27001-2022"})
	if err != nil {
		return "", err
	}
	id := a["id"].(string)
	by.mu.Lock()
	by.assessments = append(by.assessments, id)
	by.mu.Unlock()
	return id, nil
}

func (l *load) upload(ctx context.Context, by *organization, assessment, text string) error {
	var b bytes.Buffer
	m := multipart.NewWriter(&b)
	part, err := m.CreateFormFile("file", "policy.md")
	if err != nil {
		return err
	}
	if _, err := io.WriteString(part, text); err != nil {
		return err
	}
	if err := m.Close(); err != nil {
		return err
	}
	_, err = l.send(ctx, by, "POST", "/api/v1/assessments/"+assessment+"/documents", m.FormDataContentType(), b.Bytes())
	return err
}

// operations are what users do, weighted by frequency.
var operations = []struct {
	name   string
	weight int
	do     func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error
}{
	{"list assessments", 6, get("/api/v1/assessments?limit=50")},
	{"get assessment", 8, func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error {
		_, err := l.sendJSON(ctx, by, "GET", "/api/v1/assessments/"+by.assessment(rnd), nil)
		return err
	}},
	{"create assessment", 2, func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error {
		_, err := l.createAssessment(ctx, by, fmt.Sprintf("Assessment %d", rnd.IntN(1e6)))
		return err
	}},
	{"change assessment", 3, func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error {
		_, err := l.sendJSON(ctx, by, "PATCH", "/api/v1/assessments/"+by.assessment(rnd), object{"description": fmt.Sprint(rnd.IntN(1e6))})
		return err
	}},
	{"dashboard", 3, func(ctx context.Context, l *load, by *organization, _ *rand.Rand) error {
		_, err := l.sendJSON(ctx, by, "GET", "/api/v1/organizations/"+by.id+"/dashboard", nil)
		return err
	}},
	{"control by code", 6, get("/api/v1/scf/controls/by-code/IAC-06")},
	{"upload document", 1, func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error {
		text := fmt.Sprintf("# Access\n\nAccess rights are reviewed every %d days by the owner.\n", rnd.IntN(1e6))
		return l.upload(ctx, by, by.assessment(rnd), text)
	}},
	{"search", 2, func(ctx context.Context, l *load, by *organization, rnd *rand.Rand) error {
		_, err := l.sendJSON(ctx, by, "POST", "/api/v1/kb/search", object{"query": "access review", "assessment_id": by.assessment(rnd)})
		return err
	}},
}

func get(path string) func(context.Context, *load, *organization, *rand.Rand) error {
	return func(ctx context.Context, l *load, by *organization, _ *rand.Rand) error {
		_, err := l.sendJSON(ctx, by, "GET", path, nil)
		return err
	}
}

// work makes organizations work for some time, with the usual pause of their size between two requests if between is 0.
func (l *load) work(ctx context.Context, d time.Duration, who []*organization, between time.Duration) {
	ctx, cancel := context.WithTimeout(ctx, d)
	defer cancel()
	total := 0
	for _, o := range operations {
		total += o.weight
	}
	var wg sync.WaitGroup
	for n, one := range who {
		wg.Go(func() {
			rnd, wait := rand.New(rand.NewPCG(1, uint64(n))), cmp.Or(between, one.size.pause)
			pause(ctx, time.Duration(rnd.Int64N(int64(wait))))
			for ctx.Err() == nil {
				at := rnd.IntN(total)
				for _, o := range operations {
					if at -= o.weight; at < 0 {
						began := time.Now()
						err := o.do(ctx, l, one, rnd)
						if ctx.Err() == nil {
							l.record(call{l.phase, one.size.name, o.name}, time.Since(began), err)
						}
						break
					}
				}
				pause(ctx, wait)
			}
		})
	}
	wg.Wait()
}

func (l *load) record(c call, took time.Duration, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, fmt.Sprintf("%s of a %s organization: %v", c.operation, c.size, err))
		return
	}
	l.calls[c] = append(l.calls[c], took)
}

// importAndDraft imports the catalog under another label, and drafts a Statement of Applicability in a large
// organization.
func (l *load) importAndDraft(ctx context.Context) {
	one := l.organizations[0]
	timed := func(name string, do func() error) {
		began := time.Now()
		err := do()
		l.record(call{"together", "one", name}, time.Since(began), err)
	}
	timed("import a catalog", func() error {
		source, err := l.sendJSON(ctx, one, "GET", "/api/v1/scf/versions/latest", nil)
		if err != nil {
			return err
		}
		if source, err = l.sendJSON(ctx, one, "GET", fmt.Sprintf("/api/v1/scf/versions/%v/export", source["id"]), nil); err != nil {
			return err
		}
		_, err = l.sendJSON(ctx, nil, "POST", "/api/v1/admin/scf/import-runs", object{"label": "load", "source": source})
		return err
	})
	timed("draft a Statement of Applicability", func() error {
		id, err := l.createAssessment(ctx, one, "Draft")
		if err != nil {
			return err
		}
		for n := range 20 {
			text := fmt.Sprintf("# Policy %d\n\nAccess rights are reviewed every quarter by the owner of system %d. "+
				"Backups are tested monthly.\n", n, n)
			if err := l.upload(ctx, one, id, text); err != nil {
				return err
			}
		}
		for {
			status, err := l.sendJSON(ctx, one, "GET", "/api/v1/assessments/"+id+"/status", nil)
			if err != nil || status["state"] == "soa_drafted" {
				return err
			}
			to := object{"target_state": status["next_states"].([]any)[0]}
			if _, err := l.sendJSON(ctx, one, "POST", "/api/v1/assessments/"+id+"/lifecycle/transition", to); err != nil {
				return err
			}
		}
	})
}

// watch samples the daemon's memory and goroutines until ctx ends.
func (l *load) watch(ctx context.Context) {
	go func() {
		for ctx.Err() == nil {
			if s, err := l.look(ctx); err == nil {
				l.mu.Lock()
				s.at, s.together = time.Now(), l.phase == "together"
				l.samples = append(l.samples, s)
				l.mu.Unlock()
			}
			pause(ctx, time.Second)
		}
	}()
}

// look returns the daemon's current resource usage.
func (l *load) look(ctx context.Context) (s sample, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", l.daemon.url+"/metrics", nil)
	if err != nil {
		return s, err
	}
	resp, err := client.Do(req)
	if err != nil {
		return s, err
	}
	defer resp.Body.Close()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		return s, err
	}
	for line := range strings.Lines(string(b)) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
		switch v, _ := strconv.ParseFloat(value, 64); name {
		case "process_resident_memory_bytes":
			s.resident = v
		case "go_goroutines":
			s.goroutines = v
		}
	}
	s.ownMemory = s.resident
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", l.daemon.cmd.Process.Pid))
	if err != nil { // not on Linux
		return s, nil
	}
	if _, value, ok := strings.Cut(string(status), "RssAnon:"); ok {
		var kilobytes float64
		if _, err := fmt.Sscan(value, &kilobytes); err != nil {
			return s, err
		}
		s.ownMemory = kilobytes * 1024
	}
	return s, nil
}

// percentile sorts the durations and returns the one that a share p of them don't exceed.
func percentile(all []time.Duration, p float64) time.Duration {
	if len(all) == 0 {
		return 0
	}
	slices.Sort(all)
	return all[int(p*float64(len(all)-1))]
}

func ms(d time.Duration) string {
	return strconv.FormatFloat(float64(d)/float64(time.Millisecond), 'f', 1, 64)
}

// printOverTime prints the daemon's mean memory and goroutines in each part of the run.
func (l *load) printOverTime(w io.Writer) {
	fmt.Fprint(w, "\n| seconds | MB of memory | without pages of files | goroutines |\n|---|---|---|---|\n")
	for n := range timeRows {
		part := l.samples[n*len(l.samples)/timeRows : (n+1)*len(l.samples)/timeRows]
		if len(part) == 0 {
			continue
		}
		resident := mean(part, func(s sample) float64 { return s.resident })
		ownMemory := mean(part, func(s sample) float64 { return s.ownMemory })
		goroutines := mean(part, func(s sample) float64 { return s.goroutines })
		fmt.Fprintf(w, "| %.0f | %.0f | %.0f | %.0f |\n",
			part[len(part)-1].at.Sub(l.samples[0].at).Seconds(), resident/1e6, ownMemory/1e6, goroutines)
	}
}

// mean returns the mean of a figure of some samples.
func mean(some []sample, of func(sample) float64) (sum float64) {
	for _, s := range some {
		sum += of(s) / float64(len(some))
	}
	return sum
}

// report prints the results and returns an error that names the limits exceeded.
func (l *load) report(w io.Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var keys []call
	requests := 0
	for c, times := range l.calls {
		keys = append(keys, c)
		requests += len(times)
	}
	slices.SortFunc(keys, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.operation, b.operation), cmp.Compare(a.phase, b.phase), cmp.Compare(a.size, b.size))
	})
	fmt.Fprintf(w, "\n%d requests, %d failed\n\n", requests, len(l.failures))
	fmt.Fprint(w, "| operation | when | organization | requests | p50 ms | p99 ms |\n|---|---|---|---|---|---|\n")
	alone, small := []time.Duration{}, []time.Duration{}
	for _, c := range keys {
		times := l.calls[c]
		fmt.Fprintf(w, "| %s | %s | %s | %d | %s | %s |\n",
			c.operation, c.phase, c.size, len(times), ms(percentile(times, .5)), ms(percentile(times, .99)))
		switch {
		case c.phase == "alone":
			alone = append(alone, times...)
		case c.size == "small":
			small = append(small, times...)
		}
	}
	l.printOverTime(w)
	var missed []string
	check := func(ok bool, format string, args ...any) {
		text := fmt.Sprintf(format, args...)
		mark := "met"
		if !ok {
			mark = "MISSED"
			missed = append(missed, text)
		}
		fmt.Fprintf(w, "- %s: %s\n", text, mark)
	}
	fmt.Fprintln(w)
	check(len(l.failures) == 0, "%d requests failed", len(l.failures))
	for _, f := range l.failures[:min(5, len(l.failures))] {
		fmt.Fprintln(w, "  ", f)
	}
	a, b := percentile(alone, .5), percentile(small, .5)
	check(float64(b) <= maxSlowdown*float64(max(a, minComparison)),
		"a small organization's request takes %s ms (p50) among all, %s alone", ms(b), ms(a))
	l.receivers.mu.Lock()
	defer l.receivers.mu.Unlock()
	d := l.receivers.delays
	check(len(d) > 0 && percentile(d, .99) <= maxEventP99,
		"%d events reached receivers after %s ms (p50), %s ms (p99), while %d deliveries to slow ones began",
		len(d), ms(percentile(d, .5)), ms(percentile(d, .99)), l.receivers.slow)
	together := slices.DeleteFunc(slices.Clone(l.samples), func(s sample) bool { return !s.together })
	n := len(together) / 3
	grew := func(name string, of func(sample) float64) {
		second, last := mean(together[n:2*n], of), mean(together[2*n:], of)
		check(n > 0 && (last <= maxGrowth*second || len(together) < minGrowthSamples),
			"%.0f %s in the last third of the time with all, %.0f in the second", last, name, second)
	}
	grew("MB of memory", func(s sample) float64 { return s.ownMemory / 1e6 })
	grew("goroutines", func(s sample) float64 { return s.goroutines })
	if len(missed) > 0 {
		return fmt.Errorf("missed: %s", strings.Join(missed, "; "))
	}
	return nil
}
