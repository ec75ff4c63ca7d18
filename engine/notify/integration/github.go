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

// githubTracker implements tracker with GitHub's REST API.
type githubTracker struct {
	*apiClient
	set  *settings
	repo string
}

func (s *Service) newGitHub(set *settings) *githubTracker {
	header := http.Header{
		"Authorization":        {"Bearer " + set.secrets["token"]},
		"Accept":               {"application/vnd.github+json"},
		"X-Github-Api-Version": {"2022-11-28"},
	}
	return &githubTracker{
		apiClient: s.newAPIClient(set, set.text("url"), header, githubErrorText),
		set:       set,
		repo:      "/repos/" + set.text("repository"),
	}
}

func githubErrorText(b []byte) string {
	var body struct {
		Message string `json:"message"`
		Errors  []struct {
			Field, Code, Message string
		} `json:"errors"`
	}
	if json.Unmarshal(b, &body) != nil {
		return firstTextField(b, "message")
	}
	out := body.Message
	for _, e := range body.Errors {
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

// githubDuePattern matches the line of an issue's body that contains the due date. GitHub issues have no
// field for it.
var githubDuePattern = lazyregexp.New(`(?m)^\*\*Due date:\*\*[ \t]*([^\r\n]*)`)

func githubIssueSide(i *githubIssue) api.IssueSide {
	side := api.IssueSide{Closed: i.State == "closed"}
	if m := githubDuePattern.FindStringSubmatch(i.Body); m != nil {
		side.DueDate = parseDay(m[1])
	}
	return side
}

func (g *githubTracker) toIssue(i *githubIssue) *issue {
	n := strconv.FormatInt(i.Number, 10)
	address := ""
	if u, err := url.Parse(i.URL); err == nil && (u.Scheme == "https" || u.Scheme == "http") && len(i.URL) < 1000 {
		address = u.String()
	}
	return &issue{id: n, key: "#" + n, url: address, IssueSide: githubIssueSide(i), body: i.Body}
}

func (g *githubTracker) checkAccess(ctx context.Context) (string, error) {
	var repo struct {
		Name      string `json:"full_name"`
		HasIssues bool   `json:"has_issues"`
		Archived  bool   `json:"archived"`
	}
	_, err := g.doJSON(ctx, http.MethodGet, g.repo, nil, nil, &repo)
	switch {
	case isNotFoundOrGone(err):
		return "", fmt.Errorf("the repository %s doesn't exist or the token has no access to it", g.set.text("repository"))
	case err != nil:
		return "", err
	case repo.Archived:
		return "", fmt.Errorf("the repository %s is archived, so its issues cannot be changed", g.set.text("repository"))
	case !repo.HasIssues:
		return "", fmt.Errorf("issues are disabled in the repository %s; enable them in its settings", g.set.text("repository"))
	}
	return g.redact(truncateLine("repository "+repo.Name+", with issues", 300)), nil
}

// forEachOwnIssue calls each for the issues that this program created and that have changed since the given time.
func (g *githubTracker) forEachOwnIssue(ctx context.Context, since time.Time, each func(*githubIssue)) error {
	query := url.Values{
		"labels":    {g.set.text("label")},
		"state":     {"all"},
		"since":     {since.UTC().Format(time.RFC3339)},
		"sort":      {"updated"},
		"direction": {"asc"},
		"per_page":  {strconv.Itoa(pageSize)},
	}
	for page := 1; page <= maxPages; page++ {
		query.Set("page", strconv.Itoa(page))
		var found []githubIssue
		answer, err := g.doJSON(ctx, http.MethodGet, g.repo+"/issues", query, nil, &found)
		if err != nil {
			return err
		}
		for i := range found {
			if found[i].PullRequest == nil {
				each(&found[i])
			}
		}
		// The next page's URL is never followed; its presence only shows that there is another page.
		if !strings.Contains(answer.Header.Get("Link"), `rel="next"`) {
			return nil
		}
	}
	return errTooMany
}

// findByMarker finds an issue by listing issues instead of searching, because GitHub's search index lags
// behind.
func (g *githubTracker) findByMarker(ctx context.Context, marker string, since time.Time) (out *issue, err error) {
	err = g.forEachOwnIssue(ctx, since, func(i *githubIssue) {
		if out == nil && strings.Contains(i.Body, marker) {
			out = g.toIssue(i)
		}
	})
	return out, err
}

func (g *githubTracker) forEachOwnChanged(ctx context.Context, since time.Time, each func(*issue)) error {
	return g.forEachOwnIssue(ctx, since, func(i *githubIssue) { each(g.toIssue(i)) })
}

func (g *githubTracker) findIssueByID(ctx context.Context, id string) (*issue, error) {
	var i githubIssue
	_, err := g.doJSON(ctx, http.MethodGet, g.repo+"/issues/"+id, nil, nil, &i)
	if isNotFoundOrGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return g.toIssue(&i), nil
}

func dueLine(due *api.Date) string {
	if due == nil {
		return "**Due date:** none"
	}
	return "**Due date:** " + string(*due)
}

// githubEscaper prevents text from an assessment from being parsed as markup, mentions or references.
var githubEscaper = strings.NewReplacer(
	"<",
	"&lt;",
	">",
	"&gt;",
	"@",
	"@\u200b",
	"#",
	"#\u200b",
	"*",
	`\*`,
	"_",
	`\_`,
	"`",
	"\\`",
	"[",
	`\[`,
	"]",
	`\]`,
)

func (g *githubTracker) createIssue(ctx context.Context, d *issueDraft) (*issue, error) {
	lines := []string{dueLine(d.due)}
	for _, line := range d.lines {
		lines = append(lines, githubEscaper.Replace(line))
	}
	body := strings.Join(append(lines, "<!-- "+d.marker+" -->"), "\n\n")
	var created githubIssue
	request := jsonObject{"title": truncateLine(d.title, 250), "body": body, "labels": []string{g.set.text("label")}}
	if _, err := g.doJSON(ctx, http.MethodPost, g.repo+"/issues", nil, request, &created); err != nil {
		return nil, err
	}
	if created.Number <= 0 {
		return nil, errNoIssue
	}
	return g.toIssue(&created), nil
}

func (g *githubTracker) updateIssue(ctx context.Context, now *issue, c issueChange) error {
	body := jsonObject{}
	if c.closed != nil {
		body["state"], body["state_reason"] = "open", "reopened"
		if *c.closed {
			body["state"], body["state_reason"] = "closed", "completed"
		}
	}
	if c.due != nil {
		// Anything else in the body is kept.
		line := dueLine(c.due)
		if githubDuePattern.MatchString(now.body) {
			done := false
			body["body"] = githubDuePattern.ReplaceAllStringFunc(now.body, func(old string) string {
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
	_, err := g.doJSON(ctx, http.MethodPatch, g.repo+"/issues/"+now.id, nil, body, nil)
	return err
}
