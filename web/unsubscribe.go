package web

import "github.com/scf-service/service/api"

// unsubscribePage holds the data for the page that turns off the daily email. Token is "" if there is nothing
// to confirm.
type unsubscribePage struct{ Text, Token string }

// askToUnsubscribe shows a page with a confirmation button, because email scanners open the links they find.
func (v *visit) askToUnsubscribe() error {
	return v.render("unsubscribe.html", "Daily email",
		unsubscribePage{"The daily email lists overdue remediations in each of your organizations.", v.r.URL.Query().Get("token")})
}

// unsubscribe handles the confirmation button, and the one-click requests of mail programs.
func (v *visit) unsubscribe() error {
	err := v.Unsubscribe(v.r.Context(), v.r.URL.Query().Get("token"))
	if err == nil {
		return v.render("unsubscribe.html", "Unsubscribed", unsubscribePage{Text: "You will no longer receive the daily email about overdue " +
			"remediations. To turn it on again, use `service email preferences --digest`."})
	}
	e := api.AsError(err)
	if e.Code == api.CodeInternal {
		return err
	}
	v.status = e.HTTPStatus()
	return v.render("unsubscribe.html", "Invalid link", unsubscribePage{Text: e.Message})
}
