// Package cli is the command line: it decodes what a person typed, calls
// operations through client, and prints what comes back.
//
// It holds no rule of the domain, never opens the store, and reads neither the
// clock nor the environment by itself: all that arrives in Options.
package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"io/fs"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// Target is where the engine is, as flags, environment and configuration say.
// Empty fields leave the choice to whoever connects.
type Target struct {
	// Server is the address of a service, https://….
	Server string
	// Data is the folder of the local store.
	Data string
	// Organization is the id, slug or name of the organization to act in.
	Organization string
	// Token is an API key; Session the secret of a session with the server.
	Token, Session string
	// OnSessionChange is told where the server begins, renews or ends a session: its
	// secret, "" where it ended, and until when it is good.
	OnSessionChange func(token string, ends time.Time)
	// CA is a file of certificate authorities to trust, beside those of the system.
	CA string
	// Embedder is the embedding model that the data folder's passages are embedded with beside
	// the built-in one, ollama/NAME or openai/NAME; EmbedderURL is where it listens.
	Embedder, EmbedderURL string
	// InsecureHTTP allows http:// to other machines.
	InsecureHTTP bool
	// OnThrottled is told where the server asked to slow down and that is done.
	OnThrottled func(time.Duration)
	// FullScreen: the terminal shows a screen of its own, so that nothing may be logged to it.
	FullScreen bool
}

// Options are what the command line is made of.
type Options struct {
	// Connect reaches the engine, when a command first needs it; the function it returns is
	// called at the end. Signing out elsewhere on the way may call it again.
	Connect func(ctx context.Context, target Target) (*client.Client, func() error, error)

	// ReadPassword asks for a secret without showing what is typed; nil where nobody can be asked.
	ReadPassword func(ctx context.Context, prompt string) (string, error)
	// Keyring keeps the secrets of contexts; nil where there is none.
	Keyring contexts.Keyring

	// Serve runs a daemon until ctx ends; ready is called once it answers.
	Serve func(ctx context.Context, o ServeOptions, ready func(DaemonInfo)) error
	// RunTerminal shows the terminal interface until it is left; nil where there is no terminal.
	RunTerminal func(ctx context.Context, o TerminalOptions) error
	// FindProcess asks who has a data folder open (empty: the usual one); nil where nobody.
	FindProcess func(ctx context.Context, data string) (*Process, error)
	// SetLogLevel changes the log level of the daemon on a data folder, and tells of it as it
	// is then; nil where nobody is there.
	SetLogLevel func(ctx context.Context, data, level string) (*Process, error)
	// EvalRetrieval measures the search on a benchmark folder; nil where the build can't.
	EvalRetrieval func(ctx context.Context, o RetrievalOptions) (*RetrievalReport, error)
	// EvalJudgement measures the rules on labelled documents; nil where the build can't.
	EvalJudgement func(ctx context.Context, o JudgementOptions) (*JudgementReport, error)

	// VerifyArchive checks an exported archive, VerifyChain an exported audit chain; against
	// a head that was kept where headPath is not empty.
	VerifyArchive    func(path string) (*Verification, error)
	VerifyAuditChain func(path, headPath string) (*Verification, error)

	// EvalAnalyses measures the built-in analyses; nil where the build can't.
	EvalAnalyses func(ctx context.Context) ([]AnalysisScore, error)
	// SelectModel chooses what answers analyses in a data folder (empty: the usual one);
	// PullModel has its server fetch one (empty: the one in use) and tells how far it is;
	// ModelStatus tells how the choice stands. nil where the build can't.
	SelectModel func(ctx context.Context, data, model, server string) (*ModelStatus, error)
	PullModel   func(ctx context.Context, data, model, server string, told func(doing string, done, total int64)) (*ModelStatus, error)
	ModelStatus func(ctx context.Context, data string) (*ModelStatus, error)

	// ResolvePaths tells where things are on this machine, for a data folder (empty: the usual one).
	ResolvePaths func(data string) Paths
	// Examine looks at this machine, for `doctor`; nil where the build can't.
	Examine func(ctx context.Context, o ExamineOptions) []Diagnostic
	// Releases reads what a releases address answers; URL is the one this build was made with.
	Releases Releases

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
	// Interactive: stderr is a terminal. Color: colours are welcome. Width: of the
	// terminal on stdout in columns, 0 where there is none; WidthAside: of the one on stderr.
	Interactive, Color       bool
	StdoutWidth, StderrWidth int

	Version string
	Clock   func() time.Time
	// StateDir keeps which assessment was used last, and which files the program wrote.
	// Empty where there is none: then nothing is remembered.
	StateDir string
	// CacheDir keeps what can be made again; empty where there is none. Build tells this
	// program from another of the same version.
	CacheDir, BuildID string
	// DemoEvidence is the evidence that the demo assesses.
	DemoEvidence fs.FS
}

