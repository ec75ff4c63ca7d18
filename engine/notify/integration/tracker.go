package integration

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/scf-service/service/api"
)

// tracker is an issue tracker.
type tracker interface {
	// checkAccess describes what can be accessed, or returns an error that says what is missing.
	checkAccess(ctx context.Context) (string, error)
	// findByMarker returns the issue created with a marker since the given time, or nil.
	findByMarker(ctx context.Context, marker string, since time.Time) (*issue, error)
	createIssue(ctx context.Context, d *issueDraft) (*issue, error)
	// findIssueByID returns the current state of the issue with the tracker's own ID, or nil if it was deleted.
	findIssueByID(ctx context.Context, id string) (*issue, error)
	updateIssue(ctx context.Context, now *issue, c issueChange) error
	// forEachOwnChanged calls each for the issues that this program created and that have changed since the given time.
	forEachOwnChanged(ctx context.Context, since time.Time, each func(*issue)) error
}

// issueDraft is an issue to create.
type issueDraft struct {
	marker, title string
	lines         []string
	due           *api.Date
}

// issue is an issue as returned by a tracker.
type issue struct {
	id, key, url string
	api.IssueSide
	body string // set if the tool keeps the due date in the body
}

// issueChange is a change to make to an issue. Nil fields are left unchanged.
type issueChange struct {
	closed *bool
	due    *api.Date
}

// markerPrefix is the first part of the marker by which an issue can be found again.
const markerPrefix = "service-poam-"

// Limits when listing issues: the number of pages, and the number of issues per page.
const (
	maxPages = 50
	pageSize = 100
)

var errTooMany = fmt.Errorf("more than %d issues changed; the remaining changes will be processed in the next run", maxPages*pageSize)

func (s *Service) newTracker(set *settings) (tracker, error) {
	switch set.Type {
	case "jira":
		return s.newJira(set), nil
	case "github":
		return s.newGitHub(set), nil
	case "servicenow":
		return s.newServiceNow(set), nil
	}
	return nil, fmt.Errorf("%s has no issues", set.Type)
}

// parseDay returns the date of a timestamp from a tool, or nil if text is not a timestamp.
func parseDay(text string) *api.Date {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	text, _, _ = strings.Cut(text, "T")
	d := api.Date(text)
	if _, err := d.Time(); err != nil {
		return nil
	}
	return &d
}

// firstTextField returns the first string in a JSON object that has one of the given names.
func firstTextField(b []byte, names ...string) string {
	var all map[string]json.RawMessage
	if json.Unmarshal(b, &all) != nil {
		return ""
	}
	for _, name := range names {
		var text string
		if json.Unmarshal(all[name], &text) == nil && text != "" {
			return text
		}
	}
	return ""
}

// errNoIssue reports that the response to creating an issue doesn't identify the new issue.
var errNoIssue = errors.New("the tool accepted the issue but didn't return its ID")
