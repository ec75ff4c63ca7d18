package integration

import (
	"cmp"
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// jiraTracker implements tracker with Jira's REST API, version 3 (Cloud) or 2 (Data Center).
type jiraTracker struct {
	*apiClient
	set   *settings
	root  string
	cloud bool
}

// jiraLabel is set on all issues that this program creates.
const jiraLabel = "service-poam"

func (s *Service) newJira(set *settings) *jiraTracker {
	auth := "Bearer " + set.secrets["token"]
	if mail := set.text("email"); mail != "" {
		auth = "Basic " + base64.StdEncoding.EncodeToString([]byte(mail+":"+set.secrets["token"]))
	}
	c := s.newAPIClient(set, set.text("url"), http.Header{"Authorization": {auth}}, jiraErrorText)
	return &jiraTracker{apiClient: c, set: set, root: "/rest/api/" + set.text("api"), cloud: set.text("api") == "3"}
}

// jiraErrorText returns the messages of the two error lists in a Jira response as one text.
func jiraErrorText(b []byte) string {
	var body struct {
		Messages []string          `json:"errorMessages"`
		Errors   map[string]string `json:"errors"`
	}
	if json.Unmarshal(b, &body) != nil {
		return ""
	}
	for _, name := range slices.Sorted(maps.Keys(body.Errors)) {
		body.Messages = append(body.Messages, name+": "+body.Errors[name])
	}
	return cmp.Or(strings.Join(body.Messages, "; "), firstTextField(b, "message", "error"))
}

type jiraIssue struct {
	ID     string `json:"id"`
	Key    string `json:"key"`
	Fields struct {
		Due    string `json:"duedate"`
		Status struct {
			Category struct {
				Key string `json:"key"`
			} `json:"statusCategory"`
		} `json:"status"`
	} `json:"fields"`
}

func (j *jiraTracker) toIssue(i *jiraIssue) *issue {
	return &issue{
		id:        i.ID,
		key:       i.Key,
		url:       j.base + "/browse/" + i.Key,
		IssueSide: api.IssueSide{Closed: i.Fields.Status.Category.Key == "done", DueDate: parseDay(i.Fields.Due)},
	}
}

func (j *jiraTracker) checkAccess(ctx context.Context) (string, error) {
	var me struct {
		Name string `json:"displayName"`
	}
	if _, err := j.doJSON(ctx, http.MethodGet, j.root+"/myself", nil, nil, &me); err != nil {
		return "", err
	}
	var project struct {
		Name  string `json:"name"`
		Types []struct {
			Name string `json:"name"`
		} `json:"issueTypes"`
	}
	key := j.set.text("project")
	if _, err := j.doJSON(ctx, http.MethodGet, j.root+"/project/"+url.PathEscape(key), nil, nil, &project); err != nil {
		if isNotFoundOrGone(err) {
			return "", fmt.Errorf("the project %s doesn't exist or %s has no access to it", key, me.Name)
		}
		return "", err
	}
	var names []string
	for _, t := range project.Types {
		if strings.EqualFold(t.Name, j.set.text("issue_type")) {
			names = nil
			break
		}
		names = append(names, t.Name)
	}
	if len(names) > 0 {
		return "", fmt.Errorf(
			"the project %s has no issue type %q; available: %s",
			key,
			j.set.text("issue_type"),
			j.redact(truncateLine(strings.Join(names, ", "), 200)),
		)
	}
	return j.redact(truncateLine(fmt.Sprintf("signed in as %s, project %s", me.Name, project.Name), 300)), nil
}

// forEachIssue calls each for every result of a JQL query. It handles the different pagination of
// the two API versions.
func (j *jiraTracker) forEachIssue(ctx context.Context, jql string, each func(*jiraIssue)) error {
	fields := []string{"status", "duedate"}
	token, at := "", 0
	for range maxPages {
		var found struct {
			Issues []jiraIssue `json:"issues"`
			Next   string      `json:"nextPageToken"`
			Total  int         `json:"total"`
		}
		path, body := j.root+"/search", jsonObject{"jql": jql, "fields": fields, "maxResults": pageSize, "startAt": at}
		if j.cloud {
			path, body = j.root+"/search/jql", jsonObject{"jql": jql, "fields": fields, "maxResults": pageSize}
			if token != "" {
				body["nextPageToken"] = token
			}
		}
		if _, err := j.doJSON(ctx, http.MethodPost, path, nil, body, &found); err != nil {
			return err
		}
		for i := range found.Issues {
			each(&found.Issues[i])
		}
		token, at = found.Next, at+len(found.Issues)
		if j.cloud && token == "" || !j.cloud && (at >= found.Total || len(found.Issues) == 0) {
			return nil
		}
	}
	return errTooMany
}

func (j *jiraTracker) projectClause() string { return `project = "` + j.set.text("project") + `"` }

func (j *jiraTracker) findByMarker(ctx context.Context, marker string, _ time.Time) (out *issue, err error) {
	err = j.forEachIssue(ctx, j.projectClause()+` AND labels = "`+marker+`" ORDER BY created ASC`, func(i *jiraIssue) {
		if out == nil {
			out = j.toIssue(i)
		}
	})
	return out, err
}

func (j *jiraTracker) forEachOwnChanged(ctx context.Context, since time.Time, each func(*issue)) error {
	// Relative minutes, because a time of day would be read in the user's time zone.
	ago := int(math.Ceil(j.clock().Sub(since).Minutes())) + 1
	return j.forEachIssue(
		ctx,
		fmt.Sprintf(`%s AND labels = "%s" AND updated >= -%dm ORDER BY updated ASC`, j.projectClause(), jiraLabel, ago),
		func(i *jiraIssue) { each(j.toIssue(i)) },
	)
}

func (j *jiraTracker) findIssueByID(ctx context.Context, id string) (*issue, error) {
	var i jiraIssue
	_, err := j.doJSON(ctx, http.MethodGet, j.root+"/issue/"+url.PathEscape(id), url.Values{"fields": {"status,duedate"}}, nil, &i)
	if isNotFoundOrGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return j.toIssue(&i), nil
}

func (j *jiraTracker) createIssue(ctx context.Context, d *issueDraft) (*issue, error) {
	labels := append([]string{jiraLabel, d.marker}, j.set.list("labels")...)
	fields := jsonObject{
		"project":   jsonObject{"key": j.set.text("project")},
		"issuetype": jsonObject{"name": j.set.text("issue_type")},
		"summary":   truncateLine(d.title, 250),
		"labels":    labels,
	}
	if j.cloud {
		fields["description"] = toAtlassianDocument(d.lines)
	} else {
		fields["description"] = strings.Join(d.lines, "\n\n")
	}
	if d.due != nil {
		fields["duedate"] = string(*d.due)
	}
	var created jiraIssue
	if _, err := j.doJSON(ctx, http.MethodPost, j.root+"/issue", nil, jsonObject{"fields": fields}, &created); err != nil {
		return nil, err
	}
	if created.ID == "" || created.Key == "" {
		return nil, errNoIssue
	}
	out := j.toIssue(&created)
	out.DueDate = d.due
	return out, nil
}

// toAtlassianDocument converts lines of text to the Atlassian Document Format.
func toAtlassianDocument(lines []string) jsonObject {
	content := []jsonObject{}
	for _, line := range lines {
		content = append(content, jsonObject{"type": "paragraph", "content": []jsonObject{{"type": "text", "text": line}}})
	}
	return jsonObject{"type": "doc", "version": 1, "content": content}
}

func (j *jiraTracker) updateIssue(ctx context.Context, now *issue, c issueChange) error {
	path := j.root + "/issue/" + url.PathEscape(now.id)
	if c.due != nil {
		if _, err := j.doJSON(ctx, http.MethodPut, path, nil, jsonObject{"fields": jsonObject{"duedate": string(*c.due)}}, nil); err != nil {
			return err
		}
	}
	if c.closed == nil {
		return nil
	}
	var can struct {
		Transitions []struct {
			ID string `json:"id"`
			To struct {
				Name     string `json:"name"`
				Category struct {
					Key string `json:"key"`
				} `json:"statusCategory"`
			} `json:"to"`
		} `json:"transitions"`
	}
	if _, err := j.doJSON(ctx, http.MethodGet, path+"/transitions", nil, nil, &can); err != nil {
		return err
	}
	// When reopening, prefer the status in which work starts.
	order := map[string]int{"done": 0}
	words := "done"
	if !*c.closed {
		order, words = map[string]int{"new": 0, "indeterminate": 1}, "open"
	}
	best := ""
	least := len(order)
	for _, t := range can.Transitions {
		if rank, fits := order[t.To.Category.Key]; fits && rank < least {
			best, least = t.ID, rank
		}
	}
	if best == "" {
		return fmt.Errorf(
			"the workflow of %s has no transition to a status in category %s; add a transition that the token's owner can use",
			now.key,
			words,
		)
	}
	_, err := j.doJSON(ctx, http.MethodPost, path+"/transitions", nil, jsonObject{"transition": jsonObject{"id": best}}, nil)
	return err
}
