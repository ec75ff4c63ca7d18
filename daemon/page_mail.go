package daemon

import (
	"embed"
	"html/template"
	"net/http"

	"github.com/scf-service/service/api"
)

// The pages that mails lead to. /approval#ID shows what waits for a decision and takes it,
// by the same operations as any other client; it is only as good as the session in the
// browser. /unsubscribe?token=… ends a person's daily mails without signing in.
//
//go:embed page_approval.html page_approval.js
var approvalFiles embed.FS

func (s *Server) mountApprovalPage() {
	for path, file := range map[string]struct{ name, kind string }{
		"/approval":         {"page_approval.html", "text/html; charset=utf-8"},
		"/approval/page.js": {"page_approval.js", "text/javascript; charset=utf-8"},
	} {
		content, err := approvalFiles.ReadFile(file.name)
		if err != nil {
			panic("daemon: " + err.Error()) // it is in the program
		}
		s.mountPage(path, file.kind, content)
	}
}

const unsubscribePath = "/unsubscribe"

var unsubscribeTemplate = template.Must(template.New("").Parse(`<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <meta name="robots" content="noindex">
  <title>{{.Title}} – service</title>
  <link rel="stylesheet" href="link/page.css">
</head>
<body>
  <main>
    <h1>{{.Title}}</h1>
    <p role="status">{{.Text}}</p>
    {{if .Token}}<form method="post" action="unsubscribe?token={{.Token}}"><button type="submit">Unsubscribe from the daily email</button></form>{{end}}
  </main>
</body>
</html>
`))

type unsubscribeView struct{ Title, Text, Token string }

// unsubscribePolicy lets the page post to itself.
const unsubscribePolicy = "default-src 'none'; img-src data:; style-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'"

func (s *Server) writeUnsubscribePage(w http.ResponseWriter, status int, v unsubscribeView) {
	setPageHeaders(w.Header(), "text/html; charset=utf-8", unsubscribePolicy)
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = unsubscribeTemplate.Execute(w, v)
}

// serveUnsubscribePage asks for confirmation first, because mail scanners open the links they find.
func (s *Server) serveUnsubscribePage(w http.ResponseWriter, r *http.Request) {
	s.writeUnsubscribePage(
		w,
		http.StatusOK,
		unsubscribeView{
			Title: "Daily email",
			Text:  "Overdue remediations in each of your organizations.",
			Token: r.URL.Query().Get("token"),
		},
	)
}

// handleUnsubscribe handles the button, and the one-click request of mail programs.
func (s *Server) handleUnsubscribe(w http.ResponseWriter, r *http.Request) {
	err := s.engine.Mail.Unsubscribe(r.Context(), r.URL.Query().Get("token"))
	switch e := api.AsError(err); {
	case err == nil:
		s.writeUnsubscribePage(
			w,
			http.StatusOK,
			unsubscribeView{
				Title: "Unsubscribed",
				Text: "You will no longer receive the daily email about overdue remediations. To turn it on again, use `service " +
					"email preferences --digest`.",
			},
		)
	case e.Code == api.CodeInternal:
		s.log.Warn("unsubscribing a user failed", "error", err)
		s.writeUnsubscribePage(w, http.StatusInternalServerError, unsubscribeView{Title: "Something went wrong", Text: "Try again later."})
	default:
		s.writeUnsubscribePage(w, e.HTTPStatus(), unsubscribeView{Title: "Invalid link", Text: e.Message})
	}
}
