package integration_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// ticket is an issue in a fake tracker.
type ticket struct {
	id, key, marker, title, text, due string
	closed, deleted                   bool
	updated                           time.Time
}

// fakeTracker is a fake tracker with the paths, fields, status codes, paging and errors of a tool's API.
type fakeTracker struct {
	*httptest.Server
	t       testing.TB
	now     func() time.Time
	mu      sync.Mutex
	tickets []*ticket
	asked   []string
	// before is called ahead of each request; it returns true if it has answered.
	before func(w http.ResponseWriter, r *http.Request) bool
	// lose makes the next creation succeed without a response.
	lose bool
}

type jsonObject = map[string]any

// newFakeTracker starts a fake tracker with the given routes.
func newFakeTracker(
	t testing.TB,
	now func() time.Time,
	auth string,
	routes func(d *fakeTracker, w http.ResponseWriter, r *http.Request, in jsonObject),
) *fakeTracker {
	d := &fakeTracker{t: t, now: now}
	d.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b, _ := io.ReadAll(r.Body)
		d.mu.Lock()
		defer d.mu.Unlock()
		d.asked = append(d.asked, r.Method+" "+r.URL.Path)
		if d.before != nil && d.before(w, r) {
			return
		}
		if r.Header.Get("Authorization") != auth {
			d.say(
				w,
				401,
				jsonObject{
					"message":       "Bad credentials " + r.Header.Get("Authorization"),
					"errorMessages": []string{"Client must be authenticated"},
					"error":         jsonObject{"message": "User Not Authenticated", "detail": "Required to provide Auth information"},
				},
			)
			return
		}
		in := jsonObject{}
		if len(b) > 0 && json.Unmarshal(b, &in) != nil {
			d.t.Errorf("%s %s: no JSON: %s", r.Method, r.URL, b)
		}
		routes(d, w, r, in)
	}))
	t.Cleanup(d.Close)
	return d
}

func (d *fakeTracker) say(w http.ResponseWriter, status int, body any) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	if status != http.StatusNoContent {
		_ = json.NewEncoder(w).Encode(body)
	}
}

func (d *fakeTracker) add(w http.ResponseWriter, status int, tk *ticket, body func(*ticket) any) {
	tk.updated = d.now()
	d.tickets = append(d.tickets, tk)
	if d.lose {
		d.lose = false
		panic(http.ErrAbortHandler) // the issue is created, but the connection breaks
	}
	d.say(w, status, body(tk))
}

func (d *fakeTracker) by(id string) *ticket {
	for _, tk := range d.tickets {
		if (tk.id == id || tk.key == id) && !tk.deleted {
			return tk
		}
	}
	return nil
}

// person changes a ticket as a user of the tracker does.
func (d *fakeTracker) person(n int, change func(*ticket)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(d.tickets[n])
	d.tickets[n].updated = d.now()
}

func (d *fakeTracker) ticket(n int) ticket {
	d.mu.Lock()
	defer d.mu.Unlock()
	if n >= len(d.tickets) {
		d.t.Fatalf("there are %d tickets", len(d.tickets))
	}
	return *d.tickets[n]
}

func (d *fakeTracker) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.tickets)
}

func (d *fakeTracker) since(at time.Time) (out []*ticket) {
	for _, tk := range d.tickets {
		if !tk.deleted && !tk.updated.Before(at) {
			out = append(out, tk)
		}
	}
	return out
}

func text(v any) string {
	s, _ := v.(string)
	return s
}

var (
	jqlMarker = regexp.MustCompile(`labels = "(service-poam[^"]*)"`)
	jqlAgo    = regexp.MustCompile(`updated >= -(\d+)m`)
)

