package cli

import (
	"bytes"
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/daemon"
	"github.com/scf-service/service/engine/enginetest"
	"github.com/scf-service/service/examples/harbor"
	"github.com/scf-service/service/internal/testutil/longtest"
)

const (
	adaEmail    = "ada@acme.example"
	adaPassword = "correct horse battery"
	boPassword  = "staple correct horse"
)

// site is a real server on a loopback address, with the organization Acme and its owner Ada, who is a platform
// admin.
type site struct {
	url string
	// mu protects seen, the headers of the requests received.
	mu   sync.Mutex
	seen []http.Header
}

func newSite(t *testing.T) *site { return newSiteWith(t, nil) }

func newSiteWith(t *testing.T, limits map[api.RateCategory]int) *site {
	t.Helper()
	e := enginetest.New(t)
	if _, err := e.Identity.EnsureAdminWithEmail(t.Context(), "Acme", adaEmail, adaPassword); err != nil {
		t.Fatal(err)
	}
	s, err := daemon.New(
		daemon.Options{Engine: e, Logger: enginetest.WarningLogger(), Clock: time.Now, NewID: enginetest.NewID, RateLimits: limits},
	)
	if err != nil {
		t.Fatal(err)
	}
	out := &site{}
	web := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		out.mu.Lock()
		out.seen = append(out.seen, r.Header.Clone())
		out.mu.Unlock()
		s.Handler().ServeHTTP(w, r)
	}))
	t.Cleanup(web.Close)
	out.url = web.URL
	return out
}

func (s *site) host() string { return strings.TrimPrefix(s.url, "http://") }

// desk is a user's machine, with its own home folder and environment.
type desk struct {
	*testing.T
	home  string
	env   map[string]string
	ring  contexts.Keyring
	typed []string
}

func newDesk(t *testing.T) *desk {
	return &desk{T: t, home: t.TempDir(), env: map[string]string{}}
}

func (d *desk) dir() string { return filepath.Join(d.home, ".config", "service") }

// runs runs the program with the given stdin, and checks its exit code and that its output contains each of the given
// texts.
func (d *desk) runs(code int, stdin string, args []string, says ...string) result {
	d.Helper()
	var out, errOut bytes.Buffer
	var lock sync.Mutex
	d.env["HOME"] = d.home
	got := Main(d.Context(), args, Options{
		Connect: func(_ context.Context, t Target) (*client.Client, func() error, error) {
			if t.Server == "" {
				return nil, nil, errors.New("the data folder was asked")
			}
			c, err := client.New(
				client.Options{
					BaseURL:        t.Server,
					Token:          t.Token,
					Session:        t.Session,
					SessionChanged: t.OnSessionChange,
					PlainHTTP:      t.InsecureHTTP,
					Organization:   t.Organization,
				},
			)
			return c, func() error { return nil }, err
		},
		ReadPassword: d.answer(), Keyring: d.ring, Interactive: true,
		Stdin: strings.NewReader(
			stdin,
		), Stdout: &out, Stderr: &locked{w: &errOut, mu: &lock}, Env: func(k string) string { return d.env[k] },
		Version: "1.2.3", Clock: time.Now, StateDir: filepath.Join(d.home, "state"), DemoEvidence: harbor.Evidence(),
	})
	lock.Lock()
	defer lock.Unlock()
	if got != code {
		d.Fatalf("%q: exit %d, want %d\nstdout: %s\nstderr: %s", args, got, code, &out, &errOut)
	}
	for _, word := range says {
		if !strings.Contains(out.String()+errOut.String(), word) {
			d.Errorf("%q: nothing says %q\nstdout: %s\nstderr: %s", args, word, &out, &errOut)
		}
	}
	return result{got, out.String(), errOut.String()}
}

// answer returns a password prompt that is answered with the entries of typed, or nil if typed is nil.
func (d *desk) answer() func(context.Context, string) (string, error) {
	if d.typed == nil {
		return nil
	}
	return func(context.Context, string) (string, error) {
		if len(d.typed) == 0 {
			return "", errors.New("nobody types any more")
		}
		next := d.typed[0]
		d.typed = d.typed[1:]
		return next, nil
	}
}

func words(s string) []string { return strings.Fields(s) }

