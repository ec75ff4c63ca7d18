package integration_test

import (
	"crypto/md5"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/store"
)

// TestSlackWebhook checks messages to Slack's incoming webhooks: plain text without mentions and
// with the event's ID; failures are reported and retried, and status 410 pauses the integration.
func TestSlackWebhook(t *testing.T) {
	h := newFixture(t)
	r := receive(t, says(200, "ok"))
	id := h.made("slack", nil, secrets{"webhook_url": r.URL + "/services/T0/B0/sesame"}, "soa.approved")
	h.writeEvent("soa.drafted", harbor, nil)
	h.writeEvent("soa.approved", harbor, nil)
	if len(r.got) != 1 || r.got[0].path != "/services/T0/B0/sesame" {
		t.Fatalf("%+v", r.got)
	}
	var sent struct {
		Text   string `json:"text"`
		Blocks []struct {
			Type string `json:"type"`
			Text struct{ Type, Text string }
		} `json:"blocks"`
	}
	h.must(json.Unmarshal([]byte(r.got[0].body), &sent))
	if strings.Contains(sent.Text, "<!") || !strings.Contains(sent.Text, "Harbor 2026") || sent.Blocks[1].Text.Type != "plain_text" ||
		sent.Blocks[1].Text.Text != "Ada approved <!channel> the plan" {
		t.Errorf("%s", r.got[0].body)
	}
	if d := h.deliveries(id); len(d) != 1 || d[0].Status != "delivered" || !strings.Contains(r.got[0].body, d[0].EventID) {
		t.Errorf("%+v", d)
	}
	r.answer = func(w http.ResponseWriter, q *http.Request, _ string) {
		w.Header().Set("Retry-After", "120")
		says(429, "rate_limited")(w, q, "")
	}
	h.writeEvent("soa.approved", harbor, nil)
	if d := h.deliveries(id)[0]; d.Status != "retrying" || d.NextAttemptAt.Sub(h.now()) < 2*time.Minute {
		t.Errorf("Retry-After was not respected: %+v", d)
	}
	r.answer = says(410, "channel_is_archived sesame")
	h.advance(3 * time.Minute)
	h.must(h.hooks.RunOnce(t.Context()))
	got := h.read(id)
	if got.Enabled || got.LastStatus == nil || !strings.Contains(*got.LastStatus, "410") {
		t.Errorf("%+v", got)
	}
	if try := h.runTest(id); try.OK || !strings.Contains(try.Message, "channel_is_archived") {
		t.Errorf("%+v", try)
	}
}

// TestSlackApp checks that errors that Slack reports with status 200 are recognized.
func TestSlackApp(t *testing.T) {
	h := newFixture(t)
	r := receive(t, says(200, `{"ok": true, "channel": "C1", "ts": "1"}`))
	id := h.made("slack", config{"url": r.URL, "channel": "#sec"}, secrets{"token": "xoxb-sesame"})
	h.writeEvent("report.ready", harbor, nil)
	var sent struct {
		Channel  string
		Metadata struct {
			Type    string              `json:"event_type"`
			Payload struct{ ID string } `json:"event_payload"`
		}
	}
	h.must(json.Unmarshal([]byte(r.got[0].body), &sent))
	d := h.deliveries(id)
	if r.got[0].path != "/chat.postMessage" || r.got[0].header.Get("Authorization") != "Bearer xoxb-sesame" || sent.Channel != "#sec" ||
		sent.Metadata.Payload.ID != d[0].EventID ||
		d[0].Status != "delivered" {
		t.Errorf("%+v %+v", r.got[0], d)
	}
	r.answer = says(200, `{"ok": false, "error": "internal_error xoxb-sesame"}`)
	h.writeEvent("report.ready", harbor, nil)
	if d := h.deliveries(id)[0]; d.Status != "retrying" || strings.Contains(*d.Attempts[0].Error, "sesame") {
		t.Errorf("%+v", d)
	}
	r.answer = says(200, `{"ok": false, "error": "invalid_auth"}`)
	h.writeEvent("report.ready", harbor, nil)
	if d := h.deliveries(id)[0]; d.Status != "failed" || !strings.Contains(*d.Attempts[0].Error, "invalid_auth") {
		t.Errorf("a token that is no good: %+v", d)
	}
	if try := h.runTest(id); try.OK || !strings.Contains(try.Message, "invalid_auth") {
		t.Errorf("%+v", try)
	}
}

