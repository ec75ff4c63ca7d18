package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
)

// releases is the URL that `service upgrade check` queries, set by the release build.
var releases = ""

// fetchReleaseResponse fetches information about releases from a URL. That URL and all redirects must use HTTPS
// unless plain HTTP is allowed. No credential is sent.
func fetchReleaseResponse(ctx context.Context, address string, t cli.Target, limit int64) ([]byte, error) {
	transport, err := serverTransport(t.CA)
	if err != nil {
		return nil, err
	}
	defer transport.CloseIdleConnections()
	safe := func(u *url.URL) error {
		switch {
		case u.Scheme == "https" && u.Host != "":
			return nil
		case u.Scheme == "http" && (t.InsecureHTTP || client.IsLoopback(u.Hostname())):
			return nil
		}
		return fmt.Errorf("%s is not a valid address for releases; use an address that begins with https://", u.Redacted())
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, api.Invalid("url", "the releases URL is invalid: it must start with https://")
	}
	if err := safe(u); err != nil {
		return nil, api.Invalid("url", "%s", err)
	}
	c := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("too many redirects")
		}
		return safe(req.URL)
	}}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "service")
	resp, err := c.Do(req)
	if err != nil {
		var inner *url.Error
		if errors.As(err, &inner) {
			err = inner.Err
		}
		return nil, fmt.Errorf("asking %s: %w", u.Host, err)
	}
	defer resp.Body.Close()
	switch resp.StatusCode {
	case http.StatusOK:
	case http.StatusNotFound:
		return nil, fmt.Errorf("%s returned no release: either no release exists yet, or the address is wrong", u.Host)
	case http.StatusForbidden, http.StatusTooManyRequests:
		return nil, fmt.Errorf("%s rejected the request (%s): the rate limit was reached, or the server requires authentication",
			u.Host, resp.Status)
	default:
		return nil, fmt.Errorf("%s responded %s", u.Host, resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("can't read the response from %s: %w", u.Host, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("the response from %s exceeds the limit of %d KiB", u.Host, limit>>10)
	}
	return b, nil
}

// executablePath returns the path of this program with symbolic links resolved, or "" if it is unknown.
func executablePath() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}
