// Command service runs security, compliance and maturity assessments against the Secure Controls
// Framework: offline from a folder of evidence, or against a server.
//
// It is the only package that imports all others: it decides how a front end reaches the engine and
// wires the two together.
package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"golang.org/x/term"

	"github.com/scf-service/service/cli"
	"github.com/scf-service/service/cli/contexts"
	"github.com/scf-service/service/examples/harbor"
)

// version is set by the release build.
var version = ""

func main() { os.Exit(run()) }

// run runs the program and returns its exit code. It is separate from main so that tests can call it.
func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	interactive := term.IsTerminal(int(os.Stderr.Fd()))
	return cli.Main(ctx, os.Args[1:], cli.Options{
		Connect:          connect,
		Serve:            runDaemon,
		RunTerminal:      terminalRunner(),
		OpenPages:        openPages,
		FindProcess:      findFolderProcess,
		SetLogLevel:      setDaemonLogLevel,
		Backups:          backups,
		CopyStore:        copyStore,
		EvalRetrieval:    evalRetrieval,
		EvalAnalyses:     evalAnalyses,
		SelectModel:      saveModelChoice,
		PullModel:        pullModel,
		ModelStatus:      analysisModelStatus,
		ModelLimits:      changeModelLimits,
		EvalJudgement:    evalJudgement,
		VerifyArchive:    verifyArchive,
		VerifyAuditChain: verifyAuditChain,
		ResolvePaths:     dataLocations,
		Examine:          examineMachine,
		Releases:         cli.Releases{URL: releases, Read: fetchReleaseResponse, Executable: executablePath()},
		ReadPassword:     passwordReader(),
		Keyring:          contexts.SystemKeyring(os.Getenv),
		Stdin:            os.Stdin,
		Stdout:           os.Stdout,
		Stderr:           os.Stderr,
		Env:              os.Getenv,
		Interactive:      interactive,
		Color:            term.IsTerminal(int(os.Stdout.Fd())) && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb",
		StdoutWidth:      terminalWidth(os.Stdout),
		StderrWidth:      terminalWidth(os.Stderr),
		Version:          programVersion(),
		Clock:            time.Now,
		StateDir:         stateDir(),
		CacheDir:         cacheDir(),
		BuildID:          buildID(),
		DemoEvidence:     harbor.Evidence(),
	})
}

// terminalWidth returns the width of the terminal f, or 0 if f is not a terminal.
func terminalWidth(f *os.File) int {
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil {
		return 0
	}
	return width
}

// buildID returns an ID that distinguishes this build from other builds of the same version, so that one build doesn't
// use cached results of another.
func buildID() string {
	path, err := os.Executable()
	if err != nil {
		return ""
	}
	info, err := os.Stat(path)
	if err != nil {
		return ""
	}
	return fmt.Sprint(info.Size(), info.ModTime().UnixNano())
}

// programVersion returns the version set by the release build or, for other builds, the version recorded by the go
// command.
func programVersion() string {
	if version != "" {
		return version
	}
	if info, ok := debug.ReadBuildInfo(); ok && info.Main.Version != "" && info.Main.Version != "(devel)" {
		return info.Main.Version
	}
	return "0.1.0-dev"
}
