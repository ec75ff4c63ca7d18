package cli

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/spf13/cobra"

	"github.com/scf-service/service/api"
)

// readerFunc is a function that implements io.Reader.
type readerFunc func([]byte) (int, error)

func (f readerFunc) Read(p []byte) (int, error) { return f(p) }

// writerFunc is a function that implements io.Writer.
type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

// TestInterruptedWaitingForInput interrupts commands that are waiting for input from a user, or from a program before
// a pipe, that never arrives.
func TestInterruptedWaitingForInput(t *testing.T) {
	for _, line := range []string{
		"scope set --file -",
		"analyze ropa --file -",
		"analyze ropa --batch -",
		"email send a@acme.example --subject x --text-file -",
		"api POST /assessments -d -",
		"login https://grc.example --email a@acme.example --password-stdin",
		"login https://grc.example --token-stdin",
		"assess delete Acme",
	} {
		w := newWorld(t)
		w.fake.assessment("Acme", api.StateDraft)
		ctx, cancel := context.WithCancel(t.Context())
		release := make(chan struct{})
		isRead := false
		w.options = func(o *Options) {
			o.Interactive = true
			o.Stdin = readerFunc(func([]byte) (int, error) {
				isRead = true
				cancel()
				<-release
				return 0, errors.New("released")
			})
		}
		if r := w.runIn(ctx, strings.Fields(line)...); r.code != exitInterrupted || !isRead {
			t.Errorf("service %s: exit code %d, %s", line, r.code, r.errOut)
		}
		close(release)
	}
}

// TestInterruptedWriting interrupts a command whose output nobody reads.
func TestInterruptedWriting(t *testing.T) {
	w := newWorld(t)
	w.fake.assessment("Acme", api.StateDraft)
	ctx, cancel := context.WithCancel(t.Context())
	out, unread := io.Pipe()
	defer out.Close()
	w.options = func(o *Options) {
		o.Stdout = writerFunc(func(p []byte) (int, error) {
			cancel()
			return unread.Write(p)
		})
	}
	if r := w.runIn(ctx, "assess", "list"); r.code != exitInterrupted {
		t.Errorf("exit code %d, %s", r.code, r.errOut)
	}
}

// TestStuckCommand checks that an interrupted command ends even if an operation can't be interrupted, and that
// the daemon gets the time it needs.
func TestStuckCommand(t *testing.T) {
	for _, name := range []string{"stuck", "daemon"} {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			finished := make(chan struct{})
			root := &cobra.Command{Use: "service"}
			root.AddCommand(&cobra.Command{Use: name, RunE: func(*cobra.Command, []string) error {
				defer close(finished)
				cancel()
				time.Sleep(time.Hour) //nolint:forbidigo // on a fake clock
				return nil
			}})
			root.SetArgs([]string{name})
			began := time.Now()
			err := (&app{}).execute(ctx, root, []string{name})
			switch took := time.Since(began); {
			case name == "daemon" && (err != nil || took != time.Hour):
				t.Errorf("the daemon ended after %s: %v", took, err)
			case name == "stuck" && (!errors.Is(err, context.Canceled) || took != endTimeout):
				t.Errorf("the command ended after %s: %v", took, err)
			}
			<-finished
		})
	}
}

// TestDaemonStoppedAtItsStart checks that a daemon that is told to stop before it has printed its addresses exits
// just like one that is told later.
func TestDaemonStoppedAtItsStart(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	w.options = func(o *Options) {
		o.Serve = func(_ context.Context, _ ServeOptions, ready func(DaemonInfo)) error {
			cancel()
			ready(DaemonInfo{})
			return nil
		}
	}
	w.want(w.runIn(ctx, "daemon"), exitOK)
}
