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
)

// rateLimitWait is how long a command waits where a server asks to slow down: longer than
// the window its requests are counted in.
const rateLimitWait = 90 * time.Second

// connectServer makes a client of the server that a command names.
func connectServer(target cli.Target) (*client.Client, func() error, error) {
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

// serverTransport trusts the authorities of the system, and those of the file ca where one is named.
func serverTransport(ca string) (*http.Transport, error) {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.TLSClientConfig = &tls.Config{MinVersion: tls.VersionTLS12}
	if ca == "" {
		return t, nil
	}
	pem, err := os.ReadFile(ca)
	if err != nil {
		return nil, fmt.Errorf("the certificate authority can't be read: %w", err)
	}
	pool, err := x509.SystemCertPool()
	if err != nil {
		pool = x509.NewCertPool()
	}
	if !pool.AppendCertsFromPEM(pem) {
		return nil, fmt.Errorf("%s holds no certificate in PEM form", ca)
	}
	t.TLSClientConfig.RootCAs = pool
	return t, nil
}

// passwordReader asks on the terminal, showing nothing of what is typed; nil where
// stdin is none.
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
		case <-ctx.Done(): // Ctrl-C: the read goes on, but the terminal shows what is typed again
			_ = term.Restore(fd, before)
			return "", ctx.Err()
		}
	}
}