// newFakeJira implements Jira's REST API version 3, or version 2 as in Data Center.
func newFakeJira(t testing.TB, now func() time.Time, cloud bool) (*fakeTracker, config, secrets) {
	root, auth := "/rest/api/2", "Bearer t0ken-jira"
	c := config{"project": "OPS", "api": "2"}
	if cloud {
		root, auth = "/rest/api/3", "Basic "+base64.StdEncoding.EncodeToString([]byte("ada@acme.example:t0ken-jira"))
		c = config{"project": "OPS", "email": "ada@acme.example"}
	}
	show := func(tk *ticket) any {
		category := "new"
		if tk.closed {
			category = "done"
		}
		fields := jsonObject{"status": jsonObject{"name": "x", "statusCategory": jsonObject{"key": category}}, "duedate": nil}
		if tk.due != "" {
			fields["duedate"] = tk.due
		}
		return jsonObject{"id": tk.id, "key": tk.key, "fields": fields}
	}
	d := newFakeTracker(t, now, auth, func(d *fakeTracker, w http.ResponseWriter, r *http.Request, in jsonObject) {
		path := strings.TrimPrefix(r.URL.Path, root)
		parts := strings.Split(strings.Trim(path, "/"), "/")
		search := map[bool]string{true: "/search/jql", false: "/search"}[cloud]
		switch {
		case path == "/myself":
			d.say(w, 200, jsonObject{"displayName": "Ada"})
		case path == "/project/OPS":
			d.say(w, 200, jsonObject{"name": "Operations", "issueTypes": []jsonObject{{"name": "Task"}, {"name": "Bug"}}})
		case path == search && r.Method == "POST":
			jql := text(in["jql"])
			m := jqlMarker.FindStringSubmatch(jql)
			if !strings.Contains(jql, `project = "OPS"`) || m == nil {
				d.say(w, 400, jsonObject{"errorMessages": []string{"Error in the JQL Query"}})
				return
			}
			var found []*ticket
			at := time.Time{}
			if ago := jqlAgo.FindStringSubmatch(jql); ago != nil {
				n, _ := strconv.Atoi(ago[1])
				at = d.now().Add(-time.Duration(n) * time.Minute)
			}
			for _, tk := range d.since(at) {
				if m[1] == "service-poam" || tk.marker == m[1] {
					found = append(found, tk)
				}
			}
			start := 0
			if cloud {
				start, _ = strconv.Atoi(text(in["nextPageToken"]))
			} else if n, is := in["startAt"].(float64); is {
				start = int(n)
			}
			page := []any{}
			for _, tk := range found[min(start, len(found)):min(start+2, len(found))] {
				page = append(page, show(tk))
			}
			out := jsonObject{"issues": page}
			if !cloud {
				out["total"], out["startAt"], out["maxResults"] = len(found), start, 2
			} else if start+2 < len(found) {
				out["nextPageToken"] = strconv.Itoa(start + 2)
			} else {
				out["isLast"] = true
			}
			d.say(w, 200, out)
		case path == "/issue" && r.Method == "POST":
			f := in["fields"].(jsonObject)
			if text(f["summary"]) == "" || text(f["issuetype"].(jsonObject)["name"]) != "Task" {
				d.say(
					w,
					400,
					jsonObject{"errorMessages": []string{}, "errors": jsonObject{"summary": "You must specify a summary of the issue."}},
				)
				return
			}
			if _, doc := f["description"].(jsonObject); doc != cloud {
				d.say(w, 400, jsonObject{"errors": jsonObject{"description": "Operation value must be an Atlassian Document"}})
				return
			}
			tk := &ticket{
				id:    strconv.Itoa(10000 + len(d.tickets)),
				key:   fmt.Sprintf("OPS-%d", len(d.tickets)+1),
				title: text(f["summary"]),
				due:   text(f["duedate"]),
			}
			for _, l := range f["labels"].([]any) {
				if strings.HasPrefix(text(l), "service-poam-") {
					tk.marker = text(l)
				}
			}
			d.add(w, 201, tk, func(tk *ticket) any {
				return jsonObject{"id": tk.id, "key": tk.key, "self": d.URL + root + "/issue/" + tk.id}
			})
		case len(parts) >= 2 && parts[0] == "issue" && d.by(parts[1]) == nil:
			d.say(
				w,
				404,
				jsonObject{
					"errorMessages": []string{"Issue does not exist or you do not have permission to see it."},
					"errors":        jsonObject{},
				},
			)
		case len(parts) == 2 && r.Method == "GET":
			d.say(w, 200, show(d.by(parts[1])))
		case len(parts) == 2 && r.Method == "PUT":
			tk := d.by(parts[1])
			tk.due, tk.updated = text(in["fields"].(jsonObject)["duedate"]), d.now()
			d.say(w, 204, nil)
		case len(parts) == 3 && r.Method == "GET":
			d.say(
				w,
				200,
				jsonObject{
					"transitions": []jsonObject{
						{"id": "11", "to": jsonObject{"name": "In Progress", "statusCategory": jsonObject{"key": "indeterminate"}}},
						{"id": "21", "to": jsonObject{"name": "To Do", "statusCategory": jsonObject{"key": "new"}}},
						{"id": "31", "to": jsonObject{"name": "Done", "statusCategory": jsonObject{"key": "done"}}},
					},
				},
			)
		case len(parts) == 3 && r.Method == "POST":
			tk := d.by(parts[1])
			switch text(in["transition"].(jsonObject)["id"]) {
			case "21":
				tk.closed = false
			case "31":
				tk.closed = true
			default:
				d.t.Errorf("the transition %v", in)
			}
			tk.updated = d.now()
			d.say(w, 204, nil)
		default:
			d.say(w, 404, jsonObject{"errorMessages": []string{"no such path " + r.Method + " " + r.URL.Path}})
		}
	})
	c["url"] = d.URL
	return d, c, secrets{"token": "t0ken-jira"}
}