// Main runs the command that args name and returns the exit code.
func Main(ctx context.Context, args []string, o Options) int {
	a := &app{Options: o}
	a.progress = &print.Progress{W: o.Stderr, Terminal: o.Interactive, Color: o.Color, Width: o.StderrWidth, Clock: o.Clock}
	a.out = &print.Output{W: o.Stdout, Context: ctx, Width: o.StdoutWidth, Color: o.Color}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(o.Stdin)
	root.SetOut(o.Stdout)
	root.SetErr(o.Stderr)
	err := root.ExecuteContext(ctx)
	if a.helpErr != nil {
		err = a.helpErr
	}
	if a.disconnect != nil {
		err = errors.Join(err, a.disconnect())
	}
	return a.reportError(ctx, err)
}

// app is one run of the program.
type app struct {
	Options
	flags            flags
	config           *viper.Viper // flags, variables and file, once joined
	out              *print.Output
	progress         *print.Progress
	warnedSlowUpload bool // that a server takes few files a minute

	engine     *client.Client
	disconnect func() error
	// stdin is Stdin where lines are read from it: all of them through one buffer.
	stdin *bufio.Reader
	// context is the one in use; nil on the local data folder or a server named by --server.
	context *contexts.Context
	// targetErr is why there is no telling where to work; misread what is wrong with the settings,
	// for the commands that find that out.
	targetErr, settingsErr error
	// origins is where each setting was said.
	origins map[string]origin
	// interruptHint says, should the run be interrupted now, what stays and how to go on.
	interruptHint string
	// helpErr is an error met where only help was asked for.
	helpErr error
}

// connect reaches the engine, once.
func (a *app) connect(ctx context.Context) (*client.Client, error) {
	if a.engine != nil {
		return a.engine, nil
	}
	t, err := a.target()
	if err != nil {
		return nil, err
	}
	return a.connectTo(ctx, t)
}

// connectTo reaches the engine at t, for the rest of the run.
func (a *app) connectTo(ctx context.Context, t Target) (*client.Client, error) {
	if t.OnThrottled == nil {
		t.OnThrottled = func(d time.Duration) {
			a.progress.Notice("the server asks to slow down; going on in %d s", int(d.Seconds()))
		}
	}
	c, disconnect, err := a.Connect(ctx, t)
	if err != nil {
		return nil, err
	}
	a.engine, a.disconnect = c, disconnect
	return c, nil
}

// call calls an operation, connecting where needed.
func call[I, O any](ctx context.Context, a *app, op api.Op[I, O], in *I) (*O, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Do(ctx, c, op, in)
}

// collectPages gathers at most limit records of a list, or all where limit is 0, as one page.
func collectPages[T any](
	ctx context.Context,
	limit int,
	cursor string,
	fetchPage func(api.Paging) (*api.List[T], error),
) (*api.List[T], error) {
	out := &api.List[T]{Data: []T{}}
	for {
		pageSize := api.MaxListLimit
		if limit > 0 {
			pageSize = min(pageSize, limit-len(out.Data))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, err := fetchPage(api.Paging{Limit: pageSize, Cursor: cursor})
		if err != nil {
			return nil, err
		}
		out.Data = append(out.Data, l.Data...)
		out.Pagination = l.Pagination
		if l.Pagination.NextCursor == nil || (limit > 0 && len(out.Data) >= limit) {
			out.Pagination.Limit = len(out.Data)
			return out, nil
		}
		cursor = *l.Pagination.NextCursor
	}
}

// CommandTree is the tree of commands with nothing behind it, for man pages and completion scripts.
func CommandTree(version string) *cobra.Command {
	a := &app{Options: Options{Version: version, Env: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard}}
	return a.rootCommand()
}