// signIn signs Ada in.
func (d *desk) signIn(s *site, more ...string) result {
	d.Helper()
	return d.runs(
		0,
		adaPassword+"\n",
		append([]string{"login", s.url, "--email", adaEmail, "--password-stdin"}, more...),
		"Signed in to "+s.url,
	)
}

// files returns the contents of all files at the desk, by path.
func (d *desk) files() map[string]string {
	out := map[string]string{}
	err := filepath.WalkDir(d.home, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		b, err := os.ReadFile(path)
		out[path] = string(b)
		return err
	})
	if err != nil {
		d.Fatal(err)
	}
	return out
}

// secret returns the only secret stored at the desk.
func (d *desk) secret() string {
	d.Helper()
	all, err := filepath.Glob(filepath.Join(d.dir(), "secrets", "*"))
	if err != nil || len(all) != 1 {
		d.Fatalf("secrets: %v, %v", all, err)
	}
	b, err := os.ReadFile(all[0])
	if err != nil {
		d.Fatal(err)
	}
	return strings.TrimSpace(string(b))
}

func TestLogin(t *testing.T) {
	s, d := newSite(t), newDesk(t)
	d.runs(
		5,
		"wrong\n",
		words("login "+s.url+" --email "+adaEmail+" --password-stdin"),
		"wrong email address or password",
		"nothing was changed",
	)
	if len(d.files()) != 0 {
		t.Errorf("a failed sign-in left %v", d.files())
	}
	// The address is read from stdin, and the password from the terminal.
	d.typed = []string{adaPassword}
	got := d.runs(
		0,
		adaEmail+"\n",
		words("login "+s.host()),
		"email address: ",
		"Signed in to "+s.url+" as "+adaEmail,
		"Acme, as owner",
		"in a file only you can read",
	)
	secret := d.secret()
	for path, text := range d.files() {
		if strings.Contains(text, secret) && !strings.Contains(path, "secrets") || strings.Contains(text, adaPassword) {
			t.Errorf("%s holds a secret: %s", path, text)
		}
	}
	if strings.Contains(got.out+got.errOut, secret) || strings.Contains(got.out+got.errOut, adaPassword) {
		t.Error("a secret was printed")
	}
	for _, args := range []string{"context list", "context show", "context show -o json", "whoami -o json", "use"} {
		if r := d.runs(0, "", words(args)); strings.Contains(r.out+r.errOut, secret) {
			t.Errorf("%s prints the secret", args)
		}
	}
	d.runs(0, "", words("whoami"), adaEmail, s.url, "Acme, as owner", "platform admin", "until", "assessment:delete")
	d.runs(0, "", words("context list"), "*  "+s.host(), "Acme", "until ")
	d.runs(0, "", words("assess create Trial"), "Trial") // a change that is authenticated by the session cookie
	d.runs(0, "", words("assess list --jq .data[].name"), "Trial")

	// Signing in again at the same server ends the previous session.
	d.typed = []string{adaPassword}
	d.runs(0, "\n", words("login"), "["+adaEmail+"]")
	if d.secret() == secret {
		t.Error("the session is still the same")
	}
	other := newDesk(t)
	other.signIn(s)
	put(t, filepath.Join(other.dir(), "secrets", filepath.Base(onlyFile(t, filepath.Join(other.dir(), "secrets")))), secret+"\n")
	other.runs(5, "", words("whoami"), "the session has ended", "sign in again with `service login --context")

	// Signing out deletes the secret, and the server no longer accepts it.
	secret = d.secret()
	d.runs(0, "", words("logout"), "Signed out")
	for path, text := range d.files() {
		if strings.Contains(text, secret) {
			t.Errorf("%s still holds the secret", path)
		}
	}
	d.runs(5, "", words("assess list"), "not signed in", "service login --context")
	put(t, filepath.Join(other.dir(), "secrets", filepath.Base(onlyFile(t, filepath.Join(other.dir(), "secrets")))), secret+"\n")
	other.runs(5, "", words("whoami"), "the session has ended")
	d.runs(0, "", words("context delete "+s.host()+" --yes"), "Deleted the context "+s.host())
	d.runs(0, "", words("use"), "*  local")
}

func onlyFile(t *testing.T, dir string) string {
	t.Helper()
	all, err := os.ReadDir(dir)
	if err != nil || len(all) != 1 {
		t.Fatalf("%v, %v", all, err)
	}
	return all[0].Name()
}