// TestTeams checks that Teams receives an adaptive card and that its status 202 counts as success.
func TestTeams(t *testing.T) {
	h := newFixture(t)
	r := receive(t, says(202, ""))
	id := h.made("teams", nil, secrets{"webhook_url": r.URL + "/workflows/x?sig=sesame"})
	h.writeEvent("poam.approved", harbor, nil)
	var sent struct {
		Type        string
		Attachments []struct {
			ContentType string
			Content     struct {
				Type, Version string
				Body          []struct {
					Type    string
					Inlines []struct{ Type, Text string }
				}
			}
		}
	}
	h.must(json.Unmarshal([]byte(r.got[0].body), &sent))
	a := sent.Attachments[0]
	if sent.Type != "message" || a.ContentType != "application/vnd.microsoft.card.adaptive" || a.Content.Type != "AdaptiveCard" ||
		a.Content.Body[1].Inlines[0].Text != "Ada approved <!channel> the plan" ||
		a.Content.Body[1].Type != "RichTextBlock" {
		t.Errorf("%s", r.got[0].body)
	}
	if d := h.deliveries(id); d[0].Status != "delivered" || d[0].Attempts[0].HTTPStatus != 202 {
		t.Errorf("%+v", d)
	}
	r.answer = says(400, "Invalid signature sesame")
	h.writeEvent("poam.approved", harbor, nil)
	if d := h.deliveries(id)[0]; d.Status != "retrying" || strings.Contains(*d.Attempts[0].Error, r.URL) {
		t.Errorf("%+v", d)
	}
}

// TestGeneric checks that a generic endpoint receives the event unchanged, with the configured
// method and headers and the same ID each time.
func TestGeneric(t *testing.T) {
	h := newFixture(t)
	r := receive(t, says(500, ""))
	id := h.made(
		"generic",
		config{"url": r.URL + "/in/", "method": "PUT", "headers": config{"X-Team": "sec"}},
		secrets{"Authorization": "Bearer sesame"},
	)
	h.writeEvent("soa.approved", harbor, map[string]any{"n": 1})
	h.advance(time.Minute)
	r.answer = says(204, "")
	h.must(h.hooks.RunOnce(t.Context()))
	if len(r.got) != 2 {
		t.Fatalf("%d requests", len(r.got))
	}
	var told struct {
		ID, Type string
		Data     map[string]any
	}
	for _, g := range r.got {
		h.must(json.Unmarshal([]byte(g.body), &told))
		if g.method != "PUT" || g.path != "/in/" || g.header.Get("X-Team") != "sec" || g.header.Get("Authorization") != "Bearer sesame" ||
			g.header.Get("Idempotency-Key") != told.ID ||
			told.Type != "soa.approved" ||
			told.Data["n"] != 1.0 {
			t.Errorf("%+v", g)
		}
	}
	if d := h.deliveries(id)[0]; d.Status != "delivered" || len(d.Attempts) != 2 || d.EventID != told.ID {
		t.Errorf("%+v", d)
	}
	r.answer = func(w http.ResponseWriter, q *http.Request, _ string) {
		http.Redirect(w, q, "http://169.254.169.254/latest/meta-data", http.StatusTemporaryRedirect)
	}
	if try := h.runTest(id); try.OK || !strings.Contains(try.Message, "307") {
		t.Errorf("a redirect: %+v", try)
	}
}

// fakeBucket is a fake S3 bucket that checks the signature's date and the checksum and replaces
// objects atomically.
type fakeBucket struct {
	*receiver
	objects map[string]string
	meta    map[string]http.Header
}

// unchunked returns the content of a body in signed chunks, as S3 accepts it over unencrypted
// connections.
func unchunked(t *testing.T, body string) (out string) {
	for {
		head, rest, ok := strings.Cut(body, "\r\n")
		size, signature, signed := strings.Cut(head, ";chunk-signature=")
		n, err := strconv.ParseInt(size, 16, 32)
		if !ok || !signed || len(signature) != 64 || err != nil || int(n)+2 > len(rest) {
			t.Errorf("no chunk: %.80q", body)
			return out
		}
		if n == 0 {
			return out
		}
		out, body = out+rest[:n], rest[n+2:]
	}
}

