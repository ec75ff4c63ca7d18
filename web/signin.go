package web

import (
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/scf-service/service/api"
)

// signInPage holds the data for the sign-in page.
type signInPage struct {
	Email string
	// Next is the page to show after signing in, relative to the start page.
	Next string
	// Kept holds the fields of a form that was submitted after the session had ended.
	Kept []keptField
}

// keptField is a field of a form that is submitted again after signing in.
type keptField struct{ Name, Value string }

// keptPrefix is the prefix of the names of fields from a form that was submitted after the session had ended.
const keptPrefix = "kept."

// askToSignIn redirects to the sign-in page, which preserves the fields of a submitted form.
func (v *visit) askToSignIn() error {
	v.me = nil
	if v.r.Method != http.MethodPost {
		to := "sign-in"
		if here := localTarget(v.here()); here != "" {
			to += "?" + url.Values{"next": {here}}.Encode()
		}
		return v.redirect(to)
	}
	page := signInPage{Next: localTarget(v.here())}
	for _, name := range slices.Sorted(maps.Keys(v.r.PostForm)) {
		for _, value := range v.r.PostForm[name] {
			if name != tokenField {
				page.Kept = append(page.Kept, keptField{name, value})
			}
		}
	}
	v.status, v.complaint = http.StatusUnauthorized, "Your session has ended. Sign in again to continue; your entries have been kept."
	return v.render("sign-in.html", "Sign in", page)
}

func (v *visit) showSignIn() error {
	if yes, err := v.isNew(); err != nil {
		return err
	} else if yes {
		return v.redirect("first-run")
	}
	return v.render("sign-in.html", "Sign in", signInPage{Next: localTarget(v.r.URL.Query().Get("next"))})
}

func (v *visit) signIn() error {
	page := signInPage{Email: v.field("email"), Next: localTarget(v.field("next"))}
	for _, name := range slices.Sorted(maps.Keys(v.r.PostForm)) {
		if field, ok := strings.CutPrefix(name, keptPrefix); ok {
			page.Kept = append(page.Kept, keptField{field, v.r.PostForm.Get(name)})
		}
	}
	var in api.SignInInput
	in.Body.Email, in.Body.Password = page.Email, v.r.PostForm.Get("password")
	if _, err := do(v, api.SignIn, &in); err != nil {
		return v.complain(err, func() error { return v.render("sign-in.html", "Sign in", page) })
	}
	if len(page.Kept) > 0 {
		return v.render("resume.html", "Continue", page)
	}
	return v.redirect(page.Next)
}

func (v *visit) signOut() error {
	if _, err := do(v, api.SignOut, &api.None{}); err != nil {
		return err
	}
	return v.redirect("sign-in")
}

// signOutEverywhere ends all sessions of the visitor, in all browsers and programs.
func (v *visit) signOutEverywhere() error {
	if _, err := do(v, api.SignOutEverywhere, &api.None{}); err != nil {
		return err
	}
	return v.redirect("sign-in")
}

// linkSecret returns the secret of a one-time link. The user may have pasted the whole link or only its secret.
func linkSecret(pasted string) string {
	if _, secret, ok := strings.Cut(pasted, "#"); ok {
		return secret
	}
	return pasted
}
