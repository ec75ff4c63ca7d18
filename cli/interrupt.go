package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"time"

	"github.com/spf13/cobra"
)

// endTimeout is how long an interrupted command may take to end. After that, the program exits even if an
// uninterruptible operation is still running, for example on a network drive that does not respond.
const endTimeout = 5 * time.Second

// execute runs the command and then disconnects. If ctx ends, execute returns soon afterwards, even if the command is
// still running.
func (a *app) execute(ctx context.Context, root *cobra.Command, args []string) error {
	done := make(chan error, 1)
	go func() {
		cmd, err := root.ExecuteContextC(ctx)
		err = nameFlags(cmd, err)
		if a.helpErr != nil {
			err = a.helpErr
		}
		if a.disconnect != nil {
			err = errors.Join(err, a.disconnect())
		}
		done <- err
	}()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	if cmd, _, err := root.Find(args); err == nil && cmd.Name() == "daemon" { // the daemon has --shutdown-timeout
		return <-done
	}
	t := time.NewTimer(endTimeout)
	defer t.Stop()
	select {
	case err := <-done:
		return err
	case <-t.C:
		return ctx.Err()
	}
}

// interruptible calls do and returns its result, or ctx's error as soon as ctx ends. Reads from a terminal and writes
// to a pipe can't be interrupted, so do may continue in the background until the process exits.
func interruptible(ctx context.Context, do func() (int, error)) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	type result struct {
		n   int
		err error
	}
	done := make(chan result, 1)
	go func() {
		n, err := do()
		done <- result{n, err}
	}()
	select {
	case got := <-done:
		return got.n, got.err
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// interruptibleReader is a reader whose reads return as soon as ctx ends.
type interruptibleReader struct {
	ctx context.Context
	r   io.Reader
}

func (i interruptibleReader) Read(p []byte) (int, error) {
	buffer := make([]byte, len(p)) // the caller reuses p
	n, err := interruptible(i.ctx, func() (int, error) { return i.r.Read(buffer) })
	return copy(p, buffer[:n]), err
}

// interruptibleWriter is a writer whose writes return as soon as ctx ends.
type interruptibleWriter struct {
	ctx context.Context
	w   io.Writer
}

func (i interruptibleWriter) Write(p []byte) (int, error) {
	buffer := bytes.Clone(p)
	return interruptible(i.ctx, func() (int, error) { return i.w.Write(buffer) })
}