func newBucket(t *testing.T) *fakeBucket {
	b := &fakeBucket{objects: map[string]string{}, meta: map[string]http.Header{}}
	fail := func(w http.ResponseWriter, status int, code, message string) {
		w.Header().Set("Content-Type", "application/xml")
		w.WriteHeader(status)
		fmt.Fprintf(
			w,
			`<?xml version="1.0" encoding="UTF-8"?><Error><Code>%s</Code><Message>%s</Message><RequestId>1</RequestId></Error>`,
			code,
			message,
		)
	}
	b.receiver = receive(t, func(w http.ResponseWriter, r *http.Request, body string) {
		key, in := strings.CutPrefix(r.URL.Path, "/evidence/")
		auth := r.Header.Get("Authorization")
		if strings.HasPrefix(r.Header.Get("X-Amz-Content-Sha256"), "STREAMING-") {
			body = unchunked(t, body)
		}
		sum := md5.Sum([]byte(body))
		etag := `"` + hex.EncodeToString(sum[:]) + `"`
		switch {
		case !strings.HasPrefix(auth, "AWS4-HMAC-SHA256 Credential=AKIA/") || !strings.Contains(auth, "/eu-central-1/s3/aws4_request"):
			fail(w, 403, "SignatureDoesNotMatch", "The request signature we calculated does not match sesame")
		case !in:
			fail(w, 404, "NoSuchBucket", "The specified bucket does not exist")
		case r.Method == "PUT":
			if got := r.Header.Get("Content-Md5"); got != base64.StdEncoding.EncodeToString(sum[:]) {
				fail(w, 400, "BadDigest", "The Content-MD5 you specified did not match")
				return
			}
			b.objects[key], b.meta[key] = body, r.Header
			w.Header().Set("ETag", etag)
		case r.Method == "DELETE":
			delete(b.objects, key)
			w.WriteHeader(204)
		default:
			content, there := b.objects[key]
			if !there {
				if r.Method == "HEAD" {
					w.WriteHeader(404)
					return
				}
				fail(w, 404, "NoSuchKey", "The specified key does not exist.")
				return
			}
			for name, v := range b.meta[key] {
				if strings.HasPrefix(name, "X-Amz-Meta-") {
					w.Header()[name] = v
				}
			}
			sum := md5.Sum([]byte(content))
			w.Header().Set("ETag", `"`+hex.EncodeToString(sum[:])+`"`)
			w.Header().Set("Last-Modified", time.Now().UTC().Format(http.TimeFormat))
			w.Header().Set("Content-Length", fmt.Sprint(len(content)))
			if r.Method == "GET" {
				_, _ = w.Write([]byte(content))
			}
		}
	})
	return b
}

