package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/scf-service/service/cli/print"
)

// maxStdinLine bounds a line that is read from stdin.
const maxStdinLine = 8 << 10

// readStdinLine reads the next line of stdin; what names it in errors.
func (a *app) readStdinLine(what string) (string, error) {
	if a.stdin == nil {
		a.stdin = bufio.NewReaderSize(a.Stdin, maxStdinLine)
	}
	line, err := a.stdin.ReadSlice('\n')
	text := strings.TrimRight(string(line), "\r\n")
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", usageError("the line of stdin that should hold %s is longer than %d bytes", what, maxStdinLine)
	case err != nil && !errors.Is(err, io.EOF):
		return "", runtimeError("stdin can't be read: %w", err)
	case text == "":
		return "", usageError("there is no line on stdin for %s", what)
	}
	return text, nil
}

// promptLine asks a person for a line; an empty answer means what is proposed.
func (a *app) promptLine(label, defaultValue string) (string, error) {
	if !a.Interactive || a.ReadPassword == nil {
		return "", withHint(usageError("nobody can be asked for the %s here", label), "`--help` tells the flags that say it")
	}
	if defaultValue != "" {
		label += " [" + defaultValue + "]"
	}
	fmt.Fprintf(a.Stderr, "%s: ", print.SafeLine(label))
	if a.stdin == nil {
		a.stdin = bufio.NewReaderSize(a.Stdin, maxStdinLine)
	}
	line, err := a.stdin.ReadString('\n')
	if err != nil && line == "" {
		return "", runtimeError("no answer: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		line = defaultValue
	}
	return line, nil
}

// readPassword reads a secret from stdin where that was asked for, else from the terminal.
func (a *app) readPassword(ctx context.Context, fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return a.readStdinLine("the password")
	}
	if a.ReadPassword == nil {
		return "", withHint(usageError("nobody can be asked for the password here"), "give it on stdin with --password-stdin")
	}
	secret, err := a.ReadPassword(ctx, prompt)
	if err == nil && secret == "" {
		return "", runtimeError("no password was given; nothing was changed")
	}
	return secret, err
}

// confirmPassword asks for a new password a second time.
func (a *app) confirmPassword(ctx context.Context, password string) error {
	second, err := a.readPassword(ctx, false, "once more: ")
	if err == nil && second != password {
		return runtimeError("the two are not the same; nothing was changed")
	}
	return err
}
