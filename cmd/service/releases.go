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

// releases is set by the release build: where `service upgrade check` asks.
var releases = ""

// readRelease reads what a releases address answers. It goes on to another address only where
// that is as safe, and sends no credential.
func readRelease(ctx context.Context, address string, t cli.Target, limit int64) ([]byte, error) {
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
		return fmt.Errorf("%s is no address to ask for releases: write it as https://…", u.Redacted())
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, api.Invalid("url", "the releases address can't be read: write it as https://…")
	}
	if err := safe(u); err != nil {
		return nil, api.Invalid("url", "%s", err)
	}
	c := &http.Client{Transport: transport, CheckRedirect: func(req *http.Request, via []*http.Request) error {
		if len(via) > 5 {
			return errors.New("it sends on and on")
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
		return nil, fmt.Errorf("%s has nothing at that address: there is no release yet, or the address is wrong", u.Host)
	case http.StatusForbidden, http.StatusTooManyRequests:
		return nil, fmt.Errorf("%s refuses for now (%s): it was asked too often, or wants a sign-in", u.Host, resp.Status)
	default:
		return nil, fmt.Errorf("%s answers %s", u.Host, resp.Status)
	}
	b, err := io.ReadAll(io.LimitReader(resp.Body, limit+1))
	if err != nil {
		return nil, fmt.Errorf("reading the answer of %s: %w", u.Host, err)
	}
	if int64(len(b)) > limit {
		return nil, fmt.Errorf("the answer of %s is over the limit of %d KiB", u.Host, limit>>10)
	}
	return b, nil
}

// executablePath is the path of this program, without links; empty where the system doesn't tell.
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
