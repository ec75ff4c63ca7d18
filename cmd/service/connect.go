package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"os/user"
	"strings"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/client"
)

// connect connects a command to an engine. It connects to the target's server, if there is one, or to the process that
// is using the data folder. Otherwise, it starts an engine in this process.
func connect(ctx context.Context, target cli.Target) (engineClient *client.Client, disconnect func() error, _ error) {
	if target.Server != "" {
		return newServerClient(target)
	}
	local, err := newLocalTransport(target)
	if err != nil {
		return nil, nil, err
	}
	if err := local.openOrConnect(ctx); err != nil {
		return nil, nil, err
	}
	c, err := client.New(client.Options{Transport: local, Organization: target.Organization})
	if err != nil {
		return nil, nil, errors.Join(err, local.Close())
	}
	return c, local.Close, nil
}

// newCommandLogger returns a logger that writes to stderr. While the terminal interface is using the terminal, it
// writes to a file in the state folder, or discards messages if that is not possible.
func newCommandLogger(fullScreen bool) *slog.Logger {
	level := slog.LevelError
	if v := os.Getenv("SERVICE_LOG"); v != "" {
		_ = level.UnmarshalText([]byte(v)) // the default is kept if the level is unknown
	}
	var to io.Writer = os.Stderr
	if fullScreen {
		to = openTerminalLog()
	}
	return slog.New(slog.NewTextHandler(to, &slog.HandlerOptions{Level: level}))
}

// systemUser returns the name of the operating system's current user, and an email address formed from that name and
// the host name.
func systemUser() (name, email string) {
	host, err := os.Hostname()
	if err != nil || host == "" {
		host = "localhost"
	}
	u, err := user.Current()
	if err != nil {
		return "local user", "local@" + host
	}
	name = strings.TrimSpace(strings.TrimRight(u.Name, ","))
	if name == "" {
		name = u.Username
	}
	return name, u.Username + "@" + host
}
