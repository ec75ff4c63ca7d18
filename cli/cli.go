// Package cli implements the command line: it parses arguments, calls operations through client, and prints the
// results.
//
// It contains no domain logic, never opens the store, and does not read the clock or the environment directly; both
// are passed in Options.
package cli

import (
	"bufio"
	"context"
	"io"
	"io/fs"
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/viper"

	"github.com/scf-service/service/api"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/cli/print"
	"github.com/scf-service/service/client"
)

// Target describes how to reach the engine, from flags, environment and configuration.
// Empty fields are left to Options.Connect.
type Target struct {
	// Server is the URL of a service, https://….
	Server string
	// Data is the folder of the local store.
	Data string
	// Organization is the id, slug or name of the organization to act in.
	Organization string
	// Token is an API key; Session is the secret of a session with the server.
	Token, Session string
	// OnSessionChange is called when the server starts, renews or ends a session, with the
	// session's secret ("" if it ended) and its expiry.
	OnSessionChange func(token string, ends time.Time)
	// CA is a file of certificate authorities to trust in addition to the system's.
	CA string
	// Embedder is an embedding model used in addition to the built-in one, given as ollama/NAME or
	// openai/NAME. EmbedderURL is the URL of its server.
	Embedder, EmbedderURL string
	// Store and Blobs are as in ServeOptions.
	Store, Blobs string
	// AllowSharedData permits opening a data folder that other users of the machine can change.
	AllowSharedData bool
	// InsecureHTTP allows unencrypted http:// connections to other machines.
	InsecureHTTP bool
	// OnThrottled is called with the delay before a request is retried because of a rate limit.
	OnThrottled func(time.Duration)
	// FullScreen is set while a full-screen interface uses the terminal, so nothing may be logged to it.
	FullScreen bool
}

