//go:build unix

package cli

import (
	"context"
	"errors"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

var (
	fileArgument = regexp.MustCompile(`\b(FILE|DIR|ARCHIVE)\b`)
	fileUsage    = regexp.MustCompile(`(?i)\bfiles?\b`)
)

// TestNamedPipes gives each command a named pipe wherever its help mentions a file. A command that
// opened the pipe would wait forever for a writer.
func TestNamedPipes(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	var lines [][]string
	collectFileLines(CommandTree("1"), pipe, &lines)
	w, refused := newWorld(t), 0
	w.options = func(o *Options) { // these two are implemented in cmd/service
		o.VerifyArchive = func(context.Context, string) (*Verification, error) { return &Verification{}, nil }
		o.VerifyAuditChain = func(context.Context, string, string) (*Verification, error) { return &Verification{}, nil }
	}
	for _, line := range lines {
		if r := w.run(line...); strings.Contains(r.errOut, "this is a named pipe") {
			refused++
		}
	}
	if len(lines) < 80 || refused < 30 {
		t.Errorf("%d commands were tried, %d refused the pipe", len(lines), refused)
	}
	for _, line := range []string{ // commands that need more arguments than the file
		"version --config PIPE",
		"check . --policy PIPE", "check . --waivers PIPE", "check . --baseline PIPE", "check . --threshold PIPE",
		"check diff PIPE .",
		"report create --format docx --style PIPE",
		"report create --format pdf --layout PIPE",
		"email template set x --subject x --text-file PIPE",
		"integration create github --set repository=a/b --secret-file token=PIPE",
		"api POST /assessments -d @PIPE",
		"api upload-document assessmentId=1 file=@PIPE",
		"catalog import-strm PIPE PIPE",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "PIPE", pipe))
		if r := w.run(args...); r.code != exitRuntime || !strings.Contains(r.errOut, "this is a named pipe; save its content to a file") {
			t.Errorf("service %s: exit code %d, %s", line, r.code, r.errOut)
		}
	}
}

// collectFileLines collects command lines that pass path wherever a command or a flag accepts a file.
func collectFileLines(cmd *cobra.Command, path string, lines *[][]string) {
	for _, c := range cmd.Commands() {
		collectFileLines(c, path, lines)
	}
	if !cmd.Runnable() {
		return
	}
	args := strings.Fields(cmd.CommandPath())[1:]
	minArgs, maxArgs := countArgs(cmd.Use)
	if fileArgument.MatchString(cmd.Use) && maxArgs != 0 {
		minArgs = max(minArgs, 1)
		*lines = append(*lines, slices.Concat(args, slices.Repeat([]string{path}, minArgs)))
	}
	args = append(args, slices.Repeat([]string{path}, minArgs)...)
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if fileUsage.MatchString(f.Usage) && f.Value.Type() != "bool" {
			*lines = append(*lines, slices.Concat(args, []string{"--" + f.Name, path}))
		}
	})
}

// TestInterruptedWritingToPipe interrupts a check whose output flag names a pipe that nobody reads. Opening the
// pipe waits for a reader.
func TestInterruptedWritingToPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	go cancel()
	if err := (&app{}).writeOutputFile(ctx, pipe, []byte("result")); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
