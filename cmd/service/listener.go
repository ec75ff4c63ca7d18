package main

import (
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"slices"
	"strings"
	"syscall"
	"time"

	"golang.org/x/net/netutil"
)

// endpoint is a listening address.
type endpoint struct {
	net.Listener
	// address is the display form: http://127.0.0.1:8080, unix:/run/service/web.sock.
	address string
	// loopback is true if the address can only be reached from this machine, and secure if it uses TLS.
	loopback, secure bool
}

// maxConnections is the maximum number of concurrent connections per address. Further connections wait to be
// accepted.
const maxConnections = 4096

// listenAll listens on the sockets passed by systemd and on the given addresses, or on the default address
// if there are neither.
func listenAll(addresses []string, defaultAddress string, tls bool) (out []endpoint, err error) {
	defer func() {
		if err != nil {
			closeEndpoints(out)
		}
	}()
	inherited, err := systemdListeners()
	if err != nil {
		return nil, err
	}
	for _, l := range inherited {
		out = append(out, newEndpoint(l, tls))
	}
	if len(addresses) == 0 && len(inherited) == 0 {
		addresses = []string{defaultAddress}
	}
	for _, address := range addresses {
		l, err := listenOn(address)
		if err != nil {
			return out, err
		}
		out = append(out, newEndpoint(l, tls))
	}
	return out, nil
}

func closeEndpoints(endpoints []endpoint) {
	for _, e := range endpoints {
		_ = e.Close()
	}
}

func newEndpoint(l net.Listener, tls bool) endpoint {
	e := endpoint{Listener: writeTimeoutListener{netutil.LimitListener(l, maxConnections)}}
	tcp, ok := l.Addr().(*net.TCPAddr)
	if !ok {
		e.address, e.loopback = "unix:"+l.Addr().String(), true
		return e
	}
	e.loopback, e.secure = tcp.IP.IsLoopback(), tls
	scheme := "http://"
	if tls {
		scheme = "https://"
	}
	e.address = scheme + l.Addr().String()
	return e
}

// displayAddress returns an address to show to the user; a listener on all interfaces is shown with
// a loopback name.
func (e endpoint) displayAddress() string {
	for _, all := range []string{"://[::]:", "://0.0.0.0:"} {
		if before, port, ok := strings.Cut(e.address, all); ok {
			return before + "://localhost:" + port
		}
	}
	return e.address
}

// listenOn listens on an address, either host:port or unix:/path.
func listenOn(address string) (net.Listener, error) {
	path, unix := strings.CutPrefix(address, "unix:")
	var l net.Listener
	var err error
	if unix {
		l, err = listenUnix(path)
	} else {
		l, err = net.Listen("tcp", address)
	}
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fmt.Errorf("another program is already listening on %s; stop that program or choose another address with --listen: %w",
			address, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf(
			"listening on %s is not permitted; choose another address with --listen (ports below 1024 often require root): %w",
			address,
			err,
		)
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return l, nil
}

// listenUnix creates a socket that only its user and group can access. It replaces a stale socket left by
// a killed process, but never another file.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s exists and is not a socket", path)
		}
		if conn, err := net.DialTimeout("unix", path, time.Second); err == nil {
			_ = conn.Close()
			return nil, syscall.EADDRINUSE
		}
		if err := os.Remove(path); err != nil {
			return nil, err
		}
	}
	old := umask(0o117)
	defer umask(old)
	return net.Listen("unix", path)
}

// endpointAddresses returns the addresses of endpoints in the given order.
func endpointAddresses(endpoints []endpoint) []string {
	out := make([]string, len(endpoints))
	for i, e := range endpoints {
		out[i] = e.address
	}
	return out
}

// listenHosts returns the host names and IP addresses among the addresses to listen on. Sockets passed by systemd have
// none; their requests are recognized by the connection's local address.
func listenHosts(addresses []string) (out []string) {
	for _, a := range addresses {
		if host, _, err := net.SplitHostPort(a); err == nil && host != "" && !strings.HasPrefix(a, "unix:") {
			out = append(out, host)
		}
	}
	return out
}

// areAllLoopback reports whether only this machine can reach the endpoints.
func areAllLoopback(endpoints []endpoint) bool {
	return !slices.ContainsFunc(endpoints, func(e endpoint) bool { return !e.loopback })
}

// writeTimeoutListener creates connections whose peers must keep reading. Otherwise, a stalled peer would hold a
// response, and the file behind it, forever.
type writeTimeoutListener struct{ net.Listener }

func (l writeTimeoutListener) Accept() (net.Conn, error) {
	c, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return writeTimeoutConn{c}, nil
}

type writeTimeoutConn struct{ net.Conn }

const (
	// writeTimeout is the maximum time for writing one chunk of a response.
	writeTimeout = time.Minute
	// writeChunk is the size of a chunk, small enough for a slow connection to receive it within
	// writeTimeout.
	writeChunk = 64 << 10
)

func (c writeTimeoutConn) Write(b []byte) (n int, err error) {
	for {
		if err := c.SetWriteDeadline(time.Now().Add(writeTimeout)); err != nil {
			return n, err
		}
		next := b[n:min(len(b), n+writeChunk)]
		wrote, err := c.Conn.Write(next)
		if n += wrote; err != nil || n == len(b) {
			return n, err
		}
	}
}
