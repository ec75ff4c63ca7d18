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

// The systemd protocol is a few lines over environment variables; see sd_listen_fds(3) and
// sd_notify(3).

// firstInherited is the number of the first file descriptor that systemd passes.
const firstInherited = 3

// systemdListeners returns the sockets that systemd opened for this process, if any.
func systemdListeners() (out []net.Listener, err error) {
	defer func() {
		for _, name := range []string{"LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"} {
			_ = os.Unsetenv(name) // child processes must not inherit them
		}
	}()
	if pid, err := strconv.Atoi(os.Getenv("LISTEN_PID")); err != nil || pid != os.Getpid() {
		return nil, nil
	}
	n, err := strconv.Atoi(os.Getenv("LISTEN_FDS"))
	if err != nil || n < 0 || n > maxConnections {
		return nil, fmt.Errorf("LISTEN_FDS=%q is not a number of sockets", os.Getenv("LISTEN_FDS"))
	}
	for fd := firstInherited; fd < firstInherited+n; fd++ {
		f := os.NewFile(uintptr(fd), "socket "+strconv.Itoa(fd))
		l, err := net.FileListener(f)
		_ = f.Close() // the listener has a copy of the file descriptor
		if err != nil {
			return out, fmt.Errorf("file %d passed by systemd is not a listening socket: %w", fd, err)
		}
		out = append(out, l)
	}
	return out, nil
}

// notifySystemd reports a state change to systemd, if the process runs under systemd.
func notifySystemd(lines ...string) {
	path := os.Getenv("NOTIFY_SOCKET")
	if path == "" {
		return
	}
	if strings.HasPrefix(path, "@") { // an abstract socket name
		path = "\x00" + path[1:]
	}
	conn, err := net.DialUnix("unixgram", nil, &net.UnixAddr{Name: path, Net: "unixgram"})
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.Write([]byte(strings.Join(lines, "\n")))
}

// notifyWatchdogWhileHealthy notifies systemd's watchdog while the service is healthy, until ctx ends.
func notifyWatchdogWhileHealthy(ctx context.Context, checkHealth func(context.Context) error) {
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
