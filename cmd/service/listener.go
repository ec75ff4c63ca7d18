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

// endpoint is an address that is listened on.
type endpoint struct {
	net.Listener
	// address is how people write it: http://127.0.0.1:8080, unix:/run/service/web.sock.
	address string
	// loopback: only this machine reaches it. secure: it talks TLS.
	loopback, secure bool
}

// maxConnections bounds the connections of one address; more wait to be accepted.
const maxConnections = 4096

// listenAll opens the addresses; with none, those that systemd passed, or the default.
func listenAll(addresses []string, byDefault string, tls bool) (out []endpoint, err error) {
	defer func() {
		if err != nil {
			closeAll(out)
		}
	}()
	inherited, err := inheritedListeners()
	if err != nil {
		return nil, err
	}
	for _, l := range inherited {
		out = append(out, newEndpoint(l, tls))
	}
	if len(addresses) == 0 && len(inherited) == 0 {
		addresses = []string{byDefault}
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

func closeAll(endpoints []endpoint) {
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

// displayAddress is an address to give to a person: of a listener on all interfaces, this machine's name for itself.
func (e endpoint) displayAddress() string {
	for _, all := range []string{"://[::]:", "://0.0.0.0:"} {
		if before, port, ok := strings.Cut(e.address, all); ok {
			return before + "://localhost:" + port
		}
	}
	return e.address
}

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
		return nil, fmt.Errorf("another program listens on %s already; end it, or choose another address with --listen: %w", address, err)
	case errors.Is(err, fs.ErrPermission):
		return nil, fmt.Errorf(
			"this user may not listen on %s; choose another address with --listen (ports below 1024 are often for root): %w",
			address,
			err,
		)
	case err != nil:
		return nil, fmt.Errorf("listening on %s: %w", address, err)
	}
	return l, nil
}

// listenUnix makes a socket that its user and group can reach. One that a killed
// process left is taken away; any other file stays.
func listenUnix(path string) (net.Listener, error) {
	if info, err := os.Lstat(path); err == nil {
		if info.Mode().Type() != fs.ModeSocket {
			return nil, fmt.Errorf("%s is there and is no socket", path)
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

// endpointAddresses are those of endpoints, sorted as they were given.
func endpointAddresses(endpoints []endpoint) []string {
	out := make([]string, len(endpoints))
	for i, e := range endpoints {
		out[i] = e.address
	}
	return out
}

// allLoopback reports whether only this machine reaches any of them.
func allLoopback(endpoints []endpoint) bool {
	return !slices.ContainsFunc(endpoints, func(e endpoint) bool { return !e.loopback })
}

// writeTimeoutListener makes connections whose peers must go on taking what is sent to
// them: one that stops would hold the answer, and a file behind it, for ever.
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
	// writeTimeout is how long a piece of an answer may take.
	writeTimeout = time.Minute
	// writeChunk is small enough for a slow line to take it in that time.
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
