package web

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/base64"
	"errors"
	"fmt"
	"html/template"
	"mime/multipart"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/client"
)

// visit is one request for a page.
type visit struct {
	*Site
	w       http.ResponseWriter
	r       *http.Request
	session string
	client  *client.Client
	// me and organizations are nil unless the visitor is signed in.
	me            *api.Me
	organizations []api.MyOrganization
	status        int
	// files are the parts of a form with files, after its token; nil for other forms.
	files *multipart.Reader
	// complaint states why the form on the page was rejected; notice confirms an action.
	complaint, notice string
	// tabs are links to related pages.
	tabs []link
	// live is the URL of the event stream that announces changes to the page. busy is set while changes are
	// expected.
	live string
	busy bool
	// sent is set once a response has been sent.
	sent bool
	// policy is added to the content security policy of the page.
	policy string
	// title replaces the title of a panel.
	title string
}

// maxFormBytes is the maximum size of a form.
const maxFormBytes = 256 << 10

// newVisit returns the visit for a request, with a client that acts as the visitor.
func (s *Site) newVisit(w http.ResponseWriter, r *http.Request) (*visit, error) {
	v := &visit{Site: s, w: w, r: r, session: sessionOf(r, cmp.Or(s.SessionCookie, api.SessionCookie)), status: http.StatusOK}
	var err error
	v.client, err = v.clientIn("")
	return v, err
}

// clientIn returns a client that acts in an organization, or in the active one if it is "".
func (v *visit) clientIn(organization string) (*client.Client, error) {
	if v.Transport != nil {
		return client.New(client.Options{Transport: v.Transport, Organization: organization})
	}
	return client.New(client.Options{
		Transport: client.InMemoryTransport(v.Calls(v.w, v.r)), Session: v.session, Organization: organization,
		SessionChanged: func(token string, _ time.Time) { v.session = token },
	})
}

// sessionOf returns the session in the request's cookie, or "" if there is none or there are several that
// differ.
func sessionOf(r *http.Request, name string) string {
	session := ""
	for _, c := range r.CookiesNamed(name) {
		if session != "" && c.Value != session {
			return ""
		}
		session = c.Value
	}
	return session
}

// public returns the handler of a page that anyone may see.
func (s *Site) public(show func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.newVisit(w, r)
		if err == nil {
			err = v.readForm()
		}
		if err == nil {
			err = show(v)
		}
		if err != nil {
			s.WriteError(w, r, api.AsError(err))
		}
	})
}

// signedIn returns the handler of a page for signed-in users. Other visitors are asked to sign in; afterwards,
// they get the page that they requested, or the form that they submitted is sent again.
func (s *Site) signedIn(show func(*visit) error) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		v, err := s.newVisit(w, r)
		if err == nil {
			err = v.readForm()
		}
		if err == nil {
			err = v.identify()
		}
		if err == nil && r.Method == http.MethodPost {
			err = v.checkToken()
		}
		if err == nil {
			err = show(v)
		}
		switch {
		case api.IsCode(err, api.CodeUnauthorized):
			if err := v.askToSignIn(); err != nil {
				s.WriteError(w, r, api.AsError(err))
			}
		case err != nil:
			s.WriteError(w, r, api.AsError(err))
		}
	})
}

// identify loads the visitor's account and organizations.
func (v *visit) identify() (err error) {
	ctx := v.r.Context()
	if v.me, err = v.client.Me(ctx); err != nil {
		return err
	}
	if err := v.CountView(v.w, v.r, v.me.User.ID); err != nil {
		return err
	}
	if v.organizations, err = v.client.MyOrganizations(ctx); err != nil {
		return err
	}
	if id := v.me.OrganizationID; id != nil {
		v.client, err = v.clientIn(*id)
	}
	return err
}

// may reports whether the visitor has a permission in the active organization.
func (v *visit) may(p api.Permission) bool {
	return slices.Contains(v.me.Permissions, p)
}

// readForm reads the form of a POST request.
func (v *visit) readForm() error {
	if v.r.Method != http.MethodPost {
		return nil
	}
	if isFiles, err := v.readFilesForm(); isFiles {
		return err
	}
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxFormBytes)
	err := v.r.ParseForm()
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return api.TooLarge("form", "the form is larger than %d kB; shorten the text", maxFormBytes>>10)
	case err != nil:
		return api.Invalid("", "the submitted form can't be read: %v", err)
	}
	return nil
}

// field returns a field of the form, without surrounding space and with line feeds as the only line breaks.
func (v *visit) field(name string) string {
	return strings.TrimSpace(strings.ReplaceAll(v.r.PostForm.Get(name), "\r\n", "\n"))
}

// tokenField is the form field with the token that proves that a form comes from a page of this session.
const tokenField = "csrf"

