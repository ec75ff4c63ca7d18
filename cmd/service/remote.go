package main

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net/http"
	"os"
	"time"

	"golang.org/x/term"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
	"github.com/scf-service/service/internal/regularfile"
)

// rateLimitWait is the maximum time that a command waits if a server asks it to slow down. It is longer than the
// rate-limit window.
const rateLimitWait = 90 * time.Second

// newServerClient returns a client for the target server.
func newServerClient(target cli.Target) (serverClient *client.Client, disconnect func() error, _ error) {
	transport, err := serverTransport(target.CA)
	if err != nil {
		return nil, nil, err
	}
	c, err := client.New(client.Options{
		BaseURL: target.Server, Transport: transport, Token: target.Token, Session: target.Session, SessionChanged: target.OnSessionChange,
		PlainHTTP: target.InsecureHTTP, Organization: target.Organization, MaxWait: rateLimitWait, OnWait: target.OnThrottled,
	})
	return c, func() error { transport.CloseIdleConnections(); return nil }, err
}

// serverTransport returns a transport that trusts the system's certificate authorities and, if caPath is not empty,
// the certificate authorities in that file.
func serverTransport(caPath string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if caPath == "" {
		return t, nil
	}
	pem, err := regularfile.Read(caPath, maxConfigFile)
	if err != nil {
		return nil, fmt.Errorf("can't read the CA certificate: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s doesn't contain a certificate in PEM format", caPath)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// passwordReader returns a function that prompts on the terminal without echo, or nil if stdin is
// not a terminal.
func passwordReader() func(context.Context, string) (string, error) {
	fd := int(os.Stdin.Fd())
	before, err := term.GetState(fd)
	if err != nil {
		return nil
	}
	return func(ctx context.Context, prompt string) (string, error) {
		fmt.Fprint(os.Stderr, prompt)
		type typed struct {
			secret []byte
			err    error
		}
		done := make(chan typed, 1)
		go func() {
			secret, err := term.ReadPassword(fd)
			done <- typed{secret, err}
		}()
		defer fmt.Fprintln(os.Stderr)
		select {
		case t := <-done:
			return string(t.secret), t.err
		case <-ctx.Done(): // Ctrl-C: the read continues, but the terminal echoes again
			_ = term.Restore(fd, before)
			return "", ctx.Err()
		}
	}
}
