// Package web serves the daemon's pages to browsers: sign-in, pending work, the deliverables of an assessment,
// approvals, and the API reference. Like any other front end, the pages call the API's operations through the
// client, and contain no domain rules.
//
// Every page can be read, and every decision made, without JavaScript. URLs are relative, so that the pages
// also work behind a proxy that adds a path.
package web

import (
	"context"
	"embed"
	"log/slog"
	"net/http"
	"time"
)

// DocsPath is the path of the API reference.
const DocsPath = "/docs"

// Options are the dependencies of the pages.
type Options struct {
	Logger *slog.Logger
	Clock  func() time.Time
	// Unsubscribe turns off the daily email for the user to whom the token was sent.
	Unsubscribe func(ctx context.Context, token string) error
	// Calls returns the handler for the operations that a page calls in response to r. The cookies that they
	// set are added to w.
	Calls func(w http.ResponseWriter, r *http.Request) http.Handler
	// Transport, if set, carries the operations instead.
	Transport http.RoundTripper
	// SessionCookie is the name of the session cookie, if it isn't api.SessionCookie.
	SessionCookie string
	// FirstRun creates the first organization; nil if that isn't possible in the browser.
	FirstRun *FirstRun
	// CountView counts a page view of a user, and returns an error if there have been too many.
	CountView func(w http.ResponseWriter, r *http.Request, userID string) error
	// CountFile does the same for a file that a user uploads.
	CountFile func(w http.ResponseWriter, r *http.Request, userID string) error
	// BaseURL returns the URL under which the visitor reaches the pages, without a trailing slash.
	BaseURL func(r *http.Request) string
	// IsLocal is set if the visitor is the user of this machine, who needs no account.
	IsLocal bool
	// Stopping is closed when streams have to end because the process is stopping.
	Stopping <-chan struct{}
	// StreamBody lets the body of r take any time to arrive, as long as it keeps to the minimum rate.
	StreamBody func(w http.ResponseWriter, r *http.Request)
}

// Site serves the pages.
type Site struct {
	Options
	tables tableCache
}

// Router registers a handler for a pattern such as "GET /link". http.ServeMux and chi.Mux are routers.
type Router interface {
	Handle(pattern string, h http.Handler)
}

// panels are the pages that list and change records.
var panels = []*panel{
	&accountPanel, &organizationPanel, &membersPanel, &delegationsPanel, &keysPanel, &webhooksPanel, &webhookPanel, &integrationsPanel,
	&integrationPanel, &emailPanel, &templatePanel, &alertsPanel, &activityPanel, &timelinePanel, &searchPanel, &controlsPanel,
	&controlPanel, &frameworksPanel, &frameworkPanel, &requirementPanel, &crosswalkPanel, &coveragePanel, &reportsPanel, &jobsPanel,
	&usersPanel, &tenantsPanel, &importsPanel, &newAssessmentPanel, &scopePanel,
}

//go:embed static templates
var files embed.FS

// RegisterPages adds the pages and their files to r.
//
// The secret of a one-time link and the ID of an approval follow a "#" in the address. Browsers do not
// send that part, so it appears in no log; the page's script reads it.
func RegisterPages(r Router, o Options) *Site {
	s := &Site{Options: o}
	for pattern, show := range map[string]func(*visit) error{
		"GET /":                                           (*visit).showHome,
		"POST /account/password":                          (*visit).changePassword,
		"POST /organization":                              (*visit).switchOrganization,
		"POST /sign-out":                                  (*visit).signOut,
		"POST /sign-out-everywhere":                       (*visit).signOutEverywhere,
		"GET /approvals/{id}":                             (*visit).showApproval,
		"POST /approvals/{id}":                            (*visit).decide,
		"GET /assessments/{id}/documents":                 (*visit).showDocuments,
		"POST /assessments/{id}/documents":                (*visit).uploadDocuments,
		"GET /assessments/{id}/{noun}":                    (*visit).showDeliverable,
		"GET /assessments/{id}/{noun}/{item}":             (*visit).showItem,
		"POST /assessments/{id}/{noun}/{item}":            (*visit).changeItem,
		"GET /assessments/{id}/passages/{chunk}":          (*visit).showPassage,
		"GET /assessments/{id}":                           (*visit).showAssessment,
		"POST /assessments/{id}":                          (*visit).changeAssessment,
		"POST /assessments/{id}/{noun}":                   (*visit).changeDeliverable,
		"GET /assessments/{id}/documents/{document}":      (*visit).showDocument,
		"POST /assessments/{id}/documents/{document}":     (*visit).changeDocument,
		"GET /assessments/{id}/documents/{document}/file": (*visit).downloadDocument,
		"GET /assessments/{id}/events":                    (*visit).watchAssessment,
		"GET /jobs/events":                                (*visit).watchJobs,
		"GET /reports/{id}":                               (*visit).showReport,
		"GET /reports/{id}/file":                          (*visit).downloadReport,
		"GET /activity/export":                            (*visit).exportActivity,
		"POST /admin/imports/upload":                      (*visit).importCatalog,
	} {
		r.Handle(pattern, s.signedIn(show))
	}
	for _, p := range panels {
		r.Handle("GET /"+p.path, s.signedIn(p.get))
		r.Handle("POST /"+p.path, s.signedIn(p.post))
	}
	r.Handle("GET /sign-in", s.public((*visit).showSignIn))
	r.Handle("POST /sign-in", s.public((*visit).signIn))
	r.Handle("GET /approval", s.public(func(v *visit) error { return v.render("approval.html", "Opening the decision…", nil) }))

	r.Handle("GET /first-run", s.public((*visit).showFirstRun))
	r.Handle("POST /first-run", s.public((*visit).createFirst))
	r.Handle("GET /link", s.public((*visit).showLink))
	r.Handle("POST /link", s.public((*visit).openLink))
	r.Handle("POST /link/accept", s.public((*visit).acceptLink))
	r.Handle("GET /unsubscribe", s.public((*visit).askToUnsubscribe))
	r.Handle("POST /unsubscribe", s.public((*visit).unsubscribe))

	for path, file := range map[string]struct{ name, contentType string }{
		"/static/pages.css":    {"pages.css", "text/css; charset=utf-8"},
		"/static/pages.js":     {"pages.js", "text/javascript; charset=utf-8"},
		DocsPath:               {"docs.html", "text/html; charset=utf-8"},
		DocsPath + "/page.css": {"docs.css", "text/css; charset=utf-8"},
		DocsPath + "/page.js":  {"docs.js", "text/javascript; charset=utf-8"},
	} {
		body, err := files.ReadFile("static/" + file.name)
		if err != nil {
			panic("web: " + err.Error()) // can't happen, because the file is embedded
		}
		r.Handle("GET "+path, withSecurityHeaders(NewAsset(file.contentType, body)))
	}
	return s
}