// formToken returns the token for the forms of the session. It is masked differently each time, so that the size of
// compressed pages doesn't reveal it.
func (v *visit) formToken() string {
	mask := make([]byte, sha256.Size)
	_, _ = rand.Read(mask) //nolint:forbidigo // a mask is random; Read never returns an error
	want := v.expectedToken()
	subtle.XORBytes(want, want, mask)
	return base64.RawURLEncoding.EncodeToString(append(mask, want...))
}

// expectedToken returns the token of the session's forms, before it is masked.
func (v *visit) expectedToken() []byte {
	sum := sha256.Sum256([]byte("form of " + v.session))
	return sum[:]
}

// checkToken rejects a form that doesn't come from a page of this session.
func (v *visit) checkToken() error {
	given, err := base64.RawURLEncoding.DecodeString(v.r.PostForm.Get(tokenField))
	if err == nil && len(given) == 2*sha256.Size {
		subtle.XORBytes(given[:sha256.Size], given[:sha256.Size], given[sha256.Size:])
		if subtle.ConstantTimeCompare(given[:sha256.Size], v.expectedToken()) == 1 {
			return nil
		}
	}
	return api.Forbidden("the form was not sent from a page of this session; go back, reload the page and try again")
}

// root returns the relative URL of the start page: "./", or "../" once for each folder in the path.
func root(r *http.Request) string {
	return cmp.Or(strings.Repeat("../", max(0, strings.Count(r.URL.Path, "/")-1)), "./")
}

// redirect redirects the browser to a page, given by its URL relative to the start page.
func (v *visit) redirect(to string) error {
	to = root(v.r) + to
	h := v.w.Header()
	h.Set("Location", to)
	h.Set("Cache-Control", "no-store")
	h.Set("Content-Type", "text/html; charset=utf-8")
	v.sent = true
	v.w.WriteHeader(http.StatusSeeOther)
	_, err := fmt.Fprintf(v.w, "<a href=\"%s\">Continue</a>\n", template.HTMLEscapeString(to))
	return err
}

// localTarget returns a page's URL relative to the start page, or "" if target is not a page of this site.
// Links must not redirect visitors to other sites.
func localTarget(target string) string {
	u, err := url.Parse(target)
	if err != nil || u.IsAbs() || u.Host != "" || u.User != nil || len(target) > 2000 || strings.ContainsAny(target, "\\\r\n\t") ||
		strings.HasPrefix(target, "/") || strings.Contains(u.Path, "//") || strings.Contains(u.Path, "..") {
		return ""
	}
	return target
}

// here returns the request's URL relative to the start page.
func (v *visit) here() string {
	return strings.TrimPrefix(v.r.URL.RequestURI(), "/")
}

// frame holds the data that every page shows.
type frame struct {
	Title, Root, Token, Notice, Complaint string
	// User is the name of the visitor, or "" if nobody is signed in.
	User          string
	Organization  string
	Organizations []api.MyOrganization
	// Here is the URL of the page.
	Here      string
	Nav, Tabs []link
	// Live is the URL of the event stream that announces changes to the page. Busy is set while changes are
	// expected.
	Live string
	Busy bool
	// Reload is set if the page should reload itself.
	Reload bool
	// Local is set for the local user of this machine, who has no account.
	Local bool
	Page  any
}

// formInFrame is a form, with the data of the page that contains it.
type formInFrame struct {
	Form  form
	Frame *frame
}

// Form returns the template data of a form.
func (f *frame) Form(x form) formInFrame { return formInFrame{x, f} }

// Target returns the URL that a form is submitted to.
func (f *frame) Target(x form) string {
	if x.To != "" {
		return f.Root + x.To
	}
	return f.Root + f.Here
}

// render executes a template and sends the page.
func (v *visit) render(name, title string, page any) error {
	f := frame{
		Title: title, Root: root(v.r), Token: v.formToken(), Notice: v.notice, Complaint: v.complaint, Page: page,
		Here: strings.TrimPrefix(v.r.URL.Path, "/"), Live: v.live, Busy: v.busy, Local: v.IsLocal, Tabs: v.tabs,
	}
	if v.me != nil {
		f.Nav = v.nav()
		f.User, f.Organizations = cmp.Or(v.me.User.Name, v.me.User.Email), v.organizations
		if v.me.Organization != nil {
			f.Organization = *v.me.Organization
		}
	}
	return writePage(v.w, v.status, name, v.policy, &f)
}

