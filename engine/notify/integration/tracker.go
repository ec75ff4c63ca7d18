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

// tracker is a tool that keeps issues.
type tracker interface {
	// checkAccess tells what can be reached, or what is missing.
	checkAccess(ctx context.Context) (string, error)
	// findByMarker is the issue that was made with a marker since then; nil where there is none.
	findByMarker(ctx context.Context, marker string, since time.Time) (*issue, error)
	createIssue(ctx context.Context, d *issueDraft) (*issue, error)
	// getIssue is an issue as it is now; nil where it was deleted.
	getIssue(ctx context.Context, id string) (*issue, error)
	updateIssue(ctx context.Context, now *issue, c issueChange) error
	// forEachChanged calls each for the issues of ours that were changed since then.
	forEachChanged(ctx context.Context, since time.Time, each func(*issue)) error
}

// issueDraft is an issue to make.
type issueDraft struct {
	marker, title string
	lines         []string
	due           *api.Date
}

// issue is what a tool tells of one.
type issue struct {
	id, key, url string
	api.IssueSide
	body string // where the tool has no other place for the due date
}

// issueChange is what an issue is to become; nil: stays.
type issueChange struct {
	closed *bool
	due    *api.Date
}

// markerPrefix begins the marker of each issue, by which it is found again.
const markerPrefix = "service-poam-"

// pages bounds what is read of a list, in pages of a hundred.
const (
	maxPages = 50
	pageSize = 100
)

var errTooMany = fmt.Errorf("more than %d issues changed; the rest is looked at the next time", maxPages*pageSize)

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

// parseDay is the day of a time as a tool writes it; nil where it is none.
func parseDay(text string) *api.Date {
	text, _, _ = strings.Cut(strings.TrimSpace(text), " ")
	text, _, _ = strings.Cut(text, "T")
	d := api.Date(text)
	if _, err := d.Time(); err != nil {
		return nil
	}
	return &d
}

// firstTextField finds the first text under one of the names in a JSON object.
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

// errNoIssue is for answers to a creation that name no issue.
var errNoIssue = errors.New("it took the issue, and did not say which it is")
