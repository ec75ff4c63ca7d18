package main

import (
	"context"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/term"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/internal/regularfile"
	"github.com/scf-service/service/tui"
)

// terminalRunner returns a function that runs the terminal interface, or nil if input or output is
// not a terminal.
func terminalRunner() func(context.Context, cli.TerminalOptions) error {
	if !term.IsTerminal(int(os.Stdin.Fd())) || !term.IsTerminal(int(os.Stdout.Fd())) || os.Getenv("TERM") == "dumb" {
		return nil
	}
	return func(ctx context.Context, o cli.TerminalOptions) error {
		return tui.Run(ctx, tui.Options{
			Caller: o.Client, Location: o.Location, Assessment: o.Assessment, OnOpen: o.OnOpen, Resolve: o.Resolve, Sync: o.Sync, Notices: o.Notices,
			Color: o.Color, Mouse: o.Mouse, Clock: o.Clock, Editor: strings.TrimSpace(o.Editor),
		}, os.Stdin, os.Stdout)
	}
}

// openTerminalLog returns the writer to which logs are written while the terminal interface is shown.
func openTerminalLog() io.Writer {
	if err := os.MkdirAll(stateDir(), 0o700); err != nil {
		return io.Discard
	}
	f, err := regularfile.OpenFile(filepath.Join(stateDir(), "tui.log"), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return io.Discard
	}
	return f // stays open for as long as the program runs
}
