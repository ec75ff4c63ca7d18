package main

import (
	"bufio"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"io"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/scf-service/service/cli"
)

// startDaemon starts a daemon on a free port, waits until it responds and returns its URL.
func (u *testUser) startDaemon(args ...string) (*running, string) {
	u.t.Helper()
	r := u.start(u.command(append([]string{"daemon", "--listen", "127.0.0.1:0"}, args...)...))
	r.waitFor("msg=serving")
	status := readJSON[struct{ Process cli.Process }](u, "daemon", "status")
	return r, status.Process.Listen[0]
}

// stopDaemon stops a daemon in the same way as systemd and containers do.
func (r *running) stopDaemon() {
	r.t.Helper()
	r.signal(syscall.SIGTERM)
	r.expectExit(0)
}

// writeCertificate writes a self-signed certificate for 127.0.0.1 with a serial number.
func writeCertificate(t *testing.T, dir string, serial int64) (cert, key string) {
	t.Helper()
	secret, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: "test"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &secret.PublicKey, secret)
	if err != nil {
		t.Fatal(err)
	}
	hidden, err := x509.MarshalPKCS8PrivateKey(secret)
	if err != nil {
		t.Fatal(err)
	}
	cert, key = filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	for path, block := range map[string]*pem.Block{cert: {Type: "CERTIFICATE", Bytes: der}, key: {Type: "PRIVATE KEY", Bytes: hidden}} {
		if err := os.WriteFile(path, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return cert, key
}

// TestServeTLS checks the TLS versions, HTTP/2, and that a new certificate is used without a
// restart.
func TestServeTLS(t *testing.T) {
	u := newTestUser(t)
	cert, key := writeCertificate(t, u.home, 1)
	r, url := u.startDaemon("--tls-cert", cert, "--tls-key", key)
	ask := func(c *tls.Config) (*http.Response, error) {
		c.InsecureSkipVerify = true
		transport := &http.Transport{TLSClientConfig: c, ForceAttemptHTTP2: true}
		defer transport.CloseIdleConnections()
		resp, err := (&http.Client{Transport: transport}).Get(url + "/api/v1/health")
		if err == nil {
			_ = resp.Body.Close()
		}
		return resp, err
	}
	resp, err := ask(&tls.Config{})
	if err != nil || resp.ProtoMajor != 2 || resp.StatusCode != 200 || resp.TLS.PeerCertificates[0].SerialNumber.Int64() != 1 {
		t.Fatalf("%+v, %v", resp, err)
	}
	if _, err := ask(&tls.Config{MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}); err == nil {
		t.Error("TLS 1.1 is spoken")
	}
	writeCertificate(t, u.home, 2)
	r.signal(syscall.SIGHUP)
	r.waitFor("TLS certificate reloaded")
	if resp, err := ask(&tls.Config{}); err != nil || resp.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Errorf("after SIGHUP: %+v, %v", resp, err)
	}
	if err := os.WriteFile(cert, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	r.signal(syscall.SIGHUP)
	r.waitFor("the TLS certificate could not be reloaded; the old certificate remains in use")
	if resp, err := ask(&tls.Config{}); err != nil || resp.TLS.PeerCertificates[0].SerialNumber.Int64() != 2 {
		t.Errorf("with a broken file: %+v, %v", resp, err)
	}
	r.stopDaemon()
}

// TestCertificateReload checks that changed files are reloaded at the next check, without a signal.
func TestCertificateReload(t *testing.T) {
	dir := t.TempDir()
	cert, key := writeCertificate(t, dir, 1)
	c, err := loadCertificate(cert, key, newCommandLogger(false))
	if err != nil {
		t.Fatal(err)
	}
	serial := func() int64 {
		pair, err := c.getCertificate(nil)
		if err != nil {
			t.Fatal(err)
		}
		return pair.Leaf.SerialNumber.Int64()
	}
	writeCertificate(t, dir, 2)
	if serial() != 1 {
		t.Error("it looks at the files for each connection")
	}
	c.checkedAt = c.checkedAt.Add(-recheckInterval)
	if serial() != 2 {
		t.Error("the new certificate was not noticed")
	}
}

// TestSystemd checks socket activation and the notifications that the daemon is ready, healthy and
// stopping.
func TestSystemd(t *testing.T) {
	u := newTestUser(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	file, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(u.home, "notify")
	ear, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer ear.Close()
	cmd := exec.CommandContext(t.Context(), "sh", "-c", "LISTEN_PID=$$ exec service daemon")
	cmd.Env, cmd.Dir, cmd.ExtraFiles = append(
		u.env,
		"LISTEN_FDS=1",
		"NOTIFY_SOCKET="+path,
		"WATCHDOG_USEC=200000",
	), u.home, []*os.File{
		file,
	}
	r := u.start(cmd)
	_ = file.Close()
	hears := func(want string) {
		t.Helper()
		b := make([]byte, 4096)
		for {
			n, err := ear.Read(b)
			if err != nil {
				t.Fatalf("never said %s: %v", want, err)
			}
			if strings.Contains(string(b[:n]), want) {
				return
			}
		}
	}
	_ = ear.SetReadDeadline(time.Now().Add(time.Minute))
	hears("READY=1")
	hears("WATCHDOG=1")
	resp, err := http.Get("http://" + l.Addr().String() + "/health")
	if err != nil || resp.StatusCode != 200 {
		t.Fatalf("%+v, %v", resp, err)
	}
	_ = resp.Body.Close()
	r.signal(syscall.SIGTERM)
	hears("STOPPING=1")
	r.expectExit(0)
}

const slowBody = `{"email": "a@acme.example", "password": "wrong"}`

// slowPost starts a request whose body is incomplete.
func slowPost(t *testing.T, url string) (net.Conn, *bufio.Reader) {
	t.Helper()
	host := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", host)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if _, err := fmt.Fprintf(
		conn,
		"POST /api/auth/sign-in/email HTTP/1.1\r\nHost: %s\r\nContent-Type: application/json\r\nExpect: 100-continue\r\n"+
			"Content-Length: %d\r\n\r\n",
		host,
		len(slowBody),
	); err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	// The server sends 100 Continue once the handler reads the body, so the request is being handled at that point.
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("%q, %v", line, err)
	}
	if _, err := in.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, slowBody[:20]); err != nil {
		t.Fatal(err)
	}
	return conn, in
}