// TestS3 checks that reports and archives are stored once each, with a checksum, under keys of
// their organization and assessment.
func TestS3(t *testing.T) {
	h := newFixture(t)
	b := newBucket(t)
	set := config{"endpoint": b.URL, "bucket": "evidence", "region": "eu-central-1", "prefix": "grc"}
	id := h.made("s3", set, secrets{"access_key_id": "AKIA", "secret_access_key": "sesame-key"})
	if got := h.runTest(id); !got.OK || len(b.objects) != 0 {
		t.Fatalf("%+v, %v", got, b.objects)
	}
	blob, err := h.db.Blobs().Put(t.Context(), strings.NewReader("a report"), 1<<20)
	h.must(err)
	var report api.Report
	h.must(h.db.Update(t.Context(), func(tx *store.Tx) error {
		report = api.Report{
			TenantRecord: api.TenantRecord{Record: api.Record{ID: tx.NewID(), CreatedAt: tx.Now()}, OrganizationID: org},
			AssessmentID: harbor,
			Filename:     "harbor.pdf",
			SHA256:       blob.SHA256,
		}
		return store.Reports.Insert(tx, org, &report)
	}))
	h.writeEvent("report.ready", harbor, map[string]any{"sha256": blob.SHA256})
	key := "grc/" + org + "/" + harbor + "/reports/" + report.ID + "-harbor.pdf"
	if b.objects[key] != "a report" || b.meta[key].Get("X-Amz-Meta-Sha256") != blob.SHA256 ||
		b.meta[key].Get("Content-Type") != "application/pdf" {
		t.Fatalf("%v %v %+v", b.objects, b.meta[key], h.deliveries(id))
	}
	// An object that was stored but not recorded is not stored again.
	event := h.deliveries(id)[0]
	h.must(h.db.Update(t.Context(), func(tx *store.Tx) error {
		d, err := store.Deliveries.Get(tx, org, event.ID)
		now := tx.Now()
		d.Status, d.NextAttemptAt = "pending", &now
		if err != nil {
			return err
		}
		return store.Deliveries.Update(tx, org, &d)
	}))
	puts := func() (n int) {
		for _, g := range b.got {
			if g.method == "PUT" {
				n++
			}
		}
		return n
	}
	before := puts()
	h.must(h.hooks.RunOnce(t.Context()))
	if d := h.deliveries(id)[0]; puts() != before || d.Status != "delivered" || len(d.Attempts) != 2 {
		t.Errorf("put again: %+v", d)
	}
	h.writeEvent("assessment.closed", harbor, nil)
	h.writeEvent("soa.approved", harbor, nil)
	archive := ""
	for k := range b.objects {
		if strings.HasPrefix(k, "grc/"+org+"/"+harbor+"/archives/") && strings.HasSuffix(k, "-harbor.zip") {
			archive = k
		}
	}
	sum := sha256.Sum256([]byte(b.objects[archive]))
	if archive == "" || b.meta[archive].Get("X-Amz-Meta-Sha256") != hex.EncodeToString(sum[:]) || len(b.objects) != 2 {
		t.Errorf("%v", b.objects)
	}
	h.writeEvent("report.ready", harbor, map[string]any{"sha256": "0000"})
	if d := h.deliveries(id)[0]; d.Status != "failed" || !strings.Contains(*d.Attempts[0].Error, "deleted") {
		t.Errorf("a report that is gone: %+v", d)
	}
	wrong := h.made("s3", config{"endpoint": b.URL, "bucket": "evidence"}, secrets{"access_key_id": "AKIA", "secret_access_key": "sesame"})
	if got := h.runTest(wrong); got.OK || !strings.Contains(got.Message, "SignatureDoesNotMatch") || strings.Contains(got.Message, "sesame") {
		t.Errorf("%+v", got)
	}
}

// TestGuarded checks that no type of integration can reach the machine's own addresses, not even by
// name.
func TestGuarded(t *testing.T) {
	h := newFixture(t)
	r := receive(t, says(200, "ok"))
	open := map[string]string{}
	inside := strings.Replace(r.URL, "http://127.0.0.1", "https://localhost", 1)
	port := 25.0
	_, _ = fmt.Sscanf(r.URL[strings.LastIndex(r.URL, ":")+1:], "%g", &port)
	open["slack"] = h.made("slack", nil, secrets{"webhook_url": inside})
	open["teams"] = h.made("teams", nil, secrets{"webhook_url": inside})
	open["generic"] = h.made("generic", config{"url": inside}, nil)
	open["s3"] = h.made("s3", config{"endpoint": inside, "bucket": "evidence"}, secrets{"access_key_id": "a", "secret_access_key": "b"})
	open["jira"] = h.made("jira", config{"url": inside, "project": "OPS", "api": "2"}, secrets{"token": "t"})
	open["github"] = h.made("github", config{"url": inside, "repository": "a/b"}, secrets{"token": "t"})
	open["servicenow"] = h.made("servicenow", config{"url": inside}, secrets{"token": "t"})
	open["smtp"] = h.made("smtp", config{"host": "localhost", "port": port, "from": "a@b.example", "tls": "none"}, nil)
	h.strict()
	for kind, id := range open {
		if got := h.runTest(id); got.OK || !strings.Contains(got.Message, "private network") {
			t.Errorf("%s: %+v", kind, got)
		}
	}
	if len(r.got) != 0 {
		t.Errorf("%d requests reached it", len(r.got))
	}
}
