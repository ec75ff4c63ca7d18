package integration

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/internal/lazyregexp"
)

// github speaks GitHub's REST interface of issues.
type github struct {
	*caller
	set  *settings
	repo string
}

func (s *Service) github(set *settings) *github {
	header := http.Header{"Authorization": {"Bearer " + set.secrets["token"]}, "Accept": {"application/vnd.github+json"}, "X-Github-Api-Version": {"2022-11-28"}}
	return &github{caller: s.caller(set, set.text("url"), header, githubWhy), set: set, repo: "/repos/" + set.text("repository")}
}

func githubWhy(b []byte) string {
	var said struct {
		Message string `json:"message"`
		Errors  []struct {
			Field, Code, Message string
		} `json:"errors"`
	}
	if json.Unmarshal(b, &said) != nil {
		return whyIn(b, "message")
	}
	out := said.Message
	for _, e := range said.Errors {
		out += "; " + strings.TrimSpace(e.Field+" "+e.Code+" "+e.Message)
	}
	return out
}

type githubIssue struct {
	Number      int64           `json:"number"`
	URL         string          `json:"html_url"`
	State       string          `json:"state"`
	Body        string          `json:"body"`
	PullRequest json.RawMessage `json:"pull_request"`
}

// githubDue is the line of the body that holds the due date: GitHub's issues have none.
var githubDue = lazyregexp.Of(`(?m)^\*\*Due date:\*\*[ \t]*([^\r\n]*)`)

func githubSide(i *githubIssue) api.IssueSide {
	side := api.IssueSide{Closed: i.State == "closed"}
	if m := githubDue.FindStringSubmatch(i.Body); m != nil {
		side.DueDate = day(m[1])
	}
	return side
}

func (g *github) issue(i *githubIssue) *issue {
	n := strconv.FormatInt(i.Number, 10)
	address := ""
	if u, err := url.Parse(i.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") && len(i.URL) < 1000 {
		address = u.String()
	}
	return &issue{id: n, key: "#" + n, url: address, IssueSide: githubSide(i), body: i.Body}
}

func (g *github) check(ctx context.Context) (string, error) {
	var repo struct {
		Name      string `json:"full_name"`
		HasIssues bool   `json:"has_issues"`
		Archived  bool   `json:"archived"`
	}
	_, err := g.do(ctx, http.MethodGet, g.repo, nil, nil, &repo)
	switch {
	case gone(err):
		return "", fmt.Errorf("there is no repository %s that the token may see", g.set.text("repository"))
	case err != nil:
		return "", err
	case repo.Archived:
		return "", fmt.Errorf("the repository %s is archived: its issues can't be changed", g.set.text("repository"))
	case !repo.HasIssues:
		return "", fmt.Errorf("the repository %s has no issues; turn them on in its settings", g.set.text("repository"))
	}
	return g.cover(oneLine("repository "+repo.Name+", with issues", 300)), nil
}

// list calls each for our issues that were changed since then.
func (g *github) list(ctx context.Context, since time.Time, each func(*githubIssue)) error {
	query := url.Values{"labels": {g.set.text("label")}, "state": {"all"}, "since": {since.UTC().Format(time.RFC3339)}, "sort": {"updated"}, "direction": {"asc"}, "per_page": {strconv.Itoa(pageSize)}}
	for page := 1; page <= pages; page++ {
		query.Set("page", strconv.Itoa(page))
		var found []githubIssue
		answer, err := g.do(ctx, http.MethodGet, g.repo+"/issues", query, nil, &found)
		if err != nil {
			return err
		}
		for i := range found {
			if found[i].PullRequest == nil {
				each(&found[i])
			}
		}
		// The address of the next page is not followed, only that there is one.
		if !strings.Contains(answer.Header.Get("Link"), `rel="next"`) {
			return nil
		}
	}
	return errTooMany
}

// find goes through the list: GitHub's search learns of an issue only after a while.
func (g *github) find(ctx context.Context, marker string, since time.Time) (out *issue, err error) {
	err = g.list(ctx, since, func(i *githubIssue) {
		if out == nil && strings.Contains(i.Body, marker) {
			out = g.issue(i)
		}
	})
	return out, err
}

func (g *github) changed(ctx context.Context, since time.Time, each func(*issue)) error {
	return g.list(ctx, since, func(i *githubIssue) { each(g.issue(i)) })
}

func (g *github) get(ctx context.Context, id string) (*issue, error) {
	var i githubIssue
	_, err := g.do(ctx, http.MethodGet, g.repo+"/issues/"+id, nil, nil, &i)
	if gone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return g.issue(&i), nil
}

func dueLine(due *api.Date) string {
	if due == nil {
		return "**Due date:** none"
	}
	return "**Due date:** " + string(*due)
}

// githubText keeps what an assessment says from being markup, a mention or a reference.
var githubText = strings.NewReplacer("<", "&lt;", ">", "&gt;", "@", "@\u200b", "#", "#\u200b", "*", `\*`, "_", `\_`, "`", "\\`", "[", `\[`, "]", `\]`)

func (g *github) create(ctx context.Context, d *draft) (*issue, error) {
	lines := []string{dueLine(d.due)}
	for _, line := range d.lines {
		lines = append(lines, githubText.Replace(line))
	}
	body := strings.Join(append(lines, "<!-- "+d.marker+" -->"), "\n\n")
	var made githubIssue
	if _, err := g.do(ctx, http.MethodPost, g.repo+"/issues", nil, object{"title": oneLine(d.title, 250), "body": body, "labels": []string{g.set.text("label")}}, &made); err != nil {
		return nil, err
	}
	if made.Number <= 0 {
		return nil, errNoIssue
	}
	return g.issue(&made), nil
}

func (g *github) change(ctx context.Context, now *issue, c change) error {
	body := object{}
	if c.closed != nil {
		body["state"], body["state_reason"] = "open", "reopened"
		if *c.closed {
			body["state"], body["state_reason"] = "closed", "completed"
		}
	}
	if c.due != nil {
		// Whatever else people wrote into the body stays.
		line := dueLine(c.due)
		if githubDue.MatchString(now.body) {
			done := false
			body["body"] = githubDue.ReplaceAllStringFunc(now.body, func(old string) string {
				if done {
					return old
				}
				done = true
				return line
			})
		} else {
			body["body"] = line + "\n\n" + now.body
		}
	}
	_, err := g.do(ctx, http.MethodPatch, g.repo+"/issues/"+now.id, nil, body, nil)
	return err
}