// TestStopFinishesRequests checks that running requests are completed when the daemon stops, and that new ones are
// rejected.
func TestStopFinishesRequests(t *testing.T) {
	u := newTestUser(t)
	r, url := u.startDaemon()
	conn, in := slowPost(t, url)
	r.signal(syscall.SIGTERM)
	r.waitFor("msg=stopping")
	for { // closing the listener takes a moment
		again, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			break
		}
		_ = again.Close()
	}
	if _, err := io.WriteString(conn, slowBody[20:]); err != nil {
		t.Fatal(err)
	}
	resp, err := http.ReadResponse(in, nil)
	if err != nil || resp.StatusCode != http.StatusUnauthorized {
		t.Errorf("%+v, %v", resp, err)
	}
	r.expectExit(0)
}

// TestStopAbortsRequests checks that a request that never ends does not prevent the daemon from stopping.
func TestStopAbortsRequests(t *testing.T) {
	u := newTestUser(t)
	r, url := u.startDaemon("--shutdown-timeout", "300ms")
	slowPost(t, url)
	r.signal(syscall.SIGTERM)
	r.waitFor("requests were aborted")
	r.expectExit(0)
}

// TestSecondSignal checks that a second signal stops the daemon immediately.
func TestSecondSignal(t *testing.T) {
	u := newTestUser(t)
	r, url := u.startDaemon("--shutdown-timeout", "10m")
	slowPost(t, url)
	r.signal(syscall.SIGTERM)
	r.waitFor("msg=stopping")
	// The program stops handling signals when it logs this. An earlier second signal would count as part of the
	// first.
	ended := make(chan struct{})
	defer close(ended)
	go func() {
		again := time.NewTicker(20 * time.Millisecond)
		defer again.Stop()
		for {
			_ = r.cmd.Process.Signal(syscall.SIGTERM)
			select {
			case <-ended:
				return
			case <-again.C:
			}
		}
	}()
	if code := r.wait(); code != -1 {
		t.Errorf("exit code %d, not killed by the signal", code)
	}
}

// TestSignalEndsCommand checks that a signal ends a command that waits for stdin.
func TestSignalEndsCommand(t *testing.T) {
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		u := newTestUser(t)
		r, release := u.holdFolder()
		defer release()
		r.signal(s)
		r.expectExit(130)
	}
}

// TestServeWaitsForFolder checks that the daemon waits for a command that has the folder open, and
// logs it.
func TestServeWaitsForFolder(t *testing.T) {
	u := newTestUser(t)
	first, release := u.holdFolder()
	r := u.start(u.command("daemon", "--listen", "127.0.0.1:0"))
	r.waitFor("waiting for another command to end")
	release()
	first.expectExit(0)
	r.waitFor("msg=serving")
	r.stopDaemon()
}

// TestServeMalformedRequests checks that malformed requests get an error response and do not stop
// the daemon.
func TestServeMalformedRequests(t *testing.T) {
	u := newTestUser(t)
	r, url := u.startDaemon("--rate-limit", "health=0", "--metrics-listen", "unix:"+filepath.Join(u.home, "m"))
	req, err := http.NewRequest(http.MethodGet, url+"/api/v1/health", nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_000 {
		req.Header.Add(fmt.Sprintf("X-A-%d", i), "1")
	}
	resp, err := http.DefaultClient.Do(req)
	if err != nil || resp.StatusCode != http.StatusBadRequest {
		t.Errorf("10,000 headers: %+v, %v", resp, err)
	}
	resp, err = http.Get(url + "/api/v1/health")
	if err != nil || resp.StatusCode != http.StatusOK || resp.Header.Get("RateLimit-Limit") != "" {
		t.Errorf("%+v, %v", resp, err)
	}
	over := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", filepath.Join(u.home, "m"))
	}}}
	resp, err = over.Get("http://metrics/metrics")
	if err != nil {
		t.Fatal(err)
	}
	b, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(b), `service_requests_total{operation="get-health",status="2xx"} 1`) {
		t.Errorf("%v\n%s", err, b)
	}
	_ = resp.Body.Close()
	over.CloseIdleConnections()
	http.DefaultClient.CloseIdleConnections()
	r.stopDaemon()
}
