package main

import (
	"context"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"time"
)

// What systemd says and hears is a few lines over its environment; see sd_listen_fds(3)
// and sd_notify(3).

// firstInherited is the number of the first file that systemd passes.
const firstInherited = 3

// inheritedListeners are the sockets that systemd opened for this process; none elsewhere.
func inheritedListeners() (out []net.Listener, err error) {
	defer func() {
		for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
			_ = os.Unsetenv(name) // not for processes that this one starts
		}
	}()
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil, nil
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || n < 0 || n > maxConnections {
		return nil, fmt.Errorf("LISTEN_FDS=%q is no number of sockets", os.Getenv("LISTEN_FDS"))
	}
	for fd := firstInherited; fd < firstInherited+n; fd++ {
		f := os.NewFile(uintptr(fd), "socket "+strconv.Itoa(fd))
		l, err := net.FileListener(f)
		_ = f.Close() // the listener has a copy
		if err != nil {
			return out, fmt.Errorf("file %d that systemd passed is no socket to listen on: %w", fd, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// notifySystemd tells systemd of a change of state; elsewhere it does nothing.
func notifySystemd(lines ...string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if strings.HasPrefix(path, "@") { // an abstract name
		path = "\x00" + path[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// runWatchdog tells systemd's watchdog that the service is well, as long as ctx lasts and it is.
func runWatchdog(ctx context.Context, checkHealth func(context.Context) error) {
	usec, err := strconv.ParseInt(os.Getenv("WATCHDOG_USEC"), 10, 64)
	if pid := os.Getenv("WATCHDOG_PID"); err != nil || usec <= 0 || (pid != "" && pid != strconv.Itoa(os.Getpid())) {
		return
	}
	every := time.Duration(usec) * time.Microsecond / 2
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		look, done := context.WithTimeout(ctx, every)
		if checkHealth(look) == nil {
			notifySystemd("WATCHDOG=1")
		}
		done()
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}
