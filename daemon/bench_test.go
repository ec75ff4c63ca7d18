package daemon_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-chi/chi/v5"
	"go.etcd.io/bbolt"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/internal/testutil/shareddata"
)

// bareHandler is the baseline of the benchmarks: a chi handler that reads records from bbolt and writes them,
// without credentials, checks or schemas.
func bareHandler(b *testing.B, records [][]byte, list bool) http.Handler {
	b.Helper()
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = db.Close() })
	name := []byte("records")
	err = db.Update(func(tx *bbolt.Tx) error {
		bucket, err := tx.CreateBucket(name)
		for i, r := range records {
			if err == nil {
				err = bucket.Put(fmt.Appendf(nil, "GOV-%03d", i), r)
			}
		}
		return err
	})
	if err != nil {
		b.Fatal(err)
	}
	mux := chi.NewMux()
	mux.Get("/{code}", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		err := db.View(func(tx *bbolt.Tx) error {
			bucket := tx.Bucket(name)
			if !list {
				_, err := w.Write(bucket.Get([]byte(chi.URLParam(r, "code"))))
				return err
			}
			var page []json.RawMessage
			c := bucket.Cursor()
			for k, v := c.First(); k != nil; k, v = c.Next() {
				page = append(page, v)
			}
			return json.NewEncoder(w).Encode(map[string]any{"data": page})
		})
		if err != nil {
			b.Error(err)
		}
	})
	return mux
}

// fetch requests a page over a persistent connection and returns its size.
func fetch(b testing.TB, client *http.Client, req *http.Request) int {
	resp, err := client.Do(req)
	if err != nil {
		b.Fatal(err)
	}
	n, err := io.Copy(io.Discard, resp.Body)
	if err != nil || resp.StatusCode != http.StatusOK {
		b.Fatalf("%s answers %d, %v", req.URL, resp.StatusCode, err)
	}
	_ = resp.Body.Close()
	return int(n)
}

func (c testCaller) request(url, path string) *http.Request {
	req, err := http.NewRequest("GET", url+path, nil)
	if err != nil {
		c.w.t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+c.bearer)
	req.Header.Set("x-service-tenant-id", c.org)
	return req
}

// benchmarkRead measures one read from the daemon over loopback, and from the bare handler with the
// same records.
func benchmarkRead(b *testing.B, c testCaller, path string, list bool) {
	b.Helper()
	whole := c.must("GET", path, nil)
	records := [][]byte{[]byte(whole.text)}
	if list {
		records = nil
		for _, item := range whole.body["data"].([]any) {
			records = append(records, []byte(mustString(json.Marshal(item))))
		}
	}
	server, baseline := httptest.NewServer(c.w.net), httptest.NewServer(bareHandler(b, records, list))
	defer server.Close()
	defer baseline.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	other, _ := http.NewRequest("GET", baseline.URL+"/GOV-000", nil)
	b.Run("service", func(b *testing.B) {
		req := c.request(server.URL, path)
		for b.Loop() {
			fetch(b, client, req)
		}
	})
	b.Run("bare", func(b *testing.B) {
		for b.Loop() {
			fetch(b, client, other)
		}
	})
}