var bodyDue = regexp.MustCompile(`\*\*Due date:\*\* (\S+)`)

// newFakeGitHub implements GitHub's API; due dates are in issue bodies, where people may edit them.
func newFakeGitHub(t testing.TB, now func() time.Time) (*fakeTracker, config, secrets) {
	show := func(d *fakeTracker) func(*ticket) any {
		return func(tk *ticket) any {
			state := "open"
			if tk.closed {
				state = "closed"
			}
			n, _ := strconv.Atoi(tk.id)
			body := tk.text
			if m := bodyDue.FindStringSubmatch(body); m != nil {
				body = strings.Replace(body, m[0], "**Due date:** "+tk.due, 1)
			}
			return jsonObject{
				"number":     n,
				"html_url":   d.URL + "/acme/ops/issues/" + tk.id,
				"state":      state,
				"body":       body,
				"updated_at": tk.updated,
			}
		}
	}
	d := newFakeTracker(t, now, "Bearer t0ken-github", func(d *fakeTracker, w http.ResponseWriter, r *http.Request, in jsonObject) {
		if r.Header.Get("X-GitHub-Api-Version") == "" || r.Header.Get("User-Agent") == "" {
			d.t.Errorf("%s without its headers", r.URL)
		}
		path, ok := strings.CutPrefix(r.URL.Path, "/repos/acme/ops")
		id := strings.TrimPrefix(path, "/issues/")
		switch {
		case !ok:
			d.say(w, 404, jsonObject{"message": "Not Found", "documentation_url": "https://docs.github.com/rest"})
		case path == "":
			d.say(w, 200, jsonObject{"full_name": "acme/ops", "has_issues": true, "archived": false})
		case path == "/issues" && r.Method == "GET":
			q := r.URL.Query()
			if q.Get("labels") != "poam" || q.Get("state") != "all" {
				d.t.Errorf("the query %s", r.URL.RawQuery)
			}
			at, err := time.Parse(time.RFC3339, q.Get("since"))
			if err != nil {
				d.t.Errorf("since: %v", err)
			}
			found := d.since(at)
			page, _ := strconv.Atoi(q.Get("page"))
			out := []any{jsonObject{"number": 9999, "state": "open", "body": "", "pull_request": jsonObject{"url": "x"}}}
			for _, tk := range found[min((page-1)*2, len(found)):min(page*2, len(found))] {
				out = append(out, show(d)(tk))
			}
			if page*2 < len(found) {
				w.Header().Set("Link", `<https://evil.example/next>; rel="next", <https://evil.example/last>; rel="last"`)
			}
			d.say(w, 200, out)
		case path == "/issues" && r.Method == "POST":
			if text(in["title"]) == "" || len(in["labels"].([]any)) != 1 {
				d.say(
					w,
					422,
					jsonObject{
						"message": "Validation Failed",
						"errors":  []jsonObject{{"resource": "Issue", "field": "title", "code": "missing_field"}},
					},
				)
				return
			}
			body := text(in["body"])
			tk := &ticket{id: strconv.Itoa(len(d.tickets) + 1), title: text(in["title"]), text: body, marker: body}
			tk.key = "#" + tk.id
			if m := bodyDue.FindStringSubmatch(body); m != nil {
				tk.due = m[1]
			}
			d.add(w, 201, tk, show(d))
		case d.by(id) == nil:
			d.say(
				w,
				map[bool]int{true: 410, false: 404}[slices.ContainsFunc(d.tickets, func(tk *ticket) bool { return tk.id == id })],
				jsonObject{"message": "This issue was deleted"},
			)
		case r.Method == "GET":
			d.say(w, 200, show(d)(d.by(id)))
		case r.Method == "PATCH":
			tk := d.by(id)
			if s := text(in["state"]); s != "" {
				tk.closed = s == "closed"
			}
			if body := text(in["body"]); body != "" {
				tk.text = body
				if m := bodyDue.FindStringSubmatch(body); m != nil {
					tk.due = m[1]
				}
			}
			tk.updated = d.now()
			d.say(w, 200, show(d)(tk))
		}
	})
	return d, config{"url": d.URL, "repository": "acme/ops"}, secrets{"token": "t0ken-github"}
}