// nav returns the links to the main pages that the visitor may see.
func (v *visit) nav() []link {
	out := []link{{Text: "Home"}, {Text: "Search", Href: "search"}, {Text: "Catalog", Href: "catalog"}, {Text: "Jobs", Href: "jobs"}}
	if v.may("audit:read") {
		out = append(out, link{Text: "Activity", Href: "activity"})
	}
	out = append(out, link{Text: "Settings", Href: "settings"})
	if v.me.User.PlatformAdmin {
		out = append(out, link{Text: "Admin", Href: "admin/users"})
	}
	here, _, _ := strings.Cut(strings.TrimPrefix(v.r.URL.Path, "/"), "/")
	for i := range out {
		first, _, _ := strings.Cut(out[i].Href, "/")
		out[i].Current = first == here
	}
	return out
}

// writePage executes a template and writes the response.
func writePage(w http.ResponseWriter, status int, name, policy string, f *frame) error {
	var b bytes.Buffer
	if err := templates()[name].Execute(&b, f); err != nil {
		return err
	}
	h := w.Header()
	setSecurityHeaders(h, policy+contentPolicy+"'self'")
	h.Set("Referrer-Policy", "same-origin") // otherwise browsers submit forms with "Origin: null"
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Cache-Control", "no-store") // so that the back button shows nothing after signing out
	w.WriteHeader(status)
	_, _ = w.Write(b.Bytes())
	return nil
}

// refuse shows the page again, with the reason why its form was rejected. Errors that the visitor can't fix by
// changing the input are returned.
func (v *visit) refuse(err error, show func() error) error {
	if api.IsCode(err, api.CodeUnauthorized) || api.IsCode(err, api.CodeNotFound) {
		return err
	}
	return v.complain(err, show)
}

// complain shows the page again with an error. An internal error is returned instead.
func (v *visit) complain(err error, show func() error) error {
	e := api.AsError(err)
	if e.Code == api.CodeInternal {
		return err
	}
	v.status, v.complaint, v.notice = e.HTTPStatus(), sentence(e.Message), ""
	return show()
}

var errorTitles = map[int]string{
	http.StatusBadRequest:            "This action is not possible",
	http.StatusUnauthorized:          "Not signed in",
	http.StatusForbidden:             "Not allowed",
	http.StatusNotFound:              "Not found",
	http.StatusConflict:              "Not possible now",
	http.StatusRequestEntityTooLarge: "Too large",
	http.StatusMisdirectedRequest:    "Unknown address",
	http.StatusTooManyRequests:       "Too many requests",
	http.StatusInternalServerError:   "Something went wrong",
}

// problem holds the data for the error page.
type problem struct{ Text, TraceID string }

// WriteError shows an error as a page.
func (s *Site) WriteError(w http.ResponseWriter, r *http.Request, e *api.Error) {
	status := e.HTTPStatus()
	text := sentence(e.Message)
	if e.Code == api.CodeInternal && r.Context().Err() == nil { // but not if the visitor has already left the page
		s.Logger.Error("a page failed", "path", r.URL.Path, "error", errors.Join(e, e.Unwrap()))
	}
	if status == http.StatusNotFound {
		text = "This page does not exist, or you don't have access to it."
	}
	f := frame{
		Title: cmp.Or(errorTitles[status], "This action is not possible"), Root: root(r),
		Page: problem{text, cmp.Or(e.TraceID, w.Header().Get(api.TraceHeader))},
	}
	if err := writePage(w, status, "error.html", "", &f); err != nil {
		http.Error(w, text, status)
	}
}

// WriteStopping responds to requests while the service is stopping. The page reloads itself until the service
// is back.
func WriteStopping(w http.ResponseWriter, r *http.Request) {
	f := frame{
		Title: "Restarting", Root: root(r), Reload: r.Method == http.MethodGet,
		Page: problem{Text: "The service is restarting. If you submitted a form, nothing was changed; go back and submit it again."},
	}
	if err := writePage(w, http.StatusServiceUnavailable, "error.html", "", &f); err != nil {
		http.Error(w, f.Title, http.StatusServiceUnavailable)
	}
}

// do calls an operation on behalf of the visitor.
func do[I, O any](v *visit, op api.Op[I, O], in *I) (*O, error) {
	return client.Do(v.r.Context(), v.client, op, in)
}

// call calls an operation whose result is not needed.
func call[I, O any](v *visit, op api.Op[I, O], in *I) error {
	_, err := do(v, op, in)
	return err
}

// all returns all records of a list, which it reads page by page.
func all[I, T any](v *visit, op api.Op[I, api.List[T]], in *I) ([]T, error) {
	paged, _ := any(in).(interface{ SetPaging(api.Paging) })
	return client.AllPages(v.r.Context(), func(cursor string) (*api.List[T], error) {
		paged.SetPaging(api.Paging{Limit: api.MaxListLimit, Cursor: cursor})
		return do(v, op, in)
	})
}