// Options holds the dependencies of the command line.
type Options struct {
	// Connect connects to the engine when a command first needs it; the function it returns is
	// called at the end. It may be called again, for example to sign out of another server.
	Connect func(ctx context.Context, target Target) (*client.Client, func() error, error)

	// ReadPassword prompts for a secret without echo; nil if there is no terminal.
	ReadPassword func(ctx context.Context, prompt string) (string, error)
	// Keyring stores the secrets of contexts; nil if there is none.
	Keyring contexts.Keyring

	// Serve runs a daemon until ctx ends; ready is called once the daemon accepts requests.
	Serve func(ctx context.Context, o ServeOptions, ready func(DaemonInfo)) error
	// OpenPages opens the pages in a browser, and serves those of the local data folder until they are no longer used;
	// ready is called with the link.
	OpenPages func(ctx context.Context, target Target, browser bool, ready func(OpenInfo) error) error
	// RunTerminal runs the terminal interface until the user quits; nil if there is no terminal.
	RunTerminal func(ctx context.Context, o TerminalOptions) error
	// FindProcess returns the process that has a data folder open (empty: the default folder), or
	// nil if there is none.
	FindProcess func(ctx context.Context, data string) (*Process, error)
	// SetLogLevel changes the log level of the daemon on a data folder and returns its new state,
	// or nil if no daemon is running.
	SetLogLevel func(ctx context.Context, data, level string) (*Process, error)
	// Backups writes and restores backups of the data folder; nil if the build does not support it.
	Backups *Backups
	// CopyStore copies an installation to an empty place and compares both.
	CopyStore func(ctx context.Context, from, to StorePlace, progress func(records, files int64)) (*CopiedStore, error)
	// EvalRetrieval measures the search on a benchmark folder; nil if the build does not support it.
	EvalRetrieval func(ctx context.Context, o RetrievalOptions) (*RetrievalReport, error)
	// EvalJudgement measures the rules on labeled documents; nil if the build does not support it.
	EvalJudgement func(ctx context.Context, o JudgementOptions) (*JudgementReport, error)

	// VerifyArchive verifies an exported archive. VerifyAuditChain verifies an exported audit chain,
	// and compares it with a saved head if headPath is not empty.
	VerifyArchive    func(ctx context.Context, path string) (*Verification, error)
	VerifyAuditChain func(ctx context.Context, path, headPath string) (*Verification, error)

	// EvalAnalyses measures the built-in analyses; nil if the build does not support it.
	EvalAnalyses func(ctx context.Context) ([]AnalysisScore, error)
	// SelectModel selects the model for analyses in a data folder (empty: the default folder). PullModel makes the
	// model's server download a model (empty: the selected one) and reports progress. ModelStatus returns the
	// selected model and its status. All are nil if the build does not support them.
	SelectModel func(ctx context.Context, data, model, server string) (*ModelStatus, error)
	PullModel   func(ctx context.Context, data, model, server string, progress func(doing string, done, total int64)) (*ModelStatus, error)
	ModelStatus func(ctx context.Context, data string) (*ModelStatus, error)
	// ModelLimits changes the limits for reading evidence with a model, unless change is nil, and returns them.
	ModelLimits func(data string, change func(*api.ModelLimits)) (*api.ModelLimits, error)

	// ResolvePaths returns the paths used on this machine for a data folder (empty: the default folder).
	ResolvePaths func(data string) Paths
	// Examine runs the checks of this machine for `doctor`; nil if the build does not support it.
	Examine func(ctx context.Context, o ExamineOptions) []Diagnostic
	// Releases looks up newer releases.
	Releases Releases

	Stdin          io.Reader
	Stdout, Stderr io.Writer
	Env            func(string) string
	// Interactive is set if stderr is a terminal; Color if output may use colors.
	Interactive, Color bool
	// StdoutWidth and StderrWidth are the terminals' widths in columns, or 0 if there is no terminal.
	StdoutWidth, StderrWidth int

	Version string
	Clock   func() time.Time
	// StateDir holds the most recently used assessment and the hashes of written files.
	// If it is empty, nothing is remembered.
	StateDir string
	// CacheDir holds caches; empty if there is none. BuildID distinguishes builds of the same version.
	CacheDir, BuildID string
	// DemoEvidence holds the demo's evidence files.
	DemoEvidence fs.FS
}

// Main runs the command line args and returns the exit code.
func Main(ctx context.Context, args []string, o Options) int {
	o.Stdin, o.Stdout = interruptibleReader{ctx, o.Stdin}, interruptibleWriter{ctx, o.Stdout}
	a := &app{Options: o}
	a.progress = &print.Progress{W: o.Stderr, Terminal: o.Interactive, Color: o.Color, Width: o.StderrWidth, Clock: o.Clock}
	a.out = &print.Output{W: o.Stdout, Context: ctx, Width: o.StdoutWidth, FileWidth: fileWidth(o.Env), Color: o.Color}
	root := a.rootCommand()
	root.SetArgs(args)
	root.SetIn(o.Stdin)
	root.SetOut(o.Stdout)
	root.SetErr(o.Stderr)
	return a.reportError(ctx, a.execute(ctx, root, args))
}

// fileWidth returns the width of tables that are written to files, from COLUMNS, or 0 if COLUMNS isn't a usable width.
func fileWidth(env func(string) string) int {
	width, err := strconv.Atoi(env("COLUMNS"))
	if err != nil || width < 40 || width > 10000 {
		return 0
	}
	return width
}