func BenchmarkControlByCode(b *testing.B) {
	w := newTestServer(b, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	benchmarkRead(b, key, "/api/v1/scf/controls/by-code/GOV-01", false)
}

func BenchmarkSoAItems(b *testing.B) {
	w := newTestServer(b, daemon.Options{})
	owner, key := w.createOrganization("Acme", "ada@acme.example")
	ids := owner.populate("Acme")
	benchmarkRead(b, key, "/api/v1/soa/"+ids["soaVersionId"]+"/items?limit=50", true)
}

// BenchmarkReadersWhileImporting reports the 99th percentile of the response time for 200 readers
// while a workbook is imported.
func BenchmarkReadersWhileImporting(b *testing.B) {
	workbook, err := os.ReadFile(shareddata.PathOrSkip(b, "scf", "scf-2022.3.xlsx"))
	if err != nil {
		b.Fatal(err)
	}
	w := newTestServer(b, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	server := httptest.NewServer(w.net)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 200}}
	var all []time.Duration
	for n := 0; b.Loop(); n++ {
		done := make(chan struct{})
		go func() {
			defer close(done)
			f := form{
				filename: "scf-2022.3.xlsx",
				content:  string(workbook),
				fields:   map[string]string{"label": fmt.Sprintf("bench-%d", n)},
			}
			body, kind := f.encode()
			req := httptest.NewRequest("POST", api.ImportWorkbook.Path, body)
			req.Header.Set("Content-Type", kind)
			rec := httptest.NewRecorder()
			w.local.ServeHTTP(rec, req)
			if rec.Code != http.StatusCreated {
				b.Errorf("the import answers %d %.200s", rec.Code, rec.Body)
			}
		}()
		var mu sync.Mutex
		var readers sync.WaitGroup
		for range 200 {
			readers.Go(func() {
				req := key.request(server.URL, "/api/v1/scf/controls/by-code/GOV-01")
				var mine []time.Duration
				for {
					select {
					case <-done:
						mu.Lock()
						all = append(all, mine...)
						mu.Unlock()
						return
					default:
						began := time.Now()
						fetch(b, client, req)
						mine = append(mine, time.Since(began))
					}
				}
			})
		}
		readers.Wait()
	}
	slices.Sort(all)
	b.ReportMetric(float64(all[len(all)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(all[len(all)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(len(all))/b.Elapsed().Seconds(), "reads/s")
}

// BenchmarkWriters creates assessments over HTTP with 64 writers. It compares the result with 64 writers that
// each put one small value with bbolt's Batch.
func BenchmarkWriters(b *testing.B) {
	const writers = 64
	run := func(total int, write func(n int)) (perSecond float64, all []time.Duration) {
		var next atomic.Int64
		var mu sync.Mutex
		var workers sync.WaitGroup
		began := time.Now()
		for range writers {
			workers.Go(func() {
				var mine []time.Duration
				for n := next.Add(1); n <= int64(total); n = next.Add(1) {
					at := time.Now()
					write(int(n))
					mine = append(mine, time.Since(at))
				}
				mu.Lock()
				defer mu.Unlock()
				all = append(all, mine...)
			})
		}
		workers.Wait()
		return float64(total) / time.Since(began).Seconds(), all
	}
	w := newTestServer(b, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	server := httptest.NewServer(w.net)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: writers}}
	db, err := bbolt.Open(filepath.Join(b.TempDir(), "bare.db"), 0o600, nil)
	if err != nil {
		b.Fatal(err)
	}
	defer db.Close()
	create := func(int) {
		req := key.request(server.URL, api.CreateAssessment.Path)
		req.Method, req.Body = "POST", io.NopCloser(strings.NewReader(`{"name":"Acme 2026","framework_id":"cis-controls-8.1"}`))
		req.Header.Set("Content-Type", "application/json")
		resp, err := client.Do(req)
		if err != nil {
			b.Error(err)
			return
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		if resp.Body.Close(); resp.StatusCode != http.StatusCreated {
			b.Error(resp.Status)
		}
	}
	put := func(n int) {
		err := db.Batch(func(tx *bbolt.Tx) error {
			bucket, err := tx.CreateBucketIfNotExists([]byte("x"))
			if err == nil {
				err = bucket.Put(fmt.Appendf(nil, "%020d", n), []byte("small"))
			}
			return err
		})
		if err != nil {
			b.Error(err)
		}
	}
	var created, batched, rounds float64
	var latencies []time.Duration
	for b.Loop() {
		c, all := run(2_000, create)
		p, _ := run(10_000, put)
		created, batched, latencies, rounds = created+c, batched+p, append(latencies, all...), rounds+1
	}
	slices.Sort(latencies)
	p99 := latencies[len(latencies)*99/100]
	b.ReportMetric(created/rounds, "assessments/s")
	b.ReportMetric(batched/rounds, "batched-puts/s")
	b.ReportMetric(created/batched, "ratio")
	b.ReportMetric(float64(p99.Microseconds())/1000, "p99-ms")
}

// BenchmarkControlAgainstHealth compares reading a control by its code with calling /health. 16 clients take
// turns.
func BenchmarkControlAgainstHealth(b *testing.B) {
	w := newTestServer(b, daemon.Options{})
	_, key := w.createOrganization("Acme", "ada@acme.example")
	server := httptest.NewServer(w.net)
	defer server.Close()
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
	read := func(path string) time.Duration {
		began := time.Now()
		var clients sync.WaitGroup
		for range 16 {
			clients.Go(func() {
				req := key.request(server.URL, path)
				for range 50 {
					fetch(b, client, req)
				}
			})
		}
		clients.Wait()
		return time.Since(began)
	}
	var health, control time.Duration
	for b.Loop() {
		health += read("/health")
		control += read("/api/v1/scf/controls/by-code/GOV-01")
	}
	b.ReportMetric(health.Seconds()/control.Seconds(), "ratio")
}
