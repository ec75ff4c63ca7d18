package netguard

import (
	"errors"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
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
		"https://user:pw@a.org":     "user name and password",
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

func TestDialChecksTheResolvedAddress(t *testing.T) {
	_, err := Guard{}.Dial(t.Context(), "tcp", "localhost:1")
	if err == nil || !strings.Contains(err.Error(), "loopback") {
		t.Errorf("dial: %v", err)
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