// TestWhatCommandsUse checks that flags and variables take precedence over the context, and the context over the
// configuration file.
func TestWhatCommandsUse(t *testing.T) {
	s, d := newSite(t), newDesk(t)
	put(t, filepath.Join(d.dir(), "config.yaml"), "server: http://127.0.0.1:1\ndata: /from/file\n")
	d.runs(3, "", words("assess list"), "no answer from 127.0.0.1:1")
	d.signIn(s, "--name", "work")
	d.runs(0, "", words("assess list"))
	d.runs(3, "", words("assess list --data "+t.TempDir()), "the data folder was asked")
	d.runs(3, "", words("assess list --server http://127.0.0.1:2"), "no answer from 127.0.0.1:2")
	d.runs(3, "", words("assess list --context local"), "the data folder was asked")
	d.runs(2, "", words("assess list --context wrk"), `unknown context "wrk"; did you mean "work"?`)
	d.runs(2, "", words("assess list --context work --server http://127.0.0.1:2"), "use only one of these flags")
	d.env["SERVICE_SERVER"] = "http://127.0.0.1:3"
	d.runs(3, "", words("assess list"), "no answer from 127.0.0.1:3")
	d.runs(0, "", words("assess list --context work"))
	delete(d.env, "SERVICE_SERVER")
	d.runs(0, "", words("use local"), "data folder")
	d.runs(3, "", words("assess list"), "the data folder was asked")
	d.env["SERVICE_CONTEXT"] = "WORK"
	d.runs(0, "", words("assess list"))
	d.env["SERVICE_TOKEN"] = "service_live_nonsense"
	d.runs(5, "", words("assess list"), "invalid API key")
	d.env = map[string]string{}
	d.runs(0, "", words("use work"), "Commands now use work at "+s.url)
	d.runs(2, "", words("use wrk"), `did you mean "work"?`)
	d.runs(0, "", words("context rename work acme"), "acme")
	d.runs(0, "", words("assess list"))
	d.runs(2, "", words("context rename acme local"), "is reserved for this machine")
	d.signIn(s, "--name", "second")
	d.runs(2, "", words("context rename second ACME"), "a context named acme already exists")
	d.runs(2, "x\n", words("login http://127.0.0.1:9 --name acme --email a@b.example --password-stdin"),
		"already exists for the server "+s.url)
	// The error for a broken file names the line, and differs from the error for an unreachable server.
	put(t, filepath.Join(d.dir(), "contexts.yaml"), "currnt: acme\n")
	d.runs(2, "", words("assess list"), `line 1: unknown key "currnt"; did you mean "current"?`)
	d.runs(0, "", words("version"))
}

func TestOrganizations(t *testing.T) {
	s, d := newSite(t), newDesk(t)
	d.signIn(s)
	d.runs(0, "", words("org create Beta --owner "+adaEmail+" --slug beta-europe"), "beta-europe")
	d.runs(0, "", []string{"org", "create", "Gamma Limited", "--owner", "cy@gamma.example"}, "password", "These secrets won't be shown again")
	d.runs(0, "", words("assess create InAcme"))
	d.runs(0, "", words("--org BETA assess create InBeta"))
	d.runs(0, "", words("--org beta-europe assess list --jq .data[].name"), "InBeta")
	d.runs(0, "", words("--org beta whoami"), "Beta, as owner")
	d.runs(2, "", words("--org gamma assess list"), "none of your organizations has the ID, slug or name", "acme, beta-europe")
	d.runs(0, "", words("use --org beta"), "in Beta")
	d.runs(0, "", words("assess list --jq .data[].name"), "InBeta")
	d.runs(0, "", words("org list"), "*  Beta", "acme", "owner")
	d.runs(0, "", words("org list --all"), "gamma-limited")
	d.runs(0, "", words("org show"), "beta-europe")
	d.runs(0, "", words("org show gamma-limited"), "Gamma Limited")
	d.runs(0, "", []string{"org", "update", "--name", "Beta SE"}, "Beta SE")
	d.runs(0, "", words("org use acme"), "Commands now work in the organization Acme")
	d.runs(0, "", words("context show"), "Acme")
	// Signing in again keeps the current organization.
	d.runs(0, "", words("use --org beta-europe"))
	d.signIn(s)
	d.runs(0, "", words("whoami"), "Beta SE, as owner")
	d.signIn(s, "--org", "Acme")
	d.runs(0, "", words("whoami"), "Acme, as owner")
}

