package web

import (
	"net/http"

	"github.com/scf-service/service/api"
)

// unsubscriber serves /unsubscribe?token=…, which ends a user's daily email without signing in.
type unsubscriber struct{ Options }

// askToConfirm shows a page with a confirmation button, because mail scanners open the links they find.
func (unsubscriber) askToConfirm(w http.ResponseWriter, r *http.Request) {
	writeUnsubscribePage(w, http.StatusOK, view{
		Title: "Daily email",
		Text:  "Overdue remediations in each of your organizations.",
		Token: r.URL.Query().Get("token"),
	})
}

// unsubscribe handles the confirmation button, and the one-click requests of mail programs.
func (u unsubscriber) unsubscribe(w http.ResponseWriter, r *http.Request) {
	err := u.Unsubscribe(r.Context(), r.URL.Query().Get("token"))
	switch e := api.AsError(err); {
	case err == nil:
		writeUnsubscribePage(w, http.StatusOK, view{
			Title: "Unsubscribed",
			Text: "You will no longer receive the daily email about overdue remediations. To turn it on again, use `service " +
				"email preferences --digest`.",
		})
	case e.Code == api.CodeInternal:
		u.Logger.Warn("unsubscribing a user failed", "error", err)
		writeUnsubscribePage(w, http.StatusInternalServerError, view{Title: "Something went wrong", Text: "Try again later."})
	default:
		writeUnsubscribePage(w, e.HTTPStatus(), view{Title: "Invalid link", Text: e.Message})
	}
}

func writeUnsubscribePage(w http.ResponseWriter, status int, v view) {
	h := w.Header()
	setSecurityHeaders(h, contentPolicy+"'self'") // the page posts to itself
	h.Set("Referrer-Policy", "same-origin")       // otherwise browsers send the form with "Origin: null"
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_ = linkTemplates()["unsubscribe.html"].Execute(w, v)
}
