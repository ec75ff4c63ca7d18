package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"sort"
	"strconv"
	"strings"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// issueDesk imitates GitHub's issue API and a chat.
type issueDesk struct {
	mu     sync.Mutex
	issues map[int]map[string]any
	heard  []string
}

func (d *issueDesk) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	b, _ := io.ReadAll(r.Body)
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.URL.Path == "/chat" {
		d.heard = append(d.heard, string(b))
		fmt.Fprint(w, "ok")
		return
	}
	var out any
	status := http.StatusOK
	path, known := strings.CutPrefix(r.URL.Path, "/repos/acme/ops")
	n, _ := strconv.Atoi(strings.TrimPrefix(path, "/issues/"))
	in := map[string]any{}
	_ = json.Unmarshal(b, &in)
	switch {
	case r.Header.Get("Authorization") != "Bearer a-token":
		status, out = http.StatusUnauthorized, map[string]any{"message": "Bad credentials"}
	case !known:
		status, out = http.StatusNotFound, map[string]any{"message": "Not Found"}
	case path == "":
		out = map[string]any{"full_name": "acme/ops", "has_issues": true}
	case path == "/issues" && r.Method == "POST":
		in["number"], in["state"], in["html_url"] = len(
			d.issues,
		)+1, "open", fmt.Sprintf(
			"https://github.example/acme/ops/issues/%d",
			len(d.issues)+1,
		)
		d.issues[len(d.issues)+1] = in
		status, out = http.StatusCreated, in
	case path == "/issues":
		list := []any{}
		for i := range len(d.issues) {
			list = append(list, d.issues[i+1])
		}
		page, _ := strconv.Atoi(r.URL.Query().Get("page"))
		from, to := min((page-1)*100, len(list)), min(page*100, len(list))
		if to < len(list) {
			w.Header().Set("Link", `<https://elsewhere.example>; rel="next"`)
		}
		out = list[from:to]
	case d.issues[n] == nil:
		status, out = http.StatusNotFound, map[string]any{"message": "Not Found"}
	default:
		for k, v := range in {
			d.issues[n][k] = v
		}
		out = d.issues[n]
	}
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(out)
}

var deskDue = regexp.MustCompile(`\*\*Due date:\*\* \S+`)

// issueDesks implements the script command "desk": start; close N or open N; due N DATE, as a user would; or want
// REGEXP, which is matched against each issue on a line, followed by the chat messages.
func issueDesks() func(ts *testscript.TestScript, neg bool, args []string) {
	var mu sync.Mutex
	desks := map[*testscript.TestScript]*issueDesk{}
	return func(ts *testscript.TestScript, neg bool, args []string) {
		mu.Lock()
		defer mu.Unlock()
		if len(args) == 1 && args[0] == "start" {
			d := &issueDesk{issues: map[int]map[string]any{}}
			s := httptest.NewServer(d)
			ts.Defer(s.Close)
			ts.Setenv("DESK", s.URL)
			desks[ts] = d
			return
		}
		d := desks[ts]
		if d == nil || len(args) < 2 {
			ts.Fatalf("usage: desk start|close N|open N|due N DATE|want REGEXP")
		}
		d.mu.Lock()
		defer d.mu.Unlock()
		n, _ := strconv.Atoi(args[1])
		switch args[0] {
		case "close":
			d.issues[n]["state"] = "closed"
		case "open":
			d.issues[n]["state"] = "open"
		case "due":
			d.issues[n]["body"] = deskDue.ReplaceAllString(d.issues[n]["body"].(string), "**Due date:** "+args[2])
		case "want":
			var lines []string
			for n, i := range d.issues {
				lines = append(lines, fmt.Sprintf("%04d %s %s %s", n, i["state"], deskDue.FindString(i["body"].(string)), i["title"]))
			}
			sort.Strings(lines)
			all := strings.Join(append(lines, d.heard...), "\n")
			if regexp.MustCompile("(?m)"+args[1]).MatchString(all) == neg {
				ts.Fatalf("%q, of\n%s", args[1], all)
			}
		}
	}
}