func TestPeople(t *testing.T) {
	s, ada, bo := newSite(t), newDesk(t), newDesk(t)
	ada.signIn(s)
	link := strings.TrimSpace(ada.runs(0, "", words("member invite bo@acme.example --role viewer --jq .invite_path")).out)
	page := ada.runs(0, "", words("member invite bo@acme.example --role viewer"), "This single-use link expires", s.url+"/link#")
	bo.runs(
		5,
		boPassword+"\n",
		[]string{"login", "--link", s.url + link, "--password-stdin"},
		"invalid link",
	) // the second invitation replaced this link
	_, link, _ = strings.Cut(page.out, s.url+"/link#")
	link = s.url + "/link#" + strings.TrimSpace(link)
	bo.runs(2, "short\n", []string{"login", "--link", link, "--password-stdin"}, "12")
	bo.typed = []string{boPassword, boPassword + "x"}
	bo.runs(3, "", []string{"login", "--link", link}, "the passwords don't match")
	bo.typed = []string{boPassword, boPassword}
	bo.runs(
		0,
		"",
		[]string{"login", "--link", link, "--full-name", "Bo Diddley"},
		"invitation for bo@acme.example to Acme, as viewer",
		"Acme, as viewer",
	)
	bo.runs(0, "", words("whoami"), "Bo Diddley <bo@acme.example>")
	bo.runs(5, "", words("assess create X"), `the role "viewer" doesn't include`)
	bo.runs(5, "", words("user list"), "only a platform admin")

	ada.runs(0, "", words("member list"), "Bo Diddley", "viewer")
	ada.runs(0, "", []string{"member", "update", "Bo Diddley", "--role", "admin"}, "is now admin")
	bo.runs(0, "", words("assess create X"))
	ada.runs(2, "", words("member update bo@acme.example"), "needs at least one change")
	ada.runs(2, "", words("member list --role boss"), "use one of owner, admin, approver, member, auditor, viewer")
	ada.runs(3, "", words("member remove cy@acme.example --yes"), "no member with the email address")

	// Change the password, then reset it by link.
	bo.runs(0, boPassword+"\nanother good password\n", words("password --password-stdin"), "has been changed")
	bo.runs(2, boPassword+"\nanother good password\n", words("password --password-stdin"), "wrong current password")
	page = ada.runs(0, "", words("user password-link bo@acme.example"), "The link expires on")
	_, link, _ = strings.Cut(page.out, "/link#")
	bo.runs(0, boPassword+"\n", []string{"login", s.url, "--link", strings.TrimSpace(link), "--password-stdin"}, "Signed in")

	// Ban and unban the user.
	ada.runs(2, "", words("user ban bo@acme.example"), "requires a reason")
	ada.runs(3, "n\n", words("user ban bo@acme.example --reason left"), "nothing was changed")
	ada.runs(0, "", words("user ban bo@acme.example --reason left --yes"), "is banned")
	bo.runs(5, "", words("whoami"), "sign in again")
	bo.runs(5, boPassword+"\n", words("login --email bo@acme.example --password-stdin"), "wrong email address or password")
	ada.runs(0, "", words("user list --status banned"), "left")
	ada.runs(0, "", words("user unban bo@acme.example"), "can sign in again")
	bo.runs(0, boPassword+"\n", words("login --email bo@acme.example --password-stdin"))
	ada.runs(0, "", words("member remove bo@acme.example --yes"), "has been removed")
	bo.runs(5, "", words("assess list"), "you are not a member", "service use --org")
}

