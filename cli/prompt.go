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

// maxLine bounds a line that is read from stdin.
const maxLine = 8 << 10

// stdinLine reads the next line of stdin; what names it in errors.
func (a *app) stdinLine(what string) (string, error) {
	if a.stdin == nil {
		a.stdin = bufio.NewReaderSize(a.Stdin, maxLine)
	}
	line, err := a.stdin.ReadSlice('\n')
	text := strings.TrimRight(string(line), "\r\n")
	switch {
	case errors.Is(err, bufio.ErrBufferFull):
		return "", usage("the line of stdin that should hold %s is longer than %d bytes", what, maxLine)
	case err != nil && !errors.Is(err, io.EOF):
		return "", stopped("stdin can't be read: %w", err)
	case text == "":
		return "", usage("there is no line on stdin for %s", what)
	}
	return text, nil
}

// ask asks a person for a line; an empty answer means what is proposed.
func (a *app) ask(what, proposed string) (string, error) {
	if !a.Interactive || a.ReadPassword == nil {
		return "", advise(usage("nobody can be asked for the %s here", what), "`--help` tells the flags that say it")
	}
	if proposed != "" {
		what += " [" + proposed + "]"
	}
	fmt.Fprintf(a.Stderr, "%s: ", print.Line(what))
	if a.stdin == nil {
		a.stdin = bufio.NewReaderSize(a.Stdin, maxLine)
	}
	line, err := a.stdin.ReadString('\n')
	if err != nil && line == "" {
		return "", stopped("no answer: %w", err)
	}
	if line = strings.TrimSpace(line); line == "" {
		line = proposed
	}
	return line, nil
}

// password reads a secret from stdin where that was asked for, else from the terminal.
func (a *app) password(ctx context.Context, fromStdin bool, prompt string) (string, error) {
	if fromStdin {
		return a.stdinLine("the password")
	}
	if a.ReadPassword == nil {
		return "", advise(usage("nobody can be asked for the password here"), "give it on stdin with --password-stdin")
	}
	secret, err := a.ReadPassword(ctx, prompt)
	if err == nil && secret == "" {
		return "", stopped("no password was given; nothing was changed")
	}
	return secret, err
}

// again asks for a new password a second time.
func (a *app) again(ctx context.Context, password string) error {
	second, err := a.password(ctx, false, "once more: ")
	if err == nil && second != password {
		return stopped("the two are not the same; nothing was changed")
	}
	return err
}