var snSince = regexp.MustCompile(`sys_updated_on>=([0-9: -]{19})`)

func newFakeServiceNow(t testing.TB, now func() time.Time) (*fakeTracker, config, secrets) {
	show := func(tk *ticket) jsonObject {
		state := "1"
		if tk.closed {
			state = "7"
		}
		due := tk.due
		if due != "" {
			due += " 00:00:00"
		}
		return jsonObject{"sys_id": tk.id, "number": tk.key, "state": state, "active": fmt.Sprint(!tk.closed), "due_date": due}
	}
	one := func(tk *ticket) any { return jsonObject{"result": show(tk)} }
	auth := "Basic " + base64.StdEncoding.EncodeToString([]byte("svc:t0ken-snow"))
	d := newFakeTracker(t, now, auth, func(d *fakeTracker, w http.ResponseWriter, r *http.Request, in jsonObject) {
		path, ok := strings.CutPrefix(r.URL.Path, "/api/now/table/incident")
		id := strings.TrimPrefix(path, "/")
		due := strings.TrimSuffix(text(in["due_date"]), " 00:00:00")
		switch {
		case !ok:
			d.say(w, 400, jsonObject{"error": jsonObject{"message": "Invalid table x", "detail": nil}, "status": "failure"})
		case id == "" && r.Method == "GET":
			q := r.URL.Query().Get("sysparm_query")
			at := time.Time{}
			if m := snSince.FindStringSubmatch(q); m != nil {
				at, _ = time.Parse(time.DateTime, m[1])
			}
			marker, exact := strings.CutPrefix(strings.Split(q, "^")[0], "correlation_id=")
			out := []any{}
			offset, _ := strconv.Atoi(r.URL.Query().Get("sysparm_offset"))
			for n, tk := range d.since(at) {
				if n >= offset && (!exact || tk.marker == marker) {
					out = append(out, show(tk))
				}
			}
			d.say(w, 200, jsonObject{"result": out})
		case id == "" && r.Method == "POST":
			tk := &ticket{
				id:     fmt.Sprintf("%032x", len(d.tickets)+1),
				key:    fmt.Sprintf("INC%07d", len(d.tickets)+1),
				title:  text(in["short_description"]),
				marker: text(in["correlation_id"]),
				due:    due,
			}
			d.add(w, 201, tk, one)
		case d.by(id) == nil:
			d.say(
				w,
				404,
				jsonObject{
					"error": jsonObject{
						"message": "No Record found",
						"detail":  "Record doesn't exist or ACL restricts the record retrieval",
					},
					"status": "failure",
				},
			)
		case r.Method == "GET":
			d.say(w, 200, one(d.by(id)))
		case r.Method == "PATCH":
			tk := d.by(id)
			if in["due_date"] != nil {
				tk.due = due
			}
			if s := text(in["state"]); s != "" {
				tk.closed = s == "7" && text(in["close_code"]) != ""
			}
			tk.updated = d.now()
			d.say(w, 200, one(tk))
		}
	})
	return d, config{"url": d.URL, "username": "svc", "close_fields": config{"close_code": "Solved"}}, secrets{"password": "t0ken-snow"}
}
