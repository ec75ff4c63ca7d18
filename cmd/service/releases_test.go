package main

import (
	"context"
	"encoding/pem"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/scf-service/service/cli"
)

func TestReadRelease(t *testing.T) {
	answer := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "" {
			t.Error("a credential was sent")
		}
		switch r.URL.Path {
		case "/latest":
			_, _ = w.Write([]byte("0123456789"))
		case "/moved":
			http.Redirect(w, r, "/latest", http.StatusFound)
		case "/astray":
			http.Redirect(w, r, "http://releases.example/latest", http.StatusFound)
		case "/round":
			http.Redirect(w, r, "/round", http.StatusFound)
		case "/busy":
			w.WriteHeader(http.StatusTooManyRequests)
		case "/broken":
			w.WriteHeader(http.StatusBadGateway)
		case "/hang":
			<-r.Context().Done()
		default:
			http.NotFound(w, r)
		}
	})
	plain, secure := httptest.NewServer(answer), httptest.NewTLSServer(answer)
	defer plain.Close()
	defer secure.Close()
	ca := filepath.Join(t.TempDir(), "ca.pem")
	if err := os.WriteFile(ca, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: secure.Certificate().Raw}), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		url    string
		target cli.Target
		limit  int64
		says   string // empty if the response can be read
	}{
		{plain.URL + "/latest", cli.Target{Token: "secret", Session: "secret"}, 10, ""},
		{plain.URL + "/moved", cli.Target{}, 10, ""},
		{secure.URL + "/latest", cli.Target{CA: ca}, 10, ""},
		{secure.URL + "/latest", cli.Target{}, 10, "certificate"},
		{secure.URL + "/astray", cli.Target{CA: ca}, 10, "not a valid address for releases"},
		{plain.URL + "/latest", cli.Target{}, 9, "exceeds the limit"},
		{plain.URL + "/round", cli.Target{}, 10, "too many redirects"},
		{plain.URL + "/busy", cli.Target{}, 10, "rejected the request"},
		{plain.URL + "/broken", cli.Target{}, 10, "502"},
		{plain.URL + "/none", cli.Target{}, 10, "no release exists yet"},
		{"http://releases.example/latest", cli.Target{}, 10, "begins with https://"},
		{"file:///etc/passwd", cli.Target{}, 10, "begins with https://"},
		{"https://ada:hidden@%", cli.Target{}, 10, "URL is invalid"},
	} {
		got, err := fetchReleaseResponse(t.Context(), c.url, c.target, c.limit)
		switch {
		case c.says == "" && (err != nil || string(got) != "0123456789"):
			t.Errorf("%s: %q, %v", c.url, got, err)
		case c.says != "" && (err == nil || !strings.Contains(err.Error(), c.says)):
			t.Errorf("%s: %v, want %q", c.url, err, c.says)
		case err != nil && strings.Contains(err.Error(), "hidden"):
			t.Errorf("%s: the error shows a password: %v", c.url, err)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := fetchReleaseResponse(ctx, plain.URL+"/hang", cli.Target{}, 10); err == nil {
		t.Error("it is read after the end")
	}
}
