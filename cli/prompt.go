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

// maxStdinLine is the maximum length of a line read from stdin.
const maxStdinLine = 8 << 10

// readStdinLine reads the next line from stdin. subject describes the expected content in error messages.
func (a *app) readStdinLine(subject string) (string, error) {
	line, err := a.bufferedStdin().ReadSlice('\n')
	text := strings.TrimRight(string(line), "\r\n")
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", usageError("the line for %s on stdin is longer than %d bytes", subject, maxStdinLine)
	case err != nil && !errors.Is(err, io.EOF):
		return "", runtimeError("can't read stdin: %w", err)
	case text == "":
		return "", usageError("stdin does not contain a line for %s", subject)
	}
	return text, nil
}

// bufferedStdin returns the buffered reader that all reads from stdin share.
func (a *app) bufferedStdin() *bufio.Reader {
	if a.stdin == nil {
		a.stdin = bufio.NewReaderSize(a.Stdin, maxStdinLine)
	}
	return a.stdin
}

// promptLine prompts for a line. If the user enters nothing, it returns defaultValue.
func (a *app) promptLine(label, defaultValue string) (string, error) {
	if !a.Interactive || a.ReadPassword == nil {
		return "", withHint(usageError("can't prompt for the %s, because stdin is not a terminal", label),
			"pass the value as a flag; see `--help`")
	}
	if defaultValue != "" {
		label += " [" + defaultValue + "]"
	}
	fmt.Fprintf(a.Stderr, "%s: ", print.SafeLine(label))
	line, err := a.bufferedStdin().ReadString('\n')
	if err != nil && line == "" {
		return "", runtimeError("no answer: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		line = defaultValue
	}
	return line, nil
}

// readPassword reads a secret from stdin if fromStdin is set, otherwise from the terminal.
func (a *app) readPassword(ctx context.Context, fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return a.readStdinLine("the password")
	}
	if a.ReadPassword == nil {
		return "", withHint(usageError("can't prompt for the password, because stdin is not a terminal"),
			"pass the password on stdin with --password-stdin")
	}
	secret, err := a.ReadPassword(ctx, prompt)
	if err == nil && secret == "" {
		return "", runtimeError("no password given; nothing was changed")
	}
	return secret, err
}

// confirmPassword asks for the new password again and returns an error if the answer differs.
func (a *app) confirmPassword(ctx context.Context, password string) error {
	second, err := a.readPassword(ctx, false, "repeat password:")
	if err == nil && second != password {
		return runtimeError("the passwords don't match; nothing was changed")
	}
	return err
}