// app holds the state of one command run.
type app struct {
	Options
	flags            flags
	config           *viper.Viper // merged flags, variables and file
	out              *print.Output
	progress         *print.Progress
	warnedSlowUpload bool // whether the server's upload rate limit has been mentioned

	engine     *client.Client
	disconnect func() error
	// stdin buffers Stdin for line reads, so that all of them share one buffer.
	stdin *bufio.Reader
	// context is the selected context, or nil for the local data folder or a --server address.
	context *contexts.Context
	// targetErr is an error in choosing the target. settingsErr is an error in the settings that
	// commands with the toleratesSettingsErrors annotation report themselves.
	targetErr, settingsErr error
	// origins records where each setting comes from.
	origins map[string]origin
	// defaultAssessment is the name of the most recently used assessment if the command works on it because none was named.
	defaultAssessment string
	namedDefault      bool // whether its name was printed
	// interruptHint tells the user what is kept and how to continue if the run is interrupted now.
	interruptHint string
	// helpErr is an error that occurred while showing help.
	helpErr error
}

// connect returns the connection to the engine, connecting on first use.
func (a *app) connect(ctx context.Context) (*client.Client, error) {
	if a.engine != nil {
		return a.engine, nil
	}
	t, err := a.targetWithCredential()
	if err != nil {
		return nil, err
	}
	return a.connectAndKeep(ctx, t)
}

// connectAndKeep connects to the engine at t. The command then uses this connection for all operations.
func (a *app) connectAndKeep(ctx context.Context, t Target) (*client.Client, error) {
	if t.OnThrottled == nil {
		t.OnThrottled = func(d time.Duration) {
			a.progress.Notice("the server's request limit was reached; continuing in %d s", int(d.Seconds()))
		}
	}
	c, disconnect, err := a.Connect(ctx, t)
	if err != nil {
		return nil, err
	}
	a.engine, a.disconnect = c, disconnect
	return c, nil
}

// call runs an operation, connecting first if necessary.
func call[I, O any](ctx context.Context, a *app, op api.Op[I, O], in *I) (*O, error) {
	c, err := a.connect(ctx)
	if err != nil {
		return nil, err
	}
	return client.Do(ctx, c, op, in)
}

// callAndPrint runs an operation and prints its result, using render if the output is for people.
func callAndPrint[I, O any](ctx context.Context, a *app, op api.Op[I, O], in *I, render func(*print.Page, *O)) error {
	out, err := call(ctx, a, op, in)
	if err != nil {
		return err
	}
	return a.out.Print(out, func(p *print.Page) { render(p, out) })
}

// listInput is the input of a list operation: a type that embeds api.Paging.
type listInput[I any] interface {
	*I
	SetPaging(api.Paging)
}

// fetchAll fetches all records of a list and returns them as one page.
func fetchAll[I, T any, P listInput[I]](
	ctx context.Context,
	a *app,
	op api.Op[I, api.List[T]],
	in P,
) (*api.List[T], error) {
	return fetchList(ctx, a, op, in, listFlags{})
}

// fetchList fetches the records of a list and returns them as one page. l sets where to start and how many
// records to fetch.
func fetchList[I, T any, P listInput[I]](
	ctx context.Context, a *app, op api.Op[I, api.List[T]], in P, l listFlags,
) (*api.List[T], error) {
	out := &api.List[T]{Data: []T{}}
	for cursor := l.cursor; ; cursor = *out.Pagination.NextCursor {
		pageSize := api.MaxListLimit
		if l.limit > 0 {
			pageSize = min(pageSize, l.limit-len(out.Data))
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		in.SetPaging(api.Paging{Limit: pageSize, Cursor: cursor})
		page, err := call(ctx, a, op, (*I)(in))
		if err != nil {
			return nil, err
		}
		out.Data, out.Pagination = append(out.Data, page.Data...), page.Pagination
		if page.Pagination.NextCursor == nil || l.limit > 0 && len(out.Data) >= l.limit {
			out.Pagination.Limit = len(out.Data)
			return out, nil
		}
	}
}

// CommandTree returns the command tree without an engine, for man pages and completion scripts.
func CommandTree(version string) *cobra.Command {
	a := &app{Options: Options{Version: version, Env: func(string) string { return "" }, Stdout: io.Discard, Stderr: io.Discard}}
	return a.rootCommand()
}
