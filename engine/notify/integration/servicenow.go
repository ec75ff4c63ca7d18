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

// serviceNowTracker implements tracker with ServiceNow's Table API.
type serviceNowTracker struct {
	*apiClient
	set   *settings
	table string
}

func (s *Service) newServiceNow(set *settings) *serviceNowTracker {
	header := http.Header{}
	if token := set.secrets["token"]; token != "" {
		header.Set("Authorization", "Bearer "+token)
	} else {
		req := http.Request{Header: header}
		req.SetBasicAuth(set.text("username"), set.secrets["password"])
	}
	return &serviceNowTracker{
		apiClient: s.newAPIClient(set, set.text("url"), header, serviceNowErrorText),
		set:       set,
		table:     set.text("table"),
	}
}

func serviceNowErrorText(b []byte) string {
	var body struct {
		Error struct {
			Message string `json:"message"`
			Detail  string `json:"detail"`
		} `json:"error"`
	}
	if json.Unmarshal(b, &body) != nil {
		return ""
	}
	return strings.TrimSuffix(body.Error.Message+": "+body.Error.Detail, ": ")
}

// snRecord is a ServiceNow record with its values as stored in the database, where times are in UTC.
type snRecord struct {
	SysID  string `json:"sys_id"`
	Number string `json:"number"`
	State  string `json:"state"`
	Active string `json:"active"`
	Due    string `json:"due_date"`
}

var (
	snFields    = "sys_id,number,state,active,due_date"
	snIDPattern = lazyregexp.New(`^[0-9a-f]{32}$`)
)

func (s *serviceNowTracker) recordPath(id string) string {
	if id != "" {
		id = "/" + url.PathEscape(id)
	}
	return "/api/now/table/" + s.table + id
}

func (s *serviceNowTracker) withDefaultParams(extra url.Values) url.Values {
	q := url.Values{"sysparm_fields": {snFields}, "sysparm_display_value": {"false"}, "sysparm_exclude_reference_link": {"true"}}
	for k, v := range extra {
		q[k] = v
	}
	return q
}

func (s *serviceNowTracker) toIssue(r *snRecord) *issue {
	return &issue{
		id: r.SysID, key: r.Number, url: s.base + "/nav_to.do?uri=" + url.QueryEscape(s.table+".do?sys_id="+r.SysID),
		IssueSide: api.IssueSide{Closed: r.State == s.set.text("closed_state") || r.Active == "false", DueDate: parseDay(r.Due)},
	}
}

func (s *serviceNowTracker) checkAccess(ctx context.Context) (string, error) {
	var found struct {
		Result []snRecord `json:"result"`
	}
	if _, err := s.doJSON(
		ctx,
		http.MethodGet,
		s.recordPath(""),
		s.withDefaultParams(url.Values{"sysparm_limit": {"1"}}),
		nil,
		&found,
	); err != nil {
		return "", err
	}
	return "the table " + s.table + " is readable", nil
}

// forEachRecord calls each for every result of a query.
func (s *serviceNowTracker) forEachRecord(ctx context.Context, query string, each func(*issue)) error {
	for page := range maxPages {
		var found struct {
			Result []snRecord `json:"result"`
		}
		params := s.withDefaultParams(url.Values{
			"sysparm_query": {query}, "sysparm_limit": {strconv.Itoa(pageSize)}, "sysparm_offset": {strconv.Itoa(page * pageSize)},
		})
		if _, err := s.doJSON(ctx, http.MethodGet, s.recordPath(""), params, nil, &found); err != nil {
			return err
		}
		for i := range found.Result {
			if snIDPattern.MatchString(found.Result[i].SysID) {
				each(s.toIssue(&found.Result[i]))
			}
		}
		if len(found.Result) < pageSize {
			return nil
		}
	}
	return errTooMany
}

func (s *serviceNowTracker) findByMarker(ctx context.Context, marker string, _ time.Time) (out *issue, err error) {
	err = s.forEachRecord(ctx, "correlation_id="+marker+"^ORDERBYsys_created_on", func(i *issue) {
		if out == nil {
			out = i
		}
	})
	return out, err
}

func (s *serviceNowTracker) forEachOwnChanged(ctx context.Context, since time.Time, each func(*issue)) error {
	return s.forEachRecord(
		ctx,
		"correlation_idSTARTSWITH"+markerPrefix+"^sys_updated_on>="+since.UTC().Format(time.DateTime)+"^ORDERBYsys_updated_on",
		each,
	)
}

func (s *serviceNowTracker) findIssueByID(ctx context.Context, id string) (*issue, error) {
	var found struct {
		Result snRecord `json:"result"`
	}
	_, err := s.doJSON(ctx, http.MethodGet, s.recordPath(id), s.withDefaultParams(nil), nil, &found)
	if isNotFoundOrGone(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return s.toIssue(&found.Result), nil
}

func (s *serviceNowTracker) createIssue(ctx context.Context, d *issueDraft) (*issue, error) {
	body := jsonObject{}
	for name, value := range s.set.pairs("fields") {
		body[name] = value
	}
	body["short_description"], body["description"] = truncateLine(d.title, 160), strings.Join(d.lines, "\n\n")
	body["correlation_id"], body["correlation_display"] = d.marker, "service"
	if d.due != nil {
		body["due_date"] = string(*d.due) + " 00:00:00"
	}
	var created struct {
		Result snRecord `json:"result"`
	}
	if _, err := s.doJSON(ctx, http.MethodPost, s.recordPath(""), s.withDefaultParams(nil), body, &created); err != nil {
		return nil, err
	}
	if !snIDPattern.MatchString(created.Result.SysID) {
		return nil, errNoIssue
	}
	return s.toIssue(&created.Result), nil
}

func (s *serviceNowTracker) updateIssue(ctx context.Context, now *issue, c issueChange) error {
	body := jsonObject{}
	if c.due != nil {
		body["due_date"] = string(*c.due) + " 00:00:00"
	}
	if c.closed != nil {
		body["state"] = s.set.text("open_state")
		if *c.closed {
			body["close_notes"] = "Closed in the plan of action."
			for name, value := range s.set.pairs("close_fields") {
				body[name] = value
			}
			body["state"] = s.set.text("closed_state")
		}
	}
	var changed struct {
		Result snRecord `json:"result"`
	}
	if _, err := s.doJSON(ctx, http.MethodPatch, s.recordPath(now.id), s.withDefaultParams(nil), body, &changed); err != nil {
		return err
	}
	// A business rule of the table may silently keep the state.
	if got := s.toIssue(&changed.Result); c.closed != nil && changed.Result.SysID != "" && got.Closed != *c.closed {
		return fmt.Errorf(
			"%s accepted the change but is now in state %q; check open_state, closed_state and close_fields",
			now.key,
			changed.Result.State,
		)
	}
	return nil
}
