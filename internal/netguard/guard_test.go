package netguard

import (
	"errors"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/api"
)

func TestCheckURL(t *testing.T) {
	guard := Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("10.1.0.0/16")}}
	for raw, want := range map[string]string{
		"https://example.org/hook":  "",
		" https://example.org ":     "",
		"https://10.1.2.3/":         "",
		"http://10.1.2.3/":          "",
		"https://93.184.216.34":     "",
		"http://example.org":        "use https://",
		"ftp://example.org":         "must begin with https://",
		"https://":                  "has no host",
		"https://user:pw@a.org":     "user name or password",
		"https://a.org/#x":          "never sent",
		"https://10.2.0.1/":         "private network",
		"https://127.0.0.1/":        "loopback",
		"https://[::1]/":            "loopback",
		"https://[::ffff:10.2.0.1]": "private network",
		"https://169.254.169.254/":  "loopback or private",
		"https://[64:ff9b::a00:1]/": "loopback or private",
		"https://2130706433/":       "neither a host name nor a valid IP address",
		"https://0x7f.1/":           "neither a host name nor a valid IP address",
		"%zz":                       "not a valid URL",
	} {
		_, err := guard.CheckURL("url", raw)
		if want == "" && err != nil || want != "" && (!api.IsCode(err, api.CodeValidation) || !strings.Contains(err.Error(), want)) {
			t.Errorf("%s: %v, want %q", raw, err, want)
		}
	}
}

// TestDialRevealsNothing checks that the address that a name resolves to is checked when connecting, and
// that errors show neither addresses nor which names exist.
func TestDialRevealsNothing(t *testing.T) {
	_, refused := Guard{}.Dial(t.Context(), "tcp", "localhost:1")
	if refused == nil || !strings.Contains(refused.Error(), "SERVICE_WEBHOOK_ALLOW") {
		t.Fatalf("dial: %v", refused)
	}
	for _, address := range []string{"10.1.2.3:443", "[::1]:443", "no-such-name.invalid:443", "localhost:443", "[fe80::1%lo]:1"} {
		if _, err := (Guard{}).Dial(t.Context(), "tcp", address); err == nil || err.Error() != refused.Error() {
			t.Errorf("%s: %v, not %v", address, err, refused)
		}
	}

	// In a network that the operator allows, the error says what happened, but not the address.
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	guard := Guard{Allowed: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8"), netip.MustParsePrefix("::1/128")}}
	accepted := make(chan net.Conn)
	go func() {
		conn, _ := l.Accept()
		accepted <- conn
	}()
	conn, err := guard.Dial(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	if err != nil {
		t.Fatal(err)
	}
	theirs := (<-accepted).(*net.TCPConn)
	_ = theirs.SetLinger(0)
	_ = theirs.Close() // as a reset
	_, readErr := conn.Read(make([]byte, 1))
	writeErr := error(nil)
	for writeErr == nil {
		_, writeErr = conn.Write([]byte("x"))
	}
	_ = l.Close()
	_, dialErr := guard.Dial(t.Context(), "tcp", net.JoinHostPort("localhost", port))
	for what, err := range map[string]error{"dial": dialErr, "read": readErr, "write": writeErr} {
		if err == nil || strings.Contains(err.Error(), "127.0.0.1") || strings.Contains(err.Error(), port) ||
			strings.Contains(err.Error(), "::1") || !strings.Contains(err.Error(), what) {
			t.Errorf("%s: %v", what, err)
		}
	}
	if !errors.Is(dialErr, syscall.ECONNREFUSED) {
		t.Errorf("a program can't tell why: %v", dialErr)
	}
}

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	for header, want := range map[string]time.Duration{
		"": 0, "120": 2 * time.Minute, "-5": 0, "soon": 0,
		"Thu, 26 Nov 2026 12:01:00 GMT": time.Minute,
		"Thu, 26 Nov 2026 11:00:00 GMT": 0,
	} {
		if got := RetryAfter(http.Header{"Retry-After": {header}}, now); got != want {
			t.Errorf("%q: %v, want %v", header, got, want)
		}
	}
}

func TestErrorsHideTheURL(t *testing.T) {
	err := RedactError(&url.Error{Op: "Post", URL: "https://hooks.example.org/secret", Err: errors.New("refused\nby\x00peer")})
	if err.Error() != "refused by peer" {
		t.Errorf("%q", err)
	}
	if got := SanitizeLine(strings.Repeat("é", 400)); len(got) > 310 || !strings.HasSuffix(got, "…") {
		t.Errorf("%d bytes: %s", len(got), got)
	}
}