func TestKeys(t *testing.T) {
	s, d := newSite(t), newDesk(t)
	d.signIn(s)
	d.runs(2, "", words("key create ci"), "at least one scope")
	d.runs(2, "", words("key create ci --scope * --expires soon"), "neither a date nor a duration")
	d.runs(2, "", words("key create ci --scope assessment:fly"), "unknown permission")
	made := d.runs(0, "", words("key create ci --scope * --expires 90d"), "The secret won't be shown again")
	key := strings.TrimSpace(made.out)
	if !strings.HasPrefix(key, "service_live_") || strings.ContainsAny(key, " \n") || strings.Contains(made.errOut, key) {
		t.Fatalf("stdout is not the key alone: %q", made.out)
	}
	d.runs(0, "", words("key list"), "ci", "active", "*")

	machine := newDesk(t)
	machine.env["SERVICE_SERVER"], machine.env["SERVICE_TOKEN"] = s.url, key
	machine.runs(0, "", words("whoami"), "the API key ci", "Acme")
	machine.runs(5, "", words("key create more --scope assessment:read"), "apikey:write")
	machine.env = map[string]string{}
	machine.runs(2, "hello\n", words("login "+s.url+" --token-stdin"), "does not contain an API key")
	machine.runs(2, key+"\n", words("login "+s.url+" --token-stdin --email x@y.example"), "more than one sign-in method")
	machine.runs(0, key+"\n", words("login "+s.url+" --token-stdin"), "Signed in", "Acme, as owner")
	machine.runs(0, "", words("assess list"))

	renewed := strings.TrimSpace(d.runs(0, "", words("key rotate ci --grace 1h"), "will keep working for 1h").out)
	machine.runs(0, "", words("assess list"))
	d.runs(0, "", words("key rotate ci"), "The old secret no longer works")
	machine.runs(5, "", words("assess list"), "invalid API key", "service login --token-stdin --context")
	if renewed == key {
		t.Error("the new secret is the old one")
	}
	d.runs(0, "", words("key revoke ci --yes"), "has been revoked")
	d.runs(3, "", words("key revoke ci --yes"), "no active API key")
	machine.runs(0, "", words("logout"), "deleted from this machine but is still valid")
}

func TestSecretsGoToTheKeyring(t *testing.T) {
	s, d := newSite(t), newDesk(t)
	ring := memoryRing{}
	d.ring = ring
	d.signIn(s, "--name", "work")
	if len(ring) != 1 {
		t.Fatalf("the keyring holds %v", ring)
	}
	if _, err := os.Stat(filepath.Join(d.dir(), "secrets")); err == nil {
		t.Error("there is a file beside the keyring")
	}
	d.runs(0, "", words("assess list"))
	d.runs(0, "", words("context rename work acme"))
	d.runs(0, "", words("assess list"))
	d.ring = nil
	d.runs(5, "", words("assess list"), "no keyring is available")
	d.ring = ring
	d.runs(0, "", words("logout"))
	if len(ring) != 0 {
		t.Errorf("the keyring still holds %v", ring)
	}
}

type memoryRing map[string]string

func (r memoryRing) Set(account, secret string) error { r[account] = secret; return nil }
func (r memoryRing) Delete(account string) error      { delete(r, account); return nil }
func (r memoryRing) Get(account string) (string, error) {
	if s, ok := r[account]; ok {
		return s, nil
	}
	return "", contexts.ErrNoSecret
}

func TestCredentialsStayAtHome(t *testing.T) {
	d := newDesk(t)
	d.runs(
		3,
		adaPassword+"\n",
		words("login http://grc.acme.example --email "+adaEmail+" --password-stdin"),
		"http:// is not allowed",
		"--insecure-http",
	)
	d.runs(3, "", words("--server http://grc.acme.example --token service_live_x assess list"), "http:// is not allowed")
	d.runs(2, "", words("login ftp://grc.acme.example"), "is not a server address")
	d.runs(2, "", words("login"), "no server given")
	d.runs(2, "", words("password"), "local data folder")

	// A redirect to another server is not followed.
	s := newSite(t)
	away := httptest.NewServer(http.RedirectHandler(s.url+"/api/auth/sign-in/email", http.StatusTemporaryRedirect))
	defer away.Close()
	d.runs(3, adaPassword+"\n", words("login "+away.URL+" --email "+adaEmail+" --password-stdin"), "redirects to "+s.url)
	if len(s.seen) != 0 {
		t.Errorf("%d requests came through", len(s.seen))
	}
}

// TestTheJobOnAServer checks that a whole assessment works on a server as it does in a local data folder.
func TestTheJobOnAServer(t *testing.T) {
	longtest.SkipUnlessEnabled(t)
	s, d := newSiteWith(t, map[api.RateCategory]int{api.RateDocuments: 0}), newDesk(t)
	d.signIn(s)
	out := t.TempDir()
	d.runs(0, "", []string{"demo", "--out", out, "-q"}, "Try next")
	if b, err := os.ReadFile(filepath.Join(out, "report.html")); err != nil || len(b) < 10_000 {
		t.Errorf("report.html: %d bytes, %v", len(b), err)
	}
}
